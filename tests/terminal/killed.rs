//! The terminal is given back whatever ends the program, even what it cannot see coming.

use super::*;

/// The debugger under a shell that waits until the terminal's modes are what they were, and a moment longer: the screen follows them.
fn in_shell(words: &str, variables: &[(&str, Option<&str>)]) -> Pty {
    let script = format!(
        "trap : INT; stty -a > $HOME/modes; echo before; sh -c 'echo $$ > $HOME/pid; exec {} {words}' 2> $HOME/errors; echo after $?; \
         until stty -a | cmp -s - $HOME/modes; do sleep 0.01; done; sleep 0.1; echo modes well; read line; echo $line",
        env!("CARGO_BIN_EXE_ptxdbg")
    );
    Pty::start(&["sh", "-c", &script], variables, (80, 24))
}

#[track_caller]
fn is_given_back(pty: &mut Pty) {
    pty.wait_for("modes well");
    pty.wait("the terminal as it was", |screen| {
        !screen.alternate_screen()
            && !screen.bracketed_paste()
            && !screen.hide_cursor()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
    // What is typed is echoed, and scrolls.
    pty.send("typed to the shell\r");
    pty.wait("an echo and an answer", |screen| screen.contents().matches("typed to the shell").count() == 2);
    pty.wait("the end of the restorer", |_| restorers(pty).is_empty());
}

/// The restorers of a terminal.
fn restorers(pty: &Pty) -> Vec<String> {
    let owner = pty.owner().to_str().unwrap().to_string();
    let has = |path: std::path::PathBuf, what: &str| {
        std::fs::read(path).is_ok_and(|bytes| bytes.windows(what.len()).any(|window| window == what.as_bytes()))
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = processes.filter(|path| has(path.join("cmdline"), "__restore-terminal") && has(path.join("environ"), &owner));
    ours.map(|path| path.display().to_string()).collect()
}

fn kill(pty: &Pty, signal: &str) {
    let pid = std::fs::read_to_string(pty.owner().join("pid")).unwrap();
    let kill = format!("kill -{signal} {pid}");
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

const SIGNALS: &[&str] = &["KILL", "ABRT", "ALRM", "QUIT", "USR1", "USR2", "TERM", "HUP"];

#[test]
fn killed_at_the_prompt() {
    for (signal, words) in SIGNALS.iter().flat_map(|signal| [(signal, ""), (signal, "--plain")]) {
        let mut pty = in_shell(&format!("--launch fixtures/debug/walk.ron {words}"), &[]);
        wait_for_any_prompt(&pty, 0);
        pty.send("print 1");
        pty.wait_for("print 1");
        pty.wait("one restorer", |_| restorers(&pty).len() == 1);
        kill(&pty, signal);
        is_given_back(&mut pty);
    }
}

#[test]
fn killed_while_the_kernel_runs_and_while_browsing() {
    let mut pty = in_shell("fixtures/debug/endless.ptx", &[]);
    pty.wait_for_line(&prompt(0));
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    kill(&pty, "KILL");
    is_given_back(&mut pty);
    let mut pty = in_shell("--launch fixtures/debug/walk.ron", &[]);
    pty.wait_for_line(&prompt(0));
    pty.send(F2);
    pty.wait("the mouse", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
    kill(&pty, "KILL");
    is_given_back(&mut pty);
    let mut pty = in_shell("--plain fixtures/debug/endless.ptx", &[]);
    pty.wait_for_line(&long_prompt(0));
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    kill(&pty, "KILL");
    is_given_back(&mut pty);
}

#[test]
fn a_stack_that_overflows() {
    for words in ["", "--plain"] {
        let mut pty = in_shell(&format!("--launch fixtures/debug/walk.ron {words}"), &[("PTXDBG_OVERFLOW_AT", Some("echo now"))]);
        wait_for_any_prompt(&pty, 0);
        pty.send("echo now\r");
        is_given_back(&mut pty);
        let described = std::fs::read_to_string(pty.owner().join("errors")).unwrap();
        assert!(described.contains("overflowed its stack"), "{described}");
    }
}

/// What the terminal sends to its processes ends no restorer.
#[test]
fn keys_of_the_terminal_leave_the_restorer_alone() {
    let mut pty = in_shell("--plain fixtures/debug/endless.ptx", &[]);
    pty.wait_for_line(&long_prompt(0));
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    pty.send(CTRL_C);
    pty.wait_for("interrupted");
    pty.wait("one restorer", |_| restorers(&pty).len() == 1);
    pty.send("quit\r");
    is_given_back(&mut pty);
}
