//! The bytes of variables in local memory that a thread has not written since the frame began: they read as zero, or as what an earlier
//! call left there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cause::Cause;
use super::variable::Assigned;
use crate::debug::breakpoints::Trigger;
use crate::debug::expression::Expression;
use crate::debug::focus::Focus;
use crate::debug::memory;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::{MemoryTarget, PartStorage, Target, VariablePart, VariableTarget};
use crate::debug::value::{SourceValue, Value};
use crate::debug::watched_access::{Unwritten, WatchedAccess};
use crate::isa::Space;
use crate::machine::{AccessKind, Event, EventKind, EventMask, LaneMask, Machine, Observer, Tick};
use crate::program::{Param, ParamStorage, Variable};

/// Most bytes that are looked at.
const BYTES_MAX: u64 = 1 << 12;
/// Most ticks that are executed again for a pane.
const PANE_TICKS_MAX: u64 = 1 << 17;

/// Bytes in the local memory of a frame, by their addresses, and the tick at which the frame began.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    start: u64,
    end: u64,
    since: Tick,
}

/// Keeps when lanes of a warp have written bytes of their local memory first.
struct FirstWrites {
    /// Any thread of the warp.
    thread: Focus,
    lanes: LaneMask,
    memory: Range<u64>,
    /// The ticks, by address and lane.
    ticks: BTreeMap<(u64, usize), Tick>,
}

impl FirstWrites {
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
        EventMask::of(&[EventKind::Access])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let Event::Access(access) = event
            && access.kind != AccessKind::Read
            && access.space == Space::Local
            && (access.point.block, access.point.warp.number()) == (self.thread.block, self.thread.warp)
        {
            for lane in (access.lanes & self.lanes).iter() {
                let first = access.addresses[lane];
                let end = first.saturating_add(access.bytes.into()).min(self.memory.end);
                for address in first.max(self.memory.start)..end {
                    let tick = self.ticks.entry((address, lane)).or_insert(access.point.tick);
                    *tick = (*tick).min(access.point.tick);
                }
            }
        }
        false
    }
}

impl Session {
    /// Notes in an object of the source which of its bytes the focused thread has not written, if it lies in a frame of its.
    pub fn note_unwritten(&mut self, value: &mut Value, interrupt: &mut dyn InterruptCheck) {
        if let Value::Source(value) = value {
            self.note_unwritten_in_lanes([(self.focus.lane, value)], interrupt);
        }
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
            let place = value.place.and_then(|(space, address)| self.place_in_frame(space, address, value.span(), interrupt));
            if let Some(place) = place {
                objects.entry(place).or_default().push((lane as usize % 32, value));
            }
        }
        self.focus = focus;
        let now = self.time();
        for (place, values) in objects {
            let lanes = values.iter().fold(LaneMask::NONE, |lanes, (lane, _)| lanes | LaneMask::of(*lane));
            let memory = place.start..place.end;
            let is_enough = |found: &FirstWrites| found.are_all_written(now);
            if let Some(found) = self.first_writes((focus, lanes), memory.clone(), place.since..now, is_enough, interrupt) {
                values.into_iter().for_each(|(lane, value)| value.note_unwritten(&found.unwritten(memory.clone(), lane, now)));
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
        let is_number = (place.field.is_some() || place.bytes == u64::from(place.ty.bytes())) && place.space == Space::Local;
        if !is_number {
            return LaneMask::NONE;
        }
        let bytes = vec![0; place.bytes as usize];
        let mut value =
            SourceValue { ty: None, bytes, place: Some((place.space, place.address)), count: None, stride: None, unwritten: Vec::new() };
        self.note_unwritten_in_lanes([(self.focus.lane, &mut value)], interrupt);
        if value.unwritten.is_empty() { LaneMask::NONE } else { place.owner.lane_mask() }
    }

    /// Notes in the accesses for which a run has stopped what of the watched variables was not written.
    pub(super) fn note_unwritten_of_causes(&mut self, causes: &mut [Cause], interrupt: &mut dyn InterruptCheck) {
        for cause in causes {
            if let Cause::Accessed(access) = cause
                && let Some(Ok(breakpoint)) = access.number.map(|number| self.breakpoints.get(number))
                && let Trigger::Watch(Target::Variable(target), _) = &breakpoint.trigger
            {
                let target = target.clone();
                self.note_unwritten_of_accesses(&target, std::slice::from_mut(access), interrupt);
            }
        }
    }

    /// Notes in accesses to a variable, in order of time, which of its bytes the thread had not written before and after.
    pub(super) fn note_unwritten_of_accesses(
        &mut self,
        target: &VariableTarget,
        accesses: &mut [WatchedAccess],
        interrupt: &mut dyn InterruptCheck,
    ) {
        let in_local_memory = |access: &WatchedAccess| {
            // Arguments are written by the call.
            let parts = target.parts_at(access.pc).filter(|_| !target.is_parameter)?;
            let [part] = parts else { return None };
            match part.storage {
                PartStorage::Memory { space: Space::Local, address } => Some(address..address.checked_add(u64::from(part.bytes))?),
                PartStorage::Memory { .. } | PartStorage::Register { .. } | PartStorage::Known(_) | PartStorage::Removed => None,
            }
        };
        let Some(first) = accesses.iter().position(|access| in_local_memory(access).is_some()) else { return };
        let accesses = &mut accesses[first..];
        let (Some(first), Some(last)) = (accesses.first(), accesses.last()) else { return };
        let (Some(memory), begin, until) = (in_local_memory(first), first.time, last.time + 1) else { return };
        let thread = Focus { block: target.block, warp: target.warp, lane: 0, frame: 0 };
        let is_enough = |found: &FirstWrites| found.are_all_written(begin);
        // The watchpoint may have been set in an earlier launch.
        let since = target.since.max(self.machine().start());
        let found = self.first_writes((thread, target.lanes), memory.clone(), since..until, is_enough, interrupt);
        let Some(found) = found else { return };
        for access in accesses {
            let lane = access.by.lane as usize % 32;
            let of_time = |time: Tick| found.unwritten(memory.clone(), lane, time);
            if in_local_memory(access).as_ref() == Some(&memory) {
                access.unwritten = Unwritten { before: of_time(access.time), after: of_time(access.time + 1) };
            }
        }
    }

    /// What the lanes of a variable have written of the local memory that it lies in, up to now; none if it lies in none.
    pub(super) fn written_of(&mut self, target: &VariableTarget, interrupt: &mut dyn InterruptCheck) -> Option<Assigned> {
        let local = |part: &VariablePart| match part.storage {
            PartStorage::Memory { space: Space::Local, address } => Some(address..address.checked_add(u64::from(part.bytes))?),
            PartStorage::Memory { .. } | PartStorage::Register { .. } | PartStorage::Known(_) | PartStorage::Removed => None,
        };
        let memory = target.parts().find_map(local)?;
        let (now, since) = (self.time(), target.since.max(self.machine().start()));
        let thread = Focus { block: target.block, warp: target.warp, lane: 0, frame: 0 };
        let is_enough = |found: &FirstWrites| found.are_all_written(now);
        let found = self.first_writes((thread, target.lanes), memory, since..now, is_enough, interrupt)?;
        Some(Assigned::of_memory(found.ticks.into_iter().filter(|(_, tick)| *tick < now).map(|(byte, _)| byte).collect()))
    }

    /// When lanes of the warp of a thread have written these bytes of their local memory first, of the writes at these ticks; the latest
    /// are looked at first, until they are enough. None if the user interrupts, or the bytes are too many.
    fn first_writes(
        &mut self,
        (thread, lanes): (Focus, LaneMask),
        memory: Range<u64>,
        ticks: Range<Tick>,
        is_enough: impl Fn(&FirstWrites) -> bool,
        interrupt: &mut dyn InterruptCheck,
    ) -> Option<FirstWrites> {
        let (now, focus) = (self.time(), self.focus);
        let bytes = memory.end.checked_sub(memory.start).filter(|bytes| *bytes <= BYTES_MAX)?;
        let mut found = FirstWrites { thread, lanes, memory: memory.clone(), ticks: BTreeMap::new() };
        let (mut end, mut interrupted) = (ticks.end, false);
        while let Some(begin) = self.interval_before(end).filter(|_| end > ticks.start && !interrupted && !is_enough(&found)) {
            let owner = (thread.block, thread.warp);
            let is_unchanged =
                |earlier: &Machine, later: &Machine| earlier.is_memory_unchanged(later, Space::Local, owner, memory.start, bytes);
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

    /// For each of these bytes, true if the focused thread has not written it since the kernel began, for a pane, which leaves the session
    /// as it is; empty if it has written all, they do not lie in the kernel's frame, or a short part of the run does not say it.
    pub fn unwritten_in_kernel(&self, (space, address): (Space, u64), bytes: usize) -> Vec<bool> {
        let kernel = &self.program().functions[self.machine().config().kernel.index()].code;
        let place = self
            .bytes_in_frame(space, address, bytes as u64)
            .filter(|(memory, depth, code)| *depth == 0 && code == kernel && memory.end - memory.start <= BYTES_MAX);
        let Some((memory, ..)) = place else { return Vec::new() };
        let (now, start, lane) = (self.time(), self.machine().start(), self.focus.lane as usize % 32);
        let lanes = LaneMask::of(lane);
        let mut found = FirstWrites { thread: self.focus, lanes, memory: memory.clone(), ticks: BTreeMap::new() };
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

    /// The place of these bytes, if they lie in the local memory of a frame of the focused thread.
    fn place_in_frame(&mut self, space: Space, address: u64, bytes: u64, interrupt: &mut dyn InterruptCheck) -> Option<Place> {
        let (memory, depth, code) = self.bytes_in_frame(space, address, bytes)?;
        let thread = Focus { frame: 0, ..self.focus };
        Some(Place { start: memory.start, end: memory.end, since: self.frame_start(thread, depth, &code, interrupt) })
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
            let mut own = context.program().variables.iter().filter(|variable| variable.function == Some(frame.function));
            let is_own = is_own && !function.params.iter().any(is_param) && !own.any(is_of_call);
            is_own.then(|| (found.address..end, frame.depth, function.code.clone()))
        })
    }
}
