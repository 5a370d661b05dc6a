//! The engine between the core and the front ends: it opens what the command line names, runs it, judges it, and answers in plain
//! data. Nothing here prints.
//!
//! Opening and verifying: [`open`](open::open) turns files into a program and a plan of launches; [`run_case`] runs the launches of
//! one case in order on the same memory; [`verify_case`] compares what they leave behind and finds who wrote a wrong element;
//! [`summarize`] says what a run came to.
//!
//! Debugging: a [`session`] stands somewhere in a [`timeline`]; [`resume`] moves it, forwards and backwards, until one of its
//! [`breakpoints`] or what else it was asked for stops it, and finds who wrote what. A [`scene`] is the machine as the [`focus`]ed thread
//! sees it: [`expression`]s are evaluated in it to [`value`]s, the [`view`]s are made from it, and [`explain`] says what its next
//! instruction does. An [`edit`] changes it.

pub mod argument;
pub mod breakpoints;
pub mod edit;
pub mod explain;
pub mod expression;
pub mod focus;
pub mod marks;
pub mod memory;
pub mod open;
pub mod resume;
pub mod saved;
pub mod scene;
pub mod scope;
pub mod session;
pub mod settings;
pub mod stop;
pub mod symbols;
pub mod target;
pub mod timeline;
pub mod transfer;
pub mod usage;
pub mod value;
pub mod view;

mod fault;
mod launcher;
mod run;
mod summary;
mod touch;
mod verify;
mod writer;

pub use fault::{Fault, Site, Waiting};
pub use open::{LaunchChoice, OpenError, Opened, Request};
pub use run::{CaseRun, LaunchRun, RunError, RunOptions, run_case, start_case};
pub use summary::{BufferHead, Summary, summarize};
pub use touch::TouchText;
pub use verify::{CaseReport, Failure, verify_case};
pub use writer::Writer;

pub use crate::isa::nearest;
pub use crate::launch::Overrides;
pub use crate::launch::ron_text;
pub use crate::machine::{LaneMask, Schedule};
pub use crate::syntax::{WordKind, words};
