//! What the memory at the end of a session's run has, and the launch does not expect: the elements, and the instructions that wrote them.

use std::sync::Arc;

use super::resume::LastWriter;
use super::run::{Written, is_partial, record_of};
use super::session::{InterruptCheck, Session};
use super::timeline::{End, Ran};
use super::verify::{
    self, ComparedMemory, ComparedPart, Failure, WrongMemory, element_range, expects_memory, typed_by_stores, wrong_memory,
};
use crate::machine::{NullObserver, Tick};
use crate::program::Pc;

/// The wrong elements at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatches {
    /// The first wrong elements of each buffer.
    pub rows: Vec<MismatchRow>,
    /// The totals of each buffer with wrong elements.
    pub totals: Vec<Failure>,
    /// The part of the memory that was compared, if not all blocks ran.
    pub part: Option<ComparedPart>,
    /// The user interrupted the search for the writers: some rows have none although there is one.
    pub interrupted: bool,
}

/// The rows of a list, and whether the user interrupted the search for their writers.
struct Rows {
    rows: Vec<MismatchRow>,
    interrupted: bool,
}

/// A wrong element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MismatchRow {
    /// Its number in the list, from 1.
    pub number: usize,
    /// The element, such as `out[17]`.
    pub element: String,
    /// Its value.
    pub value: String,
    /// The value it must have, or be close to.
    pub expected: String,
    /// What wrote it last; none if nothing did.
    pub writer: Option<LastWriter>,
}

impl MismatchRow {
    /// The instruction that wrote it last; none if none did, or the user has changed it since.
    fn instruction(&self) -> Option<Pc> {
        match &self.writer {
            Some(LastWriter::Lanes(site)) => Some(site.pc),
            Some(LastWriter::User(_)) | None => None,
        }
    }
}

impl Session {
    /// The wrong elements at the end of the run, `listed` at most of each buffer, with their last writers. The session remains at its time.
    ///
    /// # Errors
    /// Nothing is expected, the run has not reached its end, or a data file can no longer be read: a message of one line.
    pub fn mismatches(&mut self, listed: usize, interrupt: &mut dyn InterruptCheck) -> Result<Mismatches, String> {
        if !expects_memory(self.case()) {
            return Err(
                "the launch expects nothing of its memory: 'expect' of a launch file says what a buffer holds at the end".to_string()
            );
        }
        match self.ended() {
            Some(End::Done) => {}
            Some(End::Fault(_) | End::Broken(_)) => return Err("the run stopped before its end, so nothing is compared".to_string()),
            None => return Err("what is expected holds at the end of the run, which is not reached yet: 'goto end' goes there".to_string()),
        }
        let now = self.time();
        self.return_to(self.recorded());
        let found = self.mismatches_at_end(listed, interrupt);
        self.return_to(now);
        found
    }

    fn mismatches_at_end(&mut self, described: usize, interrupt: &mut dyn InterruptCheck) -> Result<Mismatches, String> {
        let written = self.written();
        let (case, addresses) = (Arc::clone(self.timeline.case()), self.addresses().to_vec());
        let memory = ComparedMemory { device: self.machine().device(), addresses: &addresses, written: written.as_ref(), described };
        let part = written.as_ref().map(|written| ComparedPart::new(&case, &addresses, written));
        let wrong = wrong_memory(&case, memory, false).map_err(|error| error.to_string())?;
        let mut found = self.rows_of(&wrong, &addresses, interrupt);
        let stored = wrong.elements.iter().zip(&found.rows).map(|((index, ..), row)| (*index, row.instruction()));
        let typed = typed_by_stores(self.program(), &case, &stored.collect::<Vec<_>>());
        let mut totals = wrong.totals;
        if let Some(case) = &typed {
            let memory = ComparedMemory { device: self.machine().device(), addresses: &addresses, written: written.as_ref(), described };
            let wrong = wrong_memory(case, memory, false).map_err(|error| error.to_string())?;
            found = self.rows_of(&wrong, &addresses, interrupt);
            totals = wrong.totals;
        }
        let Rows { rows, interrupted } = found;
        Ok(Mismatches { rows, totals: totals.into_iter().map(|(_, total)| total).collect(), part, interrupted })
    }

    /// The wrong elements with their last writers, as far as the user lets the search for these go on.
    fn rows_of(&mut self, wrong: &WrongMemory<'_>, addresses: &[u64], interrupt: &mut dyn InterruptCheck) -> Rows {
        let ranges = wrong.elements.iter().map(|(index, buffer, mismatch)| element_range(addresses[*index], buffer, mismatch));
        let found = self.last_writers(&ranges.collect::<Vec<_>>(), interrupt);
        let mut rows = Vec::new();
        for ((_, buffer, mismatch), writer) in wrong.elements.iter().zip(found.writers) {
            let [element, value, expected] = verify::described(buffer, mismatch);
            rows.push(MismatchRow { number: rows.len() + 1, element, value, expected, writer });
        }
        Rows { rows, interrupted: found.interrupted }
    }

    /// The number of wrong elements if the session is at the end of a run that has finished; 0 elsewhere.
    pub(in crate::debug) fn wrong_elements(&mut self) -> u64 {
        let is_at_end = matches!(self.ended(), Some(End::Done)) && self.time() == self.recorded();
        if !is_at_end || !expects_memory(self.case()) {
            return 0;
        }
        // A data file that can no longer be read is an error of 'mismatches'.
        let written = self.written();
        let memory =
            ComparedMemory { device: self.machine().device(), addresses: self.addresses(), written: written.as_ref(), described: 0 };
        let wrong = wrong_memory(self.case(), memory, false).unwrap_or_default();
        let count = |(_, total): &(usize, Failure)| if let Failure::Mismatches { wrong, .. } = total { *wrong } else { 0 };
        wrong.totals.iter().map(count).sum()
    }

    /// What the blocks of partial launches have written up to the end of the recorded run, if there are such launches. The session remains
    /// at its time.
    fn written(&mut self) -> Option<Written> {
        let case = Arc::clone(self.timeline.case());
        let mut written = record_of(&case)?;
        let (now, end) = (self.time(), self.recorded());
        self.timeline.restore(Tick::START);
        let mut ran = Ran::Launched;
        while self.time() < end && ran != Ran::Ended {
            ran = match case.launches.get(self.launch()).is_some_and(is_partial) {
                true => self.timeline.run(end, &mut written),
                false => self.timeline.run(end, &mut NullObserver),
            };
        }
        self.return_to(now);
        Some(written)
    }
}
