//! Texture and surface instructions (PTX ISA, "Texture Instructions", "Surface Instructions"). Lanes execute one by one, lowest first.

mod lookup;
mod query;
mod surface;

use smallvec::SmallVec;

use crate::isa::{ImageKind, ScalarType, Space};
use crate::machine::event::{AccessEvent, AccessKind, Event};
use crate::machine::event_kind::EventKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::{HandleSource, ImageAccess, ImageFn, ImageId, find};

/// Results, one for each destination.
type Results = SmallVec<[PerLane<u64>; 4]>;

/// The layer, coordinates and offsets of one lane.
type CoordinateWords = SmallVec<[u32; 8]>;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a texture or surface instruction.
    pub(super) fn image(&mut self, id: ImageId, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        let access = &program.images[id];
        match access.f {
            ImageFn::Sample { to, float } => self.texture(access, float, None, to, group, active)?,
            ImageFn::Gather { component } => self.texture(access, true, Some(component), ScalarType::U32, group, active)?,
            ImageFn::Query(query, kind) => self.query(access, query, kind, group, active)?,
            ImageFn::IsHandle(kind) => self.is_handle(access, kind, group, active),
            ImageFn::Load(..) | ImageFn::Store(..) | ImageFn::StoreFormatted(_) | ImageFn::Reduce { .. } => {
                self.surface(access, group, active)?;
            }
        }
        Ok(Flow::Next)
    }

    /// The index in the launch of the image of each lane's handle, which must be of this kind.
    fn images(
        &mut self,
        handle: HandleSource,
        kind: ImageKind,
        group: &Group,
        active: LaneMask,
    ) -> Result<PerLane<Option<usize>>, Box<Trap>> {
        let handles = self.handles(handle, group, active);
        let mut found = [None; 32];
        let images = &self.prepared.config.images;
        for lane in active.iter() {
            let index = images.binary_search_by_key(&handles[lane], |image| image.handle).ok();
            found[lane] = index.filter(|index| images[*index].kind() == kind);
            if found[lane].is_none() {
                return Err(self.wrong_handle(handles, kind, active));
            }
        }
        Ok(found)
    }

    fn handles(&mut self, handle: HandleSource, group: &Group, active: LaneMask) -> PerLane<u64> {
        match handle {
            HandleSource::Value(source) => *self.lanes(group, active).get64(source),
            HandleSource::Param(offset) => {
                let params = self.prepared.config.params.get(offset as usize..).and_then(|rest| rest.first_chunk());
                [params.map_or(0, |bytes| u64::from_le_bytes(*bytes)); 32]
            }
        }
    }

    fn wrong_handle(&self, handles: PerLane<u64>, kind: ImageKind, active: LaneMask) -> Box<Trap> {
        let images = &self.prepared.config.images;
        let wrong = |lane: usize| find(images, handles[lane]).is_none_or(|image| image.kind() != kind);
        let lanes: LaneMask = active.filter(wrong);
        let handle = handles[lanes.first()];
        let what = match find(images, handle) {
            Some(image) => format!("it is that of the {} '{}'", image.kind().noun(), image.name),
            None => {
                let entry = match kind {
                    ImageKind::Texture => "Texture(..)",
                    ImageKind::Surface => "Surface(..)",
                    ImageKind::Sampler => "Sampler(..)",
                };
                format!("this launch has none with it; a launch file makes one where it says {entry} for its bytes (ptxdbg-launch(5))")
            }
        };
        self.trap(TrapKind::Handle, lanes, &format!("{handle:#x} is not the handle of a {}: {what}", kind.noun()))
    }

    /// The layer, coordinates and offsets of one lane.
    fn coordinates_of(&mut self, access: &ImageAccess, lane: usize, group: &Group) -> CoordinateWords {
        let lanes = self.lanes(group, LaneMask::of(lane));
        access.coordinates.iter().map(|source| lanes.get32(*source)[lane]).collect()
    }

    fn put_results(&mut self, access: &ImageAccess, results: &[PerLane<u64>], group: &Group, active: LaneMask) {
        let mut lanes = self.lanes(group, active);
        for (d, values) in access.dests.iter().zip(results) {
            if access.wide { lanes.put64(*d, values) } else { lanes.put32(*d, &values.map(|value| value as u32)) }
        }
    }

    /// The fault of a lane that reads a texel with an unknown byte at `address`.
    fn unknown_texel(&self, address: u64, lane: usize, group: &Group) -> Box<Trap> {
        self.byte_fault("a texel is not known", address, false, lane, group)
    }

    /// Reports accesses of single lanes.
    fn report_texels(&mut self, accesses: &[(u64, usize)], bytes: u64, kind: AccessKind) {
        if self.wants(EventKind::Access) {
            let (semantics, proxy) = self.semantics();
            for (address, lane) in accesses {
                let (lanes, addresses) = (LaneMask::of(*lane), &[*address; 32]);
                let (space, owner) = (Space::Global, (self.block_slot, self.rank));
                let (point, block_id, bytes) = (self.point, self.block_id(), bytes as u32);
                let lockstep = self.warp.lockstep(lanes);
                let (depth, store) = (self.running_depth(), None);
                self.emit(&Event::Access(AccessEvent {
                    point,
                    block_id,
                    lanes,
                    lockstep,
                    kind,
                    semantics,
                    proxy,
                    space,
                    owner,
                    addresses,
                    shape: None,
                    min: *address,
                    max: *address,
                    bytes,
                    depth,
                    store,
                }));
            }
            self.update_wants();
        }
    }
}
