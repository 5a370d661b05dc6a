//! The origin of an undefined value, and its text.

use std::collections::BTreeMap;

use super::name::name;
use crate::check::finding::MemoryRange;
use crate::check::init::unwritten::unwritten_text;
use crate::check::lane_text::lanes_do;
use crate::machine::{Collective, IssuePoint, LANES, LaneMask, PerLane};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Op, Pc, Program, Slot, WarpOp};

/// The origin of the undefined value of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check::init) struct Origin {
    /// The instruction that read an unwritten register or unwritten memory, or a value of an absent lane.
    pub point: IssuePoint,
    /// The lane that executed it.
    pub lane: usize,
    /// The register it read, or wrote.
    pub register: RegisterOperand,
    /// The cause.
    pub cause: Cause,
}

/// The cause of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check::init) enum Cause {
    /// The register was not written.
    Unwritten,
    /// The lane it was taken from did not take part, for this reason.
    Absent(u32, Absence),
    /// These bytes of memory were not written.
    Memory(MemoryRange),
}

/// An origin in an [`OriginTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check::init) struct OriginId(u32);

impl OriginId {
    /// The id of a value without a recorded origin.
    pub const UNKNOWN: Self = Self(u32::MAX);

    /// The lane of the origin.
    fn lane(self) -> usize {
        self.0 as usize % LANES
    }
}

/// The key of a row of an [`OriginTable`]: an instruction, the register that it read or wrote, and the warp.
type RowKey = (Pc, (Bank, u32, u32), [u32; 3], u32);

/// Origins: for an instruction of a warp and the register it read or wrote, the newest of each lane.
#[derive(Clone, Default)]
pub(in crate::check::init) struct OriginTable {
    rows: Vec<PerLane<Option<Origin>>>,
    /// The row of each key.
    numbers: BTreeMap<RowKey, usize>,
}

impl OriginTable {
    /// Adds an origin.
    pub fn add(&mut self, origin: Origin) -> OriginId {
        let Origin { point, register: RegisterOperand { bank, slot, width }, .. } = origin;
        let next = self.rows.len();
        let row = *self.numbers.entry((point.pc, (bank, slot.0, width), point.block, point.warp.number())).or_insert(next);
        if row == next {
            self.rows.push([None; LANES]);
        }
        assert_eq!(self.rows.len(), self.numbers.len(), "every row is about something");
        self.rows[row][origin.lane] = Some(origin);
        OriginId((row * LANES + origin.lane) as u32)
    }

    /// The origin with this id.
    pub fn get(&self, id: OriginId) -> Option<Origin> {
        *self.rows.get(id.0 as usize / LANES)?.get(id.lane())?
    }
}

/// The lanes in which something is undefined, and the origin of each.
#[derive(Clone, Copy)]
pub(super) struct Origins {
    /// The lanes.
    pub lanes: LaneMask,
    ids: PerLane<OriginId>,
}

impl Default for Origins {
    fn default() -> Self {
        Self { lanes: LaneMask::NONE, ids: [OriginId::UNKNOWN; LANES] }
    }
}

impl Origins {
    /// Sets the origin of a lane.
    pub fn set(&mut self, lane: usize, id: OriginId) {
        self.lanes |= LaneMask::of(lane);
        self.ids[lane] = id;
    }

    /// The origin of a lane, if it has one.
    pub fn of(&self, lane: usize) -> Option<OriginId> {
        if !self.lanes.contains(lane) { None } else { Some(self.ids[lane]) }
    }

    /// The origin of the first lane that has one.
    pub fn any(&self) -> Option<OriginId> {
        self.of(self.lanes.first())
    }

    /// Adds the origins of another operand. If a lane has several, one from the lane itself is preferred, then the first.
    pub fn add(&mut self, other: &Self) {
        for lane in other.lanes.iter() {
            let is_own = other.ids[lane].lane() == lane && self.ids[lane].lane() != lane;
            if is_own || !self.lanes.contains(lane) {
                self.set(lane, other.ids[lane]);
            }
        }
    }

    /// The origins with their lanes.
    pub fn with_lanes(&self, table: &OriginTable) -> Vec<(usize, Origin)> {
        self.lanes.iter().filter_map(|lane| Some((lane, table.get(self.ids[lane])?))).collect()
    }
}

/// The set of some lanes.
fn mask(lanes: impl Iterator<Item = usize>) -> LaneMask {
    lanes.fold(LaneMask::NONE, |mask, lane| mask | LaneMask::of(lane % LANES))
}

/// The reason why a lane does not take part in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check::init) enum Absence {
    /// The member mask does not name it.
    LeftOut(LaneMask),
    /// The block has fewer threads.
    NoThread,
    /// It has exited.
    Exited,
    /// It has diverged; only `shfl` without a mask continues without it.
    Inactive,
}

impl Absence {
    /// The reason why `lane` of a warp that was launched with the lanes `threads` does not take part in a collective.
    pub fn of(lane: u32, collective: &Collective, threads: LaneMask) -> Self {
        let is_in = |mask: LaneMask| mask.contains(lane as usize);
        match () {
            () if !is_in(threads) => Self::NoThread,
            () if collective.has_mask && !is_in(collective.members) => Self::LeftOut(collective.members),
            () if !is_in(collective.live) => Self::Exited,
            () => Self::Inactive,
        }
    }

    /// The reason why `lanes` did not take part, as text.
    fn why(self, lanes: LaneMask) -> String {
        let (they, them) = if lanes.count() == 1 { ("it", "it") } else { ("they", "them") };
        match self {
            Self::LeftOut(members) => format!("the mask {members:#010x} leaves {them} out"),
            Self::NoThread => "the block has fewer threads".to_string(),
            Self::Exited => format!("{they} had exited"),
            Self::Inactive => format!("{they} went another way"),
        }
    }

    /// The fix by which `lanes` take part.
    fn fix(self, lanes: LaneMask) -> String {
        let them = lanes.describe();
        match self {
            Self::LeftOut(_) => format!("name {them} in the mask and execute the instruction there too"),
            Self::NoThread => "start blocks of full warps".to_string(),
            Self::Exited => format!("let {them} execute the instruction before exiting"),
            Self::Inactive => format!("let {them} execute the instruction with the others"),
        }
    }
}

/// The text of a finding on an undefined value: its cause, and the fix.
pub(in crate::check::init) struct OriginText {
    /// The origin of the value.
    pub origin: Origin,
    /// The lanes that use a value of this origin.
    pub lanes: LaneMask,
    /// The lanes that executed the instruction of its origin.
    pub from: LaneMask,
    /// The cause, which follows the text of the use.
    pub why: String,
    /// The fix.
    pub fix: String,
}

impl OriginText {
    /// The text for the lanes whose undefined `register` has the same origin as that of the first lane.
    pub fn new(program: &Program, register: RegisterOperand, origins: &[(usize, Origin)]) -> Option<Self> {
        let (_, first) = origins.first()?;
        let same = origins.iter().filter(|(_, origin)| origin.is_like(first));
        let (lanes, from) = (mask(same.clone().map(|(lane, _)| *lane)), mask(same.clone().map(|(_, origin)| origin.lane)));
        let name = name(program, program.function_at(first.point.pc), first.register);
        let of = if from == lanes { String::new() } else { format!(" of {}", from.describe()) };
        let absence = match first.cause {
            Cause::Absent(_, absence) => absence,
            Cause::Unwritten => {
                let why = match first.register == register && from == lanes {
                    true => ", but nothing on their way here has written it".to_string(),
                    false => format!(", and it was made from {name}{of}, which nothing on their way has written"),
                };
                let fix = format!("write {name} on every path to its first read: before the branch or the guard that leaves it out");
                return Some(Self { origin: *first, lanes, from, why, fix });
            }
            Cause::Memory(memory) => {
                let (reason, fix) = unwritten_text(memory, program);
                let why = format!(
                    ", and it comes from {} bytes that {} before any thread wrote them: {reason}",
                    memory.bytes,
                    lanes_do(from, "read")
                );
                return Some(Self { origin: *first, lanes, from, why, fix: fix.to_string() });
            }
        };
        let taken = mask(same.clone().filter_map(|(_, origin)| origin.source()).map(|source| source as usize));
        let shfl = match matches!(program.code[first.point.pc.index()].op, Op::Warp(WarpOp::Shuffle { mask: None, .. })) {
            true => "shfl",
            false => "shfl.sync",
        };
        let made = match first.register == register && from == lanes {
            true => format!("{shfl} took it"),
            false => format!("it was made from {name}{of}, which {shfl} took"),
        };
        let that = if taken.count() == 1 { "that" } else { "those" };
        let (sources, reason) = (taken.describe(), absence.why(taken));
        let why = format!(", and {made} from {sources} though {that} did not take part: {reason}");
        let fix = format!("{}; or use {name} only in lanes whose source takes part", absence.fix(taken));
        Some(Self { origin: *first, lanes, from, why, fix })
    }
}

impl Origin {
    /// The register of a value that comes through none.
    pub const NO_REGISTER: RegisterOperand = RegisterOperand { bank: Bank::B64, slot: Slot(u32::MAX), width: 1 };

    /// True if the two are reported as one: the same instruction and register, and lanes absent for the same reason.
    fn is_like(&self, other: &Self) -> bool {
        let cause = match (self.cause, other.cause) {
            (Cause::Unwritten, Cause::Unwritten) | (Cause::Memory(_), Cause::Memory(_)) => true,
            (Cause::Absent(_, one), Cause::Absent(_, other)) => one == other,
            (Cause::Unwritten | Cause::Absent(..) | Cause::Memory(_), _) => false,
        };
        cause && (self.point.pc, self.register) == (other.point.pc, other.register)
    }

    /// The absent lane from which the value was taken.
    fn source(&self) -> Option<u32> {
        match self.cause {
            Cause::Absent(source, _) => Some(source),
            Cause::Unwritten | Cause::Memory(_) => None,
        }
    }
}
