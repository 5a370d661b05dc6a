//! What stands behind `break`, `tbreak`, `watch`, `catch` and `dprintf`: `WHAT [THREADS] [if CONDITION]`.
//!
//! WHAT is a location, an expression or an event; THREADS are words such as `block 1,0,0 warp 2 lane 0-7`; CONDITION is the rest.
//! `dprintf` has `,"FORMAT",VALUES` behind its location, as in gdb.

use super::super::argument::ArgumentError;
use super::list::words;

/// Words that begin a thread filter.
const THREAD_WORDS: &[&str] = &["block", "warp", "lane", "lanes", "thread"];

/// A part of an argument and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'t> {
    /// Its text, without white space around it.
    pub text: &'t str,
    /// Offset of its first byte in the whole argument.
    pub start: usize,
}

/// The parts of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments<'t> {
    /// Where, what or which event; may be empty.
    pub what: Part<'t>,
    /// Which threads; none for all.
    pub threads: Option<Part<'t>>,
    /// The condition behind `if`.
    pub condition: Option<Part<'t>>,
}

impl<'t> Arguments<'t> {
    /// Takes the argument of `break`, `tbreak`, `watch` or `catch` apart.
    ///
    /// # Errors
    /// Nothing stands behind `if`.
    pub fn parse(text: &'t str) -> Result<Self, ArgumentError> {
        let (head, condition) = match top_level(text, |word| word == "if" || word.starts_with("if(")) {
            None => (text, None),
            Some(at) => {
                let condition = part(text, at + 2, text.len());
                if condition.text.is_empty() {
                    return Err(ArgumentError::new("a condition is expected after 'if'").at(at..text.trim_end().len()));
                }
                (text.get(..at).unwrap_or(""), Some(condition))
            }
        };
        let threads_at = top_level(head, |word| THREAD_WORDS.contains(&word));
        let threads = threads_at.map(|at| part(text, at, head.len()));
        Ok(Self { what: part(text, 0, threads_at.unwrap_or(head.len())), threads, condition })
    }
}

/// The parts of a `dprintf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogArguments<'t> {
    /// Where, for which threads and on what condition.
    pub place: Arguments<'t>,
    /// `"FORMAT",VALUES` as it was typed.
    pub message: Part<'t>,
}

impl<'t> LogArguments<'t> {
    /// Takes the argument of `dprintf` apart.
    ///
    /// # Errors
    /// There is no format in quotes behind a comma, or nothing stands behind `if`.
    pub fn parse(text: &'t str) -> Result<Self, ArgumentError> {
        let is_format = |comma: &usize| text.get(comma + 1..).is_some_and(|rest| rest.trim_start().starts_with('"'));
        let Some(comma) = text.match_indices(',').map(|(at, _)| at).find(is_format) else {
            return Err(ArgumentError::new("a format is expected after the location").with_help("such as dprintf 37,\"r7 is %d\\n\",%r7"));
        };
        Ok(Self { place: Arguments::parse(text.get(..comma).unwrap_or(""))?, message: part(text, comma + 1, text.len()) })
    }
}

/// The bytes `start..end` of `text` without white space around them.
fn part(text: &str, start: usize, end: usize) -> Part<'_> {
    let all = text.get(start..end).unwrap_or("");
    Part { text: all.trim(), start: start + (all.len() - all.trim_start().len()) }
}

/// Where the first word that is `wanted` starts outside of brackets and quotes.
fn top_level(text: &str, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let found = words(text).find(|(at, word)| wanted(word) && is_top_level(text.get(..*at).unwrap_or("")));
    found.map(|(at, _)| at)
}

/// Whether brackets and quotes of what stands before are closed.
fn is_top_level(before: &str) -> bool {
    let (mut depth, mut quoted) = (0_i64, false);
    for letter in before.chars() {
        match letter {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    depth <= 0 && !quoted
}
