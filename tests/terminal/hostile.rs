//! Text that would act on the terminal, and bytes that are no text.

#[path = "../it/common/hostile.rs"]
mod files;

use std::path::Path;
use std::sync::LazyLock;

use super::*;

/// Written once: the tests run side by side, and a file that is written again is empty for a moment.
static LAUNCH_FILE: LazyLock<String> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-terminal");
    std::fs::create_dir_all(&folder).unwrap();
    files::files(&folder).to_str().unwrap().to_string()
});

#[track_caller]
fn assert_harmless(pty: &Pty) {
    let acting = files::acting(&pty.written());
    assert!(acting.is_empty(), "{acting:?}\n{}", String::from_utf8_lossy(&pty.written()).escape_debug());
}

/// A terminal that can nothing gets lines of text, and not one byte that is none.
#[test]
fn the_plain_prompt_writes_text() {
    let launch = LAUNCH_FILE.as_str();
    let words = [env!("CARGO_BIN_EXE_ptxdbg"), "--plain", "--launch", launch];
    let mut pty = Pty::start(&words, &[("TERM", Some("dumb"))], (120, 40));
    pty.wait_for("(ptxdbg");
    for (line, answer) in [
        ("run", "\\x1b]0;taken\\x07"),
        ("info output", "\\xff\\x9b2J"),
        ("list", "\\x9b2J \\u{202e}txet"),
        ("info allocations", "out\\x1b]0;x\\x07\\u{202e}"),
        ("info launch", "hostile"),
        ("mark a\u{202e}b", "a"),
        ("echo a\u{9b}2Jb", "a\\x9b2Jb"),
        (concat!("dump ", env!("CARGO_TARGET_TMPDIR"), "/a\u{202e}.bin out"), "\\u{202e}"),
        ("source no\u{202e}file", "no\\u{202e}file"),
        ("set listsize \u{9b}", "\\x9b"),
        ("quit", ""),
    ] {
        let shown = pty.written().len();
        pty.send(&format!("{line}\r"));
        // The terminal itself echoes what is typed, the answer follows it, and then the prompt: what is typed before that has an echo
        // without one.
        pty.wait(line, |_| {
            let written = pty.written();
            let since = String::from_utf8_lossy(&written[shown..]).into_owned();
            let is_prompted = line == "quit" || since.rsplit('\n').next().is_some_and(|last| last.starts_with("(ptxdbg"));
            since.split_once('\n').is_some_and(|(_, answered)| answered.contains(answer)) && is_prompted
        });
    }
    pty.ended();
    let answers: Vec<u8> = without_echo(&pty.written());
    let text = String::from_utf8(answers).unwrap();
    let wrong: Vec<char> = text.chars().filter(|c| ptxdbg::ui::visible::is_terminal_control(*c) && !"\r\n".contains(*c)).collect();
    assert!(wrong.is_empty(), "{wrong:?} in {}", text.escape_debug());
}

/// What was written, without the lines that the terminal echoed.
fn without_echo(written: &[u8]) -> Vec<u8> {
    written.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"(ptxdbg")).collect::<Vec<_>>().concat()
}

#[test]
fn a_check_and_a_run_on_a_terminal_write_text() {
    let launch = LAUNCH_FILE.as_str();
    let kernel = launch.replace(".ron", ".ptx");
    let broken = launch.replace(".ron", ".broken.ptx");
    let text = std::fs::read_to_string(&kernel).unwrap();
    std::fs::write(&broken, text.replace("[%rd1], %r1;", "[%rd1], %absent;")).unwrap();
    let debugger = env!("CARGO_BIN_EXE_ptxdbg");
    for words in [
        &[debugger, "--check", &broken][..],
        &[debugger, "--check", "--format", "json", &broken],
        &[debugger, "--check", "--format", "sarif", &broken],
        &[debugger, "--batch", "--launch", launch],
        &[debugger, "--batch", "--launch", launch, "--format", "json"],
        &[debugger, "--verify", "--launch", launch],
        &[debugger, "a\x1b]0;\u{202e}.ptx"],
        &[debugger, "--grid", "\x1b]0;\u{202e}", &kernel],
        &[debugger, "--kernel", "\x1b]0;\u{9b}", &kernel],
        &[debugger, "--\x1b]0;\u{202e}"],
        &[debugger, "--launch", "\x1b]0;\u{202e}.ron"],
    ] {
        let mut pty = Pty::start(words, &[], (120, 40));
        pty.ended();
        pty.wait("something", |_| !pty.written().is_empty());
        assert_harmless(&pty);
    }
}

#[test]
fn panes_and_prompts_write_text() {
    let launch = LAUNCH_FILE.as_str();
    for words in [&["--launch", launch][..], &["--plain", "--launch", launch]] {
        let mut pty = Pty::sized(words, 120, 40);
        pty.wait_for("(ptxdbg");
        for line in
            ["break 24", "run", "list", "info allocations", "info output", "mark set m\u{202e}", "info marks", "layout next", "layout next"]
        {
            let seen = pty.written().len();
            pty.send(&format!("{line}\r"));
            pty.wait(line, |screen| pty.written().len() > seen + line.len() && screen.contents().contains("(ptxdbg"));
        }
        // Ctrl-V takes the next key as it is.
        pty.send("echo a\x16\x1b");
        pty.wait_for("echo a\u{241b}");
        pty.send(&format!("b{CTRL_U}echo a\u{202e}b{CTRL_U}"));
        assert!(!pty.written().windows(6).any(|window| window == b"echo a\x1b"));
        pty.send("quit\r");
        pty.ended();
        assert_harmless(&pty);
    }
}

#[test]
fn a_byte_that_is_no_text_is_reported_and_the_session_lives_on() {
    for (words, kind) in [(&[][..], "xterm-256color"), (&["--plain"], "xterm-256color"), (&["--plain"], "dumb")] {
        let words = [&[env!("CARGO_BIN_EXE_ptxdbg")], WALK, words].concat();
        let mut pty = Pty::start(&words, &[("TERM", Some(kind))], (80, 24));
        pty.wait_for(" t=0)");
        pty.send_bytes(b"print 1\xff + 2\r");
        pty.wait_for("error at column 8: byte 0xff is not UTF-8");
        pty.send_bytes(b"print 6 * 7\rprint 40 + 5\r");
        pty.wait_for("42");
        pty.wait_for("45");
        pty.send("quit\r");
        assert_eq!(pty.ended(), 0, "{words:?} {kind}");
    }
}

#[test]
fn history_is_written_at_once_and_what_cannot_be_is_said() {
    for words in [&[][..], &["--plain"]] {
        let mut pty = Pty::debugger(&[WALK, words].concat());
        wait_for_any_prompt(&pty, 0);
        for (line, answer) in [("print 6 * 7", "42"), ("print 40 + 5", "45")] {
            pty.send(&format!("{line}\r"));
            pty.wait_for(answer);
        }
        let kill = format!("kill -KILL {}", pty.process());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_ne!(pty.ended(), 0);
        let history = std::fs::read_to_string(pty.owner().join(".local/state/ptxdbg/history")).unwrap();
        assert_eq!(history, "#V2\nprint 6 * 7\nprint 40 + 5\n");
    }
}

#[test]
fn a_history_file_that_is_none_is_said() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-history");
    for (name, make, described) in [
        ("fifo", "mkfifo \"$1\"", "it is not a regular file"),
        ("folder", "mkdir \"$1\"", "it is not a regular file"),
        ("bytes", "printf '#V2\\nprint 1\\n\\377\\n' > \"$1\"", "1 line of it is not UTF-8"),
    ] {
        let state = folder.join(name);
        let _ = std::fs::remove_dir_all(&state);
        std::fs::create_dir_all(state.join("ptxdbg")).unwrap();
        let file = state.join("ptxdbg/history");
        let made = std::process::Command::new("sh").args(["-c", make, "sh", file.to_str().unwrap()]).status().unwrap();
        assert!(made.success());
        for words in [&[][..], &["--plain"]] {
            let words = [&[env!("CARGO_BIN_EXE_ptxdbg")], WALK, words].concat();
            let mut pty = Pty::start(&words, &[("XDG_STATE_HOME", state.to_str())], (200, 40));
            pty.wait_for(described);
            pty.send("print 6 * 7\r");
            pty.wait_for("42");
            pty.send("quit\r");
            assert_eq!(pty.ended(), 0, "{name}");
        }
    }
}
