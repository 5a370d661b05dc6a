//! Elements of buffers: their types, and how a number becomes their bytes. `debug::value::element_text` prints them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::half;

/// The type of a buffer's elements or of a scalar parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "variants are the words of PTX")]
#[rustfmt::skip]
pub enum Element { U8, S8, B8, U16, S16, B16, U32, S32, B32, U64, S64, B64, F16, BF16, F32, F64 }

/// The meaning of the bits of an [`Element`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Untyped; shown in hexadecimal.
    Bits,
    /// An unsigned integer.
    Unsigned,
    /// A two's complement integer.
    Signed,
    /// A floating-point number.
    Float,
}

/// Every element type with its name, size in bytes and kind, in the order of declaration.
#[rustfmt::skip]
const TABLE: &[(Element, &str, u32, Kind)] = &[
    (Element::U8, "u8", 1, Kind::Unsigned), (Element::S8, "s8", 1, Kind::Signed), (Element::B8, "b8", 1, Kind::Bits),
    (Element::U16, "u16", 2, Kind::Unsigned), (Element::S16, "s16", 2, Kind::Signed), (Element::B16, "b16", 2, Kind::Bits),
    (Element::U32, "u32", 4, Kind::Unsigned), (Element::S32, "s32", 4, Kind::Signed), (Element::B32, "b32", 4, Kind::Bits),
    (Element::U64, "u64", 8, Kind::Unsigned), (Element::S64, "s64", 8, Kind::Signed), (Element::B64, "b64", 8, Kind::Bits),
    (Element::F16, "f16", 2, Kind::Float), (Element::BF16, "bf16", 2, Kind::Float),
    (Element::F32, "f32", 4, Kind::Float), (Element::F64, "f64", 8, Kind::Float),
];

impl Element {
    /// The type called `name`, such as `f32`.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// All names, for messages.
    pub fn names() -> String {
        TABLE.iter().map(|row| row.1).collect::<Vec<_>>().join(" ")
    }

    /// The name PTX gives it.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The unsigned integers as wide as this type.
    pub fn unsigned(self) -> Option<Self> {
        TABLE.iter().find(|row| row.2 == self.bytes() && row.3 == Kind::Unsigned).map(|row| row.0)
    }

    /// The signed integers as wide as this type.
    pub fn signed(self) -> Option<Self> {
        TABLE.iter().find(|row| row.2 == self.bytes() && row.3 == Kind::Signed).map(|row| row.0)
    }

    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        TABLE[self as usize].2
    }

    /// The meaning of its bits.
    pub fn kind(self) -> Kind {
        TABLE[self as usize].3
    }

    /// The smallest and the largest integer it can hold. Untyped elements accept signed and unsigned ones.
    fn range(self) -> (i128, i128) {
        let bits = self.bytes() * 8;
        let unsigned = (1_i128 << bits) - 1;
        let signed = -(1_i128 << (bits - 1));
        match self.kind() {
            Kind::Unsigned => (0, unsigned),
            Kind::Signed => (signed, -signed - 1),
            Kind::Bits | Kind::Float => (signed, unsigned),
        }
    }

    /// The bits of `number` as this type, in the low bytes. Floats are rounded to nearest even.
    ///
    /// # Errors
    /// What the type cannot hold, as the end of a sentence that starts with the number.
    pub fn encode(self, number: Number) -> Result<u64, String> {
        if self.kind() == Kind::Float {
            return Ok(self.encode_float(number.to_f64()));
        }
        let Number::Integer(value) = number else {
            return Err(format!("{number} is not an integer, and {self:?} holds integers only"));
        };
        let (low, high) = self.range();
        if value < low || value > high {
            return Err(format!("{value} does not fit {self:?}, which holds {low} to {high}"));
        }
        Ok(self.wrap(value))
    }

    /// The low bits of `value`.
    pub fn wrap(self, value: i128) -> u64 {
        (value as u64) & self.mask()
    }

    /// The bits of a float of this type nearest to `value`.
    pub fn encode_float(self, value: f64) -> u64 {
        match self {
            Element::F16 => u64::from(half::from_f64(value, half::F16)),
            Element::BF16 => u64::from(half::from_f64(value, half::BF16)),
            Element::F32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        }
    }

    /// The value of `bits` as a float; integers are converted.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Element::F16 => half::to_f64(bits as u16, half::F16),
            Element::BF16 => half::to_f64(bits as u16, half::BF16),
            Element::F32 => f64::from(f32::from_bits(bits as u32)),
            Element::F64 => f64::from_bits(bits),
            _ => self.to_integer(bits) as f64,
        }
    }

    /// The value of `bits` as an integer; for floats and untyped elements, the bits themselves.
    pub fn to_integer(self, bits: u64) -> i128 {
        let unused = 64 - self.bytes() * 8;
        match self.kind() {
            Kind::Signed => i128::from((bits << unused).cast_signed() >> unused),
            _ => i128::from(bits & self.mask()),
        }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bytes() * 8)
    }

    /// The bits of the element whose little-endian bytes start `bytes`; missing bytes count as zero.
    pub fn read(self, bytes: &[u8]) -> u64 {
        bytes.iter().take(self.bytes() as usize).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// Appends the little-endian bytes of `bits`.
    pub fn write(self, bits: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&bits.to_le_bytes()[..self.bytes() as usize]);
    }

    /// All its bits in hexadecimal.
    pub fn show_bits(self, bits: u64) -> String {
        format!("0x{bits:0width$x}", width = self.bytes() as usize * 2)
    }
}

/// A number of a file: written without a point it is an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer of up to 64 bits, signed or not.
    Integer(i128),
    /// Anything else.
    Float(f64),
}

impl Number {
    /// The nearest `f64`.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// The number that `text` writes: decimal, `0x` hexadecimal, or a float.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let magnitude = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse::<u64>(),
        };
        match magnitude {
            Ok(value) => Some(Number::Integer(if negative { -i128::from(value) } else { i128::from(value) })),
            Err(_) => text.parse().ok().map(Number::Float),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Integer(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number::Integer(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Float(value))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Number::Float(value) => serializer.serialize_f64(value),
            Number::Integer(value) => match u64::try_from(value) {
                Ok(value) => serializer.serialize_u64(value),
                Err(_) => serializer.serialize_i64(value as i64),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_declaration() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, index, "{}", row.1);
            assert_eq!(format!("{:?}", row.0).to_lowercase(), row.1);
        }
    }

    #[test]
    fn integers_are_refused_where_they_do_not_fit() {
        let integer = |value| Number::Integer(value);
        assert_eq!(Element::U8.encode(integer(255)), Ok(0xff));
        assert_eq!(Element::U8.encode(integer(-1)), Err("-1 does not fit U8, which holds 0 to 255".to_string()));
        assert_eq!(Element::S8.encode(integer(-128)), Ok(0x80));
        assert_eq!(Element::S8.encode(integer(128)), Err("128 does not fit S8, which holds -128 to 127".to_string()));
        assert_eq!(Element::B16.encode(integer(-1)), Ok(0xffff));
        assert_eq!(Element::U64.encode(integer(i128::from(u64::MAX))), Ok(u64::MAX));
        assert_eq!(Element::S64.encode(integer(i128::from(i64::MIN))), Ok(1 << 63));
        assert_eq!(Element::U32.encode(Number::Float(1.5)), Err("1.5 is not an integer, and U32 holds integers only".to_string()));
    }

    #[test]
    fn floats_are_rounded_to_the_element() {
        assert_eq!(Element::F32.encode(Number::Float(0.1)), Ok(0x3dcc_cccd));
        assert_eq!(Element::F64.encode(Number::Integer(1)), Ok(0x3ff0_0000_0000_0000));
        assert_eq!(Element::F16.encode(Number::Float(1.0)), Ok(0x3c00));
        assert_eq!(Element::BF16.encode(Number::Float(-2.0)), Ok(0xc000));
    }

    #[test]
    fn numbers_parse_as_they_are_written() {
        assert_eq!(Number::parse("0xff"), Some(Number::Integer(255)));
        assert_eq!(Number::parse("-3"), Some(Number::Integer(-3)));
        assert_eq!(Number::parse("18446744073709551615"), Some(Number::Integer(u64::MAX.into())));
        assert_eq!(Number::parse("1e3"), Some(Number::Float(1000.0)));
        assert_eq!(Number::parse("ten"), None);
    }
}
