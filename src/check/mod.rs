//! Checkers: observers of a run that find mistakes which the machine alone does not stumble over.
//!
//! | checker | finds | folder |
//! | --- | --- | --- |
//! | race | unordered conflicting accesses, by happens-before as the PTX memory model defines it | `race` |
//! | init | reads of memory and uses of registers before any write | `init` |
//! | sync | barriers, masks, mbarriers, groups of copies | `sync` |
//! | neighbour | addresses computed from one variable that reach another one | `neighbour` |
//! | memory | wrong addresses: the machine itself stops there, so it is always on | `faults` |
//!
//! Each has a row of [`CHECKERS`], which lists its mistakes and, but for memory, makes a [`Checker`]. They know of a run what its events
//! say, and what the machine says of a launch before its first instruction and after its last. [`Checkers`] holds those that are switched
//! on and hands events to them. What they report does not depend on the order in which warps ran or copies ended, as far as the kernel's
//! own decisions do not.

#![warn(clippy::wildcard_enum_match_arm)]

mod catalogue;
mod checker;
mod checkers;
mod checks;
mod contention;
mod deferred;
pub mod faults;
mod finding;
pub mod init;
mod lane_text;
pub mod neighbour;
pub mod race;
mod reachability;
mod registry;
mod remedy;
mod reporter;
mod same_cause;
mod sections;
mod statement;
pub mod sync;
mod touched;

pub use catalogue::FindingId;
pub use checker::{Checker, CheckerRow, MakeChecker};
pub use checkers::Checkers;
pub use checks::Checks;
pub use contention::Contention;
pub use finding::{Distance, Finding, Findings, Link, MemoryRange, Pair, Side, SideAction};
pub use race::{Body, Language, SynchronizationPath, Term};
pub use registry::{CHECKERS, CheckerId, findings, listed};
pub use remedy::{BarrierLevel, Candidate, CopyKind, Position, Remedy};
pub use reporter::Reporter;
pub use same_cause::SameCause;
pub use sections::Reversible;
pub use touched::Touched;
