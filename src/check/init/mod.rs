//! Reads before any write.
//!
//! - Memory without initial contents (shared and local memory, buffers that the launch file leaves `Uninit`, what `malloc` gives) has
//!   one bit a byte that says whether something defined has been written: by a thread, an atomic, a copy, or `mbarrier.init` (`memory`).
//!   Module variables without an initializer are zero in the global space and undefined in the shared one (PTX ISA, "Initializers").
//!   Copies count as having written when they are issued: whether they had ended is the race checker's question. A load that brings
//!   padding along which is only stored again, as copies of structures do, is right.
//! - Registers have no value at first (PTX ISA, "Register State Space"), and none either after a `shfl` that takes it from a lane
//!   which does not take part: one that the member mask leaves out, or that has exited ("shfl"). Which of them may be read before
//!   they are written follows from the control flow; only their values are followed, and those of absent lanes and of unwritten
//!   memory (`registers`).
//!
//! A value without definition is no mistake where it is loaded, moved, stored or exchanged: that travels with it, from register to register
//! and from lane to lane, and through shared and local memory, where a byte that an undefined value is stored in counts as unwritten and
//! keeps where the value comes from (`undefined`). It is reported once (`reports`), where it decides a branch, an address or the operand of
//! a barrier, or is stored to global memory: `memory.uninitialized` or `register.uninitialized`, by where it comes from. A value that
//! stays in lanes which do not use it is right, as in the upper lanes of a sum in a tree or the rest of a partial tile. What a bulk
//! store, a reduction or `wgmma` reads is used by it; `cp.async` and a bulk copy to shared memory only move it. Where a buffer has no
//! `expect` and others have, a store to it is a note, and what is stored is followed further.
//!
//! Bytes that are read before another thread writes them, with nothing to order the two, are a race and no lack of a value, whichever came
//! first in this run. So a use of unwritten shared or global memory is reported at the end of the launch, unless a race of the same read
//! was found.
//!
//! What it can miss: bytes of local memory that an earlier call wrote in the same place; padding that matters after all; values that lie
//! beside defined ones in one register; what a function is given by an indirect call; what `wmma.store`, tensor copies and image stores
//! write; what comes into global memory that is compared, once it has been reported there.

mod bits;
pub mod catalogue;
mod loads;
mod local;
mod memory;
mod params;
mod registers;
mod reports;
mod undefined;
mod unwritten;
mod used;

use memory::{Memory, Outlives};
use registers::{Matters, Registers, Stored, StoredElement, Value};
use reports::Reports;

use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::finding::Finding;
use crate::check::reporter::Reporter;
use crate::isa::{AtomicFn, Space};
use crate::machine::{AccessEvent, AccessKind, Event, EventKind, EventMask, LaunchEnd, LaunchStart, Order, OrderEvent};
use crate::program::{AtomicOp, Op, Pc, Program};

/// The checker of reads before any write.
#[derive(Clone)]
struct Init {
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
        Box::new(Init { memory: Memory::default(), registers: Registers::new(program), reports: Reports::default(), reads: Vec::new() })
    }),
};

/// The events by which memory is written and lanes take values from lanes that do not take part.
const MEMORY: EventMask =
    EventMask::of(&[EventKind::Access, EventKind::Order, EventKind::AbsentSource, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);

/// The events by which values in registers are followed.
const REGISTERS: EventMask = EventMask::of(&[EventKind::Before, EventKind::Collective]);

impl Init {
    /// Whether instructions must be looked at before they are executed.
    fn is_needed(&self) -> bool {
        self.registers.is_needed() || self.memory.follows_params()
    }

    /// An access reads or stores something undefined.
    #[cold]
    fn access_undefined(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let was_needed = self.is_needed();
        let mut found = false;
        if event.kind != AccessKind::Write {
            found = self.load(event, to);
        }
        if let Some(stored) = self.registers.stored(event).cloned() {
            found |= self.store(event, &stored, to);
        }
        to.asks |= was_needed != self.is_needed();
        found
    }

    /// An undefined value is loaded into registers; where no register gets it, this is a use.
    fn load(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let lacking = self.memory.lacking(event, to.program);
        let Some((first, lacks)) = lacking.first() else { return false };
        let mut values = Vec::new();
        for (reader, lacks) in &lacking {
            for (register, lane, offset) in loads::given(to.program, event, *reader, *lacks) {
                let origin = self.memory.origin(event, (register, lane), event.addresses[*reader] + u64::from(offset));
                values.push(Value { register, lane, origin });
            }
        }
        let replaces = event.kind == AccessKind::Atomic && is_exchange(to.program, event.place.pc);
        let is_kept = event.kind == AccessKind::Atomic && !replaces;
        let outlives = !matches!(event.space, Space::Shared | Space::SharedCluster | Space::Local);
        let uses = if is_kept { outlives } else { values.is_empty() && !replaces };
        if !values.is_empty() {
            self.registers.load(event, &values, to.program);
        }
        if replaces || uses {
            self.memory.mark_defined(event);
        }
        let reads_unwritten = values.iter().all(|value| value.origin.place.pc == event.place.pc);
        let is_new = !outlives && reads_unwritten && !self.reads.iter().any(|read| read.second.place.pc == event.place.pc);
        if !uses && !is_new {
            return false;
        }
        let lanes = lacking.iter().map(|(lane, _)| *lane).collect();
        let address = event.addresses[*first] + u64::from(lacks.trailing_zeros());
        let finding = self.memory.immediate_use(event, lanes, address, to.program);
        if is_new {
            self.reads.push(finding.clone());
        }
        uses && self.reports.report(finding, to)
    }

    /// An undefined value is stored in memory; this is a use where the memory outlives the launch.
    fn store(&mut self, event: &AccessEvent<'_>, stored: &Stored, to: &mut Reporter<'_>) -> bool {
        let mut found = false;
        for StoredElement { place, register, origins } in &stored.elements {
            let mut used = [(Matters::Value, Vec::new()), (Matters::UncomparedValue, Vec::new())];
            let parts =
                origins.iter().flat_map(|(lane, origin)| place.bytes_of(*lane, event.bytes).into_iter().map(move |part| (part, origin)));
            for ((lane, skip, bytes), origin) in parts.filter(|((lane, ..), _)| event.lanes.contains(*lane)) {
                let address = event.addresses[lane] + u64::from(skip);
                match self.memory.undefine(event, lane, (address, u64::from(bytes)), *origin) {
                    Outlives::Nothing => {}
                    Outlives::Launch => used[0].1.push((lane, *origin)),
                    Outlives::Uncompared => used[1].1.push((lane, *origin)),
                }
            }
            for (matters, origins) in used {
                found |= registers::report(event.place, *register, &origins, matters, (&mut self.reports, to));
            }
        }
        found
    }
}

/// Whether an instruction replaces what memory holds, whatever that is.
fn is_exchange(program: &Program, pc: Pc) -> bool {
    matches!(
        program.code[pc.index()].op,
        Op::Atomic(AtomicOp::Single { f: AtomicFn::Exch, .. } | AtomicOp::Vector { f: AtomicFn::Exch, .. })
    )
}

impl Checker for Init {
    fn begin(&mut self, launch: &LaunchStart) {
        self.memory.begin(launch);
        self.reads.clear();
        self.registers.begin(launch);
    }

    fn mask(&self) -> EventMask {
        if self.is_needed() { MEMORY.with(REGISTERS) } else { MEMORY }
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => {
                let is_defined = self.memory.access(access) && self.registers.stored(access).is_none();
                return !is_defined && self.access_undefined(access, to);
            }
            Event::Copy(copy) => {
                let found = self.memory.copy(copy, to.program);
                return found.is_some_and(|finding| self.reports.report(finding, to));
            }
            Event::Wgmma(wgmma) => {
                let found = self.memory.wgmma(wgmma, to.program);
                return found.is_some_and(|finding| self.reports.report(finding, to));
            }
            Event::Mbarrier(object) => self.memory.mbarrier(object),
            Event::Order(OrderEvent { place, lanes, order: Order::Exited, .. }) => self.registers.exited(place, *lanes),
            Event::Collective(collective) => self.registers.collective(collective, to.program),
            Event::Before(issue, warp) => {
                self.memory.hand_over(issue, warp, to.program);
                return self.registers.before(issue, warp, (&mut self.reports, to));
            }
            Event::Order(_) | Event::After(..) | Event::Reconverged(..) | Event::Arrived(..) => {}
        }
        false
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, to: &mut Reporter<'_>) {
        self.reports.release(to);
    }

    fn reads_of_unwritten(&self) -> &[Finding] {
        &self.reads
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}
