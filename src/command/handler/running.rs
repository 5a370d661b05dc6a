//! Running, forwards and backwards, up to a stop.

use crate::base::Tick;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::explore::{DEPTH_MAX, Strategy};
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::returned::returned;
use crate::debug::stop::{Direction, Goal, Reason, StepUnit, Stop};
use crate::debug::value::ValueText;
use crate::debug::view;
use crate::debug::{MemoryModel, RunError};

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn run(context: &mut Context<'_>, call: &Call) -> Answer {
    start(context, call)?;
    resume(context, &Goal::Run, Direction::Forward)
}

pub fn start(context: &mut Context<'_>, _: &Call) -> Answer {
    // The focused block may not have started yet.
    context.session.focus = Focus::first(context.session.machine());
    let stop = context.session.seek(Tick::START, context.interrupt);
    Ok(Outcome::Stop(Box::new(stop)))
}

/// Runs to the N-th stop; the first that is not a breakpoint, a watchpoint or a catchpoint ends it.
pub fn continue_run(context: &mut Context<'_>, call: &Call, direction: Direction) -> Answer {
    let mut log = Vec::new();
    let mut stops_left = call.count();
    loop {
        let mut stop = run_to_stop(context, &Goal::Continue, direction)?;
        log.append(&mut stop.log);
        stops_left -= 1;
        let is_breakpoint = stop.reasons.iter().all(|reason| reason.number().is_some());
        if stops_left == 0 || !is_breakpoint {
            stop.log = log;
            return Ok(Outcome::Stop(Box::new(stop)));
        }
    }
}

/// The size of a step.
#[derive(Clone, Copy)]
pub enum Step {
    /// An instruction.
    Instruction,
    /// A line.
    Line,
}

/// Steps as often as `call` says, with its step unit, which applies to this step only.
pub fn step(context: &mut Context<'_>, call: &Call, step: Step, over_calls: bool, direction: Direction) -> Answer {
    if call.text("UNIT") == Some("program") {
        return step_program(context, call.count(), over_calls, direction);
    }
    let count = call.count();
    let goal = match step {
        Step::Instruction => Goal::Instruction { count, over_calls },
        Step::Line => Goal::Line { count, over_calls },
    };
    let usual = context.session.settings.step_unit;
    context.session.settings.step_unit = match call.text("UNIT") {
        Some("lane") => StepUnit::Lane,
        Some("warp") => StepUnit::Warp,
        Some("block") => StepUnit::Block,
        Some("grid") => StepUnit::Grid,
        _ => usual,
    };
    let answer = resume(context, &goal, direction);
    context.session.settings.step_unit = usual;
    answer
}

/// Steps every warp of the focused block to another line, `count` times: what a program of Triton does as one. Warps that others needed
/// on the way have moved already. A breakpoint or the end of the run stops it where it is.
fn step_program(context: &mut Context<'_>, count: u64, over_calls: bool, direction: Direction) -> Answer {
    if direction == Direction::Backward {
        return Err(CommandError::new("a step of a program goes forwards only").with_help("'back' goes to where it began"));
    }
    let focus = context.session.focus;
    let filter = ThreadFilter::of_block(&focus);
    for _ in 0..count {
        let begin = view::lane_locations(&context.session.eval_context(), &filter);
        if begin.is_empty() {
            return resume(context, &Goal::Line { count: 1, over_calls }, direction);
        }
        for location in &begin {
            let now = view::lane_locations(&context.session.eval_context(), &filter);
            let stands = now.iter().find(|other| other.warp == location.warp && other.lanes == location.lanes && other.pc == location.pc);
            let Some(stands) = stands else { continue };
            context.session.focus = Focus { frame: 0, ..focus }.among(focus.block, stands.warp, stands.lanes);
            let stop = run_to_stop(context, &Goal::Line { count: 1, over_calls }, direction)?;
            if !matches!(stop.reasons.as_slice(), [Reason::Done | Reason::ThreadExited]) {
                return Ok(Outcome::Stop(Box::new(stop)));
            }
        }
    }
    let time = context.session.time();
    context.session.focus = focus;
    Ok(Outcome::Stop(Box::new(context.session.seek(time, context.interrupt))))
}

/// Runs until the selected frame returns; backwards, to its call.
pub fn finish(context: &mut Context<'_>, direction: Direction) -> Answer {
    let frame = context.session.eval_context().frame().ok();
    let called = frame.filter(|frame| frame.inlined == context.session.eval_context().calls_around(frame)).map(|frame| frame.function);
    let mut stop = run_to_stop(context, &Goal::Finish, direction)?;
    let has_returned = direction == Direction::Forward && matches!(stop.reasons.as_slice(), [Reason::Done]);
    let value = called.filter(|_| has_returned).and_then(|callee| returned(&context.session.eval_context(), callee));
    if let Some(value) = value
        && let ValueText::Scalar(text) = value.text(&context.session.eval_context(), None)
    {
        let number = context.session.kept.keep(value);
        stop.log.push(format!("value returned: ${number} = {text}"));
    }
    Ok(Outcome::Stop(Box::new(stop)))
}

pub fn until(context: &mut Context<'_>, call: &Call) -> Answer {
    let goal = match call.argument("LOCATION") {
        None => Goal::Until,
        Some(place) => Goal::Advance { pcs: context.locate_to_run(place)?.pcs, this_frame: true },
    };
    resume(context, &goal, Direction::Forward)
}

pub fn advance(context: &mut Context<'_>, call: &Call) -> Answer {
    let pcs = context.locate_to_run(call.required("LOCATION")?)?.pcs;
    resume(context, &Goal::Advance { pcs, this_frame: false }, Direction::Forward)
}

pub fn complete(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(argument) = call.argument("COPY|TEXT") else { return Ok(Outcome::Complete(String::new())) };
    let Ok(number) = argument.text.trim_start_matches('#').parse() else { return Ok(Outcome::Complete(argument.text.clone())) };
    let is_wgmma = context.session.machine().wgmmas().any(|(_, wgmma)| wgmma.id == number);
    let completed = context.session.complete(number);
    let kept = completed.map_err(|message| argument.error(message).with_help("info async lists the copies in flight"))?;
    let what = if is_wgmma { "wgmma" } else { "copy" };
    Ok(super::branches::with_kept(kept, Outcome::Text(format!("{what} #{number} has ended\n"))))
}

/// Default number of orders.
const ORDERS: u64 = 20;

/// Default depth of PCT: most known bugs take one or two orderings (Burckhardt et al., 2010).
const DEPTH: u32 = 3;

/// Default number of orders for `explore systematic`.
const SYSTEMATIC_ORDERS: u64 = 1000;

/// Default maximum of preemptions of an order: most known bugs take one or two (Musuvathi and Qadeer, 2007).
const PREEMPTIONS: u32 = 2;

/// The maximum of preemptions, or the default.
fn preemptions(argument: Option<&ArgumentText>) -> Result<u32, CommandError> {
    let Some(argument) = argument else { return Ok(PREEMPTIONS) };
    argument.text.parse().map_err(|_| argument.error(format!("a number of preemptions or continue is expected, not '{}'", argument.text)))
}

/// The depth of PCT, or the default.
fn depth(argument: Option<&ArgumentText>) -> Result<u32, CommandError> {
    let Some(argument) = argument else { return Ok(DEPTH) };
    let depth = argument.text.parse().ok().filter(|depth| (1..=DEPTH_MAX).contains(depth));
    depth.ok_or_else(|| argument.error(format!("a depth from 1 to {DEPTH_MAX} is expected, not '{}'", argument.text)))
}

/// The usage of `explore`, by strategy.
const EXPLORE_USAGE: &str = "usage: explore [random] [N], explore pct [DEPTH] [N], explore systematic [K] [N], \
    explore systematic continue [N]; \
     each but the last with --memory MODEL";

/// The number of orders, or the default.
fn count(argument: Option<&ArgumentText>, usual: u64) -> Result<u64, CommandError> {
    let Some(argument) = argument else { return Ok(usual) };
    let count = argument.text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| argument.error(format!("a number of orders from 1 is expected, not '{}'", argument.text)).with_help(EXPLORE_USAGE))
}

pub fn explore(context: &mut Context<'_>, call: &Call) -> Answer {
    let (first, second) = (call.argument("DEPTH | K | continue"), call.argument("N"));
    let failed = |error: RunError| CommandError::new(error.to_string());
    let model = |argument: &ArgumentText| MemoryModel::parse(&argument.text).map_err(|message| argument.error(message));
    let memory = call.argument("MODEL").map(model).transpose()?;
    let (strategy, count) = match call.text("WAY") {
        Some("pct") => (Strategy::Priority { depth: depth(first)? }, count(second, ORDERS)?),
        Some("systematic") => {
            let count = count(second, SYSTEMATIC_ORDERS)?;
            if let Some(argument) = first.filter(|argument| argument.text == "continue") {
                if memory.is_some() {
                    return Err(argument.error("what goes on keeps its memory model").with_help(EXPLORE_USAGE));
                }
                let explored = context.session.explore_more(count, context.interrupt).map_err(failed)?;
                let none = || CommandError::new("there is no systematic exploration of this run to go on with");
                return explored.map(Outcome::Explored).ok_or_else(none);
            }
            (Strategy::Systematic { preemptions: preemptions(first)? }, count)
        }
        _ => match second {
            Some(argument) => {
                let message = "only pct and systematic take another number";
                return Err(argument.error(message).with_help(EXPLORE_USAGE));
            }
            None => (Strategy::Random, count(first, ORDERS)?),
        },
    };
    let explored = context.session.explore(strategy, count, memory, context.interrupt).map_err(failed)?;
    Ok(Outcome::Explored(explored))
}

pub fn run_to(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("EVENT")?;
    let event = context.event(argument)?;
    resume(context, &Goal::Event(event), Direction::Forward)
}

fn resume(context: &mut Context<'_>, goal: &Goal, direction: Direction) -> Answer {
    run_to_stop(context, goal, direction).map(|stop| Outcome::Stop(Box::new(stop)))
}

fn run_to_stop(context: &mut Context<'_>, goal: &Goal, direction: Direction) -> Result<Stop, CommandError> {
    context.session.resume(goal, direction, context.interrupt).map_err(|error| CommandError::new(error.to_string()))
}
