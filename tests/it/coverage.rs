//! How often code has run, and what was never written: worked out by hand for `fixtures/debug/ways.ptx` and `walk.ptx`.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use crate::common::session;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::view::{self, CfgView};
use ptxdbg::machine::LaneMask;
use ptxdbg::machine::Tick;
use ptxdbg::program::FuncId;

/// Ticks after which warp 0 stands at the barrier of `ways`, and after which the barrier is complete.
const AT_BARRIER: u64 = 11;
const AFTER_BARRIER: u64 = 24;

fn ways(time: u64) -> Session {
    let mut session = session("debug/ways.ron", 0);
    session.seek(Tick(time), &mut NeverInterrupt);
    session
}

fn flow(session: &Session) -> CfgView {
    let context = session.eval_context();
    let kernel = (0..).map(FuncId).find(|id| session.program().functions[id.index()].is_kernel);
    view::control_flow(&context, kernel.unwrap())
}

/// Lanes that entered a block, and how many went on to each block after it.
fn counts(view: &CfgView, block: &str) -> (u64, Vec<(String, u64)>) {
    let found = view.blocks.iter().find(|each| each.name == block).unwrap();
    let counts = found.counts.as_ref().unwrap();
    let names = found.successors.iter().map(|next| view.blocks[*next].name.clone());
    (counts.entered, names.zip(counts.taken.iter().copied()).collect())
}

fn to(block: &str, lanes: u64) -> (String, u64) {
    (block.to_string(), lanes)
}

/// The lanes of warp `warp` in which the register is undefined.
fn undefined(session: &mut Session, warp: u32, name: &str) -> u32 {
    session.focus.warp = warp;
    let rows = view::registers(&session.eval_context(), |each| each == name, true, None).unwrap();
    rows[0].undefined.bits()
}

#[test]
fn every_way_is_counted_by_lanes() {
    let end = ways(u64::MAX);
    let view = flow(&end);
    assert_eq!(counts(&view, "entry"), (64, vec![to("bb1", 40)]));
    assert_eq!(counts(&view, "bb1"), (40, vec![to("A", 10), to("B", 20), to("C", 10)]));
    assert_eq!(counts(&view, "A"), (10, vec![to("MEET", 10)]));
    assert_eq!(counts(&view, "B"), (20, vec![to("MEET", 20)]));
    assert_eq!(counts(&view, "C"), (10, vec![to("MEET", 10)]));
    assert_eq!(counts(&view, "MEET"), (40, Vec::new()));
}

#[test]
fn counts_go_back_in_time() {
    let mut session = ways(u64::MAX);
    session.seek(Tick(AT_BARRIER), &mut NeverInterrupt);
    let view = flow(&session);
    // Warp 1 has not run.
    assert_eq!(counts(&view, "entry"), (32, vec![to("bb1", 32)]));
    assert_eq!(counts(&view, "bb1"), (32, vec![to("A", 8), to("B", 16), to("C", 8)]));
    assert_eq!(counts(&view, "MEET"), (0, Vec::new()));
}

#[test]
fn a_loop_counts_every_turn() {
    let mut session = session("debug/walk.ron", 0);
    session.seek(Tick::MAX, &mut NeverInterrupt);
    let view = flow(&session);
    // Lane n goes round n % 4 + 1 times: 16 lanes each of 1, 2, 3 and 4 turns.
    assert_eq!(counts(&view, "LOOP").0, 16 * (1 + 2 + 3 + 4));
    assert!(counts(&view, "LOOP").1.contains(&to("LOOP", 16 * (1 + 2 + 3))));
}

#[test]
fn what_a_lane_has_not_written_is_undefined() {
    let mut session = ways(AT_BARRIER);
    assert_eq!(undefined(&mut session, 0, "%r1"), 0);
    assert_eq!(undefined(&mut session, 0, "%r3"), !0x1111_1111);
    assert_eq!(undefined(&mut session, 0, "%r4"), !0xaaaa_aaaa);
    assert_eq!(undefined(&mut session, 0, "%r5"), u32::MAX, "its guard never held");
    assert_eq!(undefined(&mut session, 0, "%r6"), !0x4444_4444);
    assert_eq!(undefined(&mut session, 0, "%r7"), u32::MAX);
    session.seek(Tick(AT_BARRIER + 1), &mut NeverInterrupt);
    assert_eq!(undefined(&mut session, 0, "%r7"), u32::MAX, "it waits for the result");
    session.seek(Tick(AFTER_BARRIER), &mut NeverInterrupt);
    assert_eq!(undefined(&mut session, 0, "%r7"), 0);
    assert_eq!(undefined(&mut session, 1, "%r7"), 0);
    session.seek(Tick::START, &mut NeverInterrupt);
    assert_eq!(undefined(&mut session, 0, "%r1"), u32::MAX);
}

#[test]
fn a_call_writes_its_result_when_it_returns() {
    let mut session = session("debug/walk.ron", 0);
    // mov and setp setp bra add bra call: warp 0 stands in `triple`, its odd lanes at JOIN.
    session.seek(Tick(7), &mut NeverInterrupt);
    let in_function = |session: &mut Session, frame: u32, name: &str| {
        session.focus.frame = frame;
        undefined(session, 0, name)
    };
    assert_eq!(in_function(&mut session, 0, "value"), 0);
    assert_eq!(in_function(&mut session, 0, "result"), 0x5555_5555);
    assert_eq!(in_function(&mut session, 1, "%r3"), 0x5555_5555);
    session.seek(Tick(9), &mut NeverInterrupt);
    assert_eq!(in_function(&mut session, 0, "%r3"), 0);
}

#[test]
fn lanes_that_wait_at_an_exchange_have_not_executed_it_yet() {
    let mut session = session("debug/waits.ron", 0);
    // mov mov and setp shfl add setp bra bra, and then the even lanes come to the exchange again and wait.
    session.seek(Tick(10), &mut NeverInterrupt);
    let groups = &session.machine().resident_blocks().next().unwrap().warps[0].groups;
    assert!(
        groups.iter().any(|group| group.mask == LaneMask::from_bits(0x5555_5555) && group.state != ptxdbg::machine::GroupState::Ready),
        "{groups:?}"
    );
    assert_eq!(counts(&flow(&session), "EXCHANGE"), (32, vec![to("bb2", 32), to("DONE", 0)]));
    session.seek(Tick::MAX, &mut NeverInterrupt);
    let view = flow(&session);
    assert_eq!(counts(&view, "EXCHANGE"), (3 * 32, vec![to("bb2", 2 * 32), to("DONE", 32)]));
    assert_eq!(counts(&view, "bb2"), (2 * 32, vec![to("EXCHANGE", 2 * 16), to("bb3", 2 * 16)]));
}
