//! `explain`: an instruction in words, with the values of its operands and its effect.
//!
//! The words are those of the instruction table. The effect is never guessed: the instruction is executed on a copy of the machine, for the
//! focused warp, and the registers that it wrote are read there. The effect is given only for the instruction that the focused lane
//! executes next; for any other instruction, only the operands are shown.

mod effects;
mod tensor;

use super::eval_context::{EvalContext, Frame};
use super::expression::{Expression, register_bits};
use super::focus::ThreadFilter;
use super::names::scope;
use super::stale;
use super::value::{Scalar, Type};
use super::view;
use crate::isa::{OperandRole, OperandType, ScalarType, Space};
use crate::machine::{GroupState, LaneMask, Machine, NullObserver, Step};
use crate::program::{Bank, Opcode, Pc, Program, operands};

/// An instruction explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The instruction.
    pub pc: Pc,
    /// `file.ptx:12`.
    pub place: String,
    /// The statement.
    pub statement: String,
    /// Its help of the instruction table; none for a statement that is not in the table.
    pub help: Option<&'static str>,
    /// Its contraction with another instruction, if any.
    pub contraction: Option<view::ContractionNote>,
    /// Its operands and its effect for the focused lane, if that is in the function.
    pub lane: Option<LaneView>,
}

/// The operands and the effect of an instruction for one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneView {
    /// The lane.
    pub lane: u32,
    /// Its guard, as it is written, and whether it holds.
    pub guard: Option<(String, bool)>,
    /// The operands that are read.
    pub operands: Vec<OperandView>,
    /// The lanes that will execute it together with this one, and all lanes converged with it; none if it is not executed next.
    pub active: Option<(LaneMask, LaneMask)>,
    /// Its effect; none if it is not executed next.
    pub outcome: Option<StepOutcome>,
    /// The effect as equations and sentences: what is computed, where lanes go, which memory is meant.
    pub lines: Vec<String>,
}

/// An operand and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandView {
    /// Its letter in the manual.
    pub letter: String,
    /// As it is written.
    pub text: String,
    /// Its value; none for a literal.
    pub value: Option<String>,
}

/// The effect that an instruction will have for the focused lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The guard is false: nothing.
    Nothing,
    /// Registers get values: name, and the value before and after.
    Writes(Vec<(String, String, String)>),
    /// The lane branches: the target, as `file.ptx:12 <label>`, and the statement there.
    Branches(String, String),
    /// The lane already waits at it: the wait reason.
    AlreadyWaits(String),
    /// The lane then waits: the wait reason.
    Waits(String),
    /// The lane exits.
    Exits,
    /// It faults: the message.
    Faults(String),
    /// The lane continues with the next instruction, and no register changes.
    Continues,
    /// These other lanes of the warp run first.
    OthersFirst(LaneMask),
}

/// Explains the instruction at `pc`; without it, the one that the focused lane executes next.
pub fn explain(context: &EvalContext<'_>, pc: Option<Pc>) -> Option<Explanation> {
    let context = &context.with_names_as_in_ptx();
    let frame = context.frame().ok();
    let next = frame.as_ref().map(Frame::position);
    let pc = pc.or(next)?;
    let program = context.program();
    let function = program.function_at(pc)?;
    let text = view::statement(program, pc);
    let frame = frame.filter(|frame| frame.function == function);
    let lane = frame.map(|frame| lane_view(context, &frame, pc));
    let (help, contraction) = (program.opcode(pc).map(|opcode| opcode.matched.form.row.help), view::contraction_note(program, pc));
    Some(Explanation { pc, place: program.place(pc), help, contraction, lane, statement: text })
}

fn lane_view(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc) -> LaneView {
    let inst = &context.program().code[pc.index()];
    let innermost = frame.is_innermost_call();
    let is_ready = frame.group.state == GroupState::Ready;
    let is_next = innermost && frame.group.pc == pc && is_ready;
    let waits_here = innermost && frame.group.current_pc() == pc && !is_ready;
    let holds = |lane: u32| {
        inst.guard.is_none_or(|guard| {
            let bits = frame.warp.registers.pred.get(guard.slot.in_frame(frame.base.pred).index()).copied().unwrap_or(LaneMask::NONE);
            (bits.contains(lane as usize)) != guard.negate
        })
    };
    let active = frame.group.mask.filter(|lane| holds(lane as u32));
    let mut view = LaneView {
        lane: frame.lane,
        guard: context.program().guard_text(pc).map(|guard| (guard, holds(frame.lane))),
        operands: read_operands(context, pc),
        active: is_next.then_some((active, frame.group.mask)),
        outcome: match (is_next, waits_here) {
            (true, _) => Some(outcome(context, frame, pc, holds(frame.lane))),
            (_, true) => Some(StepOutcome::AlreadyWaits(state(context))),
            _ => None,
        },
        lines: Vec::new(),
    };
    if is_next {
        view.lines = effects::lines(context, frame, pc, &view);
        view.lines.extend(stale_read(context));
    }
    view
}

/// The matrix descriptors of the instruction that the focused lane executes next: the operands as written, and what they say.
pub fn descriptors(context: &EvalContext<'_>) -> Vec<(String, view::DescriptorView)> {
    let context = &context.with_names_as_in_ptx();
    context.frame().map_or(Vec::new(), |frame| effects::descriptors(context, frame.pc))
}

/// The memory that the instruction at `pc` accesses: the space, the type of an element, and the address operand with the number of elements
/// at it.
fn accessed_operand(program: &Program, pc: Pc) -> Option<(Space, ScalarType, (String, u64))> {
    let access = program.code[pc.index()].op.access()?;
    let texts = program.operand_texts(pc);
    let address = texts.iter().find(|text| text.starts_with('['))?;
    let matched = &program.opcode(pc)?.matched;
    let count = if matched.has("v2") {
        2
    } else if matched.has("v4") {
        4
    } else if matched.has("v8") {
        8
    } else {
        1
    };
    Some((access.space, effects::element_type(&matched.types), (address.clone(), count)))
}

/// The memory that an instruction accesses, or the one that the focused lane executes next: an expression for its first element.
pub fn accessed(context: &EvalContext<'_>, pc: Option<Pc>) -> Option<String> {
    let context = &context.with_names_as_in_ptx();
    let frame = context.frame().ok()?;
    let (space, ty, (text, _)) = accessed_operand(context.program(), pc.unwrap_or(frame.pc))?;
    let address = operand_address(context, &text)?;
    let space = if space == Space::Generic { String::new() } else { format!("{} ", space.word()) };
    Some(format!("*({space}{}*){address:#x}", ty.word()))
}

/// The operands that are read, with their values in the focused lane.
fn read_operands(context: &EvalContext<'_>, pc: Pc) -> Vec<OperandView> {
    let program = context.program();
    let Some(Opcode { matched, .. }) = program.opcode(pc) else { return Vec::new() };
    let forms = matched.form.operands.iter().filter(|form| form.only_with.is_none_or(|word| matched.has(word)));
    let last = matched.types.last().copied().unwrap_or(ScalarType::B32);
    let mut views = Vec::new();
    for ((form, text), index) in forms.zip(program.operand_texts(pc)).zip(0..) {
        let ty = match form.ty {
            OperandType::Last | OperandType::Double => last,
            OperandType::Nth(index) => matched.types.get(index).copied().unwrap_or(last),
            OperandType::Fixed(ty) => ty,
        };
        let value = match form.role {
            OperandRole::Dest | OperandRole::Label => continue,
            // Of an instruction whose operands have no fixed role, as `mov`, the first operand is written.
            OperandRole::Any if index == 0 => continue,
            OperandRole::Any => source(context, &text, ty, true),
            OperandRole::Address => address(context, &text, last, program.code[pc.index()].op.access().map(|access| access.space)),
            OperandRole::Source => source(context, &text, ty, form.ty == OperandType::Double),
        };
        views.push(OperandView { letter: form.name.to_string(), text, value });
    }
    views
}

/// The value of a source operand, in the instruction's type if that is as wide as the register: a `.b32` register that holds an `.f32` is
/// shown as `.f32`.
fn source(context: &EvalContext<'_>, text: &str, ty: ScalarType, as_declared: bool) -> Option<String> {
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '{' || c == '(') {
        return None;
    }
    let (negated, name) = text.strip_prefix('!').map_or((false, text), |name| (true, name));
    let value = Expression::parse(name).ok()?.evaluate(context).ok()?;
    let super::value::Value::Scalar(Scalar { ty: declared, bits }) = value else { return None };
    let same_width = matches!(declared, Type::Scalar(register) if register.bits() == ty.bits() && register != ScalarType::Pred);
    let scalar = if same_width && !as_declared { Scalar::new(Type::Scalar(ty), bits) } else { Scalar { ty: declared, bits } };
    let scalar = if negated { Scalar::truth(!scalar.is_true()) } else { scalar };
    Some(scalar.text(context, None))
}

/// `0x7f2000000010 <x+16>, which holds 1.5`
fn address(context: &EvalContext<'_>, text: &str, ty: ScalarType, space: Option<Space>) -> Option<String> {
    let space = space?;
    let bits = operand_address(context, text)?;
    let location = super::value::text::address(context, space, bits);
    let mut bytes = [0; 16];
    let bytes = &mut bytes[..(ty.bytes() as usize).clamp(1, 16)];
    Some(match super::memory::read(context, space, bits, bytes) {
        Ok(()) => {
            let content = Scalar::new(Type::Scalar(ty), super::expression::little_endian(bytes)).text(context, None);
            format!("{location}, which holds {content}")
        }
        Err(error) => format!("{location}: {error}"),
    })
}

/// The address that an operand such as `[%rd1+4]` names.
fn operand_address(context: &EvalContext<'_>, text: &str) -> Option<u64> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let named = Expression::parse(&format!("(u64)({})", inner.replace("+-", "-"))).ok()?.evaluate(context);
    let by_name = Expression::parse(&format!("(u64)&({inner})")).ok().and_then(|expression| expression.evaluate(context).ok());
    let is_register = inner.starts_with('%')
        || matches!(context.frame(), Ok(frame) if scope::register(context.function(&frame), frame.pc, stem(inner)).is_some());
    let value = if is_register { named.ok()? } else { by_name.or_else(|| offset_of_name(context, inner))? };
    let super::value::Value::Scalar(Scalar { bits, .. }) = value else { return None };
    Some(bits as u64)
}

/// The name before `+4` or `-4`.
fn stem(text: &str) -> &str {
    text.split(['+', '-']).next().unwrap_or(text).trim()
}

/// The address of `name+4`: the offset counts bytes, whatever the variable holds.
fn offset_of_name(context: &EvalContext<'_>, text: &str) -> Option<super::value::Value> {
    let (name, offset) = text.split_at(stem(text).len());
    let expression = format!("(u64)&({name}) {}", offset.replace("+-", "-"));
    Expression::parse(&expression).ok()?.evaluate(context).ok()
}

/// That the instruction will return an older write than the newest, on weak memory.
fn stale_read(context: &EvalContext<'_>) -> Option<String> {
    context.machine.weak_memory()?;
    let mut after: Machine = context.machine.clone();
    after.schedule_warp(context.focus.block, context.focus.warp);
    after.run(1, &mut NullObserver);
    stale::texts_since(&EvalContext { machine: &after, ..*context }, context.machine.tick()).pop()
}

/// Executes the instruction on a copy of the machine and returns its effect for the focused lane.
fn outcome(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc, holds: bool) -> StepOutcome {
    if !holds {
        return StepOutcome::Nothing;
    }
    let (block, warp) = (context.focus.block, context.focus.warp);
    let next = context.machine.next_lanes(block, warp).unwrap_or(LaneMask::NONE);
    if !next.contains(frame.lane as usize) {
        return StepOutcome::OthersFirst(next);
    }
    let mut after: Machine = context.machine.clone();
    after.schedule_warp(block, warp);
    if let Step::Trapped(trap) = after.run(1, &mut NullObserver) {
        return StepOutcome::Faults(trap.message);
    }
    let later = EvalContext { machine: &after, ..*context };
    let Ok(group) = later.group() else { return StepOutcome::Exits };
    if !matches!(group.state, GroupState::Ready | GroupState::Deferred) {
        return StepOutcome::Waits(state(&later));
    }
    let writes = writes(context, &later, frame);
    match group.pc {
        _ if !writes.is_empty() => StepOutcome::Writes(writes),
        next if next.0 != pc.0 + 1 => {
            let program = context.program();
            StepOutcome::Branches(view::place(program, next), view::statement(program, next))
        }
        _ => StepOutcome::Continues,
    }
}

/// The state of the focused lane: running, or what it waits for.
fn state(context: &EvalContext<'_>) -> String {
    let lane_locations = view::lane_locations(context, &ThreadFilter::of_warp(&context.focus));
    let focused = lane_locations.iter().find(|location| context.is_focused(location.lanes));
    focused.map_or(String::new(), |location| location.state_in_words(context))
}

/// The registers that the instruction writes, named as in the statement, with their values before and after.
fn writes(context: &EvalContext<'_>, later: &EvalContext<'_>, frame: &Frame<'_>) -> Vec<(String, String, String)> {
    let program = context.program();
    let Some(inst) = program.code.get(frame.pc.index()) else { return Vec::new() };
    let (function, written) = (context.function(frame), operands::writes(inst, program));
    let Ok(warp) = later.warp() else { return Vec::new() };
    let last = program.opcode(frame.pc).and_then(|opcode| opcode.matched.types.last().copied());
    let operands = program.operand_texts(frame.pc);
    let mut writes: Vec<(String, String, String)> = Vec::new();
    let names = operands.iter().flat_map(|operand| operand.split(['{', '}', '(', ')', ',', '|', ' ', '[', ']']));
    for name in names.filter(|name| !name.is_empty()) {
        let Some(target) = scope::register(function, frame.pc, name) else { continue };
        let is_written = written.iter().any(|register| register.bank == target.bank && Some(register.slot) == target.slot);
        if !is_written || writes.iter().any(|(other, ..)| other == name) {
            continue;
        }
        // A `.b32` register to which an `.f32` is written is shown as `.f32`.
        let ty = last.filter(|ty| ty.bits() == target.ty.bits() && target.bank != Bank::Pred).unwrap_or(target.ty);
        let text = |context: &EvalContext<'_>, frame: &Frame<'_>| {
            let bits = register_bits(frame, &target).unwrap_or(0);
            Scalar::new(Type::Scalar(ty), bits).text(context, None)
        };
        writes.push((name.to_string(), text(context, frame), text(later, &Frame { warp, ..*frame })));
    }
    writes
}
