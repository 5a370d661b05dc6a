//! A fault, which stopped a launch, as data for a front end.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::base::WarpId;
use crate::check::FindingId;
use crate::check::faults::{DEADLOCK, LAUNCH_BOUNDS, LIVELOCK, MEMORY_LIMIT};
use crate::debug::causes::{self, FaultedLaunch};
use crate::debug::eval_context::EvalContext;
use crate::debug::file_line::source_lines;
use crate::debug::focus::Focus;
use crate::debug::roles::{NO_ROLES, Roles};
use crate::debug::site::Site;
use crate::debug::units::format_bytes;
use crate::debug::view::grouped;
use crate::debug::waits;
use crate::dwarf::LazyDebugInfo;
use crate::isa::Space;
use crate::launch::{PlannedBuffer, PlannedLaunch};
use crate::machine::{
    Deadlock, Footprint, GroupState, IssuePoint, LaneMask, Machine, MemoryLimit, Trap, TrapKind, WaitReason, Waiter, stack_wait,
};
use crate::program::{Function, Pc, Program, Variable, map};

/// Maximum number of waiting or spinning lane groups that are named.
const WAITING_MAX: usize = 8;

/// A launch that did not reach its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The id of the mistake.
    pub id: FindingId,
    /// The kernel.
    pub kernel: String,
    /// The number of the launch in the case.
    pub launch: usize,
    /// The message, in one line.
    pub message: String,
    /// The origin of the wrong value, if it is known; otherwise empty.
    pub why: String,
    /// The instruction; none if the fault is about no single one.
    pub site: Option<Site>,
    /// Lines of the source language that `.loc` gives for it: of a deadlock or livelock, those of all waiting threads.
    pub source_lines: Vec<u32>,
    /// The waiting or spinning warps, and what each waits for.
    pub waiting: Vec<Waiting>,
    /// Number of further waits that `waiting` does not name.
    pub waiting_more: usize,
    /// The values of a made-up launch that may have caused it; otherwise empty.
    pub made_up: String,
}

/// Lanes that wait or spin, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Their position; of several warps, that of the first.
    pub site: Site,
    /// The warps of the block that have the same lanes there for the same reason.
    pub warps: Vec<u32>,
    /// Their names: `consumer warps 1-3`.
    #[serde(skip)]
    pub warp_names: String,
    /// The wait reason, in one line or more.
    pub reason: String,
    /// Their position.
    #[serde(skip)]
    pub pc: Pc,
    /// Their wait reason, as data.
    #[serde(skip)]
    pub kind: WaitKind,
}

/// The state of lanes that make no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// They run in a loop.
    Spins,
    /// They wait at a barrier of their block.
    AtBarrier,
    /// They wait for something else.
    Other,
}

impl WaitKind {
    fn of(reason: &WaitReason) -> Self {
        match reason {
            WaitReason::Runs | WaitReason::Spins => Self::Spins,
            WaitReason::Barrier { .. } => Self::AtBarrier,
            WaitReason::Mbarrier(_)
            | WaitReason::Copies
            | WaitReason::Wgmmas
            | WaitReason::Warpgroup { .. }
            | WaitReason::Cluster(_)
            | WaitReason::Lanes { .. }
            | WaitReason::Reconvergence(_)
            | WaitReason::OtherSide(_) => Self::Other,
        }
    }
}

/// Makes faults of one launch of a case.
pub(in crate::debug) struct FaultContext<'a> {
    pub program: &'a Program,
    pub launch: &'a PlannedLaunch,
    /// The buffers of the case.
    pub buffers: &'a [PlannedBuffer],
    /// The number of the launch in the case.
    pub index: usize,
    /// The debug data, which is read if `.loc` names no line of the user's.
    debug_data: LazyDebugInfo,
}

impl<'a> FaultContext<'a> {
    /// The context of faults of launch `index` of a case with these buffers.
    pub fn new(program: &'a Program, launch: &'a PlannedLaunch, buffers: &'a [PlannedBuffer], index: usize) -> Self {
        Self { program, launch, buffers, index, debug_data: LazyDebugInfo::default() }
    }

    /// The fault of `trap`, at which `machine` stopped.
    pub fn trap(&self, trap: &Trap, machine: &Machine) -> Fault {
        let launched = FaultedLaunch { program: self.program, launch: self.launch, buffers: self.buffers };
        let too_short = causes::too_short(launched, trap, machine).filter(|_| self.launch.is_from_args);
        let origin = match (&too_short, causes::null_member(launched, trap).or_else(|| causes::null_parameter(launched, trap))) {
            (Some(_), _) => String::new(),
            (None, Some(member)) => member,
            (None, None) => causes::origin(self.program, self.launch, trap.point.pc, true),
        };
        let fault = match self.unknown_shared(trap).or(too_short) {
            Some(message) => self.fault(LAUNCH_BOUNDS, message),
            None => self.fault(trap.kind.into(), trap.message.clone()),
        };
        let why = causes::null_loaded(launched, trap, machine).unwrap_or_default();
        let site = self.site(trap.point, trap.lanes, machine);
        Fault { made_up: origin, why, source_lines: line_numbers(&site), site: Some(site), ..fault }
    }

    /// The message for an access to dynamic shared memory if the launch gives no size: the launch is wrong.
    fn unknown_shared(&self, trap: &Trap) -> Option<String> {
        let access = trap.access.filter(|access| matches!(access.space, Space::Shared | Space::SharedCluster | Space::Generic))?;
        let shared = |variable: &&Variable| variable.location.space == Space::Shared && variable.bytes == 0;
        let is_dynamic = self.program.variables.iter().any(|variable| shared(&variable));
        // For a generic address, the message names the state space.
        let is_past = trap.kind == TrapKind::OutOfBounds && trap.message.starts_with("shared ");
        let end = map::SHARED_RESERVED + u64::from(self.kernel().shared_bytes);
        let is_past = is_past && (access.space == Space::Generic || access.address + u64::from(access.bytes) > end);
        let is_size_unknown = self.launch.dynamic_shared == 0 && is_dynamic && is_past;
        is_size_unknown.then(|| format!("dynamic shared memory is not known (0 bytes given): --dynamic-shared BYTES; {}", trap.message))
    }

    /// The fault of threads that all wait.
    pub fn deadlock(&self, deadlock: &Deadlock, machine: &Machine) -> Fault {
        let message = format!("no warp can make progress at t={}{}", grouped(deadlock.tick), unstarted(deadlock));
        let fault = self.fault(DEADLOCK, message);
        self.with_waiting(fault, &deadlock.waiters, machine)
    }

    /// The fault of threads that spin forever, while the others wait.
    pub fn livelock(&self, deadlock: &Deadlock, machine: &Machine) -> Fault {
        let message = "threads spin forever: each has returned to the same state, and no other thread can change what it waits for";
        self.with_waiting(self.fault(LIVELOCK, format!("{message}{}", unstarted(deadlock))), &deadlock.waiters, machine)
    }

    /// The fault of a reached step limit: every lane group that can still run is reported to spin; the groups that wait for it are named
    /// too.
    pub fn unfinished(&self, machine: &Machine, limit: u64) -> Fault {
        let mut runners = Vec::new();
        for block in machine.resident_blocks() {
            for (number, warp) in block.warps.iter().enumerate() {
                for group in &warp.groups {
                    let runs = (group.state == GroupState::Ready).then_some(WaitReason::Runs);
                    let Some(reason) = runs.or_else(|| stack_wait(warp, group)) else { continue };
                    let place = IssuePoint { pc: group.pc, tick: machine.tick(), block: block.index, warp: WarpId::new(number as u32) };
                    runners.push(Waiter { point: place, lanes: group.mask, reason });
                }
            }
        }
        let fault = self.fault(LIVELOCK, format!("the step limit of {limit} warp-instructions was reached"));
        self.with_waiting(fault, &runners, machine)
    }

    /// The fault of a run whose simulated state exceeds the limit.
    pub fn over_limit(&self, footprint: Footprint, limit: MemoryLimit) -> Fault {
        let [limit, global, blocks] = [limit.0, footprint.global, footprint.blocks].map(format_bytes);
        let used = format!("{global} of global memory and {blocks} of registers, call frames, local and shared memory");
        self.fault(MEMORY_LIMIT, format!("the run needs more simulated state than {limit}, the limit (--memory-limit): {used}"))
    }

    /// The fault of a launch that the device refuses.
    pub fn refused(&self, message: String) -> Fault {
        let code = self.kernel().code.clone();
        let lines = code.map(Pc).map(|pc| source_lines(self.program, pc)).find(|lines| !lines.is_empty()).unwrap_or_default();
        Fault { source_lines: lines.iter().map(|line| line.line).collect(), ..self.fault(LAUNCH_BOUNDS, message) }
    }

    fn fault(&self, id: FindingId, message: String) -> Fault {
        let kernel = self.kernel_name();
        Fault {
            id,
            kernel,
            launch: self.index,
            message,
            why: String::new(),
            site: None,
            source_lines: Vec::new(),
            waiting: Vec::new(),
            waiting_more: 0,
            made_up: self.made_up(),
        }
    }

    /// The note on a made-up launch, for a fault that is about no address.
    fn made_up(&self) -> String {
        causes::may_be(self.launch)
    }

    fn with_waiting(&self, fault: Fault, waiters: &[Waiter], machine: &Machine) -> Fault {
        let (mut waiting, mut source_lines): (Vec<Waiting>, BTreeSet<u32>) = Default::default();
        for waiter in waiters {
            let site = self.site(waiter.point, waiter.lanes, machine);
            source_lines.extend(line_numbers(&site));
            let reason = waits::reason(self.program, self.launch.kernel, waiter);
            let alike = |other: &&mut Waiting| {
                let same_place = (other.site.block, &other.site.place, other.site.lanes) == (site.block, &site.place, site.lanes);
                same_place && other.reason == reason
            };
            match waiting.iter_mut().find(alike) {
                Some(other) => other.warps.push(waiter.point.warp.number()),
                None => {
                    let (warp_names, warps) = (String::new(), vec![waiter.point.warp.number()]);
                    let (pc, kind) = (waiter.point.pc, WaitKind::of(&waiter.reason));
                    waiting.push(Waiting { site, warps, warp_names, reason, pc, kind });
                }
            }
        }
        waiting.iter_mut().for_each(|waiting| waiting.warp_names = NO_ROLES.warps(&waiting.warps));
        let waiting_more = waiting.len().saturating_sub(WAITING_MAX);
        waiting.truncate(WAITING_MAX);
        Fault { waiting, waiting_more, source_lines: source_lines.into_iter().collect(), ..fault }
    }

    /// The site of lanes that have stopped there.
    fn site(&self, issue: IssuePoint, lanes: LaneMask, machine: &Machine) -> Site {
        Site::with_calls(&EvalContext::at(machine, Focus::first(machine)).with_debug_data(&self.debug_data), issue, lanes)
    }

    pub fn kernel_name(&self) -> String {
        self.kernel().name.to_string()
    }

    fn kernel(&self) -> &Function {
        &self.program.functions[self.launch.kernel.index()]
    }
}

impl Fault {
    /// The fault with the role names of its warps.
    #[must_use]
    pub fn with_roles(mut self, roles: &Roles) -> Self {
        self.site = self.site.map(|site| site.with_role(roles));
        for waiting in &mut self.waiting {
            waiting.warp_names = roles.warps(&waiting.warps);
        }
        self
    }
}

/// The lines of the source language that a site is on.
fn line_numbers(site: &Site) -> Vec<u32> {
    site.source_lines().map(|place| place.line).collect()
}

/// The number of blocks that could not start: the others may wait for them.
fn unstarted(deadlock: &Deadlock) -> String {
    match deadlock.unstarted {
        0 => String::new(),
        1 => "; 1 block has not started, as it needs the place of another one (--resident)".to_string(),
        blocks => format!("; {blocks} blocks have not started, as they need the places of others (--resident)"),
    }
}
