//! The analyses of a function that advice uses: its control flow, its def-use chains, and its divergent basic blocks.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::cfg::{BlockId, ControlFlow, Loop};
use crate::flow::def_use::{DefUse, Definition};
use crate::flow::graph::Graph as _;
use crate::flow::reach::closure;
use crate::isa::Space;
use crate::program::operands::{RegisterOperand, Use, address_registers, reads, registers_of};
use crate::program::{Address, AtomicOp, Bank, Base, ControlOp, FuncId, Inst, MemoryOp, Mention, Named, Op, Pc, Program, SrcKind, WarpOp};

/// The most copies of a register that are followed, one of the other.
const MAX_COPIES: usize = 8;

/// A function and its analyses.
pub struct FunctionAnalysis {
    code: Range<usize>,
    flow: ControlFlow,
    def_use: DefUse<ControlFlow>,
    /// By block: whether it is control-dependent on a branch whose condition differs between threads.
    is_divergent: Vec<bool>,
}

impl FunctionAnalysis {
    /// The analyses of `function`, whose control flow is `flow`.
    pub fn new(program: &Program, function: FuncId, flow: &ControlFlow) -> Self {
        let code = program.functions[function.index()].code.clone();
        let code = code.start as usize..code.end as usize;
        let def_use = DefUse::new(program, code.clone(), flow.clone());
        let mut analysis = Self { code, flow: flow.clone(), def_use, is_divergent: vec![false; flow.nodes()] };
        analysis.is_divergent = analysis.divergent_blocks(program);
        analysis
    }

    /// Its control flow.
    pub fn flow(&self) -> &ControlFlow {
        &self.flow
    }

    /// The definitions that reach the uses of its registers.
    pub fn def_use(&self) -> &DefUse<ControlFlow> {
        &self.def_use
    }

    /// True if `block` is control-dependent on a branch whose condition differs between threads.
    pub fn is_divergent(&self, block: BlockId) -> bool {
        self.is_divergent[block.index()]
    }

    /// All instructions.
    pub fn code(&self) -> impl Iterator<Item = Pc> + use<> {
        self.code.clone().map(|at| Pc(at as u32))
    }

    /// The backward slice of `registers` at `at`, up to instructions that do more than compute. If `through_memory`, also through the
    /// addresses of loads and the operands of `shfl`.
    fn slice(&self, program: &Program, registers: Vec<RegisterOperand>, at: usize, through_memory: bool) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut worklist: Vec<(RegisterOperand, usize)> = registers.into_iter().map(|register| (register, at)).collect();
        while let Some((register, at)) = worklist.pop() {
            for definition in self.def_use.definitions_past_entry(register, at) {
                let Definition::At(at) = definition else { continue };
                let inst = &program.code[at];
                let is_followed = inst.op.effects(program).only_computes()
                    || through_memory && (is_load(&inst.op) || matches!(inst.op, Op::Warp(WarpOp::Shuffle { .. })));
                if found.insert(at) && is_followed {
                    worklist.extend(reads(inst, program).into_iter().map(|register| (register, at)));
                }
            }
        }
        found
    }

    /// The instructions that the value stored at `pc` is computed from.
    pub fn sources(&self, program: &Program, pc: Pc) -> BTreeSet<usize> {
        self.slice(program, values(&program.code[pc.index()], program), pc.index(), false)
    }

    /// The instructions that the guard at `pc` is computed from.
    pub fn guard_sources(&self, program: &Program, pc: Pc) -> BTreeSet<usize> {
        let mut guard = Vec::new();
        registers_of(&program.code[pc.index()], program, |used, register| guard.extend((used == Use::Guard).then_some(register)));
        self.slice(program, guard, pc.index(), false)
    }

    /// The instructions that the address at `pc` is computed from.
    pub fn address_sources(&self, program: &Program, pc: Pc) -> BTreeSet<usize> {
        let registers = address_registers(&program.code[pc.index()], program).to_vec();
        self.slice(program, registers, pc.index(), false)
    }

    /// The only definition of `register` that reaches `at`, if there is just one.
    pub fn sole_definition(&self, register: RegisterOperand, at: usize) -> Option<usize> {
        match self.def_use.definitions_past_entry(register, at)[..] {
            [Definition::At(at)] => Some(at),
            [] | [_, ..] => None,
        }
    }

    /// True if two accesses of one thread are to the same location: their addresses come from one value of one register, or are one
    /// constant.
    pub fn is_same_location(&self, program: &Program, one: Pc, other: Pc) -> bool {
        self.distance(program, one, other) == Some(0)
    }

    /// Bytes from the first of two accesses of one thread to the second, if their addresses differ only by a constant offset from one value
    /// of one register, or are constants.
    pub fn distance(&self, program: &Program, one: Pc, other: Pc) -> Option<i64> {
        let (one_space, a) = address(&program.code[one.index()].op)?;
        let (other_space, b) = address(&program.code[other.index()].op)?;
        let is_same_start = match (base_register(a), base_register(b)) {
            (Ok(a), Ok(b)) => {
                let (a, b) = (self.root(program, a, one.index()), self.root(program, b, other.index()));
                (a.0, self.origins(a)) == (b.0, self.origins(b))
            }
            (Err(a), Err(b)) => a == b && a != Base::Frame,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        (one_space == other_space && is_same_start).then(|| i64::from(b.offset) - i64::from(a.offset))
    }

    /// The register that a value was copied from, or converted from as a generic address, and the instruction that reads it.
    fn root(&self, program: &Program, register: RegisterOperand, at: usize) -> (RegisterOperand, usize) {
        let before = |(register, at): &(RegisterOperand, usize)| {
            let at = self.sole_definition(*register, *at)?;
            let is_copy = program.opcode(Pc(at as u32)).is_some_and(|opcode| matches!(opcode.stem(), "mov" | "cvta"));
            let read = reads(&program.code[at], program);
            (is_copy && read.len() == 1 && read[0].bank == register.bank).then(|| (read[0], at))
        };
        std::iter::successors(Some((register, at)), before).take(MAX_COPIES).last().unwrap_or((register, at))
    }

    /// The definitions that reach a register at an instruction, in order.
    fn origins(&self, (register, at): (RegisterOperand, usize)) -> Vec<Definition> {
        let mut found = self.def_use.definitions_past_entry(register, at);
        found.sort_by_key(|definition| match definition {
            Definition::Entry => None,
            Definition::At(at) => Some(*at),
        });
        found
    }

    /// True if the instruction at `pc` is directly control-dependent on the branch at `branch`.
    pub fn is_control_dependent(&self, pc: Pc, branch: Pc) -> bool {
        if pc == branch {
            return true;
        }
        let (Some(block), Some(dependent)) = (self.flow.block_of(branch), self.flow.block_of(pc)) else { return false };
        let after = |block: BlockId| std::iter::successors(Some(block), |block| self.flow.ipdom(*block)).any(|block| block == dependent);
        block != dependent && !after(block) && self.flow.successors(block).iter().any(|next| after(*next))
    }

    /// True if there is no point between two accesses that all threads of the block reach together.
    pub fn has_no_common_point(&self, one: Pc, other: Pc) -> bool {
        let (Some(a), Some(b)) = (self.flow.block_of(one), self.flow.block_of(other)) else { return false };
        let may_diverge = |block: BlockId| self.is_divergent[block.index()];
        if one == other || !may_diverge(a) || !may_diverge(b) {
            return false;
        }
        if a == b {
            // Between one turn of a loop and the next, the threads meet at its head.
            let is_met = |natural_loop: &Loop| natural_loop.blocks.contains(&a) && !may_diverge(natural_loop.header);
            return !self.flow.loops().iter().any(is_met);
        }
        let forward = |from: BlockId, to: BlockId, through: &dyn Fn(BlockId) -> bool| {
            let next = |block: BlockId| {
                let nexts = self.flow.successors(block).iter().copied();
                nexts
                    .filter(|next| !self.flow.dominates(*next, block) && (*next == to || through(*next)))
                    .map(BlockId::index)
                    .collect::<Vec<_>>()
            };
            closure(self.flow.nodes(), next(from), |block| next(BlockId::new(block))).contains(to.index())
        };
        let any = |_: BlockId| true;
        match (forward(a, b, &any), forward(b, a, &any)) {
            (false, false) => true,
            (true, _) => forward(a, b, &may_diverge),
            (false, true) => forward(b, a, &may_diverge),
        }
    }

    fn divergent_blocks(&self, program: &Program) -> Vec<bool> {
        let mut found = vec![false; self.flow.nodes()];
        for (block, code) in self.flow.blocks() {
            let branch = code.end as usize - 1;
            let inst = &program.code[branch];
            let nexts = self.flow.successors(block);
            if nexts.len() < 2 || !matches!(inst.op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. })) {
                continue;
            }
            let sources = self.slice(program, reads(inst, program).to_vec(), branch, true);
            if !sources.iter().any(|at| differs_between_threads(program, *at)) {
                continue;
            }
            let end = self.flow.ipdom(block).map(BlockId::index);
            let nexts = |block: usize| self.flow.successor_nodes(block).filter(|next| Some(*next) != end).collect::<Vec<_>>();
            closure(self.flow.nodes(), nexts(block.index()), nexts).order().iter().for_each(|block| found[*block] = true);
        }
        found
    }
}

/// The registers that the instruction reads, other than for its address or guard.
fn values(inst: &Inst, program: &Program) -> Vec<RegisterOperand> {
    let mut found = Vec::new();
    registers_of(inst, program, |used, register| found.extend((used == Use::Read).then_some(register)));
    found
}

/// The address of a load, a store or an atomic, and its space.
fn address(op: &Op) -> Option<(Space, Address)> {
    if let Op::Memory(
        MemoryOp::Load { access, address, .. }
        | MemoryOp::LoadVector { access, address, .. }
        | MemoryOp::Store { access, address, .. }
        | MemoryOp::StoreVector { access, address, .. },
    )
    | Op::Atomic(AtomicOp::Single { access, address, .. } | AtomicOp::Vector { access, address, .. }) = *op
    {
        return Some((access.space, address));
    }
    None
}

/// The base register of an address, or the base if it is no register.
fn base_register(address: Address) -> Result<RegisterOperand, Base> {
    let (bank, src) = match address.base {
        Base::Narrow(src) => (Bank::B32, src),
        Base::Wide(src) => (Bank::B64, src),
        Base::Frame => return Err(address.base),
    };
    match src.kind() {
        SrcKind::Reg(slot) => Ok(RegisterOperand { bank, slot, width: 1 }),
        SrcKind::Const(_) | SrcKind::Special(_) => Err(address.base),
    }
}

/// The space of a load.
pub(super) fn load_space(op: &Op) -> Option<Space> {
    if let Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) = op { Some(access.space) } else { None }
}

fn is_load(op: &Op) -> bool {
    load_space(op).is_some()
}

/// True if the instruction at `at` may give different values to threads of a block.
fn differs_between_threads(program: &Program, at: usize) -> bool {
    let is_per_thread = |mention: &Mention| match mention.named {
        Named::Special(special) => ["%tid", "%laneid", "%warpid", "%lanemask"].iter().any(|prefix| special.name().starts_with(prefix)),
        Named::Variable(_) | Named::Callee(_) => false,
    };
    program.mentions(Pc(at as u32)).iter().any(is_per_thread)
        || matches!(program.code[at].op, Op::Atomic(_) | Op::Warp(WarpOp::Elect { .. } | WarpOp::Match { .. }))
}
