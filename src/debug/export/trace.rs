//! A run as a trace in Chrome's format (an object with `traceEvents`), which Perfetto reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::debug::session::{InterruptCheck, Session};
use crate::debug::shown_name;
use crate::machine::{
    CopyEvent, CopyStage, Event, EventKind, EventMask, Issue, MbarrierChange, MbarrierEvent, Observer, SyncEvent, SyncKind, Tick,
};
use crate::program::Program;

/// Most events of a trace: a viewer cannot use more.
const EVENTS_MAX: usize = 2_000_000;

/// The first track of the copies of a block: slices of a track lie in each other or apart, so copies that overlap have several.
const COPIES: u32 = 1000;

/// A block and a track of it.
type Track = ([u32; 3], u32);

/// The trace of the recorded run.
pub(super) fn trace(session: &mut Session, interrupt: &mut dyn InterruptCheck) -> Result<String, String> {
    let (now, until) = (session.time(), session.recorded());
    if until == Tick::START {
        return Err("nothing has been executed yet: 'run' first, or 'goto end'".to_string());
    }
    let mut recorder = Recorder::new(Arc::clone(session.program()));
    session.timeline.restore(Tick::START);
    let ran = session.replay(until, &mut recorder, interrupt, |_, recorder| recorder.events.len() > EVENTS_MAX);
    session.return_to(now);
    if ran.is_err() {
        return Err("interrupted: nothing was written".to_string());
    }
    if recorder.events.len() > EVENTS_MAX {
        return Err(format!("the run has more than {EVENTS_MAX} events: a trace of it is of no use; run fewer blocks (--blocks)"));
    }
    Ok(recorder.finish(until, session))
}

/// A slice that is not over: its name, and its first and last tick.
struct Open {
    name: String,
    from: u64,
    last: u64,
}

/// A copy in flight.
struct Flight {
    /// Where it is shown.
    track: Track,
    name: String,
    from: u64,
    /// The number of its arrow: those of copies begin anew with each launch.
    flow: usize,
}

struct Recorder {
    program: Arc<Program>,
    events: Vec<Value>,
    /// The line that each warp is at.
    running: BTreeMap<Track, Open>,
    /// What each warp waits for.
    waiting: BTreeMap<Track, Open>,
    /// The copies in flight.
    copies: BTreeMap<u64, Flight>,
    /// The copies that were issued.
    flows: usize,
    /// The numbers of the blocks, in the order in which they ran.
    blocks: BTreeMap<[u32; 3], usize>,
    tracks: BTreeSet<Track>,
}

impl Recorder {
    fn new(program: Arc<Program>) -> Self {
        let (running, waiting) = (BTreeMap::new(), BTreeMap::new());
        let (copies, blocks, tracks) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { program, events: Vec::new(), running, waiting, copies, flows: 0, blocks, tracks }
    }

    /// The number of the block's process.
    fn process(&mut self, block: [u32; 3]) -> usize {
        let next = self.blocks.len() + 1;
        *self.blocks.entry(block).or_insert(next)
    }

    fn slice(&mut self, (block, track): Track, name: &str, category: &str, from: u64, until: u64) {
        let pid = self.process(block);
        self.tracks.insert((block, track));
        let duration = until.saturating_sub(from).max(1);
        self.events.push(json!({ "ph": "X", "pid": pid, "tid": track, "ts": from, "dur": duration, "name": name, "cat": category }));
    }

    fn before(&mut self, issue: &Issue) {
        let (point, tick) = (issue.point, issue.point.tick.0);
        let track = (point.block, point.warp.number());
        if let Some(open) = self.waiting.remove(&track) {
            self.slice(track, &open.name, "wait", open.from, tick);
        }
        let name = self.program.place(point.pc);
        match self.running.get_mut(&track) {
            // Other warps run between the instructions of one line: the slice goes on if nothing else has ended it.
            Some(open) if open.name == name => open.last = tick,
            _ => {
                if let Some(open) = self.running.insert(track, Open { name, from: tick, last: tick }) {
                    self.slice(track, &open.name, "line", open.from, open.last + 1);
                }
            }
        }
    }

    fn sync(&mut self, event: &SyncEvent<'_>) {
        let name = match event.kind {
            SyncKind::Arrived { id, waits: true, .. } => format!("barrier {id}"),
            SyncKind::ClusterWaits => "cluster barrier".to_string(),
            _ => return,
        };
        let track = (event.point.block, event.point.warp.number());
        let tick = event.point.tick.0 + 1;
        if let Some(open) = self.running.remove(&track) {
            self.slice(track, &open.name, "line", open.from, tick);
        }
        self.waiting.insert(track, Open { name, from: tick, last: tick });
    }

    fn copy(&mut self, event: &CopyEvent<'_>) {
        let (copy, tick) = (event.copy, event.tick.0);
        let track = (copy.issued.block, copy.issued.warp.number());
        let name = format!("copy #{} of {}", copy.id, self.program.place(copy.issued.pc));
        match event.stage {
            CopyStage::Issued => {
                self.flows += 1;
                self.arrow("s", track, tick, self.flows);
                let is_free = |row: &u32| !self.copies.values().any(|flight| flight.track == (track.0, *row));
                let row = (COPIES..).find(is_free).unwrap_or(COPIES);
                self.copies.insert(copy.id, Flight { track: (track.0, row), name, from: tick, flow: self.flows });
            }
            CopyStage::Read => {}
            CopyStage::Ended => {
                if let Some(Flight { track, name, from, flow }) = self.copies.remove(&copy.id) {
                    self.slice(track, &name, "copy", from, tick);
                    self.arrow("f", track, tick, flow);
                }
            }
        }
    }

    /// The start or the end of an arrow between slices.
    fn arrow(&mut self, phase: &str, (block, track): Track, tick: u64, number: usize) {
        let pid = self.process(block);
        self.events.push(json!({
            "ph": phase, "pid": pid, "tid": track, "ts": tick, "id": number, "name": "copy", "cat": "copy", "bp": "e",
        }));
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) {
        let MbarrierChange::PhaseCompleted(phase) = event.change else { return };
        let pid = self.process(event.block);
        let name = format!("mbarrier {:#x}", event.address);
        self.events.push(json!({ "ph": "C", "pid": pid, "ts": event.point.tick.0, "name": name, "args": { "phases": phase + 1 } }));
    }

    /// Ends what is open at `until`, and writes the document, with the names of the session.
    fn finish(mut self, until: Tick, session: &Session) -> String {
        for (track, open) in std::mem::take(&mut self.running) {
            self.slice(track, &open.name, "line", open.from, open.last + 1);
        }
        for (track, open) in std::mem::take(&mut self.waiting) {
            self.slice(track, &open.name, "wait", open.from, until.0);
        }
        for Flight { track, name, from, flow: _ } in std::mem::take(&mut self.copies).into_values() {
            self.slice(track, &name, "copy", from, until.0);
        }
        let kernel = shown_name(&self.program.functions[session.machine().config().kernel.index()].name).into_owned();
        let process = |([x, y, z], pid): (&[u32; 3], &usize)| {
            let name = format!("block {x},{y},{z}");
            json!({ "ph": "M", "pid": pid, "name": "process_name", "args": { "name": name } })
        };
        let mut events: Vec<Value> = self.blocks.iter().map(process).collect();
        for (block, track) in &self.tracks {
            let name = match track.checked_sub(COPIES) {
                None => session.roles.warp(*track),
                Some(0) => "copies".to_string(),
                Some(row) => format!("copies {}", row + 1),
            };
            let pid = self.blocks.get(block);
            events.push(json!({ "ph": "M", "pid": pid, "tid": track, "name": "thread_name", "args": { "name": name } }));
        }
        events.append(&mut self.events);
        format!("{}\n", json!({ "traceEvents": events, "displayTimeUnit": "ns", "otherData": { "kernel": kernel } }))
    }
}

impl Observer for Recorder {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before, EventKind::Sync, EventKind::Copy, EventKind::Mbarrier])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Before(issue, ..) => self.before(issue),
            Event::Sync(sync) => self.sync(sync),
            Event::Copy(copy) => self.copy(copy),
            Event::Mbarrier(mbarrier) => self.mbarrier(mbarrier),
            Event::Access(_)
            | Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Wgmma(_)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        false
    }
}
