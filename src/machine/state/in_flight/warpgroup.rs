//! Checks that the four warps of a warpgroup execute the same `wgmma` instructions.

use std::collections::VecDeque;

use triomphe::Arc;

use crate::program::Pc;

/// The number of warps of a warpgroup.
pub const WARPS: u32 = 4;

/// A `wgmma.mma_async` as all warps of the warpgroup must execute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpgroupStep {
    /// The instruction.
    pub pc: Pc,
    /// The descriptor of A; 0 if A is in registers.
    pub a: u64,
    /// The descriptor of B.
    pub b: u64,
    /// True if it adds to D.
    pub accumulates: bool,
}

/// A disagreement between warps of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// This other warp executed this other step instead.
    Other(u32, WarpgroupStep),
    /// This warp has exited without the step.
    Exited(u32),
}

/// The warpgroups of a block. Cheap to clone; none for a block without `wgmma`.
#[derive(Clone, Default, Hash)]
pub struct Warpgroups(Option<Arc<Vec<Warpgroup>>>);

/// The steps that some warps of a warpgroup have executed and others have not.
#[derive(Clone, Default, Hash)]
struct Warpgroup {
    /// The number of steps that each warp has executed.
    executed: [u64; WARPS as usize],
    /// The warps that have exited.
    exited: [bool; WARPS as usize],
    /// The steps that some warp has not executed, each with the warp that executed it first.
    incomplete: VecDeque<(u32, WarpgroupStep)>,
    /// The number of the first step of `incomplete`.
    first: u64,
}

impl Warpgroups {
    /// Records that warp `warp` of the block executes `step`.
    ///
    /// # Errors
    /// If another warp of its warpgroup executed another step, or has exited.
    pub fn execute(&mut self, warp: u32, step: WarpgroupStep) -> Result<(), Disagreement> {
        let (base, own) = (warp / WARPS * WARPS, (warp % WARPS) as usize);
        let group = self.group(warp);
        let number = group.executed[own];
        assert!(number >= group.first, "a step is complete that a warp has not executed");
        let gone = (0..WARPS).find(|other| group.exited[*other as usize] && group.executed[*other as usize] <= number);
        if let Some(other) = gone {
            return Err(Disagreement::Exited(base + other));
        }
        match group.incomplete.get((number - group.first) as usize) {
            Some((other, executed)) if *executed != step => return Err(Disagreement::Other(*other, *executed)),
            Some(_) => {}
            None => group.incomplete.push_back((warp, step)),
        }
        group.executed[own] += 1;
        while group.executed.iter().all(|executed| *executed > group.first) {
            group.incomplete.pop_front();
            group.first += 1;
        }
        let most = group.executed.iter().max().map_or(0, |most| most - group.first);
        assert_eq!(group.incomplete.len() as u64, most, "steps are kept that all warps have taken, or steps are lost");
        Ok(())
    }

    /// Records that warp `warp` of the block has exited.
    ///
    /// # Errors
    /// If another warp of its warpgroup executed a step that this one has not: that warp, and the step.
    pub fn exit(&mut self, warp: u32) -> Result<(), (u32, WarpgroupStep)> {
        if self.0.is_none() {
            return Ok(());
        }
        let own = (warp % WARPS) as usize;
        let group = self.group(warp);
        if let Some(missed) = group.incomplete.get((group.executed[own] - group.first) as usize) {
            return Err(*missed);
        }
        assert!(!group.exited[own], "a warp exits twice");
        group.exited[own] = true;
        Ok(())
    }

    fn group(&mut self, warp: u32) -> &mut Warpgroup {
        let groups = Arc::make_mut(self.0.get_or_insert_default());
        let index = (warp / WARPS) as usize;
        if groups.len() <= index {
            groups.resize_with(index + 1, Warpgroup::default);
        }
        &mut groups[index]
    }
}
