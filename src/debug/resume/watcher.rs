//! The observer of a run with possible stops: it collects candidates for a stop and asks the simulated GPU to pause there; the session
//! decides during the pause.

use std::sync::Arc;

use smallvec::SmallVec;

use super::flags::{Spin, WarpKey};
use super::watchpoint::Watchpoint;
use crate::base::WarpId;
use crate::debug::breakpoints::WatchMode;
use crate::machine::{
    AccessEvent, AccessKind, Block, CopyEvent, CopyStage, Event, EventKind, EventMask, Issue, IssuePoint, Issues, LaneMask, MbarrierEvent,
    Observer, Places, Tick, Warp, WgmmaChange, WgmmaEvent,
};
use crate::program::Pc;

/// A possible stop, before conditions and ignore counts are checked.
#[derive(Clone, Copy, Debug)]
pub enum Candidate {
    /// Lanes are about to execute an instruction with a breakpoint.
    Code(Issue),
    /// Lanes go on from an instruction on a source line with a breakpoint, which is decided on already.
    Passing(Issue),
    /// The object of the watchpoint with this index was accessed.
    Accessed(usize, AccessCandidate),
    /// The instruction has taken the last lane out of the frame of the variable that the watchpoint with this index watches.
    Left(usize, Issue),
    /// The converged lanes of `Issue` have diverged.
    Diverged(Issue),
    /// Lanes have reconverged.
    Reconverged(IssuePoint, LaneMask),
    /// An operation on an mbarrier.
    Mbarrier(MbarrierEvent),
    /// A copy was issued or has ended.
    Copy(CopyCandidate),
    /// The step ends after this instruction, or before it.
    Step(Issue),
    /// Another warp is about to run although the stepped one can.
    OtherWarp,
    /// The stepped warp is about to read a flag that it spins on.
    Spinning(Issue),
}

/// The issue or the end of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyCandidate {
    /// Its number.
    pub id: u64,
    /// The instruction that issued it.
    pub issued: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
    /// True if it has ended.
    pub ended: bool,
}

/// An access to the object of a watchpoint.
#[derive(Clone, Copy, Debug)]
pub struct AccessCandidate {
    /// The instruction.
    pub place: IssuePoint,
    /// The lanes that accessed it.
    pub lanes: LaneMask,
    /// Its kind.
    pub kind: AccessKind,
    /// The number of the asynchronous copy or matrix multiplication that made the access, and the tick of the access.
    pub copy: Option<(u64, Tick)>,
    /// The lowest accessed address, for an access to memory by threads.
    pub address: Option<u64>,
    /// The lanes that write a byte of a variable for the first time.
    pub first: LaneMask,
}

/// The stepped threads.
#[derive(Clone, Copy)]
pub struct StepFilter {
    /// The stepped block; any if none.
    pub block: Option<[u32; 3]>,
    /// The stepped warp; any if none.
    pub warp: Option<WarpId>,
    /// The stepped lanes: converged lanes match if one of these is among them.
    pub lanes: LaneMask,
}

impl StepFilter {
    /// True if an instruction that `lanes` execute at `place` belongs to the step.
    pub fn matches(&self, place: &IssuePoint, lanes: LaneMask) -> bool {
        self.includes(place.block, place.warp) && self.lanes.intersects(lanes)
    }

    /// True if instructions of a warp of a block may belong to the step.
    pub fn includes(&self, block: [u32; 3], warp: WarpId) -> bool {
        self.warp.is_none_or(|stepped| stepped == warp) && self.block.is_none_or(|stepped| stepped == block)
    }
}

/// A step: its threads and its end.
pub struct StepWatch {
    /// The stepped threads.
    pub filter: StepFilter,
    /// When the step is done.
    pub done: StepDone,
}

/// The end of a step.
pub enum StepDone {
    /// After one instruction of the stepped threads.
    After,
    /// Before an instruction that satisfies the predicate.
    Before(Box<dyn Fn(&Issue) -> bool>),
    /// Never: something else stops the run.
    Never,
}

/// Collects the candidates for a stop.
pub struct Watcher {
    /// The tick of the instruction that is already decided on, before which the run does not pause again.
    pub decided: Tick,
    /// For each instruction, true if the run pauses before it; empty if there are no breakpoints.
    pub code: Vec<bool>,
    /// The same instructions, once they are asked for.
    places: Option<Arc<Places>>,
    /// The breakpoints: number, sorted instructions, and true if only lanes whose guard predicate holds can hit it.
    breakpoints: Vec<(u32, Vec<Pc>, bool)>,
    /// True if a breakpoint is on a line of the source.
    has_lines: bool,
    /// True if divergence is a candidate.
    pub divergences: bool,
    /// True if reconvergence is a candidate.
    pub reconvergences: bool,
    /// True if operations on mbarriers are candidates.
    pub mbarriers: bool,
    /// True if copies that are issued or end are candidates.
    pub copies: bool,
    /// The watchpoints, with what their objects held last.
    pub watchpoints: Vec<Watchpoint>,
    /// The step that is executed, if any.
    pub step: Option<StepWatch>,
    /// The breakpoints on the line that the step leaves: they do not stop other warps.
    pub line_breakpoints: Vec<u32>,
    /// The warp that the scheduler is locked to: no other may run.
    pub locked_warp: Option<WarpKey>,
    /// The stepped warp while it is blocked: the run pauses when it wakes.
    pub blocked_warp: Option<WarpKey>,
    /// For each instruction, true if it may read a flag; none if not needed.
    pub flag_reads: Option<Arc<Vec<bool>>>,
    /// The flag that the stepped warp read last.
    pub spin: Spin,
    /// The number of instructions of the step so far.
    pub step_instructions: u64,
    /// What was collected since the last pause.
    pub candidates: Vec<Candidate>,
    /// Sets of converged lanes of the warp before the instruction.
    groups_before: usize,
}

impl Watcher {
    /// A watcher that collects nothing yet, for a run that begins at `time`.
    pub fn new(time: Tick) -> Self {
        Self {
            decided: time,
            code: Vec::new(),
            places: None,
            breakpoints: Vec::new(),
            has_lines: false,
            divergences: false,
            reconvergences: false,
            mbarriers: false,
            copies: false,
            watchpoints: Vec::new(),
            step: None,
            line_breakpoints: Vec::new(),
            locked_warp: None,
            blocked_warp: None,
            flag_reads: None,
            spin: Spin::default(),
            step_instructions: 0,
            candidates: Vec::new(),
            groups_before: 0,
        }
    }

    /// Pauses the run before lanes execute one of `pcs`, of a program of `count` instructions, for breakpoint `number`.
    pub fn watch_code(&mut self, count: usize, number: u32, pcs: Vec<Pc>, active_only: bool) {
        self.places = None;
        self.code.resize(count, false);
        for pc in &pcs {
            if let Some(flag) = self.code.get_mut(pc.index()) {
                *flag = true;
            }
        }
        self.breakpoints.push((number, pcs, active_only));
    }

    /// The same for breakpoint `number` on a line of the source: it sees lanes that go on from it, too.
    pub fn watch_line(&mut self, count: usize, number: u32, pcs: Vec<Pc>) {
        self.has_lines = true;
        self.watch_code(count, number, pcs, false);
    }

    /// The breakpoints at `pc`, each with true if only lanes whose guard predicate holds can hit it.
    pub fn numbers_at(&self, pc: Pc) -> impl Iterator<Item = (u32, bool)> {
        self.breakpoints
            .iter()
            .filter(move |(_, pcs, _)| pcs.binary_search(&pc).is_ok())
            .map(|(number, _, active_only)| (*number, *active_only))
    }

    /// True if breakpoint `number` is ignored at `place`: it is on the line where the step began, which the session has already reported,
    /// and a warp other than the stepped one reaches it.
    pub fn ignores(&self, number: u32, place: &IssuePoint) -> bool {
        let other = |step: &StepWatch| step.filter.warp.is_some_and(|warp| (step.filter.block, warp) != (Some(place.block), place.warp));
        self.line_breakpoints.contains(&number) && self.step.as_ref().is_some_and(other)
    }

    /// True if there is nothing to collect.
    pub fn is_idle(&self) -> bool {
        let events = self.divergences || self.reconvergences || self.mbarriers || self.copies;
        self.code.is_empty() && !events && self.watchpoints.is_empty() && self.step.is_none()
    }

    /// True if memory accesses must be observed.
    fn wants_accesses(&self) -> bool {
        self.mbarriers || self.copies || self.watchpoints.iter().any(Watchpoint::wants_accesses)
    }

    /// True if all instructions of all warps are observed.
    fn follows_instructions(&self) -> bool {
        self.divergences || self.locked_warp.is_some() || !self.watchpoints.iter().all(Watchpoint::is_memory_only)
    }

    /// True if some instructions are observed.
    fn reports_issues(&self) -> bool {
        self.step.is_some() || !self.code.is_empty() || self.follows_instructions()
    }

    /// The step, if an instruction that `lanes` execute at `place` belongs to it.
    fn matching_step(&self, place: &IssuePoint, lanes: LaneMask) -> Option<&StepWatch> {
        self.step.as_ref().filter(|step| step.filter.matches(place, lanes))
    }

    /// Counts the reads of a flag by the stepped warp; true if it is taken to spin on the flag.
    fn spins(&mut self, issue: &Issue) -> bool {
        let reads = self.flag_reads.as_ref().is_some_and(|reads| reads.get(issue.point.pc.index()) == Some(&true));
        let warp = (issue.point.block, issue.point.warp);
        reads
            && !issue.active.is_empty()
            && self.matching_step(&issue.point, issue.lanes).is_some()
            && self.spin.count_read(warp, issue.point.pc, issue.point.tick)
    }

    fn pauses_before(&self, issue: &Issue) -> impl Iterator<Item = Candidate> {
        let place = &issue.point;
        let code = self.code.get(place.pc.index()).is_some_and(|flag| *flag).then_some(Candidate::Code(*issue));
        let step = self.matching_step(place, issue.lanes);
        let done = step.is_some_and(|step| matches!(&step.done, StepDone::Before(test) if test(issue)));
        let is_other_warp = self.locked_warp.is_some_and(|locked| locked != (place.block, place.warp));
        code.into_iter().chain(done.then_some(Candidate::Step(*issue))).chain(is_other_warp.then_some(Candidate::OtherWarp))
    }
}

/// The events before and after instructions: which of these, [`Watcher::issues`] says.
const ISSUES: EventMask = EventMask::of(&[EventKind::Before, EventKind::After]);

/// The event that is observed if reconvergence is a candidate.
const RECONVERGENCES: EventMask = EventMask::of(&[EventKind::Reconverged]);

/// The event that is observed if registers are watched, or a warp is blocked.
const ARRIVALS: EventMask = EventMask::of(&[EventKind::Arrived]);

/// The events that are observed if memory accesses are.
const MEMORY: EventMask = EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);

impl Observer for Watcher {
    fn mask(&self) -> EventMask {
        let parts = [
            (self.reports_issues(), ISSUES),
            (self.wants_accesses(), MEMORY),
            (self.reconvergences, RECONVERGENCES),
            (!self.watchpoints.is_empty() || self.blocked_warp.is_some(), ARRIVALS),
        ];
        parts.into_iter().filter(|(is_wanted, _)| *is_wanted).fold(EventMask::NONE, |mask, (_, part)| mask.with(part))
    }

    fn issues(&mut self, block: [u32; 3], warp: WarpId) -> Issues {
        let is_stepped = self.step.as_ref().is_some_and(|step| step.filter.includes(block, warp));
        if is_stepped || self.follows_instructions() {
            return Issues::All;
        }
        if self.code.is_empty() {
            return Issues::None;
        }
        let Self { places, code, .. } = self;
        Issues::At(Arc::clone(places.get_or_insert_with(|| Arc::new(Places::new(code.clone())))))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.access(access),
            Event::Copy(copy) => self.copy(copy),
            Event::Wgmma(wgmma) => self.wgmma(wgmma),
            Event::Mbarrier(mbarrier) => self.mbarrier(mbarrier),
            Event::Before(issue, warp, _) => self.before(issue, warp),
            Event::After(issue, warp) => self.after(issue, warp),
            Event::Reconverged(place, lanes) => self.reconverged(*place, *lanes),
            Event::Arrived(place, block) => self.arrived(*place, block),
            Event::Sync(_) | Event::LocalStart(_) | Event::Collective(_) => false,
        }
    }
}

impl Watcher {
    fn access(&mut self, event: &AccessEvent<'_>) -> bool {
        for (index, watchpoint) in self.watchpoints.iter_mut().enumerate() {
            let lanes = watchpoint.accessing_lanes(event);
            let first = watchpoint.note_written(event);
            if !(lanes | first).is_empty() {
                self.candidates.push(Candidate::Accessed(
                    index,
                    AccessCandidate {
                        place: event.point,
                        lanes,
                        kind: event.kind,
                        copy: None,
                        address: event.addresses.get(lanes.first()).copied(),
                        first,
                    },
                ));
            }
        }
        // The run pauses after the instruction.
        !self.candidates.is_empty()
    }

    fn copy(&mut self, event: &CopyEvent<'_>) -> bool {
        let CopyEvent { copy, lanes, stage, tick, replaces: _ } = *event;
        for (index, watchpoint) in self.watchpoints.iter().enumerate() {
            if let Some(kind) = watchpoint.access_by_copy(event) {
                let access =
                    AccessCandidate { place: copy.issued, lanes, kind, copy: Some((copy.id, tick)), address: None, first: LaneMask::NONE };
                self.candidates.push(Candidate::Accessed(index, access));
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
        for (index, _) in self.watchpoints.iter().enumerate().filter(|(_, watchpoint)| watchpoint.read_by_wgmma(wgmma)) {
            let (lanes, copy) = (event.lanes, Some((wgmma.id, event.tick)));
            self.candidates.push(Candidate::Accessed(
                index,
                AccessCandidate { place: wgmma.issued, lanes, kind: AccessKind::Read, copy, address: None, first: LaneMask::NONE },
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
        self.watchpoints.iter_mut().for_each(|watchpoint| watchpoint.initialize(issue.point.block, issue.point.warp.number(), warp));
        let mut candidates: SmallVec<[Candidate; 3]> = SmallVec::new();
        if self.spins(issue) {
            candidates.push(Candidate::Spinning(*issue));
        }
        if issue.point.tick != self.decided {
            candidates.extend(self.pauses_before(issue));
        } else if self.has_lines && self.code.get(issue.point.pc.index()).is_some_and(|flag| *flag) {
            // Once is enough: what follows is at later ticks.
            self.has_lines = false;
            candidates.push(Candidate::Passing(*issue));
        }
        if candidates.is_empty() {
            return false;
        }
        self.decided = issue.point.tick;
        self.candidates.extend(candidates);
        true
    }

    fn after(&mut self, issue: &Issue, warp: &Warp) -> bool {
        if let Some(step) = self.matching_step(&issue.point, issue.lanes) {
            let done = matches!(step.done, StepDone::After);
            self.step_instructions += 1;
            self.candidates.extend(done.then_some(Candidate::Step(*issue)));
        }
        if self.divergences && warp.groups.len() > self.groups_before {
            self.candidates.push(Candidate::Diverged(*issue));
        }
        for (index, watchpoint) in self.watchpoints.iter_mut().enumerate() {
            let is_left = watchpoint.follow_frame(issue, warp);
            if let Some((kind, lanes)) = watchpoint.access_in(issue, warp) {
                let access = AccessCandidate { place: issue.point, lanes, kind, copy: None, address: None, first: LaneMask::NONE };
                self.candidates.push(Candidate::Accessed(index, access));
            }
            self.candidates.extend(is_left.then_some(Candidate::Left(index, *issue)));
        }
        !self.candidates.is_empty()
    }

    fn reconverged(&mut self, place: IssuePoint, lanes: LaneMask) -> bool {
        if self.reconvergences {
            self.candidates.push(Candidate::Reconverged(place, lanes));
        }
        self.reconvergences
    }

    fn arrived(&mut self, place: IssuePoint, block: &Block) -> bool {
        for (index, watchpoint) in self.watchpoints.iter().enumerate().filter(|(_, watchpoint)| watchpoint.mode != WatchMode::Read) {
            let changed = block.warps.iter().zip(0..).map(|(warp, number)| watchpoint.changed_in(block.index, number, warp));
            let lanes = changed.fold(LaneMask::NONE, |lanes, changed| lanes | changed);
            if !lanes.is_empty()
                && !self.candidates.iter().any(|candidate| matches!(candidate, Candidate::Accessed(other, _) if *other == index))
            {
                self.candidates.push(Candidate::Accessed(
                    index,
                    AccessCandidate { place, lanes, kind: AccessKind::Write, copy: None, address: None, first: LaneMask::NONE },
                ));
            }
        }
        let woken = self
            .blocked_warp
            .is_some_and(|(index, warp)| index == block.index && block.warps.get(warp.index()).is_some_and(|warp| warp.can_run()));
        woken || !self.candidates.is_empty()
    }
}
