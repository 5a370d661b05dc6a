//! A case from its files to a verdict, with nobody watching: opening, running, verifying.
//!
//! [`open`](open::open) turns files, and [`open_asm`](asm::open_asm) a statement, into a program and a plan of cases, each some launches
//! in order on the same memory. [`run_case`] runs one; [`verify_case`] compares what it leaves behind and finds who wrote a wrong
//! element; [`summarize`] says what it came to. A [`Job`] prepares one launch after the other, for these and for the
//! [timeline](super::timeline).

pub mod asm;
pub mod open;

mod error;
mod fault;
mod judge;
mod launcher;
mod made_up;
mod omitted;
mod options;
mod run;
mod runner;
mod site;
mod summary;
mod units;
mod verify;
mod writer;

pub use error::RunError;
pub(super) use fault::Blame;
pub use fault::{Fault, Waiting};
pub(super) use launcher::{Job, Refused};
pub(super) use made_up::OriginTexts;
pub use omitted::{FindingBudget, Omitted};
pub use open::{LaunchChoice, OpenError, Opened, OpenedLaunch, Request};
pub(super) use open::{formals_of, made_up_with};
pub use options::RunOptions;
pub use run::{run_case, run_case_until, start_case};
pub(super) use runner::Runner;
pub use runner::{CaseRun, Interrupt, LaunchRun};
pub(super) use site::source_lines;
pub use site::{FileLine, Site};
pub use summary::{BufferHead, Summary, summarize};
pub use units::bytes_in_words;
pub use verify::{CaseReport, Comparison, Failure, compare_expected, verify_case, verify_case_until};
pub use writer::Writer;
