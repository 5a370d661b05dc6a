//! ptxdbg: a debugger for NVIDIA PTX kernels that needs no GPU.
//!
//! # For other programs
//!
//! [`api`] is the library: modules, launches, runs, findings, fixes, bundles and sessions, with an example of each use. It follows semantic
//! versioning: code that compiles against it compiles against every later version with the same major number, or, while that is 0, with the
//! same minor one; CHANGELOG.md lists the changes. Fields may be added to structs of answers and variants to their enums
//! ([`api::Outcome`], [`api::View`]) with a minor version, so match those with a wildcard and make structs of options with
//! `..RunOptions::default()`. Its types may refer to types of the layers below, whose fields can be read.
//!
//! **Every other module is internal.** It is public for the program itself, its tests, its fuzzers and the other crates of the workspace,
//! and may change with any version. The rest of this page describes these internals.
//!
//! # The model
//!
//! A *program* is a PTX module, checked and decoded: an array of instructions whose operands are register slots and addresses, and
//! separate tables for data that only the user sees (names, lines of the text). It never changes.
//!
//! A *machine* is a launched grid: blocks of warps of 32 lanes, and memory. The lanes of a warp form *groups* of converged lanes, each with
//! its own program counter and call stack; a divergent branch splits a group, and groups that reach the same instruction merge. A *tick*
//! is one instruction issued for one group: time is the number of ticks since the first launch, a total order over all events. Runs are
//! deterministic, bit for bit, on every host.
//!
//! A *snapshot* is a clone of the machine: memory pages, register files and blocks are copy-on-write. A *timeline* is a recorded run:
//! snapshots, and the *inputs* by which the user changed the run. Going back in time is restoring an earlier snapshot and running forward
//! again with the same inputs.
//!
//! A *session* is a timeline and the current position in it: the *focus* is the selected thread, a *goal* is the condition that ends a
//! run, a *stop* is the position where it ended and the reason. Breakpoints belong to the session, not to the run. Every action of a user
//! is a *command line*.
//!
//! A run ends with a [`machine::Step`]: the budget is used up, all blocks have finished, an instruction faulted, or no warp can make
//! progress. A fault of a kernel is an ordinary answer; a panic is a bug of ours.
//!
//! # Layers
//!
//! Each folder is a layer and may use only some of the others: `tests/tidy.rs` holds the table, README.md shows it.
//!
//! Some restrictions: `syntax` does not depend on the set of instructions, and `isa` does not depend on the tree. `program` does not change
//! after `sema`. `machine` has no breakpoints, no source text, and no reverse execution; nothing in it reads a clock, a random source or
//! the environment. `debug` prints nothing, and `ui` never accesses the machine.
//!
//! # How a kernel runs
//!
//! [`sema::load_file`] reads and checks a file. [`launch`] turns a launch file into a plan: buffers, parameters, dimensions. A
//! [`machine::Device`] holds global memory across launches; [`machine::Machine::new`] launches a kernel on it and
//! [`machine::Machine::run`] executes. Its hot loop is `machine::exec`: one match over operation families, each of which runs one
//! function over 32 lanes with the host's vector instructions.
//!
//! # How a command is executed
//!
//! A front end in [`ui`] passes a line to [`command`], whose table has its syntax and its handler. A handler calls
//! [`debug::session::Session`]: [`debug::resume`] runs until a stop, forward or backward, with a [`machine::Observer`] that records
//! candidates; [`debug::timeline`] goes to any time; [`debug::expression`] and [`debug::view`] inspect the machine. The answer is an
//! [`command::Outcome`], which `ui::text` renders as text.

pub mod api;

pub mod args;
pub mod base;
pub mod capture;
pub mod cfg;
pub mod check;
pub mod command;
pub mod container;
pub mod debug;
pub mod drawing;
pub mod dwarf;
pub mod flow;
pub mod inline_asm;
pub mod isa;
pub mod launch;
pub mod litmus;
pub mod machine;
pub mod num;
pub mod order;
pub mod program;
pub mod sema;
pub mod syntax;
pub mod ttgir;
pub mod ui;
pub mod weak;
