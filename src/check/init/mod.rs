//! Reads before any write.
//!
//! - Memory without initial contents (shared and local memory, buffers that the launch file leaves `Uninit`, results of `malloc`) has one
//!   bit a byte, set once a defined value was written: by a thread, an atomic, a copy, or `mbarrier.init` (`memory`).
//!   Module variables without an initializer are zero in the global space and undefined in the shared one (PTX ISA, "Initializers").
//!   Copies are taken to have written at their issue: whether they have completed is up to the race checker. A load of padding that is only
//!   stored again, as by copies of structures, is right.
//! - Registers are undefined at first (PTX ISA, "Register State Space"), and after a `shfl` from a lane that does not take part: one that
//!   the member mask leaves out, or that has exited ("shfl"). A forward analysis of the control flow finds the registers that may be read
//!   before they are written; only their values are tracked, and those of absent lanes and of unwritten memory (`registers`).
//!
//! Loading, moving, storing or shuffling an undefined value is no mistake: definedness propagates with the value through registers, lanes,
//! and shared and local memory, where a byte of an undefined value is unwritten and has the origin of the value (`undefined`). Of a word
//! that is undefined in part, as of bit fields, its bits are followed where they are moved (`registers`). A value is reported once
//! (`reports`), where it controls a branch, is part of an address or is the operand of a barrier, or is stored to global memory:
//! `memory.uninitialized` or `register.uninitialized`, by its origin. A value in lanes that do not use it is right, as in the upper lanes
//! of a tree reduction or the rest of a partial tile. A bulk store and a reduction use the values they read; `cp.async` and bulk copies to
//! shared memory only move them; of a product of matrices the rows and columns of undefined factors are undefined. If a buffer has no
//! `expect` and others have, a store to it is a note, and the stored value is tracked further.
//!
//! An unordered read and write by two threads are a race, and no missing initialization, whichever came first in this run. So a use of
//! unwritten shared or global memory is reported at the end of the launch, unless a race of the same read was found.
//!
//! The frame of a call holds nothing at first, though an earlier call may have had the same addresses.
//!
//! It can miss: padding that is used after all; undefined values
//! packed with defined ones in one register; arguments of indirect calls; values that `wmma.store`, tensor copies and image stores write;
//! values in compared global memory, once they were reported there.

mod bits;
pub mod catalogue;
mod loads;
mod local;
mod memory;
mod params;
mod regions;
mod registers;
mod reports;
mod undefined;
mod unwritten;
mod used;
mod written;

use std::any::Any;

use memory::Memory;
use regions::Lifetime;
use registers::{LoadedValue, Registers, StoredElement, StoredValue, UseKind};
use reports::Reports;

use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::finding::Finding;
use crate::check::free_reads::FreeReads;
use crate::check::reporter::Reporter;
use crate::isa::{AtomicFn, Space};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, Event, EventKind, EventMask, LaunchEnd, LaunchStart, PlainRead, SyncEvent, SyncKind, WgmmaChange,
    WgmmaEvent,
};
use crate::program::{AtomicOp, Op, Pc, Program};

/// The checker of reads before any write.
#[derive(Clone)]
struct InitChecker {
    memory: Memory,
    registers: Registers,
    reports: Reports,
    /// Reads of unwritten shared or local memory, one for each instruction.
    reads: Vec<Finding>,
}

/// The checker of reads before any write.
pub(super) const ROW: CheckerRow = CheckerRow {
    word: "init",
    about: "reads of memory and uses of registers before any write",
    findings: catalogue::FINDINGS,
    make: Some(|program| {
        Box::new(InitChecker {
            memory: Memory::default(),
            registers: Registers::new(program),
            reports: Reports::default(),
            reads: Vec::new(),
        })
    }),
};

/// The events that write memory or begin its life, and collectives with absent source lanes.
const MEMORY: EventMask = EventMask::of(&[
    EventKind::Access,
    EventKind::LocalStart,
    EventKind::Sync,
    EventKind::AbsentSource,
    EventKind::Copy,
    EventKind::Mbarrier,
    EventKind::Wgmma,
]);

/// The events that track values in registers.
const REGISTERS: EventMask = EventMask::of(&[EventKind::Before, EventKind::Collective]);

impl InitChecker {
    /// True if instructions must be observed before they are executed.
    fn is_needed(&self) -> bool {
        self.registers.is_needed() || self.memory.follows_params()
    }

    /// An access reads or stores something undefined.
    #[cold]
    fn access_undefined(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let mut found = false;
        if event.kind != AccessKind::Write {
            found = self.load(event, to);
        }
        if let Some(stored) = self.registers.stored(event).cloned() {
            found |= self.store(event, &stored, to);
        }
        found
    }

    /// An undefined value is loaded into registers; if no register receives it, this is a use.
    fn load(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let undefined_reads = self.memory.undefined_reads(event, to.program);
        let Some((first, undefined_bytes)) = undefined_reads.first() else { return false };
        let mut values = Vec::new();
        for (reader, undefined_bytes) in &undefined_reads {
            for (register, lane, offset) in loads::receivers(to.program, event, *reader, *undefined_bytes) {
                let origin = self.memory.origin(event, (register, lane), event.addresses[*reader] + u64::from(offset));
                let byte = |at: u32| match undefined_bytes >> (at & 63) & 1 {
                    0 => 0,
                    _ => self.memory.bits(event, *reader, event.addresses[*reader] + u64::from(at)),
                };
                values.push(LoadedValue { register, lane, origin, bits: loads::register_bits(to.program, event, offset, byte) });
            }
        }
        let replaces = event.kind == AccessKind::Atomic && is_exchange(to.program, event.point.pc);
        let is_read_modify_write = event.kind == AccessKind::Atomic && !replaces;
        let outlives = !matches!(event.space, Space::Shared | Space::SharedCluster | Space::Local);
        let uses = if is_read_modify_write { outlives } else { values.is_empty() && !replaces };
        if !values.is_empty() {
            self.registers.load((event.point, event.depth), &values, to.program);
        }
        if replaces || uses {
            self.memory.mark_defined(event);
        }
        let reads_unwritten = values.iter().all(|value| value.origin.point.pc == event.point.pc);
        let is_new = !outlives && reads_unwritten && !self.reads.iter().any(|read| read.second.point.pc == event.point.pc);
        if !uses && !is_new {
            return false;
        }
        let lanes = undefined_reads.iter().map(|(lane, _)| *lane).collect();
        let address = event.addresses[*first] + u64::from(undefined_bytes.trailing_zeros());
        let finding = self.memory.immediate_use(event, lanes, address, to.program);
        if is_new {
            self.reads.push(finding.clone());
        }
        uses && self.reports.report(finding, to)
    }

    /// A `wgmma` whose operands in shared memory are undefined in part has an undefined result there.
    fn wgmma(&mut self, event: &WgmmaEvent<'_>, program: &Program) {
        let WgmmaChange::Issued { wgmma, depth, .. } = event.change else { return };
        let factors = self.memory.undefined_factors(event, wgmma);
        if !factors.is_empty() {
            self.registers.multiply(wgmma.op, &factors, (event.point, depth), program);
        }
    }

    /// An undefined value is stored in memory; this is a use if the memory outlives the launch.
    fn store(&mut self, event: &AccessEvent<'_>, stored: &StoredValue, to: &mut Reporter<'_>) -> bool {
        let mut found = false;
        for StoredElement { bytes, register, origins } in &stored.elements {
            let mut used = [(UseKind::Store, Vec::new()), (UseKind::UncomparedStore, Vec::new())];
            let parts = origins.iter().flat_map(|(lane, origin, bits)| {
                let bits = bytes.bits(*bits);
                bytes.of_lane(*lane, event.bytes).into_iter().map(move |part| (part, origin, bits))
            });
            for ((lane, skip, bytes), origin, bits) in parts.filter(|((lane, ..), _, bits)| event.lanes.contains(*lane) && *bits != 0) {
                let address = event.addresses[lane] + u64::from(skip);
                // The bits of a register of 128 bits are taken for undefined.
                let of_byte = |at: u32| (address + u64::from(at), if at < 8 { (bits >> (8 * at)) as u8 } else { u8::MAX });
                let undefined: Vec<(u64, u8)> = (0..bytes).map(of_byte).filter(|(_, bits)| *bits != 0).collect();
                match self.memory.undefine(event, lane, &undefined, *origin) {
                    Lifetime::Launch => {}
                    Lifetime::Output => used[0].1.push((lane, *origin)),
                    Lifetime::UncomparedOutput => used[1].1.push((lane, *origin)),
                }
            }
            for (use_kind, origins) in used {
                found |= registers::report(event.point, *register, &origins, use_kind, (&mut self.reports, to));
            }
        }
        found
    }

    /// Handles an event that may change what it observes.
    fn follow(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => return self.access_undefined(access, to),
            Event::LocalStart(start) => self.memory.begin_local(start),
            Event::Copy(copy) => {
                let found = self.memory.copy(copy, to.program);
                return found.is_some_and(|finding| self.reports.report(finding, to));
            }
            Event::Wgmma(wgmma) => self.wgmma(wgmma, to.program),
            Event::Mbarrier(object) => self.memory.mbarrier(object),
            Event::Sync(SyncEvent { point, lanes, kind: SyncKind::Exited, .. }) => self.registers.exited(point, *lanes),
            Event::Collective(collective) => self.registers.collective(collective, to.program),
            Event::Before(issue, warp, _) => {
                self.memory.pass_params(issue, warp, to.program);
                return self.registers.before(issue, warp, (&mut self.reports, to));
            }
            Event::Sync(_) | Event::After(..) | Event::Reconverged(..) | Event::Arrived(..) => {}
        }
        false
    }
}

/// True if an atomic replaces the value in memory without using it for the new one.
fn is_exchange(program: &Program, pc: Pc) -> bool {
    matches!(
        program.code[pc.index()].op,
        Op::Atomic(AtomicOp::Single { f: AtomicFn::Exch, .. } | AtomicOp::Vector { f: AtomicFn::Exch, .. })
    )
}

impl Checker for InitChecker {
    fn begin(&mut self, launch: &LaunchStart) {
        self.memory.begin(launch);
        self.reads.clear();
        self.registers.begin(launch);
    }

    fn mask(&self) -> EventMask {
        if self.is_needed() { MEMORY.with(REGISTERS) } else { MEMORY }
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        if let Event::Access(access) = event
            && self.memory.access(access)
            && self.registers.stored(access).is_none()
        {
            return false;
        }
        let was_needed = self.is_needed();
        let found = self.follow(event, to);
        to.mask_changed |= was_needed != self.is_needed();
        found
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        self.memory.is_read_written(read)
    }

    fn free_reads(&self, block_id: BlockId) -> Option<FreeReads> {
        Some(FreeReads::of(self.memory.written_of(block_id)?))
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, to: &mut Reporter<'_>) {
        self.reports.release(to);
    }

    fn reads_of_unwritten(&self) -> &[Finding] {
        &self.reads
    }

    fn join_part(&mut self, part: &dyn Checker) -> bool {
        let Some(part) = part.as_any().downcast_ref::<Self>() else { return false };
        part.reads.len() == self.reads.len() && self.memory.join_part(&part.memory)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}
