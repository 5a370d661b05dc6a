//! The shared memory of a block, and the mbarriers in it.

use std::collections::BTreeMap;

use triomphe::Arc;

use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::mbarrier::{Mbarrier, MbarrierError, MbarrierOperation};
use crate::machine::state::memory::Pages;
use crate::program::{FuncId, Program, short_name};

/// Bytes of an mbarrier.
pub const MBARRIER_BYTES: u32 = 8;

/// The shared memory of a block, the reserved bytes included.
#[derive(Clone, Hash)]
pub struct Shared {
    /// Its bytes.
    pub pages: Pages,
    /// None until the first `mbarrier.init`: most blocks have no mbarrier, and a grid may have thousands of blocks.
    barriers: Option<Arc<BTreeMap<u32, MbarrierEntry>>>,
}

/// The mbarrier at an address, live or invalidated.
#[derive(Clone, Debug, Hash)]
enum MbarrierEntry {
    Live(Mbarrier),
    /// Its `mbarrier.inval`.
    Invalidated(IssuePoint),
}

impl Shared {
    /// `bytes` zeros without mbarriers.
    pub fn new(bytes: u64) -> Self {
        Self { pages: Pages::new(bytes, 0), barriers: None }
    }

    /// The mbarriers, in order of address.
    pub fn mbarriers(&self) -> impl Iterator<Item = (u32, &Mbarrier)> {
        self.barriers.iter().flat_map(|barriers| barriers.iter()).filter_map(|(address, slot)| match slot {
            MbarrierEntry::Live(barrier) => Some((*address, barrier)),
            MbarrierEntry::Invalidated(_) => None,
        })
    }

    /// The mbarrier at `address`.
    ///
    /// # Errors
    /// If there is none, or its bytes were overwritten.
    pub fn mbarrier(&self, address: u32) -> Result<&Mbarrier, MbarrierError> {
        match self.barriers.as_ref().and_then(|barriers| barriers.get(&address)) {
            Some(MbarrierEntry::Live(barrier)) => match self.word(address) {
                word if word == barrier.word() => Ok(barrier),
                word => Err(MbarrierError::Overwritten { word }),
            },
            Some(MbarrierEntry::Invalidated(point)) => Err(MbarrierError::Invalidated(*point)),
            None => Err(MbarrierError::Uninitialized),
        }
    }

    /// The name of the mbarrier at `address` in a block of `kernel`: `full[1]` in an array of mbarriers, `smem+0x40` in another variable,
    /// or `the mbarrier at 0x508` outside of variables.
    pub fn mbarrier_name(&self, program: &Program, kernel: FuncId, address: u32) -> String {
        let address = u64::from(address);
        let Some(variable) = program.shared_variable(kernel, address, self.pages.len()) else {
            return format!("the mbarrier at {address:#x}");
        };
        let (start, end, unit) = (variable.start, variable.start + variable.bytes, u64::from(MBARRIER_BYTES));
        let inside = self.mbarriers().filter(|(at, _)| (start..end).contains(&u64::from(*at))).count() as u64;
        let name = short_name(variable.name);
        match (variable.bytes, address - start) {
            (bytes, 0) if bytes == unit => name.to_string(),
            (bytes, offset) if bytes == inside * unit && offset.is_multiple_of(unit) => format!("{name}[{}]", offset / unit),
            (_, 0) => name.to_string(),
            (_, offset) => format!("{name}+{offset:#x}"),
        }
    }

    /// Initializes an mbarrier at `address` with the expected arrival count `count`.
    pub fn init(&mut self, address: u32, count: u32, init_point: IssuePoint) {
        assert!(u64::from(address) + u64::from(MBARRIER_BYTES) <= self.pages.len(), "an object outside the block's memory");
        assert!(address.is_multiple_of(MBARRIER_BYTES), "an object that is not aligned");
        let barrier = Mbarrier::new(count, init_point);
        self.pages.write(u64::from(address), &barrier.word().to_le_bytes());
        self.barriers_mut().insert(address, MbarrierEntry::Live(barrier));
    }

    /// Invalidates the mbarrier at `address`.
    ///
    /// # Errors
    /// If there is none.
    pub fn invalidate(&mut self, address: u32, point: IssuePoint) -> Result<(), MbarrierError> {
        self.mbarrier(address)?;
        self.barriers_mut().insert(address, MbarrierEntry::Invalidated(point));
        Ok(())
    }

    /// Applies an operation to the mbarrier at `address`; true if that completes a phase.
    ///
    /// # Errors
    /// If the operation is invalid; it has no effect then.
    pub fn contribute(&mut self, address: u32, operation: MbarrierOperation) -> Result<bool, MbarrierError> {
        self.change(address, |barrier| barrier.apply(operation))
    }

    /// Changes the mbarrier at `address`, and its bytes with it.
    ///
    /// # Errors
    /// If there is none, or `change` fails.
    pub fn change<T>(&mut self, address: u32, change: impl FnOnce(&mut Mbarrier) -> Result<T, MbarrierError>) -> Result<T, MbarrierError> {
        self.mbarrier(address)?;
        let Some(MbarrierEntry::Live(barrier)) = self.barriers_mut().get_mut(&address) else { return Err(MbarrierError::Uninitialized) };
        let result = change(barrier)?;
        let word = barrier.word();
        self.pages.write(u64::from(address), &word.to_le_bytes());
        assert_eq!(self.word(address), word, "the object's bytes are not what it holds");
        Ok(result)
    }

    fn barriers_mut(&mut self) -> &mut BTreeMap<u32, MbarrierEntry> {
        Arc::make_mut(self.barriers.get_or_insert_with(Arc::default))
    }

    fn word(&self, address: u32) -> u64 {
        let mut bytes = [0; 8];
        self.pages.read(u64::from(address), &mut bytes);
        u64::from_le_bytes(bytes)
    }
}
