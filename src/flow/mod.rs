//! Dataflow: one solver, and the analyses on it.
//!
//! # The model
//!
//! A [`graph::Graph`] is nodes, which are numbers, and edges: the blocks of a function, the functions of a module and their calls, the
//! registers of a program and the instructions between them. An [`solver::Analysis`] says what is known at a node: a fact of a
//! [`solver::Lattice`], a transfer function that carries it over a node, and a direction. [`solver::solve`] finds the least facts that
//! satisfy all edges (Kildall 1973; Aho, Lam, Sethi, Ullman, "Foundations of Data-Flow Analysis").
//!
//! | file | analysis | fact |
//! | --- | --- | --- |
//! | [`reach`] | what can be reached | true or false |
//! | [`definite`] | registers that are written on every path (definite assignment) | a set of registers, joined by intersection |
//! | [`def_use`] | the instructions whose result a read may see (reaching definitions), found per read | – |
//! | [`liveness`] | instructions whose result is needed | true or false, over [`def_use`] |
//! | [`result_uses`] | the branches and instructions that use a result | a set of registers |
//! | [`address_base`] | what an address is computed from | the variables and parameters in a sum, always and sometimes |
//! | [`taint`] | cells that some cells have a part in | true or false, over registers and memory |
//!
//! Analyses with facts of their own, of launches and of arrays, are clients of [`worklist`] and [`cells`]. Iteration follows the order
//! of the nodes, so that an analysis whose join depends on the order gives the same in every run.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod address_base;
pub mod cells;
pub mod def_use;
pub mod definite;
pub mod graph;
pub mod liveness;
pub mod reach;
pub mod result_uses;
pub mod solver;
pub mod taint;
pub mod worklist;
