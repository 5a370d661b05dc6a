//! C++ expressions whose type or value is evident: constants and casts.

use crate::launch::{Element, Number};

/// A scalar type of C++ on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its name.
    pub name: &'static str,
    /// Size in bytes.
    pub bytes: u32,
    /// The PTX element type of the same size and kind; `None` for 128 bits.
    pub element: Option<Element>,
}

/// Names of types; the first of those with the same element type is shown.
#[rustfmt::skip]
const TYPES: &[Type] = &[
    ty("bool", 1, Element::U8), ty("char", 1, Element::S8), ty("signed char", 1, Element::S8), ty("unsigned char", 1, Element::U8),
    ty("int8_t", 1, Element::S8), ty("uint8_t", 1, Element::U8),
    ty("short", 2, Element::S16), ty("unsigned short", 2, Element::U16), ty("int16_t", 2, Element::S16), ty("uint16_t", 2, Element::U16),
    ty("int", 4, Element::S32), ty("unsigned", 4, Element::U32), ty("unsigned int", 4, Element::U32),
    ty("int32_t", 4, Element::S32), ty("uint32_t", 4, Element::U32),
    ty("long", 8, Element::S64), ty("unsigned long", 8, Element::U64), ty("long long", 8, Element::S64),
    ty("unsigned long long", 8, Element::U64), ty("int64_t", 8, Element::S64), ty("uint64_t", 8, Element::U64),
    ty("size_t", 8, Element::U64), ty("uintptr_t", 8, Element::U64), POINTER,
    ty("float", 4, Element::F32), ty("double", 8, Element::F64),
    Type { name: "__int128", bytes: 16, element: None }, Type { name: "unsigned __int128", bytes: 16, element: None },
];

const POINTER: Type = ty("pointer", 8, Element::U64);

const fn ty(name: &'static str, bytes: u32, element: Element) -> Type {
    Type { name, bytes, element: Some(element) }
}

impl Type {
    /// True for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self.element, Some(Element::F32 | Element::F64))
    }

    /// The type called `name`, if it is one; qualifiers are ignored.
    fn named(name: &str) -> Option<Self> {
        if name.trim_end().ends_with('*') {
            return Some(POINTER);
        }
        let keywords: Vec<&str> = name.split_whitespace().filter(|keyword| !matches!(*keyword, "const" | "volatile")).collect();
        let name = keywords.join(" ");
        let name = name.strip_prefix("std::").unwrap_or(&name);
        TYPES.iter().find(|ty| ty.name == name).copied()
    }

    fn of(name: &'static str) -> Option<Self> {
        Self::named(name)
    }
}

/// The type and value of an expression, as far as they are evident.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constant {
    /// Its type.
    pub ty: Option<Type>,
    /// Its value.
    pub number: Option<Number>,
}

/// The type and value of the expression `text`: `3u`, `-1.5f`, `(short)7`, `0x10`, `'a'`; only the type for `(int)x`, none for `x`.
pub fn read(text: &str) -> Constant {
    let text = text.trim();
    if let Some((inside, after)) = text.strip_prefix('(').and_then(split_at_close) {
        return match Type::named(inside) {
            _ if after.trim().is_empty() => read(inside),
            Some(ty) => cast(ty, read(after)),
            None => Constant::default(),
        };
    }
    match text.strip_prefix('-') {
        Some(rest) => negated(read(rest)),
        None => literal(text),
    }
}

/// The text before and after the `)` that matches a `(` before `text`.
fn split_at_close(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_u32;
    let close = text.char_indices().find(|(_, c)| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        _ => false,
    });
    close.map(|(at, _)| (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()))
}

fn cast(ty: Type, from: Constant) -> Constant {
    let convert = |number: Number| match (ty.element, number) {
        (Some(element), number) if ty.is_float() => Number::Float(element.to_f64(element.encode_float(number.to_f64()))),
        (Some(element), Number::Integer(value)) => Number::Integer(element.to_integer(element.wrap(value))),
        (Some(element), Number::Float(value)) => Number::Integer(element.to_integer(element.wrap(value as i128))),
        (None, number) => number,
    };
    Constant { ty: Some(ty), number: from.number.map(convert) }
}

fn negated(constant: Constant) -> Constant {
    let number = constant.number.map(|number| match number {
        Number::Integer(value) => Number::Integer(value.saturating_neg()),
        Number::Float(value) => Number::Float(-value),
    });
    match constant.ty {
        // Negation of an unsigned number wraps.
        Some(ty) => cast(ty, Constant { ty: constant.ty, number }),
        None => Constant { ty: None, number },
    }
}

fn literal(text: &str) -> Constant {
    let known = |name, number| Constant { ty: Type::of(name), number: Some(number) };
    match text {
        "true" => return known("bool", Number::Integer(1)),
        "false" => return known("bool", Number::Integer(0)),
        _ => {}
    }
    if let Some(c) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let mut chars = c.chars();
        return match (chars.next(), chars.next()) {
            (Some(c), None) if c != '\\' => known("char", Number::Integer(u32::from(c).into())),
            _ => Constant::default(),
        };
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Constant::default();
    }
    integer(text).or_else(|| float(text)).unwrap_or_default()
}

/// Prefixes of numbers that are not decimal.
const RADIXES: &[(&str, u32)] = &[("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2), ("0", 8)];

fn integer(text: &str) -> Option<Constant> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let (digits, radix) = match RADIXES.iter().find(|(prefix, _)| digits.len() > prefix.len() && digits.starts_with(prefix)) {
        Some((prefix, radix)) => (digits.get(prefix.len()..).unwrap_or_default(), *radix),
        None => (digits, 10),
    };
    let value = u64::from_str_radix(&digits.replace('\'', ""), radix).ok()?;
    let fits = |limit: u64| value <= limit;
    let name = match suffix.as_str() {
        "" if fits(i32::MAX as u64) => "int",
        "" if radix != 10 && fits(u64::from(u32::MAX)) => "unsigned",
        "u" if fits(u64::from(u32::MAX)) => "unsigned",
        "" | "l" | "ll" if fits(i64::MAX as u64) => "long",
        "" | "l" | "ll" | "u" | "ul" | "ull" | "lu" | "llu" => "unsigned long",
        _ => return None,
    };
    Some(Constant { ty: Type::of(name), number: Some(Number::Integer(value.into())) })
}

fn float(text: &str) -> Option<Constant> {
    let digits = text.trim_end_matches(['f', 'F']);
    let value: f64 = digits.parse().ok()?;
    let name = if digits.len() < text.len() { "float" } else { "double" };
    Some(cast(Type::of(name)?, Constant { ty: None, number: Some(Number::Float(value)) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_the_types_that_c_gives_them() {
        let float = Number::Float;
        let integer = Number::Integer;
        for (text, name, number) in [
            ("3", "int", integer(3)),
            ("-42", "int", integer(-42)),
            ("017", "int", integer(15)),
            ("0", "int", integer(0)),
            ("2147483648", "long", integer(1 << 31)),
            ("0x80000000", "unsigned", integer(1 << 31)),
            ("4294967295u", "unsigned", integer(u32::MAX.into())),
            ("3L", "long", integer(3)),
            ("0xffffffffffffffffull", "unsigned long", integer(u64::MAX.into())),
            ("-1u", "unsigned", integer(u32::MAX.into())),
            ("(short)3", "short", integer(3)),
            ("(unsigned char)-1", "unsigned char", integer(255)),
            ("((int)2.9)", "int", integer(2)),
            ("'a'", "char", integer(97)),
            ("true", "bool", integer(1)),
            ("1.5f", "float", float(1.5)),
            ("0.1f", "float", float(f64::from(0.1_f32))),
            ("1.0", "double", float(1.0)),
            ("1e3", "double", float(1000.0)),
        ] {
            let found = read(text);
            assert_eq!((found.ty.map(|ty| ty.name), found.number), (Some(name), Some(number)), "{text}");
        }
    }

    #[test]
    fn of_other_expressions_the_cast_is_known() {
        assert_eq!(read("x"), Constant::default());
        assert_eq!(read("a[3]"), Constant::default());
        assert_eq!(read("(a + b) * 2"), Constant::default());
        assert_eq!(read("(int)p").ty.map(|ty| ty.name), Some("int"));
        assert_eq!(read("(const float *)p").ty.map(|ty| ty.bytes), Some(8));
        assert_eq!(read("(unsigned  long long) p").number, None);
    }
}
