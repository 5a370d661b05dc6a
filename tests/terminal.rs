//! The screen in a real terminal: keys go in through a pseudo-terminal, and an emulator shows what comes out.
//!
//! A test never sleeps and hopes: it waits until the screen shows the effect of a key before it presses the next one.

#![expect(clippy::unwrap_used, reason = "a test that cannot start the program fails")]

#[path = "terminal/pty.rs"]
mod pty;

use std::time::{Duration, Instant};

use pty::{Pty, rows};

const WALK: &[&str] = &["--launch", "fixtures/debug/walk.ron"];
/// Counts forever.
const ENDLESS: &[&str] = &["fixtures/debug/endless.ptx"];

const ENTER: &str = "\r";
const F2: &str = "\x1bOQ";
const F7: &str = "\x1b[18~";
const CTRL_C: &str = "\x03";
const CTRL_L: &str = "\x0c";
const CTRL_U: &str = "\x15";
const CTRL_Z: &str = "\x1a";
const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// `(ptxdbg block 0,0,0 warp 0 lane 0 t=3) `
fn prompt(time: u64) -> String {
    format!("(ptxdbg block 0,0,0 warp 0 lane 0 t={time}) ")
}

/// The debugger at its first prompt.
fn opened(args: &[&str]) -> Pty {
    let pty = Pty::debugger(args);
    pty.wait_for_line(&prompt(0));
    pty
}

/// Rows of the panes: all but the last third.
fn panes(pty: &Pty) -> Vec<String> {
    let rows = pty.rows();
    let below = (rows.len() / 3).clamp(6, 14);
    rows[..rows.len() - below].to_vec()
}

#[test]
fn a_step_moves_the_panes_and_quitting_gives_the_terminal_back() {
    let mut pty =
        Pty::start(&["sh", "-c", &format!("echo before; {} --launch fixtures/debug/walk.ron; echo after", env!("CARGO_BIN_EXE_ptxdbg"))]);
    pty.wait_for_line(&prompt(0));
    assert!(pty.look(vt100::Screen::alternate_screen));
    let first = panes(&pty);
    assert!(first[0].contains("walk.ptx"), "{}", first[0]);
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
    assert_ne!(panes(&pty), first);
    pty.send("quit\r");
    pty.wait_for("after");
    assert!(!pty.look(vt100::Screen::alternate_screen));
    assert!(!pty.look(vt100::Screen::bracketed_paste));
    assert!(!pty.look(vt100::Screen::hide_cursor));
    assert_eq!(pty.look(vt100::Screen::contents), "before\nafter");
}

#[test]
fn a_key_is_a_command_line_and_keeps_what_was_typed() {
    let mut pty = opened(WALK);
    pty.send("print 1");
    pty.wait_for_line(&format!("{}print 1", prompt(0)));
    pty.send(F7);
    pty.wait_for_line(&format!("{}print 1", prompt(1)));
    pty.wait_for(&format!("{}stepi", prompt(0)));
    pty.send("+1\r");
    pty.wait_for("2");
}

#[test]
fn panes_keep_still_while_a_long_line_is_typed() {
    let mut pty = opened(WALK);
    let before = panes(&pty);
    let line = format!("echo {}", "0123456789".repeat(60));
    pty.send(&line);
    // 645 characters are eight rows and five columns: more than the region holds.
    pty.wait("the end of the line", |screen| screen.cursor_position() == (23, (prompt(0).len() + line.len()) as u16 % 80));
    assert_eq!(panes(&pty), before);
    pty.send(CTRL_U);
    pty.wait_for_line(&prompt(0));
    assert_eq!(panes(&pty), before);
}

#[test]
fn a_terminal_of_another_size_keeps_the_line() {
    let mut pty = opened(WALK);
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    for (columns, rows) in [(120, 40), (60, 20), (200, 60), (100, 15), (80, 24)] {
        pty.resize(columns, rows);
        pty.wait("the line in the last row, panes above", |screen| {
            let shown = pty::rows(screen);
            screen.cursor_position() == (rows - 1, line.len() as u16)
                && shown.last() == Some(&line)
                && shown.iter().filter(|row| row.contains("walk.ptx · ")).count() == 1
                && shown[0].contains("walk.ptx · ")
        });
    }
    pty.send("ly\r");
    pty.wait("the answer", |screen| screen.contents().contains("\npartially\n"));
}

#[test]
fn a_small_terminal_has_the_prompt_alone() {
    let mut pty = opened(WALK);
    pty.resize(80, 13);
    pty.wait("no panes", |screen| !screen.contents().contains("walk.ptx · ") && screen.contents().contains(prompt(0).trim_end()));
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
    pty.resize(80, 24);
    pty.wait("panes again", |screen| screen.contents().contains("walk.ptx · "));
}

#[test]
fn pasted_lines_are_executed_in_order() {
    let mut pty = opened(WALK);
    let lines: Vec<String> = (1..=12).map(|number| format!("print {number} * 1000")).collect();
    pty.send(&format!("{}{}{}", PASTE.0, lines.join("\n"), PASTE.1));
    pty.wait_for("print 12 * 1000");
    pty.send(ENTER);
    pty.wait("the last two answers", |screen| {
        let contents = screen.contents();
        let last = contents.find("print 12 * 1000\n").map(|at| &contents[at..]);
        contents.contains("11000") && last.is_some_and(|last| last.contains("12000"))
    });
}

#[test]
fn control_c_drops_the_line() {
    let mut pty = opened(WALK);
    pty.send("nonsense");
    pty.wait_for_line(&format!("{}nonsense", prompt(0)));
    pty.send(CTRL_C);
    pty.wait_for_line(&prompt(0));
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
    assert!(!pty.look(|screen| screen.contents().contains("error")));
}

#[test]
fn control_c_stops_a_run_and_what_was_typed_meanwhile_is_kept() {
    let mut pty = opened(ENDLESS);
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    pty.send("print 6 * 7\rprint 5");
    // The panes follow the run: time goes on in them.
    let first = panes(&pty);
    pty.wait("panes that move", |screen| rows(screen)[..16] != first);
    pty.send(CTRL_C);
    pty.wait("what was typed meanwhile", |screen| {
        let contents = screen.contents();
        contents.contains("interrupted") && contents.contains("42") && contents.trim_end().ends_with(") print 5")
    });
    pty.send("5\r");
    pty.wait_for("55");
}

/// Ten milliseconds on a machine with nothing else to do; the fastest of several is measured, since this one may be busy.
#[test]
fn control_c_is_quick() {
    let mut pty = opened(ENDLESS);
    let times: Vec<Duration> = (0..5).map(|_| interrupted(&mut pty)).collect();
    let fastest = times.iter().min().unwrap();
    assert!(*fastest < Duration::from_millis(60), "{times:?}");
}

/// How long it takes from Ctrl-C to the prompt.
fn interrupted(pty: &mut Pty) -> Duration {
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    let begun = Instant::now();
    pty.send(CTRL_C);
    pty.wait("a prompt", |screen| !screen.contents().contains("Ctrl-C stops"));
    begun.elapsed()
}

#[test]
fn browse_mode_has_the_whole_screen_and_keeps_the_line() {
    let mut pty = opened(WALK);
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    pty.send(F2);
    pty.wait("browse mode", |screen| {
        screen.contents().contains("q back to the prompt") && screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
    });
    pty.send(F7);
    pty.wait_for("t=1 ");
    // The wheel scrolls, and types nothing.
    let before = pty.rows();
    pty.send("\x1b[<65;10;5M");
    pty.wait("panes that scroll", |screen| rows(screen) != before);
    pty.send("q");
    pty.wait_for_line(&format!("{}echo partial", prompt(1)));
    assert!(pty.look(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None));
    pty.send("ly\r");
    pty.wait("the answer", |screen| screen.contents().contains("\npartially\n"));
}

#[test]
fn candidates_are_shown_above_the_line_and_go_away() {
    let mut pty = opened(WALK);
    let before = panes(&pty);
    pty.send("info \t");
    pty.wait("candidates", |screen| screen.contents().contains("breakpoints") && screen.contents().contains("registers"));
    pty.wait_for_line(&format!("{}info ", prompt(0)));
    pty.send("lo\t");
    pty.wait_for_line(&format!("{}info locals ", prompt(0)));
    pty.wait("the panes again", |screen| rows(screen)[..16] == before);
}

#[test]
fn control_l_draws_everything_anew() {
    let mut pty = opened(WALK);
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    let before = pty.rows();
    pty.look(|screen| assert!(screen.cursor_position() == (23, line.len() as u16)));
    pty.send(CTRL_L);
    pty.send("!");
    pty.wait_for_line(&format!("{line}!"));
    assert_eq!(pty.rows()[..23], before[..23]);
}

#[test]
fn a_question_is_asked_in_the_region() {
    let mut pty = opened(WALK);
    pty.send("continue\r");
    pty.wait("the end of the run", |screen| screen.contents().contains("finished") || screen.contents().contains("ended"));
    pty.send("goto 3\r");
    pty.wait_for_line(&prompt(3));
    pty.send("set %r1 = 5\r");
    pty.wait_for("(y or n)");
    // Keys of the panes wait until it is answered.
    pty.send(F7);
    pty.send("n\r");
    pty.wait_for_line(&prompt(3));
}

#[test]
fn control_z_gives_the_terminal_back_until_it_is_continued() {
    let script =
        format!("set -m; {} --launch fixtures/debug/walk.ron; echo stopped; read line; fg; echo over", env!("CARGO_BIN_EXE_ptxdbg"));
    let mut pty = Pty::start(&["bash", "--norc", "-c", &script]);
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
fn ended_from_outside_it_gives_the_terminal_back() {
    let mut pty = opened(WALK);
    assert!(pty.look(vt100::Screen::bracketed_paste));
    let kill = format!("kill -TERM {}", pty.process());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_ne!(pty.ended(), 0);
    pty.wait("the terminal as it was", |screen| !screen.alternate_screen() && !screen.bracketed_paste());
}

#[test]
fn plain_means_no_screen() {
    let mut pty = opened(&["--launch", "fixtures/debug/walk.ron", "--plain"]);
    assert!(!pty.look(vt100::Screen::alternate_screen));
    pty.send("layout next\r");
    pty.wait_for("there is no screen here");
    pty.send("quit\r");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn layouts_are_changed_and_saved() {
    let mut pty = opened(WALK);
    pty.send("layout nowhere\r");
    pty.wait_for("there is no layout 'nowhere'");
    pty.send("save layout mine\r");
    pty.wait_for("layout written to");
    pty.send("layout mine\r");
    pty.wait("a prompt", |screen| screen.contents().matches("layout mine").count() > 0);
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
}
