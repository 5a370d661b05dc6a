//! `info breakpoints` as plain data.

use super::call_places::frame_of;
use super::location::Location;
use super::{Breakpoint, Breakpoints, Trigger, WatchMode};
use crate::debug::file_line::FileLine;
use crate::debug::focus::ThreadFilter;
use crate::debug::inlined::calls_at;
use crate::debug::source_texts::SourceTexts;
use crate::dwarf::LazyDebugInfo;
use crate::program::{Pc, Program, SourceLine, shown_name};

/// One row of `info breakpoints`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointRow {
    /// Its number.
    pub number: u32,
    /// gdb's word for its kind: `breakpoint`, `watchpoint`, `read watchpoint`, `acc watchpoint`, `catchpoint` or `dprintf`.
    pub kind: &'static str,
    /// What happens to it when it stops: `keep` or `del`.
    pub disposition: &'static str,
    /// False if it is disabled.
    pub enabled: bool,
    /// What the user typed.
    pub what: String,
    /// The instructions it is at; empty for watchpoints and events.
    pub locations: Vec<BreakpointLocation>,
    /// The threads that it is limited to.
    pub filter: ThreadFilter,
    /// Number of hits, ignored ones included.
    pub hits: u64,
    /// Its condition.
    pub condition: Option<String>,
    /// Number of hits still to ignore.
    pub ignore: u64,
    /// The message printed instead of stopping.
    pub message: Option<String>,
    /// The commands that run when it stops.
    pub commands: Vec<String>,
}

/// An instruction that a breakpoint is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointLocation {
    /// The instruction.
    pub pc: Pc,
    /// The function it is in.
    pub function: String,
    /// `file.ptx:12`.
    pub place: String,
    /// Its text.
    pub text: String,
    /// Its line of the source, with the text if that is at hand: `gemm.cu:10  sum += a;`; none if `.loc` names no line.
    pub source: Option<String>,
}

/// The rows of `info breakpoints`.
pub fn breakpoint_rows(breakpoints: &Breakpoints, program: &Program, data: &LazyDebugInfo, texts: &SourceTexts) -> Vec<BreakpointRow> {
    breakpoints.iter().map(|breakpoint| row(breakpoint, program, data, texts)).collect()
}

fn row(breakpoint: &Breakpoint, program: &Program, data: &LazyDebugInfo, texts: &SourceTexts) -> BreakpointRow {
    let location = |pc: &Pc| breakpoint_location(program, texts, *pc, &calls_in_frame(&breakpoint.text, program, data, *pc));
    BreakpointRow {
        number: breakpoint.number,
        kind: breakpoint.kind(),
        disposition: if breakpoint.temporary { "del" } else { "keep" },
        enabled: breakpoint.enabled,
        what: breakpoint.text.clone(),
        locations: breakpoint.pcs().iter().map(location).collect(),
        filter: breakpoint.filter,
        hits: breakpoint.hits,
        condition: breakpoint.condition.as_ref().map(|condition| condition.text().to_string()),
        ignore: breakpoint.ignore,
        message: breakpoint.message.as_ref().map(|message| message.source().to_string()),
        commands: breakpoint.commands.clone(),
    }
}

/// The function of a breakpoint on an inlined one, and the line of the frame that its stop selects, if that is of a caller.
fn calls_in_frame(text: &str, program: &Program, data: &LazyDebugInfo, pc: Pc) -> (Option<String>, Option<SourceLine>) {
    let frame = frame_of(text, program, data, pc) as usize;
    let by_name = matches!(Location::parse(text), Ok(Location::Name { .. }));
    if frame == 0 && !by_name {
        return (None, None);
    }
    let calls = calls_at(program, data.get(program), pc);
    let function = calls.get(frame).filter(|_| by_name).and_then(|call| call.function.as_deref()).map(str::to_string);
    let line = frame.checked_sub(1).and_then(|further_in| calls.get(further_in)).and_then(|call| call.at);
    (function, line)
}

/// The row of an instruction for `break` and `info breakpoints`; in a frame of inlined code with its function and its line.
pub fn breakpoint_location(
    program: &Program,
    texts: &SourceTexts,
    pc: Pc,
    (inlined, call): &(Option<String>, Option<SourceLine>),
) -> BreakpointLocation {
    let function = program.function_at(pc).map(|id| &program.functions[id.index()]);
    let name = function.map_or(String::new(), |function| function.name.to_string());
    let name = inlined.as_ref().map_or_else(|| name.clone(), |inlined| format!("{inlined} in {}", shown_name(&name)));
    let line = call.or_else(|| program.source_line(pc));
    let source = line.and_then(|line| {
        let text = texts.line(program, line).map_or(String::new(), |text| format!("  {}", text.trim_start()));
        Some(format!("{}{text}", FileLine::of(program, line)?.short()))
    });
    BreakpointLocation { pc, function: name, place: program.place(pc), text: program.text(pc), source }
}

impl Breakpoint {
    /// The instructions it is at; none of a watchpoint or an event.
    pub fn pcs(&self) -> &[Pc] {
        if let Trigger::Code(pcs) | Trigger::Line(pcs) = &self.trigger { pcs } else { &[] }
    }

    /// gdb's word for its kind.
    pub fn kind(&self) -> &'static str {
        match (&self.trigger, &self.message) {
            (_, Some(_)) => "dprintf",
            (Trigger::Code(_) | Trigger::Line(_), None) => "breakpoint",
            (Trigger::Watch(_, WatchMode::Change), None) => "watchpoint",
            (Trigger::Watch(_, WatchMode::Read), None) => "read watchpoint",
            (Trigger::Watch(_, WatchMode::Access), None) => "acc watchpoint",
            (Trigger::Event(_), None) => "catchpoint",
        }
    }
}
