//! What a change of a variable of the source in a register means for what comes after.
//!
//! The code of a debug build may read another register that a `mov` has given the same value, and that is the variable elsewhere: for the
//! source both are the variable. A constant may have given the same value to two variables: those are different.

use std::collections::BTreeMap;

use crate::cfg::ControlFlow;
use crate::debug::edit::Edit;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::expression::Expression;
use crate::debug::focus::Focus;
use crate::debug::source_names::{self, in_scope};
use crate::dwarf::{Scope, ScopeKind, Variable};
use crate::flow::copies::copies_before;
use crate::flow::live_registers::LiveRegisters;
use crate::program::operands::RegisterOperand;
use crate::program::registers::register_of_slot;
use crate::program::{Bank, ControlOp, Inst, MoveOp, Op, Pc, Slot};

/// What is changed with a variable, and what the user may not expect.
#[derive(Debug, Default)]
pub struct ChangedVariable {
    /// The changes of registers that hold the variable too.
    pub copies: Vec<Edit>,
    /// Which they are, or that the change has no effect.
    pub note: Option<String>,
}

/// The registers of a frame that are the variable in one register.
struct Copies {
    /// Those that are read before they are written.
    read: Vec<(Slot, String)>,
    /// True if the register itself is.
    is_read: bool,
    /// Its name.
    name: String,
}

/// What the change of `place` by `edits` is, if it is a variable of the source in a register.
pub fn changed_variable(context: &EvalContext<'_>, place: &Expression, edits: &[Edit]) -> ChangedVariable {
    let mut changed = ChangedVariable::default();
    let (Some(name), Ok(focused)) = (place.place_name(), context.frame()) else { return changed };
    let Some(variable) = source_names::find(context, Some(&focused), name).map(|found| found.variable) else { return changed };
    // By the instruction at which the lanes stand.
    let mut known: BTreeMap<Pc, Copies> = BTreeMap::new();
    for edit in edits {
        let Edit::Register { block, warp, lanes, bank, slot, value } = *edit else { continue };
        let there = context.refocused(Focus { block, warp, lane: lanes.first() as u32, ..context.focus });
        let Ok(frame) = there.frame() else { continue };
        let Some(own) = slot.0.checked_sub(frame.base.slot(bank).0).map(Slot).filter(|_| frame.function == focused.function) else {
            continue;
        };
        let copies = known.entry(frame.position()).or_insert_with(|| copies_of(&there, &frame, (bank, own), variable));
        let copy = |(other, _): &(Slot, String)| {
            let slot = other.in_frame(frame.base.slot(bank));
            Edit::Register { block, warp, lanes, bank, slot, value }
        };
        changed.copies.extend(copies.read.iter().map(copy));
    }
    changed.note = note(known.values());
    changed
}

fn note<'a>(all: impl Iterator<Item = &'a Copies> + Clone) -> Option<String> {
    let mut names: Vec<&str> = all.clone().flat_map(|copies| &copies.read).map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let first = all.clone().next()?;
    match names.as_slice() {
        [] if all.clone().any(|copies| copies.is_read) => None,
        [] => Some(format!("  {} is not read before it is written again: the change has no effect on what comes after", first.name)),
        [name] => Some(format!("  {name}, which holds the variable too and is read next, is set with {}", first.name)),
        names => Some(format!("  {}, which hold the variable too and are read next, are set with {}", names.join(", "), first.name)),
    }
}

/// The registers that hold what the register of `variable` does, where `frame` stands.
fn copies_of(context: &EvalContext<'_>, frame: &Frame<'_>, (bank, slot): (Bank, Slot), variable: &Variable) -> Copies {
    let program = context.program();
    let (function, graph, pc) = (context.function(frame), ControlFlow::new(program, frame.function), frame.position());
    let live = LiveRegisters::new(program, function, &graph);
    let read = live.before(program, pc.index());
    let cell = |slot| live.cells.of(RegisterOperand { bank, slot, width: 1 }).start;
    let own = register_of_slot(function, pc, bank, slot).unwrap_or_default();
    let is_own = |name: &String| variable.locations.iter().any(|entry| entry.location.registers().any(|own| own == name));
    let (taken, passed) = (registers_of_others(context, frame, &variable.name), registers_passed_next(context, pc));
    let equal = if program.is_debug { copies_before(program, function, &graph, cell(slot), pc.index()) } else { Default::default() };
    let slots = (0..function.slots.of(bank)).map(Slot);
    let copies = slots.filter(|slot| equal.contains(cell(*slot)) && read.contains(cell(*slot)));
    let named = copies.filter_map(|slot| Some((slot, register_of_slot(function, pc, bank, slot)?)));
    Copies {
        read: named.filter(|(_, name)| (is_own(name) && !taken.contains(name)) || passed.contains(name)).collect(),
        is_read: read.contains(cell(slot)),
        name: own,
    }
}

/// The registers of the parameters of a function in the place of its call that comes next: they have their values before the line of the
/// call.
fn registers_passed_next(context: &EvalContext<'_>, pc: Pc) -> Vec<String> {
    let (program, Some(info)) = (context.program(), context.debug_info()) else { return Vec::new() };
    let goes_on =
        |inst: &Inst| matches!(inst.op, Op::Move(MoveOp::Move { .. }) | Op::Control(ControlOp::Branch { .. })) && inst.guard.is_none();
    let begins_next = |scope: &&Scope| {
        let start = scope.code.iter().map(|code| code.start).min().unwrap_or(0);
        let between = program.code.get(pc.index()..start as usize);
        matches!(scope.kind, ScopeKind::Inlined { .. }) && between.is_some_and(|code| !code.is_empty() && code.iter().all(goes_on))
    };
    let variables = info.scopes.iter().filter(begins_next).flat_map(|scope| &scope.variables).filter(|variable| variable.is_parameter);
    variables.flat_map(|variable| &variable.locations).flat_map(|entry| entry.location.registers().map(str::to_string)).collect()
}

/// The registers that hold other variables where `frame` stands.
fn registers_of_others(context: &EvalContext<'_>, frame: &Frame<'_>, name: &str) -> Vec<String> {
    let variables = [false, true].into_iter().filter_map(|parameters| in_scope(context, frame, parameters)).flatten();
    let others = variables.filter(|variable| &*variable.variable.name != name);
    let locations = others.filter_map(|variable| variable.variable.location_at(frame.position()));
    locations.flat_map(|location| location.registers().map(str::to_string)).collect()
}
