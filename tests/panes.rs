//! The panes as they are drawn: what stands in `fixtures/screens` was read and judged before it was kept.

#![cfg(feature = "tui")]
#![allow(clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

mod screen;

use ptxdbg::debug::session::Session;
use ptxdbg::ui::tui::keymap::KeyMap;
use ptxdbg::ui::tui::layout::Layout;
use ptxdbg::ui::tui::screen::Screen;
use ptxdbg::ui::tui::theme::Theme;
use screen::{assert_screen, drawn, session, styles, text};

/// A screen of one pane.
fn alone(pane: &str, theme: &str) -> Screen {
    let layout = Layout::parse("test.ron", format!("Layout(root: Pane({pane}))")).unwrap();
    Screen::new(layout, Theme::named(theme).unwrap(), KeyMap::shipped())
}

/// Holds one pane to its file: its text, and below the styles of the dark theme and of the one without colours.
#[track_caller]
fn assert_pane(name: &str, pane: &str, session: &Session, (width, height): (u16, u16)) {
    let dark = drawn(&mut alone(pane, "dark"), session, width, height);
    let plain = drawn(&mut alone(pane, "none"), session, width, height);
    assert_eq!(text(&dark), text(&plain), "a theme changes no text");
    assert_screen(name, &format!("{}\n{}\n{}", text(&dark), styles(&dark), styles(&plain)));
}

/// Warp 0 of `walk` in its loop: lanes 4n have left it, lanes 4n+1 are about to, others go round again.
fn walking() -> Session {
    session("debug/walk.ron", &["break 22", "break 36", "disable 2", "continue", "stepi", "goto 45", "stepi"])
}

#[test]
fn source() {
    assert_pane("source.txt", "Source", &walking(), (100, 20));
}

#[test]
fn registers_of_a_lane() {
    assert_pane("registers.txt", "Registers()", &walking(), (76, 10));
}

#[test]
fn registers_of_a_warp() {
    assert_pane("registers_warp.txt", "Registers(of: Warp)", &walking(), (100, 18));
}
