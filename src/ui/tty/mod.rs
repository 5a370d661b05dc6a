//! The terminal and its keys, for the prompt alone and for the screen: taken while lines are read, and given back however the program ends.
//!
//! [`keyboard`] stands between the terminal and standard input. [`hold`] changes the terminal's modes and puts them back: where the program
//! leaves, panics, is stopped, or is ended by a signal that can be handled. What cannot be handled (SIGKILL, an abort, a stack overflow) is
//! the affair of [`restorer`], a process of its own.

pub mod hold;
pub mod keyboard;
pub mod restorer;
