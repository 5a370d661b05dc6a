//! Flags of callers that end runs.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use ptxdbg::api::Run;

use crate::error::{Failure, Status};

thread_local! {
    /// The flag of the run of this thread; null if there is none.
    static FLAG: Cell<*const c_int> = const { Cell::new(ptr::null()) };
}

/// Sets back the flag of the thread at the end of a run.
struct Watched(*const c_int);

impl Drop for Watched {
    fn drop(&mut self) {
        FLAG.set(self.0);
    }
}

/// True if the flag of the run of this thread is set.
pub fn is_interrupted() -> bool {
    let flag = FLAG.get();
    // SAFETY: `watching` was given a flag that lives as long as its run, and a C int is an aligned i32.
    !flag.is_null() && unsafe { AtomicI32::from_ptr(flag.cast_mut()) }.load(Ordering::Relaxed) != 0
}

/// The result of `run` while the flag at `flag` is watched by [`is_interrupted`]; a failure if it was interrupted.
///
/// # Safety
/// `flag` is null, or points to an int that lives as long as the call.
pub unsafe fn watching(flag: *const c_int, run: impl FnOnce() -> Result<Run, Failure>) -> Result<Run, Failure> {
    let before = Watched(FLAG.replace(flag));
    let run = run();
    drop(before);
    match run? {
        run if run.summary.interrupted => {
            let message = "the run was interrupted, and has changed no memory".to_string();
            Err(Failure { status: Status::Interrupted, message })
        }
        run => Ok(run),
    }
}
