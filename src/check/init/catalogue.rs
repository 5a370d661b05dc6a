//! Reads before any write: the mistakes that this checker finds.

use crate::check::catalogue::FindingId;

/// Memory is read before it is written.
pub const MEMORY_UNINITIALIZED: FindingId = FindingId::error("memory.uninitialized", "memory is read before it is written");
/// A register that was never written affects a result, an address or a branch.
pub const REGISTER_UNINITIALIZED: FindingId =
    FindingId::error("register.uninitialized", "a register that was never written affects a result, an address or a branch");

/// All of them.
pub(super) const FINDINGS: &[FindingId] = &[MEMORY_UNINITIALIZED, REGISTER_UNINITIALIZED];
