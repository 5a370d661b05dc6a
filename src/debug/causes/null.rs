//! Null pointers that the kernel loaded from memory: where they come from.

use super::Launched;
use crate::cfg::ControlFlow;
use crate::debug::focus::Focus;
use crate::debug::memory;
use crate::debug::names::place;
use crate::debug::scene::{Buffer, Frame, Scene};
use crate::debug::site::{FileLine, source_lines};
use crate::flow::def_use::{DefUse, Definition};
use crate::isa::Space;
use crate::machine::{Machine, Trap, TrapKind};
use crate::program::operands::{RegisterOperand, address_registers, reads, writes};
use crate::program::{Address, Bank, Base, MemoryOp, Op, Pc, Program, SrcKind};

/// Instructions between the load of a pointer and its use that are followed at most.
const FOLLOWED: usize = 64;

/// What is said of a null pointer that one load brought: where it was loaded, and from which place, if that can be known still.
pub fn null_loaded(launched: Launched<'_>, trap: &Trap, machine: &Machine) -> Option<String> {
    if trap.kind != TrapKind::Null || trap.lanes.is_empty() {
        return None;
    }
    let program = launched.program;
    let buffers: Vec<Buffer> = launched.buffers.iter().map(Buffer::of).collect();
    let point = trap.place;
    let focus = Focus { block: point.block, warp: point.warp.number(), lane: trap.lanes.first() as u32, frame: 0 };
    let scene = Scene::at(machine, focus).with_buffers(&buffers);
    let frame = scene.frame().ok()?;
    let code = program.functions[frame.function.index()].code.clone();
    let flow = ControlFlow::new(program, frame.function);
    let trace = Trace { program, frame, def_use: DefUse::new(program, code.start as usize..code.end as usize, flow), at: point.pc.index() };
    let (load, is_certain) = trace.load_of_pointer()?;
    let pc = Pc::new(load);
    let source = source_lines(program, pc).last().map_or_else(String::new, |line| format!(" ({})", FileLine::short(line)));
    let loaded = format!("the pointer was loaded at {}{source}", program.place(pc));
    match trace.address(load).and_then(|(space, address)| held(&scene, space, address)) {
        Some(name) => Some(format!("{loaded} from {name}, which holds 0")),
        None => is_certain.then(|| format!("{loaded}, which gave 0")),
    }
}

/// The name of a place that holds a null pointer.
fn held(scene: &Scene<'_>, space: Space, address: u64) -> Option<String> {
    let mut pointer = vec![0; scene.program().address_bits as usize / 8];
    memory::read(scene, space, address, &mut pointer).ok()?;
    pointer.iter().all(|byte| *byte == 0).then(|| place::element(scene, space, address).name)
}

/// The way back from an address to where it was loaded.
struct Trace<'a> {
    program: &'a Program,
    frame: Frame<'a>,
    def_use: DefUse<ControlFlow>,
    /// The instruction whose address is null.
    at: usize,
}

impl Trace<'_> {
    /// The load, of all from which the address is computed, whose result may be null, and whether it surely is: none if there are none or
    /// several.
    fn load_of_pointer(&self) -> Option<(usize, bool)> {
        let own = address_registers(&self.program.code[self.at], self.program);
        let mut open: Vec<(RegisterOperand, usize)> = own.into_iter().map(|register| (register, self.at)).collect();
        let (mut seen, mut loads) = (Vec::new(), Vec::new());
        while let Some((register, at)) = open.pop().filter(|_| seen.len() < FOLLOWED) {
            for definition in self.def_use.definitions_past_entry(register, at) {
                let Definition::At(at) = definition else { continue };
                if seen.contains(&at) {
                    continue;
                }
                seen.push(at);
                let inst = &self.program.code[at];
                if address(&inst.op).is_some() {
                    let is_known = self.is_unchanged(register, at + 1);
                    loads.extend((!is_known || self.is_null(register)).then_some((at, is_known)));
                } else if inst.op.effects(self.program).only_computes() {
                    open.extend(reads(inst, self.program).into_iter().filter(|read| self.is_pointer(*read)).map(|read| (read, at)));
                }
            }
        }
        let [load] = loads[..] else { return None };
        Some(load)
    }

    /// Whether a register is as wide as an address.
    fn is_pointer(&self, register: RegisterOperand) -> bool {
        register.bank == if self.program.address_bits == 64 { Bank::B64 } else { Bank::B32 }
    }

    /// What a register holds in the lane that faulted.
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

    /// Whether a register holds at the fault what it held at `at`.
    fn is_unchanged(&self, register: RegisterOperand, at: usize) -> bool {
        at == self.at || self.def_use.is_unchanged(register, at, self.at)
    }

    /// From which address the load at `at` has read, if its register holds that still.
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

/// The space and the address of a load of memory that is no parameter.
fn address(op: &Op) -> Option<(Space, Address)> {
    let Op::Memory(MemoryOp::Load { access, address, .. } | MemoryOp::LoadVector { access, address, .. }) = *op else { return None };
    let is_memory = !matches!(access.space, Space::Param | Space::ParamFunc);
    is_memory.then_some((access.space, address))
}

/// The number from which an address starts, if it is one.
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
