//! What operations say that they do, held against what they do in runs of the suites.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::collections::BTreeSet;
use std::path::Path;

use ptxdbg::debug::open::read_module;
use ptxdbg::debug::{RunOptions, start_case};
use ptxdbg::launch::{LaunchFile, Overrides, plan};
use ptxdbg::machine::{AccessKind, CopyStage, Event, EventKind, EventMask, Issue, Observer, SyncKind, WgmmaChange};
use ptxdbg::program::{Effect, Pc, Program};

/// Checks every event against the effects of the instruction that it comes from.
struct Held<'a> {
    program: &'a Program,
    file: &'a Path,
    /// The instructions that were seen to do something.
    seen: BTreeSet<(Pc, u8)>,
    /// What the last instruction was, and whether the group that executed it is whole.
    last: Option<Issue>,
}

impl Held<'_> {
    fn expect(&mut self, pc: Pc, effect: Effect) {
        let op = self.program.code[pc.index()].op;
        assert!(op.effects(self.program).has(effect), "{}: {} does {effect:?}", self.file.display(), self.program.text(pc));
        self.seen.insert((pc, effect as u8));
    }

    /// An instruction that was executed by all lanes of a group is followed by the next one, unless it branches.
    fn follows(&mut self, issue: &Issue) {
        let Some(last) = self.last.replace(*issue) else { return };
        let same =
            (last.point.block, last.point.warp, last.lanes, last.depth) == (issue.point.block, issue.point.warp, issue.lanes, issue.depth);
        if same && last.active == last.lanes && issue.point.tick == last.point.tick + 1 && issue.point.pc.0 != last.point.pc.0 + 1 {
            self.expect(last.point.pc, Effect::Branches);
        }
    }
}

impl Observer for Held<'_> {
    fn mask(&self) -> EventMask {
        use EventKind::{Access, Before, Collective, Copy, Mbarrier, Sync, Wgmma};
        EventMask::of(&[Access, Before, Copy, Collective, Mbarrier, Sync, Wgmma])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => {
                let (reads, writes) = match access.kind {
                    AccessKind::Read => (true, false),
                    AccessKind::Write => (false, true),
                    AccessKind::Atomic => (true, true),
                };
                let doing = [(reads, Effect::ReadsMemory), (writes, Effect::WritesMemory)];
                doing.into_iter().filter(|(does, _)| *does).for_each(|(_, effect)| self.expect(access.point.pc, effect));
            }
            Event::Sync(event) => match event.kind {
                SyncKind::Fence { .. } | SyncKind::WarpSync { .. } | SyncKind::ClusterWaits | SyncKind::Awaited(_) => {
                    self.expect(event.point.pc, Effect::Orders);
                }
                SyncKind::Arrived { waits, .. } => {
                    self.expect(event.point.pc, Effect::Orders);
                    if waits {
                        self.expect(event.point.pc, Effect::Blocks);
                    }
                }
                SyncKind::Collective { .. } => self.expect(event.point.pc, Effect::Collective),
                SyncKind::Committed { .. } => self.expect(event.point.pc, Effect::Asynchronous),
                SyncKind::BarrierCompleted { .. }
                | SyncKind::ClusterArrived { .. }
                | SyncKind::ClusterBarrierCompleted { .. }
                | SyncKind::Exited => {}
            },
            Event::Collective(collective) => self.expect(collective.point.pc, Effect::Collective),
            Event::Copy(event) if event.stage == CopyStage::Issued => self.expect(event.copy.issued.pc, Effect::Asynchronous),
            Event::Wgmma(event) => {
                if let WgmmaChange::Issued { .. } = event.change {
                    self.expect(event.point.pc, Effect::Asynchronous);
                }
            }
            Event::Before(issue, ..) => self.follows(issue),
            Event::LocalStart(_) | Event::Mbarrier(_) | Event::Copy(_) | Event::After(..) | Event::Reconverged(..) | Event::Arrived(..) => {
            }
        }
        false
    }
}

fn run(path: &Path) -> usize {
    let folder = path.parent().unwrap();
    let file = LaunchFile::parse("test.ron", folder, std::fs::read_to_string(path).unwrap()).unwrap();
    let program = read_module(&folder.join(file.module().unwrap())).unwrap().program.unwrap();
    let plan = plan(&file, &program, "test", &Overrides::default()).unwrap();
    let mut held = Held { program: &program, file: path, seen: BTreeSet::new(), last: None };
    for case in &plan.cases {
        let Ok(Ok(mut machine)) = start_case(&program, case, &RunOptions::unwatched()) else { continue };
        held.last = None;
        machine.run(20_000, &mut held);
    }
    held.seen.len()
}

#[test]
fn runs_do_only_what_effects_say() {
    let mut seen = 0;
    for folder in ["hardware", "programs"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|found| found == "ron") {
                seen += run(&path);
            }
        }
    }
    assert!(seen > 2_000, "only {seen} effects");
}
