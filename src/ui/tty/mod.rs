//! The terminal and its keys, for the plain prompt and the full screen.
//!
//! [`keyboard`] translates keys between the terminal and standard input. [`guard`] changes the terminal modes and restores them: at the end
//! of the program, in a panic, when it is stopped, or when it is ended by a signal that can be handled. For the other cases (SIGKILL, an
//! abort, a stack overflow) [`restorer`] is a separate process.

pub mod guard;
pub mod keyboard;
pub mod restorer;
