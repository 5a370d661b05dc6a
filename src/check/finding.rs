//! A finding, which a checker reports: a mistake of the kernel with its two sides, in terms of the machine (the simulated GPU).
//!
//! Times, instructions, threads and addresses are numbers here. `debug` gives them their names.

use std::collections::BTreeMap;

use serde::Serialize;

use super::catalogue::FindingId;
use super::contention::Contention;
use super::remedy::Candidate;
use super::sections::Reversible;
use super::touched::Touched;
use crate::base::Severity;
use crate::isa::Space;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::Pc;

/// A mistake of the kernel. One for one cause: what the same two instructions do again is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the mistake.
    pub id: FindingId,
    /// Its severity.
    pub severity: Severity,
    /// The number of the launch in the case, from 0.
    pub launch: usize,
    /// The side at which it was detected: of two, the later in time.
    pub second: Side,
    /// The other side, where there is one.
    pub first: Option<Side>,
    /// The bytes it is about.
    pub memory: Option<MemoryRange>,
    /// Of a race, the bytes of all pairs that are counted in it.
    pub touched: Touched,
    /// Why it is wrong, in one line: the edge that is missing, or the rule that was broken.
    pub why: String,
    /// The proposed insertion or change, with its line, in one line.
    pub fix: String,
    /// The same as changes that can be tried, the likeliest first.
    pub candidates: Vec<Candidate>,
    /// Steps from the first side to the second, each in one line: what was ordered and what was not.
    pub chain: Vec<Link>,
    /// The number of times the same two instructions did it.
    pub count: u64,
    /// Of a race, how far apart its two sides are.
    pub distance: Option<Distance>,
}

/// The distance of the two sides of a race: a synchronization of distant threads orders nearer ones as well.
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

/// One of the two sides of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The instruction, time, block and warp. Of an asynchronous copy, of the instruction that issued it.
    pub place: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// Their action.
    pub action: SideAction,
    /// Bytes a lane; 0 where no memory is touched.
    pub bytes: u32,
    /// The asynchronous copy that did it, if no lane did it directly.
    pub copy: Option<u64>,
}

/// The action of a side.
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
    /// Its name in JSON and SARIF.
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
    /// The number of bytes.
    pub bytes: u32,
}

/// A step of the explanation why two sides are not ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The instruction, if the step is one.
    pub place: Option<IssuePoint>,
    /// Its effect on the order, or the synchronization that is missing.
    pub text: String,
}

/// The findings of a run, one for one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    /// The finding that each pair of instructions is counted in.
    counted_in: BTreeMap<Pair, usize>,
    /// Findings and repetitions so far.
    pub reported: u64,
    /// The values that depended on the order.
    pub contention: Contention,
    /// Critical sections that came in one order only.
    pub reversible: Vec<Reversible>,
}

impl Findings {
    /// All of them, in the order in which they were detected first.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The instructions that are counted in the finding at `index`.
    pub fn pairs(&self, index: usize) -> impl Iterator<Item = Pair> {
        self.counted_in.iter().filter(move |(_, counted)| **counted == index).map(|(pair, _)| *pair)
    }

    /// Adds a finding, or counts it if the same instructions were reported for the same mistake. True if it is new.
    pub fn report(&mut self, finding: Finding) -> bool {
        self.report_unless(finding, |_, _| false)
    }

    /// Adds a finding; or counts it where the same instructions were reported for the same mistake, or other ones whose cause `is_same`.
    /// True if it is new.
    pub fn report_unless(&mut self, finding: Finding, mut is_same: impl FnMut(&Finding, &Finding) -> bool) -> bool {
        assert!(finding.count > 0, "a finding is one at least");
        assert!(finding.distance.is_none() || finding.id.is_race(), "{} has no reach", finding.id.word());
        self.reported += 1;
        let pair = finding.pair();
        let known = self.counted_in.get(&pair).copied();
        let same = known.or_else(|| self.list.iter().position(|known| is_same(known, &finding)));
        self.counted_in.insert(pair, same.unwrap_or(self.list.len()));
        match same.map(|index| &mut self.list[index]) {
            None => self.list.push(finding),
            Some(known) => {
                let count = known.count + finding.count;
                let mut touched = std::mem::take(&mut known.touched);
                touched.join(&finding.touched);
                if known.rank() < finding.rank() {
                    *known = finding;
                }
                (known.count, known.touched) = (count, touched);
            }
        }
        same.is_none()
    }

    /// Whether a race of a launch was found of an instruction, on either side.
    pub fn knows_race(&self, launch: usize, pc: Pc) -> bool {
        let races = self.counted_in.keys().filter(|pair| pair.id.is_race() && pair.launch == launch);
        races.flat_map(|pair| [pair.sides.0, Some(pair.sides.1)]).flatten().any(|(at, _)| at == pc)
    }

    /// The finding in which these instructions are counted.
    fn known(&mut self, pair: Pair) -> Option<&mut Finding> {
        self.list.get_mut(*self.counted_in.get(&pair)?)
    }

    /// Counts a repetition of a race of this severity whose sides are so far apart, and says whether that is all there is to it: it is
    /// known, as severe, and of sides as far apart.
    pub fn repeats_race(&mut self, pair: Pair, severity: Severity, distance: Distance, touched: &Touched) -> bool {
        assert!(pair.id.is_race(), "{:?} has no reach", pair.id);
        let Some(known) = self.known(pair).filter(|known| known.rank() >= (severity, Some(distance))) else { return false };
        known.count += 1;
        known.touched.join(touched);
        self.reported += 1;
        true
    }

    /// Counts a repetition of a known pair, and says whether it is known: cheaper than to make the finding first.
    pub fn repeats(&mut self, pair: Pair) -> bool {
        let known = self.known(pair);
        let is_known = known.is_some();
        known.into_iter().for_each(|finding| finding.count += 1);
        self.reported += u64::from(is_known);
        is_known
    }
}

/// A mistake of a launch and the instructions that make it, whichever came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    id: FindingId,
    launch: usize,
    sides: (Option<(Pc, SideAction)>, (Pc, SideAction)),
}

impl Pair {
    /// That of findings of `id` with these two sides.
    pub fn new(id: FindingId, launch: usize, first: Option<&Side>, second: &Side) -> Self {
        let of = |side: &Side| (side.place.pc, side.action);
        let sides = match first.map(of) {
            Some(first) if first > of(second) => (Some(of(second)), first),
            first => (first, of(second)),
        };
        Self { id, launch, sides }
    }

    /// The mistake.
    pub fn id(&self) -> FindingId {
        self.id
    }

    /// The instructions with what they did, in order; of a finding with one side, that.
    pub fn sides(&self) -> (Option<(Pc, SideAction)>, (Pc, SideAction)) {
        self.sides
    }

    /// That of findings of `id` with one side.
    pub fn lone(id: FindingId, launch: usize, side: (Pc, SideAction)) -> Self {
        Self { id, launch, sides: (None, side) }
    }
}

impl Side {
    /// Lanes that did something at `place` without touching memory.
    pub fn new(place: IssuePoint, lanes: LaneMask, action: SideAction) -> Self {
        Self { place, lanes, action, bytes: 0, copy: None }
    }
}

impl Finding {
    /// A finding of one side, in the first launch, about no memory.
    pub fn new(id: FindingId, second: Side, why: String, fix: String) -> Self {
        let severity = id.severity();
        Self {
            id,
            severity,
            launch: 0,
            second,
            first: None,
            memory: None,
            touched: Touched::default(),
            why,
            fix,
            candidates: Vec::new(),
            chain: Vec::new(),
            count: 1,
            distance: None,
        }
    }

    /// The mistake and its instructions.
    pub fn pair(&self) -> Pair {
        Pair::new(self.id, self.launch, self.first.as_ref(), &self.second)
    }

    /// Of findings with the same cause, the one with the highest rank is shown: its fix orders the other ones as well.
    pub fn rank(&self) -> (Severity, Option<Distance>) {
        (self.severity, self.distance)
    }
}
