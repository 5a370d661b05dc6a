//! The timeline pane: the recorded time as a bar, with the current time, marks and stops. A click goes to a time; so does choosing the time
//! of the cursor.

use super::context::{DrawContext, ViewState};
use crate::base::Tick;
use crate::debug::findings::FindingText;
use crate::debug::session::Session;
use crate::debug::timeline::End;
use crate::ui::text::grouped;
use crate::ui::tui::canvas::{Canvas, Target, width};
use crate::ui::tui::theme::Role;

/// The minimum width of a bar in the title.
const BAR_MIN: usize = 12;

/// Draws the pane; returns its title, which contains the bar if the pane has no rows.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let session = context.session;
    view_state.in_title.clear();
    let findings = match session.findings().len() {
        0 => String::new(),
        1 => "1 finding · ".to_string(),
        count => format!("{count} findings · "),
    };
    let described = format!("{findings}time {} of {}{}", grouped(session.time()), grouped(session.recorded()), ending(session));
    if canvas.height() > 0 {
        let room = canvas.width().saturating_sub(4);
        let cursor = cursor(session, view_state, room);
        draw_bar(session, cursor.map(|(cell, _)| cell), canvas);
        return described + &cursor.map_or(String::new(), |(_, time)| format!(" · cursor at {}", grouped(time)));
    }
    let room = canvas.width().saturating_sub(width(&described) + 7);
    if room < BAR_MIN {
        return described;
    }
    let cursor = cursor(session, view_state, room);
    let bar: String = cells(session, cursor.map(|(cell, _)| cell), room).into_iter().map(|(glyph, _)| glyph).collect();
    let first = width(&described) + 2;
    view_state.in_title.extend((0..room).map(|cell| (first + cell, format!("goto {}", time_at(session, cell, room)))));
    format!("{described} ▕{bar}▏{}", cursor.map_or(String::new(), |(_, time)| format!(" {}", grouped(time))))
}

/// The cell to which the user moved the cursor, and its time; `None` if the cursor was not moved. Sets the command for choosing it.
fn cursor(session: &Session, view_state: &mut ViewState, room: usize) -> Option<(usize, Tick)> {
    let (now, last) = (cell_of(session, session.time(), room) as i64, room.saturating_sub(1) as i64);
    let cell = now.saturating_add(view_state.right).saturating_add(view_state.down).min(last).max(0);
    (view_state.right, view_state.down, view_state.page) = (cell - now, 0, (last / 10).max(1));
    let time = time_at(session, usize::try_from(cell).unwrap_or(0), room);
    view_state.choice = (cell != now).then(|| format!("goto {time}"));
    (cell != now).then_some((usize::try_from(cell).unwrap_or(0), time))
}

fn ending(session: &Session) -> String {
    match session.ended() {
        None => " recorded so far".to_string(),
        Some(End::Done) => ", finished".to_string(),
        Some(End::Fault(fault)) => format!(", ends with {}", fault.id.word()),
        Some(End::Broken(_)) => ", cannot go on".to_string(),
    }
}

fn draw_bar(session: &Session, cursor: Option<usize>, canvas: &mut Canvas<'_>) {
    let room = canvas.width().saturating_sub(4);
    canvas.text(1, 0, "▕", Role::Dim);
    for (x, (glyph, role)) in cells(session, cursor, room).into_iter().enumerate() {
        canvas.text(2 + x, 0, glyph, role);
        let time = time_at(session, x, room);
        canvas.on_click((2 + x, 0, 1), Target::Command(format!("goto {time}")));
    }
    canvas.text(2 + room, 0, "▏", Role::Dim);
    let mut end = 0;
    for (name, mark) in session.marks.by_time() {
        let x = 2 + cell_of(session, mark.time, room);
        if x >= end {
            end = canvas.text(x, 1, &format!("▴{name}"), Role::Name) + 1;
            canvas.on_click((x, 1, end - x), Target::Command(format!("goto {name}")));
        }
    }
}

/// The bar: `━` before the current time, `●` the current time, `─` after it, `▴` marks, `┃` stops, `✖` findings, `◇` the cursor.
fn cells(session: &Session, cursor: Option<usize>, room: usize) -> Vec<(&'static str, Role)> {
    let now = cell_of(session, session.time(), room);
    let mut cells: Vec<_> = (0..room).map(|x| if x < now { ("━", Role::Lanes) } else { ("─", Role::Dim) }).collect();
    let mut put = |time, cell| {
        if let Some(old) = cells.get_mut(cell_of(session, time, room)) {
            *old = cell;
        }
    };
    session.navigation().iter().for_each(|time| put(*time, ("┃", Role::Dim)));
    session.marks.by_time().iter().for_each(|(_, mark)| put(mark.time, ("▴", Role::Name)));
    session.findings().iter().filter_map(FindingText::site).for_each(|site| put(site.time, ("✖", Role::Bad)));
    if matches!(session.ended(), Some(End::Fault(_) | End::Broken(_))) {
        put(session.recorded(), ("✖", Role::Bad));
    }
    put(session.time(), ("●", Role::Lanes));
    if let Some(cell) = cursor.and_then(|index| cells.get_mut(index)) {
        *cell = ("◇", Role::Cursor);
    }
    cells
}

/// The cell, of `room` cells, that contains a time.
fn cell_of(session: &Session, time: Tick, room: usize) -> usize {
    let last = room.saturating_sub(1) as u128;
    let recorded = u128::from(session.recorded().0).max(1);
    (u128::from(time.0).min(recorded) * last / recorded) as usize
}

/// A time in a cell.
fn time_at(session: &Session, cell: usize, room: usize) -> Tick {
    let last = (room.saturating_sub(1) as u128).max(1);
    Tick((cell as u128 * u128::from(session.recorded().0) / last) as u64)
}
