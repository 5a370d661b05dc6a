//! Lookup of an mbarrier by name.

use super::scope::{Named, look_up};
use crate::debug::eval_context::EvalContext;
use crate::isa::Space;

/// Bytes of an mbarrier.
const BYTES: u32 = 8;

/// The address that `full`, `full[1]`, `smem+0x40` or `0x508` means; an index counts mbarriers, whatever the declared type of the variable.
pub fn mbarrier_address(context: &EvalContext<'_>, text: &str) -> Option<u32> {
    if let Some(address) = number(text) {
        return Some(address);
    }
    let (name, offset) = match (text.strip_suffix(']').and_then(|text| text.split_once('[')), text.split_once('+')) {
        (Some((name, index)), _) => (name, index.parse::<u32>().ok()?.checked_mul(BYTES)?),
        (None, Some((name, offset))) => (name, number(offset)?),
        (None, None) => (text, 0),
    };
    match look_up(context, context.frame().ok().as_ref(), name)? {
        Named::Memory(location) if location.space == Space::Shared => u32::try_from(location.address).ok()?.checked_add(offset),
        _ => None,
    }
}

/// `0x40` or `64`
fn number(text: &str) -> Option<u32> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())
}
