//! Loads that return an older write than the newest, on weak memory, and stores before other writes: what they return or write, and the
//! link that is missing, in words.

use super::eval_context::EvalContext;
use super::expression::little_endian;
use super::focus::Focus;
use super::value::{Scalar, Type};
use super::view::grouped;
use crate::base::{Dim3, Severity, WarpId};
use crate::check::faults::MEMORY_STALE;
use crate::check::{ConflictBytes, Finding, MemoryRange, Side, SideAction};
use crate::isa::{ScalarType, Scope, Space};
use crate::machine::{IssuePoint, LANES, LaneMask, Machine, Tick};
use crate::program::{Pc, Program};
use crate::weak::{Event, LastRead, Link, Location, Place, Source, StaleRead};

/// The block, the warp and the lane of a thread.
pub(in crate::debug) fn focus_of(machine: &Machine, by: Place) -> Focus {
    let lanes = LANES as u32;
    Focus { block: machine.block_index(u64::from(by.block)), warp: by.thread / lanes, lane: by.thread % lanes, frame: 0 }
}

/// The location of an element for weak memory; none of memory that threads do not share.
pub(in crate::debug) fn location(machine: &Machine, space: Space, owner: Focus, address: u64, bytes: u32) -> Option<Location> {
    match space {
        Space::Global | Space::Generic => Some((0, address, bytes)),
        Space::Shared => machine.block_number(owner.block).map(|block| (block as u32 + 1, address, bytes)),
        Space::SharedCluster | Space::Const | Space::Local | Space::Param | Space::ParamFunc => None,
    }
}

/// The type of the elements that an instruction accesses.
fn element_type(program: &Program, pc: Pc, bytes: usize) -> ScalarType {
    let named = program.opcode(pc).and_then(|opcode| opcode.matched.types.last().copied());
    named.filter(|ty| ty.bytes() as usize == bytes).unwrap_or(match bytes {
        1 => ScalarType::U8,
        2 => ScalarType::U16,
        8 => ScalarType::U64,
        16 => ScalarType::B128,
        _ => ScalarType::U32,
    })
}

/// The value of a write, as an element that the instruction at `pc` reads.
pub(in crate::debug) fn value(context: &EvalContext<'_>, pc: Pc, write: &Source) -> String {
    let ty = element_type(context.program(), pc, write.bytes.len());
    Scalar::new(Type::Scalar(ty), little_endian(&write.bytes)).text(context, None)
}

/// `block (0,0,0) warp 1 lane 3`
pub(in crate::debug) fn thread(machine: &Machine, by: Place) -> String {
    let Focus { block, warp, lane, .. } = focus_of(machine, by);
    format!("block {} warp {warp} lane {lane}", Dim3(block))
}

/// `written at t=3 at mp.ptx:12 by block (0,0,0) warp 1 lane 3`
pub(in crate::debug) fn origin(context: &EvalContext<'_>, write: &Source) -> String {
    match write.by {
        None => "there before".to_string(),
        Some(by) => {
            let place = context.program().place(Pc(write.code));
            format!("written at t={} at {place} by {}", grouped(Tick(write.time)), thread(context.machine, by))
        }
    }
}

/// Why a thread need not know a write: the link that is missing.
pub(in crate::debug) fn link(context: &EvalContext<'_>, missed: &Source, link: &Link) -> String {
    let program = context.program();
    let line = |code: u32| program.line(Pc(code));
    let flag = |read: &LastRead| format!("line {}, which line {} has read", line(read.write.code), line(read.code));
    match link {
        Link::Nothing => "the thread has read nothing that was written after it, and no fence.sc orders them".to_string(),
        Link::Strength(read) => format!("the access of {} is not morally strong to it: weak, or of a scope that is too narrow", flag(read)),
        Link::Release(read) if read.write.by == missed.by => {
            format!("no release, and no fence, between line {} and {}", line(missed.code), flag(read))
        }
        Link::Release(read) => {
            format!("no chain of releases and acquires leads from line {} to {}", line(missed.code), flag(read))
        }
        Link::ReleaseScope(read, scope) => {
            format!("the release at or before {} has the scope .{}, in which the thread is not", flag(read), scope.word())
        }
        Link::Acquire(read) => {
            format!("no acquire at line {}, which has read line {}, and no fence after it", line(read.code), line(read.write.code))
        }
    }
}

/// What would be the link.
fn remedy(context: &EvalContext<'_>, stale: &StaleRead) -> String {
    let line = |code: u32| context.program().line(Pc(code));
    match &stale.link {
        Link::Nothing => format!(
            "let line {} {} only after a flag is read that is released after line {}, or put fence.sc before line {} and after line {}",
            line(stale.code),
            if stale.is_store { "write" } else { "read" },
            line(stale.missed.code),
            line(stale.code),
            line(stale.missed.code)
        ),
        Link::Strength(read) => {
            let change = if read.write.scope == Scope::None { "relaxed or stronger, with" } else { "of" };
            format!("make line {} and line {} {change} a scope that includes both threads", line(read.write.code), line(read.code))
        }
        Link::Release(read) if read.write.by == stale.missed.by => {
            format!("make line {} a release, or put a fence.acq_rel before it", line(read.write.code))
        }
        Link::Release(read) => format!(
            "release after line {} by a flag that is acquired before line {}, or put fence.sc before line {} and after line {}",
            line(stale.missed.code),
            line(read.write.code),
            line(stale.code),
            line(stale.missed.code)
        ),
        Link::ReleaseScope(read, _) => format!("widen the scope of the release at or before line {}", line(read.write.code)),
        Link::Acquire(read) => {
            format!("make line {} an acquire, or put a fence.acq_rel after it, of a scope that includes both threads", line(read.code))
        }
    }
}

/// `writes 2 before 1, written at t=9 at ww.ptx:12 by …, in coherence order, which this thread need not know: no acquire at line 20 …`, or
/// `reads 0 (there before); 1, written at t=9 at mp.ptx:12 by …, was not yet visible to this thread: no acquire at line 20 …`
pub(in crate::debug) fn text(context: &EvalContext<'_>, stale: &StaleRead) -> String {
    format!("{}: {}", seen(context, stale), link(context, &stale.missed, &stale.link))
}

/// The same without the link that is missing.
fn seen(context: &EvalContext<'_>, stale: &StaleRead) -> String {
    let pc = Pc(stale.code);
    let (own, missed) = (value(context, pc, &stale.read), value(context, pc, &stale.missed));
    let later = origin(context, &stale.missed);
    if stale.is_store {
        return format!("writes {own} before {missed}, {later}, in coherence order, as this thread need not know of that");
    }
    format!("reads {own} ({}); {missed}, {later}, was not yet visible to this thread", origin(context, &stale.read))
}

/// The texts of the loads of a warp at one time, those that say the same once.
pub(in crate::debug) fn texts_at(context: &EvalContext<'_>, block: [u32; 3], warp: u32, time: Tick) -> Vec<String> {
    let is_meant = |stale: &&StaleRead| {
        let by = focus_of(context.machine, stale.by);
        stale.time == time.0 && (by.block, by.warp) == (block, warp)
    };
    let mut texts: Vec<String> = context.machine.stale_reads().filter(is_meant).map(|stale| text(context, stale)).collect();
    texts.dedup();
    texts
}

/// The most stale reads that a stop reports.
const TEXTS_MAX: usize = 3;

/// What loads of the focused thread have returned since a time that was not the newest, if they did not read it again.
pub(in crate::debug) fn texts_since(context: &EvalContext<'_>, since: Tick) -> Vec<String> {
    let Focus { block, warp, lane, .. } = context.focus;
    let Some(own) = context.machine.thread_place(block, warp, lane) else { return Vec::new() };
    let is_meant = |stale: &&StaleRead| stale.by == own && stale.time >= since.0 && !stale.is_repeated;
    let said = |stale: &StaleRead| format!("line {} {}", context.program().line(Pc(stale.code)), text(context, stale));
    let texts: Vec<String> = context.machine.stale_reads().filter(is_meant).map(said).collect();
    texts[texts.len().saturating_sub(TEXTS_MAX)..].to_vec()
}

/// What loads of all threads have returned in a launch that is over, and stores have come before: the first that make a difference.
pub(in crate::debug) fn texts_at_end(context: &EvalContext<'_>) -> Vec<String> {
    let said = |stale: &StaleRead| {
        let (line, by) = (context.program().line(Pc(stale.code)), thread(context.machine, stale.by));
        format!("line {line} of {by} {}", text(context, stale))
    };
    let is_meant = |stale: &&StaleRead| !stale.is_repeated && stale.makes_a_difference();
    let mut texts: Vec<String> = context.machine.stale_reads().filter(is_meant).map(said).collect();
    texts.truncate(TEXTS_MAX);
    texts
}

/// A load that returned an older write than the newest, or a store before another write.
#[derive(Clone, Debug)]
pub struct StaleAccess {
    /// The access.
    pub(in crate::debug) event: Event,
    /// As a finding.
    pub(in crate::debug) finding: Finding,
    /// What it reads, and what it misses, without the link that is missing.
    pub(in crate::debug) seen: String,
}

/// The loads of a launch that returned an older write, and did not read it again, and the stores before other writes, those first that have
/// other bytes than the newest write.
pub(in crate::debug) fn accesses(machine: &Machine, launch: usize) -> Vec<StaleAccess> {
    let context = EvalContext::at(machine, Focus::first(machine));
    let mut stale: Vec<&StaleRead> = machine.stale_reads().filter(|stale| !stale.is_repeated).collect();
    // What returns the same bytes as the newest write says less.
    stale.sort_by_key(|stale| !stale.makes_a_difference());
    let access = |stale: &StaleRead| {
        let event = Event { by: stale.by, time: stale.time, code: stale.code };
        let seen = format!("line {} {}", context.program().line(Pc(stale.code)), seen(&context, stale));
        Some(StaleAccess { event, finding: finding(&context, launch, stale)?, seen })
    };
    stale.into_iter().filter_map(access).collect()
}

fn finding(context: &EvalContext<'_>, launch: usize, stale: &StaleRead) -> Option<Finding> {
    let machine = context.machine;
    let (memory, address, bytes) = stale.at;
    let owner = memory.checked_sub(1).map(|block| machine.block_index(u64::from(block)));
    let side = |by: Place, (code, time): (u32, u64), action| {
        let Focus { block, warp, lane, .. } = focus_of(machine, by);
        let point = IssuePoint { pc: Pc(code), tick: Tick(time), block, warp: WarpId::new(warp) };
        Side { point, lanes: LaneMask::of(lane as usize), action, bytes, copy: None }
    };
    let first = side(stale.missed.by?, (stale.missed.code, stale.missed.time), SideAction::Write);
    Some(Finding {
        id: MEMORY_STALE,
        severity: Severity::Error,
        launch,
        second: side(stale.by, (stale.code, stale.time), if stale.is_store { SideAction::Write } else { SideAction::Read }),
        first: Some(first),
        memory: Some(MemoryRange {
            space: if owner.is_some() { Space::Shared } else { Space::Global },
            block: owner.unwrap_or_default(),
            address,
            bytes,
        }),
        conflict_bytes: ConflictBytes::default(),
        why: format!("line {} {}", context.program().line(Pc(stale.code)), text(context, stale)),
        fix: remedy(context, stale).into(),
        candidates: Vec::new(),
        path: Vec::new(),
        count: 1,
        distance: None,
    })
}
