//! Whether blocks of a launch can run in any order with the same ticks: what can be seen before it runs.

use std::ops::Range;

use crate::debug::certificate::reads_nondeterministic;
use crate::debug::run::options::RunOptions;
use crate::isa::{AtomicFn, Ordering, Space, SystemFn};
use crate::machine::{CompletionPolicyKind, Instrumentation, Machine, MemoryModel, Schedule};
use crate::program::{Access, AsyncOp, AtomicOp, ControlOp, CopyOp, MemoryOp, Op, Pc, Program};

/// What the code of a kernel does that matters for the order of blocks.
#[derive(Clone, Copy, Default)]
struct Traits {
    /// It synchronizes with other blocks, or asks where or when it runs.
    depends: bool,
    /// It may spin: how often may depend on when copies end.
    may_spin: bool,
    /// It copies asynchronously.
    copies: bool,
}

/// True if the blocks of a launch may run in parts, as far as the options and the code of the kernel say. That no block reads what another
/// one writes is found out by running them.
pub(super) fn is_separable(machine: &Machine, options: &RunOptions) -> bool {
    let config = machine.config();
    let is_plain = options.schedule == Schedule::InOrder
        && options.memory == MemoryModel::default()
        && options.host.is_none()
        && matches!(options.copies, CompletionPolicyKind::Lazy | CompletionPolicyKind::Eager)
        && !config.cooperative
        && config.only.is_empty()
        && config.instrumentation != Instrumentation::RunsAndWrites;
    is_plain && {
        let Traits { depends, may_spin, copies } =
            traits(machine.program(), machine.program().functions[config.kernel.index()].code.clone());
        !(depends || may_spin && copies)
    }
}

fn traits(program: &Program, code: Range<u32>) -> Traits {
    let calls = code.clone().map(Pc).any(|pc| matches!(program.code[pc.index()].op, Op::Control(ControlOp::Call { .. })));
    let all = if calls { 0..program.code.len() as u32 } else { code };
    let mut traits = Traits::default();
    all.map(Pc).for_each(|pc| add_traits(program, pc, &mut traits));
    traits
}

fn add_traits(program: &Program, pc: Pc, traits: &mut Traits) {
    traits.depends |= reads_nondeterministic(program, pc);
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others stay inside the block")]
    match &program.code[pc.index()].op {
        Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if access.ordering != Ordering::Weak => {
            add_strong(access, true, traits);
        }
        Op::Memory(MemoryOp::Store { access, .. } | MemoryOp::StoreVector { access, .. }) if access.ordering != Ordering::Weak => {
            add_strong(access, false, traits);
        }
        Op::Atomic(AtomicOp::Single { access, f, .. } | AtomicOp::Vector { access, f, .. }) => {
            add_strong(access, matches!(f, AtomicFn::Cas | AtomicFn::Exch), traits);
        }
        Op::Async(AsyncOp::Copy { copy }) => {
            traits.copies = true;
            traits.depends |= !matches!(program.copies[*copy], CopyOp::Lanes { .. });
        }
        Op::Mbarrier(_) | Op::Wgmma(_) | Op::TensorMap(_) | Op::Image { .. } | Op::Cluster(_) => traits.depends = true,
        Op::Control(ControlOp::SystemCall { f, .. }) => traits.depends |= *f != SystemFn::AssertFail,
        Op::Control(ControlOp::Breakpoint) => traits.depends = true,
        _ => {}
    }
}

/// Adds a strong access: outside shared memory it may be a message of one block to another.
fn add_strong(access: &Access, may_spin: bool, traits: &mut Traits) {
    traits.may_spin |= may_spin;
    traits.depends |= !matches!(access.space, Space::Shared | Space::Local | Space::Param | Space::ParamFunc | Space::Const);
}
