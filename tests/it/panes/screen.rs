//! Sessions brought to a place by commands, and their screens as text.

use std::path::Path;

use ptxdbg::command::{CommandState, Context, execute};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::ui::tui::screen::Screen;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The session about a fixture after these commands.
pub fn session(fixture: &str, lines: &[&str]) -> Session {
    session_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture), lines)
}

/// The session about a launch file after these commands.
pub fn session_at(launch: &Path, lines: &[&str]) -> Session {
    let launch = LaunchChoice::File(launch.to_path_buf());
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap();
    let mut session = Session::new(opened, 0, RunOptions::unwatched()).unwrap();
    type_lines(&mut session, lines);
    session
}

/// Executes commands.
pub fn type_lines(session: &mut Session, lines: &[&str]) {
    let mut state = CommandState::default();
    for line in lines {
        let mut context = Context { session, state: &mut state, interrupt: &mut NeverInterrupt, confirmed: true };
        execute(line, &mut context).unwrap_or_else(|error| panic!("{line}: {}", error.message));
    }
}

/// The screen as it is drawn.
pub fn drawn(screen: &mut Screen, session: &Session, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    screen.draw(session, area, &mut buffer);
    buffer
}

/// The characters of a buffer, without blanks at the ends of lines.
pub fn text(buffer: &Buffer) -> String {
    let row = |y| {
        let cells = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_string() + "\n"
    };
    (0..buffer.area.height).map(row).collect()
}

/// A letter for the style of each cell, and what the letters mean: `.` is the style of ordinary text.
pub fn styles(buffer: &Buffer) -> String {
    let mut known: Vec<String> = vec!["Reset on Reset".to_string()];
    let mut described = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        for x in 0..buffer.area.width {
            let name = style(buffer, (x, y));
            let at = known.iter().position(|other| *other == name).unwrap_or_else(|| {
                known.push(name);
                known.len() - 1
            });
            row.push(if at == 0 { '.' } else { (b'a' + at as u8 - 1) as char });
        }
        described += row.trim_end_matches('.');
        described.push('\n');
    }
    let legend = known.iter().enumerate().skip(1).map(|(at, name)| format!("{}: {name}\n", (b'a' + at as u8 - 1) as char));
    described + &legend.collect::<String>()
}

fn style(buffer: &Buffer, at: (u16, u16)) -> String {
    let cell = &buffer[at];
    let modifier = if cell.modifier.is_empty() { String::new() } else { format!(" {:?}", cell.modifier) };
    format!("{:?} on {:?}{modifier}", cell.fg, cell.bg)
}

/// Holds a text to the file of that name below `fixtures/screens`; `PTXDBG_BLESS=1` writes the file anew.
#[track_caller]
pub fn assert_screen(name: &str, shown: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens").join(name);
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(&path, shown).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == shown, "{name} differs; PTXDBG_BLESS=1 writes it anew: read it before you keep it. Shown is\n{shown}");
}
