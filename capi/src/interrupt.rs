//! Flags of callers that end runs.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use ptxdbg::api::Run;

use crate::error::{Failure, Status};

/// The flag by which a caller ends runs.
#[derive(Clone, Copy)]
pub struct Flag(*const c_int);

impl Flag {
    /// No flag: runs go on to their end.
    pub const NONE: Self = Self(ptr::null());

    /// The flag at `flag`.
    ///
    /// # Safety
    /// `flag` is null, or points to an int that lives as long as the flag is used.
    pub unsafe fn new(flag: *const c_int) -> Self {
        Self(flag)
    }

    /// True if the caller has set it.
    pub fn is_set(self) -> bool {
        // SAFETY: `new` was given an int that is alive, and a C int is an aligned i32.
        !self.0.is_null() && unsafe { AtomicI32::from_ptr(self.0.cast_mut()) }.load(Ordering::Relaxed) != 0
    }
}

/// `run`, or a failure if it was interrupted.
pub fn uninterrupted(run: Run) -> Result<Run, Failure> {
    if run.summary.interrupted {
        let message = "the run was interrupted, and has changed no memory".to_string();
        return Err(Failure { status: Status::Interrupted, message });
    }
    Ok(run)
}
