//! The engine between the core and the front ends: it opens what the command line names, runs it, judges it, and answers in plain
//! data. Nothing here prints.
//!
//! Opening and verifying: [`open`](open::open) turns files into a program and a plan of launches; [`run_case`] runs the launches of
//! one case in order on the same memory; [`verify_case`] compares the memory at their end and finds what wrote a wrong element;
//! [`summarize`] reports the results of a run.
//!
//! Debugging: a [`session`] is at a time of a [`timeline`]; [`resume`] moves it, forwards and backwards, until one of its
//! [`breakpoints`] or its goal stops it, and finds what wrote a value. An [`eval_context`] is the machine with a [`focus`]ed thread:
//! [`expression`]s are evaluated in it to [`value`]s, the [`view`]s are made from it, and [`explain`] says what the next instruction
//! does. An [`edit`] changes the machine.

pub mod argument;
pub mod arrays;
pub mod body;
pub mod branches;
pub mod branching;
pub mod breakpoints;
pub mod bundle;
pub mod certificate;
pub mod compare;
pub mod display;
pub mod display_list;
pub mod edit;
pub mod eval_context;
pub mod excerpt;
pub mod explain;
pub mod explore;
pub mod export;
pub mod expression;
pub mod fidelity;
pub mod find;
pub mod findings;
pub mod fix;
pub mod focus;
mod frame_scopes;
pub mod inlined;
pub mod kept_values;
mod last_writes;
pub mod marks;
pub mod memory;
pub mod mismatches;
pub mod names;
pub mod never_ran;
pub mod open;
pub mod resume;
pub mod returned;
pub mod roles;
pub mod run;
pub mod saved;
pub mod session;
pub mod settings;
pub mod shrink;
pub mod skip;
pub mod source_names;
pub mod source_texts;
mod stale;
pub mod stop;
pub mod target;
pub mod tensors;
pub mod timeline;
pub mod transfer;
pub mod value;
pub mod verify;
pub mod view;

mod awaited;
mod causes;
mod fault;
mod file_line;
mod polled;
mod relaunch;
mod site;
mod units;
mod users_calls;
mod value_flow;
mod waits;
mod watched_access;

pub use awaited::explain_awaited;
pub use fault::{Fault, Waiting};
pub use file_line::FileLine;
pub use open::asm;
pub use open::open;
pub use open::{LaunchChoice, OpenError, Opened, Request};
pub use run::{
    BufferHead, CaseRun, HostMemory, HostRange, HostWrite, LaunchRun, RESIDENT_MAX, RunError, RunOptions, Summary, SwappedSections,
    run_case, run_case_until, start_case, summarize,
};
pub use site::{Site, SourceText};
pub use units::format_bytes;
pub use verify::{
    CaseReport, ComparedPart, Comparison, Criteria, Failure, FindingBudget, Omitted, Writer, compare_expected, last_writers, verify_case,
    verify_case_until,
};
pub use watched_access::{WatchedAccess, WatchedAccessText};

pub use crate::flow::live_registers::LiveRegisters;
pub use crate::isa::{Trust, nearest};
pub use crate::launch::ron_text;
pub use crate::launch::{Basis, NOT_FIRST, Overrides, PlannedLaunch, RUNS_LONG, Reason, WITH_BLOCK};
pub use crate::machine::{CompletionChoice, CompletionPolicyKind, DivergencePolicy, LaneMask, MemoryLimit, MemoryModel, Schedule};
pub use crate::program::{FuncId, Pc, is_called, is_debug_label, listed_name, shown_name};
pub use crate::syntax::{TokenClass, classify_tokens};
