//! The text of values: scalars, arrays in braces, summaries of lanes.

use crate::base::counted;
use crate::debug::LaneMask;
use crate::debug::value::{ArrayText, LanesText, Pattern, ValueText};
use crate::debug::view::RegisterRow;

/// The number of lane values that are listed before `…`.
const LANES_SHOWN: usize = 8;
/// More consecutive equal elements than this are written once, with their number (gdb's `set print repeats`).
const REPEAT_THRESHOLD: usize = 16;

/// `NAME = VALUE`, or for lanes `NAME TYPE: …`; `name` is the expression, and the lanes `unwritten` have never written it.
pub fn printed(name: &str, value: &ValueText, unwritten: LaneMask) -> String {
    match value {
        ValueText::Scalar(_) => format!("{name} = {}\n", in_a_line(value, unwritten)),
        ValueText::Lanes(text) if unwritten == text.mask => format!("{name} {}\n", defined_lanes(text, unwritten)),
        ValueText::Lanes(text) => format!("{name} {}\n{}", defined_lanes(text, unwritten), lane_table(text)),
        ValueText::Array(text) => format!("{name} = {}\n", array(text)),
        ValueText::Tensor(text) => format!("{name} = {}\n", super::tensor::tensor(text)),
    }
}

/// A value in one line: a summary of lanes, the rows of a matrix one after the other. The lanes `unwritten` have never written it.
pub fn in_a_line(value: &ValueText, unwritten: LaneMask) -> String {
    match value {
        ValueText::Scalar(text) if !unwritten.is_empty() => format!("undefined (reads as {text})"),
        ValueText::Scalar(text) => text.clone(),
        ValueText::Lanes(text) => defined_lanes(text, unwritten),
        ValueText::Tensor(text) => super::tensor::tensor(text).split_whitespace().collect::<Vec<_>>().join(" "),
        ValueText::Array(text) => array(text).split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// `u32: 27 41 9 1 … min 1, max 9232; differs in 30 lanes`
pub fn lanes(text: &LanesText) -> String {
    let LanesText { ty, mask, values, pattern } = text;
    let part = if *mask == LaneMask::ALL { String::new() } else { format!(" ({})", mask.describe()) };
    let described = match pattern {
        Pattern::Uniform(value) if mask.count() == 1 => value.clone(),
        Pattern::Uniform(value) => format!("{value} (uniform)"),
        Pattern::Affine { base, stride } => {
            let base = if base == "0" { String::new() } else { format!("{base} + ") };
            format!("{} (affine: {base}{stride}*lane)", ends(values))
        }
        Pattern::Few(groups) => {
            let group = |(value, lanes): &(String, LaneMask)| format!("{value} in {}", lanes.describe());
            groups.iter().map(group).collect::<Vec<_>>().join("; ")
        }
        Pattern::Mixed { min, max, differing } => {
            let shown = values.iter().take(LANES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
            let more = if values.len() > LANES_SHOWN { " …" } else { "" };
            let range = min.as_ref().zip(max.as_ref()).map_or(String::new(), |(min, max)| format!(" min {min}, max {max};"));
            format!("{shown}{more}{range} differs in {}", counted(u64::from(*differing), "lane"))
        }
    };
    format!("{ty}{part}: {described}")
}

/// The value of each lane, eight in a line, if [`lanes`] does not show all of them.
fn lane_table(text: &LanesText) -> String {
    let is_complete = !matches!(text.pattern, Pattern::Mixed { .. }) || text.values.len() <= LANES_SHOWN;
    if is_complete {
        return String::new();
    }
    let width = text.values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
    let numbers: Vec<u32> = (0..32).filter(|lane| text.mask.contains(*lane as usize)).collect();
    let rows = numbers.chunks(LANES_SHOWN).zip(text.values.chunks(LANES_SHOWN));
    let row = |(lanes, values): (&[u32], &[String])| {
        let values: String = values.iter().map(|value| format!("  {value:>width$}")).collect();
        format!("  {:>2}:{values}\n", lanes.first().unwrap_or(&0))
    };
    rows.map(row).collect()
}

/// `0, 4, .. 124`
fn ends(values: &[String]) -> String {
    match values {
        [first, second, .., last] => format!("{first}, {second}, .. {last}"),
        _ => values.join(", "),
    }
}

/// `{1, 2, 3}`; each row of a matrix has its own braces.
pub fn array(text: &ArrayText) -> String {
    if text.shape.len() < 2 {
        return flat_array(text);
    }
    let columns = text.shape.last().copied().and_then(|extent| usize::try_from(extent).ok()).unwrap_or(1).max(1);
    let rows = text.elements.chunks(columns).map(|row| format!("  {{{}}}", row.join(", ")));
    let more = if text.more { "\n  …" } else { "" };
    format!("{} {{\n{}{more}\n}}", text.ty, rows.collect::<Vec<_>>().join(",\n"))
}

/// The elements of an array with one dimension, with repeats as in gdb.
fn flat_array(text: &ArrayText) -> String {
    let groups: Vec<&[String]> = text.elements.chunk_by(|a, b| a == b).collect();
    let mut parts = Vec::new();
    for group in &groups {
        match (group.len(), group.first()) {
            (count, Some(value)) if count > REPEAT_THRESHOLD => parts.push(format!("{value} <repeats {count} times>")),
            _ => parts.extend(group.iter().cloned()),
        }
    }
    let more = if text.more { ", …" } else { "" };
    format!("{{{}{more}}}", parts.join(", "))
}

/// A line for each register, names and types aligned.
pub fn registers(rows: &[RegisterRow]) -> String {
    let width = |text: fn(&RegisterRow) -> &str| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    let (names, types) = (width(|row| &row.name), width(|row| &row.ty));
    let line = |row: &RegisterRow| match &row.value {
        ValueText::Scalar(_) => format!("{:names$}  {:types$}  {}\n", row.name, row.ty, in_a_line(&row.value, row.undefined)),
        ValueText::Lanes(value) => format!("{:names$}  {}\n", row.name, defined_lanes(value, row.undefined)),
        ValueText::Array(_) | ValueText::Tensor(_) => format!("{:names$}  {}\n", row.name, in_a_line(&row.value, row.undefined)),
    };
    rows.iter().map(line).collect()
}

/// The values of lanes, of which some have none; where no lane has written it, it has none to show.
fn defined_lanes(text: &LanesText, undefined: LaneMask) -> String {
    match undefined {
        LaneMask::NONE => lanes(text),
        all if all == text.mask => format!("{}: undefined in {}", text.ty, all.describe()),
        some => format!("{}; undefined in {}", lanes(text), some.describe()),
    }
}

/// `4,6-7,14,…`: the first lanes of a mask.
pub fn some_lanes(lanes: LaneMask) -> String {
    const CHARS: usize = 16;
    if lanes == LaneMask::ALL {
        return "0-31".to_string();
    }
    let all = lanes.describe();
    let all = all.trim_start_matches("lanes ").trim_start_matches("lane ");
    if all.len() <= CHARS {
        return all.to_string();
    }
    let head = all.get(..CHARS).and_then(|head| head.rfind(',')).map_or("", |end| &all[..=end]);
    format!("{head}…")
}
