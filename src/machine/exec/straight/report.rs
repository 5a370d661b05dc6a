//! The events of the accesses of a stretch.

use super::access::Found;
use super::pattern::Pattern;
use crate::isa::{Ordering, Space};
use crate::machine::event::{AccessEvent, AccessKind, Event, Observer, PlainRead, Proxy, StoreData};
use crate::machine::event_kind::{EventMask, Issues};
use crate::machine::state::issue_point::{BlockId, IssuePoint};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::program::Access;

/// The observer of a stretch that receives its accesses, and what is the same in all events.
pub(super) struct Report<'a> {
    pub simd: pulp::Arch,
    /// True if the observer is asked to take note of plain reads.
    pub takes_notes: bool,
    pub observer: &'a mut dyn Observer,
    /// The kinds of events that it receives.
    pub mask: EventMask,
    /// The instructions of the warp that are reported to it.
    pub issues: &'a mut Issues,
    /// True if they have become all.
    pub widened: bool,
    /// True if it asks for a pause.
    pub paused: bool,
    /// True if it receives accesses to shared memory as well.
    pub shared: bool,
    /// True if it receives loads of the parameters of the kernel as well.
    pub params: bool,
    pub block_id: BlockId,
    /// The rank of the block in its cluster.
    pub rank: u32,
    /// The lanes that run in lockstep.
    pub lockstep: LaneMask,
    /// Calls in progress.
    pub depth: u32,
}

/// An access of a stretch.
pub(super) struct Reported<'a> {
    /// The instruction, at its tick.
    pub point: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// Bytes of a lane.
    pub bytes: u32,
    /// As the program has them.
    pub semantics: Access,
    pub pattern: &'a Pattern,
}

/// The address of each lane of a pattern whose lowest one this is.
struct Addresses<'a> {
    low: u64,
    pattern: &'a Pattern,
}

impl pulp::WithSimd for Addresses<'_> {
    type Output = PerLane<u64>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> PerLane<u64> {
        let mut addresses = [self.low; LANES];
        for lane in 0..LANES {
            addresses[lane] += u64::from(self.pattern.deltas[lane]);
        }
        addresses
    }
}

impl Report<'_> {
    /// True if accesses to this memory are reported.
    #[inline(always)]
    pub fn wants(&self, found: &Found<'_>) -> bool {
        (self.shared || found.space != Space::Shared) && (self.params || found.space != Space::Param)
    }

    /// Reports a load.
    #[inline(never)]
    pub fn load(&mut self, reported: &Reported<'_>, found: &Found<'_>) {
        let proxy = if reported.semantics.non_coherent { Proxy::ReadOnly } else { Proxy::Generic };
        if self.is_noted(reported, found, proxy) {
            return;
        }
        self.emit(reported, found, (AccessKind::Read, proxy), None);
        self.update_mask(&reported.point);
    }

    /// Reports an atomic operation that is about to happen.
    #[inline(never)]
    pub fn atomic(&mut self, reported: &Reported<'_>, found: &Found<'_>) {
        self.emit(reported, found, (AccessKind::Atomic, Proxy::Generic), None);
        self.update_mask(&reported.point);
    }

    /// Asks the observer again what it receives.
    fn update_mask(&mut self, point: &IssuePoint) {
        self.widened |= self.observer.widen(self.issues, (point.block, point.warp));
        self.mask = self.issues.of(self.observer.mask());
    }

    /// True if the observer takes note of a load without an event.
    #[inline(always)]
    fn is_noted(&mut self, reported: &Reported<'_>, found: &Found<'_>, proxy: Proxy) -> bool {
        let Reported { point, lanes, bytes, semantics, pattern } = reported;
        let is_plain = semantics.ordering == Ordering::Weak;
        if !self.takes_notes || !is_plain || !matches!((found.space, proxy), (Space::Global, _) | (Space::Shared, Proxy::Generic)) {
            return false;
        }
        self.observer.plain_read(&PlainRead {
            point,
            block_id: self.block_id,
            lanes: *lanes,
            lockstep: self.lockstep,
            space: found.space,
            proxy,
            low: found.low,
            span: u64::from(pattern.span) + u64::from(*bytes),
            bytes: *bytes,
            deltas: &pattern.deltas,
            shape: &pattern.shape,
        })
    }

    /// Reports a store of elements of `element_bytes` that is about to happen.
    #[inline(never)]
    pub fn store(&mut self, reported: &Reported<'_>, found: &Found<'_>, element_bytes: u32, elements: &[PerLane<u64>]) {
        let data = found.pages.map(|(pages, start)| StoreData { elements, element_bytes, pages, origin: found.low - start });
        self.emit(reported, found, (AccessKind::Write, Proxy::Generic), data);
    }

    fn emit(&mut self, reported: &Reported<'_>, found: &Found<'_>, (kind, proxy): (AccessKind, Proxy), store: Option<StoreData<'_>>) {
        let Reported { point, lanes, bytes, semantics, pattern } = *reported;
        let addresses = self.simd.dispatch(Addresses { low: found.low, pattern });
        self.paused |= self.observer.event(&Event::Access(AccessEvent {
            point,
            block_id: self.block_id,
            lanes,
            lockstep: self.lockstep,
            kind,
            semantics,
            proxy,
            space: found.space,
            owner: (self.block_id.block_slot, self.rank),
            addresses: &addresses,
            shape: Some(&pattern.shape).filter(|_| lanes == LaneMask::ALL),
            min: found.low,
            max: found.low + u64::from(pattern.span),
            bytes,
            depth: self.depth,
            store,
        }));
    }
}
