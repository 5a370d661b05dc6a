//! The pipeline pane: the states of each stage over time. A click on a state goes to the time when it began.

use super::context::{DrawContext, ViewState};
use super::words::visible_range;
use crate::debug::view::{self, StageState};
use crate::ui::text::asynchronous::{StageRow, stage_rows};
use crate::ui::tui::canvas::{Canvas, Target, width};
use crate::ui::tui::theme::Role;

/// Draws the pane; returns its title.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let pipeline = match view::pipeline(context.session) {
        Ok(pipeline) => pipeline,
        Err(error) => {
            canvas.placeholder(&error.to_string());
            return "pipeline".to_string();
        }
    };
    let (heading, rows) = stage_rows(&pipeline, canvas.width().saturating_sub(3));
    let head = usize::from(!rows.is_empty() && canvas.height() > rows.len());
    if head > 0 {
        canvas.text(2, 0, &heading, Role::Dim);
    }
    let window = view_state.window(rows.len(), canvas.height().saturating_sub(head));
    for (y, row) in rows.get(window.clone()).unwrap_or_default().iter().enumerate() {
        draw_row(row, y + head, canvas);
    }
    let used = head + window.len();
    if let Some(note) = pipeline.note.as_ref().filter(|_| canvas.height() > used) {
        let (width, height) = (canvas.width(), canvas.height() - used);
        canvas.part(0, used, width, height).placeholder(note);
    }
    format!("pipeline{}", visible_range(&window, rows.len()))
}

fn draw_row(row: &StageRow, y: usize, canvas: &mut Canvas<'_>) {
    let mut x = canvas.text(2, y, &row.name, Role::Text);
    for (state, text, from) in &row.runs {
        canvas.text(x, y, text, role(*state));
        canvas.on_click((x, y, width(text)), Target::Command(format!("goto {from}")));
        x += width(text);
    }
    canvas.text(x + 1, y, row.verdict, Role::Bad);
}

fn role(state: Option<StageState>) -> Role {
    match state {
        Some(StageState::Fill) => Role::OtherLanes,
        Some(StageState::Full) => Role::Lanes,
        Some(StageState::Read) => Role::Text,
        Some(StageState::Empty) | None => Role::Dim,
    }
}
