//! Machines that stand somewhere in a fixture, to be looked at.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

pub mod one_warp;
pub mod wide;

use std::path::Path;
use std::sync::Arc;

use ptxdbg::debug::eval_context::{Buffer, EvalContext};
use ptxdbg::debug::focus::Focus;
use ptxdbg::debug::names::inferred::InferredTypes;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions, start_case};
use ptxdbg::machine::{Machine, NullObserver};

/// A machine, and the types of its buffers.
pub struct LaneLocation {
    pub machine: Machine,
    pub buffers: Vec<Buffer>,
    pub usage: InferredTypes,
}

/// The machine after this many ticks of a fixture's launch.
pub fn location(path: &str, ticks: u64) -> LaneLocation {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap();
    let case = &opened.plan.cases[0];
    let mut machine = start_case(&Arc::clone(&opened.program), case, &RunOptions::unwatched()).unwrap().unwrap();
    let _ = machine.run(ticks, &mut NullObserver);
    LaneLocation { usage: InferredTypes::new(machine.program()), buffers: Buffer::of_case(case), machine }
}

impl LaneLocation {
    /// What a thread of block 0 sees.
    pub fn eval_context(&self, warp: u32, lane: u32) -> EvalContext<'_> {
        let focus = Focus { warp, lane, ..Focus::default() };
        EvalContext::at(&self.machine, focus).with_buffers(&self.buffers).with_inferred_types(&self.usage)
    }
}
