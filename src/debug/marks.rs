//! Marked times, and the times that `goto` goes to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::argument::ArgumentError;
use super::focus::Focus;
use crate::machine::Tick;

/// A time with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The time.
    pub time: Tick,
    /// The focused thread.
    pub focus: Focus,
    /// The line of the focused thread, as `file.ptx:12`; empty if it had exited.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
}

/// All marks of a session, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Marks(BTreeMap<String, Mark>);

/// The argument of `goto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeArgument {
    /// Before the first instruction.
    Start,
    /// After the last instruction, which may not have been executed yet.
    End,
    /// A time.
    Tick(Tick),
    /// A marked time, and the thread that was focused then.
    Mark(Mark),
}

impl Marks {
    /// Marks a time; returns the mark of that name before.
    ///
    /// # Errors
    /// The name means another time.
    pub fn set(&mut self, name: &str, mark: Mark) -> Result<Option<Mark>, ArgumentError> {
        check_name(name)?;
        Ok(self.0.insert(name.to_string(), mark))
    }

    /// The mark called `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> Result<&Mark, ArgumentError> {
        self.0.get(name).ok_or_else(|| self.unknown(name))
    }

    /// Removes the mark called `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn delete(&mut self, name: &str) -> Result<Mark, ArgumentError> {
        self.0.remove(name).ok_or_else(|| self.unknown(name))
    }

    /// All marks with their names, earliest first.
    pub fn by_time(&self) -> Vec<(&str, &Mark)> {
        let mut marks: Vec<(&str, &Mark)> = self.0.iter().map(|(name, mark)| (name.as_str(), mark)).collect();
        marks.sort_by_key(|(_, mark)| mark.time);
        marks
    }

    /// All names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that [`Self::set`] accepts every name: a file may hold any.
    pub(super) fn check(&self) -> Result<(), ArgumentError> {
        self.0.keys().try_for_each(|name| check_name(name))
    }

    /// Reads the argument of `goto`: `9101`, `9,101` or `t=9,101`; `+10` or `-10` from `now`; `start`, `end`; the name of a mark.
    ///
    /// # Errors
    /// It is none of these.
    pub fn parse_time(&self, text: &str, now: Tick) -> Result<TimeArgument, ArgumentError> {
        let word = text.trim();
        let start = text.len() - text.trim_start().len();
        self.parse_arg(word, now).map_err(|error| error.at(start..start + word.len()))
    }

    fn parse_arg(&self, word: &str, now: Tick) -> Result<TimeArgument, ArgumentError> {
        let no_time = || ArgumentError::new(format!("'{word}' is not a time")).with_help(HELP);
        match word {
            "" => Err(ArgumentError::new("a time is expected").with_help(HELP)),
            "start" => Ok(TimeArgument::Start),
            "end" => Ok(TimeArgument::End),
            _ => {
                if let Some(ticks) = word.strip_prefix('+') {
                    let ticks = grouped_number(ticks).ok_or_else(no_time)?;
                    return Ok(TimeArgument::Tick(now.saturating_add(ticks)));
                }
                if let Some(ticks) = word.strip_prefix('-') {
                    let ticks = grouped_number(ticks).ok_or_else(no_time)?;
                    let early = || ArgumentError::new(format!("{ticks} ticks back is before the start: now is t={now}"));
                    return now.checked_sub(ticks).map(TimeArgument::Tick).ok_or_else(early);
                }
                let number = word.strip_prefix("t=").unwrap_or(word);
                if number.starts_with(|first: char| first.is_ascii_digit()) {
                    return grouped_number(number).map(|ticks| TimeArgument::Tick(Tick(ticks))).ok_or_else(no_time);
                }
                self.get(word).cloned().map(TimeArgument::Mark)
            }
        }
    }

    fn unknown(&self, name: &str) -> ArgumentError {
        let error = ArgumentError::new(format!("there is no mark '{name}'")).with_nearest(name, self.names());
        let all: Vec<&str> = self.names().collect();
        match (&error.help, all.as_slice()) {
            (Some(_), _) => error,
            (None, []) => error.with_help("no time is marked: 'mark NAME' marks the present one"),
            (None, all) => error.with_help(format!("marks: {}", all.join(", "))),
        }
    }
}

const HELP: &str = "a number such as 9101 or 9,101, +N or -N, start, end, or the name of a mark";

fn check_name(name: &str) -> Result<(), ArgumentError> {
    let first_is_letter = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_word = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'));
    if !first_is_letter || !is_word {
        return Err(ArgumentError::new(format!("'{name}' cannot be the name of a mark"))
            .with_help("a letter, then letters, digits, '_', '-' or '.'"));
    }
    if matches!(name, "start" | "end") {
        return Err(ArgumentError::new(format!("'{name}' is a time already")).with_help("choose another name"));
    }
    Ok(())
}

/// A number whose digits may be in groups of three: `9101`, `9,101`, `9_101`.
pub fn grouped_number(text: &str) -> Option<u64> {
    let separator = if text.contains(',') { ',' } else { '_' };
    let mut groups = text.split(separator);
    let first = groups.next()?;
    let mut digits = first.to_string();
    for group in groups {
        if group.len() != 3 || digits.is_empty() || first.len() > 3 {
            return None;
        }
        digits.push_str(group);
    }
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
