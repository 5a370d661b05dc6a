//! The format letters of `print` and `x`, as gdb has them.
//!
//! | letter | shows |
//! | --- | --- |
//! | `x` | the bits in hexadecimal |
//! | `z` | the same with leading zeros |
//! | `d` | the bits as a signed integer |
//! | `u` | as an unsigned integer |
//! | `o` | in octal |
//! | `t` | in binary |
//! | `f` | as a floating-point number of that width |
//! | `a` | as an address, with the symbol before it |
//! | `c` | as an integer and a character |
//!
//! The name of a type, such as `f16`, is a format too: the bits are elements of that type, the lowest first.
//!
//! Like gdb since 8.1, all letters but `f` interpret the bits as an integer, even those of a floating-point number.

use super::number;
use crate::isa::ScalarType;

/// A format letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `x`.
    Hex,
    /// `z`.
    ZeroHex,
    /// `d`.
    Decimal,
    /// `u`.
    Unsigned,
    /// `o`.
    Octal,
    /// `t`.
    Binary,
    /// `f`.
    Float,
    /// `a`.
    Address,
    /// `c`.
    Character,
    /// The name of a type.
    Typed(ScalarType),
}

/// Every letter with its format.
pub const LETTERS: &[(char, Format, &str)] = &[
    ('x', Format::Hex, "hexadecimal"),
    ('d', Format::Decimal, "signed decimal"),
    ('u', Format::Unsigned, "unsigned decimal"),
    ('o', Format::Octal, "octal"),
    ('t', Format::Binary, "binary"),
    ('f', Format::Float, "floating point"),
    ('a', Format::Address, "address and symbol"),
    ('c', Format::Character, "character"),
    ('z', Format::ZeroHex, "hexadecimal with leading zeros"),
];

impl Format {
    /// True if it shows bits without a sign: of a bit field, those of the field alone.
    pub fn shows_bits(self) -> bool {
        match self {
            Format::Hex | Format::ZeroHex | Format::Unsigned | Format::Octal | Format::Binary => true,
            Format::Decimal | Format::Float | Format::Address | Format::Character | Format::Typed(_) => false,
        }
    }

    /// The format with this letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        LETTERS.iter().find(|row| row.0 == letter).map(|row| row.1)
    }

    /// The format with this name: a letter, or a type but a predicate.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut letters = name.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Self::from_letter(letter),
            _ => ScalarType::from_word(name).filter(|ty| *ty != ScalarType::Pred).map(Self::Typed),
        }
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Format::Typed(ty) => ty.word().to_string(),
            _ => LETTERS.iter().filter(|row| row.1 == self).map(|row| row.0).collect(),
        }
    }

    /// What formats there are, for messages.
    pub fn all() -> String {
        let letters: Vec<String> = LETTERS.iter().map(|(letter, _, name)| format!("{letter} {name}")).collect();
        format!("{}, or a type: f16 bf16 tf32 e4m3 e5m2 f16x2 u8 s32 …", letters.join(", "))
    }

    /// The value `bits` of `width` bits in this format; `float` is its floating-point type, if known. An address has no symbol here.
    pub fn text(self, bits: u128, width: u32, float: Option<ScalarType>) -> String {
        let digits = width.div_ceil(4) as usize + 2;
        match self {
            Format::Hex | Format::Address => format!("{bits:#x}"),
            Format::ZeroHex => format!("{bits:#0digits$x}"),
            Format::Decimal => signed(bits, width).to_string(),
            Format::Unsigned => bits.to_string(),
            Format::Octal if bits == 0 => "0".to_string(),
            Format::Octal => format!("0{bits:o}"),
            Format::Binary => format!("{bits:b}"),
            Format::Float => match float.or(float_of_width(width)) {
                Some(ty) => number::float_text(ty, bits),
                None => signed(bits, width).to_string(),
            },
            Format::Character => format!("{} {}", signed(bits, width), character(bits)),
            // A type has its own text.
            Format::Typed(_) => format!("{bits:#x}"),
        }
    }
}

/// The floating-point type that `/f` uses for untyped bits of this width.
pub fn float_of_width(width: u32) -> Option<ScalarType> {
    match width {
        16 => Some(ScalarType::F16),
        32 => Some(ScalarType::F32),
        64 => Some(ScalarType::F64),
        _ => None,
    }
}

fn signed(bits: u128, width: u32) -> i128 {
    let unused = 128 - width.clamp(1, 128);
    (bits << unused).cast_signed() >> unused
}

/// `'a'`, `'\n'`, `'\033'`: the low byte as C writes it.
pub fn character(bits: u128) -> String {
    let byte = bits as u8;
    match byte {
        b'\'' | b'\\' => format!("'\\{}'", char::from(byte)),
        b'\n' => "'\\n'".to_string(),
        b'\t' => "'\\t'".to_string(),
        b'\r' => "'\\r'".to_string(),
        0 => "'\\000'".to_string(),
        b' '..=b'~' => format!("'{}'", char::from(byte)),
        _ => format!("'\\{byte:03o}'"),
    }
}
