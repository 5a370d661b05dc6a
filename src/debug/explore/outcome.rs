//! The outcomes of orders: one for expected results, one for wrong results, and one for each reason that stopped a run.

use serde::{Deserialize, Serialize};

use super::order::Orders;
use crate::check::faults::LIVELOCK;
use crate::debug::run::{CaseRun, RunError};
use crate::debug::transfer::element_of;
use crate::debug::value::element_text;
use crate::debug::verify::{Deviation, Judgement, expects_anything, judge};
use crate::launch::{Case, Element, PlannedBuffer};
use crate::machine::{Device, Digest};
use crate::program::{Variable, source_name};

/// An outcome, and the orders that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderOutcome {
    /// The end of the case.
    pub end: End,
    /// The first difference of the buffers from those of the first outcome, if nothing is expected of them.
    pub difference: Option<String>,
    /// True if the session's order has it.
    pub in_session_order: bool,
    /// The number of other orders with this outcome.
    pub orders: u64,
    /// The options that replay one of the orders: the first, or for wrong results the worst. None for the session's order.
    pub replay: Option<String>,
    /// The digest of the buffers, if nothing is expected of them.
    memory: u64,
    /// Their contents; none unless it is the first outcome.
    contents: Vec<Content>,
    /// The length of the options of the order that is replayed.
    length: usize,
}

/// The end of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It finished, and nothing is expected.
    Finished,
    /// It finished with the expected results.
    Right,
    /// It finished with other results; of several orders the worst.
    Wrong(Deviation),
    /// It stopped: `deadlock at ring.ptx:39`.
    Stopped(String),
}

/// The number of orders by result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Orders with the expected results.
    pub right: u64,
    /// Orders with other results.
    pub wrong: u64,
    /// Orders that stopped before the end.
    pub stopped: u64,
}

impl Verdict {
    /// The verdict on outcomes; none if nothing is expected.
    pub fn of(outcomes: &[OrderOutcome]) -> Option<Self> {
        let count = |is: fn(&End) -> bool| outcomes.iter().filter(|outcome| is(&outcome.end)).map(|outcome| outcome.orders).sum();
        let is_judged = outcomes.iter().any(|outcome| matches!(outcome.end, End::Right | End::Wrong(_)));
        is_judged.then(|| Self {
            right: count(|end| matches!(end, End::Right)),
            wrong: count(|end| matches!(end, End::Wrong(_))),
            stopped: count(|end| matches!(end, End::Stopped(_))),
        })
    }
}

/// The end of one order.
#[derive(Clone)]
pub(super) struct JudgedOrder {
    pub end: End,
    /// The digest of the buffers, if nothing is expected of them.
    pub memory: u64,
    /// Their contents, as long as they may be compared with others.
    pub contents: Vec<Content>,
    /// The first difference from the buffers of the first outcome, once it is known.
    pub difference: Option<String>,
    /// True if the step limit stopped it.
    pub at_limit: bool,
}

/// Judges a run of `case` in an order whose launches may take `limit` warp-instructions.
///
/// # Errors
/// Reasons outside the kernel.
pub(super) fn judge_order(case: &Case, run: &CaseRun, limit: u64) -> Result<JudgedOrder, RunError> {
    let is_last_at_limit = run.launches.last().is_some_and(|launch| launch.ticks >= limit);
    let at_limit = is_last_at_limit && run.fault.as_ref().is_some_and(|fault| fault.id == LIVELOCK);
    let end = match &run.fault {
        None => match judge(case, run)? {
            Judgement::NothingExpected => End::Finished,
            Judgement::Right => End::Right,
            Judgement::Wrong(deviation) => End::Wrong(deviation),
        },
        Some(fault) => {
            let site = fault.site.as_ref().or_else(|| fault.waiting.first().map(|waiting| &waiting.site));
            End::Stopped(format!("{}{}", fault.id.word(), site.map_or(String::new(), |site| format!(" at {}", site.place))))
        }
    };
    let contents = if expects_anything(case) { Vec::new() } else { contents(case, run) };
    let mut digest = Digest::default();
    contents.iter().for_each(|content| digest.bytes(&content.bytes));
    Ok(JudgedOrder { end, memory: digest.value(), contents, difference: None, at_limit })
}

/// What a run leaves in a buffer, or in a variable of the module in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::debug) struct Content {
    name: String,
    element: Element,
    /// True for a variable that is no array.
    is_scalar: bool,
    /// Empty for a buffer that was not allocated.
    bytes: Vec<u8>,
}

/// The contents of the buffers, and where nothing is expected those of the variables.
pub(in crate::debug) fn contents(case: &Case, run: &CaseRun) -> Vec<Content> {
    let buffer = |(index, buffer): (usize, &PlannedBuffer)| {
        let mut bytes = vec![0; usize::try_from(buffer.bytes).unwrap_or(0)];
        let address = run.addresses.get(index).copied();
        let read = run.device.as_ref().zip(address).map(|(device, address)| device.read(address, &mut bytes));
        let bytes = if matches!(read, Some(Ok(()))) { bytes } else { Vec::new() };
        Content { name: buffer.name.clone(), element: buffer.element, is_scalar: false, bytes }
    };
    let variables = run.device.iter().filter(|_| !expects_anything(case)).flat_map(Device::global_variables);
    let variable = |(variable, bytes): (&Variable, Vec<u8>)| {
        let name = source_name(&variable.name).to_string();
        Content { name, element: element_of(variable.ty), is_scalar: !variable.is_array, bytes }
    };
    case.buffers.iter().enumerate().map(buffer).chain(variables.map(variable)).collect()
}

impl JudgedOrder {
    /// True if it is the same outcome.
    pub fn is_same(&self, other: &Self) -> bool {
        is_same(&self.end, &other.end) && self.memory == other.memory
    }

    /// The same to be compared with others alone.
    pub fn without_contents(&self) -> Self {
        let Self { ref end, memory, ref difference, at_limit, .. } = *self;
        Self { end: end.clone(), memory, contents: Vec::new(), difference: difference.clone(), at_limit }
    }

    /// Finds how the buffers differ from those of the first of `outcomes`.
    pub fn compare(&mut self, outcomes: &[OrderOutcome]) {
        let first = outcomes.first().filter(|first| first.memory != self.memory && !self.contents.is_empty());
        self.difference = first.map_or(self.difference.take(), |first| difference(&first.contents, &self.contents));
        if first.is_some() {
            self.contents = Vec::new();
        }
    }

    /// True if it is not what the launch expects.
    pub fn is_wrong(&self) -> bool {
        matches!(self.end, End::Wrong(_))
    }

    /// True if nothing says whether it is right.
    pub fn is_any_end(&self) -> bool {
        self.end == End::Finished
    }

    /// Counts it in its outcome, or adds a new outcome; it has been compared with the first one.
    pub fn join(self, index: u64, orders: &Orders, outcomes: &mut Vec<OrderOutcome>) {
        let replay = || (index > 0).then(|| orders.replay(index, self.at_limit));
        let (count, length) = (u64::from(index > 0), orders.length(index));
        let existing = outcomes.iter_mut().find(|existing| is_same(&existing.end, &self.end) && existing.memory == self.memory);
        let Some(existing) = existing else {
            let (replay, in_session_order) = (replay(), index == 0);
            let contents = if outcomes.is_empty() { self.contents } else { Vec::new() };
            let Self { end, memory, difference, .. } = self;
            outcomes.push(OrderOutcome { end, difference, in_session_order, orders: count, replay, memory, contents, length });
            return;
        };
        existing.orders += count;
        if let (End::Wrong(worst), End::Wrong(deviation)) = (&mut existing.end, &self.end)
            && deviation.is_worse_than(worst)
        {
            (*worst, existing.replay, existing.length) = (deviation.clone(), replay(), length);
        } else if index > 0 && length < existing.length && existing.end == self.end {
            (existing.replay, existing.length) = (replay(), length);
        }
    }
}

/// True if two ends are one outcome: all wrong results are one, as they differ from order to order.
fn is_same(one: &End, other: &End) -> bool {
    matches!((one, other), (End::Wrong(_), End::Wrong(_))) || one == other
}

/// The first element of a buffer that differs: `out[3] is 0x00000007, not 0x00000005`.
pub(in crate::debug) fn difference(first: &[Content], other: &[Content]) -> Option<String> {
    first.iter().zip(other).find_map(|(a, b)| {
        let size = a.element.bytes().max(1) as usize;
        let index = a.bytes.chunks(size).zip(b.bytes.chunks(size)).position(|(a, b)| a != b)?;
        let text =
            |bytes: &[u8]| bytes.chunks(size).nth(index).map_or(String::new(), |bytes| element_text(a.element, a.element.read(bytes)));
        let place = if a.is_scalar { a.name.clone() } else { format!("{}[{index}]", a.name) };
        Some(format!("{place} is {}, not {}", text(&b.bytes), text(&a.bytes)))
    })
}
