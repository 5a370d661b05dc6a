//! Null pointers that the kernel loaded from memory: the load and the location that it read.

use super::FaultedLaunch;
use crate::cfg::ControlFlow;
use crate::debug::eval_context::{Buffer, EvalContext, Frame};
use crate::debug::file_line::{FileLine, source_lines};
use crate::debug::focus::Focus;
use crate::debug::memory;
use crate::debug::names::memory_name;
use crate::flow::def_use::{DefUse, Definition};
use crate::isa::Space;
use crate::machine::{Machine, Trap, TrapKind};
use crate::program::operands::{RegisterOperand, address_registers, reads, writes};
use crate::program::{Address, Bank, Base, MemoryOp, Op, Pc, Program, SrcKind};

/// Maximum number of instructions followed between the use of a pointer and its load.
const FOLLOWED_MAX: usize = 64;

/// The note on a null pointer that a single load returned: the line of the load, and the location that it read, if that is still known.
pub fn null_loaded(launched: FaultedLaunch<'_>, trap: &Trap, machine: &Machine) -> Option<String> {
    if trap.kind != TrapKind::Null || trap.lanes.is_empty() {
        return None;
    }
    let program = launched.program;
    let buffers: Vec<Buffer> = launched.buffers.iter().map(Buffer::of).collect();
    let point = trap.point;
    let focus = Focus { block: point.block, warp: point.warp.number(), lane: trap.lanes.first() as u32, frame: 0 };
    let context = EvalContext::at(machine, focus).with_buffers(&buffers);
    let frame = context.frame().ok()?;
    let code = program.functions[frame.function.index()].code.clone();
    let flow = ControlFlow::new(program, frame.function);
    let slice =
        BackwardSlice { program, frame, def_use: DefUse::new(program, code.start as usize..code.end as usize, flow), at: point.pc.index() };
    let (load, is_certain) = slice.load_of_pointer()?;
    let pc = Pc::new(load);
    let source = source_lines(program, pc).last().map_or_else(String::new, |line| format!(" ({})", FileLine::short(line)));
    let loaded = format!("the pointer was loaded at {}{source}", program.place(pc));
    match slice.address(load).and_then(|(space, address)| name_of_null(&context, space, address)) {
        Some(name) => Some(format!("{loaded} from {name}, which holds 0")),
        None => is_certain.then(|| format!("{loaded}, which gave 0")),
    }
}

/// The name of a location that holds a null pointer.
fn name_of_null(context: &EvalContext<'_>, space: Space, address: u64) -> Option<String> {
    let mut pointer = vec![0; context.program().address_bits as usize / 8];
    memory::read(context, space, address, &mut pointer).ok()?;
    pointer.iter().all(|byte| *byte == 0).then(|| memory_name::element(context, space, address).name)
}

/// A backward slice from a null address to the load of the pointer.
struct BackwardSlice<'a> {
    program: &'a Program,
    frame: Frame<'a>,
    def_use: DefUse<ControlFlow>,
    /// The instruction whose address is null.
    at: usize,
}

impl BackwardSlice<'_> {
    /// The only load whose result may be null among those that the address is computed from, and whether its result is known to be null.
    fn load_of_pointer(&self) -> Option<(usize, bool)> {
        let registers = address_registers(&self.program.code[self.at], self.program);
        let mut worklist: Vec<(RegisterOperand, usize)> = registers.into_iter().map(|register| (register, self.at)).collect();
        let (mut visited, mut loads) = (Vec::new(), Vec::new());
        while let Some((register, at)) = worklist.pop().filter(|_| visited.len() < FOLLOWED_MAX) {
            for definition in self.def_use.definitions_past_entry(register, at) {
                let Definition::At(at) = definition else { continue };
                if visited.contains(&at) {
                    continue;
                }
                visited.push(at);
                let inst = &self.program.code[at];
                if address(&inst.op).is_some() {
                    let is_known = self.is_unchanged(register, at + 1);
                    loads.extend((!is_known || self.is_null(register)).then_some((at, is_known)));
                } else if inst.op.effects(self.program).only_computes() {
                    worklist.extend(reads(inst, self.program).into_iter().filter(|read| self.is_pointer(*read)).map(|read| (read, at)));
                }
            }
        }
        let [load] = loads[..] else { return None };
        Some(load)
    }

    /// True if a register is as wide as an address.
    fn is_pointer(&self, register: RegisterOperand) -> bool {
        register.bank == if self.program.address_bits == 64 { Bank::B64 } else { Bank::B32 }
    }

    /// The value of a register in the lane that faulted.
    fn value(&self, register: RegisterOperand) -> Option<u64> {
        let (registers, slot) = (&self.frame.warp.registers, register.slot.in_frame(self.frame.base.slot(register.bank)));
        let lane = self.frame.lane as usize % 32;
        match register.bank {
            Bank::B32 => registers.b32.get(slot.index()).map(|values| u64::from(values[lane])),
            Bank::B64 => registers.b64.get(slot.index()).map(|values| values[lane]),
            Bank::Pred => None,
        }
    }

    fn is_null(&self, register: RegisterOperand) -> bool {
        self.is_pointer(register) && self.value(register) == Some(0)
    }

    /// True if a register holds the same value at `at` and at the fault.
    fn is_unchanged(&self, register: RegisterOperand, at: usize) -> bool {
        at == self.at || self.def_use.is_unchanged(register, at, self.at)
    }

    /// The address that the load at `at` read, if its address register is unchanged.
    fn address(&self, at: usize) -> Option<(Space, u64)> {
        let (space, address) = address(&self.program.code[at].op)?;
        let is_written = |register: &RegisterOperand| writes(&self.program.code[at], self.program).contains(register);
        let start = match (address.base, constant(self.program, address.base)) {
            (Base::Frame, _) => None,
            (Base::Narrow(_) | Base::Wide(_), Some(constant)) => Some(constant),
            (Base::Narrow(_) | Base::Wide(_), None) => {
                let registers = address_registers(&self.program.code[at], self.program);
                let register = registers.first().filter(|register| !is_written(register) && self.is_unchanged(**register, at))?;
                self.value(*register)
            }
        };
        Some((space, start?.wrapping_add_signed(i64::from(address.offset))))
    }
}

/// The space and the address of a load of memory other than parameters.
fn address(op: &Op) -> Option<(Space, Address)> {
    let Op::Memory(MemoryOp::Load { access, address, .. } | MemoryOp::LoadVector { access, address, .. }) = *op else { return None };
    let is_memory = !matches!(access.space, Space::Param | Space::ParamFunc);
    is_memory.then_some((access.space, address))
}

/// The base of an address, if it is a constant.
fn constant(program: &Program, base: Base) -> Option<u64> {
    let (source, is_wide) = match base {
        Base::Narrow(source) => (source, false),
        Base::Wide(source) => (source, true),
        Base::Frame => return None,
    };
    match (source.kind(), is_wide) {
        (SrcKind::Const(index), false) => program.consts32.get(index as usize).map(|word| u64::from(*word)),
        (SrcKind::Const(index), true) => program.consts64.get(index as usize).copied(),
        (SrcKind::Reg(_) | SrcKind::Special(_), _) => None,
    }
}
