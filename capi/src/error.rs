//! Results of calls: a status, and a text for the last failure of a thread.

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
    /// Success.
    Ok = 0,
    /// A null pointer, a text that is not UTF-8, an unknown name, a number out of range.
    InvalidArgument = 1,
    /// The PTX has errors.
    InvalidModule = 2,
    /// There is no such kernel or case, or the launch does not match the kernel.
    InvalidLaunch = 3,
    /// A reason outside the kernel.
    RunFailed = 4,
    /// A defect of the library.
    InternalError = 5,
    /// A file that cannot be read or written, or is of another kind.
    InvalidFile = 6,
    /// A line that a session cannot execute.
    InvalidCommand = 7,
    /// A run that the caller's flag has ended.
    Interrupted = 8,
}

/// The failure of a call.
#[derive(Debug)]
pub struct Failure {
    /// The returned status.
    pub status: Status,
    /// A line, or one for each mistake.
    pub message: String,
}

impl Failure {
    /// An argument that cannot be used.
    pub fn argument(message: impl Into<String>) -> Self {
        Self { status: Status::InvalidArgument, message: message.into() }
    }

    /// The failure with `status` for rejected input; other errors have a reason outside the kernel.
    pub fn rejected(status: Status, error: &api::Error) -> Self {
        let (status, message) = match error {
            api::Error::Rejected(problems) => (status, problems.iter().map(line).collect::<Vec<_>>().join("\n")),
            api::Error::File(_) | api::Error::NoCase { .. } => (status, error.to_string()),
            api::Error::Run(_) | api::Error::Start(_) => (Status::RunFailed, error.to_string()),
        };
        Self { status, message }
    }

    /// [`Self::rejected`] for input from a file: if the file is unusable, the status is `InvalidFile`.
    pub fn of_file(status: Status, error: &api::Error) -> Self {
        match error {
            api::Error::File(_) => Self::rejected(Status::InvalidFile, error),
            api::Error::Rejected(_) | api::Error::NoCase { .. } | api::Error::Run(_) | api::Error::Start(_) => {
                Self::rejected(status, error)
            }
        }
    }
}

/// A mistake and its fix, in one line.
pub fn line(problem: &api::Problem) -> String {
    let help = problem.help.as_ref().map_or(String::new(), |help| format!("; help: {help}"));
    format!("{problem}{help}")
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Stores the message of a failure for [`ptxdbg_error`], and returns its status.
fn store(failure: &Failure) -> Status {
    LAST.with(|last| *last.borrow_mut() = c_text(&failure.message));
    failure.status
}

/// Calls `act`; a panic becomes a status.
pub fn guarded(act: impl FnOnce() -> Result<(), Failure>) -> Status {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => store(&failure),
        Err(panic) => store(&defect(&*panic)),
    }
}

/// The result of `get` for a handle, for functions without a status; `None` after a panic.
pub fn guarded_get<T, R>(get: impl FnOnce(&T) -> R, handle: &T) -> Option<R> {
    catch_unwind(AssertUnwindSafe(|| get(handle))).map_err(|panic| store(&defect(&*panic))).ok()
}

/// The failure for a panic.
fn defect(panic: &(dyn Any + Send)) -> Failure {
    let said = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    Failure { status: Status::InternalError, message: format!("a defect of ptxdbg: {}", said.unwrap_or_default()) }
}

/// `ptxdbg_error`
#[unsafe(no_mangle)]
pub extern "C" fn ptxdbg_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}
