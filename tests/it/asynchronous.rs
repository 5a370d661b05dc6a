//! The asynchronous machine as it is shown: pipelines over time, mbarriers, copies in flight, and roles of warps.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot open a fixture fails")]

use std::path::Path;

use ptxdbg::command::{CommandState, Context, execute};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::view::{self, StageState};
use ptxdbg::debug::{CompletionPolicyKind, LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::ui::text::asynchronous::transaction_bytes;

/// The session about a fixture, run under a policy, after these commands.
fn session(fixture: &str, copies: CompletionPolicyKind, lines: &[&str]) -> Session {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap();
    let mut session = Session::new(opened, 0, RunOptions { copies, ..RunOptions::unwatched() }).unwrap();
    type_lines(&mut session, lines);
    session
}

fn type_lines(session: &mut Session, lines: &[&str]) {
    let mut state = CommandState::default();
    for line in lines {
        let mut context = Context { session, state: &mut state, interrupt: &mut NeverInterrupt, confirmed: true };
        execute(line, &mut context).unwrap_or_else(|error| panic!("{line}: {}", error.message));
    }
}

const POLICIES: [CompletionPolicyKind; 3] = [CompletionPolicyKind::Eager, CompletionPolicyKind::Lazy, CompletionPolicyKind::Random(7)];

/// Fill, full, read, empty, fill: a stage goes round, and may leave out what took no time.
fn follows(before: StageState, after: StageState) -> bool {
    before != after && !matches!((before, after), (StageState::Fill | StageState::Full, StageState::Empty))
}

#[test]
fn stages_are_listed_without_gaps_and_in_turn() {
    for policy in POLICIES {
        for time in [60, 90, 120, 150, 200] {
            let session = session("debug/ring.ron", policy, &[&format!("goto {time}")]);
            let digest = session.machine().digest();
            let pipeline = view::pipeline(&session).unwrap();
            assert_eq!(session.machine().digest(), digest, "looking changes nothing");
            for stage in &pipeline.stages {
                for pair in stage.spans.windows(2) {
                    assert_eq!(pair[0].until, pair[1].from, "{policy:?} t={time} {stage:?}");
                    assert!(follows(pair[0].state, pair[1].state), "{policy:?} t={time} {stage:?}");
                }
                assert!(stage.spans.last().is_none_or(|span| span.until == session.time()), "{policy:?} t={time} {stage:?}");
            }
        }
    }
}

#[test]
fn the_stage_that_hangs_is_never_full() {
    for policy in POLICIES {
        let session = session("debug/ring.ron", policy, &["continue"]);
        let stages = view::pipeline(&session).unwrap().stages;
        let described: Vec<_> = stages.iter().map(|stage| (stage.name.as_str(), stage.empty.as_deref(), stage.never_full)).collect();
        assert_eq!(described, [("full[0]", Some("empty[0]"), false), ("full[1]", Some("empty[1]"), true)], "{policy:?}");
        // Tiles 0, 2 and 4 go to stage 0, tiles 1 and 3 to stage 1.
        let fills = |index: usize| stages[index].spans.iter().filter(|span| span.state == StageState::Fill).count();
        assert_eq!((fills(0), fills(1)), (3, 2), "{policy:?}");
    }
}

#[test]
fn what_is_missing_is_reported_under_every_policy() {
    for policy in POLICIES {
        let session = session("debug/ring.ron", policy, &["continue"]);
        let views = view::mbarrier_views(&session.eval_context()).unwrap();
        let full = views.iter().find(|each| each.name == "full[1]").unwrap();
        assert_eq!(
            (full.phase, full.arrivals, transaction_bytes(&full.bytes)),
            (1, (1, 1), "4,080 of 4,096, 16 missing".to_string()),
            "{policy:?}"
        );
        assert_eq!(
            full.waiters.iter().map(|each| (each.threads.describe(), each.parity)).collect::<Vec<_>>(),
            [("warps 1-3".to_string(), Some(1))]
        );
        let empty = views.iter().find(|each| each.name == "empty[1]").unwrap();
        assert_eq!((empty.phase, empty.arrivals), (1, (0, 96)), "{policy:?}");
    }
}

#[test]
fn warps_are_named_by_what_they_do() {
    let mut session = session("debug/ring.ron", CompletionPolicyKind::Lazy, &["continue"]);
    type_lines(&mut session, &["role auto"]);
    assert_eq!(session.roles.all(), [("producer?", vec![0]), ("consumer?", vec![1, 2, 3])]);
    type_lines(&mut session, &["role reader warps 2-3", "role clear"]);
    assert!(session.roles.is_empty());
    // Both warps wait for the tile at one instruction; that lane 0 has issued the copy makes the first no producer.
    let mut session = self::session("async/short_expect.ron", CompletionPolicyKind::Lazy, &["continue"]);
    type_lines(&mut session, &["role auto"]);
    assert_eq!(session.roles.all(), [("line_22", vec![0]), ("WAIT", vec![1])]);
}
