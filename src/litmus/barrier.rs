//! Barriers: which arrivals meet.
//!
//! Barriers of a block with the same numbers are one. Without a count, the n-th arrivals of all its threads that arrive meet; with one,
//! that many of them do, whichever, and what is left waits forever. Threads that wait for one another end nowhere: such executions have
//! no outcome.

use std::collections::BTreeMap;

use super::candidates::Candidate;
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

/// The pairs of arrivals and waits that meet, one relation for each choice; none if that cannot be. `values` has what reads return.
pub fn meetings(candidate: &Candidate<'_>, values: &[Option<i64>]) -> Vec<Relation> {
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
            Some(count) => partitions(candidate, meeting, count),
        };
        choices = choices.iter().flat_map(|chosen: &Vec<u64>| parts.iter().map(|part| [&chosen[..], part].concat())).collect();
    }
    choices.retain(|groups| !waits_forever(candidate, groups));
    choices.iter().map(|groups| pairs(candidate, groups)).collect()
}

fn pairs(candidate: &Candidate<'_>, groups: &[u64]) -> Relation {
    let mut pairs = Relation::empty(candidate.events.len());
    for group in groups {
        let waits = bits(*group).filter(|own| !only_arrives(candidate, *own));
        waits.for_each(|wait| bits(*group).filter(|own| *own != wait).for_each(|own| pairs.add(own, wait)));
    }
    pairs
}

/// The ways to part `members` into groups of `count` of different threads.
fn partitions(candidate: &Candidate<'_>, members: u64, count: usize) -> Vec<Vec<u64>> {
    let Some(first) = bits(members).next() else { return vec![Vec::new()] };
    let has_first = |group: &u64| group >> first & 1 != 0;
    let is_of_threads = |group: &u64| bits(*group).all(|own| candidate.po.row(own) & group == 0);
    let groups = subsets(members, count).into_iter().filter(has_first).filter(is_of_threads);
    groups
        .flat_map(|group| partitions(candidate, members & !group, count).into_iter().map(move |rest| [vec![group], rest].concat()))
        .collect()
}

fn only_arrives(candidate: &Candidate<'_>, own: usize) -> bool {
    matches!(candidate.events[own].kind, EventKind::Barrier { only_arrives: true, .. })
}

/// The subsets of `members` with `count` of them.
fn subsets(members: u64, count: usize) -> Vec<u64> {
    let mut found = vec![(0_u64, 0)];
    for member in bits(members) {
        found.extend(found.clone().into_iter().map(|(set, size)| (set | 1 << member, size + 1)));
    }
    found.into_iter().filter(|(_, size)| *size == count).map(|(set, _)| set).collect()
}

/// True if some of the groups wait for one another.
fn waits_forever(candidate: &Candidate<'_>, groups: &[u64]) -> bool {
    let before = Relation::of(groups.len(), |one, other| {
        bits(groups[one]).any(|wait| !only_arrives(candidate, wait) && candidate.po.row(wait) & groups[other] != 0)
    });
    !before.is_acyclic()
}
