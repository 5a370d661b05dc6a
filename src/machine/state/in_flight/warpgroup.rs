//! Whether the four warps of a warpgroup execute the same.

use std::collections::VecDeque;

use triomphe::Arc;

use crate::program::Pc;

/// Warps of a warpgroup.
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
    /// Whether it adds to D.
    pub accumulates: bool,
}

/// The disagreement between warps of a warpgroup: the other warp and its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// Another warp executed something else in its place: that warp, and what it executed.
    Other(u32, WarpgroupStep),
    /// This warp has exited without it.
    Exited(u32),
}

/// The warpgroups of a block. Cheap to clone, and nothing for a block that never multiplied.
#[derive(Clone, Default, Hash)]
pub struct Warpgroups(Option<Arc<Vec<Warpgroup>>>);

/// The steps that some warps of a warpgroup have executed and others have not.
#[derive(Clone, Default, Hash)]
struct Warpgroup {
    /// The number of steps that each warp has executed.
    executed: [u64; WARPS as usize],
    /// The warps that have exited.
    exited: [bool; WARPS as usize],
    /// The steps that some warp has not executed, with the warp that executed each first.
    ahead: VecDeque<(u32, WarpgroupStep)>,
    /// The number of the first of them.
    first: u64,
}

impl Warpgroups {
    /// Warp `warp` of the block executes `step`.
    ///
    /// # Errors
    /// If another warp of its warpgroup did not, or never will.
    pub fn execute(&mut self, warp: u32, step: WarpgroupStep) -> Result<(), Disagreement> {
        let (base, own) = (warp / WARPS * WARPS, (warp % WARPS) as usize);
        let group = self.group(warp);
        let number = group.executed[own];
        assert!(number >= group.first, "a step is complete that a warp has not executed");
        let gone = (0..WARPS).find(|other| group.exited[*other as usize] && group.executed[*other as usize] <= number);
        if let Some(other) = gone {
            return Err(Disagreement::Exited(base + other));
        }
        match group.ahead.get((number - group.first) as usize) {
            Some((other, executed)) if *executed != step => return Err(Disagreement::Other(*other, *executed)),
            Some(_) => {}
            None => group.ahead.push_back((warp, step)),
        }
        group.executed[own] += 1;
        while group.executed.iter().all(|executed| *executed > group.first) {
            group.ahead.pop_front();
            group.first += 1;
        }
        let most = group.executed.iter().max().map_or(0, |most| most - group.first);
        assert_eq!(group.ahead.len() as u64, most, "steps are kept that all warps have taken, or steps are lost");
        Ok(())
    }

    /// Warp `warp` of the block has exited.
    ///
    /// # Errors
    /// If another warp of its warpgroup executed what it did not: that warp, and what.
    pub fn exit(&mut self, warp: u32) -> Result<(), (u32, WarpgroupStep)> {
        if self.0.is_none() {
            return Ok(());
        }
        let own = (warp % WARPS) as usize;
        let group = self.group(warp);
        if let Some(missed) = group.ahead.get((group.executed[own] - group.first) as usize) {
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
