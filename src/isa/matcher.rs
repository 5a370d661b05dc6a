//! Matches the dotted words of an opcode to a form of the table.

use std::ops::Range;

use smallvec::SmallVec;

use super::explain::{explain, unknown_opcode};
use super::form::{Form, Modifier};
use super::{ScalarType, table};
use crate::base::{Code, without_comments};

/// An opcode with its modifiers assigned to the slots of a form.
#[derive(Clone, Debug)]
pub struct Matched {
    /// The form.
    pub form: &'static Form,
    /// The modifier in each of its slots.
    pub modifiers: SmallVec<[Option<Modifier>; 8]>,
    /// The types, from left to right.
    pub types: SmallVec<[ScalarType; 4]>,
}

/// The error for an opcode that matches no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchError {
    /// `opcode`, `modifier` or `type`.
    pub code: Code,
    /// The error.
    pub message: String,
    /// The bytes of the opcode's text that are wrong.
    pub at: Range<usize>,
    /// A correction.
    pub help: Option<String>,
}

/// Finds the form that `text`, an opcode with its modifiers, matches; of several, the first that accepts `operands` operands.
pub fn match_opcode(text: &str, operands: usize) -> Result<Matched, MatchError> {
    let blanked = without_comments(text);
    let text = &*blanked;
    let dotted = dotted(text);
    let (opcode, words) = dotted.split_first().map_or((text, &[][..]), |(first, rest)| (first.text, rest));
    let forms = table::forms(opcode);
    if forms.is_empty() {
        return Err(unknown_opcode(opcode));
    }
    let mut first = None;
    for form in forms {
        let fit = fit(form, words);
        if fit.is_complete() {
            let matched = Matched { form, modifiers: fit.modifiers, types: fit.types };
            if form.accepts(operands) {
                return Ok(matched);
            }
            first = first.or(Some(matched));
        }
    }
    first.ok_or_else(|| explain(forms, opcode, words, text))
}

impl Matched {
    /// True if the opcode has the modifier `text`.
    pub fn has(&self, text: &str) -> bool {
        self.modifiers.iter().flatten().any(|word| word.text == text)
    }

    /// The value in `choices` of the first modifier that the opcode has.
    pub fn choose<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|choice| self.has(choice.0)).map(|choice| choice.1)
    }

    /// The type that operands have unless the form says otherwise: the last type, or `.b32` without one.
    pub fn ty(&self) -> ScalarType {
        self.types.last().copied().unwrap_or(ScalarType::B32)
    }

    /// The dimensions of a tensor: the number before `d` in `.1d` to `.5d`, or 1.
    pub fn dimensions(&self) -> usize {
        self.choose(&[("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)]).unwrap_or(1)
    }

    /// The columns of a matrix shape: 8 in `.m64n8k16`; 0 without one.
    pub fn columns(&self) -> usize {
        let columns = |text: &str| text.strip_prefix('m')?.split_once('n')?.1.split_once('k')?.0.parse().ok();
        self.modifiers.iter().flatten().find_map(|word| columns(word.text)).unwrap_or(0)
    }

    /// The elements of a vector operand: the number after `.v`, or 1.
    pub fn vector(&self) -> usize {
        self.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }
}

/// A word of an opcode and its position.
#[derive(Clone, Debug)]
pub(super) struct DottedWord<'a> {
    pub text: &'a str,
    pub at: Range<usize>,
}

/// The words of `ld . global.u32`, the opcode first; the position of a word includes its dot.
fn dotted(text: &str) -> SmallVec<[DottedWord<'_>; 12]> {
    let mut start = 0;
    text.split('.')
        .map(|word| {
            let end = start + word.len();
            let lead = word.len() - word.trim_start().len();
            // PTX before 2.2 has constant banks, `.const[3]`, which are treated as one.
            let text = if word.starts_with("const[") && word.ends_with(']') { "const" } else { word.trim() };
            let dotted_word = DottedWord { text, at: (start + lead).saturating_sub(1)..start + word.trim_end().len() };
            start = end + 1;
            dotted_word
        })
        .collect()
}

/// The result of matching the words of an opcode to a form.
pub(super) struct Fit {
    /// The modifier in each slot.
    pub modifiers: SmallVec<[Option<Modifier>; 8]>,
    /// The types that found a slot.
    pub types: SmallVec<[ScalarType; 4]>,
    /// Indices of words that found no slot.
    pub unmatched: SmallVec<[usize; 4]>,
    /// Index of the first required slot that is empty.
    pub missing: Option<usize>,
}

impl Fit {
    /// True if all words match and no required slot is empty.
    pub fn is_complete(&self) -> bool {
        self.unmatched.is_empty() && self.missing.is_none()
    }
}

/// Assigns every word to the first free slot that accepts it; types must fill their slots in order, and words of the instruction's name
/// must precede all others.
pub(super) fn fit(form: &'static Form, dotted: &[DottedWord<'_>]) -> Fit {
    let mut modifiers: SmallVec<[Option<Modifier>; 8]> = SmallVec::from_elem(None, form.slots.len());
    let (mut types, mut unmatched) = (SmallVec::new(), SmallVec::new());
    let (mut first_type_slot, mut first_name_slot) = (0, 0);
    let mut at = 0;
    while at < dotted.len() {
        let found = form.slots.iter().enumerate().filter(|(slot, _)| modifiers[*slot].is_none()).find_map(|(slot, choices)| {
            let word = choices.modifiers.iter().find(|word| parts_of(word.text, &dotted[at..]).is_some())?;
            let first = if choices.in_name { first_name_slot } else { 0 }.max(if word.ty.is_some() { first_type_slot } else { 0 });
            (slot >= first).then_some((slot, *word))
        });
        match found {
            Some((slot, word)) => {
                modifiers[slot] = Some(word);
                first_name_slot = if form.slots[slot].in_name { slot + 1 } else { usize::MAX };
                if let Some(ty) = word.ty {
                    types.push(ty);
                    first_type_slot = slot + 1;
                }
                at += parts_of(word.text, &dotted[at..]).unwrap_or(1);
            }
            None if is_repeated(dotted[at].text, &modifiers) => at += 1,
            None => {
                unmatched.push(at);
                first_name_slot = usize::MAX;
                at += 1;
            }
        }
    }
    if form.any_modifiers {
        unmatched.clear();
    }
    let missing = form.slots.iter().enumerate().position(|(index, slot)| slot.required && modifiers[index].is_none());
    Fit { modifiers, types, unmatched, missing }
}

/// Modifiers that may be repeated, as ptxas of PTX 9.0 accepts it.
const REPEATABLE: &[&str] = &["NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"];

/// True if the modifier `text` is present already and may be repeated.
fn is_repeated(text: &str, modifiers: &[Option<Modifier>]) -> bool {
    REPEATABLE.contains(&text) && modifiers.iter().flatten().any(|word| word.text == text)
}

/// The number of words of `dotted` that the modifier `text` matches, if they start with it.
fn parts_of(text: &str, dotted: &[DottedWord<'_>]) -> Option<usize> {
    if dotted.first()?.text == text {
        return Some(1);
    }
    if !text.contains('.') {
        return None;
    }
    let parts = text.split('.').count();
    (dotted.len() >= parts && text.split('.').zip(dotted).all(|(part, dotted_word)| part == dotted_word.text)).then_some(parts)
}
