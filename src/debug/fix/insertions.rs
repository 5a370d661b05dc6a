//! Insertions in words: where a statement is put, in terms of the source language.

use super::patch::TextChange;
use super::plan::FixPlan;
use super::statement::barrier;
use crate::check::{BarrierLevel, Construct, Language, Position};
use crate::debug::file_line::FileLine;
use crate::debug::site::{is_users, users_line_by_data};
use crate::dwarf::LazyDebugInfo;
use crate::program::{ControlOp, Effect, Op, Pc, Program};

/// Names the positions of insertions in a program.
pub(super) struct Insertions<'a> {
    program: &'a Program,
    debug_data: LazyDebugInfo,
}

impl<'a> Insertions<'a> {
    /// Those in `program`.
    pub fn new(program: &'a Program) -> Self {
        Self { program, debug_data: LazyDebugInfo::default() }
    }

    /// Barriers of this level at positions.
    pub fn barriers_at(&self, level: BarrierLevel, positions: &[Position]) -> FixPlan {
        let text = barrier(level);
        let construct = match level {
            BarrierLevel::Warp => Construct::WarpBarrier,
            BarrierLevel::Block => Construct::BlockBarrier,
            BarrierLevel::Cluster => Construct::ClusterBarrier,
        };
        let one = |at: &Position| FixPlan::new(vec![TextChange::Insert(*at, text.clone())], self.inserted(*at, &text, Some(construct)));
        positions.iter().map(one).fold(FixPlan::default(), |all, one| all.with(&one))
    }

    /// `bar.sync 0; before k.ptx:12 (k.cu:7)`, in terms of the source language if it has one: `__syncthreads() before k.cu:7, bar.sync
    /// 0; before k.ptx:12`.
    pub fn inserted(&self, at: Position, text: &str, construct: Option<Construct>) -> String {
        let pc = at.pc();
        let language = Language::of(self.program, pc);
        let source = self.line_at(at);
        match (construct.filter(|_| language != Language::Ptx), source) {
            (Some(construct), Some(line)) => {
                let is_at_end = ends_turn(self.program, at) || is_at_condition(self.program, at);
                let place = match is_at_end {
                    true => "at the end of each turn of the loop at",
                    false if self.is_within(at) => "within",
                    false => preposition(at),
                };
                format!("{} {place} {}: {text} {}", language.name(construct), line.short(), self.at(at, false))
            }
            _ => format!("{text} {}", self.at(at, true)),
        }
    }

    /// True if a position is in code of one line of the user's that calls functions of a toolkit, which are in the place of their calls.
    fn is_within(&self, at: Position) -> bool {
        let pc = at.pc();
        let other = match at {
            Position::Before(_) => pc.0.checked_sub(1).map(Pc),
            Position::After(_) => Some(Pc(pc.0 + 1)),
        };
        let Some(other) = other.filter(|other| self.program.function_at(*other) == self.program.function_at(pc)) else { return false };
        let is_inlined = [pc, other].into_iter().all(|pc| !is_users(self.program, pc));
        let line = |pc: Pc| users_line_by_data(self.program, &self.debug_data, pc);
        is_inlined && line(pc) == line(other)
    }

    /// The line of the source that a position is at: that of the next instruction with an effect, since a compiler moves what computes
    /// values.
    fn line_at(&self, at: Position) -> Option<FileLine> {
        let (program, pc) = (self.program, at.pc());
        let has_effect = |pc: &Pc| {
            let op = &program.code[pc.index()].op;
            let effects = op.effects(program);
            [Effect::ReadsMemory, Effect::WritesMemory, Effect::Orders].into_iter().any(|effect| effects.has(effect))
                || matches!(op, Op::Control(_))
        };
        let function = program.function_at(pc)?;
        let next = (pc.0..program.functions[function.index()].code.end).map(Pc).find(has_effect);
        let place = match at {
            Position::Before(_) => next.unwrap_or(pc),
            Position::After(_) => pc,
        };
        let line = |pc: Pc| users_line_by_data(program, &self.debug_data, pc);
        line(place).or_else(|| line(pc))
    }

    /// `before k.ptx:12 (k.cu:7)`
    fn at(&self, position: Position, with_source: bool) -> String {
        let pc = position.pc();
        let source = self.line_at(position).filter(|_| with_source);
        let source = source.map_or(String::new(), |line| format!(" ({})", line.short()));
        format!("{} {}{source}", preposition(position), self.program.place(pc))
    }
}

/// True if the position is before the branch back of a loop, and nothing but the step of the loop lies between: its line in the source is
/// the head of the loop.
fn ends_turn(program: &Program, at: Position) -> bool {
    let Position::Before(start) = at else { return false };
    let Some(function) = program.function_at(start) else { return false };
    let has_effect =
        |op: &Op| [Effect::ReadsMemory, Effect::WritesMemory, Effect::Orders].into_iter().any(|effect| op.effects(program).has(effect));
    for pc in (start.0..program.functions[function.index()].code.end).map(Pc) {
        match program.code[pc.index()].op {
            Op::Control(ControlOp::Branch { target, .. }) if target <= pc => return true,
            // Compilers for debuggers branch to the next instruction.
            Op::Control(ControlOp::Branch { target, .. }) if target == Pc(pc.0 + 1) => {}
            Op::Control(_) => return false,
            op if has_effect(&op) => return false,
            _ => {}
        }
    }
    false
}

/// True if the position is before the condition of a loop that is tested before each turn, as compilers for debuggers write it.
fn is_at_condition(program: &Program, at: Position) -> bool {
    let Position::Before(pc) = at else { return false };
    let Some(function) = program.function_at(pc) else { return false };
    let end = program.functions[function.index()].code.end;
    let op = |pc: u32| &program.code[pc as usize].op;
    let target = |pc: u32| if let Op::Control(ControlOp::Branch { target, .. }) = op(pc) { Some(target.0) } else { None };
    let Some(test) = (pc.0..end).find(|pc| matches!(op(*pc), Op::Control(_))) else { return false };
    let changes = |pc: u32| [Effect::WritesMemory, Effect::Orders].into_iter().any(|effect| op(pc).effects(program).has(effect));
    let is_test = program.code[test as usize].guard.is_some() && target(test).is_some_and(|target| target > test);
    let mut heads = (test + 1..end).filter_map(target).filter(|head| *head <= pc.0);
    is_test && heads.any(|head| !(head..test).any(|pc| changes(pc) || matches!(op(pc), Op::Control(_))))
}

fn preposition(at: Position) -> &'static str {
    match at {
        Position::Before(_) => "before",
        Position::After(_) => "after",
    }
}
