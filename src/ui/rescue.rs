//! What is left of a session when the program itself fails: its file.
//!
//! A failed assertion unwinds to here, past all that gives the terminal back. The session file holds launch, inputs, breakpoints and the
//! time, from which the failure can be made to happen again.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Mutex;

use super::console::locked;
use super::output::say_error;
use crate::base::save::{cause, save};
use crate::debug::session::Session;

/// Files of failed sessions in one folder: no more than this.
const FILES_MAX: usize = 100;

/// Runs a front end of `session`. Where it fails, the session is saved to a file of its own in the current folder, and standard error
/// says so, after the message of the failure; then the failure goes on.
pub fn rescued<R>(session: &Mutex<Session>, run: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|failure| {
        let kept = match kept(session) {
            Ok(file) => format!("the session is saved in {0}: 'load session {0}' goes there again", file.display()),
            Err(why) => format!("the session cannot be saved: {why}"),
        };
        say_error(&format!("ptxdbg: this is a bug of ptxdbg, not of the kernel; the terminal is as it was, and {kept}\n"));
        resume_unwind(failure)
    })
}

/// Saves the session, which may have been left in the middle of a change: that it cannot be saved is no second failure.
fn kept(session: &Mutex<Session>) -> Result<PathBuf, String> {
    let text = catch_unwind(AssertUnwindSafe(|| locked(session).saved().to_text())).map_err(|_| "it is not whole any more".to_string())?;
    let names = (1..=FILES_MAX).map(|number| PathBuf::from(format!("ptxdbg-failed-{number}.ptxdbg")));
    let file = names.into_iter().find(|name| !name.exists()).ok_or("there are too many files of failed sessions here")?;
    save(&file, &[text.as_bytes()]).map_err(|error| format!("{}: {}", file.display(), cause(&error)))?;
    Ok(file)
}
