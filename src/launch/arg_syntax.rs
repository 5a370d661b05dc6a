//! The syntax of one kernel parameter in one argument of the command line.
//!
//! ```text
//! u32=1024                     a scalar
//! f32[1024]                    a buffer of zeros
//! f32[1024]=iota               0, 1, 2, …; iota(start,step)
//! f32[16,64]=random            evenly distributed in 0..1; random(seed,low,high)
//! f32[1024]=1.5                every element the same
//! s32[3]=1,2,3                 the elements one by one; the length is optional
//! f32[]=@x.npy                 a data file; the length is optional
//! f32[1024]=uninit             undefined contents
//! ```

use super::element::{Element, Kind, Number};
use super::file::{Buffer, Compare, Init, Param};
use crate::base::{Diagnostic, SourceId, Span};

/// Parses `argument`, the text of `source`; a buffer is called `name`.
///
/// # Errors
/// The part of the argument that cannot be parsed, and a fix.
pub fn parse(arg: &str, source: SourceId, name: &str) -> Result<Param, Diagnostic> {
    ArgReader { arg, source }.typed(arg, name)
}

/// Splits `TYPE[EXTENTS]=VALUE` into the type, the text after `[`, and the value.
pub(super) fn split(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (left, value) = text.split_once('=').map_or((text, None), |(left, value)| (left, Some(value)));
    match left.split_once('[') {
        Some((ty, extents)) => (ty, Some(extents), value),
        None => (left, None, value),
    }
}

/// One to three extents: `4` is `[4, 1, 1]`, `4,2` and `4x2` are `[4, 2, 1]`.
///
/// # Errors
/// The mistake, in a sentence.
pub fn extents(text: &str) -> Result<[u32; 3], String> {
    let mut extents = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > extents.len() {
        return Err("three numbers at most: x, y and z".to_string());
    }
    for (axis, part) in extents.iter_mut().zip(parts) {
        *axis = part.trim().parse().map_err(|_| format!("'{part}' is not a number from 1 to {}", u32::MAX))?;
        if *axis == 0 {
            return Err("no extent can be 0".to_string());
        }
    }
    Ok(extents)
}

/// The parser of an argument, or a part of it; errors have spans in the whole argument.
pub(super) struct ArgReader<'a> {
    pub(super) arg: &'a str,
    pub(super) source: SourceId,
}

impl<'a> ArgReader<'a> {
    /// A parameter with its type, from `text`, a slice of the argument.
    pub(super) fn typed(&self, text: &'a str, name: &str) -> Result<Param, Diagnostic> {
        let (ty, extents, value) = split(text);
        let element = Element::from_name(ty);
        let element =
            element.ok_or_else(|| self.error(ty, format!("'{ty}' is not a type of element"), &format!("types: {}", Element::names())))?;
        match (extents, value) {
            (Some(extents), value) => self.buffer(element, extents, value, name).map(Param::Buffer),
            (None, Some(value)) => Ok(Param::from_scalar(element, self.number(value)?)),
            (None, None) => {
                let help = format!("a scalar: {ty}=1; a buffer of 1024 zeros: {ty}[1024]");
                Err(self.error(&text[text.len()..], "the value is missing".to_string(), &help))
            }
        }
    }

    /// An error at `part`, which is a slice of the argument.
    pub(super) fn error(&self, part: &str, message: String, help: &str) -> Diagnostic {
        let start = (part.as_ptr() as usize).saturating_sub(self.arg.as_ptr() as usize);
        let span = Span::new(self.source, start as u32, (start + part.len()) as u32);
        Diagnostic::error("arg", span, message).with_help(help)
    }

    /// A buffer of `elem`, from the text after `[` and the text after `=`.
    pub(super) fn buffer(&self, elem: Element, extents: &'a str, value: Option<&'a str>, name: &str) -> Result<Buffer, Diagnostic> {
        let Some((extents, rest)) = extents.split_once(']') else {
            return Err(self.error(&extents[extents.len()..], "']' is missing".to_string(), "a buffer of 1024 elements: f32[1024]"));
        };
        if !rest.is_empty() {
            return Err(self.error(rest, format!("'{rest}' after ']'"), "what the buffer holds follows '=': f32[1024]=iota"));
        }
        let extents = self.extents(extents)?;
        let init = value.map_or(Ok(Init::Zero), |value| self.init(elem, value, extents.is_empty()))?;
        let (len, shape) = match extents.as_slice() {
            [] => (None, None),
            [len] => (Some(*len), None),
            _ => (None, Some(extents)),
        };
        Ok(Buffer { name: name.to_string(), elem, len, shape, init, expect: None, tolerance: None, compare: Compare::default() })
    }

    /// `1024`, `16,64`, `16x64` or nothing.
    fn extents(&self, text: &'a str) -> Result<Vec<u64>, Diagnostic> {
        let parts = text.split([',', 'x']).filter(|_| !text.is_empty());
        let extent = |part: &str| {
            part.trim().parse().map_err(|_| self.error(part, format!("'{part}' is not a number of elements"), "f32[1024], f32[16,64]"))
        };
        parts.map(extent).collect()
    }

    /// The initial contents of a buffer.
    pub(super) fn init(&self, elem: Element, text: &'a str, no_extents: bool) -> Result<Init, Diagnostic> {
        let (keyword, arguments) = match text.split_once('(') {
            Some((keyword, rest)) => (keyword, Some(self.arguments(rest)?)),
            None => (text, None),
        };
        let float = elem.kind() == Kind::Float;
        let integer = Number::Integer;
        match (keyword, arguments.as_deref()) {
            ("zero", None) => Ok(Init::Zero),
            ("uninit", None) => Ok(Init::Uninit),
            ("iota", None) => Ok(Init::Iota { start: integer(0), step: integer(1) }),
            ("iota", Some(&[start, step])) => Ok(Init::Iota { start, step }),
            ("iota", Some(_)) => Err(self.error(text, "iota has two arguments".to_string(), "iota(start,step)")),
            ("random", None) => Ok(Init::Random { seed: 0, low: integer(0), high: integer(if float { 1 } else { 100 }) }),
            ("random", Some(&[Number::Integer(seed), low, high])) => Ok(Init::Random { seed: seed as u64, low, high }),
            ("random", Some(_)) => {
                Err(self.error(text, "random has three arguments, the first an integer".to_string(), "random(seed,low,high)"))
            }
            _ => self.listed(text, no_extents),
        }
    }

    /// `@file`, `1,2,3` or, if the number of elements is known, one number for all.
    fn listed(&self, text: &'a str, no_extents: bool) -> Result<Init, Diagnostic> {
        if let Some(path) = text.strip_prefix('@') {
            if path.is_empty() {
                return Err(self.error(text, "the name of a file is missing".to_string(), "f32[]=@x.npy"));
            }
            return Ok(Init::File(path.to_string()));
        }
        if text.contains(',') || no_extents {
            return text.split(',').map(|part| self.number(part)).collect::<Result<_, _>>().map(Init::Values);
        }
        self.number(text).map(Init::Fill)
    }

    /// The numbers before a closing parenthesis that ends the argument.
    fn arguments(&self, text: &'a str) -> Result<Vec<Number>, Diagnostic> {
        let Some(inside) = text.strip_suffix(')') else {
            return Err(self.error(&text[text.len()..], "')' is missing".to_string(), "iota(start,step), random(seed,low,high)"));
        };
        inside.split(',').map(|part| self.number(part)).collect()
    }

    pub(super) fn number(&self, text: &'a str) -> Result<Number, Diagnostic> {
        let number = Number::parse(text.trim());
        number.ok_or_else(|| {
            let message = if text.is_empty() { "a number is missing".to_string() } else { format!("'{text}' is not a number") };
            self.error(text, message, "1024, -1, 0xff, 2.5, 1e-6; for buffers also zero, iota, random, uninit, @file")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arg: &str) -> Param {
        parse(arg, SourceId(0), "x").unwrap()
    }

    fn buffer(arg: &str) -> (Option<u64>, Option<Vec<u64>>, Init) {
        let Param::Buffer(buffer) = read(arg) else { panic!("{arg} is not a buffer") };
        (buffer.len, buffer.shape, buffer.init)
    }

    #[test]
    fn every_form_is_read() {
        let integer = Number::Integer;
        assert_eq!(read("u32=1024"), Param::U32(integer(1024)));
        assert_eq!(read("f32=-2.5"), Param::F32(Number::Float(-2.5)));
        assert_eq!(read("b64=0xff"), Param::B64(integer(255)));
        assert_eq!(buffer("f32[1024]"), (Some(1024), None, Init::Zero));
        assert_eq!(buffer("f32[16,64]=uninit"), (None, Some(vec![16, 64]), Init::Uninit));
        assert_eq!(buffer("f32[4]=iota"), (Some(4), None, Init::Iota { start: integer(0), step: integer(1) }));
        assert_eq!(buffer("f32[4]=iota(5,-1)"), (Some(4), None, Init::Iota { start: integer(5), step: integer(-1) }));
        let random = Init::Random { seed: 7, low: integer(-1), high: Number::Float(1.5) };
        assert_eq!(buffer("f32[4]=random(7,-1,1.5)"), (Some(4), None, random));
        assert_eq!(buffer("f32[4]=1.5"), (Some(4), None, Init::Fill(Number::Float(1.5))));
        assert_eq!(buffer("s32[]=1,-2"), (None, None, Init::Values(vec![integer(1), integer(-2)])));
        assert_eq!(buffer("f32[]=@x.npy"), (None, None, Init::File("x.npy".to_string())));
    }

    #[test]
    fn extents_are_one_to_three_numbers() {
        assert_eq!(extents("4"), Ok([4, 1, 1]));
        assert_eq!(extents("4,2"), Ok([4, 2, 1]));
        assert_eq!(extents("4x2x3"), Ok([4, 2, 3]));
        for wrong in ["", "0", "1,2,3,4", "-1", "4,", "4294967296"] {
            assert!(extents(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_mistake_names_its_column() {
        for (arg, start, end, message) in [
            ("f31[4]", 0, 3, "'f31' is not a type of element"),
            ("", 0, 0, "'' is not a type of element"),
            ("f32", 3, 3, "the value is missing"),
            ("f32[4", 5, 5, "']' is missing"),
            ("f32[4]x=1", 6, 7, "'x' after ']'"),
            ("f32[4,y]", 6, 7, "'y' is not a number of elements"),
            ("f32[4]=iota(1)", 7, 14, "iota has two arguments"),
            ("f32[4]=iota(1,2", 15, 15, "')' is missing"),
            ("f32[4]=random(0.5,1,2)", 7, 22, "random has three arguments, the first an integer"),
            ("f32[4]=1,two", 9, 12, "'two' is not a number"),
            ("f32[]=@", 6, 7, "the name of a file is missing"),
            ("u32=", 4, 4, "a number is missing"),
            ("u32=many", 4, 8, "'many' is not a number"),
        ] {
            let error = parse(arg, SourceId(0), "x").unwrap_err();
            assert_eq!((error.span.start, error.span.end, error.message.as_str()), (start, end, message), "{arg}");
        }
    }
}
