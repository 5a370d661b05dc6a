//! Where runs stop: conditions, threads, watched places, events, and the last writes.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use crate::common::{fixtures, session};
use ptxdbg::api::{Launch, Module, Outcome, ValueText};
use ptxdbg::debug::breakpoints::{Breakpoint, Condition, Event, Location, LogMessage, Trigger, WatchMode};
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::focus::{Focus, ThreadFilter};
use ptxdbg::debug::resume::LastWriter;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::stop::{Direction, Goal, Need, Reason, Stop};
use ptxdbg::debug::target::Target;
use ptxdbg::debug::{RunOptions, WatchedAccess};
use ptxdbg::machine::LaneMask;
use ptxdbg::machine::Tick;

fn go(session: &mut Session, direction: Direction) -> Stop {
    session.resume(&Goal::Continue, direction, &mut NeverInterrupt).unwrap()
}

fn code(session: &Session, place: &str) -> Breakpoint {
    let resolved = Location::parse(place).unwrap().resolve(session.program(), None).unwrap();
    Breakpoint::new(Trigger::Code(resolved.pcs), place)
}

fn target(session: &Session, text: &str) -> Target {
    Expression::parse(text).unwrap().target(&session.eval_context()).unwrap()
}

fn line(session: &Session, pc: ptxdbg::program::Pc) -> u32 {
    session.program().line(pc)
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().unwrap())
}

/// Lines, lanes and values of writes.
fn described(session: &Session, writes: &[WatchedAccess]) -> Vec<(u32, u32, u32, u32)> {
    writes
        .iter()
        .map(|watched_access| {
            (line(session, watched_access.pc), watched_access.lanes.bits(), word(&watched_access.old), word(&watched_access.new))
        })
        .collect()
}

#[test]
fn a_condition_and_a_filter_choose_the_thread() {
    let mut session = session("debug/walk.ron", 0);
    let at_loop = code(&session, "LOOP");
    session.breakpoints.add(Breakpoint { condition: Some(Condition::parse("%r1 == 45").unwrap()), ..at_loop.clone() });
    let stop = go(&mut session, Direction::Forward);
    assert!(matches!(stop.reasons[..], [Reason::Breakpoint { number: 1, .. }]));
    assert_eq!(stop.focus, Focus { warp: 1, lane: 13, ..Focus::default() }, "thread 45 is lane 13 of warp 1");
    session.breakpoints.delete(1).unwrap();
    session.seek(Tick::START, &mut NeverInterrupt);
    let filter = ThreadFilter { warp: Some(0), lanes: Some(LaneMask::of(3)), ..ThreadFilter::default() };
    let number = session.breakpoints.add(Breakpoint { filter, ..at_loop });
    assert_eq!(number, 2);
    let stops = (0..4).map(|_| go(&mut session, Direction::Forward)).collect::<Vec<_>>();
    assert!(stops.iter().all(|stop| stop.focus.lane == 3 && stop.focus.warp == 0), "lane 3 goes round four times");
    assert!(matches!(go(&mut session, Direction::Forward).reasons[..], [Reason::Ended]));
}

#[test]
fn ignored_temporary_and_logging_breakpoints() {
    let mut session = session("debug/walk.ron", 0);
    let at_loop = code(&session, "LOOP");
    session.breakpoints.add(Breakpoint { ignore: 6, temporary: true, ..at_loop.clone() });
    let message = LogMessage::parse("\"lane %d has %d\",%laneid,%r6").unwrap();
    session.breakpoints.add(Breakpoint { message: Some(message), ..at_loop });
    let stop = go(&mut session, Direction::Forward);
    assert!(matches!(stop.reasons[..], [Reason::Breakpoint { number: 1, temporary: true, .. }]));
    assert_eq!(stop.log.len(), 7);
    assert_eq!(stop.log[0], "lane 0 has 0");
    assert!(session.breakpoints.get(1).is_err(), "it was temporary");
}

#[test]
fn a_watched_register_shows_old_and_new_both_ways() {
    let mut session = session("debug/walk.ron", 0);
    session.focus.lane = 2;
    let watched = target(&session, "%r7");
    session.breakpoints.add(Breakpoint::new(Trigger::Watch(watched, WatchMode::Change), "%r7"));
    // Lane 2: 3 * 2 = 6 is added three times; the first write, of 0, changes nothing.
    let mut forward = Vec::new();
    loop {
        let stop = go(&mut session, Direction::Forward);
        let [Reason::Watchpoint { watched_access, .. }] = &stop.reasons[..] else { break };
        assert_eq!(stop.time, watched_access.time + 1, "the run stops after the write");
        forward.extend(described(&session, std::slice::from_ref(watched_access)));
    }
    assert_eq!(forward, [(36, 4, 0, 6), (36, 4, 6, 12), (36, 4, 12, 18)]);
    let stop = go(&mut session, Direction::Backward);
    let [Reason::Watchpoint { watched_access, .. }] = &stop.reasons[..] else { panic!("{:?}", stop.reasons) };
    assert_eq!(stop.time, watched_access.time, "going back it stops before the write");
    assert_eq!(described(&session, std::slice::from_ref(watched_access)), [(36, 4, 12, 18)]);
}

#[test]
fn watched_memory_is_read_written_and_changed() {
    let session_with = |mode| {
        let mut session = session("debug/walk.ron", 0);
        let watched = target(&session, "out[33]");
        session.breakpoints.add(Breakpoint::new(Trigger::Watch(watched, mode), "out[33]"));
        session
    };
    let mut session = session_with(WatchMode::Change);
    let stop = go(&mut session, Direction::Forward);
    let [Reason::Watchpoint { watched_access, .. }] = &stop.reasons[..] else { panic!("{:?}", stop.reasons) };
    // Thread 33 is odd: (33 + 100) twice.
    assert_eq!(described(&session, std::slice::from_ref(watched_access)), [(43, 1 << 1, 0, 266)]);
    assert_eq!((stop.focus.warp, stop.focus.lane), (1, 1));
    assert!(matches!(go(&mut session, Direction::Forward).reasons[..], [Reason::Ended]));
    let mut session = session_with(WatchMode::Read);
    assert!(matches!(go(&mut session, Direction::Forward).reasons[..], [Reason::Ended]), "nothing reads it");
}

#[test]
fn events_are_caught() {
    let cases = [(Event::Divergence, 22), (Event::Call, 26), (Event::Barrier(None), 32), (Event::Exit, 44)];
    for (event, expected) in cases {
        let mut session = session("debug/walk.ron", 0);
        session.breakpoints.add(Breakpoint::new(Trigger::Event(event), ""));
        let stop = go(&mut session, Direction::Forward);
        assert!(matches!(stop.reasons[..], [Reason::Caught { number: Some(1), .. }]), "{event:?} {:?}", stop.reasons);
        let back = go(&mut session, Direction::Backward);
        let here = if event == Event::Divergence { back } else { session.seek(stop.time, &mut NeverInterrupt) };
        assert_eq!(line(&session, session.eval_context().group().unwrap().pc), expected, "{event:?} at {}", here.time);
    }
    let mut session = session("debug/walk.ron", 0);
    session.breakpoints.add(Breakpoint::new(Trigger::Event(Event::Reconvergence), ""));
    let stop = go(&mut session, Direction::Forward);
    assert!(matches!(stop.reasons[..], [Reason::Caught { lanes: LaneMask::ALL, .. }]), "{:?}", stop.reasons);
    assert_eq!(line(&session, session.eval_context().group().unwrap().pc), 28, "the branches join");
}

#[test]
fn the_last_write_is_found_and_so_are_all() {
    let mut session = session("debug/walk.ron", 0);
    session.focus.lane = 2;
    let register = target(&session, "%r7");
    let stop = Location::parse("40").unwrap().resolve(session.program(), None).unwrap().pcs;
    session.resume(&Goal::Advance { pcs: stop, this_frame: false }, Direction::Forward, &mut NeverInterrupt).unwrap();
    let now = session.time();
    let last = session.last(&register, &mut NeverInterrupt).writes;
    assert_eq!(described(&session, &last), [(36, 4, 12, 18)]);
    let first = session.first(&register, &mut NeverInterrupt).writes;
    assert_eq!(described(&session, &first), [(34, 4, 0, 0)], "the first write is one of the value it had");
    let history = session.history(&register, &mut NeverInterrupt).writes;
    assert_eq!(described(&session, &history), [(36, 4, 0, 6), (36, 4, 6, 12), (36, 4, 12, 18)]);
    assert_eq!(session.time(), now, "asking does not move");
    // The result of a call is written by the callee's return.
    let result = target(&session, "%r3");
    let last = session.last(&result, &mut NeverInterrupt).writes;
    assert_eq!((line(&session, last[0].pc), word(&last[0].new)), (9, 6));
}

#[test]
fn the_last_write_of_memory_at_the_end_of_the_run() {
    let mut session = session("debug/walk.ron", 0);
    session.seek_end(&mut NeverInterrupt);
    let place = target(&session, "out[5]");
    let last = session.last(&place, &mut NeverInterrupt).writes;
    // Thread 5 is odd, (5 + 100) twice; all lanes store at once.
    assert_eq!(described(&session, &last), [(43, 1 << 5, 0, 210)]);
    assert_eq!((last[0].by.warp, last[0].by.lane), (0, 5));
}

#[test]
fn a_warp_that_waits_for_a_flag_lets_others_run() {
    let mut session = session("debug/flag.ron", 0);
    let step = Goal::Instruction { count: 1, over_calls: false };
    let mut needed = None;
    for _ in 0..40 {
        let stop = session.resume(&step, Direction::Forward, &mut NeverInterrupt).unwrap();
        assert_eq!(stop.focus.warp, 0);
        needed = needed.or(stop.others);
        if line(&session, session.eval_context().group().unwrap().pc) == 20 {
            break;
        }
    }
    let others = needed.unwrap();
    assert_eq!(others.need, Need::Flag);
    // Three instructions, one more, a hundred rounds of three, and the store that changes the flag; not the return.
    assert_eq!(others.instructions, 3 + 1 + 300 + 1);
    assert_eq!(line(&session, session.eval_context().group().unwrap().pc), 20, "it is past its loop");
}

#[test]
fn edits_fork_the_run_and_are_replayed() {
    let mut session = session("debug/walk.ron", 0);
    session.seek_end(&mut NeverInterrupt);
    let end = session.recorded();
    session.seek(end - 20, &mut NeverInterrupt);
    let edits = Expression::parse("%r3").unwrap().target(&session.eval_context()).unwrap();
    let Target::Register(register) = edits else { panic!() };
    let (bank, slot) = (register.bank, register.slot);
    let edit = ptxdbg::debug::edit::Edit::Register { block: [0, 0, 0], warp: 0, lanes: LaneMask::ALL, bank, slot, value: 7 };
    session.edit(vec![edit], "set").unwrap();
    assert_eq!(session.recorded(), end - 20, "what was recorded after it is dropped");
    let digest = session.machine().digest();
    session.seek_end(&mut NeverInterrupt);
    session.seek(Tick::START, &mut NeverInterrupt);
    session.seek(end - 20, &mut NeverInterrupt);
    assert_eq!(session.machine().digest(), digest, "the edit belongs to the run");
    let saved = ptxdbg::debug::saved::Saved::parse("saved", session.saved().to_text()).unwrap();
    let mut again = crate::common::session("debug/walk.ron", 0);
    again.restore(saved, &mut NeverInterrupt).unwrap();
    assert_eq!((again.time(), again.machine().digest(), again.focus), (session.time(), digest, session.focus));
}

/// Says no at the first question.
struct Impatient(u32);

impl ptxdbg::debug::session::InterruptCheck for Impatient {
    fn should_continue(&mut self, _: &Session) -> bool {
        self.0 += 1;
        false
    }
}

#[test]
fn a_run_that_pauses_all_the_time_can_be_interrupted() {
    let mut session = session("programs/sgemm_reg.ron", 0);
    let everywhere = (0..session.program().code.len()).map(ptxdbg::program::Pc::new).collect();
    let never = Condition::parse("%laneid == 77").unwrap();
    session.breakpoints.add(Breakpoint { condition: Some(never), ..Breakpoint::new(Trigger::Code(everywhere), "everywhere") });
    let mut interrupt = Impatient(0);
    let stop = session.resume(&Goal::Continue, Direction::Forward, &mut interrupt).unwrap();
    assert!(matches!(stop.reasons[..], [Reason::Interrupted]));
    assert!(stop.time > Tick::START && stop.time <= Tick(2048), "asked after {} ticks", stop.time);
    session.seek(Tick(5000), &mut NeverInterrupt);
    let stop = session.resume(&Goal::Continue, Direction::Backward, &mut interrupt).unwrap();
    assert!(matches!(stop.reasons[..], [Reason::Interrupted]));
    assert_eq!((stop.time, interrupt.0), (Tick(5000), 2), "an interrupted run backwards stays where it was");
}

#[test]
fn a_register_of_a_block_that_comes_later_is_watched() {
    let mut session = session("debug/collatz.ron", 0);
    let advance = |session: &mut Session| {
        let filter = ThreadFilter { block: Some([1, 0, 0]), ..ThreadFilter::default() };
        let at_entry = code(session, "collatz");
        session.breakpoints.add(Breakpoint { filter, temporary: true, ..at_entry });
        go(session, Direction::Forward)
    };
    assert_eq!(advance(&mut session).focus.block, [1, 0, 0]);
    let watched = target(&session, "%r1");
    session.breakpoints.add(Breakpoint::new(Trigger::Watch(watched.clone(), WatchMode::Change), "%r1"));
    session.seek(Tick::START, &mut NeverInterrupt);
    let stop = go(&mut session, Direction::Forward);
    let [Reason::Watchpoint { watched_access, .. }] = &stop.reasons[..] else { panic!("{:?}", stop.reasons) };
    // %r1 = %ctaid.x * %ntid.x + %tid.x is written on line 49.
    assert_eq!(described(&session, std::slice::from_ref(watched_access)), [(49, 1, 0, 32)]);
    let first = session.first(&watched, &mut NeverInterrupt).writes;
    assert_eq!(described(&session, &first), [(49, 1, 0, 32)]);
}

/// What `fixtures/transcripts/stopping.txt` shows of the same kernel.
const WATCHED: &str = "watchpoint 1: %r18
  t=13  block (0,0,0) warp 0 lane 0  collatz.ptx:60 (collatz.cu:11)  ld.global.u32 %r18, [%rd6]   0 → 1
t=14  block (0,0,0) warp 0 all lanes  collatz.ptx:62 (collatz.cu:13)  setp.eq.s32 %p2, %r18, 1
13          while (n != 1) {
";

#[test]
fn a_stop_is_worded_and_sent_after_the_session_has_moved_on() {
    let module = Module::load(fixtures().join("debug/collatz.ptx")).unwrap();
    let launch = Launch::from_file(fixtures().join("debug/collatz.ron"));
    let mut session = launch.plan(&module).unwrap().session(0, &RunOptions::unwatched()).unwrap();
    let mut stop = |line: &str| match session.execute(line).unwrap() {
        Outcome::Stop(stop) => Some(stop),
        _ => None,
    };
    assert!(["watch %r18", "display %r18"].map(&mut stop).iter().all(Option::is_none));
    let watched = stop("run").unwrap();
    assert!(["delete", "undisplay 1", "role worker 0"].map(&mut stop).iter().all(Option::is_none));
    let elsewhere = stop("goto 1000").unwrap();
    let ended = stop("continue").unwrap();
    drop(session);
    assert_eq!(ptxdbg::ui::text::stop(&watched), WATCHED);
    assert_eq!(watched.displays[0].value, Ok(ValueText::Scalar("1".to_string())));
    assert_eq!(elsewhere.thread, "block 0,0,0 worker warp 0 lane 0");
    assert_eq!(ptxdbg::ui::text::stop(&ended), "t=3,755  the kernel has finished\n");
    let sent = serde_json::to_value(&*watched).unwrap();
    assert_eq!(sent["time"], 14);
    assert_eq!(sent["here"]["Ok"]["lines"][0]["line"], 62);
    let touched = &sent["reasons"][0]["Watchpoint"]["text"];
    assert_eq!(
        (&touched["old"], &touched["new"], &touched["site"]["statement"]),
        (&"0".into(), &"1".into(), &"ld.global.u32 %r18, [%rd6]".into())
    );
}

/// One search for all wrong elements finds what a search for each of them finds, over several launches and compare-and-swaps that fail.
#[test]
fn what_wrote_wrong_elements_is_what_wrote_each_of_them() {
    for (file, place) in [("programs/bfs_frontier.ron", "col[5]"), ("programs/sgemm_reg.ron", "A[0]")] {
        let mut session = session(file, 0);
        session.seek(Tick::START + 40, &mut NeverInterrupt);
        let edits = {
            let context = session.eval_context();
            let value = Expression::parse("9").unwrap().evaluate(&context).unwrap();
            Expression::parse(place).unwrap().assign(&context, &value).unwrap()
        };
        session.edit(edits, "set").unwrap();
        session.seek_end(&mut NeverInterrupt);
        let found = session.mismatches(40, &mut NeverInterrupt).unwrap();
        assert!(found.rows.len() > 1 && !found.interrupted, "{file} has {} wrong elements", found.rows.len());
        for row in found.rows {
            let target = target(&session, &row.element);
            let last = session.last(&target, &mut NeverInterrupt).writes;
            let expected = last.last().map(|write| (write.time, write.pc, write.by.block, write.by.warp, write.lanes));
            let Some(LastWriter::Lanes(site)) = row.writer else { panic!("{file}: {} has no writer", row.element) };
            let shown = Some((site.time, site.pc, site.block, site.warp, site.lanes));
            assert_eq!(shown, expected, "{file}: {}", row.element);
        }
    }
}
