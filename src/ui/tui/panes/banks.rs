//! The banks pane: which of the 32 banks of shared memory each lane touches with the instruction that it executes next, and what would
//! spare conflicts.

use super::context::{DrawContext, ViewState};
use crate::debug::view::{BANKS, BankView, banks};
use crate::ui::tui::canvas::{Canvas, fitted};
use crate::ui::tui::theme::Role;

/// The width of a bank where the lanes have room.
const CELL: usize = 3;
/// The most rows of words of a bank.
const WORDS_MAX: usize = 8;

/// The rows that the pane can fill: the heading, the words of the fullest bank, and the remedies.
pub(super) fn rows(view: &BankView) -> usize {
    1 + depth(view).min(WORDS_MAX) + view.remedies.len()
}

/// The number of words in the fullest bank.
fn depth(view: &BankView) -> usize {
    view.banks.iter().map(Vec::len).max().unwrap_or(0).max(1)
}

/// Draws the pane; returns its title.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let Some(view) = banks(&context.session.eval_context()) else {
        canvas.placeholder("the instruction that the focused warp executes next accesses no shared memory by an address of each lane");
        return "banks".to_string();
    };
    let wide = canvas.width() > BANKS * CELL;
    let rows = if wide { draw_lanes(&view, view_state, canvas) } else { draw_counts(&view, canvas) };
    for (y, remedy) in (rows..).zip(&view.remedies) {
        let room = canvas.width().saturating_sub(2);
        let text = format!("{}: {}", passes(remedy.passes), remedy.what);
        canvas.text(1, y, fitted(&text, room).trim_end(), Role::Name);
    }
    let verdict = match view.passes > view.ideal {
        true => format!("{} instead of {}", passes(view.passes), view.ideal),
        false => format!("no conflict, {}", passes(view.passes)),
    };
    format!("banks · {verdict} · {}", view.statement)
}

fn passes(count: usize) -> String {
    if count == 1 { "1 pass".to_string() } else { format!("{count} passes") }
}

/// A column for each bank with the first lane of each word in it, `+` after it if there are more; returns the number of rows.
fn draw_lanes(view: &BankView, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> usize {
    let room = canvas.height().saturating_sub(1 + view.remedies.len());
    let window = view_state.window(depth(view), room);
    for (bank, words) in view.banks.iter().enumerate() {
        let x = bank * CELL;
        canvas.text(x, 0, &format!("{bank:>2}"), Role::Dim);
        for (y, index) in window.clone().enumerate() {
            let (text, role) = match words.get(index) {
                None if index == 0 => (" ·".to_string(), Role::Dim),
                None => continue,
                Some((_, lanes)) => {
                    let more = if lanes.count() > 1 { "+" } else { " " };
                    (format!("{:>2}{more}", lanes.first()), if words.len() > 1 { Role::Bad } else { Role::Lanes })
                }
            };
            canvas.text(x, y + 1, &text, role);
        }
    }
    window.len() + 1
}

/// A cell for each bank with the number of words in it; returns the number of rows.
fn draw_counts(view: &BankView, canvas: &mut Canvas<'_>) -> usize {
    canvas.text(1, 0, "0       8       16      24      ", Role::Dim);
    for (bank, words) in view.banks.iter().enumerate() {
        let (text, role) = match words.len() {
            0 => ("·".to_string(), Role::Dim),
            1 => ("█".to_string(), Role::Lanes),
            count @ 2..=9 => (count.to_string(), Role::Bad),
            _ => ("#".to_string(), Role::Bad),
        };
        canvas.text(bank + 1, 1, &text, role);
    }
    2
}
