//! The orders that are tried, and how each is replayed. An *order* is one interleaving of warps, a schedule of the literature.

use crate::debug::run::RunOptions;
use crate::machine::{CompletionPolicyKind, DivergencePolicy, Schedule};
use crate::program::{Op, Program};

/// The strategy by which orders other than the session's own are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Drawn from their seeds: the next warp, and the length of its turn (time slice).
    Random,
    /// Drawn from their seeds: priorities, with `depth - 1` changes ([`Schedule::Priority`]).
    Priority {
        /// The depth of the bugs that are looked for: the number of orderings between threads that they need.
        depth: u32,
    },
    /// One after the other, all that differ in the order of operations that depend on each other ([`Schedule::Switched`]).
    Systematic {
        /// The bound on preemptions: switches from a warp that could have gone on.
        preemptions: u32,
    },
}

/// The orders of an exploration: the session's own is number 0.
#[derive(Clone, Debug)]
pub struct Order {
    own: RunOptions,
    others: Others,
    /// Whether anything ends asynchronously.
    is_asynchronous: bool,
}

/// The orders other than the session's own.
#[derive(Clone, Debug)]
pub enum Others {
    /// Number N is that of seed N of this schedule.
    Drawn(Schedule),
    /// Number N is the N-th of these schedules.
    Listed(Vec<Schedule>),
}

impl Order {
    /// The orders around that of a run of `program` with the options `own`.
    pub fn all(program: &Program, own: &RunOptions, others: Others) -> Self {
        let is_asynchronous = program.code.iter().any(|inst| matches!(inst.op, Op::Async(_) | Op::Wgmma(_)));
        Self { own: own.clone(), others, is_asynchronous }
    }

    /// Adds an order to those that are listed.
    pub fn push(&mut self, schedule: Schedule) {
        if let Others::Listed(listed) = &mut self.others {
            listed.push(schedule);
        }
    }

    /// The same with no order listed.
    #[must_use]
    pub fn without_listed(&self) -> Self {
        Self { others: Others::Listed(Vec::new()), ..self.clone() }
    }

    /// The number of listed orders.
    pub fn listed(&self) -> u64 {
        match &self.others {
            Others::Listed(listed) => listed.len() as u64,
            Others::Drawn(_) => 0,
        }
    }

    /// The options of a run in order `index`.
    pub fn options(&self, index: u64) -> RunOptions {
        if index == 0 {
            return self.own.clone();
        }
        match &self.others {
            Others::Drawn(schedule) => {
                RunOptions { schedule: schedule.clone(), seed: index, copies: CompletionPolicyKind::Random(index), ..self.own.clone() }
            }
            Others::Listed(listed) => RunOptions { schedule: listed[index as usize - 1].clone(), ..self.own.clone() },
        }
    }

    /// Whether the session's own order is that of a run without options.
    pub fn is_own_default(&self) -> bool {
        (&self.own.schedule, self.own.copies) == (&Schedule::default(), CompletionPolicyKind::default())
    }

    /// The number of options that replay order `index`: of several that show the same, that with the fewest is replayed.
    pub fn length(&self, index: u64) -> usize {
        match (&self.others, index) {
            (Others::Drawn(_), _) | (Others::Listed(_), 0) => 0,
            (Others::Listed(listed), index) => match &listed[index as usize - 1] {
                Schedule::Switched(switches) => switches.len(),
                Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Held(_) => 0,
            },
        }
    }

    /// The options of the command line that replay order `index`, beside those of the session that are no part of an order:
    /// `--schedule random --seed 3`. What ended at the step limit ends there again.
    pub fn replay(&self, index: u64, at_limit: bool) -> String {
        let options = self.options(index);
        let (seed, asynchronous) = match &self.others {
            Others::Drawn(_) if self.is_asynchronous => (format!(" --seed {index}"), format!(" --async random:{index}")),
            Others::Drawn(_) => (format!(" --seed {index}"), String::new()),
            Others::Listed(_) => {
                let copies = self.is_asynchronous && options.copies != CompletionPolicyKind::default();
                let seed = if options.seed > 0 { format!(" --seed {}", options.seed) } else { String::new() };
                (seed, if copies { format!(" --async {}", policy_word(options.copies)) } else { String::new() })
            }
        };
        let divergence = match options.divergence {
            None => "",
            Some(DivergencePolicy::Independent) => " --divergence independent",
            Some(DivergencePolicy::Stack) => " --divergence stack",
        };
        let resident = options.resident.map_or(String::new(), |blocks| format!(" --resident {blocks}"));
        let limit = options.step_limit.filter(|_| at_limit).map_or(String::new(), |limit| format!(" --step-limit {limit}"));
        format!("--schedule {}{seed}{asynchronous}{divergence}{resident}{limit}", options.schedule)
    }
}

/// `random:3`
fn policy_word(copies: CompletionPolicyKind) -> String {
    let seed = copies.seed().map_or(String::new(), |seed| format!(":{seed}"));
    format!("{}{seed}", copies.row().name)
}
