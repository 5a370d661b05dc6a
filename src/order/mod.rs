//! The happens-before relation of a run by the PTX memory model (PTX ISA, "Memory Consistency Model").
//!
//! [`HappensBefore`] is plain data: the vector clock of every thread, whose counter is the tick of the run. Synchronization of threads
//! updates it, and it answers whether an operation happens before the next operation of a thread. It holds no findings and no text. The
//! synchronizations:
//!
//! | synchronization | file |
//! | --- | --- |
//! | barriers of the block, the warp and the cluster | `barriers`, `cluster` |
//! | fences, also between proxies | `fences` |
//! | release and acquire patterns through memory, with their scopes | `patterns`, `locations`, `location_table`, `lanewise` |
//! | asynchronous operations that are waited for in groups | `groups` |
//! | mbarriers, and the copies that complete on them | `mbarriers`, `mbarrier_state` |
//!
//! An asynchronous copy is a thread of its own: it begins with the clock of its issuer, and threads that wait for it acquire its clock. The
//! structure is that of Flanagan and Freund, "FastTrack" (2009): an epoch is a tick. Clocks are shared and layered ([`clock`],
//! [`threads`]), so that a barrier of a whole block is one number.

mod barriers;
mod clock;
mod cluster;
mod fences;
mod groups;
mod lane_state;
mod lanewise;
mod location_table;
mod locations;
mod mbarrier_state;
mod mbarriers;
mod operation;
mod patterns;
mod state;
mod threads;

pub use clock::{ProxyKind, VectorClock};
pub use locations::{ScFenceCondition, scope_of};
pub use mbarrier_state::MbarrierKey;
pub use mbarriers::MbarrierSemantics;
pub use operation::{Actor, Agent, AsyncKind, Operation};
pub use patterns::StrongAccess;
pub use state::HappensBefore;
pub use threads::{Block, GroupKind, Warp};
