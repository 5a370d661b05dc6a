//! However the program ends, the terminal is given back as it was.

use super::*;

/// Runs the debugger from a shell that says `before` and `after`.
fn in_shell(words: &str, variables: &[(&str, Option<&str>)]) -> Pty {
    let script = format!(
        "stty -a > $HOME/modes; cd $HOME; echo before; {} {words}; echo after $?; stty -a | cmp - $HOME/modes && echo modes well",
        env!("CARGO_BIN_EXE_ptxdbg")
    );
    let script = script.replace("fixtures/", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/"));
    Pty::start(&["sh", "-c", &script], variables, (80, 24))
}

fn is_given_back(pty: &Pty) {
    pty.wait_for("modes well");
    pty.look(|screen| {
        assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    });
}

#[test]
fn a_step_moves_the_panes_and_quitting_gives_the_terminal_back() {
    let mut pty = in_shell("--launch fixtures/debug/walk.ron", &[]);
    pty.wait_for_line(&prompt(0));
    assert!(pty.look(vt100::Screen::alternate_screen));
    let first = panes(&pty);
    assert!(first[0].contains("walk.ptx"), "{}", first[0]);
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
    assert_ne!(panes(&pty), first);
    pty.send("quit\r");
    is_given_back(&pty);
    // What was said stays.
    let shown = pty.look(vt100::Screen::contents);
    assert!(shown.starts_with("before\nwalk: ") && shown.contains("\n(ptxdbg t=0) stepi\nt=1 "), "{shown}");
    assert!(shown.ends_with("\n(ptxdbg t=1) quit\nafter 0\nmodes well"), "{shown}");
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_reported() {
    let mut pty = in_shell("--launch fixtures/debug/walk.ron", &[("PTXDBG_PANIC_AT", Some("echo now")), ("RUST_BACKTRACE", Some("0"))]);
    pty.wait_for_line(&prompt(0));
    pty.send("echo now\r");
    is_given_back(&pty);
    let shown = pty.look(vt100::Screen::contents);
    assert!(shown.starts_with("before\n") && shown.contains("panicked at") && shown.contains("after 101"), "{shown}");
    let said: String = shown.lines().collect();
    assert!(said.contains("the terminal is as it was, and the session is saved in ptxdbg-failed-1.ptxdbg"), "{shown}");
}

#[test]
fn ended_from_outside_it_gives_the_terminal_back() {
    for signal in ["TERM", "HUP"] {
        let mut pty = opened(WALK);
        assert!(pty.look(vt100::Screen::bracketed_paste));
        pty.send(F2);
        pty.wait("the mouse", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
        let kill = format!("kill -{signal} {}", pty.process());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_ne!(pty.ended(), 0);
        pty.wait("the terminal as it was", |screen| {
            !screen.alternate_screen() && !screen.bracketed_paste() && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
        });
    }
}

#[test]
fn control_d_leaves() {
    let mut pty = in_shell("--launch fixtures/debug/walk.ron", &[]);
    pty.wait_for_line(&prompt(0));
    pty.send("\x04");
    is_given_back(&pty);
}

#[test]
fn control_z_gives_the_terminal_back_until_it_is_continued() {
    let script =
        format!("set -m; {} --launch fixtures/debug/walk.ron; echo stopped; read line; fg; echo over", env!("CARGO_BIN_EXE_ptxdbg"));
    let mut pty = Pty::start(&["bash", "--norc", "-c", &script], &[], (80, 24));
    pty.wait_for_line(&prompt(0));
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    pty.send(CTRL_Z);
    pty.wait("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("stopped"));
    assert!(!pty.look(vt100::Screen::bracketed_paste));
    pty.resize(100, 30);
    // The shell's terminal echoes again.
    pty.send("typed to the shell");
    pty.wait_for("typed to the shell");
    pty.send("\r");
    pty.wait_for_line(&line);
    assert!(pty.look(vt100::Screen::alternate_screen));
    pty.wait("panes of the new size", |screen| {
        screen.rows(0, 100).next().is_some_and(|row| row.contains("walk.ptx") && row.chars().count() == 100)
    });
    pty.send("ly\rquit\r");
    pty.wait("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("over"));
}

#[test]
fn control_z_stops_a_run_and_browsing_too() {
    let script = format!(
        "set -m; {} fixtures/debug/endless.ptx; echo stopped; read line; fg; read line; fg; echo over",
        env!("CARGO_BIN_EXE_ptxdbg")
    );
    let mut pty = Pty::start(&["bash", "--norc", "-c", &script], &[], (80, 24));
    pty.wait_for_line(&prompt(0));
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    pty.send(CTRL_Z);
    pty.wait("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("stopped"));
    pty.send("\r");
    pty.wait("the run", |screen| screen.alternate_screen() && screen.contents().contains("Ctrl-C stops"));
    pty.send(CTRL_C);
    pty.wait_for("interrupted");
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    pty.send(CTRL_Z);
    pty.wait("the shell", |screen| !screen.alternate_screen() && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    pty.send("\r");
    pty.wait("browse mode", |screen| {
        screen.contents().contains("q back to the prompt") && screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
    });
    pty.send("q");
    pty.wait("the prompt", |screen| !screen.contents().contains("q back to the prompt"));
    pty.send("quit\r");
    pty.wait_for("over");
}

#[test]
fn a_transcript_keeps_what_was_said() {
    let mut pty = opened(WALK);
    let file = pty.owner().join("said.txt");
    pty.send(&format!("set transcript {}\r", file.display()));
    pty.send("print 6 * 7\r");
    pty.wait_for("6 * 7 = 42");
    pty.send("quit\r");
    assert_eq!(pty.ended(), 0);
    let said = std::fs::read_to_string(file).unwrap();
    assert!(said.starts_with("walk: ") && said.contains("\n(ptxdbg t=0) print 6 * 7\n6 * 7 = 42\n"), "{said}");
    assert!(said.ends_with("\n(ptxdbg t=0) quit\n"), "{said}");
}
