//! The bases of all addresses in global memory that a function may write.

use super::address_base::{BasesOfValue, address_bases};
use crate::isa::Space;
use crate::program::{AsyncOp, Completion, ControlOp, CopyOp, Effect, FuncId, MatrixOp, Op, Pc, Program};

/// Where an instruction writes.
enum Written {
    /// Not to global memory.
    Elsewhere,
    /// To global memory, or to any memory, at its address.
    AtAddress,
    /// To global memory at an address that is not analyzed.
    Unknown,
}

impl Written {
    /// A write at the address of an instruction in `space`.
    fn at_address_in(space: Space) -> Self {
        match space {
            Space::Global | Space::Generic => Written::AtAddress,
            Space::Shared | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc | Space::Const => Written::Elsewhere,
        }
    }

    /// A write at another address, in `space`.
    fn unless_shared(space: Space) -> Self {
        if matches!(space, Space::Shared | Space::SharedCluster) { Written::Elsewhere } else { Written::Unknown }
    }
}

/// The bases of the addresses in global memory that `function` may write, one for each instruction that writes; `None` if the base of one
/// is not known, or if the function calls another one.
pub fn written_bases(program: &Program, function: FuncId) -> Option<Vec<BasesOfValue>> {
    let bases = address_bases(program, function);
    let mut written = Vec::new();
    for pc in program.functions[function.index()].code.clone().map(Pc) {
        match written_by(program, pc) {
            Written::Elsewhere => {}
            Written::AtAddress => {
                let found = bases.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
                written.push(bases[found].1.clone());
            }
            Written::Unknown => return None,
        }
    }
    Some(written)
}

fn written_by(program: &Program, pc: Pc) -> Written {
    let op = &program.code[pc.index()].op;
    if let Op::Control(ControlOp::Call { .. }) = op {
        return Written::Unknown;
    }
    if !op.effects(program).has(Effect::WritesMemory) {
        return Written::Elsewhere;
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed may write anywhere")]
    match op {
        Op::Memory(op) => Written::at_address_in(op.access().space),
        Op::Atomic(op) => Written::at_address_in(op.access().space),
        // Mbarriers are in shared memory; what the runtime writes is its own.
        Op::Mbarrier(_) | Op::Control(ControlOp::SystemCall { .. }) => Written::Elsewhere,
        Op::Async(AsyncOp::Copy { copy }) => match &program.copies[*copy] {
            CopyOp::Lanes { .. } | CopyOp::Store { .. } | CopyOp::Arrive { .. } => Written::Elsewhere,
            CopyOp::Bulk { to, .. } => Written::unless_shared(to.space),
            CopyOp::Tensor(copy) if matches!(copy.completion, Completion::Mbarrier(_)) => Written::Elsewhere,
            CopyOp::Tensor(_) => Written::Unknown,
        },
        Op::Matrix { matrix } => match &program.matrices[*matrix] {
            MatrixOp::Store(access) => Written::unless_shared(access.access.space),
            MatrixOp::StoreRows(_) | MatrixOp::Load(_) | MatrixOp::LoadRows(_) | MatrixOp::Multiply(_) | MatrixOp::Transpose { .. } => {
                Written::Elsewhere
            }
        },
        _ => Written::Unknown,
    }
}
