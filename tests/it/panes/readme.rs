//! The screens that README.md shows are those that are drawn. `PTXDBG_BLESS=1 cargo test --test it panes::` writes them anew.

use std::path::Path;

use crate::panes::screen::{drawn, session, text};
use ptxdbg::debug::session::Session;
use ptxdbg::ui::tui::keymap::KeyMap;
use ptxdbg::ui::tui::layout::Layout;
use ptxdbg::ui::tui::layout::layouts::SHIPPED;
use ptxdbg::ui::tui::screen::Screen;
use ptxdbg::ui::tui::theme::Theme;

/// Columns and rows of a screen.
const SIZE: (u16, u16) = (120, 36);

#[test]
fn the_readme_shows_real_screens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let mut readme = written.clone();
    for (name, session) in [("default", collatz()), ("divergence", nbody()), ("async", ring())] {
        readme = with_screen(&readme, name, &screen(name, &session));
    }
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(&path, &readme).unwrap();
        return;
    }
    assert!(
        written == readme,
        "README.md shows other screens; PTXDBG_BLESS=1 writes it anew: read it before you keep it. Drawn is\n{readme}"
    );
}

/// The loop of `collatz`: some lanes have multiplied, some have halved and wait, some are done.
fn collatz() -> Session {
    session("debug/collatz.ron", &["run-to divergence", "display %r18@*", "break 96", "continue", "continue", "continue"])
}

/// The energy of `nbody_step`: lanes without a body of their own have left the loop.
fn nbody() -> Session {
    session("programs/nbody_step.ron", &["run-to divergence", "stepi 12"])
}

/// The ring that hangs, its warps named by what they do.
fn ring() -> Session {
    session("debug/ring.ron", &["continue", "role auto"])
}

fn screen(layout: &str, session: &Session) -> String {
    let (_, file) = SHIPPED.iter().find(|(name, _)| *name == layout).unwrap();
    let mut screen = Screen::new(Layout::parse(layout, file.to_string()).unwrap(), Theme::default(), KeyMap::shipped());
    text(&drawn(&mut screen, session, SIZE.0, SIZE.1))
}

/// The text with another screen between the marks of that name.
fn with_screen(readme: &str, name: &str, screen: &str) -> String {
    let (begin, end) = (format!("<!-- screen {name} -->\n"), format!("<!-- end of screen {name} -->"));
    let (before, rest) = readme.split_once(&begin).unwrap_or_else(|| panic!("README.md has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("README.md has no {end}"));
    format!("{before}{begin}```text\n{screen}```\n{end}{after}")
}
