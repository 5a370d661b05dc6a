//! Scheduling points: the instructions before which the order of warps matters.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::cfg::{ControlFlow, is_lock_loop};
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, Ordering, Space, TypeKind};
use crate::program::{AtomicOp, ClusterOp, FuncId, MbarrierOp, Op, Pc, Program, SyncOp};

/// The instructions before which the scheduler may switch warps: synchronization operations, and plain accesses known to race.
#[derive(Clone, Default)]
pub struct Points {
    is_point: Vec<bool>,
    /// The instructions whose result controls only whether a wait loop repeats.
    wait_tests: BTreeSet<Pc>,
    /// Updates that commute with those of the same number.
    commuting: BTreeMap<Pc, u64>,
}

impl Points {
    /// The points of a program in which these plain accesses race.
    pub fn new(program: &Program, racing: &BTreeSet<Pc>) -> Self {
        let mut result_uses = ResultUses::default();
        let mut flows: BTreeMap<FuncId, ControlFlow> = BTreeMap::new();
        let mut points = Self { is_point: vec![false; program.code.len()], ..Self::default() };
        for at in (0..program.code.len() as u32).map(Pc) {
            let op = &program.code[at.index()].op;
            if !synchronizes(op) && !racing.contains(&at) {
                continue;
            }
            points.is_point[at.index()] = true;
            if let Some(number) = commutes(op, || result_uses.is_result_used(program, at)) {
                points.commuting.insert(at, number);
            }
            let Some(function) = program.function_at(at).filter(|_| matches!(op, Op::Atomic(_) | Op::Memory(_))) else { continue };
            let flow = flows.entry(function).or_insert_with(|| ControlFlow::new(program, function));
            if is_lock_loop(program, flow, &mut result_uses, at) {
                points.wait_tests.insert(at);
            }
        }
        points
    }

    /// True if the scheduler may switch warps before the instruction.
    pub fn is_point(&self, pc: Pc) -> bool {
        self.is_point[pc.index()]
    }

    /// True if the result of the instruction controls only whether a wait loop repeats.
    pub fn is_wait_test(&self, pc: Pc) -> bool {
        self.wait_tests.contains(&pc)
    }

    /// The number of an update that commutes with those of the same number.
    pub fn commuting(&self, pc: Pc) -> Option<u64> {
        self.commuting.get(&pc).copied()
    }
}

/// True if an instruction synchronizes with other threads.
fn synchronizes(op: &Op) -> bool {
    match op {
        Op::Atomic(_) | Op::Mbarrier(MbarrierOp::Update { .. } | MbarrierOp::Wait { .. }) | Op::Sync(SyncOp::Barrier { .. }) => true,
        Op::Cluster(op) => matches!(op, ClusterOp::Arrive { .. } | ClusterOp::Wait { .. }),
        Op::Memory(op) => {
            let access = op.access();
            access.ordering != Ordering::Weak && !matches!(access.space, Space::Local | Space::Param | Space::ParamFunc | Space::Const)
        }
        Op::Mbarrier(MbarrierOp::PendingCount { .. })
        | Op::Sync(SyncOp::WarpSync { .. } | SyncOp::Fence { .. })
        | Op::Nop
        | Op::Unsupported { .. }
        | Op::Integer(_)
        | Op::Bits(_)
        | Op::Float(_)
        | Op::Video(_)
        | Op::Compare(_)
        | Op::Select(_)
        | Op::Convert(_)
        | Op::Move(_)
        | Op::Async(_)
        | Op::TensorMap(_)
        | Op::Wgmma(_)
        | Op::Stack(_)
        | Op::Control(_)
        | Op::Warp(_)
        | Op::Image { .. }
        | Op::Matrix { .. } => false,
    }
}

/// The number of a kind of commuting updates: of integers, and with an unused result.
fn commutes(op: &Op, is_used: impl FnOnce() -> bool) -> Option<u64> {
    let Op::Atomic(AtomicOp::Single { f, ty, .. }) = op else { return None };
    let is_one_kind = match f {
        AtomicFn::And | AtomicFn::Or | AtomicFn::Xor => true,
        AtomicFn::Add | AtomicFn::Min | AtomicFn::Max => ty.kind() != TypeKind::Float,
        AtomicFn::Cas | AtomicFn::Exch | AtomicFn::Inc | AtomicFn::Dec => false,
    };
    let mut hasher = DefaultHasher::new();
    format!("{f:?} {ty:?}").hash(&mut hasher);
    (is_one_kind && !is_used()).then(|| hasher.finish())
}
