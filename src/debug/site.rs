//! An instruction as some lanes execute it, in words.

use serde::Serialize;

use crate::base::WarpId;
use crate::debug::focus::Focus;
use crate::debug::roles::{NO_ROLES, Roles};
use crate::debug::scene::{Scene, SceneError};
use crate::machine::{IssuePoint, LaneMask, Tick, thread_index};
use crate::program::{Pc, Program, SourceLine};

/// An instruction as some lanes of a warp execute it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// `file.ptx:12`.
    pub place: String,
    /// The statement.
    pub statement: String,
    /// `file.cu:7`, if `.loc` says so; of a function of another file that was put in place of its call, `header.h:9, from file.cu:7`.
    pub source: Option<String>,
    /// The same as files and lines: the PTX, then the source language and, of a function that was put in place of its call, where that
    /// was called, innermost first.
    pub lines: Vec<FileLine>,
    /// Whether the statement is part of an `asm` statement of the source language.
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
    /// The instruction at `place` as `lanes` execute it; `extent` is the block's.
    pub(in crate::debug) fn new(program: &Program, extent: [u32; 3], place: IssuePoint, lanes: LaneMask) -> Self {
        let sources = source_lines(program, place.pc);
        // What stands in a header says little; within a file the line itself does.
        let source = match sources.as_slice() {
            [own, .., caller] if own.file != caller.file => Some(format!("{}, from {}", own.short(), caller.short())),
            sources => sources.first().map(FileLine::short),
        };
        Self {
            place: program.place(place.pc),
            statement: program.text(place.pc).trim_end_matches(';').to_string(),
            source,
            lines: ptx_line(program, place.pc).into_iter().chain(sources).collect(),
            inline_asm: program.inline_asm(place.pc).is_some(),
            block: place.block,
            warp: place.warp.number(),
            warp_name: NO_ROLES.warp(place.warp.number()),
            lanes,
            thread: thread_index(extent, place.warp.number(), lanes.first() as u32),
            time: place.tick,
        }
    }

    /// The position of the selected frame of the focused lane, with the lanes that are there.
    ///
    /// # Errors
    /// The thread is not on the machine.
    pub fn of(scene: &Scene<'_>) -> Result<Self, SceneError> {
        let frame = scene.frame()?;
        let Focus { block, warp, lane, .. } = scene.focus;
        let pc = if scene.focus.frame == 0 { frame.group.current_pc() } else { frame.pc };
        let place = IssuePoint { pc, tick: scene.machine.tick(), block, warp: WarpId::new(warp) };
        let extent = scene.machine.config().block;
        let site = Self::new(scene.program(), extent, place, frame.group.mask);
        Ok(Self { thread: thread_index(extent, warp, lane), ..site.with_role(scene.roles) })
    }

    /// The site with what its warp is called.
    #[must_use]
    pub(in crate::debug) fn with_role(self, roles: &Roles) -> Self {
        Self { warp_name: roles.warp(self.warp), ..self }
    }

    /// The thread that is looked at where one goes to it.
    pub fn focus(&self) -> Focus {
        Focus { block: self.block, warp: self.warp, lane: self.lanes.first() as u32, frame: 0 }
    }
}

fn ptx_line(program: &Program, pc: Pc) -> Option<FileLine> {
    let span = program.spans.get(pc.index())?;
    let file = program.sources_text.file(span.source);
    Some(FileLine { file: file.name().to_string(), line: file.line_of(span.start) })
}

/// The line of the source language that `.loc` names, and where its function was called if it was put in place, innermost first.
pub(in crate::debug) fn source_lines(program: &Program, pc: Pc) -> Vec<FileLine> {
    let own = program.source_lines.get(pc.index()).copied().flatten();
    let callers = program.call_sites.get(&pc).into_iter().flatten().copied();
    let named = |place: SourceLine| {
        let (_, name) = program.source_files.iter().find(|(number, _)| *number == place.file)?;
        Some(FileLine { file: name.clone(), line: place.line })
    };
    // Compilers write line 0 where there is none.
    own.into_iter().chain(callers).filter(|place| place.line > 0).filter_map(named).collect()
}
