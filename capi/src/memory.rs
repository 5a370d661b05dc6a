//! The memory of the process, from which kernels take pages: the only file that accesses unchecked addresses.
//!
//! Copies are system calls of Linux: an unmapped address or a page that may not be written is an error of the call, not a signal.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fs;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ptxdbg::api::{HostMemory, HostRange, HostWrite, PAGE_BYTES, PageSource};

use crate::error::{Failure, Status, guarded};

/// The addresses at which a process has memory: the interpreter's own allocations are between the two ranges.
pub const ADDRESSES: &[Range<u64>] = &[0..1 << 40, 0x5000_0000_0000..1 << 47];

/// Maximum bytes of a mapping on both sides of an accessed address that become one extent.
const REACH: u64 = 1 << 32;

/// The registered ranges, by start.
static REGISTERED: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

fn registered() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `ptxdbg_register`
#[unsafe(no_mangle)]
pub extern "C" fn ptxdbg_register(start: *const c_void, length: usize) -> Status {
    guarded(|| {
        let (start, length) = (start as u64, length as u64);
        let end = start.checked_add(length).filter(|_| start > 0 && length > 0);
        let end = end.ok_or_else(|| Failure::argument(format!("{length} bytes at {start:#x} are no memory")))?;
        let mut registered = registered();
        let before = registered.range(..end).next_back().filter(|(_, other)| **other > start);
        if let Some((other, _)) = before {
            return Err(Failure::argument(format!("the memory at {start:#x} overlaps what is registered at {other:#x}")));
        }
        registered.insert(start, end);
        Ok(())
    })
}

/// `ptxdbg_unregister`
#[unsafe(no_mangle)]
pub extern "C" fn ptxdbg_unregister(start: *const c_void) -> Status {
    guarded(|| {
        let start = start as u64;
        registered().remove(&start).map(drop).ok_or_else(|| Failure::argument(format!("nothing is registered at {start:#x}")))
    })
}

/// The memory of a run without explicit ranges: the registered ranges, or, if there are none, everything that is mapped.
pub fn process_memory() -> HostMemory {
    let name = |start: &u64| format!("registered memory at {start:#x}");
    let of = |(start, end): (&u64, &u64)| HostRange { addresses: *start..*end, name: name(start), element: None };
    let registered: Vec<HostRange> = registered().iter().map(of).collect();
    if registered.is_empty() {
        return HostMemory::new(Box::new(ProcessMemory { includes_unregistered: true, ..ProcessMemory::default() }), &[]);
    }
    host_memory(&registered)
}

/// Only the memory at `ranges`, which may overlap. It must stay allocated as long as kernels run on it.
pub fn host_memory(ranges: &[HostRange]) -> HostMemory {
    let mut sorted: Vec<HostRange> = ranges.iter().filter(|range| !range.addresses.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.addresses.start);
    let mut disjoint: Vec<HostRange> = Vec::new();
    for range in sorted {
        match disjoint.last_mut() {
            Some(last) if last.addresses.end > range.addresses.start => {
                last.addresses.end = last.addresses.end.max(range.addresses.end);
                last.element = last.element.filter(|element| range.element == Some(*element));
            }
            _ => disjoint.push(range),
        }
    }
    HostMemory::new(Box::<ProcessMemory>::default(), &disjoint)
}

/// Writes the changes of a kernel to the memory of the process.
pub fn write_back(writes: &[HostWrite]) -> Result<(), Failure> {
    for write in writes {
        let written = copy_to(write.address, &write.bytes);
        if written != write.bytes.len() {
            let message = format!("the kernel wrote {} bytes at {:#x}, which cannot be written", write.bytes.len(), write.address);
            return Err(Failure { status: Status::RunFailed, message });
        }
    }
    Ok(())
}

/// The memory of this process.
#[derive(Default)]
struct ProcessMemory {
    /// True if it includes mapped memory that is not registered.
    includes_unregistered: bool,
    /// The mappings when they were last read, in order of address, with adjacent ones merged.
    mapped: Vec<Range<u64>>,
}

impl ProcessMemory {
    /// The cached mapping that contains `address`.
    fn mapping_at(&self, address: u64) -> Option<Range<u64>> {
        let after = self.mapped.partition_point(|mapped| mapped.end <= address);
        self.mapped.get(after).filter(|mapped| mapped.contains(&address)).cloned()
    }

    /// Reads the current mappings.
    fn refresh(&mut self) {
        self.mapped.clear();
        for mapping in readable(&fs::read_to_string("/proc/self/maps").unwrap_or_default()) {
            match self.mapped.last_mut() {
                Some(last) if last.end == mapping.start => last.end = mapping.end,
                Some(_) | None => self.mapped.push(mapping),
            }
        }
    }
}

impl PageSource for ProcessMemory {
    fn extent(&mut self, address: u64) -> Option<Range<u64>> {
        if !self.includes_unregistered {
            return None;
        }
        if self.mapping_at(address).is_none() {
            self.refresh();
        }
        let mapping = self.mapping_at(address)?;
        let low = address.saturating_sub(REACH) & !(PAGE_BYTES as u64 - 1);
        Some(mapping.start.max(low)..mapping.end.min(address.saturating_add(REACH)))
    }

    fn page(&mut self, address: u64) -> Option<Box<[u8; PAGE_BYTES]>> {
        let mut page = Box::new([0; PAGE_BYTES]);
        // The page may be mapped only up to the end of a registered range.
        (copy_from(address, &mut page[..]) > 0).then_some(page)
    }
}

/// The readable mappings of a `/proc/PID/maps`, in order of address.
fn readable(maps: &str) -> impl Iterator<Item = Range<u64>> {
    maps.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        fields.next()?.starts_with('r').then_some(number(start)?..number(end)?)
    })
}

/// Copies as many bytes as are readable from `address` on; returns their number.
fn copy_from(address: u64, to: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: to.len() };
    // SAFETY: the local bytes are those of a slice, and the kernel checks the remote ones.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).unwrap_or(0)
}

/// Copies as many bytes as are writable to `address` on; returns their number.
fn copy_to(address: u64, from: &[u8]) -> usize {
    let local = libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: from.len() };
    // SAFETY: the local bytes are those of a slice and are only read, and the kernel checks the remote ones.
    let copied = unsafe { libc::process_vm_writev(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_read_as_the_kernel_writes_it() {
        let maps = "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/dbus-daemon\n00651000-00652000 ---p 00051000 08:02 1\n";
        assert_eq!(readable(maps).collect::<Vec<_>>(), vec![0x40_0000..0x45_2000]);
    }

    #[test]
    fn memory_that_is_there_is_found_and_other_is_not() {
        let data = vec![7_u8; 100_000];
        let address = data.as_ptr() as u64;
        let mut process = ProcessMemory { includes_unregistered: true, ..ProcessMemory::default() };
        let extent = process.extent(address).unwrap_or_default();
        assert!(extent.start <= address && extent.end >= address + 100_000, "{extent:x?}");
        let inside = (address + 50_000) & !(PAGE_BYTES as u64 - 1);
        assert!(process.page(inside).is_some_and(|page| page.iter().all(|byte| *byte == 7)));
        assert!(process.page(4096).is_none() && process.extent(4096).is_none());
        assert_eq!(copy_to(4096, &[1]), 0);
    }
}
