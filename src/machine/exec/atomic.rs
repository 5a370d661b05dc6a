//! Read-modify-write operations on memory (PTX ISA, "atom", "red"). Lanes execute one by one, lowest first.

use super::load_store::AccessSegment;
use crate::isa::{AtomicFn, Space, TypeKind};
use crate::machine::event::AccessKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::read_modify_write::{Adder, RmwOperation};
use crate::machine::state::trap::Trap;
use crate::program::{Access, Address, AtomicOp, Dst, Src};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes an `atom` or `red`.
    pub(super) fn atomic(&mut self, op: &AtomicOp, group: &Group, active: LaneMask) -> Executed {
        match op {
            AtomicOp::Single { f, ty, access, d, b, c, address } => {
                self.warp.may_spin |= matches!(f, AtomicFn::Cas | AtomicFn::Exch);
                for segment in self.atomic_segments(access, address, group, active, ty.bytes())? {
                    let operation = RmwOperation { f: *f, ty: *ty, adder: Adder::of(segment.space) };
                    if self.weak.is_none() || !self.atomic_weak((segment.space, &segment.access), access, operation, (*d, *b, *c), group) {
                        self.read_modify_write(&segment, 0, operation, (*d, *b, *c), group);
                    }
                }
            }
            AtomicOp::Vector { f, ty, access, d, b, address } => {
                let program = self.program;
                let dests: &[Dst] = d.map_or(&[], |list| &program.dests[list]);
                let sources = &program.sources[*b];
                for segment in self.atomic_segments(access, address, group, active, ty.bytes() * sources.len() as u32)? {
                    let operation = RmwOperation { f: *f, ty: *ty, adder: Adder::of(segment.space) };
                    for (index, b) in sources.iter().enumerate() {
                        let d = dests.get(index).copied().unwrap_or(Dst::SINK);
                        self.read_modify_write(&segment, index as u64 * u64::from(ty.bytes()), operation, (d, *b, *b), group);
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    /// The memory of an access of `bytes` bytes per lane, checked.
    fn atomic_segments(
        &mut self,
        semantics: &Access,
        address: &Address,
        group: &Group,
        active: LaneMask,
        bytes: u32,
    ) -> Result<Vec<AccessSegment>, Box<Trap>> {
        let mut access = self.access(address, group, active, bytes);
        let segments = self.locate(&mut access, semantics.space, true, group)?.with(access);
        self.check_known(&segments, group)?;
        segments.iter().for_each(|segment| self.report(segment.space, &segment.access, AccessKind::Atomic));
        Ok(segments)
    }

    /// Applies `operation` to the element `skip` bytes after each lane's address.
    fn read_modify_write(
        &mut self,
        segment: &AccessSegment,
        skip: u64,
        operation: RmwOperation,
        (d, b, c): (Dst, Src, Src),
        group: &Group,
    ) {
        let mask = segment.access.mask;
        let lanes = self.lanes(group, mask);
        match operation.ty.bits() {
            128 => self.read_modify_write_128(segment, operation.f, (d, b, c), group),
            64 => {
                let (b, c) = (*lanes.get64(b), *lanes.get64(c));
                let old = self.read_modify_write_64(segment, operation, b, c);
                self.note_unchanged(segment.space, mask, |lane| operation.apply(old[lane], b[lane], c[lane]) == old[lane]);
                self.lanes(group, mask).put64(d, &old);
            }
            bits => {
                let (b, c) = (*lanes.get32(b), *lanes.get32(c));
                let old = if bits == 16 {
                    self.read_modify_write_16(segment, skip, operation, b, c)
                } else {
                    self.read_modify_write_32(segment, skip, operation, b, c)
                };
                let apply = |lane: usize| operation.apply(u64::from(old[lane]), u64::from(b[lane]), u64::from(c[lane])) as u32;
                self.note_unchanged(segment.space, mask, |lane| (apply(lane) ^ old[lane]) << (32 - bits) == 0);
                self.lanes(group, mask).put32(d, &old);
            }
        }
    }

    /// Discounts the effect on memory of this space if no lane changed it, as when lanes spin on a lock.
    pub(super) fn note_unchanged(&mut self, space: Space, mask: LaneMask, is_unchanged: impl Fn(usize) -> bool) {
        if !space.is_of_thread() && mask.iter().all(is_unchanged) {
            self.progress -= 1;
        }
    }

    fn read_modify_write_16(
        &mut self,
        segment: &AccessSegment,
        skip: u64,
        operation: RmwOperation,
        b: PerLane<u32>,
        c: PerLane<u32>,
    ) -> PerLane<u32> {
        let mut old = [0; 32];
        self.write(segment.space, &segment.access, skip, |lane, bytes| {
            old[lane] = u32::from(u16::from_le_bytes(*bytes));
            *bytes = (operation.apply(u64::from(old[lane]), u64::from(b[lane]), u64::from(c[lane])) as u16).to_le_bytes();
        });
        old
    }

    fn read_modify_write_32(
        &mut self,
        segment: &AccessSegment,
        skip: u64,
        operation: RmwOperation,
        b: PerLane<u32>,
        c: PerLane<u32>,
    ) -> PerLane<u32> {
        let mut old = [0; 32];
        if operation.f == AtomicFn::Add && operation.ty.kind() != TypeKind::Float {
            self.write(segment.space, &segment.access, skip, |lane, bytes| {
                old[lane] = u32::from_le_bytes(*bytes);
                *bytes = old[lane].wrapping_add(b[lane]).to_le_bytes();
            });
            return old;
        }
        self.write(segment.space, &segment.access, skip, |lane, bytes| {
            old[lane] = u32::from_le_bytes(*bytes);
            *bytes = (operation.apply(u64::from(old[lane]), u64::from(b[lane]), u64::from(c[lane])) as u32).to_le_bytes();
        });
        old
    }

    fn read_modify_write_64(&mut self, segment: &AccessSegment, operation: RmwOperation, b: PerLane<u64>, c: PerLane<u64>) -> PerLane<u64> {
        let mut old = [0; 32];
        self.write(segment.space, &segment.access, 0, |lane, bytes| {
            old[lane] = u64::from_le_bytes(*bytes);
            *bytes = operation.apply(old[lane], b[lane], c[lane]).to_le_bytes();
        });
        old
    }

    /// `.exch.b128` and `.cas.b128`.
    fn read_modify_write_128(&mut self, segment: &AccessSegment, f: AtomicFn, (d, b, c): (Dst, Src, Src), group: &Group) {
        let lanes = self.lanes(group, segment.access.mask);
        let (b, c) = (lanes.get128(b), lanes.get128(c));
        let mut old = [0; 32];
        self.write(segment.space, &segment.access, 0, |lane, bytes| {
            old[lane] = u128::from_le_bytes(*bytes);
            let new = match f {
                AtomicFn::Cas if old[lane] == b[lane] => c[lane],
                AtomicFn::Cas => old[lane],
                AtomicFn::And
                | AtomicFn::Or
                | AtomicFn::Xor
                | AtomicFn::Exch
                | AtomicFn::Add
                | AtomicFn::Inc
                | AtomicFn::Dec
                | AtomicFn::Min
                | AtomicFn::Max => b[lane],
            };
            *bytes = new.to_le_bytes();
        });
        self.lanes(group, segment.access.mask).put128(d, &old);
    }
}
