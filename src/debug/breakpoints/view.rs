//! `info breakpoints` as plain data.

use super::{Breakpoint, Breakpoints, Trigger, WatchMode};
use crate::debug::focus::ThreadFilter;
use crate::debug::site::FileLine;
use crate::debug::source_texts::SourceTexts;
use crate::program::{Pc, Program};

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
pub fn breakpoint_rows(breakpoints: &Breakpoints, program: &Program, texts: &SourceTexts) -> Vec<BreakpointRow> {
    breakpoints.iter().map(|breakpoint| row(breakpoint, program, texts)).collect()
}

fn row(breakpoint: &Breakpoint, program: &Program, texts: &SourceTexts) -> BreakpointRow {
    BreakpointRow {
        number: breakpoint.number,
        kind: breakpoint.kind(),
        disposition: if breakpoint.temporary { "del" } else { "keep" },
        enabled: breakpoint.enabled,
        what: breakpoint.text.clone(),
        locations: breakpoint.pcs().iter().map(|pc| breakpoint_location(program, texts, *pc)).collect(),
        filter: breakpoint.filter,
        hits: breakpoint.hits,
        condition: breakpoint.condition.as_ref().map(|condition| condition.text().to_string()),
        ignore: breakpoint.ignore,
        message: breakpoint.message.as_ref().map(|message| message.source().to_string()),
        commands: breakpoint.commands.clone(),
    }
}

/// The row of an instruction for `break` and `info breakpoints`.
pub fn breakpoint_location(program: &Program, texts: &SourceTexts, pc: Pc) -> BreakpointLocation {
    let function = program.function_at(pc).map(|id| &program.functions[id.index()]);
    let name = function.map_or(String::new(), |function| function.name.to_string());
    let line = program.source_lines.get(pc.index()).copied().flatten();
    let source = line.and_then(|line| {
        let text = texts.line(program, line).map_or(String::new(), |text| format!("  {}", text.trim_start()));
        Some(format!("{}{text}", FileLine::of(program, line)?.short()))
    });
    BreakpointLocation { pc, function: name, place: program.place(pc), text: program.text(pc), source }
}

impl Breakpoint {
    /// The instructions it is at; none of a watchpoint or an event.
    pub fn pcs(&self) -> &[Pc] {
        if let Trigger::Code(pcs) = &self.trigger { pcs } else { &[] }
    }

    /// gdb's word for its kind.
    pub fn kind(&self) -> &'static str {
        match (&self.trigger, &self.message) {
            (_, Some(_)) => "dprintf",
            (Trigger::Code(_), None) => "breakpoint",
            (Trigger::Watch(_, WatchMode::Change), None) => "watchpoint",
            (Trigger::Watch(_, WatchMode::Read), None) => "read watchpoint",
            (Trigger::Watch(_, WatchMode::Access), None) => "acc watchpoint",
            (Trigger::Event(_), None) => "catchpoint",
        }
    }
}
