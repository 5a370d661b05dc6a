//! The observer of a run with possible stops: it notes what may be a stop and asks for a pause there; the session decides
//! while the machine stands still.

use std::sync::Arc;

use smallvec::SmallVec;

use super::flags::{Spin, WarpPlace};
use super::watchpoint::Watchpoint;
use crate::base::WarpId;
use crate::debug::breakpoints::WatchMode;
use crate::machine::{
    AccessEvent, AccessKind, Block, CopyEvent, CopyStage, Event, EventKind, EventMask, Issue, IssuePoint, LaneMask, MbarrierEvent,
    Observer, Tick, Warp, WgmmaChange, WgmmaEvent,
};
use crate::program::Pc;

/// Something that may be a stop: a candidate, before conditions and ignore counts.
#[derive(Clone, Copy, Debug)]
pub enum Candidate {
    /// Lanes are about to execute an instruction with a breakpoint or of a step.
    Code(Issue),
    /// The watched place of this index was touched.
    Touched(usize, TouchCandidate),
    /// The group of `Issue` has split, and those of its lanes went another way.
    Split(Issue),
    /// Lanes met.
    Merged(IssuePoint, LaneMask),
    /// Something was done to a barrier object.
    Mbarrier(MbarrierEvent),
    /// A copy was issued or has ended: its number, and the thread that issued it.
    Copy(CopyCandidate),
    /// The step is done by this instruction, or before it.
    Step(Issue),
    /// Another warp is about to run though one has the turn.
    OtherWarp,
    /// The stepped warp is about to read a flag that it has read again and again.
    Spinning(Issue),
}

/// Something that happened to a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyCandidate {
    /// Its number.
    pub id: u64,
    /// The instruction that issued it.
    pub issued: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// Whether it has ended.
    pub ended: bool,
}

/// How a watched place was touched.
#[derive(Clone, Copy, Debug)]
pub struct TouchCandidate {
    /// The instruction.
    pub place: IssuePoint,
    /// The lanes that touched it.
    pub lanes: LaneMask,
    /// How.
    pub kind: AccessKind,
    /// The asynchronous copy or matrix multiplication that touched it, which the instruction issued, and when it did.
    pub copy: Option<(u64, Tick)>,
    /// Of an access by threads to memory, the first of its bytes.
    pub address: Option<u64>,
}

/// The part of the grid that is stepped.
#[derive(Clone, Copy)]
pub struct StepFilter {
    /// The block whose instructions count; any if none.
    pub block: Option<[u32; 3]>,
    /// The warp whose instructions count; any if none.
    pub warp: Option<WarpId>,
    /// A group counts that holds one of these lanes.
    pub lanes: LaneMask,
}

impl StepFilter {
    /// Whether an instruction of `lanes` at `place` counts.
    pub fn includes(&self, place: &IssuePoint, lanes: LaneMask) -> bool {
        let warp = self.warp.is_none_or(|warp| warp == place.warp);
        warp && self.block.is_none_or(|block| block == place.block) && self.lanes.intersects(lanes)
    }
}

/// What a step waits for.
pub struct StepWatch {
    /// Whose instructions count.
    pub part: StepFilter,
    /// When it is done.
    pub done: StepDone,
}

/// When a step is done.
pub enum StepDone {
    /// An instruction was executed.
    After,
    /// Such an instruction is about to be executed.
    Before(Box<dyn Fn(&Issue) -> bool>),
    /// Never: something else ends it.
    Never,
}

/// Notes what may be a stop.
pub struct Watcher {
    /// No pause is asked for before the instruction of this tick: the run begins there, or it was decided on already.
    pub passed: Tick,
    /// For each instruction, whether to pause before it; empty if there is none.
    pub code: Vec<bool>,
    /// The breakpoints at those instructions: number, instructions in order, and whether only lanes that execute them count.
    numbers: Vec<(u32, Vec<Pc>, bool)>,
    /// Whether to note groups that split.
    pub splits: bool,
    /// Whether to note groups that meet.
    pub merges: bool,
    /// Whether to note what is done to barrier objects.
    pub mbarriers: bool,
    /// Whether to note copies that are issued or end.
    pub copies: bool,
    /// The places that are watched.
    pub places: Vec<Watchpoint>,
    /// What is stepped.
    pub step: Option<StepWatch>,
    /// The breakpoints on the line that the step leaves: other warps pass them.
    pub leaves: Vec<u32>,
    /// The warp that others stand still for.
    pub held_for: Option<WarpPlace>,
    /// The warp whose waking ends a wait.
    pub waits_for: Option<WarpPlace>,
    /// For each instruction, whether it reads a flag; none if that is not needed.
    pub flag_reads: Option<Arc<Vec<bool>>>,
    /// The flag that the stepped warp came to last.
    pub spin: Spin,
    /// Instructions that counted for the step.
    pub counted: u64,
    /// What was noted since the last pause.
    pub candidates: Vec<Candidate>,
    groups_before: usize,
}

impl Watcher {
    /// One that notes nothing yet, of a run that begins at `time`.
    pub fn new(time: Tick) -> Self {
        Self {
            passed: time,
            code: Vec::new(),
            numbers: Vec::new(),
            splits: false,
            merges: false,
            mbarriers: false,
            copies: false,
            places: Vec::new(),
            step: None,
            leaves: Vec::new(),
            held_for: None,
            waits_for: None,
            flag_reads: None,
            spin: Spin::default(),
            counted: 0,
            candidates: Vec::new(),
            groups_before: 0,
        }
    }

    /// Notes lanes about to execute one of `pcs`, of a program of `count` instructions, for breakpoint `number`.
    pub fn watch_code(&mut self, count: usize, number: u32, pcs: Vec<Pc>, active_only: bool) {
        self.code.resize(count, false);
        for pc in &pcs {
            if let Some(flag) = self.code.get_mut(pc.index()) {
                *flag = true;
            }
        }
        self.numbers.push((number, pcs, active_only));
    }

    /// The breakpoints at `pc`, and whether only lanes that execute it count.
    pub fn numbers_at(&self, pc: Pc) -> impl Iterator<Item = (u32, bool)> {
        self.numbers
            .iter()
            .filter(move |(_, pcs, _)| pcs.binary_search(&pc).is_ok())
            .map(|(number, _, active_only)| (*number, *active_only))
    }

    /// Whether a warp that is not stepped passes breakpoint `number`: it comes to the line that the step leaves, where the stepped one
    /// was reported already.
    pub fn passes(&self, number: u32, place: &IssuePoint) -> bool {
        let other = |step: &StepWatch| {
            step.part.warp.is_some_and(|warp| (step.part.block, warp) != (Some(place.block), WarpId::new(place.warp.number())))
        };
        self.leaves.contains(&number) && self.step.as_ref().is_some_and(other)
    }

    /// Whether there is nothing to note.
    pub fn is_idle(&self) -> bool {
        let events = self.splits || self.merges || self.mbarriers || self.copies;
        self.code.is_empty() && !events && self.places.is_empty() && self.step.is_none()
    }

    /// Whether memory accesses must be reported.
    fn wants_accesses(&self) -> bool {
        self.mbarriers || self.copies || self.places.iter().any(Watchpoint::is_memory)
    }

    fn counts(&self, place: &IssuePoint, lanes: LaneMask) -> Option<&StepWatch> {
        self.step.as_ref().filter(|step| step.part.includes(place, lanes))
    }

    /// Counts the flags that the stepped warp reads; true if it is taken to wait for one.
    fn spins(&mut self, issue: &Issue) -> bool {
        let reads = self.flag_reads.as_ref().is_some_and(|reads| reads.get(issue.place.pc.index()) == Some(&true));
        let own = (issue.place.block, issue.place.warp);
        reads
            && !issue.active.is_empty()
            && self.counts(&issue.place, issue.lanes).is_some()
            && self.spin.comes_to(own, issue.place.pc, issue.place.tick)
    }

    fn pauses_before(&self, issue: &Issue) -> impl Iterator<Item = Candidate> {
        let place = &issue.place;
        let code = self.code.get(place.pc.index()).is_some_and(|flag| *flag).then_some(Candidate::Code(*issue));
        let step = self.counts(place, issue.lanes);
        let done = step.is_some_and(|step| matches!(&step.done, StepDone::Before(test) if test(issue)));
        let resumes_stepped_warp = self.held_for.is_some_and(|own| own != (place.block, WarpId::new(place.warp.number())));
        code.into_iter().chain(done.then_some(Candidate::Step(*issue))).chain(resumes_stepped_warp.then_some(Candidate::OtherWarp))
    }
}

/// The events that a run is watched by in any case.
const INSTRUCTIONS: EventMask = EventMask::of(&[EventKind::Before, EventKind::After, EventKind::Merged, EventKind::Arrived]);

/// What happens to memory.
const MEMORY: EventMask = EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);

impl Observer for Watcher {
    fn mask(&self) -> EventMask {
        if self.wants_accesses() { INSTRUCTIONS.with(MEMORY) } else { INSTRUCTIONS }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.access(access),
            Event::Copy(copy) => self.copy(copy),
            Event::Wgmma(wgmma) => self.wgmma(wgmma),
            Event::Mbarrier(mbarrier) => self.mbarrier(mbarrier),
            Event::Before(issue, warp) => self.before(issue, warp),
            Event::After(issue, warp) => self.after(issue, warp),
            Event::Merged(place, lanes) => self.merged(*place, *lanes),
            Event::Arrived(place, block) => self.arrived(*place, block),
            Event::Order(_) | Event::Collective(_) => false,
        }
    }
}

impl Watcher {
    fn access(&mut self, event: &AccessEvent<'_>) -> bool {
        for (index, place) in self.places.iter().enumerate() {
            let lanes = place.touched_by(event);
            if !lanes.is_empty() {
                self.candidates.push(Candidate::Touched(
                    index,
                    TouchCandidate {
                        place: event.place,
                        lanes,
                        kind: event.kind,
                        copy: None,
                        address: event.addresses.get(lanes.first()).copied(),
                    },
                ));
            }
        }
        // The watchpoint stops after the instruction all the same, when the event of the write comes.
        false
    }

    fn copy(&mut self, event: &CopyEvent<'_>) -> bool {
        let CopyEvent { copy, lanes, stage, tick } = *event;
        for (index, place) in self.places.iter().enumerate() {
            if let Some(kind) = place.touched_by_copy(event) {
                let touching = TouchCandidate { place: copy.issued, lanes, kind, copy: Some((copy.id, tick)), address: None };
                self.candidates.push(Candidate::Touched(index, touching));
            }
        }
        if self.copies && stage != CopyStage::Read {
            self.candidates.push(Candidate::Copy(CopyCandidate {
                id: copy.id,
                issued: copy.issued,
                lanes,
                ended: stage == CopyStage::Ended,
            }));
        }
        !self.candidates.is_empty()
    }

    fn wgmma(&mut self, event: &WgmmaEvent<'_>) -> bool {
        let WgmmaChange::Ended(wgmma) = event.change else { return false };
        for (index, _) in self.places.iter().enumerate().filter(|(_, place)| place.read_by_wgmma(wgmma)) {
            let (lanes, copy) = (event.lanes, Some((wgmma.id, event.tick)));
            self.candidates.push(Candidate::Touched(
                index,
                TouchCandidate { place: wgmma.issued, lanes, kind: AccessKind::Read, copy, address: None },
            ));
        }
        !self.candidates.is_empty()
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) -> bool {
        if self.mbarriers {
            self.candidates.push(Candidate::Mbarrier(*event));
        }
        self.mbarriers
    }

    fn before(&mut self, issue: &Issue, warp: &Warp) -> bool {
        self.groups_before = warp.groups.len();
        self.places.iter_mut().for_each(|place| place.appear(issue.place.block, issue.place.warp.number(), warp));
        let mut hits: SmallVec<[Candidate; 3]> = SmallVec::new();
        if self.spins(issue) {
            hits.push(Candidate::Spinning(*issue));
        }
        if issue.place.tick != self.passed {
            hits.extend(self.pauses_before(issue));
        }
        if hits.is_empty() {
            return false;
        }
        self.passed = issue.place.tick;
        self.candidates.extend(hits);
        true
    }

    fn after(&mut self, issue: &Issue, warp: &Warp) -> bool {
        if let Some(step) = self.counts(&issue.place, issue.lanes) {
            let done = matches!(step.done, StepDone::After);
            self.counted += 1;
            self.candidates.extend(done.then_some(Candidate::Step(*issue)));
        }
        if self.splits && warp.groups.len() > self.groups_before {
            self.candidates.push(Candidate::Split(*issue));
        }
        for (index, watched) in self.places.iter().enumerate() {
            if let Some((kind, lanes)) = watched.touched_in(issue, warp) {
                let touching = TouchCandidate { place: issue.place, lanes, kind, copy: None, address: None };
                self.candidates.push(Candidate::Touched(index, touching));
            }
        }
        !self.candidates.is_empty()
    }

    fn merged(&mut self, place: IssuePoint, lanes: LaneMask) -> bool {
        if self.merges {
            self.candidates.push(Candidate::Merged(place, lanes));
        }
        self.merges
    }

    fn arrived(&mut self, place: IssuePoint, block: &Block) -> bool {
        for (index, watched) in self.places.iter().enumerate().filter(|(_, watched)| watched.mode != WatchMode::Read) {
            let changed = block.warps.iter().zip(0..).map(|(warp, number)| watched.changed_in(block.index, number, warp));
            let lanes = changed.fold(LaneMask::NONE, |lanes, changed| lanes | changed);
            if !lanes.is_empty() && !self.candidates.iter().any(|hit| matches!(hit, Candidate::Touched(other, _) if *other == index)) {
                self.candidates
                    .push(Candidate::Touched(index, TouchCandidate { place, lanes, kind: AccessKind::Write, copy: None, address: None }));
            }
        }
        let woken = self
            .waits_for
            .is_some_and(|(index, warp)| index == block.index && block.warps.get(warp.index()).is_some_and(|warp| warp.can_run()));
        woken || !self.candidates.is_empty()
    }
}
