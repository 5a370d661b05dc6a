//! The text of asynchronous operations in flight: copies, `wgmma`s and their commit groups.

use super::report::{actor, code_place, grouped};
use super::table::Table;
use crate::base::Dim3;
use crate::debug::view::{
    AsyncGroup, CopySide, FlightBytes, FlightEnd, FlightKind, FlightRow, GroupKind, InFlight, PlaceRange, WarpGroups,
};

/// `info async`
pub fn in_flight(view: &InFlight) -> Table {
    let mut table = Table::new(&[">copy", "kind", ">bytes", "from", "to", "completes on", ">issued", "by", "at"]);
    for row in &view.rows {
        let FlightRow { id, kind, bytes, from, to, end, issued, by, focused } = row;
        let cells = [
            format!("#{id}"),
            self::kind(kind),
            self::bytes(*bytes),
            ranges(from),
            ranges(to),
            self::end(end),
            format!("t={}", grouped(*issued)),
            actor(by, view.block),
            code_place(&by.at),
        ];
        table.push(*focused, cells);
    }
    let notes = notes(view);
    table.note = (!notes.is_empty()).then(|| notes.join("\n"));
    table
}

/// The commit groups, and the number of rows that are not listed.
fn notes(view: &InFlight) -> Vec<String> {
    let mut notes: Vec<String> = view.rows.is_empty().then(|| nothing(view)).into_iter().collect();
    notes.extend(view.groups.iter().map(groups));
    if view.left_out > 0 {
        let what = if view.wgmmas.unwrap_or(0) > 0 { "in flight" } else { "copies" };
        notes.push(format!("and {} more {what}", view.left_out));
    }
    if let Some([x, y, z]) = view.elsewhere_first {
        let copies = if view.elsewhere == 1 { "copy" } else { "copies" };
        notes.push(format!("{} {copies} of other blocks: 'info async block {x},{y},{z}'", view.elsewhere));
    }
    notes
}

fn nothing(view: &InFlight) -> String {
    let why = view.ends_at_issue.map_or(String::new(), |policy| format!(": with --async {policy}, copies end as they are issued"));
    let what = if view.wgmmas.is_some() { "no copy or wgmma" } else { "no copy" };
    format!("{what} of block {} is in flight{why}", Dim3(view.block))
}

/// `bulk g→s`, `tensor g→s`, `cp.async`, `red.async`
fn kind(kind: &FlightKind) -> String {
    let side = |side: &CopySide| match side {
        CopySide::Global => "g",
        CopySide::Shared => "s",
        CopySide::Peer => "peer",
    };
    match kind {
        FlightKind::Lanes => "cp.async".to_string(),
        FlightKind::Bulk { tensor, reduces, from, to, read } => {
            let name = match (tensor, reduces) {
                (false, false) => "bulk",
                (false, true) => "bulk red",
                (true, false) => "tensor",
                (true, true) => "tensor red",
            };
            format!("{name} {}→{}{}", side(from), side(to), if *read { ", read" } else { "" })
        }
        FlightKind::Store { reduces: true } => "red.async".to_string(),
        FlightKind::Store { reduces: false } => "st.async".to_string(),
        FlightKind::Arrival => "arrive".to_string(),
        FlightKind::Wgmma(shape) => format!("wgmma {shape}"),
    }
}

/// `16,384`, `32 x 16`
fn bytes(bytes: FlightBytes) -> String {
    match bytes {
        FlightBytes::None => String::new(),
        FlightBytes::PerLane { lanes: 1, bytes } => bytes.to_string(),
        FlightBytes::PerLane { lanes, bytes } => format!("{lanes} x {bytes}"),
        FlightBytes::Store(bytes) => bytes.to_string(),
        FlightBytes::All(bytes) => grouped(bytes),
    }
}

/// `A+0x8000`; for several separate ranges, `A+0x0 … A+0x700`.
fn ranges(ranges: &[PlaceRange]) -> String {
    let range = |PlaceRange { first, last }: &PlaceRange| last.as_ref().map_or(first.clone(), |last| format!("{first} … {last}"));
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// `full[1]`, `bulk group 0 (open)`
fn end(end: &FlightEnd) -> String {
    match end {
        FlightEnd::Mbarrier { name, arrival: None } => name.clone(),
        FlightEnd::Mbarrier { name, arrival: Some(arrival) } => format!("{name} by #{arrival}"),
        FlightEnd::Group { kind, number, open } => format!("{} {number}{}", group_name(*kind), if *open { " (open)" } else { "" }),
    }
}

fn group_name(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::Lanes => "group",
        GroupKind::Bulk => "bulk group",
        GroupKind::Wgmma => "wgmma group",
    }
}

/// `warp 4: group 1 open (2 copies); group 0 committed (1 copy), not waited for`
fn groups(groups: &WarpGroups) -> String {
    format!("{}: {}", groups.warps.describe(), groups.groups.iter().map(group).collect::<Vec<_>>().join("; "))
}

fn group(group: &AsyncGroup) -> String {
    let AsyncGroup { kind, number, open, members, awaited, read } = group;
    let (one, many) = match kind {
        GroupKind::Lanes | GroupKind::Bulk => ("copy", "copies"),
        GroupKind::Wgmma => ("wgmma", "wgmmas"),
    };
    let (name, count) = (group_name(*kind), format!("{members} {}", if *members == 1 { one } else { many }));
    match (open, awaited) {
        (true, false) => format!("{name} {number} open ({count})"),
        (true, true) => format!("{name} {number} open ({count}), waited for"),
        (false, true) => format!("{name} {number} committed ({count}), waited for"),
        (false, false) if *read => format!("{name} {number} committed ({count}), reads waited for"),
        (false, false) => format!("{name} {number} committed ({count}), not waited for"),
    }
}
