//! Sessions.

use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use ptxdbg::api::{Interrupter, Prompt, PromptError};

use crate::error::{Failure, Status, guarded};
use crate::handle::{create, free, get_or, required};
use crate::options::COptions;
use crate::plan::{CPlan, not_run};
use crate::text::{c_text, required_text};

/// `ptxdbg_session`
pub struct CSession {
    prompt: Mutex<Prompt>,
    interrupter: Interrupter,
}

/// Asserts that handles can be used from any thread.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<CSession>();
    is_shared::<CPlan>();
    is_shared::<crate::module::CModule>();
    is_shared::<crate::result::CResult>();
};

impl CSession {
    /// The result of `get`, after the current command.
    fn get<R>(&self, get: impl FnOnce(&Prompt) -> R) -> R {
        get(&self.prompt.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// `ptxdbg_plan_session`
///
/// # Safety
/// `plan` is a plan, `options` null or as the header says, `session` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_session(
    plan: *const CPlan,
    number: usize,
    options: *const COptions,
    session: *mut *mut CSession,
) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let plan = unsafe { required(plan, "the plan")? };
        // SAFETY: the caller says so.
        let options = unsafe { plan.options(options)? };
        let prompt = plan.planned.clone().prompt(number, &options).map_err(not_run)?;
        let interrupter = prompt.interrupter();
        Ok(CSession { prompt: Mutex::new(prompt), interrupter })
    };
    // SAFETY: the caller says so.
    unsafe { create(session, make) }
}

/// `ptxdbg_session_free`
///
/// # Safety
/// `session` is null, or came from [`ptxdbg_plan_session`] and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_session_free(session: *mut CSession) {
    // SAFETY: the caller says so.
    unsafe { free(session) }
}

/// `ptxdbg_session_execute`
///
/// # Safety
/// `session` is a session, `lines` a text, `answer` null or points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_session_execute(session: *mut CSession, lines: *const c_char, answer: *mut *mut c_char) -> Status {
    guarded(|| {
        if !answer.is_null() {
            // SAFETY: the caller says so.
            unsafe { *answer = ptr::null_mut() };
        }
        // SAFETY: the caller says so.
        let (session, lines) = unsafe { (required(session, "the session")?, required_text(lines, "the command")?) };
        let broken = || Failure { status: Status::InternalError, message: "the session is of no use after a defect of ptxdbg".to_string() };
        let done = session.prompt.lock().map_err(|_| broken())?.execute(lines);
        let (answered, failure) = match done {
            Ok(answered) => (answered, None),
            Err(PromptError { message, answered }) => (answered, Some(Failure { status: Status::InvalidCommand, message })),
        };
        if !answer.is_null() {
            // SAFETY: the caller says so.
            unsafe { *answer = c_text(&answered).into_raw() };
        }
        failure.map_or(Ok(()), Err)
    })
}

/// `ptxdbg_session_interrupt`
///
/// # Safety
/// `session` is a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_session_interrupt(session: *mut CSession) -> Status {
    guarded(|| {
        // SAFETY: the caller says so.
        unsafe { required(session, "the session")? }.interrupter.interrupt();
        Ok(())
    })
}

/// `ptxdbg_session_is_wrong`
///
/// # Safety
/// `session` is null or a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_session_is_wrong(session: *mut CSession) -> c_int {
    // SAFETY: the caller says so.
    unsafe { get_or(session, 0, |session| c_int::from(session.get(Prompt::is_wrong))) }
}

/// `ptxdbg_session_has_ended`
///
/// # Safety
/// `session` is null or a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_session_has_ended(session: *mut CSession) -> c_int {
    // SAFETY: the caller says so.
    unsafe { get_or(session, 0, |session| c_int::from(session.get(Prompt::has_ended))) }
}
