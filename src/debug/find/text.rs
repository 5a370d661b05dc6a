//! The answer to a query with names and places, as data for front ends.

use serde::Serialize;

use super::{Found, FoundEvent, GroupKey, Happening, Query, Wanted};
use crate::debug::eval_context::EvalContext;
use crate::debug::value::{Scalar, Type};
use crate::debug::view;
use crate::isa::{ScalarType, Space};
use crate::machine::{LaneMask, Tick};
use crate::program::Pc;

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundText {
    /// The number of times that a thread did it.
    pub times: u64,
    /// The number of instructions of warps that did it; of findings, their number.
    pub instructions: u64,
    /// What `instructions` is a number of: `instruction`, or `finding`.
    pub counted: &'static str,
    /// The events in order of time, if they are asked for.
    pub events: Vec<EventRow>,
    /// The numbers of times by what was asked for, the most frequent first.
    pub groups: Vec<GroupRow>,
    /// The time from which the run was searched.
    pub from: Tick,
    /// The time up to which it was searched.
    pub until: Tick,
    /// The block whose shared memory the place is in.
    pub block: Option<[u32; 3]>,
    /// True if only the first was looked for.
    pub is_first: bool,
    /// Why the condition had no value wherever it was tried, if nothing was found.
    pub no_value: Option<String>,
    /// The user interrupted the search.
    pub interrupted: bool,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRow {
    /// The time.
    pub time: Tick,
    /// The block.
    pub block: [u32; 3],
    /// The warp with its role: `producer warp 0`.
    pub warp: String,
    /// The lanes.
    pub lanes: LaneMask,
    /// `gemm.ptx:37`
    pub place: String,
    /// The instruction.
    pub statement: String,
    /// The value, if all lanes have one and the same; or which lanes take a branch.
    pub value: Option<String>,
}

/// The number of times of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupRow {
    /// What they have in common.
    pub what: String,
    /// The number of times.
    pub times: u64,
}

impl FoundText {
    /// `found`, the answer to `query` on a run that was searched up to `until`, with names.
    pub fn new(context: &EvalContext<'_>, query: &Query, found: &Found, until: Tick) -> Self {
        let groups = found.groups.iter().map(|(key, times)| GroupRow { what: group(context, query, found, *key), times: *times });
        let mut groups: Vec<GroupRow> = groups.collect();
        if matches!(query.wanted, Wanted::By(_)) {
            groups.sort_by_key(|row| std::cmp::Reverse(row.times));
        }
        let events = found.events.iter().map(|event| row(context, query, event)).collect();
        let Found { times, instructions, interrupted, .. } = *found;
        let place = query.place.as_ref().filter(|place| matches!(place.space, Space::Shared | Space::SharedCluster));
        Self {
            times,
            instructions,
            counted: "instruction",
            events,
            groups,
            from: query.from,
            until,
            block: place.map(|place| place.owner.block),
            is_first: query.wanted == Wanted::First,
            no_value: found.no_value.clone(),
            interrupted,
        }
    }
}

fn row(context: &EvalContext<'_>, query: &Query, event: &FoundEvent) -> EventRow {
    let program = context.program();
    let value = match (event.values.as_slice(), query.happening) {
        ([], _) => None,
        (values, Happening::Branches) => {
            let taken: LaneMask = event.lanes.iter().zip(values).filter(|(_, taken)| **taken != 0).map(|(lane, _)| lane).collect();
            Some(match taken {
                LaneMask::NONE => "taken by none".to_string(),
                taken => format!("taken by {}", taken.describe()),
            })
        }
        ([first, rest @ ..], _) if rest.iter().all(|value| value == first) => Some(shown(context, event.pc, *first, event.value_bytes)),
        ([first, ..], _) => Some(format!("{} …", shown(context, event.pc, *first, event.value_bytes))),
    };
    EventRow {
        time: event.time,
        block: event.block,
        warp: context.roles.warp(event.warp),
        lanes: event.lanes,
        place: program.place(event.pc),
        statement: view::statement(program, event.pc),
        value,
    }
}

fn group(context: &EvalContext<'_>, query: &Query, found: &Found, key: GroupKey) -> String {
    let program = context.program();
    match key {
        GroupKey::Line(pc) => format!("{}  {}", program.place(pc), view::statement(program, pc)),
        GroupKey::Lane(lane) => format!("lane {lane}"),
        GroupKey::Value(None) => "a value that is not known".to_string(),
        GroupKey::Value(Some((taken, _))) if query.happening == Happening::Branches => {
            if taken == 0 {
                "not taken".to_string()
            } else {
                "taken".to_string()
            }
        }
        GroupKey::Value(Some((bits, bytes))) => {
            let of_place = query.place.as_ref().map(|place| place.ty).filter(|ty| ty.bytes() == bytes);
            // Where instructions of several types write it, the bits are all that they have in common.
            let of_writers = || {
                let writers = found.writers.get(&(bits, bytes))?;
                let types: Vec<ScalarType> = writers.iter().map(|pc| written_type(context, *pc, bytes)).collect();
                types.first().copied().filter(|first| types.iter().all(|ty| ty == first))
            };
            let ty = of_place.or_else(of_writers).unwrap_or(untyped(bytes));
            Scalar::new(Type::Scalar(ty), u128::from(bits)).text(context, None)
        }
    }
}

/// A value in the type of the instruction that writes it.
fn shown(context: &EvalContext<'_>, pc: Pc, bits: u64, bytes: u32) -> String {
    Scalar::new(Type::Scalar(written_type(context, pc, bytes)), u128::from(bits)).text(context, None)
}

/// The type of what an instruction writes, if that has this number of bytes.
fn written_type(context: &EvalContext<'_>, pc: Pc, bytes: u32) -> ScalarType {
    let types = context.program().opcode(pc).map(|opcode| &opcode.matched.types);
    types.and_then(|types| types.last().copied()).filter(|ty| ty.bytes() == bytes).unwrap_or(untyped(bytes))
}

fn untyped(bytes: u32) -> ScalarType {
    match bytes {
        1 => ScalarType::B8,
        2 => ScalarType::B16,
        8 => ScalarType::B64,
        _ => ScalarType::B32,
    }
}
