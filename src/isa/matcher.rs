//! Which form of the table the dotted words of an opcode stand for, and what is wrong with them if none.

use std::ops::Range;

use smallvec::SmallVec;

use super::ScalarType;
use super::form::{Form, Word};
use super::suggest::nearest;
use super::table;
use crate::base::Code;

/// An opcode with its words put into the slots of a form.
#[derive(Clone, Debug)]
pub struct Matched {
    /// The form.
    pub form: &'static Form,
    /// The word in each of its slots.
    pub words: SmallVec<[Option<Word>; 8]>,
    /// The type words, from left to right.
    pub types: SmallVec<[ScalarType; 4]>,
}

/// Why an opcode stands for no form.
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

/// Finds the form that `text`, an opcode with its dotted words, stands for; of several, the first that takes `operands` operands.
pub fn match_words(text: &str, operands: usize) -> Result<Matched, MatchError> {
    let pieces = pieces(text);
    let (opcode, words) = pieces.split_first().map_or((text, &[][..]), |(first, rest)| (first.text, rest));
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

    /// The elements of a vector operand: the number after `.v`, or 1.
    pub fn vector(&self) -> usize {
        self.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }
}

/// A dotted word of an opcode and where it stands in it.
#[derive(Clone, Debug)]
struct Piece<'a> {
    text: &'a str,
    at: Range<usize>,
}

/// The words of `ld . global.u32`, the opcode first; the place of a word has its dot.
fn pieces(text: &str) -> SmallVec<[Piece<'_>; 12]> {
    let mut start = 0;
    text.split('.')
        .map(|word| {
            let end = start + word.len();
            let lead = word.len() - word.trim_start().len();
            let piece = Piece { text: word.trim(), at: (start + lead).saturating_sub(1)..start + word.trim_end().len() };
            start = end + 1;
            piece
        })
        .collect()
}

/// How the words of an opcode fit a form.
struct Fit {
    words: SmallVec<[Option<Word>; 8]>,
    types: SmallVec<[ScalarType; 4]>,
    /// Indices of words that found no slot.
    left: SmallVec<[usize; 4]>,
    /// Index of the first slot that had to be filled and is not.
    missing: Option<usize>,
}

impl Fit {
    fn is_complete(&self) -> bool {
        self.left.is_empty() && self.missing.is_none()
    }
}

/// Puts every word into the first free slot that takes it; types must fill their slots in order.
fn fit(form: &'static Form, pieces: &[Piece<'_>]) -> Fit {
    let mut words: SmallVec<[Option<Word>; 8]> = SmallVec::from_elem(None, form.slots.len());
    let (mut types, mut left) = (SmallVec::new(), SmallVec::new());
    let mut first_type_slot = 0;
    let mut at = 0;
    while at < pieces.len() {
        let found = form.slots.iter().enumerate().filter(|(slot, _)| words[*slot].is_none()).find_map(|(slot, choices)| {
            let word = choices.words.iter().find(|word| parts_of(word.text, &pieces[at..]).is_some())?;
            (word.ty.is_none() || slot >= first_type_slot).then_some((slot, *word))
        });
        match found {
            Some((slot, word)) => {
                words[slot] = Some(word);
                if let Some(ty) = word.ty {
                    types.push(ty);
                    first_type_slot = slot + 1;
                }
                at += parts_of(word.text, &pieces[at..]).unwrap_or(1);
            }
            None => {
                left.push(at);
                at += 1;
            }
        }
    }
    if form.any_words {
        left.clear();
    }
    let missing = form.slots.iter().enumerate().position(|(index, slot)| slot.required && words[index].is_none());
    Fit { words, types, left, missing }
}

/// How many pieces the word `text` covers if they start with it.
fn parts_of(text: &str, pieces: &[Piece<'_>]) -> Option<usize> {
    if pieces.first()?.text == text {
        return Some(1);
    }
    if !text.contains('.') {
        return None;
    }
    let parts = text.split('.').count();
    (pieces.len() >= parts && text.split('.').zip(pieces).all(|(part, piece)| part == piece.text)).then_some(parts)
}

fn unknown_opcode(opcode: &str) -> MatchError {
    let help = nearest(opcode, table::opcodes()).map(|name| format!("did you mean '{name}'?"));
    MatchError { code: "opcode", message: format!("unknown instruction '{opcode}'"), at: 0..opcode.len(), help }
}

/// Says why `words` fit none of `forms`, by the form that comes nearest.
fn explain(forms: &'static [Form], opcode: &str, words: &[Piece<'_>], text: &str) -> MatchError {
    if let Some(error) = words.iter().enumerate().find_map(|(index, _)| unknown_word(forms, opcode, &words[index..])) {
        return error;
    }
    let fits = forms.iter().map(|form| (form, fit(form, words)));
    let nearest = fits.min_by_key(|(_, fit)| {
        let types = fit.left.iter().filter(|index| ScalarType::from_word(words[**index].text).is_some()).count();
        (types, fit.left.len(), fit.missing.is_some())
    });
    let Some((form, fit)) = nearest else { return unknown_opcode(opcode) };
    match fit.left.first().and_then(|index| words.get(*index)) {
        Some(piece) => misplaced(forms, opcode, piece, &fit.types),
        None => missing(form, fit.missing, opcode, text),
    }
}

/// The error for the first of `pieces` if no form of the opcode has that word at all.
fn unknown_word(forms: &[Form], opcode: &str, pieces: &[Piece<'_>]) -> Option<MatchError> {
    let piece = pieces.first()?;
    let known = |word: &Word| word.text == piece.text || word.text.split('.').any(|part| part == piece.text);
    let words = || forms.iter().flat_map(|form| &form.slots).flat_map(|slot| &slot.words);
    if words().any(known) {
        return None;
    }
    let is_type = ScalarType::from_word(piece.text).is_some();
    let (code, message) = match (is_type, piece.text) {
        (_, "") => ("modifier", format!("a dot without a word after '{opcode}'")),
        (true, ty) => ("type", format!("'{opcode}' does not work on '.{ty}'")),
        (false, word) if table::is_word(word) => ("modifier", format!("'.{word}' does not apply to '{opcode}'")),
        (false, word) if looks_like_type(word) => ("type", format!("'.{word}' is not a type")),
        (false, word) => ("modifier", format!("unknown modifier '.{word}'")),
    };
    let close = nearest(piece.text, words().map(|word| word.text)).filter(|_| !is_type).map(|word| format!("did you mean '.{word}'?"));
    let help = close.or_else(|| is_type.then(|| types_of(forms, opcode)));
    Some(MatchError { code, message, at: piece.at.clone(), help })
}

/// A letter or two, then digits: meant as a type.
fn looks_like_type(word: &str) -> bool {
    let digits = word.trim_start_matches(['b', 'u', 's', 'f']);
    digits.len() < word.len() && digits.starts_with(|c: char| c.is_ascii_digit())
}

/// The error for a word that the opcode has in other forms only.
fn misplaced(forms: &[Form], opcode: &str, piece: &Piece<'_>, types: &[ScalarType]) -> MatchError {
    let word = piece.text;
    let of_types: String = types.iter().map(|ty| format!(".{}", ty.word())).collect();
    if ScalarType::from_word(word).is_some() {
        let message = if types.is_empty() {
            format!("'.{word}' does not go with the other modifiers of this '{opcode}'")
        } else {
            format!("'.{word}' does not go with '{of_types}' in '{opcode}'")
        };
        return MatchError { code: "type", message, at: piece.at.clone(), help: Some(types_of(forms, opcode)) };
    }
    let message =
        if of_types.is_empty() { format!("'.{word}' does not apply here") } else { format!("'.{word}' does not apply to '{of_types}'") };
    let having = forms.iter().filter(|form| form.slots.iter().any(|slot| slot.words.iter().any(|other| other.text == word)));
    let mut written: Vec<&str> = having.map(|form| form.row.syntax.split_whitespace().next().unwrap_or("")).collect();
    written.dedup();
    written.truncate(3);
    MatchError { code: "modifier", message, at: piece.at.clone(), help: Some(format!("'.{word}' stands in {}", written.join(", "))) }
}

/// The error for a slot that must be filled.
fn missing(form: &Form, slot: Option<usize>, opcode: &str, text: &str) -> MatchError {
    let words = slot.and_then(|slot| form.slots.get(slot)).map_or(&[][..], |slot| &slot.words);
    let listed = words.iter().map(|word| format!(".{}", word.text)).collect::<Vec<_>>().join(" ");
    let (code, message) = if words.iter().any(|word| word.ty.is_some()) {
        ("type", format!("missing type of '{opcode}'"))
    } else if words.iter().any(|word| word.text == "rn" || word.text == "rzi") {
        ("modifier", format!("'{text}' needs a rounding modifier"))
    } else {
        ("modifier", format!("'{text}' lacks a modifier"))
    };
    let help = if words.len() == 1 { format!("add {listed}") } else { format!("add one of {listed}") };
    MatchError { code, message, at: 0..text.len(), help: Some(help) }
}

/// "it works on .u16 .s16".
fn types_of(forms: &[Form], opcode: &str) -> String {
    let mut types: Vec<&str> = forms.iter().flat_map(Form::type_words).map(|(_, word)| word.text).collect();
    types.sort_unstable();
    types.dedup();
    if types.is_empty() { format!("'{opcode}' takes no type") } else { format!("'{opcode}' works on .{}", types.join(" .")) }
}
