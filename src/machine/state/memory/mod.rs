//! Memory: global and constant allocations, shared memory of blocks, local memory of threads.
//!
//! All memory is copy on write ([`pages`]), so snapshots share unchanged pages. An access takes three steps: the properties of the lane
//! addresses are computed for the whole warp ([`lane_access`]), the allocation is found and checked, and then bytes are read or written,
//! page by page. A faulting access therefore changes nothing.

mod lane_access;
mod local;
mod pages;
mod region;
mod unknown;

pub use lane_access::{LaneAccess, gather, scatter};
pub use local::LocalMemory;
pub use pages::{PAGE_BYTES, Pages};
pub use region::{Allocation, ORIGIN_ALIGN, OutOfMemory, Region};
