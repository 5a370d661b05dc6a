//! Hostile surroundings without a terminal: bytes that are no text, full disks, readers that go away, names that act on terminals.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::hostile as files;

use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const DEBUGGER: &str = env!("CARGO_BIN_EXE_ptxdbg");
const WALK: &[&str] = &["--launch", "fixtures/debug/walk.ron"];

/// A new folder of ours.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The debugger with these lines on standard input.
fn fed(words: &[&str], lines: &[u8]) -> Output {
    let mut child = command(&[&[DEBUGGER], words].concat()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines).unwrap();
    child.wait_with_output().unwrap()
}

/// The same in a shell, where `$0` is the debugger.
fn in_shell(script: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let output = command(&[&["sh", "-c", script, DEBUGGER], words].concat()).output().unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_line_that_is_no_text_is_reported_and_those_after_it_are_done() {
    let output = fed(WALK, b"print 1 + 1\nprint \xff\nprint 6 * 7\n");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{out}{err}");
    assert!(out.ends_with("(ptxdbg) print 6 * 7\n6 * 7 = 42\n"), "{out}");
    assert_eq!(err, "standard input:2: error at column 7: byte 0xff is not UTF-8\n  print \u{fffd}\n        ^\n");
}

/// The lines of a block belong together: none of them is a command of its own.
#[test]
fn a_line_that_is_no_text_spoils_its_block_alone() {
    let output = fed(WALK, b"break walk\ncommands 1\nprint 1\xc3\nprint 2\nend\nprint 6 * 7\n");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{out}{err}");
    assert!(err.contains("byte 0xc3 is not UTF-8"), "{err}");
    assert!(out.ends_with("6 * 7 = 42\n") && !out.contains("2 = 2"), "{out}");
}

#[test]
fn a_script_that_is_no_text_is_refused_with_its_place() {
    let folder = folder("script");
    let script = folder.join("script.ptxdbg");
    std::fs::write(&script, b"print 1\nprint \xc3\xa9\xff\n").unwrap();
    let described = format!("{}:2:8: byte 0xff is not UTF-8", script.display());
    let output = fed(&[WALK, &["-x", script.to_str().unwrap()]].concat(), b"");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    assert!(text(&output.stderr).contains(&described), "{}", text(&output.stderr));
    let output = fed(WALK, format!("source {}\n", script.display()).as_bytes());
    assert!(text(&output.stderr).contains(&described), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_be_written_is_reported_and_a_reader_that_goes_is_not() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    for words in [
        &["--help"][..],
        &["--version"],
        &["--batch", "--launch", "fixtures/debug/walk.ron"],
        &["--verify", "--launch", "fixtures/debug/walk.ron"],
        &["--check", "--format", "sarif", "fixtures/debug/walk.ptx"],
        &["--launch", "fixtures/debug/walk.ron", "-e", "run", "--batch"],
    ] {
        let (status, _, err) = in_shell("exec \"$0\" \"$@\" > /dev/full", words);
        assert_eq!((status, err.as_str()), (Some(2), "ptxdbg: cannot write standard output: no space left on device\n"), "{words:?}");
        let (_, out, err) = in_shell("\"$0\" \"$@\" | head -1", words);
        assert_eq!((out.lines().count(), err.as_str()), (1, ""), "{words:?}");
    }
}

/// All files in a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A limit on the size of files stands for a disk that is full.
#[test]
fn a_full_disk_leaves_the_old_file_whole() {
    let folder = folder("full");
    for (name, save) in [("session.ron", "save session"), ("out.bin", "dump"), ("out.npy", "dump")] {
        let file = folder.join(name);
        let old = "old ".repeat(1000);
        std::fs::write(&file, &old).unwrap();
        let memory = if save == "dump" { " out" } else { "" };
        let line = format!("{save} {}{memory}", file.display());
        let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
        let (status, _, err) = in_shell(limited, &[WALK, &["--batch", "-e", "break walk", "-e", &line]].concat());
        assert_eq!(status, Some(2), "{err}");
        assert!(err.contains("file too large"), "{err}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), old);
        let (status, _, err) = in_shell("exec \"$0\" \"$@\"", &[WALK, &["--batch", "-e", "break walk", "-e", &line]].concat());
        assert_eq!((status, err.as_str()), (Some(0), ""));
        assert_ne!(std::fs::read(&file).unwrap(), old.as_bytes());
    }
    assert_eq!(names(&folder), ["out.bin", "out.npy", "session.ron"]);
}

#[test]
fn a_saved_file_keeps_its_permissions_and_its_name() {
    let folder = folder("kept");
    let (file, link) = (folder.join("real.ron"), folder.join("link.ron"));
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.ron", &link).unwrap();
    let fresh = folder.join("fresh.ron");
    let save = |path: &Path| format!("save session {}\n", path.display());
    let (status, _, err) =
        in_shell("umask 027; exec \"$0\" \"$@\"", &[WALK, &["--batch", "-e", save(&link).trim(), "-e", save(&fresh).trim()]].concat());
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(link.is_symlink());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&file), mode(&fresh)), (0o640, 0o640));
    assert!(std::fs::read_to_string(&file).unwrap().contains("version: 1,"));
    assert_eq!(names(&folder), ["fresh.ron", "link.ron", "real.ron"]);
}

/// What is no regular file is written to and stays what it is.
#[test]
fn devices_and_pipes_are_written_to() {
    let (status, out, err) = in_shell("exec \"$0\" \"$@\"", &[WALK, &["--batch", "-e", "save session /dev/stdout"]].concat());
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(out.contains("version: 1,"), "{out}");
    let folder = folder("devices");
    let shown = folder.join("shown");
    let script = format!("exec \"$0\" \"$@\" > {}", shown.display());
    let (status, _, err) = in_shell(&script, &[WALK, &["--batch", "-e", "save session /dev/stdout", "-e", "print 6 * 7"]].concat());
    assert_eq!((status, err.as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(&shown).unwrap();
    assert!(text.contains("version: 1,") && text.ends_with("6 * 7 = 42\n"), "{text}");
    let fifo = folder.join("fifo.bin");
    let script = format!("mkfifo {0}; cat {0} > {0}.read & \"$0\" \"$@\"; wait", fifo.display());
    let dump = format!("dump {} out", fifo.display());
    let (status, _, err) = in_shell(&script, &[WALK, &["--batch", "-e", &dump]].concat());
    assert_eq!((status, err.as_str()), (Some(0), ""));
    assert!(std::fs::metadata(&fifo).unwrap().file_type().is_fifo());
    assert_eq!(std::fs::metadata(folder.join("fifo.bin.read")).unwrap().len(), 256);
    assert_eq!(names(&folder), ["fifo.bin", "fifo.bin.read", "shown"]);
}

/// What a kernel prints goes to a pipe byte for byte; all other text is made visible.
#[test]
fn printf_is_exact_where_no_terminal_shows_it() {
    let launch = files::files(&folder("printed"));
    let launch = launch.to_str().unwrap();
    let output = fed(&["--batch", "--launch", launch], b"");
    assert!(output.stdout.starts_with(files::PRINTED), "{}", text(&output.stdout).escape_debug());
    assert_eq!(files::acting(&output.stdout[files::PRINTED.len()..]), [""; 0]);
    let output = fed(&["--launch", launch], b"run\ninfo output\nlist 1,30\ninfo allocations\necho a\x1b]0;b\n");
    let out = output.stdout;
    let printed = out.windows(files::PRINTED.len()).filter(|window| *window == files::PRINTED).count();
    assert_eq!(printed, 2, "{}", text(&out).escape_debug());
    let rest = text(&out).replace(&text(files::PRINTED), "");
    assert_eq!(files::acting(rest.as_bytes()), [""; 0], "{}", rest.escape_debug());
    assert!(rest.contains("\\u{202e}txet") && rest.contains("a\\x1b]0;b"), "{rest}");
    let output = fed(&["--batch", "--launch", launch, "--format", "json"], b"");
    assert_eq!(files::acting(&output.stdout), [""; 0]);
    for line in text(&output.stdout).lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        if value["kind"] == "run" {
            assert_eq!(value["printed"], text(files::PRINTED));
        }
    }
}

#[test]
fn messages_are_text() {
    for words in [&["a\x1b]0;\u{202e}.ptx"][..], &["--\x1b]0;\u{202e}"], &["--grid", "\x1b]0;\u{9b}", "x.ptx"], &["-l", "\x1b]0;.ron"]] {
        let output = fed(words, b"");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(files::acting(&output.stderr), [""; 0], "{words:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// Something races, then counts forever.
const RACE_AND_SPIN: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .b64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .shared .b32 cell;

    mov.u32 %r1, %tid.x;
    st.shared.u32 [cell], %r1;
$again:
    add.u32 %r1, %r1, 1;
    bra.uni $again;
}
";

#[test]
fn control_c_prints_what_was_found_so_far() {
    let folder = folder("interrupted");
    let kernel = folder.join("spin.ptx");
    std::fs::write(&kernel, RACE_AND_SPIN).unwrap();
    let kernel = kernel.to_str().unwrap();
    for words in [&["--batch", "--block", "64", "-a", "u32[4]"][..], &["--batch", "--block", "64", "-a", "u32[4]", "--format", "json"]] {
        let child = command(&[&[DEBUGGER, kernel], words].concat()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let sent = Instant::now();
        interrupt(child.id());
        let output = child.wait_with_output().unwrap();
        let out = text(&output.stdout);
        assert_eq!(output.status.code(), Some(130), "{out}{}", text(&output.stderr));
        assert!(sent.elapsed() < Duration::from_secs(20), "{:?}", sent.elapsed());
        assert!(out.contains("race.shared.waw") && out.contains("interrupted"), "{out}");
    }
    let child = command(&[DEBUGGER, "--batch", "fixtures/debug/endless.ptx", "-e", "run", "-e", "print 6 * 7"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{out}");
    assert!(out.contains("interrupted") && !out.contains("= 42"), "{out}");
}

fn interrupt(process: u32) {
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {process}")]).status().unwrap().success());
}
