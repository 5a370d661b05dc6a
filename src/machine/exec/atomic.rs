//! Read-modify-write operations on memory (PTX ISA, "atom", "red"). Lanes go in order, lowest first.

use super::load_store::{Piece, Pieces};
use super::{Executed, Flow, Group, WarpRun};
use crate::isa::{AtomicFn, ScalarType, TypeKind};
use crate::machine::event::{AccessKind, Observer};
use crate::machine::lanes::{LaneMask, PerLane};
use crate::machine::trap::TrapKind;
use crate::num::{Mode, float};
use crate::program::{Dst, Op, Src};

impl<O: Observer> WarpRun<'_, O> {
    /// Executes an `atom` or `red`.
    pub(super) fn atomic(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        let Op::Atomic { f, ty, access: how, d, b, c, address, .. } = op else { unreachable!("{op:?} is no atomic") };
        let Some(function) = AtomicFunction::new(*f, *ty) else {
            return Err(self.trap(TrapKind::Unsupported, active, "this atomic operation is not modelled yet"));
        };
        self.warp.may_spin |= matches!(f, AtomicFn::Cas | AtomicFn::Exch);
        let mut access = self.access(address, group, active, ty.bytes());
        let pieces = match self.locate(&mut access, how.space, true, group)? {
            Pieces::Whole(space) => vec![Piece { space, access }],
            Pieces::Several(pieces) => pieces,
        };
        for piece in &pieces {
            self.report(piece.space, &piece.access, AccessKind::Atomic);
            self.exchange(piece, function, (*d, *b, *c), group);
        }
        Ok(Flow::Next)
    }

    fn exchange(&mut self, piece: &Piece, function: AtomicFunction, (d, b, c): (Dst, Src, Src), group: &Group) {
        let lanes = self.lanes(group, piece.access.mask);
        if function.bits == 64 {
            let (b, c) = (*lanes.get64(b), *lanes.get64(c));
            let old = self.exchange_64(piece, function, b, c);
            self.lanes(group, piece.access.mask).put64(d, &old);
        } else {
            let (b, c) = (*lanes.get32(b), *lanes.get32(c));
            let old = if function.bits == 16 { self.exchange_16(piece, function, b, c) } else { self.exchange_32(piece, function, b, c) };
            self.lanes(group, piece.access.mask).put32(d, &old);
        }
    }

    fn exchange_16(&mut self, piece: &Piece, function: AtomicFunction, b: PerLane<u32>, c: PerLane<u32>) -> PerLane<u32> {
        let mut old = [0; 32];
        self.write(piece.space, &piece.access, 0, |lane, bytes| {
            old[lane] = u32::from(u16::from_le_bytes(*bytes));
            *bytes = (function.apply(u64::from(old[lane]), u64::from(b[lane]), u64::from(c[lane])) as u16).to_le_bytes();
        });
        old
    }

    fn exchange_32(&mut self, piece: &Piece, function: AtomicFunction, b: PerLane<u32>, c: PerLane<u32>) -> PerLane<u32> {
        let mut old = [0; 32];
        if function.f == AtomicFn::Add && function.kind != TypeKind::Float {
            self.write(piece.space, &piece.access, 0, |lane, bytes| {
                old[lane] = u32::from_le_bytes(*bytes);
                *bytes = old[lane].wrapping_add(b[lane]).to_le_bytes();
            });
            return old;
        }
        self.write(piece.space, &piece.access, 0, |lane, bytes| {
            old[lane] = u32::from_le_bytes(*bytes);
            *bytes = (function.apply(u64::from(old[lane]), u64::from(b[lane]), u64::from(c[lane])) as u32).to_le_bytes();
        });
        old
    }

    fn exchange_64(&mut self, piece: &Piece, function: AtomicFunction, b: PerLane<u64>, c: PerLane<u64>) -> PerLane<u64> {
        let mut old = [0; 32];
        self.write(piece.space, &piece.access, 0, |lane, bytes| {
            old[lane] = u64::from_le_bytes(*bytes);
            *bytes = function.apply(old[lane], b[lane], c[lane]).to_le_bytes();
        });
        old
    }
}

/// A function on one memory word and its operands, zero-extended to 64 bits.
#[derive(Clone, Copy)]
struct AtomicFunction {
    f: AtomicFn,
    kind: TypeKind,
    bits: u32,
}

impl AtomicFunction {
    /// The function, if it is modelled for the type.
    fn new(f: AtomicFn, ty: ScalarType) -> Option<Self> {
        let float = ty.kind() == TypeKind::Float;
        let modelled = match f {
            AtomicFn::Add => !float || matches!(ty, ScalarType::F32 | ScalarType::F64),
            AtomicFn::Min | AtomicFn::Max | AtomicFn::And | AtomicFn::Or | AtomicFn::Xor | AtomicFn::Inc | AtomicFn::Dec => !float,
            AtomicFn::Cas | AtomicFn::Exch => true,
        };
        (modelled && ty.bits() <= 64).then_some(Self { f, kind: ty.kind(), bits: ty.bits() })
    }

    fn apply(self, old: u64, b: u64, c: u64) -> u64 {
        match self.f {
            AtomicFn::And => old & b,
            AtomicFn::Or => old | b,
            AtomicFn::Xor => old ^ b,
            AtomicFn::Exch => b,
            AtomicFn::Cas => {
                if old == b {
                    c
                } else {
                    old
                }
            }
            AtomicFn::Inc => {
                if old >= b {
                    0
                } else {
                    old + 1
                }
            }
            AtomicFn::Dec => {
                if old == 0 || old > b {
                    b
                } else {
                    old - 1
                }
            }
            AtomicFn::Min => {
                if self.less(old, b) {
                    old
                } else {
                    b
                }
            }
            AtomicFn::Max => {
                if self.less(old, b) {
                    b
                } else {
                    old
                }
            }
            AtomicFn::Add => self.add(old, b),
        }
    }

    fn less(self, a: u64, b: u64) -> bool {
        match self.kind {
            TypeKind::Signed if self.bits == 32 => (a as i32) < b as i32,
            TypeKind::Signed => (a as i64) < b as i64,
            TypeKind::Unsigned | TypeKind::Untyped | TypeKind::Float | TypeKind::Predicate => a < b,
        }
    }

    /// Addition; `.f32` flushes subnormals as the manual wants of atomics on global memory, `.f64` does not.
    fn add(self, a: u64, b: u64) -> u64 {
        match (self.kind, self.bits) {
            (TypeKind::Float, 32) => {
                let mode = Mode { ftz: true, ..Mode::default() };
                u64::from(float::add(f32::from_bits(a as u32), f32::from_bits(b as u32), mode).to_bits())
            }
            (TypeKind::Float, _) => float::add(f64::from_bits(a), f64::from_bits(b), Mode::default()).to_bits(),
            _ => a.wrapping_add(b),
        }
    }
}
