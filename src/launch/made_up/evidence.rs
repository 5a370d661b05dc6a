//! Constants of the code that say how many threads a block has, or how many rows of a tile each thread processes.

use std::collections::BTreeSet;

use super::flow::{Flow, slot_of};
use crate::isa::{IntBinary, IntTernary, IntType, Shift, Width};
use crate::program::{BitsOp, FuncId, Inst, IntegerOp, MoveOp, Op, Slot, Src, SrcKind, SyncOp};

/// The most threads of a block.
const THREADS_MAX: u32 = 1024;

/// The largest thread count of a barrier, if the code has it as a constant.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations wait for no number of threads")]
pub fn barrier_threads(flow: &Flow<'_>) -> Option<u32> {
    let count = |(_, _, inst): (FuncId, u32, &Inst)| match inst.op {
        Op::Sync(SyncOp::Barrier { count: Some(count), .. }) => constant(flow, count),
        _ => None,
    };
    flow.code().filter_map(count).filter(|count| (1..=THREADS_MAX).contains(count)).max()
}

/// The distance of the rows that a thread processes, one after the other, counted from its `%tid.y`. Either the code adds at least two
/// multiples of it, and no other number, to an index that has `%tid.y` in it; or it is the only number by which the code multiplies the
/// length of a row, a register by which it multiplies such an index.
pub fn row_step(flow: &Flow<'_>) -> Option<u32> {
    let rows = Rows::new(flow);
    let step = *rows.added.first().filter(|_| rows.added.len() > 1).or_else(|| rows.skipped.first().filter(|_| rows.skipped.len() == 1))?;
    let multiples: Vec<u32> = (1..=rows.added.len() as u32).filter_map(|number| step.checked_mul(number)).collect();
    (step > 1 && rows.added.iter().copied().eq(multiples)).then_some(step)
}

/// The numbers that rows are counted with.
#[derive(Default)]
struct Rows {
    /// Registers with `%tid.y` in them.
    held: BTreeSet<(FuncId, Slot)>,
    /// Registers that those are multiplied by.
    lengths: BTreeSet<(FuncId, Slot)>,
    /// Numbers that are added to an index.
    added: BTreeSet<u32>,
    /// Numbers that the length of a row is multiplied by.
    skipped: BTreeSet<u32>,
}

impl Rows {
    fn new(flow: &Flow<'_>) -> Self {
        let mut rows = Self::default();
        flow.code().for_each(|(function, _, inst)| rows.add_index(flow, function, inst));
        flow.code().for_each(|(function, _, inst)| rows.add_skipped(flow, function, inst));
        rows
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "compilers compute the index of a row with these operations")]
    fn add_index(&mut self, flow: &Flow<'_>, function: FuncId, inst: &Inst) {
        let slot = |source: Src| slot_of(source).map(|slot| (function, slot));
        let holds = |source: Src| is_row(flow, source) || slot(source).is_some_and(|slot| self.held.contains(&slot));
        match inst.op {
            Op::Move(MoveOp::Move { width: Width::B32, d, a }) if holds(a) => self.held.extend([(function, d.0)]),
            Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty: IntType::S32 | IntType::U32, d, a, b }) if holds(a) || holds(b) => {
                match constant(flow, a).or_else(|| constant(flow, b)) {
                    Some(number) => self.added.extend([number]),
                    None => self.held.extend([(function, d.0)]),
                }
            }
            Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, ty: IntType::S32 | IntType::U32, d, c, .. }) if holds(c) => {
                self.held.extend([(function, d.0)]);
            }
            Op::Integer(
                IntegerOp::Ternary { f: IntTernary::MadLo, ty: IntType::S32 | IntType::U32, a, b, .. }
                | IntegerOp::Binary { f: IntBinary::MulLo, ty: IntType::S32 | IntType::U32, a, b, .. },
            ) => {
                let length = if holds(a) { slot(b) } else { slot(a).filter(|_| holds(b)) };
                self.lengths.extend(length);
            }
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "compilers multiply the length of a row with these operations")]
    fn add_skipped(&mut self, flow: &Flow<'_>, function: FuncId, inst: &Inst) {
        let is_length = |source: Src| slot_of(source).is_some_and(|slot| self.lengths.contains(&(function, slot)));
        let number = match inst.op {
            Op::Bits(BitsOp::Shift { f: Shift::Left, a, b, .. }) if is_length(a) => constant(flow, b).and_then(|by| 1_u32.checked_shl(by)),
            Op::Integer(IntegerOp::Binary { f: IntBinary::MulLo, a, b, .. }) if is_length(a) => constant(flow, b),
            _ => None,
        };
        self.skipped.extend(number);
    }
}

/// True if an operand is `%tid.y`.
fn is_row(flow: &Flow<'_>, source: Src) -> bool {
    matches!(source.kind(), SrcKind::Special(index) if flow.program.specials[index as usize].name() == "%tid.y")
}

/// The value of a constant operand of 32 bits.
fn constant(flow: &Flow<'_>, source: Src) -> Option<u32> {
    let SrcKind::Const(index) = source.kind() else { return None };
    flow.program.consts32.get(index as usize).copied()
}
