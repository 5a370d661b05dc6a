//! The arguments of a kernel in Triton IR: `%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(…)`.

use super::element;
use crate::isa::ScalarType;

/// The kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A pointer, with the type of its elements, if it has a PTX equivalent.
    Pointer(Option<ScalarType>),
    /// A tensor descriptor.
    Descriptor(Option<ScalarType>),
    /// A number of this many bits.
    Number(u32),
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name of the Python parameter; parts of a descriptor have a number as suffix.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

/// The arguments of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// In order.
    pub list: Vec<Argument>,
    /// Their byte range in the text.
    pub span: (usize, usize),
}

/// The arguments of the kernel called `name`; `None` if the text has no such kernel.
pub fn arguments(text: &str, name: &str) -> Option<Arguments> {
    let start = text.match_indices(&format!("@{name}(")).map(|found| found.0).find(|at| {
        let line = text[..*at].rfind('\n').map_or(0, |end| end + 1);
        text[line..*at].contains("tt.func")
    })?;
    let open = start + name.len() + 2;
    let close = open + end_of_list(&text[open..])?;
    let list = split(&text[open..close]).into_iter().filter_map(argument).collect();
    Some(Arguments { list, span: (open, close) })
}

/// Offset of the `)` that matches a parenthesis opened before `text`.
fn end_of_list(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '<' | '{' | '[' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' | '>' | '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits `text` at the commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '<' | '{' | '[' => depth += 1,
            ')' | '>' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn argument(text: &str) -> Option<Argument> {
    let (name, ty) = text.trim().strip_prefix('%')?.split_once(':')?;
    let ty = ty.trim();
    let inside = |prefix: &str| ty.strip_prefix(prefix).and_then(|rest| rest.split(['>', ',']).next());
    let kind = if let Some(pointee) = inside("!tt.ptr<") {
        Kind::Pointer(element(pointee))
    } else if let Some(tensor) = inside("!tt.tensordesc<tensor<") {
        Kind::Descriptor(tensor.rsplit('x').next().and_then(element))
    } else {
        let word = ty.split([' ', '{']).next().unwrap_or(ty);
        Kind::Number(word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).parse().unwrap_or(32))
    };
    let name = name.trim();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '$' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then(|| Argument { name: name.to_string(), kind })
}

/// The arguments that are parts of the one at `index`: they follow it.
pub fn parts_of(arguments: &[Argument], index: usize) -> std::ops::Range<usize> {
    let is_part = |part: &&Argument| is_part_of(&part.name, &arguments[index].name);
    let count = arguments[index + 1..].iter().take_while(is_part).count();
    index + 1..index + 1 + count
}

/// Indices of the descriptor parts with constant values: the innermost strides, 1 (true), and the fill outside of the tensor, 0 (false).
pub fn parts(arguments: &[Argument]) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let count = parts_of(arguments, index).len();
        if count == 0 || matches!(argument.kind, Kind::Number(_)) {
            continue;
        }
        // A descriptor passed as parts: extents, strides, the fill, and both again. One by value: extents and strides.
        let last = index + count;
        found.push((last, true));
        let fill = (index + 1..=last).find(|part| arguments[*part].kind == Kind::Number(1));
        if let Some(fill) = fill {
            found.extend([(fill, false), (fill - 1, true)]);
        }
    }
    found
}

/// True if `name` is that of a part of the descriptor `whole`: `a_desc_3` of `a_desc`.
fn is_part_of(name: &str, whole: &str) -> bool {
    let number = name.strip_prefix(whole).and_then(|rest| rest.strip_prefix('_'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "module {\n  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(\"x\"(#loc)), \
        %d: !tt.tensordesc<tensor<64x32xbf16>> loc(\"d\"(#loc)), %d_0: i32, %d_1: i32, %d_2: i64, %d_3: i64, %eps: f32) attributes {} {\n";

    #[test]
    fn arguments_have_names_and_types() {
        let found = arguments(TEXT, "k").unwrap();
        let names: Vec<&str> = found.list.iter().map(|argument| argument.name.as_str()).collect();
        assert_eq!(names, ["x", "d", "d_0", "d_1", "d_2", "d_3", "eps"]);
        assert_eq!(found.list[0].kind, Kind::Pointer(Some(ScalarType::F32)));
        assert_eq!(found.list[1].kind, Kind::Descriptor(Some(ScalarType::BF16)));
        assert_eq!(found.list[4].kind, Kind::Number(64));
        assert_eq!(parts(&found.list), [(5, true)]);
    }

    #[test]
    fn another_kernel_and_a_damaged_text_have_none() {
        assert_eq!(arguments(TEXT, "kk"), None);
        assert_eq!(arguments(&TEXT[..60], "k"), None);
        assert_eq!(arguments("", "k"), None);
    }
}
