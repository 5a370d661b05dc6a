//! Definite assignment, def-use and liveness on small functions, whose answers are worked out by hand.

#![expect(clippy::panic, reason = "a test fails where it cannot read its input")]

use std::sync::Arc;

use ptxdbg::base::Sources;
use ptxdbg::cfg::ControlFlow;
use ptxdbg::flow::cells::FrameCells;
use ptxdbg::flow::copies::copies_before;
use ptxdbg::flow::def_use::{DefUse, Definition};
use ptxdbg::flow::definite::DefiniteAssignment;
use ptxdbg::flow::graph::{Blocks, Graph};
use ptxdbg::flow::liveness::live;
use ptxdbg::program::operands::{RegisterOperand, reads, writes};
use ptxdbg::program::{FuncId, Program};
use ptxdbg::sema;

/// One kernel with this body. Registers are in the order of their declaration.
fn program(body: &str) -> Arc<Program> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n) {{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n{body}}}\n"
    );
    let (program, diagnostics) = sema::load(&mut Sources::default(), "k.ptx", text);
    program.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// A loop with a guarded write: 0 ld, 1 mov, 2 setp, 3 @p mov, 4 add, 5 setp, 6 @p bra, 7 st, 8 exit.
const LOOP: &str = "ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
LOOP:
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 mov.u32 %r3, 7;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra LOOP;
    st.volatile.shared.u32 [%r3], %r2;
    ret;
";

/// Two paths, of which one writes: 0 ld, 1 setp, 2 @p bra, 3 mov, 4 mov, 5 bra, 6 mov, 7 add (dead), 8 st, 9 exit.
const FORK: &str = "ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra ELSE;
    mov.u32 %r2, 1;
    mov.u32 %r3, 1;
    bra JOIN;
ELSE:
    mov.u32 %r2, 2;
JOIN:
    add.u32 %r4, %r2, %r1;
    st.volatile.shared.u32 [%r2], %r1;
    ret;
";

/// The register that the instruction at `at` reads as number `index` of those it reads.
fn read(program: &Program, at: usize, index: usize) -> RegisterOperand {
    reads(&program.code[at], program)[index]
}

fn def_use(program: &Program) -> DefUse<ControlFlow> {
    DefUse::new(program, 0..program.code.len(), ControlFlow::new(program, FuncId::new(0)))
}

#[test]
fn definitions_come_round_loops_and_past_guarded_writes() {
    let program = program(LOOP);
    let def_use = def_use(&program);
    let sorted = |register, at| {
        let mut found: Vec<Option<usize>> = def_use.definitions(register, at).into_iter().map(at_or_entry).collect();
        found.sort_unstable();
        found
    };
    let counter = read(&program, 2, 0);
    assert_eq!(sorted(counter, 2), [Some(1), Some(4)]);
    assert_eq!(sorted(counter, 5), [Some(4)]);
    let address = read(&program, 7, 0);
    assert_eq!(sorted(address, 7), [None, Some(3)], "a guarded write leaves what the register held");
    assert_eq!(def_use.definitions_past_entry(read(&program, 2, 1), 5), [Definition::At(0)]);
    assert_eq!(def_use.definitions_past_entry(address, 7).len(), 2);
    assert!(def_use.is_unchanged(read(&program, 2, 1), 2, 7));
    assert!(!def_use.is_unchanged(counter, 2, 5));
}

fn at_or_entry(definition: Definition) -> Option<usize> {
    match definition {
        Definition::At(at) => Some(at),
        Definition::Entry => None,
    }
}

#[test]
fn a_register_is_assigned_where_every_path_writes_it() {
    let program = program(FORK);
    let function = &program.functions[0];
    let flow = ControlFlow::new(&program, FuncId::new(0));
    let assignment = DefiniteAssignment::new(&program, function, &flow);
    let before = assignment.before_blocks();
    let join = flow.block_at(8);
    assert_eq!(flow.predecessor_nodes(join).count(), 2);
    let holds = |at: usize, index: usize| before[join].0.contains_all_in_range(assignment.cells.of(read(&program, at, index)));
    assert!(holds(7, 0), "%r2 is written on both paths");
    assert!(holds(7, 1), "%r1 is written before the fork");
    let mut after = before[flow.block_at(3)].clone();
    assignment.execute(&program.code[4], &mut after);
    assert_eq!(after.0.count_ones(..), before[flow.block_at(3)].0.count_ones(..) + 1);
    assert!(!after.0.is_subset(&before[join].0), "%r3 is written on one path");
}

#[test]
fn a_guarded_write_assigns_nothing() {
    let program = program(LOOP);
    let flow = ControlFlow::new(&program, FuncId::new(0));
    let assignment = DefiniteAssignment::new(&program, &program.functions[0], &flow);
    let before = assignment.before_blocks();
    let written = &before[flow.block_at(7)].0;
    assert!(!written.contains_all_in_range(assignment.cells.of(read(&program, 7, 0))));
    assert!(written.contains_all_in_range(assignment.cells.of(read(&program, 7, 1))));
}

#[test]
fn instructions_live_by_what_needs_their_results() {
    let program = program(FORK);
    let def_use = def_use(&program);
    let live = live(&program, 0..program.code.len(), &def_use, |at| !program.code[at].op.effects(&program).only_computes());
    // Of the sum and of %r3 nothing is made.
    assert_eq!((0..program.code.len()).filter(|at| !live.contains(*at)).collect::<Vec<_>>(), [4, 7]);
}

/// A loop that copies `%r1` on one path: 0 ld, 1 mov, 2 mov, 3 @p mov, 4 setp, 5 @p bra, 6 mov, 7 add, 8 setp, 9 @p bra, 10 st, 11 ret.
const COPIES: &str = "ld.param.u32 %r1, [n];
LOOP:
    mov.u32 %r2, %r1;
    mov.u32 %r3, %r2;
    @%p1 mov.u32 %r4, %r1;
    setp.eq.u32 %p2, %r3, 3;
    @%p2 bra JOIN;
    mov.u32 %r5, %r3;
JOIN:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, 9;
    @%p3 bra LOOP;
    st.volatile.shared.u32 [%r3], %r5;
    ret;
";

#[test]
fn copies_are_registers_that_hold_the_same_on_every_path() {
    let program = program(COPIES);
    let function = &program.functions[0];
    let graph = ControlFlow::new(&program, FuncId(0));
    let cells = FrameCells::new(function.slots, 0);
    // Each register with the instruction that writes it first.
    let names = [("%r1", 0), ("%r2", 1), ("%r3", 2), ("%r4", 3), ("%r5", 6)];
    let cell = |name: &str| {
        let at = names.into_iter().find(|(other, _)| *other == name).map_or_else(|| panic!("{name} is written"), |(_, at)| at);
        cells.of(writes(&program.code[at], &program)[0]).start
    };
    let copies = |of: &str, at: usize| {
        let copies = copies_before(&program, function, &graph, cell(of), at);
        names.into_iter().map(|(name, _)| name).filter(|name| copies.contains(cell(name))).collect::<Vec<_>>()
    };
    assert_eq!(copies("%r1", 1), Vec::<&str>::new(), "at the loop's head from two places");
    assert_eq!((copies("%r1", 3), copies("%r3", 3)), (vec!["%r2", "%r3"], vec!["%r2"]));
    assert_eq!(copies("%r1", 4), ["%r2", "%r3"], "a guarded mov copies on some paths only");
    assert_eq!((copies("%r3", 7), copies("%r1", 7)), (vec!["%r2"], vec!["%r2", "%r3"]), "%r5 is one on a single path");
    assert_eq!((copies("%r3", 8), copies("%r2", 8)), (vec![], vec![]), "after the add");
    assert_eq!(copies("%r1", 10), ["%r3"]);
}
