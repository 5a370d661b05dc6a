//! Pieces of kernels as tests: those of the kernels that tests are made into, and those of kernels of other origin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ptxdbg::debug::excerpt::{Excerpt, ExcerptRequest, LineRange, ThreadName, excerpt};
use ptxdbg::debug::open::{open, open_arguments, read_text_module};
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions};
use ptxdbg::litmus::{self, AccessKind, Kernel, Limits, Op, Test, Variable};

/// The values of an outcome by their names, and whether a sequentially consistent execution has it.
type Outcomes = BTreeMap<BTreeMap<String, i64>, bool>;

/// A piece of a kernel, and the outcomes that it has by the manual.
struct Piece {
    file: &'static str,
    /// Kernel, grid, block and arguments.
    launch: (&'static str, u32, u32, &'static [&'static str]),
    threads: &'static [&'static str],
    lines: &'static [&'static str],
    shown: &'static [&'static str],
    /// With true those that a sequentially consistent execution has.
    outcomes: &'static [(&'static [i64], bool)],
}

const ZERO: &[&str] = &["words=u32[64]=zero"];

/// What each shows is known: publication without the fence of the writer or of the reader, a grid barrier, tickets, locks, scopes.
const PIECES: &[Piece] = &[
    Piece {
        file: "gallery/mp_nofence.ron",
        launch: ("mp_nofence_bug", 2, 32, &[]),
        threads: &["0:0", "1:0"],
        lines: &["61-71", "46-57"],
        shown: &["P1:r0", "P1:r1"],
        outcomes: &[(&[1, 0], false), (&[1, 42], true)],
    },
    Piece {
        file: "gallery/mp_nofence.ron",
        launch: ("mp_nofence_ok", 2, 32, &[]),
        threads: &["0:0", "1,0,0:0,0,0"],
        lines: &["126-138", "111-122"],
        shown: &["P1:r0", "P1:r1"],
        outcomes: &[(&[1, 42], true)],
    },
    Piece {
        file: "cases/one_link.ptx",
        launch: ("k", 2, 1, ZERO),
        threads: &["0:0", "1:0"],
        lines: &["15-19", "21-25"],
        shown: &["P1:r0", "P1:r1"],
        outcomes: &[(&[1, 0], false), (&[1, 7], true)],
    },
    // A poll by an atomic, without a fence after it and with one.
    Piece {
        file: "cases/exchange_poll.ptx",
        launch: ("no_fence_after", 2, 1, ZERO),
        threads: &["0:0", "1:0"],
        lines: &["18-20", "22-26"],
        shown: &["P1:r0", "P1:r1"],
        outcomes: &[(&[1, 0], false), (&[1, 7], true)],
    },
    Piece {
        file: "cases/exchange_poll.ptx",
        launch: ("fence_after", 2, 1, ZERO),
        threads: &["0:0", "1:0"],
        lines: &["41-43", "45-50"],
        shown: &["P1:r0", "P1:r1"],
        outcomes: &[(&[1, 7], true)],
    },
    // The last block takes the highest ticket: each is taken once.
    Piece {
        file: "gallery/lastblock_ticket.ron",
        launch: ("lastblock_ticket_bug", 4, 32, &[]),
        threads: &["0:0", "1:0"],
        lines: &["30-56"],
        shown: &["P0:r2", "P1:r2", "ticket"],
        outcomes: &[(&[0, 1, 2], true), (&[1, 0, 2], true)],
    },
    // What a thread of another block stored before a grid barrier, of which the fences are missing in one.
    Piece {
        file: "gallery/grid_barrier.ron",
        launch: ("grid_barrier_bug", 2, 64, &[]),
        threads: &["0:0", "1:0", "1:63"],
        lines: &["50-81"],
        shown: &["P0:r2", "P1:r1"],
        outcomes: &[(&[0, 2], false), (&[127, 2], true)],
    },
    Piece {
        file: "gallery/grid_barrier.ron",
        launch: ("grid_barrier_ok", 2, 64, &[]),
        threads: &["0:0", "1:0", "1:63"],
        lines: &["128-164"],
        shown: &["P0:r2", "P1:r1"],
        outcomes: &[(&[127, 2], true)],
    },
    // Atomics of blocks, each of the scope of its own block, may read the same.
    Piece {
        file: "gallery/scope_atomic.ron",
        launch: ("scope_atomic_bug", 4, 1, &[]),
        threads: &["0:0", "1:0"],
        lines: &["28"],
        shown: &["P0:r0", "P1:r0"],
        outcomes: &[(&[0, 0], false), (&[0, 1], true), (&[1, 0], true)],
    },
    Piece {
        file: "gallery/scope_atomic.ron",
        launch: ("scope_atomic_ok", 4, 1, &[]),
        threads: &["0:0", "1:0"],
        lines: &["47"],
        shown: &["P0:r0", "P1:r0", "count"],
        outcomes: &[(&[0, 1, 2], true), (&[1, 0, 2], true)],
    },
    // A lock: one counts after the other.
    Piece {
        file: "gallery/warp_spinlock.ron",
        launch: ("warp_spinlock_ok", 1, 2, &[]),
        threads: &["0:0", "0:1"],
        lines: &["78-98"],
        shown: &["P0:r1", "P1:r1", "cnt", "lock"],
        outcomes: &[(&[0, 1, 2, 0], true), (&[1, 0, 2, 0], true)],
    },
    Piece {
        file: "cases/volatile_poll.ptx",
        launch: ("k", 1, 64, &[]),
        threads: &["0:0", "0:32"],
        lines: &["17-18", "21-24"],
        shown: &["P1:r0", "flag"],
        outcomes: &[(&[7, 7], true)],
    },
    Piece {
        file: "cases/false_rel_reset.ron",
        launch: ("lit", 2, 32, &[]),
        threads: &["0:0", "1:0"],
        lines: &["21-23", "26-32"],
        shown: &["P1:r0", "y"],
        outcomes: &[(&[0, 1], true), (&[1, 0], true)],
    },
];

fn request(threads: &[&str], lines: &[&str]) -> ExcerptRequest {
    ExcerptRequest {
        threads: threads.iter().map(|name| ThreadName::parse(name).unwrap()).collect(),
        lines: lines.iter().map(|lines| LineRange::parse(lines).unwrap()).collect(),
    }
}

fn opened(file: &str, (kernel, grid, block, args): (&str, u32, u32, &[&str])) -> Opened {
    let path = crate::common::fixtures().join(file);
    let is_launch = path.extension().is_some_and(|ending| ending == "ron");
    let launch = if is_launch { LaunchChoice::File(path.clone()) } else { LaunchChoice::MadeUp };
    let overrides = Overrides {
        kernel: Some(kernel.to_string()),
        grid: Some([grid, 1, 1]),
        block: Some([block, 1, 1]),
        params: args.iter().map(|arg| (*arg).to_string()).collect(),
        ..Overrides::default()
    };
    let modules = if is_launch { Vec::new() } else { vec![path] };
    open(&Request { modules, launch, overrides }).unwrap_or_else(|error| panic!("{file}: {error:?}"))
}

fn made(opened: &Opened, request: &ExcerptRequest) -> Result<Excerpt, String> {
    excerpt(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched(), request, &|| false).map_err(|error| error.to_string())
}

/// Judges a test, with all that it shows by name.
fn judged(test: &Test, name: impl Fn(&Variable) -> Option<String>) -> Outcomes {
    let judgement = litmus::judge(test, Limits { rounds: 2 }).unwrap_or_else(|error| panic!("{}: {error}", test.name));
    let names: Vec<Option<String>> = judgement.variables.iter().map(&name).collect();
    let mut outcomes = Outcomes::new();
    for outcome in &judgement.outcomes {
        let values = names.iter().zip(&outcome.values).filter_map(|(name, value)| Some((name.clone()?, *value))).collect();
        *outcomes.entry(values).or_default() |= outcome.is_sequential;
    }
    outcomes
}

/// `P0:r0`, or the location.
fn name_of(test: &Test, variable: &Variable) -> Option<String> {
    match *variable {
        Variable::Register(thread, register) => {
            let of = &test.threads[thread];
            Some(format!("P{}:{}", of.number, of.registers[register]))
        }
        Variable::Memory(location) => Some(test.locations[location].name.clone()),
        Variable::Constant(_) => None,
    }
}

#[test]
fn pieces_of_kernels_have_the_outcomes_that_the_manual_allows() {
    for Piece { file, launch, threads, lines, shown, outcomes } in PIECES {
        let found = made(&opened(file, *launch), &request(threads, lines)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(found.notes, Vec::<String>::new(), "{file}");
        let test = litmus::parse(&found.test).unwrap_or_else(|error| panic!("{}: {error:?}", found.test));
        let name = |variable: &Variable| name_of(&test, variable).filter(|name| shown.contains(&name.as_str()));
        let expected: Outcomes = outcomes
            .iter()
            .map(|(values, is_sequential)| {
                (shown.iter().map(|name| (*name).to_string()).zip(values.iter().copied()).collect(), *is_sequential)
            })
            .collect();
        assert_eq!(judged(&test, name), expected, "{file} {}\n{}", launch.0, found.test);
        // The run is sequentially consistent, and its outcome is what exists asks for.
        let judgement = litmus::judge(&test, Limits { rounds: 2 }).unwrap();
        assert!(judgement.answer_of_sequential, "{file}: the outcome of the run is none\n{}", found.test);
    }
}

#[test]
fn a_piece_is_printed_with_its_origin_its_first_values_and_the_outcome_of_the_run() {
    let piece = made(&opened("gallery/lastblock_ticket.ron", ("lastblock_ticket_ok", 4, 32, &[])), &request(&["1:0", "3:0"], &["115-137"]));
    let expected = "\
PTX lastblock_ticket_ok
(* lastblock_ticket_ok of lastblock_ticket.ptx; exists has the outcome of the run
   P0: block 1, thread 0, lines 115-137, r0 = %r9, r1 = %r10, r2 = %r11
   P1: block 3, thread 0, lines 115-137, r0 = %r9, r1 = %r10, r2 = %r11
   in_1 = in[1]
   partial_1 = partial[1]
   in_3 = in[3]
   partial_3 = partial[3]
   ticket is also written at lastblock_ticket.ptx:129, which is not in the test, between two accesses that are *)
{
in_1=2; partial_1=0; ticket=1; in_3=4; partial_3=0;
}
 P0@cta 1,gpu 0                     | P1@cta 3,gpu 0                     ;
 ld.weak r0, in_1                   | ld.weak r0, in_3                   ;
 mul r1, r0, 10                     | mul r1, r0, 10                     ;
 st.weak partial_1, r1              | st.weak partial_3, r1              ;
 fence.sc.gpu                       | fence.sc.gpu                       ;
 atom.relaxed.gpu.add r2, ticket, 1 | atom.relaxed.gpu.add r2, ticket, 1 ;
 bne r2, 3, LC00                    | bne r2, 3, LC00                    ;
 fence.sc.gpu                       | fence.sc.gpu                       ;
 LC00:                              | LC00:                              ;

locations [P0:r0; P0:r2; P1:r0; P1:r2; in_1; partial_1; ticket; in_3; partial_3;]
exists (P0:r0 == 2 /\\ P0:r2 == 1 /\\ P1:r0 == 4 /\\ P1:r2 == 3 /\\ in_1 == 2 /\\ \
partial_1 == 20 /\\ ticket == 4 /\\ in_3 == 4 /\\ partial_3 == 40)
";
    assert_eq!(piece.map(|piece| piece.test), Ok(expected.to_string()));
}

/// What a thread does between two accesses: constants of the run, loops, guards, functions of what it loads.
#[test]
fn computations_loops_and_guards_are_those_of_the_kernel() {
    let body = "\
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; add.s64 %rd2, %rd1, %rd2;
mov.u32 %r3, 0;
again:
ld.relaxed.gpu.global.u32 %r4, [%rd2];
setp.ne.s32 %p, %r4, 0; not.pred %q, %p;
@%p st.weak.global.u32 [%rd1+8], %r3;
@!%q add.s32 %r3, %r3, %r4;
add.s32 %r3, %r3, 1; setp.lt.s32 %p, %r3, 2; @%p bra again;
shl.b32 %r5, %r3, 1; not.b32 %r5, %r5; st.global.u32 [%rd1+12], %r5;
setp.gt.s32 %p, %r1, 5; @%p st.global.u32 [%rd1+12], 99;
ret;
";
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n.reg .pred %p, %q; \
         .reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [m];\n{body}}}\n"
    );
    let program = read_text_module(Path::new("k.ptx"), text).program.unwrap();
    let overrides = Overrides { grid: Some([1, 1, 1]), block: Some([1, 1, 1]), ..Overrides::default() };
    let opened = open_arguments(PathBuf::from("k.ptx"), program, &["m=s32[4]=1,0,0,7".to_string()], &overrides).unwrap();
    let test = made(&opened, &request(&["0:0"], &["8-17"])).unwrap().test;
    let column: Vec<&str> =
        test.lines().skip_while(|line| !line.contains("@cta")).take_while(|line| !line.is_empty()).map(str::trim).collect();
    let column: Vec<&str> = column.iter().map(|line| line.trim_end_matches([';', ' '])).collect();
    assert_eq!(
        column,
        [
            "P0@cta 0,gpu 0",
            "ld r0, 0",
            "LC00: ld.relaxed.gpu r1, m_0",
            "beq r1, 0, LC01",
            "st.weak m_2, r0",
            "LC01: beq r1, 0, LC02",
            "add r0, r0, r1",
            "LC02: add r0, r0, 1",
            "blt r0, 2, LC00",
            "mul r2, r0, 2",
            "xor r2, r2, -1",
            "st.weak m_3, r2",
        ]
    );
    assert!(test.contains("exists (P0:r1 == 1 /\\ m_0 == 1 /\\ m_2 == 0 /\\ m_3 == -5)"), "{test}");
    // From the loop on, its counter is a first value.
    let later = made(&opened, &request(&["0:0"], &["10-15"])).unwrap().test;
    assert!(later.contains("P0:r1=0;") && later.contains("r0 = %r4, r1 = %r3"), "{later}");
}

/// File, kernel with grid, block and arguments, threads, lines, and the message; an empty one where there is a test.
type Refused =
    (&'static str, (&'static str, u32, u32, &'static [&'static str]), &'static [&'static str], &'static [&'static str], &'static str);

const TICKET: (&str, u32, u32, &[&str]) = ("lastblock_ticket_ok", 4, 32, &[]);
const PUBLICATION: (&str, u32, u32, &[&str]) = ("mp_nofence_bug", 2, 32, &[]);

const REFUSED: &[Refused] = &[
    (
        "cases/flag_reset.ptx",
        ("ticket_reset", 1, 1, &[]),
        &["0:0"],
        &["85-94"],
        "flag_reset.ptx:90: atom.global.inc.u32 has no counterpart in a litmus test: a test has add, and, or, \
         xor, exch and cas of integers",
    ),
    (
        "gallery/lastblock_ticket.ron",
        TICKET,
        &["3:0"],
        &["119-161"],
        "lastblock_ticket.ptx:150: ld.global.u32 has no counterpart in a litmus test: its address depends on what these lines load, or \
         changes from pass to pass; choose lines after what computes it",
    ),
    (
        "programs/reduce_ticket.ron",
        ("reduce_ticket", 1, 32, &[]),
        &["0:0"],
        &["149"],
        "reduce_ticket.ptx:149: redux.sync.add.s32 has no counterpart in a litmus test",
    ),
    (
        "programs/reduce_ticket.ron",
        ("reduce_ticket", 1, 32, &[]),
        &["0:0"],
        &["104"],
        "reduce_ticket.ptx:104: ld.global.nc.f32 has no counterpart in a litmus test: it reads by the read-only path",
    ),
    (
        "gallery/warp_spinlock.ron",
        ("warp_spinlock_bug", 1, 2, &[]),
        &["0:0", "0:1"],
        &["32-55"],
        "P0 (block 0, thread 0) does not leave lines 32-55 in the run: threads spin forever: each has returned to the same \
         state, and no other thread can change what it waits for",
    ),
    (
        "gallery/warp_spinlock.ron",
        ("warp_spinlock_bug", 1, 1, &[]),
        &["0:0"],
        &["1-2"],
        "no instruction of kernel 'warp_spinlock_bug' is on lines 1-2 of the PTX text: its code is on lines 26-59",
    ),
    ("gallery/mp_nofence.ron", PUBLICATION, &["1:0"], &["61-71"], "P0 (block 1, thread 0) does not come to lines 61-71 in the run"),
    ("gallery/mp_nofence.ron", PUBLICATION, &["2:0"], &["61-71"], "there is no thread 2:0: the grid is 2,1,1"),
    ("gallery/mp_nofence.ron", PUBLICATION, &["0:32"], &["61-71"], "there is no thread 0:32: a block has 32,1,1"),
    ("gallery/mp_nofence.ron", PUBLICATION, &["0:0", "0,0:0"], &["61-71"], "thread 0,0:0 is given twice"),
    (
        "gallery/mp_nofence.ron",
        PUBLICATION,
        &["0:0", "1:0", "1:1"],
        &["61-71", "46-57"],
        "2 ranges of lines for 3 threads: give one for all, or one for each thread in order",
    ),
    (
        "gallery/mp_nofence.ron",
        PUBLICATION,
        &["0:0"],
        &["61-63"],
        "lines 61-63 access no memory that threads share: a litmus test is about such accesses",
    ),
    ("programs/reduce_ticket.ron", ("reduce_ticket", 1, 64, &[]), &["0:0"], &["372"], ""),
];

#[test]
fn what_has_no_counterpart_is_refused_with_its_line() {
    for (file, launch, threads, lines, message) in REFUSED {
        let found = made(&opened(file, *launch), &request(threads, lines)).map(|found| found.notes);
        // The last one is none: a float that no instruction of the test computes with is an integer of as many bits.
        let expected = if message.is_empty() { Ok(Vec::new()) } else { Err((*message).to_string()) };
        assert_eq!(found, expected, "{file}");
    }
}

/// The test as a kernel, and the lines of that as a test.
fn returned(test: &Test, kernel: &Kernel) -> Test {
    let program = read_text_module(Path::new("test.ptx"), kernel.text.clone()).program.unwrap();
    let args: Vec<String> = kernel.parameters.iter().map(|(name, first)| format!("{name}=s64[1]={first}")).collect();
    let overrides = Overrides { grid: Some([kernel.blocks, 1, 1]), block: Some([kernel.threads, 1, 1]), ..Overrides::default() };
    let opened = open_arguments(PathBuf::from("test.ptx"), program, &args, &overrides).unwrap();
    let blocks: BTreeSet<u32> = test.threads.iter().map(|thread| thread.block).collect();
    let (mut threads, mut lines) = (Vec::new(), Vec::new());
    for (number, thread) in test.threads.iter().enumerate() {
        let warp = test.threads[..number].iter().filter(|other| other.block == thread.block).count();
        threads.push(format!("{}:{}", blocks.iter().position(|block| *block == thread.block).unwrap(), 32 * warp));
        let text: Vec<&str> = kernel.text.lines().collect();
        let label = format!("P{}:", thread.number);
        let first = text.iter().position(|line| *line == label).unwrap();
        let is_last = |line: &&str| line.trim() == "ret;" || line.contains(&format!("[%at_P{}_", thread.number));
        let count = text[first..].iter().position(is_last).unwrap();
        // From the first line of the block on, to the one before what keeps the result.
        lines.push(format!("{}-{}", first + 2, first + count));
    }
    let [threads, lines] = [&threads, &lines].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
    let request = request(&threads, &lines);
    let text = made(&opened, &request).unwrap_or_else(|error| panic!("{}: {error}\n{}", test.name, kernel.text)).test;
    let mut found = litmus::parse(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    // Registers by the names that they had.
    for (number, thread) in found.threads.iter_mut().enumerate() {
        let line = text.lines().find(|line| line.trim_start_matches(['(', '*', ' ']).starts_with(&format!("P{number}: block"))).unwrap();
        let renamed: BTreeMap<&str, &str> = line.split(", ").filter_map(|part| part.trim_end_matches(" *)").split_once(" = %")).collect();
        thread.registers.iter_mut().for_each(|register| *register = renamed[register.as_str()].to_string());
        thread.number = test.threads[number].number;
    }
    found
}

#[test]
fn a_test_that_becomes_a_kernel_and_a_test_again_has_the_same_outcomes() {
    let mut count = 0;
    for path in super::kernels::tests() {
        let mut test = litmus::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if litmus::kernel(&test, &[]).is_err() {
            continue;
        }
        let loads =
            test.threads.iter().enumerate().flat_map(|(thread, of)| of.code.iter().map(move |instruction| (thread, instruction.op)));
        let loaded: BTreeSet<(usize, usize)> = loads
            .filter_map(|(thread, op)| match op {
                Op::Access(access) => match access.kind {
                    AccessKind::Load(register) | AccessKind::Atomic(Some(register), ..) | AccessKind::CompareAndSwap(register, ..) => {
                        Some((thread, register))
                    }
                    AccessKind::Store(_) | AccessKind::Atomic(None, ..) => None,
                },
                _ => None,
            })
            .collect();
        let accessed: BTreeSet<usize> = test
            .threads
            .iter()
            .flat_map(|thread| &thread.code)
            .filter_map(|instruction| if let Op::Access(access) = instruction.op { Some(access.location) } else { None })
            .collect();
        test.filter = None;
        test.shown = loaded.iter().map(|(thread, register)| Variable::Register(*thread, *register)).collect();
        test.shown.extend(accessed.iter().map(|location| Variable::Memory(*location)));
        let variables = litmus::judge(&test, Limits { rounds: 2 }).unwrap().variables;
        let kernel = litmus::kernel(&test, &variables).unwrap();
        let found = returned(&test, &kernel);
        let shown: BTreeSet<String> = test.shown.iter().filter_map(|variable| name_of(&test, variable)).collect();
        let only_shown = |name: &String| shown.contains(name);
        let before = judged(&test, |variable| name_of(&test, variable).filter(only_shown));
        let after = judged(&found, |variable| name_of(&found, variable).filter(only_shown));
        assert_eq!(before, after, "{}\n{}", path.display(), kernel.text);
        count += 1;
    }
    assert!(count >= 55, "{count}");
}

#[test]
fn a_piece_is_asked_for_by_options_that_go_together() {
    let parse = |words: &str| {
        let raw: Vec<std::ffi::OsString> = std::iter::once("ptxdbg").chain(words.split(' ')).map(Into::into).collect();
        ptxdbg::args::litmus::parse(&raw).unwrap().map_err(|message| message.text)
    };
    let piece = parse("litmus --from k.ptx --threads 0:0 1:32 --lines 4-9 12 -a n=3 --grid 2").map(|args| args.excerpt);
    let (request, _, lines) = piece.unwrap().request().unwrap().unwrap();
    assert_eq!((request.modules, request.overrides.params), (vec![PathBuf::from("k.ptx")], vec!["n=3".to_string()]));
    assert_eq!((lines.threads.len(), lines.lines), (2, vec![LineRange { first: 4, last: 9 }, LineRange { first: 12, last: 12 }]));
    for (wrong, why) in [
        ("litmus", "required"),
        ("litmus --from k.ptx --lines 4-9", "--threads"),
        ("litmus --from k.ptx --threads 0:0", "--lines"),
        ("litmus x.litmus --from k.ptx --threads 0:0 --lines 4", "cannot be used with"),
        ("litmus --from k.ptx --threads 0:0 --lines 4 --quiet", "cannot be used with"),
        ("litmus x.litmus --grid 2", "--from"),
        ("litmus --from k.ptx --threads 7 --lines 4", "'7' is no thread: give its block and its number there, 1:32, or 1,0,0:32,0,0"),
        ("litmus --from k.ptx --threads 0:0 --lines 9-4", "'9-4' are no lines: give the first and the last one, such as 12-20"),
    ] {
        let message = parse(wrong).err().unwrap_or_default();
        assert!(message.contains(why), "{wrong}: {message}");
    }
}
