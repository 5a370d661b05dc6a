//! The screen in a real terminal: keys go in through a pseudo-terminal, and an emulator shows what comes out.
//!
//! A test never sleeps and hopes: it waits until the screen shows the effect of a key before it presses the next one.

#![cfg(feature = "tui")]
#![expect(clippy::unwrap_used, reason = "a test that cannot start the program fails")]

mod browsing;
mod editing;
mod hostile;
mod keys;
mod killed;
mod leaving;
mod plain;
mod pty;
mod running;
mod sizes;

use pty::{Pty, rows};

const WALK: &[&str] = &["--launch", "fixtures/debug/walk.ron"];
/// Counts forever.
const ENDLESS: &[&str] = &["fixtures/debug/endless.ptx"];

const ENTER: &str = "\r";
const F2: &str = "\x1bOQ";
const F7: &str = "\x1b[18~";
const CTRL_A: &str = "\x01";
const CTRL_C: &str = "\x03";
const CTRL_G: &str = "\x07";
const CTRL_L: &str = "\x0c";
const CTRL_R: &str = "\x12";
const CTRL_U: &str = "\x15";
const CTRL_Z: &str = "\x1a";
const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// `(ptxdbg t=3) `, the prompt below the panes.
fn prompt(time: u64) -> String {
    format!("(ptxdbg t={time}) ")
}

/// `(ptxdbg block 0,0,0 warp 0 lane 0 t=3) `, the prompt where there are no panes.
fn long_prompt(time: u64) -> String {
    format!("(ptxdbg block 0,0,0 warp 0 lane 0 t={time}) ")
}

/// Waits for the prompt, with panes or without.
fn wait_for_any_prompt(pty: &Pty, time: u64) {
    pty.wait("the prompt", |screen| {
        let contents = screen.contents();
        contents.lines().last().is_some_and(|row| row.starts_with("(ptxdbg ") && row.trim_end().ends_with(&format!("t={time})")))
    });
}

/// The debugger at its first prompt.
fn opened(args: &[&str]) -> Pty {
    let pty = Pty::debugger(args);
    pty.wait_for_line(&if args.contains(&"--plain") { long_prompt(0) } else { prompt(0) });
    pty
}

/// Rows of the panes: all but the last fifth.
fn panes(pty: &Pty) -> Vec<String> {
    pty.look(pane_rows)
}

fn pane_rows(screen: &vt100::Screen) -> Vec<String> {
    let rows = rows(screen);
    let below = (rows.len() / 5).clamp(5, 12);
    rows[..rows.len().saturating_sub(below)].to_vec()
}
