//! Accesses to memory of which it is known what was written.

use super::bits::Bytes;
use crate::machine::{AccessEvent, AccessKind, LaneMask};

/// The most bytes around the addresses of an access that are looked at as a whole: 64 words of bits.
const MAX_SPAN: u64 = 4096;

/// True if an access needs no finding: it only writes, or all bytes that it reads were written.
#[inline]
pub(super) fn needs_no_finding(written: &Bytes, base: u64, event: &AccessEvent<'_>) -> bool {
    if event.kind == AccessKind::Write {
        return true;
    }
    let (low, high) = (event.min, event.max);
    let bytes = u64::from(event.bytes);
    // In most cases the whole range around the addresses is written: one check for all lanes.
    low >= base && written.are_known(low - base, high - low + bytes)
        || high - low <= MAX_SPAN && written.contains(low - base, high - low + bytes)
        || event.lanes.iter().all(|lane| written.contains(event.addresses[lane] - base, bytes))
}

/// Adds the bytes of an access.
#[inline]
pub(super) fn mark_written(written: &mut Bytes, base: u64, event: &AccessEvent<'_>) {
    let (first, bytes) = (event.addresses[0], u64::from(event.bytes));
    let misplaced =
        event.addresses.iter().zip(0..).fold(0, |misplaced, (address, lane)| misplaced | (address.wrapping_sub(first) ^ (lane * bytes)));
    if misplaced == 0 && event.lanes == LaneMask::ALL {
        return written.add(first - base, 32 * bytes);
    }
    event.lanes.iter().for_each(|lane| written.add(event.addresses[lane] - base, bytes));
}
