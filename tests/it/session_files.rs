//! What a session keeps beside its run: marks, session files, and memory in files.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ptxdbg::debug::asm::open_asm;
use ptxdbg::debug::breakpoints::{Breakpoint, Breakpoints, Condition, Event, Location, LogMessage, Trigger, WatchMode};
use ptxdbg::debug::edit::Edit;
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::focus::{Focus, ThreadFilter};
use ptxdbg::debug::marks::{Mark, Marks, TimeArgument, grouped_number};
use ptxdbg::debug::open::{Opened, open};
use ptxdbg::debug::saved::{Applies, Saved, SavedError};
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::stop::{Direction, Goal};
use ptxdbg::debug::target::{FrameTarget, MemoryTarget, Target};
use ptxdbg::debug::timeline::Input;
use ptxdbg::debug::transfer::{Layout, dump, element_of, restore};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions, Schedule};
use ptxdbg::isa::{ScalarType, Space};
use ptxdbg::launch::Element;
use ptxdbg::machine::LaneMask;
use ptxdbg::machine::Tick;
use ptxdbg::program::{Bank, Pc};

fn opened(name: &str) -> Opened {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    open(&Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() }).unwrap()
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn mark(time: u64) -> Mark {
    Mark { time: Tick(time), focus: Focus::default(), place: "collatz.ptx:71".to_string() }
}

#[test]
fn moments_are_read() {
    let mut marks = Marks::default();
    marks.set("before-loop", mark(9_101)).unwrap();
    marks.set("late", mark(20)).unwrap();
    let time = |text: &str| marks.parse_time(text, Tick(1_000));
    for text in ["9101", "9,101", "9_101", "t=9,101", " 9101 "] {
        assert_eq!(time(text), Ok(TimeArgument::Tick(Tick(9_101))), "{text}");
    }
    assert_eq!(time("+1,000"), Ok(TimeArgument::Tick(Tick(2_000))));
    assert_eq!(time("-1000"), Ok(TimeArgument::Tick(Tick::START)));
    assert_eq!(time("start"), Ok(TimeArgument::Start));
    assert_eq!(time("end"), Ok(TimeArgument::End));
    assert_eq!(time("before-loop"), Ok(TimeArgument::Mark(mark(9_101))));
    assert_eq!(time("+18446744073709551615"), Ok(TimeArgument::Tick(Tick::MAX)));
    let error = |text: &str| {
        let error = time(text).unwrap_err();
        (error.message, error.span.unwrap(), error.help.unwrap_or_default())
    };
    assert_eq!(
        error(" -1,001").0,
        "1 is 1001 before t=0: now is t=1000".replace("1 is 1001 before t=0: now", "1001 ticks back is before the start: now")
    );
    assert_eq!(error("befor-loop"), ("there is no mark 'befor-loop'".to_string(), 0..10, "did you mean 'before-loop'?".to_string()));
    assert_eq!(error("x"), ("there is no mark 'x'".to_string(), 0..1, "marks: before-loop, late".to_string()));
    for text in ["9,10", "9,1011", ",101", "9,,101", "1234,567", "12x", "0x10", "t=", "+", "-x", "18446744073709551616"] {
        assert!(time(text).is_err(), "{text}");
    }
    assert_eq!(marks.by_time().iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["late", "before-loop"]);
    assert_eq!(marks.delete("late"), Ok(mark(20)));
    assert!(marks.delete("late").is_err());
    assert_eq!(marks.set("before-loop", mark(1)), Ok(Some(mark(9_101))));
    for name in ["start", "end", "7up", "+1", "", "a b", "t=1"] {
        assert!(marks.set(name, mark(1)).is_err(), "{name}");
    }
    assert_eq!(
        Marks::default().parse_time("x", Tick::START).unwrap_err().help.unwrap(),
        "no time is marked: 'mark NAME' marks the present one"
    );
    assert_eq!((grouped_number("1,234,567"), grouped_number("1,234567"), grouped_number("")), (Some(1_234_567), None, None));
}

#[test]
fn threads_that_no_launch_has_are_refused() {
    let collatz = opened("debug/collatz.ron");
    let options = RunOptions { seed: 7, schedule: Schedule::Random, ..RunOptions::unwatched() };
    let refused = |change: &dyn Fn(&mut Saved)| {
        let mut saved = full(&collatz);
        change(&mut saved);
        saved.check(&collatz.program, &collatz.plan.cases[0], &options).unwrap_err()
    };
    assert_eq!(full(&collatz).check(&collatz.program, &collatz.plan.cases[0], &options), Ok(Applies::Whole));
    type Change = &'static dyn Fn(&mut Saved);
    let cases: [(Change, &str); 6] = [
        (&|saved| saved.focus.warp = 77, "the focus names block 1,0,0 warp 77 lane 3, which no launch of this session has"),
        (&|saved| saved.focus.lane = 32, "the focus names block 1,0,0 warp 0 lane 32, which"),
        (&|saved| saved.focus.block = [0, 9, 0], "the focus names block 0,9,0 warp 0 lane 3, which"),
        (
            &|saved| saved.inputs[0].1 = Input::Turn { block: [1, 0, 0], warp: u32::MAX },
            "the input at time 4 names block 1,0,0 warp 4294967295, which",
        ),
        (&|saved| saved.breakpoints[0].filter.warp = Some(9), "breakpoint 1 names block 1,0,0 warp 9, which"),
        (
            &|saved| drop(saved.marks.set("far", Mark { focus: Focus { warp: 8, ..Focus::default() }, ..mark(3) })),
            "the mark 'far' names block 0,0,0 warp 8 lane 0, which",
        ),
    ];
    for (change, message) in cases {
        let error = refused(change);
        assert!(error.starts_with(message), "{message}: {error}");
    }
}

fn full(opened: &Opened) -> Saved {
    let options = RunOptions { seed: 7, schedule: Schedule::Random, ..RunOptions::unwatched() };
    let mut saved = Saved::new(&opened.program, &opened.plan.cases[0], &options);
    let mut list = Breakpoints::default();
    let owner = Focus { block: [1, 0, 0], warp: 0, lane: 3, frame: 0 };
    let target = MemoryTarget {
        field: None,
        frame: Some(FrameTarget { block: [1, 0, 0], warp: 0, lanes: LaneMask::of(3), depth: 1, code: 4..9 }),
        name: "steps[0]".to_string(),
        space: Space::Global,
        owner,
        address: 0x7f20_0000_0000,
        bytes: 4,
        ty: ScalarType::U32,
    };
    list.add(Breakpoint {
        condition: Some(Condition::parse("%r18 > 100 && any(%p3)").unwrap()),
        filter: ThreadFilter { block: Some([1, 0, 0]), lanes: Some(LaneMask::lowest(8)), ..ThreadFilter::default() },
        ignore: 2,
        hits: 5,
        temporary: true,
        commands: vec!["print %r18".to_string(), "continue".to_string()],
        ..Breakpoint::new(Trigger::Code(vec![Pc(3), Pc(9)]), "collatz.cu:13")
    });
    list.add(Breakpoint::new(Trigger::Event(Event::Call), "call"));
    list.delete(2).unwrap();
    list.add(Breakpoint { enabled: false, ..Breakpoint::new(Trigger::Watch(Target::Memory(target), WatchMode::Access), "steps[0]") });
    list.add(Breakpoint::new(Trigger::Event(Event::Barrier(Some(3))), "barrier 3"));
    list.add(Breakpoint {
        message: Some(LogMessage::parse("\"n = %d\\n\",%r18").unwrap()),
        ..Breakpoint::new(Trigger::Code(vec![Pc(0)]), "*0")
    });
    list.add(Breakpoint::new(Trigger::Event(Event::Exit), "exit"));
    list.delete(6).unwrap();
    saved.set_breakpoints(&list);
    saved.marks.set("loop", mark(12)).unwrap();
    saved.time = Tick(40);
    saved.focus = owner;
    saved.displays = vec!["/x %r18".to_string()];
    saved.settings.insert("step-by".to_string(), "ptx".to_string());
    saved.inputs = vec![(Tick(4), Input::Turn { block: [1, 0, 0], warp: 0 }), (Tick(9), Input::EndTurn)];
    saved
}

#[test]
fn what_is_saved_is_read_back() {
    let opened = opened("debug/collatz.ron");
    let saved = full(&opened);
    let text = saved.to_text();
    let read = Saved::parse("s.ron", text.clone()).unwrap();
    assert_eq!(read, saved, "{text}");
    let list = read.breakpoints().unwrap();
    assert_eq!(list.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 3, 4, 5]);
    assert_eq!(list.last_number(), Some(6), "number 6 was used and is not given again");
    assert_eq!(list.get(1).unwrap().condition.as_ref().unwrap().text(), "%r18 > 100 && any(%p3)");
    let mut again = Saved { breakpoints: Vec::new(), ..read };
    again.set_breakpoints(&list);
    assert_eq!(again, saved);
}

/// The file as it is written: one that a person can read and change.
#[test]
fn a_file_has_one_entry_a_line() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/session.ron");
    assert_eq!(full(&opened("debug/collatz.ron")).to_text(), std::fs::read_to_string(&file).unwrap());
    assert_eq!(Saved::read(&file).unwrap(), full(&opened("debug/collatz.ron")));
}

#[test]
fn another_module_or_launch_is_refused() {
    let (collatz, smallest) = (opened("debug/collatz.ron"), opened("small/smallest.ron"));
    let saved = full(&collatz);
    let options = RunOptions { seed: 7, schedule: Schedule::Random, ..RunOptions::unwatched() };
    assert_eq!(saved.check(&collatz.program, &collatz.plan.cases[0], &options), Ok(Applies::Whole));
    assert_eq!(
        saved.check(&smallest.program, &smallest.plan.cases[0], &options).unwrap_err(),
        "this session is of collatz.ptx, and another module is loaded: its times and places do not apply"
    );
    assert_eq!(
        saved.check(&collatz.program, &collatz.plan.cases[0], &RunOptions { seed: 8, ..options.clone() }),
        Ok(Applies::WithoutTimes(Some(
            "this session was run as collatz<<<(2,1,1), (32,1,1)>>> in random order with seed 7, \
             and now it is collatz<<<(2,1,1), (32,1,1)>>> in random order with seed 8: left out are its time t=40, its marks, 2 changes of the run"
                .to_string()
        )))
    );
    let mut changed = saved.clone();
    changed.module.digest = "0".to_string();
    assert_eq!(
        changed.check(&collatz.program, &collatz.plan.cases[0], &options),
        Ok(Applies::WithoutPlaces(
            "the text of collatz.ptx has changed since the session was saved: its times, breakpoints and marks are left out".to_string()
        ))
    );
    let mut changed = saved.clone();
    let Trigger::Watch(Target::Memory(target), _) = &mut changed.breakpoints[1].trigger else { panic!() };
    target.bytes = u64::MAX;
    let message = changed.check(&collatz.program, &collatz.plan.cases[0], &options).unwrap_err();
    assert_eq!(message, "breakpoint 3 watches 'steps[0]', which is neither a register nor a range of memory");
    let mut changed = saved;
    changed.breakpoints[0].trigger = Trigger::Code(vec![Pc(999)]);
    let message = changed.check(&collatz.program, &collatz.plan.cases[0], &options).unwrap_err();
    assert_eq!(message, format!("breakpoint 1 is at instruction 999, and the module has {}", collatz.program.code.len()));
}

/// `line:column: message [help]`
fn wrong(text: &str) -> String {
    let (sources, diagnostic) = *Saved::parse("s.ron", text.to_string()).unwrap_err();
    let at = sources.position(diagnostic.span);
    let help = diagnostic.help.map_or(String::new(), |help| format!(" [{help}]"));
    format!("{}:{}: {}{help}", at.line, at.column, diagnostic.message)
}

#[test]
fn what_is_wrong_in_a_file_is_pointed_at() {
    let text = full(&opened("debug/collatz.ron")).to_text();
    let version = "2:5: this session file is of version 2, and version 1 is read [load it with the ptxdbg that wrote it, or start afresh]";
    assert_eq!(wrong(&text.replace("version: 1", "version: 2")), version);
    assert_eq!(wrong(&text.replace("version: 1", "version: 2, colour: 3")), version, "a later version may have other fields");
    assert!(
        wrong(&text.replace("temporary", "temprary")).contains("there is no field 'temprary' of Breakpoint [fields: number, trigger, text")
    );
    assert!(wrong(&text.replace("seed: 7", "seed: -7")).contains("out of range"), "{}", wrong(&text.replace("seed: 7", "seed: -7")));
    assert_eq!(wrong(""), "1:1: the file is empty ['save session FILE' writes a session file]");
    assert_eq!(
        wrong("(version: 1,"),
        "1:12: the file ends before it is complete [a session file is one Session(version: .., module: .., run: .., ..)]"
    );
    assert_eq!(wrong("(version: 1)"), "1:12: field 'module' of Session is missing");
    let saved = |text: &str| Saved::parse("s.ron", text.to_string()).unwrap();
    let error = |from: &str, to: &str| saved(&text.replace(from, to)).breakpoints().unwrap_err();
    assert_eq!(error("&& any(%p3)", "&&"), "the condition of breakpoint 1 cannot be read: the expression ends here");
    assert_eq!(error("number: 3", "number: 1"), "there are two breakpoints with the number 1");
    assert_eq!(error("number: 3", "number: 0"), "breakpoints are numbered from 1");
    assert!(
        matches!(Saved::read(Path::new("no/such.ron")), Err(SavedError::Unreadable(message)) if message.starts_with("cannot read no/such.ron: no such file"))
    );
}

#[test]
fn a_session_of_other_data_names_what_differs() {
    let folder = folder("session_of_other_data");
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/tiles.ptx");
    let write_data = |name: &str, values: [f32; 4]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        dump(&folder.join(name), &Layout { element: Element::F32, shape: vec![4] }, &bytes).unwrap();
    };
    let start = |contents: &str, count: u32| {
        let text = format!(
            "Launch(module: {module:?}, kernel: \"gemm\", grid: (1, 1, 1), block: (16, 16, 1), params: [Buffer(name: \"A\", elem: F32, \
             shape: [2, 2], init: File(\"a.npy\")), Buffer(name: \"B\", elem: F32, shape: [2, 2], init: {contents}), Buffer(name: \"C\", \
             elem: F32, shape: [2, 2], init: Zero), U32(2), U32(2), U32({count})])"
        );
        let path = folder.join("launch.ron");
        std::fs::write(&path, text).unwrap();
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() };
        Session::new(open(&request).unwrap(), 0, RunOptions::unwatched()).unwrap()
    };
    let loaded = |mut session: Session, saved: &Saved| session.restore(saved.clone(), &mut NeverInterrupt).unwrap().log;
    write_data("a.npy", [1.0, 2.0, 3.0, 4.0]);
    let iota = "Iota(start: 0, step: 1)";
    let saved = start(iota, 2).saved();
    let read = Saved::parse("s.ron", saved.to_text()).unwrap();
    assert_eq!(read, saved);
    assert_eq!(loaded(start(iota, 2), &read), [""; 0]);
    let differs = |what: &str| format!("warning: {what} changed since the session was saved: times and values may differ");
    assert_eq!(loaded(start("Random(seed: 1, low: 0, high: 1)", 2), &read), [differs("buffer B")]);
    assert_eq!(loaded(start(iota, 1), &read), [differs("the parameters of gemm")]);
    write_data("a.npy", [1.0, 2.0, 3.0, 5.0]);
    assert_eq!(loaded(start(iota, 2), &read), [differs("buffer A (a.npy)")]);
    // What an earlier version wrote says nothing of what the launches were given.
    let old = Saved { given: Vec::new(), state: None, ..saved };
    let old = Saved::parse("s.ron", old.to_text()).unwrap();
    assert!(!old.to_text().contains("given"));
    assert_eq!(loaded(start(iota, 1), &old), [""; 0]);
}

fn session() -> Session {
    Session::new(opened("debug/collatz.ron"), 0, RunOptions::unwatched()).unwrap()
}

/// A run that was stopped, changed and gone on with is the same again when its file is read.
#[test]
fn a_session_goes_on_where_it_was_saved() {
    let mut first = session();
    let condition = Some(Condition::parse("%r18 == 27").unwrap());
    let here = Location::parse("$L__BB1_4").unwrap().resolve(first.program(), None).unwrap();
    first.breakpoints.add(Breakpoint { condition, ..Breakpoint::new(Trigger::Code(here.pcs), "$L__BB1_4") });
    let should_continue = |session: &mut Session| session.resume(&Goal::Continue, Direction::Forward, &mut NeverInterrupt).unwrap();
    should_continue(&mut first);
    let edits = Expression::parse("%r18").unwrap();
    let value = Expression::parse("81").unwrap().evaluate(&first.eval_context()).unwrap();
    let edits = edits.assign(&first.eval_context(), &value).unwrap();
    first.edit(edits, "set").unwrap();
    first.marks.set("edited", Mark { time: first.time(), focus: first.focus, place: String::new() }).unwrap();
    for _ in 0..5 {
        first.resume(&Goal::Instruction { count: 7, over_calls: false }, Direction::Forward, &mut NeverInterrupt).unwrap();
    }
    let text = first.saved().to_text();
    let mut second = session();
    second.restore(Saved::parse("s.ron", text.clone()).unwrap(), &mut NeverInterrupt).unwrap();
    assert_eq!((second.time(), second.focus), (first.time(), first.focus), "{text}");
    assert_eq!(second.machine().digest(), first.machine().digest(), "{text}");
    assert_eq!(second.saved().to_text(), text);
    let (first, second) = (should_continue(&mut first), should_continue(&mut second));
    assert_eq!((first.time, first.focus), (second.time, second.focus));
}

/// What a person wrote into a file by hand is refused or does something, but it breaks nothing.
/// The module of an `asm` statement is made anew each time, and is the same; of another statement it is another.
#[test]
fn a_session_over_an_asm_statement_is_restored() {
    let session = |value: &str| {
        let words = [r#"asm("add.s32 %0, %1, 1; shl.b32 %0, %0, 2;" : "=r"(x) : "r"(a));"#.to_string()];
        Session::new(open_asm(&words, &[value.to_string()]).unwrap().opened, 0, RunOptions::unwatched()).unwrap()
    };
    let mut first = session("5");
    first.resume(&Goal::Instruction { count: 3, over_calls: false }, Direction::Forward, &mut NeverInterrupt).unwrap();
    let text = first.saved().to_text();
    let mut second = session("5");
    second.restore(Saved::parse("s.ron", text.clone()).unwrap(), &mut NeverInterrupt).unwrap();
    assert_eq!((second.time(), second.focus), (first.time(), first.focus));
    assert_eq!(second.machine().digest(), first.machine().digest());
    let words = ["add.s32 %0, %1, 2;".to_string(), "=r, r=5".to_string()];
    let mut other = Session::new(open_asm(&words, &[]).unwrap().opened, 0, RunOptions::unwatched()).unwrap();
    let stop = other.restore(Saved::parse("s.ron", text).unwrap(), &mut NeverInterrupt).unwrap();
    assert!(stop.log[0].contains("has changed since the session was saved") && other.time() == Tick(0), "{:?}", stop.log);
}

#[test]
fn inputs_that_cannot_be_change_nothing() {
    let mut session = session();
    let mut saved = session.saved();
    let owner = Focus { frame: 3, ..Focus::default() };
    let memory = |space| Edit::Memory { space, owner, address: u64::MAX - 2, bytes: vec![1; 8] };
    let mut edits: Vec<Edit> =
        [Space::Generic, Space::Global, Space::Const, Space::Shared, Space::Local, Space::Param].map(memory).to_vec();
    edits.push(Edit::Register {
        block: [0, 0, 0],
        warp: 0,
        lanes: LaneMask::ALL,
        bank: Bank::B64,
        slot: ptxdbg::program::Slot(u32::MAX),
        value: 1,
    });
    saved.inputs = edits.into_iter().map(|edit| (Tick(3), Input::Edits(vec![edit]))).collect();
    saved.focus = owner;
    saved.time = Tick(20);
    session.restore(saved, &mut NeverInterrupt).unwrap();
    let mut plain = self::session();
    plain.seek(Tick(20), &mut NeverInterrupt);
    assert_eq!(session.machine().digest(), plain.machine().digest());
}

#[test]
fn memory_goes_to_files_and_back() {
    let folder = folder("transfer");
    let layout = Layout { element: Element::F32, shape: vec![2, 3] };
    let bytes: Vec<u8> = (0..24).collect();
    let (bin, npy) = (folder.join("a.bin"), folder.join("a.npy"));
    assert_eq!(dump(&bin, &layout, &bytes), Ok(24));
    assert_eq!(dump(&npy, &layout, &bytes), Ok(128 + 24));
    assert_eq!(std::fs::read(&bin).unwrap(), bytes);
    assert_eq!(restore(&bin, &layout), Ok(bytes.clone()));
    assert_eq!(restore(&npy, &layout), Ok(bytes.clone()));
    let header = std::fs::read(&npy).unwrap();
    let header = String::from_utf8_lossy(&header[10..127]).into_owned();
    assert_eq!(header.trim_end(), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }");
    // Another shape of as many elements is as good.
    assert_eq!(restore(&npy, &Layout { element: Element::F32, shape: vec![6] }), Ok(bytes.clone()));
    // Untyped memory takes what has the same width.
    assert_eq!(restore(&npy, &Layout { element: Element::B32, shape: vec![6] }), Ok(bytes.clone()));
    let error = |path: &Path, element, extent| {
        let message = restore(path, &Layout { element, shape: vec![extent] }).unwrap_err().to_string();
        message.replace(&folder.display().to_string(), "FOLDER")
    };
    assert_eq!(error(&bin, Element::F32, 7), "FOLDER/a.bin holds 24 bytes, and 28 bytes of memory are to be restored");
    assert_eq!(error(&npy, Element::F32, 5), "FOLDER/a.npy holds 24 bytes, and 20 bytes of memory are to be restored");
    assert_eq!(error(&npy, Element::S32, 6), "FOLDER/a.npy holds f32, and the memory is of s32");
    assert_eq!(error(&folder.join("b.bin"), Element::U8, 1), "cannot read FOLDER/b.bin: no such file or directory");
    // Bare bytes are in files of any other name.
    for bare in ["b.txt", "raw", "a.npy.old"] {
        assert_eq!(dump(&folder.join(bare), &layout, &bytes), Ok(24));
        assert_eq!(restore(&folder.join(bare), &layout), Ok(bytes.clone()));
    }
    std::fs::write(folder.join("c.npy"), "no").unwrap();
    assert_eq!(error(&folder.join("c.npy"), Element::U8, 1), "FOLDER/c.npy ends inside its .npy header");
    assert_eq!(
        error(&bin, Element::U64, u64::MAX),
        "FOLDER/a.bin holds 24 bytes, and 18446744073709551615 bytes of memory are to be restored"
    );
    assert!(dump(&bin, &layout, &bytes[..20]).unwrap_err().to_string().ends_with("cannot hold 20 bytes as f32 in the shape [2, 3]"));
    assert!(dump(&folder.join("no/a.bin"), &layout, &bytes).unwrap_err().to_string().starts_with("cannot write"));
}

#[test]
fn types_of_ptx_have_elements() {
    for (ty, element) in [
        (ScalarType::F32, Element::F32),
        (ScalarType::BF16, Element::BF16),
        (ScalarType::S64, Element::S64),
        (ScalarType::B8, Element::B8),
        (ScalarType::F16x2, Element::B32),
        (ScalarType::E4M3, Element::B8),
        (ScalarType::B128, Element::B64),
        (ScalarType::Pred, Element::B8),
    ] {
        assert_eq!(element_of(ty), element, "{ty:?}");
    }
    assert_eq!(Layout::of(ScalarType::B128, 3).shape, [6]);
    assert_eq!(Layout::of(ScalarType::F32, 3).bytes(), Some(12));
}

proptest! {
    /// Whatever is done to a session file, it is read or refused.
    #[test]
    fn any_file_is_answered(cut in 0..3_000_usize, put in "[(){}\\[\\],:0-9a-z\"é ]{0,6}", skip in 0..40_usize) {
        let opened = opened("debug/collatz.ron");
        let text = full(&opened).to_text();
        let (before, after): (String, String) = (text.chars().take(cut).collect(), text.chars().skip(cut + skip).collect());
        if let Ok(saved) = Saved::parse("s.ron", format!("{before}{put}{after}")) {
            let _ = saved.check(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched());
            let _ = saved.breakpoints();
        }
    }

    #[test]
    fn any_moment_is_answered(text in "([-+]|t=|[0-9]{0,21}|[,_]|[a-z]{0,3}|é| ){0,6}", now in any::<u64>()) {
        let mut marks = Marks::default();
        marks.set("ab", mark(3)).unwrap();
        if let Err(error) = marks.parse_time(&text, Tick(now)) {
            prop_assert!(error.span.is_none_or(|span| text.get(span).is_some()));
        }
    }
}
