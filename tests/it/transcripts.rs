//! Whole sessions, input and output beside each other: what `fixtures/transcripts/*.txt` show is typed and compared.
//!
//! A transcript starts with lines that say what it shows and with the command line, `$ ptxdbg ARGS`. Below it stand the lines that are
//! typed, after `(ptxdbg) ` or, inside `commands`, after `>`, and what is answered. `PTXDBG_BLESS=1 cargo test --test it transcripts::`
//! writes the answers anew: read them before you keep them.

#![expect(clippy::unwrap_used, reason = "a test that cannot read or run fails")]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::words::words;
use ptxdbg::command::table::commands;
use ptxdbg::command::{UserCommands, is_blank_or_comment, parse};

const TOP: &str = env!("CARGO_MANIFEST_DIR");
const PROMPT: &str = "(ptxdbg) ";

struct Transcript {
    path: PathBuf,
    text: String,
}

impl Transcript {
    /// What stands up to and with the command line.
    fn head(&self) -> &str {
        let start = self.text.find("$ ptxdbg").unwrap();
        let end = self.text[start..].find('\n').unwrap();
        &self.text[..start + end + 1]
    }

    /// The words after `$ ptxdbg`.
    fn arguments(&self) -> Vec<String> {
        words(self.head().lines().last().unwrap().trim_start_matches("$ ptxdbg"))
    }

    /// The lines that are typed; with `--batch` none are.
    fn typed(&self) -> Vec<&str> {
        if self.arguments().iter().any(|argument| argument == "--batch") {
            return Vec::new();
        }
        self.text[self.head().len()..].lines().filter_map(|line| line.strip_prefix(PROMPT).or(line.strip_prefix('>'))).collect()
    }

    /// What the program writes, with its errors where they happen, and how it ends.
    fn run(&self, folder: &Path) -> String {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
        // Files that are written go to a folder of this run.
        let arguments = self.arguments();
        command.args(arguments).current_dir(TOP);
        command.stdin(Stdio::piped()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        let typed: String = self.typed().iter().map(|line| format!("{}\n", line.replace("FOLDER", folder.to_str().unwrap()))).collect();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let mut written = String::new();
        reader.read_to_string(&mut written).unwrap();
        let status = child.wait().unwrap().code();
        let ending = if status == Some(0) { String::new() } else { format!("[exit status {}]\n", status.unwrap()) };
        written.replace(folder.to_str().unwrap(), "FOLDER") + &ending
    }
}

fn transcripts() -> Vec<Transcript> {
    let folder = Path::new(TOP).join("fixtures/transcripts");
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = all.filter(|path| path.is_file()).collect();
    paths.sort();
    paths.into_iter().map(|path| Transcript { text: fs::read_to_string(&path).unwrap(), path }).collect()
}

#[test]
fn sessions_say_what_the_transcripts_show() {
    let mut wrong = Vec::new();
    for transcript in transcripts() {
        let name = transcript.path.file_stem().unwrap().to_str().unwrap().to_string();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        fs::create_dir_all(&folder).unwrap();
        let shown = format!("{}{}", transcript.head(), transcript.run(&folder));
        if std::env::var_os("PTXDBG_BLESS").is_some() {
            fs::write(&transcript.path, &shown).unwrap();
        } else if shown != transcript.text {
            let differs = shown.lines().zip(transcript.text.lines()).position(|(is, was)| is != was);
            let line = differs.unwrap_or(shown.lines().count().min(transcript.text.lines().count()));
            let at = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_string();
            wrong.push(format!("{name}.txt:{}: shown\n  {}\nbut written is\n  {}", line + 1, at(&shown), at(&transcript.text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_word_of_gdb_is_unknown() {
    let words = transcripts().into_iter().find(|transcript| transcript.path.ends_with("gdb_words.txt")).unwrap();
    let answers: Vec<&str> = words.text.lines().filter(|line| !line.starts_with(PROMPT)).collect();
    // What is typed wrongly on purpose is about names, not about words.
    let unknown = ["there is no command '", "there is no setting", "is not expected here", "there is no event"];
    let unknown: Vec<&&str> = answers.iter().filter(|line| unknown.iter().any(|words| line.contains(words))).collect();
    assert_eq!(unknown, [&"error at column 12: there is no command 'nothing'"]);
    for word in ["make", "pwd", "!ls", "shell ls"] {
        let parsed = UserCommands::default().without_alias(word);
        assert_eq!(parse(&parsed).unwrap().spec.name, "shell", "{word}");
    }
}

#[test]
fn every_command_is_shown() {
    let transcripts = transcripts();
    let typed = transcripts.iter().flat_map(Transcript::typed).filter(|line| !is_blank_or_comment(line));
    let shown: Vec<&str> = typed.filter_map(|line| parse(line).ok()).map(|call| call.spec.name).collect();
    let missing: Vec<&str> = commands().map(|spec| spec.name).filter(|name| !shown.contains(name)).collect();
    assert!(missing.is_empty(), "no transcript shows {}", missing.join(", "));
}
