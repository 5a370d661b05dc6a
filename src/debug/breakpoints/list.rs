//! The numbered list of `info breakpoints`.

use super::{Breakpoint, Condition, Trigger};
use crate::debug::argument::ArgumentError;
use crate::debug::focus::ThreadFilter;

/// All breakpoints, watchpoints and catchpoints of a session, in order of their numbers. Numbers count from 1 and are never used again.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    entries: Vec<Breakpoint>,
    last: u32,
}

impl Breakpoint {
    /// An enabled breakpoint for all threads, not in a list yet. `text` is what the user typed after the command.
    pub fn new(trigger: Trigger, text: impl Into<String>) -> Self {
        Self {
            number: 0,
            trigger,
            text: text.into(),
            filter: ThreadFilter::default(),
            condition: None,
            enabled: true,
            temporary: false,
            ignore: 0,
            hits: 0,
            message: None,
            commands: Vec::new(),
        }
    }
}

impl Breakpoints {
    /// Adds a breakpoint and returns its number.
    pub fn add(&mut self, breakpoint: Breakpoint) -> u32 {
        self.last = self.last.saturating_add(1);
        self.entries.push(Breakpoint { number: self.last, ..breakpoint });
        self.last
    }

    /// A list of breakpoints that have numbers already; `last` is the greatest number that was used.
    ///
    /// # Errors
    /// A number is 0 or occurs twice.
    pub fn numbered(mut entries: Vec<Breakpoint>, last: u32) -> Result<Self, ArgumentError> {
        entries.sort_by_key(|entry| entry.number);
        let twice = entries.windows(2).find(|pair| pair[0].number == pair[1].number).map(|pair| pair[0].number);
        match (twice, entries.first()) {
            (Some(number), _) => Err(ArgumentError::new(format!("there are two breakpoints with the number {number}"))),
            (None, Some(Breakpoint { number: 0, .. })) => Err(ArgumentError::new("breakpoints are numbered from 1")),
            (None, _) => {
                let last = entries.last().map_or(last, |entry| entry.number.max(last));
                Ok(Self { entries, last })
            }
        }
    }

    /// All, in order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, Breakpoint> {
        self.entries.iter()
    }

    /// The number of the breakpoint added last: gdb's `$bpnum`.
    pub fn last_number(&self) -> Option<u32> {
        (self.last > 0).then_some(self.last)
    }

    /// Number `number`.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, number: u32) -> Result<&Breakpoint, ArgumentError> {
        self.entries.iter().find(|entry| entry.number == number).ok_or_else(|| self.missing(number))
    }

    /// Number `number`, to change it.
    ///
    /// # Errors
    /// There is none.
    pub fn get_mut(&mut self, number: u32) -> Result<&mut Breakpoint, ArgumentError> {
        let missing = self.missing(number);
        self.entries.iter_mut().find(|entry| entry.number == number).ok_or(missing)
    }

    /// Removes number `number`.
    ///
    /// # Errors
    /// There is none.
    pub fn delete(&mut self, number: u32) -> Result<Breakpoint, ArgumentError> {
        let index = self.entries.iter().position(|entry| entry.number == number).ok_or_else(|| self.missing(number))?;
        Ok(self.entries.remove(index))
    }

    /// Counts a hit of number `number`, if it exists. A temporary one is removed.
    pub fn count_hit(&mut self, number: u32) {
        if let Ok(breakpoint) = self.get_mut(number) {
            breakpoint.hits += 1;
            if breakpoint.temporary {
                self.entries.retain(|entry| entry.number != number);
            }
        }
    }

    /// Enables or disables number `number`.
    ///
    /// # Errors
    /// There is none.
    pub fn enable(&mut self, number: u32, enabled: bool) -> Result<(), ArgumentError> {
        self.get_mut(number)?.enabled = enabled;
        Ok(())
    }

    /// Sets or removes the condition of number `number`.
    ///
    /// # Errors
    /// There is no such number.
    pub fn set_condition(&mut self, number: u32, condition: Option<Condition>) -> Result<(), ArgumentError> {
        self.get_mut(number)?.condition = condition;
        Ok(())
    }

    /// Ignores the next `count` hits of number `number`.
    ///
    /// # Errors
    /// There is no such number.
    pub fn ignore(&mut self, number: u32, count: u64) -> Result<(), ArgumentError> {
        self.get_mut(number)?.ignore = count;
        Ok(())
    }

    /// Sets the commands that run when number `number` stops.
    ///
    /// # Errors
    /// There is no such number.
    pub fn set_commands(&mut self, number: u32, commands: Vec<String>) -> Result<(), ArgumentError> {
        self.get_mut(number)?.commands = commands;
        Ok(())
    }

    /// Reads numbers and ranges, as in `delete 1 3-5 7`; each must be of a breakpoint.
    ///
    /// # Errors
    /// A word is no number or range, or a number is of no breakpoint. Of a range, one number must be of a breakpoint.
    pub fn parse_numbers(&self, text: &str) -> Result<Vec<u32>, ArgumentError> {
        let mut numbers = Vec::new();
        for (start, word) in words(text) {
            let named = self.parse_range(word).map_err(|error| error.at(start..start + word.len()))?;
            numbers.extend(named.into_iter().filter(|number| !numbers.contains(number)).collect::<Vec<_>>());
        }
        Ok(numbers)
    }

    fn parse_range(&self, word: &str) -> Result<Vec<u32>, ArgumentError> {
        let number = |text: &str| -> Result<u32, ArgumentError> {
            let number = if text == "$bpnum" { Some(self.last) } else { text.parse().ok().filter(|number| *number > 0) };
            number.ok_or_else(|| ArgumentError::new(format!("'{text}' is not a breakpoint number")))
        };
        let Some((first, last)) = word.split_once('-') else { return number(word).and_then(|number| Ok(vec![self.get(number)?.number])) };
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(ArgumentError::new(format!("the range {first}-{last} runs backwards")));
        }
        let inside: Vec<u32> = self.entries.iter().map(|entry| entry.number).filter(|number| (first..=last).contains(number)).collect();
        if inside.is_empty() {
            return Err(ArgumentError::new(format!("there is no breakpoint from {first} to {last}")).with_help(self.present()));
        }
        Ok(inside)
    }

    fn missing(&self, number: u32) -> ArgumentError {
        let past = if number > 0 && number <= self.last { " any more" } else { "" };
        ArgumentError::new(format!("there is no breakpoint {number}{past}")).with_help(self.present())
    }

    fn present(&self) -> String {
        let numbers: Vec<String> = self.entries.iter().map(|entry| entry.number.to_string()).collect();
        if numbers.is_empty() { "none is set".to_string() } else { format!("there are {}", numbers.join(", ")) }
    }
}

/// The words of a text and where they start.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + (rest.len() - rest.trim_start().len());
        let word = text.get(start..)?.split(char::is_whitespace).next().filter(|word| !word.is_empty())?;
        at = start + word.len();
        Some((start, word))
    })
}
