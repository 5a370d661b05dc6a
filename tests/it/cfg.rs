//! Control flow: dominators, loops, meeting points and the scheduler's order of blocks.
//!
//! Small functions carry what is expected of them in comments: `//= order: a b c`, `//= ipdom a: c`, `//= loop a: a b`, where a
//! block goes by its label, or `entry`. Random functions are compared with the definitions, computed the slow way.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use ptxdbg::base::{SourceId, Sources, Span};
use ptxdbg::cfg::{BlockId, ControlFlow, frontier_order};
use ptxdbg::program::{ControlOp, FuncId, Function, Guard, Inst, Limits, Op, Pc, Program, Slot, Slots};
use ptxdbg::sema;

const KERNEL: FuncId = FuncId(0);

/// Loads a kernel whose body is `body`, and checks the expectations in it.
#[track_caller]
fn check(body: &str) {
    let text = format!(".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {{ .reg .pred %p<9>; .reg .b32 %r<9>;\n{body}\n}}\n");
    let (program, diags) = sema::load(&mut Sources::default(), "test.ptx", text);
    assert_eq!(diags, []);
    let program = program.unwrap();
    let flow = ControlFlow::new(&program, KERNEL);
    let mut expectations = 0;
    for expectation in body.lines().filter_map(|line| line.trim().strip_prefix("//= ")) {
        let (what, blocks) = expectation.split_once(':').unwrap();
        assert_eq!(blocks.trim(), found(&program, &flow, what), "{what}");
        expectations += 1;
    }
    assert!(expectations > 0);
}

/// What `flow` says to an expectation.
fn found(program: &Program, flow: &ControlFlow, what: &str) -> String {
    let name = |block: BlockId| block_name(program, flow, block);
    let named = |wanted: &str| flow.blocks().map(|(block, _)| block).find(|block| name(*block) == wanted).unwrap();
    let list = |blocks: &[BlockId]| blocks.iter().map(|block| name(*block)).collect::<Vec<_>>().join(" ");
    let one = |block: Option<BlockId>| block.map_or("none".to_string(), name);
    match what.split_once(' ') {
        None => list(&blocks_in_order(program, flow)),
        Some(("ipdom", block)) => one(flow.ipdom(named(block))),
        Some(("idom", block)) => one(flow.idom(named(block))),
        Some(("next", block)) => list(flow.successors(named(block))),
        Some((_, header)) => {
            let header = named(header);
            flow.loops().iter().find(|found| found.header == header).map_or("none".to_string(), |found| list(&found.blocks))
        }
    }
}

fn block_name(program: &Program, flow: &ControlFlow, block: BlockId) -> String {
    let (_, code) = flow.blocks().nth(block.index()).unwrap();
    let labels = &program.functions[0].labels;
    let label = labels.iter().find(|(_, pc)| pc.0 == code.start).map(|(name, _)| name.to_string());
    label.unwrap_or_else(|| if block.0 == 0 { "entry".to_string() } else { format!("at{}", code.start) })
}

/// Blocks that are reachable, by the rank of their first instruction.
fn blocks_in_order(program: &Program, flow: &ControlFlow) -> Vec<BlockId> {
    let ranks = frontier_order(program);
    let mut blocks: Vec<_> = flow.blocks().filter(|(block, _)| block.0 == 0 || flow.idom(*block).is_some()).collect();
    blocks.sort_by_key(|(_, code)| ranks[code.start as usize]);
    blocks.into_iter().map(|(block, _)| block).collect()
}

#[test]
fn a_branch_reconverges_after_both_sides() {
    check(
        "//= order: entry then else end
         //= ipdom entry: end
         //= ipdom then: end
         //= idom end: entry
         //= next entry: then else
         @%p1 bra else;
         then: mov.u32 %r1, 1;
         bra end;
         else: mov.u32 %r1, 2;
         end: ret;",
    );
}

#[test]
fn a_loop_comes_before_its_exits_wherever_they_stand() {
    // `found` stands between the blocks of the loop, as compilers place an early way out.
    check(
        "//= order: entry head body next found done
         //= loop head: head body next
         //= ipdom head: done
         //= ipdom body: done
         mov.u32 %r1, 0;
         head: @%p1 bra done;
         body: @!%p2 bra next;
         found: mov.u32 %r2, 1;
         bra done;
         next: add.u32 %r1, %r1, 1;
         bra head;
         done: ret;",
    );
}

#[test]
fn continue_and_break_stay_inside_their_loops() {
    check(
        "//= order: entry outer inner work latch after outlatch end
         //= loop outer: outer inner work latch after outlatch
         //= loop inner: inner work latch
         //= ipdom inner: end
         //= ipdom work: end
         mov.u32 %r1, 0;
         outer: mov.u32 %r2, 0;
         inner: @%p1 bra after;
         work: @%p2 bra end;
         latch: add.u32 %r2, %r2, 1;
         bra inner;
         after: @%p3 bra end;
         outlatch: bra outer;
         end: ret;",
    );
}

#[test]
fn an_endless_loop_meets_nowhere() {
    check(
        "//= order: entry spin out
         //= ipdom spin: none
         //= ipdom entry: out
         //= loop spin: spin
         @%p1 bra out;
         spin: bra spin;
         out: ret;",
    );
}

#[test]
fn a_loop_with_two_entries_begins_at_the_first() {
    check(
        "//= order: entry a b end
         //= loop a: a b
         //= idom b: entry
         @%p1 bra b;
         a: @%p2 bra end;
         b: @%p3 bra a;
         end: ret;",
    );
}

#[test]
fn guarded_exits_are_not_waited_for_and_tables_have_many_ways_out() {
    check(
        "//= order: entry one two at5 last
         //= next entry: one two last
         //= next two: at5
         //= ipdom entry: last
         targets: .branchtargets two, one, last, one;
         brx.idx %r1, targets;
         one: mov.u32 %r1, 1;
         bra last;
         two: mov.u32 %r1, 2;
         @%p1 exit;
         mov.u32 %r1, 3;
         last: ret;",
    );
}

#[test]
fn the_meeting_point_of_a_branch_is_an_instruction() {
    let text =
        ".version 9.0\n.target sm_90a\n.address_size 64\n.func f() { ret; }\n.entry k() { .reg .pred %p; @%p bra L; call f; L: ret; }";
    let program = sema::load(&mut Sources::default(), "test.ptx", text).0.unwrap();
    let flow = ControlFlow::new(&program, FuncId(1));
    let start = program.functions[1].code.start;
    assert_eq!(flow.ipdom_pc(Pc(start)), Some(Pc(start + 2)));
    assert_eq!(flow.ipdom_pc(Pc(start + 2)), None);
    assert_eq!(flow.block_of(Pc(0)), None);
    assert_eq!(flow.block_of(Pc(start + 1)).map(BlockId::index), Some(1));
}

/// A program of one kernel with this code and the closing return.
fn program_of(ops: impl IntoIterator<Item = Inst>) -> Program {
    let mut code: Vec<Inst> = ops.into_iter().collect();
    code.push(Inst { guard: None, op: Op::Control(ControlOp::Return { uniform: false }) });
    let span = Span::new(SourceId(0), 0, 0);
    let function = Function {
        placement: ptxdbg::program::Placement::default(),
        name: "k".into(),
        span,
        is_kernel: true,
        code: 0..code.len() as u32,
        params: Vec::new(),
        results: Vec::new(),
        slots: Slots::default(),
        frame_bytes: 0,
        shared_bytes: 0,
        param_bytes: 0,
        registers: Vec::new(),
        variables: Vec::new(),
        labels: Vec::new(),
        limits: Limits::default(),
    };
    Program { spans: vec![span; code.len()], code, functions: vec![function], ..Program::default() }
}

/// A random instruction of a program of `length`: a branch, a return or nothing, guarded or not.
fn inst(length: u32) -> impl Strategy<Value = Inst> {
    let guard = proptest::option::of(Just(Guard { slot: Slot(0), negate: false }));
    let branch = (0..length).prop_map(|target| Op::Control(ControlOp::Branch { target: Pc(target), uniform: false }));
    let op = prop_oneof![4 => branch, 1 => Just(Op::Control(ControlOp::Exit)), 2 => Just(Op::Nop)];
    (guard, op).prop_map(|(guard, op)| Inst { guard, op })
}

fn programs() -> impl Strategy<Value = Program> {
    (1_u32..18).prop_flat_map(|length| proptest::collection::vec(inst(length + 1), length as usize)).prop_map(program_of)
}

/// The blocks that can be reached from `start` without entering `avoided`, `start` included.
fn reached(flow: &ControlFlow, start: BlockId, avoided: Option<BlockId>) -> Vec<bool> {
    let mut reached = vec![false; flow.blocks().count()];
    let mut open = vec![start];
    while let Some(block) = open.pop() {
        if Some(block) != avoided && !std::mem::replace(&mut reached[block.index()], true) {
            open.extend(flow.successors(block));
        }
    }
    reached
}

/// Whether the function can end from `start` without entering `avoided`.
fn can_end(flow: &ControlFlow, start: BlockId, avoided: Option<BlockId>) -> bool {
    let reached = reached(flow, start, avoided);
    flow.blocks().any(|(block, _)| reached[block.index()] && flow.successors(block).is_empty())
}

/// Of the blocks that all of `dominators` holds for, the one that every other of them dominates as well.
fn nearest(candidates: &[BlockId], dominates: impl Fn(BlockId, BlockId) -> bool) -> Option<BlockId> {
    candidates.iter().copied().find(|near| candidates.iter().all(|other| other == near || dominates(*other, *near)))
}

proptest! {
    #[test]
    fn dominators_are_what_cannot_be_avoided(program in programs()) {
        let flow = ControlFlow::new(&program, KERNEL);
        let blocks: Vec<BlockId> = flow.blocks().map(|(block, _)| block).collect();
        let entry = blocks[0];
        let from_entry = reached(&flow, entry, None);
        let dominates = |a: BlockId, b: BlockId| !reached(&flow, entry, Some(a))[b.index()];
        let post_dominates = |a: BlockId, b: BlockId| !can_end(&flow, b, Some(a));
        for block in &blocks {
            let dominators: Vec<BlockId> = blocks.iter().copied().filter(|other| {
                other != block && from_entry[block.index()] && from_entry[other.index()] && dominates(*other, *block)
            }).collect();
            prop_assert_eq!(flow.idom(*block), nearest(&dominators, dominates));
            let ends = can_end(&flow, *block, None);
            let reconvergences: Vec<BlockId> = blocks.iter().copied().filter(|other| {
                other != block && ends && can_end(&flow, *other, None) && post_dominates(*other, *block)
            }).collect();
            prop_assert_eq!(flow.ipdom(*block), nearest(&reconvergences, post_dominates));
        }
    }

    #[test]
    fn loops_are_contiguous_and_only_their_headers_are_returned_to(program in programs()) {
        let flow = ControlFlow::new(&program, KERNEL);
        let ranks = frontier_order(&program);
        let rank = |block: BlockId| ranks[flow.blocks().nth(block.index()).unwrap().1.start as usize];
        let order = blocks_in_order(&program, &flow);
        for block in &order {
            for next in flow.successors(*block).iter().filter(|next| rank(**next) <= rank(*block)) {
                let returns = flow.loops().iter().any(|found| found.header == *next && found.blocks.contains(block));
                prop_assert!(returns, "{block:?} comes after {next:?}");
            }
        }
        for found in flow.loops() {
            let places: Vec<usize> = (0..order.len()).filter(|place| found.blocks.contains(&order[*place])).collect();
            prop_assert_eq!(places.len(), found.blocks.len());
            prop_assert_eq!(places[places.len() - 1] - places[0] + 1, places.len());
            prop_assert_eq!(order[places[0]], found.header);
            let from_header = reached(&flow, found.header, None);
            prop_assert!(found.blocks.iter().all(|block| from_header[block.index()] && reached(&flow, *block, None)[found.header.index()]));
        }
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..program.code.len() as u32).collect::<Vec<_>>());
    }
}

#[test]
fn large_and_deep_functions_take_little_time() {
    let guard = Some(Guard { slot: Slot(0), negate: false });
    let branch = |target: u32| Inst { guard, op: Op::Control(ControlOp::Branch { target: Pc(target), uniform: false }) };
    // A chain of skips, whose odd and even instructions do not meet before its end, then loops each inside the next.
    let skips = (0..100_000).map(|pc| branch(pc + 2));
    let loops = (0..20_000).map(|pc| branch(100_000 - pc));
    let program = program_of(skips.chain(loops));
    let start = std::time::Instant::now();
    let flow = ControlFlow::new(&program, KERNEL);
    assert_eq!(flow.ipdom(BlockId(0)), Some(BlockId(100_001)));
    assert_eq!(frontier_order(&program).len(), 120_001);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
