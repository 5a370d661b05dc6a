//! Sessions of random command lines: no line may panic, and the state at a tick stays what it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use std::io::{self, Write};

use crate::common::{random_numbers, session};
use ptxdbg::command::spec::{ArgKind, CommandSpec};
use ptxdbg::command::table::commands;
use ptxdbg::debug::session::{InterruptCheck, NeverInterrupt, Session};
use ptxdbg::ui::bad_line::BadLine;
use ptxdbg::ui::console::{Console, Flow, Frontend};

/// Says yes, has nothing more to say, and never interrupts.
struct Agreeable;

impl Frontend for Agreeable {
    fn more(&mut self, _: &str, _: &mut dyn Write) -> io::Result<Option<Result<String, BadLine>>> {
        Ok(None)
    }

    fn confirm(&mut self, _: &str, _: &mut dyn Write) -> io::Result<Option<bool>> {
        Ok(Some(true))
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(NeverInterrupt)
    }
}

const EXPRESSIONS: &[&str] = &[
    "%r1",
    "%r7",
    "%p1",
    "%rd3",
    "%r7@*",
    "%r1@0..7",
    "%tid.x",
    "$pc",
    "out[3]",
    "tile[5]",
    "tile",
    "%r1 == 5",
    "%r7 > %r3",
    "any(%p1)",
    "min(%r7@*)",
    "1 / 0",
    "%r1 * 3 + 1",
    "*(u32*)0x7f2000000000",
    "*(shared u32*)0x404",
    "start[2]",
    "steps",
    "(f32)%r2",
    "&tile[2]",
    "%r18",
    "%r20@*",
    "ready",
    "-1",
];

const PLACES: &[&str] = &[
    "LOOP",
    "EVEN",
    "walk",
    "triple",
    "walk:LOOP",
    "*5",
    "*$pc+1",
    "+2",
    "-2",
    "36",
    "20",
    "walk.ptx:36",
    "op st.*",
    "op *",
    "$L__BB1_6",
    "collatz.cu:15",
];

const THREADS: &[&str] = &["block 0,0,0", "warp 1", "lane 0-7", "thread 33", "block (0,0,0) thread (40,0,0)", "block 1", "warp 0 lane 3"];

const EVENTS: &[&str] = &[
    "mbarrier",
    "mbarrier full[1] wait",
    "async complete",
    "divergence",
    "reconvergence",
    "barrier",
    "barrier 0",
    "exit",
    "call",
    "fault",
    "atomic",
    "printf",
    "finding",
    "mbarrier",
];

const ASSIGNMENTS: &[&str] = &[
    "%r7 = 3",
    "%r3@* = %r1 + 1",
    "%p1 = 0",
    "out[3] = 77",
    "tile[2] = %r3",
    "%r1 = 1 / 0",
    "step-unit lane",
    "step-unit grid",
    "step-unit warp",
    "divergent-step wait",
    "divergent-step follow",
    "step-by ptx",
    "snapshot-memory 1M",
    "listsize 3",
    "confirm off",
];

/// What makes no sense anywhere.
const NONSENSE: &[&str] = &["", "99999999999999999999", "((((", "\"", "é", "if", "/x", "= 5", "nowhere", "-", "@"];

/// What an argument of a kind may look like.
fn examples(kind: ArgKind) -> &'static [&'static str] {
    match kind {
        ArgKind::Number | ArgKind::Numbers | ArgKind::Count => &["1", "2", "3", "7", "30", "1-3"],
        ArgKind::Tick => &["0", "12", "40", "start", "end", "+5", "-7", "here", "2000"],
        ArgKind::Expression | ArgKind::Registers | ArgKind::Symbol => EXPRESSIONS,
        ArgKind::Location => PLACES,
        ArgKind::Name | ArgKind::Word => &["here", "there", "%r1", "0", "1", "LOOP"],
        ArgKind::ThreadFilter => THREADS,
        ArgKind::Coordinates => &["0,0,0", "1", "3 lane 2", "(0,0,0) warp 1"],
        ArgKind::Event => EVENTS,
        ArgKind::Mbarrier => &["full", "full[1]", "empty[0]", "0x500", "tile+8"],
        ArgKind::Role => &["producer warp 0", "consumer warps 1-3", "auto", "clear", "x warp 99"],
        ArgKind::Setting => &["step-unit", "confirm", "listsize"],
        ArgKind::Assignment => ASSIGNMENTS,
        ArgKind::Topic | ArgKind::Command | ArgKind::Rest => &["stepi", "running", "p %r1", "x/4xw tile", "print %r7@*"],
        ArgKind::Choice(words) => words,
        ArgKind::Message => &["\"%d\\n\",%r7", "\"here\"", "\"%x %f\",%r1,%r2"],
        ArgKind::File | ArgKind::Layout => &["absent"],
    }
}

/// Commands that reach outside of the session, or make another run of it.
const OUTSIDE: &[&str] = &[
    "dump",
    "restore",
    "save session",
    "load session",
    "save launch",
    "bundle",
    "source",
    "quit",
    "shell",
    "export cfg",
    "export trace",
    "export registers",
    "export memory",
    "set seed",
    "set schedule",
    "set async",
];

/// A line that mostly makes sense.
fn line(random: &mut impl Iterator<Item = u64>, specs: &[&CommandSpec]) -> String {
    let mut below = |bound: usize| random.next().unwrap_or(0) as usize % bound;
    let spec = specs[below(specs.len())];
    let mut line = spec.name.to_string();
    if below(12) == 0 {
        line += ["/x", "/4xw", "/f", "/q"][below(4)];
    }
    for arg in spec.args {
        if arg.optional && below(2) == 0 {
            continue;
        }
        let from = if below(12) == 0 { NONSENSE } else { examples(arg.kind) };
        line += &format!(" {} {}", arg.keyword, from[below(from.len())]);
    }
    line
}

#[test]
fn no_line_panics_and_time_stays_true() {
    let specs: Vec<&CommandSpec> = commands().filter(|spec| !OUTSIDE.contains(&spec.name)).collect();
    let mut random = random_numbers();
    for file in [
        "debug/walk.ron",
        "debug/flag.ron",
        "debug/collatz.ron",
        "faults/barrier_deadlock.ron",
        "faults/trap_some.ron",
        "async/ring_parity.ron",
        "async/short_expect.ron",
    ] {
        let mut console = Console::new(session(file, 0), true);
        let mut done = 0;
        for _ in 0..1500 {
            let line = line(&mut random, &specs);
            let flow = console.line(&line, &mut Agreeable, &mut Vec::new()).unwrap();
            done += u32::from(matches!(flow, Flow::Continue));
        }
        assert!(done > 200, "{file}: only {done} lines made sense");
        assert_replays(&console.session(), file);
    }
}

/// The state is the one that a new session with the same inputs comes to.
fn assert_replays(wandered: &Session, file: &str) {
    let mut again = session(file, 0);
    again.restore(wandered.saved(), &mut NeverInterrupt).unwrap();
    assert_eq!((again.time(), again.machine().digest()), (wandered.time(), wandered.machine().digest()), "{file}");
}
