//! What it costs to draw the screen after a step: every shipped layout at 200 by 60 cells, on a kernel of 2,000 registers with 64 blocks
//! of 32 warps. Drawing, comparing with the screen before and encoding what differs must take less than 2 ms.
//!
//! `cargo bench --bench screen`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

#[path = "../tests/it/look/wide.rs"]
mod wide;

use std::path::Path;
use std::time::{Duration, Instant};

use ptxdbg::command::{CommandState, Context, execute};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::ui::tui::keymap::KeyMap;
use ptxdbg::ui::tui::layout::Layout;
use ptxdbg::ui::tui::layout::layouts::SHIPPED;
use ptxdbg::ui::tui::panes::PANES;
use ptxdbg::ui::tui::screen::Screen;
use ptxdbg::ui::tui::theme::Theme;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The size of the screen.
const AREA: Rect = Rect { x: 0, y: 0, width: 200, height: 60 };

/// Steps after each of which the screen is drawn.
const STEPS: usize = 200;

fn main() {
    let launch = wide::wide_kernel(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    println!("{:<12} {:>10} {:>10} {:>10} {:>10}", "layout", "median", "99 %", "longest", "bytes");
    for (name, text) in SHIPPED {
        measure(name, text, &launch);
    }
    println!("\n{:<12} alone", "pane");
    for (name, _) in PANES {
        let options = if matches!(name, "Source" | "Original" | "Registers" | "Memory") { "()" } else { "" };
        measure(name, &format!("Layout(root: Pane({name}{options}))"), &launch);
    }
}

fn measure(name: &str, layout: &str, launch: &Path) {
    let mut session = session(launch);
    let layout = Layout::parse(name, layout.to_string()).unwrap();
    let mut screen = Screen::new(layout, Theme::default(), KeyMap::shipped());
    let mut before = Buffer::empty(AREA);
    let mut drawn: Vec<(Duration, usize)> = (0..STEPS).map(|_| draw_after_step(&mut session, &mut screen, &mut before)).collect();
    let bytes = drawn.iter().map(|(_, bytes)| bytes).sum::<usize>() / STEPS;
    drawn.sort_unstable();
    let millis = |at: usize| format!("{:.2} ms", drawn[at].0.as_secs_f64() * 1e3);
    println!("{name:<12} {:>10} {:>10} {:>10} {bytes:>10}", millis(STEPS / 2), millis(STEPS * 99 / 100), millis(STEPS - 1));
}

fn session(launch: &Path) -> Session {
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(launch.to_path_buf()), overrides: Overrides::default() };
    let mut session = Session::new(open(&request).unwrap(), 0, RunOptions::unwatched()).unwrap();
    type_line(&mut session, "stepi 60");
    session
}

fn type_line(session: &mut Session, line: &str) {
    let mut context = Context { session, state: &mut CommandState::default(), interrupt: &mut NeverInterrupt, confirmed: true };
    execute(line, &mut context).unwrap_or_else(|error| panic!("{line}: {}", error.message));
}

/// Steps, draws, and encodes what differs from `before`: how long all but the step took, and how many bytes go to the terminal.
fn draw_after_step(session: &mut Session, screen: &mut Screen, before: &mut Buffer) -> (Duration, usize) {
    type_line(session, "stepi");
    let begun = Instant::now();
    let mut now = Buffer::empty(AREA);
    screen.draw(session, AREA, &mut now);
    let mut bytes = Vec::new();
    CrosstermBackend::new(&mut bytes).draw(before.diff(&now).into_iter()).unwrap();
    let took = begun.elapsed();
    *before = now;
    (took, bytes.len())
}
