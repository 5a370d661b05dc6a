//! What is wrong with an opcode that matches no form, in words: the nearest form says what would be right.

use super::form::{Form, ModifierSlot};
use super::matcher::{DottedWord, Fit, MatchError, fit};
use super::suggest::nearest;
use super::{ScalarType, table};

/// The error for a name that is no instruction.
pub(super) fn unknown_opcode(opcode: &str) -> MatchError {
    let help = nearest(opcode, table::opcodes()).map(|name| format!("did you mean '{name}'?"));
    MatchError { code: "opcode", message: format!("unknown instruction '{opcode}'"), at: 0..opcode.len(), help }
}

/// Says why `words` fit none of `forms`, which are those of `opcode`; `text` is all of it.
pub(super) fn explain(forms: &'static [Form], opcode: &str, words: &[DottedWord<'_>], text: &str) -> MatchError {
    if let Some(error) = words.iter().find_map(|word| unknown_word(forms, opcode, word)) {
        return error;
    }
    let distance = |form: &Form, fit: &Fit| {
        let types = fit.left.iter().filter(|index| is_type(&words[**index])).count();
        (form.any_words, types, fit.left.len(), fit.missing.is_some())
    };
    let fits = || forms.iter().map(|form| (form, fit(form, words)));
    let Some((form, best)) = fits().min_by_key(|(form, fit)| distance(form, fit)) else { return unknown_opcode(opcode) };
    let Some(dotted_word) = best.left.first().and_then(|index| words.get(*index)) else {
        let as_near = fits().filter(|(other, fit)| distance(other, fit) == distance(form, &best));
        let places = as_near.filter_map(|(form, fit)| form.places.get(fit.missing?));
        return missing(places, opcode, text);
    };
    if let Some(error) = interrupted_name(forms, words, opcode) {
        return error;
    }
    let problem = Misplaced { forms, opcode, words, dotted_word, types: dotted(best.types.iter().map(|ty| ty.word())) };
    if is_type(dotted_word) { problem.type_word(best.types.len()) } else { problem.modifier() }
}

/// The error for a word that no form of the opcode has.
fn unknown_word(forms: &[Form], opcode: &str, dotted_word: &DottedWord<'_>) -> Option<MatchError> {
    let words = || forms.iter().flat_map(|form| &form.places).flat_map(|place| &place.words);
    if forms.iter().any(|form| form.any_words) || words().any(|word| word.text.split('.').any(|part| part == dotted_word.text)) {
        return None;
    }
    let (code, message) = match dotted_word.text {
        "" => ("modifier", format!("a dot without a word after '{opcode}'")),
        ty if is_type(dotted_word) => ("type", format!("'{opcode}' does not work on '.{ty}'")),
        word if table::is_word(word) => ("modifier", format!("'.{word}' does not apply to '{opcode}'")),
        word if looks_like_type(word) => ("type", format!("'.{word}' is not a type")),
        word => ("modifier", format!("unknown modifier '.{word}'")),
    };
    let close = || nearest(dotted_word.text, words().map(|word| word.text)).map(|word| format!("did you mean '.{word}'?"));
    let help = if is_type(dotted_word) { Some(types_of(forms, opcode)) } else { close() };
    Some(MatchError { code, message, at: dotted_word.at.clone(), help })
}

fn is_type(dotted_word: &DottedWord<'_>) -> bool {
    ScalarType::from_word(dotted_word.text).is_some()
}

/// A letter or two, then digits: meant as a type.
fn looks_like_type(word: &str) -> bool {
    let digits = word.trim_start_matches(['b', 'u', 's', 'f']);
    digits.len() < word.len() && digits.starts_with(|c: char| c.is_ascii_digit())
}

/// The error for a word of the instruction's name that comes after other words, if that is all that is wrong.
fn interrupted_name(forms: &'static [Form], words: &[DottedWord<'_>], opcode: &str) -> Option<MatchError> {
    forms.iter().find_map(|form| {
        let is_name = |dotted_word: &DottedWord<'_>| form.places.iter().any(|place| place.joined && has(place, dotted_word.text));
        let (name, others): (Vec<_>, Vec<_>) = words.iter().cloned().partition(is_name);
        let is_late = |dotted_word: &&DottedWord<'_>| others.first().is_some_and(|other| other.at.start < dotted_word.at.start);
        let late = name.iter().find(is_late)?;
        let ordered: Vec<DottedWord<'_>> = name.iter().chain(&others).cloned().collect();
        fit(form, &ordered).is_complete().then(|| MatchError {
            code: "modifier",
            message: format!("'.{}' belongs to the name of the instruction and stands before other words", late.text),
            at: late.at.clone(),
            help: Some(format!("write '{opcode}{}'", dotted(ordered.iter().map(|dotted_word| dotted_word.text)))),
        })
    })
}

/// A word that the opcode has, but not here.
struct Misplaced<'p> {
    forms: &'static [Form],
    opcode: &'p str,
    words: &'p [DottedWord<'p>],
    dotted_word: &'p DottedWord<'p>,
    /// The types that fit, with dots.
    types: String,
}

impl Misplaced<'_> {
    /// A type that does not go with the others, of which the first `fitting` do.
    fn type_word(&self, fitting: usize) -> MatchError {
        let (word, opcode, types) = (self.dotted_word.text, self.opcode, &self.types);
        let message = if types.is_empty() {
            format!("'.{word}' does not go with the other words of this '{opcode}'")
        } else {
            format!("'.{word}' does not go with '{types}' in '{opcode}'")
        };
        let before: Vec<DottedWord<'_>> = self.words.iter().filter(|word| is_type(word)).take(fitting).cloned().collect();
        let agreeing = self.forms.iter().filter(|form| fit(form, &before).left.is_empty());
        let next = words_of(agreeing.filter_map(|form| type_slots(form).nth(fitting)));
        let help = if types.is_empty() {
            types_of(self.forms, opcode)
        } else if next.is_empty() {
            format!("'{opcode}{types}' is complete")
        } else {
            format!("after '{opcode}{types}' stands one of {next}")
        };
        MatchError { code: "type", message, at: self.dotted_word.at.clone(), help: Some(help) }
    }

    /// A modifier that the types or the other modifiers do not have.
    fn modifier(&self) -> MatchError {
        let (word, opcode, types) = (self.dotted_word.text, self.opcode, &self.types);
        let type_words: Vec<DottedWord<'_>> = self.words.iter().filter(|word| is_type(word)).cloned().collect();
        let of_types = || self.forms.iter().filter(|form| !form.any_words && fit(form, &type_words).left.is_empty());
        let has_word = |form: &&Form| form.places.iter().any(|place| has(place, word));
        let rival = of_types().filter(has_word).find_map(|form| rival(form, self.words, word));
        let goes_with = || words_of(self.forms.iter().filter(has_word).filter_map(|form| type_slots(form).last()));
        let modifiers =
            words_of(of_types().flat_map(|form| form.places.iter().filter(|place| place.words.iter().all(|word| word.ty.is_none()))));
        let one_type = self.forms.iter().all(|form| type_slots(form).count() <= 1);
        let (message, help) = match rival {
            Some(rival) => {
                (format!("'.{word}' does not go with '.{rival}'"), format!("'{opcode}{types}' takes {modifiers}, but not all together"))
            }
            None if types.is_empty() => (format!("'.{word}' does not apply here"), format!("'{opcode}' takes {modifiers}")),
            None => {
                let help = match (one_type, goes_with(), modifiers) {
                    (true, types, _) if !types.is_empty() => format!("'.{word}' of '{opcode}' goes with {types}"),
                    (_, _, modifiers) if modifiers.is_empty() => format!("'{opcode}{types}' takes no modifier"),
                    (_, _, modifiers) => format!("'{opcode}{types}' takes {modifiers}"),
                };
                (format!("'.{word}' does not apply to '{types}'"), help)
            }
        };
        MatchError { code: "modifier", message, at: self.dotted_word.at.clone(), help: Some(help) }
    }
}

/// The word that keeps `word` out of `form`: one that has its place, or one that the form does not have.
fn rival<'p>(form: &'static Form, words: &[DottedWord<'p>], word: &str) -> Option<&'p str> {
    let fit = fit(form, words);
    let holder = form.places.iter().zip(&fit.words).find_map(|(place, held)| held.filter(|held| has(place, word) && held.text != word));
    let rival = match holder {
        Some(holder) => words.iter().find(|dotted_word| dotted_word.text == holder.text),
        None => fit.left.first().and_then(|index| words.get(*index)),
    };
    rival.map(|dotted_word| dotted_word.text).filter(|rival| *rival != word)
}

/// The error for a place that must be filled, which is one of `places`.
fn missing<'s>(places: impl Iterator<Item = &'s ModifierSlot>, opcode: &str, text: &str) -> MatchError {
    let places: Vec<&ModifierSlot> = places.collect();
    let first = places.first().and_then(|place| place.words.first());
    let is_alike = |place: &&ModifierSlot| place.words.first().map(|word| word.ty.is_some()) == first.map(|word| word.ty.is_some());
    let listed = words_of(places.iter().copied().filter(is_alike));
    let (code, message) = match first {
        Some(word) if word.ty.is_some() => ("type", format!("missing type of '{opcode}'")),
        Some(word) if ["rn", "rni", "rzi"].contains(&word.text) => ("modifier", format!("'{text}' needs a rounding modifier")),
        _ => ("modifier", format!("'{text}' needs {listed}")),
    };
    let rest = text.get(opcode.len()..).unwrap_or("");
    let example = first.map_or(String::new(), |word| match word.ty {
        Some(_) => format!("{text}.{}", word.text),
        None => format!("{opcode}.{}{rest}", word.text),
    });
    MatchError { code, message, at: 0..text.len(), help: Some(format!("add one of {listed}, as in '{example}'")) }
}

/// The places of a form that types fill.
fn type_slots(form: &Form) -> impl Iterator<Item = &ModifierSlot> {
    form.places.iter().filter(|place| place.words.iter().any(|word| word.ty.is_some()))
}

fn has(place: &ModifierSlot, word: &str) -> bool {
    place.words.iter().any(|other| other.text.split('.').any(|part| part == word))
}

/// Every word of `places` once, with dots: `.rn .rz`.
fn words_of<'s>(places: impl Iterator<Item = &'s ModifierSlot>) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in places.flat_map(|place| &place.words) {
        if !words.contains(&word.text) {
            words.push(word.text);
        }
    }
    words.iter().map(|word| format!(".{word}")).collect::<Vec<_>>().join(" ")
}

/// `.s32.f32`
fn dotted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!(".{word}")).collect()
}

/// "'add' works on .u16 .s16".
fn types_of(forms: &[Form], opcode: &str) -> String {
    let types = words_of(forms.iter().filter_map(|form| type_slots(form).last()));
    if types.is_empty() { format!("'{opcode}' takes no type") } else { format!("'{opcode}' works on {types}") }
}
