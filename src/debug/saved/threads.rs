//! Whether the threads that a session file names are threads of its launches: a file may have been changed by hand.

use super::{Saved, SavedLaunch};
use crate::debug::breakpoints::Trigger;
use crate::debug::edit::Edit;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::target::Target;
use crate::debug::timeline::Input;
use crate::isa::Space;
use crate::machine::LANES;

/// A thread, a warp or a block that a file names, and where it does so.
struct Named {
    what: String,
    block: Option<[u32; 3]>,
    warp: Option<u32>,
    lane: Option<u32>,
}

impl Saved {
    /// Whether every thread that the file names exists in one of its launches.
    ///
    /// # Errors
    /// The first one that does not, in one line.
    pub(super) fn check_threads(&self) -> Result<(), String> {
        let missing = self.named_threads().into_iter().find(|named| !self.run.launches.iter().any(|launch| launch.has(named)));
        match missing {
            Some(Named { what, block, warp, lane }) => {
                let block = block.map(|[x, y, z]| format!("block {x},{y},{z}"));
                let words = [block, warp.map(|warp| format!("warp {warp}")), lane.map(|lane| format!("lane {lane}"))];
                let words: Vec<String> = words.into_iter().flatten().collect();
                Err(format!("{what} names {}, which no launch of this session has", words.join(" ")))
            }
            None => Ok(()),
        }
    }

    fn named_threads(&self) -> Vec<Named> {
        let mut named = vec![of_focus("the focus", &self.focus)];
        named.extend(self.marks.by_time().into_iter().map(|(name, mark)| of_focus(&format!("the mark '{name}'"), &mark.focus)));
        for breakpoint in &self.breakpoints {
            let what = format!("breakpoint {}", breakpoint.number);
            named.push(of_filter(&what, &breakpoint.filter));
            if let Trigger::Watch(target, _) = &breakpoint.trigger {
                named.extend(of_target(&what, target));
            }
        }
        for (time, input) in &self.inputs {
            let what = format!("the input at time {time}");
            match input {
                Input::Turn { block, warp } => named.push(Named { what, block: Some(*block), warp: Some(*warp), lane: None }),
                Input::Edits(edits) => named.extend(edits.iter().filter_map(|edit| of_edit(&what, edit))),
                Input::EndTurn | Input::Complete(_) => {}
            }
        }
        named
    }
}

impl SavedLaunch {
    fn has(&self, named: &Named) -> bool {
        let threads: u64 = self.block.iter().map(|extent| u64::from(*extent)).product();
        let first = u64::from(named.warp.unwrap_or(0)) * LANES as u64 + u64::from(named.lane.unwrap_or(0));
        let has_block = named.block.is_none_or(|block| block.iter().zip(&self.grid).all(|(index, extent)| index < extent));
        has_block && named.lane.is_none_or(|lane| lane < LANES as u32) && first < threads
    }
}

fn of_focus(what: &str, focus: &Focus) -> Named {
    Named { what: what.to_string(), block: Some(focus.block), warp: Some(focus.warp), lane: Some(focus.lane) }
}

fn of_filter(what: &str, filter: &ThreadFilter) -> Named {
    Named { what: what.to_string(), block: filter.block, warp: filter.warp, lane: None }
}

fn of_target(what: &str, target: &Target) -> Option<Named> {
    match target {
        Target::Register(target) => Some(Named { what: what.to_string(), block: Some(target.block), warp: Some(target.warp), lane: None }),
        Target::Memory(target) => of_owner(what, target.space, &target.owner),
    }
}

/// The owner of memory in `space`, if that is a thread's or a block's.
fn of_owner(what: &str, space: Space, owner: &Focus) -> Option<Named> {
    match space {
        Space::Shared | Space::SharedCluster | Space::Local => Some(of_focus(what, owner)),
        Space::Generic | Space::Global | Space::Const | Space::Param | Space::ParamFunc => None,
    }
}

fn of_edit(what: &str, edit: &Edit) -> Option<Named> {
    match edit {
        Edit::Register { block, warp, .. } => Some(Named { what: what.to_string(), block: Some(*block), warp: Some(*warp), lane: None }),
        Edit::Memory { space, owner, .. } => of_owner(what, *space, owner),
    }
}
