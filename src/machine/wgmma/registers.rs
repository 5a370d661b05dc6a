//! Which instructions use the registers that some `wgmma` of their function has for A or D, worked out once a launch: they are the only ones
//! whose registers are looked at while it runs.

use std::collections::BTreeSet;

use crate::program::operands::registers_of;
use crate::program::{Bank, Inst, Op, Pc, Program, SrcKind, WgmmaA, WgmmaOp};

/// The instructions, `wgmma` itself left out. Nothing for a program without `wgmma`.
pub struct WgmmaRegisters(Vec<bool>);

impl WgmmaRegisters {
    /// Those of `program`.
    pub fn new(program: &Program) -> Self {
        if program.wgmmas.is_empty() {
            return Self(Vec::new());
        }
        let mut uses = vec![false; program.code.len()];
        for function in &program.functions {
            let code = function.code.start as usize..function.code.end as usize;
            let slots: BTreeSet<u32> = program.code[code.clone()].iter().flat_map(|inst| slots_of(program, inst)).collect();
            for at in code.filter(|_| !slots.is_empty()) {
                let inst = &program.code[at];
                if !matches!(inst.op, Op::Wgmma { .. }) {
                    registers_of(inst, program, |_, register| uses[at] |= register.bank == Bank::B32 && slots.contains(&register.slot));
                }
            }
        }
        Self(uses)
    }

    /// Whether the instruction at `pc` is one of them.
    #[inline(always)]
    pub fn uses(&self, pc: Pc) -> bool {
        self.0.get(pc.index()).copied().unwrap_or(false)
    }
}

/// The slots that `inst` has for A or D if it is a `wgmma`.
fn slots_of(program: &Program, inst: &Inst) -> Vec<u32> {
    match inst.op {
        Op::Wgmma { wgmma } => program.wgmmas.get(wgmma.index()).map_or(Vec::new(), |op| {
            let accumulators = op.d.iter().map(|d| d.0);
            accumulators.chain(fragments(op)).collect()
        }),
        _ => Vec::new(),
    }
}

/// The slots of A, if it is in registers.
pub fn fragments(op: &WgmmaOp) -> impl Iterator<Item = u32> {
    let fragments = if let WgmmaA::Registers(fragments) = &op.a { &fragments[..] } else { &[] };
    fragments.iter().filter_map(|fragment| if let SrcKind::Reg(slot) = fragment.kind() { Some(slot) } else { None })
}
