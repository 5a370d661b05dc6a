//! The pipeline of a block over time: the intervals in which each stage was filled, full, read and empty.
//!
//! A stage is an mbarrier that copies complete on. It fills from the first copy of a phase, or from the first `expect_tx`, to the end of
//! the phase; it is full until a thread that waits for the phase continues; it is read from then until a phase of the stage's "empty"
//! mbarrier ends. That mbarrier is a guess: if a block has as many mbarriers without copies as with copies, they are paired in order of
//! address. Without one, a stage counts as read until it fills again.
//!
//! The machine has no history of this: the last part of the run is executed again with an observer ([`recorder`]).

mod recorder;
mod scale;

use recorder::{PipelineEvent, Recorder, Track};
pub use scale::{Cells, cells};

use crate::debug::eval_context::ThreadError;
use crate::debug::names::memory_name::mbarrier;
use crate::debug::session::Session;
use crate::debug::timeline::End;
use crate::machine::{Mbarrier, Phase, Tick};

/// Ticks before the present that are executed again, at least.
const WINDOW: u64 = 1 << 15;

/// The stages of a block's pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// In order of address.
    pub stages: Vec<Stage>,
    /// A note for the user.
    pub note: Option<String>,
}

/// A stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The mbarrier that copies complete on: `full[1]`.
    pub name: String,
    /// The mbarrier whose phases end when it was read: `empty[1]`.
    pub empty: Option<String>,
    /// Its states in order of time, without gaps.
    pub spans: Vec<StageSpan>,
    /// True if the run ended while it was being filled and no copy in flight can fill it.
    pub never_full: bool,
}

/// The state of a stage in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageSpan {
    /// Its state.
    pub state: StageState,
    /// Start of the interval.
    pub from: Tick,
    /// End of the interval, exclusive.
    pub until: Tick,
}

/// The state of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageState {
    /// It is being filled.
    Fill,
    /// It is full, and not yet read.
    Full,
    /// It is being read.
    Read,
    /// It has been read, or has not been filled yet.
    Empty,
}

impl StageState {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Full => "full",
            Self::Read => "read",
            Self::Empty => "empty",
        }
    }
}

/// The pipeline of the focused block, up to now.
///
/// # Errors
/// The block is not resident.
pub fn pipeline(session: &Session) -> Result<Pipeline, ThreadError> {
    let (context, now) = (session.eval_context(), session.time());
    let block = context.block()?;
    let block_slot = session.machine().block_slot_of(block).ok_or(ThreadError::Finished { block: block.index })?;
    let from = now.saturating_sub(WINDOW).max(session.machine().start());
    let mut recorder = Recorder::new(block.index);
    session.timeline.replay(from, now, &mut recorder);
    let is_over = now == session.recorded() && matches!(session.ended(), Some(End::Fault(_)));
    let object = |address: u32| block.shared.mbarriers().find(|(at, _)| *at == address).map(|(_, object)| object);
    let tracks = || recorder.tracks.iter().filter_map(|(address, track)| Some((*address, track, object(*address)?)));
    let filled: Vec<_> = tracks().filter(|(_, track, _)| track.is_filled).collect();
    let others: Vec<_> = block.shared.mbarriers().filter(|(address, _)| filled.iter().all(|(other, ..)| other != address)).collect();
    let is_paired = filled.len() == others.len();
    let stage = |(index, (address, track, object)): (usize, &(u32, &Track, &Mbarrier))| {
        let empty = others.get(index).filter(|_| is_paired);
        let emptied = empty.map(|(_, object)| object.history.as_slice());
        Stage {
            name: mbarrier(&context, block, *address),
            empty: empty.map(|(address, _)| mbarrier(&context, block, *address)),
            ..spans(
                track,
                &object.history,
                emptied,
                now,
                is_over && session.machine().in_flight().to_mbarrier(block_slot, *address).is_empty(),
            )
        }
    };
    let stages: Vec<Stage> = filled.iter().enumerate().map(stage).collect();
    let note = match (stages.is_empty(), is_paired) {
        (true, _) => Some(format!("no copy has completed, or will, on an mbarrier of this block since t={from}")),
        (false, false) => Some("no mbarrier says when a stage was read: it counts as read until it fills again".to_string()),
        (false, true) => None,
    };
    Ok(Pipeline { stages, note })
}

/// The states of a stage, from the phases of its mbarrier and of its "empty" mbarrier.
fn spans(track: &Track, phases: &[Phase], emptied: Option<&[Phase]>, now: Tick, is_deadlocked: bool) -> Stage {
    let mut spans: Vec<StageSpan> = Vec::new();
    let mut add = |state, from: Tick, until: Tick| {
        if from < until {
            spans.push(StageSpan { state, from, until });
        }
    };
    let begins = |from: usize| {
        let mut later = track.events.iter().enumerate().skip(from);
        later.find_map(|(at, event)| if let PipelineEvent::Begins(time) = event { Some((at, *time)) } else { None })
    };
    let end_of = |phase: &Phase| track.events.iter().position(|event| *event == PipelineEvent::Ends(phase.number));
    let ends: Vec<(&Phase, usize)> = phases.iter().filter_map(|phase| Some((phase, end_of(phase)?))).collect();
    // Events before the first recorded phase may belong to an earlier phase.
    let mut next = match ends.first() {
        Some((phase, end)) if phase.number > 0 => end + 1,
        _ => 0,
    };
    for (index, (phase, end)) in ends.iter().enumerate() {
        if let Some((_, begin)) = begins(next).filter(|(at, _)| at < end) {
            add(StageState::Fill, begin, phase.ended);
        }
        next = end + 1;
        let limit = ends.get(index + 1).map_or(track.events.len(), |(_, end)| *end);
        let refilled = begins(next).map_or(now, |(_, time)| time).max(phase.ended);
        let parity = (phase.number & 1) as u32;
        let passed = track.events.get(next..limit).unwrap_or_default().iter().find_map(|event| match event {
            PipelineEvent::Passed(time, of) if *of == parity => Some(*time),
            _ => None,
        });
        let read = passed.unwrap_or(refilled).clamp(phase.ended, refilled);
        add(StageState::Full, phase.ended, read);
        let emptied = emptied.and_then(|phases| phases.iter().find(|phase| phase.ended > read)).map(|phase| phase.ended);
        let done = if passed.is_some() { emptied.unwrap_or(refilled).min(refilled) } else { read };
        add(StageState::Read, read, done);
        add(StageState::Empty, done, refilled);
    }
    let filling = begins(next);
    if let Some((_, begin)) = filling {
        add(StageState::Fill, begin, now);
    }
    Stage { name: String::new(), empty: None, spans, never_full: is_deadlocked && filling.is_some() }
}
