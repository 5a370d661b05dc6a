//! `explain`: an instruction in words, with what its operands hold now and what it will do.
//!
//! The words are those of the instruction table. What the instruction will do is never guessed: it is run on a copy of the machine, for
//! the focused warp, and the registers it wrote are read there. This is done only where the instruction is the one that the focused lane
//! executes next; of any other one only the operands are shown.

use super::expression::{Expression, register_bits};
use super::focus::ThreadFilter;
use super::names::scope;
use super::scene::{Frame, Scene};
use super::value::{Scalar, Type};
use super::view;
use crate::isa::{OperandType, Role, ScalarType, Space};
use crate::machine::{GroupState, LaneMask, Machine, NullObserver, Step};
use crate::program::{Bank, Opcode, Pc, operands};

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
    pub rounded_once: Option<view::ContractionNote>,
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
    /// The lanes that will execute it together with this one, and all that stand there; none where it is not executed next.
    pub active: Option<(LaneMask, LaneMask)>,
    /// Its effect; none where it is not executed next.
    pub outcome: Option<StepOutcome>,
}

/// An operand and what it holds.
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
    /// The lane goes elsewhere: where, as `file.ptx:12 <label>`, and the statement there.
    Goes(String, String),
    /// The lane waits there already: for what.
    Waiting(String),
    /// The lane then waits: for what.
    Waits(String),
    /// The lane exits.
    Exits,
    /// It faults: why.
    Faults(String),
    /// It goes on to the next instruction, and no register changes.
    GoesOn,
    /// Other lanes of the warp run first.
    NotItsTurn(LaneMask),
}

/// Explains the instruction at `pc`; without it, the one that the focused lane executes next.
pub fn explain(scene: &Scene<'_>, pc: Option<Pc>) -> Option<Explanation> {
    let scene = &scene.with_names_as_in_ptx();
    let frame = scene.frame().ok();
    let next = frame.as_ref().map(|frame| if scene.focus.frame == 0 { frame.group.current_pc() } else { frame.pc });
    let pc = pc.or(next)?;
    let program = scene.program();
    let function = program.function_at(pc)?;
    let text = view::statement(program, pc);
    let frame = frame.filter(|frame| frame.function == function);
    let lane = frame.map(|frame| lane_view(scene, &frame, pc));
    let (help, rounded_once) = (program.opcode(pc).map(|opcode| opcode.matched.form.row.help), view::rounded_once(program, pc));
    Some(Explanation { pc, place: program.place(pc), help, rounded_once, lane, statement: text })
}

fn lane_view(scene: &Scene<'_>, frame: &Frame<'_>, pc: Pc) -> LaneView {
    let inst = &scene.program().code[pc.index()];
    let innermost = scene.focus.frame == 0;
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
    LaneView {
        lane: frame.lane,
        guard: scene.program().guard_text(pc).map(|guard| (guard, holds(frame.lane))),
        operands: read_operands(scene, pc),
        active: is_next.then_some((active, frame.group.mask)),
        outcome: match (is_next, waits_here) {
            (true, _) => Some(outcome(scene, frame, pc, holds(frame.lane))),
            (_, true) => Some(StepOutcome::Waiting(state(scene))),
            _ => None,
        },
    }
}

/// The operands that are read, with what they hold in the focused lane.
fn read_operands(scene: &Scene<'_>, pc: Pc) -> Vec<OperandView> {
    let program = scene.program();
    let Some(Opcode { matched, .. }) = program.opcode(pc) else { return Vec::new() };
    let forms = matched.form.operands.iter().filter(|form| form.with.is_none_or(|word| matched.has(word)));
    let last = matched.types.last().copied().unwrap_or(ScalarType::B32);
    let mut views = Vec::new();
    for ((form, text), index) in forms.zip(program.operand_texts(pc)).zip(0..) {
        let ty = match form.ty {
            OperandType::Last | OperandType::Double => last,
            OperandType::Nth(index) => matched.types.get(index).copied().unwrap_or(last),
            OperandType::Fixed(ty) => ty,
        };
        let value = match form.role {
            Role::Dest | Role::Label => continue,
            // Of operands that the instruction has rules of its own for, as `mov`, the first is written.
            Role::Any if index == 0 => continue,
            Role::Any => source(scene, &text, ty, true),
            Role::Address => address(scene, &text, last, program.code[pc.index()].op.access().map(|access| access.space)),
            Role::Source => source(scene, &text, ty, form.ty == OperandType::Double),
        };
        views.push(OperandView { letter: form.name.to_string(), text, value });
    }
    views
}

/// The value of a source operand: of the instruction's type where the register is as wide, so that a `.b32` register that holds an
/// `.f32` is shown as one.
fn source(scene: &Scene<'_>, text: &str, ty: ScalarType, as_declared: bool) -> Option<String> {
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '{' || c == '(') {
        return None;
    }
    let (negated, name) = text.strip_prefix('!').map_or((false, text), |name| (true, name));
    let value = Expression::parse(name).ok()?.evaluate(scene).ok()?;
    let super::value::Value::Scalar(Scalar { ty: declared, bits }) = value else { return None };
    let same_width = matches!(declared, Type::Scalar(own) if own.bits() == ty.bits() && own != ScalarType::Pred);
    let scalar = if same_width && !as_declared { Scalar::new(Type::Scalar(ty), bits) } else { Scalar { ty: declared, bits } };
    let scalar = if negated { Scalar::truth(!scalar.is_true()) } else { scalar };
    Some(scalar.text(scene, None))
}

/// `0x7f2000000010 <x+16>, which holds 1.5`
fn address(scene: &Scene<'_>, text: &str, ty: ScalarType, space: Option<Space>) -> Option<String> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let space = space?;
    let named = Expression::parse(&format!("(u64)({})", inner.replace("+-", "-"))).ok()?.evaluate(scene);
    let by_name = Expression::parse(&format!("(u64)&({inner})")).ok().and_then(|expression| expression.evaluate(scene).ok());
    let is_register = inner.starts_with('%')
        || matches!(scene.frame(), Ok(frame) if scope::register(scene.function(&frame), frame.pc, stem(inner)).is_some());
    let value = if is_register { named.ok()? } else { by_name.or_else(|| offset_of_name(scene, inner))? };
    let super::value::Value::Scalar(Scalar { bits, .. }) = value else { return None };
    let place = super::value::text::address(scene, space, bits as u64);
    let mut bytes = [0; 16];
    let bytes = &mut bytes[..(ty.bytes() as usize).clamp(1, 16)];
    Some(match super::memory::read(scene, space, bits as u64, bytes) {
        Ok(()) => {
            let held = Scalar::new(Type::Scalar(ty), super::expression::little_endian(bytes)).text(scene, None);
            format!("{place}, which holds {held}")
        }
        Err(error) => format!("{place}: {error}"),
    })
}

/// The name before `+4` or `-4`.
fn stem(text: &str) -> &str {
    text.split(['+', '-']).next().unwrap_or(text).trim()
}

/// The address of `name+4`: the offset counts bytes, whatever the variable holds.
fn offset_of_name(scene: &Scene<'_>, text: &str) -> Option<super::value::Value> {
    let (name, offset) = text.split_at(stem(text).len());
    let expression = format!("(u64)&({name}) {}", offset.replace("+-", "-"));
    Expression::parse(&expression).ok()?.evaluate(scene).ok()
}

/// Executes the instruction on a copy of the machine and returns its effect for the focused lane.
fn outcome(scene: &Scene<'_>, frame: &Frame<'_>, pc: Pc, holds: bool) -> StepOutcome {
    if !holds {
        return StepOutcome::Nothing;
    }
    let (block, warp) = (scene.focus.block, scene.focus.warp);
    let next = scene.machine.next_lanes(block, warp).unwrap_or(LaneMask::NONE);
    if !next.contains(frame.lane as usize) {
        return StepOutcome::NotItsTurn(next);
    }
    let mut after: Machine = scene.machine.clone();
    after.give_turn(block, warp);
    if let Step::Trapped(trap) = after.run(1, &mut NullObserver) {
        return StepOutcome::Faults(trap.message);
    }
    let later = Scene { machine: &after, ..*scene };
    let Ok(group) = later.group() else { return StepOutcome::Exits };
    if !matches!(group.state, GroupState::Ready | GroupState::AwaitsTurn) {
        return StepOutcome::Waits(state(&later));
    }
    let writes = writes(scene, &later, frame);
    match group.pc {
        _ if !writes.is_empty() => StepOutcome::Writes(writes),
        next if next.0 != pc.0 + 1 => {
            let program = scene.program();
            StepOutcome::Goes(view::place(program, next), view::statement(program, next))
        }
        _ => StepOutcome::GoesOn,
    }
}

/// The state of the focused lane: running, or what it waits for.
fn state(scene: &Scene<'_>) -> String {
    let lane_locations = view::lane_locations(scene, &ThreadFilter::of_warp(&scene.focus));
    let own = lane_locations.iter().find(|location| scene.is_focused(location.lanes));
    own.map_or(String::new(), |location| location.state_in_words(scene))
}

/// The registers that the instruction writes, by the names the statement gives them, before and after.
fn writes(scene: &Scene<'_>, later: &Scene<'_>, frame: &Frame<'_>) -> Vec<(String, String, String)> {
    let program = scene.program();
    let Some(inst) = program.code.get(frame.pc.index()) else { return Vec::new() };
    let (function, written) = (scene.function(frame), operands::writes(inst, program));
    let Ok(warp) = later.warp() else { return Vec::new() };
    let last = program.opcode(frame.pc).and_then(|opcode| opcode.matched.types.last().copied());
    let operands = program.operand_texts(frame.pc);
    let mut writes: Vec<(String, String, String)> = Vec::new();
    let names = operands.iter().flat_map(|operand| operand.split(['{', '}', '(', ')', ',', '|', ' ', '[', ']']));
    for name in names.filter(|name| !name.is_empty()) {
        let Some(place) = scope::register(function, frame.pc, name) else { continue };
        let is_written = written.iter().any(|register| register.bank == place.bank && Some(register.slot) == place.slot);
        if !is_written || writes.iter().any(|(other, ..)| other == name) {
            continue;
        }
        // A `.b32` register that is given an `.f32` is shown as one.
        let ty = last.filter(|ty| ty.bits() == place.ty.bits() && place.bank != Bank::Pred).unwrap_or(place.ty);
        let text = |scene: &Scene<'_>, frame: &Frame<'_>| {
            let bits = register_bits(frame, &place).unwrap_or(0);
            Scalar::new(Type::Scalar(ty), bits).text(scene, None)
        };
        writes.push((name.to_string(), text(scene, frame), text(later, &Frame { warp, ..*frame })));
    }
    writes
}
