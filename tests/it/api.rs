//! The library as another program uses it: nothing but `ptxdbg::api`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails where it cannot go on")]

use std::ops::Range;
use std::path::{Path, PathBuf};

use ptxdbg::api::{
    Checks, Comparison, DriverLaunch, Error, HostMemory, HostRange, Launch, Module, Outcome, PAGE_BYTES, PageSource, Planned, Reason,
    RunOptions, Session, Tick,
};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Two launches on the same memory, whose results were recorded on hardware.
#[test]
fn a_launch_file_is_run_and_compared() {
    let module = Module::load(fixture("programs/axpy_transpose.ptx")).unwrap();
    assert_eq!(module.kernels().collect::<Vec<_>>(), ["axpy_guards", "transpose_pad"]);
    let planned = Launch::from_file(fixture("programs/axpy_transpose.ron")).plan(&module).unwrap();
    assert_eq!(planned.cases().len(), 1);
    let run = planned.run(0, &RunOptions::default()).unwrap();
    assert_eq!(run.comparison, Comparison::Compared(Vec::new()));
    assert_eq!(run.buffer_names().collect::<Vec<_>>(), ["x", "y", "tag", "t"]);
    let y = run.buffer("y").unwrap();
    let expected = std::fs::read(fixture("programs/data/axpy_transpose.y.out")).unwrap();
    assert_eq!((y.shape, y.bytes.clone()), (vec![12707], expected));
    let transposed = run.buffer("t").unwrap();
    let (rows, columns) = (97, 131);
    let (y, t): (Vec<f64>, Vec<f64>) = (run.buffer("y").unwrap().numbers().collect(), transposed.numbers().collect());
    assert!((0..rows).all(|row| (0..columns).all(|column| t[column * rows + row].to_bits() == y[row * columns + column].to_bits())));
    let launches = run.launches();
    assert_eq!(launches.iter().map(|launch| launch.kernel.as_str()).collect::<Vec<_>>(), ["axpy_guards", "transpose_pad"]);
    assert!(launches.iter().all(|launch| launch.ticks > 0 && launch.thread_instructions >= launch.ticks));
    assert!(!run.fidelity.opcodes.is_empty() && run.buffer("z").is_none());
    // Planned launches can be run again, and come to the same.
    assert_eq!(planned.run(0, &RunOptions::default()).unwrap().buffer("t").unwrap(), transposed);
}

/// The launch names memory where the windows of the module are otherwise, which is read before the launch is known.
#[test]
fn windows_give_way_to_memory_that_a_launch_names() {
    let module = Module::load(fixture("launches/pointers.ptx")).unwrap();
    let planned = Launch::from_file(fixture("launches/window.ron")).plan(&module).unwrap();
    let run = planned.run(0, &RunOptions::default()).unwrap();
    assert_eq!((&run.comparison, run.findings().len()), (&Comparison::Compared(Vec::new()), 0));
    let module = Module::from_text("pointers.ptx", std::fs::read_to_string(fixture("launches/pointers.ptx")).unwrap()).unwrap();
    let text = std::fs::read_to_string(fixture("launches/window.ron")).unwrap();
    let planned = Launch::from_text(text).plan(&module).unwrap();
    let mut session = planned.session(0, &RunOptions::default()).unwrap();
    let Outcome::Stop(stop) = session.execute("run").unwrap() else { panic!("a run stops") };
    assert!(matches!(stop.reasons[..], [Reason::Ended]), "{:?}", stop.reasons);
}

#[test]
fn findings_are_data() {
    let module = Module::load(fixture("races/bulk_to_exited.ptx")).unwrap();
    let planned = Launch::from_file(fixture("races/bulk_to_exited.ron")).plan(&module).unwrap();
    let options = RunOptions { checks: Checks::ALL, ..RunOptions::default() };
    let cases: Vec<String> = planned.cases().map(str::to_string).collect();
    let found: Vec<Vec<&str>> = (0..cases.len())
        .map(|case| planned.run(case, &options).unwrap().findings().iter().map(|finding| finding.id.word()).collect())
        .collect();
    assert_eq!(cases, ["bulk_to_exited_bug", "bulk_to_exited_ok"]);
    assert_eq!(found, [vec!["cluster.exited"], vec![]]);
}

#[test]
fn what_cannot_be_done_is_said_with_its_place() {
    let error = Module::load("no such file.ptx").unwrap_err();
    assert!(matches!(error, Error::File(_)), "{error}");
    let Err(Error::Rejected(problems)) = Module::from_text("k.ptx", ".version 8.0\n.target sm_80\n.entry k() { add.s32 %r1, 1, 2; }")
    else {
        panic!("the register is not declared")
    };
    assert_eq!((problems[0].file.as_str(), problems[0].line), ("k.ptx", 3));
    assert!(problems[0].to_string().starts_with("k.ptx:3:"), "{}", problems[0]);
    let module = Module::load(fixture("debug/walk.ptx")).unwrap();
    for launch in
        [Launch::new().kernel("nothing"), Launch::new().arg("nothing=1"), Launch::from_text("Launch("), Launch::from_file("none.ron")]
    {
        assert!(launch.plan(&module).is_err(), "{launch:?}");
    }
    let launch = Launch::from_file(fixture("debug/walk.ron"));
    assert!(launch.clone().arg("n=1").plan(&module).is_err(), "a launch file says what all parameters are");
    let planned = launch.plan(&module).unwrap();
    assert!(matches!(planned.run(7, &RunOptions::default()), Err(Error::NoCase { case: 7, .. })));
    assert!(matches!(planned.session(7, &RunOptions::default()), Err(Error::NoCase { case: 7, .. })));
}

/// A session about the counter of `walk.ptx`.
fn session() -> Session {
    let module = Module::load(fixture("debug/walk.ptx")).unwrap();
    Launch::from_file(fixture("debug/walk.ron")).plan(&module).unwrap().session(0, &RunOptions::default()).unwrap()
}

#[test]
fn a_session_is_driven_by_command_lines() {
    let mut session = session();
    let Outcome::Stop(stop) = session.execute("run").unwrap() else { panic!("a run stops") };
    assert!(matches!(stop.reasons[..], [Reason::Ended]), "{:?}", stop.reasons);
    let end = stop.time;
    let Outcome::Stop(stop) = session.execute("goto 3").unwrap() else { panic!("going to a time stops") };
    assert_eq!((stop.time, session.engine().recorded()), (Tick(3), end));
    // What would drop history is asked first, and done when it is confirmed.
    let change = "set seed 5";
    assert!(matches!(session.execute(change).unwrap(), Outcome::Ask(_)));
    assert_eq!(session.engine().recorded(), end);
    session.confirm(change).unwrap();
    assert_eq!(session.engine().recorded(), Tick(0));
    // A change to the machine keeps the run as a branch.
    session.execute("run").unwrap();
    session.execute("goto 3").unwrap();
    session.execute("set %r1 = 5").unwrap();
    assert_eq!((session.engine().recorded(), session.engine().branches().len()), (Tick(3), 2));
    let error = session.execute("frobnicate").unwrap_err();
    assert!(error.message.contains("frobnicate"));
}

#[test]
fn sessions_are_independent() {
    let handles: Vec<_> = (0..2)
        .map(|_| {
            std::thread::spawn(|| {
                let mut session = session();
                session.execute("run").unwrap();
                session.engine().time()
            })
        })
        .collect();
    let times: Vec<Tick> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
    assert_eq!(times[0], times[1]);
}

/// What is missing shows where the sections of a lock come in another order than they do.
#[test]
fn a_missing_fence_is_found_with_the_defaults() {
    let (planned, options) = Planned::open(fixture("orders/locks.ron")).unwrap();
    let cases: Vec<String> = planned.cases().map(str::to_string).collect();
    let found = |name: &str, options: &RunOptions| {
        let case = cases.iter().position(|case| case == name).unwrap();
        planned.run(case, options).unwrap().findings().len()
    };
    assert_eq!((found("lock_right", &options), found("lock_no_acquire", &options)), (0, 1));
    assert_eq!(found("lock_no_acquire", &RunOptions { orders: 0, ..options }), 0);
}

#[test]
fn a_bundle_is_opened_where_its_session_stood() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk it.ptxcap");
    let mut session = session();
    session.execute("goto 3").unwrap();
    session.execute("break walk.ptx:30").unwrap();
    session.engine().bundle(&path, "", &[]).unwrap();
    let (planned, options) = Planned::open(&path).unwrap();
    let opened = planned.clone().session(0, &options).unwrap();
    assert_eq!((opened.engine().time(), opened.engine().breakpoints.iter().count()), (Tick(3), 1));
    let mut prompt = planned.prompt(0, &options).unwrap();
    assert!(prompt.execute("when").unwrap().starts_with("t=3"), "{:?}", prompt.execute("when"));
    for (name, text) in [("x.ptxcap", "nothing"), ("x.ron", "Launch("), ("x.ptx", "nonsense")] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        assert!(Planned::open(&path).is_err(), "{name}");
    }
    assert!(matches!(Planned::open(folder.path().join("none.ptx")), Err(Error::File(_))));
}

/// Memory of a process at an address of its own.
#[derive(Clone)]
struct Process(Vec<u8>);

const PROCESS: u64 = 0x5000_0000_0000;

impl PageSource for Process {
    fn extent(&mut self, _: u64) -> Option<Range<u64>> {
        None
    }

    fn page(&mut self, address: u64) -> Option<Box<[u8; PAGE_BYTES]>> {
        let mut page = Box::new([0; PAGE_BYTES]);
        let own = self.0.get(address.checked_sub(PROCESS)? as usize..)?;
        let length = own.len().min(PAGE_BYTES);
        page[..length].copy_from_slice(&own[..length]);
        Some(page)
    }
}

/// The first finding and the writes of a kernel of [`ADDS`] at `offset`, for arrays at `ranges` of a process.
fn added_at(kernel: &str, offset: u64, ranges: &[(&str, Range<u64>)]) -> (Option<String>, Vec<(u64, Vec<u8>)>) {
    let all = PROCESS..PROCESS + 3 * PAGE_BYTES as u64;
    let module = Module::from_text_avoiding("adds.ptx", ADDS, std::slice::from_ref(&all)).unwrap();
    let array = |(name, at): &(&str, Range<u64>)| HostRange {
        addresses: PROCESS + at.start..PROCESS + at.end,
        name: (*name).to_string(),
        element: None,
    };
    let ranges: Vec<HostRange> = ranges.iter().map(array).collect();
    let host = HostMemory::new(Box::new(Process((0..all.end - all.start).map(|at| at as u8).collect())), &ranges);
    let params = vec![(PROCESS + offset).to_le_bytes().to_vec()];
    let launch = DriverLaunch {
        kernel: Some(kernel.to_string()),
        grid: [1, 1, 1],
        block: [1, 1, 1],
        cluster: None,
        dynamic_shared: 0,
        cooperative: false,
        params,
        variables: Vec::new(),
    };
    let run = launch.planned(&module).unwrap().run(0, &RunOptions { host: Some(host.clone()), ..RunOptions::default() }).unwrap();
    let message = |run: &ptxdbg::api::Run| run.findings().first().map(|finding| format!("{} {}", finding.id.word(), finding.message));
    let writes = run.host_writes(&host).into_iter().map(|write| (write.address - PROCESS, write.bytes)).collect();
    // The copy of the memory has the same bounds.
    let again = launch.captured(&module, &host).unwrap().run(0, &RunOptions::default()).unwrap();
    assert_eq!(message(&again), message(&run), "{kernel} at {offset}");
    (message(&run), writes)
}

const ADDS: &str = "
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry word(.param .u64 at)
    {
        .reg .b32 %r<2>;
        .reg .b64 %d;
        ld.param.u64 %d, [at];
        ld.global.u32 %r1, [%d];
        add.u32 %r1, %r1, 1;
        st.global.u32 [%d], %r1;
        ret;
    }
    .visible .entry vector(.param .u64 at)
    {
        .reg .b32 %r<5>;
        .reg .b64 %d;
        ld.param.u64 %d, [at];
        ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d];
        st.global.u32 [%d], %r4;
        ret;
    }";

#[test]
fn memory_of_the_process_begins_at_its_first_byte() {
    let two = [("low", 8..24), ("high", 24..44)];
    let (finding, writes) = added_at("word", 4, &two);
    let message = finding.unwrap();
    assert!(message.starts_with("memory.out_of_bounds ") && writes.is_empty(), "{message}");
    assert!(message.contains("4 bytes before the start of 'low' (16 bytes at 0x500000000008)"), "{message}");
    for inside in [8, 20, 24, 40] {
        let (finding, writes) = added_at("word", inside, &two);
        assert_eq!((finding, writes), (None, vec![(inside, vec![inside as u8 + 1])]), "{inside}");
    }
    let message = added_at("word", 44, &two).0.unwrap();
    assert!(message.contains("just past the end of 'high' (20 bytes at 0x500000000018)"), "{message}");
    // Two arrays in one line of 16 bytes: an access that crosses from one to the other is none of either.
    let (finding, writes) = added_at("vector", 16, &two);
    assert!(finding.unwrap().starts_with("memory.out_of_bounds ") && writes.is_empty());
    assert_eq!(added_at("vector", 16, &[("both", 8..44)]), (None, vec![(16, vec![28, 29, 30, 31])]));
}

#[test]
fn memory_between_two_arrays_of_one_line_belongs_to_none() {
    let apart = [("low", 0..20), ("high", 28..PAGE_BYTES as u64 + 12)];
    for between in [20, 24] {
        let (finding, writes) = added_at("word", between, &apart);
        assert!(finding.is_some_and(|finding| finding.starts_with("memory.out_of_bounds ")) && writes.is_empty(), "{between}");
    }
    // The last page of 'high' begins 16 bytes after a page of the process.
    let last = PAGE_BYTES as u64 + 8;
    assert_eq!(added_at("word", 28, &apart), (None, vec![(28, vec![29])]));
    assert_eq!(added_at("word", last, &apart), (None, vec![(last, vec![9])]));
    let page = PAGE_BYTES as u64 + 16;
    assert_eq!(added_at("word", page, &[("low", 24..page + 4)]), (None, vec![(page, vec![17])]));
}
