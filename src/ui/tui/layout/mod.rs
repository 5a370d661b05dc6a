//! Layouts: the panes, and their division of the screen.
//!
//! A layout is a tree. A split divides its area among its parts; a leaf is a pane. A part has a fixed `size`, or a `share` of the remaining
//! area. It gets at least its `min`, and no more rows than it can fill: empty panes are hidden. If there is not enough for all `min`, the
//! last parts are hidden, so that a layout for a large screen works on a small one.

pub mod file;
pub mod layouts;

use ratatui::layout::Rect;
use serde::{Deserialize, Serialize};

use super::panes::Pane;

/// A layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// What it is for, in one line.
    #[serde(default)]
    pub about: String,
    /// All panes.
    pub root: Node,
}

/// A pane, or a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Node {
    /// Parts above each other.
    Rows(Vec<Part>),
    /// Parts beside each other.
    Columns(Vec<Part>),
    /// A pane.
    Pane(Pane),
}

/// A part of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its size in rows or columns; `None` if it has a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u16>,
    /// Its weight in the division of the remaining area.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub share: u16,
    /// It gets at least N rows or columns, and is hidden if there are not enough.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min: u16,
    /// Its contents.
    pub of: Node,
}

/// The position of a pane.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<'l> {
    /// The pane.
    pub pane: &'l Pane,
    /// Its number in the layout.
    pub number: usize,
    /// The area, including the row of its title.
    pub area: Rect,
}

/// The positions of all panes and separators.
#[derive(Default)]
pub struct Arrangement<'l> {
    /// The visible panes.
    pub panes: Vec<Placed<'l>>,
    /// Columns between panes, one cell wide.
    pub separators: Vec<Rect>,
}

impl Arrangement<'_> {
    /// True if the pane with this number is visible.
    pub fn shows(&self, number: usize) -> bool {
        self.panes.iter().any(|placed| placed.number == number)
    }
}

impl Layout {
    /// The arrangement for a screen of this area. `rows` is for each pane the number of rows that it can fill, 0 for an empty one, which is
    /// hidden, and none for one that fills any number.
    pub fn arrange(&self, area: Rect, rows: &[Option<u16>]) -> Arrangement<'_> {
        let mut arrangement = Arrangement::default();
        arrange_node(&self.root, area, (&mut 0, rows), &mut arrangement);
        arrangement
    }

    /// All panes.
    pub fn panes(&self) -> Vec<&Pane> {
        let mut panes = Vec::new();
        collect(&self.root, &mut panes);
        panes
    }
}

fn collect<'l>(node: &'l Node, panes: &mut Vec<&'l Pane>) {
    match node {
        Node::Pane(pane) => panes.push(pane),
        Node::Rows(parts) | Node::Columns(parts) => parts.iter().for_each(|part| collect(&part.of, panes)),
    }
}

/// The number of rows that a node can fill, with those of titles; none for any number. `number` is the number of its next pane.
fn rows_of(node: &Node, number: &mut usize, rows: &[Option<u16>]) -> Option<u16> {
    let parts = match node {
        Node::Pane(_) => {
            let wanted = rows.get(*number).copied().flatten();
            *number += 1;
            return wanted.map(|wanted| if wanted == 0 { 0 } else { wanted.saturating_add(1) });
        }
        Node::Rows(parts) | Node::Columns(parts) => parts,
    };
    let wanted: Vec<Option<u16>> = parts.iter().map(|part| rows_of(&part.of, number, rows)).collect();
    let join = if matches!(node, Node::Rows(_)) { u16::saturating_add } else { u16::max };
    wanted.into_iter().try_fold(0, |sum, wanted| wanted.map(|wanted| join(sum, wanted)))
}

/// Adds the positions of the panes of `node`. `number` is the number of the next pane, which includes hidden panes.
fn arrange_node<'l>(node: &'l Node, area: Rect, (number, rows): (&mut usize, &[Option<u16>]), into: &mut Arrangement<'l>) {
    let (parts, is_rows) = match node {
        Node::Pane(pane) => {
            if !area.is_empty() {
                into.panes.push(Placed { pane, number: *number, area });
            }
            *number += 1;
            return;
        }
        Node::Rows(parts) => (parts, true),
        Node::Columns(parts) => (parts, false),
    };
    let (total, gap) = if is_rows { (area.height, 0) } else { (area.width, 1) };
    let mut next = *number;
    let limits: Vec<Option<u16>> = parts.iter().map(|part| rows_of(&part.of, &mut next, rows)).collect();
    // Beside each other, only an empty pane gives its room away.
    let limits: Vec<Option<u16>> =
        if is_rows { limits } else { limits.into_iter().map(|limit| limit.filter(|limit| *limit == 0)).collect() };
    let mut at = 0;
    for (part, size) in parts.iter().zip(sizes(parts, &limits, total, gap)) {
        if size > 0 && at > 0 && gap > 0 {
            into.separators.push(Rect::new(area.x + at, area.y, 1, area.height));
            at += gap;
        }
        let inside = match is_rows {
            true => Rect { y: area.y + at, height: size, ..area },
            false => Rect { x: area.x + at, width: size, ..area },
        };
        at += size;
        arrange_node(&part.of, inside, (number, rows), into);
    }
}

/// The sizes of the parts of a split of size `total`, with gaps between visible parts; 0 for hidden ones: those with a limit of 0, unless
/// all have it. While a part gets less than its minimum, the last such part is hidden, and the area is divided again.
fn sizes(parts: &[Part], limits: &[Option<u16>], total: u16, gap: u16) -> Vec<u16> {
    let mut visible: Vec<bool> = limits.iter().map(|limit| *limit != Some(0)).collect();
    if !visible.contains(&true) {
        visible = vec![true; parts.len()];
    }
    loop {
        let sizes = distributed(parts, &visible, limits, (total, gap));
        let count = visible.iter().filter(|visible| **visible).count();
        let too_small = (0..parts.len()).rev().find(|index| visible[*index] && sizes[*index] < minimum(&parts[*index], limits[*index]));
        match too_small {
            Some(index) if count > 1 => visible[index] = false,
            _ => return sizes,
        }
    }
}

/// The minimum size of a part: what it asks for, but no more than it can fill.
fn minimum(part: &Part, limit: Option<u16>) -> u16 {
    part.min.min(limit.unwrap_or(u16::MAX)).max(part.size.unwrap_or(0)).max(1)
}

/// Divides an area among the visible parts by their shares. A part whose share is less than its minimum or more than its limit gets those
/// instead, and the others share the rest. What no other part can fill goes to the first without a limit.
fn distributed(parts: &[Part], visible: &[bool], limits: &[Option<u16>], (total, gap): (u16, u16)) -> Vec<u16> {
    let count = visible.iter().filter(|visible| **visible).count();
    let gaps = usize::from(gap) * count.saturating_sub(1);
    let mut remaining = u32::from(total).saturating_sub(u32::try_from(gaps).unwrap_or(u32::MAX));
    let mut sizes = vec![0; parts.len()];
    let is_alone = count == 1;
    let is_fixed = |index: usize| !is_alone && parts[index].size.is_some();
    for index in (0..parts.len()).filter(|index| visible[*index] && is_fixed(*index)) {
        sizes[index] = take(&mut remaining, u32::from(parts[index].size.unwrap_or(0)));
    }
    let filler = (0..parts.len()).find(|index| visible[*index] && !is_fixed(*index) && limits[*index].is_none());
    let mut sharing: Vec<usize> = (0..parts.len()).filter(|index| visible[*index] && !is_fixed(*index)).collect();
    loop {
        let shares: u32 = sharing.iter().map(|index| u32::from(parts[*index].share.max(1))).sum();
        let share = |index: usize| remaining * u32::from(parts[index].share.max(1)) / shares.max(1);
        let minimum = |index: usize| u32::from(minimum(&parts[index], limits[index]));
        let limit = |index: usize| limits[index].map_or(u32::MAX, u32::from).max(1);
        let below = sharing.iter().copied().find(|index| share(*index) < minimum(*index)).map(|index| (index, minimum(index)));
        let above = || sharing.iter().copied().find(|index| share(*index) > limit(*index)).map(|index| (index, limit(index)));
        // The last one gets all that remains.
        let is_last = sharing.len() == 1 && filler.is_none_or(|filler| sharing.contains(&filler));
        let Some((index, size)) = below.or_else(above).filter(|_| !is_last) else { break };
        sizes[index] = take(&mut remaining, size);
        sharing.retain(|other| *other != index);
    }
    let mut shares: u32 = sharing.iter().map(|index| u32::from(parts[*index].share.max(1))).sum();
    for index in sharing {
        let share = u32::from(parts[index].share.max(1));
        let size = remaining * share / shares.max(1);
        shares -= share;
        sizes[index] = take(&mut remaining, size);
    }
    if let Some(filler) = filler {
        sizes[filler] += take(&mut remaining, u32::MAX);
    }
    sizes
}

/// Takes `size` from what remains, or all of it.
fn take(remaining: &mut u32, size: u32) -> u16 {
    let size = size.min(*remaining);
    *remaining -= size;
    size as u16
}

fn one() -> u16 {
    1
}

fn is_one(share: &u16) -> bool {
    *share == 1
}

fn is_zero(min: &u16) -> bool {
    *min == 0
}
