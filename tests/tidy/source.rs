//! Reads the project's own text, and separates its code from its comments and literals.

use std::path::{Path, PathBuf};

/// A text file of the project.
pub struct File {
    /// Its path from the top of the project, with `/` between components.
    pub path: String,
    /// Its whole text.
    pub text: String,
    /// Of a Rust file, the text with comments and the insides of literals blanked, line for line; of others, nothing.
    pub code: String,
}

impl File {
    /// A file with this text.
    pub fn new(path: &str, text: &str) -> File {
        let code = if path.ends_with(".rs") { code_of(text) } else { String::new() };
        File { path: path.to_string(), text: text.to_string(), code }
    }

    /// The first component below `src`, without `.rs`: `machine` for `src/machine/exec/mod.rs`.
    pub fn layer(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("src/")?;
        inside.split('/').next().map(|name| name.trim_end_matches(".rs"))
    }

    /// Whether the file lies in `folder`, or is its module file: `ui/tui` holds `src/ui/tui.rs` and `src/ui/tui/pane.rs`.
    pub fn is_in(&self, folder: &str) -> bool {
        let inside = self.path.strip_prefix("src/").and_then(|path| path.strip_prefix(folder));
        inside.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }

    /// `path:line` of the byte at `offset` of the text or the code.
    pub fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.path, line_of(&self.text, offset))
    }
}

/// The line, from 1, of the byte at `offset`.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The files below `folder` whose names end with one of `endings`, in order of path.
pub fn files(folder: &str, endings: &[&str]) -> Vec<File> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect(&top.join(folder), &mut paths);
    paths.sort();
    let relative = |path: &PathBuf| path.strip_prefix(top).unwrap().to_str().unwrap().replace('\\', "/");
    let named = paths.iter().map(|path| (path, relative(path)));
    let wanted = named.filter(|(_, name)| endings.iter().any(|ending| name.ends_with(ending)));
    wanted.map(|(path, name)| File::new(&name, &std::fs::read_to_string(path).unwrap())).collect()
}

fn collect(path: &Path, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), into);
        }
    } else if path.is_file() {
        into.push(path.to_path_buf());
    }
}

/// Byte offsets of `word` in `text`, but not inside a longer name: `print!` is not in `eprint!`.
pub fn occurrences<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let joins = |inside: Option<char>, outside: Option<char>| inside.is_some_and(is_name) && outside.is_some_and(is_name);
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !joins(word.chars().next(), before) && !joins(word.chars().next_back(), after)
    })
}

/// Whether `c` may stand in a name.
pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `text` with every comment and the inside of every literal replaced by spaces; newlines stay, so lines and offsets agree.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let blank = comment_or_literal(rest);
        let name = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let keep = if blank > 0 { 0 } else { name.max(first.len_utf8()) };
        code.push_str(&rest[..keep]);
        code.extend(rest.as_bytes()[..blank].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }));
        rest = &rest[keep.max(blank)..];
    }
    code
}

/// Length in bytes of the comment or literal that `rest` starts with; 0 if it starts with neither.
fn comment_or_literal(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if rest.starts_with('\'') {
        return char_literal(rest);
    }
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r')).unwrap_or(0);
    let hashes = rest[prefix..].bytes().take_while(|byte| *byte == b'#').count();
    let is_raw = rest[..prefix].ends_with('r');
    let opening = prefix + if is_raw { hashes } else { 0 } + 1;
    if prefix > 2 || !rest[opening - 1..].starts_with('"') {
        return 0;
    }
    if is_raw {
        let closing = format!("\"{}", "#".repeat(hashes));
        return rest[opening..].find(&closing).map_or(rest.len(), |at| opening + at + closing.len());
    }
    escaped_end(rest, opening, '"')
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let (step, change) = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        depth += change;
        at += step;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Length of a character literal; 0 for a lifetime or a label.
fn char_literal(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => escaped_end(rest, 1, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

/// One past the first `quote` at or after `from` that no backslash precedes.
fn escaped_end(rest: &str, from: usize, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest[from..].char_indices() {
        if c == quote && !is_escaped {
            return from + at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    rest.len()
}

#[test]
fn code_is_separated_from_comments_and_literals() {
    let text = "let a = \"x // \\\" y\"; // z\nlet b = r#\"q\"q\"#; /* c /* d */ e */ f('\\'', 'g', &'h i);";
    let code = File::new("src/sample.rs", text).code;
    let words: Vec<&str> = code.split(|c| !is_name(c)).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["let", "a", "let", "b", "f", "h", "i"]);
    assert_eq!(code.len(), text.len());
    assert_eq!(occurrences("a.b a.bc ba.b", "a.b").count(), 1);
}
