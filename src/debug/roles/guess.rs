//! What warps are for, derived from the branch at which they part.
//!
//! The launch is run again from its start and every branch of the focused block is noted: which way each warp went when it first came
//! there. Of the branches at which warps went different ways, the one counts whose ways stay apart for most of the code. What a way is
//! called is a guess, and ends with a question mark: the only way that issues asynchronous copies is the producer's, one that waits for
//! mbarriers and issues none is a consumer's, if the two do not wait at the same instructions. Any other way has the name of the label
//! that it leads to.

use std::collections::{BTreeMap, BTreeSet};

use super::Roles;
use crate::cfg::ControlFlow;
use crate::debug::session::Session;
use crate::machine::{Event, EventKind, EventMask, LaneMask, Observer};
use crate::program::{AsyncOp, ControlOp, MbarrierOp, Op, Pc, Program};

/// Ticks from the start of the launch that are looked through.
const WINDOW: u64 = 1 << 20;

/// The branch at which the warps of a block part, and the ways they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleGuess {
    /// The branch.
    pub branch: Pc,
    /// The ways, in order of the lowest warp.
    pub ways: Vec<RoleWay>,
}

/// A way from a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleWay {
    /// What it is called.
    pub name: String,
    /// The warps that went it.
    pub warps: Vec<u32>,
    /// Where it leads.
    pub to: Pc,
    /// Whether all lanes of the warps went it together.
    pub together: bool,
    /// Asynchronous copies that were issued on it.
    pub copies: u64,
    /// Questions whether a phase of an mbarrier has ended.
    pub waits: u64,
}

impl RoleGuess {
    /// The roles that it gives.
    pub fn roles(&self) -> Roles {
        let mut roles = Roles::default();
        for way in &self.ways {
            roles.0.extend(way.warps.iter().map(|warp| (*warp, way.name.clone())));
        }
        roles
    }
}

impl Session {
    /// What the warps of the focused block are for; none if they did not diverge at a branch up to now.
    pub fn guess_roles(&self) -> Option<RoleGuess> {
        let mut parting =
            RoleRecorder { block: self.focus.block, program: self.program(), branches: BTreeMap::new(), counts: BTreeMap::new() };
        let start = self.machine().start();
        self.timeline.replay(start, self.time().min(start.saturating_add(WINDOW)), &mut parting);
        parting.guess()
    }
}

/// Which way the lanes of a warp went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Taken,
    Passed,
    Both,
}

/// Copies issued and phases asked for by a warp.
#[derive(Clone, Default)]
struct ActivityCounts {
    copies: u64,
    waits: u64,
    /// The instructions at which it asked.
    asked_at: BTreeSet<Pc>,
}

/// Notes which way the warps of a block go, and what they do.
struct RoleRecorder<'p> {
    block: [u32; 3],
    program: &'p Program,
    branches: BTreeMap<Pc, BTreeMap<u32, Way>>,
    counts: BTreeMap<u32, ActivityCounts>,
}

impl Observer for RoleRecorder<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let Event::Before(issue, _) = event else { return false };
        let (pc, warp) = (issue.place.pc, issue.place.warp);
        if issue.place.block != self.block {
            return false;
        }
        let inst = &self.program.code[pc.index()];
        if inst.guard.is_some() && matches!(inst.op, Op::Control(ControlOp::Branch { .. })) {
            let way = match issue.active {
                LaneMask::NONE => Way::Passed,
                active if active == issue.lanes => Way::Taken,
                _ => Way::Both,
            };
            self.branches.entry(pc).or_default().entry(warp.number()).or_insert(way);
        } else if !issue.active.is_empty() && matches!(inst.op, Op::Async(AsyncOp::Copy { .. })) {
            self.counts.entry(warp.number()).or_default().copies += 1;
        } else if !issue.active.is_empty() && matches!(inst.op, Op::Mbarrier(MbarrierOp::Wait { .. })) {
            let counts = self.counts.entry(warp.number()).or_default();
            counts.waits += 1;
            counts.asked_at.insert(pc);
        }
        false
    }
}

impl RoleRecorder<'_> {
    fn guess(&self) -> Option<RoleGuess> {
        let parts = |ways: &BTreeMap<u32, Way>| ways.values().any(|way| Some(way) != ways.values().next());
        let parting = self.branches.iter().filter(|(_, ways)| parts(ways));
        let (branch, ways) = parting.max_by_key(|(pc, _)| (self.distance(**pc), std::cmp::Reverse(**pc)))?;
        let mut kinds: Vec<(Way, Vec<u32>)> = Vec::new();
        for (warp, way) in ways {
            match kinds.iter_mut().find(|(other, _)| other == way) {
                Some((_, warps)) => warps.push(*warp),
                None => kinds.push((*way, vec![*warp])),
            }
        }
        // Of a warp that went both ways, the one counts that no other warp went.
        let is_taken = kinds.iter().any(|(way, _)| *way == Way::Taken);
        let mut ways: Vec<RoleWay> = kinds.into_iter().map(|(way, warps)| self.way((*branch, is_taken), way, warps)).collect();
        self.name(&mut ways);
        Some(RoleGuess { branch: *branch, ways })
    }

    /// Instructions between a branch and the place where its ways meet again; its function's end if they do not.
    fn distance(&self, branch: Pc) -> u32 {
        let Some(function) = self.program.function_at(branch) else { return 0 };
        let reconvergence = ControlFlow::new(self.program, function).ipdom_pc(branch);
        let end = reconvergence.map_or(self.program.functions[function.index()].code.end, |pc| pc.0);
        end.saturating_sub(branch.0)
    }

    fn way(&self, (branch, is_taken): (Pc, bool), way: Way, warps: Vec<u32>) -> RoleWay {
        let to = if let Op::Control(ControlOp::Branch { target, .. }) = &self.program.code[branch.index()].op
            && (way == Way::Taken || way == Way::Both && !is_taken)
        {
            *target
        } else {
            Pc(branch.0.saturating_add(1))
        };
        let counts = || warps.iter().filter_map(|warp| self.counts.get(warp));
        let (copies, waits) = (counts().map(|counts| counts.copies).sum(), counts().map(|counts| counts.waits).sum());
        RoleWay { name: String::new(), warps, to, together: way != Way::Both, copies, waits }
    }

    fn name(&self, ways: &mut [RoleWay]) {
        let producers = ways.iter().filter(|way| way.copies > 0).count();
        let consumers = ways.iter().filter(|way| way.copies == 0 && way.waits > 0).count();
        let asked_at = |way: &RoleWay| -> BTreeSet<Pc> {
            way.warps.iter().filter_map(|warp| self.counts.get(warp)).flat_map(|counts| &counts.asked_at).copied().collect()
        };
        let alike = ways.iter().enumerate().any(|(at, way)| ways[..at].iter().any(|other| !asked_at(way).is_disjoint(&asked_at(other))));
        for way in ways {
            way.name = match (way.copies > 0, way.waits > 0) {
                _ if alike => self.label(way.to),
                (true, _) if producers == 1 && consumers > 0 => "producer?".to_string(),
                (false, true) if producers == 1 && consumers == 1 => "consumer?".to_string(),
                _ => self.label(way.to),
            };
        }
    }

    /// `BB1_12`, or `line_37` where there is no label.
    fn label(&self, pc: Pc) -> String {
        let function = self.program.function_at(pc).map(|function| &self.program.functions[function.index()]);
        let label = function.and_then(|function| function.labels.iter().find(|(_, at)| *at == pc));
        label.map_or_else(
            || format!("line_{}", self.program.place(pc).rsplit(':').next().unwrap_or_default()),
            |(label, _)| label.trim_start_matches(['$', '%']).trim_start_matches("L__").to_string(),
        )
    }
}
