//! What a checker reports: a mistake of the kernel, with the two sides of it, in terms of the machine.
//!
//! Times, instructions, threads and addresses are numbers here. `debug` gives them their names.

use serde::Serialize;

use super::catalogue::FindingId;
use crate::isa::Space;
use crate::machine::{LaneMask, Place};
use crate::program::Pc;

/// A mistake of the kernel. One for one cause: what the same two instructions do again is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which mistake.
    pub id: FindingId,
    /// Which launch of the case, from 0.
    pub launch: usize,
    /// Where it was detected: of two sides, the later in time.
    pub second: Side,
    /// The other side, where there is one.
    pub first: Option<Side>,
    /// The bytes it is about.
    pub memory: Option<MemoryRange>,
    /// Why it is wrong, in one line: the edge that is missing, or the rule that was broken.
    pub why: String,
    /// What to insert or to change, and where, in one line.
    pub fix: String,
    /// Steps from the first side to the second, each in one line: what was ordered and what was not.
    pub chain: Vec<Link>,
    /// How often the same two instructions did it.
    pub count: u64,
    /// Of a race, how far apart its two sides are.
    pub distance: Option<Distance>,
}

/// How far apart the two sides of a race are: what orders those that are far apart orders the nearer ones as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// Lanes of one instruction.
    Instruction,
    /// Lanes of one warp.
    Warp,
    /// Warps of one block.
    Block,
    /// Blocks of one cluster.
    Cluster,
    /// Blocks of the grid.
    Grid,
}

/// What is known of a mistake that was detected again.
pub enum Repeated<'a> {
    /// It is new.
    No,
    /// It is known, and its two sides are at least as far apart.
    Yes,
    /// It is known of sides that are nearer to each other: the fix for those does not fix these.
    Nearer(&'a mut Finding),
}

/// One of the two sides of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The instruction, time, block and warp. Of an asynchronous copy, of the instruction that issued it.
    pub place: Place,
    /// The lanes.
    pub lanes: LaneMask,
    /// What they did.
    pub action: SideAction,
    /// Bytes a lane; 0 where no memory is touched.
    pub bytes: u32,
    /// The asynchronous copy that did it, if no lane did it directly.
    pub copy: Option<u64>,
}

/// What a side did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SideAction {
    /// Read memory.
    Read,
    /// Wrote memory.
    Write,
    /// Read and wrote it indivisibly.
    Atomic,
    /// Executed an instruction that synchronizes.
    Synchronize,
    /// Used a register.
    Use,
    /// Exited.
    Exit,
}

impl SideAction {
    /// What it is called where programs read it.
    pub fn word(self) -> &'static str {
        match self {
            SideAction::Read => "read",
            SideAction::Write => "write",
            SideAction::Atomic => "atomic",
            SideAction::Synchronize => "synchronize",
            SideAction::Use => "use",
            SideAction::Exit => "exit",
        }
    }
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// The space.
    pub space: Space,
    /// Of shared memory, the block that it belongs to; of local memory, the block of the thread.
    pub block: [u32; 3],
    /// The address in that space.
    pub address: u64,
    /// How many bytes.
    pub bytes: u32,
}

/// A step of the explanation why two sides are not ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The instruction, if the step is one.
    pub place: Option<Place>,
    /// What it does for the order, or what is missing there.
    pub text: String,
}

/// The findings of a run, one for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    /// Findings and repetitions so far.
    pub reported: u64,
}

impl Findings {
    /// All of them, in the order in which they were detected first.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// Adds a finding, or counts it if the same instructions were reported for the same mistake. True if it is new.
    pub fn report(&mut self, finding: Finding) -> bool {
        assert!(finding.count > 0, "a finding is one at least");
        assert!(finding.distance.is_none() || finding.id.is_race(), "{} has no reach", finding.id.word());
        self.reported += 1;
        match self.list.iter_mut().find(|other| other.cause() == finding.cause()) {
            Some(other) => {
                other.count += finding.count;
                false
            }
            None => {
                self.list.push(finding);
                true
            }
        }
    }

    /// Counts a repetition of a race whose sides are so far apart, and says what is known of it.
    pub fn repeats_race(&mut self, cause: Cause, distance: Distance) -> Repeated<'_> {
        assert!(cause.0.is_race(), "{:?} has no reach", cause.0);
        let Some(known) = self.list.iter_mut().find(|other| other.cause() == cause) else { return Repeated::No };
        known.count += 1;
        self.reported += 1;
        assert!(self.reported >= known.count, "a finding was counted more often than all of them");
        if known.distance < Some(distance) { Repeated::Nearer(known) } else { Repeated::Yes }
    }

    /// Counts a repetition of a known cause, and says whether it is known: cheaper than to make the finding first.
    pub fn repeats(&mut self, cause: Cause) -> bool {
        let known = self.list.iter_mut().find(|other| other.cause() == cause);
        let is_known = known.is_some();
        known.into_iter().for_each(|finding| finding.count += 1);
        self.reported += u64::from(is_known);
        is_known
    }
}

/// What makes two findings one: mistake, launch and instructions, whichever came first.
pub type Cause = (FindingId, usize, Option<(Pc, SideAction)>, (Pc, SideAction));

impl Side {
    /// Lanes that did something at `place` without touching memory.
    pub fn new(place: Place, lanes: LaneMask, action: SideAction) -> Self {
        Self { place, lanes, action, bytes: 0, copy: None }
    }
}

impl Finding {
    /// A finding of one side, in the first launch, about no memory.
    pub fn new(id: FindingId, second: Side, why: String, fix: String) -> Self {
        Self { id, launch: 0, second, first: None, memory: None, why, fix, chain: Vec::new(), count: 1, distance: None }
    }

    /// What it is one of.
    pub fn cause(&self) -> Cause {
        cause(self.id, self.launch, self.first.as_ref(), &self.second)
    }
}

/// What findings of `id` with these two sides are one of.
pub fn cause(id: FindingId, launch: usize, first: Option<&Side>, second: &Side) -> Cause {
    let of = |side: &Side| (side.place.pc, side.action);
    match first.map(of) {
        Some(first) if first > of(second) => (id, launch, Some(of(second)), first),
        first => (id, launch, first, of(second)),
    }
}
