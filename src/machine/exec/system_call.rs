//! Calls of the functions that the device runtime provides: `vprintf`, `__assertfail`, `malloc`, `free` (CUDA C++ Programming Guide,
//! "Formatted Output", "Assertion", "Dynamic Global Memory Allocation").

use crate::isa::{Space, SystemFn};
use crate::machine::event::AccessKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::memory::LaneAccess;
use crate::machine::state::runtime::{Arguments, print};
use crate::machine::state::special::thread_index;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::CallId;

/// The maximum length of a string in bytes.
const STRING_BYTES: usize = 1 << 20;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a call of a function of the runtime.
    pub(super) fn system_call(&mut self, f: SystemFn, call: CallId, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        let site = &program.calls[call];
        let mut argument = |index: usize| site.args.get(index).map_or([0; 32], |argument| self.argument_value(argument, group, active));
        let (first, second) = (argument(0), argument(1));
        let result = match f {
            SystemFn::Printf => self.printf(&first, &second, group, active)?,
            SystemFn::AssertFail => {
                let (line, function) = (argument(2), argument(3));
                let lane = active.first();
                let texts = [first[lane], second[lane], function[lane]];
                return Err(self.failed_assertion(texts, line[lane], lane, group, active));
            }
            SystemFn::Malloc => self.malloc(&first, active),
            SystemFn::Free => self.free(&first, active)?,
        };
        if let Some(destination) = site.results.first() {
            self.write_result(destination, &result, group, active);
        }
        Ok(Flow::Next)
    }

    /// Prints the output of each lane, lowest lane first, and returns the number of values that each has formatted: -1 for a null format.
    fn printf(
        &mut self,
        formats: &PerLane<u64>,
        buffers: &PerLane<u64>,
        group: &Group,
        active: LaneMask,
    ) -> Result<PerLane<u64>, Box<Trap>> {
        let (mut written, mut counts) = (Vec::new(), [0; 32]);
        for lane in active.iter() {
            if formats[lane] == 0 {
                counts[lane] = u64::MAX;
                continue;
            }
            let mut memory = LaneMemory { run: self, group, lane, next: buffers[lane] };
            let format = memory.string(formats[lane], STRING_BYTES)?;
            let (text, converted) = print(&format, &mut memory)?;
            written.extend_from_slice(&text);
            counts[lane] = u64::from(converted);
        }
        self.runtime.printed.push(&written);
        Ok(counts)
    }

    /// The fault of an assertion, with the message of CUDA.
    fn failed_assertion(&self, texts: [u64; 3], line: u64, lane: usize, group: &Group, active: LaneMask) -> Box<Trap> {
        let mut memory = LaneMemory { run: self, group, lane, next: 0 };
        let texts = texts.map(|address| if address == 0 { Ok(Vec::new()) } else { memory.string(address, STRING_BYTES) });
        let [Ok(expression), Ok(file), Ok(function)] = texts else {
            return self.trap(TrapKind::Assert, active, "an assertion failed whose text is at an address without memory");
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let [x, y, z] = self.point.block;
        let [tx, ty, tz] = thread_index(self.prepared.config.block, self.point.warp.number(), lane as u32);
        let message = format!(
            "{}:{line}: {}: block: [{x},{y},{z}], thread: [{tx},{ty},{tz}] Assertion `{}` failed.",
            text(&file),
            text(&function),
            text(&expression)
        );
        self.trap(TrapKind::Assert, active, &message)
    }

    fn malloc(&mut self, sizes: &PerLane<u64>, active: LaneMask) -> PerLane<u64> {
        let name = format!("malloc at {}", self.program.place(self.point.pc));
        let mut addresses = [0; 32];
        for lane in active.iter() {
            addresses[lane] = self.runtime.heap.allocate(self.global, &name, sizes[lane]);
        }
        addresses
    }

    /// Frees the block of every lane; freeing null does nothing.
    fn free(&mut self, addresses: &PerLane<u64>, active: LaneMask) -> Result<PerLane<u64>, Box<Trap>> {
        for lane in active.iter().filter(|lane| addresses[*lane] != 0) {
            let address = addresses[lane];
            let freed_by_lower_lane = active.iter().take_while(|other| *other < lane).any(|other| addresses[other] == address);
            let reason = match self.runtime.heap.check(self.global, address) {
                Ok(()) if freed_by_lower_lane => "another lane frees it at the same time".to_string(),
                Ok(()) => continue,
                Err(error) => match error.freed {
                    Some(by) => format!("it was freed at {}, time {}", self.program.place(by.pc), by.tick),
                    None => "malloc did not give this address".to_string(),
                },
            };
            return Err(self.trap(TrapKind::Heap, LaneMask::of(lane), &format!("free of {address:#x}: {reason}")));
        }
        for lane in active.iter() {
            // Reported as a write to the block, so that other accesses must be ordered before it.
            if let Some(block) = self.global.find(addresses[lane]).filter(|block| block.base == addresses[lane]) {
                let bytes = block.bytes as u32;
                self.report(Space::Global, &LaneAccess::new([addresses[lane]; 32], LaneMask::of(lane), bytes), AccessKind::Write);
            }
            self.runtime.heap.free(self.global, addresses[lane], self.point);
        }
        Ok([0; 32])
    }
}

/// The memory of one lane at generic addresses.
struct LaneMemory<'r, 'a, const OBSERVED: bool> {
    run: &'r WarpRun<'a, OBSERVED>,
    group: &'r Group,
    lane: usize,
    /// Address of the next value of `printf`.
    next: u64,
}

impl<const OBSERVED: bool> LaneMemory<'_, '_, OBSERVED> {
    fn read<const N: usize>(&self, address: u64) -> Result<[u8; N], Box<Trap>> {
        let mut access = LaneAccess::new([address; 32], LaneMask::of(self.lane), N as u32);
        let mut found = [0; N];
        for segment in self.run.locate(&mut access, Space::Generic, false, self.group)?.with(access) {
            self.run.read(segment.space, &segment.access, 0, |_, bytes| found = bytes);
        }
        Ok(found)
    }

    /// The next value of `N` bytes, at a multiple of `N`.
    fn value<const N: usize>(&mut self) -> Result<[u8; N], Box<Trap>> {
        let address = self.next.checked_next_multiple_of(N as u64).unwrap_or(self.next);
        self.next = address.wrapping_add(N as u64);
        self.read(address)
    }
}

impl<const OBSERVED: bool> Arguments for LaneMemory<'_, '_, OBSERVED> {
    type Error = Box<Trap>;

    fn word(&mut self) -> Result<u32, Box<Trap>> {
        self.value().map(u32::from_le_bytes)
    }

    fn double_word(&mut self) -> Result<u64, Box<Trap>> {
        self.value().map(u64::from_le_bytes)
    }

    fn string(&mut self, address: u64, most: usize) -> Result<Vec<u8>, Box<Trap>> {
        let mut text = Vec::new();
        while text.len() < most.min(STRING_BYTES) {
            match self.read(address.wrapping_add(text.len() as u64))? {
                [0] => break,
                [byte] => text.push(byte),
            }
        }
        Ok(text)
    }
}
