//! The key map: a key executes a command line or an action of the screen.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::layout::file::{self, LayoutError};

/// The default key map.
const SHIPPED: &str = include_str!("keys.ron");

/// A key with modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPress {
    /// Control is held down.
    pub control: bool,
    /// Alt is held down.
    pub alt: bool,
    /// The key.
    pub key: Key,
    /// Shift is held down; false for characters, which include it.
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

/// An action of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Move {
    /// Makes the next pane active.
    NextPane,
    /// Makes the previous pane active.
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
    /// A page up in what was said; in browse mode, in the active pane.
    ReadBack,
    /// A page down in what was said; in browse mode, in the active pane.
    ReadOn,
    /// To the beginning.
    Start,
    /// To the end.
    End,
    /// Back to the location of the focused thread.
    Here,
    /// Begins the input of a search text.
    Search,
    /// Begins the input of a text that is searched in what was said.
    SearchSaid,
    /// The next match.
    SearchNext,
    /// The previous match.
    SearchPrevious,
    /// Sets a breakpoint on the line of the cursor, or deletes it.
    ToggleBreakpoint,
    /// Executes the command for the row of the cursor.
    Choose,
    /// Shows only this pane, or all again.
    Zoom,
    /// Switches a source pane between the PTX text and its source, and a memory pane between numbers and a heat map.
    OtherText,
    /// The next layout.
    NextLayout,
    /// Shows or hides the help on keys.
    Help,
}

/// The action of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Executes this line.
    Command(String),
    /// Executes an action of the screen.
    Move(Move),
}

/// The actions of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyMap {
    keys: Vec<(KeyPress, Action)>,
}

/// The contents of a key map file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename = "KeyMap")]
struct KeyFile {
    commands: BTreeMap<KeyPress, String>,
    screen: BTreeMap<KeyPress, Move>,
}

impl Move {
    /// A short description.
    pub fn about(self) -> &'static str {
        match self {
            Move::NextPane => "next pane",
            Move::PreviousPane => "pane before",
            Move::Up => "up",
            Move::Down => "down",
            Move::Left => "left",
            Move::Right => "right",
            Move::PageUp => "page up in the pane",
            Move::PageDown => "page down in the pane",
            Move::ReadBack => "read back what was said",
            Move::ReadOn => "read on, and back to the panes",
            Move::Start => "to the beginning",
            Move::End => "to the end",
            Move::Here => "back to the focused thread",
            Move::Search => "search, or filter names",
            Move::SearchSaid => "search what was said",
            Move::SearchNext => "next match",
            Move::SearchPrevious => "match before",
            Move::ToggleBreakpoint => "breakpoint at the cursor",
            Move::Choose => "go there, or to its last write",
            Move::Zoom => "this pane alone, or all",
            Move::OtherText => "PTX, or its source; heat map",
            Move::NextLayout => "next layout",
            Move::Help => "these keys",
        }
    }
}

impl KeyMap {
    /// The default key map.
    pub fn shipped() -> Self {
        // A test checks that the file can be parsed.
        Self::parse("keys.ron", SHIPPED.to_string()).unwrap_or_default()
    }

    /// Reads a key map, `KeyMap(commands: {"F5": "continue"}, screen: {"Tab": NextPane})`.
    ///
    /// # Errors
    /// The first error in the file.
    pub fn parse(name: &str, text: String) -> Result<Self, LayoutError> {
        let KeyFile { commands, screen } = file::parse(name, text, &file::KEYS)?;
        let commands = commands.into_iter().map(|(key, line)| (key, Action::Command(line)));
        let screen = screen.into_iter().map(|(key, movement)| (key, Action::Move(movement)));
        Ok(Self { keys: commands.chain(screen).collect() })
    }

    /// This map with the keys of another, which take precedence.
    #[must_use]
    pub fn with(mut self, other: KeyMap) -> Self {
        self.keys.retain(|(key, _)| other.action(*key).is_none());
        self.keys.extend(other.keys);
        self
    }

    /// The actions, each with its keys, in the order of the map.
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

    /// The action of a key.
    pub fn action(&self, key: KeyPress) -> Option<&Action> {
        self.keys.iter().find(|(other, _)| *other == key).map(|(_, action)| action)
    }

    /// All keys with their actions.
    pub fn iter(&self) -> impl Iterator<Item = (KeyPress, &Action)> {
        self.keys.iter().map(|(key, action)| (*key, action))
    }
}

impl KeyPress {
    /// A key without modifiers.
    pub fn plain(key: Key) -> Self {
        Self { key, shift: false, control: false, alt: false }
    }

    /// True if the prompt needs the key to edit a line: characters and cursor keys. In the key map such keys only work in browse mode.
    pub fn is_for_editing(self) -> bool {
        !self.control && !self.alt && !matches!(self.key, Key::F(_) | Key::Named(Named::PageUp | Named::PageDown))
    }
}

impl FromStr for KeyPress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut press = Self::plain(Key::Char(' '));
        let mut rest = text;
        while let Some((modifier, after)) = rest.split_once('+').filter(|(modifier, after)| !modifier.is_empty() && !after.is_empty()) {
            match modifier {
                "Shift" => press.shift = true,
                "Ctrl" => press.control = true,
                "Alt" => press.alt = true,
                _ => return Err(format!("'{modifier}' is not a key to hold down: Shift, Ctrl, Alt")),
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
            // A terminal sends the same code for upper and lower case.
            Key::Char(c) if press.control => Key::Char(c.to_ascii_lowercase()),
            key => key,
        };
        Ok(press)
    }
}

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in [(self.control, "Ctrl"), (self.alt, "Alt"), (self.shift, "Shift")] {
            if modifier {
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
