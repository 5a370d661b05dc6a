//! The texts of the help, made from the table.

use super::catalogue::{Catalogue, Group, Topic};
use super::error::CommandError;
use super::gdb_words::{self, GDB_WORDS, GdbWord};
use super::lookup::{self, Match};
use super::options::OPTIONS;
use super::spec::CommandSpec;
use super::synonyms::SYNONYMS;
use crate::debug::nearest;
use crate::debug::settings::{SETTINGS, Setting};

/// Columns of a paragraph.
const WIDTH: usize = 78;

/// The text of `help` without an argument: the topics.
pub fn topics(table: &Catalogue) -> String {
    let width = column(table.topics.iter().map(|topic| topic.name));
    let row = |topic: &Topic| format!("  {:width$}  {}\n", topic.name, topic.summary);
    let rows: String = table.topics.iter().map(row).collect();
    format!(
        "Topics:\n\n{rows}\n\
        help TOPIC lists the commands of a topic, help COMMAND explains one, apropos WORD finds\n\
        commands. A command can be shortened as long as it is the only one that begins so; Tab\n\
        completes; Enter on an empty line repeats a step.\n"
    )
}

/// The text of `help WORDS`: about a topic, a command, a group of commands or a setting.
///
/// # Errors
/// There is nothing of that name.
pub fn about(table: &Catalogue, words: &str) -> Result<String, CommandError> {
    let words = words.trim();
    if let Some(topic) = table.topics.iter().find(|topic| topic.name == words)
        && !matches!(words, "help")
    {
        let own = table.commands().find(|spec| spec.name == words).map_or(String::new(), |spec| format!("\n{}", command(table, spec)));
        let list = if words == "gdb" { gdb_list() } else { String::new() };
        return Ok(self::topic(topic).trim_end().to_string() + "\n" + &list + &own);
    }
    if words == "all" {
        let of_topic = |topic: &Topic| format!("{}:\n\n{}\n", topic.summary, rows(topic.commands.iter()));
        return Ok(table.topics.iter().filter(|topic| !topic.commands.is_empty()).map(of_topic).collect());
    }
    if let Some(word) = gdb_words::find(words) {
        return Ok(wrapped(&word.line()));
    }
    let setting = words.strip_prefix("set ").unwrap_or(words).trim();
    if let Some(setting) = SETTINGS.iter().find(|row| row.name == setting) {
        return Ok(self::setting(setting));
    }
    match lookup::find(table, words) {
        Ok(Match::Group(group)) => Ok(self::group(table, group)),
        Ok(Match::Command(spec, end)) if words[end..].trim().is_empty() => Ok(command(table, spec)),
        Ok(Match::Command(..)) => Err(CommandError::new(format!("there is no command '{words}'"))),
        Err(error) => {
            let topics = table.topics.iter().map(|topic| topic.name);
            let near = nearest(words, topics).map(|topic| format!("did you mean '{topic}'?"));
            Err(CommandError { span: None, help: near.or(error.help), ..error })
        }
    }
}

/// The text about a command: its usage, effect, examples, aliases.
pub fn command(table: &Catalogue, spec: &CommandSpec) -> String {
    let mut text = format!("{}\n  {}.\n", spec.usage(), spec.summary);
    for paragraph in spec.help.split("\n\n") {
        text += &format!("\n{}", wrapped(paragraph));
    }
    if !spec.examples.is_empty() {
        text += &format!("\nExamples:\n{}", spec.examples.iter().map(|example| format!("  {example}\n")).collect::<String>());
    }
    if !spec.aliases.is_empty() {
        text += &format!("\nAlso: {}\n", spec.aliases.join(", "));
    }
    let group = table.groups.iter().find(|group| group.name == spec.name);
    group.map_or(text.clone(), |group| format!("{text}\n{}", rows(table.members(group))))
}

fn topic(topic: &Topic) -> String {
    let about: String = topic.about.split("\n\n").filter(|paragraph| !paragraph.is_empty()).map(|text| wrapped(text) + "\n").collect();
    format!("{}:\n\n{about}{}", topic.summary, rows(topic.commands.iter()))
}

/// The words of gdb that are no commands, a line each.
fn gdb_list() -> String {
    let about = |row: &GdbWord| wrapped(row.about).lines().map(|line| format!("      {line}\n")).collect::<String>();
    GDB_WORDS.iter().map(|row| format!("  {}\n{}", row.words, about(row))).collect()
}

fn group(table: &Catalogue, group: &Group) -> String {
    format!("{}:\n\n{}", group.summary, rows(table.members(group)))
}

fn setting(row: &Setting) -> String {
    format!("set {} {}\n\n{}", row.name, row.kind.describe(), wrapped(row.help))
}

/// Topics, commands, settings, words of gdb and options of the command line that `word` leads to, or whose help names it.
pub fn apropos(table: &Catalogue, word: &str) -> String {
    let word = word.to_lowercase();
    let names = |text: &str| text.to_lowercase().contains(&word);
    let meant: Vec<&str> =
        SYNONYMS.iter().filter(|(known, _)| known.starts_with(&word)).flat_map(|(_, places)| places.iter().copied()).collect();
    let is_about = |spec: &&CommandSpec| {
        let texts = [spec.name, spec.summary, spec.help];
        meant.contains(&spec.name) || texts.into_iter().chain(spec.aliases.iter().copied()).any(names)
    };
    let guides = table.topics.iter().filter(|topic| meant.contains(&topic.name) || !topic.about.is_empty() && names(topic.about));
    let guides: String = guides.map(|topic| format!("  help {}  {}\n", topic.name, topic.summary)).collect();
    let gdb = GDB_WORDS.iter().filter(|row| names(row.words));
    let gdb: String = gdb.map(|row| format!("  {}  {}\n", row.words, row.about)).collect();
    let commands = rows(table.commands().filter(is_about));
    let settings = SETTINGS.iter().filter(|row| names(row.name) || names(row.help));
    let settings: String = settings.map(|row| format!("  set {}  {}\n", row.name, row.help)).collect();
    let options = OPTIONS.iter().filter(|(option, what)| names(option) || names(what));
    let options: String = options.map(|(option, what)| format!("  ptxdbg {option}  {what}\n")).collect();
    match format!("{commands}{guides}{settings}{options}{gdb}") {
        none if none.is_empty() => format!("Nothing in the help names '{word}'.\n"),
        found => found,
    }
}

/// A row for each command: its names and its summary.
fn rows(commands: impl Iterator<Item = &'static CommandSpec>) -> String {
    let commands: Vec<&CommandSpec> = commands.collect();
    let names = |spec: &CommandSpec| match short_name(spec) {
        Some(short) => format!("{}, {short}", spec.name),
        None => spec.name.to_string(),
    };
    let named: Vec<(String, &str)> = commands.iter().map(|spec| (names(spec), spec.summary)).collect();
    let width = column(named.iter().map(|(name, _)| name.as_str()));
    named.iter().map(|(name, summary)| format!("  {name:width$}  {summary}\n")).collect()
}

/// gdb's short name of a command.
fn short_name(spec: &CommandSpec) -> Option<&'static str> {
    spec.aliases.first().copied().filter(|alias| alias.len() <= 4 && !alias.contains(' '))
}

fn column<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}

/// `paragraph` in lines of at most [`WIDTH`] columns.
fn wrapped(paragraph: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        }
        if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text + "\n"
}
