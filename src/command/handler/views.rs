//! The commands that list and explain. Each returns a view: rows of data on the stopped *machine*, the simulated GPU. An evaluation
//! context is the stopped machine with its focused thread.

use crate::base::Dim3;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{Outcome, View};
use crate::debug::WatchedAccessText;
use crate::debug::breakpoints::frame_of;
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::explain;
use crate::debug::expression::Expression;
use crate::debug::fidelity;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::names::mbarriers::mbarrier_address;
use crate::debug::names::scope;
use crate::debug::nearest;
use crate::debug::resume::LastKnown;
use crate::debug::source_names::values::UNDEFINED;
use crate::debug::target::Target;
use crate::debug::value::{Format, Value, ValueText};
use crate::debug::view::{self, LocalRow, RegisterRow, SourcePlace, Stack, SymbolKind};
use crate::debug::{listed_name, shown_name};

/// Frames that a backtrace shows without a number.
const FRAMES: usize = 100;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

/// A view that cannot fail.
pub fn of_eval_context(context: &Context<'_>, view: impl Fn(&EvalContext<'_>) -> View) -> Answer {
    shown(view(&context.session.eval_context()))
}

/// The kernels of the module.
pub fn kernels(context: &mut Context<'_>, _: &Call) -> Answer {
    shown(View::Kernels(view::kernels(&context.session.eval_context())))
}

/// The launch of the running kernel, and its number in the case.
pub fn launch(context: &mut Context<'_>, _: &Call) -> Answer {
    let session = &context.session;
    let (number, count, reasons) = (session.launch(), session.launches(), session.reasons().to_vec());
    shown(View::Launch {
        launch: Box::new(view::launch(&session.eval_context(), &session.initialized_variables())),
        number,
        count,
        reasons,
    })
}

/// A view of the threads that the argument THREADS names.
pub fn threads(context: &Context<'_>, call: &Call, view: impl Fn(&EvalContext<'_>, &ThreadFilter) -> Result<View, ThreadError>) -> Answer {
    let filter = call.argument("THREADS").map(|argument| context.filter(argument)).transpose()?.unwrap_or_default();
    shown(view(&context.session.eval_context(), &filter).map_err(thread_error)?)
}

fn shown(view: View) -> Answer {
    Ok(Outcome::View(view))
}

/// The error for a thread that is not resident.
fn thread_error(error: ThreadError) -> CommandError {
    CommandError::new(error.to_string())
}

/// All mbarriers, or the one at an address or with a name.
pub fn mbarriers(context: &mut Context<'_>, call: &Call) -> Answer {
    let eval_context = context.session.eval_context();
    let Some(argument) = call.argument("MBARRIER") else {
        return shown(View::MbarrierList(view::mbarrier_views(&eval_context).map_err(thread_error)?));
    };
    let all = view::mbarrier_views(&eval_context).map_err(thread_error)?;
    let mut named: Vec<_> =
        all.iter().filter(|each| each.name == argument.text || each.array() == Some(argument.text.as_str())).cloned().collect();
    if named.is_empty() {
        let of_value = || {
            context.expression(argument).ok()?.evaluate(&eval_context).ok().and_then(|value| view::shared_address(&eval_context, &value))
        };
        let address = mbarrier_address(&eval_context, &argument.text).or_else(of_value);
        named = all.iter().filter(|each| each.block == eval_context.focus.block && Some(each.address) == address).cloned().collect();
    }
    if named.is_empty() {
        let near = nearest(&argument.text, all.iter().map(|each| each.name.as_str()));
        return Err(argument
            .error(format!("there is no mbarrier '{}' in this block: 'info mbarriers' lists them", argument.text))
            .with_nearest(near));
    }
    shown(View::Mbarriers(named))
}

pub fn pipeline(context: &mut Context<'_>, _: &Call) -> Answer {
    shown(View::Pipeline(view::pipeline(context.session).map_err(thread_error)?))
}

pub fn backtrace(context: &mut Context<'_>, call: &Call) -> Answer {
    let (mut full, mut limit) = (false, None);
    let argument = call.args.first().map(|arg| &arg.argument);
    for (argument, word) in argument.into_iter().flat_map(|argument| argument.text.split_whitespace().map(move |word| (argument, word))) {
        match (word.trim_start_matches('-'), word.parse::<i64>()) {
            ("full", _) => full = true,
            (_, Ok(number)) if number != 0 => limit = Some(number),
            _ => return Err(argument.error(format!("expected 'full' or a number of frames, not '{word}'"))),
        }
    }
    let eval_context = context.session.eval_context();
    let count = limit.map_or(FRAMES, |number| usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX));
    let mut stack = match limit {
        Some(number) if number < 0 => view::outermost(&eval_context, count),
        Some(_) | None => view::backtrace(&eval_context, count),
    }
    .map_err(thread_error)?;
    if full {
        stack.locals = view::locals_of(&eval_context, &stack);
        complete_all(context, &mut stack);
    }
    name_last_values(context, &mut stack);
    shown(View::Stack(stack))
}

/// Completes the variables of all frames, as `info locals` does.
fn complete_all(context: &mut Context<'_>, stack: &mut Stack) {
    let focus = context.session.focus;
    for (frame, rows) in stack.frames.iter().zip(&mut stack.locals) {
        context.session.focus.frame = frame.number;
        rows.iter_mut().for_each(|row| complete(context, row, None));
    }
    context.session.focus = focus;
}

/// Gives arguments that have no value at the instruction of their frame the last one, as `print` does.
fn name_last_values(context: &mut Context<'_>, stack: &mut Stack) {
    let focus = context.session.focus;
    for row in &mut stack.frames {
        context.session.focus.frame = row.number;
        for argument in row.arguments.iter_mut().filter(|argument| argument.value.is_none()) {
            if let Some(LastKnown { value: ValueText::Scalar(text), time }) =
                context.session.last_known(&argument.name, None, context.interrupt)
            {
                // In short, as the values of the others are: no members, and a pointer without its type.
                let text =
                    if text.starts_with('{') { "..." } else { text.split_once(" *) ").map_or(text.as_str(), |(_, address)| address) };
                argument.value = Some(format!("{text} (last known, t={time})"));
            }
        }
    }
    context.session.focus = focus;
}

pub fn frame(context: &mut Context<'_>, call: &Call) -> Answer {
    let eval_context = context.session.eval_context();
    let frame = call.number("N").map_or(eval_context.focus.frame, |number| u32::try_from(number).unwrap_or(u32::MAX));
    let of_frame = eval_context.refocused(Focus { frame, ..eval_context.focus });
    shown(View::Frame(Box::new(view::frame(&of_frame).map_err(thread_error)?)))
}

pub fn explain(context: &mut Context<'_>, call: &Call) -> Answer {
    let resolved = call.argument("LOCATION").map(|argument| context.locate(argument)).transpose()?;
    let pc = resolved.and_then(|resolved| resolved.first());
    match explain::explain(&context.session.eval_context(), pc) {
        Some(mut explanation) => {
            if let Some(lane) = explanation.lane.as_mut().filter(|lane| !lane.lines.is_empty()) {
                lane.lines.extend(last_write(context));
            }
            // Where a pointer that is null comes from, or which made-up value led here.
            let faulting = explanation.lane.as_mut().filter(|lane| matches!(lane.outcome, Some(explain::StepOutcome::Faults(_))));
            if let Some((lane, fault)) = faulting.zip(context.session.next_fault()) {
                lane.lines.extend([fault.made_up, fault.why].into_iter().filter(|line| !line.is_empty()));
            }
            shown(View::Explanation(Box::new(explanation)))
        }
        None => Err(context.no_code_error()),
    }
}

/// True for `12` and `k.ptx:12`, and not for `app::flag`.
fn is_line(text: &str) -> bool {
    let line = text.rsplit_once(':').map_or(text, |(_, line)| line);
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
}

pub fn may_read(context: &mut Context<'_>, call: &Call) -> Answer {
    let next = || CommandError::new("the instruction that the focused lane executes next accesses no memory: name an element, or a line");
    let argument = match call.argument("LOCATION") {
        None => ArgumentText { text: explain::accessed(&context.session.eval_context(), None).ok_or_else(next)?, start: 0 },
        Some(argument) if is_line(&argument.text) => {
            let pc = context.locate(argument)?.first();
            let accessed = explain::accessed(&context.session.eval_context(), pc);
            let text = accessed.ok_or_else(|| argument.error(format!("the instruction at {} accesses no memory", argument.text)))?;
            ArgumentText { text, start: argument.start }
        }
        Some(argument) => argument.clone(),
    };
    let Target::Memory(target) = context.target(&argument)? else {
        return Err(argument.error("this is a register: name memory that threads share, or a line"));
    };
    match view::may_read(&context.session.eval_context(), &target) {
        Ok(found) => shown(View::MayRead(found)),
        Err(error) => Err(CommandError::new(error.to_string())),
    }
}

/// Where the memory that the next instruction accesses was written last.
fn last_write(context: &mut Context<'_>) -> Option<String> {
    let text = explain::accessed(&context.session.eval_context(), None)?;
    let target = context.target(&ArgumentText { text, start: 0 }).ok()?;
    let found = context.session.last(&target, context.interrupt);
    if let Some(change) = found.changes.first() {
        return Some(format!("changed by hand at t={}, not written since", view::grouped(change.time)));
    }
    let Some(write) = found.writes.first() else {
        return (!found.interrupted).then(|| "not written before: it holds what it had at the start".to_string());
    };
    let write = WatchedAccessText::new(&context.session.eval_context(), write);
    let site = write.site;
    let thread = format!("block {} warp {} {}", Dim3(site.block), site.warp, site.lanes.describe());
    Some(format!("last written at t={} by {thread} at {}", view::grouped(site.time), site.place))
}

pub fn control_flow(context: &mut Context<'_>, call: &Call) -> Answer {
    let eval_context = context.session.eval_context();
    let function = match call.argument("FUNCTION") {
        None => Some(eval_context.current_function()),
        Some(argument) => context.locate(argument)?.first().and_then(|pc| eval_context.program().function_at(pc)),
    };
    function.map_or_else(|| Err(context.no_code_error()), |function| shown(View::ControlFlow(view::control_flow(&eval_context, function))))
}

pub fn divergence(context: &mut Context<'_>, _: &Call) -> Answer {
    shown(View::Divergence(view::divergence(&context.session.eval_context()).map_err(thread_error)?))
}

pub fn registers(context: &mut Context<'_>, call: &Call) -> Answer {
    let format = call.format()?;
    let patterns = match call.argument("REGISTERS") {
        Some(names) => words(names),
        None => vec![ArgumentText { text: "*".to_string(), start: 0 }],
    };
    let rows: Vec<_> = patterns.iter().map(|pattern| registers_of(context, pattern, format)).collect::<Result<_, _>>()?;
    shown(View::Registers(rows.into_iter().flatten().collect()))
}

/// The words of an argument, at commas or blanks.
fn words(argument: &ArgumentText) -> Vec<ArgumentText> {
    let is_gap = |c: char| c.is_whitespace() || c == ',';
    let parts = argument.text.split(is_gap).filter(|word| !word.is_empty());
    let start = |word: &str| argument.start + (word.as_ptr() as usize - argument.text.as_ptr() as usize);
    parts.map(|word| ArgumentText { text: word.to_string(), start: start(word) }).collect()
}

/// The registers that a name, or the beginning of one, selects.
fn registers_of(context: &Context<'_>, pattern: &ArgumentText, format: Option<Format>) -> Result<Vec<RegisterRow>, CommandError> {
    let (name, all_lanes) = pattern.text.strip_suffix("@*").map_or((pattern.text.as_str(), false), |name| (name, true));
    let eval_context = context.session.eval_context();
    let rows = |name: &str| {
        let is_selected = |register: &str| match name.strip_suffix('*') {
            Some(start) => register.starts_with(start),
            None => name.is_empty() || register == name,
        };
        view::registers(&eval_context, is_selected, all_lanes, format).map_err(thread_error)
    };
    let mut rows_found = rows(name)?;
    if rows_found.is_empty() {
        // `r6` and `$r6` are %r6, as cuda-gdb writes it.
        rows_found = rows(&format!("%{}", name.trim_start_matches('$')))?;
    }
    if rows_found.is_empty() && pattern.text != "*" {
        let known = scope::names(&eval_context);
        let near = nearest(name, known.iter().map(String::as_str));
        return Err(pattern.error(format!("there is no register '{name}' here")).with_nearest(near));
    }
    Ok(rows_found)
}

pub fn locals(context: &mut Context<'_>, call: &Call) -> Answer {
    let format = call.format()?;
    let mut rows = view::locals(&context.session.eval_context(), format).map_err(thread_error)?;
    // 'info args' has the parameters.
    rows.retain(|row| row.space != "param");
    rows.iter_mut().for_each(|row| complete(context, row, format));
    if rows.is_empty()
        && let Some(text) = view::no_locals(&context.session.eval_context())
    {
        return Ok(Outcome::Text(text + "\n"));
    }
    shown(View::Locals(rows))
}

/// Shows of a variable what only the run so far says: what was not written of it, and the last value of one that has none here.
fn complete(context: &mut Context<'_>, row: &mut LocalRow, format: Option<Format>) {
    if row.is_hidden {
        if let Some(hidden) = row.hidden.clone() {
            let mut value = Value::Source(hidden);
            context.session.note_unwritten(&mut value, context.interrupt);
            row.value = Ok(value.text(&context.session.eval_context(), format));
        }
        return;
    }
    let expression = Expression::parse(&row.name).ok();
    if expression.is_some_and(|expression| context.session.unset_reference(&expression, context.interrupt).is_some()) {
        row.value = Ok(ValueText::Scalar(UNDEFINED.to_string()));
        return;
    }
    name_last_value(context, row, format);
    note_unwritten(context, row, format);
}

/// Shows the last value of a variable that has none at the instruction, as `print` does.
fn name_last_value(context: &mut Context<'_>, row: &mut LocalRow, format: Option<Format>) {
    if row.value.is_err()
        && let Some(last) = context.session.last_known(&row.name, format, context.interrupt)
    {
        row.value = Ok(last.text());
    }
}

/// Shows in an object in local memory what the thread has not written.
fn note_unwritten(context: &mut Context<'_>, row: &mut LocalRow, format: Option<Format>) {
    let evaluated = Expression::parse(&row.name).ok().and_then(|name| name.evaluate(&context.session.eval_context()).ok());
    let Some(mut value) = evaluated else { return };
    context.session.note_unwritten(&mut value, context.interrupt);
    let is_unwritten = match &value {
        Value::Source(source) => !source.unwritten.is_empty(),
        Value::Array(array) => !array.unwritten.is_empty(),
        Value::Scalar(_) | Value::Lanes(_) | Value::Tensor(_) => false,
    };
    if is_unwritten {
        row.value = Ok(value.text(&context.session.eval_context(), format));
    }
    if let Value::Scalar(_) = value
        && let Some(Ok(Target::Memory(place))) = Expression::parse(&row.name).ok().map(|name| name.target(&context.session.eval_context()))
        && !context.session.unwritten_lanes(&place, context.interrupt).is_empty()
    {
        row.value = Ok(ValueText::Scalar(UNDEFINED.to_string()));
    }
}

pub fn arguments(context: &mut Context<'_>, call: &Call) -> Answer {
    let format = call.format()?;
    let mut rows = view::arguments(&context.session.eval_context(), format).map_err(thread_error)?;
    if rows.is_empty()
        && let Some(text) = view::no_arguments(&context.session.eval_context())
    {
        return Ok(Outcome::Text(text + "\n"));
    }
    rows.iter_mut().for_each(|row| complete(context, row, format));
    shown(View::Locals(rows))
}

/// The variables of the source in the scope of an instruction.
pub fn scope(context: &mut Context<'_>, call: &Call) -> Answer {
    let eval_context = context.session.eval_context();
    let pc = match call.argument("LOCATION") {
        Some(argument) => context.locate_body(argument)?.first(),
        None => eval_context.frame().ok().map(|frame| frame.pc),
    };
    let pc = pc.ok_or_else(|| context.no_code_error())?;
    match view::scope_at(&eval_context, pc) {
        Some(rows) => shown(View::Scope(rows)),
        None => {
            let error = CommandError::new("the module has no debug data of the variables here");
            let help = || "compile it with nvcc -G, or with clang -g: .section directives then name variables and types".to_string();
            Err(error.with_help(view::debug_data_problem(&eval_context).unwrap_or_else(help)))
        }
    }
}

/// The lanes of a warp; of the focused one with what a predicate turns off in its block.
pub fn lanes(context: &mut Context<'_>, call: &Call) -> Answer {
    let rows = threads(context, call, |eval_context, filter| view::lanes(eval_context, filter).map(View::Lanes))?;
    let is_focused = matches!(&rows, Outcome::View(View::Lanes(rows)) if rows.iter().any(|row| row.focused));
    let masked = view::masked(&context.session.eval_context()).filter(|_| is_focused);
    Ok(match masked {
        Some(masked) => Outcome::Several(vec![rows, Outcome::Text(format!("{masked}\n"))]),
        None => rows,
    })
}

pub fn symbols(context: &mut Context<'_>, call: &Call) -> Answer {
    let part = call.text("NAME").unwrap_or_default();
    shown(View::Symbols { rows: view::symbols(&context.session.eval_context(), part), part: part.to_string() })
}

/// The names of the module that contain NAME and are of this kind.
pub fn symbols_of(context: &mut Context<'_>, call: &Call, is_wanted: fn(&SymbolKind) -> bool) -> Answer {
    let part = call.text("NAME").unwrap_or_default();
    let mut rows = view::symbols(&context.session.eval_context(), part);
    rows.retain(|row| is_wanted(&row.kind));
    shown(View::Symbols { rows, part: part.to_string() })
}

/// The types of the source whose names contain NAME.
pub fn types(context: &mut Context<'_>, call: &Call) -> Answer {
    let part = call.text("NAME").unwrap_or_default();
    let names = view::types_of_source(&context.session.eval_context(), part);
    let none = || {
        if part.is_empty() { "the module has no debug data with types".to_string() } else { format!("no type's name contains '{part}'") }
    };
    Ok(Outcome::Text(if names.is_empty() { none() + "\n" } else { names.iter().map(|name| format!("{name}\n")).collect() }))
}

/// What is called NAME, and where it is.
pub fn address(context: &mut Context<'_>, call: &Call) -> Answer {
    let name = call.required("NAME")?;
    let eval_context = context.session.eval_context();
    let mut rows = view::symbols(&eval_context, &name.text);
    rows.retain(|row| [row.name.as_str(), &listed_name(&row.name), &shown_name(&row.name)].contains(&name.text.as_str()));
    if let Some(text) = view::where_is(&eval_context, name.text.trim()) {
        return Ok(Outcome::Text(text + "\n"));
    }
    if !rows.is_empty() {
        return shown(View::Symbols { rows, part: name.text.clone() });
    }
    let mut buffers = view::allocations(&eval_context);
    let near = nearest(&name.text, buffers.iter().map(|row| row.name.as_str())).map(str::to_string);
    buffers.retain(|row| row.name == name.text);
    match buffers.is_empty() {
        true => Err(name.error(format!("nothing in memory is called '{}'", name.text)).with_nearest(near.as_deref())),
        false => shown(View::Allocations(buffers)),
    }
}

pub fn target(context: &mut Context<'_>, _: &Call) -> Answer {
    shown(View::Target(view::target(&context.session.eval_context())))
}

pub fn source(context: &mut Context<'_>, call: &Call) -> Answer {
    let eval_context = context.session.eval_context();
    let program = eval_context.program();
    let (place, note) = match call.argument("LOCATION") {
        Some(argument) => {
            let resolved = context.locate(argument)?;
            let data = context.session.debug_data();
            (resolved.first().map(|pc| (pc, frame_of(&argument.text, program, data, pc))), resolved.note)
        }
        None => (eval_context.frame().ok().map(|frame| (frame.position(), frame.inlined)), None),
    };
    match place.and_then(|(pc, inlined)| view::source_place(&eval_context, pc, inlined)) {
        Some(place) => shown(View::Source(SourcePlace { note, ..place })),
        None => Err(context.no_code_error()),
    }
}

/// The file of the source that an instruction comes from, and its lines.
pub fn source_file(context: &mut Context<'_>, call: &Call) -> Answer {
    let mut outcome = source(context, call)?;
    if let Outcome::View(View::Source(place)) = &mut outcome {
        place.file = Some(view::file_of_source(&context.session.eval_context(), place));
    }
    Ok(outcome)
}

pub fn output(context: &mut Context<'_>, _: &Call) -> Answer {
    let session = &context.session;
    let written = session.printed_since((0, 0));
    let nothing = || Outcome::Text(format!("nothing was printed up to t={}\n", session.time()));
    Ok(if written.is_empty() { nothing() } else { Outcome::Printed(written) })
}

/// Fidelity: how far the results of the run are those of the hardware, by opcode.
pub fn fidelity(context: &mut Context<'_>, _: &Call) -> Answer {
    let machine = context.session.machine();
    shown(View::Fidelity(fidelity::fidelity(machine.program(), &fidelity::executed(machine))))
}
