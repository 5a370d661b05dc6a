//! Mbarriers in shared memory (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//!
//! A phase completes when its pending count and its tx-count are zero; the next one begins at once. The state that instructions can read
//! fits into the eight bytes of the mbarrier ([`Mbarrier::word`]): the bytes in memory are that word, and an mbarrier whose bytes differ
//! from it was overwritten. The history that only a debugger shows (arrivals, completed phases) is stored here and not in simulated memory.

use std::hash::{Hash, Hasher};

use crate::machine::state::issue_point::{IssuePoint, Tick};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::TrapKind;

/// The maximum of the arrival counts, and of the magnitude of the tx-count (PTX ISA, "Contents of the mbarrier object").
pub const COUNT_LIMIT: u32 = (1 << 20) - 1;

/// The maximum number of operations that are recorded of a phase.
const OPERATIONS_MAX: usize = 64;

/// The maximum number of contributors that are listed.
const CONTRIBUTORS_MAX: usize = 4;

/// The maximum number of phases that are recorded.
const PHASES_MAX: usize = 16;

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
    /// This many bytes have completed (`complete_tx`).
    #[serde(rename = "Brought")]
    CompleteTx(u32),
}

/// An operation on an mbarrier. For that of a copy, `point` and `lanes` are those of the issue of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierOperation {
    /// The contribution.
    pub what: Contribution,
    /// The instruction.
    pub point: IssuePoint,
    /// Its lanes.
    pub lanes: LaneMask,
    /// The number of the copy, if a copy contributed and no lane directly.
    pub copy: Option<u64>,
    /// The tick at which it took effect.
    pub tick: Tick,
}

impl MbarrierOperation {
    /// Merges `other` into this operation if both are the same kind of contribution by the same instruction.
    fn merge(&mut self, other: MbarrierOperation) -> bool {
        use Contribution::{Arrived, CompleteTx, Dropped, ExpectTx};
        if (self.point, self.copy, self.tick) != (other.point, other.copy, other.tick) {
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

/// A completed phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its number, from 0.
    pub number: u64,
    /// The tick of its completion.
    pub ended: Tick,
    /// The operation that completed it.
    pub last: MbarrierOperation,
    /// Its operations; only of the latest completed phase.
    pub operations: Vec<MbarrierOperation>,
}

/// An mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// The expected arrival count of the next phase.
    pub expected: u32,
    /// The pending arrival count of the current phase.
    pub pending: u32,
    /// The tx-count: bytes that the current phase still expects; negative if more have completed than were expected so far.
    pub tx_count: i32,
    /// The number of completed phases.
    pub phase: u64,
    /// The issue point of its `mbarrier.init`.
    pub init: IssuePoint,
    /// The latest operations in the current phase.
    pub operations: Vec<MbarrierOperation>,
    /// The number of earlier operations that are dropped from `operations`.
    pub omitted: u64,
    /// The latest completed phases, oldest first.
    pub history: Vec<Phase>,
}

/// The reason for which an operation on an mbarrier is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierError {
    /// More arrivals than are pending.
    TooManyArrivals {
        /// The arrivals that are pending.
        pending: u32,
    },
    /// A tx-count past [`COUNT_LIMIT`].
    TooManyBytes {
        /// The bytes that would be pending.
        bytes: i64,
    },
    /// A count that is zero or past [`COUNT_LIMIT`].
    Count,
    /// An operation with `.noComplete` would complete the phase.
    Completes,
    /// There is no mbarrier at the address.
    Uninitialized,
    /// This `mbarrier.inval` has invalidated it.
    Invalidated(IssuePoint),
    /// Other instructions have overwritten its bytes.
    Overwritten {
        /// Their value.
        word: u64,
    },
    /// Its block has exited.
    BlockExited,
}

impl Mbarrier {
    /// The instructions by which warps arrived in `operations`: one for each warp, [`CONTRIBUTORS_MAX`] at most.
    pub fn contributors(operations: &[MbarrierOperation]) -> Vec<IssuePoint> {
        let mut points: Vec<IssuePoint> = Vec::new();
        for operation in operations.iter().filter(|operation| matches!(operation.what, Contribution::Arrived(_) | Contribution::Dropped(_)))
        {
            if !points.iter().any(|point| (point.block, point.warp) == (operation.point.block, operation.point.warp)) {
                points.push(operation.point);
            }
        }
        points.truncate(CONTRIBUTORS_MAX);
        points
    }

    /// An mbarrier with an expected arrival count of `count`.
    pub fn new(count: u32, init: IssuePoint) -> Self {
        assert!((1..=COUNT_LIMIT).contains(&count), "an object for {count} arrivals");
        Self { expected: count, pending: count, tx_count: 0, phase: 0, init, operations: Vec::new(), omitted: 0, history: Vec::new() }
    }

    /// The phase's parity.
    pub fn parity(&self) -> u32 {
        (self.phase & 1) as u32
    }

    /// The eight bytes of the mbarrier, which are also the state that an arrival returns: parity of the phase, tx-count, pending and
    /// expected arrivals.
    pub fn word(&self) -> u64 {
        let bytes = u64::from(self.tx_count as u32 & ((1 << 21) - 1));
        (self.phase & 1) << 63 | bytes << 40 | u64::from(self.pending) << 20 | u64::from(self.expected)
    }

    /// Applies an operation; true if it completes the phase.
    ///
    /// # Errors
    /// If the operation is invalid; it has no effect then.
    pub fn apply(&mut self, operation: MbarrierOperation) -> Result<bool, MbarrierError> {
        self.check();
        let (expected, pending, bytes) = self.counts_after(operation.what)?;
        self.check_applied(operation.what, (expected, pending, bytes));
        (self.expected, self.pending, self.tx_count) = (expected, pending, bytes);
        self.record(operation);
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

    /// Checks the invariant: the counts are in range, and the eight bytes encode them.
    fn check(&self) {
        assert!(self.pending <= COUNT_LIMIT && self.expected <= COUNT_LIMIT, "more arrivals than an object can count");
        assert!(self.tx_count.unsigned_abs() <= COUNT_LIMIT, "more bytes than an object can count");
        assert_eq!(pending_of(self.word()), self.pending, "the object's bytes name other arrivals");
        assert_eq!(parity_of(self.word()), self.parity(), "the object's bytes name another phase");
        assert!(self.operations.len() <= OPERATIONS_MAX && self.history.len() <= PHASES_MAX, "more is remembered than is kept");
    }

    /// Checks that `expected`, `pending` and `bytes` are the counts after `what`.
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

    /// True if `what` would complete the phase.
    ///
    /// # Errors
    /// If the contribution is invalid.
    pub fn would_complete(&self, what: Contribution) -> Result<bool, MbarrierError> {
        let (_, pending, bytes) = self.counts_after(what)?;
        Ok(pending == 0 && bytes == 0)
    }

    /// Increments the pending count of the current phase by `count` (`cp.async.mbarrier.arrive` without `.noinc`).
    ///
    /// # Errors
    /// If the count gets too large.
    pub fn add_pending(&mut self, count: u32) -> Result<(), MbarrierError> {
        let pending = self.pending + count;
        if pending > COUNT_LIMIT {
            return Err(MbarrierError::Count);
        }
        assert!(count > 0, "a phase wants no arrival more");
        let before = std::mem::replace(&mut self.pending, pending);
        assert_eq!(self.pending, before + count, "arrivals are not counted");
        self.check();
        Ok(())
    }

    /// The expected and pending arrivals and the tx-count after `what`.
    fn counts_after(&self, what: Contribution) -> Result<(u32, u32, i32), MbarrierError> {
        let arrive = |count: u32| {
            if count == 0 || count > COUNT_LIMIT {
                return Err(MbarrierError::Count);
            }
            self.pending.checked_sub(count).ok_or(MbarrierError::TooManyArrivals { pending: self.pending })
        };
        match what {
            Contribution::Arrived(count) => Ok((self.expected, arrive(count)?, self.tx_count)),
            Contribution::Dropped(count) => Ok((self.expected.saturating_sub(count), arrive(count)?, self.tx_count)),
            Contribution::ExpectTx(bytes) => Ok((self.expected, self.pending, self.add_bytes(i64::from(bytes))?)),
            Contribution::CompleteTx(bytes) => Ok((self.expected, self.pending, self.add_bytes(-i64::from(bytes))?)),
        }
    }

    fn add_bytes(&self, more: i64) -> Result<i32, MbarrierError> {
        let bytes = i64::from(self.tx_count) + more;
        match i32::try_from(bytes) {
            Ok(fits) if fits.unsigned_abs() <= COUNT_LIMIT => Ok(fits),
            _ => Err(MbarrierError::TooManyBytes { bytes }),
        }
    }

    fn record(&mut self, operation: MbarrierOperation) {
        assert!(self.operations.last().is_none_or(|last| last.tick <= operation.tick), "what happens comes before what has happened");
        assert!(!operation.lanes.is_empty(), "no lane does something");
        if self.operations.last_mut().is_some_and(|last| last.merge(operation)) {
            return;
        }
        if self.operations.len() == OPERATIONS_MAX {
            self.operations.remove(0);
            self.omitted += 1;
        }
        self.operations.push(operation);
    }

    fn end_phase(&mut self, last: MbarrierOperation) {
        assert_eq!(self.pending, 0, "a phase ends that misses arrivals");
        assert_eq!(self.tx_count, 0, "a phase ends that misses bytes");
        if self.history.len() == PHASES_MAX {
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
    /// Hashes the state that affects the run.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { expected: _, pending: _, tx_count: _, phase, init: _, operations: _, omitted: _, history: _ } = self;
        (self.word(), phase).hash(state);
    }
}

impl MbarrierError {
    /// The kind of fault, and its description for the mbarrier with the name `object`.
    pub fn describe(self, object: &str) -> (TrapKind, String) {
        match self {
            MbarrierError::TooManyArrivals { pending } => {
                let wants = if pending == 0 { "no more arrivals".to_string() } else { format!("only {pending} more arrivals") };
                (TrapKind::MbarrierOverflow, format!("{object} wants {wants} in this phase"))
            }
            MbarrierError::TooManyBytes { bytes } => (
                TrapKind::MbarrierOverflow,
                format!("{object} would wait for {bytes} bytes; at most {COUNT_LIMIT} either way can be outstanding"),
            ),
            MbarrierError::Count => (TrapKind::MbarrierOverflow, format!("a count for {object} is from 1 to {COUNT_LIMIT}")),
            MbarrierError::Completes => {
                (TrapKind::MbarrierOverflow, format!("with .noComplete the phase of {object} must not end, and it would"))
            }
            MbarrierError::Uninitialized => (TrapKind::MbarrierUninitialized, format!("no mbarrier.init was executed for {object}")),
            MbarrierError::Invalidated(by) => (TrapKind::MbarrierInvalidated, format!("{object} was invalidated at time {}", by.tick)),
            MbarrierError::Overwritten { word } => {
                (TrapKind::MbarrierOverlap, format!("the bytes of {object} were overwritten; they now read {word:#018x}"))
            }
            MbarrierError::BlockExited => (TrapKind::ClusterExited, format!("the block with {object} has exited")),
        }
    }
}

/// The pending arrival count of the state `word` (`mbarrier.pending_count`).
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

    const POINT: IssuePoint = IssuePoint { pc: Pc(0), tick: Tick::START, block: [0; 3], warp: crate::base::WarpId::new(0) };

    fn operation(what: Contribution) -> MbarrierOperation {
        MbarrierOperation { what, point: POINT, lanes: LaneMask::of(0), copy: None, tick: Tick(7) }
    }

    #[test]
    fn a_phase_ends_with_the_last_arrival_and_the_last_byte() {
        let mut barrier = Mbarrier::new(2, POINT);
        assert_eq!(barrier.apply(operation(Contribution::ExpectTx(32))), Ok(false));
        assert_eq!(barrier.apply(operation(Contribution::Arrived(2))), Ok(false));
        assert_eq!(barrier.apply(operation(Contribution::Arrived(1))), Err(MbarrierError::TooManyArrivals { pending: 0 }));
        assert_eq!(barrier.apply(operation(Contribution::CompleteTx(16))), Ok(false));
        assert_eq!(barrier.apply(operation(Contribution::CompleteTx(16))), Ok(true));
        assert_eq!((barrier.phase, barrier.parity(), barrier.pending, barrier.tx_count), (1, 1, 2, 0));
        assert_eq!(barrier.history[0].last.what, Contribution::CompleteTx(16));
    }

    #[test]
    fn bytes_may_come_before_they_are_expected() {
        let mut barrier = Mbarrier::new(1, POINT);
        assert_eq!(barrier.apply(operation(Contribution::CompleteTx(16))), Ok(false));
        assert_eq!(barrier.tx_count, -16);
        // Expecting them does not complete a phase with a pending arrival.
        assert_eq!(barrier.apply(operation(Contribution::ExpectTx(16))), Ok(false));
        assert_eq!(barrier.apply(operation(Contribution::Arrived(1))), Ok(true));
    }

    #[test]
    fn a_thread_that_drops_out_is_not_waited_for_again() {
        let mut barrier = Mbarrier::new(2, POINT);
        assert_eq!(barrier.apply(operation(Contribution::Dropped(1))), Ok(false));
        assert_eq!(barrier.apply(operation(Contribution::Arrived(1))), Ok(true));
        assert_eq!((barrier.expected, barrier.pending), (1, 1));
    }

    #[test]
    fn counts_have_limits() {
        let mut barrier = Mbarrier::new(COUNT_LIMIT, POINT);
        assert_eq!(barrier.apply(operation(Contribution::Arrived(0))), Err(MbarrierError::Count));
        assert_eq!(barrier.apply(operation(Contribution::ExpectTx(COUNT_LIMIT))), Ok(false));
        assert_eq!(barrier.apply(operation(Contribution::ExpectTx(1))), Err(MbarrierError::TooManyBytes { bytes: 1 << 20 }));
        let word = barrier.word();
        assert_eq!((pending_of(word), parity_of(word)), (COUNT_LIMIT, 0));
    }
}
