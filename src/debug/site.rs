//! An instruction as some lanes execute it, in words.

use serde::Serialize;

use crate::base::WarpId;
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::focus::Focus;
use crate::debug::roles::{NO_ROLES, Roles};
use crate::machine::{IssuePoint, LaneMask, Tick, thread_index};
use crate::program::{Pc, Program, SourceLine};

/// An instruction as some lanes of a warp execute it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// `file.ptx:12`.
    pub place: String,
    /// The statement.
    pub statement: String,
    /// `file.cu:7`, if `.loc` says so; of an inlined function of another file, `header.h:9, from file.cu:7`.
    pub source: Option<String>,
    /// The same as files and lines: the PTX, then the source language and, for an inlined function, its call sites, innermost first.
    pub lines: Vec<FileLine>,
    /// True if the statement is part of an `asm` statement of the source language.
    pub inline_asm: bool,
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// The warp with its role: `producer warp 0`.
    #[serde(skip)]
    pub warp_name: String,
    /// The lanes.
    pub lanes: LaneMask,
    /// Index in the block of the thread of the lowest lane, or of the focused one.
    pub thread: [u32; 3],
    /// Time: warp-instructions issued before.
    pub time: Tick,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileLine {
    /// The file as it is named where it is used: on the command line, by the launch file, by `.file`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl FileLine {
    /// `file.cu:7`, without folders.
    pub fn short(&self) -> String {
        format!("{}:{}", self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file), self.line)
    }
}

impl Site {
    /// The instruction at `point` as `lanes` execute it; `extent` is the block's.
    pub(in crate::debug) fn new(program: &Program, extent: [u32; 3], point: IssuePoint, lanes: LaneMask) -> Self {
        let sources = source_lines(program, point.pc);
        // A line of a header is shown with its call site; within one file the line is enough.
        let source = match sources.as_slice() {
            [inlined, .., caller] if inlined.file != caller.file => Some(format!("{}, from {}", inlined.short(), caller.short())),
            sources => sources.first().map(FileLine::short),
        };
        Self {
            place: program.place(point.pc),
            statement: program.text(point.pc).trim_end_matches(';').to_string(),
            source,
            lines: ptx_line(program, point.pc).into_iter().chain(sources).collect(),
            inline_asm: program.inline_asm(point.pc).is_some(),
            block: point.block,
            warp: point.warp.number(),
            warp_name: NO_ROLES.warp(point.warp.number()),
            lanes,
            thread: thread_index(extent, point.warp.number(), lanes.first() as u32),
            time: point.tick,
        }
    }

    /// The position of the selected frame of the focused lane, with the lanes that are there.
    ///
    /// # Errors
    /// The thread is not on the machine.
    pub fn of(context: &EvalContext<'_>) -> Result<Self, ThreadError> {
        let frame = context.frame()?;
        let Focus { block, warp, lane, .. } = context.focus;
        let pc = if context.focus.frame == 0 { frame.group.current_pc() } else { frame.pc };
        let point = IssuePoint { pc, tick: context.machine.tick(), block, warp: WarpId::new(warp) };
        let extent = context.machine.config().block;
        let site = Self::new(context.program(), extent, point, frame.group.mask);
        Ok(Self { thread: thread_index(extent, warp, lane), ..site.with_role(context.roles) })
    }

    /// The site with the role name of its warp.
    #[must_use]
    pub(in crate::debug) fn with_role(self, roles: &Roles) -> Self {
        Self { warp_name: roles.warp(self.warp), ..self }
    }

    /// The thread that is focused when the user goes to the site.
    pub fn focus(&self) -> Focus {
        Focus { block: self.block, warp: self.warp, lane: self.lanes.first() as u32, frame: 0 }
    }
}

fn ptx_line(program: &Program, pc: Pc) -> Option<FileLine> {
    let span = program.spans.get(pc.index())?;
    let file = program.sources_text.file(span.source);
    Some(FileLine { file: file.name().to_string(), line: file.line_of(span.start) })
}

/// The line of the source language that `.loc` names, and the call sites of its inlined function, innermost first.
pub(in crate::debug) fn source_lines(program: &Program, pc: Pc) -> Vec<FileLine> {
    let line = program.source_lines.get(pc.index()).copied().flatten();
    let callers = program.call_sites.get(&pc).into_iter().flatten().copied();
    let named = |place: SourceLine| {
        let (_, name) = program.source_files.iter().find(|(number, _)| *number == place.file)?;
        Some(FileLine { file: name.clone(), line: place.line })
    };
    // Compilers write line 0 for an unknown line.
    line.into_iter().chain(callers).filter(|place| place.line > 0).filter_map(named).collect()
}
