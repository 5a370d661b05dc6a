//! Layouts: which panes there are and how they share the screen.
//!
//! A layout is a tree. A split divides its area among its parts; a leaf is a pane. A part has a fixed `size`, or a `share` of what is
//! left; one that would get less than its `min` is left out, so that a layout made for a large screen works on a small one.

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
    /// Rows or columns it takes; none if it takes a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u16>,
    /// Its share of what is left, compared with the other shares.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub share: u16,
    /// Left out where it would get fewer rows or columns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min: u16,
    /// What is in it.
    pub of: Node,
}

/// Where a pane and its title are.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<'l> {
    /// The pane.
    pub pane: &'l Pane,
    /// Its number in the layout.
    pub number: usize,
    /// The row of its title, and the rows below.
    pub area: Rect,
}

/// Where everything is.
#[derive(Default)]
pub struct Arrangement<'l> {
    /// The panes that have room.
    pub panes: Vec<Placed<'l>>,
    /// Columns between panes, one cell wide.
    pub separators: Vec<Rect>,
}

impl Layout {
    /// Where everything is when the screen has this area.
    pub fn arrange(&self, area: Rect) -> Arrangement<'_> {
        let mut arrangement = Arrangement::default();
        place(&self.root, area, &mut 0, &mut arrangement);
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

/// `number` is that of the next pane: those without room are counted too, so that a pane keeps its number.
fn place<'l>(node: &'l Node, area: Rect, number: &mut usize, into: &mut Arrangement<'l>) {
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
        place(&part.of, inside, number, into);
    }
}

/// How much of `total` each part gets, with a gap before all but the first that get something. The last part that would get less than
/// its least is left out, and those that are left share anew.
fn sizes(parts: &[Part], total: u16, gap: u16) -> Vec<u16> {
    let mut kept: Vec<bool> = vec![true; parts.len()];
    loop {
        let sizes = shared(parts, &kept, total, gap);
        let least = |part: &Part| part.min.max(part.size.unwrap_or(0)).max(1);
        let count = kept.iter().filter(|kept| **kept).count();
        let too_small = (0..parts.len()).rev().find(|index| kept[*index] && sizes[*index] < least(&parts[*index]));
        match too_small {
            Some(index) if count > 1 => kept[index] = false,
            _ => return sizes,
        }
    }
}

fn shared(parts: &[Part], kept: &[bool], total: u16, gap: u16) -> Vec<u16> {
    let count = kept.iter().filter(|kept| **kept).count();
    let gaps = usize::from(gap) * count.saturating_sub(1);
    let mut left = u32::from(total).saturating_sub(u32::try_from(gaps).unwrap_or(u32::MAX));
    let mut sizes = vec![0; parts.len()];
    let is_alone = count == 1;
    let is_fixed = |index: usize| !is_alone && parts[index].size.is_some();
    for index in (0..parts.len()).filter(|index| kept[*index] && is_fixed(*index)) {
        let size = u32::from(parts[index].size.unwrap_or(0)).min(left);
        (sizes[index], left) = (size as u16, left - size);
    }
    let sharing: Vec<usize> = (0..parts.len()).filter(|index| kept[*index] && !is_fixed(*index)).collect();
    let mut shares: u32 = sharing.iter().map(|index| u32::from(parts[*index].share.max(1))).sum();
    for index in sharing {
        let share = u32::from(parts[index].share.max(1));
        let size = left * share / shares;
        (sizes[index], left, shares) = (size as u16, left - size, shares - share);
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
