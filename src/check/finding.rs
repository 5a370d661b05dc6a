//! A finding, which a checker reports: a mistake of the kernel with its two sides, in terms of the machine (the simulated GPU).
//!
//! Times, instructions, threads and addresses are numbers here; `debug` adds their names.

use std::collections::BTreeMap;

use serde::Serialize;

use super::advice_text::AdviceText;
use super::catalogue::FindingId;
use super::conflict_bytes::ConflictBytes;
use super::remedy::Candidate;
use super::reversible_sections::ReversibleSections;
use super::unordered_accesses::UnorderedAccesses;
use crate::base::Severity;
use crate::isa::Space;
use crate::machine::{AccessKind, IssuePoint, LaneMask};
use crate::program::Pc;

/// A mistake of the kernel. There is one for each cause: repetitions by the same two instructions are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the mistake.
    pub id: FindingId,
    /// Its severity.
    pub severity: Severity,
    /// The number of the launch in the case, from 0.
    pub launch: usize,
    /// The side at which it was detected, the later one of two.
    pub second: Side,
    /// The other side, where there is one.
    pub first: Option<Side>,
    /// The bytes of the conflict, or those accessed wrongly.
    pub memory: Option<MemoryRange>,
    /// The bytes of all pairs counted in it, if it is a race.
    pub conflict_bytes: ConflictBytes,
    /// Why it is wrong, in one line: the edge that is missing, or the rule that was broken.
    pub why: String,
    /// The proposed insertion or change, with its line, in one line.
    pub fix: AdviceText,
    /// The fix as changes that can be tried, the likeliest first.
    pub candidates: Vec<Candidate>,
    /// Steps from the first side to the second, each in one line: the synchronization, and what it lacks.
    pub path: Vec<PathStep>,
    /// The number of times the same two instructions did it.
    pub count: u64,
    /// The distance of its two sides, if it is a race.
    pub distance: Option<ThreadDistance>,
}

/// The innermost group of threads that has both sides of a race: synchronization of an outer group orders it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadDistance {
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
    /// The instruction, time, block and warp; for an asynchronous copy, those of its issue.
    pub point: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// Their action.
    pub action: SideAction,
    /// Bytes a lane; 0 if no memory is accessed.
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
    /// Read and wrote memory atomically.
    Atomic,
    /// Executed an instruction that synchronizes.
    Synchronize,
    /// Used a register.
    Use,
    /// Exited.
    Exit,
}

impl From<AccessKind> for SideAction {
    fn from(kind: AccessKind) -> Self {
        match kind {
            AccessKind::Read => SideAction::Read,
            AccessKind::Write => SideAction::Write,
            AccessKind::Atomic => SideAction::Atomic,
        }
    }
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
    /// The block of shared memory, or of the thread of local memory.
    pub block: [u32; 3],
    /// The address in that space.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u32,
}

/// A step of the explanation why two sides are not ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The instruction, if the step is one; none for missing synchronization.
    pub point: Option<IssuePoint>,
    /// Its effect on the order, or the synchronization that is missing.
    pub text: String,
}

/// The findings of a run, one for each cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    /// The finding that each pair of instructions is counted in.
    counted_in: BTreeMap<Pair, usize>,
    /// Findings and repetitions so far.
    pub reported: u64,
    /// The accesses whose results depended on the schedule.
    pub unordered_accesses: UnorderedAccesses,
    /// Critical sections that occurred in one order only.
    pub reversible: Vec<ReversibleSections>,
}

impl Findings {
    /// All findings, in the order of their first detection.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// The instructions that are counted in the finding at `index`.
    pub fn pairs(&self, index: usize) -> impl Iterator<Item = Pair> {
        self.counted_in.iter().filter(move |(_, counted)| **counted == index).map(|(pair, _)| *pair)
    }

    /// Adds a finding, or counts it if the same instructions were reported for the same mistake. True if the finding is new.
    pub fn report(&mut self, finding: Finding) -> bool {
        self.report_unless(finding, |_, _| false)
    }

    /// Adds a finding; or counts it if the same instructions were reported for the same mistake, or others with a cause that `is_same`.
    /// True if the finding is new.
    pub fn report_unless(&mut self, finding: Finding, mut is_same: impl FnMut(&Finding, &Finding) -> bool) -> bool {
        assert!(finding.count > 0, "a finding is one at least");
        assert!(finding.distance.is_none() || finding.id.is_race(), "{} has no reach", finding.id.word());
        self.reported += 1;
        let pair = finding.pair();
        let existing = self.counted_in.get(&pair).copied();
        let same = existing.or_else(|| self.list.iter().position(|existing| is_same(existing, &finding)));
        self.counted_in.insert(pair, same.unwrap_or(self.list.len()));
        match same.map(|index| &mut self.list[index]) {
            None => self.list.push(finding),
            Some(existing) => {
                let count = existing.count + finding.count;
                let mut conflict_bytes = std::mem::take(&mut existing.conflict_bytes);
                conflict_bytes.join(&finding.conflict_bytes);
                if existing.rank() < finding.rank() {
                    *existing = finding;
                }
                (existing.count, existing.conflict_bytes) = (count, conflict_bytes);
            }
        }
        same.is_none()
    }

    /// True if an instruction is a side of a race that was found in a launch.
    pub fn has_race(&self, launch: usize, pc: Pc) -> bool {
        let races = self.counted_in.keys().filter(|pair| pair.id.is_race() && pair.launch == launch);
        races.flat_map(|pair| [pair.sides.0, Some(pair.sides.1)]).flatten().any(|(at, _)| at == pc)
    }

    /// The finding in which a pair of instructions is counted.
    fn counted(&mut self, pair: Pair) -> Option<&mut Finding> {
        self.list.get_mut(*self.counted_in.get(&pair)?)
    }

    /// Counts a race of this severity and distance again, if the pair was reported with at least these. True if it was: then no new finding
    /// is needed.
    pub fn count_race_again(&mut self, pair: Pair, severity: Severity, distance: ThreadDistance, conflict_bytes: &ConflictBytes) -> bool {
        assert!(pair.id.is_race(), "{:?} has no reach", pair.id);
        let Some(existing) = self.counted(pair).filter(|existing| existing.rank() >= (severity, Some(distance))) else { return false };
        existing.count += 1;
        existing.conflict_bytes.join(conflict_bytes);
        self.reported += 1;
        true
    }

    /// Counts a pair again, if it was reported. True if it was: cheaper than making the finding first.
    pub fn count_again(&mut self, pair: Pair) -> bool {
        let existing = self.counted(pair);
        let is_known = existing.is_some();
        existing.into_iter().for_each(|finding| finding.count += 1);
        self.reported += u64::from(is_known);
        is_known
    }
}

/// A mistake of a launch and the instructions of its sides, in no order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    id: FindingId,
    launch: usize,
    sides: (Option<(Pc, SideAction)>, (Pc, SideAction)),
}

impl Pair {
    /// The pair of findings of `id` with these two sides.
    pub fn new(id: FindingId, launch: usize, first: Option<&Side>, second: &Side) -> Self {
        let key = |side: &Side| (side.point.pc, side.action);
        let sides = match first.map(key) {
            Some(first) if first > key(second) => (Some(key(second)), first),
            first => (first, key(second)),
        };
        Self { id, launch, sides }
    }

    /// The mistake.
    pub fn id(&self) -> FindingId {
        self.id
    }

    /// The instructions and their actions, in order; only the second for a finding with one side.
    pub fn sides(&self) -> (Option<(Pc, SideAction)>, (Pc, SideAction)) {
        self.sides
    }

    /// The pair of findings of `id` with one side.
    pub fn single(id: FindingId, launch: usize, side: (Pc, SideAction)) -> Self {
        Self { id, launch, sides: (None, side) }
    }
}

impl Side {
    /// An action of lanes at `point` without a memory access.
    pub fn new(point: IssuePoint, lanes: LaneMask, action: SideAction) -> Self {
        Self { point, lanes, action, bytes: 0, copy: None }
    }
}

impl Finding {
    /// A finding of one side, in the first launch, about no memory.
    pub fn new(id: FindingId, second: Side, why: String, fix: impl Into<AdviceText>) -> Self {
        let severity = id.severity();
        Self {
            id,
            severity,
            launch: 0,
            second,
            first: None,
            memory: None,
            conflict_bytes: ConflictBytes::default(),
            why,
            fix: fix.into(),
            candidates: Vec::new(),
            path: Vec::new(),
            count: 1,
            distance: None,
        }
    }

    /// The mistake and its instructions.
    pub fn pair(&self) -> Pair {
        Pair::new(self.id, self.launch, self.first.as_ref(), &self.second)
    }

    /// Of findings with the same cause, the one with the highest rank is shown: its fix orders the other ones as well.
    pub fn rank(&self) -> (Severity, Option<ThreadDistance>) {
        (self.severity, self.distance)
    }
}
