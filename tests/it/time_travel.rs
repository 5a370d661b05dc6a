//! Time travel: the state at a tick is the same however it was reached, and going back is going forward in reverse.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use crate::common::{DIVERGENT, fixture_files, session};
use ptxdbg::debug::breakpoints::{Breakpoint, Location, Trigger};
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::settings::StepBy;
use ptxdbg::debug::stop::{Direction, DivergentStep, Goal, Need, Reason, StepUnit, Stop};
use ptxdbg::machine::Tick;

const STEP: Goal = Goal::Instruction { count: 1, over_calls: false };

/// Ticks of a run looked at in the tests over all fixtures.
const TICKS: u64 = 150_000;

fn run(session: &mut Session, goal: &Goal, direction: Direction) -> Stop {
    session.resume(goal, direction, &mut NeverInterrupt).unwrap()
}

fn digest_at(session: &mut Session, time: u64) -> u64 {
    session.seek(Tick(time), &mut NeverInterrupt);
    assert_eq!(session.time(), Tick(time));
    session.machine().digest()
}

/// The lines at which the focused lane stands, one after the other, while `goal` is repeated.
fn lines(session: &mut Session, goal: &Goal, direction: Direction, count: usize) -> Vec<u32> {
    let line = |session: &mut Session| {
        run(session, goal, direction);
        let pc = session.eval_context().group().unwrap().pc;
        session.program().line(pc)
    };
    (0..count).map(|_| line(session)).collect()
}

fn break_at(session: &mut Session, place: &str) -> u32 {
    let resolved = Location::parse(place).unwrap().resolve(session.program(), None).unwrap();
    session.breakpoints.add(Breakpoint::new(Trigger::Code(resolved.pcs), place))
}

#[test]
fn the_state_at_a_tick_is_the_same_however_it_was_reached() {
    let mut random = crate::common::random_numbers();
    for (file, case) in fixture_files() {
        // Little memory for snapshots, so that they thin out.
        let mut wandering = session(&file, case);
        wandering.settings.snapshot_memory = 1 << 20;
        wandering.apply_settings();
        wandering.seek(Tick(TICKS), &mut NeverInterrupt);
        let end = wandering.recorded();
        let mut times: Vec<u64> = random.by_ref().take(6).map(|number| number % (end.0 + 1)).collect();
        let here: Vec<u64> = times.iter().map(|time| digest_at(&mut wandering, *time)).collect();
        let mut expected: Vec<(u64, u64)> = times.iter().copied().zip(here).collect();
        // The same times in order, on a run that never went back.
        expected.sort_unstable();
        times.sort_unstable();
        let mut straight = session(&file, case);
        let there: Vec<(u64, u64)> = times.iter().map(|time| (*time, digest_at(&mut straight, *time))).collect();
        assert_eq!(there, expected, "{file} case {case}");
    }
}

#[test]
fn steps_back_undo_steps_forward() {
    for (file, case) in DIVERGENT {
        for unit in [StepUnit::Lane, StepUnit::Warp, StepUnit::Block, StepUnit::Grid] {
            let mut session = session(file, *case);
            session.settings.step_unit = unit;
            session.settings.divergent_step = DivergentStep::Wait;
            let mut stood = vec![session.time()];
            while stood.len() < 60
                && let Ok(stop) = session.resume(&STEP, Direction::Forward, &mut NeverInterrupt)
            {
                stood.push(session.time());
                // The next steps are those of another thread.
                if stop.left.is_some() {
                    break;
                }
            }
            let last = run(&mut session, &STEP, Direction::Backward).time;
            for (before, after) in stood.iter().zip(&stood[1..]).rev() {
                // A step back goes to the instruction that the step forward executed: it was issued between the two stops.
                assert!((*before..*after).contains(&session.time()), "{file} {unit:?}: {} in {before}..{after}", session.time());
                run(&mut session, &STEP, Direction::Backward);
            }
            assert_eq!(session.time(), Tick::START, "{file} {unit:?} came back from {last}");
        }
    }
}

#[test]
fn a_step_moves_the_focused_warp_alone() {
    let mut session = session("debug/walk.ron", 0);
    session.focus.warp = 1;
    let stop = run(&mut session, &STEP, Direction::Forward);
    assert_eq!((stop.time, stop.focus.warp), (Tick(1), 1), "warp 0 stands still");
    assert!(stop.others.is_none());
    let first = &session.machine().block([0, 0, 0]).unwrap().warps[0];
    assert_eq!(first.groups[0].pc.0, session.program().functions[1].code.start);
}

#[test]
fn others_run_as_far_as_a_barrier_needs_them() {
    let mut session = session("debug/walk.ron", 0);
    let barrier = Goal::Event(ptxdbg::debug::breakpoints::Event::Barrier(None));
    let stop = run(&mut session, &barrier, Direction::Forward);
    assert!(matches!(stop.reasons[..], [Reason::Done]), "{:?}", stop.reasons);
    assert_eq!(lines(&mut session, &STEP, Direction::Forward, 1), [33], "it waits after bar.sync");
    let stop = run(&mut session, &STEP, Direction::Forward);
    let others = stop.others.unwrap();
    assert_eq!(others.need, Need::Barrier(0));
    // Warp 1 executes what warp 0 has executed: 4, 2 by the odd lanes, the call, 2 of triple, 4 and the barrier.
    assert_eq!(others.instructions, 14);
}

#[test]
fn a_divergent_warp_is_followed_or_waited_for() {
    let mut following = session("debug/walk.ron", 0);
    run(&mut following, &Goal::Instruction { count: 4, over_calls: false }, Direction::Forward);
    assert_eq!(following.focus.lane, 1, "the odd lanes fall through and run first");
    let mut waiting = session("debug/walk.ron", 0);
    waiting.settings.divergent_step = DivergentStep::Wait;
    run(&mut waiting, &Goal::Instruction { count: 5, over_calls: false }, Direction::Forward);
    assert_eq!(waiting.focus.lane, 0);
    let pc = waiting.eval_context().group().unwrap().pc;
    assert_eq!(waiting.program().line(pc), 8, "lane 0 has entered triple");
}

#[test]
fn next_steps_over_calls_and_finish_leaves_them() {
    let mut session = session("debug/walk.ron", 0);
    session.settings.step_unit = StepUnit::Lane;
    session.settings.step_by = StepBy::Ptx;
    let next = Goal::Line { count: 1, over_calls: true };
    assert_eq!(lines(&mut session, &next, Direction::Forward, 6), [20, 21, 22, 26, 28, 29]);
    assert_eq!(lines(&mut session, &next, Direction::Backward, 3), [28, 26, 22]);
    let step = Goal::Line { count: 1, over_calls: false };
    assert_eq!(lines(&mut session, &step, Direction::Forward, 3), [26, 8, 9]);
    assert_eq!(lines(&mut session, &Goal::Finish, Direction::Forward, 1), [28]);
    assert_eq!(lines(&mut session, &step, Direction::Backward, 2), [9, 8]);
    assert_eq!(lines(&mut session, &Goal::Finish, Direction::Backward, 1), [26]);
}

#[test]
fn until_leaves_a_loop() {
    let mut session = session("debug/walk.ron", 0);
    session.focus.lane = 3;
    session.settings.step_unit = StepUnit::Lane;
    let advance = Goal::Advance { pcs: Location::parse("39").unwrap().resolve(session.program(), None).unwrap().pcs, this_frame: false };
    assert_eq!(lines(&mut session, &advance, Direction::Forward, 1), [39]);
    assert_eq!(lines(&mut session, &STEP, Direction::Forward, 1), [36], "back in the loop");
    assert_eq!(lines(&mut session, &advance, Direction::Forward, 1), [39]);
    assert_eq!(lines(&mut session, &Goal::Until, Direction::Forward, 1), [40]);
}

#[test]
fn breakpoints_stop_both_ways_at_the_same_places() {
    let mut session = session("debug/walk.ron", 0);
    break_at(&mut session, "LOOP");
    let mut forward = Vec::new();
    loop {
        let stop = run(&mut session, &Goal::Continue, Direction::Forward);
        if matches!(stop.reasons[..], [Reason::Ended]) {
            break;
        }
        assert!(matches!(stop.reasons[..], [Reason::Breakpoint { number: 1, .. }]));
        forward.push((stop.time, stop.focus.warp));
    }
    // Each of two warps enters the loop once and goes round three times more with fewer and fewer lanes.
    assert_eq!(forward.len(), 8);
    assert_eq!(session.breakpoints.get(1).unwrap().hits, 8);
    let mut backward = Vec::new();
    loop {
        let stop = run(&mut session, &Goal::Continue, Direction::Backward);
        if matches!(stop.reasons[..], [Reason::Beginning]) {
            break;
        }
        backward.push((stop.time, stop.focus.warp));
    }
    backward.reverse();
    assert_eq!(forward, backward);
    assert_eq!(session.breakpoints.get(1).unwrap().hits, 16, "a stop counts both ways");
}

#[test]
fn a_step_back_over_a_call_stops_at_a_breakpoint_inside() {
    let mut session = session("debug/walk.ron", 0);
    session.settings.step_unit = StepUnit::Lane;
    let advance = Goal::Advance { pcs: Location::parse("28").unwrap().resolve(session.program(), None).unwrap().pcs, this_frame: false };
    assert_eq!(lines(&mut session, &advance, Direction::Forward, 1), [28]);
    let number = break_at(&mut session, "8");
    let back = Goal::Line { count: 1, over_calls: true };
    let stop = run(&mut session, &back, Direction::Backward);
    assert!(matches!(stop.reasons[..], [Reason::Breakpoint { .. }]), "{:?}", stop.reasons);
    assert_eq!(session.program().line(session.eval_context().group().unwrap().pc), 8);
    session.breakpoints.delete(number).unwrap();
    assert_eq!(lines(&mut session, &back, Direction::Backward, 1), [26], "the call whose first instruction was next");
}

#[test]
fn many_steps_back_are_as_one_step_back_many_times() {
    for (file, case) in DIVERGENT {
        let (mut once, mut often) = (session(file, *case), session(file, *case));
        for session in [&mut once, &mut often] {
            session.settings.divergent_step = DivergentStep::Wait;
            session.seek(Tick(90_000), &mut NeverInterrupt);
            let focus = session.machine().resident_blocks().next().map(|block| {
                let warp = block.warps.iter().position(|warp| !warp.live.is_empty()).unwrap_or(0);
                ptxdbg::debug::focus::Focus { block: block.index, warp: warp as u32, ..session.focus }
            });
            session.focus = focus.unwrap_or_default();
        }
        run(&mut once, &Goal::Instruction { count: 7, over_calls: false }, Direction::Backward);
        (0..7).for_each(|_| drop(run(&mut often, &STEP, Direction::Backward)));
        assert_eq!((once.time(), once.focus), (often.time(), often.focus), "{file}");
    }
}
