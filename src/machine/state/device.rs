//! The device, which outlives a launch: global memory with its buffers and variables, and constant memory.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use crate::isa::Space;
use crate::machine::state::memory::{OutOfMemory, PAGE_BYTES, Region};
use crate::machine::state::runtime::{Printed, Runtime};
use crate::program::{Program, VarId, Variable, map};

/// The value that a never-written byte of an uninitialised buffer reads as.
const UNINITIALISED: u8 = 0;

/// The memory of the device, for one program. Clones are copy on write.
#[derive(Clone)]
pub struct Device {
    pub(in crate::machine) program: Arc<Program>,
    pub(in crate::machine) global: Region,
    pub(in crate::machine) constant_memory: Region,
    pub(in crate::machine) runtime: Runtime,
    /// The first address to try for the next buffer.
    next: u64,
    /// Addresses that only buffers at a requested address may have: the regions of the memory map, and reserved ranges.
    reserved: Vec<Range<u64>>,
    /// The buffers without initial contents.
    undefined: Vec<Range<u64>>,
    /// Buffers without expected contents, if other buffers have expected contents.
    uncompared: Vec<Range<u64>>,
    /// Bytes that the launch file excludes from the comparison (`expect_ignoring`).
    ignored: Vec<Range<u64>>,
}

/// An address range that is not all inside one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at {address:#x} are not inside one allocation")]
pub struct NotMapped {
    /// Start of the range.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

/// Memory requested at an address that is in use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at {address:#x} are not free: {by} is there")]
pub struct NotFree {
    /// The address.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The memory that is in use.
    pub by: String,
}

impl Device {
    /// Fresh memory with the module's variables initialised.
    pub fn new(program: Arc<Program>) -> Self {
        let (map, program_bits) = (program.map, program.address_bits);
        let (runtime, next) = (Runtime::new(map.heap), map.buffers);
        let mut device = Self {
            program,
            global: Region::default(),
            constant_memory: Region::default(),
            runtime,
            next,
            reserved: map.regions(program_bits).map(|(_, range)| range).to_vec(),
            undefined: Vec::new(),
            uncompared: Vec::new(),
            ignored: Vec::new(),
        };
        let program = Arc::clone(&device.program);
        for variable in &program.variables {
            device.allocate_variable(variable);
        }
        device
    }

    /// Allocates the workspace by which the blocks of a cooperative launch synchronize, or fills it with zeros if it exists.
    pub(in crate::machine) fn allocate_workspace(&mut self) {
        let (address, bytes) = (self.program.map.workspace, map::WORKSPACE_BYTES);
        match self.global.find_mut(address) {
            Some(workspace) => {
                let offset = workspace.offset(address);
                workspace.pages.write(offset, &vec![0; bytes as usize]);
            }
            None => self.global.insert("grid workspace", address, bytes, 0, 0),
        }
    }

    fn allocate_variable(&mut self, variable: &Variable) {
        let region = match variable.location.space {
            Space::Global => &mut self.global,
            Space::Const => &mut self.constant_memory,
            Space::Generic | Space::Shared | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc => return,
        };
        let address = variable.location.address;
        // The arrays of a constant bank share their bytes.
        if variable.bytes == 0 || region.find(address).is_some() {
            return;
        }
        region.insert(&variable.name, address, variable.bytes, 0, 0);
        if let Some(allocation) = region.find_mut(address) {
            let bytes = &variable.init[..variable.init.len().min(variable.bytes as usize)];
            allocation.pages.write(allocation.offset(address), bytes);
        }
    }

    /// Bytes of the pages of global and constant memory that were ever written.
    pub fn written_bytes(&self) -> u64 {
        self.global.written_bytes() + self.constant_memory.written_bytes()
    }

    /// Allocates a buffer of `bytes` bytes, each `fill`, and returns its address. Unmapped space separates it from other buffers. Without
    /// `fill` its contents are undefined; they read as zero.
    ///
    /// # Errors
    /// If the address space has no room left.
    pub fn allocate(&mut self, name: &str, bytes: u64, fill: Option<u8>) -> Result<u64, OutOfMemory> {
        self.allocate_padded(name, bytes, 0, fill)
    }

    /// Like [`Self::allocate`], with `padding` bytes after the buffer, for accesses of at least four bytes only.
    ///
    /// # Errors
    /// If the address space has no room left.
    pub fn allocate_padded(&mut self, name: &str, bytes: u64, padding: u64, fill: Option<u8>) -> Result<u64, OutOfMemory> {
        let full = OutOfMemory { bytes };
        let end = if self.program.address_bits == 32 { 1 << 32 } else { 1 << 47 };
        let occupied = bytes.checked_add(padding).and_then(|all| all.max(1).checked_next_multiple_of(PAGE_BYTES as u64)).ok_or(full)?;
        let with_guard = occupied.checked_add(map::GUARD_BYTES).ok_or(full)?;
        let address = self.find_free(with_guard, end).ok_or(full)?;
        let next = address + with_guard;
        assert!(next >= address + bytes && address.is_multiple_of(PAGE_BYTES as u64), "a buffer over the next one");
        self.next = next;
        if bytes > 0 {
            self.global.insert(name, address, bytes, padding, fill.unwrap_or(UNINITIALISED));
            self.undefined.extend(fill.is_none().then_some(address..address + bytes));
        }
        Ok(address)
    }

    /// The first free address for `bytes` bytes before `end`, outside of reserved ranges.
    fn find_free(&self, bytes: u64, end: u64) -> Option<u64> {
        let mut address = self.next;
        while address.checked_add(bytes)? <= end {
            let candidate = address..address + bytes;
            match self.reserved.iter().filter(|range| map::overlap(range, &candidate)).map(|range| range.end).max() {
                Some(end) => address = end.checked_next_multiple_of(PAGE_BYTES as u64)?,
                None => return Some(address),
            }
        }
        None
    }

    /// Keeps buffers without a requested address out of `range`.
    pub fn reserve(&mut self, range: Range<u64>) {
        assert!(range.start <= range.end, "a range whose end is before its start");
        let with_guard = range.start..range.end.saturating_add(map::GUARD_BYTES);
        if !self.reserved.contains(&with_guard) {
            self.reserved.push(with_guard);
        }
    }

    /// Allocates `bytes` bytes at `address`, each `fill`; without `fill` the contents are undefined. The memory may be adjacent to other
    /// memory.
    ///
    /// # Errors
    /// If the address is in use, or is no address of the device.
    pub fn allocate_at(&mut self, name: &str, address: u64, bytes: u64, fill: Option<u8>) -> Result<(), NotFree> {
        let end = address.checked_add(bytes).filter(|end| *end <= map::ADDRESSES_END);
        let range = address..end.ok_or_else(|| NotFree { address, bytes, by: "the end of the addresses".to_string() })?;
        let regions = self.program.map.regions(self.program.address_bits);
        let region = regions.into_iter().find(|(_, region)| map::overlap(region, &range)).map(|(what, _)| what.to_string());
        let occupant = region.or_else(|| self.global.overlapping(&range).map(|allocation| allocation.name.to_string()));
        if let Some(by) = occupant {
            return Err(NotFree { address, bytes, by });
        }
        if bytes > 0 {
            self.global.insert(name, address, bytes, 0, fill.unwrap_or(UNINITIALISED));
            self.undefined.extend(fill.is_none().then_some(range));
        }
        Ok(())
    }

    /// Makes all pages of the memory that starts at `address` unknown except those at the offsets `known`, in ascending order, from the
    /// address on at which its first page begins. Reading an unknown byte is a trap until it has been written.
    pub fn set_known_pages(&mut self, address: u64, known: impl Iterator<Item = u64>) {
        if let Some(allocation) = self.global.find_mut(address).filter(|allocation| allocation.base == address) {
            allocation.pages.set_known_pages(known);
        }
    }

    /// Maps memory at `range` whose bytes are all unknown; false if addresses of it are in use.
    pub fn map_unknown(&mut self, name: &str, range: &Range<u64>) -> bool {
        assert!(range.start < range.end, "memory at {range:x?}");
        let is_occupied = self.reserved.iter().any(|taken| map::overlap(taken, range)) || self.global.overlapping(range).is_some();
        if is_occupied || range.end > map::ADDRESSES_END {
            return false;
        }
        self.global.insert(name, range.start, range.end - range.start, 0, UNINITIALISED);
        self.set_known_pages(range.start, std::iter::empty());
        true
    }

    /// The address of the page that holds the byte at `address`: a multiple of [`PAGE_BYTES`] after the origin of its memory, and so up
    /// to 15 bytes before the first byte of that memory.
    pub fn page_address(&self, address: u64) -> Option<u64> {
        self.global.find(address).map(|allocation| address - allocation.offset(address) % PAGE_BYTES as u64)
    }

    /// Fills the unknown page that holds the byte at `address` with `page`, except for bytes written since. False if the page was known.
    pub fn fill_page(&mut self, address: u64, page: &[u8; PAGE_BYTES]) -> bool {
        let Some(allocation) = self.global.find_mut(address) else { return false };
        let offset = allocation.offset(address);
        allocation.pages.fill_page(offset - offset % PAGE_BYTES as u64, page)
    }

    /// The pages of the memory that starts at `base` that were filled ([`Self::fill_page`]) or written, each with its address
    /// ([`Self::page_address`]).
    pub fn pages(&self, base: u64) -> impl Iterator<Item = (u64, &[u8; PAGE_BYTES])> {
        let allocation = self.global.find(base).filter(|allocation| allocation.base == base);
        allocation
            .into_iter()
            .flat_map(move |allocation| allocation.pages.existing().map(move |(offset, page)| (allocation.origin + offset, page)))
    }

    /// The unknown ranges of the `bytes` bytes from `address` on.
    pub fn unknown(&self, address: u64, bytes: u64) -> Vec<Range<u64>> {
        let Some(allocation) = self.global.find(address).filter(|allocation| allocation.pages.has_unknown()) else { return Vec::new() };
        allocation
            .pages
            .unknown_ranges(allocation.offset(address), bytes)
            .map(|range| range.start + allocation.origin..range.end + allocation.origin)
            .collect()
    }

    /// Removes `range` from the undefined bytes.
    pub fn define(&mut self, range: Range<u64>) {
        let parts = |undefined: &Range<u64>| {
            let before = undefined.start..undefined.end.min(range.start).max(undefined.start);
            let after = undefined.start.max(range.end).min(undefined.end)..undefined.end;
            [before, after].into_iter().filter(|part| !part.is_empty())
        };
        self.undefined = self.undefined.iter().flat_map(parts).collect();
    }

    /// Writes `bytes` at a global `address`.
    ///
    /// # Errors
    /// If the range is not inside one allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), NotMapped> {
        let not_mapped = NotMapped { address, bytes: bytes.len() as u64 };
        if bytes.is_empty() {
            return Ok(());
        }
        let allocation = self.global.find_mut(address).filter(|allocation| allocation.end().saturating_sub(address) >= not_mapped.bytes);
        let allocation = allocation.ok_or(not_mapped)?;
        allocation.pages.write(allocation.offset(address), bytes);
        Ok(())
    }

    /// Takes the global memory that `part` has written since both were clones of `start`: these bytes, none of which this one has written.
    pub(in crate::machine) fn take_written(&mut self, part: &Self, start: &Self, written: impl Iterator<Item = Range<u64>>) {
        let by_both = self.global.take_written(&part.global, &start.global);
        if by_both.is_empty() {
            return;
        }
        for bytes in written {
            let from = by_both.partition_point(|page| page.end <= bytes.start);
            for page in by_both[from..].iter().take_while(|page| page.start < bytes.end) {
                self.copy_from(part, bytes.start.max(page.start)..bytes.end.min(page.end));
            }
        }
    }

    /// Copies these bytes of global memory, which are in one allocation, from another device.
    fn copy_from(&mut self, other: &Self, bytes: Range<u64>) {
        let Range { start, end } = bytes;
        let (Some(to), Some(from)) = (self.global.find_mut(start), other.global.find(start)) else {
            unreachable!("{start:#x} is in an allocation of both devices")
        };
        let mut copied = vec![0; (end - start) as usize];
        from.pages.read(from.offset(start), &mut copied);
        to.pages.write(to.offset(start), &copied);
    }

    /// Writes `bytes` at byte `offset` of a `.const` or `.global` variable.
    ///
    /// # Errors
    /// If the range is not inside the variable.
    pub fn write_variable(&mut self, variable: VarId, offset: u64, bytes: &[u8]) -> Result<(), NotMapped> {
        let Variable { location, bytes: all, .. } = self.program.variables[variable.index()];
        let not_mapped = NotMapped { address: location.address.wrapping_add(offset), bytes: bytes.len() as u64 };
        let region = match location.space {
            Space::Global => &mut self.global,
            Space::Const => &mut self.constant_memory,
            Space::Generic | Space::Shared | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc => {
                return Err(not_mapped);
            }
        };
        let is_inside = offset.checked_add(not_mapped.bytes).is_some_and(|end| end <= all);
        let allocation = region.find_mut(location.address).filter(|_| is_inside).ok_or(not_mapped)?;
        allocation.pages.write(allocation.offset(not_mapped.address), bytes);
        Ok(())
    }

    /// Reads the first bytes of a variable in global or constant memory into `out`.
    ///
    /// # Errors
    /// If it is in other memory, or has fewer bytes.
    pub fn read_variable(&self, variable: VarId, out: &mut [u8]) -> Result<(), NotMapped> {
        let Variable { location, bytes: all, .. } = self.program.variables[variable.index()];
        let not_mapped = NotMapped { address: location.address, bytes: out.len() as u64 };
        let region = match location.space {
            Space::Global => &self.global,
            Space::Const => &self.constant_memory,
            Space::Generic | Space::Shared | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc => {
                return Err(not_mapped);
            }
        };
        let allocation = region.find(location.address).filter(|_| not_mapped.bytes <= all).ok_or(not_mapped)?;
        allocation.pages.read(location.address - allocation.base, out);
        Ok(())
    }

    /// The variables of the module in global memory, and the bytes of each.
    pub fn global_variables(&self) -> impl Iterator<Item = (&Variable, Vec<u8>)> {
        let variables =
            self.program.variables.iter().filter(|variable| variable.location.space == Space::Global && variable.opaque.is_none());
        variables.filter_map(|variable| {
            let allocation = self.global.find(variable.location.address)?;
            let mut bytes = vec![0; usize::try_from(variable.bytes).ok()?];
            allocation.pages.read(variable.location.address - allocation.base, &mut bytes);
            Some((variable, bytes))
        })
    }

    /// Reads from a global `address` on into `out`.
    ///
    /// # Errors
    /// If the range is not inside one allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), NotMapped> {
        let not_mapped = NotMapped { address, bytes: out.len() as u64 };
        if out.is_empty() {
            return Ok(());
        }
        let allocation = self.global.find(address).filter(|allocation| allocation.end().saturating_sub(address) >= not_mapped.bytes);
        let allocation = allocation.ok_or(not_mapped)?;
        allocation.pages.read(allocation.offset(address), out);
        Ok(())
    }

    /// The addresses that are undefined before the first write: buffers without initial contents, in order, and the heap of `malloc`.
    pub fn undefined(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let heap = self.program.map.heap;
        std::iter::once(heap..heap + map::HEAP_WINDOW).chain(self.undefined.iter().cloned())
    }

    /// Excludes the buffer at `range` from the comparison after the last launch, although other buffers are compared.
    pub fn leave_uncompared(&mut self, range: Range<u64>) {
        assert!(range.start <= range.end, "a range whose end is before its start");
        self.uncompared.push(range);
    }

    /// The buffers that are not compared after the last launch although others are, in order.
    pub fn uncompared(&self) -> &[Range<u64>] {
        &self.uncompared
    }

    /// Excludes `range` from the comparison after the last launch, as the launch file asks.
    pub fn ignore(&mut self, range: Range<u64>) {
        assert!(range.start <= range.end, "a range whose end is before its start");
        self.ignored.push(range);
    }

    /// The bytes that the launch file excludes from the comparison.
    pub fn ignored(&self) -> &[Range<u64>] {
        &self.ignored
    }

    /// The output of `printf`, from the first launch on.
    pub fn printed(&self) -> &Printed {
        &self.runtime.printed
    }
}

impl Hash for Device {
    /// Hashes the state that kernels can change.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { global, runtime, program: _, constant_memory: _, next: _, reserved: _, undefined: _, uncompared: _, ignored: _ } = self;
        (global, runtime).hash(state);
    }
}
