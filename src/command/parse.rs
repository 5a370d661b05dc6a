//! Parses a command line by the kinds of the command's arguments.
//!
//! An argument that is one word ends at the next blank. Others (an expression, a location, threads) end at the keyword of a later
//! argument, such as `if` or `block`, or at the end of the line; words inside brackets and quotes are no keywords.

use super::argument_text::{ArgumentText, FILTER_WORDS};
use super::call::{Arg, Call};
use super::error::CommandError;
use super::lookup::{self, Match};
use super::spec::{ArgKind, ArgSpec, CommandSpec, Suffix};
use super::table::TABLE;
use crate::debug::nearest;

/// Numbers that a list such as `1-100` can stand for at most.
const NUMBERS_MAX: usize = 10_000;

/// Parses `line`, which is neither blank nor a comment.
///
/// # Errors
/// The line is wrong: the error has the place.
pub fn parse(line: &str) -> Result<Call, CommandError> {
    parse_with_roles(line, &[])
}

/// Like [`parse`]; THREADS may also begin with one of the `roles`.
///
/// # Errors
/// The line is wrong: the error has the place.
pub fn parse_with_roles(line: &str, roles: &[&str]) -> Result<Call, CommandError> {
    match lookup::find(&TABLE, line)? {
        Match::Command(spec, end) => parse_arguments(spec, line, end, roles),
        // `info` alone lists the commands of the group.
        Match::Group(group) => parse(&format!("help {}", group.name)),
    }
}

/// True if `line` is blank or a comment.
pub fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

fn parse_arguments(spec: &'static CommandSpec, line: &str, name_end: usize, roles: &[&str]) -> Result<Call, CommandError> {
    let mut at = name_end;
    let suffix = parse_suffix(spec, line, &mut at)?;
    let mut call = Call { table: &TABLE, spec, line: line.to_string(), suffix, args: Vec::new() };
    for (index, arg) in spec.args.iter().enumerate() {
        let (rest, later) = (rest_from(line, at), &spec.args[index + 1..]);
        let Some((parsed, end)) = parse_argument(arg, later, &rest, roles)? else {
            if arg.optional {
                continue;
            }
            return Err(call.missing(arg.name));
        };
        at = end;
        call.args.push(parsed);
    }
    let rest = rest_from(line, at);
    if rest.text.is_empty() {
        return Ok(call);
    }
    Err(unexpected(spec, &call, &rest))
}

/// The error of a line with text after its last argument.
fn unexpected(spec: &CommandSpec, call: &Call, rest: &ArgumentText) -> CommandError {
    // The text may be a malformed argument of those that were left out.
    let next = spec.args.iter().rposition(|arg| call.arg(arg.name).is_some()).map_or(0, |last| last + 1);
    let possible: Vec<&ArgSpec> =
        spec.args[next..].iter().filter(|arg| arg.keyword.is_empty() && arg.kind != ArgKind::ThreadFilter).collect();
    let word = ArgumentText { text: first_token(&rest.text).to_string(), start: rest.start };
    let error = match possible.as_slice() {
        [only] => numbers(only.kind, rest).err(),
        [] => None,
        several => {
            let kinds: Vec<String> = several.iter().map(|arg| arg.kind.describe()).collect();
            Some(word.error(format!("expected {}, not '{}'", kinds.join(" or "), word.text)))
        }
    };
    let usage = format!("usage: {}", spec.usage());
    match error {
        Some(error) if error.help.is_some() => error,
        Some(error) => error.with_help(usage),
        None if spec.args.is_empty() => rest.error(format!("{} takes no argument", spec.name)).with_help(usage),
        None => rest.error(format!("'{}' is not expected here", rest.text)).with_help(usage),
    }
}

fn parse_suffix(spec: &CommandSpec, line: &str, at: &mut usize) -> Result<Option<ArgumentText>, CommandError> {
    // A blank may stand before the slash, as in gdb, where no argument begins so.
    let blanks = if spec.suffix == Suffix::None { 0 } else { line[*at..].len() - line[*at..].trim_start().len() };
    let Some(rest) = line[*at + blanks..].strip_prefix('/') else { return Ok(None) };
    let text = first_token(rest).to_string();
    let argument = ArgumentText { start: *at + blanks + 1, text };
    if spec.suffix == Suffix::None {
        let whole = ArgumentText { start: *at, text: format!("/{}", argument.text) };
        return Err(whole.error(format!("{} takes no format", spec.name)).with_help(format!("usage: {}", spec.usage())));
    }
    *at = argument.start + argument.text.len();
    Ok(Some(argument))
}

/// Parses the argument `arg` at the start of `rest`. Returns it and its end; `None` if it is not there.
fn parse_argument(arg: &ArgSpec, later: &[ArgSpec], rest: &ArgumentText, roles: &[&str]) -> Result<Option<(Arg, usize)>, CommandError> {
    let is_flag = |later: &ArgSpec| later.keyword.starts_with("--") && starts_with_keyword(&rest.text, later.keyword);
    // `break if t == 1` is about the present line.
    let begins_condition = |later: &ArgSpec| later.keyword == "if" && starts_with_keyword(&rest.text, "if");
    if arg.optional && arg.keyword.is_empty() && later.iter().any(begins_condition) {
        return Ok(None);
    }
    if arg.optional && later.iter().any(is_flag) {
        return Ok(None);
    }
    let Some(rest) = after_keyword(arg, rest, roles) else { return Ok(None) };
    let length = length(arg, later, &rest.text, roles);
    let text = rest.text[..length].trim_end();
    if text.is_empty() {
        if arg.keyword.is_empty() {
            return Ok(None);
        }
        let expected = format!("expected {} after '{}'", arg.kind.describe(), arg.keyword);
        return Err(CommandError::at(rest.start..rest.start, expected));
    }
    let argument = ArgumentText { text: text.to_string(), start: rest.start };
    match numbers(arg.kind, &argument) {
        Ok(numbers) => {
            let end = argument.span().end;
            Ok(Some((Arg { name: arg.name, kind: arg.kind, argument: unquoted(arg.kind, argument), numbers }, end)))
        }
        // Text that is no such optional argument may be a later argument.
        Err(_) if arg.optional && arg.keyword.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The text after the keyword of `arg`; `None` if the keyword is not there.
fn after_keyword(arg: &ArgSpec, rest: &ArgumentText, roles: &[&str]) -> Option<ArgumentText> {
    if arg.kind == ArgKind::ThreadFilter && arg.keyword.is_empty() {
        let first = first_token(&rest.text);
        return (FILTER_WORDS.contains(&first) || roles.contains(&first)).then(|| rest.clone());
    }
    if arg.keyword.is_empty() {
        return Some(rest.clone());
    }
    let argument = starts_with_keyword(&rest.text, arg.keyword).then(|| rest_from(&rest.text, arg.keyword.len()))?;
    Some(ArgumentText { start: rest.start + argument.start, text: argument.text })
}

/// True if `text` starts with `keyword` as a whole word: `if(a)` starts with `if`, `iffy` does not.
fn starts_with_keyword(text: &str, keyword: &str) -> bool {
    text.strip_prefix(keyword).is_some_and(|after| !is_word(keyword) || !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// True if `keyword` is a word, not a sign such as a comma.
fn is_word(keyword: &str) -> bool {
    keyword.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// The length in bytes of `arg` at the start of `text`.
fn length(arg: &ArgSpec, later: &[ArgSpec], text: &str, roles: &[&str]) -> usize {
    if arg.kind.is_word() {
        return first_token(text).len();
    }
    if (arg.kind.is_file() || arg.kind == ArgKind::Message) && text.starts_with('"') {
        let closing = text[1..].find('"').map_or(text.len(), |at| at + 2);
        return if arg.kind.is_file() { closing } else { text.len() };
    }
    if arg.kind.is_file() && later.iter().any(|arg| !arg.optional) {
        return first_token(text).len();
    }
    let keywords: Vec<&str> = later.iter().flat_map(|arg| keywords(arg, roles)).collect();
    // The commas of a list of lanes are not the one before a message.
    let before_message =
        later.iter().any(|arg| arg.kind == ArgKind::Message) && text.split(',').skip(1).any(|part| part.trim_start().starts_with('"'));
    let begins_message = |at: usize| !before_message || text[at + 1..].trim_start().starts_with('"');
    let is_keyword = |(at, starts_word): &(usize, bool)| {
        let begins = |keyword: &&str| (*starts_word || !is_word(keyword)) && *at > 0 && starts_with_keyword(&text[*at..], keyword);
        keywords.iter().any(|keyword| begins(keyword) && (*keyword != "," || begins_message(*at)))
    };
    top_level(text).find(is_keyword).map_or(text.len(), |(at, _)| at)
}

/// The keywords that can start `arg`.
fn keywords<'a>(arg: &ArgSpec, roles: &[&'a str]) -> Vec<&'a str> {
    match (arg.kind, arg.keyword) {
        (ArgKind::ThreadFilter, "") => FILTER_WORDS.iter().chain(roles).copied().collect(),
        (_, "") => Vec::new(),
        (_, keyword) => vec![keyword],
    }
}

/// The byte offsets of the characters of `text` outside brackets and quotes, each with true if a word starts there.
fn top_level(text: &str) -> impl Iterator<Item = (usize, bool)> {
    let (mut depth, mut quoted, mut before) = (0_i32, false, ' ');
    text.char_indices().filter_map(move |(at, c)| {
        let starts_word = before.is_whitespace() && !c.is_whitespace();
        let is_top_level = depth <= 0 && !quoted;
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        before = c;
        is_top_level.then_some((at, starts_word))
    })
}

/// The numbers that an argument of `kind` denotes; empty for other kinds.
fn numbers(kind: ArgKind, argument: &ArgumentText) -> Result<Vec<u64>, CommandError> {
    let expected = |argument: &ArgumentText| argument.error(format!("expected {}, not '{}'", kind.describe(), argument.text));
    match kind {
        ArgKind::Number => number(&argument.text).map(|number| vec![number]).ok_or_else(|| expected(argument)),
        ArgKind::Count => match number(&argument.text) {
            Some(number) if number > 0 => Ok(vec![number]),
            _ => Err(expected(argument)),
        },
        ArgKind::Numbers => list(argument),
        ArgKind::Choice(words) if !words.contains(&argument.text.as_str()) => {
            Err(expected(argument).with_nearest(nearest(&argument.text, words.iter().copied())))
        }
        _ => Ok(Vec::new()),
    }
}

/// `1 3-5` is 1, 3, 4, 5.
fn list(argument: &ArgumentText) -> Result<Vec<u64>, CommandError> {
    let mut numbers = Vec::new();
    for at in top_level(&argument.text).filter(|(_, starts_word)| *starts_word).map(|(at, _)| at) {
        let word = ArgumentText { start: argument.start + at, text: first_token(&argument.text[at..]).to_string() };
        let (first, last) = word.text.split_once('-').unwrap_or((&word.text, &word.text));
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(word.error(format!("expected {}, not '{}'", ArgKind::Numbers.describe(), word.text)));
        };
        if last.saturating_sub(first) >= NUMBERS_MAX as u64 || first > last {
            return Err(word.error(format!("'{}' is not a range of at most {NUMBERS_MAX} numbers", word.text)));
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

/// `12`, `8,431` and `0x1f`.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.contains(',') => grouped(text),
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// `8,431`: groups of three digits as answers show them.
fn grouped(text: &str) -> Option<u64> {
    let mut groups = text.split(',');
    let first = groups.next()?;
    let is_grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    (is_grouped && digits.chars().all(|c| c.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// The argument without the quotes that a file name may have.
fn unquoted(kind: ArgKind, argument: ArgumentText) -> ArgumentText {
    match argument.text.strip_prefix('"') {
        Some(inner) if kind.is_file() => ArgumentText { text: inner.trim_end_matches('"').to_string(), start: argument.start + 1 },
        _ => argument,
    }
}

/// The text from `at` on, without the blanks around it.
fn rest_from(line: &str, at: usize) -> ArgumentText {
    let rest = line.get(at..).unwrap_or_default();
    let start = at + rest.len() - rest.trim_start().len();
    ArgumentText { text: rest.trim().to_string(), start }
}

pub(super) fn first_token(text: &str) -> &str {
    text.split(char::is_whitespace).next().unwrap_or_default()
}
