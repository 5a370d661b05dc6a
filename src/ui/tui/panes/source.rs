//! The source pane: the PTX text, or its source, with breakpoints, and for every line the lanes of the focused warp and the other warps
//! that are at it.

use std::borrow::Cow;

use super::code::{self, Highlighter};
use super::context::{DrawContext, ViewState};
use super::lane_strip::{LaneStrip, StripOf};
use super::program_facts::ShownLines;
use super::words::compact_count;
use crate::base::SourceFile;
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;
use crate::debug::view::{
    CodeText, LineOccupancy, Mentioned, current_line, lane_locations, masked, mentioned, occupancies, original_line, ranges,
};
use crate::ui::text::view::contracted;
use crate::ui::tui::canvas::{Canvas, Span, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// The minimum width of the text beside the numbers of lanes.
const TEXT_MIN: usize = 24;
/// The minimum width of the text beside a strip of lanes.
const TEXT_BESIDE_STRIP: usize = 40;
/// The minimum width of the text beside the names of other warps.
const TEXT_BESIDE_OTHERS: usize = 32;
/// The width of the number of lanes that have executed a line.
const EXECUTED: usize = 5;
/// The rows of the pane from which on one shows what the line of the cursor mentions.
const MENTIONED_ROWS_MIN: usize = 6;
/// The most columns of a value there.
const VALUE_MAX: usize = 40;
/// The width of the names of the other warps on a line.
const OTHERS: usize = 7;

/// The columns for which there is room.
struct Columns {
    /// The width of the line numbers.
    digits: usize,
    strip: LaneStrip,
    has_others: bool,
    /// The number of lanes that have executed each line.
    has_executed: bool,
}

impl Columns {
    fn new(width: usize, lines: u32, eval_context: &EvalContext<'_>, counts: bool) -> Self {
        let digits = lines.to_string().len().max(2);
        let has_executed = counts && width >= digits + 4 + EXECUTED + TEXT_MIN;
        let fixed = digits + 4 + if has_executed { EXECUTED } else { 0 };
        let strip = LaneStrip::new(width.saturating_sub(fixed), (TEXT_MIN, TEXT_BESIDE_STRIP), is_whole(eval_context));
        let is_alone = eval_context.extents().warps() < 2;
        let has_others = !is_alone && width >= fixed + strip.width() + TEXT_BESIDE_OTHERS + OTHERS;
        Self { digits, strip, has_others, has_executed }
    }
}

/// True if the lanes of the focused warp are at one instruction, which all of them execute: a number says as much as a strip of lanes.
fn is_whole(eval_context: &EvalContext<'_>) -> bool {
    let locations = lane_locations(eval_context, &ThreadFilter::of_warp(&eval_context.focus));
    locations.len() < 2 && locations.iter().all(|location| location.off.is_empty())
}

/// A text, and the location of the focused lane in it.
struct Shown<'a> {
    source: &'a SourceFile,
    text: CodeText,
    /// The line, from 1.
    here: u32,
    /// The lines that are not folded.
    lines: Cow<'a, ShownLines>,
}

/// Draws the pane; returns its title. `original` selects the source of the PTX, `counts` adds the number of lanes that have executed each
/// line.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>, (original, counts): (bool, bool)) -> String {
    let eval_context = context.session.eval_context();
    let shown = if original == view_state.other_text { Ok(ptx(context, &eval_context)) } else { original_text(context, &eval_context) };
    (view_state.cursor, view_state.choice) = (None, None);
    match shown {
        Ok(shown) => {
            draw_text(context, &shown, view_state, canvas, counts);
            let masked = masked(&eval_context).map_or(String::new(), |masked| format!(" · {masked}"));
            match original {
                true => format!("{}:{}{masked}", shown.source.short_name(), shown.here),
                false => format!("{} · {}{masked}", shown.source.short_name(), thread(context)),
            }
        }
        Err(message) => {
            canvas.placeholder(&message);
            format!("source · {}", thread(context))
        }
    }
}

fn ptx<'a>(context: &DrawContext<'a>, eval_context: &EvalContext<'a>) -> Shown<'a> {
    let (file, here) = current_line(eval_context);
    let source = context.session.program().sources_text.file(file);
    let lines = context.facts.lines(file).map_or_else(|| Cow::Owned(ShownLines::All(source.line_count())), Cow::Borrowed);
    Shown { source, text: CodeText::Ptx(file), here, lines }
}

/// The source of the PTX, or the reason why there is none.
fn original_text<'a>(context: &DrawContext<'a>, eval_context: &EvalContext<'a>) -> Result<Shown<'a>, String> {
    let (number, name, here) = original_line(eval_context).ok_or("no .loc says which line of a source language this comes from")?;
    let found = context.session.source_texts().file(context.session.program(), number);
    let source = found.ok_or_else(|| format!("line {here} of {name}, which is not found at its path or beside the PTX file"))?;
    Ok(Shown { source, text: CodeText::Original(number), here, lines: Cow::Owned(ShownLines::All(source.line_count())) })
}

fn draw_text(context: &DrawContext<'_>, shown: &Shown<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>, counts: bool) {
    let eval_context = context.session.eval_context();
    let Shown { source, text, lines, .. } = shown;
    let here = lines.index(shown.here);
    search(source, lines, here, view_state);
    let (_, cursor) = view_state.window_around(here, lines.count(), canvas.height());
    let mentioned = match text {
        CodeText::Original(_) if canvas.height() >= MENTIONED_ROWS_MIN => {
            let unwritten = |memory, bytes| context.session.unwritten_in_kernel(memory, bytes);
            mentioned(&eval_context, source.line(lines.line(cursor)), &unwritten)
        }
        CodeText::Original(_) | CodeText::Ptx(_) => Vec::new(),
    };
    let height = canvas.height() - usize::from(!mentioned.is_empty());
    let (window, cursor) = view_state.window_around(here, lines.count(), height);
    draw_mentioned(&mentioned, &mut canvas.part(0, height, canvas.width(), 1));
    let first = lines.line(window.start);
    let end = if window.is_empty() { first } else { lines.line(window.end - 1) + 1 };
    let occupancies = occupancies(&eval_context, &context.session.breakpoints, *text, first..end, counts);
    let columns = Columns::new(canvas.width(), source.line_count(), &eval_context, counts);
    let mut highlighter = Highlighter::new(source, first, matches!(text, CodeText::Ptx(_)));
    for (y, row) in window.enumerate() {
        let number = lines.line(row);
        let Some(occupancy) = occupancies.get((number - first) as usize) else { continue };
        // Click targets that are added later take precedence: lanes, and the gutter.
        canvas.row_target(y, context.number, row as i64 - here as i64);
        let mut coloured = highlighter.line(source.line(number));
        if !occupancy.contracted.is_empty() {
            coloured.push((Role::Dim, contracted(&occupancy.contracted)));
        }
        line(canvas, (y, number), &coloured, occupancy, (&columns, eval_context.focus.lane, view_state.right));
        if row == cursor {
            view_state.cursor = Some((format!("{}:{number}", source.short_name()), occupancy.mark.map(|mark| mark.number)));
            if row != here {
                view_state.choice = Some(format!("advance {}:{number}", source.short_name()));
                canvas.tint(y, Role::Cursor);
                canvas.text(1, y, "›", Role::Cursor);
            }
        }
        click_on_gutter(canvas, (y, number), source, occupancy);
    }
}

/// What the line of the cursor mentions, as far as there is room: `nd.arr[k].x = 5  int local 0x114 │ k = 1  int %r4`.
fn draw_mentioned(mentioned: &[Mentioned], canvas: &mut Canvas<'_>) {
    let mut x = 1;
    for (index, Mentioned { text, value, ty, place }) in mentioned.iter().enumerate() {
        let spans = [
            (Role::Dim, if index > 0 { " │ " } else { "" }.to_string()),
            (Role::Name, text.clone()),
            (Role::Text, value.as_ref().map_or(" has no value here".to_string(), |value| format!(" = {}", in_short(value)))),
            (Role::Dim, format!("  {ty}{}{place}", if place.is_empty() { "" } else { " " })),
        ];
        let room = canvas.width().saturating_sub(x);
        let needed: usize = spans.iter().map(|(_, text)| width(text)).sum();
        // The first is cut where it does not fit.
        if needed > room && index > 0 {
            canvas.text(x, 0, fitted(" …", room.min(2)).as_str(), Role::Dim);
            return;
        }
        x = canvas.spans(x, 0, &spans);
    }
}

/// A value in as many columns as one has beside others.
fn in_short(value: &str) -> String {
    if width(value) > VALUE_MAX { fitted(value, VALUE_MAX).trim_end().to_string() } else { value.to_string() }
}

/// `block 0,0,0 · warp 1 of 8 · lane 5`
fn thread(context: &DrawContext<'_>) -> String {
    let eval_context = context.session.eval_context();
    let [x, y, z] = eval_context.focus.block;
    let frame = if eval_context.focus.frame > 0 { format!(" · frame {}", eval_context.focus.frame) } else { String::new() };
    let state = eval_context.frame().err().map_or(String::new(), |error| format!(" · {error}"));
    let warp = eval_context.roles.warp(eval_context.focus.warp);
    format!("block {x},{y},{z} · {warp} of {} · lane {}{frame}{state}", eval_context.extents().warps(), eval_context.focus.lane)
}

/// `●▶ 37 ████·█…   text`; between number and text `┃` where it is inline assembly.
fn line(
    canvas: &mut Canvas<'_>,
    (y, number): (usize, u32),
    text: &[Span],
    occupancy: &LineOccupancy,
    (columns, lane, right): (&Columns, u32, i64),
) {
    if let Some(mark) = occupancy.mark {
        canvas.text(0, y, if mark.enabled { "●" } else { "○" }, Role::Breakpoint);
    }
    if occupancy.focused {
        canvas.text(1, y, "▶", Role::Lanes);
    }
    let role = if occupancy.has_code { Role::Text } else { Role::Dim };
    let mut x = canvas.text(2, y, &format!("{number:>width$} ", width = columns.digits), role);
    if columns.has_executed {
        let executed = occupancy.executed.map_or(String::new(), compact_count);
        canvas.text(x, y, &format!("{executed:>4} "), Role::Dim);
        x += EXECUTED;
    }
    let lanes = StripOf { lanes: occupancy.lanes, next: occupancy.next, waiting: occupancy.waiting, off: occupancy.off, focused: lane };
    x = columns.strip.draw(canvas, (x, y), &lanes);
    if columns.has_others {
        if !occupancy.others.is_empty() {
            canvas.text(x, y, &fitted(&format!("w{}", ranges(&occupancy.others)), OTHERS - 1), Role::OtherLanes);
        }
        x += OTHERS;
    }
    if occupancy.inline_asm {
        canvas.text(x.saturating_sub(1), y, "┃", Role::Dim);
    }
    let width = canvas.width().saturating_sub(x);
    let skipped = usize::try_from(right).unwrap_or(0);
    code::draw(&mut canvas.part(x, y, width, 1), text, skipped);
    if occupancy.focused {
        canvas.tint(y, Role::Focused);
    }
}

/// Makes the gutter clickable: sets a breakpoint on a line with code, or deletes it.
fn click_on_gutter(canvas: &mut Canvas<'_>, (y, number): (usize, u32), source: &SourceFile, occupancy: &LineOccupancy) {
    let command = match occupancy.mark {
        Some(mark) => format!("delete {}", mark.number),
        None if occupancy.has_code => format!("break {}:{number}", source.short_name()),
        None => return,
    };
    canvas.on_click((0, y, 2), Target::Command(command));
}

/// Moves the cursor to the next or the previous line that contains the search text.
fn search(source: &SourceFile, lines: &ShownLines, here: usize, view_state: &mut ViewState) {
    let step = std::mem::take(&mut view_state.step);
    if step == 0 || view_state.search.is_empty() {
        return;
    }
    let total = lines.count() as i64;
    let cursor = here as i64 + view_state.down;
    let found = (1..=total).map(|distance| (cursor + step * distance).rem_euclid(total)).find(|row| {
        let line = source.line(lines.line(usize::try_from(*row).unwrap_or(0)));
        line.to_lowercase().contains(&view_state.search)
    });
    view_state.down = found.map_or(view_state.down, |row| row - here as i64);
}
