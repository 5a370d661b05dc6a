//! Commands that the user defines: `define` gives lines a name, `alias` the beginning of a line.

use std::collections::BTreeMap;

use super::argument_text::word_at;

/// Commands of the shell that need no `shell` before them.
pub(super) const SHELL_WORDS: [&str; 2] = ["make", "pwd"];

/// The commands and aliases of a session.
#[derive(Debug, Default)]
pub struct UserCommands {
    commands: BTreeMap<String, UserCommand>,
    aliases: BTreeMap<String, String>,
}

/// A command of `define`.
#[derive(Debug, Default)]
struct UserCommand {
    lines: Vec<String>,
    /// The lines of `document`.
    help: Vec<String>,
}

impl UserCommands {
    /// Defines command `name` as these lines; its help stays.
    pub fn define(&mut self, name: &str, lines: Vec<String>) {
        self.aliases.remove(name);
        self.commands.entry(name.to_string()).or_default().lines = lines;
    }

    /// Sets the help of command `name`, if there is one.
    pub fn document(&mut self, name: &str, help: Vec<String>) {
        if let Some(command) = self.commands.get_mut(name) {
            command.help = help;
        }
    }

    /// True if there is a command `name`.
    pub fn has(&self, name: &str) -> bool {
        self.commands.contains_key(name)
    }

    /// Makes `name` stand for `text` at the beginning of a line.
    pub fn alias(&mut self, name: &str, text: &str) {
        self.commands.remove(name);
        self.aliases.insert(name.to_string(), text.to_string());
    }

    /// `line` with the text of the alias that it begins with.
    pub fn without_alias(&self, line: &str) -> String {
        let start = line.len() - line.trim_start().len();
        if let Some(command) = line[start..].strip_prefix('!') {
            return format!("shell {}", command.trim_start());
        }
        let name = word_at(line, 0);
        if SHELL_WORDS.contains(&name.text.as_str()) {
            return format!("shell {}", &line[start..]);
        }
        match self.aliases.get(&name.text) {
            Some(text) if name.start == start => format!("{text}{}", &line[name.span().end..]),
            Some(_) | None => line.to_string(),
        }
    }

    /// The lines of the command that `line` names, with its words in place of `$arg0`, `$arg1` … and their number in place of `$argc`;
    /// none if it names no command of the user.
    pub fn lines(&self, line: &str) -> Option<Vec<String>> {
        let name = word_at(line, 0);
        let command = self.commands.get(&name.text)?;
        let words: Vec<&str> = line[name.span().end..].split_whitespace().collect();
        Some(command.lines.iter().map(|line| with_arguments(line, &words)).collect())
    }

    /// The help of the command or alias `name`; none if there is none.
    pub fn help(&self, name: &str) -> Option<String> {
        if let Some(text) = self.aliases.get(name) {
            return Some(format!("{name} is an alias of '{text}'\n"));
        }
        let command = self.commands.get(name)?;
        let lines = if command.help.is_empty() { &[format!("{name} is a command of 'define'")] } else { command.help.as_slice() };
        Some(lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// All commands with their lines, and all aliases, as they would be typed.
    pub fn listing(&self) -> String {
        let command = |(name, command): (&String, &UserCommand)| {
            let lines: String = command.lines.iter().map(|line| format!("  {line}\n")).collect();
            format!("define {name}\n{lines}end\n")
        };
        let alias = |(name, text): (&String, &String)| format!("alias {name} = {text}\n");
        self.commands.iter().map(command).chain(self.aliases.iter().map(alias)).collect()
    }
}

/// `line` with `words` in place of `$arg0` and so on. An argument that is not there leaves nothing.
fn with_arguments(line: &str, words: &[&str]) -> String {
    let mut text = String::new();
    let mut parts = line.split("$arg");
    text += parts.next().unwrap_or_default();
    for part in parts {
        if let Some(rest) = part.strip_prefix('c') {
            text += &format!("{}{rest}", words.len());
            continue;
        }
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match part[..digits].parse::<usize>() {
            Ok(index) => text += words.get(index).copied().unwrap_or_default(),
            Err(_) => text += "$arg",
        }
        text += &part[digits..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::with_arguments;

    #[test]
    fn arguments_are_put_in_place() {
        assert_eq!(with_arguments("print $arg0 + $arg10 of $argc", &["%r1"]), "print %r1 +  of 1");
        assert_eq!(with_arguments("echo $argument $arg", &["x"]), "echo $argument $arg");
    }
}
