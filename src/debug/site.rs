//! An instruction as some lanes execute it, in words.

use std::sync::LazyLock;

use serde::Serialize;

use crate::base::WarpId;
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::file_line::{FileLine, source_lines};
use crate::debug::focus::Focus;
use crate::debug::inlined;
use crate::debug::roles::{NO_ROLES, Roles};
use crate::debug::skip::Skips;
use crate::debug::source_texts::SourceTexts;
use crate::dwarf::LazyDebugInfo;
use crate::machine::{IssuePoint, LaneMask, Tick, thread_index};
use crate::program::{Pc, Program, SourceLine};

/// The files that no user wrote.
static DEFAULT_SKIPS: LazyLock<Skips> = LazyLock::new(Skips::default);

/// An instruction as some lanes of a warp execute it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// `file.ptx:12`.
    pub place: String,
    /// The instruction.
    #[serde(skip)]
    pub pc: Pc,
    /// The statement.
    pub statement: String,
    /// `file.cu:7`, if `.loc` says so; of an inlined function of another file, `header.h:9, from file.cu:7`, or of one that no user wrote
    /// `file.cu:7, in header.h:9`.
    pub source: Option<String>,
    /// The line of the user's source with its text, if that is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<SourceText>,
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

/// A line of the source with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceText {
    /// The line, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
}

impl Site {
    /// The instruction at `point` as `lanes` execute it; `extent` is the block's.
    pub(in crate::debug) fn new(program: &Program, extent: [u32; 3], point: IssuePoint, lanes: LaneMask) -> Self {
        Self::in_frame(program, extent, point, lanes, &program.source_places(point.pc).collect::<Vec<_>>())
    }

    /// The same in a frame whose lines are `places`.
    fn in_frame(program: &Program, extent: [u32; 3], point: IssuePoint, lanes: LaneMask, places: &[SourceLine]) -> Self {
        let sources = file_lines(program, places);
        let source = shown_source(&sources);
        Self {
            place: program.place(point.pc),
            pc: point.pc,
            statement: program.text(point.pc).trim_end_matches(';').to_string(),
            source,
            text: None,
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
        let pc = frame.position();
        let point = IssuePoint { pc, tick: context.machine.tick(), block, warp: WarpId::new(warp) };
        let extent = context.machine.config().block;
        let program = context.program();
        let mut places = match frame.inlined {
            0 => places_with_user(context, pc),
            _ => inlined::places_at(program, context.source_data(), pc),
        };
        places.drain(..(frame.inlined as usize).min(places.len()));
        let site = Self::in_frame(program, extent, point, frame.group.mask, &places);
        let text = context.source_texts.and_then(|texts| text_of(program, texts, &places));
        Ok(Self { text, thread: thread_index(extent, warp, lane), ..site.with_role(context.roles) })
    }

    /// The instruction at `point` as `lanes` execute it, with the calls that lead there; `context` is at that time.
    pub(in crate::debug) fn with_calls(context: &EvalContext<'_>, point: IssuePoint, lanes: LaneMask) -> Self {
        let mut site = Self::new(context.program(), context.machine.config().block, point, lanes);
        site.add_calls(&context.refocused(site.focus()));
        site
    }

    /// The site with the calls that lead there, and with the text of its line of the source if `context` has texts.
    ///
    /// Calls are added if only they are of the user's source: debug data knows those of inlined functions, and `context`, whose focused
    /// thread is there, the others.
    pub(in crate::debug) fn add_calls(&mut self, context: &EvalContext<'_>) {
        let program = context.program();
        let places = places_with_callers(context, self.pc);
        let sources = file_lines(program, &places);
        self.source = shown_source(&sources);
        self.lines = ptx_line(program, self.pc).into_iter().chain(sources).collect();
        self.text = context.source_texts.and_then(|texts| text_of(program, texts, &places));
    }

    /// The lines of the source language.
    pub(in crate::debug) fn source_lines(&self) -> impl Iterator<Item = &FileLine> {
        self.lines.iter().skip(1)
    }

    /// The line of the source that the user wrote, or the innermost one: of functions of toolkits, that of the call.
    pub(in crate::debug) fn users_line(&self) -> Option<&FileLine> {
        self.source_lines().find(|line| is_of_user(line)).or_else(|| self.source_lines().next())
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

/// The place of an instruction and those of the calls that lead to it, innermost first. The debug data is read where `.loc` names no line
/// of the user's.
fn places_with_user(context: &EvalContext<'_>, pc: Pc) -> Vec<SourceLine> {
    let program = context.program();
    let of_loc: Vec<SourceLine> = program.source_places(pc).collect();
    let lines = file_lines(program, &of_loc);
    if lines.is_empty() || lines.iter().any(is_of_user) { of_loc } else { inlined::places_at(program, context.source_data(), pc) }
}

/// The same, with the places of the calls that have led the focused thread to the function of the instruction where no line of the function
/// is of the user's.
fn places_with_callers(context: &EvalContext<'_>, pc: Pc) -> Vec<SourceLine> {
    let program = context.program();
    let is_of_user = |places: &[SourceLine]| file_lines(program, places).iter().any(is_of_user);
    let places = places_with_user(context, pc);
    // The frames read the debug data, which most findings do not need.
    if program.source_files.is_empty() || is_of_user(&places) {
        return places;
    }
    let is_here = |frame: &Frame<'_>| program.function_at(frame.position()) == program.function_at(pc);
    let Some(frames) = context.frames().ok().filter(|frames| frames.first().is_some_and(is_here)) else { return places };
    let mut with_callers = places.clone();
    for frame in frames.iter().filter(|frame| frame.inlined == 0).skip(1) {
        with_callers.extend(places_with_user(context, frame.position()));
        if is_of_user(&with_callers) {
            return with_callers;
        }
    }
    places
}

/// The places in files that the program names.
fn file_lines(program: &Program, places: &[SourceLine]) -> Vec<FileLine> {
    places.iter().filter_map(|place| FileLine::of(program, *place)).collect()
}

/// A line and the calls that lead to it, as one place: a line of a header has its call site; within one file the line is enough.
fn shown_source(lines: &[FileLine]) -> Option<String> {
    match lines {
        [first, rest @ ..] if DEFAULT_SKIPS.skips_file(&first.file) && rest.iter().any(is_of_user) => {
            rest.iter().find(|line| is_of_user(line)).map(|line| format!("{}, in {}", line.short(), first.short()))
        }
        [inlined, .., caller] if inlined.file != caller.file => Some(format!("{}, from {}", inlined.short(), caller.short())),
        lines => lines.first().map(FileLine::short),
    }
}

/// The line of the user's source of an instruction, with its text: that of the call where code was inlined that no user wrote.
fn text_of(program: &Program, texts: &SourceTexts, all: &[SourceLine]) -> Option<SourceText> {
    let is_of_user = |place: &&SourceLine| FileLine::of(program, **place).is_some_and(|line| is_of_user(&line));
    let place = all.iter().find(is_of_user).or(all.first())?;
    Some(SourceText { line: place.line, text: texts.line(program, *place)?.to_string() })
}

/// The line of the source that the user wrote for an instruction: of inlined functions of toolkits, that of the call.
pub(in crate::debug) fn users_line(program: &Program, pc: Pc) -> Option<FileLine> {
    let lines = source_lines(program, pc);
    lines.iter().find(|line| is_of_user(line)).or(lines.first()).cloned()
}

/// The same with the calls that only debug data knows: of functions that `nvcc -G` puts in the place of their calls.
pub(in crate::debug) fn users_line_by_data(program: &Program, data: &LazyDebugInfo, pc: Pc) -> Option<FileLine> {
    let by_loc = users_line(program, pc);
    by_loc.clone().filter(is_of_user).or_else(|| {
        let lines = file_lines(program, &inlined::places_at(program, data.get(program), pc));
        lines.into_iter().find(is_of_user).or(by_loc)
    })
}

/// True if an instruction has a line that the user wrote, or its module has no lines of a source.
pub(in crate::debug) fn is_users(program: &Program, pc: Pc) -> bool {
    program.source_files.is_empty() || source_lines(program, pc).iter().any(is_of_user)
}

/// True if the file is not one that is skipped from the start.
fn is_of_user(line: &FileLine) -> bool {
    !DEFAULT_SKIPS.skips_file(&line.file)
}

fn ptx_line(program: &Program, pc: Pc) -> Option<FileLine> {
    let span = program.spans.get(pc.index())?;
    let file = program.sources_text.file(span.source);
    Some(FileLine { file: file.name().to_string(), line: file.line_of(span.start) })
}
