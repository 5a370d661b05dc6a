//! The configuration of a launch.

use crate::machine::in_flight::policy::CompletionPolicyKind;
use crate::machine::state::footprint::MemoryLimit;
use crate::machine::state::issue_point::Tick;
use crate::program::{FuncId, Image};

/// The order in which warps run. Any order is one the hardware could choose.
#[derive(Clone, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Schedule {
    /// Warps run in order, each for a time slice.
    #[default]
    InOrder,
    /// The next warp, and the length of its time slice, are drawn from the seed.
    Random,
    /// The warp with the highest priority runs (Burckhardt, Kothari, Musuvathi and Nagarakatti, "A Randomized Scheduler with Probabilistic
    /// Guarantees of Finding Bugs", 2010). Priorities are drawn from the seed, and so are `depth - 1` priority change points among the
    /// first `steps` warp-instructions of a launch: the warp that runs at one gets a lower priority than all whose priority has not been
    /// lowered. A warp that spins gets the lowest priority.
    Priority {
        /// The bug depth: the number of ordering constraints between threads that suffice to find the bug, from 1.
        depth: u32,
        /// Warp-instructions of a launch, or an estimate, from 1.
        steps: u64,
    },
    /// In order, but one warp is delayed for some time, as long as another warp can run.
    #[serde(rename = "Held")]
    Delayed(Delay),
    /// A warp runs until it waits, exits or spins; then the next one in order runs. At the tick of a context switch its warp runs. Sorted
    /// by tick.
    #[serde(rename = "Switched")]
    ContextSwitches(Box<[ContextSwitch]>),
}

/// What loads return (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum MemoryModel {
    /// The newest write: sequential consistency.
    #[default]
    #[serde(rename = "Sc")]
    SequentiallyConsistent,
    /// Any write that causality order and coherence order allow, drawn from a seed.
    Weak(u64),
}

impl MemoryModel {
    /// The syntax of the memory models, each with a description.
    pub const SYNTAX: [(&str, &str); 2] = [
        ("sc", "a load returns the newest write"),
        ("weak[:SEED]", "a load returns a write that the PTX memory model allows, drawn from the seed, 0 without one"),
    ];

    /// Parses a memory model.
    ///
    /// # Errors
    /// The possible values, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once(':') {
            None if text == "sc" => Some(Self::SequentiallyConsistent),
            None if text == "weak" => Some(Self::Weak(0)),
            Some(("weak", seed)) => seed.parse().ok().map(Self::Weak),
            Some(_) | None => None,
        };
        parsed.ok_or_else(|| "the memory models are sc and weak, or weak:SEED".to_string())
    }

    /// The seed of weak memory.
    pub fn seed(self) -> Option<u64> {
        match self {
            Self::SequentiallyConsistent => None,
            Self::Weak(seed) => Some(seed),
        }
    }

    /// The same with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.seed().map_or(self, |_| Self::Weak(seed))
    }
}

impl std::fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SequentiallyConsistent => f.write_str("sc"),
            Self::Weak(seed) => write!(f, "weak:{seed}"),
        }
    }
}

/// A context switch to a warp at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ContextSwitch {
    /// The tick of the first instruction of its time slice.
    pub at: Tick,
    /// The number of its block in the grid, x fastest.
    pub block: u64,
    /// The warp of the block.
    pub warp: u32,
}

/// The delay of a warp, which does not run for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// The number of its block in the grid, x fastest.
    pub block: u64,
    /// The warp of the block.
    pub warp: u32,
    /// The first tick at which it may not run.
    pub from: Tick,
    /// The tick at which it may run again.
    pub until: Tick,
}

/// The default of `steps` of a priority schedule.
const STEPS: u64 = 1 << 14;

/// The largest depth: no known bug needs more ordering constraints, and for a greater depth the probability bound is negligible.
pub const DEPTH_MAX: u32 = 16;

impl Schedule {
    /// The syntax of the schedules, each with a description.
    pub const SYNTAX: [(&str, &str); 5] = [
        ("in-order", "warps take turns in order"),
        ("random", "the next warp is drawn from the seed"),
        ("pct:DEPTH[:STEPS]", "priorities are drawn from the seed, with DEPTH - 1 changes among the first STEPS warp-instructions"),
        ("hold:BLOCK:WARP:FROM-UNTIL", "in order, but this warp of the block of this number is held from one time to the other"),
        (
            "switch:[TICK:BLOCK:WARP,...]",
            "a warp has the turn until it waits, exits or spins, then the next one; at each of these times this warp has it",
        ),
    ];

    /// Parses a schedule.
    ///
    /// # Errors
    /// The possible values, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let parsed = match (name, rest) {
            ("in-order", None) => Some(Self::InOrder),
            ("random", None) => Some(Self::Random),
            ("pct", Some(rest)) => priority(rest),
            ("hold", Some(rest)) => delay(rest).map(Self::Delayed),
            ("switch", Some(rest)) => context_switches(rest).map(Self::ContextSwitches),
            _ => None,
        };
        parsed.ok_or_else(|| {
            let forms = Self::SYNTAX.map(|(form, _)| form);
            format!("the schedules are {} and {}; DEPTH is 1 to {DEPTH_MAX}", forms[..forms.len() - 1].join(", "), forms[forms.len() - 1])
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
fn delay(text: &str) -> Option<Delay> {
    let mut parts = text.split(':');
    let (block, warp, times) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    let (from, until) = times.split_once('-')?;
    let (from, until) = (Tick(from.parse().ok()?), Tick(until.parse().ok()?));
    (parts.next().is_none() && from < until).then_some(Delay { block, warp, from, until })
}

impl DivergencePolicy {
    /// Parses a divergence policy.
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

/// `12:1:0,345:0:0`, or an empty text
fn context_switches(text: &str) -> Option<Box<[ContextSwitch]>> {
    if text.is_empty() {
        return Some(Box::default());
    }
    let switches: Option<Box<[ContextSwitch]>> = text.split(',').map(context_switch).collect();
    switches.filter(|switches| switches.is_sorted_by(|one, other| one.at < other.at))
}

/// `12:1:0`
fn context_switch(text: &str) -> Option<ContextSwitch> {
    let mut parts = text.split(':');
    let (at, block, warp) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().is_none().then_some(ContextSwitch { at: Tick(at), block, warp })
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InOrder => write!(f, "in-order"),
            Self::Random => write!(f, "random"),
            Self::Priority { depth, steps } => write!(f, "pct:{depth}:{steps}"),
            Self::Delayed(Delay { block, warp, from, until }) => write!(f, "hold:{block}:{warp}:{}-{}", from.0, until.0),
            Self::ContextSwitches(switches) => {
                let words: Vec<String> =
                    switches.iter().map(|ContextSwitch { at, block, warp }| format!("{}:{block}:{warp}", at.0)).collect();
                write!(f, "switch:{}", words.join(","))
            }
        }
    }
}

/// The policy that chooses the lanes of a warp that run when their pcs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum DivergencePolicy {
    /// Threads are scheduled independently (sm_70 and later): every group of lanes eventually runs, and lanes reconverge wherever they
    /// reach the same pc. A waiting lane does not block its warp.
    #[default]
    Independent,
    /// The warp has a stack (before sm_70): one side of a branch runs to the reconvergence point, then the next side, and then all lanes
    /// together. Reconvergence points are where ptxas pushes them for those machines (`cfg::pushed_targets`). The fall-through side runs
    /// first, except for sides that only exit or return. A side that waits blocks the other sides, so lanes that wait for other lanes of
    /// their warp hang. Lanes arrive at a barrier one by one, not for all of their warp as on those machines: a barrier that only some
    /// lanes reach is reported as a deadlock.
    Stack,
}

impl DivergencePolicy {
    /// The policy of the hardware of `.target sm_NN`.
    pub fn of_target(sm: u32) -> Self {
        if sm < 70 { Self::Stack } else { Self::Independent }
    }
}

/// The counters of a launch, for a debugger to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Instrumentation {
    /// Nothing, which is fastest.
    #[default]
    Nothing,
    /// The executions of each instruction.
    Runs,
    /// The executions of each instruction, and the registers that were written.
    RunsAndWrites,
}

/// A faster way to the effects of the reference: instructions one by one, each access an event, judged at once and word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FastPath {
    /// Instructions of common forms run in straight stretches.
    Stretches,
    /// Instructions in a row are executed without a look at the groups of the warp after each.
    Runs,
    /// Groups of lanes part and meet within a stretch.
    Switches,
    /// Patterns of addresses are recognized.
    Recognition,
    /// Plain reads that observers take note of are no events.
    PlainReads,
    /// The race checker judges ordered accesses in units larger than a word.
    LargeUnits,
    /// It records rows of adjacent elements without a comparison of each access with each.
    Rows,
    /// It records accesses of shared memory when another one needs that.
    DelayedRecords,
    /// It does not record reads of buffers that are only read.
    ReadOnlyBuffers,
}

impl FastPath {
    /// All of them.
    pub const ALL: [Self; 9] = [
        FastPath::Stretches,
        FastPath::Runs,
        FastPath::Switches,
        FastPath::Recognition,
        FastPath::PlainReads,
        FastPath::LargeUnits,
        FastPath::Rows,
        FastPath::DelayedRecords,
        FastPath::ReadOnlyBuffers,
    ];
}

/// The fast paths of a launch. They change no effect, finding or tick, as tests show that turn them off; so a launch has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastPaths(u16);

impl FastPaths {
    /// The reference.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self((1 << FastPath::ALL.len()) - 1);

    /// True if this one is on.
    #[inline(always)]
    pub const fn has(self, path: FastPath) -> bool {
        self.0 >> path as u16 & 1 != 0
    }

    /// The others.
    #[must_use]
    pub const fn without(self, path: FastPath) -> Self {
        Self(self.0 & !(1 << path as u16))
    }
}

impl Default for FastPaths {
    fn default() -> Self {
        Self::ALL
    }
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
    /// The indices in the grid of the blocks that run: whole clusters. Empty if all blocks run.
    pub only: Vec<[u32; 3]>,
    /// Blocks of a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// True if the launch or the kernel gives the cluster size (`%is_explicit_cluster`).
    pub explicit_cluster: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter bank, laid out as the kernel's parameters say.
    pub params: Vec<u8>,
    /// True if the whole grid must be resident.
    pub cooperative: bool,
    /// The maximum number of resident blocks; if none, a bound on their memory decides.
    pub resident: Option<u32>,
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The memory model.
    pub memory: MemoryModel,
    /// The divergence policy.
    pub divergence: DivergencePolicy,
    /// The tick of its first instruction: a later launch of a case continues the count of the launch before it.
    pub start: Tick,
    /// Its counters.
    pub instrumentation: Instrumentation,
    /// Its fast paths.
    pub fast_paths: FastPaths,
    /// Textures, samplers and surfaces, sorted by handle.
    pub images: Vec<Image>,
    /// The completion policy of asynchronous operations.
    pub copies: CompletionPolicyKind,
    /// The limit on the simulated state.
    pub memory_limit: MemoryLimit,
}

/// An error of a launch configuration.
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
        /// The maximum.
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
