//! Words that may be addresses of the device, and the allocations that they lead to.

use std::collections::{BTreeMap, VecDeque};

use crate::driver::Driver;

/// Addresses of the device are not below, where small numbers are, and not above, where a processor has none.
const PLAUSIBLE: std::ops::Range<u64> = 1 << 32..1 << 49;
/// Words that lead nowhere are remembered in as many places.
const REMEMBERED: usize = 1 << 16;
/// Questions to the driver at most: the words of a large array of numbers may all look like addresses.
const QUESTIONS_MAX: u64 = 20_000_000;

/// An allocation that something points into.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its first address.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Where the first word points that leads there.
    pub at: u64,
}

/// The allocations found so far, and those whose words are to be looked at, in the order in which they were found.
pub struct Search<'a> {
    driver: &'a Driver,
    known: BTreeMap<u64, u64>,
    next: VecDeque<Found>,
    /// Words that the driver knows no allocation of, each at the place that its bits choose.
    nowhere: Vec<u64>,
    questions: u64,
}

impl<'a> Search<'a> {
    /// Nothing is found yet.
    pub fn new(driver: &'a Driver) -> Self {
        Self { driver, known: BTreeMap::new(), next: VecDeque::new(), nowhere: vec![0; REMEMBERED], questions: 0 }
    }

    /// Says that memory from `start` to `end` is kept otherwise.
    pub fn exclude(&mut self, start: u64, end: u64) {
        self.known.insert(start, end);
    }

    /// Whether words were left unasked.
    pub fn is_cut(&self) -> bool {
        self.questions >= QUESTIONS_MAX
    }

    /// Looks at the words of `bytes` at multiples of `step`.
    pub fn look(&mut self, bytes: &[u8], step: usize) {
        const WORD: usize = size_of::<u64>();
        for at in (0..(bytes.len() + 1).saturating_sub(WORD)).step_by(step) {
            let word = bytes.get(at..at + WORD).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes);
            if PLAUSIBLE.contains(&word) {
                self.word(word);
            }
        }
    }

    fn word(&mut self, word: u64) {
        let before = self.known.range(..=word).next_back();
        if before.is_some_and(|(_, end)| word < *end) {
            return;
        }
        let place = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % REMEMBERED;
        if self.nowhere.get(place) == Some(&word) || self.is_cut() {
            return;
        }
        self.questions += 1;
        match self.driver.range(word) {
            Some((start, bytes)) => {
                // What is kept otherwise may lie in the same allocation.
                let is_new = self.known.insert(start, start + bytes).is_none();
                if is_new {
                    self.next.push_back(Found { start, bytes, at: word });
                }
            }
            None => {
                if let Some(remembered) = self.nowhere.get_mut(place) {
                    *remembered = word;
                }
            }
        }
    }

    /// The next allocation whose words are to be looked at.
    pub fn next(&mut self) -> Option<Found> {
        self.next.pop_front()
    }
}
