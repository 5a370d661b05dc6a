//! The stores of a run, an element each, as they happen.

use std::cell::Cell;

use super::regions::{Region, Regions, RelativeAddress};
use super::side::Pairing;
use crate::isa::Space;
use crate::machine::{AccessEvent, AccessKind, CopyEvent, CopyStage, Event, EventKind, EventMask, IssuePoint, MemoryOwner, Observer};

/// A thread of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// The launch.
    pub launch: u32,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u8,
}

/// A store of one element.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    pub thread: Thread,
    pub point: IssuePoint,
    pub at: RelativeAddress,
    /// Bytes of the element.
    pub bytes: u32,
    /// Its bits; of a copy a digest of what it reads. None where they are not known before it happens: of an atomic, of a surface, and
    /// of the shared memory of another block.
    pub value: Option<u64>,
    /// True if it is a copy.
    pub is_copy: bool,
}

impl Store {
    /// True if both store the same to the same address.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.at, self.bytes, self.value) == (other.at, other.bytes, other.value)
    }
}

/// Observes the stores of one launch.
pub struct StoreObserver<'a> {
    launch: u32,
    regions: Regions,
    /// True if those to shared memory count.
    with_shared: bool,
    /// True if buffers have the same addresses in both runs.
    has_same_addresses: bool,
    /// Set when the callback has returned true.
    stopped: &'a Cell<bool>,
    each: &'a mut dyn FnMut(&Store) -> bool,
}

impl<'a> StoreObserver<'a> {
    pub fn new(
        launch: usize,
        regions: Regions,
        (pairing, has_same_addresses): (Pairing, bool),
        stopped: &'a Cell<bool>,
        each: &'a mut dyn FnMut(&Store) -> bool,
    ) -> Self {
        let with_shared = pairing == Pairing::InProgramOrder;
        Self { launch: u32::try_from(launch).unwrap_or(u32::MAX), regions, with_shared, has_same_addresses, stopped, each }
    }

    fn emit(&mut self, store: &Store) {
        if !self.stopped.get() && (self.each)(store) {
            self.stopped.set(true);
        }
    }

    fn access(&mut self, access: &AccessEvent<'_>) {
        for lane in access.lanes.iter() {
            let address = access.addresses[lane];
            let at = match access.space {
                Space::Global => self.regions.global(address),
                Space::Shared | Space::SharedCluster if self.with_shared => {
                    RelativeAddress { region: Region::Shared(access.owner.1), offset: address }
                }
                _ => return,
            };
            let point = access.point;
            let thread = Thread { launch: self.launch, block: point.block, warp: point.warp.number(), lane: lane as u8 };
            let store = Store { thread, point, at, bytes: access.bytes, value: None, is_copy: false };
            let Some(data) = access.store.filter(|_| access.kind == AccessKind::Write) else {
                self.emit(&store);
                continue;
            };
            let mask = u64::MAX >> (64 - 8 * data.element_bytes.clamp(1, 8));
            for (index, element) in (0..).zip(data.elements) {
                let at = RelativeAddress { offset: at.offset + index * u64::from(data.element_bytes), ..at };
                self.emit(&Store { at, bytes: data.element_bytes, value: Some(element[lane] & mask), ..store });
            }
        }
    }

    /// A copy to global memory counts where it is issued: when it ends is left to the order.
    fn copy(&mut self, event: &CopyEvent<'_>) {
        let (mut first, mut bytes) = (None, 0_u64);
        event.copy.kind.visit_writes(event.lanes, |to, count| {
            if to.owner == MemoryOwner::Global {
                first.get_or_insert(to.address);
                bytes += count;
            }
        });
        let (Some(address), point) = (first, event.copy.issued) else { return };
        let lane = event.lanes.first() as u8;
        let thread = Thread { launch: self.launch, block: point.block, warp: point.warp.number(), lane };
        let (at, bytes) = (self.regions.global(address), u32::try_from(bytes).unwrap_or(u32::MAX));
        // The digest has absolute addresses.
        let value = event.replaces.filter(|_| self.has_same_addresses);
        self.emit(&Store { thread, point, at, bytes, value, is_copy: true });
    }
}

impl Observer for StoreObserver<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) if access.kind != AccessKind::Read => self.access(access),
            Event::Copy(event) if event.stage == CopyStage::Issued => self.copy(event),
            _ => {}
        }
        self.stopped.get()
    }
}
