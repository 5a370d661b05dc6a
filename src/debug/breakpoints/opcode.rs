//! Opcodes by pattern: `break op atom.*`.

use super::resolved::Resolved;
use crate::debug::argument::ArgumentError;
use crate::program::{Pc, Program};

/// A shell-style pattern for opcodes with their modifiers, as they are written: `*` stands for any letters, `?` for one, and
/// `[abc]`, `[a-z]` and `[!abc]` for one of a set. A pattern without any of these stands for the opcode with any further modifiers:
/// `ld.shared` matches `ld.shared.f32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    pieces: Vec<Piece>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
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
        let mut pieces = Vec::new();
        let mut rest = letters.as_slice();
        while let [first, after @ ..] = rest {
            let (piece, after) = match first {
                '*' => (Piece::Any, after),
                '?' => (Piece::One, after),
                '[' => set(after).ok_or_else(|| ArgumentError::new(format!("a '[' of '{text}' is not closed")))?,
                letter => (Piece::Letter(*letter), after),
            };
            pieces.push(piece);
            rest = after;
        }
        Ok(Self { text: text.to_string(), pieces })
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it stands for `opcode`.
    pub fn matches(&self, opcode: &str) -> bool {
        let is_plain = self.pieces.iter().all(|piece| matches!(piece, Piece::Letter(_)));
        if is_plain {
            return opcode.strip_prefix(&self.text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        }
        matches(&self.pieces, &opcode.chars().collect::<Vec<_>>())
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

/// The set that starts after its `[`, and what follows its `]`. A `]` that comes first is a letter of the set.
fn set(letters: &[char]) -> Option<(Piece, &[char])> {
    let (inside, letters) = match letters {
        ['!' | '^', rest @ ..] => (false, rest),
        all => (true, all),
    };
    let end = letters.iter().skip(1).position(|letter| *letter == ']')? + 1;
    let (mut members, rest) = (letters.get(..end)?, letters.get(end + 1..)?);
    let mut ranges = Vec::new();
    loop {
        members = match members {
            [] => return Some((Piece::Set { ranges, inside }, rest)),
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

/// Whether the pieces match all of the letters; of several stars only the last is ever tried again.
fn matches(pieces: &[Piece], letters: &[char]) -> bool {
    let (mut piece, mut letter) = (0, 0);
    let mut retry = None;
    while letter < letters.len() {
        match pieces.get(piece) {
            Some(Piece::Any) => {
                piece += 1;
                retry = Some((piece, letter));
            }
            Some(single) if is_letter(single, letters[letter]) => {
                piece += 1;
                letter += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                (piece, letter) = (after_star, from + 1);
                retry = Some((after_star, letter));
            }
        }
    }
    pieces.iter().skip(piece).all(|piece| *piece == Piece::Any)
}

fn is_letter(piece: &Piece, letter: char) -> bool {
    match piece {
        Piece::Any => false,
        Piece::One => true,
        Piece::Letter(wanted) => *wanted == letter,
        Piece::Set { ranges, inside } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) == *inside,
    }
}
