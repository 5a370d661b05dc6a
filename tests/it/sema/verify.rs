//! What holds for every program: indices are in range, places do not overlap, code ends where it must.

use ptxdbg::isa::{Space, SystemFn};
use ptxdbg::program::{Address, Bank, Base, CallArg, CallTarget, ControlOp, Function, Inst, MemoryOp, Op, Pc, Program, Src, SrcKind};

/// What does not hold.
pub fn problems(program: &Program) -> Vec<String> {
    let mut problems = Vec::new();
    if program.spans.len() != program.code.len() || program.source_lines.len() != program.code.len() {
        problems.push("the tables beside the code have other lengths".to_string());
    }
    let mut next = 0;
    // A function may be declared before others and defined after them.
    let mut functions: Vec<&Function> = program.functions.iter().collect();
    functions.sort_by_key(|function| (function.code.start, function.code.end));
    for function in functions {
        next = function_problems(program, function, next, &mut problems);
    }
    if next as usize != program.code.len() {
        problems.push("some code belongs to no function".to_string());
    }
    overlaps(program, &mut problems);
    calls(program, &mut problems);
    problems
}

/// Checks the code of a function, which must follow the code that ends at `next`; returns its end.
fn function_problems(program: &Program, function: &Function, next: u32, problems: &mut Vec<String>) -> u32 {
    let mut problem = |text: String| problems.push(format!("{}: {text}", function.name));
    if !function.frame_bytes.is_multiple_of(16) {
        problem(format!("a frame of {} bytes", function.frame_bytes));
    }
    let limit = |bank: Bank| match bank {
        Bank::B32 => function.slots.b32,
        Bank::B64 => function.slots.b64,
        Bank::Pred => function.slots.pred,
    };
    for register in &function.registers {
        let slots = register.components().filter_map(|(_, number)| function.placement.slot(register.bank, number));
        let end = slots.map(|slot| slot.0 + register.width()).max().unwrap_or(0);
        if end > limit(register.bank) || register.scope.start > register.scope.end {
            problem(format!("register {} has slots up to {end}", register.name));
        }
    }
    if function.code.is_empty() {
        return next;
    }
    if function.code.start != next {
        problem(format!("code starts at {} and not at {next}", function.code.start));
    }
    if !function.labels.iter().all(|(_, pc)| function.code.contains(&pc.0)) || !function.labels.is_sorted_by_key(|(_, pc)| *pc) {
        problem("labels are out of order or out of range".to_string());
    }
    let code = &program.code[function.code.start as usize..function.code.end as usize];
    if !matches!(code.last(), Some(Inst { guard: None, op: Op::Control(ControlOp::Return { .. }) })) {
        problem("the code does not end with a return".to_string());
    }
    for inst in code {
        let targets: &[Pc] = match &inst.op {
            Op::Control(ControlOp::Branch { target, .. }) => std::slice::from_ref(target),
            Op::Control(ControlOp::BranchIndexed { table, .. }) => &program.tables[*table],
            _ => &[],
        };
        if !targets.iter().all(|target| function.code.contains(&target.0))
            || inst.guard.is_some_and(|guard| guard.slot.0 >= function.slots.pred)
        {
            problem(format!("{inst:?} leaves its function"));
        }
        if let Op::Memory(MemoryOp::Load { address, .. } | MemoryOp::Store { address, .. }) = inst.op
            && !address_is_valid(program, function, address)
        {
            problem(format!("{inst:?} has an address out of range"));
        }
    }
    function.code.end
}

fn address_is_valid(program: &Program, function: &Function, address: Address) -> bool {
    match address.base {
        Base::Narrow(src) => source_is_valid(src, function.slots.b32, program.consts32.len(), program),
        Base::Wide(src) => source_is_valid(src, function.slots.b64, program.consts64.len(), program),
        Base::Frame => address.offset >= 0 && address.offset.unsigned_abs() < function.frame_bytes.max(1),
    }
}

fn source_is_valid(src: Src, slots: u32, constants: usize, program: &Program) -> bool {
    match src.kind() {
        SrcKind::Reg(slot) => slot.0 < slots,
        SrcKind::Const(index) => (index as usize) < constants,
        SrcKind::Special(index) => (index as usize) < program.specials.len(),
    }
}

/// Checks that variables of one space, and of one frame, do not overlap. Shared variables may, if no kernel reaches both.
fn overlaps(program: &Program, problems: &mut Vec<String>) {
    let mut places: Vec<_> = program
        .variables
        .iter()
        .filter(|variable| variable.location.space != Space::Shared)
        .map(|variable| {
            let frame = matches!(variable.location.space, Space::Local | Space::ParamFunc).then_some(variable.function).flatten();
            let space = if frame.is_some() { Space::Local } else { variable.location.space };
            (frame, space, variable.location.address, variable.bytes, &variable.name, variable.align)
        })
        .collect();
    places.sort();
    for pair in places.windows(2) {
        if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) && pair[0].2 + pair[0].3 > pair[1].2 {
            problems.push(format!("{} and {} overlap", pair[0].4, pair[1].4));
        }
    }
    let misaligned = places.iter().filter(|place| !place.2.is_multiple_of(u64::from(place.5)));
    problems.extend(misaligned.map(|place| format!("{} is misaligned", place.4)));
}

/// Checks that calls pass as many arguments as are wanted, and only to functions with a body or of the device runtime.
fn calls(program: &Program, problems: &mut Vec<String>) {
    for (number, call) in program.calls.iter().enumerate() {
        let callees = match &call.target {
            CallTarget::Direct(id) => std::slice::from_ref(id),
            CallTarget::Indirect { candidates, .. } => candidates,
        };
        for callee in callees.iter().map(|id| &program.functions[id.index()]) {
            let fits = (callee.params.len(), callee.results.len()) == (call.args.len(), call.results.len());
            let has_body = !callee.code.is_empty() || SystemFn::from_name(&callee.name).is_some();
            if !fits || callee.is_kernel || !has_body {
                problems.push(format!("call {number} does not fit {}", callee.name));
            }
        }
        if call.args.contains(&CallArg::Ignored) {
            problems.push(format!("call {number} passes nothing"));
        }
    }
}
