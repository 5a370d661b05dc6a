//! Dataflow: one solver, and the analyses on it.
//!
//! # The model
//!
//! A [`graph::Graph`] is nodes, which are numbers, and edges: the blocks of a function, the functions of a module and their calls, the
//! registers of a program and the instructions between them. An [`solver::Analysis`] has facts of a [`solver::Lattice`], one for each
//! node, a transfer function, and a direction. [`solver::solve`] computes the least fixed point (Kildall 1973; Aho, Lam, Sethi, Ullman,
//! "Foundations of Data-Flow Analysis").
//!
//! | file | analysis | fact |
//! | --- | --- | --- |
//! | [`reach`] | reachable nodes | true or false |
//! | [`definite`] | registers that are written on every path (definite assignment) | a set of registers, joined by intersection |
//! | [`def_use`] | the instructions whose result a read may see (reaching definitions), found per read | – |
//! | [`copies`] | registers that hold the value of another one (available copies) | a set of registers, joined by intersection |
//! | [`live_registers`] | registers that some path reads before it writes them | a set of registers, joined by union |
//! | [`liveness`] | instructions whose result is needed | true or false, over [`def_use`] |
//! | [`result_uses`] | the branches and instructions that use a result | a set of registers |
//! | [`address_base`] | what an address is computed from | the variables and parameters in a sum, on all paths and on some |
//! | [`param_cells`] | the parameters of functions in memory, as cells | – |
//! | [`taint`] | cells whose values depend on those of other cells | true or false, over registers and memory |
//!
//! Analyses of launches and of arrays have a solver of their own, with [`worklist`] and [`cells`]. Iteration follows the order of the
//! nodes, so that an analysis whose join depends on the order has the same result in every run.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod address_base;
pub mod cells;
pub mod copies;
pub mod def_use;
pub mod definite;
pub mod graph;
pub mod live_registers;
pub mod liveness;
pub mod param_cells;
pub mod reach;
pub mod result_uses;
pub mod solver;
pub mod taint;
pub mod worklist;
pub mod written_bases;
