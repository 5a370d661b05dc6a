//! The orders that are tried, and how each is replayed.

use crate::debug::run::RunOptions;
use crate::machine::{CompletionPolicyKind, DivergencePolicy, Schedule};
use crate::program::{Op, Program};

/// How the orders other than the session's own are drawn from their seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The next warp, and the length of its turn.
    Random,
    /// Priorities, with `depth - 1` changes ([`Schedule::Priority`]).
    Priority {
        /// How many orderings between threads the bugs take that are looked for.
        depth: u32,
    },
}

/// The orders of an exploration: the session's own is number 0, and that of seed N number N.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    own: RunOptions,
    /// The schedule of the others.
    schedule: Schedule,
    /// Whether anything ends asynchronously.
    is_asynchronous: bool,
}

impl Order {
    /// The orders around that of a run of `program` with the options `own`.
    pub fn all(program: &Program, own: &RunOptions, schedule: Schedule) -> Self {
        let is_asynchronous = program.code.iter().any(|inst| matches!(inst.op, Op::Async(_) | Op::Wgmma(_)));
        Self { own: *own, schedule, is_asynchronous }
    }

    /// The options of a run in order `index`.
    pub fn options(&self, index: u64) -> RunOptions {
        if index == 0 {
            return self.own;
        }
        RunOptions { schedule: self.schedule, seed: index, copies: CompletionPolicyKind::Random(index), ..self.own }
    }

    /// Whether the session's own order is that of a run without options.
    pub fn is_own_default(&self) -> bool {
        (self.own.schedule, self.own.copies) == (Schedule::default(), CompletionPolicyKind::default())
    }

    /// The options of the command line that replay order `index`, beside those of the session that are no part of an order:
    /// `--schedule random --seed 3`. What ended at the step limit ends there again.
    pub fn replay(&self, index: u64, at_limit: bool) -> String {
        let options = self.options(index);
        let asynchronous = if self.is_asynchronous { format!(" --async random:{index}") } else { String::new() };
        let divergence = match options.divergence {
            None => "",
            Some(DivergencePolicy::Independent) => " --divergence independent",
            Some(DivergencePolicy::Stack) => " --divergence stack",
        };
        let resident = options.resident.map_or(String::new(), |blocks| format!(" --resident {blocks}"));
        let limit = options.step_limit.filter(|_| at_limit).map_or(String::new(), |limit| format!(" --step-limit {limit}"));
        format!("--schedule {} --seed {index}{asynchronous}{divergence}{resident}{limit}", options.schedule)
    }
}
