//! Layouts: the panes, and their division of the screen.
//!
//! A layout is a tree. A split divides its area among its parts; a leaf is a pane. A part has a fixed `size`, or a `share` of the remaining
//! area; a part that would get less than its `min` is hidden, so that a layout for a large screen works on a small one.

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
    /// It is hidden if it would get fewer rows or columns.
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

impl Layout {
    /// The arrangement for a screen of this area.
    pub fn arrange(&self, area: Rect) -> Arrangement<'_> {
        let mut arrangement = Arrangement::default();
        arrange_node(&self.root, area, &mut 0, &mut arrangement);
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

/// Adds the positions of the panes of `node`. `number` is the number of the next pane, which includes hidden panes.
fn arrange_node<'l>(node: &'l Node, area: Rect, number: &mut usize, into: &mut Arrangement<'l>) {
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
    let mut at = 0;
    for (part, size) in parts.iter().zip(sizes(parts, total, gap)) {
        if size > 0 && at > 0 && gap > 0 {
            into.separators.push(Rect::new(area.x + at, area.y, 1, area.height));
            at += gap;
        }
        let inside = match is_rows {
            true => Rect { y: area.y + at, height: size, ..area },
            false => Rect { x: area.x + at, width: size, ..area },
        };
        at += size;
        arrange_node(&part.of, inside, number, into);
    }
}

/// The sizes of the parts of a split of size `total`, with gaps between visible parts; 0 for hidden ones. While a part gets less than its
/// minimum, the last such part is hidden, and the area is divided again.
fn sizes(parts: &[Part], total: u16, gap: u16) -> Vec<u16> {
    let mut visible: Vec<bool> = vec![true; parts.len()];
    loop {
        let sizes = distributed(parts, &visible, total, gap);
        let minimum = |part: &Part| part.min.max(part.size.unwrap_or(0)).max(1);
        let count = visible.iter().filter(|visible| **visible).count();
        let too_small = (0..parts.len()).rev().find(|index| visible[*index] && sizes[*index] < minimum(&parts[*index]));
        match too_small {
            Some(index) if count > 1 => visible[index] = false,
            _ => return sizes,
        }
    }
}

fn distributed(parts: &[Part], visible: &[bool], total: u16, gap: u16) -> Vec<u16> {
    let count = visible.iter().filter(|visible| **visible).count();
    let gaps = usize::from(gap) * count.saturating_sub(1);
    let mut remaining = u32::from(total).saturating_sub(u32::try_from(gaps).unwrap_or(u32::MAX));
    let mut sizes = vec![0; parts.len()];
    let is_alone = count == 1;
    let is_fixed = |index: usize| !is_alone && parts[index].size.is_some();
    for index in (0..parts.len()).filter(|index| visible[*index] && is_fixed(*index)) {
        let size = u32::from(parts[index].size.unwrap_or(0)).min(remaining);
        (sizes[index], remaining) = (size as u16, remaining - size);
    }
    let sharing: Vec<usize> = (0..parts.len()).filter(|index| visible[*index] && !is_fixed(*index)).collect();
    let mut shares: u32 = sharing.iter().map(|index| u32::from(parts[*index].share.max(1))).sum();
    for index in sharing {
        let share = u32::from(parts[index].share.max(1));
        let size = remaining * share / shares;
        (sizes[index], remaining, shares) = (size as u16, remaining - size, shares - share);
    }
    sizes
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
