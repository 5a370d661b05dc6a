//! Where an undefined value comes from, and how that is described.

use super::name::name;
use crate::machine::{Collective, LANES, LaneMask, PerLane, Place};
use crate::program::operands::RegisterOperand;
use crate::program::{Op, Pc, Program, WarpOp};

/// Where the undefined value of a lane comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The instruction that read an unwritten register, or that took a value from an absent lane.
    pub place: Place,
    /// The lane that executed it.
    pub lane: usize,
    /// The register it read, or wrote.
    pub register: RegisterOperand,
    /// The lane it took the value from, and why that one did not take part. None if the register was not written.
    pub absent: Option<(u32, Absence)>,
}

/// An origin in an [`OriginTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OriginId(u32);

impl OriginId {
    /// That of a value without a recorded origin.
    pub const UNKNOWN: Self = Self(u32::MAX);

    /// The lane of the origin.
    fn lane(self) -> usize {
        self.0 as usize % LANES
    }
}

/// The origins of a warp: for an instruction and the register it read or wrote, the newest of each lane.
#[derive(Clone, Default)]
pub(super) struct OriginTable {
    rows: Vec<PerLane<Option<Origin>>>,
    /// What each row is about.
    keys: Vec<(Pc, RegisterOperand)>,
}

impl OriginTable {
    /// Notes an origin.
    pub fn add(&mut self, origin: Origin) -> OriginId {
        let key = (origin.place.pc, origin.register);
        let row = self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.rows.push([None; LANES]);
            self.rows.len() - 1
        });
        assert_eq!(self.rows.len(), self.keys.len(), "every row is about something");
        self.rows[row][origin.lane] = Some(origin);
        OriginId((row * LANES + origin.lane) as u32)
    }

    /// An origin that was noted.
    fn get(&self, id: OriginId) -> Option<Origin> {
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

    /// That of a lane, if it has one.
    pub fn of(&self, lane: usize) -> Option<OriginId> {
        if !self.lanes.contains(lane) { None } else { Some(self.ids[lane]) }
    }

    /// That of the first lane that has one.
    pub fn any(&self) -> Option<OriginId> {
        self.of(self.lanes.first())
    }

    /// Adds those of another operand: of several of a lane its own counts, and the first.
    pub fn add(&mut self, other: &Self) {
        for lane in other.lanes.iter() {
            let is_better = other.ids[lane].lane() == lane && self.ids[lane].lane() != lane;
            if is_better || !self.lanes.contains(lane) {
                self.set(lane, other.ids[lane]);
            }
        }
    }

    /// All that are noted, by the lanes that have them.
    pub fn listed(&self, table: &OriginTable) -> Vec<(usize, Origin)> {
        self.lanes.iter().filter_map(|lane| Some((lane, table.get(self.ids[lane])?))).collect()
    }
}

/// The set of some lanes.
fn mask(lanes: impl Iterator<Item = usize>) -> LaneMask {
    lanes.fold(LaneMask::NONE, |mask, lane| mask | LaneMask::of(lane % LANES))
}

/// Why a lane does not take part in an collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// The member mask does not name it.
    LeftOut(LaneMask),
    /// The block has fewer threads.
    NoThread,
    /// It has exited.
    Exited,
    /// It takes another path; only `shfl` without a mask continues without it.
    Inactive,
}

impl Absence {
    /// Why `lane` of a warp that began with the lanes `threads` does not take part in an collective.
    pub fn of(lane: u32, collective: &Collective, threads: LaneMask) -> Self {
        let has = |mask: LaneMask| mask.contains(lane as usize);
        match () {
            () if !has(threads) => Self::NoThread,
            () if collective.has_mask && !has(collective.members) => Self::LeftOut(collective.members),
            () if !has(collective.live) => Self::Exited,
            () => Self::Inactive,
        }
    }

    /// Why `lanes` did not take part.
    fn why(self, lanes: LaneMask) -> String {
        let (they, them) = if lanes.count() == 1 { ("it", "it") } else { ("they", "them") };
        match self {
            Self::LeftOut(members) => format!("the mask {members:#010x} leaves {them} out"),
            Self::NoThread => "the block has fewer threads".to_string(),
            Self::Exited => format!("{they} had exited"),
            Self::Inactive => format!("{they} went another way"),
        }
    }

    /// What to do so that they are.
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

/// What is said of an undefined value: why it is, and what to do about it.
pub(super) struct Reported {
    /// Where the value comes from.
    pub origin: Place,
    /// The lanes that use a value of this origin.
    pub lanes: LaneMask,
    /// Those that executed the instruction from which it comes.
    pub from: LaneMask,
    /// What follows the words for what they do with it.
    pub why: String,
    /// What to change.
    pub fix: String,
}

impl Reported {
    /// Of the lanes that use `register` undefined those are listed whose value has the same origin as that of the first.
    pub fn new(program: &Program, register: RegisterOperand, origins: &[(usize, Origin)]) -> Option<Self> {
        let (_, first) = origins.first()?;
        let same = origins.iter().filter(|(_, origin)| origin.is_like(first));
        let (lanes, from) = (mask(same.clone().map(|(lane, _)| *lane)), mask(same.clone().map(|(_, origin)| origin.lane)));
        let name = name(program, program.function_at(first.place.pc), first.register);
        let of = if from == lanes { String::new() } else { format!(" of {}", from.describe()) };
        let Some((_, absence)) = first.absent else {
            let why = match first.register == register && from == lanes {
                true => ", but nothing on their way here has written it".to_string(),
                false => format!(", and it was made from {name}{of}, which nothing on their way has written"),
            };
            let fix = format!("write {name} on every path to its first read: before the branch or the guard that leaves it out");
            return Some(Self { origin: first.place, lanes, from, why, fix });
        };
        let taken = mask(same.clone().filter_map(|(_, origin)| Some(origin.absent?.0 as usize)));
        let shfl = match matches!(program.code[first.place.pc.index()].op, Op::Warp(WarpOp::Shuffle { mask: None, .. })) {
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
        Some(Self { origin: first.place, lanes, from, why, fix })
    }
}

impl Origin {
    /// Whether the two are reported as one: the same instruction and register, and lanes absent for the same reason.
    fn is_like(&self, other: &Self) -> bool {
        let of = |origin: &Self| (origin.place.pc, origin.register, origin.absent.map(|(_, absence)| absence));
        of(self) == of(other)
    }
}
