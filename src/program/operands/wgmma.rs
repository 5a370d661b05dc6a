//! Registers of asynchronous matrix multiplications.

use super::{Use, Walk};
use crate::program::{Bank, PredSrc, Src, WgmmaA, WgmmaId};

impl<V: FnMut(Use, super::RegisterOperand)> Walk<'_, V> {
    /// `wgmma.mma_async`: the accumulators are read as well, unless it is known that they are not added.
    pub(super) fn wgmma(&mut self, wgmma: WgmmaId) {
        let Some(op) = self.program.wgmmas.get(wgmma.index()) else { return };
        match &op.a {
            WgmmaA::Shared(descriptor, _) => self.read(Bank::B64, *descriptor),
            WgmmaA::Registers(fragments) => fragments.iter().for_each(|fragment| self.read(Bank::B32, *fragment)),
        }
        self.read(Bank::B64, op.b);
        op.metadata.iter().for_each(|(metadata, _)| self.read(Bank::B32, *metadata));
        self.predicate(op.accumulate);
        if op.accumulate != PredSrc::Const(false) {
            op.d.iter().for_each(|d| self.read(Bank::B32, Src::reg(d.0)));
        }
        op.d.iter().for_each(|d| self.write(Bank::B32, *d));
    }
}
