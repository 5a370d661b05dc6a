//! Checkers: observers of a run that find mistakes which are no traps of the machine.
//!
//! | checker | finds | folder |
//! | --- | --- | --- |
//! | race | unordered conflicting accesses, by happens-before as the PTX memory model defines it | `race` |
//! | init | reads of memory and uses of registers before any write | `init` |
//! | sync | barriers, masks, mbarriers, groups of copies | `sync` |
//! | neighbour | addresses computed from one variable that reach another one | `neighbour` |
//! | memory | wrong addresses: the machine itself stops there, so it is always on | `faults` |
//!
//! Each has a row of [`CHECKERS`], which lists its mistakes and, except for memory, makes a [`Checker`]. The input of a checker is the
//! events of a run, and the state of a launch before its first instruction and after its last. [`Checkers`] has those that are switched on
//! and passes events to them. The findings do not depend on the interleaving of warps and copies, unless the control flow of the kernel
//! does.

#![warn(clippy::wildcard_enum_match_arm)]

mod advice_text;
mod base_bytes;
mod call_sites;
mod catalogue;
mod cause_comparison;
mod checker;
mod checkers;
mod checks;
mod conflict_bytes;
mod deferred;
pub mod faults;
mod finding;
mod free_reads;
pub mod init;
mod lane_text;
pub mod neighbour;
pub mod race;
mod reachability;
mod registry;
mod remedy;
mod reporter;
mod reversible_sections;
mod statement;
pub mod sync;
mod undefined_operands;
mod unordered_accesses;

pub use advice_text::{AdvicePlace, AdviceText};
pub use base_bytes::read_only_buffers;
pub use call_sites::{CommonPlaces, common_places};
pub use catalogue::FindingId;
pub use cause_comparison::{CauseComparison, cause_key};
pub use checker::{Checker, CheckerRow, MakeChecker};
pub use checkers::Checkers;
pub use checks::Checks;
pub use conflict_bytes::ConflictBytes;
pub use finding::{Finding, Findings, MemoryRange, Pair, PathStep, Side, SideAction, ThreadDistance};
pub use race::{Construct, FunctionAnalysis, Language, SynchronizationPath};
pub use registry::{CHECKERS, CheckerId, findings, listed};
pub use remedy::{BarrierLevel, Candidate, CopyKind, Position, Remedy};
pub use reporter::Reporter;
pub use reversible_sections::ReversibleSections;
pub use unordered_accesses::UnorderedAccesses;
