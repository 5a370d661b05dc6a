//! Asynchronous copies and barrier objects (PTX ISA, "Asynchronous operations", "mbarrier").
//!
//! The reads and writes of a copy count from the moment it was issued, whenever the machine moves the bytes.

use super::access::Access;
use super::pattern::Pattern;
use super::{Home, Race, actor, operation};
use crate::check::finding::Deed;
use crate::check::reporter::Reporter;
use crate::isa::Scope;
use crate::machine::Home as MemoryOf;
use crate::machine::{
    AsyncCopy, Contribution, CopyEvent, CopyStage, Destination, Ends, LaneMask, MbarrierChange, MbarrierEvent, Proxy, Work,
};
use crate::order::{Agent, Asked, Group, ObjectKey, Operation};

/// Bytes of a barrier object.
const OBJECT_BYTES: u32 = 8;

impl Race {
    /// Something is done to a barrier object.
    pub(super) fn mbarrier(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        let key = ObjectKey { slot: event.slot, address: event.address };
        if let MbarrierChange::Ended(phase) = event.change {
            self.order.end_phase(key, phase);
            return false;
        }
        self.enter(event.by);
        let actor = actor(event.by, &event.place, event.lanes);
        let how = Asked { ordering: event.how.ordering, scope: event.how.scope };
        let deed = match event.change {
            MbarrierChange::Made(_) | MbarrierChange::Invalidated => {
                self.order.reset_object(key);
                Deed::Write
            }
            MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) => {
                self.order.arrive_at_object(actor, key, event.phase, how);
                Deed::Atomic
            }
            MbarrierChange::Asked { ended: true, .. } if self.heed.is_heeded(&self.program, event.place.pc) => {
                self.order.wait_for_object(actor, key, how);
                Deed::Read
            }
            MbarrierChange::Asked { .. } => Deed::Read,
            MbarrierChange::Contributed(Contribution::Expected(_) | Contribution::Brought(_)) | MbarrierChange::Ended(_) => Deed::Atomic,
        };
        self.touch_object(event, deed, to)
    }

    /// The object's bytes are memory as well: who makes it must be ordered before who uses it.
    fn touch_object(&mut self, event: &MbarrierEvent, deed: Deed, to: &mut Reporter<'_>) -> bool {
        let slot = event.by.slot;
        let access = Access {
            op: operation(event.by, &event.place, event.lanes, (Agent::Threads, deed)),
            pc: event.place.pc,
            deed,
            is_mbarrier: true,
            strong: (deed != Deed::Write).then_some(Scope::Sys),
            proxy: Proxy::Generic,
            bytes: OBJECT_BYTES,
            pattern: Pattern::All,
            copy: 0,
        };
        let home = Home::Block(event.slot);
        self.with_judge(home, slot, access, |judge, shadow| judge.range(shadow, u64::from(event.address), u64::from(OBJECT_BYTES)));
        self.report(home, slot, &access, to)
    }

    /// Something becomes of a copy.
    pub(super) fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let copy = event.copy;
        match event.stage {
            CopyStage::Issued => self.issue(copy, to),
            CopyStage::Read => false,
            CopyStage::Ended => {
                self.end_copy(copy, event.lanes);
                false
            }
        }
    }

    fn issue(&mut self, copy: &AsyncCopy, to: &mut Reporter<'_>) -> bool {
        assert!(!copy.lanes.is_empty(), "copy #{} is issued by some lane", copy.id);
        self.enter(copy.by);
        let slot = copy.by.slot;
        let agent = match copy.ends {
            Ends::Group { bulk, .. } => Agent::Group(if bulk { Group::Bulk } else { Group::Lane }),
            Ends::Mbarrier { .. } => self.order.issue_copy(actor(copy.by, &copy.issued, copy.lanes), copy.id),
        };
        let access = Access {
            op: operation(copy.by, &copy.issued, copy.lanes, (agent, Deed::Read)),
            pc: copy.issued.pc,
            deed: Deed::Read,
            is_mbarrier: false,
            strong: None,
            proxy: if matches!(copy.work, Work::Block { .. } | Work::Box(_)) { Proxy::Async } else { Proxy::Generic },
            bytes: 0,
            pattern: Pattern::All,
            copy: copy.id,
        };
        let mut found = self.touch_all(copy, slot, access, to);
        let (deed, strong) = if is_reduction(copy) { (Deed::Atomic, Some(Scope::Gpu)) } else { (Deed::Write, None) };
        let op = Operation { only_reads: false, ..access.op };
        found |= self.touch_all(copy, slot, Access { op, deed, strong, ..access }, to);
        found
    }

    /// Judges all that a copy reads, or all that it writes.
    fn touch_all(&mut self, copy: &AsyncCopy, slot: u32, access: Access, to: &mut Reporter<'_>) -> bool {
        if let Work::Lanes(copies) = &copy.work {
            let (home, addresses, bytes) = match access.deed {
                Deed::Read => (Home::Global, copies.from, u32::from(*copies.kept.iter().max().unwrap_or(&0))),
                Deed::Write | Deed::Atomic | Deed::Synchronize | Deed::Use | Deed::Exit => {
                    (home_of(copies.home), copies.to.map(u64::from), copies.bytes)
                }
            };
            let lanes = if access.deed == Deed::Read { copy.lanes.filter(|lane| copies.kept[lane] > 0) } else { copy.lanes };
            if lanes.is_empty() {
                return false;
            }
            let access = Access { op: Operation { lanes, ..access.op }, bytes, pattern: self.pattern(lanes, &addresses), ..access };
            self.judge(home, slot, access, &addresses);
            return self.report(home, slot, &access, to);
        }
        let mut ranges: Vec<(Destination, u64)> = Vec::new();
        let visit = |at: Destination, bytes: u64| match ranges.last_mut() {
            Some((last, length)) if last.home == at.home && last.address + *length == at.address => *length += bytes,
            _ => ranges.push((at, bytes)),
        };
        match access.deed {
            Deed::Read => copy.work.reads(copy.lanes, visit),
            Deed::Write | Deed::Atomic | Deed::Synchronize | Deed::Use | Deed::Exit => copy.work.writes(copy.lanes, visit),
        }
        let Some(home) = ranges.first().map(|(at, _)| home_of(at.home)) else { return false };
        let access = Access { bytes: ranges.iter().map(|(_, bytes)| *bytes as u32).sum(), ..access };
        self.with_judge(home, slot, access, |judge, shadow| {
            ranges.iter().for_each(|(at, bytes)| judge.range(shadow, at.address, *bytes));
        });
        self.report(home, slot, &access, to)
    }

    fn end_copy(&mut self, copy: &AsyncCopy, lanes: LaneMask) {
        if let Ends::Mbarrier { home: MemoryOf::Block { slot, .. }, address, .. } = copy.ends {
            let arrival = matches!(copy.work, Work::Arrival).then_some(lanes);
            self.order.end_copy(copy.id, ObjectKey { slot, address }, arrival);
        }
    }
}

fn is_reduction(copy: &AsyncCopy) -> bool {
    match &copy.work {
        Work::Block { reduction, .. } => reduction.is_some(),
        Work::Store { reduction, .. } => reduction.is_some(),
        Work::Box(copy) => !copy.replaces(),
        Work::Lanes(_) | Work::Arrival => false,
    }
}

fn home_of(home: MemoryOf) -> Home {
    match home {
        MemoryOf::Global => Home::Global,
        MemoryOf::Block { slot, .. } => Home::Block(slot),
    }
}
