//! `wmma.load` and `wmma.store`: each lane accesses the elements of its fragment.

use crate::isa::{Fragment, Layout};
use crate::machine::event::AccessKind;
use crate::machine::exec::load_store::AccessSegment;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::memory::LaneAccess;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::FragmentAccess;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    pub(super) fn load_fragment(&mut self, op: &FragmentAccess, group: &Group) -> Result<(), Box<Trap>> {
        let elements = self.element_segments(op, false, group)?;
        let program = self.program;
        let dests = &*program.dests[op.registers];
        let per_register = elements.len() / dests.len().max(1);
        let bits = op.fragment.in_32_bit_words().ty.bits();
        for (register, elements) in dests.iter().zip(elements.chunks(per_register.max(1))) {
            let mut words = [0u64; LANES];
            for (part, segments) in elements.iter().enumerate() {
                let values = self.load_elements(segments, bits);
                (0..LANES).for_each(|lane| words[lane] |= values[lane] << (part as u32 * bits));
            }
            let mut lanes = self.lanes(group, LaneMask::ALL);
            if bits == 64 { lanes.put64(*register, &words) } else { lanes.put32(*register, &words.map(|word| word as u32)) }
        }
        Ok(())
    }

    pub(super) fn store_fragment(&mut self, op: &FragmentAccess, group: &Group) -> Result<(), Box<Trap>> {
        let elements = self.element_segments(op, true, group)?;
        let program = self.program;
        let sources = &*program.sources[op.registers];
        let per_register = elements.len() / sources.len().max(1);
        let bits = op.fragment.in_32_bit_words().ty.bits();
        for (register, elements) in sources.iter().zip(elements.chunks(per_register.max(1))) {
            let lanes = self.lanes(group, LaneMask::ALL);
            let words = if bits == 64 { *lanes.get64(*register) } else { lanes.get32(*register).map(u64::from) };
            for (part, segments) in elements.iter().enumerate() {
                self.store_elements(segments, bits, &words.map(|word| word >> (part as u32 * bits)));
            }
        }
        Ok(())
    }

    fn load_elements(&mut self, segments: &[AccessSegment], bits: u32) -> PerLane<u64> {
        let mut values = [0; LANES];
        for AccessSegment { space, access } in segments {
            self.report(*space, access, AccessKind::Read);
            let mut put = |lane: usize, value: u64| {
                if access.mask.contains(lane) {
                    values[lane] = value;
                }
            };
            match bits {
                8 => self.read(*space, access, 0, |lane, [byte]: [u8; 1]| put(lane, byte.into())),
                16 => self.read(*space, access, 0, |lane, bytes| put(lane, u16::from_le_bytes(bytes).into())),
                32 => self.read(*space, access, 0, |lane, bytes| put(lane, u32::from_le_bytes(bytes).into())),
                _ => self.read(*space, access, 0, |lane, bytes| put(lane, u64::from_le_bytes(bytes))),
            }
        }
        values
    }

    fn store_elements(&mut self, segments: &[AccessSegment], bits: u32, values: &PerLane<u64>) {
        for AccessSegment { space, access } in segments {
            self.report(*space, access, AccessKind::Write);
            match bits {
                16 => self.write(*space, access, 0, |lane, bytes| *bytes = (values[lane] as u16).to_le_bytes()),
                32 => self.write(*space, access, 0, |lane, bytes| *bytes = (values[lane] as u32).to_le_bytes()),
                _ => self.write(*space, access, 0, |lane, bytes| *bytes = values[lane].to_le_bytes()),
            }
        }
    }

    /// The memory of each element of the lanes' fragments. Elements of less than a byte are accessed in 32-bit words.
    fn element_segments(&mut self, op: &FragmentAccess, write: bool, group: &Group) -> Result<Vec<Vec<AccessSegment>>, Box<Trap>> {
        let fragment = op.fragment.in_32_bit_words();
        let Some(layout) = Layout::of(&fragment) else { return Ok(Vec::new()) };
        let bytes = fragment.ty.bytes();
        let start = self.common_start(op, group, bytes)?;
        let stride = self.stride(op, &fragment, group)? * u64::from(op.bits) / 8;
        let segments = |element: u32| {
            let addresses = std::array::from_fn(|lane| {
                let at = layout.position(lane as u32, element);
                let (line, within) = if op.by_columns { (at.column, at.row) } else { (at.row, at.column) };
                start.wrapping_add(u64::from(line).wrapping_mul(stride)).wrapping_add(u64::from(within * bytes))
            });
            let mut access = LaneAccess::new(addresses, LaneMask::ALL, bytes);
            Ok(self.locate(&mut access, op.access.space, write, group)?.with(access))
        };
        (0..layout.elements()).map(segments).collect()
    }

    /// The address of the matrix, which must be the same in all lanes.
    fn common_start(&mut self, op: &FragmentAccess, group: &Group, bytes: u32) -> Result<u64, Box<Trap>> {
        let addresses = self.access(&op.address, group, LaneMask::ALL, bytes).addresses;
        self.agreed(&addresses, "the address of the matrix")
    }

    /// Elements from one row, or column, to the next.
    fn stride(&mut self, op: &FragmentAccess, fragment: &Fragment, group: &Group) -> Result<u64, Box<Trap>> {
        let Some(stride) = op.stride else {
            let words = if op.by_columns { fragment.rows() } else { fragment.columns() };
            return Ok(u64::from(words * fragment.ty.bits() / op.bits));
        };
        let strides = self.lanes(group, LaneMask::ALL).get32(stride).map(u64::from);
        self.agreed(&strides, "the stride of the matrix")
    }

    /// The value, which must be the same in all lanes.
    fn agreed(&self, values: &PerLane<u64>, what: &str) -> Result<u64, Box<Trap>> {
        let first = values[0];
        let others = LaneMask::from_fn(|lane| values[lane] != first);
        if others.is_empty() {
            return Ok(first);
        }
        let lane = others.first();
        let message = format!("all lanes must agree on {what}, but it is {first:#x} in lane 0 and {:#x} in lane {lane}", values[lane]);
        Err(self.trap(TrapKind::WarpDisagrees, others, &message))
    }
}
