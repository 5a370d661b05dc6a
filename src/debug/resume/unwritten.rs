//! The bytes of variables in local memory that a thread has not written since the frame began: they read as zero, or as what an earlier
//! call left there.

use crate::debug::focus::Focus;
use crate::debug::last_writes::LastWrites;
use crate::debug::memory;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::MemoryTarget;
use crate::debug::value::{SourceValue, Value};
use crate::isa::Space;
use crate::machine::{LaneMask, Machine, Tick};
use crate::program::{Param, ParamStorage};

/// Most bytes that are looked at.
const BYTES_MAX: usize = 1 << 12;

impl Session {
    /// Notes in an object of the source which of its bytes the focused thread has not written, if it lies in the selected frame.
    pub fn note_unwritten(&mut self, value: &mut Value, interrupt: &mut dyn InterruptCheck) {
        if let Value::Source(SourceValue { bytes, place: Some((space, address)), unwritten, .. }) = value {
            *unwritten = self.unwritten(*space, *address, bytes.len(), interrupt);
        }
    }

    /// The lane that owns a number in the local memory of the selected frame, if it has not written all of it; no lane for other memory.
    pub fn unwritten_lanes(&mut self, place: &MemoryTarget, interrupt: &mut dyn InterruptCheck) -> LaneMask {
        let is_number = place.bytes == u64::from(place.ty.bytes()) && place.space == Space::Local;
        let is_unwritten = is_number && !self.unwritten(place.space, place.address, place.bytes as usize, interrupt).is_empty();
        if is_unwritten { place.owner.lane_mask() } else { LaneMask::NONE }
    }

    /// For each of these bytes, true if the focused thread has not written it since the selected frame began; empty if they do not lie in
    /// the local memory of that frame, or all have been written.
    pub fn unwritten(&mut self, space: Space, address: u64, bytes: usize, interrupt: &mut dyn InterruptCheck) -> Vec<bool> {
        if bytes > BYTES_MAX {
            return Vec::new();
        }
        let Some((start, since)) = self.place_in_frame(space, address, bytes as u64, interrupt) else { return Vec::new() };
        let (now, focus) = (self.time(), self.focus);
        let mut unwritten = vec![true; bytes];
        let mut end = now;
        while let Some(begin) = self.interval_before(end).filter(|_| end > since && unwritten.contains(&true)) {
            let owner = (focus.block, focus.warp);
            let is_unchanged =
                |earlier: &Machine, later: &Machine| earlier.is_memory_unchanged(later, Space::Local, owner, start, bytes as u64);
            if !self.timeline.compare(begin, end, is_unchanged).unwrap_or(begin == end) {
                let mut observer = LastWrites::of(Space::Local, focus, (0..bytes as u64).map(|at| (start + at, 1)));
                self.return_to(begin.max(since));
                if self.replay(end, &mut observer, interrupt, |_, _| false).is_err() {
                    unwritten.clear();
                    break;
                }
                let lane = LaneMask::of(focus.lane as usize % 32);
                for (byte, write) in unwritten.iter_mut().zip(&observer.writes) {
                    *byte &= write.is_none_or(|write| !write.lanes.intersects(lane));
                }
            }
            end = begin;
        }
        self.return_to(now);
        self.focus = focus;
        if unwritten.contains(&true) { unwritten } else { Vec::new() }
    }

    /// The address in local memory of these bytes, if they lie in the selected frame, and the tick at which that began.
    fn place_in_frame(&mut self, space: Space, address: u64, bytes: u64, interrupt: &mut dyn InterruptCheck) -> Option<(u64, Tick)> {
        let context = self.eval_context();
        let frame = context.frame().ok()?;
        let found = memory::locate(&context, space, address, bytes).ok().filter(|found| found.space == Space::Local)?;
        let function = context.function(&frame);
        let base = u64::from(frame.base.local);
        let is_own = found.address >= base && found.address.checked_add(bytes)? <= base + u64::from(function.frame_bytes);
        // Arguments are written by the call.
        let is_param = |param: &Param| match param.storage {
            ParamStorage::Frame(offset) => {
                let start = base + u64::from(offset);
                found.address < start + u64::from(param.bytes) && start < found.address.saturating_add(bytes)
            }
            ParamStorage::Register(..) | ParamStorage::Kernel(_) => false,
        };
        let is_own = is_own && !function.params.iter().any(is_param);
        let (depth, code) = (frame.depth, function.code.clone());
        let thread = Focus { frame: 0, ..self.focus };
        if is_own { Some((found.address, self.frame_start(thread, depth, &code, interrupt))) } else { None }
    }
}
