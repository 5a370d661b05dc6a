//! The shared variables of a kernel.

use super::{FuncId, Program, Variable, map};
use crate::isa::Space;

/// A variable in shared memory as one kernel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedVariable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its start.
    pub start: u64,
    /// Its size, that of dynamic shared memory included.
    pub bytes: u64,
}

impl Program {
    /// The variable that holds `address` of the shared memory of a block of `kernel`, which has `shared_bytes` bytes in all. In code of a
    /// function that several kernels may call, it may be a variable of each of them.
    pub fn shared_variable(&self, kernel: FuncId, address: u64, shared_bytes: u64) -> Option<SharedVariable<'_>> {
        let dynamic = map::SHARED_RESERVED + u64::from(self.functions[kernel.index()].shared_bytes);
        let is_visible = |variable: &&Variable| !self.functions[kernel.index()].is_kernel || variable.is_in_shared_of(kernel);
        let visible = self.variables.iter().filter(|variable| variable.location.space == Space::Shared).filter(is_visible);
        let mut ranges = visible.map(|variable| match variable.bytes {
            0 => SharedVariable { name: &variable.name, start: dynamic, bytes: shared_bytes.saturating_sub(dynamic) },
            bytes => SharedVariable { name: &variable.name, start: variable.location.address, bytes },
        });
        ranges.rfind(|variable| (variable.start..variable.start + variable.bytes).contains(&address))
    }
}

impl Variable {
    /// True if the blocks of `kernel` have this shared variable. One that no kernel reaches is taken for one of all.
    pub fn is_in_shared_of(&self, kernel: FuncId) -> bool {
        self.kernels.is_empty() || self.kernels.contains(&kernel)
    }
}
