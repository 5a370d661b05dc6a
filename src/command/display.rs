//! What is shown at every stop.

use crate::debug::expression::Expression;
use crate::debug::scene::Scene;
use crate::debug::value::{Format, ValueText};

/// The displays, in order of their numbers. Numbers count from 1 and are never used again.
#[derive(Clone, Debug, Default)]
pub struct Displays {
    entries: Vec<Display>,
    last: u32,
}

/// An expression that is shown at every stop.
#[derive(Clone, Debug)]
pub struct Display {
    /// Its number.
    pub number: u32,
    /// The expression.
    pub expression: Expression,
    /// How it is written.
    pub format: Option<Format>,
}

/// A display as it is now.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its number.
    pub number: u32,
    /// `/x %r1`
    pub what: String,
    /// Its value, or why it has none.
    pub value: Result<ValueText, String>,
}

impl Displays {
    /// Adds one and returns its number.
    pub fn add(&mut self, expression: Expression, format: Option<Format>) -> u32 {
        self.last = self.last.saturating_add(1);
        self.entries.push(Display { number: self.last, expression, format });
        self.last
    }

    /// All, in order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, Display> {
        self.entries.iter()
    }

    /// Removes number `number`; false if there is none.
    pub fn remove(&mut self, number: u64) -> bool {
        let before = self.entries.len();
        self.entries.retain(|display| u64::from(display.number) != number);
        self.entries.len() < before
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// All as they are now.
    pub fn shown(&self, scene: &Scene<'_>) -> Vec<Shown> {
        self.entries.iter().map(|display| display.shown(scene)).collect()
    }
}

impl Display {
    /// As it is now.
    pub fn shown(&self, scene: &Scene<'_>) -> Shown {
        let value = self.expression.evaluate(scene).map(|value| value.text(scene, self.format));
        Shown { number: self.number, what: self.what(), value: value.map_err(|error| error.to_string()) }
    }

    /// `/x %r1`, as it would be typed.
    pub fn what(&self) -> String {
        let format = self.format.map_or(String::new(), |format| format!("/{} ", format.letter()));
        format!("{format}{}", self.expression.text())
    }
}
