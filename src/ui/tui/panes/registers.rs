//! The registers pane: the registers of the focused lane, or for each register a row with the values of all lanes of the warp.
//!
//! The displays and the operands of the current instruction can be pinned above them. A value that has changed since the previous stop is
//! marked with `*`, and the previous value is shown if there is room. Choosing a register shows its last write.

use super::context::{DrawContext, ViewState};
use super::pane::RegistersOf;
use super::words::{name_ranges, rounded, visible_range};
use crate::debug::display;
use crate::debug::eval_context::EvalContext;
use crate::debug::value::{LanesText, Pattern, ValueText};
use crate::debug::view::{RegisterRow, RegisterState, Values, register_rows, register_states, statement};
use crate::debug::{LaneMask, TokenClass, classify_tokens};
use crate::ui::text;
use crate::ui::tui::canvas::{Canvas, Span, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// The minimum width of a column of registers of a lane if there are several.
const COLUMN: usize = 34;
/// The same for registers of a warp.
const WARP_COLUMN: usize = 56;
/// The maximum width of a floating-point number among those of other lanes.
const FLOAT_MAX: usize = 9;
/// The least columns that a floating-point number is rounded to.
const FLOAT_MIN: usize = 6;
/// The minimum number of rows of a pane with a line below the pinned rows.
const RULE_MIN: usize = 8;
/// The text for a register that was never written.
const UNDEFINED: &str = "undef";
/// The maximum width of a name.
const NAME_MAX: usize = 16;
/// The width of a type.
const TYPE: usize = 6;

/// The pinned rows above the registers.
#[derive(Clone, Copy)]
pub struct Pinned {
    /// The displays.
    pub displays: bool,
    /// The operands of the current instruction.
    pub operands: bool,
}

/// Draws the pane; returns its title.
pub fn draw(
    context: &DrawContext<'_>,
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
    (of, only): (RegistersOf, &str),
    pinned: Pinned,
) -> String {
    let (width, height) = (canvas.width(), canvas.height());
    // At most half of the rows are pinned.
    let room = height / 2;
    let displays = if pinned.displays { draw_displays(context, &mut canvas.part(0, 0, width, room)) } else { 0 };
    let remaining = room - displays;
    let operands = if pinned.operands { draw_operands(context, of, &mut canvas.part(0, displays, width, remaining)) } else { 0 };
    let mut rows = displays + operands;
    if rows > 0 && height >= RULE_MIN {
        canvas.text(0, rows, &"╌".repeat(width), Role::Rule);
        rows += 1;
    }
    draw_registers(context, view_state, &mut canvas.part(0, rows, width, height - rows), (of, only))
}

/// Draws the displays that fit, a row each; returns the number of rows.
fn draw_displays(context: &DrawContext<'_>, canvas: &mut Canvas<'_>) -> usize {
    let shown = display::shown(context.session, &context.session.eval_context());
    let before = context.session.earlier().map(|eval_context| display::shown(context.session, &eval_context)).unwrap_or_default();
    let rows = shown.len().min(canvas.height());
    for (y, each) in shown.iter().take(rows).enumerate() {
        let changed =
            before.iter().any(|other| other.number == each.number && (&other.value, other.undefined) != (&each.value, each.undefined));
        if changed {
            canvas.text(0, y, "*", Role::Changed);
        }
        let role = if changed { Role::Changed } else { Role::Text };
        let x = canvas.text(1, y, &format!("{}: {} = ", each.number, each.what), Role::Name);
        match &each.value {
            Ok(ValueText::Lanes(lanes)) => {
                let room = canvas.width().saturating_sub(x);
                canvas.spans(x, y, &lanes_spans(lanes, room, (role, context.session.focus.lane)))
            }
            Ok(value) => canvas.text(x, y, &text::value::in_a_line(value, each.undefined), role),
            Err(error) => canvas.text(x, y, &format!("({error})"), Role::Dim),
        };
    }
    rows
}

/// Draws the register operands of the current instruction that fit; returns the number of rows.
fn draw_operands(context: &DrawContext<'_>, of: RegistersOf, canvas: &mut Canvas<'_>) -> usize {
    let eval_context = context.session.eval_context();
    let Ok(frame) = eval_context.frame() else { return 0 };
    let statement = statement(eval_context.program(), frame.pc);
    let named = classify_tokens(&statement).into_iter().filter(|(_, kind)| *kind != TokenClass::Opcode);
    let mut names: Vec<&str> = Vec::new();
    for name in named.filter_map(|(range, _)| statement.get(range)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Where rows are few, those that say nothing yet come last.
    let live = context.facts.live(eval_context.current_function());
    let states = live.and_then(|live| register_states(&eval_context, live, |name| names.contains(&name), of == RegistersOf::Warp).ok());
    let is_undefined = |name: &&str| states.iter().flatten().any(|state| state.name == *name && !state.is_defined);
    names.sort_by_key(is_undefined);
    draw_rows(context, of, &names, canvas)
}

/// Draws the registers of these names that fit, with the changes since the previous stop; returns the number of rows.
fn draw_rows(context: &DrawContext<'_>, of: RegistersOf, names: &[&str], canvas: &mut Canvas<'_>) -> usize {
    let values = Values { all_lanes: of == RegistersOf::Warp, defined: true, format: None };
    let rows = |eval_context: &EvalContext<'_>| register_rows(eval_context, names.iter().copied(), values).unwrap_or_default();
    let (now, before) =
        (rows(&context.session.eval_context()), context.session.earlier().map(|eval_context| rows(&eval_context)).unwrap_or_default());
    let shown = now.len().min(canvas.height());
    let variable = |row: &RegisterRow| context.variables.get(&row.name).map_or("", String::as_str);
    let columns = Names {
        register: now.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME_MAX),
        variable: now.iter().map(|row| width(variable(row))).max().unwrap_or(0).min(NAME_MAX),
    };
    let wide = canvas.width();
    for (y, row) in now.iter().take(shown).enumerate() {
        let was = before.iter().find(|other| other.name == row.name).filter(|other| other.value != row.value);
        draw_row(&mut canvas.part(0, y, wide, 1), (row, variable(row)), was, (columns, context.session.focus.lane));
    }
    shown
}

fn draw_registers(
    context: &DrawContext<'_>,
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
    (of, only): (RegistersOf, &str),
) -> String {
    let eval_context = context.session.eval_context();
    let search = view_state.search.clone();
    let focus = eval_context.focus;
    let title = match of {
        RegistersOf::Lane => format!("registers · lane {}", focus.lane),
        RegistersOf::Warp => format!("registers · {}", context.session.roles.warp(focus.warp)),
    };
    let is_selected = |name: &str| passes(name, only) && (search.is_empty() || name.to_lowercase().contains(&search));
    let live = context.facts.live(eval_context.current_function());
    let states =
        live.map(|live| register_states(&eval_context, live, is_selected, of == RegistersOf::Warp)).unwrap_or_else(|| Ok(Vec::new()));
    let states = match states {
        Ok(states) => states,
        Err(error) => {
            canvas.placeholder(&error.to_string());
            return title;
        }
    };
    let (defined, undefined): (Vec<RegisterState>, Vec<RegisterState>) = states.into_iter().partition(|state| state.is_defined);
    let column = if of == RegistersOf::Lane { COLUMN } else { WARP_COLUMN };
    let columns = (canvas.width() / column).max(1);
    let lines = defined.len().div_ceil(columns);
    // The undefined ones are folded into a line at the end.
    let total = lines + usize::from(!undefined.is_empty());
    let (window, cursor) = view_state.window_around(0, total, canvas.height());
    let (wide, height) = (canvas.width() / columns, canvas.height());
    let names: Vec<&str> = defined.iter().map(|state| state.name.as_str()).collect();
    let chosen = chosen(&names, lines, cursor, view_state).filter(|_| context.active);
    let visible = window.start..window.end.min(lines);
    for (column, part) in names.chunks(lines.max(1)).enumerate() {
        let shown: Vec<&str> = part.iter().skip(visible.start).take(visible.len()).copied().collect();
        let gap = usize::from(column + 1 < columns);
        let part = &mut canvas.part(column * wide, 0, wide - gap, height);
        draw_rows(context, of, &shown, part);
        for (y, name) in shown.iter().enumerate() {
            part.on_click((0, y, wide - gap), Target::Command(format!("last {name}")));
            if chosen == Some(*name) {
                part.tint(y, Role::Cursor);
            }
        }
    }
    if window.end > lines && !undefined.is_empty() {
        let described = format!("{} undefined: {}", undefined.len(), name_ranges(undefined.iter().map(|state| state.name.as_str())));
        let width = canvas.width().saturating_sub(1);
        canvas.text(1, visible.len(), fitted(&described, width).trim_end(), Role::Dim);
    }
    let at = chosen.map_or(String::new(), |name| format!(" · {name}"));
    let live = match defined.iter().filter(|state| state.is_live).count() {
        count if count == defined.len() => String::new(),
        count => format!(" · {count} live"),
    };
    let filter = match (only.strip_prefix('!'), search.as_str()) {
        (None, "") if only.is_empty() => String::new(),
        (None, search) => format!(" · only {only}{search}"),
        (Some(excluded), "") => format!(" · without {excluded}"),
        (Some(excluded), search) => format!(" · only {search} without {excluded}"),
    };
    if total == 0 {
        canvas.placeholder("no register here has such a name");
    }
    format!("{title}{filter}{live}{at}{}", if total > canvas.height() { visible_range(&window, total) } else { String::new() })
}

/// The register of the cursor, in row `cursor` and the column to which the user moved; sets the command for choosing it.
fn chosen<'n>(names: &[&'n str], lines: usize, cursor: usize, view_state: &mut ViewState) -> Option<&'n str> {
    let last = names.len().div_ceil(lines.max(1)).saturating_sub(1);
    view_state.right = view_state.right.min(last as i64).max(0);
    let name = (cursor < lines).then(|| names.get(view_state.right.unsigned_abs() as usize * lines + cursor).copied()).flatten();
    view_state.choice = name.map(|name| format!("last {name}"));
    name
}

/// True if a name contains the text of the option `only`; after `!`, if it does not.
fn passes(name: &str, only: &str) -> bool {
    only.strip_prefix('!').map_or_else(|| name.contains(only), |excluded| !name.contains(excluded))
}

/// The widths of the names in a row.
#[derive(Clone, Copy)]
struct Names {
    register: usize,
    /// The variable of the source that the register holds.
    variable: usize,
}

fn draw_row(canvas: &mut Canvas<'_>, (row, variable): (&RegisterRow, &str), was: Option<&RegisterRow>, (names, lane): (Names, u32)) {
    if was.is_some() {
        canvas.text(0, 0, "*", Role::Changed);
    }
    let mut x = canvas.text(1, 0, &fitted(&row.name, names.register), Role::Register);
    if names.variable > 0 {
        x = canvas.text(x + 1, 0, &fitted(variable, names.variable), Role::Name);
    }
    let x = canvas.text(x + 1, 0, &fitted(&row.ty, TYPE), Role::Dim);
    let role = if was.is_some() { Role::Changed } else { Role::Text };
    match &row.value {
        ValueText::Lanes(lanes) => {
            let room = canvas.width().saturating_sub(x);
            canvas.spans(x, 0, &with_undefined(lanes, row.undefined, room, (role, lane)));
        }
        ValueText::Scalar(text) if !row.undefined.is_empty() => {
            let x = canvas.text(x, 0, UNDEFINED, Role::Bad);
            canvas.text(x, 0, &format!("  reads as {text}"), Role::Dim);
        }
        ValueText::Scalar(text) => {
            let x = canvas.text(x, 0, &rounded(text, canvas.width().saturating_sub(x)), role);
            if let Some(RegisterRow { value: ValueText::Scalar(text), .. }) = was {
                let text = format!("  was {text}");
                if x + width(&text) <= canvas.width() {
                    canvas.text(x, 0, &text, Role::Dim);
                }
            }
        }
        ValueText::Array(_) | ValueText::Tensor(_) => {}
    }
}

/// The values of lanes, and the number of lanes in which the register is undefined.
fn with_undefined(text: &LanesText, undefined: LaneMask, room: usize, (role, lane): (Role, u32)) -> Vec<Span> {
    if undefined.is_empty() {
        return lanes_spans(text, room, (role, lane));
    }
    if undefined & text.mask == text.mask {
        return vec![(Role::Bad, UNDEFINED.to_string()), (Role::Dim, "  in all lanes".to_string())];
    }
    let described = match undefined.count() {
        1 => format!("  {UNDEFINED} in 1 lane"),
        count => format!("  {UNDEFINED} in {count} lanes"),
    };
    let mut spans = match text.ty.as_str() {
        "pred" => predicate_spans(text, undefined, room.saturating_sub(width(&described)), role),
        _ => lanes_spans(text, room.saturating_sub(width(&described)), (role, lane)),
    };
    spans.push((Role::Bad, described));
    spans
}

/// The values of 32 lanes in at most `room` columns: one value, an affine function, a mask, a few groups, or as many values as fit.
fn lanes_spans(text: &LanesText, room: usize, (role, lane): (Role, u32)) -> Vec<Span> {
    let dim = |text: String| (Role::Dim, text);
    match &text.pattern {
        _ if text.ty == "pred" => predicate_spans(text, LaneMask::NONE, room, role),
        Pattern::Uniform(value) => vec![(role, value.clone()), dim("  uniform".to_string())],
        Pattern::Affine { base, stride } => {
            let base = if base == "0" { String::new() } else { format!("{base} + ") };
            let slope = if stride == "1" { "lane".to_string() } else { format!("{stride}*lane") };
            vec![(role, format!("{base}{slope}"))]
        }
        Pattern::Few(groups) => few_spans(text, groups, room, (role, lane)),
        Pattern::Mixed { .. } => mixed_spans(text, room, (role, lane)),
    }
}

/// The values with the numbers of their lanes, and that of the focused lane: rounded, or that of the focused lane alone, where there is
/// little room.
fn few_spans(text: &LanesText, groups: &[(String, LaneMask)], room: usize, (role, lane): (Role, u32)) -> Vec<Span> {
    let in_columns = |columns: usize| {
        let group = |(value, lanes): &(String, LaneMask)| format!("{} in {}", rounded(value, columns), lanes.count());
        let focused = value_of(text, lane).map_or(String::new(), |value| format!("  ◆ {}", rounded(value, columns)));
        vec![(role, groups.iter().map(group).collect::<Vec<_>>().join(", ")), (Role::Lanes, focused)]
    };
    let fits = |spans: &Vec<Span>| spans.iter().map(|(_, text)| width(text)).sum::<usize>() <= room;
    let shortest = if text.ty.starts_with('f') { FLOAT_MIN } else { usize::MAX };
    let choices = [usize::MAX, FLOAT_MAX, shortest].into_iter().map(|columns| in_columns(columns.max(shortest)));
    choices.into_iter().find(fits).unwrap_or_else(|| {
        let focused = value_of(text, lane).map_or(String::new(), |value| format!("◆ {value}  "));
        vec![(Role::Lanes, focused), (Role::Dim, format!("{} values", groups.len()))]
    })
}

/// The values of as many lanes as fit, including the focused lane, which is marked with `◆`.
fn mixed_spans(text: &LanesText, room: usize, (role, lane): (Role, u32)) -> Vec<Span> {
    let lanes: Vec<u32> = (0..32).filter(|lane| text.mask.contains(*lane as usize)).collect();
    // Floating-point numbers are rounded, so that more lanes fit.
    let most = if text.ty.starts_with('f') { FLOAT_MAX } else { usize::MAX };
    let wide = text.values.iter().map(|value| width(value)).max().unwrap_or(1).min(most);
    let cells = (room / (wide + 1)).max(1);
    let is_all = cells >= lanes.len();
    let fits = if is_all { lanes.len() } else { cells.saturating_sub(1) };
    let focused_index = lanes.iter().position(|other| *other == lane);
    let first = focused_index.filter(|at| *at >= fits).map_or(0, |at| at + 1 - fits.max(1));
    let mut spans = Vec::new();
    for (lane_here, value) in lanes.iter().zip(&text.values).skip(first).take(fits) {
        let is_focused = *lane_here == lane;
        let mark = if is_focused { "◆" } else { " " };
        spans.push((if is_focused { Role::Lanes } else { role }, format!("{mark}{:>wide$}", rounded(value, wide))));
    }
    if !is_all {
        spans.push((Role::Dim, " …".to_string()));
    }
    spans
}

fn value_of(text: &LanesText, lane: u32) -> Option<&String> {
    let before = text.mask & LaneMask::lowest(lane.min(31));
    text.mask.contains(lane.min(31) as usize).then(|| text.values.get(before.count() as usize)).flatten()
}

/// The lanes of a predicate that are true.
fn true_lanes(text: &LanesText) -> LaneMask {
    let lanes = text.mask.iter();
    lanes.zip(&text.values).filter(|(_, value)| *value == "true").map(|(lane, _)| lane).collect()
}

/// `██·?█ 3 true`: a cell for each lane; `?` if the predicate is undefined, blank if the lane is not in the mask. In little room a cell
/// for two lanes: `▌` if it is true in the first, `▐` in the second, `█` in both.
fn predicate_spans(text: &LanesText, undefined: LaneMask, room: usize, role: Role) -> Vec<Span> {
    let holds = true_lanes(text);
    let has = |lanes: LaneMask, lane: u32| lanes.contains(lane as usize);
    let cell = |lane| match () {
        () if has(undefined, lane) => '?',
        () if !has(text.mask, lane) => ' ',
        () if has(holds, lane) => '█',
        () => '·',
    };
    let pair = |first: u32| match [first, first + 1] {
        lanes if lanes.iter().any(|lane| has(undefined, *lane)) => '?',
        lanes if !lanes.iter().any(|lane| has(text.mask, *lane)) => ' ',
        lanes => match lanes.map(|lane| has(holds, lane)) {
            [true, true] => '█',
            [true, false] => '▌',
            [false, true] => '▐',
            [false, false] => '·',
        },
    };
    let count = format!(" {} true", holds.count());
    let cells = if room >= 32 + width(&count) { (0..32).map(cell).collect() } else { (0..32).step_by(2).map(pair).collect() };
    vec![(role, cells), (Role::Dim, count)]
}
