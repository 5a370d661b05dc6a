//! Reads before any write.
//!
//! - Memory without initial contents (shared and local memory, buffers that the launch file leaves `Uninit`, what `malloc` gives) has
//!   one bit a byte that says whether it has been written: by a thread, an atomic, a copy, or `mbarrier.init` (`memory`). Module
//!   variables without an initializer are zero in the global space and undefined in the shared one (PTX ISA, "Initializers"). What is
//!   read before it was written is `memory.uninitialized`. Copies count as having written when they are issued: whether they had
//!   ended is the race checker's question. A load that brings padding along which is only stored again, as copies of structures do,
//!   is right.
//! - Registers have no value at first (PTX ISA, "Register State Space"), and none either after a `shfl` that takes it from a lane
//!   which does not take part: one that the member mask leaves out, or that has exited ("shfl"). Which of them may be read before
//!   they are written follows from the control flow; only their values are followed, and those of absent lanes, from register to
//!   register and from lane to lane (`registers`). It is `register.uninitialized` where such a value decides a branch, an address, or
//!   what is stored. A value that stays in lanes which do not use it is right, as in the upper lanes of a sum in a tree.
//!
//! Bytes that are read before another thread writes them, with nothing to order the two, are a race and no lack of a value, whichever came
//! first in this run. So a read of unwritten shared or global memory is reported at the end of the launch, unless a race of the same read
//! was found.
//!
//! What it can miss: bytes of local memory that an earlier call wrote in the same place; padding that matters after all; values that lie
//! beside defined ones in one register; what functions are given and return in registers. What is undefined but stored is reported where it
//! is stored, and not again where the memory is read.

mod bits;
pub mod catalogue;
mod local;
mod memory;
mod registers;
mod used;

use memory::Memory;
use registers::Registers;

use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::reporter::Reporter;
use crate::machine::{Event, EventKind, EventMask, LaunchEnd, LaunchStart, Order, OrderEvent};

/// The checker of reads before any write.
#[derive(Clone)]
struct Init {
    memory: Memory,
    registers: Registers,
}

/// The checker of reads before any write.
pub(super) const ROW: CheckerRow = CheckerRow {
    word: "init",
    about: "reads of memory and uses of registers before any write",
    findings: catalogue::FINDINGS,
    make: Some(|program| Box::new(Init { memory: Memory::default(), registers: Registers::new(program) })),
};

/// The events by which memory is written and lanes take values from lanes that do not take part.
const MEMORY: EventMask =
    EventMask::of(&[EventKind::Access, EventKind::Order, EventKind::AbsentSource, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);

/// Those by which values in registers are followed.
const REGISTERS: EventMask = EventMask::of(&[EventKind::Before, EventKind::Collective]);

impl Checker for Init {
    fn begin(&mut self, launch: &LaunchStart) {
        self.memory.begin(launch);
        self.registers.begin(launch);
    }

    fn mask(&self) -> EventMask {
        if self.registers.is_needed() { MEMORY.with(REGISTERS) } else { MEMORY }
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => return self.memory.access(access, to),
            Event::Copy(copy) => self.memory.copy(copy, to.program),
            Event::Wgmma(wgmma) => self.memory.wgmma(wgmma, to.program),
            Event::Mbarrier(object) => self.memory.mbarrier(object),
            Event::Order(OrderEvent { place, lanes, order: Order::Exited, .. }) => self.registers.exited(place, *lanes),
            Event::Collective(collective) => self.registers.collective(collective, to.program),
            Event::Before(issue, warp) => return self.registers.before(issue, warp, to),
            Event::Order(_) | Event::After(..) | Event::Merged(..) | Event::Arrived(..) => {}
        }
        false
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, to: &mut Reporter<'_>) {
        self.memory.end(to);
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}
