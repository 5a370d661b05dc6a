//! What a call came to: a status, and for the last one that failed in a thread a text.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::text::c_text;
use ptxdbg::api;

/// `ptxdbg_status`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was done.
    Ok = 0,
    /// A null pointer, a text that is not UTF-8, an unknown word, a number out of range.
    InvalidArgument = 1,
    /// The PTX holds mistakes.
    InvalidModule = 2,
    /// There is no such kernel, or the launch does not fit it.
    InvalidLaunch = 3,
    /// A reason outside the kernel.
    RunFailed = 4,
    /// A defect of the library.
    InternalError = 5,
}

/// Why a call fails.
#[derive(Debug)]
pub struct Failure {
    /// What it returns.
    pub status: Status,
    /// In one line.
    pub message: String,
}

impl Failure {
    /// An argument that cannot be used.
    pub fn argument(message: impl Into<String>) -> Self {
        Self { status: Status::InvalidArgument, message: message.into() }
    }

    /// A launch, or a module, that is refused with `status`; another error is a reason outside the kernel.
    pub fn refused(status: Status, error: &api::Error) -> Self {
        let status = match error {
            api::Error::File(_) | api::Error::Rejected(_) | api::Error::NoCase { .. } => status,
            api::Error::Run(_) | api::Error::Start(_) => Status::RunFailed,
        };
        Self { status, message: error.to_string() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Keeps why a call failed, and returns its status.
fn keep(failure: &Failure) -> Status {
    LAST.with(|last| *last.borrow_mut() = c_text(&failure.message));
    failure.status
}

/// Calls `act`; a panic is a status as well.
pub fn guarded(act: impl FnOnce() -> Result<(), Failure>) -> Status {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => keep(&failure),
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
            let message = format!("a defect of ptxdbg: {}", said.unwrap_or_default());
            keep(&Failure { status: Status::InternalError, message })
        }
    }
}

/// `ptxdbg_error`
#[unsafe(no_mangle)]
pub extern "C" fn ptxdbg_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
