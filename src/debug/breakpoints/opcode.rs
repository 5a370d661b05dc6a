//! Locations by a pattern of opcodes: `break op atom.*`.

use super::resolved::Resolved;
use crate::debug::argument::ArgumentError;
use crate::program::{Pc, Program};

/// A shell-style pattern for opcodes with their modifiers, as they are written: `*` stands for any letters, `?` for one, and
/// `[abc]`, `[a-z]` and `[!abc]` for one of a set. A pattern without any of these stands for the opcode with any further modifiers:
/// `ld.shared` matches `ld.shared.f32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    tokens: Vec<PatternToken>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternToken {
    /// `*`
    Any,
    /// `?`
    One,
    /// This letter.
    Letter(char),
    /// A letter that is in one of the ranges, or in none of them.
    Set { ranges: Vec<(char, char)>, inside: bool },
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is empty or holds white space, or a set is not closed.
    pub fn parse(text: &str) -> Result<Self, ArgumentError> {
        if text.is_empty() || text.contains(char::is_whitespace) {
            return Err(ArgumentError::new("one opcode is expected after 'op'").with_help("such as 'op atom.*'"));
        }
        let letters: Vec<char> = text.chars().collect();
        let mut tokens = Vec::new();
        let mut rest = letters.as_slice();
        while let [first, after @ ..] = rest {
            let (token, after) = match first {
                '*' => (PatternToken::Any, after),
                '?' => (PatternToken::One, after),
                '[' => set(after).ok_or_else(|| ArgumentError::new(format!("a '[' of '{text}' is not closed")))?,
                letter => (PatternToken::Letter(*letter), after),
            };
            tokens.push(token);
            rest = after;
        }
        Ok(Self { text: text.to_string(), tokens })
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if `opcode` matches.
    pub fn matches(&self, opcode: &str) -> bool {
        let is_plain = self.tokens.iter().all(|token| matches!(token, PatternToken::Letter(_)));
        if is_plain {
            return opcode.strip_prefix(&self.text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        }
        matches(&self.tokens, &opcode.chars().collect::<Vec<_>>())
    }

    /// All instructions whose opcode it matches.
    pub(super) fn resolve(&self, program: &Program) -> Result<Resolved, ArgumentError> {
        let pcs: Vec<Pc> = (0..program.code.len()).map(Pc::new).filter(|pc| self.matches(opcode(program, *pc))).collect();
        if pcs.is_empty() {
            let present = (0..program.code.len()).map(|index| stem(opcode(program, Pc::new(index)))).filter(|stem| !stem.is_empty());
            return Err(
                ArgumentError::new(format!("no instruction of the module matches '{}'", self.text)).with_nearest(stem(&self.text), present)
            );
        }
        Ok(Resolved { pcs, note: None })
    }
}

/// The opcode of the instruction at `pc` with its modifiers; empty for the closing brace of a function.
pub fn opcode(program: &Program, pc: Pc) -> &str {
    program.opcode(pc).map_or("", |opcode| &opcode.text)
}

/// The opcode without its modifiers.
pub(super) fn stem(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or(opcode)
}

/// The set that starts after its `[`, and what follows its `]`. A leading `]` is a member of the set.
fn set(letters: &[char]) -> Option<(PatternToken, &[char])> {
    let (inside, letters) = match letters {
        ['!' | '^', rest @ ..] => (false, rest),
        all => (true, all),
    };
    let end = letters.iter().skip(1).position(|letter| *letter == ']')? + 1;
    let (mut members, rest) = (letters.get(..end)?, letters.get(end + 1..)?);
    let mut ranges = Vec::new();
    loop {
        members = match members {
            [] => return Some((PatternToken::Set { ranges, inside }, rest)),
            [low, '-', high, after @ ..] => {
                ranges.push((*low, *high));
                after
            }
            [one, after @ ..] => {
                ranges.push((*one, *one));
                after
            }
        };
    }
}

/// True if the tokens match all letters. Backtracking returns only to the last star.
fn matches(tokens: &[PatternToken], letters: &[char]) -> bool {
    let (mut token, mut letter) = (0, 0);
    let mut retry = None;
    while letter < letters.len() {
        match tokens.get(token) {
            Some(PatternToken::Any) => {
                token += 1;
                retry = Some((token, letter));
            }
            Some(single) if is_letter(single, letters[letter]) => {
                token += 1;
                letter += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                (token, letter) = (after_star, from + 1);
                retry = Some((after_star, letter));
            }
        }
    }
    tokens.iter().skip(token).all(|token| *token == PatternToken::Any)
}

fn is_letter(token: &PatternToken, letter: char) -> bool {
    match token {
        PatternToken::Any => false,
        PatternToken::One => true,
        PatternToken::Letter(wanted) => *wanted == letter,
        PatternToken::Set { ranges, inside } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) == *inside,
    }
}
