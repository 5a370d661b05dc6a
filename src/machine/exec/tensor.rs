//! Tensor copies (PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"), and changes of tensor maps.

use smallvec::SmallVec;

use crate::isa::{Space, TensorField};
use crate::machine::event::AccessKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::in_flight::tensor::{ByteRun, Direction, FaultKind, Request, TensorBox};
use crate::machine::state::in_flight::copy::{BoxCopy, CopyCompletion, CopyKind};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::memory::LaneAccess;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::{Access, Address, Completion, Src, TENSOR_MAP_BYTES, TensorCopy, TensorMap, TensorMapOp};

/// Alignment of a tensor map.
const MAP_ALIGNMENT: u32 = 64;

/// A byte of a box that a copy cannot access.
#[derive(Clone, Copy)]
struct MissingByte {
    address: u64,
    /// True if the byte is mapped, but unknown.
    is_mapped: bool,
}

/// The 128 bytes of a map.
type MapBytes = [u8; TENSOR_MAP_BYTES];

/// The last version of PTX whose assembler (ptxas 12.4) stores the operand of `tensormap.replace.global_stride` unchanged; later ones store
/// a sixteenth of it. Compilers for these versions emit strides in units of 16 bytes (`fixtures/tensor/stride_units.ron`).
const LAST_WITH_STRIDE_UNITS: (u8, u8) = (8, 4);

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: a copy for every lane. None is issued unless all are valid.
    pub(super) fn tensor_copies(&mut self, copy: &TensorCopy, group: &Group, active: LaneMask) -> Result<(), Box<Trap>> {
        let ranks = copy.multicast.map(|mask| self.lanes(group, active).get32(mask).map(|mask| mask as u16));
        let mbarriers = match &copy.completion {
            Completion::Mbarrier(address) => self.mbarriers_of_lanes(address, group, active)?,
            Completion::BulkGroup => [None; 32],
        };
        let mut checked: SmallVec<[(usize, BoxCopy, CopyCompletion); 2]> = SmallVec::new();
        for (lane, copy) in self.boxes(copy, group, active)? {
            let bytes = u32::try_from(copy.shape.bytes()).unwrap_or(u32::MAX);
            match (mbarriers[lane], ranks) {
                (None, _) => {
                    checked.push((lane, copy, CopyCompletion::Group { bulk: true, number: self.warp.copy_groups.committed(true)[lane] }));
                }
                (Some((owner, address)), None) => checked.push((lane, copy, CopyCompletion::Mbarrier { owner, address, bytes })),
                (Some((_, address)), Some(ranks)) => {
                    for rank in (0..16).filter(|rank| ranks[lane] >> rank & 1 != 0) {
                        let owner = self.owner_of_rank(rank, LaneMask::of(lane))?;
                        checked.push((lane, BoxCopy { owner, ..copy.clone() }, CopyCompletion::Mbarrier { owner, address, bytes }));
                    }
                }
            }
        }
        checked
            .into_iter()
            .try_for_each(|(lane, copy, completion)| self.issue_copy(LaneMask::of(lane), CopyKind::Tensor(Box::new(copy)), completion))
    }

    /// The box of each lane, checked.
    fn boxes(&mut self, copy: &TensorCopy, group: &Group, active: LaneMask) -> Result<SmallVec<[(usize, BoxCopy); 2]>, Box<Trap>> {
        let direction = match (copy.reduction, &copy.completion) {
            (Some(f), _) => Direction::Reduce(f),
            (None, Completion::Mbarrier(_)) => Direction::Load,
            (None, Completion::BulkGroup) => Direction::Store,
        };
        let maps = self.access(&copy.map, group, active, 1).addresses;
        let shared = self.access(&copy.shared.address, group, active, 1);
        let (coordinates, offsets) = (self.vectors(&copy.coordinates, group, active), self.vectors(&copy.offsets, group, active));
        let mut boxes = SmallVec::new();
        for lane in active.iter() {
            let map = self.map_of(maps[lane], lane, group)?;
            let segment = self.only_segment(shared.only(LaneMask::of(lane)), copy.shared.space, direction == Direction::Load, group)?;
            let request = Request {
                direction,
                mode: copy.mode,
                rank: copy.coordinates.len(),
                coordinates: std::array::from_fn(|d| coordinates.get(d).map_or(0, |values| values[lane].cast_signed())),
                offsets: std::array::from_fn(|d| offsets.get(d).map_or(0, |values| values[lane] as u16)),
                shared: segment.access.addresses[lane],
            };
            let shape = self.box_of(&map, request, LaneMask::of(lane), group)?;
            boxes.push((lane, BoxCopy { shape, owner: self.owner_of(&segment), source_bytes: None }));
        }
        Ok(boxes)
    }

    /// The values of 32-bit sources, lane by lane.
    fn vectors(&mut self, sources: &[Src], group: &Group, active: LaneMask) -> SmallVec<[PerLane<u32>; 5]> {
        let lanes = self.lanes(group, active);
        sources.iter().map(|source| *lanes.get32(*source)).collect()
    }

    /// The tensor map at the generic address `address`.
    fn map_of(&mut self, address: u64, lane: usize, group: &Group) -> Result<TensorMap, Box<Trap>> {
        let bytes = self.map_bytes(address, Space::Generic, lane, group)?;
        TensorMap::decode(&bytes).map_err(|why| {
            let is_param = self.window_of(address).0 == Space::Param;
            let help = if is_param { "; a launch file gives a parameter a tensor map with TensorMap(..)" } else { "" };
            self.trap(TrapKind::TensorCopy, LaneMask::of(lane), &format!("a tensor map is needed at {address:#x}: {why}{help}"))
        })
    }

    /// Reads the 128 bytes of a map, in any space.
    fn map_bytes(&mut self, address: u64, space: Space, lane: usize, group: &Group) -> Result<MapBytes, Box<Trap>> {
        let mut bytes = [0; TENSOR_MAP_BYTES];
        for (half, part) in bytes.chunks_exact_mut(MAP_ALIGNMENT as usize).enumerate() {
            let start = address.wrapping_add(half as u64 * u64::from(MAP_ALIGNMENT));
            let access = LaneAccess::new([start; 32], LaneMask::of(lane), MAP_ALIGNMENT);
            let segment = self.only_segment(access, space, false, group)?;
            self.report(segment.space, &segment.access, AccessKind::Read);
            self.read::<{ MAP_ALIGNMENT as usize }>(segment.space, &segment.access, 0, |at, read| {
                if at == lane {
                    part.copy_from_slice(&read);
                }
            });
        }
        Ok(bytes)
    }

    fn write_map(&mut self, address: u64, space: Space, lane: usize, bytes: &MapBytes, group: &Group) -> Result<(), Box<Trap>> {
        for (half, part) in bytes.chunks_exact(MAP_ALIGNMENT as usize).enumerate() {
            let start = address.wrapping_add(half as u64 * u64::from(MAP_ALIGNMENT));
            let access = LaneAccess::new([start; 32], LaneMask::of(lane), MAP_ALIGNMENT);
            let segment = self.only_segment(access, space, true, group)?;
            self.report(segment.space, &segment.access, AccessKind::Write);
            self.write::<{ MAP_ALIGNMENT as usize }>(segment.space, &segment.access, 0, |_, memory| memory.copy_from_slice(part));
        }
        Ok(())
    }

    /// The box of a lane, with all its bytes checked.
    fn box_of(&self, map: &TensorMap, request: Request, lane: LaneMask, group: &Group) -> Result<TensorBox, Box<Trap>> {
        let shape = TensorBox::new(map, request).map_err(|fault| {
            let kind = match fault.kind {
                FaultKind::Illegal => TrapKind::TensorCopy,
                FaultKind::Misaligned => TrapKind::CopyMisaligned,
            };
            self.trap(kind, lane, &fault.message)
        })?;
        let end = request.shared.saturating_add(shape.shared_bytes());
        if end > self.prepared.shared_bytes {
            let message = format!(
                "the box takes {} bytes of shared memory from {:#x} on, and the block has {}",
                shape.shared_bytes(),
                request.shared,
                self.prepared.shared_bytes
            );
            return Err(self.trap(TrapKind::OutOfBounds, lane, &message));
        }
        match self.missing_byte(&shape, request.direction != Direction::Store) {
            Some(missing_byte) => {
                let writes = request.direction != Direction::Load && !missing_byte.is_mapped;
                let reached = if missing_byte.is_mapped { "memory that is not known" } else { "memory that is not there" };
                let what = format!("the box of the tensor at {:#x} reaches {reached}", map.address);
                Err(self.byte_fault(&what, missing_byte.address, writes, lane.first(), group))
            }
            None => Ok(shape),
        }
    }

    /// The first byte of the box that is in the tensor and not mapped; if there is none, the first unknown byte that is read.
    fn missing_byte(&self, shape: &TensorBox, reads: bool) -> Option<MissingByte> {
        let (mut unmapped, mut unknown) = (None, None);
        shape.unswizzled_runs(|ByteRun { global, bytes, .. }| {
            let (Some(address), None) = (global, unmapped) else { return };
            let Some(allocation) = self.global.find(address) else {
                unmapped = Some(address);
                return;
            };
            let end = allocation.padded_end();
            if address.saturating_add(bytes) > end {
                unmapped = Some(end);
            } else if reads && unknown.is_none() {
                unknown = allocation.first_unknown(address, address, bytes);
            }
        });
        let unmapped = unmapped.map(|address| MissingByte { address, is_mapped: false });
        unmapped.or(unknown.map(|address| MissingByte { address, is_mapped: true }))
    }

    /// Executes `tensormap.replace` or `tensormap.cp_fenceproxy`. Lanes execute one by one, lowest first.
    pub(super) fn tensor_map(&mut self, op: &TensorMapOp, group: &Group, active: LaneMask) -> Executed {
        match op {
            TensorMapOp::ReplaceField { field, ordinal, access, a, address } => {
                self.replace_field((*field, usize::from(*ordinal)), access, *a, address, group, active)?;
            }
            TensorMapOp::Copy { to, from } => {
                let to = self.access(to, group, active, 1).addresses;
                let from = self.access(from, group, active, 1).addresses;
                let lane = active.first();
                let bytes = self.map_bytes(from[lane], Space::Shared, lane, group)?;
                self.write_map(to[lane], Space::Global, lane, &bytes, group)?;
            }
        }
        Ok(Flow::Next)
    }

    fn replace_field(
        &mut self,
        (field, ordinal): (TensorField, usize),
        semantics: &Access,
        a: Src,
        address: &Address,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let lanes = self.lanes(group, active);
        let mut values = if field.is_wide() { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) };
        if field == TensorField::GlobalStride && self.program.version <= LAST_WITH_STRIDE_UNITS {
            values = values.map(|units| units.saturating_mul(16));
        }
        let addresses = self.access(address, group, active, 1).addresses;
        for lane in active.iter() {
            let bytes = self.map_bytes(addresses[lane], semantics.space, lane, group)?;
            let changed = TensorMap::decode_partial(&bytes).map_err(|why| why.to_string()).and_then(|mut map| {
                map.replace(field, ordinal, values[lane])?;
                Ok(map)
            });
            let map = changed
                .map_err(|why| self.trap(TrapKind::TensorCopy, LaneMask::of(lane), &format!("the tensor map cannot be changed: {why}")))?;
            self.write_map(addresses[lane], semantics.space, lane, &map.encode_replaced(&bytes), group)?;
        }
        Ok(())
    }
}
