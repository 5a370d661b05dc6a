//! The lanes in which the result of an operation depends on undefined operands: registers that were never written.
//!
//! If a defined operand determines the result alone (`and` with 0, the source that `selp` does not select, the bytes that `prmt` does not
//! pick), the result is defined. A register of several packed values is undefined only if all of them are: this errs towards false
//! negatives. Registers are looked at as a whole here; the checker of undefined values follows the bits of those operations that move them.

use crate::base::lanes::{LaneMask, PerLane};
use crate::program::{Bank, ListId, PredSrc, Program, Src};

/// The operands of an operation about to be executed, and the lanes in which they are undefined.
pub trait Undefined {
    /// The program.
    fn program(&self) -> &Program;

    /// The lanes that execute it.
    fn active(&self) -> LaneMask;

    /// The lanes in which a source is undefined.
    fn of(&self, bank: Bank, source: Src) -> LaneMask;

    /// The lanes in which a predicate is undefined.
    fn predicate(&self, source: PredSrc) -> LaneMask;

    /// The lanes in which a predicate is true.
    fn true_lanes(&self, source: PredSrc) -> LaneMask;

    /// The values of a source, unless it is a special register.
    fn values(&self, bank: Bank, source: Src) -> Option<PerLane<u64>>;

    /// The lanes in which a source is defined and equal to `value`.
    fn equal_to(&self, bank: Bank, source: Src, value: u64) -> LaneMask {
        let values = self.values(bank, source);
        let same = values.map_or(LaneMask::NONE, |values| LaneMask::ALL.filter(|lane| values[lane] == value));
        same & !self.of(bank, source)
    }

    /// The lanes in which an operation of two sources is undefined, where `absorbing` is the absorbing element: a source with this value
    /// determines the result.
    fn either(&self, bank: Bank, a: Src, b: Src, absorbing: u64) -> LaneMask {
        (self.of(bank, a) | self.of(bank, b)) & !self.equal_to(bank, a, absorbing) & !self.equal_to(bank, b, absorbing)
    }

    /// The lanes in which all sources of a list are undefined.
    fn all_of(&self, bank: Bank, list: ListId) -> LaneMask {
        let sources = &self.program().sources[list];
        sources.iter().fold(LaneMask::ALL, |lanes, source| lanes & self.of(bank, *source))
    }
}
