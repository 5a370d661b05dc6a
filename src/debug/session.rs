//! One debugging session: a recorded run, where the user stands in it, and what the user asked to be told.

use std::sync::Arc;

use super::breakpoints::{Breakpoints, Event};
use super::focus::Focus;
use super::marks::Marks;
use super::open::Opened;
use super::run::RunOptions;
use super::scene::Scene;
use super::settings::Settings;
use super::timeline::{End, Input, StartError, Timeline};
use crate::launch::Case;
use crate::machine::{Machine, Tick};
use crate::program::Program;

/// A debugging session.
pub struct Session {
    program: Arc<Program>,
    pub(super) timeline: Timeline,
    /// The thread the user looks at.
    pub focus: Focus,
    /// What the user has set.
    pub settings: Settings,
    /// Where runs stop.
    pub breakpoints: Breakpoints,
    /// Named times.
    pub marks: Marks,
    pub(super) visited: Visited,
    /// What the focused warp runs to (`run-to`).
    pub(super) wanted_event: Option<Event>,
    /// What logpoints wrote since the run began.
    pub(super) log: Vec<String>,
}

/// How far a long run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The time it is at.
    pub time: Tick,
    /// Blocks that have begun to execute.
    pub blocks_started: u64,
    /// Blocks of the grid.
    pub blocks: u64,
}

/// Asked every few milliseconds of a long run whether it shall go on.
pub trait Pace {
    /// False stops the run where it stands.
    fn go_on(&mut self, progress: Progress) -> bool;
}

/// Runs to the end, whatever it takes.
pub struct Unhurried;

impl Pace for Unhurried {
    fn go_on(&mut self, _progress: Progress) -> bool {
        true
    }
}

/// The times the user stood at, for `back` and `forward`.
#[derive(Default)]
pub(super) struct Visited {
    times: Vec<Tick>,
    at: usize,
}

impl Session {
    /// A session about case number `case` of what was opened, standing before the first instruction.
    ///
    /// # Errors
    /// There is no such case, the device refuses its first launch, or its buffers cannot be filled.
    pub fn new(mut opened: Opened, case: usize, options: RunOptions) -> Result<Self, StartError> {
        if case >= opened.plan.cases.len() {
            return Err(super::run::RunError::NoLaunch.into());
        }
        let timeline = Timeline::new(Arc::clone(&opened.program), opened.plan.cases.swap_remove(case), options)?;
        let mut visited = Visited::default();
        visited.push(timeline.time());
        let (focus, settings) = (Focus::default(), Settings::default());
        Ok(Self { program: opened.program, timeline, focus, settings, breakpoints: Breakpoints::default(), marks: Marks::default(), visited, wanted_event: None, log: Vec::new() })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What is run.
    pub fn case(&self) -> &Case {
        self.timeline.case()
    }

    /// The machine as it is now.
    pub fn machine(&self) -> &Machine {
        self.timeline.machine()
    }

    /// The machine as the focused thread sees it.
    pub fn scene(&self) -> Scene<'_> {
        Scene::at(self.machine(), self.focus)
    }

    /// Where the session stands in time.
    pub fn time(&self) -> Tick {
        self.timeline.time()
    }

    /// The latest time that was executed.
    pub fn recorded(&self) -> Tick {
        self.timeline.recorded()
    }

    /// How the run ends, at [`Self::recorded`], if it has been run to its end.
    pub fn ended(&self) -> Option<&End> {
        self.timeline.end()
    }

    /// Whether going on from here executes what was not executed before.
    pub fn is_at_front(&self) -> bool {
        self.time() == self.recorded() && self.ended().is_none()
    }

    /// Number of the launch that runs, from 0.
    pub fn launch(&self) -> usize {
        self.timeline.launch()
    }

    /// Addresses of the buffers that were made so far, in the case's order.
    pub fn addresses(&self) -> &[u64] {
        self.timeline.addresses()
    }

    /// What the user did to the run, and when.
    pub fn inputs(&self) -> &[(Tick, Input)] {
        self.timeline.inputs()
    }

    /// Puts the settings in force that the engine itself acts on.
    pub fn apply_settings(&mut self) {
        self.timeline.set_snapshot_memory(self.settings.snapshot_memory);
    }

    pub(super) fn progress(&self) -> Progress {
        let machine = self.machine();
        Progress { time: machine.tick(), blocks_started: machine.blocks_started(), blocks: machine.block_count() }
    }
}

impl Visited {
    /// Remembers a time the user came to; what lay ahead is forgotten.
    pub fn push(&mut self, time: Tick) {
        if self.times.get(self.at) == Some(&time) {
            return;
        }
        self.times.truncate(self.at + 1);
        self.times.push(time);
        self.at = self.times.len() - 1;
    }

    /// The time before the present one, which becomes the present one.
    pub fn back(&mut self) -> Option<Tick> {
        self.at = self.at.checked_sub(1)?;
        self.times.get(self.at).copied()
    }

    /// The time that was left by going back.
    pub fn forward(&mut self) -> Option<Tick> {
        let time = self.times.get(self.at + 1).copied()?;
        self.at += 1;
        Some(time)
    }
}
