//! Where a value that nobody has defined comes from, and how that is told.

use std::collections::BTreeMap;

use super::name::name;
use crate::machine::{Exchange, LANES, LaneMask, Place, lanes_in_words};
use crate::program::operands::RegisterOperand;
use crate::program::{Op, Program};

/// Where the undefined value of a lane comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The instruction that read a register nobody had written, or that took a value from an absent lane.
    pub place: Place,
    /// The lane that executed it.
    pub lane: usize,
    /// The register it read, or wrote.
    pub register: RegisterOperand,
    /// The lane it took the value from, and why that one did not take part. None if nobody had written the register.
    pub absent: Option<(u32, Absence)>,
}

/// The origins of the lanes in which something is undefined.
pub(super) type Origins = BTreeMap<usize, Origin>;

/// Adds origins of further operands: of several of a lane its own counts, and the first.
pub(super) fn add(origins: &mut Origins, others: impl IntoIterator<Item = (usize, Origin)>) {
    for (lane, other) in others {
        let known = origins.entry(lane).or_insert(other);
        if known.lane != lane && other.lane == lane {
            *known = other;
        }
    }
}

/// The set of some lanes.
pub(super) fn mask(lanes: impl Iterator<Item = usize>) -> LaneMask {
    lanes.fold(0, |mask, lane| mask | 1 << (lane % LANES))
}

/// Why a lane does not take part in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// The member mask does not name it.
    LeftOut(LaneMask),
    /// The block has fewer threads.
    NoThread,
    /// It has exited.
    Exited,
    /// It goes another way; only `shfl` without a mask goes on without it.
    Inactive,
}

impl Absence {
    /// Why `lane` of a warp that began with the lanes `threads` does not take part in an exchange.
    pub fn of(lane: u32, exchange: &Exchange, threads: LaneMask, op: &Op) -> Self {
        let has = |mask: LaneMask| mask >> lane & 1 != 0;
        let has_mask = matches!(op, Op::Shuffle { mask: Some(_), .. });
        match () {
            () if !has(threads) => Self::NoThread,
            () if has_mask && !has(exchange.members) => Self::LeftOut(exchange.members),
            () if !has(exchange.live) => Self::Exited,
            () => Self::Inactive,
        }
    }

    /// Why `lanes` did not take part.
    fn why(self, lanes: LaneMask) -> String {
        let (they, them) = if lanes.count_ones() == 1 { ("it", "it") } else { ("they", "them") };
        match self {
            Self::LeftOut(members) => format!("the mask {members:#010x} leaves {them} out"),
            Self::NoThread => "the block has fewer threads".to_string(),
            Self::Exited => format!("{they} had exited"),
            Self::Inactive => format!("{they} went another way"),
        }
    }

    /// What to do so that they are.
    fn advice(self, lanes: LaneMask) -> String {
        let them = lanes_in_words(lanes);
        match self {
            Self::LeftOut(_) => format!("name {them} in the mask and execute the instruction there too"),
            Self::NoThread => "start blocks of full warps".to_string(),
            Self::Exited => format!("let {them} execute the instruction before exiting"),
            Self::Inactive => format!("let {them} execute the instruction with the others"),
        }
    }
}

/// What is said of an undefined value: why it is, and what to do about it.
pub(super) struct Told {
    /// The lanes that use a value of this origin.
    pub lanes: LaneMask,
    /// Those that executed the instruction from which it comes.
    pub from: LaneMask,
    /// What follows the words for what they do with it.
    pub why: String,
    /// What to change.
    pub advice: String,
}

impl Told {
    /// Of the lanes that use `register`, whose origins these are: those are told that have the same one as `first`.
    pub fn new(program: &Program, register: RegisterOperand, first: &Origin, origins: &Origins) -> Self {
        let alike: Vec<(usize, Origin)> =
            origins.iter().filter(|(_, origin)| origin.is_like(first)).map(|(lane, origin)| (*lane, *origin)).collect();
        let (lanes, from) = (mask(alike.iter().map(|(lane, _)| *lane)), mask(alike.iter().map(|(_, origin)| origin.lane)));
        let name = name(program, program.function_at(first.place.pc), first.register);
        let of = if from == lanes { String::new() } else { format!(" of {}", lanes_in_words(from)) };
        let Some((_, absence)) = first.absent else {
            let why = match first.register == register && from == lanes {
                true => ", but nothing on their way here has written it".to_string(),
                false => format!(", and it was made from {name}{of}, which nothing on their way has written"),
            };
            let advice = format!("write {name} on every way to its first read: before the branch or the guard that leaves it out");
            return Self { lanes, from, why, advice };
        };
        let taken = mask(alike.iter().filter_map(|(_, origin)| Some(origin.absent?.0 as usize)));
        let shfl = match program.code.get(first.place.pc.index()).map(|inst| inst.op) {
            Some(Op::Shuffle { mask: None, .. }) => "shfl",
            _ => "shfl.sync",
        };
        let made = match first.register == register && from == lanes {
            true => format!("{shfl} took it"),
            false => format!("it was made from {name}{of}, which {shfl} took"),
        };
        let that = if taken.count_ones() == 1 { "that" } else { "those" };
        let (sources, reason) = (lanes_in_words(taken), absence.why(taken));
        let why = format!(", and {made} from {sources} though {that} did not take part: {reason}");
        let advice = format!("{}; or use {name} only in lanes whose source takes part", absence.advice(taken));
        Self { lanes, from, why, advice }
    }
}

impl Origin {
    /// Whether the two are told as one: the same instruction and register, and lanes absent for the same reason.
    fn is_like(&self, other: &Self) -> bool {
        let of = |origin: &Self| (origin.place.pc, origin.register, origin.absent.map(|(_, absence)| absence));
        of(self) == of(other)
    }
}
