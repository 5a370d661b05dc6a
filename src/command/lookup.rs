//! Finds the command that a line names: by full names, gdb's short names, and unique prefixes.

use super::argument_text::{ArgumentText, word_at};
use super::catalogue::{Catalogue, Group};
use super::error::CommandError;
use super::spec::CommandSpec;
use crate::debug::nearest;

/// The command or group that the first words of a line name.
pub enum Match {
    /// A command, and the byte offset of its arguments in the line.
    Command(&'static CommandSpec, usize),
    /// A group without a command of it, such as `info` alone.
    Group(&'static Group),
}

/// A word that may follow in the line, and the command that it names.
type NamedCommand = (&'static str, &'static CommandSpec);

/// Finds the command of `table` that `line` names. `line` is not blank.
///
/// # Errors
/// There is none, or there are several.
pub fn find(table: &Catalogue, line: &str) -> Result<Match, CommandError> {
    let first = word_at(line, 0);
    if first.text.is_empty() {
        return Err(CommandError::at(first.start..line.trim_end().len(), "expected a command").with_help("help lists them"));
    }
    if let Some(group) = group(table, &first.text) {
        return find_in_group(table, group, line, first.start + first.text.len());
    }
    let mut candidates = names_in(table, "");
    let has_row = |group: &&Group| candidates.iter().any(|(name, _)| *name == group.name);
    let groups: Vec<NamedCommand> =
        table.groups.iter().filter(|group| !has_row(group)).filter_map(|group| Some((group.name, table.members(group).next()?))).collect();
    candidates.extend(groups);
    let spec = choose(table, &first, &candidates, "command")?;
    match table.groups.iter().find(|group| group.name == spec.name || is_member(spec, group)) {
        Some(group) => find_in_group(table, group, line, first.start + first.text.len()),
        None => Ok(Match::Command(spec, first.start + first.text.len())),
    }
}

/// The command of `group` that the second word of `line` names, which starts at or after `from`.
fn find_in_group(table: &Catalogue, group: &'static Group, line: &str, from: usize) -> Result<Match, CommandError> {
    // `info cuda warps` is what cuda-gdb calls `info warps`.
    let mut second = word_at(line, from);
    let is_cuda = second.text == "cuda" && group.name == "info";
    if is_cuda {
        second = word_at(line, second.start + second.text.len());
    }
    let own_command = table.commands().find(|spec| spec.name == group.name);
    let candidates = names_in(table, group.name);
    if second.text.is_empty() {
        let rest = line[from..].trim_start();
        return match own_command {
            Some(spec) => Ok(Match::Command(spec, from)),
            None if rest.is_empty() || is_cuda && second.start >= line.trim_end().len() => Ok(Match::Group(group)),
            None => Err(CommandError::at(second.start..line.trim_end().len(), format!("expected what {} is about", group.name))),
        };
    }
    let in_full = candidates.iter().any(|(name, _)| *name == second.text);
    match (choose(table, &second, &candidates, group.name), own_command) {
        // An argument may begin like the name of another command.
        (_, Some(spec)) if !in_full => Ok(Match::Command(spec, from)),
        (Ok(spec), _) => Ok(Match::Command(spec, second.start + second.text.len())),
        (Err(_), Some(spec)) => Ok(Match::Command(spec, from)),
        (Err(error), None) => Err(error),
    }
}

/// The words that may follow `group` (or start a line if it is empty), each with the command it names.
pub fn names_in(table: &Catalogue, group: &str) -> Vec<NamedCommand> {
    let all =
        table.commands().flat_map(|spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied()).map(move |name| (name, spec)));
    let candidates = all.filter_map(|(name, spec)| match name.split_once(' ') {
        None => group.is_empty().then_some((name, spec)),
        Some((first, rest)) => (first == group).then_some((rest, spec)),
    });
    candidates.collect()
}

/// The command that `word` names: in full, or as a prefix of only one.
fn choose(table: &Catalogue, word: &ArgumentText, candidates: &[NamedCommand], what: &str) -> Result<&'static CommandSpec, CommandError> {
    if let Some((_, spec)) = candidates.iter().find(|(name, _)| *name == word.text) {
        return Ok(spec);
    }
    let is_prefix = |candidate: &&NamedCommand| candidate.0.starts_with(&word.text);
    let is_name =
        |candidate: &&NamedCommand| candidate.1.name.ends_with(candidate.0) || table.groups.iter().any(|group| group.name == candidate.0);
    // Aliases must be typed in full: a prefix means a name only.
    let mut matching: Vec<&NamedCommand> = candidates.iter().filter(is_prefix).filter(is_name).collect();
    if matching.is_empty() {
        matching = candidates.iter().filter(is_prefix).collect();
    }
    match matching.as_slice() {
        [] => Err(unknown(word, candidates, what)),
        [first, rest @ ..] if rest.iter().all(|candidate| candidate.1.name == first.1.name) => Ok(first.1),
        several => Err(ambiguous(word, several, what)),
    }
}

fn unknown(word: &ArgumentText, candidates: &[NamedCommand], what: &str) -> CommandError {
    let near = nearest(&word.text, candidates.iter().map(|(name, _)| *name).filter(|name| name.len() > 2));
    if what == "command" {
        return word.error(format!("there is no command '{}'", word.text)).with_help("help lists the commands").with_nearest(near);
    }
    let help = format!("help {what} lists what there is");
    word.error(format!("there is no command '{what} {}'", word.text)).with_help(help).with_nearest(near)
}

fn ambiguous(word: &ArgumentText, candidates: &[&NamedCommand], what: &str) -> CommandError {
    let mut names: Vec<&str> = candidates.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let text = if what == "command" { word.text.clone() } else { format!("{what} {}", word.text) };
    word.error(format!("'{text}' is ambiguous: {}", names.join(", ")))
}

/// The group of `table` that `word` names in full or by a short name.
pub fn group(table: &Catalogue, word: &str) -> Option<&'static Group> {
    table.groups.iter().find(|group| group.name == word || group.aliases.contains(&word))
}

fn is_member(spec: &CommandSpec, group: &Group) -> bool {
    spec.name.split_once(' ').is_some_and(|(first, _)| first == group.name)
}
