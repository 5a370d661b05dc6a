//! Registers of the instructions that reach memory: accesses, atomics, barrier objects, asynchronous copies, textures and surfaces.

use super::{Use, Walk, of_bits, of_element, wide};
use crate::program::{Bank, Completion, CopyId, CopyOp, Handle, ImageFn, ImageId, Kept, Op};

impl<V: FnMut(Use, super::RegisterOperand)> Walk<'_, V> {
    pub(super) fn memory(&mut self, op: &Op) {
        match *op {
            Op::Load { access: _, bits, signed: _, reg_bits, d, address } => {
                self.address(address);
                let (bank, width) = of_element(bits, reg_bits);
                self.dest(bank, d, width);
            }
            Op::LoadVector { access: _, bits, signed: _, reg_bits, parts, address } => {
                self.address(address);
                let (bank, width) = of_element(bits, reg_bits);
                self.dests(parts).iter().for_each(|d| self.dest(bank, *d, width));
            }
            Op::Store { access: _, bits, reg_bits, a, address } => {
                self.address(address);
                let (bank, width) = of_element(bits, reg_bits);
                self.source(Use::Read, bank, a, width);
            }
            Op::StoreVector { access: _, bits, reg_bits, parts, address } => {
                self.address(address);
                let (bank, width) = of_element(bits, reg_bits);
                self.sources(parts).iter().for_each(|a| self.source(Use::Read, bank, *a, width));
            }
            ref other => unreachable!("{other:?} is no load or store"),
        }
    }

    pub(super) fn atomic(&mut self, op: &Op) {
        match *op {
            Op::Atomic { f: _, ty, access: _, d, b, c, address } => {
                self.address(address);
                let (bank, width) = of_bits(ty.bits() as usize);
                // What takes no `c` has its `b` there again.
                self.source(Use::Read, bank, b, width);
                self.source(Use::Read, bank, c, width);
                self.dest(bank, d, width);
            }
            Op::AtomicVector { f: _, ty: _, access: _, d, b, address } => {
                self.address(address);
                self.sources(b).iter().for_each(|b| self.read(Bank::B32, *b));
                let dests = d.map_or(&[][..], |list| self.dests(list));
                dests.iter().for_each(|d| self.write(Bank::B32, *d));
            }
            ref other => unreachable!("{other:?} is no atomic"),
        }
    }

    pub(super) fn mbarrier(&mut self, op: &Op) {
        match *op {
            Op::Mbarrier { f: _, access: _, d, a, address } => {
                self.address(address);
                a.iter().for_each(|a| self.read(Bank::B32, *a));
                self.write(Bank::B64, d);
            }
            Op::MbarrierWait { blocks: _, parity, access: _, p, a, address } => {
                self.address(address);
                self.read(wide(!parity), a);
                self.write(Bank::Pred, p);
            }
            Op::PendingCount { d, a } => {
                self.read(Bank::B64, a);
                self.write(Bank::B32, d);
            }
            ref other => unreachable!("{other:?} is about no barrier object"),
        }
    }

    pub(super) fn async_copy(&mut self, copy: CopyId) {
        let program = self.program;
        let Some(copy) = program.copies.get(copy.index()) else { return };
        match copy {
            CopyOp::Lanes { to, from, bytes: _, kept } => {
                self.address(to.address);
                self.address(from.address);
                match *kept {
                    Kept::All => {}
                    Kept::Bytes(bytes) => self.read(Bank::B32, bytes),
                    Kept::Unless(predicate) => self.predicate(predicate),
                }
            }
            CopyOp::Bulk { to, from, bytes, reduction: _, completion, multicast, byte_mask } => {
                self.address(to.address);
                self.address(from.address);
                if let Completion::Mbarrier(mbarrier) = completion {
                    self.address(mbarrier.address);
                }
                [Some(*bytes), *multicast, *byte_mask].into_iter().flatten().for_each(|source| self.read(Bank::B32, source));
            }
            CopyOp::Tensor(copy) => {
                self.address(copy.map);
                self.address(copy.shared.address);
                if let Completion::Mbarrier(mbarrier) = copy.completion {
                    self.address(mbarrier.address);
                }
                copy.coordinates.iter().chain(&copy.offsets).chain(&copy.multicast).for_each(|source| self.read(Bank::B32, *source));
            }
            CopyOp::Store { to, ty, values, reduction: _, mbarrier } => {
                self.address(to.address);
                self.address(mbarrier.address);
                self.sources(*values).iter().for_each(|value| self.read(wide(ty.bits() == 64), *value));
            }
            CopyOp::Arrive { access: _, mbarrier, counted: _ } => self.address(*mbarrier),
        }
    }

    pub(super) fn image(&mut self, access: ImageId) {
        let program = self.program;
        let Some(access) = program.images.get(access.index()) else { return };
        for handle in [Some(access.image), access.sampler].into_iter().flatten() {
            if let Handle::Value(source) = handle {
                self.source(Use::Address, Bank::B64, source, 1);
            }
        }
        access.place.iter().for_each(|source| self.source(Use::Address, Bank::B32, *source, 1));
        access.values.iter().for_each(|source| self.read(wide(access.wide), *source));
        let bank = if matches!(access.f, ImageFn::IsHandle(_)) { Bank::Pred } else { wide(access.wide) };
        access.dests.iter().for_each(|d| self.write(bank, *d));
        self.write(Bank::Pred, access.resident);
    }
}
