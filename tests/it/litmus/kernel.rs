//! A program as a kernel, and what a run of it shows.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use ptxdbg::base::Sources;
use ptxdbg::check::{Checkers, Checks};
use ptxdbg::debug::{DivergencePolicy, MemoryModel, Schedule};
use ptxdbg::machine::{Device, LaunchConfig, Machine, Step};

use super::program::{At, Op, Program};
use crate::look::one_warp::one_warp;

/// Bytes from a location to the next.
const APART: usize = 128;

/// Locations of a program.
const LOCATIONS: usize = 8;

/// The value of an operation that has returned none.
const NOTHING: u32 = u32::MAX;

/// The kernel of a program.
pub struct Kernel {
    program: Arc<ptxdbg::program::Program>,
    grid: u32,
    warps: u32,
    /// The operation on each source line that accesses memory.
    lines: BTreeMap<u32, At>,
    /// The reads, in order.
    reads: Vec<At>,
}

/// What a run shows.
pub struct Shown {
    /// The pairs that race, the lesser first.
    pub races: Vec<(At, At)>,
    /// What each read returned.
    pub outcome: Vec<Option<u32>>,
}

impl Kernel {
    pub fn new(program: &Program) -> Self {
        let blocks = program.threads.iter().map(|thread| thread.block).max().unwrap_or(0) + 1;
        let warp = |number: usize| program.threads[..number].iter().filter(|other| other.block == program.threads[number].block).count();
        let warps = (0..program.threads.len()).map(|number| warp(number) + 1).max().unwrap_or(1);
        let reads: Vec<At> = program.all().filter(|at| program.op(*at).reads()).collect();
        let mut text = String::from(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 words)\n{\n.reg .b32 %t, %b, %v;\n.reg .b64 %w;\n\
             .reg .pred %p, %q;\nld.param.u64 %w, [words];\nmov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\n",
        );
        for (number, thread) in program.threads.iter().enumerate() {
            let (first, block) = (warp(number) * 32, thread.block);
            let _ = write!(text, "setp.eq.u32 %p, %t, {first};\nsetp.eq.and.u32 %q, %b, {block}, %p;\n@%q bra T{number};\n");
        }
        text.push_str("ret;\n");
        let mut lines = BTreeMap::new();
        for (number, thread) in program.threads.iter().enumerate() {
            let _ = writeln!(text, "T{number}:");
            for (index, op) in thread.ops.iter().enumerate() {
                if op.access().is_some() {
                    lines.insert(text.lines().count() as u32 + 1, (number, index));
                }
                text.push_str(&statement(*op));
                if let Some(slot) = reads.iter().position(|at| *at == (number, index)).filter(|_| !matches!(op, Op::Reduce(..))) {
                    let _ = writeln!(text, "st.global.u32 [%w+{}], %v;", LOCATIONS * APART + slot * 4);
                }
            }
            text.push_str("ret;\n");
        }
        text.push_str("}\n");
        let (loaded, diagnostics) = ptxdbg::sema::load(&mut Sources::default(), "litmus.ptx", text.clone());
        let Some(loaded) = loaded else { panic!("{text}\n{diagnostics:#?}") };
        Self { program: loaded, grid: blocks as u32, warps: warps as u32, lines, reads }
    }

    /// Runs it in an order.
    pub fn run(&self, schedule: Schedule, seed: u64, memory: MemoryModel) -> Shown {
        let mut device = Device::new(Arc::clone(&self.program));
        let bytes = (LOCATIONS * APART + self.reads.len() * 4) as u64;
        let out = device.allocate("words", bytes, Some(0)).unwrap();
        device.write(out + (LOCATIONS * APART) as u64, &vec![0xff; self.reads.len() * 4]).unwrap();
        let kernel = self.program.function("k").unwrap();
        let config = LaunchConfig {
            grid: [self.grid, 1, 1],
            block: [self.warps * 32, 1, 1],
            schedule,
            seed,
            memory,
            divergence: DivergencePolicy::Independent,
            ..one_warp(kernel, out)
        };
        let mut machine = Machine::new(device, config).unwrap();
        let mut checkers = Checkers::new(&self.program, Checks::ALL);
        checkers.begin(0, &machine.launch_start());
        let mut step = Step::Paused;
        while step == Step::Paused {
            step = machine.run(1 << 16, &mut checkers);
        }
        assert_eq!(step, Step::Done);
        checkers.end(&machine.launch_end(), None);
        let line = |pc: ptxdbg::program::Pc| self.lines[&self.program.line(pc)];
        let races = checkers.findings().list().iter().filter(|finding| finding.id.word().starts_with("race.")).map(|finding| {
            let (first, second) = (line(finding.first.as_ref().unwrap().point.pc), line(finding.second.point.pc));
            (first.min(second), first.max(second))
        });
        let mut words = vec![0; self.reads.len() * 4];
        machine.device().read(out + (LOCATIONS * APART) as u64, &mut words).unwrap();
        let outcome = words.as_chunks().0.iter().map(|word| Some(u32::from_le_bytes(*word)).filter(|value| *value != NOTHING)).collect();
        Shown { races: races.collect(), outcome }
    }
}

fn statement(op: Op) -> String {
    let place = |at: usize| format!("[%w+{}]", at * APART);
    match op {
        Op::Load(at, how) => format!("ld{}.global.u32 %v, {};\n", how.words(), place(at)),
        Op::Store(at, how, value) => format!("st{}.global.u32 {}, {value};\n", how.words(), place(at)),
        Op::Add(at, how, value) => format!("atom{}.global.add.u32 %v, {}, {value};\n", how.words(), place(at)),
        Op::Reduce(at, how, value) => format!("red{}.global.add.u32 {}, {value};\n", how.words(), place(at)),
        Op::Fence { sc: true, scope } => format!("fence.sc{};\n", scope.word()),
        Op::Fence { sc: false, scope } => format!("fence.acq_rel{};\n", scope.word()),
        Op::Unless(wanted) => format!("setp.ne.u32 %p, %v, {wanted};\n@%p ret;\n"),
        Op::Barrier => "bar.sync 0;\n".to_string(),
    }
}
