//! Locations, events, arguments and the list of breakpoints, on a compiled kernel (`fixtures/debug/collatz.ptx`) and small texts.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use ptxdbg::debug::argument::ArgumentError;
use ptxdbg::debug::breakpoints::{
    Breakpoint, Breakpoints, Condition, CopyAct, Event, Location, LogMessage, MbarrierAct, Pattern, Trigger, WatchMode, breakpoint_rows,
    opcode,
};
use ptxdbg::debug::open::{open, read_module};
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::source_texts::SourceTexts;
use ptxdbg::debug::stop::{Direction, Goal, Reason, Stop};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::dwarf::LazyDebugInfo;
use ptxdbg::program::{Pc, Program};

fn collatz() -> Arc<Program> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/collatz.ptx");
    read_module(&path).unwrap().program.unwrap()
}

fn program(text: &str) -> Arc<Program> {
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "dir/small.ptx", text.to_string());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    program.unwrap()
}

fn resolve(program: &Program, text: &str, here: Option<Pc>) -> Result<(Vec<Pc>, Option<String>), ArgumentError> {
    let resolved = Location::parse(text)?.resolve(program, here)?;
    Ok((resolved.pcs, resolved.note))
}

/// `file:line opcode` of every instruction, and the note after it.
fn shown(program: &Program, text: &str, here: Option<Pc>) -> String {
    match resolve(program, text, here) {
        Ok((pcs, note)) => {
            let places: Vec<String> = pcs.iter().map(|pc| format!("{} {}", program.place(*pc), opcode(program, *pc))).collect();
            places.join(", ") + &note.map_or(String::new(), |note| format!(" ({note})"))
        }
        Err(error) => {
            let at = error.span.map_or(String::new(), |span| format!("{}..{}: ", span.start, span.end));
            format!("error {at}{}{}", error.message, error.help.map_or(String::new(), |help| format!(" [{help}]")))
        }
    }
}

fn at_line(program: &Program, line: u32) -> Pc {
    resolve(program, &line.to_string(), None).unwrap().0[0]
}

#[test]
fn lines_of_the_text_are_found() {
    let program = collatz();
    assert_eq!(shown(&program, "81", None), "collatz.ptx:81 shr.u32");
    assert_eq!(shown(&program, "collatz.ptx:81", None), "collatz.ptx:81 shr.u32");
    assert_eq!(shown(&program, "79", None), "collatz.ptx:81 shr.u32 (no instruction on line 79 of collatz.ptx: line 81 instead)");
    // A call that spans lines stands on its first.
    assert_eq!(shown(&program, "91", None), "collatz.ptx:91 call.uni");
    let here = Some(at_line(&program, 74));
    assert_eq!(shown(&program, "+1", here), "collatz.ptx:75 not.pred");
    assert_eq!(shown(&program, "-1", here), "collatz.ptx:73 mov.pred");
    assert_eq!(shown(&program, "", here), "collatz.ptx:74 xor.pred");
    assert_eq!(shown(&program, "500", None), "error no instruction on line 500 of collatz.ptx or after it; the last is on line 118");
    assert_eq!(shown(&program, "0", None), "error 0..1: lines count from 1");
    assert_eq!(shown(&program, "-99", here), "error line 74-99 is before the first");
    assert_eq!(shown(&program, "", None), "error the focused thread has no position: it has exited or not started");
    assert_eq!(
        shown(&program, "12abc", None),
        "error 0..5: '12abc' is not a line number [a line, a label, a function, '*PC', or 'op PATTERN']"
    );
}

/// From the `.loc` directives of the text: line 13 (`while`) is entered at its first test and at the one after the body.
#[test]
fn source_lines_have_every_place_where_they_are_entered() {
    let program = collatz();
    assert_eq!(shown(&program, "collatz.cu:13", None), "collatz.ptx:62 setp.eq.s32, collatz.ptx:103 setp.ne.s32");
    assert_eq!(shown(&program, "collatz.cu:14", None), "collatz.ptx:71 and.b32");
    assert_eq!(shown(&program, "collatz.cu:18", None), "collatz.ptx:101 add.s32");
    // Line 9 is in three pieces, lines 46, 55 and 108: the compiler moved the conversions of its pointers. One visit goes through all.
    assert_eq!(shown(&program, "collatz.cu:9", None), "collatz.ptx:46 mov.u32");
    assert_eq!(shown(&program, "collatz.cu:3", None), "collatz.ptx:24 mad.lo.s32 (no instruction on line 3 of collatz.cu: line 4 instead)");
    assert_eq!(
        shown(&program, "collatz.cu:22", None),
        "error no instruction comes from line 22 of collatz.cu or after it; the last comes from line 21"
    );
    assert_eq!(shown(&program, "colatz.cu:9", None), "error no code comes from a file 'colatz.cu' [did you mean 'collatz.cu'?]");
    assert_eq!(shown(&program, "main.c:9", None), "error no code comes from a file 'main.c' [there is code of collatz.ptx, collatz.cu]");
}

/// Line 16 is in the body of the loop over tiles, which goes round twice (k is 24, a tile 16); the compiler moved line 70 out of it. Of the
/// loop's own line the first test is outside. A line before the loop, some of whose code is made again in it, is outside.
#[test]
fn a_line_in_a_loop_is_not_visited_where_it_was_moved_out() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/tiles.ron");
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() };
    let mut session = Session::new(open(&request).unwrap(), 0, RunOptions::unwatched()).unwrap();
    let tiles = Arc::clone(session.program());
    assert_eq!(shown(&tiles, "tiles.cu:16", None), "tiles.ptx:80 add.s32");
    assert_eq!(shown(&tiles, "tiles.cu:15", None), "tiles.ptx:55 setp.lt.s32, tiles.ptx:139 add.s32");
    let resolved = Location::parse("tiles.cu:16").unwrap().resolve(session.program(), None).unwrap();
    session.breakpoints.add(Breakpoint::new(Trigger::Line(resolved.pcs), "tiles.cu:16"));
    let visits_of_four_blocks = 4 * 2;
    assert_eq!(stops(&mut session, Direction::Forward).len(), visits_of_four_blocks);
    let made_again = program(
        ".version 9.0 .target sm_90 .address_size 64
        .visible .entry k() {
            .reg .pred p; .reg .b32 i, n;
            .loc 1 5 1
            mov.u32 n, 9;
            .loc 1 6 1
            mov.u32 i, 0;
        AGAIN:
            .loc 1 7 1
            add.u32 i, i, 1;
            .loc 1 5 1
            mov.u32 n, 9;
            .loc 1 6 1
            setp.lt.u32 p, i, n;
            @p bra AGAIN;
            ret;
        }
        .file 1 \"/src/kernels/loop.cu\"",
    );
    assert_eq!(shown(&made_again, "loop.cu:5", None), "small.ptx:5 mov.u32, small.ptx:12 mov.u32");
    assert_eq!(shown(&made_again, "loop.cu:6", None), "small.ptx:7 mov.u32, small.ptx:14 setp.lt.u32");
}

/// Line 5 is the first of a `do` loop's body, and its address was moved out of the loop.
#[test]
fn the_first_line_of_a_do_loop_is_visited_inside_alone() {
    let moved = program(
        ".version 9.0 .target sm_90 .address_size 64
        .visible .entry k() {
            .reg .pred p; .reg .b32 i, n;
            .loc 1 3 1
            mov.u32 i, 0;
            .loc 1 5 1
            mov.u32 n, 9;
        AGAIN:
            add.u32 i, i, n;
            .loc 1 6 1
            add.u32 i, i, 1;
            .loc 1 7 1
            setp.lt.u32 p, i, 40;
            @p bra AGAIN;
            .loc 1 8 1
            ret;
        }
        .file 1 \"/src/kernels/loop.cu\"",
    );
    assert_eq!(shown(&moved, "loop.cu:5", None), "small.ptx:9 add.u32");
    assert_eq!(shown(&moved, "loop.cu:7", None), "small.ptx:13 setp.lt.u32");
}

/// A line whose code is a loop of its own is entered once: going round is no entry. Coming back from another line is.
#[test]
fn going_round_inside_a_line_does_not_enter_it() {
    let program = program(
        ".version 9.0 .target sm_90 .address_size 64
        .visible .entry k() {
            .reg .pred p; .reg .b32 i;
            .loc 1 5 1
            mov.u32 i, 0;
        AGAIN: add.u32 i, i, 1;
            setp.lt.u32 p, i, 9;
            @p bra AGAIN;
            .loc 1 6 1
            setp.lt.u32 p, i, 99;
            @p bra AGAIN;
            ret;
        }
        .file 1 \"/src/kernels/loop.cu\"",
    );
    assert_eq!(shown(&program, "loop.cu:5", None), "small.ptx:5 mov.u32, small.ptx:6 add.u32");
    assert_eq!(shown(&program, "kernels/loop.cu:6", None), "small.ptx:10 setp.lt.u32");
    assert_eq!(shown(&program, "/src/kernels/loop.cu:6", None), "small.ptx:10 setp.lt.u32");
    assert_eq!(shown(&program, "oop.cu:6", None), "error no code comes from a file 'oop.cu' [did you mean 'loop.cu'?]");
}

#[test]
fn functions_and_labels_are_found_by_name() {
    let program = collatz();
    assert_eq!(shown(&program, "collatz", None), "collatz.ptx:42 ld.param.u64");
    assert_eq!(shown(&program, "_Z6triplej", None), "collatz.ptx:22 ld.param.u32");
    assert_eq!(shown(&program, "triple", None), "collatz.ptx:22 ld.param.u32");
    assert_eq!(shown(&program, "collatz.ptx:triple", None), "collatz.ptx:22 ld.param.u32");
    assert_eq!(shown(&program, "$L__BB1_5", None), "collatz.ptx:81 shr.u32");
    assert_eq!(shown(&program, "collatz:$L__BB1_5", None), "collatz.ptx:81 shr.u32");
    assert_eq!(shown(&program, "tripel", None), "error there is no function or label 'tripel' [did you mean 'triple'?]");
    assert_eq!(shown(&program, " BB1_5 ", None), "error there is no function or label 'BB1_5' [did you mean '$L__BB1_5'?]");
    assert_eq!(shown(&program, "triple:$L__BB1_5", None), "error 'triple' has no label '$L__BB1_5'");
    assert_eq!(shown(&program, "colatz:X", None), "error there is no function or file 'colatz' [did you mean 'collatz'?]");
    assert_eq!(shown(&program, "collatz:", None), "error 0..8: 'collatz:' lacks a side [FILE:LINE or FUNCTION:LABEL]");
    assert_eq!(shown(&program, "collatz 7", None), "error 8..9: '7' is not expected after a location");
}

#[test]
fn a_label_of_several_functions_is_the_focused_ones() {
    let program = program(
        ".version 9.0 .target sm_90 .address_size 64
        .extern .func outside();
        .func f() { nanosleep.u32 1;
        END: ret; }
        .visible .entry k() { nanosleep.u32 1;
        END: ret; }",
    );
    assert_eq!(shown(&program, "END", Some(at_line(&program, 3))), "small.ptx:4 ret");
    assert_eq!(shown(&program, "END", Some(at_line(&program, 5))), "small.ptx:6 ret");
    assert_eq!(shown(&program, "k:END", Some(at_line(&program, 3))), "small.ptx:6 ret");
    assert_eq!(shown(&program, "END", None), "error 2 functions have a label 'END' [write f:END or k:END]");
    assert_eq!(shown(&program, "outside", None), "error the module only declares 'outside': it has no instructions");
}

#[test]
fn instructions_are_found_by_number() {
    let program = collatz();
    assert_eq!(resolve(&program, "*18", None), resolve(&program, "*0x12", None));
    assert_eq!(resolve(&program, "*0x12", None).unwrap().0, [Pc(18)]);
    assert_eq!(resolve(&program, "*$pc", Some(Pc(7))).unwrap().0, [Pc(7)]);
    assert_eq!(resolve(&program, "*$pc+2", Some(Pc(7))).unwrap().0, [Pc(9)]);
    let count = program.code.len();
    assert_eq!(shown(&program, "*999", None), format!("error there is no instruction 999: the module has {count}, from 0"));
    assert_eq!(shown(&program, "*$pc-9", Some(Pc(7))), format!("error there is no instruction -2: the module has {count}, from 0"));
    assert_eq!(shown(&program, "*zero", None), "error there is no function or label 'zero'");
    assert_eq!(shown(&program, "*$pcx", None), "error 0..5: '*$pcx' is not an instruction [such as *18, *0x12, *$pc+1 or *gemm+4]");
}

#[test]
fn opcodes_are_found_by_pattern() {
    let program = collatz();
    assert_eq!(shown(&program, "op st.*", None), "collatz.ptx:25 st.param.b32, collatz.ptx:89 st.param.b32, collatz.ptx:112 st.global.u32");
    assert_eq!(shown(&program, "op ld.global", None), "collatz.ptx:60 ld.global.u32");
    // A guard is no part of the opcode.
    assert_eq!(shown(&program, "op bra", None).matches("bra").count(), 6);
    assert_eq!(shown(&program, "op *.pred", None), "collatz.ptx:73 mov.pred, collatz.ptx:74 xor.pred, collatz.ptx:75 not.pred");
    assert_eq!(shown(&program, "op call.*", None), "collatz.ptx:91 call.uni");
    assert_eq!(shown(&program, "op atom.*", None), "error no instruction of the module matches 'atom.*'");
    assert_eq!(shown(&program, "op stt.*", None), "error no instruction of the module matches 'stt.*' [did you mean 'st'?]");
    assert_eq!(shown(&program, "op", None), "error 0..2: an opcode is expected after 'op' [such as 'op atom.*']");
    assert_eq!(shown(&program, "op [a", None), "error 0..5: a '[' of '[a' is not closed");
}

#[test]
fn patterns_match_as_a_shell_does() {
    let matches = |pattern: &str, opcode: &str| Pattern::parse(pattern).unwrap().matches(opcode);
    for (pattern, opcode) in [
        ("atom.*", "atom.global.add.u32"),
        ("atom", "atom.global.add.u32"),
        ("*.f64", "ld.global.f64"),
        ("ld.*.f?4", "ld.global.f64"),
        ("*a*b*c", "aabbabc"),
        ("set[pq].*", "setp.lt.s32"),
        ("[!a-k]*", "ld.param.u32"),
        ("[]]", "]"),
        ("a**", "a"),
    ] {
        assert!(matches(pattern, opcode), "{pattern} {opcode}");
    }
    for (pattern, opcode) in
        [("atom.*", "atom"), ("ad", "add.u32"), ("*.f64", "cvt.f64.f32"), ("?", ""), ("[!l]d", "ld"), ("set.*", "setp.lt.s32")]
    {
        assert!(!matches(pattern, opcode), "{pattern} {opcode}");
    }
    assert!(Pattern::parse("").is_err() && Pattern::parse("a b").is_err() && Pattern::parse("[").is_err() && Pattern::parse("[]").is_err());
}

#[test]
fn events_name_the_instructions_that_raise_them() {
    let program = program(
        ".version 9.0 .target sm_90 .address_size 64
        .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
        .func f() { ret; }
        .visible .entry k(.param .u64 out) {
            .reg .b32 i; .reg .b64 o; .param .b32 r; .param .b64 a, b;
            bar.sync 0;
            bar.sync 1;
            bar.sync i;
            barrier.arrive 1, 64;
            call f;
            call (r), vprintf, (a, b);
            ld.param.u64 o, [out];
            red.global.add.u32 [o], 1;
            atom.global.add.u32 i, [o], 1;
            @!%p exit;
            ret;
        }"
        .replace(".reg .b32 i;", ".reg .b32 i; .reg .pred %p;")
        .as_str(),
    );
    let lines = |text: &str| -> Option<Vec<u32>> {
        let pcs = Event::parse(text, |_| None).unwrap().instructions(&program)?;
        Some(pcs.into_iter().map(|pc| program.place(pc).rsplit(':').next().unwrap().parse().unwrap()).collect())
    };
    assert_eq!(lines("barrier"), Some(vec![6, 7, 8, 9]));
    assert_eq!(lines("barrier 1"), Some(vec![7, 8, 9]));
    assert_eq!(lines("call"), Some(vec![10, 11]));
    assert_eq!(lines("printf"), Some(vec![11]));
    assert_eq!(lines("atomic"), Some(vec![13, 14]));
    // The last is the closing brace of the kernel, which ends threads that come to it.
    assert_eq!(lines("exit"), Some(vec![15, 16, 17]));
    assert_eq!(lines("divergence"), None);
    assert_eq!(lines("reconvergence"), None);
    assert_eq!(lines("fault"), None);
}

#[test]
fn events_are_read_and_what_nothing_raises_is_refused() {
    let error = |text: &str| {
        let error = Event::parse(text, |_| None).unwrap_err();
        (error.message, error.span, error.help.unwrap_or_default())
    };
    assert_eq!(Event::parse(" barrier 15 ", |_| None), Ok(Event::Barrier(Some(15))));
    assert_eq!(Event::Barrier(Some(3)).to_string(), "barrier 3");
    assert_eq!(error("barrier 16"), ("'16' is not a barrier: a block has barriers 0 to 15".to_string(), Some(8..10), String::new()));
    assert_eq!(error("call 3"), ("'3' is not expected after 'call'".to_string(), Some(5..6), String::new()));
    let named = |text: &str| Event::parse(text, |name| (name == "full").then_some(0x508));
    assert_eq!(named("mbarrier"), Ok(Event::Mbarrier(None, None)));
    assert_eq!(named("mbarrier full phase"), Ok(Event::Mbarrier(Some(0x508), Some(MbarrierAct::Phase))));
    assert_eq!(named("mbarrier wait"), Ok(Event::Mbarrier(None, Some(MbarrierAct::Wait))));
    assert_eq!(error("mbarrier empty").0, "'empty' is neither an mbarrier nor one of phase, arrive, wait");
    assert_eq!(error("mbarrier wait arrive").0, "'arrive' is not expected here");
    assert_eq!(named("async complete"), Ok(Event::Async(Some(CopyAct::Complete))));
    assert_eq!(error("async end").0, "'end' is nothing that becomes of a copy: issue, complete");
    assert_eq!(error("barier").2, "did you mean 'barrier'?");
    assert_eq!(named("finding"), Ok(Event::Finding));
    assert!(error("").2.starts_with("divergence, reconvergence, barrier"));
}

/// The session stands before the first instruction of the collatz kernel, two blocks of one warp, thread i starts with i + 1.
fn session() -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/collatz.ron");
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() };
    Session::new(open(&request).unwrap(), 0, RunOptions::unwatched()).unwrap()
}

fn stop_at(session: &mut Session, place: &str, condition: &str) -> Stop {
    let pcs = resolve(session.program(), place, None).unwrap().0;
    let condition = Some(Condition::parse(condition).unwrap());
    session.breakpoints.add(Breakpoint { condition, ..Breakpoint::new(Trigger::Code(pcs), place) });
    session.resume(&Goal::Continue, Direction::Forward, &mut NeverInterrupt).unwrap()
}

/// Lane 26 starts with 27, and is the first that comes to the odd branch with it.
#[test]
fn conditions_choose_the_thread() {
    let mut session = session();
    let stop = stop_at(&mut session, "$L__BB1_4", "%r18 == 27");
    assert!(matches!(stop.reasons.as_slice(), [Reason::Breakpoint { number: 1, temporary: false, .. }]), "{:?}", stop.reasons);
    assert_eq!((stop.focus.block, stop.focus.warp, stop.focus.lane), ([0, 0, 0], 0, 26));
    assert_eq!(session.breakpoints.get(1).unwrap().hits, 1);
    // 54 / 2 is the only other way to 27: thread 53 is lane 21 of block 1.
    let stop = session.resume(&Goal::Continue, Direction::Forward, &mut NeverInterrupt).unwrap();
    assert_eq!((stop.focus.block, stop.focus.lane), ([1, 0, 0], 21));
    let stop = session.resume(&Goal::Continue, Direction::Forward, &mut NeverInterrupt).unwrap();
    assert!(matches!(stop.reasons.as_slice(), [Reason::Ended]), "{:?}", stop.reasons);
}

#[test]
fn a_condition_is_read_when_it_is_set() {
    let error = Condition::parse("%r18 == ").unwrap_err();
    assert_eq!((error.span, error.message.is_empty(), error.help.is_some()), (Some(8..8), false, true));
    let mut session = session();
    let stop = stop_at(&mut session, "$L__BB1_4", "%r99 == 1");
    assert!(matches!(stop.reasons.as_slice(), [Reason::BadCondition { number: 1, .. }]), "{:?}", stop.reasons);
    // As in gdb, which takes it for one that holds.
    assert_eq!(session.breakpoints.get(1).unwrap().hits, 1);
}

#[test]
fn messages_show_values_as_print_does() {
    let mut session = session();
    let stop = stop_at(&mut session, "$L__BB1_4", "%r18 == 27");
    assert_eq!(stop.focus.lane, 26);
    let text = |source: &str| LogMessage::parse(source).unwrap().text(&session.eval_context());
    assert_eq!(text("\"n is %d\\n\", %r18"), "n is 27");
    assert_eq!(
        text("\"%u|%x|0x%04x|%-6d|%6d|%o|%t|%llu|%%|%s\",%r18,%r18,%r18,%r18,%r18,%r18,%r18,%r18,%r18"),
        "27|1b|0x001b|27    |    27|33|11011|27|%|27"
    );
    assert_eq!(text("\"%d%d\",%r18 + 1,(%r18 - 1) * 2"), "2852");
    assert_eq!(text("\"\\ta\\\"b\\\\, %s\",%r18@26"), "\ta\"b\\, 27");
    // The lanes at the odd branch have 3, 5, .. 31.
    assert_eq!(text("\"%d in %d\",max(%r18),%tid.x@24..26"), "31 in {24, 25, 26}");
    assert_eq!(text("\"no values\""), "no values");
    assert!(text("\"<%d>\",%r99").starts_with("<<"));
    let error = |source: &str| {
        let error = LogMessage::parse(source).unwrap_err();
        (error.message, error.span.unwrap())
    };
    assert_eq!(error("n"), ("a format in quotes is expected".to_string(), 0..1));
    assert_eq!(error("\"n"), ("the format's closing quote is missing".to_string(), 0..2));
    assert_eq!(error("\"%d\""), ("the format has more '%' than there are values".to_string(), 0..4));
    assert_eq!(error("\"a\",%r1"), ("the format has fewer '%' than there are values".to_string(), 4..7));
    assert_eq!(error("\"%y\",%r1").0, "'%y' is not a format");
    assert_eq!(error("\"%\",%r1").0, "a letter is expected after '%'");
    assert_eq!(error("\"%d\" %r1"), ("a comma is expected after the format".to_string(), 4..8));
    assert_eq!(error("\"%d %d\",%r1, +").1.start, 14);
}

#[test]
fn the_list_keeps_numbers() {
    let mut list = Breakpoints::default();
    assert_eq!(list.last_number(), None);
    let code = |pc| Breakpoint::new(Trigger::Code(vec![Pc(pc)]), format!("*{pc}"));
    assert_eq!([list.add(code(1)), list.add(code(2)), list.add(code(3)), list.add(code(2))], [1, 2, 3, 4]);
    assert_eq!(list.delete(3).unwrap().text, "*3");
    assert_eq!(list.add(code(9)), 5, "a number is not used again");
    assert_eq!(list.parse_numbers("1 2-4 4"), Ok(vec![1, 2, 4]));
    assert_eq!(list.parse_numbers("$bpnum"), Ok(vec![5]));
    assert_eq!(list.parse_numbers(""), Ok(vec![]));
    let error = |text: &str| {
        let error = list.parse_numbers(text).unwrap_err();
        (error.message, error.span.unwrap(), error.help.unwrap_or_default())
    };
    assert_eq!(error("1 3"), ("there is no breakpoint 3 any more".to_string(), 2..3, "there are 1, 2, 4, 5".to_string()));
    assert_eq!(error("77"), ("there is no breakpoint 77".to_string(), 0..2, "there are 1, 2, 4, 5".to_string()));
    assert_eq!(error("6-9").0, "there is no breakpoint from 6 to 9");
    assert_eq!(error("4-2").0, "the range 4-2 runs backwards");
    assert_eq!(error("1 x").0, "'x' is not a breakpoint number");
    assert_eq!(error("-1").0, "'' is not a breakpoint number");
    list.set_condition(2, Some(Condition::parse("%p1").unwrap())).unwrap();
    list.ignore(2, 3).unwrap();
    list.set_commands(2, vec!["bt".to_string()]).unwrap();
    list.enable(2, false).unwrap();
    let entry = list.get(2).unwrap();
    assert_eq!(
        (entry.condition.as_ref().map(Condition::text), entry.ignore, entry.commands.len(), entry.enabled),
        (Some("%p1"), 3, 1, false)
    );
    assert!(list.enable(3, true).is_err() && list.delete(3).is_err() && list.get(0).is_err());
}

#[test]
fn rows_say_what_each_is() {
    let program = collatz();
    let mut list = Breakpoints::default();
    let pcs = resolve(&program, "collatz.cu:13", None).unwrap().0;
    list.add(Breakpoint { temporary: true, ..Breakpoint::new(Trigger::Code(pcs), "collatz.cu:13") });
    list.add(Breakpoint {
        message: Some(LogMessage::parse("\"hi\"").unwrap()),
        ..Breakpoint::new(Trigger::Code(vec![Pc(0)]), "*0,\"hi\"")
    });
    list.add(Breakpoint::new(Trigger::Event(Event::Call), "call"));
    let rows = breakpoint_rows(&list, &program, &LazyDebugInfo::default(), &SourceTexts::default());
    let heads: Vec<_> = rows.iter().map(|row| (row.number, row.kind, row.disposition, row.what.as_str(), row.locations.len())).collect();
    assert_eq!(
        heads,
        [(1, "breakpoint", "del", "collatz.cu:13", 2), (2, "dprintf", "keep", "*0,\"hi\"", 1), (3, "catchpoint", "keep", "call", 0)]
    );
    let place = &rows[0].locations[0];
    assert_eq!(
        (place.function.as_str(), place.place.as_str(), place.text.as_str()),
        ("collatz", "collatz.ptx:62", "setp.eq.s32 %p2, %r18, 1;")
    );
    assert_ne!(WatchMode::Read, WatchMode::Access);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Whatever is typed is read or refused, and what an error points at is in the text.
    #[test]
    fn any_text_is_answered(text in "(op |\\*|\\$pc|[-+:*.]|[a-z$_]{0,4}|[0-9]{0,12}| |collatz|if |block |[\"\\[\\]é(]){0,8}", here in prop::option::of(0..40_u32)) {
        let program = collatz();
        let errors = [
            Location::parse(&text).and_then(|location| location.resolve(&program, here.map(Pc))).err(),
            Event::parse(&text, |_| None).err(),
            Condition::parse(&text).err(),
            LogMessage::parse(&text).err(),
            LogMessage::parse(&format!("\"%d{text}")).err().map(|error| ArgumentError { span: None, ..error }),
            Breakpoints::default().parse_numbers(&text).err(),
        ];
        for error in errors.into_iter().flatten() {
            prop_assert!(error.span.is_none_or(|span| text.get(span).is_some()), "{}", error.message);
        }
    }
}

/// The stops of a breakpoint on the line, to the end or to the beginning of the run: time and block.
fn stops(session: &mut Session, direction: Direction) -> Vec<(u64, [u32; 3])> {
    let mut stops = Vec::new();
    loop {
        let stop = session.resume(&Goal::Continue, direction, &mut NeverInterrupt).unwrap();
        if !stop.reasons.iter().any(|reason| matches!(reason, Reason::Breakpoint { .. })) {
            return stops;
        }
        stops.push((stop.time.0, stop.focus.block));
    }
}

/// The visits of blocks to a line, counted from the passes of their lanes: the nth begins when the first lane passes for the nth time.
fn visits_of(passes: &[(u64, [u32; 3], u32, Vec<usize>)]) -> Vec<(u64, [u32; 3])> {
    let mut counts = std::collections::BTreeMap::new();
    let mut begun = std::collections::BTreeMap::new();
    let mut visits = Vec::new();
    for (time, block, warp, lanes) in passes {
        let counted = lanes.iter().map(|lane| {
            let count: &mut u32 = counts.entry((*block, *warp, *lane)).or_default();
            *count += 1;
            *count
        });
        let nth = counted.max().unwrap();
        let last: &mut u32 = begun.entry(*block).or_default();
        if nth > *last {
            *last = nth;
            visits.push((*time, *block));
        }
    }
    visits
}

/// On a line of the source a breakpoint stops once for each block and visit, at the same times in both directions and whenever it is set;
/// ignored hits are visits, and a temporary one stops at the first.
#[test]
fn a_source_line_stops_once_a_block_and_visit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/tiles.ron");
    let request = || Request { modules: Vec::new(), launch: LaunchChoice::File(path.clone()), overrides: Overrides::default() };
    let session = || Session::new(open(&request()).unwrap(), 0, RunOptions::unwatched()).unwrap();
    for place in ["tiles.cu:15", "tiles.cu:16", "tiles.cu:18", "tiles.cu:21"] {
        let mut each_warp = session();
        let resolved = Location::parse(place).unwrap().resolve(each_warp.program(), None).unwrap();
        assert!(resolved.is_source_line);
        each_warp.breakpoints.add(Breakpoint::new(Trigger::Code(resolved.pcs.clone()), place));
        let mut passes = Vec::new();
        loop {
            let stop = each_warp.resume(&Goal::Continue, Direction::Forward, &mut NeverInterrupt).unwrap();
            let Some(lanes) = each_warp.machine().next_lanes(stop.focus.block, stop.focus.warp) else { break };
            if !stop.reasons.iter().any(|reason| matches!(reason, Reason::Breakpoint { .. })) {
                break;
            }
            passes.push((stop.time.0, stop.focus.block, stop.focus.warp, lanes.iter().collect()));
        }
        let expected = visits_of(&passes);
        assert!(!expected.is_empty() && expected.len() * 2 <= passes.len(), "{place}: {} of {}", expected.len(), passes.len());
        let line = || Breakpoint::new(Trigger::Line(resolved.pcs.clone()), place);
        let mut forward = session();
        forward.breakpoints.add(line());
        assert_eq!(stops(&mut forward, Direction::Forward), expected, "{place}");
        assert_eq!(forward.breakpoints.get(1).unwrap().hits, expected.len() as u64);
        let mut back = stops(&mut forward, Direction::Backward);
        back.reverse();
        assert_eq!(back, expected, "{place}, backwards");
        let middle = expected[expected.len() / 2].0 + 1;
        let mut late = session();
        late.seek(ptxdbg::base::Tick(middle), &mut NeverInterrupt);
        late.breakpoints.add(line());
        let rest: Vec<_> = expected.iter().copied().filter(|(time, _)| *time > middle).collect();
        assert_eq!(stops(&mut late, Direction::Forward), rest, "{place}, set at t={middle}");
        let mut ignoring = session();
        ignoring.breakpoints.add(Breakpoint { ignore: 1, temporary: true, ..line() });
        assert_eq!(stops(&mut ignoring, Direction::Forward), expected[1..2], "{place}, the first is ignored");
    }
}
