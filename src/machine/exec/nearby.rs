//! The allocation, variable or parameter nearest to an address, in words: what a fault's message ends with.

use crate::base::counted;
use crate::isa::Space;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::memory::Region;
use crate::program::ParamPlace;

/// Bytes between an address and an object up to which they are said to have to do with each other.
const NEAR: u64 = 1 << 30;

/// A named range of bytes of one address space.
struct Object<'a> {
    name: &'a str,
    start: u64,
    bytes: u64,
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Where `bytes` bytes at `address` of `space` lie from the object nearest to them, such as "just past the end of 'x' (..)"; nothing if
    /// the space is empty. `group` made the access.
    pub(super) fn nearby(&self, space: Space, address: u64, bytes: u64, group: &Group) -> Option<String> {
        let objects = match space {
            Space::Generic | Space::Global => allocations(self.global),
            Space::Const => allocations(self.constant_memory),
            Space::Shared | Space::SharedCluster => self.variables(Space::Shared, 0),
            Space::Local | Space::ParamFunc => self.variables(Space::Local, u64::from(group.frame.local)),
            Space::Param => self.params(),
        };
        let nearest = objects.into_iter().min_by_key(|object| object.distance(address))?;
        Some(nearest.relation(address, bytes))
    }

    /// The variables of `space` that the running function can name, whose addresses count from `base`.
    fn variables(&self, space: Space, base: u64) -> Vec<Object<'_>> {
        let running = self.program.function_at(self.place.pc);
        let kernel = Some(self.prepared.config.kernel).filter(|_| space == Space::Shared);
        let mut objects = Vec::new();
        for variable in self.program.variables.iter().filter(|variable| variable.location.space == space) {
            if variable.function.is_none() || variable.function == running || variable.function == kernel {
                let start = base + variable.location.address;
                // Without a size of its own it denotes the dynamic shared memory.
                let bytes = if variable.bytes == 0 { self.prepared.shared_bytes.saturating_sub(start) } else { variable.bytes };
                objects.push(Object { name: &variable.name, start, bytes });
            }
        }
        objects
    }

    /// The kernel's parameters.
    fn params(&self) -> Vec<Object<'_>> {
        let kernel = &self.program.functions[self.prepared.config.kernel.index()];
        let objects = kernel.params.iter().filter_map(|param| match param.place {
            ParamPlace::Kernel(offset) => Some(Object { name: &param.name, start: u64::from(offset), bytes: u64::from(param.bytes) }),
            ParamPlace::Register(..) | ParamPlace::Frame(_) => None,
        });
        objects.collect()
    }
}

fn allocations(region: &Region) -> Vec<Object<'_>> {
    let objects = region.allocations();
    objects.map(|allocation| Object { name: &allocation.name, start: allocation.base, bytes: allocation.bytes }).collect()
}

impl Object<'_> {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes)
    }

    /// Bytes between `address` and the object; 0 inside.
    fn distance(&self, address: u64) -> u64 {
        if address < self.start { self.start - address } else { address.saturating_sub(self.end()) }
    }

    fn relation(&self, address: u64, bytes: u64) -> String {
        let whole = format!("'{}' ({} at {:#x})", self.name, counted(self.bytes, "byte"), self.start);
        if self.distance(address) > NEAR {
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
