//! What a line of the source mentions: its variables, their members and elements, with their values.

use super::locals::{TENSOR, follows_unset, value};
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::{DescribedObject, Expression};
use crate::debug::source_names::values::UNDEFINED;
use crate::debug::value::{SourceValue, Value, ValueText};
use crate::isa::Space;

/// Most objects of one line.
const MENTIONED_MAX: usize = 16;

/// A variable, a member or an element that a line of the source mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mentioned {
    /// As the line has it: `nd.arr[k].x`.
    pub text: String,
    /// Its value for the focused thread, of a tensor in short; none if it has none here.
    pub value: Option<String>,
    /// Its type.
    pub ty: String,
    /// Where it is: `%r7`, `local 0x10`; `tensor` for one of a Triton program; empty if it is nowhere.
    pub place: String,
}

/// For each of these bytes of memory, true if the focused thread has not written it; empty if it has, or that is not known.
pub type UnwrittenBytes<'u> = dyn Fn((Space, u64), usize) -> Vec<bool> + 'u;

/// The variables of the source that a line of code mentions, in order; of one with members or elements the part that is mentioned, if the
/// thread has a value of it.
pub fn mentioned(context: &EvalContext<'_>, line: &str, unwritten: &UnwrittenBytes<'_>) -> Vec<Mentioned> {
    let context = &context.with_names_as_in_source();
    let mut all: Vec<Mentioned> = Vec::new();
    for path in paths(line) {
        let found = path.iter().rev().find_map(|text| of_text(context, text, unwritten));
        let is_new = |found: &Mentioned| all.iter().all(|other| other.text != found.text);
        all.extend(found.filter(is_new));
        if all.len() == MENTIONED_MAX {
            break;
        }
    }
    all
}

fn of_text(context: &EvalContext<'_>, text: &str, unwritten: &UnwrittenBytes<'_>) -> Option<Mentioned> {
    let expression = Expression::parse(text).ok()?;
    let text = text.to_string();
    if let Some((ty, _)) = context.tensors().filter(|tensors| tensors.is_tensor(&text)).and_then(|tensors| tensors.type_of(&text)) {
        let shown = value(context, &text, None).ok().map(|shown| match shown {
            ValueText::Tensor(tensor) => tensor.in_short(),
            other => other,
        });
        let value = shown.and_then(|shown| if let ValueText::Scalar(shown) = shown { Some(shown) } else { None });
        return Some(Mentioned { text, value, ty, place: TENSOR.to_string() });
    }
    if follows_unset(&expression, context, unwritten) {
        return None;
    }
    let DescribedObject { ty, place, memory, bytes } = expression.object_of_source(context)?;
    let unwritten = memory.map_or_else(Vec::new, |memory| unwritten(memory, bytes));
    let value = match expression.evaluate(context).ok() {
        Some(Value::Source(value)) => Some(Value::Source(SourceValue { unwritten, ..value })),
        Some(_) if !unwritten.is_empty() => return Some(Mentioned { text, value: Some(UNDEFINED.to_string()), ty, place }),
        value => value,
    };
    let shown = value.map(|value| value.text(context, None));
    let value = shown.and_then(|shown| if let ValueText::Scalar(shown) = shown { Some(shown) } else { None });
    Some(Mentioned { text, value, ty, place })
}

/// The names in a line of code with their members and elements, each from the name alone to the longest: `s`, `s.arr`, `s.arr[3]`. Names of
/// functions that are called, and what stands in strings and comments, are left out.
fn paths(line: &str) -> Vec<Vec<&str>> {
    let mut paths = Vec::new();
    let mut rest = line;
    let (mut is_member, mut previous) = (false, ' ');
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") || c == '#' {
            break;
        }
        let length = if c == '"' || c == '\'' {
            quoted(rest, c)
        } else if is_name(c) {
            let length = name(rest);
            if !is_member && !c.is_ascii_digit() {
                paths.extend(path(rest).filter(|path| !path.is_empty()));
            }
            length
        } else {
            c.len_utf8()
        };
        is_member = c == '.' || matches!((previous, c), ('-', '>') | (':', ':')) || is_member && c.is_whitespace();
        previous = c;
        rest = rest.get(length..).unwrap_or_default();
    }
    paths
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The bytes of the name, or of the number, that the text begins with.
fn name(text: &str) -> usize {
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}

/// The bytes of the string that the text begins with.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    let end = text.char_indices().find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.filter(|(at, _)| *at > 0).map_or(text.len(), |(at, _)| at + 1)
}

/// The beginnings of the path of members and elements that the text begins with, shortest first; without the function that is called.
fn path(text: &str) -> Option<Vec<&str>> {
    let mut ends = vec![name(text)];
    loop {
        let end = *ends.last()?;
        let rest = text.get(end..)?;
        let after =
            |prefix: &str| rest.strip_prefix(prefix).filter(|member| member.starts_with(|c: char| is_name(c) && !c.is_ascii_digit()));
        let length = match (after("."), after("->"), after("::")) {
            (Some(member), ..) => 1 + name(member),
            (None, Some(member), _) | (None, None, Some(member)) => 2 + name(member),
            (None, None, None) if rest.starts_with('[') => bracketed(rest)?,
            (None, None, None) => break,
        };
        ends.push(end + length);
    }
    let is_called = text.get(*ends.last()?..)?.trim_start().starts_with('(');
    if is_called {
        ends.pop();
    }
    ends.into_iter().map(|end| text.get(..end)).collect()
}

/// The bytes of the brackets that the text begins with, and what is in them; none if they are not closed.
fn bracketed(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let closed = text.char_indices().find(|(_, c)| {
        depth = match c {
            '[' => depth + 1,
            ']' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    closed.map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn names_with_their_members_and_elements() {
        let longest = |line| paths(line).into_iter().map(|path: Vec<&str>| path.last().copied().unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(longest("nd.arr[k + 1].x = p->y * a[b[2]]; // c"), ["nd.arr[k + 1].x", "k", "p->y", "a[b[2]]", "b[2]"]);
        assert_eq!(longest("float s = twice<int>(v.x) + obj.size(q) - 1.5f;"), ["float", "s", "twice", "int", "v.x", "obj", "q"]);
        assert_eq!(longest("acc = tl.dot(a, b) # done"), ["acc", "tl", "a", "b"]);
        assert_eq!(longest("f(\"a\\\"b\", 'c', app::n, x[1"), ["app::n"]);
        assert_eq!(longest("𝄞x[é].y"), ["𝄞", "x[é].y", "é"].into_iter().skip(1).collect::<Vec<_>>());
    }
}
