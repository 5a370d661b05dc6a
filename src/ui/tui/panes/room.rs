//! The rows that a pane can fill: an empty one gives its room away.

use super::pane::Pane;
use super::{banks, fragment, warps};
use crate::debug::display_list;
use crate::debug::focus::ThreadFilter;
use crate::debug::session::Session;
use crate::debug::view::{self, MemorySpace};

impl Pane {
    /// The number of rows that the pane can fill, without its title; 0 if there is nothing to show, none for one that fills any number.
    pub fn rows(&self, session: &Session) -> Option<u16> {
        let eval_context = session.eval_context();
        let of_block = ThreadFilter::default();
        let mbarriers = || view::mbarrier_views(&eval_context).map_or(0, |views| views.len());
        let rows = match self {
            Pane::Source { .. } | Pane::Cfg | Pane::Registers { .. } | Pane::Locals => return None,
            Pane::Warps => warps::rows(&eval_context),
            Pane::Timeline | Pane::Console | Pane::Help => return None,
            Pane::Original { .. } => full_unless(view::original_line(&eval_context).is_none())?,
            Pane::Findings => match session.findings().len() {
                0 => 1,
                _ => return None,
            },
            Pane::Memory { of, only, .. } => {
                // The memory of a block ends with it.
                let is_gone = matches!(of, MemorySpace::Shared | MemorySpace::Local) && eval_context.block().is_err();
                full_unless(is_gone || !view::memory_objects(&eval_context, *of).iter().any(|object| object.name.contains(only)))?
            }
            Pane::Sync => listed(view::barriers(&eval_context, &of_block).map_or(0, |barriers| barriers.len())),
            Pane::Mbarriers => listed(mbarriers()),
            Pane::Copies => {
                let copies = view::copies(&eval_context, &of_block);
                listed(copies.rows.len()) + copies.groups.len() + usize::from(copies.elsewhere + copies.left_out > 0)
            }
            // At most a row for each mbarrier, and the heading.
            Pane::Pipeline => match mbarriers() {
                0 => 0,
                mbarriers => mbarriers + 1,
            },
            Pane::Stack => match view::backtrace(&eval_context, usize::MAX).map_or(0, |stack| stack.frames.len()) {
                0 | 1 => 0,
                frames => listed(frames),
            },
            Pane::Banks => view::banks(&eval_context).map_or(0, |view| banks::rows(&view)),
            Pane::Writes => view::writes_of_next(&eval_context).map_or(0, |view| listed(view.rows.len())),
            Pane::Fragments => view::operand_fragments(&eval_context).map_or(0, |fragments| fragment::rows(&fragments)),
            Pane::Displays => listed(display_list::numbered(&session.displays).count()),
            Pane::Breakpoints => listed(session.breakpoints.iter().count()),
        };
        Some(u16::try_from(rows).unwrap_or(u16::MAX))
    }
}

/// No number of rows, or 0 if the pane is empty.
fn full_unless(empty: bool) -> Option<usize> {
    empty.then_some(0)
}

/// The rows of a table: with a header, if there are several.
fn listed(rows: usize) -> usize {
    if rows > 1 { rows + 1 } else { rows }
}
