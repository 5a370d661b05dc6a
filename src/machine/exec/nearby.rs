//! The text for the allocation, variable or parameter nearest to an address, at the end of a fault's message.

use crate::base::counted;
use crate::isa::Space;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::memory::Region;
use crate::program::{ParamStorage, shown_name};

/// The largest distance in bytes at which a range is called nearby.
const NEARBY_BYTES: u64 = 1 << 30;

/// A named range of bytes of one address space.
struct NamedRange<'a> {
    name: &'a str,
    start: u64,
    bytes: u64,
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// The position of `bytes` bytes at `address` of `space` relative to the nearest range, such as "just past the end of 'x' (..)"; none
    /// if the space is empty. `group` made the access.
    pub(super) fn nearby(&self, space: Space, address: u64, bytes: u64, group: &Group) -> Option<String> {
        let ranges = match space {
            Space::Generic | Space::Global => allocations(self.global),
            Space::Const => allocations(self.constant_memory),
            Space::Shared | Space::SharedCluster => self.variables(Space::Shared, 0),
            Space::Local | Space::ParamFunc => self.variables(Space::Local, u64::from(group.frame.local)),
            Space::Param => self.params(),
        };
        let nearest = ranges.into_iter().min_by_key(|range| range.distance(address))?;
        Some(nearest.relation(address, bytes))
    }

    /// The variables of `space` that are visible in the running function, at addresses relative to `base`.
    fn variables(&self, space: Space, base: u64) -> Vec<NamedRange<'_>> {
        let running = self.program.function_at(self.point.pc);
        let kernel = Some(self.prepared.config.kernel).filter(|_| space == Space::Shared);
        let mut ranges = Vec::new();
        for variable in self.program.variables.iter().filter(|variable| variable.location.space == space) {
            if variable.function.is_none() || variable.function == running || variable.function == kernel {
                let start = base + variable.location.address;
                // An unsized array is the dynamic shared memory.
                let bytes = if variable.bytes == 0 { self.prepared.shared_bytes.saturating_sub(start) } else { variable.bytes };
                ranges.push(NamedRange { name: &variable.name, start, bytes });
            }
        }
        ranges
    }

    /// The kernel's parameters.
    fn params(&self) -> Vec<NamedRange<'_>> {
        let kernel = &self.program.functions[self.prepared.config.kernel.index()];
        let ranges = kernel.params.iter().filter_map(|param| match param.storage {
            ParamStorage::Kernel(offset) => Some(NamedRange { name: &param.name, start: u64::from(offset), bytes: u64::from(param.bytes) }),
            ParamStorage::Register(..) | ParamStorage::Frame(_) => None,
        });
        ranges.collect()
    }
}

fn allocations(region: &Region) -> Vec<NamedRange<'_>> {
    let ranges = region.allocations();
    ranges.map(|allocation| NamedRange { name: &allocation.name, start: allocation.base, bytes: allocation.bytes }).collect()
}

impl NamedRange<'_> {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes)
    }

    /// Bytes between `address` and the range; 0 inside.
    fn distance(&self, address: u64) -> u64 {
        if address < self.start { self.start - address } else { address.saturating_sub(self.end()) }
    }

    fn relation(&self, address: u64, bytes: u64) -> String {
        let whole = format!("'{}' ({} at {:#x})", shown_name(self.name), counted(self.bytes, "byte"), self.start);
        if self.distance(address) > NEARBY_BYTES {
            format!("no object is nearby; the nearest is {whole}")
        } else if address < self.start {
            format!("{} before the start of {whole}", counted(self.start - address, "byte"))
        } else if address == self.start {
            format!("at the start of {whole}")
        } else if address == self.end() {
            format!("just past the end of {whole}")
        } else if address > self.end() {
            format!("{} past the end of {whole}", counted(address - self.end(), "byte"))
        } else if bytes > self.end() - address {
            format!("reaches {} past the end of {whole}", counted(bytes - (self.end() - address), "byte"))
        } else {
            format!("{} into {whole}", counted(address - self.start, "byte"))
        }
    }
}
