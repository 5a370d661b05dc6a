//! In which lanes what an operation gives depends on what has never been written.
//!
//! Where a defined operand decides alone (`and` with 0, the side that `selp` does not take, the bytes that `prmt` does not pick) the result
//! is defined. Of values packed into one register it is undefined only if all of them are, and a field that `bfi` puts into a register
//! counts for all of it: this errs towards false negatives.

use crate::base::lanes::{LaneMask, PerLane};
use crate::program::{Bank, ListId, PredSrc, Program, Src};

/// The operands of an operation about to be executed, and in which lanes they are undefined.
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
    fn truth(&self, source: PredSrc) -> LaneMask;

    /// The values of a source, unless it is a special register.
    fn values(&self, bank: Bank, source: Src) -> Option<PerLane<u64>>;

    /// The lanes in which a defined source has a value.
    fn is(&self, bank: Bank, source: Src, value: u64) -> LaneMask {
        let values = self.values(bank, source);
        let same = values.map_or(LaneMask::NONE, |values| LaneMask::ALL.filter(|lane| values[lane] == value));
        same & !self.of(bank, source)
    }

    /// The lanes in which an operation of two sources is undefined that is decided if one of them is `decides`.
    fn either(&self, bank: Bank, a: Src, b: Src, decides: u64) -> LaneMask {
        (self.of(bank, a) | self.of(bank, b)) & !self.is(bank, a, decides) & !self.is(bank, b, decides)
    }

    /// The lanes in which all sources of a list are undefined.
    fn all_of(&self, bank: Bank, list: ListId) -> LaneMask {
        let sources = &self.program().sources[list];
        sources.iter().fold(LaneMask::ALL, |lanes, source| lanes & self.of(bank, *source))
    }
}
