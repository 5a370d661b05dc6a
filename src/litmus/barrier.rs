//! Barriers: which arrivals meet.
//!
//! Barriers of a block with the same numbers are one. Without a count, the n-th arrivals of all its threads that arrive meet; with one,
//! that many of them do, whichever, and what is left waits forever. Threads that wait for one another end nowhere: such executions have
//! no outcome.

use std::collections::BTreeMap;

use super::candidates::Candidate;
use super::effort::TooLarge;
use super::event::EventKind;
use super::relation::{Relation, bits};
use super::values::Value;

/// What makes barriers one: the GPU, the block, both numbers, and of those without a count the round.
type Key = (u32, u32, i64, Option<i64>, Option<usize>);

/// Arrivals at a barrier.
#[derive(Default)]
struct Arrivals {
    /// Those that meet others.
    meeting: u64,
    /// How many wait forever.
    left: usize,
    /// How many meet.
    count: Option<usize>,
}

/// The most ways in which arrivals may meet, and the most sets of them that are tried.
const WAYS_MAX: usize = 1 << 12;
const TRIES_MAX: usize = 1 << 16;

/// The pairs of arrivals and waits that meet, one relation for each choice; none if that cannot be. `values` has what reads return.
///
/// # Errors
/// There are too many choices.
pub fn meetings(candidate: &Candidate<'_>, values: &[Option<i64>]) -> Result<Vec<Relation>, TooLarge> {
    let mut barriers: BTreeMap<Key, Arrivals> = BTreeMap::new();
    let mut rounds: BTreeMap<(usize, i64, Option<i64>), usize> = BTreeMap::new();
    for (own, event) in candidate.events.iter().enumerate() {
        let (EventKind::Barrier { instance, id, count, .. }, Some(thread)) = (&event.kind, event.thread) else { continue };
        let value = |of: &Value| candidate.evaluate(thread, of, values);
        let id = id.as_ref().and_then(value);
        let count = count.as_ref().map(|count| value(count).and_then(|count| count.try_into().ok()).unwrap_or(0));
        let round = rounds.entry((thread, *instance, id)).or_default();
        let of = &candidate.test.threads[thread];
        let barrier = barriers.entry((of.gpu, of.block, *instance, id, count.is_none().then_some(*round))).or_default();
        *round += 1;
        let is_last = candidate.po.row(own) == 0;
        if candidate.paths[thread].waits_forever && is_last {
            barrier.left += 1;
        } else {
            barrier.meeting |= 1 << own;
        }
        barrier.count = count;
    }
    let mut choices = vec![Vec::new()];
    for Arrivals { meeting, left, count } in barriers.into_values() {
        let parts = match count {
            None => vec![vec![meeting]],
            Some(count) if left >= count => Vec::new(),
            Some(count) => {
                let mut search = Partitions { candidate, count, parts: Vec::new(), found: Vec::new(), tries: 0 };
                search.part(meeting)?;
                search.found
            }
        };
        if choices.len() * parts.len() > WAYS_MAX {
            return Err(TooLarge::Meetings);
        }
        choices = choices.iter().flat_map(|chosen: &Vec<u64>| parts.iter().map(|part| [&chosen[..], part].concat())).collect();
    }
    choices.retain(|groups| !waits_forever(candidate, groups));
    Ok(choices.iter().map(|groups| pairs(candidate, groups)).collect())
}

fn pairs(candidate: &Candidate<'_>, groups: &[u64]) -> Relation {
    let mut pairs = Relation::empty(candidate.events.len());
    for group in groups {
        let waits = bits(*group).filter(|own| !only_arrives(candidate, *own));
        waits.for_each(|wait| bits(*group).filter(|own| *own != wait).for_each(|own| pairs.add(own, wait)));
    }
    pairs
}

/// The ways to separate arrivals into groups of `count` of different threads.
struct Partitions<'a> {
    candidate: &'a Candidate<'a>,
    count: usize,
    parts: Vec<u64>,
    found: Vec<Vec<u64>>,
    tries: usize,
}

impl Partitions<'_> {
    fn part(&mut self, members: u64) -> Result<(), TooLarge> {
        match bits(members).next() {
            Some(first) => self.extend(1 << first, first, members),
            None => {
                self.found.push(self.parts.clone());
                if self.found.len() > WAYS_MAX { Err(TooLarge::Meetings) } else { Ok(()) }
            }
        }
    }

    /// Adds members after `last` to a group, until it is full.
    fn extend(&mut self, group: u64, last: usize, members: u64) -> Result<(), TooLarge> {
        self.tries += 1;
        if self.tries > TRIES_MAX {
            return Err(TooLarge::Meetings);
        }
        if group.count_ones() as usize == self.count {
            self.parts.push(group);
            self.part(members & !group)?;
            self.parts.pop();
            return Ok(());
        }
        let is_of_other_thread = |own: &usize| bits(group).all(|of| !self.candidate.po.has(of, *own) && !self.candidate.po.has(*own, of));
        let next: Vec<usize> = bits(members).filter(|own| *own > last).filter(is_of_other_thread).collect();
        next.into_iter().try_for_each(|own| self.extend(group | 1 << own, own, members))
    }
}

fn only_arrives(candidate: &Candidate<'_>, own: usize) -> bool {
    matches!(candidate.events[own].kind, EventKind::Barrier { only_arrives: true, .. })
}

/// True if some of the groups wait for one another.
fn waits_forever(candidate: &Candidate<'_>, groups: &[u64]) -> bool {
    let before = Relation::of(groups.len(), |one, other| {
        bits(groups[one]).any(|wait| !only_arrives(candidate, wait) && candidate.po.row(wait) & groups[other] != 0)
    });
    !before.is_acyclic()
}
