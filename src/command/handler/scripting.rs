//! Commands of the user, the shell, and texts with values.

use crate::base::counted;
use crate::command::argument_text::{ArgumentText, FILTER_WORDS, word_at};
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::gdb_words;
use crate::command::lookup;
use crate::command::outcome::{Collected, Outcome};
use crate::command::user_commands::SHELL_WORDS;
use crate::debug::breakpoints::LogMessage;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::view;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

/// Most threads that `thread apply` takes.
const THREADS_MAX: usize = 4096;

pub fn define(_: &mut Context<'_>, call: &Call) -> Answer {
    let name = call.required("NAME")?;
    check_name(call, name)?;
    Ok(Outcome::Collect(Collected::Command(name.text.clone())))
}

/// Checks that `name` can be that of a command of the user: a word without a meaning.
fn check_name(call: &Call, name: &ArgumentText) -> Result<(), CommandError> {
    let text = name.text.as_str();
    if text.starts_with("hook-") || text.starts_with("hookpost-") {
        return Err(name.error("commands have no hooks").with_help("'commands' gives a breakpoint lines that run when it stops"));
    }
    if text.is_empty() || word_at(text, 0).text != text {
        return Err(name.error(format!("'{text}' cannot name a command")).with_help("letters, digits, '-' and '_'"));
    }
    let is_taken = lookup::names_in(call.table, "").iter().any(|(own, _)| *own == text) || lookup::group(call.table, text).is_some();
    if is_taken || SHELL_WORDS.contains(&text) || gdb_words::find(text).is_some() {
        return Err(name.error(format!("'{text}' is a command already")));
    }
    Ok(())
}

pub fn document(context: &mut Context<'_>, call: &Call) -> Answer {
    let name = call.required("NAME")?;
    match context.state.user.has(&name.text) {
        true => Ok(Outcome::Collect(Collected::Help(name.text.clone()))),
        false => Err(name.error(format!("there is no command '{}' of 'define'", name.text))),
    }
}

/// `alias NAME = COMMAND`; gdb's options before the name are taken and mean nothing.
pub fn alias(context: &mut Context<'_>, call: &Call) -> Answer {
    let whole = call.required("NAME = COMMAND")?;
    let Some((name, command)) = whole.text.split_once('=') else {
        return Err(whole.error_at(whole.text.len(), "expected '= COMMAND' after the name"));
    };
    let command_at = whole.start + name.len() + 1;
    let name = name.trim().trim_start_matches("-a ").trim_start_matches("-- ").trim();
    let named = ArgumentText { text: name.to_string(), start: whole.start + whole.text.find(name).unwrap_or(0) };
    check_name(call, &named)?;
    let text = command.trim();
    let first = text.split([' ', '/']).next().unwrap_or_default();
    if !context.state.user.has(first) {
        // An alias may leave the arguments open: only the command's name must be known.
        let found = lookup::find(call.table, if text.is_empty() { " " } else { text });
        found.map_err(|error| CommandError { span: Some(command_at..whole.span().end), ..error })?;
    }
    context.state.user.alias(name, text);
    Ok(Outcome::Nothing)
}

pub fn user_commands(context: &mut Context<'_>, _: &Call) -> Answer {
    let listing = context.state.user.listing();
    Ok(Outcome::Text(if listing.is_empty() { "no commands are defined\n".to_string() } else { listing }))
}

pub fn shell(_: &mut Context<'_>, call: &Call) -> Answer {
    Ok(Outcome::Shell(call.required("COMMAND")?.text.clone()))
}

/// Prints a text, with the escapes of C; a line feed is added where it ends with none.
pub fn echo(_: &mut Context<'_>, call: &Call) -> Answer {
    let mut text = unescaped(call.text("TEXT").unwrap_or_default());
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Outcome::Text(text))
}

/// `\n` as a line feed, `\t`, `\"`, `\\` and `\ ` as in gdb; other letters after a backslash stay as they are.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.clone().next()) {
            ('\\', Some(next)) => {
                letters.next();
                match next {
                    'n' => plain.push('\n'),
                    't' => plain.push('\t'),
                    '"' | '\\' | ' ' => plain.push(next),
                    other => plain.extend(['\\', other]),
                }
            }
            // gdb ends a text with a backslash to keep the blanks before it.
            ('\\', None) => {}
            (letter, _) => plain.push(letter),
        }
    }
    plain
}

/// Prints a text with values, as C's printf.
pub fn printf(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("MESSAGE")?;
    let message = LogMessage::parse(&argument.text).map_err(|error| argument.shifted_error(error))?;
    Ok(Outcome::Text(message.text(&context.session.eval_context()) + "\n"))
}

/// Does a command for several threads, and comes back to the focused one.
pub fn apply(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("THREADS COMMAND")?;
    let (filters, at) = threads(context, argument)?;
    let text = argument.text[at..].trim();
    if text.is_empty() {
        return Err(argument.error_at(at, "expected a command after the threads").with_help(format!("usage: {}", call.spec.usage())));
    }
    let mut focuses: Vec<Focus> = filters.iter().flat_map(|filter| focuses(context, filter)).collect();
    focuses.sort_unstable();
    focuses.dedup();
    if focuses.is_empty() {
        return Err(CommandError::new("none of these threads is on the machine"));
    }
    if focuses.len() > THREADS_MAX {
        let count = counted(focuses.len() as u64, "thread");
        return Err(CommandError::new(format!("these are {count}: at most {THREADS_MAX} are taken")).with_help("name a block or a warp"));
    }
    let start = argument.start + argument.text.len() - argument.text[at..].trim_start().len();
    Ok(Outcome::Apply(focuses, ArgumentText { text: text.to_string(), start }))
}

/// The threads that `thread apply` names, and where its command begins: `all`, numbers of threads of the block, or words as `warp 1`.
fn threads(context: &Context<'_>, argument: &ArgumentText) -> Result<(Vec<ThreadFilter>, usize), CommandError> {
    let text = &argument.text;
    let of_block = ThreadFilter::of_block(&context.session.focus);
    let starts: Vec<usize> = text.split_whitespace().map(|word| word.as_ptr() as usize - text.as_ptr() as usize).collect();
    let word = |index: usize| starts.get(index).and_then(|at| text[*at..].split_whitespace().next());
    if word(0) == Some("all") {
        return Ok((vec![of_block], starts.get(1).copied().unwrap_or(text.len())));
    }
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '(');
    // A command may begin with a word of a filter, `lane 3`: words of a filter are followed by numbers.
    let is_of_filter = |index: usize| match word(index) {
        Some(here) if is_number(here) => true,
        Some(here) => FILTER_WORDS.contains(&here) && word(index + 1).is_some_and(is_number),
        None => false,
    };
    let count = (0..starts.len()).find(|index| !is_of_filter(*index)).unwrap_or(starts.len());
    let at = starts.get(count).copied().unwrap_or(text.len());
    let named = text[..at].trim();
    if named.is_empty() {
        return Err(argument.error_at(0, "expected threads: all, numbers of threads such as 0-31 40, or warp 1 lane 0-3"));
    }
    if is_number(named) {
        let ranges = named.split_whitespace().map(|range| linear(context, argument, range)).collect::<Result<Vec<_>, _>>()?;
        return Ok((ranges.concat(), at));
    }
    let filter = context.filter(&ArgumentText { text: named.to_string(), start: argument.start })?;
    Ok((vec![ThreadFilter { block: filter.block.or(of_block.block), ..filter }], at))
}

/// `0-31`, `5` or `30-33`: threads of the focused block by their numbers, warp by warp.
fn linear(context: &Context<'_>, argument: &ArgumentText, text: &str) -> Result<Vec<ThreadFilter>, CommandError> {
    let count = context.session.eval_context().extents().threads();
    let wrong = || {
        let at = argument.text.find(text).unwrap_or(0);
        let message = format!("'{text}' is no range of threads: the block has threads 0 to {}", count.saturating_sub(1));
        argument.error_at(at, message).with_help("such as 0-31, or warp 1 lane 0-3")
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let (first, last) = (number(first)?, number(last)?);
    if first > last || last >= count {
        return Err(wrong());
    }
    let of_block = ThreadFilter::of_block(&context.session.focus);
    let of_warp = |warp: u32| {
        let lanes = (0..32_usize).filter(|lane| (first..=last).contains(&(warp * 32 + *lane as u32))).collect();
        ThreadFilter { warp: Some(warp), lanes: Some(lanes), ..of_block }
    };
    Ok((first / 32..=last / 32).map(of_warp).collect())
}

/// The threads on the machine that `filter` passes, in order.
fn focuses(context: &Context<'_>, filter: &ThreadFilter) -> Vec<Focus> {
    let mut focuses: Vec<Focus> = Vec::new();
    for location in view::lane_locations(&context.session.eval_context(), filter) {
        let lanes = location.lanes & filter.lanes_of(location.block, location.warp);
        focuses.extend(lanes.iter().map(|lane| Focus { block: location.block, warp: location.warp, lane: lane as u32, frame: 0 }));
    }
    focuses
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_are_those_of_gdb() {
        assert_eq!(unescaped(r"a\tb\\n\q\ "), "a\tb\\n\\q ");
        assert_eq!(unescaped("blanks  \\"), "blanks  ");
    }
}
