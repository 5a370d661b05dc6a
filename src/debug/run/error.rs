//! Why a run cannot go on for a reason outside the kernel.

use crate::launch::DataError;
use crate::machine::{NotMapped, OutOfMemory, Taken};

/// A run that cannot go on for a reason outside the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A data file was changed or removed.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The buffers do not fit the address space.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// What a buffer holds at the start does not fit the limit.
    #[error("buffer '{name}' is filled with {bytes} of data: more simulated state than {limit}, the limit (--memory-limit)")]
    MemoryLimit {
        /// The buffer.
        name: String,
        /// What it is filled with, in words.
        bytes: String,
        /// The limit, in words.
        limit: String,
    },
    /// A case without launches.
    #[error("the launch file describes no launch")]
    NoLaunch,
    /// Memory is asked for at an address where something else is.
    #[error(transparent)]
    Taken(#[from] Taken),
    /// A buffer is not where it was made.
    #[error(transparent)]
    NotMapped(#[from] NotMapped),
}
