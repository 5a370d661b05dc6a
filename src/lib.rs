//! ptxdbg: a debugger for NVIDIA PTX kernels that needs no GPU.
//!
//! # For other programs
//!
//! [`api`] is the library: modules, launches, runs, findings, fixes, bundles and sessions, with an example of each use. It follows semantic
//! versioning: what compiles against it compiles against every later version with the same major number, or as long as that is 0, with the
//! same minor one; CHANGELOG.md names what changes. Fields may be added to structs of answers and variants to their enums
//! ([`api::Outcome`], [`api::View`]) with a minor version, so match those with a wildcard and make structs of options with
//! `..RunOptions::default()`. Its types may mention types of the layers below, whose fields can be read.
//!
//! **Every other module is the inside of the program.** It is public for the program itself, its tests, its fuzzers and the crates beside
//! it, and may change with any version. What follows is about that inside.
//!
//! # The model
//!
//! A *program* is a PTX module, checked and decoded: an array of instructions whose operands are register slots and addresses, and
//! tables beside it for what only a person asks (names, places in the text). It never changes.
//!
//! A *machine* is a launched grid: blocks of warps of 32 lanes, and memory. The lanes of a warp stand in *groups*, each with its own
//! program counter and call stack; a divergent branch splits a group, and groups that come to stand at the same place merge. A *tick*
//! is one instruction issued for one group: time is the number of ticks since the first launch, a total order over everything that
//! happens. A machine run twice does the same, bit for bit, on every host.
//!
//! A *snapshot* is a clone of the machine: memory pages, register files and blocks are shared until one side writes. A *timeline* is a
//! recorded run: snapshots, and the *inputs* by which the user changed the run. Going back in time is taking an earlier snapshot and
//! running forward again with the same inputs.
//!
//! A *session* is a timeline and where the user stands in it: the *focus* is the thread looked at, a *goal* is what a run is for, a *stop*
//! is where it came to and why. Breakpoints belong to the session, not to the run. Every action of a user is a *command line*.
//!
//! A run ends with a [`machine::Step`]: the budget is used up, all blocks have finished, an instruction faulted, or no warp can make
//! progress. A fault of a kernel is an ordinary answer; a panic is a bug of ours.
//!
//! # Layers
//!
//! Each folder is a layer and may use only some of the others: `tests/tidy.rs` holds the table, README.md shows it.
//!
//! What is *not* there matters as much. `syntax` does not know which instructions exist, and `isa` does not know the tree. `program` does
//! not change after `sema`. `machine` knows no breakpoints, no source text, and not that time can go backwards; nothing in it reads a
//! clock, a random source or the environment. `debug` prints nothing, and `ui` never touches the machine.
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
//! A front end in [`ui`] hands a line to [`command`], whose table says how it is taken apart and which handler does it. A handler asks
//! [`debug::session::Session`]: [`debug::resume`] runs until a stop, forwards or backwards, with a [`machine::Observer`] that notes what
//! may be one; [`debug::timeline`] goes to any time; [`debug::expression`] and [`debug::view`] look. The answer is an
//! [`command::Outcome`], which `ui::text` puts into words.

pub mod api;

pub mod args;
pub mod base;
pub mod cfg;
pub mod check;
pub mod command;
pub mod container;
pub mod debug;
pub mod drawing;
pub mod flow;
pub mod inline_asm;
pub mod isa;
pub mod launch;
pub mod machine;
pub mod num;
pub mod order;
pub mod program;
pub mod sema;
pub mod syntax;
pub mod ui;
