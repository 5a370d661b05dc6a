//! What stopped a launch, in words and numbers a front end can draw.

use crate::debug::focus::Focus;
use crate::debug::roles::{NO_ROLES, Roles};
use crate::debug::scene::{Scene, SceneError, stands_at};
use crate::debug::stop::Touch;
use crate::launch::PlannedLaunch;
use crate::machine::{GroupState, LaneMask, Machine, Place, Stuck, Trap, Waiter, held, thread_index};
use crate::program::{Function, Pc, Program};

/// Groups named at most where threads wait or spin.
const WAITING_MAX: usize = 8;

/// A launch that did not reach its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The finding's stable id, such as `memory.out_of_bounds`.
    pub id: &'static str,
    /// The kernel.
    pub kernel: String,
    /// Which launch of the case.
    pub launch: usize,
    /// What happened, in one line.
    pub message: String,
    /// Where, unless it is about no single instruction.
    pub site: Option<Site>,
    /// Lines of the source language it can be blamed on, as far as `.loc` says: of a hang, where each of those who wait stands.
    pub source_lines: Vec<u32>,
    /// Who waits for what, or spins where.
    pub waiting: Vec<Waiting>,
    /// How many more wait than `waiting` names.
    pub waiting_more: usize,
}

/// An instruction as some lanes of a warp execute it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// `file.ptx:12`.
    pub place: String,
    /// The statement.
    pub statement: String,
    /// `file.cu:7`, if `.loc` says so.
    pub source: Option<String>,
    /// Whether the statement is part of an `asm` statement of the source language.
    pub inline_asm: bool,
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// What the warp is called: `producer warp 0`.
    pub who: String,
    /// The lanes, one bit each.
    pub lanes: u32,
    /// Index in the block of the thread of the lowest lane, or of the focused one.
    pub thread: [u32; 3],
    /// Time: warp-instructions issued before.
    pub time: u64,
}

/// Lanes that wait or spin, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Where they stand; of several warps, the first.
    pub site: Site,
    /// The warps of the block whose same lanes stand there for the same reason.
    pub warps: Vec<u32>,
    /// What they are called: `consumer warps 1-3`.
    pub who: String,
    /// What they wait for, in one line or more.
    pub reason: String,
}

/// Makes faults of one launch of a case.
pub(in crate::debug) struct Blame<'a> {
    pub program: &'a Program,
    pub launch: &'a PlannedLaunch,
    /// Which launch of the case.
    pub index: usize,
}

impl Blame<'_> {
    pub fn trap(&self, trap: &Trap) -> Fault {
        let fault = self.fault(trap.kind.id(), trap.message.clone());
        let source_lines = source_line(self.program, trap.place.pc).into_iter().collect();
        Fault { site: Some(self.site(trap.place, trap.lanes)), source_lines, ..fault }
    }

    pub fn deadlock(&self, stuck: &Stuck) -> Fault {
        let fault = self.fault("deadlock", format!("nobody can go on at time {}", stuck.tick));
        self.with_waiting(fault, &stuck.waiters)
    }

    /// The step limit was reached; every group that can still run is said to spin, and those are named that it keeps from running.
    pub fn livelock(&self, machine: &Machine, limit: u64) -> Fault {
        let mut runners = Vec::new();
        for block in machine.resident_blocks() {
            for (number, warp) in block.warps.iter().enumerate() {
                for group in &warp.groups {
                    let runs = (group.state == GroupState::Ready).then(|| "still runs".to_string());
                    let Some(reason) = runs.or_else(|| held(warp, group)) else { continue };
                    let place = Place { pc: group.pc, tick: machine.tick(), block: block.index, warp: number as u32 };
                    runners.push(Waiter { place, lanes: group.mask, reason });
                }
            }
        }
        let fault = self.fault("livelock", format!("the step limit of {limit} warp-instructions was reached"));
        self.with_waiting(fault, &runners)
    }

    /// A launch that the device refuses.
    pub fn refused(&self, message: String) -> Fault {
        let code = self.kernel().code.clone();
        let source_lines = code.map(Pc).find_map(|pc| source_line(self.program, pc)).into_iter().collect();
        Fault { source_lines, ..self.fault("launch.bounds", message) }
    }

    fn fault(&self, id: &'static str, message: String) -> Fault {
        let kernel = self.kernel_name();
        Fault { id, kernel, launch: self.index, message, site: None, source_lines: Vec::new(), waiting: Vec::new(), waiting_more: 0 }
    }

    fn with_waiting(&self, fault: Fault, waiters: &[Waiter]) -> Fault {
        let mut waiting: Vec<Waiting> = Vec::new();
        for waiter in waiters {
            let site = self.site(waiter.place, waiter.lanes);
            let alike = |other: &&mut Waiting| {
                let same_place = (other.site.block, &other.site.place, other.site.lanes) == (site.block, &site.place, site.lanes);
                same_place && other.reason == waiter.reason
            };
            match waiting.iter_mut().find(alike) {
                Some(other) => other.warps.push(waiter.place.warp),
                None => {
                    let (who, warps, reason) = (String::new(), vec![waiter.place.warp], waiter.reason.clone());
                    waiting.push(Waiting { site, warps, who, reason });
                }
            }
        }
        waiting.iter_mut().for_each(|waiting| waiting.who = NO_ROLES.warps(&waiting.warps));
        let waiting_more = waiting.len().saturating_sub(WAITING_MAX);
        waiting.truncate(WAITING_MAX);
        let mut source_lines: Vec<u32> = waiters.iter().filter_map(|waiter| source_line(self.program, waiter.place.pc)).collect();
        source_lines.sort_unstable();
        source_lines.dedup();
        Fault { waiting, waiting_more, source_lines, ..fault }
    }

    fn site(&self, place: Place, lanes: LaneMask) -> Site {
        Site::new(self.program, self.launch.block, place, lanes)
    }

    pub fn kernel_name(&self) -> String {
        self.kernel().name.to_string()
    }

    fn kernel(&self) -> &Function {
        &self.program.functions[self.launch.kernel.index()]
    }
}

impl Fault {
    /// The fault with what the warps it is about are called.
    #[must_use]
    pub fn with_roles(mut self, roles: &Roles) -> Self {
        self.site = self.site.map(|site| site.with_role(roles));
        for waiting in &mut self.waiting {
            waiting.who = roles.warps(&waiting.warps);
        }
        self
    }
}

impl Site {
    /// The instruction at `place` as `lanes` execute it; `extent` is the block's.
    pub(in crate::debug) fn new(program: &Program, extent: [u32; 3], place: Place, lanes: LaneMask) -> Self {
        Self {
            place: program.place(place.pc),
            statement: program.text(place.pc).trim_end_matches(';').to_string(),
            source: source(program, place.pc),
            inline_asm: program.inline_asm(place.pc).is_some(),
            block: place.block,
            warp: place.warp,
            who: NO_ROLES.warp(place.warp),
            lanes,
            thread: thread_index(extent, place.warp, lanes.trailing_zeros() % 32),
            time: place.tick,
        }
    }

    /// Where the selected frame of the focused lane stands, with the lanes that stand there.
    ///
    /// # Errors
    /// The thread is not on the machine.
    pub fn of(scene: &Scene<'_>) -> Result<Self, SceneError> {
        let frame = scene.frame()?;
        let Focus { block, warp, lane, .. } = scene.focus;
        let pc = if scene.focus.frame == 0 { stands_at(frame.group) } else { frame.pc };
        let place = Place { pc, tick: scene.machine.tick(), block, warp };
        let extent = scene.machine.config().block;
        let site = Self::new(scene.program(), extent, place, frame.group.mask);
        Ok(Self { thread: thread_index(extent, warp, lane), ..site.with_role(scene.roles) })
    }

    /// The instruction that touched a place.
    pub fn of_touch(scene: &Scene<'_>, touch: &Touch) -> Self {
        let place = Place { pc: touch.pc, tick: touch.time, block: touch.by.block, warp: touch.by.warp };
        Self::new(scene.program(), scene.machine.config().block, place, touch.lanes).with_role(scene.roles)
    }

    /// The site with what its warp is called.
    fn with_role(self, roles: &Roles) -> Self {
        Self { who: roles.warp(self.warp), ..self }
    }
}

fn source_line(program: &Program, pc: Pc) -> Option<u32> {
    program.source_lines.get(pc.index()).copied().flatten().map(|line| line.line)
}

/// `file.cu:7`
fn source(program: &Program, pc: Pc) -> Option<String> {
    // Compilers write line 0 where there is none.
    let line = program.source_lines.get(pc.index()).copied().flatten().filter(|line| line.line > 0)?;
    let (_, name) = program.source_files.iter().find(|(number, _)| *number == line.file)?;
    Some(format!("{}:{}", name.rsplit(['/', '\\']).next().unwrap_or(name), line.line))
}
