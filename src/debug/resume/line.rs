//! The line that an instruction belongs to, and the inlined calls that lead to it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::debug::body;
use crate::debug::inlined::{self, CallInPlace};
use crate::debug::session::Session;
use crate::debug::settings::StepBy;
use crate::debug::skip::Skips;
use crate::dwarf::LazyDebugInfo;
use crate::program::{ControlOp, FuncId, Inst, Op, Pc, Program, SourceLine};

/// A line of the source language or of the PTX text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// File number of `.file`, and line.
    Source(u32, u32),
    /// Line of the module.
    Ptx(u32),
}

/// The place of an instruction as a step by lines sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// The line; none if it is not known.
    pub line: Option<Line>,
    /// The inlined calls around it, outermost first.
    pub calls: Vec<SourceLine>,
    /// True if its whole function is skipped.
    pub skipped: bool,
    /// The inlined functions further in that are skipped by their names; 0 if they are only of files that are skipped.
    pub hidden: u32,
}

impl LinePlace {
    /// The calls that both have around them.
    pub fn shared_calls(&self, other: &Self) -> usize {
        self.calls.iter().zip(&other.calls).take_while(|(own, others)| own == others).count()
    }

    /// The line of call number `number` around it, counted from the outermost; none if there are not as many.
    pub fn call_line(&self, number: usize) -> Option<Line> {
        self.calls.get(number).filter(|call| call.line > 0).map(|call| Line::Source(call.file, call.line))
    }

    /// True if it is in a function that was inlined into that of `outer`.
    pub fn is_inside(&self, outer: &Self) -> bool {
        self.calls.len() > outer.calls.len() && self.calls.starts_with(&outer.calls)
    }
}

/// The places of instructions for one step. Code of skipped files and functions that is inlined has the place of the call.
pub struct LinePlaces {
    program: Arc<Program>,
    data: Arc<LazyDebugInfo>,
    skips: Skips,
    by_source: bool,
    known: RefCell<BTreeMap<Pc, Rc<LinePlace>>>,
}

impl LinePlaces {
    /// The places for steps from `pc`: by lines of the source if the setting says so and `pc` has one, by lines of PTX otherwise.
    pub fn from(session: &Session, pc: Pc) -> Self {
        let program = Arc::clone(session.program());
        let has_line = program.source_line(pc).is_some();
        let by_source = session.settings.step_by == StepBy::Source && has_line;
        Self { program, data: Arc::clone(&session.debug_data), skips: session.skips.clone(), by_source, known: RefCell::default() }
    }

    /// The place of the instruction at `pc` in a frame that `inlined` inlined functions lie in.
    pub fn in_frame(&self, pc: Pc, inlined: u32) -> Rc<LinePlace> {
        if inlined == 0 || !self.by_source { self.at(pc) } else { Rc::new(self.in_source(pc, inlined as usize)) }
    }

    /// The number of functions, skipped ones too, that are inlined at `pc`.
    pub fn inlined_at(&self, pc: Pc) -> usize {
        inlined::calls_at(&self.program, self.data.get(&self.program), pc).len()
    }

    /// True if the instruction at `pc` is in the middle of a line of the source: the one before it in the text is of the same.
    pub fn is_within_line(&self, pc: Pc) -> bool {
        let before = pc.0.checked_sub(1).map(Pc).filter(|before| self.program.function_at(*before) == self.program.function_at(pc));
        let line = |pc: Pc| self.program.source_line(pc);
        self.by_source && before.is_some_and(|before| line(before).is_some() && line(before) == line(pc))
    }

    /// True if a thread in the middle of a line has nothing before it but the return, or only passes a block without statements: the
    /// compiler gives those no line of their own.
    pub fn only_passes(&self, pc: Pc) -> bool {
        let line = |pc: u32| self.program.source_line(Pc(pc));
        let rest = (pc.0..).map_while(|at| Some((at, self.program.code.get(at as usize)?)));
        let mut same = rest.take_while(|(at, _)| line(*at) == line(pc.0));
        let end = same.find(|(_, inst)| matches!(inst.op, Op::Control(_)));
        let returns = |inst: &Inst| matches!(inst.op, Op::Control(ControlOp::Return { .. })) && inst.guard.is_none();
        let only_returns = || self.program.is_debug && self.is_within_line(pc) && end.is_some_and(|(_, inst)| returns(inst));
        self.passes(pc) || only_returns()
    }

    /// True if the instruction is in a block without a line, or in the rest of a line, that only passes on.
    pub fn passes(&self, pc: Pc) -> bool {
        self.by_source && body::is_passed(&self.program, pc)
    }

    /// True if the instruction at `pc` is before the body of its function.
    pub fn is_before_body(&self, pc: Pc) -> bool {
        self.by_source && body::is_before_body(&self.program, pc)
    }

    /// The function of the instruction at `pc`.
    pub fn function_at(&self, pc: Pc) -> Option<FuncId> {
        self.program.function_at(pc)
    }

    /// True if the instruction at `pc` is where call number `number` around it, counted from the outermost, begins.
    pub fn begins_call(&self, pc: Pc, number: usize) -> bool {
        let there = self.at(pc);
        let function = self.program.function_at(pc);
        let start = function.map_or(pc.0, |id| self.program.functions[id.index()].code.start);
        let before = (start..pc.0).rev().map(Pc).find(|before| !self.by_source || inlined::has_line(&self.program, *before));
        let same = |before: Pc| there.calls.get(..=number).is_some_and(|calls| self.at(before).calls.starts_with(calls));
        !before.is_some_and(same)
    }

    /// The place of the instruction at `pc`.
    pub fn at(&self, pc: Pc) -> Rc<LinePlace> {
        let known = self.known.borrow().get(&pc).cloned();
        known.unwrap_or_else(|| {
            let place = Rc::new(if self.by_source { self.in_source(pc, 0) } else { self.in_ptx(pc) });
            self.known.borrow_mut().insert(pc, Rc::clone(&place));
            place
        })
    }

    fn in_ptx(&self, pc: Pc) -> LinePlace {
        LinePlace { line: Some(Line::Ptx(self.program.line(pc))), calls: Vec::new(), skipped: false, hidden: 0 }
    }

    /// The place without the inlined functions that are `further_in`, and those that are skipped.
    fn in_source(&self, pc: Pc, further_in: usize) -> LinePlace {
        let program = &*self.program;
        let calls = inlined::calls_at(program, self.data.get(program), pc);
        let own = program.source_line(pc);
        let kernel = program.function_at(pc).map(|id| &*program.functions[id.index()].name);
        // The lines and functions of all levels, innermost first: a call is on a line of the function that is one further out.
        let lines: Vec<Option<SourceLine>> = std::iter::once(own).chain(calls.iter().map(|call| call.at)).collect();
        let functions: Vec<Option<&str>> = calls.iter().map(|call| call.function.as_deref()).chain([kernel]).collect();
        let further_in = further_in.min(calls.len());
        let levels = lines.iter().zip(&functions).enumerate().skip(further_in);
        let level = levels.into_iter().find(|(_, (line, function))| !self.is_skipped(**line, **function)).map(|(level, _)| level);
        let shown = level.unwrap_or(further_in);
        let line = lines[shown].filter(|line| line.line > 0).map(|line| Line::Source(line.file, line.line));
        let calls = calls[shown..].iter().rev().map(CallInPlace::place).collect();
        let is_of_file = |line: &Option<SourceLine>| self.is_skipped(*line, None);
        let hidden = if lines[further_in..shown].iter().all(is_of_file) { 0 } else { shown as u32 };
        LinePlace { line, calls, skipped: level.is_none(), hidden }
    }

    fn is_skipped(&self, line: Option<SourceLine>, function: Option<&str>) -> bool {
        let file = line.and_then(|line| self.program.source_files.iter().find(|(number, _)| *number == line.file));
        file.is_some_and(|(_, name)| self.skips.skips_file(name)) || function.is_some_and(|name| self.skips.skips_function(name))
    }
}

/// The inlined calls around an instruction, outermost first.
pub fn calls_to(session: &Session, pc: Pc) -> Vec<SourceLine> {
    calls_around(session.program(), &session.debug_data, pc)
}

/// The same without a session.
pub fn calls_around(program: &Program, data: &LazyDebugInfo, pc: Pc) -> Vec<SourceLine> {
    let calls = inlined::calls_at(program, data.get(program), pc);
    calls.iter().rev().map(CallInPlace::place).collect()
}
