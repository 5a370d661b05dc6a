//! The text of a command's outcome.

use std::collections::BTreeSet;

use super::asynchronous;
use super::branches;
use super::certificate::certificate as certificate_line;
use super::explored;
use super::fidelity::fidelity;
use super::finding::{chain, finding, list};
use super::fix;
use super::fragment;
use super::frames;
use super::in_flight;
use super::launch;
use super::module;
use super::report::{grouped, mismatches, short_site};
use super::stop;
use super::symbols;
use super::table::table;
use super::threads;
use super::value::{in_a_line, printed, registers};
use super::view as views;
use crate::base::{Dim3, Tick};
use crate::command::{Outcome, View};
use crate::debug::breakpoints::{BreakpointLocation, BreakpointRow};
use crate::debug::find::{EventRow, FoundText, GroupRow};
use crate::debug::focus::Focus;
use crate::debug::marks::Mark;
use crate::debug::resume::UserChange;
use crate::debug::timeline::End;
use crate::debug::value::Shown;
use crate::debug::{LaneMask, WatchedAccessText, shown_name};

/// The text of an outcome; empty for those that the console handles.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Text(text) => text.clone(),
        Outcome::Value { what, value, undefined, unrounded_uses, in_flight, bytes } => {
            let note = unrounded_uses.as_ref().map_or(String::new(), |uses| format!("  {}\n", views::contraction_note(uses)));
            let others: String = bytes.iter().chain(in_flight).map(|note| format!("{note}\n")).collect();
            printed(what, value, *undefined) + &note + &others
        }
        Outcome::Bare { value, undefined } => in_a_line(value, *undefined) + "\n",
        Outcome::Displays(shown) => displays(shown),
        Outcome::NewBreakpoint { row, note } => new_breakpoint(row, note.as_deref()),
        Outcome::Breakpoints(rows) => breakpoints(rows),
        Outcome::Found(found) => found_text(found),
        Outcome::Explored(explored) => explored::explored(explored),
        Outcome::Fixed(fixed, written) => fix::reports(fixed) + written,
        Outcome::Writes { what, writes, changes, unchanged, interrupted, bytes } => {
            self::writes(what, (writes, changes), *unchanged, *interrupted)
                + &bytes.as_ref().map_or(String::new(), |note| format!("{note}\n"))
        }
        Outcome::Branches(rows) => table(&branches::branches(rows)),
        Outcome::BranchDiff(diff) => branches::diff(diff),
        Outcome::Marks(marks) => self::marks(marks),
        Outcome::When { now, recorded, end } => when(*now, *recorded, end.as_ref()),
        Outcome::View(view) => self::view(view),
        Outcome::Focus { focus, site, frame } => {
            stop::focus(focus, site) + &frame.as_ref().map_or(String::new(), |frame| frames::frame_line(frame))
        }
        Outcome::Applied(outcomes) => applied(outcomes),
        Outcome::Several(outcomes) => outcomes.iter().map(self::outcome).collect(),
        Outcome::Nothing
        | Outcome::Printed(_)
        | Outcome::Stop(_)
        | Outcome::Apply(..)
        | Outcome::Complete(_)
        | Outcome::Collect(_)
        | Outcome::Lines(_)
        | Outcome::Shell(_)
        | Outcome::Ask(_)
        | Outcome::Source(_)
        | Outcome::Layout(_)
        | Outcome::Tour(_)
        | Outcome::Quit => String::new(),
    }
}

fn view(view: &View) -> String {
    match view {
        View::ArrayTypes(rows) => table(&module::array_types(rows)),
        View::Target(view) => table(&module::target(view)),
        View::MayRead(view) => views::may_read(view),
        View::Checks(rows) => table(&module::checks(rows)),
        View::Descriptor(view) => table(&module::descriptor(view)),
        View::FragmentElements(rows) => table(&module::fragment_elements(rows)),
        View::Symbols { rows, part } => table(&symbols::symbols(rows, part)),
        View::Shared(rows) => table(&symbols::shared(rows)),
        View::Allocations(rows) => table(&symbols::allocations(rows)),
        View::Roles(rows) => table(&threads::roles(rows)),
        View::RoleGuess(guess) => table(&threads::role_guess(guess)),
        View::Stack(stack) if !stack.locals.is_empty() => frames::stack_in_full(stack),
        View::Stack(stack) => table(&frames::stack(stack, true)),
        View::Skips(rows) => table(&frames::skips(rows)),
        View::Frame(view) => frames::frame(view),
        View::Locals(rows) => table(&frames::locals(rows)),
        View::Scope(rows) => table(&frames::scope(rows)),
        View::Blocks(spans) => table(&threads::blocks(spans)),
        View::Warps(warps) => table(&threads::warps(warps)),
        View::Lanes(rows) => table(&threads::lanes(rows)),
        View::Threads(rows) => table(&threads::threads(rows)),
        View::Barriers(rows) => table(&threads::barriers(rows)),
        View::Kernels(rows) => table(&launch::kernels(rows)),
        View::Launch { launch: view, number, count, reasons } => table(&launch::launch(view, (*number, *count), reasons)),
        View::Registers(rows) => registers(rows),
        View::Examined { examined, code } => views::examined(examined, *code),
        View::Listing(listing) => views::listing(listing),
        View::Explanation(explanation) => views::explanation(explanation),
        View::ControlFlow(flow) => views::control_flow(flow),
        View::Divergence(groups) => views::divergence(groups),
        View::Fragment(fragment) => fragment::fragment(fragment),
        View::Source(place) => views::source(place),
        View::InFlight(view) => table(&in_flight::in_flight(view)),
        View::MbarrierList(views) => table(&asynchronous::mbarriers(views)),
        View::Mbarriers(views) => views.iter().map(asynchronous::mbarrier).collect(),
        View::Pipeline(stages) => asynchronous::pipeline(stages),
        View::Fidelity(found) if found.opcodes.is_empty() => "no instruction has been executed yet\n".to_string(),
        View::Fidelity(found) => fidelity(found),
        View::Findings { findings, suppressed, recorded, certificate } => {
            let certificate = certificate.as_ref().map_or(String::new(), certificate_line);
            let suppressed_words = if *suppressed == 0 { String::new() } else { format!("; {suppressed} suppressed") };
            let found = match findings.as_slice() {
                [] => format!("nothing was found wrong up to t={recorded}{suppressed_words}\n"),
                findings => list(findings, *suppressed),
            };
            found + &certificate
        }
        View::Mismatches(found) => mismatches(found),
        View::Finding(found) => format!("finding {}: {}\n", found.number, finding(found)),
        View::SynchronizationPath(found, blocks) => chain(found, blocks),
    }
}

/// What a command said for each thread; threads for which it said the same are named together.
fn applied(outcomes: &[(Focus, Result<Outcome, String>)]) -> String {
    let said = |said: &Result<Outcome, String>| match said {
        Ok(said) => outcome(said),
        Err(message) => format!("error: {message}\n"),
    };
    let mut rows: Vec<(Focus, LaneMask, String)> = Vec::new();
    for (focus, outcome) in outcomes {
        let text = said(outcome);
        let same = rows.iter_mut().find(|(at, _, other)| (at.block, at.warp) == (focus.block, focus.warp) && *other == text);
        match same {
            Some((_, lanes, _)) => *lanes |= focus.lane_mask(),
            None => rows.push((*focus, focus.lane_mask(), text)),
        }
    }
    let row = |(focus, lanes, text): &(Focus, LaneMask, String)| {
        let [x, y, z] = focus.block;
        format!("block {x},{y},{z} warp {} {}:\n{text}", focus.warp, lanes.describe())
    };
    rows.iter().map(row).collect()
}

/// The current values of the displays, a line for each.
pub fn displays(shown: &[Shown]) -> String {
    let line = |shown: &Shown| match &shown.value {
        Ok(value) => format!("{}: {}", shown.number, printed(&shown.what, value, shown.undefined)),
        Err(error) => format!("{}: {}: {error}\n", shown.number, shown.what),
    };
    shown.iter().map(line).collect()
}

fn new_breakpoint(row: &BreakpointRow, note: Option<&str>) -> String {
    let note = note.map_or(String::new(), |note| format!("{note}\n"));
    let kind = if row.disposition == "del" { format!("temporary {}", row.kind) } else { row.kind.to_string() };
    let place = match row.locations.as_slice() {
        [] => format!(": {}", row.what),
        [only] => format!(" at {}", location(only)),
        [first, .., last] => format!(" at {} instructions, {} to {}", row.locations.len(), first.place, last.place),
    };
    let threads = if row.filter == Default::default() { String::new() } else { format!(", only {}", row.filter) };
    let condition = row.condition.as_ref().map_or(String::new(), |condition| format!(", if {condition}"));
    let source = match row.locations.as_slice() {
        [only] => only.source.as_ref().filter(|source| source.contains("  ")).map_or(String::new(), |source| format!("  {source}\n")),
        _ => String::new(),
    };
    format!("{note}{kind} {}{place}{threads}{condition}\n{source}", row.number)
}

/// `collatz.ptx:37 in collatz: mad.lo.s32 %r7, %r7, 3, 1`
fn location(location: &BreakpointLocation) -> String {
    format!("{} in {}: {}", location.place, shown_name(&location.function), location.text.trim_end_matches(';'))
}

fn breakpoints(rows: &[BreakpointRow]) -> String {
    if rows.is_empty() {
        return "there are no breakpoints, watchpoints or catchpoints\n".to_string();
    }
    let width = rows.iter().map(|row| row.kind.len()).max().unwrap_or(0);
    let heading = format!("Num  {:width$}  Disp  Enb  Hits  What\n", "Type");
    heading + &rows.iter().map(|row| breakpoint(row, width)).collect::<String>()
}

fn breakpoint(row: &BreakpointRow, width: usize) -> String {
    let enabled = if row.enabled { "y" } else { "n" };
    let what = match row.locations.as_slice() {
        [only] => location(only),
        _ => row.what.clone(),
    };
    let mut lines = vec![format!("{:<3}  {:width$}  {:<4}  {enabled:<3}  {:<4}  {what}", row.number, row.kind, row.disposition, row.hits)];
    if row.locations.len() > 1 {
        lines.extend(row.locations.iter().map(|one| format!("       {}", location(one))));
    }
    let note = |text: String| format!("       {text}");
    let sources: BTreeSet<&String> = row.locations.iter().filter_map(|one| one.source.as_ref()).collect();
    if let (1, Some(source)) = (sources.len(), sources.first()) {
        lines.push(note((*source).clone()));
    }
    lines.extend(row.message.iter().map(|message| note(format!("prints {message}"))));
    if row.filter != Default::default() {
        lines.push(note(format!("only {}", row.filter)));
    }
    lines.extend(row.condition.iter().map(|condition| note(format!("only if {condition}"))));
    if row.ignore > 0 {
        lines.push(note(format!("passes {} more times", row.ignore)));
    }
    lines.extend(row.commands.iter().map(|command| note(format!("  {command}"))));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// What a query found: events or counts, a line each, and how often.
fn found_text(found: &FoundText) -> String {
    let event = |event: &EventRow| {
        let [x, y, z] = event.block;
        let value = event.value.as_ref().map_or(String::new(), |value| format!("   {value}"));
        let thread = format!("block ({x},{y},{z}) {} {}", event.warp, event.lanes.describe());
        format!("t={}  {thread}  {}  {}{value}\n", grouped(event.time), event.place, event.statement)
    };
    let width = found.groups.iter().map(|row| grouped(row.times).len()).max().unwrap_or(0);
    let group = |row: &GroupRow| format!("{:>width$}  {}\n", grouped(row.times), row.what);
    let rows: String = found.events.iter().map(event).chain(found.groups.iter().map(group)).collect();
    let left_out = found.instructions.saturating_sub(found.events.len() as u64);
    let more = match (found.events.len(), left_out) {
        (2.., 1..) => format!("{} more are not listed\n", grouped(left_out)),
        _ => String::new(),
    };
    let interrupted = if found.interrupted { ", interrupted" } else { "" };
    let plural = if found.instructions == 1 { "" } else { "s" };
    let counted = format!("{} {}{plural}", grouped(found.instructions), found.counted);
    let (times, by) = match found.times {
        1 => ("once".to_string(), "a thread"),
        times => (format!("{} times", grouped(times)), "threads"),
    };
    let from = if found.from == Tick::START { String::new() } else { format!(" from t={}", grouped(found.from)) };
    let of_block = found.block.map_or(String::new(), |block| format!(" in block {}", Dim3(block)));
    let until = format!("{of_block}{from} up to t={}", grouped(found.until));
    let no_value =
        found.no_value.as_ref().map_or(String::new(), |reason| format!("the condition had no value where it was tried: {reason}\n"));
    match found.counted {
        "finding" if found.instructions == 0 => format!("no findings{until}\n"),
        "finding" => format!("{rows}{counted}, {times} in all,{until}\n"),
        // The search ends at the first.
        _ if found.is_first && found.times > 0 => format!("{rows}the first{until}{interrupted}\n"),
        _ => format!("{rows}{more}{times} by {by} ({counted}){until}{interrupted}\n{no_value}"),
    }
}

/// The writes to a location, a line for each.
fn writes(what: &str, (writes, changes): (&[WatchedAccessText], &[UserChange]), unchanged: usize, interrupted: bool) -> String {
    let change = |change: &UserChange| {
        let value = change.value.as_ref().map_or(String::new(), |value| format!(" to {}", in_a_line(value, LaneMask::NONE)));
        format!("t={}  changed by hand{value}", grouped(change.time))
    };
    let mut rows: Vec<(Tick, bool, String)> = changes.iter().map(|row| (row.time, false, change(row))).collect();
    rows.extend(writes.iter().map(|write| (write.site.time, true, watched_access(write))));
    rows.sort_by_key(|(time, is_write, _)| (*time, *is_write));
    let mut text: String = rows.iter().map(|(.., row)| format!("{row}\n")).collect();
    if unchanged > 0 {
        let (noun, verb) = if unchanged == 1 { ("write", "is") } else { ("writes", "are") };
        text += &format!("{} more {noun} of the value that it had {verb} not listed\n", grouped(unchanged as u64));
    }
    if interrupted {
        text += "interrupted before the search was done\n";
    } else if rows.is_empty() {
        text = format!("{what} has not been written: its value is the one it had at the start\n");
    }
    text
}

/// `t=8,102  block (0,0,0) warp 1 lane 5  collatz.ptx:37  mad.lo.s32 %r7, %r7, 3, 1   9 → 28`
pub fn watched_access(watched_access: &WatchedAccessText) -> String {
    let copy = match watched_access.copy {
        None => String::new(),
        Some((kind, id, Some(time))) => format!("   ({kind} #{id}, which ended at t={})", grouped(time)),
        Some((kind, id, None)) => format!("   ({kind} #{id} is in flight: poison until it ends)"),
    };
    let element = watched_access.element.as_ref().map_or(String::new(), |element| format!("{element}: "));
    let more = match watched_access.more {
        0 => String::new(),
        1 => ", and 1 more element".to_string(),
        more => format!(", and {more} more elements"),
    };
    let note = watched_access.note.as_ref().map_or(String::new(), |note| format!("   ({note})"));
    format!("{}   {element}{} → {}{more}{copy}{note}", short_site(&watched_access.site), watched_access.old, watched_access.new)
}

fn marks(marks: &[(String, Mark)]) -> String {
    if marks.is_empty() {
        return "there are no marks\n".to_string();
    }
    let width = marks.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let row = |(name, mark): &(String, Mark)| format!("{name:width$}  t={}  {}  {}", grouped(mark.time), mark.focus, mark.place);
    marks.iter().map(|mark| row(mark).trim_end().to_string() + "\n").collect()
}

fn when(now: Tick, recorded: Tick, end: Option<&End>) -> String {
    let so_far = match end {
        None => format!("executed up to {}", grouped(recorded)),
        Some(End::Done) => format!("the run ends at {}", grouped(recorded)),
        Some(End::Fault(fault)) => format!("{} at {}", fault.id.word(), grouped(recorded)),
        Some(End::Broken(_)) => format!("the run cannot continue at {}", grouped(recorded)),
    };
    format!("t={}: {so_far}\n", grouped(now))
}
