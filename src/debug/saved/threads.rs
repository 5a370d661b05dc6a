//! Checks that the threads in a session file are threads of its launches: the file may have been edited.

use super::{Saved, SavedLaunch};
use crate::debug::breakpoints::Trigger;
use crate::debug::edit::Edit;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::target::Target;
use crate::debug::timeline::Input;
use crate::isa::Space;
use crate::machine::LANES;

/// A thread, a warp or a block in a session file, and the entry that refers to it.
struct ThreadReference {
    what: String,
    block: Option<[u32; 3]>,
    warp: Option<u32>,
    lane: Option<u32>,
}

impl Saved {
    /// Checks that every thread in the file exists in one of its launches.
    ///
    /// # Errors
    /// The first one that does not, in one line.
    pub(super) fn check_threads(&self) -> Result<(), String> {
        let missing =
            self.thread_references().into_iter().find(|reference| !self.run.launches.iter().any(|launch| launch.contains(reference)));
        match missing {
            Some(ThreadReference { what, block, warp, lane }) => {
                let block = block.map(|[x, y, z]| format!("block {x},{y},{z}"));
                let words = [block, warp.map(|warp| format!("warp {warp}")), lane.map(|lane| format!("lane {lane}"))];
                let words: Vec<String> = words.into_iter().flatten().collect();
                Err(format!("{what} names {}, which no launch of this session has", words.join(" ")))
            }
            None => Ok(()),
        }
    }

    fn thread_references(&self) -> Vec<ThreadReference> {
        let mut references = vec![of_focus("the focus", &self.focus)];
        references.extend(self.marks.by_time().into_iter().map(|(name, mark)| of_focus(&format!("the mark '{name}'"), &mark.focus)));
        for breakpoint in &self.breakpoints {
            let what = format!("breakpoint {}", breakpoint.number);
            references.push(of_filter(&what, &breakpoint.filter));
            if let Trigger::Watch(target, _) = &breakpoint.trigger {
                references.extend(of_target(&what, target));
            }
        }
        for (time, input) in &self.inputs {
            let what = format!("the input at time {time}");
            match input {
                Input::Turn { block, warp } => {
                    references.push(ThreadReference { what, block: Some(*block), warp: Some(*warp), lane: None });
                }
                Input::Edits(edits) => references.extend(edits.iter().filter_map(|edit| of_edit(&what, edit))),
                Input::EndTurn | Input::Complete(_) => {}
            }
        }
        references
    }
}

impl SavedLaunch {
    fn contains(&self, reference: &ThreadReference) -> bool {
        let threads: u64 = self.block.iter().map(|extent| u64::from(*extent)).product();
        let first = u64::from(reference.warp.unwrap_or(0)) * LANES as u64 + u64::from(reference.lane.unwrap_or(0));
        let has_block = reference.block.is_none_or(|block| block.iter().zip(&self.grid).all(|(index, extent)| index < extent));
        has_block && reference.lane.is_none_or(|lane| lane < LANES as u32) && first < threads
    }
}

fn of_focus(what: &str, focus: &Focus) -> ThreadReference {
    ThreadReference { what: what.to_string(), block: Some(focus.block), warp: Some(focus.warp), lane: Some(focus.lane) }
}

fn of_filter(what: &str, filter: &ThreadFilter) -> ThreadReference {
    ThreadReference { what: what.to_string(), block: filter.block, warp: filter.warp, lane: None }
}

fn of_target(what: &str, target: &Target) -> Option<ThreadReference> {
    match target {
        Target::Register(target) => {
            Some(ThreadReference { what: what.to_string(), block: Some(target.block), warp: Some(target.warp), lane: None })
        }
        Target::Memory(target) => of_owner(what, target.space, &target.owner),
        Target::Variable(target) => {
            Some(ThreadReference { what: what.to_string(), block: Some(target.block), warp: Some(target.warp), lane: None })
        }
    }
}

/// The owner of memory in `space`, if that is a thread's or a block's.
fn of_owner(what: &str, space: Space, owner: &Focus) -> Option<ThreadReference> {
    match space {
        Space::Shared | Space::SharedCluster | Space::Local => Some(of_focus(what, owner)),
        Space::Generic | Space::Global | Space::Const | Space::Param | Space::ParamFunc => None,
    }
}

fn of_edit(what: &str, edit: &Edit) -> Option<ThreadReference> {
    match edit {
        Edit::Register { block, warp, .. } => {
            Some(ThreadReference { what: what.to_string(), block: Some(*block), warp: Some(*warp), lane: None })
        }
        Edit::Memory { space, owner, .. } => of_owner(what, *space, owner),
    }
}
