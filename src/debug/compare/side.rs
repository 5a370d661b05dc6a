//! The two runs that are compared, and how their stores are paired.

use std::sync::Arc;

use crate::base::Tick;
use crate::debug::run::RunOptions;
use crate::debug::timeline::Input;
use crate::launch::Case;
use crate::program::Program;

/// One of two runs.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Its program.
    pub program: &'a Arc<Program>,
    /// Its launches.
    pub case: &'a Case,
    /// The options of its run.
    pub options: &'a RunOptions,
    /// The user's changes to it, in order of time.
    pub inputs: &'a [(Tick, Input)],
}

/// Which stores of a thread are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// The n-th with the n-th.
    InProgramOrder,
    /// The n-th to a address with the n-th to this address, in global memory.
    ByAddress,
}
