//! What a user does to a run, with its time: together with the launch it determines everything that happens.

use serde::{Deserialize, Serialize};

use crate::debug::edit::Edit;
use crate::machine::{Machine, Observer, Tick};

/// One thing that a user does to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// This warp gets the turn: others are held while it is stepped.
    Turn {
        /// Block index.
        block: [u32; 3],
        /// Warp of the block.
        warp: u32,
    },
    /// The turn of the running warp ends: it waits for other warps.
    EndTurn,
    /// These changes are made by hand, all of them.
    Edits(Vec<Edit>),
    /// This asynchronous copy ends.
    Complete(u64),
}

impl Input {
    /// Changes the machine; `observer` receives the events. False if nothing changes.
    pub fn apply(&self, machine: &mut Machine, observer: &mut dyn Observer) -> bool {
        match self {
            Input::Turn { block, warp } => machine.give_turn(*block, *warp),
            Input::EndTurn => {
                machine.end_turn();
                true
            }
            Input::Complete(copy) => machine.complete(*copy, observer).unwrap_or(false),
            Input::Edits(edits) => edits.iter().all(|edit| edit.apply(machine).is_ok()),
        }
    }
}

/// All inputs in order of time. Those before an index are part of the present state, the others are to come.
#[derive(Default)]
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

    /// The time of input `index`; the end of time if there is none.
    pub fn next(&self, index: usize) -> Tick {
        self.0.get(index).map_or(Tick::MAX, |(time, _)| *time)
    }

    /// Input `index` if it belongs to `time`.
    pub fn at(&self, time: Tick, index: usize) -> Option<&Input> {
        self.0.get(index).filter(|(at, _)| *at == time).map(|(_, input)| input)
    }

    /// Of a state at `time`, `applied` of them are part, and all others are to come.
    pub fn assert_applied(&self, applied: usize, time: Tick) {
        assert!(applied <= self.0.len(), "{applied} of {} inputs", self.0.len());
        assert!(applied == 0 || self.0[applied - 1].0 <= time, "input {applied} is part of time {time} before it is made");
        assert!(self.next(applied) > time, "input {} is left out at time {time}", applied + 1);
    }

    /// Adds one that comes last.
    pub fn push(&mut self, time: Tick, input: Input) {
        assert!(self.0.last().is_none_or(|(last, _)| *last <= time), "an input at {time} is not the last one");
        self.0.push((time, input));
    }

    /// Forgets all from `index` on.
    pub fn truncate(&mut self, index: usize) {
        self.0.truncate(index);
    }
}
