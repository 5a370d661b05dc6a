//! Views of machines that stand somewhere, in words: what is expected was read off `fixtures/small/looking.ptx` and worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::collections::BTreeSet;

use crate::look::{LaneLocation, location};
use ptxdbg::debug::eval_context::EvalContext;
use ptxdbg::debug::explain::explain;
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::focus::{Extents, Focus, FocusChange, ThreadFilter};
use ptxdbg::debug::view::{self, Examine, ExamineError};
use ptxdbg::machine::LaneMask;
use ptxdbg::ui::text::{frames, launch, symbols, table::table, threads, value, view as words};

const LOOKING: &str = "small/looking.ron";
/// Ticks after which warp 0 of block 0 stands at the call, in the called function, after the divergent branch, and at the barrier.
const AT_CALL: u64 = 17;
const IN_CALL: u64 = 19;
const DIVERGED: u64 = 22;
const AT_BARRIER: u64 = 30;

#[track_caller]
fn assert_lines(text: &str, expected: &[&str]) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines, expected, "\n{text}");
}

fn explained(location: &LaneLocation, lane: u32) -> String {
    words::explanation(&explain(&location.eval_context(0, lane), None).unwrap())
}

fn examined(context: &EvalContext<'_>, letters: &str, address: &str) -> String {
    let start = Expression::parse(address).unwrap().evaluate(context).unwrap();
    match view::examine(context, &Examine::default().with(letters).unwrap(), &start) {
        Ok(examined) => words::examined(&examined, letters.contains('i')),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn the_launch_says_what_its_parameters_hold() {
    let at_call = location(LOOKING, AT_CALL);
    assert_lines(
        &table(&launch::launch(&view::launch(&at_call.eval_context(0, 0), &BTreeSet::new()), (0, 1), &[])),
        &[
            "kernel  looking",
            "grid    (2,1,1), 2 blocks",
            "block   (64,1,1), 64 threads in 2 warps",
            "shared  128 bytes of variables, 0 dynamic, 1152 in all",
            "blocks  1 started, 1 on the machine, 0 finished",
            "data    .u64 0x7f2000000000 <x>  f32[64]",
            "count   .u32 64",
        ],
    );
}

#[test]
fn blocks_in_the_same_condition_are_one_row() {
    let all = ThreadFilter::default();
    let at_barrier = location(LOOKING, AT_BARRIER);
    assert_lines(
        &table(&threads::blocks(&view::blocks(&at_barrier.eval_context(0, 0), &all))),
        &[
            "  from     to       blocks  state",
            "* (0,0,0)  (0,0,0)       1  32 threads at barrier 0, 32 threads ready",
            "  (1,0,0)  (1,0,0)       1  not started",
        ],
    );
    let ended = location(LOOKING, u64::MAX);
    assert_lines(
        &table(&threads::blocks(&view::blocks(&ended.eval_context(0, 0), &all))),
        &["  from     to       blocks  state", "* (0,0,0)  (1,0,0)       2  finished"],
    );
}

#[test]
fn warps_lanes_and_threads_are_coalesced() {
    let all = ThreadFilter::default();
    let start = location(LOOKING, 0);
    assert_lines(
        &table(&threads::warps(&view::warps(&start.eval_context(0, 0), &all).unwrap())),
        &["  warp  state  lanes  at", "* 0-1   ready  0-31   looking.ptx:32 <looking>  mov.u32 %r1, %laneid"],
    );
    let diverged = location(LOOKING, DIVERGED);
    let context = diverged.eval_context(0, 5);
    assert_lines(
        &table(&threads::warps(&view::warps(&context, &all).unwrap())),
        &[
            "  warp  state  lanes  at",
            "* 0     ready  0-7    looking.ptx:54 <low>         mov.b32 %r7, 200",
            "        ready  8-31   looking.ptx:51 <looking+19>  mov.b32 %r7, 100",
            "  1     ready  0-31   looking.ptx:32 <looking>     mov.u32 %r1, %laneid",
        ],
    );
    assert_lines(
        &table(&threads::lanes(&view::lanes(&context, &all).unwrap())),
        &[
            "  lanes  threads             state  at",
            "* 0-7    (0,0,0) … (7,0,0)   ready  looking.ptx:54 <low>         mov.b32 %r7, 200",
            "  8-31   (8,0,0) … (31,0,0)  ready  looking.ptx:51 <looking+19>  mov.b32 %r7, 100",
        ],
    );
    let few = ThreadFilter::parse("warp 0 lane 6-9", &context.extents(), context.roles).unwrap();
    assert_lines(
        &table(&threads::threads(&view::threads(&context, &few))),
        &[
            "block    warps  lanes  threads  state  at",
            "(0,0,0)  0      6-7          2  ready  looking.ptx:54 <low>         mov.b32 %r7, 200",
            "(0,0,0)  0      8-9          2  ready  looking.ptx:51 <looking+19>  mov.b32 %r7, 100",
        ],
    );
    let none = ThreadFilter::parse("block 1,0,0", &context.extents(), context.roles).unwrap();
    assert_lines(&table(&threads::threads(&view::threads(&context, &none))), &["no such thread is on the machine"]);
    assert_eq!(view::warps(&context, &none).unwrap_err().to_string(), "block (1,0,0) has not started: 1 of 2 have");
}

#[test]
fn barriers_say_which_threads_are_missing() {
    let deadlock = location("faults/barrier_deadlock.ron", u64::MAX);
    assert_lines(
        &table(&threads::barriers(&view::barriers(&deadlock.eval_context(0, 0), &ThreadFilter::default()).unwrap())),
        &[
            "  barrier  phase   arrived  waiting  missing  at",
            "*       1      0  32 of 64  warp 0   warp 1   barrier_deadlock.ptx:24 <first>",
            "        2      0  32 of 64  warp 1   warp 0   barrier_deadlock.ptx:21 <barrier_deadlock+6>",
        ],
    );
}

#[test]
fn calls_and_locals_are_those_of_the_selected_frame() {
    let in_call = location(LOOKING, IN_CALL);
    let mut context = in_call.eval_context(0, 5);
    assert_lines(
        &table(&frames::stack(&view::backtrace(&context, 10).unwrap(), true)),
        &[
            "  #  function  at",
            "* 0  twice     looking.ptx:13 <twice+1>     mov.b32 out, %t0",
            "  1  looking   looking.ptx:49 <looking+17>  call (%r6), twice, (%r2)",
        ],
    );
    assert_lines(
        &value::registers(&view::registers(&context, |_| true, true, None).unwrap()),
        &["out  b32: 0 (uniform)", "in   b32: 0, 4, .. 124 (affine: 4*lane)", "%t0  b32: 0, 8, .. 248 (affine: 8*lane)"],
    );
    context.focus.frame = 1;
    assert_lines(
        &table(&frames::locals(&view::locals(&context, None).unwrap())),
        &[
            "name     kind   type    value",
            "data     param  u64     0x7f2000000000 <x>",
            "count    param  u32     64",
            "scratch  local  u32[4]  {0, 20, 0, 0}",
        ],
    );
    assert_lines(
        &value::registers(&view::registers(&context, |name| name.starts_with("%f") || name == "%rd1", false, None).unwrap()),
        &["%f1   f32  0.1", "%f2   f32  -nan(0x400001)", "%f3   f32  0", "%fd1  f64  0.1", "%rd1  b64  0x7f2000000000 <x>"],
    );
}

#[test]
fn names_and_where_they_lie() {
    let at_call = location(LOOKING, AT_CALL);
    let context = at_call.eval_context(0, 0);
    assert_lines(
        &table(&symbols::symbols(&view::symbols(&context, "a"), "a")),
        &[
            "name     kind    type              address  bytes  in",
            "table    global  s32[2][3]  0x7f1000000000     24",
            "scale    const   f32                 0x100      4",
            "scratch  local   u32[4]            frame+0     16  looking",
        ],
    );
    assert_lines(
        &table(&symbols::shared(&view::shared(&context))),
        &[
            "name                  type       address  bytes",
            "(kept by the system)                 0x0   1024",
            "tile                  f32[4][8]    0x400    128",
        ],
    );
    assert_lines(
        &table(&symbols::allocations(&view::allocations(&context))),
        &[
            "name   kind             type              address  bytes",
            "table  global variable  s32[2][3]  0x7f1000000000     24",
            "x      buffer           f32[64]    0x7f2000000000    256",
            "scale  const variable   f32                 0x100      4",
        ],
    );
}

#[test]
fn divergence_says_where_groups_meet() {
    let diverged = location(LOOKING, DIVERGED);
    let view = view::divergence(&diverged.eval_context(0, 5)).unwrap();
    assert_eq!(view.reconvergence.unwrap().0, 26, "join is the 22nd instruction of the kernel, which begins at 4");
    assert_lines(
        &words::divergence(&view),
        &[
            "warp 0: 2 groups, will meet at looking.ptx:56 <join>",
            "  ▶ 24 lanes 8-31  at looking.ptx:51 <looking+19>",
            "     8 lanes 0-7   at looking.ptx:54 <low>  ◄ focus",
        ],
    );
}

#[test]
fn groups_of_a_loop_reconverge_after_it() {
    for ticks in 0..400 {
        let loops = location("programs/bfs_frontier.ron", ticks);
        let Ok(view) = view::divergence(&loops.eval_context(0, 0)) else { continue };
        let lanes = view.groups.iter().fold(view.exited, |lanes, group| {
            assert!(!lanes.intersects(group.lanes), "a lane is in one group");
            lanes | group.lanes
        });
        assert_eq!(lanes, LaneMask::ALL);
        if view.groups.len() > 1 {
            let reconvergence = view.reconvergence.unwrap();
            assert!(view.groups.iter().any(|group| group.pc != reconvergence), "they have not met yet");
        }
    }
}

#[test]
fn control_flow_shows_where_threads_are() {
    let diverged = location(LOOKING, DIVERGED);
    let context = diverged.eval_context(0, 5);
    let function = context.frame().unwrap().function;
    assert_lines(
        &words::control_flow(&view::control_flow(&context, function)),
        &[
            "looking",
            "  entry 32-50  → bb1, low  meet at join  32 threads of other warps",
            "  bb1 51-52    → join                    lanes 8-31",
            "▶ low 54       → join                    lanes 0-7",
            "  join 56-62   → end",
        ],
    );
}

#[test]
fn the_listing_shows_lanes_and_breakpoints() {
    let diverged = location(LOOKING, DIVERGED);
    let context = diverged.eval_context(0, 5);
    let (file, line) = view::current_line(&context);
    assert_eq!(line, 54);
    assert_lines(
        &words::listing(&view::list(&context, file, 50..56, &[ptxdbg::program::Pc(23)])),
        &[
            "   50          @%p1 bra low;",
            "●  51  [8-31]      mov.b32 %r7, 100;",
            "   52              bra.uni join;",
            "   53          low:",
            " ▶ 54  [0-7]       mov.b32 %r7, 200;",
            "   55          join:",
        ],
    );
    assert_eq!(view::list(&context, file, 60..1000, &[]).lines.last().unwrap().number, 64);
}

#[test]
fn an_instruction_is_explained_by_running_it() {
    let explained_at = |ticks| explained(&location(LOOKING, ticks), 5);
    let active = "  active: all 32 lanes that stand here (0-31)";
    assert_lines(
        &explained_at(1),
        &[
            "looking.ptx:33  mul.lo.u32 %r2, %r1, 4     lower half of the product",
            "  lane 5: a = %r1 = 5, b = 4; %r2 becomes 20 (was 0)",
            "  %r2 = 5 * 4 = 20",
            active,
        ],
    );
    assert_lines(
        &explained_at(2),
        &[
            "looking.ptx:34  ld.param.u64 %rd1, [data]     load",
            "  lane 5: a = [data] = 0x0 <data>, which holds 0x7f2000000000 <x>; %rd1 becomes 0x7f2000000000 <x> (was 0)",
            active,
        ],
    );
    assert!(explained_at(4).contains("%f1 becomes 0.1 (was 0)"), "{}", explained_at(4));
    assert!(explained_at(15).contains("a = [tile+36] = 0x424 <tile+36>, which holds 0, b = 0f40200000"), "{}", explained_at(15));
    assert!(explained_at(17).contains("goes to looking.ptx:12 <twice>  add.s32 %t0, in, in"), "{}", explained_at(17));
    assert_lines(
        &explained_at(21),
        &[
            "looking.ptx:50  @%p1 bra low     branch",
            "  lane 5: %p1 is true; goes to looking.ptx:54 <low>  mov.b32 %r7, 200",
            "  lanes 0-7 go to looking.ptx:54 <low>, lanes 8-31 go on at looking.ptx:51 <looking+19>",
            "  active: 8 of 32 lanes (0-7)",
        ],
    );
    assert!(explained(&location(LOOKING, 21), 8).contains("%p1 is false; does nothing"));
    assert!(explained_at(22).contains("lanes 8-31 of the warp run first"), "{}", explained_at(22));
    assert!(explained_at(28).contains("the lane then waits: at barrier 0"), "{}", explained_at(28));
    assert!(explained_at(29).contains("waits here: at barrier 0"), "{}", explained_at(29));
    assert!(explain(&location(LOOKING, u64::MAX).eval_context(0, 0), None).is_none(), "no thread is left to execute anything");
}

#[test]
fn memory_is_examined_in_rows() {
    let at_call = location(LOOKING, AT_CALL);
    let context = at_call.eval_context(0, 5);
    assert_lines(
        &examined(&context, "6xw", "x"),
        &["0x7f2000000000 <x>:     0x3f800000  0x3fc00000  0x40000000  0x40200000", "0x7f2000000010 <x+16>:  0x40400000  0x40600000"],
    );
    assert_lines(&examined(&context, "3", "&x[1]"), &["0x7f2000000004 <x+4>:  1.5    2  2.5"]);
    assert_lines(&examined(&context, "2d", "table[1]"), &["0x7f100000000c <table+12>:  4  5"]);
    assert_lines(&examined(&context, "2i", "$pc"), &["=> 21 <looking+17>:  call (%r6), twice, (%r2)", "   22 <looking+18>:  @%p1 bra low"]);
    assert_lines(
        &examined(&context, "9f", "&x[62]"),
        &[
            "0x7f20000000f8 <x+248>:    32  32.5",
            "no global memory at 0x7f2000000100..0x7f2000000104: just past the end of 'x' (256 bytes at 0x7f2000000000)",
        ],
    );
    assert_lines(&examined(&context, "x", "0"), &["no global memory at 0x0..0x4: a null pointer"]);
    assert_lines(&examined(&context, "x", "1.5"), &["a value of type f64 is not an address"]);
    assert_eq!(Examine::default().with("4q"), Err(ExamineError::Letter('q')));
    assert_eq!(Examine::default().with("99999999999999999999x"), Err(ExamineError::Count(u64::MAX)));
}

#[test]
fn values_are_printed_in_words() {
    let diverged = location(LOOKING, DIVERGED);
    let context = diverged.eval_context(0, 5);
    let printed = |text: &str| {
        let value = Expression::parse(text).unwrap().evaluate(&context).unwrap();
        value::printed(text, &value.text(&context, None), ptxdbg::debug::LaneMask::NONE)
    };
    assert_eq!(printed("%r1"), "%r1 = 5\n");
    assert_eq!(printed("%r2@*"), "%r2@* b32: 0, 4, .. 124 (affine: 4*lane)\n");
    assert_eq!(printed("%r3@*"), "%r3@* b32: 64 (uniform)\n");
    assert_eq!(printed("%r1@3"), "%r1@3 b32 (lane 3): 3\n");
    assert_eq!(printed("%p1@*"), "%p1@* pred: false in lanes 8-31; true in lanes 0-7\n");
    assert_eq!(
        printed("&x[%r1]@*"),
        "&x[%r1]@* global f32*: 0x7f2000000000 <x>, 0x7f2000000004 <x+4>, .. 0x7f200000007c <x+124> (affine: 0x7f2000000000 <x> + 4*lane)\n"
    );
    let some = "(&x[%r1])@1..3 global f32* (lanes 1-3): 0x7f2000000004 <x+4>, 0x7f2000000008 <x+8>, .. 0x7f200000000c <x+12>";
    assert_eq!(printed("(&x[%r1])@1..3"), format!("{some} (affine: 0x7f2000000000 + 4*lane)\n"));
    assert_eq!(printed("table"), "table = s32[2][3] {\n  {1, 2, 3},\n  {4, 5, -6}\n}\n");
    assert_eq!(printed("scratch"), "scratch = {0, 20, 0, 0}\n");
    assert_lines(
        &printed("%r5@*"),
        &[
            "%r5@* b32: 0 1 2 3 0 1 2 3 … min 0, max 3; differs in 24 lanes",
            "   0:  0  1  2  3  0  1  2  3",
            "   8:  0  1  2  3  0  1  2  3",
            "  16:  0  1  2  3  0  1  2  3",
            "  24:  0  1  2  3  0  1  2  3",
        ],
    );
}

#[test]
fn words_about_threads() {
    let extents = Extents { grid: [4, 2, 1], block: [16, 6, 1], cluster: [2, 1, 1] };
    let focus = Focus { block: [1, 0, 0], warp: 2, lane: 5, frame: 1 };
    let filter = |words: &str| {
        ThreadFilter::parse(words, &extents, &ptxdbg::debug::roles::NO_ROLES)
            .map(|filter| filter.to_string())
            .map_err(|error| (error.column, error.message))
    };
    assert_eq!(filter("block 1,0,0 warp 2 lane 0-7").unwrap(), "block 1,0,0 warp 2 lane 0-7");
    assert_eq!(filter("lane 0-3, 8,12-15").unwrap(), "lane 0-3,8,12-15");
    // Thread (1,2,0) of a block 16 wide is number 33: lane 1 of warp 1.
    assert_eq!(filter("thread 1,2,0").unwrap(), "warp 1 lane 1");
    assert_eq!(filter("block (3,1,0) thread (1,2,0)").unwrap(), "block 3,1,0 warp 1 lane 1");
    assert_eq!(filter("cluster 1,1,0").unwrap(), "block 2,1,0");
    assert_eq!(filter("").unwrap(), "");
    let refused = |words: &str, column: usize, message: &str| assert_eq!(filter(words), Err((column, message.to_string())), "{words}");
    refused("block 4,0,0", 6, "there is no block (4,0,0): they are (0,0,0) to (3,1,0)");
    refused("warp 3", 5, "there is no warp 3: they are 0 to 2");
    refused("warp 1 lane 32", 12, "there is no lane 32: they are 0 to 31");
    refused("lane 7-3", 5, "lanes 7-3 run backwards: write 3-7");
    refused("warp 0 warp 1", 7, "the warp is named twice");
    refused("warp 0 thread 1", 7, "the thread is named twice");
    refused("blok 1", 0, "expected block X,Y,Z, cluster X,Y,Z, warp N, lane N or thread X,Y,Z, or a role");
    refused("block 1,0,0 5", 12, "expected block X,Y,Z, cluster X,Y,Z, warp N, lane N or thread X,Y,Z, or a role");
    refused("warp 99999999999", 5, "99999999999 is too large");
    refused("block (1,0,0", 12, "expected ')'");

    let moved = |words: &str| FocusChange::parse(words, &extents, &focus).map(|change| change.apply(focus, &extents).to_string());
    assert_eq!(focus.to_string(), "block 1,0,0 warp 2 lane 5 frame 1");
    assert_eq!(moved("lane 5").unwrap(), "block 1,0,0 warp 2 lane 5 frame 1");
    assert_eq!(moved("lane 7").unwrap(), "block 1,0,0 warp 2 lane 7");
    assert_eq!(moved("block 2").unwrap(), "block 2,0,0 warp 2 lane 5");
    assert_eq!(moved("thread (0,2)").unwrap(), "block 1,0,0 warp 1 lane 0");
    assert_eq!(moved("lane 1-3").unwrap_err().to_string(), "the focus is on one lane: give one number, 0 to 31");
}
