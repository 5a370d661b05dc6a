//! What keys mean: each is a command line, or something that the screen itself does.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::layout::file::{self, LayoutError};

/// The keys as shipped.
const SHIPPED: &str = include_str!("keys.ron");

/// A key with what is held down beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPress {
    /// Control is held down.
    pub control: bool,
    /// Alt is held down.
    pub alt: bool,
    /// The key.
    pub key: Key,
    /// Shift is held down; never with a character, which says so itself.
    pub shift: bool,
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A character.
    Char(char),
    /// A function key.
    F(u8),
    /// One of [`NAMED`].
    Named(Named),
}

/// A key with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what their names say")]
pub enum Named {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    Enter,
    Escape,
    Backspace,
}

/// The names of keys.
const NAMED: [(&str, Named); 12] = [
    ("Up", Named::Up),
    ("Down", Named::Down),
    ("Left", Named::Left),
    ("Right", Named::Right),
    ("PageUp", Named::PageUp),
    ("PageDown", Named::PageDown),
    ("Home", Named::Home),
    ("End", Named::End),
    ("Tab", Named::Tab),
    ("Enter", Named::Enter),
    ("Escape", Named::Escape),
    ("Backspace", Named::Backspace),
];

/// What the screen does itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Move {
    /// The next pane takes keys.
    NextPane,
    /// The pane before takes keys.
    PreviousPane,
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Start,
    /// To the end.
    End,
    /// Back to where the focused thread stands.
    Here,
    /// Types what is searched for.
    Search,
    /// The next place with it.
    SearchNext,
    /// The place before with it.
    SearchPrevious,
    /// Sets a breakpoint on the line of the cursor, or deletes the one that is there.
    ToggleBreakpoint,
    /// Does what there is to do about what the cursor is on.
    Choose,
    /// Shows this pane alone, or all again.
    Zoom,
    /// A source pane shows the PTX text, or what it was made from.
    OtherText,
    /// The next layout.
    NextLayout,
    /// Shows the keys, or no more.
    Help,
}

/// What a key does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Executes this line.
    Command(String),
    /// The screen does it.
    Move(Move),
}

/// What keys do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyMap {
    keys: Vec<(KeyPress, Action)>,
}

/// A key map as a file says it: keys as text.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename = "KeyMap")]
struct KeyFile {
    commands: BTreeMap<KeyPress, String>,
    screen: BTreeMap<KeyPress, Move>,
}

impl Move {
    /// What it does, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Move::NextPane => "next pane",
            Move::PreviousPane => "pane before",
            Move::Up => "up",
            Move::Down => "down",
            Move::Left => "left",
            Move::Right => "right",
            Move::PageUp => "page up",
            Move::PageDown => "page down",
            Move::Start => "to the beginning",
            Move::End => "to the end",
            Move::Here => "back to the focused thread",
            Move::Search => "search, or filter names",
            Move::SearchNext => "next match",
            Move::SearchPrevious => "match before",
            Move::ToggleBreakpoint => "breakpoint at the cursor",
            Move::Choose => "go there, or to its last write",
            Move::Zoom => "this pane alone, or all",
            Move::OtherText => "PTX, or its source",
            Move::NextLayout => "next layout",
            Move::Help => "these keys",
        }
    }
}

impl KeyMap {
    /// The keys as shipped.
    pub fn shipped() -> Self {
        // A test reads the shipped file.
        Self::parse("keys.ron", SHIPPED.to_string()).unwrap_or_default()
    }

    /// Reads a key map, `KeyMap(commands: {"F5": "continue"}, screen: {"Tab": NextPane})`.
    ///
    /// # Errors
    /// The first place that is not what such a file holds.
    pub fn parse(name: &str, text: String) -> Result<Self, LayoutError> {
        let KeyFile { commands, screen } = file::parse(name, text, &file::KEYS)?;
        let commands = commands.into_iter().map(|(key, line)| (key, Action::Command(line)));
        let screen = screen.into_iter().map(|(key, movement)| (key, Action::Move(movement)));
        Ok(Self { keys: commands.chain(screen).collect() })
    }

    /// This map with the keys of another, which win.
    #[must_use]
    pub fn with(mut self, other: KeyMap) -> Self {
        self.keys.retain(|(key, _)| other.action(*key).is_none());
        self.keys.extend(other.keys);
        self
    }

    /// What there is to do, each with the keys that do it, in the order of the map.
    pub fn by_action(&self) -> Vec<(&Action, Vec<String>)> {
        let mut actions: Vec<(&Action, Vec<String>)> = Vec::new();
        for (key, action) in &self.keys {
            match actions.iter_mut().find(|(other, _)| *other == action) {
                Some((_, keys)) => keys.push(key.to_string()),
                None => actions.push((action, vec![key.to_string()])),
            }
        }
        actions
    }

    /// What a key does.
    pub fn action(&self, key: KeyPress) -> Option<&Action> {
        self.keys.iter().find(|(other, _)| *other == key).map(|(_, action)| action)
    }

    /// All keys, and what they do.
    pub fn iter(&self) -> impl Iterator<Item = (KeyPress, &Action)> {
        self.keys.iter().map(|(key, action)| (*key, action))
    }
}

impl KeyPress {
    /// A key alone.
    pub fn plain(key: Key) -> Self {
        Self { key, shift: false, control: false, alt: false }
    }

    /// Whether a prompt needs the key to edit a line: characters and what moves in the line. Such keys work where no line is typed.
    pub fn is_for_editing(self) -> bool {
        !self.control && !self.alt && !matches!(self.key, Key::F(_) | Key::Named(Named::PageUp | Named::PageDown))
    }
}

impl FromStr for KeyPress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut press = Self::plain(Key::Char(' '));
        let mut rest = text;
        while let Some((held, after)) = rest.split_once('+').filter(|(held, after)| !held.is_empty() && !after.is_empty()) {
            match held {
                "Shift" => press.shift = true,
                "Ctrl" => press.control = true,
                "Alt" => press.alt = true,
                _ => return Err(format!("'{held}' is not a key to hold down: Shift, Ctrl, Alt")),
            }
            rest = after;
        }
        let mut letters = rest.chars();
        let single = letters.next().filter(|_| letters.next().is_none());
        let named = NAMED.iter().find(|(name, _)| *name == rest).map(|(_, key)| Key::Named(*key));
        let function = rest.strip_prefix('F').and_then(|number| number.parse().ok()).filter(|number| (1..=24).contains(number)).map(Key::F);
        let key = single.map(Key::Char).or(named).or(function);
        let key =
            key.ok_or_else(|| format!("'{rest}' is not a key: a character, F1 to F24, {}", NAMED.map(|(name, _)| name).join(", ")))?;
        press.key = match key {
            Key::Char(c) if press.shift => return Err(format!("Shift makes another character: write that instead of 'Shift+{c}'")),
            // A terminal sends the same for both letters.
            Key::Char(c) if press.control => Key::Char(c.to_ascii_lowercase()),
            key => key,
        };
        Ok(press)
    }
}

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.control, "Ctrl"), (self.alt, "Alt"), (self.shift, "Shift")] {
            if held {
                write!(f, "{name}+")?;
            }
        }
        match self.key {
            Key::Char(c) => write!(f, "{c}"),
            Key::F(number) => write!(f, "F{number}"),
            Key::Named(key) => f.write_str(NAMED.iter().find(|(_, other)| *other == key).map_or("", |(name, _)| name)),
        }
    }
}

impl<'de> Deserialize<'de> for KeyPress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
