//! Divides the time axis of a pipeline into cells such that every change is visible.
//!
//! Every interval between two changes gets one cell; the remaining cells are distributed by length. So time is not to scale, but no change
//! is lost; if there are more changes than cells, the latest are shown.

use super::{Pipeline, Stage, StageState};
use crate::machine::Tick;

/// A pipeline in cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// The time at which each cell begins.
    pub times: Vec<Tick>,
    /// The time at which the last one ends.
    pub end: Tick,
    /// For each stage, its state in each cell; none if unknown.
    pub stages: Vec<Vec<Option<StageState>>>,
}

/// The pipeline in `width` cells.
pub fn cells(pipeline: &Pipeline, width: usize) -> Cells {
    let mut changes: Vec<Tick> = pipeline.stages.iter().flat_map(|stage| &stage.spans).flat_map(|span| [span.from, span.until]).collect();
    changes.sort_unstable();
    changes.dedup();
    let changes = changes.split_off(changes.len().saturating_sub(width + 1));
    let (Some(first), Some(end)) = (changes.first().copied(), changes.last().copied()) else { return Cells::default() };
    let intervals = changes.len() - 1;
    let (spare, duration) = ((width - intervals.min(width)) as u128, u128::from((end - first).max(1)));
    // The first cell of each interval: one for each interval before it, and their share of the spare cells.
    let start = |index: usize| index + (spare * u128::from(changes.get(index).copied().unwrap_or(end) - first) / duration) as usize;
    let mut times = Vec::new();
    for index in 0..intervals {
        let (from, until) = (changes[index], changes[index + 1]);
        let cells = start(index + 1).saturating_sub(start(index)).max(1) as u64;
        times.extend((0..cells).map(|cell| from + ((until - from).saturating_mul(cell)) / cells));
    }
    let row = |stage: &Stage| times.iter().map(|time| state_at(stage, *time)).collect();
    Cells { stages: pipeline.stages.iter().map(row).collect(), times, end }
}

fn state_at(stage: &Stage, time: Tick) -> Option<StageState> {
    stage.spans.iter().find(|span| (span.from..span.until).contains(&time)).map(|span| span.state)
}

#[cfg(test)]
mod tests {
    use super::super::StageSpan;
    use super::*;

    #[test]
    fn every_change_has_a_cell() {
        let span = |state, from, until| StageSpan { state, from: Tick(from), until: Tick(until) };
        let spans = vec![span(StageState::Fill, 10, 1000), span(StageState::Full, 1000, 1001), span(StageState::Read, 1001, 1100)];
        let stage = Stage { name: String::new(), empty: None, spans, never_full: false };
        let cells = cells(&Pipeline { stages: vec![stage], note: None }, 12);
        let count = |state| cells.stages[0].iter().filter(|cell| **cell == Some(state)).count();
        assert_eq!((count(StageState::Fill), count(StageState::Full), count(StageState::Read)), (9, 1, 2));
        assert_eq!((cells.times.first(), cells.end, cells.times.len()), (Some(&Tick(10)), Tick(1100), 12));
        let few =
            super::cells(&Pipeline { stages: vec![Stage { spans: Vec::new(), ..Stage::clone(&stage_of(3)) }, stage_of(3)], note: None }, 2);
        assert_eq!(few.times, [Tick(1), Tick(2)], "the latest");
    }

    /// A stage that changes at 0, 1, 2 up to `changes`.
    fn stage_of(changes: u64) -> Stage {
        let state = |from: u64| if from.is_multiple_of(2) { StageState::Fill } else { StageState::Read };
        let span = |from| StageSpan { state: state(from), from: Tick(from), until: Tick(from + 1) };
        Stage { name: String::new(), empty: None, spans: (0..changes).map(span).collect(), never_full: false }
    }
}
