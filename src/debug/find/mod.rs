//! Queries over the run: which threads did something, when, where and how often.
//!
//! The recorded run is executed again with an observer that keeps what the query asks for. The observer decides a condition of registers,
//! of the thread's coordinates and of named memory, whose names are looked up once at each instruction. Any other condition, such as one
//! that follows a pointer, is evaluated with the machine standing still before the instruction, and costs a pause wherever the rest of it
//! does not decide.

mod collector;
mod condition;
mod query;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use collector::Collector;
pub use query::{Grouping, Happening, Query, USAGE, Wanted};
pub use text::{EventRow, FoundText, GroupRow};

use super::argument::ArgumentError;
use super::expression::Expression;
use super::focus::Focus;
use super::session::{InterruptCheck, Session};
use super::target::{MemoryTarget, Target};
use crate::isa::Space;
use crate::machine::{LaneMask, Tick};
use crate::program::Pc;

/// Most events that are kept for a list.
const LISTED_MAX: usize = 1000;

/// Lanes of a warp that did what was asked for, by one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEvent {
    /// The time.
    pub time: Tick,
    /// The instruction; of a copy, the one that issued it.
    pub pc: Pc,
    /// The block.
    pub block: [u32; 3],
    /// The warp.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// What each lane did: the value that it wrote, or whether it took a branch; empty if that is not known.
    pub values: Vec<u64>,
    /// The bytes of a value; 0 for a branch.
    pub value_bytes: u32,
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The events in order of time: all, the first, or the last; at most [`LISTED_MAX`].
    pub events: Vec<FoundEvent>,
    /// The number of instructions of warps that did it.
    pub instructions: u64,
    /// The number of times that a thread did it.
    pub times: u64,
    /// The number of times by what the query groups by.
    pub groups: BTreeMap<GroupKey, u64>,
    /// The instructions that wrote each value, where the query groups by values.
    pub writers: BTreeMap<(u64, u32), BTreeSet<Pc>>,
    /// Why the condition had no value wherever it was tried, if nothing was found.
    pub no_value: Option<String>,
    /// The user interrupted the search.
    pub interrupted: bool,
}

/// What times are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKey {
    /// An instruction.
    Line(Pc),
    /// A lane of any warp.
    Lane(u32),
    /// A value, by its bits and bytes; none if it is not known.
    Value(Option<(u64, u32)>),
}

impl Found {
    /// Adds an event to what is kept.
    fn add(&mut self, event: FoundEvent, wanted: Wanted) {
        self.instructions += 1;
        self.times += u64::from(event.lanes.count());
        match wanted {
            Wanted::Count => {}
            Wanted::First if !self.events.is_empty() => {}
            Wanted::Last => self.events = vec![event],
            Wanted::First | Wanted::All => {
                if self.events.len() < LISTED_MAX {
                    self.events.push(event);
                }
            }
            Wanted::By(grouping) => {
                for (index, lane) in event.lanes.iter().enumerate() {
                    let value = event.values.get(index).map(|value| (*value, event.value_bytes));
                    let key = match grouping {
                        Grouping::Line => GroupKey::Line(event.pc),
                        Grouping::Lane => GroupKey::Lane(lane as u32),
                        Grouping::Value => GroupKey::Value(value),
                    };
                    if let GroupKey::Value(Some(value)) = key {
                        self.writers.entry(value).or_default().insert(event.pc);
                    }
                    *self.groups.entry(key).or_default() += 1;
                }
            }
        }
    }
}

impl Session {
    /// The query in `text`. Where the focused block is not on the machine, a place in its shared memory is that of the same name in the
    /// first block of the launch.
    ///
    /// # Errors
    /// A part of it is wrong, with its place.
    pub fn query(&mut self, text: &str) -> Result<Query, ArgumentError> {
        let (now, focus) = (self.time(), self.focus);
        let parsed = Query::parse(text, &self.eval_context(), &self.marks, now);
        if parsed.is_ok() || self.machine().block(focus.block).is_some() {
            return parsed;
        }
        let then = self.in_first_block(|session| Query::parse(text, &session.eval_context(), &session.marks, now));
        let mut query = then.or(parsed)?;
        query.place.iter_mut().filter(|place| place.space == Space::Shared).for_each(|place| place.owner = focus);
        query.choose_block(&self.eval_context());
        Ok(query)
    }

    /// The place that an expression names in the shared memory of the focused block, which is not on the machine: that of the same name in
    /// the first block of the launch, of the focused one. None if it names something else, or the block is there.
    pub fn shared_place(&mut self, expression: &Expression) -> Option<Target> {
        let focus = self.focus;
        if self.machine().block(focus.block).is_some() {
            return None;
        }
        match self.in_first_block(|session| expression.target(&session.eval_context()).ok())? {
            Target::Memory(place) if place.space == Space::Shared => Some(Target::Memory(MemoryTarget { owner: focus, ..place })),
            Target::Memory(_) | Target::Register(_) | Target::Variable(_) => None,
        }
    }

    /// What `look` says at the start of the launch, with the first block in focus. The session stays where it is.
    fn in_first_block<R>(&mut self, look: impl FnOnce(&Self) -> R) -> R {
        let (now, focus) = (self.time(), self.focus);
        self.return_to(self.machine().start());
        self.focus = Focus::first(self.machine());
        let seen = look(self);
        self.return_to(now);
        self.focus = focus;
        seen
    }

    /// What the recorded run has of `query`. The session stays where it is.
    pub fn find(&mut self, query: &Query, interrupt: &mut dyn InterruptCheck) -> Found {
        let (now, focus) = (self.time(), self.focus);
        let until = query.until.min(self.recorded());
        let mut found = Found::default();
        let mut collector = Collector::new(query, self.program());
        if query.from < until {
            self.timeline.restore(query.from);
        }
        let ran = self.replay(until, &mut collector, interrupt, |session, collector| {
            session.take(collector, query, &mut found);
            query.wanted == Wanted::First && !found.events.is_empty()
        });
        found.interrupted = ran.is_err();
        found.no_value = collector.no_value().filter(|_| found.instructions == 0);
        self.return_to(now);
        self.focus = focus;
        found
    }

    /// Adds what the observer has collected and the conditions confirm.
    fn take(&mut self, collector: &mut Collector<'_>, query: &Query, found: &mut Found) {
        collector.at_pause(&self.eval_context(), self.launch());
        for event in std::mem::take(&mut collector.events) {
            if query.wanted == Wanted::First && !found.events.is_empty() {
                break;
            }
            found.add(event, query.wanted);
        }
    }
}
