//! Elements of buffers as text, printed like values of expressions.

use super::number::float_text;
use crate::isa::ScalarType;
use crate::launch::{Element, Kind};

/// An element as text: untyped bits in hexadecimal, integers in decimal, floats with the fewest digits that identify them in their own
/// format.
pub fn element_text(element: Element, bits: u64) -> String {
    match element.kind() {
        Kind::Bits => element.show_bits(bits),
        Kind::Unsigned | Kind::Signed => element.to_integer(bits).to_string(),
        Kind::Float => ScalarType::from_word(element.name()).map_or_else(|| element.show_bits(bits), |ty| float_text(ty, u128::from(bits))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_the_fewest_digits_of_their_own_format() {
        for (element, bits, text) in [
            (Element::B32, 3, "0x00000003"),
            (Element::S16, 0xffff, "-1"),
            (Element::F32, 0x3dcc_cccd, "0.1"),
            (Element::F16, 0x3c00, "1"),
            (Element::F16, 0x2e66, "0.1"),
            (Element::F16, 0x7bff, "65504"),
            (Element::BF16, 0x3dcd, "0.1"),
            (Element::F64, 0x3fb9_9999_9999_999a, "0.1"),
            (Element::F64, 0xfff0_0000_0000_0000, "-inf"),
        ] {
            assert_eq!(element_text(element, bits), text);
        }
    }
}
