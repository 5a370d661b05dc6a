//! Fixes for launch files that `ron` rejects: mistakes that are common in files written by hand, with correct text. The correct text
//! also replaces the mistake, so that the rest of the file can be parsed.

use super::element::{Element, Number};
use super::value_path::{Part, parts_around};
use crate::isa::nearest;

/// A mistake in the text, and its fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The wrong bytes of the text; empty if something is missing.
    pub wrong: std::ops::Range<usize>,
    /// The mistake.
    pub message: String,
    /// The fix, in a sentence.
    pub help: String,
    /// Text that replaces the wrong bytes while the rest is parsed.
    pub instead: String,
}

/// Advice on `text`, which is rejected at byte `at` for the reason `error`; `None` if the mistake is not one of those known here.
pub fn advise(text: &str, at: usize, error: &ron::Error) -> Option<Advice> {
    let parts = parts_around(text, at);
    let advice = match error {
        ron::Error::MissingStructField { field, outer } => {
            let part = parts.iter().find(|part| text.get(part.start..part.end).is_some_and(|value| value.contains('(')))?;
            missing(text, part, at, field, outer.as_deref())
        }
        ron::Error::NoSuchStructField { expected, found, outer } => {
            let (index, part) = parts.iter().enumerate().find(|(_, part)| part.field == found)?;
            unknown(text, part, parts.get(index + 1), expected, outer.as_deref())
        }
        ron::Error::ExpectedComma => parts.iter().find_map(|part| of_value(text, part)).or_else(|| comma(text, at)),
        _ => parts.iter().find_map(|part| of_value(text, part)),
    };
    // Text that changes nothing is no advice.
    advice.filter(|advice| text.get(advice.wrong.clone()) != Some(&advice.instead))
}

/// Fields that must be there, each with an example.
const EXAMPLES: &[(&str, &str)] = &[
    ("init", "init: Zero"),
    ("name", "name: \"x\""),
    ("elem", "elem: F32"),
    ("grid", "grid: (1, 1, 1)"),
    ("block", "block: (32, 1, 1)"),
    ("params", "params: []"),
    ("launches", "launches: []"),
    ("seed", "seed: 1"),
    ("low", "low: 0"),
    ("high", "high: 1"),
    ("start", "start: 0"),
    ("step", "step: 1"),
    ("file", "file: \"x.bin\""),
    ("offset", "offset: 0"),
    ("ids", "ids: [\"race.shared\"]"),
];

/// A missing field: the error is at the closing bracket, at `at`.
fn missing(text: &str, part: &Part, at: usize, field: &str, outer: Option<&str>) -> Option<Advice> {
    let example = EXAMPLES.iter().find(|(name, _)| *name == field)?.1;
    let inside = text.get(part.start..at)?.trim_end();
    let comma = if inside.ends_with([',', '(']) { "" } else { ", " };
    let of = outer.map_or(String::new(), |outer| format!(" of {outer}"));
    Some(Advice {
        wrong: at..at,
        message: format!("field '{field}'{of} is missing"),
        help: format!("for one: {example}"),
        instead: format!("{comma}{example}"),
    })
}

/// A comma that is missing between two values, the second of which starts at `at`.
fn comma(text: &str, at: usize) -> Option<Advice> {
    let (before, after) = text.split_at_checked(at)?;
    let is_value = |letter: char| letter.is_alphanumeric() || "\"[(-".contains(letter);
    if !before.ends_with([' ', '\n', '\t', '\r', ')', ']', '"']) || !after.starts_with(is_value) {
        return None;
    }
    let (message, help) = ("a comma is missing before this".to_string(), "a comma stands between two values: a, b".to_string());
    Some(Advice { wrong: at..at, message, help, instead: ",".to_string() })
}

/// A field that does not exist; a similar one replaces it, or it is removed.
fn unknown(text: &str, part: &Part, around: Option<&Part>, expected: &[&str], outer: Option<&str>) -> Option<Advice> {
    text.get(part.named_at..part.end)?;
    let of = outer.map_or(String::new(), |outer| format!(" of {outer}"));
    let message = format!("there is no field '{}'{of}", part.field);
    let meant = meant(part.field, expected.iter().copied());
    let help = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? ")) + &format!("fields: {}", expected.join(", "));
    let siblings = around.and_then(|around| text.get(around.start..around.end)).unwrap_or("");
    if let Some(meant) = meant.filter(|meant| !siblings.contains(&format!("{meant}:"))) {
        return Some(Advice { wrong: part.named_at..part.named_at + part.field.len(), message, help, instead: meant.to_string() });
    }
    let after_comma = if text.get(part.end..)?.starts_with(',') { part.end + 1 } else { part.end };
    Some(Advice { wrong: part.named_at..after_comma, message, help, instead: String::new() })
}

/// The one of `known` that `word` probably means: equal except for case, with a component of its name, or similar.
pub(super) fn meant<'k>(word: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let word = word.to_ascii_lowercase();
    let has_part = |name: &&str| name.split('_').any(|part| part == word);
    known.clone().find(|name| *name == word).or_else(|| known.clone().find(has_part)).or_else(|| nearest(&word, known))
}

/// Advice on the value of a field.
fn of_value(text: &str, part: &Part) -> Option<Advice> {
    // A parameter has no name, so text that looks like one belongs to the value.
    let from = if part.within == "params" { part.named_at } else { part.start };
    let region = text.get(from..part.end)?;
    let value = region.trim();
    let start = from + (region.len() - region.trim_start().len());
    let (message, help, instead) = match (part.field, part.within) {
        (_, "params") => parameter(value)?,
        ("grid" | "block" | "cluster", _) => extents(part.field, value)?,
        ("shape" | "box", _) => shape(part.field, value)?,
        ("len", _) => length(value)?,
        ("init" | "expect", _) => contents(part.field, value)?,
        ("tolerance", _) => tolerance(value)?,
        ("elem", _) => element(value)?,
        ("name" | "kernel" | "module" | "file", _) => word(part.field, value)?,
        _ => return None,
    };
    Some(Advice { wrong: start..start + value.len(), message, help, instead })
}

/// The mistake, the fix, and the text that replaces it.
type Message = (String, String, String);

/// The numbers of `3x3`, `(3, 3)`, `[3, 3]` or `3`; `None` for anything else.
fn numbers(value: &str) -> Option<Vec<u64>> {
    let parts = value.split([',', 'x', '*', ' ', '(', ')', '[', ']']).filter(|part| !part.is_empty());
    parts
        .map(|part| part.parse().ok().filter(|number| *number <= u64::from(u32::MAX)))
        .collect::<Option<Vec<_>>>()
        .filter(|numbers| !numbers.is_empty())
}

fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn extents(field: &str, value: &str) -> Option<Message> {
    let mut given = numbers(value)?;
    let message = format!("'{value}' is not three extents, x, y and z");
    if given.len() > 3 {
        return Some((message, format!("a {field} has three: {field}: (4, 2, 1)"), "(1, 1, 1)".to_string()));
    }
    given.resize(3, 1);
    let right = format!("({})", listed(&given));
    Some((message, format!("{field}: {right}"), right))
}

fn shape(field: &str, value: &str) -> Option<Message> {
    let right = format!("[{}]", listed(&numbers(value)?));
    Some((format!("'{value}' is not a list of extents"), format!("{field}: {right}"), right))
}

fn length(value: &str) -> Option<Message> {
    let bare = value.trim_matches(['"', '\'']);
    if bare.len() < value.len() {
        let count: u64 = bare.trim().parse().ok()?;
        return Some((format!("{value} is a string, not a number"), format!("len: {count}"), count.to_string()));
    }
    let given = numbers(value).filter(|numbers| numbers.len() > 1)?;
    let message = format!("'{value}' is not one number");
    let product = given.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))?;
    Some((message, format!("shape: [{}], in place of len", listed(&given)), product.to_string()))
}

/// Contents of a buffer, written in another notation.
fn contents(field: &str, value: &str) -> Option<Message> {
    let bare = value.trim_matches('"');
    let quoted = bare.len() != value.len();
    let right = if let Some(number) = Number::parse(bare).filter(|_| !quoted) {
        if field == "init" { format!("Fill({number})") } else { format!("Values([{number}])") }
    } else if value.starts_with('[') {
        format!("Values({value})")
    } else if quoted || is_file(bare) {
        format!("File(\"{bare}\")")
    } else {
        let word = bare.split('(').next().unwrap_or(bare).to_ascii_lowercase();
        INITS.iter().find(|(name, _)| *name == word)?.1.to_string()
    };
    Some((format!("'{value}' does not say what a buffer holds"), format!("{field}: {right}"), right))
}

/// Names of contents in other languages, with the text of a launch file.
const INITS: &[(&str, &str)] = &[
    ("zero", "Zero"),
    ("zeros", "Zero"),
    ("uninit", "Uninit"),
    ("iota", "Iota(start: 0, step: 1)"),
    ("arange", "Iota(start: 0, step: 1)"),
    ("random", "Random(seed: 0, low: 0, high: 1)"),
    ("rand", "Random(seed: 0, low: 0, high: 1)"),
    ("ones", "Fill(1)"),
    ("file", "File(\"x.npy\")"),
];

/// True if `text` looks like the name of a file.
fn is_file(text: &str) -> bool {
    let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
    !extension.is_empty()
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A tolerance without its kind.
fn tolerance(value: &str) -> Option<Message> {
    let bound = Number::parse(value.trim_matches('"'))?.to_f64();
    let rel = format!("Rel({value})");
    (bound >= 0.0).then(|| (format!("'{value}' is a bound, and not of what"), format!("tolerance: {rel}, or Abs({value}), Ulp(2)"), rel))
}

/// Names of element types in other languages.
const ELEMENTS: &[(&str, Element)] = &[
    ("float", Element::F32),
    ("float32", Element::F32),
    ("double", Element::F64),
    ("float64", Element::F64),
    ("half", Element::F16),
    ("float16", Element::F16),
    ("bfloat16", Element::BF16),
    ("char", Element::S8),
    ("int8", Element::S8),
    ("uint8", Element::U8),
    ("bool", Element::U8),
    ("short", Element::S16),
    ("int16", Element::S16),
    ("uint16", Element::U16),
    ("int", Element::S32),
    ("int32", Element::S32),
    ("i32", Element::S32),
    ("unsigned", Element::U32),
    ("uint32", Element::U32),
    ("long", Element::S64),
    ("int64", Element::S64),
    ("i64", Element::S64),
    ("uint64", Element::U64),
];

/// The element type with this name in PTX, C, Python or Triton.
fn element_called(word: &str) -> Option<Element> {
    let word = word.trim_matches('"').trim_start_matches('.').to_ascii_lowercase();
    Element::from_name(&word).or_else(|| ELEMENTS.iter().find(|(name, _)| *name == word).map(|(_, element)| *element))
}

fn element(value: &str) -> Option<Message> {
    let right = element_called(value).map(|element| format!("{element:?}"));
    let help = right.as_ref().map_or(format!("types: {}", Element::names().to_uppercase()), |right| format!("elem: {right}"));
    Some((format!("'{value}' is not a type of element"), help, right.unwrap_or("B32".to_string())))
}

fn word(field: &str, value: &str) -> Option<Message> {
    let is_bare = !value.contains(['"', '(', '[']) && !value.is_empty();
    let name = value.trim_matches('\'');
    let said = if name.len() < value.len() { value.to_string() } else { format!("'{value}'") };
    is_bare.then(|| (format!("{said} is not a string"), format!("{field}: \"{name}\""), format!("\"{name}\"")))
}

/// A parameter with a value and without a type.
fn parameter(value: &str) -> Option<Message> {
    let bare = value.split_once(':').map_or(value, |(_, value)| value.trim());
    let scalar = |number: Number| match number {
        Number::Integer(_) => format!("U32({number})"),
        Number::Float(_) => format!("F32({number})"),
    };
    let typed = || {
        let (ty, rest) = value.split_once(['(', '='])?;
        let number = Number::parse(rest.trim_end_matches(')').trim())?;
        Some(format!("{:?}({number})", element_called(ty.trim())?))
    };
    let named = bare.trim_matches('"');
    let right = if let Some(number) = Number::parse(bare) {
        scalar(number)
    } else if let Some(typed) = typed() {
        typed
    } else if is_file(named) {
        format!("Buffer(name: \"x\", elem: F32, init: File(\"{named}\"))")
    } else {
        return None;
    };
    let message = format!("'{value}' does not say what a parameter is");
    Some((message, format!("a parameter is written with its type, such as {right}; parameters have no names, they stand in order"), right))
}
