//! The orders of an exploration, and the options that replay each. An *order* is one interleaving of warps: a schedule of the literature.

use crate::check::Checks;
use crate::debug::run::RunOptions;
use crate::machine::{CompletionPolicyKind, DivergencePolicy, MemoryModel, Schedule};
use crate::program::{Op, Program};

/// The strategy by which orders other than the session's order are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Random by seed: the next warp, and the length of its time slice.
    Random,
    /// Random by seed: priorities, with `depth - 1` change points (PCT, [`Schedule::Priority`]).
    Priority {
        /// The bug depth: the number of ordering constraints between threads that a bug needs.
        depth: u32,
    },
    /// All orders that differ in the order of dependent operations ([`Schedule::ContextSwitches`]).
    Systematic {
        /// The preemption bound: switches from a warp that could continue.
        preemptions: u32,
    },
}

/// Random orders in which a remedy is tried at least.
const VALIDATED_MIN: u64 = 1000;

/// The orders of an exploration: the session's order is number 0.
#[derive(Clone, Debug)]
pub struct Orders {
    session_options: RunOptions,
    /// What loads return in the other orders.
    memory: MemoryModel,
    others: OtherOrders,
    /// True if the program has asynchronous operations.
    is_asynchronous: bool,
}

/// The orders other than the session's order.
#[derive(Clone, Debug)]
pub enum OtherOrders {
    /// Order N has seed N of this schedule.
    Random(Schedule),
    /// Order N has the N-th of these schedules, which a systematic exploration generates.
    Generated(Vec<Schedule>),
}

impl Orders {
    /// The orders of an exploration of `program`; `session_options` are those of the session's order, and `memory` is that of the others.
    pub fn all(program: &Program, (session_options, memory): (&RunOptions, MemoryModel), others: OtherOrders) -> Self {
        let is_asynchronous = program.code.iter().any(|inst| matches!(inst.op, Op::Async(_) | Op::Wgmma(_)));
        Self { session_options: session_options.clone(), memory, others, is_asynchronous }
    }

    /// Adds a generated schedule.
    pub fn push(&mut self, schedule: Schedule) {
        if let OtherOrders::Generated(schedules) = &mut self.others {
            schedules.push(schedule);
        }
    }

    /// The same without the generated schedules.
    #[must_use]
    pub fn without_generated(&self) -> Self {
        Self { others: OtherOrders::Generated(Vec::new()), ..self.clone() }
    }

    /// How many orders a remedy is tried in that is found with `count` of them: random ones cost little, and what is rare shows in some.
    pub fn validated(&self, count: u64) -> u64 {
        match self.others {
            OtherOrders::Random(_) => count.max(VALIDATED_MIN),
            OtherOrders::Generated(_) => count,
        }
    }

    /// The number of generated schedules.
    pub fn generated_count(&self) -> u64 {
        match &self.others {
            OtherOrders::Generated(schedules) => schedules.len() as u64,
            OtherOrders::Random(_) => 0,
        }
    }

    /// The options of a run in order `index`.
    pub fn options(&self, index: u64) -> RunOptions {
        if index == 0 {
            return self.session_options.clone();
        }
        match &self.others {
            OtherOrders::Random(schedule) => RunOptions {
                schedule: schedule.clone(),
                seed: index,
                copies: CompletionPolicyKind::Random(index),
                memory: self.memory.with_seed(index),
                ..self.session_options.clone()
            },
            OtherOrders::Generated(schedules) => {
                let schedule = schedules[index as usize - 1].clone();
                RunOptions { schedule, memory: self.memory.with_seed(index), ..self.session_options.clone() }
            }
        }
    }

    /// The options of order `index` with sequentially consistent memory; none if it has that already.
    pub fn sequentially_consistent(&self, index: u64) -> Option<RunOptions> {
        let options = self.options(index);
        options.memory.seed().map(|_| RunOptions { memory: MemoryModel::SequentiallyConsistent, checks: Checks::NONE, ..options })
    }

    /// True if loads of the other orders may return older writes.
    pub fn are_weak(&self) -> bool {
        self.memory.seed().is_some()
    }

    /// True if the program has asynchronous operations.
    pub fn is_asynchronous(&self) -> bool {
        self.is_asynchronous
    }

    /// True if the session's order is the default order, that of a run without options.
    pub fn is_default_order(&self) -> bool {
        (&self.session_options.schedule, self.session_options.copies) == (&Schedule::default(), CompletionPolicyKind::default())
    }

    /// The number of switches in the options that replay order `index`: of several with the same result, the shortest is replayed.
    pub fn length(&self, index: u64) -> usize {
        match (&self.others, index) {
            (OtherOrders::Random(_), _) | (OtherOrders::Generated(_), 0) => 0,
            (OtherOrders::Generated(schedules), index) => match &schedules[index as usize - 1] {
                Schedule::ContextSwitches(switches) => switches.len(),
                Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Delayed(_) => 0,
            },
        }
    }

    /// The command-line options that replay order `index`, without the session's options that do not affect the order:
    /// `--schedule random --seed 3`. With `at_limit`, they include the step limit.
    pub fn replay(&self, index: u64, at_limit: bool) -> String {
        let options = self.options(index);
        let (seed, asynchronous) = match &self.others {
            OtherOrders::Random(_) if self.is_asynchronous => (format!(" --seed {index}"), format!(" --async random:{index}")),
            OtherOrders::Random(_) => (format!(" --seed {index}"), String::new()),
            OtherOrders::Generated(_) => {
                let has_policy = self.is_asynchronous && options.copies != CompletionPolicyKind::default();
                let seed = if options.seed > 0 { format!(" --seed {}", options.seed) } else { String::new() };
                (seed, if has_policy { format!(" --async {}", policy_word(options.copies)) } else { String::new() })
            }
        };
        let divergence = match options.divergence {
            None => "",
            Some(DivergencePolicy::Independent) => " --divergence independent",
            Some(DivergencePolicy::Stack) => " --divergence stack",
        };
        let resident = options.resident.map_or(String::new(), |blocks| format!(" --resident {blocks}"));
        let limit = options.step_limit.filter(|_| at_limit).map_or(String::new(), |limit| format!(" --step-limit {limit}"));
        let memory = options.memory.seed().map_or(String::new(), |_| format!(" --memory {}", options.memory));
        format!("--schedule {}{seed}{memory}{asynchronous}{divergence}{resident}{limit}", options.schedule)
    }
}

/// `random:3`
fn policy_word(copies: CompletionPolicyKind) -> String {
    let seed = copies.seed().map_or(String::new(), |seed| format!(":{seed}"));
    format!("{}{seed}", copies.row().name)
}
