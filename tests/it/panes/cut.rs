//! What does not fit is marked: no number and no name ends at the edge of a pane before its end.

use std::collections::BTreeSet;

use crate::panes::screen::{drawn, session};
use ptxdbg::debug::session::Session;
use ptxdbg::ui::tui::keymap::KeyMap;
use ptxdbg::ui::tui::layout::Layout;
use ptxdbg::ui::tui::layout::layouts::SHIPPED;
use ptxdbg::ui::tui::screen::Screen;
use ptxdbg::ui::tui::theme::Theme;
use ratatui::buffer::Buffer;

/// Kernels of compilers with many blocks, wide tiles, calls and barriers, each where its panes are full.
const PLACES: [(&str, &[&str]); 5] = [
    ("programs/sgemm_reg.ron", &["break 300", "continue", "display %r5"]),
    ("programs/nbody_step.ron", &["run-to divergence", "next 3"]),
    ("programs/vm_calls.ron", &["break op call*", "continue", "stepi 4"]),
    ("programs/mbar_pipeline.ron", &["goto launch 2", "run-to mbarrier wait"]),
    ("programs/lu_pivot.ron", &["stepi 2000"]),
];

/// What stands in a list of blocks and not in a graph.
const OF_LISTS: [&str; 1] = ["end"];

fn is_of_token(c: char) -> bool {
    c.is_alphanumeric() || "_.%$+-".contains(c)
}

/// A word without the points after it: only letters and digits are marked where they are lost.
fn plain(token: &str) -> &str {
    token.trim_end_matches(['.', '-', '+'])
}

/// The rows of a screen, each as its characters.
fn rows(buffer: &Buffer) -> Vec<Vec<char>> {
    let cell = |x, y| buffer[(x, y)].symbol().chars().next().unwrap_or(' ');
    (0..buffer.area.height).map(|y| (0..buffer.area.width).map(|x| cell(x, y)).collect()).collect()
}

/// The words and numbers that end at the right edge of a pane.
fn at_edges(buffer: &Buffer) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for row in rows(buffer) {
        for (x, c) in row.iter().enumerate() {
            let is_edge = row.get(x + 1).is_none_or(|next| "│┤├┼".contains(*next));
            if c.is_alphanumeric() && is_edge {
                let start = row[..=x].iter().rposition(|c| !is_of_token(*c)).map_or(0, |before| before + 1);
                found.insert(plain(&row[start..=x].iter().collect::<String>()).to_string());
            }
        }
    }
    found
}

/// The words and numbers of a screen.
fn tokens(buffer: &Buffer) -> BTreeSet<String> {
    let text: String = rows(buffer).into_iter().map(|row| row.into_iter().collect::<String>() + "\n").collect();
    text.split(|c| !is_of_token(c)).map(plain).filter(|token| !token.is_empty()).map(str::to_string).collect()
}

fn screen(text: &str, session: &Session, (width, height): (u16, u16)) -> Buffer {
    let mut screen = Screen::new(Layout::parse("test.ron", text.to_string()).unwrap(), Theme::default(), KeyMap::shipped());
    drawn(&mut screen, session, width, height)
}

#[test]
fn no_number_and_no_name_is_cut_without_a_mark() {
    let (mut checked, mut cut) = (0, BTreeSet::new());
    for (fixture, lines) in PLACES {
        let session = session(fixture, lines);
        for (name, layout) in SHIPPED {
            // Where all fits, it stands whole; a number that is rounded to its cell has a point or an exponent.
            let whole = tokens(&screen(layout, &session, (700, 400)));
            for size in (72..=200).step_by(8).map(|width| (width, width / 4)) {
                for token in at_edges(&screen(layout, &session, size)) {
                    let is_rounded = token.contains('.') || token.contains('e') && token.parse::<f64>().is_ok();
                    if !is_rounded && !whole.contains(&token) && !OF_LISTS.contains(&token.as_str()) {
                        cut.insert(format!("{fixture} {name} {size:?}: {token}"));
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(cut.is_empty(), "{cut:#?}");
    assert!(checked > 100, "{checked} words at edges");
}
