//! All orders of a launch, against the interleavings of small programs that are counted here one by one, and against numbers from the
//! literature on partial order reduction.

#![expect(clippy::unwrap_used, reason = "a test that cannot run fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use ptxdbg::check::Checks;
use ptxdbg::debug::explore::{End, ExplorationReport, Strategy};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions, Schedule, run_case};

use crate::common::{fixtures, random_numbers};

/// As many orders as there are.
const ALL: u64 = u64::MAX;

/// More preemptions than any order takes.
const UNBOUNDED: u32 = 1000;

/// What a thread does to a variable in one step.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Load(usize),
    Store(usize, u32),
    Add(usize, u32),
    Exchange(usize, u32),
    Compare(usize, u32, u32),
    Lock(usize),
    Unlock(usize),
}

impl Operation {
    fn variable(self) -> usize {
        let (Self::Load(at) | Self::Store(at, _) | Self::Add(at, _) | Self::Exchange(at, _)) = self else {
            let (Self::Compare(at, ..) | Self::Lock(at) | Self::Unlock(at)) = self else { unreachable!() };
            return at;
        };
        at
    }

    /// What it leaves, and what it gives the thread; none if it has to wait.
    fn apply(self, held: u32) -> Option<(u32, Option<u32>)> {
        match self {
            Self::Load(_) => Some((held, Some(held))),
            Self::Store(_, value) => Some((value, None)),
            Self::Add(_, value) => Some((held.wrapping_add(value), Some(held))),
            Self::Exchange(_, value) => Some((value, Some(held))),
            Self::Compare(_, wanted, value) => Some((if held == wanted { value } else { held }, Some(held))),
            Self::Lock(_) => (held == 0).then_some((1, None)),
            Self::Unlock(_) => Some((0, None)),
        }
    }

    /// The instructions, which leave in `%r2` what it gives.
    fn ptx(self, label: &str) -> String {
        let at = format!("[%rd1+{}]", 4 * self.variable());
        let keep = "\tmul.lo.u32 %r1, %r1, 31;\n\tadd.u32 %r1, %r1, %r2;\n";
        match self {
            Self::Load(_) => format!("\tld.relaxed.gpu.global.u32 %r2, {at};\n{keep}"),
            Self::Store(_, value) => format!("\tst.relaxed.gpu.global.u32 {at}, {value};\n"),
            Self::Add(_, value) => format!("\tatom.global.add.u32 %r2, {at}, {value};\n{keep}"),
            Self::Exchange(_, value) => format!("\tatom.global.exch.b32 %r2, {at}, {value};\n{keep}"),
            Self::Compare(_, wanted, value) => format!("\tatom.global.cas.b32 %r2, {at}, {wanted}, {value};\n{keep}"),
            Self::Lock(_) => {
                format!(
                    "{label}:\n\tatom.acquire.gpu.global.cas.b32 %r{label}, {at}, 0, 1;\n\tsetp.ne.u32 %p{label}, %r{label}, 0;\n\t@%p{label} bra {label};\n"
                )
            }
            Self::Unlock(_) => format!("\tst.release.gpu.global.u32 {at}, 0;\n"),
        }
    }
}

/// What each thread does, one after the other.
type Program = Vec<Vec<Operation>>;

/// Variables of a program.
const VARIABLES: usize = 3;

/// A kernel whose blocks are the threads of a program.
fn kernel(program: &Program) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 shared, .param .u64 out)\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 \
         %r<5>;\n\t.reg .b64 %rd<5>;\n\tld.param.u64 %rd1, [shared];\n\tld.param.u64 %rd2, [out];\n\tmov.u32 %r3, %ctaid.x;\n\tmov.u32 %r1, 7;\n",
    );
    for (thread, operations) in program.iter().enumerate() {
        writeln!(text, "\tsetp.ne.u32 %p2, %r3, {thread};\n\t@%p2 bra N{thread};").unwrap();
        for (at, operation) in operations.iter().enumerate() {
            let label = format!("L{thread}_{at}");
            writeln!(text, "\t.reg .b32 %r{label};\n\t.reg .pred %p{label};").unwrap();
            text += &operation.ptx(&label);
        }
        writeln!(text, "\tbra END;\nN{thread}:").unwrap();
    }
    text + "END:\n\tmul.wide.u32 %rd3, %r3, 4;\n\tadd.u64 %rd4, %rd2, %rd3;\n\tst.global.u32 [%rd4], %r1;\n\tret;\n}\n"
}

/// What is left in memory, and what each thread was given; none if the threads wait for each other.
type Left = Option<(Vec<u32>, Vec<u32>)>;

/// An operation: its thread, and its number there.
type Step = (usize, usize);

/// For each pair of operations that depend on each other, which came first.
type Trace = Vec<(Step, Step)>;

/// All interleavings of a program, one by one.
#[derive(Default)]
struct Enumeration {
    bound: u32,
    interleavings: u64,
    left: BTreeSet<Left>,
    traces: BTreeSet<Trace>,
}

#[derive(Clone)]
struct State {
    memory: Vec<u32>,
    given: Vec<u32>,
    next: Vec<usize>,
    done: Vec<Step>,
    current: Option<usize>,
    preemptions: u32,
}

impl Enumeration {
    fn of(program: &Program, bound: u32) -> Self {
        let mut all = Self { bound, ..Self::default() };
        let threads = program.len();
        let (memory, given) = (vec![0; VARIABLES], vec![7; threads]);
        all.go_on(program, &State { memory, given, next: vec![0; threads], done: Vec::new(), current: None, preemptions: 0 });
        all
    }

    fn go_on(&mut self, program: &Program, state: &State) {
        let can_run = |thread: usize| {
            let operation = program[thread].get(state.next[thread]);
            operation.is_some_and(|operation| operation.apply(state.memory[operation.variable()]).is_some())
        };
        let ready: Vec<usize> = (0..program.len()).filter(|thread| can_run(*thread)).collect();
        if ready.is_empty() {
            self.interleavings += 1;
            let is_over = program.iter().zip(&state.next).all(|(operations, next)| operations.len() == *next);
            self.left.insert(is_over.then(|| (state.memory.clone(), state.given.clone())));
            self.traces.insert(trace(program, &state.done));
            return;
        }
        for thread in ready {
            let is_preemption = state.current.is_some_and(|current| current != thread && can_run(current));
            let mut after = State { current: Some(thread), preemptions: state.preemptions + u32::from(is_preemption), ..state.clone() };
            if after.preemptions > self.bound {
                continue;
            }
            let operation = program[thread][state.next[thread]];
            let (left, given) = operation.apply(state.memory[operation.variable()]).unwrap();
            after.memory[operation.variable()] = left;
            if let Some(given) = given {
                after.given[thread] = after.given[thread].wrapping_mul(31).wrapping_add(given);
            }
            after.done.push((thread, after.next[thread]));
            after.next[thread] += 1;
            self.go_on(program, &after);
        }
    }
}

fn trace(program: &Program, done: &[Step]) -> Trace {
    let mut pairs = Vec::new();
    for (at, one) in done.iter().enumerate() {
        for other in &done[at + 1..] {
            let (a, b) = (program[one.0][one.1], program[other.0][other.1]);
            let reads = matches!((a, b), (Operation::Load(_), Operation::Load(_)));
            if one.0 != other.0 && a.variable() == b.variable() && !reads {
                pairs.push((*one, *other));
            }
        }
    }
    pairs.extend(done.iter().map(|one| (*one, *one)));
    pairs.sort_unstable();
    pairs
}

/// A kernel in a file of its own, which goes when it is dropped.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ptxdbg-systematic-{name}-{}.ptx", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    /// A session about its kernel with this many blocks, and buffers of words for its parameters.
    fn session(&self, blocks: u32, words: &[usize]) -> Session {
        let params = words.iter().map(|words| format!("u32[{words}]=zero")).collect();
        let overrides = Overrides { grid: Some([blocks, 1, 1]), block: Some([1, 1, 1]), params, ..Overrides::default() };
        let request = Request { modules: vec![self.0.clone()], launch: LaunchChoice::MadeUp, overrides };
        Session::new(open(&request).unwrap(), 0, RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() }).unwrap()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn systematic(session: &mut Session, preemptions: u32) -> ExplorationReport {
    let explored = session.explore(Strategy::Systematic { preemptions }, ALL, None, &mut NeverInterrupt).unwrap();
    assert!(explored.systematic.unwrap().is_complete, "not all orders were tried");
    explored
}

/// What the orders that are named for the outcomes of an exploration leave.
fn left(session: &Session, explored: &ExplorationReport, threads: usize) -> BTreeSet<Left> {
    let replayed = |replay: &Option<String>| {
        let words = replay.as_deref().unwrap_or("--schedule in-order");
        let schedule = Schedule::parse(words.split(' ').nth(1).unwrap()).unwrap();
        let options = RunOptions { schedule, step_limit: Some(1 << 16), ..RunOptions::unwatched() };
        let run = run_case(session.program(), session.case(), &options).unwrap();
        run.fault.is_none().then(|| {
            let device = run.device.as_ref().unwrap();
            let read = |at: usize, count: usize| -> Vec<u32> {
                let mut bytes = vec![0; 4 * count];
                device.read(run.addresses[at], &mut bytes).unwrap();
                bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
            };
            (read(0, VARIABLES), read(1, threads))
        })
    };
    explored.outcomes.iter().filter(|outcome| outcome.orders > 0).map(|outcome| replayed(&outcome.replay)).collect()
}

/// A program drawn from numbers: at most seven operations, with critical sections if there are to be any.
fn drawn(numbers: &mut impl Iterator<Item = u64>, locks: bool) -> Program {
    let mut draw = |below: u64| (numbers.next().unwrap() % below) as usize;
    let threads = 2 + draw(2);
    let length = if threads == 2 { 3 } else { 2 };
    let mut program: Program = Vec::new();
    for _ in 0..threads {
        let mut operations = Vec::new();
        let variables = if locks { 1 } else { VARIABLES as u64 };
        for _ in 0..=draw(length) {
            let (at, value) = (draw(variables), 1 + draw(3) as u32);
            operations.push(match draw(5) {
                0 => Operation::Load(at),
                1 => Operation::Store(at, value),
                2 => Operation::Add(at, value),
                3 => Operation::Exchange(at, value),
                _ => Operation::Compare(at, draw(2) as u32, value),
            });
        }
        if locks {
            let (outer, inner) = if draw(2) == 0 { (1, 2) } else { (2, 1) };
            operations.truncate(1);
            operations.insert(0, Operation::Lock(outer));
            if draw(2) == 0 {
                operations.insert(1, Operation::Lock(inner));
                operations.push(Operation::Unlock(inner));
            }
            operations.push(Operation::Unlock(outer));
        }
        program.push(operations);
    }
    program
}

fn agrees(name: &str, program: &Program, bound: u32) -> (u64, u64) {
    let expected = Enumeration::of(program, bound);
    let written = Written::new(name, &kernel(program));
    let mut session = written.session(program.len() as u32, &[VARIABLES, program.len()]);
    let explored = systematic(&mut session, bound);
    assert_eq!(explored.tried, expected.traces.len() as u64, "{bound} preemptions: {program:?}");
    assert_eq!(left(&session, &explored, program.len()), expected.left, "{bound} preemptions: {program:?}");
    (explored.tried, expected.interleavings)
}

#[test]
fn all_orders_of_small_programs_are_tried_once_each() {
    let (mut numbers, mut tried, mut all) = (random_numbers(), 0, 0);
    for number in 0..120 {
        let program = drawn(&mut numbers, number % 3 == 2);
        for bound in [0, 1, 2, UNBOUNDED] {
            let (orders, interleavings) = agrees("drawn", &program, bound);
            (tried, all) = (tried + orders, all + interleavings);
        }
    }
    assert!(2 * tried < all, "{tried} orders of {all} interleavings");
}

/// A kernel for a table of words and one word a block, `code` of which has the number of the block in `%r0`, the table at `%rd1` and its
/// own word at `%rd2`.
fn written(name: &str, code: &str) -> Written {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 table, .param .u64 out)\n{{\n\t.reg .pred %p<4>;\n\t.reg \
         .b32 %r<10>;\n\t.reg .b64 %rd<10>;\n\tld.param.u64 %rd1, [table];\n\tld.param.u64 %rd3, [out];\n\tmov.u32 %r0, %ctaid.x;\n\t\
         mul.wide.u32 %rd4, %r0, 4;\n\tadd.u64 %rd2, %rd3, %rd4;\n{code}\n\tret;\n}}\n"
    );
    Written::new(name, &text)
}

/// "Last zero" (Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction", 2014): one thread looks for the last zero
/// of an array, the others each add one to their left neighbour. Their table 1 has 64 traces for 5 and 3,328 for 10.
#[test]
fn last_zero_has_as_many_orders_as_in_the_literature() {
    let last_zero = |n: u32| {
        let code = format!(
            "\tadd.u64 %rd5, %rd1, %rd4;\n\tsetp.eq.u32 %p1, %r0, 0;\n\t@%p1 bra SEARCH;\n\tld.relaxed.gpu.global.u32 %r1, [%rd5+-4];\n\t\
             add.u32 %r1, %r1, 1;\n\tst.relaxed.gpu.global.u32 [%rd5], %r1;\n\tret;\nSEARCH:\n\tadd.u64 %rd5, %rd1, {};\nNEXT:\n\t\
             ld.relaxed.gpu.global.u32 %r1, [%rd5];\n\tadd.u64 %rd5, %rd5, -4;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra NEXT;",
            4 * n
        );
        let written = written(&format!("last-zero-{n}"), &code);
        systematic(&mut written.session(n + 1, &[n as usize + 1, n as usize + 1]), UNBOUNDED).tried
    };
    assert_eq!([2, 5].map(last_zero), [5, 64]);
}

/// "Indexer" (Flanagan and Godefroid, 2005): each thread inserts four messages into a hash table of 128 places by compare-and-swap. Up to
/// 11 threads do not meet; 12 have 8 traces.
#[test]
fn indexer_has_as_many_orders_as_in_the_literature() {
    let code = "\tmov.u32 %r1, 0;\nMESSAGE:\n\tadd.u32 %r1, %r1, 1;\n\tmad.lo.u32 %r2, %r1, 11, %r0;\n\tmul.lo.u32 %r3, %r2, 7;\n\tand.b32 %r3, %r3, \
        127;\nPLACE:\n\tmul.wide.u32 %rd5, %r3, 4;\n\tadd.u64 %rd6, %rd1, %rd5;\n\tatom.global.cas.b32 %r4, [%rd6], 0, %r2;\n\tadd.u32 %r5, %r3, \
        1;\n\tand.b32 %r3, %r5, 127;\n\tsetp.ne.u32 %p1, %r4, 0;\n\t@%p1 bra PLACE;\n\tsetp.lt.u32 %p1, %r1, 4;\n\t@%p1 bra MESSAGE;";
    let indexer = |threads: u32| systematic(&mut written("indexer", code).session(threads, &[128, 16]), UNBOUNDED).tried;
    assert_eq!([2, 11, 12].map(indexer), [1, 1, 8]);
}

/// Takes the lock at `at`; each in registers of its own, as compilers do.
fn lock(label: &str, at: &str) -> String {
    format!(
        "\t.reg .b32 %r{label};\n\t.reg .pred %p{label};\n{label}:\n\tatom.acquire.gpu.global.cas.b32 %r{label}, [{at}], 0, 1;\n\t\
         setp.ne.u32 %p{label}, %r{label}, 0;\n\t@%p{label} bra {label};\n"
    )
}

#[test]
fn dining_philosophers_starve_in_one_order() {
    let code = format!(
        "\tadd.u32 %r1, %r0, 1;\n\trem.u32 %r1, %r1, 3;\n\tmul.wide.u32 %rd5, %r1, 4;\n\tadd.u64 %rd6, %rd1, %rd4;\n\tadd.u64 %rd7, %rd1, \
         %rd5;\n{}{}\tst.release.gpu.global.u32 [%rd7], 0;\n\tst.release.gpu.global.u32 [%rd6], 0;",
        lock("LEFT", "%rd6"),
        lock("RIGHT", "%rd7")
    );
    let written = written("philosophers", &code);
    let mut session = written.session(3, &[3, 3]);
    let explored = systematic(&mut session, UNBOUNDED);
    let stopped: Vec<u64> =
        explored.outcomes.iter().filter(|outcome| matches!(outcome.end, End::Stopped(_))).map(|outcome| outcome.orders).collect();
    assert_eq!(stopped, [1], "{:?}", explored.outcomes);
    // The turn is taken from a philosopher that has one fork; the second one waits for it, and the third for the second.
    let finished = |explored: &ExplorationReport| explored.outcomes.iter().all(|outcome| matches!(outcome.end, End::Finished));
    assert!(finished(&systematic(&mut session, 0)));
    assert!(!finished(&systematic(&mut session, 1)));
}

#[test]
fn a_message_is_passed_in_one_order() {
    let code = "\tsetp.ne.u32 %p1, %r0, 0;\n\t@%p1 bra TAKE;\n\tst.global.u32 [%rd1], 7;\n\tst.release.gpu.global.u32 [%rd1+4], 1;\n\tret;\nTAKE:\n\t\
        ld.acquire.gpu.global.u32 %r1, [%rd1+4];\n\tsetp.eq.u32 %p2, %r1, 0;\n\t@%p2 bra TAKE;\n\tld.global.u32 %r2, [%rd1];\n\t\
        st.global.u32 [%rd2], %r2;";
    let explored = systematic(&mut written("message", code).session(2, &[2, 2]), UNBOUNDED);
    assert_eq!((explored.tried, explored.outcomes.len(), explored.found.len()), (1, 1, 0), "{:?}", explored.outcomes);
}

#[test]
fn plain_accesses_that_race_are_tried_in_every_order() {
    let code = "\tld.global.u32 %r1, [%rd1];\n\tadd.u32 %r1, %r1, 1;\n\tst.global.u32 [%rd1], %r1;";
    let written = written("lost-update", code);
    let mut session = written.session(2, &[1, 2]);
    // Each of two loads comes before or after the store of the other; if both come before, one of the stores is the last.
    let explored = systematic(&mut session, UNBOUNDED);
    assert_eq!((explored.tried, explored.outcomes.len()), (4, 2));
    assert!(!explored.found.is_empty(), "the race is not reported");
    // Without a preemption one thread goes on to its end before the other.
    let explored = systematic(&mut session, 0);
    assert_eq!((explored.tried, explored.outcomes.len(), explored.systematic.unwrap().hits_bound), (2, 1, true));
}

#[test]
fn holders_of_a_ticket_lock_come_in_every_order() {
    let code = "\tatom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;\nWAIT:\n\tld.acquire.gpu.global.u32 %r2, [%rd1+4];\n\tsetp.ne.u32 %p1, %r1, %r2;\n\t\
        @%p1 bra WAIT;\n\tld.global.u32 %r3, [%rd1+8];\n\tmad.lo.u32 %r3, %r3, 4, %r0;\n\tst.global.u32 [%rd1+8], %r3;\n\tadd.u32 %r2, %r2, 1;\n\t\
        st.release.gpu.global.u32 [%rd1+4], %r2;";
    let explored = systematic(&mut written("ticket", code).session(3, &[3, 3]), UNBOUNDED);
    // In each of the 6 orders of the holders, the second may poll in vain before it is served, and the third before the second is served
    // and after that.
    assert_eq!((explored.tried, explored.outcomes.len(), explored.found.len()), (6 * 8, 6, 0), "{:?}", explored.found);
}

#[test]
fn an_exploration_is_gone_on_with() {
    let program: Program =
        vec![vec![Operation::Add(0, 1), Operation::Exchange(1, 2)], vec![Operation::Exchange(1, 3), Operation::Add(0, 2)]];
    let written = Written::new("continued", &kernel(&program));
    let mut session = written.session(2, &[VARIABLES, 2]);
    let whole = systematic(&mut session, UNBOUNDED);
    let mut part = session.explore(Strategy::Systematic { preemptions: UNBOUNDED }, 1, None, &mut NeverInterrupt).unwrap();
    let mut parts = 1;
    while !part.systematic.unwrap().is_complete {
        assert_eq!(part.tried, parts);
        part = session.explore_more(1, &mut NeverInterrupt).unwrap().unwrap();
        parts += 1;
    }
    assert_eq!(part, whole);
}

#[test]
fn locks_that_are_taken_in_two_orders_lead_to_the_deadlock() {
    let request = Request {
        modules: Vec::new(),
        launch: LaunchChoice::File(fixtures().join("orders/lock_order.ron")),
        overrides: Overrides::default(),
    };
    let opened = || open(&request).unwrap();
    let cases: BTreeMap<String, usize> = opened().plan.cases.iter().enumerate().map(|(at, case)| (case.name.clone(), at)).collect();
    for (name, at) in cases {
        let mut session = Session::new(opened(), at, RunOptions::unwatched()).unwrap();
        let explored = systematic(&mut session, 2);
        let is_stopped = explored.outcomes.iter().any(|outcome| matches!(outcome.end, End::Stopped(_)));
        assert_eq!(is_stopped, name == "two_orders", "{name}: {:?}", explored.outcomes);
    }
}

#[test]
fn schedules_of_switches_are_read_as_they_are_written() {
    for text in ["switch:", "switch:0:0:1", "switch:3:0:1,9:70000:0,12:0:31"] {
        assert_eq!(Schedule::parse(text).unwrap().to_string(), text);
    }
    for text in
        ["switch", "switch:1", "switch:1:0", "switch:1:0:0:0", "switch:9:0:0,3:0:0", "switch:3:0:0,3:0:1", "switch:x:0:0", "switch:1:0:0,"]
    {
        assert!(Schedule::parse(text).unwrap_err().contains("switch:[TICK:BLOCK:WARP,...]"), "{text}");
    }
}
