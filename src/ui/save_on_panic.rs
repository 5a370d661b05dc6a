//! Saves the session to a file if ptxdbg panics.
//!
//! A panic unwinds to here, after the terminal was restored. The session file contains the launch, inputs, breakpoints and the time, from
//! which the failure can be reproduced.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Mutex;

use super::console::locked;
use super::output::print_error;
use crate::base::save::{cause, save};
use crate::debug::session::Session;

/// The maximum number of files of failed sessions in one folder.
const FILES_MAX: usize = 100;

/// Runs a front end of `session`. If it panics, saves the session to a new file in the current folder, writes the name of the file to
/// standard error, and continues the panic.
pub fn save_on_panic<R>(session: &Mutex<Session>, run: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|failure| {
        let outcome = match save_session(session) {
            Ok(file) => format!("the session is saved in {0}: 'load session {0}' goes there again", file.display()),
            Err(why) => format!("the session cannot be saved: {why}"),
        };
        print_error(&format!("ptxdbg: this is a bug of ptxdbg, not of the kernel; the terminal is as it was, and {outcome}\n"));
        resume_unwind(failure)
    })
}

/// Saves the session. The panic may have left it inconsistent: a second panic while it is saved becomes an error message.
fn save_session(session: &Mutex<Session>) -> Result<PathBuf, String> {
    let text = catch_unwind(AssertUnwindSafe(|| locked(session).saved().to_text())).map_err(|_| "it is not whole any more".to_string())?;
    let names = (1..=FILES_MAX).map(|number| PathBuf::from(format!("ptxdbg-failed-{number}.ptxdbg")));
    let file = names.into_iter().find(|name| !name.exists()).ok_or("there are too many files of failed sessions here")?;
    save(&file, &[text.as_bytes()]).map_err(|error| format!("{}: {}", file.display(), cause(&error)))?;
    Ok(file)
}
