//! `createpolicy`: the value of a cache policy, as sm_90 encodes it.
//!
//! A policy is a hint that changes no result. Its upper byte has the priorities, the four bits below it a fraction in sixteenths, minus
//! one.

use super::family::{Decoded, Decoding};
use super::operand::Arg;
use crate::base::Diagnostic;
use crate::isa::{PolicyDecode, Width};
use crate::program::{MoveOp, Op};

/// The upper byte for primary priorities that cannot be secondary ones.
const PRIMARY: &[(&str, u64)] = &[("L2::evict_last", 0x14), ("L2::evict_normal", 0x16)];

/// The upper byte for primary priorities that can be secondary ones too.
const EITHER: &[(&str, u64)] = &[("L2::evict_first", 0x12), ("L2::evict_unchanged", 0x10)];

/// Added to it for a secondary priority of `L2::evict_first`.
const SECOND_EVICTS_FIRST: u64 = 1;

/// Added to it for `createpolicy.range`.
const OF_RANGE: u64 = 8;

impl Decoding<'_, '_> {
    /// Cache policies.
    pub(super) fn policy(&mut self, decode: PolicyDecode) -> Decoded {
        match decode {
            PolicyDecode::CreatePolicy => self.create_policy(),
            PolicyDecode::ConvertPolicy => self.convert_policy(),
        }
    }

    /// `createpolicy.fractional` and `.range`; the addresses of a range do not affect the value.
    fn create_policy(&mut self) -> Decoded {
        let d = self.dst(0)?;
        let is_range = self.matched.has("range");
        self.check_sizes()?;
        let sixteenths = match self.args.get(1) {
            Some(Arg::Source { constant: None, a, .. }) => {
                return Ok(Op::Move(MoveOp::CachePolicy { priorities: self.priorities()? as u8, d, fraction: *a }));
            }
            Some(Arg::Source { constant: Some(bits), .. }) => self.sixteenths(f32::from_bits(*bits as u32))?,
            _ => 16,
        };
        let fraction = if is_range { 0 } else { sixteenths - 1 };
        let value = (self.priorities()? + if is_range { OF_RANGE } else { 0 }) << 56 | fraction << 52;
        Ok(Op::Move(MoveOp::Move { width: Width::B64, d, a: self.cx.const64(value) }))
    }

    /// Checks that the primary size of a range is at most its total size.
    fn check_sizes(&self) -> Result<(), Diagnostic> {
        match (self.args.get(2), self.args.get(3)) {
            (Some(Arg::Source { constant: Some(primary), .. }), Some(Arg::Source { constant: Some(total), .. })) if primary > total => {
                let message = format!("the primary size {primary} is above the total size {total}");
                Err(Diagnostic::error("operand", self.operand_span(2), message))
            }
            _ => Ok(()),
        }
    }

    /// `createpolicy.cvt`: the access property unchanged.
    fn convert_policy(&mut self) -> Decoded {
        Ok(Op::Move(MoveOp::Move { width: Width::B64, d: self.dst(0)?, a: self.src(1)? }))
    }

    fn priorities(&self) -> Result<u64, Diagnostic> {
        if let Some(primary) = self.matched.choose(PRIMARY) {
            return Ok(primary + if self.matched.has("L2::evict_first") { SECOND_EVICTS_FIRST } else { 0 });
        }
        let words: Vec<&str> =
            self.matched.modifiers.iter().flatten().map(|word| word.text).filter(|word| word.starts_with("L2::")).collect();
        let first = words.first().and_then(|first| EITHER.iter().find(|(word, _)| word == first));
        let (_, primary) = first.ok_or_else(|| self.type_mismatch())?;
        Ok(primary + if words.get(1) == Some(&"L2::evict_first") { SECOND_EVICTS_FIRST } else { 0 })
    }

    /// A fraction greater than 0 and at most 1, in sixteenths.
    fn sixteenths(&self, fraction: f32) -> Result<u64, Diagnostic> {
        if fraction > 0.0 && fraction <= 1.0 {
            return Ok(((fraction * 16.0).round() as u64).max(1));
        }
        Err(Diagnostic::error("operand", self.operand_span(1), format!("the fraction {fraction} is not above 0 and up to 1")))
    }
}
