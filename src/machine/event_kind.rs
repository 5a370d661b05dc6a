//! The kinds of the events of a run, and the instructions that an observer receives them of.

use std::sync::Arc;

use crate::program::Pc;

/// A kind of [`Event`](crate::machine::Event).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// [`Event::Access`](crate::machine::Event::Access).
    Access,
    /// [`Event::Sync`](crate::machine::Event::Sync).
    Sync,
    /// [`Event::LocalStart`](crate::machine::Event::LocalStart).
    LocalStart,
    /// [`Event::Collective`](crate::machine::Event::Collective) in which the source lane of every lane takes part.
    Collective,
    /// [`Event::Collective`](crate::machine::Event::Collective) in which the source lane of some lane does not take part.
    AbsentSource,
    /// [`Event::Copy`](crate::machine::Event::Copy).
    Copy,
    /// [`Event::Mbarrier`](crate::machine::Event::Mbarrier).
    Mbarrier,
    /// [`Event::Wgmma`](crate::machine::Event::Wgmma).
    Wgmma,
    /// [`Event::Before`](crate::machine::Event::Before).
    Before,
    /// [`Event::After`](crate::machine::Event::After).
    After,
    /// [`Event::Reconverged`](crate::machine::Event::Reconverged).
    Reconverged,
    /// [`Event::Arrived`](crate::machine::Event::Arrived).
    Arrived,
}

/// A set of kinds of events. Events of other kinds cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(u16);

impl EventMask {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Every kind.
    pub const ALL: Self = Self((1 << (EventKind::Arrived as u16 + 1)) - 1);

    /// These kinds.
    pub const fn of(kinds: &[EventKind]) -> Self {
        let (mut mask, mut next) = (0, 0);
        while next < kinds.len() {
            mask |= 1 << kinds[next] as u16;
            next += 1;
        }
        Self(mask)
    }

    /// True if the set contains `kind`.
    #[inline(always)]
    pub const fn has(self, kind: EventKind) -> bool {
        self.0 >> kind as u16 & 1 != 0
    }

    /// True if the set contains a kind of `other`.
    #[inline(always)]
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set without the kinds of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The union of the sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The events before and after an instruction.
pub(in crate::machine) const ISSUES: EventMask = EventMask::of(&[EventKind::Before, EventKind::After]);

/// The instructions of a warp of which an observer receives [`EventKind::Before`] and [`EventKind::After`], if its mask has them.
#[derive(Clone, Debug)]
pub enum Issues {
    /// All.
    All,
    /// Those at these places.
    At(Arc<Places>),
    /// None.
    None,
}

impl Issues {
    /// True if the instruction at `pc` is one of them.
    #[inline(always)]
    pub(in crate::machine) fn has(&self, pc: Pc) -> bool {
        match self {
            Issues::All => true,
            Issues::At(places) => places.has(pc),
            Issues::None => false,
        }
    }

    /// What is left of a mask without these.
    #[inline(always)]
    pub(in crate::machine) fn of(&self, mask: EventMask) -> EventMask {
        match self {
            Issues::All | Issues::At(_) => mask,
            Issues::None => mask.without(ISSUES),
        }
    }
}

/// What is reported of a warp in a time slice.
pub(in crate::machine) struct Reports {
    /// The kinds of events.
    pub mask: EventMask,
    /// The instructions.
    pub issues: Issues,
}

/// Some instructions of a program.
#[derive(Debug)]
pub struct Places {
    /// For each instruction of the program, true if it is one of them.
    flags: Vec<bool>,
}

impl Places {
    /// The instructions of a program whose flags are set.
    pub fn new(flags: Vec<bool>) -> Self {
        Self { flags }
    }

    /// True if the instruction at `pc` is one of them.
    #[inline(always)]
    pub fn has(&self, pc: Pc) -> bool {
        self.flags[pc.index()]
    }
}
