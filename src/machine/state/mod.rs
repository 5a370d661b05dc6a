//! The data of a machine: the state in a snapshot, and the tables of a launch.

pub(super) mod barrier;
pub(super) mod block;
pub(super) mod clocks;
pub(super) mod coverage;
pub(super) mod cursor;
pub(super) mod definedness;
pub(super) mod device;
pub(super) mod digest;
pub(super) mod footprint;
pub(super) mod groups;
pub(super) mod in_flight;
pub(super) mod inspect;
pub(super) mod issue_point;
pub(super) mod launch;
pub(super) mod livelock;
pub(super) mod machine;
pub(super) mod mbarrier;
pub(super) mod memory;
pub(super) mod page_source;
pub(super) mod plain_groups;
pub(super) mod prepared;
pub(super) mod priority;
pub(super) mod read_modify_write;
pub(super) mod registers;
pub(super) mod runtime;
pub(super) mod shared;
pub(super) mod simt_stack;
pub(super) mod special;
pub(super) mod tables;
pub(super) mod trap;
pub(super) mod wait_reason;
pub(super) mod waits;
pub(super) mod warp;

pub(super) use crate::base::lanes;
