//! Running any kernel: nothing makes the machine fail, and how a run comes out depends on nothing but the kernel and its data.
//!
//! It does not depend on which lanes go together: a grid of blocks of one thread, in which nothing ever diverges, is the reference for
//! warps of many, where lanes part at branches and meet again, and it is the same whether they are scheduled independently or by the
//! stack of the warp. Neither does it on the order of warps, on the instrumentation, on the observers, or on how the run is cut into
//! pieces. Of kernels with instructions that make it depend on the first or the second ([`Bond`]) the rest holds: those that lanes
//! execute together wait for good where lanes of another side of a branch are meant, if the warp has a stack.

use arbitrary::{Result, Unstructured};
use ptxdbg::machine::{
    CompletionPolicyKind, Device, Digest, DivergencePolicy, Event, EventMask, FastPaths, Instrumentation, LaunchConfig, Machine,
    MemoryLimit, MemoryModel, NullObserver, Observer, Schedule, Step, Tick,
};
use ptxdbg::program::FuncId;

use super::instruction::Bond;
use super::kernel::{Kernel, THREADS_MAX, kernel};
use super::operand::{OWN_BYTES, SMALL_BYTES, bits};

/// Ticks that no kernel without loops comes to.
const TICKS_MAX: u64 = 1 << 22;

/// Sees everything and minds nothing.
struct Watcher;

impl Observer for Watcher {
    fn mask(&self) -> EventMask {
        EventMask::ALL
    }

    fn event(&mut self, _event: &Event<'_>) -> bool {
        false
    }
}

/// A kernel and its data.
struct Job {
    kernel: Kernel,
    /// What global memory holds before: the same eight numbers for all threads, and others by turns.
    numbers: Vec<u64>,
    grid: u32,
    block: u32,
    copies: CompletionPolicyKind,
    divergence: DivergencePolicy,
}

/// What is left of a run.
#[derive(PartialEq, Debug)]
struct Ending {
    step: Step,
    tick: Tick,
    threads: u64,
    memory: u64,
}

impl Ending {
    fn of(machine: &Machine, step: Step) -> Self {
        let mut digest = Digest::default();
        std::hash::Hash::hash(machine.device(), &mut digest);
        Ending { step, tick: machine.tick(), threads: machine.thread_instructions(), memory: digest.value() }
    }
}

/// Writes a kernel and runs it in many ways. Returns how many random instructions were written, and how many of them refused.
///
/// # Errors
/// If the bytes stand for no kernel.
pub fn check(u: &mut Unstructured<'_>) -> Result<(usize, usize)> {
    let block = *u.choose(&[32, 1, 7, 31, 33, THREADS_MAX])?;
    let grid = u.int_in_range(1..=2)?;
    let numbers: Vec<u64> = (0..u.int_in_range(1..=12)?).map(|_| bits(u)).collect::<Result<_>>()?;
    let (seed, cut) = (u.arbitrary()?, u.int_in_range(1..=200)?);
    let copies = *u.choose(&[
        CompletionPolicyKind::Lazy,
        CompletionPolicyKind::Eager,
        CompletionPolicyKind::Random(seed),
        CompletionPolicyKind::ByHand,
    ])?;
    let divergence = *u.choose(&[DivergencePolicy::Independent, DivergencePolicy::Stack])?;
    let job = Job { kernel: kernel(u)?, numbers, grid, block, copies, divergence };
    let tally = (job.kernel.written, job.kernel.refused);
    let whole = job.machine(job.config());
    let ending = run(whole.clone(), &mut NullObserver);
    assert!(ending.step != Step::Budget, "{}", job.kernel.text);
    job.check_watched(&whole, &ending);
    job.check_cut(&whole, &ending, cut);
    if job.kernel.bond <= Bond::Together {
        job.check_order(&ending, seed);
    }
    if job.kernel.bond == Bond::None {
        job.check_alone(&ending);
        job.check_other_divergence(&ending);
    }
    Ok(tally)
}

fn run(mut machine: Machine, observer: &mut dyn Observer) -> Ending {
    let step = machine.run(TICKS_MAX, observer);
    Ending::of(&machine, step)
}

impl Job {
    fn config(&self) -> LaunchConfig {
        let params = vec![0; 2 * SMALL_BYTES as usize];
        LaunchConfig {
            kernel: FuncId(0),
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            only: Vec::new(),
            cluster: [1, 1, 1],
            explicit_cluster: false,
            dynamic_shared: 0,
            params,
            cooperative: false,
            resident: None,
            schedule: Schedule::InOrder,
            seed: 0,
            start: Tick::START,
            instrumentation: Instrumentation::Nothing,
            fast_paths: FastPaths::default(),
            copies: self.copies,
            memory_limit: MemoryLimit::default(),
            memory: MemoryModel::default(),
            divergence: self.divergence,
            images: Vec::new(),
        }
    }

    /// A machine about to run the kernel, with every thread's memory filled from the numbers.
    fn machine(&self, mut config: LaunchConfig) -> Machine {
        let mut device = Device::new(self.kernel.program.clone());
        let bytes = self.memory();
        let address = device.allocate("memory", bytes.len() as u64, None).expect("room");
        device.write(address, &bytes).expect("it was just made");
        config.params[..8].copy_from_slice(&address.to_le_bytes());
        let second = config.params.len() - SMALL_BYTES as usize;
        config.params[second..].copy_from_slice(&bytes[..SMALL_BYTES as usize]);
        Machine::new(device, config).expect("a launch within the limits")
    }

    /// Neighbouring threads see the numbers from different ones on.
    fn memory(&self) -> Vec<u8> {
        let words = OWN_BYTES as usize / 8;
        let word = |thread: usize, at: usize| self.numbers[(at + thread * thread % 5) % self.numbers.len()];
        let threads = 0..(self.grid * self.block) as usize;
        threads.flat_map(|thread| (0..words).flat_map(move |at| word(thread, at).to_le_bytes())).collect()
    }

    /// Neither a watcher nor an account changes anything, nor does it matter whether instructions run one by one.
    fn check_watched(&self, whole: &Machine, ending: &Ending) {
        let single = self.machine(LaunchConfig { fast_paths: FastPaths::NONE, ..self.config() });
        assert_eq!(run(single, &mut NullObserver), *ending, "one by one: {}", self.kernel.text);
        assert_eq!(run(whole.clone(), &mut Watcher), *ending, "watched: {}", self.kernel.text);
        for instrumentation in [Instrumentation::Runs, Instrumentation::RunsAndWrites] {
            let machine = self.machine(LaunchConfig { instrumentation, ..self.config() });
            assert_eq!(run(machine, &mut NullObserver), *ending, "{instrumentation:?}: {}", self.kernel.text);
        }
    }

    /// A run that is cut into pieces, each begun from a copy, comes to the same state.
    fn check_cut(&self, whole: &Machine, ending: &Ending, ticks: u64) {
        let mut machine = whole.clone();
        let step = loop {
            let mut copy = machine.clone();
            let step = copy.run(ticks, &mut NullObserver);
            machine = copy;
            if step != Step::Budget {
                break step;
            }
        };
        assert_eq!(Ending::of(&machine, step), *ending, "cut every {ticks}: {}", self.kernel.text);
    }

    /// Warps in another order, with fewer of them there at once, come to the same results, or fault as well.
    fn check_order(&self, ending: &Ending, seed: u64) {
        let config = LaunchConfig { schedule: Schedule::Random, seed, resident: Some(1 + (seed % 2) as u32), ..self.config() };
        let other = run(self.machine(config), &mut NullObserver);
        self.assert_alike(&other, ending, "in another order");
    }

    /// Every thread in a block of its own comes to the same results, or one of them faults as well.
    fn check_alone(&self, ending: &Ending) {
        let config = LaunchConfig { grid: [self.grid * self.block, 1, 1], block: [1, 1, 1], ..self.config() };
        let other = run(self.machine(config), &mut NullObserver);
        self.assert_alike(&other, ending, "alone");
        assert!(ending.step != Step::Done || other.threads == ending.threads, "alone: {}", self.kernel.text);
    }

    /// Lanes that take their turns the other way execute the same and come to the same results, or one of them faults as well.
    fn check_other_divergence(&self, ending: &Ending) {
        let divergence = match self.divergence {
            DivergencePolicy::Independent => DivergencePolicy::Stack,
            DivergencePolicy::Stack => DivergencePolicy::Independent,
        };
        let other = run(self.machine(LaunchConfig { divergence, ..self.config() }), &mut NullObserver);
        self.assert_alike(&other, ending, "with the other divergence");
        assert!(ending.step != Step::Done || other.threads == ending.threads, "with the other divergence: {}", self.kernel.text);
    }

    /// Another run comes to the same memory, or does not end well either: which of several faults it meets first, and whether it is
    /// deadlocked before, depends on the order.
    fn assert_alike(&self, other: &Ending, ending: &Ending, how: &str) {
        let (done, other_done) = (ending.step == Step::Done, other.step == Step::Done);
        assert!(done == other_done, "{how}: {:?} and not {:?}: {}", other.step, ending.step, self.kernel.text);
        assert!(!done || other.memory == ending.memory, "{how}: {}", self.kernel.text);
    }
}
