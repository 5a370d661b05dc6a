//! Which form of the table the dotted words of an opcode match, and what is wrong with them if none.

use std::ops::Range;

use smallvec::SmallVec;

use super::explain::{explain, unknown_opcode};
use super::form::{Form, Modifier};
use super::{ScalarType, table};
use crate::base::{Code, without_comments};

/// An opcode with its words put into the places of a form.
#[derive(Clone, Debug)]
pub struct Matched {
    /// The form.
    pub form: &'static Form,
    /// The word in each of its places.
    pub words: SmallVec<[Option<Modifier>; 8]>,
    /// The type words, from left to right.
    pub types: SmallVec<[ScalarType; 4]>,
}

/// Why an opcode matches no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchError {
    /// `opcode`, `modifier` or `type`.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The bytes of the opcode's text that are wrong.
    pub at: Range<usize>,
    /// What would be right.
    pub help: Option<String>,
}

/// Finds the form that `text`, an opcode with its dotted words, matches; of several, the first that takes `operands` operands.
pub fn match_words(text: &str, operands: usize) -> Result<Matched, MatchError> {
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
            let matched = Matched { form, words: fit.words, types: fit.types };
            if form.takes(operands) {
                return Ok(matched);
            }
            first = first.or(Some(matched));
        }
    }
    first.ok_or_else(|| explain(forms, opcode, words, text))
}

impl Matched {
    /// Whether the opcode has the word `text`.
    pub fn has(&self, text: &str) -> bool {
        self.words.iter().flatten().any(|word| word.text == text)
    }

    /// The value that `choices` gives to the first of its words that the opcode has.
    pub fn choose<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|choice| self.has(choice.0)).map(|choice| choice.1)
    }

    /// The type that operands have unless the form says otherwise: the last type word, or `.b32` where there is none.
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
        self.words.iter().flatten().find_map(|word| columns(word.text)).unwrap_or(0)
    }

    /// The elements of a vector operand: the number after `.v`, or 1.
    pub fn vector(&self) -> usize {
        self.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }
}

/// A dotted word of an opcode and its position in it.
#[derive(Clone, Debug)]
pub(super) struct DottedWord<'a> {
    pub text: &'a str,
    pub at: Range<usize>,
}

/// The words of `ld . global.u32`, the opcode first; the place of a word has its dot.
fn dotted(text: &str) -> SmallVec<[DottedWord<'_>; 12]> {
    let mut start = 0;
    text.split('.')
        .map(|word| {
            let end = start + word.len();
            let lead = word.len() - word.trim_start().len();
            // PTX before 2.2 has banks of constants, `.const[3]`, which here are one.
            let text = if word.starts_with("const[") && word.ends_with(']') { "const" } else { word.trim() };
            let dotted_word = DottedWord { text, at: (start + lead).saturating_sub(1)..start + word.trim_end().len() };
            start = end + 1;
            dotted_word
        })
        .collect()
}

/// How the words of an opcode fit a form.
pub(super) struct Fit {
    /// The word in each place.
    pub words: SmallVec<[Option<Modifier>; 8]>,
    /// The types that found a place.
    pub types: SmallVec<[ScalarType; 4]>,
    /// Indices of words that found no place.
    pub left: SmallVec<[usize; 4]>,
    /// Index of the first place that had to be filled and is not.
    pub missing: Option<usize>,
}

impl Fit {
    /// Whether the words are those of the form, all of them.
    pub fn is_complete(&self) -> bool {
        self.left.is_empty() && self.missing.is_none()
    }
}

/// Puts every word into the first free place that takes it; types must fill their places in order, and words of the instruction's name
/// precede all others.
pub(super) fn fit(form: &'static Form, dotted: &[DottedWord<'_>]) -> Fit {
    let mut words: SmallVec<[Option<Modifier>; 8]> = SmallVec::from_elem(None, form.places.len());
    let (mut types, mut left) = (SmallVec::new(), SmallVec::new());
    let (mut first_type_place, mut first_joined_place) = (0, 0);
    let mut at = 0;
    while at < dotted.len() {
        let found = form.places.iter().enumerate().filter(|(place, _)| words[*place].is_none()).find_map(|(place, choices)| {
            let word = choices.words.iter().find(|word| parts_of(word.text, &dotted[at..]).is_some())?;
            let first = if choices.joined { first_joined_place } else { 0 }.max(if word.ty.is_some() { first_type_place } else { 0 });
            (place >= first).then_some((place, *word))
        });
        match found {
            Some((place, word)) => {
                words[place] = Some(word);
                first_joined_place = if form.places[place].joined { place + 1 } else { usize::MAX };
                if let Some(ty) = word.ty {
                    types.push(ty);
                    first_type_place = place + 1;
                }
                at += parts_of(word.text, &dotted[at..]).unwrap_or(1);
            }
            None if is_repeated(dotted[at].text, &words) => at += 1,
            None => {
                left.push(at);
                first_joined_place = usize::MAX;
                at += 1;
            }
        }
    }
    if form.any_words {
        left.clear();
    }
    let missing = form.places.iter().enumerate().position(|(index, place)| place.required && words[index].is_none());
    Fit { words, types, left, missing }
}

/// Flags that may be written more than once, as the assembler of PTX 9.0 has it.
const REPEATABLE: &[&str] = &["NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"];

/// Whether the flag `text` is there already and may be there again.
fn is_repeated(text: &str, words: &[Option<Modifier>]) -> bool {
    REPEATABLE.contains(&text) && words.iter().flatten().any(|word| word.text == text)
}

/// How many dotted the word `text` covers if they start with it.
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
