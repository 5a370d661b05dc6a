//! Completion: the candidates at the cursor, by the kind of the argument.

use super::argument_text::word_at;
use super::lookup;
use super::parse::first_token;
use super::spec::{ArgKind, ArgSpec, CommandSpec};
use super::table;
use crate::debug::breakpoints::EVENTS;
use crate::debug::names::scope;
use crate::debug::session::Session;
use crate::debug::settings::{SETTINGS, SettingKind};
use crate::debug::shown_name;
use crate::debug::view::mbarrier_views;

/// The completions at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The byte offset of the word that a candidate replaces; the word ends at the cursor.
    pub start: usize,
    /// The candidates, in order.
    pub candidates: Vec<String>,
    /// A file can be named there: the front end lists folders.
    pub files: bool,
}

/// The names of the program and the session.
#[derive(Clone, Debug, Default)]
pub struct KnownNames {
    /// Registers and predicates in scope, and special registers.
    pub registers: Vec<String>,
    /// Variables, parameters and buffers.
    pub symbols: Vec<String>,
    /// Labels, kernels and functions.
    pub locations: Vec<String>,
    /// Marks.
    pub marks: Vec<String>,
    /// Mbarriers of the focused block, as they are listed.
    pub mbarriers: Vec<String>,
    /// Roles.
    pub roles: Vec<String>,
    /// Layouts of the screen, which only the front end knows.
    pub layouts: Vec<String>,
}

impl KnownNames {
    /// The names of `session` that are in scope for its focused thread.
    pub fn of(session: &Session) -> Self {
        let program = session.program();
        let (registers, symbols) = scope::names(&session.eval_context()).into_iter().partition(|name| name.starts_with('%'));
        let functions = program.functions.iter().filter(|function| !function.code.is_empty());
        let locations = functions.flat_map(|function| {
            let labels = function.labels.iter().map(|(name, _)| name.to_string());
            std::iter::once(shown_name(&function.name).into_owned()).chain(labels)
        });
        let marks = session.marks.names().map(str::to_string).collect();
        let mbarriers = mbarrier_views(&session.eval_context()).unwrap_or_default().into_iter().map(|each| each.name).collect();
        let roles = session.roles.all().into_iter().map(|(role, _)| role.to_string()).collect();
        Self { registers, symbols, locations: locations.collect(), marks, mbarriers, roles, layouts: Vec::new() }
    }
}

/// The completions at the end of `line`, the text before the cursor.
pub fn complete(line: &str, names: &KnownNames) -> Completion {
    let from = line.len() - line.trim_start().len();
    match cursor_position(line, from) {
        CursorPosition::Name { start, group } => {
            let word = &line[start..];
            let mut candidates = continuations(group);
            if group == "set" {
                candidates.extend(SETTINGS.iter().map(|setting| setting.name.to_string()));
                candidates.extend(expression_names(names));
            } else if let Some(arg) = table::commands().find(|spec| spec.name == group).and_then(|spec| spec.args.first()) {
                candidates.extend(self::candidates(arg.kind, "", names));
            }
            Completion { start, candidates: matching(candidates, word), files: false }
        }
        CursorPosition::Arguments { spec, start } => complete_argument(spec, line, start, names),
        CursorPosition::Nothing => Completion { start: line.len(), ..Completion::default() },
    }
}

/// The rest of the word at the end of `line` if there is one candidate; otherwise the arguments of the command.
pub fn hint(line: &str, names: &KnownNames) -> Option<String> {
    if line.trim().is_empty() {
        return None;
    }
    let completion = complete(line, names);
    if let [only] = completion.candidates.as_slice() {
        let rest = only.get(line.len() - completion.start..).filter(|rest| !rest.is_empty());
        if rest.is_some() {
            return rest.map(str::to_string);
        }
    }
    let named = lookup::find(&table::TABLE, line).ok()?;
    match named {
        lookup::Match::Command(spec, end) if line[end..].trim().is_empty() && !spec.args.is_empty() => {
            let args: Vec<String> = spec.args.iter().map(ArgSpec::usage).collect();
            let blank = if line.ends_with(' ') { "" } else { " " };
            Some(format!("{blank}{}", args.join(" ")))
        }
        _ => None,
    }
}

/// The part of a command that the cursor is in.
enum CursorPosition<'a> {
    /// In its name, at the word that starts at `start`, after the words of `group`.
    Name { start: usize, group: &'a str },
    /// In its arguments, which start at `start`.
    Arguments { spec: &'static CommandSpec, start: usize },
    /// After text that names no command.
    Nothing,
}

fn cursor_position(line: &str, from: usize) -> CursorPosition<'_> {
    let first = word_at(line, from);
    let end = first.start + first.text.len();
    if end == line.len() {
        return CursorPosition::Name { start: first.start, group: "" };
    }
    if let Some(group) = group_of(&first.text) {
        let second = word_at(line, end);
        if second.start + second.text.len() == line.len() {
            return CursorPosition::Name { start: second.start, group };
        }
        if group == "set" && line[second.start..].starts_with('%') && !line.contains('=') {
            return CursorPosition::Name { start: second.start, group };
        }
    }
    match lookup::find(&table::TABLE, line) {
        Ok(lookup::Match::Command(spec, start)) => CursorPosition::Arguments { spec, start },
        Ok(lookup::Match::Group(_)) | Err(_) => CursorPosition::Nothing,
    }
}

/// The group that `word` names, in full or shortened.
fn group_of(word: &str) -> Option<&'static str> {
    let in_full = lookup::group(&table::TABLE, word).map(|group| group.name);
    let is_prefix = || table::GROUPS.iter().find(|group| word.len() > 1 && group.name.starts_with(word)).map(|group| group.name);
    in_full.or_else(is_prefix)
}

/// The words that can follow the words of `group`; for an empty one, the first words of all commands.
fn continuations(group: &str) -> Vec<String> {
    let named = table::commands().filter_map(|spec| match (group.is_empty(), spec.name.split_once(' ')) {
        (true, None) => Some(spec.name),
        (false, Some((first, rest))) if first == group => Some(rest),
        _ => None,
    });
    let groups = table::GROUPS.iter().map(|group| group.name).filter(|_| group.is_empty());
    let mut words: Vec<String> = named.chain(groups).map(str::to_string).collect();
    words.sort();
    words.dedup();
    words
}

/// Candidates for the argument of `spec` at the end of `line`; its arguments start at `start`.
fn complete_argument(spec: &CommandSpec, line: &str, start: usize, names: &KnownNames) -> Completion {
    let text = &line[start..];
    let Some(arg) = argument_at_end(spec, text) else { return Completion { start: line.len(), ..Completion::default() } };
    let word_start = start + word_start(arg.kind, text);
    let word = &line[word_start..];
    let mut candidates = candidates(arg.kind, text, names);
    // Keywords of later arguments are candidates too.
    if text.trim_end() != text || arg.kind == ArgKind::ThreadFilter {
        candidates.extend(
            spec.args.iter().filter(|later| !later.keyword.is_empty() && later.keyword != ",").map(|later| later.keyword.to_string()),
        );
    }
    Completion { start: word_start, candidates: matching(candidates, word), files: arg.kind.is_file() }
}

/// The argument that the end of `text` is in.
fn argument_at_end<'a>(spec: &'a CommandSpec, text: &str) -> Option<&'a ArgSpec> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let complete = if text.ends_with(char::is_whitespace) { words.len() } else { words.len().saturating_sub(1) };
    let after_keyword = spec.args.iter().rev().find(|arg| !arg.keyword.is_empty() && words[..complete].contains(&arg.keyword));
    if after_keyword.is_some() {
        return after_keyword;
    }
    let mut words_left = complete;
    for arg in spec.args.iter().filter(|arg| arg.keyword.is_empty()) {
        if !arg.kind.is_word() || words_left == 0 {
            return Some(arg);
        }
        words_left -= 1;
    }
    None
}

/// Byte offset of the word at the end of `text`.
fn word_start(kind: ArgKind, text: &str) -> usize {
    let is_part = |c: char| match kind {
        ArgKind::Expression | ArgKind::Assignment | ArgKind::Message => c.is_ascii_alphanumeric() || "_%$.".contains(c),
        ArgKind::File | ArgKind::Layout => c != '"',
        _ => !c.is_whitespace(),
    };
    let text_start = text.len() - text.trim_start().len();
    text.char_indices().rev().take_while(|(at, c)| *at >= text_start && is_part(*c)).last().map_or(text.len(), |(at, _)| at)
}

fn candidates(kind: ArgKind, text: &str, names: &KnownNames) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<Vec<_>>();
    match kind {
        ArgKind::Choice(choices) => words(choices),
        ArgKind::Expression | ArgKind::Message => expression_names(names),
        ArgKind::Registers => names.registers.clone(),
        ArgKind::Symbol => names.symbols.clone(),
        ArgKind::Location => names.locations.clone(),
        ArgKind::Tick => words(&["start", "end"]).into_iter().chain(names.marks.clone()).collect(),
        ArgKind::Name => names.marks.clone(),
        ArgKind::Layout => names.layouts.clone(),
        ArgKind::Event => EVENTS.iter().map(|(word, ..)| (*word).to_string()).collect(),
        ArgKind::ThreadFilter => words(&["block", "warp", "lane", "thread"]).into_iter().chain(names.roles.clone()).collect(),
        ArgKind::Coordinates => words(&["block", "warp", "lane", "thread"]),
        ArgKind::Mbarrier => names.mbarriers.clone(),
        ArgKind::Role => words(&["auto", "clear"]).into_iter().chain(names.roles.clone()).collect(),
        ArgKind::Setting => SETTINGS.iter().map(|setting| setting.name.to_string()).collect(),
        ArgKind::Assignment => assignment(text, names),
        ArgKind::Topic => topics(text),
        ArgKind::Command => continuations(""),
        ArgKind::Number | ArgKind::Numbers | ArgKind::Count | ArgKind::File | ArgKind::Word | ArgKind::Rest => Vec::new(),
    }
}

/// The values of the setting that `text` starts with, or the names for an expression.
fn assignment(text: &str, names: &KnownNames) -> Vec<String> {
    let setting = SETTINGS.iter().find(|setting| setting.name == first_token(text.trim_start()));
    match setting.map(|setting| setting.kind) {
        Some(SettingKind::Choice(choices)) => choices.iter().map(|choice| (*choice).to_string()).collect(),
        Some(SettingKind::NumberOrAuto(_)) => vec!["auto".to_string()],
        Some(SettingKind::File) => vec!["off".to_string()],
        Some(SettingKind::Number(_) | SettingKind::Bytes) => Vec::new(),
        None => expression_names(names),
    }
}

/// Topics, commands and settings; after a group's name, its commands.
fn topics(text: &str) -> Vec<String> {
    let group = first_token(text.trim_start());
    if lookup::group(&table::TABLE, group).is_some() && text.trim_start().contains(char::is_whitespace) {
        return continuations(group);
    }
    let topics = table::TOPICS.iter().map(|topic| topic.name.to_string());
    let settings = SETTINGS.iter().map(|setting| setting.name.to_string());
    let mut all: Vec<String> = topics.chain(continuations("")).chain(settings).collect();
    all.sort();
    all.dedup();
    all
}

/// The registers and symbols that an expression can name.
fn expression_names(names: &KnownNames) -> Vec<String> {
    let mut expression_names = names.registers.clone();
    expression_names.extend(names.symbols.clone());
    expression_names
}

/// The candidates that begin with `word`; `word` may leave out a leading `%` or `$`.
fn matching(candidates: Vec<String>, word: &str) -> Vec<String> {
    let is_match = |name: &String| name.starts_with(word) || (!word.is_empty() && name.trim_start_matches(['%', '$']).starts_with(word));
    let mut matching: Vec<String> = Vec::new();
    for name in candidates.into_iter().filter(is_match) {
        if !matching.contains(&name) {
            matching.push(name);
        }
    }
    matching
}
