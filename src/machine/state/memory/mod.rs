//! Memory: global and constant allocations, shared memory of blocks, local memory of threads.
//!
//! Everything is copy on write underneath ([`pages`]), so a snapshot shares what has not changed. An access is served in three
//! steps: the lane addresses are summarised once for the whole warp ([`lane_access`]), the piece of memory they fall into is found
//! and checked, and only then is anything read or written, page by page. A faulting access therefore changes nothing.

mod lane_access;
mod local;
mod pages;
mod region;
mod unknown;

pub use lane_access::{LaneAccess, gather, scatter};
pub use local::LocalMemory;
pub use pages::{PAGE_BYTES, Pages};
pub use region::{Allocation, OutOfMemory, Region};
