//! The configuration of a launch.

use crate::machine::in_flight::policy::CompletionPolicyKind;
use crate::machine::state::footprint::MemoryLimit;
use crate::machine::state::issue_point::Tick;
use crate::program::{FuncId, Image};

/// The order in which warps run. Any order is one the hardware could choose.
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Schedule {
    /// Warps take turns in order.
    #[default]
    InOrder,
    /// The next warp, and the length of its turn, are drawn from the seed.
    Random,
    /// The warp with the highest priority runs (Burckhardt, Kothari, Musuvathi and Nagarakatti, "A Randomized Scheduler with Probabilistic
    /// Guarantees of Finding Bugs", 2010). Priorities are drawn from the seed, and so are `depth - 1` moments among the first `steps`
    /// warp-instructions of a launch: the warp that runs then has a lower priority than all that have not been lowered. A warp that spins
    /// gives way to all others.
    Priority {
        /// The depth of the bugs that are looked for: the number of orderings between threads that they need, from 1.
        depth: u32,
        /// Warp-instructions of a launch, as far as they are known, from 1.
        steps: u64,
    },
    /// In order, but for one warp, which is held for some time while the others run: as long as one of them can.
    Held(Hold),
    /// A warp has the turn until it waits, exits or spins; then the next one in order. At some times a warp has it that is named for them:
    /// the earliest first.
    Switched(Box<[Switch]>),
}

/// A warp has the turn from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Switch {
    /// The tick of the first instruction of its turn.
    pub at: Tick,
    /// The number of its block in the grid, x fastest.
    pub block: u64,
    /// The warp of the block.
    pub warp: u32,
}

/// A warp that does not run for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Hold {
    /// The number of its block in the grid, x fastest.
    pub block: u64,
    /// The warp of the block.
    pub warp: u32,
    /// The tick from which on it is held.
    pub from: Tick,
    /// The tick at which it may run again.
    pub until: Tick,
}

/// Warp-instructions of a launch that priorities are drawn for where none are given.
const STEPS: u64 = 1 << 14;

/// The largest depth: bugs that need more orderings are not known, and the bound is nothing then.
pub const DEPTH_MAX: u32 = 16;

impl Schedule {
    /// The schedules, as they are typed, each with what it is.
    pub const WORDS: [(&str, &str); 5] = [
        ("in-order", "warps take turns in order"),
        ("random", "the next warp is drawn from the seed"),
        ("pct:DEPTH[:STEPS]", "priorities are drawn from the seed, with DEPTH - 1 changes among the first STEPS warp-instructions"),
        ("hold:BLOCK:WARP:FROM-UNTIL", "in order, but this warp of the block of this number is held from one time to the other"),
        (
            "switch:[TICK:BLOCK:WARP,...]",
            "a warp has the turn until it waits, exits or spins, then the next one; at each of these times this warp has it",
        ),
    ];

    /// The schedule that is typed so.
    ///
    /// # Errors
    /// The possible values, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let parsed = match (name, rest) {
            ("in-order", None) => Some(Self::InOrder),
            ("random", None) => Some(Self::Random),
            ("pct", Some(rest)) => priority(rest),
            ("hold", Some(rest)) => hold(rest).map(Self::Held),
            ("switch", Some(rest)) => switches(rest).map(Self::Switched),
            _ => None,
        };
        parsed.ok_or_else(|| {
            let words = Self::WORDS.map(|(word, _)| word);
            format!("the schedules are {} and {}; DEPTH is 1 to {DEPTH_MAX}", words[..words.len() - 1].join(", "), words[words.len() - 1])
        })
    }
}

/// `3` or `3:1200`
fn priority(text: &str) -> Option<Schedule> {
    let (depth, steps) = text.split_once(':').map_or((text, None), |(depth, steps)| (depth, Some(steps)));
    let depth = depth.parse().ok().filter(|depth| (1..=DEPTH_MAX).contains(depth))?;
    let steps = steps.map_or(Some(STEPS), |steps| steps.parse().ok()).filter(|steps| *steps > 0)?;
    Some(Schedule::Priority { depth, steps })
}

/// `1:0:12-345`
fn hold(text: &str) -> Option<Hold> {
    let mut parts = text.split(':');
    let (block, warp, times) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    let (from, until) = times.split_once('-')?;
    let (from, until) = (Tick(from.parse().ok()?), Tick(until.parse().ok()?));
    (parts.next().is_none() && from < until).then_some(Hold { block, warp, from, until })
}

impl DivergencePolicy {
    /// The policy that is typed so.
    ///
    /// # Errors
    /// The possible values, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = [Self::Independent, Self::Stack].into_iter().find(|policy| policy.word() == text);
        found.ok_or_else(|| "the policies are independent and stack".to_string())
    }

    /// Its name for users.
    pub fn word(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Stack => "stack",
        }
    }
}

/// `12:1:0,345:0:0`, or nothing at all
fn switches(text: &str) -> Option<Box<[Switch]>> {
    if text.is_empty() {
        return Some(Box::default());
    }
    let switches: Option<Box<[Switch]>> = text.split(',').map(switch).collect();
    switches.filter(|switches| switches.is_sorted_by(|one, other| one.at < other.at))
}

/// `12:1:0`
fn switch(text: &str) -> Option<Switch> {
    let mut parts = text.split(':');
    let (at, block, warp) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(Switch { at: Tick(at), block, warp })
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InOrder => write!(f, "in-order"),
            Self::Random => write!(f, "random"),
            Self::Priority { depth, steps } => write!(f, "pct:{depth}:{steps}"),
            Self::Held(Hold { block, warp, from, until }) => write!(f, "hold:{block}:{warp}:{}-{}", from.0, until.0),
            Self::Switched(switches) => {
                let words: Vec<String> = switches.iter().map(|Switch { at, block, warp }| format!("{}:{block}:{warp}", at.0)).collect();
                write!(f, "switch:{}", words.join(","))
            }
        }
    }
}

/// The choice of the lanes of a warp that run when their pcs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum DivergencePolicy {
    /// Threads are scheduled independently (sm_70 and later): every group of lanes gets its turn, and lanes reconverge wherever they reach
    /// the same pc. A waiting lane does not block its warp.
    #[default]
    Independent,
    /// The warp has a stack (before sm_70): one side of a branch runs to the reconvergence point, then the next side, and then all
    /// lanes together. Reconvergence points are where ptxas pushes them for those machines (`cfg::pushed_targets`). The side that falls
    /// through runs first, except for sides that only end. A side that waits keeps the other sides waiting, so lanes that wait for other
    /// lanes of their warp hang. Lanes arrive at a barrier for themselves, not for all of their warp as on those machines: a barrier that
    /// only some lanes reach is reported as a deadlock.
    Stack,
}

impl DivergencePolicy {
    /// The policy of the hardware for which a module with `.target sm_NN` is made.
    pub fn of_target(sm: u32) -> Self {
        if sm < 70 { Self::Stack } else { Self::Independent }
    }
}

/// The events that a launch counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Instrumentation {
    /// Nothing: that is fastest.
    #[default]
    Nothing,
    /// The executions of each instruction.
    Runs,
    /// That, and which registers were written, for a debugger to show.
    RunsAndWrites,
}

/// A launch of one kernel.
#[derive(Clone, Debug)]
pub struct LaunchConfig {
    /// The kernel.
    pub kernel: FuncId,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// The blocks that run, by their indices in the grid, if not all do; of a cluster all or none.
    pub only: Vec<[u32; 3]>,
    /// Blocks of a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// Whether the launch or the kernel says how large a cluster is (`%is_explicit_cluster`).
    pub explicit_cluster: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter bank, laid out as the kernel's parameters say.
    pub params: Vec<u8>,
    /// Whether the whole grid must be resident.
    pub cooperative: bool,
    /// Blocks resident at once at most; without it as many as fit a bound on memory.
    pub resident: Option<u32>,
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The choice of the lanes of a warp that run when their pcs differ.
    pub divergence: DivergencePolicy,
    /// The tick of its first instruction: later launches of a case continue to count where the one before ended.
    pub start: Tick,
    /// The events that it counts.
    pub instrumentation: Instrumentation,
    /// Textures, samplers and surfaces, in order of handle.
    pub images: Vec<Image>,
    /// When asynchronous copies end.
    pub copies: CompletionPolicyKind,
    /// Bytes of simulated state at most.
    pub memory_limit: MemoryLimit,
}

/// Why a launch is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The function is no kernel, or is only declared.
    #[error("'{0}' is not a kernel with a body")]
    NotAKernel(String),
    /// A dimension is zero or too large.
    #[error("{what} is {value:?}; {limit}")]
    Dimension {
        /// `grid`, `block` or `cluster`.
        what: &'static str,
        /// The requested extents.
        value: [u32; 3],
        /// The limit.
        limit: String,
    },
    /// More shared memory than a block can have.
    #[error("the block needs {bytes} bytes of shared memory; at most {limit} fit")]
    SharedMemory {
        /// Static, dynamic and reserved bytes.
        bytes: u64,
        /// The most there is.
        limit: u64,
    },
    /// The parameter bank has the wrong size.
    #[error("the kernel takes {wanted} bytes of parameters, {given} are given")]
    Params {
        /// Bytes the kernel declares.
        wanted: u32,
        /// Bytes given.
        given: usize,
    },
}

impl LaunchConfig {
    /// Blocks of a cluster.
    pub fn blocks_of_cluster(&self) -> u32 {
        self.cluster.iter().product()
    }
}
