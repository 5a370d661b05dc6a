//! Values, displays, memory and code.

use std::ops::Range;

use super::assigning;
use crate::base::counted;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::{Context, Listed};
use crate::command::error::CommandError;
use crate::command::outcome::{Outcome, View};
use crate::debug::argument::ArgumentError;
use crate::debug::arrays::{self, TypedMemory};
use crate::debug::display;
use crate::debug::display_list::{self, Display};
use crate::debug::expression::Reason;
use crate::debug::session::Session;
use crate::debug::skip::is_path_called;
use crate::debug::source_names::values::UNDEFINED;
use crate::debug::target::{MemoryTarget, Target};
use crate::debug::value::format::Format;
use crate::debug::value::{Scalar, Shown, Type, Value};
use crate::debug::view::{self, CodeText, Examine, Shape};
use crate::debug::{FuncId, LaneMask};

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn print(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = &without_options(call.required("EXPRESSION")?);
    let format = format_of(context, call, argument)?;
    if let Some(assigned) = assigning::assigned(context, argument)? {
        return Ok(assigned);
    }
    if context.session.is_void(argument.text.trim()) {
        return Ok(Outcome::Text(format!("{} = void\n", argument.text)));
    }
    let expression = context.expression(argument)?;
    if let Some(unset) = context.session.unset_reference(&expression, context.interrupt) {
        if unset != argument.text.trim() {
            return Err(argument.error(format!("'{unset}' has no value yet: the thread has not set this reference")));
        }
        return Ok(Outcome::Text(format!("{} = {UNDEFINED}\n", argument.text)));
    }
    let over_lanes = expression.objects_over_lanes(&context.session.eval_context());
    if let Some(mut objects) = over_lanes {
        context.session.note_unwritten_in_lanes(objects.objects(), context.interrupt);
        let rows = objects.rows(&context.session.eval_context(), format);
        let names: Vec<String> = rows.iter().map(|(lanes, _)| lanes.describe()).collect();
        let width = names.iter().map(String::len).max().unwrap_or(0);
        let lines = names.iter().zip(&rows).map(|(name, (_, text))| format!("  {name:width$}  {text}\n"));
        return Ok(Outcome::Text(format!("{}:\n{}", argument.text, lines.collect::<String>())));
    }
    let (mut without_value, mut names_its_bytes) = (LaneMask::NONE, false);
    let value = match context.value(argument) {
        Ok(mut value) => {
            context.session.note_unwritten(&mut value, context.interrupt);
            context.session.note_unwritten_numbers(&expression, &mut value, context.interrupt);
            without_value = value.undefined();
            names_its_bytes = matches!(value, Value::Source(_));
            let text = expression.formatted(&value, format, &context.session.eval_context());
            context.session.kept.keep(value);
            text
        }
        // The last value of a variable that has none here.
        Err(error) => match context.session.last_known(argument.text.trim(), format, context.interrupt) {
            Some(last) => last.text(),
            None => return Err(error),
        },
    };
    let unrounded_uses = view::unrounded_uses(&context.session.eval_context(), &argument.text);
    let bytes = array_note(context, argument, "p");
    // The text of an object says which parts of it are undefined.
    let undefined = if names_its_bytes { LaneMask::NONE } else { undefined_lanes(context, argument) | without_value };
    Ok(Outcome::Value { what: argument.text.clone(), value, undefined, unrounded_uses, in_flight: in_flight(context, argument), bytes })
}

/// The expression without the options of gdb before it, as in `-pretty -- x`: they are about how objects are laid out.
fn without_options(argument: &ArgumentText) -> ArgumentText {
    let is_option = |word: &str| word.starts_with('-') || ["on", "off", "unlimited"].contains(&word) || word.parse::<u32>().is_ok();
    let rest = argument.text.split_once("-- ").filter(|(before, _)| {
        let mut words = before.split_whitespace().peekable();
        before.ends_with(' ') && words.peek().is_some_and(|first| first.starts_with('-')) && words.all(is_option)
    });
    rest.map_or_else(
        || argument.clone(),
        |(_, rest)| {
            let start = argument.start + argument.text.len() - rest.trim_start().len();
            ArgumentText { text: rest.trim_start().to_string(), start }
        },
    )
}

/// The lanes that have not written the register or the local memory that an expression names.
fn undefined_lanes(context: &mut Context<'_>, argument: &ArgumentText) -> LaneMask {
    match context.target(argument) {
        Ok(Target::Memory(place)) => context.session.unwritten_lanes(&place, context.interrupt),
        Ok(Target::Register(_) | Target::Variable(_)) | Err(_) => view::undefined_lanes(&context.session.eval_context(), &argument.text),
    }
}

/// The format that was asked for; of a character the one that shows it.
fn format_of(context: &Context<'_>, call: &Call, argument: &ArgumentText) -> Result<Option<Format>, CommandError> {
    let is_character = || context.expression(argument).is_ok_and(|expression| expression.is_character());
    Ok(call.format()?.or_else(|| is_character().then_some(Format::Character)))
}

/// The value of an expression alone.
pub fn output(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("EXPRESSION")?;
    let format = format_of(context, call, argument)?;
    let value = context.value(argument)?;
    let undefined = view::undefined_lanes(&context.session.eval_context(), &argument.text) | value.undefined();
    let value = context.expression(argument)?.formatted(&value, format, &context.session.eval_context());
    Ok(Outcome::Bare { value, undefined })
}

/// A note if an expression leads out of the array that it indexes, or names one that is declared as bytes: the `command` that shows its
/// elements.
pub fn array_note(context: &Context<'_>, argument: &ArgumentText, command: &str) -> Option<String> {
    if let Some(note) = view::past_end(&context.session.eval_context(), &argument.text) {
        return Some(note);
    }
    let retyped = context.expression(argument).ok()?.retyped(&context.session.eval_context())?;
    let (name, text, ty, why) = (&retyped.name, &retyped.text, retyped.ty.word(), &retyped.why);
    Some(format!("{name} is declared as bytes, and {why}: '{command} {text}' takes them for {ty}, 'type {name} {ty}' from now on"))
}

/// The type of an expression.
pub fn what_is(context: &mut Context<'_>, call: &Call) -> Answer {
    type_text(context, call, false)
}

/// The type of an expression with all its members.
pub fn type_in_full(context: &mut Context<'_>, call: &Call) -> Answer {
    type_text(context, call, true)
}

fn type_text(context: &Context<'_>, call: &Call, in_full: bool) -> Answer {
    let argument = call.required("EXPRESSION")?;
    let eval_context = context.session.eval_context().with_names_as_in_source();
    if !view::is_of_source(&eval_context, &argument.text)
        && let Some(id) = context.session.variable_called(&argument.text)
    {
        return Ok(Outcome::View(View::ArrayTypes(vec![view::array_type(&eval_context, id)])));
    }
    let named = view::named_type(&eval_context, &argument.text, in_full);
    if let Some(text) = named.map_err(|message| argument.error(message))? {
        return Ok(Outcome::Text(format!("type = {text}\n")));
    }
    let text = context.expression(argument)?.type_text(&eval_context, in_full);
    let text = text.map_err(|error| argument.error_at(error.column, error.to_string()))?;
    Ok(Outcome::Text(format!("type = {text}\n")))
}

/// Shows or changes the element types of arrays.
pub fn array_type(context: &mut Context<'_>, call: &Call) -> Answer {
    let session = &mut *context.session;
    let Some(name) = call.argument("VARIABLE") else {
        return Ok(Outcome::View(View::ArrayTypes(view::array_types(&session.eval_context()))));
    };
    let Some(id) = session.variable_called(&name.text) else {
        let known = view::array_types(&session.eval_context());
        let names = known.iter().map(|row| row.name.as_str());
        let buffers = session.eval_context().buffers;
        if let Some(buffer) = buffers.iter().find(|buffer| buffer.name == name.text) {
            let (name, bytes) = (buffer.name.clone(), buffer.bytes());
            return buffer_type(session, &name, bytes, call.argument("TYPE"));
        }
        let error = ArgumentError::new(format!("no variable of the module and no buffer is called '{}' here", name.text));
        return Err(name.shifted_error(error.with_nearest(&name.text, names.chain(buffers.iter().map(|buffer| buffer.name.as_str())))));
    };
    match call.argument("TYPE") {
        None => {}
        Some(argument) if argument.text.trim() == "auto" => session.choose_type(id, None),
        Some(argument) => {
            let variable = &session.program().variables[id.index()];
            let dynamic = view::dynamic_bytes(&session.eval_context(), variable);
            let chosen = arrays::parse_array_type(&argument.text, TypedMemory::of(variable, dynamic));
            let chosen = chosen.map_err(|error| argument.shifted_error(error))?;
            session.choose_type(id, Some(chosen));
        }
    }
    Ok(Outcome::View(View::ArrayTypes(vec![view::array_type(&context.session.eval_context(), id)])))
}

/// Shows or changes the type of a buffer.
fn buffer_type(session: &mut Session, name: &str, bytes: u64, ty: Option<&ArgumentText>) -> Answer {
    match ty {
        None => {}
        Some(argument) if argument.text.trim() == "auto" => session.choose_buffer_type(name, None),
        Some(argument) => {
            let chosen = arrays::parse_array_type(&argument.text, TypedMemory::Buffer(bytes));
            session.choose_buffer_type(name, Some(chosen.map_err(|error| argument.shifted_error(error))?));
        }
    }
    let context = session.eval_context();
    let buffer = context.buffers.iter().find(|buffer| buffer.name == name);
    Ok(Outcome::View(View::ArrayTypes(buffer.map(|buffer| view::buffer_type(&context, buffer)).into_iter().collect())))
}

/// The operations in flight that will write the register or memory that an expression names.
pub fn in_flight(context: &Context<'_>, argument: &ArgumentText) -> Option<String> {
    let eval_context = context.session.eval_context();
    match context.expression(argument).ok()?.target(&eval_context).ok()? {
        Target::Register(target) => view::accumulator_in_flight(&eval_context, &target),
        Target::Variable(_) => None,
        Target::Memory(MemoryTarget { space, address, bytes, owner, .. }) => {
            view::in_flight(&eval_context.refocused(owner), space, address, bytes)
        }
    }
}

pub fn display(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(argument) = call.argument("EXPRESSION") else { return Ok(Outcome::Displays(displays_now(context))) };
    let is_code = call.suffix.as_ref().is_some_and(|letters| letters.text == "i");
    let format = match is_code {
        true => format!("/{} ", display::CODE),
        false => call.format()?.map_or(String::new(), |format| format!("/{} ", format.name())),
    };
    let expression = context.expression(argument)?;
    let eval_context = context.session.eval_context();
    // A variable that has no value yet is displayed once it has one.
    let is_only_without_value = || expression.evaluate(&eval_context).is_err_and(|error| matches!(error.reason, Reason::Object(_)));
    if expression.objects_over_lanes(&eval_context).is_none() && !is_only_without_value() {
        context.value(argument)?;
    }
    let scope = display::scope_of(&expression, &eval_context);
    context.session.displays.push(Display { what: format!("{format}{}", argument.text), scope });
    let mut shown = displays_now(context);
    Ok(Outcome::Displays(shown.pop().into_iter().collect()))
}

fn displays_now(context: &mut Context<'_>) -> Vec<Shown> {
    context.session.shown_displays(context.interrupt)
}

pub fn undisplay(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.arg("N") else {
        context.session.displays.fill(Display::default());
        return Ok(Outcome::Nothing);
    };
    for number in &arg.numbers {
        if !display_list::remove(&mut context.session.displays, *number) {
            return Err(arg.argument.error(format!("there is no display {number}")));
        }
    }
    Ok(Outcome::Nothing)
}

pub fn displays(context: &mut Context<'_>, _: &Call) -> Answer {
    let rows = display_list::numbered(&context.session.displays).map(|(number, display)| format!("{number}: {}\n", display.what));
    let text: String = rows.collect();
    Ok(Outcome::Text(if text.is_empty() { "there are no displays\n".to_string() } else { text }))
}

pub fn examine(context: &mut Context<'_>, call: &Call) -> Answer {
    let (before, next) = context.state.examined.take().map_or((Examine::default(), None), |(examine, next)| (examine, Some(next)));
    let letters = call.suffix.as_ref().map_or("", |argument| argument.text.as_str());
    let examine = before.with(letters).map_err(|error| match &call.suffix {
        Some(argument) => argument.error(error.to_string()),
        None => CommandError::new(error.to_string()),
    })?;
    let (argument, start) = match (call.argument("ADDRESS"), next) {
        (Some(argument), _) => (Some(argument), context.value(argument)?),
        (None, Some(next)) => (None, Value::Scalar(next)),
        (None, None) => return Err(call.missing("ADDRESS")),
    };
    let examined = view::examine(&context.session.eval_context(), &examine, &start).map_err(|error| match argument {
        Some(argument) => argument.error(error.to_string()),
        None => CommandError::new(error.to_string()),
    })?;
    context.state.examined = Some((examine, examined.next));
    context.session.keep_examined(&examined);
    Ok(Outcome::View(View::Examined { examined, code: examine.shape == Shape::Instruction }))
}

/// The instructions of a function.
pub fn disassemble(context: &mut Context<'_>, call: &Call) -> Answer {
    let letters = call.suffix.as_ref().map_or("", |letters| letters.text.as_str());
    if let Some(letters) = call.suffix.as_ref().filter(|letters| !letters.text.chars().all(|letter| "smr".contains(letter))) {
        return Err(letters.error(format!("'{}' is none of s and m, lines of the source, and r", letters.text)));
    }
    let eval_context = context.session.eval_context();
    let function_of = |function: FuncId| eval_context.program().functions[function.index()].code.clone();
    let code = match call.argument("FUNCTION") {
        None => function_of(eval_context.current_function()),
        Some(argument) => match argument.text.split_once(',') {
            Some((first, last)) => code_range(context, argument, first, last)?,
            None => {
                let function = context.locate(argument)?.first().and_then(|pc| eval_context.program().function_at(pc));
                function_of(function.ok_or_else(|| context.no_code_error())?)
            }
        },
    };
    let examine = Examine { count: u64::from(code.end - code.start), shape: Shape::Instruction, ..Examine::default() };
    let start = Value::Scalar(Scalar { ty: Type::Code, bits: u128::from(code.start) });
    let mut examined = view::examine(&eval_context, &examine, &start).map_err(|error| CommandError::new(error.to_string()))?;
    if letters.contains(['s', 'm']) {
        view::add_source(&eval_context, &mut examined);
    }
    Ok(Outcome::View(View::Examined { examined, code: true }))
}

/// The instructions of `START,END` and `START,+COUNT`, the two sides of the comma of `argument`.
fn code_range(context: &Context<'_>, argument: &ArgumentText, first: &str, last: &str) -> Result<Range<u32>, CommandError> {
    let count = context.session.program().code.len() as u32;
    let place = |text: &str| -> Result<u32, CommandError> {
        let at = text.as_ptr() as usize - argument.text.as_ptr() as usize + (text.len() - text.trim_start().len());
        let part = ArgumentText { text: text.trim().to_string(), start: argument.start + at };
        if let Ok(number) = part.text.trim_start_matches('*').parse() {
            return Ok(number);
        }
        let here = || context.session.eval_context().frame().ok().map(|frame| frame.position());
        let pc = if part.text == "$pc" { here() } else { context.locate(&part)?.first() };
        pc.map(|pc| pc.0).ok_or_else(|| context.no_code_error())
    };
    let start = place(first)?;
    let end = match last.trim().strip_prefix('+') {
        Some(number) => {
            let number: u32 = number.trim().parse().map_err(|_| argument.error(format!("'{number}' is no number of instructions")))?;
            start.saturating_add(number)
        }
        None => place(last)?,
    };
    if start >= end.min(count) {
        return Err(argument.error(format!("no instruction lies there: they are 0 to {}", count.saturating_sub(1))));
    }
    Ok(start..end.min(count))
}

/// True for the name of a function of the source that is inlined.
fn is_inlined(context: &Context<'_>, name: &str) -> bool {
    let is_called = |function: &String| function == name || function.split('(').next() == Some(name);
    view::functions_of_source(&context.session.eval_context()).iter().any(is_called)
}

/// The symbol that an address is in.
pub fn symbol_at(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("ADDRESS")?;
    let value = match context.value(argument) {
        Ok(value) => value,
        Err(_) if is_inlined(context, argument.text.trim()) => {
            let why = "is a function that stands in the place of its calls: it has no address";
            return Ok(Outcome::Text(format!("{0} {why}; 'break {0}' stops where it begins\n", argument.text.trim())));
        }
        Err(error) => return Err(error),
    };
    let eval_context = context.session.eval_context();
    match (view::symbol_of(&eval_context, &value), &value) {
        (Some(symbol), Value::Scalar(Scalar { ty: Type::Function, bits })) => {
            let place = view::function_place(eval_context.program(), *bits as u64).map_or(String::new(), |place| format!(" at {place}"));
            Ok(Outcome::Text(format!("{symbol} is a function{place}\n")))
        }
        (Some(symbol), Value::Array(array)) => {
            Ok(Outcome::Text(format!("{symbol} is at {:#x} in {} memory\n", array.address, array.space.word())))
        }
        (Some(symbol), _) => Ok(Outcome::Text(format!("{} is the address of {symbol}\n", argument.text))),
        (None, _) => Err(argument.error(format!("no variable, buffer or function lies at {}", argument.text))),
    }
}

pub fn list(context: &mut Context<'_>, call: &Call) -> Answer {
    let size = context.session.settings.list_size;
    let here = (context.session.time(), context.session.focus);
    let before = context.state.listed.take().filter(|listed| listed.listed_at == here);
    // As `list` alone, `list +` goes on.
    let location = call.argument("LOCATION").filter(|argument| argument.text != "+");
    let (text, lines) = match (location, before) {
        (None, Some(Listed { text, lines, .. })) => (text, lines.end..lines.end.saturating_add(size)),
        (None, None) => lines_here(context, size),
        (Some(minus), before) if minus.text == "-" => {
            let (text, lines) = before.map_or_else(|| lines_here(context, size), |listed| (listed.text, listed.lines));
            if lines.start <= 1 {
                context.state.listed = Some(Listed { listed_at: here, text, lines });
                return Err(minus.error("these are the first lines: none stand before them"));
            }
            (text, lines.start.saturating_sub(size).max(1)..lines.start)
        }
        (Some(argument), _) => lines_at(context, argument, size)?,
    };
    let mut marks: Vec<_> = context.session.breakpoints.iter().flat_map(|breakpoint| breakpoint.pcs().to_vec()).collect();
    marks.sort_unstable();
    let eval_context = context.session.eval_context();
    let listing = match text {
        CodeText::Ptx(file) => Some(view::list(&eval_context, file, lines.clone(), &marks)),
        CodeText::Original(number) => view::list_source(&eval_context, number, lines.clone(), &marks),
    };
    let listing = listing.ok_or_else(|| CommandError::new("the text of the source is not at hand"))?;
    if lines.is_empty() && lines.end > 0 {
        return Err(CommandError::new(format!("line {} comes before line {}", lines.end - 1, lines.start)));
    }
    if listing.lines.is_empty() {
        return Err(CommandError::new(format!("{} has {}", listing.file, counted(u64::from(listing.line_count), "line"))));
    }
    context.state.listed = Some(Listed { listed_at: here, text, lines });
    Ok(Outcome::View(View::Listing(listing)))
}

/// The lines around the present one.
fn lines_here(context: &Context<'_>, size: u32) -> (CodeText, Range<u32>) {
    let (file, line) = view::current_line(&context.session.eval_context());
    (CodeText::Ptx(file), window(line, size))
}

/// The range of `size` lines around `line`.
fn window(line: u32, size: u32) -> Range<u32> {
    let first = line.saturating_sub(size / 2).max(1);
    first..first.saturating_add(size)
}

/// The lines of `10,20`, `10,` and `,20`, of which the ends may be locations, or around a location.
fn lines_at(context: &Context<'_>, argument: &ArgumentText, size: u32) -> Result<(CodeText, Range<u32>), CommandError> {
    if let Some(lines) = lines_of_source(context, argument.text.trim(), size) {
        return Ok(lines);
    }
    refuse_line_without_code(context, argument)?;
    let Some(at) = range_comma(&argument.text) else {
        let (text, line) = line_of(context, argument)?;
        return Ok((text, window(line, size)));
    };
    let end = |from: usize, to: usize| {
        let text = argument.text.get(from..to).unwrap_or("");
        let start = argument.start + from + text.len() - text.trim_start().len();
        (!text.trim().is_empty()).then(|| line_of(context, &ArgumentText { text: text.trim().to_string(), start })).transpose()
    };
    if argument.text[at + 1..].trim_start().starts_with('+')
        && let Some((text, first)) = end(0, at)?
        && let Some(last) = last_line(first, &argument.text[at + 1..])
    {
        return Ok((text, first..last.saturating_add(1)));
    }
    match (end(0, at)?, end(at + 1, argument.text.len())?) {
        (Some((first, _)), Some((last, _))) if first != last => Err(argument.error("the two ends are lines of different files")),
        (Some((text, first)), Some((_, last))) if last >= first => Ok((text, first..last.saturating_add(1))),
        (Some((text, first)), None) => Ok((text, first..first.saturating_add(size))),
        (None, Some((text, last))) => Ok((text, last.saturating_sub(size.saturating_sub(1)).max(1)..last.saturating_add(1))),
        (Some((_, first)), Some((_, last))) => Err(argument.error(format!("line {last} is before line {first}"))),
        (None, None) => Err(argument.error("a line is expected before or after the comma")),
    }
}

/// Refuses a plain number that is no line of the PTX text with an instruction, where the text of the source is at hand: it is meant.
fn refuse_line_without_code(context: &Context<'_>, argument: &ArgumentText) -> Result<(), CommandError> {
    let Ok(line) = argument.text.split(',').next().unwrap_or_default().trim().parse::<u32>() else { return Ok(()) };
    let (program, texts) = (context.session.program(), context.session.source_texts());
    let frame = context.session.eval_context().frame().ok();
    let here = frame.and_then(|frame| program.source_line(frame.pc)).filter(|here| texts.file(program, here.file).is_some());
    let (current, _) = view::current_line(&context.session.eval_context());
    let file = program.sources_text.file(current);
    let has_code = || program.spans.iter().any(|span| span.source == current && program.sources_text.position(*span).line == line);
    if here.is_none() || !(1..=file.line_count()).contains(&line) || has_code() {
        return Ok(());
    }
    let ptx = file.short_name();
    let error = argument.error(format!("no instruction on line {line} of {ptx}"));
    let source = context.same_line_of_source(line).unwrap_or_default();
    Err(error.with_help(format!("{source} lists the source, {ptx}:{line} the text of the module")))
}

/// The last line of a range from `first` on: its number, or after `+` the number of lines after the first.
fn last_line(first: u32, text: &str) -> Option<u32> {
    match text.trim().strip_prefix('+') {
        Some(count) => count.parse().ok().map(|count| first.saturating_add(count)),
        None => text.trim().parse().ok(),
    }
}

/// The comma between two ends, outside of the arguments of functions and templates.
fn range_comma(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// A line of the PTX text by its number, with or without the name of the file, or that of a location.
fn line_of(context: &Context<'_>, argument: &ArgumentText) -> Result<(CodeText, u32), CommandError> {
    let (current, _) = view::current_line(&context.session.eval_context());
    let file = context.session.program().sources_text.file(current);
    let own_name = argument.text.rsplit_once(':').filter(|(name, _)| *name == file.name() || *name == file.short_name());
    // A line without code can be listed too.
    if let Ok(line) = own_name.map_or(argument.text.as_str(), |(_, line)| line).trim().parse() {
        return Ok((CodeText::Ptx(current), line));
    }
    let pc = context.locate(argument)?.first();
    let program = context.session.program();
    let span = pc.and_then(|pc| program.spans.get(pc.index()).copied()).ok_or_else(|| argument.error("there is no code here"))?;
    Ok((CodeText::Ptx(span.source), program.sources_text.position(span).line))
}

/// The lines of `gemm.cu:10` or `gemm.cu:10,15`, if the text of such a file is at hand.
fn lines_of_source(context: &Context<'_>, text: &str, size: u32) -> Option<(CodeText, Range<u32>)> {
    let (file, lines) = text.rsplit_once(':')?;
    let lines = match lines.split_once(',') {
        Some((first, "")) => {
            let first: u32 = first.trim().parse().ok()?;
            first..first.saturating_add(size)
        }
        Some((first, last)) => {
            let first = first.trim().parse().ok()?;
            first..last_line(first, last)?.saturating_add(1)
        }
        None => window(lines.trim().parse().ok()?, size),
    };
    let (program, texts) = (context.session.program(), context.session.source_texts());
    let mut named = program.source_files.iter().filter(|(_, name)| is_path_called(name, file));
    let (number, _) = named.find(|(number, _)| texts.file(program, *number).is_some())?;
    Some((CodeText::Original(*number), lines))
}
