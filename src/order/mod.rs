//! Which operations of a run happen before which, by the PTX memory model (PTX ISA, "Memory Consistency Model").
//!
//! [`HappensBefore`] is plain data: what every thread has acquired, as vector clocks whose counter is the time of the run. Synchronization
//! of threads updates it, and it answers whether an operation happens before the next operation of a thread. It holds no findings and no
//! text. The synchronizations:
//!
//! | synchronization | file |
//! | --- | --- |
//! | barriers of the block, the warp and the cluster | `barriers`, `cluster` |
//! | fences, also between proxies | `fences` |
//! | release and acquire patterns through memory, with their scopes | `patterns`, `locations`, `location_table`, `lanewise` |
//! | asynchronous operations that are waited for in groups | `groups` |
//! | mbarriers, and the copies that complete on them | `objects`, `object` |
//!
//! Asynchronous copies are threads of their own, which know what their issuer knew and are known to those that wait for them. The
//! structure is that of Flanagan and Freund, "FastTrack" (2009): an epoch is a tick, and clocks are shared and layered ([`clock`],
//! [`threads`]), so that a barrier of a whole block is one number.

mod barriers;
mod clock;
mod cluster;
mod fences;
mod groups;
mod lanewise;
mod location_table;
mod locations;
mod object;
mod objects;
mod operation;
mod patterns;
mod state;
mod threads;

pub use clock::{ProxyKind, VectorClock};
pub use locations::{ScFence, scope_of};
pub use object::ObjectKey;
pub use objects::ObjectUse;
pub use operation::{Actor, Agent, AsyncKind, Operation};
pub use patterns::Strong;
pub use state::HappensBefore;
pub use threads::{Block, Queue, Warp};
