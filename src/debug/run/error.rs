//! Errors of a run that do not come from the kernel.

use crate::launch::DataError;
use crate::machine::{NotFree, NotMapped, OutOfMemory};

/// An error that ends a run and does not come from the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A data file was changed or removed.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The buffers do not fit the address space.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The initial contents of a buffer exceed the memory limit.
    #[error("buffer '{name}' is filled with {bytes} of data: more simulated state than {limit}, the limit (--memory-limit)")]
    MemoryLimit {
        /// The buffer.
        name: String,
        /// The size of its contents, formatted.
        bytes: String,
        /// The limit, formatted.
        limit: String,
    },
    /// A case without launches.
    #[error("the launch file describes no launch")]
    NoLaunch,
    /// What the shards of an exploration have reported cannot be put together: in one line.
    #[error("{0}")]
    Shards(String),
    /// Memory is requested at an address that is in use.
    #[error(transparent)]
    Taken(#[from] NotFree),
    /// A buffer is not at the address where it was allocated.
    #[error(transparent)]
    NotMapped(#[from] NotMapped),
}
