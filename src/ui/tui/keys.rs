//! The conversion of keys from terminal events and to keys of the line editor.

use std::collections::BTreeSet;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::keymap::{Key, KeyMap, KeyPress, Named};
use crate::ui::tty::keyboard::{function_key, private_use_char};

/// Named keys, with their codes in events and in the line editor.
const NAMED: &[(Named, KeyCode, rustyline::KeyCode)] = &[
    (Named::Up, KeyCode::Up, rustyline::KeyCode::Up),
    (Named::Down, KeyCode::Down, rustyline::KeyCode::Down),
    (Named::Left, KeyCode::Left, rustyline::KeyCode::Left),
    (Named::Right, KeyCode::Right, rustyline::KeyCode::Right),
    (Named::PageUp, KeyCode::PageUp, rustyline::KeyCode::PageUp),
    (Named::PageDown, KeyCode::PageDown, rustyline::KeyCode::PageDown),
    (Named::Home, KeyCode::Home, rustyline::KeyCode::Home),
    (Named::End, KeyCode::End, rustyline::KeyCode::End),
    (Named::Tab, KeyCode::Tab, rustyline::KeyCode::Tab),
    (Named::Enter, KeyCode::Enter, rustyline::KeyCode::Enter),
    (Named::Escape, KeyCode::Esc, rustyline::KeyCode::Esc),
    (Named::Backspace, KeyCode::Backspace, rustyline::KeyCode::Backspace),
];

/// The key of an event; `None` if the key map has no name for it.
pub fn pressed(event: KeyEvent) -> Option<KeyPress> {
    let modifiers = |key| event.modifiers.contains(key);
    let mut press = KeyPress {
        key: Key::Char(' '),
        shift: modifiers(KeyModifiers::SHIFT),
        control: modifiers(KeyModifiers::CONTROL),
        alt: modifiers(KeyModifiers::ALT),
    };
    press.key = match event.code {
        KeyCode::Char(c) => {
            let (key, modifiers) = function_key(c).map_or((Key::Char(c), 0), |(number, modifiers)| (Key::F(number), modifiers));
            press.shift = modifiers & 1 != 0;
            press.alt |= modifiers & 2 != 0;
            press.control |= modifiers & 4 != 0;
            key
        }
        KeyCode::F(number) => Key::F(number),
        KeyCode::BackTab => {
            press.shift = true;
            Key::Named(Named::Tab)
        }
        code => Key::Named(NAMED.iter().find(|(_, event, _)| *event == code)?.0),
    };
    Some(press)
}

/// The key of the line editor.
pub fn bound(press: KeyPress) -> rustyline::KeyEvent {
    use rustyline::{KeyCode, Modifiers};
    if let Some(c) = character(press) {
        return rustyline::KeyEvent(KeyCode::Char(c), Modifiers::NONE);
    }
    let mut modifiers = Modifiers::NONE;
    for (is_set, modifier) in [(press.shift, Modifiers::SHIFT), (press.control, Modifiers::CTRL), (press.alt, Modifiers::ALT)] {
        modifiers |= if is_set { modifier } else { Modifiers::NONE };
    }
    let code = match press.key {
        Key::Char(c) => KeyCode::Char(c),
        Key::F(number) => KeyCode::F(number),
        Key::Named(named) => NAMED.iter().find(|(name, ..)| *name == named).map_or(KeyCode::Null, |(_, _, code)| *code),
    };
    rustyline::KeyEvent(code, modifiers)
}

/// The private-use character for a function key with modifiers.
fn character(press: KeyPress) -> Option<char> {
    let Key::F(number) = press.key else { return None };
    private_use_char(number, u8::from(press.shift) | u8::from(press.alt) << 1 | u8::from(press.control) << 2)
}

/// The private-use characters for the keys of a map.
pub fn key_aliases(keys: &KeyMap) -> BTreeSet<char> {
    keys.iter().filter_map(|(press, _)| character(press)).collect()
}

/// A letter with Control.
pub fn control(letter: char) -> KeyPress {
    KeyPress { control: true, ..KeyPress::plain(Key::Char(letter)) }
}

/// The key that starts and ends browse mode, in which the panes have the keyboard.
pub const BROWSE: KeyPress = KeyPress { key: Key::F(2), shift: false, control: false, alt: false };
