//! Whether an execution is sequentially consistent: one order of all events, in which each read reads the last write before it.

use std::collections::BTreeSet;

use super::candidates::Candidate;
use super::effort::{Effort, TooLarge};
use super::relation::{Relation, bits};

/// The last writes of the locations, in the order of their first writes, of every sequentially consistent order of an execution.
///
/// # Errors
/// There are too many.
pub fn last_writes(
    candidate: &Candidate<'_>,
    source: &[Option<usize>],
    barrier: &Relation,
    effort: &Effort,
) -> Result<BTreeSet<Vec<usize>>, TooLarge> {
    let first = candidate.first_values();
    let done = first.iter().fold(0, |done, write| done | 1 << write);
    // What must be over before an event: program order, and for what follows a barrier all its arrivals.
    let before = candidate.po.or(&barrier.then(&candidate.po)).inverse();
    let mut search = Search { candidate, source, before, effort, seen: BTreeSet::new(), found: BTreeSet::new() };
    search.from(done, first)?;
    Ok(search.found)
}

struct Search<'a> {
    candidate: &'a Candidate<'a>,
    source: &'a [Option<usize>],
    before: Relation,
    effort: &'a Effort,
    seen: BTreeSet<(u64, Vec<usize>)>,
    found: BTreeSet<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, done: u64, last: Vec<usize>) -> Result<(), TooLarge> {
        if !self.seen.insert((done, last.clone())) {
            return Ok(());
        }
        self.effort.spend()?;
        let size = self.candidate.events.len();
        let mut is_over = true;
        for own in (0..size).filter(|own| done >> own & 1 == 0) {
            is_over = false;
            if self.before.row(own) & !done != 0 {
                continue;
            }
            let event = &self.candidate.events[own];
            // The write of an atomic operation comes with its read.
            let is_second = self.candidate.rmw.pairs().any(|(_, write)| write == own);
            if is_second {
                continue;
            }
            let place = last.iter().position(|write| self.candidate.same_memory.has(*write, own));
            if event.is_read() && self.source[own] != place.map(|place| last[place]) {
                continue;
            }
            let (mut done, mut last) = (done | 1 << own, last.clone());
            let write = if event.is_write() { Some(own) } else { bits(self.candidate.rmw.row(own)).next() };
            if let (Some(write), Some(place)) = (write, place) {
                done |= 1 << write;
                last[place] = write;
            }
            self.from(done, last)?;
        }
        if is_over {
            self.found.insert(last);
        }
        Ok(())
    }
}
