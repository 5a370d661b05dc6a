//! Themes: a style for each role.
//!
//! Colours add no information to glyphs and words: the theme `none`, without colours, shows the same.

use ratatui::style::{Color, Modifier, Style};

use crate::debug::settings::ThemeName;

/// The role of a text on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Secondary text.
    Dim,
    /// Lines between panes.
    Rule,
    /// Title of a pane.
    Title,
    /// Title of the pane that takes keys.
    ActiveTitle,
    /// Head of a column.
    Heading,
    /// The row about the focused thread.
    Focused,
    /// The line that the cursor is on.
    Cursor,
    /// Lanes that run next.
    Lanes,
    /// Other lanes.
    OtherLanes,
    /// A breakpoint.
    Breakpoint,
    /// A value that has changed since the last stop.
    Changed,
    /// A fault, or an undefined or missing value.
    Bad,
    /// An opcode.
    Opcode,
    /// A register.
    Register,
    /// A label or a name.
    Name,
    /// A number or a string.
    Number,
    /// A directive or a modifier.
    Directive,
    /// A comment.
    Comment,
}

/// A style for every role.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// Its name.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub about: &'static str,
    style: fn(Role) -> Style,
}

/// All themes.
pub const THEMES: [Theme; 3] = [
    Theme { name: "dark", about: "for light text on a dark ground", style: dark },
    Theme { name: "light", about: "for dark text on a light ground", style: light },
    Theme { name: "none", about: "no colours: bold, reversed and underlined only", style: colourless },
];

impl Theme {
    /// The theme of a setting.
    pub fn of(name: ThemeName) -> Theme {
        Theme::named(&name.word()).unwrap_or_default()
    }

    /// The theme called `name`.
    pub fn named(name: &str) -> Option<Theme> {
        THEMES.iter().find(|theme| theme.name == name).copied()
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        (self.style)(role)
    }
}

impl Default for Theme {
    fn default() -> Self {
        THEMES[0]
    }
}

fn dark(role: Role) -> Style {
    let plain = colourless(role);
    match role {
        Role::Text | Role::Title => plain,
        Role::Dim | Role::Rule | Role::Comment => Style::new().fg(Color::DarkGray),
        Role::Heading => Style::new().fg(Color::Gray).add_modifier(Modifier::UNDERLINED),
        Role::ActiveTitle => plain.fg(Color::Cyan),
        Role::Focused => Style::new().bg(Color::Indexed(236)).add_modifier(Modifier::BOLD),
        Role::Cursor => plain,
        Role::Lanes => plain.fg(Color::Green),
        Role::OtherLanes => Style::new().fg(Color::Yellow),
        Role::Breakpoint | Role::Bad => plain.fg(Color::Red),
        Role::Changed => plain.fg(Color::Yellow),
        Role::Opcode => Style::new().fg(Color::Cyan),
        Role::Register => Style::new().fg(Color::Green),
        Role::Name => Style::new().fg(Color::Yellow),
        Role::Number => Style::new().fg(Color::Magenta),
        Role::Directive => Style::new().fg(Color::Blue),
    }
}

fn light(role: Role) -> Style {
    let plain = colourless(role);
    match role {
        Role::Dim | Role::Rule | Role::Comment => Style::new().fg(Color::Gray),
        Role::Focused => Style::new().bg(Color::Indexed(254)).add_modifier(Modifier::BOLD),
        Role::ActiveTitle => plain.fg(Color::Blue),
        Role::OtherLanes | Role::Name => Style::new().fg(Color::Indexed(94)),
        Role::Changed => plain.fg(Color::Indexed(94)),
        Role::Opcode => Style::new().fg(Color::Blue),
        Role::Directive => Style::new().fg(Color::Indexed(24)),
        Role::Register => Style::new().fg(Color::Indexed(22)),
        Role::Lanes => plain.fg(Color::Indexed(22)),
        other => dark(other),
    }
}

fn colourless(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Title | Role::Lanes | Role::Breakpoint | Role::Changed | Role::Bad => style.add_modifier(Modifier::BOLD),
        Role::ActiveTitle => style.add_modifier(Modifier::BOLD | Modifier::REVERSED),
        Role::Heading | Role::Cursor => style.add_modifier(Modifier::UNDERLINED),
        Role::Focused => style.add_modifier(Modifier::REVERSED),
        _ => style,
    }
}
