//! Panes that show a table: stack, locals, barriers, mbarriers, copies in flight, breakpoints, displays.

use super::context::{DrawContext, ViewState};
use super::words::visible_range;
use crate::debug::breakpoints::{BreakpointRow, breakpoint_rows};
use crate::debug::display::shown;
use crate::debug::focus::ThreadFilter;
use crate::debug::value::Shown;
use crate::debug::view;
use crate::ui::text::table::Table;
use crate::ui::text::{asynchronous, frames, in_flight, threads};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// Blanks between columns.
const GAP: usize = 2;

/// Draws the call stack of the focused lane. A click selects a frame.
pub fn stack(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let frames = view::backtrace(&context.session.eval_context(), usize::MAX);
    let (title, table) = titled("stack", frames.map(|stack| frames::stack(&stack, false)).map_err(|error| error.to_string()));
    let rest = listing(&table, view_state, canvas, &|row| Some(format!("frame {row}")));
    title + &rest
}

/// Draws the variables and parameters of the selected frame; those without a value here are named in a line below. A click shows the last
/// write of one.
pub fn locals(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let eval_context = context.session.eval_context();
    let mut locals = view::locals(&eval_context, None).map_err(|error| error.to_string());
    locals
        .iter_mut()
        .flatten()
        .for_each(|row| row.note_unwritten(&eval_context, &|memory, bytes| context.session.unwritten_in_kernel(memory, bytes)));
    let (rows, without): (Vec<_>, Vec<_>) = locals.iter().flatten().cloned().partition(|row| row.value.is_ok());
    let names: Vec<&str> = without.iter().map(|row| row.name.as_str()).collect();
    let (title, mut table) = titled("locals", locals.map(|_| frames::locals(&rows)));
    if !names.is_empty() {
        table.note = Some(format!("without a value here: {}", names.join(" ")));
    }
    let command = |row: usize| Some(format!("last {}", rows.get(row)?.name));
    title + &listing(&table, view_state, canvas, &command)
}

/// Draws the named barriers of the focused block, with the threads that have arrived and those that are missing.
pub fn sync(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let barriers = view::barriers(&context.session.eval_context(), &ThreadFilter::default());
    let (title, table) = titled("sync", barriers.map(|rows| threads::barriers(&rows)).map_err(|error| error.to_string()));
    title + &listing(&table, view_state, canvas, &|_| None)
}

/// Draws the mbarriers of the focused block, each with the threads that wait for it. A click shows one in detail.
pub fn mbarriers(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let views = view::mbarrier_views(&context.session.eval_context());
    let names: Vec<String> = views.iter().flatten().map(|view| view.name.clone()).collect();
    let (title, table) = titled("mbarriers", views.map(|views| asynchronous::mbarriers(&views)).map_err(|error| error.to_string()));
    let command = |row: usize| Some(format!("info mbarriers {}", names.get(row)?));
    title + &listing(&table, view_state, canvas, &command)
}

/// Draws the copies in flight and their commit groups. A click goes to the time when one was issued.
pub fn copies(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let view = view::copies(&context.session.eval_context(), &ThreadFilter::default());
    let command = |row: usize| Some(format!("goto {}", view.rows.get(row)?.issued));
    let rest = listing(&in_flight::in_flight(&view), view_state, canvas, &command);
    format!("in flight{rest}")
}

/// Draws breakpoints, watchpoints and catchpoints. A click enables or disables one.
pub fn breakpoints(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let rows = breakpoint_rows(
        &context.session.breakpoints,
        context.session.program(),
        context.session.debug_data(),
        context.session.source_texts(),
    );
    let mut table = Table::new(&["", ">#", "what", ">hits", "at", ""]);
    for row in &rows {
        let mark = if row.enabled { "●" } else { "○" };
        let place = row.locations.first();
        let others = if row.locations.len() > 1 { format!(" and {} more", row.locations.len() - 1) } else { String::new() };
        let at = place.map_or(String::new(), |place| place.place.clone() + &others);
        let number = row.number.to_string();
        table.push(false, [mark.to_string(), number, what(row), row.hits.to_string(), at, conditions(row)]);
    }
    let table = table.or_note("none is set: 'break LINE', 'watch %r1', 'catch divergence', or F9 in the source");
    let command = |row: usize| {
        let row = rows.get(row)?;
        Some(format!("{} {}", if row.enabled { "disable" } else { "enable" }, row.number))
    };
    format!("breakpoints{}", listing(&table, view_state, canvas, &command))
}

fn what(row: &BreakpointRow) -> String {
    let kind = if row.kind == "breakpoint" { String::new() } else { format!("{} ", row.kind) };
    let temporary = if row.disposition == "del" { " once" } else { "" };
    format!("{kind}{}{temporary}", row.what)
}

fn conditions(row: &BreakpointRow) -> String {
    let threads = Some(row.filter.to_string()).filter(|text| !text.is_empty());
    let condition = row.condition.as_ref().map(|condition| format!("if {condition}"));
    let ignore = (row.ignore > 0).then(|| format!("lets {} pass", row.ignore));
    let disabled = (!row.enabled).then(|| "disabled".to_string());
    let parts: Vec<String> = [threads, condition, ignore, disabled].into_iter().flatten().collect();
    parts.join(", ")
}

/// Draws the displays; those that have changed since the previous stop are marked with `*`.
pub fn displays(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let displays = shown(context.session, &context.session.eval_context());
    let before = context.session.earlier().map(|eval_context| shown(context.session, &eval_context)).unwrap_or_default();
    let mut table = Table::new(&["", ">#", "expression", "value"]);
    for Shown { number, what, value, undefined } in &displays {
        let changed = before.iter().any(|other| other.number == *number && (&other.value, other.undefined) != (value, *undefined));
        let value = match value {
            Ok(value) => crate::ui::text::value::in_a_line(value, *undefined),
            Err(error) => format!("({error})"),
        };
        table.push(false, [if changed { "*" } else { "" }.to_string(), number.to_string(), what.clone(), value]);
    }
    let table = table.or_note("nothing is watched: 'display EXPRESSION' adds one");
    format!("displays{}", listing(&table, view_state, canvas, &|_| None))
}

/// Draws the writes of the location that the focused lane accesses next, on weak memory, and what each thread may read of them.
pub fn writes(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let Some(view) = view::writes_of_next(&context.session.eval_context()) else {
        canvas.placeholder("the focused lane accesses no memory next of which a thread may read more than one write (--memory weak)");
        return "writes".to_string();
    };
    let mut table = Table::new(&[">value", "written", "may be read by"]);
    for row in &view.rows {
        let threads = view.threads.iter().zip(&row.may).filter(|(_, may)| **may).map(|(thread, _)| thread.as_str());
        table.push(false, [row.value.clone(), row.write.clone(), threads.collect::<Vec<_>>().join(", ")]);
    }
    format!("writes of {}{}", view.location, listing(&table, view_state, canvas, &|_| Some("info may-read".to_string())))
}

/// The title and the table, or an empty table with the error as its note.
fn titled(title: &str, table: Result<Table, String>) -> (String, Table) {
    (title.to_string(), table.unwrap_or_else(|error| Table { note: Some(error), ..Table::default() }))
}

/// Draws a table; a click on a row executes its `command`. Returns the range of visible rows for the title.
pub fn listing(table: &Table, view_state: &mut ViewState, canvas: &mut Canvas<'_>, command: &dyn Fn(usize) -> Option<String>) -> String {
    let has_head = table.rows.len() > 1 && canvas.height() > 2 && table.columns.iter().any(|column| !column.title.is_empty());
    let head = usize::from(has_head);
    let window = view_state.window(table.rows.len(), canvas.height().saturating_sub(head));
    let widths = widths(table, &window);
    if has_head {
        let titles: Vec<String> = table.columns.iter().map(|column| column.title.to_string()).collect();
        row(canvas, 0, (table, &widths), &titles, Role::Dim);
    }
    for (y, index) in window.clone().enumerate() {
        let Some(each) = table.rows.get(index) else { continue };
        let y = y + head;
        row(canvas, y, (table, &widths), &each.cells, Role::Text);
        if each.focused {
            canvas.tint(y, Role::Focused);
            canvas.text(0, y, "▶", Role::Lanes);
            canvas.tint(y, Role::Focused);
        }
        if let Some(line) = command(index) {
            let width = canvas.width();
            canvas.on_click((0, y, width), Target::Command(line));
        }
    }
    if let Some(note) = table.note.as_ref().filter(|_| window.len() == table.rows.len()) {
        let (width, used) = (canvas.width(), window.len() + head);
        let height = canvas.height().saturating_sub(used);
        canvas.part(0, used, width, height).placeholder(note);
    }
    visible_range(&window, table.rows.len())
}

/// The width of each column for the visible rows.
fn widths(table: &Table, window: &std::ops::Range<usize>) -> Vec<usize> {
    let rows = table.rows.get(window.clone()).unwrap_or_default();
    let column = |index: usize, title: &str| {
        let cells = rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| width(cell)).max().unwrap_or(0);
        let head = if table.rows.len() > 1 { width(title) } else { 0 };
        cells.max(head)
    };
    table.columns.iter().enumerate().map(|(index, each)| column(index, each.title)).collect()
}

fn row(canvas: &mut Canvas<'_>, y: usize, (table, widths): (&Table, &[usize]), cells: &[String], role: Role) {
    let mut x = 2;
    for ((cell, column), wide) in cells.iter().zip(&table.columns).zip(widths).filter(|((_, _), wide)| **wide > 0) {
        let room = canvas.width().saturating_sub(x);
        if room == 0 {
            return;
        }
        let wide = (*wide).min(room);
        let text = if column.right { format!("{}{cell}", " ".repeat(wide.saturating_sub(width(cell)))) } else { cell.clone() };
        canvas.text(x, y, &fitted(&text, wide), role);
        x += wide + GAP;
    }
}
