//! `backtrace` and `info frame`: the call stack of the focused lane, with the inlined functions around each instruction.

use serde::Serialize;

use super::CodePlace;
use super::locals::{LocalRow, SourceArgument, source_arguments};
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::file_line::FileLine;
use crate::debug::focus::Focus;
use crate::debug::frame_scopes::line_among;
use crate::debug::inlined;
use crate::program::{SourceLine, qualified_name};

/// The call stack of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// Its frames, innermost first.
    pub frames: Vec<FrameRow>,
    /// Number of omitted outer frames.
    pub left_out: usize,
    /// The kernel, whose frame is the outermost.
    pub kernel: String,
    /// The variables of each frame, if they are shown too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locals: Vec<Vec<LocalRow>>,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameRow {
    /// Its number, 0 for the innermost.
    pub number: u32,
    /// The function; of an inlined one, its name in the source, or empty if it is not known.
    pub function: String,
    /// Its parameters in the source with their values, if they are known.
    pub arguments: Vec<SourceArgument>,
    /// The line of the source; of a caller, that of the call.
    pub source: Option<FileLine>,
    /// The next instruction of the innermost frame; the call instruction of an outer frame.
    pub at: CodePlace,
    /// True for a function in the place of its call: the next frame has the same instruction.
    pub inlined: bool,
    /// True if it is the selected one.
    pub focused: bool,
}

/// The selected frame in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameView {
    /// The frame.
    pub frame: FrameRow,
    /// The frame that called it.
    pub caller: Option<FrameRow>,
    /// The function of the module with its registers.
    pub function: String,
    /// First byte of its local memory.
    pub local_base: u32,
    /// Bytes of its local memory.
    pub local_bytes: u32,
    /// The names of its variables in the source.
    pub locals: Vec<String>,
}

/// The innermost `limit` frames of the focused lane.
///
/// # Errors
/// The thread is not resident.
pub fn backtrace(context: &EvalContext<'_>, limit: usize) -> Result<Stack, ThreadError> {
    let frames = context.frames()?;
    Ok(Stack {
        left_out: frames.len().saturating_sub(limit),
        frames: (0..).zip(&frames).take(limit).map(|(number, frame)| row(context, number, frame)).collect(),
        kernel: context.program().functions[context.machine.config().kernel.index()].name.to_string(),
        locals: Vec::new(),
    })
}

/// The outermost `count` frames of the focused lane.
///
/// # Errors
/// The thread is not resident.
pub fn outermost(context: &EvalContext<'_>, count: usize) -> Result<Stack, ThreadError> {
    let mut stack = backtrace(context, usize::MAX)?;
    stack.frames.drain(..stack.frames.len().saturating_sub(count));
    Ok(stack)
}

/// The variables of each frame of a stack.
pub fn locals_of(context: &EvalContext<'_>, stack: &Stack) -> Vec<Vec<LocalRow>> {
    let of_frame = |row: &FrameRow| {
        let focus = Focus { frame: row.number, ..context.focus };
        super::locals(&context.refocused(focus), None).unwrap_or_default()
    };
    stack.frames.iter().map(of_frame).collect()
}

/// The selected frame of the focused lane.
///
/// # Errors
/// The thread is not resident.
pub fn frame(context: &EvalContext<'_>) -> Result<FrameView, ThreadError> {
    let frames = context.frames()?;
    let (number, frame) = (context.focus.frame, context.frame()?);
    let caller = frames.get(number as usize + 1).map(|caller| row(context, number + 1, caller));
    let function = context.function(&frame);
    let locals = super::locals(context, None)?;
    Ok(FrameView {
        frame: row(context, number, &frame),
        caller,
        function: function.name.to_string(),
        local_base: frame.base.local,
        local_bytes: function.frame_bytes,
        locals: locals.into_iter().map(|local| local.name).collect(),
    })
}

fn row(context: &EvalContext<'_>, number: u32, frame: &Frame<'_>) -> FrameRow {
    let program = context.program();
    let pc = frame.position();
    let calls = inlined::calls_at(program, context.source_data(), pc);
    let own = calls.get(frame.inlined as usize);
    let own_line = line_among(program, pc, &calls, frame.inlined);
    let function = match own {
        Some(call) => call
            .function
            .as_deref()
            .map(str::to_string)
            .or_else(|| own_line.and_then(|line| python_function(context, line)))
            .unwrap_or_default(),
        None => {
            let name = &context.function(frame).name;
            qualified_name(name).unwrap_or_else(|| name.to_string())
        }
    };
    let mut focus = context.focus;
    focus.frame = number;
    FrameRow {
        number,
        function,
        arguments: source_arguments(&context.refocused(focus), frame),
        source: own_line.and_then(|line| FileLine::of(program, line)),
        at: CodePlace::new(program, pc),
        inlined: own.is_some(),
        focused: number == context.focus.frame,
    }
}

/// The name of the function that a line of Python is in: Triton's debug data does not name what it inlines.
fn python_function(context: &EvalContext<'_>, line: SourceLine) -> Option<String> {
    let file = context.source_texts?.file(context.program(), line.file).filter(|file| file.name().ends_with(".py"))?;
    (1..=file.line_count()).contains(&line.line).then_some(())?;
    let indent = |text: &str| text.len() - text.trim_start().len();
    let inner = indent(file.line(line.line));
    let above = (1..=line.line).rev().map(|number| file.line(number));
    let mut heads = above.filter_map(|text| Some((indent(text), text.trim_start().strip_prefix("def ")?)));
    let (_, head) = heads.find(|(outer, _)| *outer < inner || inner == 0)?;
    head.split('(').next().map(|name| name.trim().to_string())
}
