//! Mbarriers in shared memory (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//!
//! A phase ends when as many threads have arrived as the object was made for and as many bytes have come as were expected; the next one
//! begins at once. All that the instructions see of it fits into the eight bytes of the object ([`Mbarrier::word`]): the bytes in memory
//! are that word, and an object whose bytes read otherwise was overwritten. What only a debugger shows (which threads arrived, when phases
//! ended) is kept here and nowhere in memory.

use std::hash::{Hash, Hasher};

use crate::machine::state::issue_point::{IssuePoint, Tick};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::TrapKind;

/// Most arrivals of a phase, and most bytes outstanding either way (PTX ISA, "Contents of the mbarrier object").
pub const COUNT_LIMIT: u32 = (1 << 20) - 1;

/// Operations remembered of a phase.
const OPERATIONS: usize = 64;

/// Contributors named at most.
const NAMED: usize = 4;

/// Phases remembered.
const PHASES: usize = 16;

/// A contribution of an operation to a phase of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Contribution {
    /// Arrived, with this count.
    Arrived(u32),
    /// Arrived, with this count, and does not arrive in later phases.
    Dropped(u32),
    /// Expects this many more bytes (`expect_tx`).
    #[serde(rename = "Expected")]
    ExpectTx(u32),
    /// This many bytes have come (`complete_tx`).
    #[serde(rename = "Brought")]
    CompleteTx(u32),
}

/// An operation on an mbarrier, with its thread, place and time. For a copy it is the thread that issued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierOperation {
    /// The contribution.
    pub what: Contribution,
    /// The instruction.
    pub place: IssuePoint,
    /// Its lanes.
    pub lanes: LaneMask,
    /// The copy that did it, if no lane did it directly.
    pub copy: Option<u64>,
    /// When it took effect.
    pub tick: Tick,
}

impl MbarrierOperation {
    /// Adds `other` to it, if that is more of the same by the same instruction.
    fn join(&mut self, other: MbarrierOperation) -> bool {
        use Contribution::{Arrived, CompleteTx, Dropped, ExpectTx};
        if (self.place, self.copy, self.tick) != (other.place, other.copy, other.tick) {
            return false;
        }
        match (&mut self.what, other.what) {
            (Arrived(all), Arrived(more))
            | (Dropped(all), Dropped(more))
            | (ExpectTx(all), ExpectTx(more))
            | (CompleteTx(all), CompleteTx(more)) => {
                *all = all.saturating_add(more);
            }
            _ => return false,
        }
        self.lanes |= other.lanes;
        true
    }
}

/// A phase that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its number, from 0.
    pub number: u64,
    /// When it ended.
    pub ended: Tick,
    /// The operation that completed it.
    pub last: MbarrierOperation,
    /// The operations in it, of the latest phase alone.
    pub operations: Vec<MbarrierOperation>,
}

/// An mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// Arrivals that the next phase will want.
    pub expected: u32,
    /// Arrivals that the present phase still wants.
    pub pending: u32,
    /// The tx-count: bytes that the present phase still wants; negative if more have come than were expected so far.
    pub tx_count: i32,
    /// Phases that have ended.
    pub phase: u64,
    /// The place of its `mbarrier.init`.
    pub made: IssuePoint,
    /// The latest operations in the present phase.
    pub operations: Vec<MbarrierOperation>,
    /// The number of earlier operations that are dropped from `operations`.
    pub omitted: u64,
    /// The latest phases that have ended, oldest first.
    pub history: Vec<Phase>,
}

/// A change that an mbarrier cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More arrivals than the phase still wants.
    TooManyArrivals {
        /// The arrivals that are pending.
        pending: u32,
    },
    /// Bytes outstanding past [`COUNT_LIMIT`].
    TooManyBytes {
        /// The bytes that would be pending.
        bytes: i64,
    },
    /// A count that is zero or past [`COUNT_LIMIT`].
    Count,
    /// `.noComplete` would have ended the phase.
    Completes,
    /// There is no object.
    Uninitialized,
    /// There is none any more since `mbarrier.inval`.
    Invalidated(IssuePoint),
    /// Its bytes are not what the instructions left there.
    Overwritten {
        /// Their value.
        word: u64,
    },
    /// Its block has exited.
    Gone,
}

impl Mbarrier {
    /// The instructions by which warps arrived in `operations`, each warp once, a few at most.
    pub fn contributors(operations: &[MbarrierOperation]) -> Vec<IssuePoint> {
        let mut places: Vec<IssuePoint> = Vec::new();
        for operation in operations.iter().filter(|operation| matches!(operation.what, Contribution::Arrived(_) | Contribution::Dropped(_)))
        {
            if !places.iter().any(|place| (place.block, place.warp) == (operation.place.block, operation.place.warp)) {
                places.push(operation.place);
            }
        }
        places.truncate(NAMED);
        places
    }

    /// An object for `count` arrivals a phase.
    pub fn new(count: u32, made: IssuePoint) -> Self {
        assert!((1..=COUNT_LIMIT).contains(&count), "an object for {count} arrivals");
        Self { expected: count, pending: count, tx_count: 0, phase: 0, made, operations: Vec::new(), omitted: 0, history: Vec::new() }
    }

    /// The phase's parity.
    pub fn parity(&self) -> u32 {
        (self.phase & 1) as u32
    }

    /// The eight bytes of the object, which are also the state that an arrival returns: parity of the phase, pending bytes, pending
    /// and expected arrivals.
    pub fn word(&self) -> u64 {
        let bytes = u64::from(self.tx_count as u32 & ((1 << 21) - 1));
        (self.phase & 1) << 63 | bytes << 40 | u64::from(self.pending) << 20 | u64::from(self.expected)
    }

    /// Applies an operation; true if it ends the phase.
    ///
    /// # Errors
    /// If it does not fit; nothing has changed then.
    pub fn apply(&mut self, operation: MbarrierOperation) -> Result<bool, Refused> {
        self.check();
        let (expected, pending, bytes) = self.after(operation.what)?;
        self.check_applied(operation.what, (expected, pending, bytes));
        (self.expected, self.pending, self.tx_count) = (expected, pending, bytes);
        self.remember(operation);
        let is_expect_tx = matches!(operation.what, Contribution::ExpectTx(_));
        if is_expect_tx || pending > 0 || bytes != 0 {
            let is_due = self.pending | self.tx_count.unsigned_abs() == 0;
            assert!(!is_due || matches!(operation.what, Contribution::ExpectTx(_)), "a phase that misses nothing does not end");
            self.check();
            return Ok(false);
        }
        let phase = self.phase;
        self.end_phase(operation);
        assert_eq!(self.phase, phase + 1, "phases follow each other");
        assert!(self.pending == self.expected && self.tx_count == 0, "a phase begins with other counts than the object was made for");
        self.check();
        Ok(true)
    }

    /// The invariant: the counts fit the object's bytes, which encode the same.
    fn check(&self) {
        assert!(self.pending <= COUNT_LIMIT && self.expected <= COUNT_LIMIT, "more arrivals than an object can count");
        assert!(self.tx_count.unsigned_abs() <= COUNT_LIMIT, "more bytes than an object can count");
        assert_eq!(pending_of(self.word()), self.pending, "the object's bytes name other arrivals");
        assert_eq!(parity_of(self.word()), self.parity(), "the object's bytes name another phase");
        assert!(self.operations.len() <= OPERATIONS && self.history.len() <= PHASES, "more is remembered than is kept");
    }

    /// Whether `after`, the expected and pending arrivals and the pending bytes, is what `what` makes of the object.
    fn check_applied(&self, what: Contribution, (expected, pending, bytes): (u32, u32, i32)) {
        let (arrived, brought) = match what {
            Contribution::Arrived(count) | Contribution::Dropped(count) => (count, 0),
            Contribution::ExpectTx(bytes) => (0, -i64::from(bytes)),
            Contribution::CompleteTx(bytes) => (0, i64::from(bytes)),
        };
        assert_eq!(pending + arrived, self.pending, "arrivals are not counted");
        assert_eq!(i64::from(bytes) + brought, i64::from(self.tx_count), "bytes are not counted");
        let is_drop = matches!(what, Contribution::Dropped(_));
        assert!(expected == self.expected || is_drop && expected < self.expected, "the arrivals of later phases change");
    }

    /// Whether `what` would end the phase.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn would_end(&self, what: Contribution) -> Result<bool, Refused> {
        let (_, pending, bytes) = self.after(what)?;
        Ok(pending == 0 && bytes == 0)
    }

    /// Makes the present phase want `count` arrivals more (`cp.async.mbarrier.arrive` without `.noinc`).
    ///
    /// # Errors
    /// If they are too many.
    pub fn want_more(&mut self, count: u32) -> Result<(), Refused> {
        let pending = self.pending + count;
        if pending > COUNT_LIMIT {
            return Err(Refused::Count);
        }
        assert!(count > 0, "a phase wants no arrival more");
        let before = std::mem::replace(&mut self.pending, pending);
        assert_eq!(self.pending, before + count, "arrivals are not counted");
        self.check();
        Ok(())
    }

    /// Expected and pending arrivals and pending bytes after `what`.
    fn after(&self, what: Contribution) -> Result<(u32, u32, i32), Refused> {
        let arrive = |count: u32| {
            if count == 0 || count > COUNT_LIMIT {
                return Err(Refused::Count);
            }
            self.pending.checked_sub(count).ok_or(Refused::TooManyArrivals { pending: self.pending })
        };
        match what {
            Contribution::Arrived(count) => Ok((self.expected, arrive(count)?, self.tx_count)),
            Contribution::Dropped(count) => Ok((self.expected.saturating_sub(count), arrive(count)?, self.tx_count)),
            Contribution::ExpectTx(bytes) => Ok((self.expected, self.pending, self.add_bytes(i64::from(bytes))?)),
            Contribution::CompleteTx(bytes) => Ok((self.expected, self.pending, self.add_bytes(-i64::from(bytes))?)),
        }
    }

    fn add_bytes(&self, more: i64) -> Result<i32, Refused> {
        let bytes = i64::from(self.tx_count) + more;
        match i32::try_from(bytes) {
            Ok(fits) if fits.unsigned_abs() <= COUNT_LIMIT => Ok(fits),
            _ => Err(Refused::TooManyBytes { bytes }),
        }
    }

    fn remember(&mut self, operation: MbarrierOperation) {
        assert!(self.operations.last().is_none_or(|last| last.tick <= operation.tick), "what happens comes before what has happened");
        assert!(!operation.lanes.is_empty(), "no lane does something");
        if self.operations.last_mut().is_some_and(|last| last.join(operation)) {
            return;
        }
        if self.operations.len() == OPERATIONS {
            self.operations.remove(0);
            self.omitted += 1;
        }
        self.operations.push(operation);
    }

    fn end_phase(&mut self, last: MbarrierOperation) {
        assert_eq!(self.pending, 0, "a phase ends that misses arrivals");
        assert_eq!(self.tx_count, 0, "a phase ends that misses bytes");
        if self.history.len() == PHASES {
            self.history.remove(0);
        }
        if let Some(before) = self.history.last_mut() {
            before.operations = Vec::new();
        }
        let before = self.history.last();
        assert!(before.is_none_or(|before| before.number + 1 == self.phase && before.ended <= last.tick), "phases follow each other");
        let operations = std::mem::take(&mut self.operations);
        self.history.push(Phase { number: self.phase, ended: last.tick, last, operations });
        self.phase += 1;
        self.pending = self.expected;
        self.omitted = 0;
        assert!(self.operations.is_empty(), "a phase begins with what happened in the one before");
    }
}

impl Hash for Mbarrier {
    /// Hashes the state that bears on the run.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { expected: _, pending: _, tx_count: _, phase, made: _, operations: _, omitted: _, history: _ } = self;
        (self.word(), phase).hash(state);
    }
}

impl Refused {
    /// The fault it is, and why, of the mbarrier that is called `object`.
    pub fn words(self, object: &str) -> (TrapKind, String) {
        match self {
            Refused::TooManyArrivals { pending } => {
                let wants = if pending == 0 { "no more arrivals".to_string() } else { format!("only {pending} more arrivals") };
                (TrapKind::MbarrierOverflow, format!("{object} wants {wants} in this phase"))
            }
            Refused::TooManyBytes { bytes } => (
                TrapKind::MbarrierOverflow,
                format!("{object} would wait for {bytes} bytes; at most {COUNT_LIMIT} either way can be outstanding"),
            ),
            Refused::Count => (TrapKind::MbarrierOverflow, format!("a count for {object} is from 1 to {COUNT_LIMIT}")),
            Refused::Completes => {
                (TrapKind::MbarrierOverflow, format!("with .noComplete the phase of {object} must not end, and it would"))
            }
            Refused::Uninitialized => (TrapKind::MbarrierUninitialized, format!("no mbarrier.init was executed for {object}")),
            Refused::Invalidated(by) => (TrapKind::MbarrierInvalidated, format!("{object} was invalidated at time {}", by.tick)),
            Refused::Overwritten { word } => {
                (TrapKind::MbarrierOverlap, format!("the bytes of {object} were overwritten; they now read {word:#018x}"))
            }
            Refused::Gone => (TrapKind::ClusterExited, format!("the block with {object} has exited")),
        }
    }
}

/// Arrivals that the state `word` still wants (`mbarrier.pending_count`).
pub fn pending_of(word: u64) -> u32 {
    (word >> 20) as u32 & COUNT_LIMIT
}

/// The parity of the phase of the state `word`.
pub fn parity_of(word: u64) -> u32 {
    (word >> 63) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Pc;

    const PLACE: IssuePoint = IssuePoint { pc: Pc(0), tick: Tick::START, block: [0; 3], warp: crate::base::WarpId::new(0) };

    fn by(what: Contribution) -> MbarrierOperation {
        MbarrierOperation { what, place: PLACE, lanes: LaneMask::of(0), copy: None, tick: Tick(7) }
    }

    #[test]
    fn a_phase_ends_with_the_last_arrival_and_the_last_byte() {
        let mut barrier = Mbarrier::new(2, PLACE);
        assert_eq!(barrier.apply(by(Contribution::ExpectTx(32))), Ok(false));
        assert_eq!(barrier.apply(by(Contribution::Arrived(2))), Ok(false));
        assert_eq!(barrier.apply(by(Contribution::Arrived(1))), Err(Refused::TooManyArrivals { pending: 0 }));
        assert_eq!(barrier.apply(by(Contribution::CompleteTx(16))), Ok(false));
        assert_eq!(barrier.apply(by(Contribution::CompleteTx(16))), Ok(true));
        assert_eq!((barrier.phase, barrier.parity(), barrier.pending, barrier.tx_count), (1, 1, 2, 0));
        assert_eq!(barrier.history[0].last.what, Contribution::CompleteTx(16));
    }

    #[test]
    fn bytes_may_come_before_they_are_expected() {
        let mut barrier = Mbarrier::new(1, PLACE);
        assert_eq!(barrier.apply(by(Contribution::CompleteTx(16))), Ok(false));
        assert_eq!(barrier.tx_count, -16);
        // Expecting them does not end a phase that still wants an arrival.
        assert_eq!(barrier.apply(by(Contribution::ExpectTx(16))), Ok(false));
        assert_eq!(barrier.apply(by(Contribution::Arrived(1))), Ok(true));
    }

    #[test]
    fn a_thread_that_drops_out_is_not_waited_for_again() {
        let mut barrier = Mbarrier::new(2, PLACE);
        assert_eq!(barrier.apply(by(Contribution::Dropped(1))), Ok(false));
        assert_eq!(barrier.apply(by(Contribution::Arrived(1))), Ok(true));
        assert_eq!((barrier.expected, barrier.pending), (1, 1));
    }

    #[test]
    fn counts_have_limits() {
        let mut barrier = Mbarrier::new(COUNT_LIMIT, PLACE);
        assert_eq!(barrier.apply(by(Contribution::Arrived(0))), Err(Refused::Count));
        assert_eq!(barrier.apply(by(Contribution::ExpectTx(COUNT_LIMIT))), Ok(false));
        assert_eq!(barrier.apply(by(Contribution::ExpectTx(1))), Err(Refused::TooManyBytes { bytes: 1 << 20 }));
        let word = barrier.word();
        assert_eq!((pending_of(word), parity_of(word)), (COUNT_LIMIT, 0));
    }
}
