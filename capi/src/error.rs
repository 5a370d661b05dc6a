//! What a call came to: a status, and for the last one that failed in a thread a text.

use std::any::Any;
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
    /// There is no such kernel or case, or the launch does not fit the kernel.
    InvalidLaunch = 3,
    /// A reason outside the kernel.
    RunFailed = 4,
    /// A defect of the library.
    InternalError = 5,
    /// A file that cannot be read or written, or is of another kind.
    InvalidFile = 6,
    /// A line that a session cannot execute.
    InvalidCommand = 7,
}

/// Why a call fails.
#[derive(Debug)]
pub struct Failure {
    /// What it returns.
    pub status: Status,
    /// A line, or one for each mistake.
    pub message: String,
}

impl Failure {
    /// An argument that cannot be used.
    pub fn argument(message: impl Into<String>) -> Self {
        Self { status: Status::InvalidArgument, message: message.into() }
    }

    /// What is refused with `status`; another error is a reason outside the kernel.
    pub fn refused(status: Status, error: &api::Error) -> Self {
        let (status, message) = match error {
            api::Error::Rejected(problems) => (status, problems.iter().map(line).collect::<Vec<_>>().join("\n")),
            api::Error::File(_) | api::Error::NoCase { .. } => (status, error.to_string()),
            api::Error::Run(_) | api::Error::Start(_) => (Status::RunFailed, error.to_string()),
        };
        Self { status, message }
    }

    /// The same of what was read from a file: where that cannot be used at all, it is the file that is refused.
    pub fn of_file(status: Status, error: &api::Error) -> Self {
        match error {
            api::Error::File(_) => Self::refused(Status::InvalidFile, error),
            api::Error::Rejected(_) | api::Error::NoCase { .. } | api::Error::Run(_) | api::Error::Start(_) => Self::refused(status, error),
        }
    }
}

/// A mistake and what would be right, in one line.
pub fn line(problem: &api::Problem) -> String {
    let help = problem.help.as_ref().map_or(String::new(), |help| format!("; help: {help}"));
    format!("{problem}{help}")
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
        Err(panic) => keep(&defect(&*panic)),
    }
}

/// What `look` sees in a handle, for functions that have no status; none of a panic.
pub fn quietly<T, R>(look: impl FnOnce(&T) -> R, handle: &T) -> Option<R> {
    catch_unwind(AssertUnwindSafe(|| look(handle))).map_err(|panic| keep(&defect(&*panic))).ok()
}

/// A panic, in words.
fn defect(panic: &(dyn Any + Send)) -> Failure {
    let said = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    Failure { status: Status::InternalError, message: format!("a defect of ptxdbg: {}", said.unwrap_or_default()) }
}

/// `ptxdbg_error`
#[unsafe(no_mangle)]
pub extern "C" fn ptxdbg_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
