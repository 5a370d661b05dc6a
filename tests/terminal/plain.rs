//! Where there is no screen, and where there are no colours.

use super::*;

#[test]
fn plain_means_no_screen() {
    let mut pty = opened(&["--launch", "fixtures/debug/walk.ron", "--plain"]);
    assert!(!pty.look(vt100::Screen::alternate_screen));
    pty.send("layout next\r");
    pty.wait_for("there is no screen here");
    pty.send("quit\r");
    assert_eq!(pty.ended(), 0);
}

/// The first line names the launch file that the launch is from, and none that does not exist.
#[test]
fn the_launch_is_from_a_file_that_exists() {
    let given = "fixtures/dwarf/forced.ptx --plain --grid 1 --block 1 -a out=s32[2]=zero -a n=9";
    for (words, from) in [("fixtures/debug/walk.ptx --plain", ", from fixtures/debug/walk.ron"), (given, "")] {
        let mut pty = opened(&words.split(' ').collect::<Vec<_>>());
        let shown = pty.look(vt100::Screen::contents);
        let line = shown.lines().find(|line| line.contains(": grid (")).unwrap_or_default();
        assert!(if from.is_empty() { !line.contains("from") } else { line.ends_with(from) }, "{shown}");
        pty.send("quit\r");
        assert_eq!(pty.ended(), 0);
    }
}

#[test]
fn a_terminal_that_can_nothing_gets_no_escapes() {
    for kind in [Some("dumb"), Some(""), None] {
        let mut pty = Pty::start(&[&[env!("CARGO_BIN_EXE_ptxdbg")], WALK].concat(), &[("TERM", kind)], (80, 24));
        pty.wait_for(long_prompt(0).trim_end());
        pty.send("stepi\r");
        pty.wait_for(long_prompt(1).trim_end());
        pty.send("quit\r");
        assert_eq!(pty.ended(), 0);
        assert!(!pty.written().contains(&b'\x1b'), "{kind:?}: {}", String::from_utf8_lossy(&pty.written()).escape_debug());
    }
}

#[test]
fn without_a_terminal_on_both_sides_there_is_no_screen() {
    let debugger = format!("{} --launch fixtures/debug/walk.ron", env!("CARGO_BIN_EXE_ptxdbg"));
    for script in [format!("echo 'print 6 * 7' | {debugger}; echo over"), format!("{debugger} -e 'print 6 * 7' | cat; echo over")] {
        let pty = Pty::start(&["sh", "-c", &script], &[], (80, 24));
        pty.wait_for("over");
        let shown = pty.look(vt100::Screen::contents);
        assert!(shown.contains("42\n"), "{shown}");
        assert!(!pty.written().windows(6).any(|bytes| bytes == b"\x1b[?104"), "{shown}");
    }
}

#[test]
fn no_color_leaves_bold_and_reversed() {
    let mut pty = Pty::start(&[&[env!("CARGO_BIN_EXE_ptxdbg")], WALK].concat(), &[("NO_COLOR", Some("1"))], (80, 24));
    pty.wait_for_line(&prompt(0));
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
    let cells = || (0..16).flat_map(|row| (0..80).map(move |column| (row, column)));
    pty.look(|screen| {
        let has = |what: fn(&vt100::Cell) -> bool| cells().any(|(row, column)| screen.cell(row, column).is_some_and(what));
        assert!(has(vt100::Cell::inverse) && has(vt100::Cell::bold));
    });
    let written = String::from_utf8_lossy(&pty.written()).into_owned();
    let numbers = written.split("\x1b[").filter_map(|part| part.split_once('m').map(|(numbers, _)| numbers));
    let colors: Vec<&str> = numbers.filter(|numbers| numbers.split(';').any(is_color)).collect();
    assert!(colors.is_empty(), "{colors:?}");
}

/// Whether the number sets a colour in SGR (ECMA-48 8.3.117); 39, 49 and 59 put the terminal's own back.
fn is_color(number: &str) -> bool {
    number.parse().is_ok_and(|number: u8| matches!(number, 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107))
}

#[test]
fn a_theme_is_chosen_on_the_command_line() {
    let light = opened(&["--launch", "fixtures/debug/walk.ron", "--theme", "light"]);
    let none = opened(&["--launch", "fixtures/debug/walk.ron", "--theme", "none"]);
    assert!(light.look(editing::colored) > 0);
    assert_eq!(none.look(editing::colored), 0);
}

#[test]
fn a_wrong_key_map_is_reported_with_its_place() {
    let mut pty = Pty::configured(WALK, "KeyMap(\n    commands: {\"F99\": \"continue\"},\n)");
    pty.wait_for("'F99' is not a key");
    assert!(pty.look(|screen| screen.contents().contains("keys.ron:2:")));
    assert_eq!(pty.ended(), 2);
}

#[test]
fn folders_of_source_files_are_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("source-files");
    std::fs::create_dir_all(&folder).unwrap();
    let (kernel, launch) = (folder.join("lonely.ptx"), folder.join("lonely.ron"));
    std::fs::copy("fixtures/debug/collatz.ptx", &kernel).unwrap();
    let text = std::fs::read_to_string("fixtures/debug/collatz.ron").unwrap();
    std::fs::write(&launch, text.replace("collatz.ptx", "lonely.ptx")).unwrap();
    // F3 turns to what the PTX was made from.
    let shown = |words: &[&str]| {
        let mut pty = Pty::debugger(&[&["--launch", launch.to_str().unwrap()], words].concat());
        pty.wait_for_line(&prompt(0));
        pty.send("\x1bOR");
        pty.wait_for("collatz.cu");
        pty.look(|screen| screen.contents().contains("__global__"))
    };
    assert!(!shown(&[]));
    assert!(shown(&["-I", "/nowhere", "-I", "fixtures/debug"]));
}
