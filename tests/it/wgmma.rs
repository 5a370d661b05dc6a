//! Asynchronous matrix multiplications: what a warp sees of them under every policy, how they are shown, and what time travel makes of
//! them. That their results are those of the hardware is for `recordings.rs`, what stops a run for `faults.rs`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot open a fixture fails")]

use std::path::Path;

use ptxdbg::command::{CommandState, Context, Outcome, View, execute};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::{CompletionPolicyKind, LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::isa::{Major, MatrixDescriptor, SharedTile, Swizzle};
use ptxdbg::machine::{BlockId, Event, EventKind, EventMask, LaneMask, Machine, Observer, Step, Tick, WgmmaChange};
use ptxdbg::program::operands::Use;
use ptxdbg::ui::text::in_flight::in_flight;

/// The session about a kernel of the fixture, number `case`, after these commands.
fn session(case: usize, copies: CompletionPolicyKind, lines: &[&str]) -> Session {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/async/wgmma.ron"));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap();
    let mut session = Session::new(opened, case, RunOptions { copies, ..RunOptions::unwatched() }).unwrap();
    lines.iter().for_each(|line| drop(answer(&mut session, line)));
    session
}

fn answer(session: &mut Session, line: &str) -> Outcome {
    let mut state = CommandState::default();
    let mut context = Context { session, state: &mut state, interrupt: &mut NeverInterrupt, confirmed: true };
    execute(line, &mut context).unwrap_or_else(|error| panic!("{line}: {}", error.message))
}

/// The cells of a listing and its note.
fn listing(session: &mut Session, line: &str) -> (Vec<Vec<String>>, String) {
    match answer(session, line) {
        Outcome::View(View::InFlight(view)) => {
            let table = in_flight(&view);
            (table.rows.into_iter().map(|row| row.cells).collect(), table.note.unwrap_or_default())
        }
        other => panic!("{line}: {other:?}"),
    }
}

/// The bits of `out[at]`.
fn out(session: &Session, at: u64) -> u32 {
    let mut bytes = [0; 4];
    let global = session.machine().device().global();
    let allocation = global.allocations().find(|allocation| &*allocation.name == "out").unwrap();
    allocation.pages.read(4 * at, &mut bytes);
    u32::from_le_bytes(bytes)
}

const POISON: u32 = u32::MAX;
const EARLY: usize = 0;
const GROUPS: usize = 1;

fn bits(value: f32) -> u32 {
    value.to_bits()
}

/// Two products of 16 added up in one accumulator.
#[test]
fn an_accumulator_read_early_is_poison_unless_it_ended_at_once() {
    for (policy, early) in [(CompletionPolicyKind::Lazy, POISON), (CompletionPolicyKind::Eager, bits(32.0))] {
        let session = session(EARLY, policy, &["continue"]);
        for thread in 0..128 {
            assert_eq!((out(&session, thread), out(&session, 128 + thread)), (early, bits(32.0)), "{policy:?} thread {thread}");
        }
    }
}

#[test]
fn a_wait_ends_what_was_committed_before_it_and_no_more() {
    let results = |policy| {
        let session = session(GROUPS, policy, &["continue"]);
        [0, 128, 256, 384].map(|at| out(&session, at))
    };
    // d is 16; e, whose A is negated, -16; f 16.
    assert_eq!(results(CompletionPolicyKind::Eager), [bits(16.0), bits(-16.0), bits(-16.0), bits(16.0)]);
    assert_eq!(results(CompletionPolicyKind::Lazy), [bits(16.0), POISON, bits(-16.0), POISON]);
    for seed in 0..8 {
        let [d, early, late, lost] = results(CompletionPolicyKind::Random(seed));
        assert_eq!([d, late], [bits(16.0), bits(-16.0)], "seed {seed}");
        assert!([POISON, bits(-16.0)].contains(&early) && [POISON, bits(16.0)].contains(&lost), "seed {seed}: {early:#x} {lost:#x}");
    }
}

#[test]
fn by_hand_a_wait_lasts_until_the_user_ends_it() {
    let mut session = session(EARLY, CompletionPolicyKind::ByHand, &["break op wgmma.wait_group", "continue"]);
    // Warp 3, which completed the barrier, goes on first.
    let (rows, note) = listing(&mut session, "info async");
    let shown: Vec<&[String]> = rows.iter().map(|row| &row[..6]).collect();
    // It reads 16 rows of 32 bytes of A, and all 8 columns of B.
    assert_eq!(shown[0], ["#1", "wgmma m64n8k16", "768", "tile_a, tile_b", "%d0 … %d3", "wgmma group 0"]);
    assert_eq!(shown.len(), 2);
    assert_eq!(note, "warp 3: wgmma group 0 committed (2 wgmmas), not waited for");
    // The second of a warp ends after the first.
    answer(&mut session, "complete 2");
    assert!(listing(&mut session, "info async").0.is_empty());
    answer(&mut session, "delete");
    answer(&mut session, "continue");
    // The group is the warpgroup's: no warp goes on before the parts of all have ended.
    assert_eq!((out(&session, 96), out(&session, 128 + 96), out(&session, 128)), (POISON, 0, 0));
    let (_, note) = listing(&mut session, "info async");
    assert_eq!(note, "warps 0-2: wgmma group 0 committed (2 wgmmas), waited for");
    for number in [4, 6, 8] {
        answer(&mut session, &format!("complete {number}"));
    }
    answer(&mut session, "continue");
    assert_eq!([96, 128 + 96, 128].map(|at| out(&session, at)), [POISON, bits(32.0), bits(32.0)]);
}

/// The first warp to wait ends the parts of all four, and the registers of the others are theirs again once they have waited themselves.
#[test]
fn the_wait_of_one_warp_ends_the_group_of_all() {
    let mut session =
        session(EARLY, CompletionPolicyKind::Lazy, &["break op wgmma.wait_group", "continue", "continue", "continue", "continue"]);
    answer(&mut session, "delete");
    assert!(!listing(&mut session, "info async").0.is_empty());
    answer(&mut session, "stepi");
    assert!(listing(&mut session, "info async").0.is_empty());
    let value = |session: &mut Session, warp: u32| {
        answer(session, &format!("warp {warp}"));
        format!("{:?}", answer(session, "print %d0"))
    };
    let stepped = session.focus.warp;
    for warp in 0..4 {
        let shown = value(&mut session, warp);
        assert_eq!(shown.contains("poison"), warp != stepped, "warp {warp}: {shown}");
    }
}

#[test]
fn going_back_restores_what_is_in_flight() {
    for policy in [CompletionPolicyKind::Lazy, CompletionPolicyKind::Random(3)] {
        let mut session = session(GROUPS, policy, &["continue"]);
        let end = session.time();
        for time in [Tick(end.0 / 2), end - 9, Tick(end.0 / 3), end - 30] {
            answer(&mut session, &format!("goto {time}"));
            let digest = session.machine().digest();
            answer(&mut session, "goto end");
            answer(&mut session, &format!("goto {time}"));
            assert_eq!(session.machine().digest(), digest, "{policy:?} t={time}");
        }
    }
}

/// The events of warp 3, in short: it completes the barrier, and so multiplies first.
#[derive(Default)]
struct Steps(Vec<String>);

impl Observer for Steps {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Wgmma])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let Event::Wgmma(event) = event else { return false };
        let (BlockId { number, .. }, lanes): (_, LaneMask) = (event.block_id, event.lanes);
        if event.point.warp != ptxdbg::machine::WarpId::new(3) || number != 0 || lanes != LaneMask::ALL {
            return false;
        }
        self.0.push(match event.change {
            WgmmaChange::Fenced => "fence".to_string(),
            WgmmaChange::Issued { wgmma, fenced, .. } => {
                format!("issue #{} fenced {fenced} reads {:?}", wgmma.id, wgmma.reads().map(|(start, end)| end - start).collect::<Vec<_>>())
            }
            WgmmaChange::Committed { group } => format!("commit {group}"),
            WgmmaChange::Waited { done } => format!("wait {done}"),
            WgmmaChange::Ended(wgmma) => format!("end #{}", wgmma.id),
            WgmmaChange::Abandoned(wgmma) => format!("lost #{}", wgmma.id),
            WgmmaChange::RegisterUsed { used, wgmma: Some(wgmma), .. } => format!("touch {used:?} #{}", wgmma.id),
            WgmmaChange::RegisterUsed { used: Use::Write, wgmma: None, .. } => return false,
            WgmmaChange::RegisterUsed { used, wgmma: None, .. } => format!("{used:?}"),
        });
        false
    }
}

fn described(case: usize, copies: CompletionPolicyKind) -> Vec<String> {
    let mut machine: Machine = session(case, copies, &[]).machine().clone();
    let mut described = Steps::default();
    assert_eq!(machine.run(1 << 20, &mut described), Step::Done);
    described.0
}

#[test]
fn an_observer_receives_every_step_and_the_early_touch() {
    let steps = |ends: [&str; 3]| {
        let issue = |id: u32| format!("issue #{id} fenced true reads [512, 256]");
        let [first, second, late] = ends.map(|ends| ends.split_whitespace().map(|id| format!("end {id}")).collect::<Vec<_>>());
        let mut all = vec!["fence".to_string(), issue(1)];
        all.extend(first);
        all.push(issue(2));
        all.extend(second);
        all.extend(["commit 0".to_string(), "touch Read #2".to_string()]);
        all.extend(late);
        all.extend(["wait 1".to_string(), "Read".to_string()]);
        all
    };
    assert_eq!(described(EARLY, CompletionPolicyKind::Lazy), steps(["", "", "#1 #2"]));
    // The policy moves the ends and nothing else.
    assert_eq!(described(EARLY, CompletionPolicyKind::Eager), steps(["#1", "#2", ""]));
}

#[test]
fn what_was_not_waited_for_is_reported_when_the_warp_exits() {
    let described = described(GROUPS, CompletionPolicyKind::Lazy);
    assert_eq!(described.last().map(String::as_str), Some("lost #3"));
    // The store of e after wait_group 1, and that of f at the end.
    assert_eq!(described.iter().filter(|step| step.starts_with("touch Read")).collect::<Vec<_>>(), ["touch Read #2", "touch Read #3"]);
}

/// A descriptor with these fields; lengths in bytes.
fn descriptor(start: u64, leading: u64, stride: u64, base_offset: u64, swizzle: u64) -> MatrixDescriptor {
    MatrixDescriptor::new(start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | base_offset << 49 | swizzle << 62)
}

#[test]
fn descriptors_are_taken_apart() {
    let read = descriptor(0x3fff0, 128, 256, 5, 2);
    assert_eq!((read.start, read.leading, read.stride, read.base_offset), (0x3fff0, 128, 256, 5));
    assert_eq!((read.swizzle, read.reserved()), (Swizzle::B64, 0));
    let modes = [0, 1, 2, 3].map(|mode| descriptor(0, 0, 0, 0, mode).swizzle);
    assert_eq!(modes, [Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32]);
    assert_eq!(MatrixDescriptor::new(1 << 14 | 1 << 46 | 1 << 61).reserved(), 1 << 14 | 1 << 46 | 1 << 61);
}

/// Row 9, byte 17 by the manual's figures: core matrices of 8 rows of 16 bytes, and swizzled rows of 128 bytes.
#[test]
fn bytes_lie_where_the_layout_says() {
    assert_eq!(descriptor(0x400, 128, 256, 0, 0).k_major(9, 17), 0x400 + 256 + 16 + 128 + 1);
    // Row 9 is row 1 of the second group, so chunk 1 becomes chunk 0.
    assert_eq!(descriptor(0x400, 16, 1024, 0, 1).k_major(9, 17), 0x400 + 1024 + 128 + 1);
    // A pattern that starts a row later: chunk 1 stays where it is.
    assert_eq!(descriptor(0x400, 16, 1024, 1, 1).k_major(9, 17), 0x400 + 1024 + 128 + 17);
    // Transposed, element 70 of k = 9: the second span of 64 elements, the second group of 8 rows, row 1, whose chunk 0 becomes chunk 1.
    assert_eq!(descriptor(0x400, 2048, 1024, 0, 1).mn_major(70, 9), 0x400 + 2048 + 1024 + 128 + 16 + 2 * 6);
    assert_eq!(descriptor(0x400, 128, 256, 0, 0).mn_major(9, 9), 0x400 + 256 + 16 + 128 + 2);
}

#[test]
fn the_bytes_of_a_tile_are_listed_once() {
    // 16 rows of 32 bytes in 128-byte rows of a swizzle: two chunks of each, in different places.
    let tile = SharedTile { descriptor: descriptor(0x400, 16, 1024, 0, 1), major: Major::K, first: 0, count: 16, bytes: 32 };
    assert_eq!(tile.chunks().count(), 32);
    assert_eq!(tile.ranges().iter().map(|(start, end)| end - start).sum::<u32>(), 512);
    // Rows that overlap count once.
    let tile = SharedTile { descriptor: descriptor(0x400, 0, 0, 0, 0), major: Major::K, first: 0, count: 16, bytes: 32 };
    assert_eq!(tile.ranges(), [(0x400, 0x480)]);
}
