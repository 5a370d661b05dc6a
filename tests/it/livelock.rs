//! Threads that spin for ever are detected without a limit, and no others are reported.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::sync::Arc;

use crate::look::one_warp::one_warp;
use ptxdbg::machine::{Device, LaunchConfig, Machine, NullObserver, Schedule, Step, Tick, WaitReason};

/// Far more than what it takes to find out.
const LIMIT: u64 = 1 << 23;

/// A machine that runs `body` in two warps of each of `blocks` blocks; `o` is the address of a zero word that all of them share, and `w`
/// the number of the warp.
fn machine(body: &str, blocks: u32, schedule: Schedule) -> Machine {
    let text = format!(
        ".version 8.0 .target sm_90 .address_size 64
         .visible .entry k(.param .u64 out) {{
             .reg .b32 a, b, w; .reg .b64 o, c, d; .reg .pred p, q;
             .shared .b32 s, s2; .shared .b64 m; .local .b32 l;
             ld.param.u64 o, [out]; mov.u32 w, %tid.x; shr.u32 w, w, 5;
             {body} ret; }}"
    );
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "spin.ptx", text);
    assert!(diagnostics.is_empty(), "{body}\n{diagnostics:#?}");
    let program = program.unwrap();
    let kernel = program.function("k").unwrap();
    let mut device = Device::new(Arc::clone(&program));
    let out = device.allocate("out", 256, Some(0)).unwrap();
    let config = LaunchConfig { grid: [blocks, 1, 1], block: [64, 1, 1], schedule, seed: 3, ..one_warp(kernel, out) };
    Machine::new(device, config).unwrap()
}

fn run(body: &str, blocks: u32, schedule: Schedule) -> (Step, Tick) {
    let mut machine = machine(body, blocks, schedule);
    let step = machine.run(LIMIT, &mut NullObserver);
    (step, machine.tick())
}

/// Bodies in which a thread spins for ever.
const SPINNING: &[&str] = &[
    // No thread sets the flag.
    "L: ld.volatile.global.u32 a, [o]; setp.eq.u32 p, a, 0; @p bra L;",
    // Warp 0 would set it after a barrier for which it needs warp 1, which waits for the flag.
    "setp.eq.u32 p, w, 1; @p bra L; bar.sync 0; st.global.u32 [o], 1; bra E;
     L: ld.volatile.global.u32 a, [o]; setp.eq.u32 q, a, 0; @q bra L; bar.sync 0; E:",
    // A lock that is never given back: atomics that change nothing.
    "L: atom.global.cas.b32 a, [o], 0, 1; setp.ne.u32 p, a, 0; @p bra L;",
    "L: atom.global.exch.b32 a, [o], 1; setp.ne.u32 p, a, 0; @p bra L;",
    // Polling by adding nothing.
    "L: atom.global.add.u32 a, [o], 0; setp.eq.u32 p, a, 0; @p bra L;",
    // An empty loop.
    "L: bra L;",
    // Threads that do nothing but meet, at one barrier or at several, all of them or each warp at its own.
    "L: bar.sync 0; bra L;",
    "L: bar.sync 0; bar.sync 1, 64; bra L;",
    "L: bar.sync w, 32; bra L;",
    "L: barrier.cluster.arrive; barrier.cluster.wait; bra L;",
    // One arrives and goes on, the other waits.
    "setp.eq.u32 p, w, 1; L: @p bar.arrive 1, 64; @!p bar.sync 1, 64; bar.sync 0; bra L;",
    // Nothing sets the flag, and the loop that waits for it reads the clock.
    "mov.u64 c, %globaltimer;
     L: ld.volatile.global.u32 a, [o]; setp.eq.u32 p, a, 0; mov.u64 d, %globaltimer; sub.u64 d, d, c; setp.gt.u64 q, d, 40000;
     @q nanosleep.u32 100; @p bra L;",
    // What is polled is handed to all threads over shared memory, as where the threads of a block take a lock together.
    "setp.eq.u32 q, w, 0;
     L: @q atom.global.cas.b32 a, [o], 0, 1; @q st.shared.u32 [s], a; bar.sync 0; ld.shared.u32 b, [s]; bar.sync 0;
     setp.ne.u32 p, b, 2; @p bra L;",
    // The same in several words, with a reset and a sum: all of them change, and come back.
    "mov.u32 b, %tid.x;
     L: st.shared.u32 [s], 0; st.shared.u32 [s2], b; bar.sync 0; ld.volatile.global.u32 a, [o]; setp.eq.u32 q, b, 0;
     @q ld.shared.u32 w, [s2]; @q add.u32 a, a, w; @q st.shared.u32 [s], a; bar.sync 0; ld.shared.u32 a, [s]; bar.sync 0;
     setp.ne.u32 p, a, 1000; @p bra L;",
    // A reduction hands on what is polled.
    "L: ld.volatile.global.u32 a, [o]; setp.ne.u32 p, a, 2; barrier.red.or.pred p, 0, p; @p bra L;",
    // What is polled passes through the stack of the thread.
    "L: ld.volatile.global.u32 a, [o]; st.local.u32 [l], a; ld.local.u32 b, [l]; setp.ne.u32 p, b, 2; st.local.u32 [l], 7; @p bra L;",
    // Each round stores in global memory what is there.
    "L: st.global.u32 [o+4], 0; ld.volatile.global.u32 a, [o]; setp.eq.u32 p, a, 0; @p bra L;",
    // The phase that a wait asks for never ends, and the result is handed on.
    "mov.u32 b, %tid.x; setp.eq.u32 q, b, 0; @q mbarrier.init.shared.b64 [m], 32; bar.sync 0;
     L: @q mbarrier.try_wait.parity.shared.b64 p, [m], 0; @q selp.u32 a, 1, 0, p; @q st.shared.u32 [s], a; bar.sync 0;
     ld.shared.u32 a, [s]; bar.sync 0; setp.eq.u32 p, a, 0; @p bra L;",
];

/// Bodies that end, though no thread changes anything for long.
const ENDING: &[&str] = &[
    "mov.u32 a, 0; L: add.u32 a, a, 1; setp.lt.u32 p, a, 300000; @p bra L;",
    // Warp 1 waits for a flag that warp 0 sets after a long time.
    "mov.u32 a, 0; setp.eq.u32 p, w, 1; @p bra W; L: add.u32 a, a, 1; setp.lt.u32 q, a, 150000; @q bra L; st.global.u32 [o], 1; bra E;
     W: ld.volatile.global.u32 a, [o]; setp.eq.u32 q, a, 0; @q bra W; E:",
    // The clock alone says when it ends, and is forgotten at once.
    "L: mov.u32 a, %clock; shr.u32 a, a, 20; setp.eq.u32 p, a, 0; mov.u32 a, 0; @p bra L;",
    // Values of the clock, which no loop may step over whatever its length in ticks.
    "L: mov.u32 a, %clock; and.b32 a, a, 1023; setp.ne.u32 p, a, 0; @p bra L;",
    "L: mov.u32 a, %clock; and.b32 a, a, 1023; setp.ne.u32 p, a, 1; @p bra L;",
    "L: mov.u32 a, %clock; mov.u32 b, 0; and.b32 a, a, 1023; setp.ne.u32 p, a, 1023; @p bra L;",
    "L: mov.u64 c, %globaltimer; rem.u64 c, c, 62; setp.ne.u64 p, c, 61; @p bra L;",
    "L: mov.u64 c, %clock64; and.b64 c, c, 16383; setp.ne.u64 p, c, 77; @p bra L;",
    // A limit of ten minutes in nanoseconds.
    "mov.u64 c, %globaltimer; L: mov.u64 d, %globaltimer; sub.u64 d, d, c; setp.lt.u64 p, d, 600000000000; @p bra L;",
    // The same, and the other warp waits for this one.
    "setp.eq.u32 q, w, 1; @q bra W;
     mov.u64 c, %globaltimer; L: mov.u64 d, %globaltimer; sub.u64 d, d, c; setp.lt.u64 p, d, 600000000000; @p bra L;
     st.global.u32 [o], 1; bra E;
     W: ld.volatile.global.u32 a, [o]; setp.eq.u32 q, a, 0; @q bra W; E:",
    // A count that starts from the clock.
    "mov.u32 a, %clock; and.b32 a, a, 7; L: add.u32 a, a, 1; setp.lt.u32 p, a, 200000; @p bra L;",
    // Only warp 1 counts, and then ends what both do over a barrier.
    "mov.u32 a, 0; setp.eq.u32 q, w, 1;
     L: bar.sync 0; @q add.u32 a, a, 1; setp.ge.u32 p, a, 40000; @p st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 b, [s];
     setp.eq.u32 p, b, 1; @!p bra L;",
    // A reduction hands the result to the others.
    "mov.u32 a, 0; setp.eq.u32 q, w, 1;
     L: @q add.u32 a, a, 1; setp.ge.u32 p, a, 80000; barrier.sync.aligned 1; barrier.red.or.pred p, 0, p; @!p bra L;",
    // The count is in shared memory, and in no register from one round to the next.
    "st.shared.u32 [s], 0; bar.sync 0; setp.eq.u32 q, w, 1;
     L: @q ld.shared.u32 a, [s]; @q add.u32 a, a, 1; @q st.shared.u32 [s], a; bar.sync 0; ld.shared.u32 b, [s]; bar.sync 0; mov.u32 a, 0;
     setp.lt.u32 p, b, 60000; mov.u32 b, 0; @p bra L;",
    // On the stack of the thread.
    "st.local.u32 [l], 0; L: ld.local.u32 a, [l]; add.u32 a, a, 1; st.local.u32 [l], a; setp.lt.u32 p, a, 100000; mov.u32 a, 0; @p bra L;",
    // In global memory, while shared memory holds the same again and again.
    "mov.u32 b, %ctaid.x; mul.wide.u32 d, b, 64; add.u64 o, o, d; setp.eq.u32 q, w, 1; st.shared.u32 [s], 0; bar.sync 0;
     L: @q ld.global.u32 a, [o]; @q add.u32 a, a, 1; @q st.global.u32 [o], a; st.shared.u32 [s2], 1; bar.sync 0;
     @q st.shared.u32 [s], a; bar.sync 0; ld.shared.u32 b, [s]; bar.sync 0; mov.u32 a, 0; setp.lt.u32 p, b, 40000; mov.u32 b, 0; @p bra L;",
    // One block counts in its shared memory and then frees the other, which polls.
    "mov.u32 b, %ctaid.x; setp.ne.u32 q, b, 0; st.shared.u32 [s], 0; bar.sync 0; @q bra W;
     L: ld.shared.u32 a, [s]; bar.sync 0; add.u32 a, a, 1; setp.eq.u32 q, w, 1; @q st.shared.u32 [s], a; bar.sync 0;
     setp.lt.u32 p, a, 60000; mov.u32 a, 0; @p bra L; st.global.u32 [o], 1; bra E;
     W: ld.volatile.global.u32 a, [o]; st.shared.u32 [s], a; bar.sync 0; ld.shared.u32 b, [s]; bar.sync 0; setp.eq.u32 p, b, 0;
     @p bra W; E:",
];

#[test]
fn a_thread_that_spins_for_ever_is_detected() {
    for schedule in [Schedule::InOrder, Schedule::Random] {
        for body in SPINNING {
            let (step, tick) = run(body, 3, schedule.clone());
            let Step::Livelocked(deadlock) = step else { panic!("{body}: {step:?} at {tick}") };
            assert!(deadlock.waiters.iter().any(|waiter| waiter.reason == WaitReason::Spins), "{body}: {deadlock:?}");
        }
    }
}

#[test]
fn a_thread_that_only_takes_long_is_not_reported() {
    for schedule in [Schedule::InOrder, Schedule::Random] {
        for body in ENDING {
            assert_eq!(run(body, 3, schedule.clone()).0, Step::Done, "{body}");
        }
    }
}

#[test]
fn a_run_in_slices_finds_it_at_the_same_time_and_says_so_again() {
    for body in SPINNING {
        let (whole, tick) = run(body, 2, Schedule::InOrder);
        let mut sliced = machine(body, 2, Schedule::InOrder);
        let mut step = Step::Budget;
        while step == Step::Budget {
            let mut copy = sliced.clone();
            copy.canonicalize(&mut NullObserver);
            step = copy.run(977, &mut NullObserver);
            sliced = copy;
        }
        assert_eq!((&step, sliced.tick()), (&whole, tick), "{body}");
        assert_eq!(sliced.run(1, &mut NullObserver), step);
        sliced.restart_detection();
        assert_eq!(sliced.run(1, &mut NullObserver), Step::Budget, "the user may have changed what they wait for");
    }
}

#[test]
fn blocks_that_could_not_start_are_counted() {
    // Block 0 waits for what block 1 stores, and has the only place.
    let body = "mov.u32 b, %ctaid.x; setp.eq.u32 q, b, 1; @q bra S;
         L: ld.volatile.global.u32 a, [o]; setp.eq.u32 p, a, 0; @p bra L; bra E; S: st.global.u32 [o], 1; E:";
    assert_eq!(run(body, 2, Schedule::InOrder).0, Step::Done);
    let program = machine(body, 2, Schedule::InOrder).program().clone();
    let kernel = program.function("k").unwrap();
    let mut device = Device::new(program);
    let out = device.allocate("out", 16, Some(0)).unwrap();
    let config = LaunchConfig { grid: [2, 1, 1], block: [64, 1, 1], resident: Some(1), ..one_warp(kernel, out) };
    let step = Machine::new(device, config).unwrap().run(LIMIT, &mut NullObserver);
    assert!(matches!(&step, Step::Livelocked(deadlock) if deadlock.unstarted == 1), "{step:?}");
}

/// Warp 1 asks for a phase that warp 0 ends once both have met often enough: each time that the wait of warp 1 times out, no thread can run, and
/// warp 1 stands where it stood before.
#[test]
fn a_barrier_between_two_waits_is_progress() {
    let body = "setp.eq.u32 q, w, 1; mov.u32 a, s;
         mov.u32 b, %tid.x; setp.eq.u32 p, b, 0; @p mbarrier.init.shared.b64 [m], 32; bar.sync 0;
         @q bra W; mov.u32 b, 0;
         L: bar.sync 1, 64; add.u32 b, b, 1; setp.lt.u32 p, b, 100; @p bra L; mbarrier.arrive.shared.b64 c, [m];
         M: bar.sync 1, 64; bra M;
         W: mbarrier.try_wait.parity.shared.b64 p, [m], 0; @p bra E; bar.sync 1, 64; bra W;
         E: mov.u32 b, 0;";
    for schedule in [Schedule::InOrder, Schedule::Random] {
        let (step, tick) = run(body, 1, schedule);
        // Warp 0 waits for warp 1, which has ended.
        assert!(
            matches!(&step, Step::Deadlock(deadlock) if deadlock.waiters.iter().all(|waiter| waiter.point.warp == ptxdbg::machine::WarpId::new(0))),
            "{step:?} at {tick}"
        );
    }
}

/// A block whose threads only wait gives its turn to the next: a barrier of all blocks takes a fraction of their turns, which have 32,768
/// ticks each. Where a run is cut changes nothing.
#[test]
fn blocks_that_wait_for_each_other_take_short_turns() {
    let barrier = "atom.global.add.u32 a, [o], 1; L: ld.acquire.gpu.global.u32 a, [o]; setp.lt.u32 p, a, 1024; @p bra L;";
    // Lane 0 waits for the other blocks, and the other lanes and warps for it.
    let cooperative = "mov.u32 b, %tid.x; setp.ne.u32 q, b, 0; @q bra M; atom.global.add.u32 a, [o], 1;
        L: ld.acquire.gpu.global.u32 a, [o]; setp.lt.u32 p, a, 16; @p bra L; M: bar.sync 0;";
    // The same where warps have computed and met before.
    let after_work = format!("mov.u32 b, 0; K: add.u32 b, b, 1; setp.lt.u32 p, b, 200; @p bra K; bar.sync 0; {cooperative}");
    for body in [barrier, cooperative, &after_work] {
        let (step, end) = run(body, 16, Schedule::InOrder);
        assert!(matches!(step, Step::Done) && end < Tick(100_000), "{step:?} {end:?}");
        let mut machine = machine(body, 16, Schedule::InOrder);
        while matches!(machine.run(1, &mut NullObserver), Step::Budget) {}
        assert_eq!(machine.tick(), end, "{body}");
    }
}
