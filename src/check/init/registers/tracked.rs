//! What has to be tracked in a run: the registers that the value of a candidate, or what `shfl` gives, can come into, and the
//! instructions that use those.

use std::collections::BTreeMap;

use super::candidates::candidates;
use super::kinds::{is_collective, only_computes, passes_on};
use crate::flow::cells::FrameCells;
use crate::flow::taint::Taint;
use crate::program::operands::{RegisterOperand, RegisterOperands, Use, registers_of, writes};
use crate::program::{Bank, ControlOp, FuncId, Inst, Op, Pc, Program, Slot, WarpOp};

/// The registers of one function that may be undefined.
#[derive(Debug, Default)]
pub(super) struct TrackedRegisters {
    /// The number of each, by bank and slot.
    numbers: [Vec<Option<u32>>; 3],
    /// How many there are.
    count: u32,
    /// Those that may be read before they are written.
    pub unwritten: Vec<usize>,
}

impl TrackedRegisters {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// The numbers of those that `register` is.
    pub fn numbers(&self, register: RegisterOperand) -> impl Iterator<Item = usize> + '_ {
        let numbers = &self.numbers[register.bank as usize];
        register.slot.run(register.width).filter_map(move |slot| Some((*numbers.get(slot.index())?)? as usize))
    }

    /// Adds a register, if it is not there.
    fn add(&mut self, register: RegisterOperand) {
        let numbers = &mut self.numbers[register.bank as usize];
        let end = register.slot.offset(register.width).index();
        if numbers.len() < end {
            numbers.resize(end, None);
        }
        for number in numbers[register.slot.index()..end].iter_mut().filter(|number| number.is_none()) {
            *number = Some(self.count);
            self.count += 1;
        }
    }

    /// All of them, by the numbers of `cells`.
    fn cells(&self, cells: &FrameCells) -> impl Iterator<Item = usize> {
        [Bank::B32, Bank::B64, Bank::Pred].into_iter().flat_map(move |bank| {
            let numbered = self.numbers[bank as usize].iter().zip((0..).map(Slot)).filter(|(number, _)| number.is_some());
            numbered.map(move |(_, slot)| cells.cell(bank, slot) as usize)
        })
    }

    fn holds(&self, register: RegisterOperand) -> bool {
        self.numbers(register).next().is_some()
    }
}

/// What has to be tracked of a program.
#[derive(Debug, Default)]
pub(super) struct Tracking {
    /// The functions that have candidates, or a `shfl`.
    pub functions: BTreeMap<FuncId, TrackedRegisters>,
    /// By pc, whether an instruction uses a tracked register, is a warp collective, or calls a function.
    pub code: Vec<bool>,
    /// Whether some function has candidates.
    pub has_unwritten: bool,
}

impl Tracking {
    /// Analyzes a program.
    pub fn new(program: &Program) -> Self {
        let ids = (0..program.functions.len()).map(FuncId::new);
        let functions: BTreeMap<FuncId, TrackedRegisters> = ids.filter_map(|id| Some((id, tracked(program, id)?))).collect();
        let mut code = vec![false; if functions.is_empty() { 0 } else { program.code.len() }];
        for (pc, flag) in code.iter_mut().enumerate() {
            let inst = &program.code[pc];
            let function = program.function_at(Pc::new(pc)).and_then(|id| functions.get(&id));
            let uses = |function| is_collective(&inst.op, program) || touches(program, inst, function);
            *flag = matches!(inst.op, Op::Control(ControlOp::Call { .. })) || function.is_some_and(uses);
        }
        let has_unwritten = functions.values().any(|tracked| !tracked.unwritten.is_empty());
        Self { functions, code, has_unwritten }
    }
}

/// The registers to track in a function; none if it has neither candidates nor a `shfl`.
fn tracked(program: &Program, id: FuncId) -> Option<TrackedRegisters> {
    let mut tracked = TrackedRegisters::default();
    for register in candidates(program, id) {
        tracked.add(register);
    }
    tracked.unwritten = (0..tracked.len()).collect();
    let function = &program.functions[id.index()];
    let code = &program.code[function.code.start as usize..function.code.end as usize];
    for inst in code.iter().filter(|inst| matches!(inst.op, Op::Warp(WarpOp::Shuffle { .. }))) {
        let values = writes(inst, program).into_iter().filter(|register| register.bank != Bank::Pred);
        values.for_each(|register| tracked.add(register));
    }
    if tracked.len() == 0 {
        return None;
    }
    let cells = FrameCells::new(function.slots, 0);
    let tainted = taint(program, code, &cells).spread(tracked.cells(&cells));
    for (bank, slots) in [(Bank::B32, function.slots.b32), (Bank::B64, function.slots.b64), (Bank::Pred, function.slots.pred)] {
        let registers = Slot::default().run(slots).map(|slot| RegisterOperand { bank, slot, width: 1 });
        registers.filter(|register| tainted.contains(cells.cell(bank, register.slot) as usize)).for_each(|register| tracked.add(register));
    }
    Some(tracked)
}

/// Where values come into: what the instructions that pass them on make of what.
fn taint(program: &Program, code: &[Inst], cells: &FrameCells) -> Taint {
    let mut taint = Taint::new(cells.end());
    for inst in code.iter().filter(|inst| passes_on(&inst.op, program)) {
        let (mut read, mut written) = (RegisterOperands::new(), RegisterOperands::new());
        registers_of(inst, program, |used, register| match used {
            Use::Write => written.push(register),
            Use::Read => read.push(register),
            Use::Guard if only_computes(inst, program) => read.push(register),
            Use::Guard | Use::Address => {}
        });
        taint.rule(read.into_iter().flat_map(|register| cells.of(register)), written.into_iter().flat_map(|register| cells.of(register)));
    }
    taint
}

fn touches(program: &Program, inst: &Inst, function: &TrackedRegisters) -> bool {
    let mut touches = false;
    registers_of(inst, program, |_, register| touches |= function.holds(register));
    touches
}
