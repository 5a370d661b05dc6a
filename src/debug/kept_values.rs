//! Values that are kept under names with a `$`, as in gdb: the history of `print`, and the variables of `set $NAME = VALUE`.
//!
//! | written | means |
//! | --- | --- |
//! | `$`, `$$`, `$$3` | the last value of the history, the one before it, the third before it |
//! | `$2` | value 2 of the history |
//! | `$_`, `$__` | the last address that `x` has shown, and what lies there |
//! | `$bpnum` | the number of the breakpoint that was set last |
//! | `$count` | a variable that `set` has made |

use std::collections::BTreeMap;

use super::value::{Scalar, SourceValue, Type, Value};
use crate::isa::ScalarType;

/// Most values of the history: the oldest are forgotten.
const HISTORY_MAX: usize = 1 << 12;

/// The values under names with a `$`.
#[derive(Clone, Debug, Default)]
pub struct KeptValues {
    history: Vec<Value>,
    /// Values of the history that have been forgotten.
    forgotten: usize,
    named: BTreeMap<String, Value>,
}

/// What a name with a `$` means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kept<'a> {
    /// A value.
    Value(&'a Value),
    /// Nothing was ever given this name.
    Void,
    /// The history has no value of this number.
    OutOfHistory(usize),
}

impl KeptValues {
    /// Adds a value to the history and returns its number, from 1.
    pub fn keep(&mut self, value: Value) -> usize {
        self.history.push(without_place(value));
        if self.history.len() > HISTORY_MAX {
            self.history.remove(0);
            self.forgotten += 1;
        }
        self.forgotten + self.history.len()
    }

    /// Gives the variable `name`, without its `$`, a value.
    pub fn set(&mut self, name: &str, value: Value) {
        self.named.insert(name.to_string(), without_place(value));
    }

    /// Gives the variable `name`, without its `$`, a number.
    pub fn set_number(&mut self, name: &str, number: u32) {
        self.set(name, Value::Scalar(Scalar::new(Type::Scalar(ScalarType::S32), u128::from(number))));
    }

    /// The history with the numbers of its values.
    pub fn history(&self) -> impl Iterator<Item = (usize, &Value)> {
        (self.forgotten + 1..).zip(&self.history)
    }

    /// The variables by name, without `$`.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.named.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// What `name`, which begins with `$`, means; none for other names.
    pub fn get(&self, name: &str) -> Option<Kept<'_>> {
        let rest = name.strip_prefix('$')?;
        let back = match rest.strip_prefix('$') {
            Some("") => Some(1),
            Some(digits) => Some(digits.parse().ok()?),
            None if rest.is_empty() => Some(0),
            None => None,
        };
        if let Some(back) = back {
            let value = self.history.len().checked_sub(back).and_then(|left| left.checked_sub(1)).and_then(|index| self.history.get(index));
            return Some(value.map_or(Kept::Void, Kept::Value));
        }
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let number: usize = rest.parse().ok()?;
            let index = number.checked_sub(self.forgotten + 1);
            return Some(index.and_then(|index| self.history.get(index)).map_or(Kept::OutOfHistory(number), Kept::Value));
        }
        Some(self.named.get(rest).map_or(Kept::Void, Kept::Value))
    }
}

/// The same value without its place: what lies there later is no part of it, nor whether that is written.
fn without_place(value: Value) -> Value {
    match value {
        Value::Source(source) => Value::Source(SourceValue { place: None, ..source }),
        Value::Scalar(_) | Value::Lanes(_) | Value::Array(_) | Value::Tensor(_) => value,
    }
}

/// The name of the variable that `$name` is, without its `$`: none for values of the history, and what is no name.
pub fn variable_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    (name.starts_with(is_first) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u32) -> Value {
        Value::Scalar(Scalar::new(Type::Scalar(ScalarType::U32), u128::from(value)))
    }

    #[test]
    fn names_of_the_history_count_from_either_end() {
        let mut kept = KeptValues::default();
        assert_eq!((kept.get("$"), kept.get("$1"), kept.get("x")), (Some(Kept::Void), Some(Kept::OutOfHistory(1)), None));
        let numbers: Vec<usize> = (10..14).map(|value| kept.keep(number(value))).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        let is = |name: &str, value: u32| assert_eq!(kept.get(name), Some(Kept::Value(&number(value))), "{name}");
        ["$", "$$", "$$2", "$$0", "$1", "$4"].into_iter().zip([13, 12, 11, 13, 10, 13]).for_each(|(name, value)| is(name, value));
        assert_eq!((kept.get("$$4"), kept.get("$0")), (Some(Kept::Void), Some(Kept::OutOfHistory(0))));
    }

    #[test]
    fn the_oldest_values_are_forgotten_and_keep_their_numbers() {
        let mut kept = KeptValues::default();
        (1..=HISTORY_MAX as u32 + 5).for_each(|value| _ = kept.keep(number(value)));
        assert_eq!(kept.get("$5"), Some(Kept::OutOfHistory(5)));
        assert_eq!(kept.get("$6"), Some(Kept::Value(&number(6))));
    }

    #[test]
    fn variables_have_names_of_letters() {
        let names = ["$x", "$_", "$big_1", "$1", "$", "$$", "x", "$a.b"];
        let expected = [Some("x"), Some("_"), Some("big_1"), None, None, None, None, None];
        assert_eq!(names.map(variable_name), expected);
    }
}
