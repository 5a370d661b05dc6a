//! Panes of text: the console, the help on keys, and the findings.

use super::context::{DrawContext, ViewState};
use super::words::visible_range;
use crate::debug::findings::FindingText;
use crate::debug::timeline::End;
use crate::ui::text;
use crate::ui::tui::canvas::{Canvas, Target, fitted, width, wrapped};
use crate::ui::tui::keymap::Action;
use crate::ui::tui::theme::Role;

/// The maximum number of columns of keys.
const KEY_COLUMNS: usize = 3;

/// Draws the output so far; the end of it, unless the user scrolled up. The view scrolls by lines, of which long ones take several rows.
pub fn console(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let (columns, height) = (canvas.width().saturating_sub(2), canvas.height());
    let lines = context.transcript;
    if lines.is_empty() {
        canvas.placeholder("no output yet");
        return "console".to_string();
    }
    let fitting = |lines: &mut dyn Iterator<Item = &String>| {
        let mut rows = 0;
        lines
            .take_while(|line| {
                rows += wrapped_line(line, columns).len();
                rows <= height
            })
            .count()
            .max(1)
    };
    let back = |down: i64| usize::try_from(-down).unwrap_or(0).min(lines.len() - 1);
    search_lines(lines, back(view_state.down), view_state);
    if let Some(first) = view_state.first_line.take() {
        let first = first.min(lines.len() - 1);
        view_state.down = -((lines.len() - first - fitting(&mut lines[first..].iter())) as i64);
    }
    // At the beginning, the first line is in the first row.
    let most = lines.len() - fitting(&mut lines.iter());
    view_state.down = view_state.down.clamp(-(most as i64), 0);
    let end = lines.len() - back(view_state.down);
    let count = fitting(&mut lines[..end].iter().rev());
    view_state.page = (count as i64 - 1).max(1);
    // Below the last whole line there is room for the beginning of the next, and a line that is too long is shown from its beginning.
    let first = end - count;
    let rows_of = |index: usize| wrapped_line(&lines[index], columns).into_iter().map(move |row| (index, row));
    let rows: Vec<(usize, String)> = (first..lines.len()).flat_map(rows_of).take(height).collect();
    let last = rows.last().map_or(first, |(index, _)| *index);
    for (y, (index, row)) in rows.into_iter().enumerate() {
        let line = &lines[index];
        let role = if line.starts_with("(ptxdbg") { Role::Title } else { Role::Text };
        canvas.text(1, y, &row, role);
        if !view_state.search.is_empty() && line.to_lowercase().contains(&view_state.search) {
            canvas.tint(y, Role::Cursor);
        }
    }
    format!("console{}", visible_range(&(first..last + 1), lines.len()))
}

/// Moves the end of the view to the next line above it that contains the search text, or below it.
fn search_lines(lines: &[String], back: usize, view_state: &mut ViewState) {
    let step = std::mem::take(&mut view_state.step);
    if step == 0 || view_state.search.is_empty() {
        return;
    }
    let is_match = |index: &usize| lines.get(*index).is_some_and(|line| line.to_lowercase().contains(&view_state.search));
    // The last line that is shown.
    let last = lines.len() - 1 - back;
    let from = view_state.found.filter(|found| *found < lines.len());
    let found = match (step, from) {
        (1.., Some(from)) => (0..from).rev().chain((from..lines.len()).rev()).find(is_match),
        (1.., None) => (0..=last).rev().chain((last + 1..lines.len()).rev()).find(is_match),
        (_, from) => {
            let next = from.unwrap_or(last) + 1;
            (next..lines.len()).chain(0..next).find(is_match)
        }
    };
    if let Some(found) = found {
        view_state.down = -((lines.len() - 1 - found) as i64);
    }
    view_state.found = found;
}

/// A line of the transcript, wrapped; an empty one is one line.
fn wrapped_line(line: &str, columns: usize) -> Vec<String> {
    let lines = wrapped(line, columns);
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// Draws the keys and their actions, in as many columns as fit.
pub fn help(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let mapped = context.keys.by_action().into_iter().map(|(action, keys)| (keys.join(", "), described(action)));
    let browse = ("F2".to_string(), "give all keys and the mouse to the panes; q gives them back".to_string());
    let keys: Vec<(String, String)> = std::iter::once(browse).chain(mapped).collect();
    let columns = |count: usize| keys.chunks(keys.len().div_ceil(count).max(1)).map(KeyColumn::new).collect::<Vec<_>>();
    let fits = |columns: &Vec<KeyColumn<'_>>| columns.iter().map(KeyColumn::width).sum::<usize>() <= canvas.width();
    let columns = (1..=KEY_COLUMNS).rev().map(columns).find(fits).unwrap_or_else(|| columns(1));
    let lines = columns.first().map_or(0, |column| column.keys.len());
    let window = view_state.window(lines, canvas.height());
    let mut x = 0;
    for column in &columns {
        let wide = canvas.width() - x;
        column.draw(&window, &mut canvas.part(x, 0, wide, window.len()));
        x = (x + column.width()).min(canvas.width());
    }
    format!("keys, Esc closes{}", if window.len() < lines { visible_range(&window, lines) } else { String::new() })
}

/// A column of keys and their actions.
struct KeyColumn<'a> {
    keys: &'a [(String, String)],
    /// The width of the names of the keys.
    names: usize,
}

impl<'a> KeyColumn<'a> {
    fn new(keys: &'a [(String, String)]) -> Self {
        Self { keys, names: keys.iter().map(|(key, _)| width(key)).max().unwrap_or(0) }
    }

    /// The width: a blank before and after, and two between key and action.
    fn width(&self) -> usize {
        self.names + 4 + self.keys.iter().map(|(_, described)| width(described)).max().unwrap_or(0)
    }

    fn draw(&self, window: &std::ops::Range<usize>, canvas: &mut Canvas<'_>) {
        let shown = self.keys.iter().skip(window.start).take(window.len());
        for (y, (key, described)) in shown.enumerate() {
            let x = canvas.text(1, y, &fitted(key, self.names), Role::Title);
            canvas.text(x + 2, y, described, Role::Text);
        }
    }
}

fn described(action: &Action) -> String {
    match action {
        Action::Command(line) => line.clone(),
        Action::Move(movement) => movement.about().to_string(),
    }
}

/// Draws the findings so far, each with both sides; a click on a side goes to its time.
pub fn findings(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let findings = context.session.findings();
    let columns = canvas.width().saturating_sub(2);
    let lines: Vec<FindingLine> = findings.iter().flat_map(|finding| finding_lines(finding, findings.len() > 1, columns)).collect();
    let window = view_state.window(lines.len(), canvas.height());
    for (y, line) in lines[window.clone()].iter().enumerate() {
        canvas.text(1, y, &line.text, if line.is_head { Role::Bad } else { Role::Text });
        if let Some(command) = &line.command {
            canvas.on_click((1, y, columns), Target::Command(command.clone()));
        }
    }
    match (context.session.ended(), findings.len()) {
        (_, 1..) => format!("findings {}{}", findings.len(), visible_range(&window, lines.len())),
        (Some(End::Broken(message)), 0) => {
            canvas.placeholder(&format!("the run cannot continue: {message}"));
            "findings 0".to_string()
        }
        (Some(End::Done), 0) => {
            canvas.placeholder("nothing was found: the run finished");
            "findings".to_string()
        }
        (_, 0) => {
            canvas.placeholder("nothing was found so far: the run goes on");
            "findings".to_string()
        }
    }
}

/// A line of a finding, and the command of a click on it.
struct FindingLine {
    text: String,
    is_head: bool,
    command: Option<String>,
}

/// A finding in lines of `columns` columns, after its number if there are several.
fn finding_lines(finding: &FindingText, numbered: bool, columns: usize) -> Vec<FindingLine> {
    let number = if numbered { format!("{}: ", finding.number) } else { String::new() };
    let described = number + &text::finding(finding);
    let mut lines = Vec::new();
    for (index, line) in described.lines().enumerate() {
        let side = ["first", "second"].into_iter().find(|side| line.trim_start().starts_with(side));
        let command = side.map(|side| format!("goto finding {} {side}", finding.number));
        let parts = wrapped(line, columns).into_iter();
        lines.extend(parts.map(|text| FindingLine { text, is_head: index == 0, command: command.clone() }));
    }
    lines
}
