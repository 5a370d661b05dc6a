//! The user's changes to a run, with their times: together with the launch they determine the whole run.

use serde::{Deserialize, Serialize};

use crate::debug::edit::Edit;
use crate::machine::{Machine, Observer, Tick};

/// A user's change to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// This warp gets the next time slice: others do not run while it is stepped.
    Turn {
        /// Block index.
        block: [u32; 3],
        /// Warp of the block.
        warp: u32,
    },
    /// The time slice of the running warp ends: it waits for other warps.
    EndTurn,
    /// Registers or memory are changed.
    Edits(Vec<Edit>),
    /// This asynchronous copy completes.
    Complete(u64),
}

impl Input {
    /// Changes the machine; `observer` receives the events. False if nothing changes.
    pub fn apply(&self, machine: &mut Machine, observer: &mut dyn Observer) -> bool {
        match self {
            Input::Turn { block, warp } => machine.schedule_warp(*block, *warp),
            Input::EndTurn => {
                machine.end_slice();
                true
            }
            Input::Complete(copy) => machine.complete(*copy, observer).unwrap_or(false),
            Input::Edits(edits) => edits.iter().all(|edit| edit.apply(machine).is_ok()),
        }
    }
}

/// All inputs in order of time. Those before an index are applied to the present state; the others will be applied later.
#[derive(Clone, Default)]
pub struct Inputs(Vec<(Tick, Input)>);

impl From<Vec<(Tick, Input)>> for Inputs {
    fn from(inputs: Vec<(Tick, Input)>) -> Self {
        assert!(inputs.is_sorted_by_key(|(time, _)| *time), "inputs are in order of time");
        Self(inputs)
    }
}

impl Inputs {
    /// All of them.
    pub fn all(&self) -> &[(Tick, Input)] {
        &self.0
    }

    /// The time of input `index`; [`Tick::MAX`] if there is none.
    pub fn next(&self, index: usize) -> Tick {
        self.0.get(index).map_or(Tick::MAX, |(time, _)| *time)
    }

    /// Input `index` if it belongs to `time`.
    pub fn at(&self, time: Tick, index: usize) -> Option<&Input> {
        self.0.get(index).filter(|(at, _)| *at == time).map(|(_, input)| input)
    }

    /// Asserts that exactly the inputs up to `time` are applied to a state at `time`.
    pub fn assert_applied(&self, applied: usize, time: Tick) {
        assert!(applied <= self.0.len(), "{applied} of {} inputs", self.0.len());
        assert!(applied == 0 || self.0[applied - 1].0 <= time, "input {applied} is part of time {time} before it is made");
        assert!(self.next(applied) > time, "input {} is left out at time {time}", applied + 1);
    }

    /// Appends an input.
    pub fn push(&mut self, time: Tick, input: Input) {
        assert!(self.0.last().is_none_or(|(last, _)| *last <= time), "an input at {time} is not the last one");
        self.0.push((time, input));
    }

    /// Removes all from `index` on.
    pub fn truncate(&mut self, index: usize) {
        self.0.truncate(index);
    }
}
