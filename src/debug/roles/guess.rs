//! The roles of warps (producer, consumer), derived from the branch at which they diverge.
//!
//! The launch is executed again from its start. For every branch in the focused block, the direction that each warp took first is
//! recorded. Among the branches at which warps took different directions, the one with the most distant reconvergence point is chosen.
//! The name of a role is a guess and ends with a question mark: the only path that issues asynchronous copies is the producer's; a path
//! that waits for mbarriers and issues no copies is a consumer's, if the two do not wait at the same instructions. Any other role is
//! named after the label at the start of its path.

use std::collections::{BTreeMap, BTreeSet};

use super::Roles;
use crate::cfg::ControlFlow;
use crate::debug::session::Session;
use crate::machine::{Event, EventKind, EventMask, LaneMask, Observer};
use crate::program::{AsyncOp, ControlOp, MbarrierOp, Op, Pc, Program};

/// Most ticks from the start of the launch that are executed again.
const WINDOW: u64 = 1 << 20;

/// The branch at which the warps of a block diverge, and a role for each path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleGuess {
    /// The branch.
    pub branch: Pc,
    /// The roles, in order of the lowest warp.
    pub roles: Vec<GuessedRole>,
}

/// The role of the warps that took the same direction at the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuessedRole {
    /// Its name.
    pub name: String,
    /// Its warps.
    pub warps: Vec<u32>,
    /// The first instruction of its path.
    pub to: Pc,
    /// True if all lanes of each warp took this direction.
    pub together: bool,
    /// Number of asynchronous copies that its warps issued.
    pub copies: u64,
    /// Number of tests of an mbarrier's phase by its warps.
    pub waits: u64,
}

impl RoleGuess {
    /// The roles by warp.
    pub fn roles(&self) -> Roles {
        let mut roles = Roles::default();
        for role in &self.roles {
            roles.0.extend(role.warps.iter().map(|warp| (*warp, role.name.clone())));
        }
        roles
    }
}

impl Session {
    /// The roles of the warps of the focused block; none if no branch has separated them yet.
    pub fn guess_roles(&self) -> Option<RoleGuess> {
        let mut recorder =
            RoleRecorder { block: self.focus.block, program: self.program(), branches: BTreeMap::new(), counts: BTreeMap::new() };
        let start = self.machine().start();
        self.timeline.replay(start, self.time().min(start.saturating_add(WINDOW)), &mut recorder);
        recorder.guess()
    }
}

/// The direction that the lanes of a warp took at a branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Taken,
    NotTaken,
    Both,
}

/// Copies issued and phases tested by a warp.
#[derive(Clone, Default)]
struct ActivityCounts {
    copies: u64,
    waits: u64,
    /// The instructions that tested.
    waits_at: BTreeSet<Pc>,
}

/// Records the directions that the warps of a block take, and their copies and waits.
struct RoleRecorder<'p> {
    block: [u32; 3],
    program: &'p Program,
    branches: BTreeMap<Pc, BTreeMap<u32, Direction>>,
    counts: BTreeMap<u32, ActivityCounts>,
}

impl Observer for RoleRecorder<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let Event::Before(issue, ..) = event else { return false };
        let (pc, warp) = (issue.point.pc, issue.point.warp);
        if issue.point.block != self.block {
            return false;
        }
        let inst = &self.program.code[pc.index()];
        if inst.guard.is_some() && matches!(inst.op, Op::Control(ControlOp::Branch { .. })) {
            let direction = match issue.active {
                LaneMask::NONE => Direction::NotTaken,
                active if active == issue.lanes => Direction::Taken,
                _ => Direction::Both,
            };
            self.branches.entry(pc).or_default().entry(warp.number()).or_insert(direction);
        } else if !issue.active.is_empty() && matches!(inst.op, Op::Async(AsyncOp::Copy { .. })) {
            self.counts.entry(warp.number()).or_default().copies += 1;
        } else if !issue.active.is_empty() && matches!(inst.op, Op::Mbarrier(MbarrierOp::Wait { .. })) {
            let counts = self.counts.entry(warp.number()).or_default();
            counts.waits += 1;
            counts.waits_at.insert(pc);
        }
        false
    }
}

impl RoleRecorder<'_> {
    fn guess(&self) -> Option<RoleGuess> {
        let diverges =
            |directions: &BTreeMap<u32, Direction>| directions.values().any(|direction| Some(direction) != directions.values().next());
        let diverging = self.branches.iter().filter(|(_, directions)| diverges(directions));
        let (branch, directions) = diverging.max_by_key(|(pc, _)| (self.distance(**pc), std::cmp::Reverse(**pc)))?;
        let mut by_direction: Vec<(Direction, Vec<u32>)> = Vec::new();
        for (warp, direction) in directions {
            match by_direction.iter_mut().find(|(other, _)| other == direction) {
                Some((_, warps)) => warps.push(*warp),
                None => by_direction.push((*direction, vec![*warp])),
            }
        }
        // A warp whose lanes took both directions is assigned to the path that no other warp took.
        let is_taken = by_direction.iter().any(|(direction, _)| *direction == Direction::Taken);
        let mut roles: Vec<GuessedRole> =
            by_direction.into_iter().map(|(direction, warps)| self.role((*branch, is_taken), direction, warps)).collect();
        self.name(&mut roles);
        Some(RoleGuess { branch: *branch, roles })
    }

    /// Number of instructions between a branch and its reconvergence point, or the end of the function if there is none.
    fn distance(&self, branch: Pc) -> u32 {
        let Some(function) = self.program.function_at(branch) else { return 0 };
        let reconvergence = ControlFlow::new(self.program, function).ipdom_pc(branch);
        let end = reconvergence.map_or(self.program.functions[function.index()].code.end, |pc| pc.0);
        end.saturating_sub(branch.0)
    }

    fn role(&self, (branch, is_taken): (Pc, bool), direction: Direction, warps: Vec<u32>) -> GuessedRole {
        let to = if let Op::Control(ControlOp::Branch { target, .. }) = &self.program.code[branch.index()].op
            && (direction == Direction::Taken || direction == Direction::Both && !is_taken)
        {
            *target
        } else {
            Pc(branch.0.saturating_add(1))
        };
        let counts = || warps.iter().filter_map(|warp| self.counts.get(warp));
        let (copies, waits) = (counts().map(|counts| counts.copies).sum(), counts().map(|counts| counts.waits).sum());
        GuessedRole { name: String::new(), warps, to, together: direction != Direction::Both, copies, waits }
    }

    fn name(&self, roles: &mut [GuessedRole]) {
        let producers = roles.iter().filter(|role| role.copies > 0).count();
        let consumers = roles.iter().filter(|role| role.copies == 0 && role.waits > 0).count();
        let waits_at = |role: &GuessedRole| -> BTreeSet<Pc> {
            role.warps.iter().filter_map(|warp| self.counts.get(warp)).flat_map(|counts| &counts.waits_at).copied().collect()
        };
        let wait_together =
            roles.iter().enumerate().any(|(index, role)| roles[..index].iter().any(|other| !waits_at(role).is_disjoint(&waits_at(other))));
        for role in roles {
            role.name = match (role.copies > 0, role.waits > 0) {
                _ if wait_together => self.label(role.to),
                (true, _) if producers == 1 && consumers > 0 => "producer?".to_string(),
                (false, true) if producers == 1 && consumers == 1 => "consumer?".to_string(),
                _ => self.label(role.to),
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
