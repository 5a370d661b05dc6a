//! Error messages for an opcode that matches no form, derived from the form that fits best.

use super::form::{Form, ModifierSlot};
use super::matcher::{DottedWord, Fit, MatchError, fit};
use super::suggest::nearest;
use super::{ScalarType, table};

/// The error for a name that is no instruction.
pub(super) fn unknown_opcode(opcode: &str) -> MatchError {
    let help = nearest(opcode, table::opcodes()).map(|name| format!("did you mean '{name}'?"));
    MatchError { code: "opcode", message: format!("unknown instruction '{opcode}'"), at: 0..opcode.len(), help }
}

/// The error for `words`, which match none of `forms`, the forms of `opcode`; `text` is the complete opcode.
pub(super) fn explain(forms: &'static [Form], opcode: &str, words: &[DottedWord<'_>], text: &str) -> MatchError {
    if let Some(error) = words.iter().find_map(|word| unknown_modifier(forms, opcode, word)) {
        return error;
    }
    let distance = |form: &Form, fit: &Fit| {
        let types = fit.unmatched.iter().filter(|index| is_type(&words[**index])).count();
        (form.any_modifiers, types, fit.unmatched.len(), fit.missing.is_some())
    };
    let fits = || forms.iter().map(|form| (form, fit(form, words)));
    let Some((form, best)) = fits().min_by_key(|(form, fit)| distance(form, fit)) else { return unknown_opcode(opcode) };
    let Some(dotted_word) = best.unmatched.first().and_then(|index| words.get(*index)) else {
        let as_near = fits().filter(|(other, fit)| distance(other, fit) == distance(form, &best));
        let slots = as_near.filter_map(|(form, fit)| form.slots.get(fit.missing?));
        return missing(slots, opcode, text);
    };
    if let Some(error) = interrupted_name(forms, words, opcode) {
        return error;
    }
    let problem = MisplacedModifier { forms, opcode, words, dotted_word, types: dotted(best.types.iter().map(|ty| ty.word())) };
    if is_type(dotted_word) { problem.type_error(best.types.len()) } else { problem.modifier_error() }
}

/// The error for a modifier that no form of the opcode has.
fn unknown_modifier(forms: &[Form], opcode: &str, dotted_word: &DottedWord<'_>) -> Option<MatchError> {
    let words = || forms.iter().flat_map(|form| &form.slots).flat_map(|slot| &slot.modifiers);
    if forms.iter().any(|form| form.any_modifiers) || words().any(|word| word.text.split('.').any(|part| part == dotted_word.text)) {
        return None;
    }
    let (code, message) = match dotted_word.text {
        "" => ("modifier", format!("a dot without a word after '{opcode}'")),
        ty if is_type(dotted_word) => ("type", format!("'{opcode}' does not work on '.{ty}'")),
        word if table::is_modifier(word) => ("modifier", format!("'.{word}' does not apply to '{opcode}'")),
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

/// True if the word starts like a type: some of the letters `busf`, then a digit.
fn looks_like_type(word: &str) -> bool {
    let digits = word.trim_start_matches(['b', 'u', 's', 'f']);
    digits.len() < word.len() && digits.starts_with(|c: char| c.is_ascii_digit())
}

/// The error for a word of the instruction's name that comes after modifiers, if the opcode is correct otherwise.
fn interrupted_name(forms: &'static [Form], words: &[DottedWord<'_>], opcode: &str) -> Option<MatchError> {
    forms.iter().find_map(|form| {
        let is_name = |dotted_word: &DottedWord<'_>| form.slots.iter().any(|slot| slot.in_name && accepts(slot, dotted_word.text));
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

/// An error about a modifier that some form of the opcode has, but not together with the others.
struct MisplacedModifier<'p> {
    forms: &'static [Form],
    opcode: &'p str,
    words: &'p [DottedWord<'p>],
    dotted_word: &'p DottedWord<'p>,
    /// The types that fit, with dots.
    types: String,
}

impl MisplacedModifier<'_> {
    /// The error for a type that does not match the others; the first `fitting` types match.
    fn type_error(&self, fitting: usize) -> MatchError {
        let (word, opcode, types) = (self.dotted_word.text, self.opcode, &self.types);
        let message = if types.is_empty() {
            format!("'.{word}' does not go with the other words of this '{opcode}'")
        } else {
            format!("'.{word}' does not go with '{types}' in '{opcode}'")
        };
        let before: Vec<DottedWord<'_>> = self.words.iter().filter(|word| is_type(word)).take(fitting).cloned().collect();
        let agreeing = self.forms.iter().filter(|form| fit(form, &before).unmatched.is_empty());
        let next = spelled(agreeing.filter_map(|form| type_slots(form).nth(fitting)));
        let help = if types.is_empty() {
            types_of(self.forms, opcode)
        } else if next.is_empty() {
            format!("'{opcode}{types}' is complete")
        } else {
            format!("after '{opcode}{types}' stands one of {next}")
        };
        MatchError { code: "type", message, at: self.dotted_word.at.clone(), help: Some(help) }
    }

    /// The error for a modifier that is not valid with the types or the other modifiers.
    fn modifier_error(&self) -> MatchError {
        let (word, opcode, types) = (self.dotted_word.text, self.opcode, &self.types);
        let type_words: Vec<DottedWord<'_>> = self.words.iter().filter(|word| is_type(word)).cloned().collect();
        let of_types = || self.forms.iter().filter(|form| !form.any_modifiers && fit(form, &type_words).unmatched.is_empty());
        let has_modifier = |form: &&Form| form.slots.iter().any(|slot| accepts(slot, word));
        let rival = of_types().filter(has_modifier).find_map(|form| conflicting(form, self.words, word));
        let goes_with = || spelled(self.forms.iter().filter(has_modifier).filter_map(|form| type_slots(form).last()));
        let modifiers =
            spelled(of_types().flat_map(|form| form.slots.iter().filter(|slot| slot.modifiers.iter().all(|word| word.ty.is_none()))));
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

/// The modifier that conflicts with `word` in `form`: one that fills its slot, or one that the form does not have.
fn conflicting<'p>(form: &'static Form, words: &[DottedWord<'p>], word: &str) -> Option<&'p str> {
    let fit = fit(form, words);
    let occupant =
        form.slots.iter().zip(&fit.modifiers).find_map(|(slot, filled)| filled.filter(|filled| accepts(slot, word) && filled.text != word));
    let rival = match occupant {
        Some(occupant) => words.iter().find(|dotted_word| dotted_word.text == occupant.text),
        None => fit.unmatched.first().and_then(|index| words.get(*index)),
    };
    rival.map(|dotted_word| dotted_word.text).filter(|rival| *rival != word)
}

/// The error for a slot that must be filled, which is one of `slots`.
fn missing<'s>(slots: impl Iterator<Item = &'s ModifierSlot>, opcode: &str, text: &str) -> MatchError {
    let slots: Vec<&ModifierSlot> = slots.collect();
    let first = slots.first().and_then(|slot| slot.modifiers.first());
    let is_alike = |slot: &&ModifierSlot| slot.modifiers.first().map(|word| word.ty.is_some()) == first.map(|word| word.ty.is_some());
    let listed = spelled(slots.iter().copied().filter(is_alike));
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

/// The slots of a form for types.
fn type_slots(form: &Form) -> impl Iterator<Item = &ModifierSlot> {
    form.slots.iter().filter(|slot| slot.modifiers.iter().any(|word| word.ty.is_some()))
}

fn accepts(slot: &ModifierSlot, word: &str) -> bool {
    slot.modifiers.iter().any(|other| other.text.split('.').any(|part| part == word))
}

/// Every word of `slots` once, with dots: `.rn .rz`.
fn spelled<'s>(slots: impl Iterator<Item = &'s ModifierSlot>) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in slots.flat_map(|slot| &slot.modifiers) {
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
    let types = spelled(forms.iter().filter_map(|form| type_slots(form).last()));
    if types.is_empty() { format!("'{opcode}' takes no type") } else { format!("'{opcode}' works on {types}") }
}
