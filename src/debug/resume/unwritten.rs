//! The bytes of variables in local memory that a thread has not written since the frame began, and of those in shared memory that no
//! thread has written since the block began: they read as zero, or as what an earlier call left there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cause::Cause;
use super::variable::Assigned;
use crate::debug::breakpoints::Trigger;
use crate::debug::edit::Edit;
use crate::debug::expression::{Expression, FollowedReference};
use crate::debug::focus::Focus;
use crate::debug::memory;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::{MemoryTarget, PartStorage, Target, VariablePart, VariableTarget};
use crate::debug::timeline::Input;
use crate::debug::value::{SourceValue, Value};
use crate::debug::watched_access::{Unwritten, WatchedAccess};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyStage, Event, EventKind, EventMask, LaneMask, Machine, MbarrierChange, MbarrierEvent,
    MemoryOwner, Observer, Tick,
};
use crate::program::{Param, ParamStorage, Pc, Variable, map};

/// Most bytes that are looked at: those of the largest object that is shown.
const BYTES_MAX: u64 = 1 << 16;
/// Most bytes of all lanes together that are looked at.
const BYTES_OF_LANES_MAX: u64 = 1 << 17;
/// Bytes of an mbarrier.
const MBARRIER_BYTES: u64 = 8;
/// Most ticks that are executed again for a pane.
const PANE_TICKS_MAX: u64 = 1 << 17;

/// Bytes in the local memory of a frame or in the shared memory of a block, by their addresses, and the tick at which that began.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The block whose shared memory it is; none for local memory.
    block: Option<[u32; 3]>,
    start: u64,
    end: u64,
    since: Tick,
}

/// The lane that stands for a block.
const OF_BLOCK: usize = 0;

/// Keeps when lanes of a warp have written bytes of their local memory first, or any thread those of the shared memory of a block.
struct FirstWrites {
    /// Shared, or local.
    space: Space,
    /// Any thread of the warp, or of the block.
    thread: Focus,
    /// The lanes; of shared memory the one that stands for the block.
    lanes: LaneMask,
    memory: Range<u64>,
    /// The ticks, by address and lane.
    ticks: BTreeMap<(u64, usize), Tick>,
}

impl FirstWrites {
    fn write(&mut self, access: &AccessEvent<'_>) {
        let is_own = match access.space {
            Space::Local => (access.point.block, access.point.warp.number()) == (self.thread.block, self.thread.warp),
            Space::Shared => access.point.block == self.thread.block,
            // A block of the cluster may mean this one.
            Space::SharedCluster => true,
            Space::Generic | Space::Global | Space::Const | Space::Param | Space::ParamFunc => false,
        };
        let is_local = self.space == Space::Local;
        if !is_own || is_local != (access.space == Space::Local) {
            return;
        }
        let lanes = if is_local { access.lanes & self.lanes } else { access.lanes };
        for lane in lanes.iter() {
            let owner = if is_local { lane } else { OF_BLOCK };
            self.note(access.addresses[lane], u64::from(access.bytes), owner, access.point.tick);
        }
    }

    fn note(&mut self, first: u64, bytes: u64, lane: usize, time: Tick) {
        let end = first.saturating_add(bytes).min(self.memory.end);
        for address in first.max(self.memory.start)..end {
            let tick = self.ticks.entry((address, lane)).or_insert(time);
            *tick = (*tick).min(time);
        }
    }

    /// True if a lane has written the byte at `address` before `time`.
    fn is_written(&self, address: u64, lane: usize, time: Tick) -> bool {
        self.ticks.get(&(address, lane)).is_some_and(|tick| *tick < time)
    }

    /// True if all of the lanes have written all of the bytes before `time`.
    fn are_all_written(&self, time: Tick) -> bool {
        self.lanes.iter().all(|lane| self.memory.clone().all(|address| self.is_written(address, lane, time)))
    }

    /// For each byte, true if the lane has not written it before `time`; empty if it has written all.
    fn unwritten(&self, memory: Range<u64>, lane: usize, time: Tick) -> Vec<bool> {
        let unwritten: Vec<bool> = memory.map(|address| !self.is_written(address, lane, time)).collect();
        if unwritten.contains(&true) { unwritten } else { Vec::new() }
    }
}

impl Observer for FirstWrites {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Mbarrier])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) if access.kind != AccessKind::Read => self.write(access),
            Event::Copy(CopyEvent { copy, lanes, stage: CopyStage::Issued, .. }) if self.space == Space::Shared => {
                let block = self.thread.block;
                copy.kind.visit_writes(*lanes, |at, bytes| {
                    if matches!(at.owner, MemoryOwner::Block { index, .. } if index == block) {
                        self.note(at.address, bytes, OF_BLOCK, copy.issued.tick);
                    }
                });
            }
            Event::Mbarrier(MbarrierEvent { change: MbarrierChange::Initialized(_), block, address, point, .. })
                if self.space == Space::Shared && *block == self.thread.block =>
            {
                self.note(u64::from(*address), MBARRIER_BYTES, OF_BLOCK, point.tick);
            }
            Event::Access(_)
            | Event::Copy(_)
            | Event::Mbarrier(_)
            | Event::LocalStart(_)
            | Event::Sync(_)
            | Event::Collective(_)
            | Event::Wgmma(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        false
    }
}

/// The bytes of a watched object at an instruction, if they lie in local or shared memory there.
fn watched_bytes(target: &Target, pc: Pc) -> Option<Range<u64>> {
    match target {
        Target::Variable(variable) => {
            // Arguments are written by the call.
            let parts = variable.parts_at(pc).filter(|_| !variable.is_parameter)?;
            if let [part] = parts { in_local_memory(part) } else { None }
        }
        // The reserved part of shared memory is not a kernel's.
        Target::Memory(target)
            if target.space == Space::Local || target.space == Space::Shared && target.address >= map::SHARED_RESERVED =>
        {
            Some(target.address..target.address.checked_add(target.bytes)?)
        }
        Target::Memory(_) | Target::Register(_) => None,
    }
}

/// The bytes of a part of a variable that lies in local memory.
fn in_local_memory(part: &VariablePart) -> Option<Range<u64>> {
    match part.storage {
        PartStorage::Memory { space: Space::Local, address } => Some(address..address.checked_add(u64::from(part.bytes))?),
        PartStorage::Memory { .. } | PartStorage::Register { .. } | PartStorage::Known(_) | PartStorage::Removed => None,
    }
}

impl Session {
    /// Notes in an object of the source or an array which of its bytes the focused thread has not written, if it lies in a frame of its, or
    /// no thread, if it lies in shared memory.
    pub fn note_unwritten(&mut self, value: &mut Value, interrupt: &mut dyn InterruptCheck) {
        match value {
            Value::Source(value) => self.note_unwritten_in_lanes([(self.focus.lane, value)], interrupt),
            Value::Array(array) => {
                let bytes = array.elements.len() * array.ty.bytes() as usize;
                array.unwritten = self.unwritten_bytes((array.space, array.address), bytes, interrupt);
            }
            Value::Scalar(_) | Value::Lanes(_) | Value::Tensor(_) => {}
        }
    }

    /// For each of these bytes of memory, true if the focused thread, or no thread, has not written it; empty if all are written, or that
    /// is not known.
    fn unwritten_bytes(&mut self, place: (Space, u64), bytes: usize, interrupt: &mut dyn InterruptCheck) -> Vec<bool> {
        let bytes = vec![0; bytes];
        let mut value = SourceValue { ty: None, bytes, place: Some(place), count: None, stride: None, unwritten: Vec::new() };
        self.note_unwritten_in_lanes([(self.focus.lane, &mut value)], interrupt);
        value.unwritten
    }

    /// The same for objects of lanes of the focused warp.
    pub fn note_unwritten_in_lanes<'v>(
        &mut self,
        values: impl IntoIterator<Item = (u32, &'v mut SourceValue)>,
        interrupt: &mut dyn InterruptCheck,
    ) {
        let focus = self.focus;
        let mut objects: BTreeMap<Place, Vec<(usize, &mut SourceValue)>> = BTreeMap::new();
        for (lane, value) in values {
            self.focus = Focus { lane, ..focus };
            let place = value.place.and_then(|(space, address)| {
                self.place_in_block(space, address, value.span()).or_else(|| self.place_in_frame(space, address, value.span(), interrupt))
            });
            if let Some(place) = place {
                objects.entry(place).or_default().push((lane as usize % 32, value));
            }
        }
        self.focus = focus;
        let now = self.time();
        for (place, values) in objects {
            let lanes = values.iter().fold(LaneMask::NONE, |lanes, (lane, _)| lanes | LaneMask::of(*lane));
            let (lanes, thread, space) = match place.block {
                Some(block) => (LaneMask::of(OF_BLOCK), Focus { block, ..focus }, Space::Shared),
                None => (lanes, focus, Space::Local),
            };
            let memory = place.start..place.end;
            let is_enough = |found: &FirstWrites| found.are_all_written(now);
            if let Some(found) = self.first_writes((thread, lanes, space), memory.clone(), place.since..now, is_enough, interrupt) {
                let owner = |lane| if place.block.is_some() { OF_BLOCK } else { lane };
                values.into_iter().for_each(|(lane, value)| value.note_unwritten(&found.unwritten(memory.clone(), owner(lane), now)));
            }
        }
    }

    /// Notes which lanes have not written the number in local memory that an expression names over lanes.
    pub fn note_unwritten_numbers(&mut self, expression: &Expression, value: &mut Value, interrupt: &mut dyn InterruptCheck) {
        let Value::Lanes(lanes) = value else { return };
        let Some(mut numbers) = expression.numbers_over_lanes(&self.eval_context()) else { return };
        self.note_unwritten_in_lanes(numbers.objects(), interrupt);
        let unwritten = numbers.objects().filter(|(_, number)| !number.unwritten.is_empty());
        let unwritten = unwritten.fold(LaneMask::NONE, |all, (lane, _)| all | LaneMask::of(lane as usize % 32));
        lanes.undefined |= unwritten;
        // Where no lane has a value, there is none to show.
        if !(lanes.mask & !unwritten).is_empty() {
            lanes.mask &= !unwritten;
        }
    }

    /// The lane that owns a number in the local memory of a frame, if it has not written all of it; no lane for other memory.
    pub fn unwritten_lanes(&mut self, place: &MemoryTarget, interrupt: &mut dyn InterruptCheck) -> LaneMask {
        let is_number = place.field.is_some() || place.bytes == u64::from(place.ty.bytes());
        let lanes = match place.space {
            Space::Local => place.owner.lane_mask(),
            Space::Shared => self.focus.lane_mask(),
            Space::Generic | Space::Global | Space::Const | Space::SharedCluster | Space::Param | Space::ParamFunc => LaneMask::NONE,
        };
        if !is_number || lanes.is_empty() {
            return LaneMask::NONE;
        }
        let unwritten = self.unwritten_bytes((place.space, place.address), place.bytes as usize, interrupt);
        if unwritten.is_empty() { LaneMask::NONE } else { lanes }
    }

    /// The first reference that an expression follows though the focused thread has not set it, as in `h.r`.
    pub fn unset_reference(&mut self, expression: &Expression, interrupt: &mut dyn InterruptCheck) -> Option<String> {
        for FollowedReference { name, memory, bytes } in expression.references(&self.eval_context().with_names_as_in_source()) {
            if memory.is_some_and(|place| self.unwritten_bytes(place, bytes, interrupt).contains(&true)) {
                return Some(name);
            }
        }
        None
    }

    /// Notes in the accesses for which a run has stopped what of the watched objects was not written.
    pub(super) fn note_unwritten_of_causes(&mut self, causes: &mut [Cause], interrupt: &mut dyn InterruptCheck) {
        for cause in causes {
            if let Cause::Accessed(access) = cause
                && let Some(Ok(breakpoint)) = access.number.map(|number| self.breakpoints.get(number))
                && let Trigger::Watch(target, _) = &breakpoint.trigger
            {
                let target = target.clone();
                self.note_unwritten_of_accesses(&target, std::slice::from_mut(access), interrupt);
            }
        }
    }

    /// Notes in accesses to a variable in local memory, or to shared memory, in order of time, which of its bytes the thread, or any
    /// thread, had not written before and after.
    pub(super) fn note_unwritten_of_accesses(
        &mut self,
        target: &Target,
        accesses: &mut [WatchedAccess],
        interrupt: &mut dyn InterruptCheck,
    ) {
        let Some(first) = accesses.iter().position(|access| watched_bytes(target, access.pc).is_some()) else { return };
        let accesses = &mut accesses[first..];
        let (Some(first), Some(last)) = (accesses.first(), accesses.last()) else { return };
        let (Some(memory), begin, until) = (watched_bytes(target, first.pc), first.time, last.time + 1) else { return };
        let (of, since) = match target {
            Target::Variable(target) => {
                let thread = Focus { block: target.block, warp: target.warp, lane: 0, frame: 0 };
                ((thread, target.lanes, Space::Local), target.since)
            }
            Target::Memory(MemoryTarget { space: Space::Local, owner, address, bytes, .. }) => {
                let thread = |focus: &Focus| (focus.block, focus.warp, focus.lane);
                if thread(owner) != thread(&self.focus) || self.bytes_in_frame(Space::Local, *address, *bytes).is_none() {
                    return;
                }
                ((*owner, owner.lane_mask(), Space::Local), Tick::START)
            }
            Target::Memory(target) => ((target.owner, LaneMask::of(OF_BLOCK), Space::Shared), Tick::START),
            Target::Register(_) => return,
        };
        let is_enough = |found: &FirstWrites| found.are_all_written(begin);
        // The watchpoint may have been set in an earlier launch.
        let since = since.max(self.machine().start());
        let Some(found) = self.first_writes(of, memory.clone(), since..until, is_enough, interrupt) else { return };
        for access in accesses {
            let lane = if of.2 == Space::Shared { OF_BLOCK } else { access.by.lane as usize % 32 };
            let of_time = |time: Tick| found.unwritten(memory.clone(), lane, time);
            if watched_bytes(target, access.pc).as_ref() == Some(&memory) {
                access.unwritten = Unwritten { before: of_time(access.time), after: of_time(access.time + 1) };
            }
        }
    }

    /// What the lanes of a variable have written of the local memory that it lies in, up to now; none if it lies in none.
    pub(super) fn written_of(&mut self, target: &VariableTarget, interrupt: &mut dyn InterruptCheck) -> Option<Assigned> {
        let memory = target.parts().find_map(in_local_memory)?;
        let (now, since) = (self.time(), target.since.max(self.machine().start()));
        let thread = Focus { block: target.block, warp: target.warp, lane: 0, frame: 0 };
        let is_enough = |found: &FirstWrites| found.are_all_written(now);
        let found = self.first_writes((thread, target.lanes, Space::Local), memory, since..now, is_enough, interrupt)?;
        Some(Assigned::of_memory(found.ticks.into_iter().filter(|(_, tick)| *tick < now).map(|(byte, _)| byte).collect()))
    }

    /// When lanes of the warp of a thread have written these bytes of their local memory first, or any thread those of the block, of the
    /// writes at these ticks; the latest are looked at first, until they are enough. None if the user interrupts, or the bytes are too
    /// many.
    fn first_writes(
        &mut self,
        (thread, lanes, space): (Focus, LaneMask, Space),
        memory: Range<u64>,
        ticks: Range<Tick>,
        is_enough: impl Fn(&FirstWrites) -> bool,
        interrupt: &mut dyn InterruptCheck,
    ) -> Option<FirstWrites> {
        let (now, focus) = (self.time(), self.focus);
        let of_lanes = |bytes: u64| bytes.saturating_mul(u64::from(lanes.count()));
        let bytes = memory.end.checked_sub(memory.start).filter(|bytes| *bytes <= BYTES_MAX && of_lanes(*bytes) <= BYTES_OF_LANES_MAX)?;
        let mut found = FirstWrites { space, thread, lanes, memory: memory.clone(), ticks: BTreeMap::new() };
        self.note_edits(&mut found, &ticks);
        let (mut end, mut interrupted) = (ticks.end, false);
        while let Some(begin) = self.interval_before(end).filter(|_| end > ticks.start && !interrupted && !is_enough(&found)) {
            let owner = (thread.block, thread.warp);
            let is_unchanged = |earlier: &Machine, later: &Machine| earlier.is_memory_unchanged(later, space, owner, memory.start, bytes);
            if !self.timeline.compare(begin, end, is_unchanged).unwrap_or(begin == end) {
                self.return_to(begin.max(ticks.start));
                interrupted = self.replay(end, &mut found, interrupt, |_, _| false).is_err();
            }
            end = begin;
        }
        self.return_to(now);
        self.focus = focus;
        if interrupted { None } else { Some(found) }
    }

    /// For each of these bytes, true if the focused thread has not written it since the kernel began, or no thread of its block, for a
    /// pane, which leaves the session as it is; empty if all are written, they do not lie in the kernel's frame or in shared memory, or
    /// a short part of the run does not say it.
    pub fn unwritten_in_kernel(&self, (space, address): (Space, u64), bytes: usize) -> Vec<bool> {
        let kernel = &self.program().functions[self.machine().config().kernel.index()].code;
        let (memory, block) = match self.place_in_block(space, address, bytes as u64) {
            Some(place) => (place.start..place.end, place.block),
            None => match self.bytes_in_frame(space, address, bytes as u64) {
                Some((memory, 0, code)) if code == *kernel => (memory, None),
                Some(_) | None => return Vec::new(),
            },
        };
        if memory.end - memory.start > BYTES_MAX {
            return Vec::new();
        }
        let (now, start) = (self.time(), self.machine().start());
        let (space, lane) = if block.is_some() { (Space::Shared, OF_BLOCK) } else { (Space::Local, self.focus.lane as usize % 32) };
        let (thread, lanes) = (Focus { block: block.unwrap_or(self.focus.block), ..self.focus }, LaneMask::of(lane));
        let mut found = FirstWrites { space, thread, lanes, memory: memory.clone(), ticks: BTreeMap::new() };
        self.note_edits(&mut found, &(start..now));
        let mut end = now;
        while let Some(begin) = self.interval_before(end).filter(|_| end > start && !found.are_all_written(now)) {
            if now - begin > PANE_TICKS_MAX {
                return Vec::new();
            }
            self.timeline.replay(begin.max(start), end, &mut found);
            end = begin;
        }
        found.unwritten(memory, lane, now)
    }

    /// Notes what the user has written at these ticks, before the instruction at each.
    fn note_edits(&self, found: &mut FirstWrites, ticks: &Range<Tick>) {
        let inputs = self.timeline.inputs().iter().filter(|(time, _)| ticks.start <= *time && *time <= ticks.end);
        for (time, input) in inputs {
            let Input::Edits(edits) = input else { continue };
            for edit in edits {
                let Edit::Memory { space, owner, address, bytes } = edit else { continue };
                let is_block = *space == found.space && owner.block == found.thread.block;
                let lane = owner.lane as usize % 32;
                let is_lane = owner.warp == found.thread.warp && found.lanes.contains(lane);
                if is_block && (*space == Space::Shared || is_lane) {
                    let owner = if *space == Space::Shared { OF_BLOCK } else { lane };
                    found.note(*address, bytes.len() as u64, owner, Tick(time.0.saturating_sub(1)));
                }
            }
        }
    }

    /// The place of these bytes, if they lie in the shared memory of a block.
    fn place_in_block(&self, space: Space, address: u64, bytes: u64) -> Option<Place> {
        let found = memory::locate(&self.eval_context(), space, address, bytes).ok().filter(|found| found.space == Space::Shared)?;
        let end = found.address.checked_add(bytes)?;
        // The reserved part is not a kernel's.
        let is_own = found.address >= map::SHARED_RESERVED;
        is_own.then(|| Place { block: Some(found.owner.block), start: found.address, end, since: self.machine().start() })
    }

    /// The place of these bytes, if they lie in the local memory of a frame of the focused thread.
    fn place_in_frame(&mut self, space: Space, address: u64, bytes: u64, interrupt: &mut dyn InterruptCheck) -> Option<Place> {
        let (memory, depth, code) = self.bytes_in_frame(space, address, bytes)?;
        let thread = Focus { frame: 0, ..self.focus };
        Some(Place { block: None, start: memory.start, end: memory.end, since: self.frame_start(thread, depth, &code, interrupt) })
    }

    /// These bytes in local memory, if they lie in that of a frame of the focused thread, with the calls around the frame and its code.
    fn bytes_in_frame(&self, space: Space, address: u64, bytes: u64) -> Option<(Range<u64>, u32, Range<u32>)> {
        let context = self.eval_context();
        let found = memory::locate(&context, space, address, bytes).ok().filter(|found| found.space == Space::Local)?;
        let end = found.address.checked_add(bytes)?;
        let frames = context.frames().ok()?;
        frames.iter().find_map(|frame| {
            let function = context.function(frame);
            let base = u64::from(frame.base.local);
            let is_own = found.address >= base && end <= base + u64::from(function.frame_bytes);
            // Arguments are written by the call.
            let is_param = |param: &Param| match param.storage {
                ParamStorage::Frame(offset) => {
                    let start = base + u64::from(offset);
                    found.address < start + u64::from(param.bytes) && start < end
                }
                ParamStorage::Register(..) | ParamStorage::Kernel(_) => false,
            };
            // What is passed to a call and returned by it is no variable.
            let is_of_call = |variable: &Variable| {
                let start = base + variable.location.address;
                variable.location.space == Space::ParamFunc && found.address < start + variable.bytes && start < end
            };
            let mut own = context.program().variables_of(frame.function);
            let is_own = is_own && !function.params.iter().any(is_param) && !own.any(is_of_call);
            is_own.then(|| (found.address..end, frame.depth, function.code.clone()))
        })
    }
}
