//! The race checker against the axioms: for small programs every execution that the PTX memory model allows is enumerated (PTX ISA,
//! "Memory Consistency Model"; Lustig, Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", 2019), and
//! the pairs of accesses that race in one are compared with those that the checker finds in several orders.
//!
//! Without `--memory weak` the interpreter runs sequentially consistent executions only. A pair that races in one of these must be found; a
//! pair that races in no execution must not; and the values read must be those of an allowed execution, on weak memory as well.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its program fails")]

mod advice;
mod axioms;
mod excerpts;
mod judge;
mod kernel;
mod kernels;
mod known;
mod pairs;
mod program;
mod random;
mod tests;
