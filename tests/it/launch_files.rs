//! Launches with memory of their own: each leaves what its file says, and what is wrong in such a file is reported with its place.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ptxdbg::base::{Diagnostic, Severity, Sources};
use ptxdbg::debug::certificate::Certificate;
use ptxdbg::debug::findings::Checks;
use ptxdbg::debug::open::{OpenError, open};
use ptxdbg::debug::{Criteria, Failure, LaunchChoice, Opened, Overrides, Request, RunOptions, verify_case_until};
use ptxdbg::launch::{LaunchFile, plan};
use ptxdbg::sema;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/launches")
}

fn opened(file: &Path) -> Opened {
    opened_with(file, Overrides::default())
}

fn opened_with(file: &Path, overrides: Overrides) -> Opened {
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file.to_path_buf()), overrides };
    match open(&request) {
        Ok(opened) => opened,
        Err(OpenError::File(message)) => panic!("{}: {message}", file.display()),
        Err(OpenError::Module(module)) => panic!("{}: {:?}", file.display(), module.diagnostics),
        Err(OpenError::Launch(sources, errors)) => panic!("{}: {}", file.display(), described(&sources, &errors)),
    }
}

fn described(sources: &Sources, errors: &[Diagnostic]) -> String {
    let line = |error: &Diagnostic| {
        let at = |span| {
            let place = sources.position(span);
            format!("{}:{}", place.line, place.column)
        };
        let labels: String = error.labels.iter().map(|label| format!(" [{}: {}]", at(label.span), label.text)).collect();
        let help = error.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}: {}{labels}{help}", at(error.span), error.message)
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_launch_leaves_what_its_file_says() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    let (mut wrong, options) = (Vec::new(), RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() });
    for file in &files {
        let opened = opened(file);
        for case in &opened.plan.cases {
            let criteria = Criteria { exact: false, failing: Severity::Error };
            let report = verify_case_until(&opened.program, case, &options, criteria, || false).unwrap();
            wrong.extend(report.failures.iter().map(|failure| format!("{}, {}: {failure:?}", file.display(), case.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files.len() >= 20, "{files:?}");
}

/// What words of the command line say of memory and variables goes before what the file says.
#[test]
fn words_give_memory_and_expect_variables() {
    let failures = |file: &str, params: &[&str], expect: &[&str]| {
        let words = |words: &[&str]| words.iter().map(|word| String::from(*word)).collect();
        let overrides = Overrides { params: words(params), expect: words(expect), ..Overrides::default() };
        let opened = opened_with(&folder().join(file), overrides);
        let criteria = Criteria { exact: false, failing: Severity::Error };
        let report = verify_case_until(&opened.program, &opened.plan.cases[0], &RunOptions::default(), criteria, || false).unwrap();
        report.failures.iter().filter(|failure| matches!(failure, Failure::Mismatch { .. })).map(wrong_element).collect::<Vec<String>>()
    };
    let none: Vec<String> = Vec::new();
    let expected = ["total=15,205,3005,40005"];
    assert_eq!(failures("variables_launch.ron", &["in=10,20,30,40"], &expected), none);
    assert_eq!(failures("variables_launch.ron", &["in=10,20,30,41"], &expected), ["total[3] = 41005, not 40005"]);
    assert_eq!(failures("variables_launch.ron", &["in=10,20,30,40"], &["mean=5,9"]), ["mean[1] = 10 (0x41200000), not 9 (0x41100000)"]);
    assert_eq!(failures("bytes_given.ron", &["heap=u32[4]=7,8,9,10"], &["out=7,8,9,10"]), none);
    assert_eq!(failures("bytes_given.ron", &["heap=u32[4]=iota"], &["out=0,1,2,4"]), ["out[3] = 3, not 4"]);
}

fn wrong_element(failure: &Failure) -> String {
    let Failure::Mismatch { element, value, expected, .. } = failure else { return String::new() };
    format!("{element} = {value}, not {expected}")
}

/// Clean launches may have notes: those of `ignored.ron` are there, and a race that is one does not let the launch be certified.
#[test]
fn what_is_found_in_ignored_bytes_is_a_note() {
    let opened = opened(&folder().join("ignored.ron"));
    let (options, criteria) =
        (RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() }, Criteria { exact: false, failing: Severity::Error });
    let found: Vec<Vec<(String, Severity)>> = opened
        .plan
        .cases
        .iter()
        .map(|case| {
            let run = verify_case_until(&opened.program, case, &options, criteria, || false).unwrap();
            let certified = matches!(run.certificate, Some(Certificate::EveryOrder { .. }));
            assert_eq!(
                certified,
                case.name.starts_with("unset") && run.findings.iter().all(|finding| finding.severity == Severity::Note),
                "{}",
                case.name
            );
            run.findings.iter().map(|finding| (finding.id.word().to_string(), finding.severity)).collect()
        })
        .collect();
    let of = |id: &str, severity| vec![(id.to_string(), severity)];
    let (race, unset) = ("race.global", "register.uninitialized");
    assert_eq!(
        found,
        [
            of(race, Severity::Note),
            of(race, Severity::Error),
            of(unset, Severity::Note),
            of(unset, Severity::Error),
            of(unset, Severity::Error),
            of(unset, Severity::Note),
            // The read; the stores beside it; and what both store at out[0].
            vec![(race.to_string(), Severity::Error), (race.to_string(), Severity::Note), ("race.same_value".to_string(), Severity::Note)],
        ]
    );
}

#[test]
fn what_is_written_of_a_launch_is_read_back() {
    for file in ["structure.ron", "map_in_memory.ron", "variables.ron", "multiset_memory.ron", "pages_written.ron"] {
        let read = LaunchFile::read(&folder().join(file)).unwrap();
        let text = read.content.to_text();
        let again =
            LaunchFile::parse(file, &folder(), text.clone()).unwrap_or_else(|wrong| panic!("{text}\n{}", described(&wrong.0, &wrong.1)));
        assert_eq!(again.content, read.content, "{text}");
    }
}

/// What is wrong with a launch of `list_sum` with these fields, which start in line 2: `line:column: message [labels] (help)`.
fn mistakes(fields: &str) -> String {
    let text = format!("Launch(kernel: \"list_sum\", grid: (1, 1, 1), block: (1, 1, 1),\n{fields})");
    let (program, _) = sema::load_file(&mut Sources::default(), &folder().join("pointers.ptx")).unwrap();
    let file = match LaunchFile::parse("a.ron", &data(), text.clone()) {
        Ok(file) => file,
        Err(wrong) => return described(&wrong.0, &wrong.1),
    };
    match plan(&file, &program.unwrap(), "pointers.ptx", &Overrides::default()) {
        Ok(_) => panic!("{text} is accepted"),
        Err(errors) => described(&file.sources, &errors),
    }
}

/// The folder with files of pages with mistakes, which are written once: tests run side by side.
fn data() -> PathBuf {
    static WRITTEN: OnceLock<PathBuf> = OnceLock::new();
    WRITTEN.get_or_init(written).clone()
}

fn written() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("launch_files");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |count: u64, offsets: &[u64]| {
        let pages = offsets.iter().flat_map(|offset| [offset.to_le_bytes().to_vec(), vec![0; 4096]].concat());
        [count.to_le_bytes().to_vec(), pages.collect()].concat()
    };
    let files = [
        ("short.pages", vec![1, 2, 3]),
        ("cut.pages", file(2, &[0, 4096])[..5000].to_vec()),
        ("many.pages", file(u64::MAX, &[0])),
        ("odd.pages", file(1, &[100])),
        ("far.pages", file(1, &[8192])),
        ("descending.pages", file(2, &[4096, 0])),
        ("twice.pages", file(2, &[4096, 4096])),
    ];
    files.into_iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes).unwrap());
    folder
}

const PARAMS: &str = "params: [Alias(\"x\"), Alias(\"x\")]";

#[test]
fn memory_that_cannot_be_is_refused_at_its_place() {
    let memory = |entries: &str| mistakes(&format!("memory: [Memory(name: \"x\", len: 16, init: Zero),\n{entries}],\n{PARAMS}"));
    for (entries, expected) in [
        ("Memory(len: 4, init: Zero)", "3:1: memory has a name or an address, or both (name: \"a\" or at: 0x7f1234000000)"),
        (
            "Memory(name: \"x\", len: 4, init: Zero)",
            "3:14: buffer 'x' is defined twice [2:10: first defined here] (Alias(\"x\") names the same buffer again)",
        ),
        (
            "Memory(at: 0x500000000008, len: 4, init: Zero)",
            "3:12: 0x500000000008 is not a multiple of 16, and no allocation begins there (memory that begins elsewhere is a part of an allocation: Offset(\"a\", 8))",
        ),
        ("Memory(at: 0, len: 4, init: Zero)", "3:12: 4 bytes at 0x0 are not among the addresses of a device, 0x100 to 0x2000000000000"),
        (
            "Memory(at: 0xffffffffffffff00, len: 512, init: Zero)",
            "3:12: 512 bytes at 0xffffffffffffff00 are not among the addresses of a device, 0x100 to 0x2000000000000",
        ),
        (
            "Memory(name: \"a\", at: 0x500000000000, len: 257, init: Zero), Memory(at: 0x500000000100, len: 1, init: Zero)",
            "3:73: 0x500000000100 to 0x500000000101 overlaps 'a', which is 0x500000000000 to 0x500000000101 [3:23: the other one]",
        ),
        (
            "Memory(at: 0x500000000100, len: 1, init: Zero), Memory(at: 0x500000000000, len: 8192, init: Zero)",
            "3:60: 0x500000000000 to 0x500000002000 overlaps 'memory_500000000100', which is 0x500000000100 to 0x500000000101 [3:12: the other one]",
        ),
        (
            "Memory(at: 0x500000000000, len: 4, init: Zero), Memory(at: 0x500000000000, len: 4, init: Zero)",
            "3:49: buffer 'memory_500000000000' is defined twice [3:1: first defined here] (Alias(\"memory_500000000000\") names the same buffer again)",
        ),
        (
            "Memory(at: 0x7e3000000000, len: 4, init: Zero)",
            "3:12: 0x7e3000000000 to 0x7e3000000004 overlaps the window of shared memory, 0x7e3000000000 to 0x7e3010000000, where the module was placed (a module that is opened together with this file is placed elsewhere, if there is room)",
        ),
        ("Memory(name: \"a\", init: Zero)", "3:1: buffer 'a' needs 'len' or 'shape'"),
        ("Memory(name: \"a\", len: 4, init: Zero, compare: Multiset)", "3:48: 'compare' without 'expect' means nothing"),
        (
            "Memory(name: \"a\", len: 4, init: Zero, expect: Values([0, 0, 0, 0]), tolerance: Abs(0.5))",
            "3:80: elements of B8 are compared bit for bit; a tolerance needs a buffer of numbers",
        ),
    ] {
        assert_eq!(memory(entries), expected, "{entries}");
    }
}

#[test]
fn files_of_pages_are_whole_and_in_order() {
    for (file, expected) in [
        ("none", "cannot be read: no such file or directory"),
        ("short", "has 3 bytes, and a file of pages begins with 8 that say how many there are"),
        ("cut", "says that it has 2 pages, and its 5000 bytes hold 1"),
        ("many", "says that it has 18446744073709551615 pages, and its 4112 bytes hold 1"),
        ("odd", "page 0, at offset 100, is none of the memory, whose pages begin at multiples of 4096 below 8192"),
        ("far", "page 0, at offset 8192, is none of the memory, whose pages begin at multiples of 4096 below 8192"),
        ("descending", "page 1, at offset 0, follows the one at offset 4096: pages are in ascending order"),
        ("twice", "page 1, at offset 4096, follows the one at offset 4096: pages are in ascending order"),
    ] {
        let said = mistakes(&format!("memory: [Memory(name: \"x\", len: 8192, init: Pages(\"{file}.pages\"))],\n{PARAMS}"));
        let path = data().join(format!("{file}.pages")).display().to_string();
        assert_eq!(said, format!("2:51: '{path}' {expected}"), "{file}");
    }
    let variable =
        mistakes(&format!("memory: [Memory(name: \"x\", len: 4, init: Zero)], {PARAMS},\nvariables: {{\"first\": Pages(\"odd.pages\")}}"));
    assert_eq!(variable, "3:22: variable 'first' is known as a whole: Pages is for memory");
}

#[test]
fn what_stands_in_a_structure_lies_in_it() {
    let at = |parts: &str| {
        mistakes(&format!(
            "memory: [Memory(name: \"x\", len: 128, init: With(Zero,\nat: {{{parts}}})), Memory(name: \"y\", len: 4, init: Zero)],\n{PARAMS}"
        ))
    };
    for (parts, expected) in [
        ("121: Alias(\"y\")", "3:11: 8 bytes at byte 121 are outside buffer 'x', which has 128 bytes"),
        ("18446744073709551615: U8(1)", "3:28: 1 byte at byte 18446744073709551615 are outside buffer 'x', which has 128 bytes"),
        ("0: Alias(\"z\")", "3:9: there is no buffer 'z' yet (defined before this entry: x, y)"),
        ("0: Offset(\"y\", 5)", "3:9: offset 5 is outside buffer 'y', which has 4 bytes"),
        ("0: U32(1), 3: U8(1)", "3:17: byte 3 is one of the 4 bytes that stand at byte 0"),
        ("8: Bytes(\"0\")", "3:18: two hexadecimal digits make a byte, and there are 1"),
        ("8: Bytes(\"0000\", at: {1: U16(1)})", "3:34: 2 bytes at byte 1 are outside the structure, which has 2 bytes"),
        ("121: Sampler()", "3:11: 8 bytes at byte 121 are outside buffer 'x', which has 128 bytes"),
        ("0: Texture(buffer: Alias(\"y\"), shape: [8])", "3:9: the texels take 8 bytes, and buffer 'y' has 4 bytes"),
        (
            "8: TensorMap(buffer: Alias(\"y\"), elem: U32, dims: [4], strides: [], box: [4])",
            "3:9: the tensor has 16 bytes from first to last, and its buffer 4 bytes",
        ),
        (
            "64: Buffer(name: \"x\", elem: U8, len: 1, init: Zero)",
            "3:23: buffer 'x' is defined twice [2:10: first defined here] (Alias(\"x\") names the same buffer again)",
        ),
        ("0: U8(256)", "3:9: 256 does not fit U8, which holds 0 to 255"),
    ] {
        let said = at(parts);
        // Of a field that is wrong the innermost value is named; here only that it is the right mistake.
        let message = |text: &str| text.split_once(": ").map_or("", |(_, message)| message).to_string();
        assert_eq!(message(&said), message(expected), "{parts}: {said}");
        assert_eq!(said.split(':').next(), Some("3"), "{parts}: {said}");
    }
    let map = "64: TensorMap(buffer: Alias(\"y\"), elem: U32, dims: [16], strides: [], box: [4])";
    let misaligned = mistakes(&format!(
        "memory: [Memory(name: \"x\", len: 256, init: With(Zero, at: {{{}}})), Memory(name: \"y\", len: 64, init: Zero)], {PARAMS}",
        map.replacen("64", "32", 1)
    ));
    assert!(misaligned.ends_with(": a tensor map begins at a multiple of 64 bytes, not at byte 32"), "{misaligned}");
    let nested = mistakes(&format!("memory: [Memory(name: \"x\", len: 8, init: With(With(Zero, at: {{}}), at: {{}}))], {PARAMS}"));
    assert_eq!(nested, "2:47: what stands at some bytes is said once: With(Zero, at: {8: .., 16: ..})");
    let unnamed = mistakes(&format!("memory: [Memory(name: \"x\", len: 8, init: With(Zero, ad: {{}}))], {PARAMS}"));
    assert!(unnamed.starts_with("2:"), "{unnamed}");
}

#[test]
fn what_is_ignored_is_part_of_a_buffer() {
    let ignoring =
        |said: &str| mistakes(&format!("memory: [Memory(name: \"x\", len: 16, init: Zero)], {PARAMS},\nexpect_ignoring: {{{said}}}"));
    for (said, expected) in [
        ("\"y\": [(0, 4)]", "3:24: there is no buffer 'y' (buffers: x)"),
        ("\"x\": [(0, 4), (12, 5)]", "3:33: 5 bytes from byte 12 on are not in buffer 'x', which has 16 bytes"),
        ("\"x\": [(4, 0)]", "3:25: 0 bytes from byte 4 on are not in buffer 'x', which has 16 bytes"),
        ("\"x\": [(18446744073709551615, 1)]", "3:25: 1 byte from byte 18446744073709551615 on are not in buffer 'x', which has 16 bytes"),
    ] {
        assert_eq!(ignoring(said), expected, "{said}");
    }
    let twice = ignoring("\"x\": [(0, 4)], \"x\": [(8, 4)]");
    assert!(twice.starts_with("3:") && twice.contains("\"x\" stands there twice"), "{twice}");
}

#[test]
fn a_module_is_placed_beside_the_memory_that_its_launch_names() {
    let program = opened(&folder().join("window.ron")).program;
    let regions = program.map.regions(64);
    for at in [0x7e30_0000_0000_u64, 0x7e40_0000_0000, 0x7e20_0000_0000, 0x7e10_0000_0000, 0x7f20_0000_0000] {
        let hit = regions.iter().find(|(_, region)| region.contains(&at));
        assert_eq!(hit, None, "{at:#x}");
    }
    let usual = opened(&folder().join("list.ron")).program;
    assert_eq!(usual.map, ptxdbg::program::map::Map::default(), "nothing is named, so everything is where it always is");
}

#[test]
fn blocks_that_run_alone_are_blocks_of_the_grid() {
    let with = |fields: &str| {
        let text = format!(
            "Launch(module: \"pointers.ptx\", kernel: \"list_sum\", block: (1, 1, 1), memory: [Memory(name: \"x\", len: 16, init: Zero)], {PARAMS},\n{fields})"
        );
        let (program, _) = sema::load_file(&mut Sources::default(), &folder().join("pointers.ptx")).unwrap();
        let file = LaunchFile::parse("a.ron", &folder(), text).unwrap_or_else(|wrong| panic!("{}", described(&wrong.0, &wrong.1)));
        match plan(&file, &program.unwrap(), "pointers.ptx", &Overrides::default()) {
            Ok(plan) => plan.cases[0].name.clone(),
            Err(errors) => described(&file.sources, &errors),
        }
    };
    for (fields, expected) in [
        ("grid: (4, 2, 1), blocks: [(3, 1, 0), (0, 0, 0), (3, 1, 0)]", "launch, only 2 of 8 blocks"),
        ("grid: (4, 2, 1), blocks: [(0, 0, 0), (4, 0, 0)]", "2:38: the grid of (4, 2, 1) has no block (4, 0, 0)"),
        ("grid: (4, 2, 1), cluster: (2, 1, 1), blocks: [(2, 1, 0)]", "launch, only 2 of 8 blocks"),
        ("grid: (4, 2, 1), cluster: (2, 1, 1), blocks: [(2, 1, 0), (3, 1, 0)]", "launch, only 2 of 8 blocks"),
        ("grid: (4, 2, 1), blocks: []", "2:26: no block is named, and of a launch one runs at least (without 'blocks' all of them run)"),
        ("grid: (4, 2, 1), cooperative: true, blocks: [(0, 0, 0)]", "launch, only 1 of 8 blocks"),
    ] {
        assert_eq!(with(fields).replace("list_sum,", "launch,"), expected, "{fields}");
    }
}

/// What is wrong with modules that are linked.
fn link_mistakes(first: &str, second: &str) -> String {
    let text = |name: &str, body: &str| {
        let head = if body.starts_with(".version") { "" } else { ".version 8.0\n.target sm_90a\n.address_size 64\n" };
        (name.to_string(), format!("{head}{body}"))
    };
    let mut sources = Sources::default();
    let maps = ptxdbg::program::map::Maps::default();
    let (program, diagnostics) = sema::load_linked(&mut sources, vec![text("a.ptx", first), text("b.ptx", second)], &maps);
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    assert_eq!(program.is_some(), errors.is_empty());
    let named = |span: ptxdbg::base::Span| {
        let place = sources.position(span);
        format!("{}:{}:{}", sources.file(span.source).name(), place.line, place.column)
    };
    let line = |error: &&Diagnostic| {
        let labels: String = error.labels.iter().map(|label| format!(" [{}: {}]", named(label.span), label.text)).collect();
        format!("{}: {}{labels}", named(error.span), error.message)
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A module that goes with all others of its target.
const KERNEL: &str = ".visible .entry k() { ret; }";

/// Two modules, and what is said of them.
const LINKED: &[(&str, &str, &str)] = &[
    (KERNEL, KERNEL, "b.ptx:4:17: 'k' is defined in two of the modules [a.ptx:4:17: the other definition]"),
    (
        ".visible .global .u32 x = 1;",
        ".visible .global .u32 x = 2;",
        "b.ptx:4:23: 'x' is defined in two of the modules [a.ptx:4:23: the other definition]",
    ),
    (".weak .global .u32 x = 1;", ".visible .global .u32 x = 2;", ""),
    (".visible .global .u32 x = 1;", ".weak .global .u32 x = 2;", ""),
    (".global .u32 x = 1;", ".global .u64 x = 2;", ""),
    (".global .u32 x = 1;", ".visible .global .u64 x = 2;", ""),
    (
        ".extern .global .u32 x;",
        ".visible .global .u64 x = 2;",
        "b.ptx:4:23: 'x' has another type here than in another module [a.ptx:4:22: the other one]",
    ),
    (
        ".visible .global .u64 x = 2;",
        ".extern .global .u32 x;",
        "b.ptx:4:22: 'x' has another type here than in another module [a.ptx:4:23: the other one]",
    ),
    (
        ".visible .global .u32 x[4];",
        ".extern .global .u32 x[5];",
        "b.ptx:4:22: 'x' has another length here than in another module [a.ptx:4:23: the other one]",
    ),
    (
        ".visible .global .u32 x[] = {1, 2, 3};",
        ".extern .global .u32 x[4];",
        "b.ptx:4:22: 'x' has another length here than in another module [a.ptx:4:23: the other one]",
    ),
    (".visible .global .u32 x[] = {1, 2, 3};", ".extern .global .u32 x[3];", ""),
    (".visible .global .u32 x[4][2];", ".extern .global .u32 x[][2];", ""),
    (
        ".visible .global .u32 x[4][2];",
        ".extern .global .u32 x[][3];",
        "b.ptx:4:22: 'x' has another length here than in another module [a.ptx:4:23: the other one]",
    ),
    (
        ".visible .global .u32 x[4];",
        ".extern .global .u32 x;",
        "b.ptx:4:22: 'x' has another type here than in another module [a.ptx:4:23: the other one]",
    ),
    (
        ".visible .const .u32 x = 2;",
        ".extern .global .u32 x;",
        "b.ptx:4:22: 'x' has another state space here than in another module [a.ptx:4:22: the other one]",
    ),
    (
        ".extern .global .u32 x;",
        ".extern .global .f32 x;",
        "b.ptx:4:22: 'x' has another type here than in another module [a.ptx:4:22: the other one]",
    ),
    (
        ".weak .global .u32 x = 1;",
        ".weak .global .v2 .u32 x;",
        "b.ptx:4:24: 'x' has another type here than in another module [a.ptx:4:20: the other one]",
    ),
    (".common .global .u32 x[4];", ".common .global .u32 x[2];", ""),
    (".common .global .u32 x;", ".common .global .f32 x;", ""),
    (".common .global .b8 x[4];", ".common .global .u32 x;", ""),
    (".weak .global .u32 x[4] = {5};", ".common .global .u32 x;", ""),
    (
        ".weak .global .u32 x = 5;",
        ".common .global .u32 x[4];",
        "b.ptx:4:22: 'x' has another length here than in another module [a.ptx:4:20: the other one]",
    ),
    (
        ".weak .global .u32 x[2] = {5};",
        ".weak .global .u32 x[4];",
        "b.ptx:4:20: 'x' has another length here than in another module [a.ptx:4:20: the other one]",
    ),
    (".extern .shared .f32 x[];", ".extern .shared .align 16 .b8 x[];", ""),
    (
        ".common .global .u32 x[4];",
        ".visible .global .u32 x[2];",
        "b.ptx:4:23: 'x' has another length here than in another module [a.ptx:4:22: the other one]",
    ),
    (
        ".visible .func f(.param .u32 v) { ret; }",
        ".extern .func f(.param .u64 v);",
        "b.ptx:4:15: 'f' is declared differently before: the type of 'v' [a.ptx:4:16: the first declaration is here]",
    ),
    (
        ".extern .func f(.param .u64 v);",
        ".visible .func f(.param .u32 v) { ret; }",
        "b.ptx:4:16: 'f' is declared differently before: the type of 'v' [a.ptx:4:15: the first declaration is here]",
    ),
    (
        ".visible .func f(.param .u32 v) { ret; }",
        ".extern .func (.param .u32 r) f(.param .u32 v);",
        "b.ptx:4:31: 'f' is declared differently before: the number of parameters [a.ptx:4:16: the first declaration is here]",
    ),
    (
        ".weak .func f(.param .u32 v) { ret; }",
        ".weak .func f(.reg .u32 v) { ret; }",
        "b.ptx:4:13: 'f' is declared differently before: the state space of 'v' [a.ptx:4:13: the first declaration is here]",
    ),
    (
        ".visible .entry k(.param .u32 v) { ret; }",
        ".weak .entry k(.param .u64 v) { ret; }",
        "b.ptx:4:14: 'k' is declared differently before: the type of 'v' [a.ptx:4:17: the first declaration is here]",
    ),
    (".visible .func f(.param .u32 v) { ret; }", ".extern .func f(.param .u32 other);", ""),
    (
        ".visible .func f(.param .u32 v) { ret; }",
        ".visible .global .u32 f;",
        "b.ptx:4:23: 'f' is defined in two of the modules [a.ptx:4:16: the other definition]\n\
         b.ptx:4:23: 'f' is a function in one module and a variable in another [a.ptx:4:16: the other one]",
    ),
    (
        ".extern .func f;",
        ".visible .global .u32 f;",
        "b.ptx:4:23: 'f' is a function in one module and a variable in another [a.ptx:4:15: the other one]",
    ),
    (
        ".extern .global .u32 x;",
        ".global .u32 x = 5;",
        "a.ptx:4:22: 'x' is declared '.extern' but defined in none of the modules [b.ptx:4:14: this one is seen in its own module alone]",
    ),
    (".extern .global .u32 x;", KERNEL, "a.ptx:4:22: 'x' is declared '.extern' but defined in none of the modules"),
    (
        KERNEL,
        ".version 8.0\n.target sm_80\n.address_size 64\n",
        "b.ptx:1:1: this module is for sm_80, and those before it for sm_90a [a.ptx:1:1: the first one]",
    ),
    (KERNEL, ".version 8.0\n.target sm_90\n.address_size 64\n", ""),
    (".version 8.0\n.target sm_80\n.address_size 64\n", ".version 8.0\n.target sm_86\n.address_size 64\n", ""),
    (".version 8.8\n.target sm_103\n.address_size 64\n", ".version 8.8\n.target sm_100f\n.address_size 64\n", ""),
    (
        ".version 8.8\n.target sm_103\n.address_size 64\n",
        ".version 8.8\n.target sm_100a\n.address_size 64\n",
        "b.ptx:1:1: this module is for sm_100a, and those before it for sm_103 [a.ptx:1:1: the first one]",
    ),
    (
        ".extern .func f(.reg .u32 v);\n.visible .entry k() { call f, (5); ret; }",
        ".func f(.reg .u32 v) { ret; }",
        "a.ptx:5:28: 'f' is called, but defined in none of the modules [a.ptx:4:15: declared here] \
         [b.ptx:4:7: this one is seen in its own module alone]",
    ),
    (".extern .func f(.reg .u32 v);", KERNEL, ""),
    (
        ".extern .func (.param .u32 r) vprintf(.param .u64 f, .param .u64 v);\n.visible .entry k() { .param .u64 p, q; .param .u32 r; \
         st.param.u64 [p], 0; st.param.u64 [q], 0; call (r), vprintf, (p, q); ret; }",
        ".visible .global .u32 x;",
        "",
    ),
    (
        KERNEL,
        ".version 8.0\n.target sm_90a\n.address_size 32\n",
        "b.ptx:1:1: this module is for addresses of 32 bits, and those before it for addresses of 64 bits [a.ptx:1:1: the first one]",
    ),
];

#[test]
fn modules_that_do_not_go_together_are_refused_with_both_places() {
    for (first, second, expected) in LINKED {
        assert_eq!(link_mistakes(first, second), *expected, "{first} {second}");
    }
    let both = "Launch(module: \"a.ptx\", modules: [\"b.ptx\"], kernel: \"list_sum\", grid: (1, 1, 1), block: (1, 1, 1), params: [U64(1), U64(2)])";
    let file = LaunchFile::parse("a.ron", &folder(), both.to_string()).unwrap_or_else(|wrong| panic!("{}", described(&wrong.0, &wrong.1)));
    let (program, _) = sema::load_file(&mut Sources::default(), &folder().join("pointers.ptx")).unwrap();
    let errors = plan(&file, &program.unwrap(), "a.ptx", &Overrides::default()).unwrap_err();
    assert_eq!(described(&file.sources, &errors), "1:34: a launch file has either 'module' or 'modules'");
}

/// What a thread reads of a variable that several modules define, as nvlink 13.0 links them.
#[test]
fn of_several_definitions_the_one_that_the_linker_takes_counts() {
    let chosen = |texts: [&str; 2]| {
        let texts = texts
            .iter()
            .zip(["a.ptx", "b.ptx"])
            .map(|(body, name)| (name.to_string(), format!(".version 8.0\n.target sm_90a\n.address_size 64\n{body}\n")));
        let maps = ptxdbg::program::map::Maps::default();
        let (program, diagnostics) = sema::load_linked(&mut Sources::default(), texts.collect(), &maps);
        let program = program.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let all: Vec<_> = program.variables.iter().filter(|variable| &*variable.name == "x").collect();
        assert_eq!(all.len(), 1);
        (all[0].bytes, all[0].init.clone())
    };
    let (weak, common) = (".weak .global .u32 x = 5;", ".common .global .u32 x;");
    for (texts, expected) in [
        ([weak, common], (4, vec![5, 0, 0, 0])),
        ([common, weak], (4, vec![5, 0, 0, 0])),
        ([weak, ".weak .global .u32 x = 6;"], (4, vec![5, 0, 0, 0])),
        ([weak, ".visible .global .u32 x;"], (4, vec![])),
        ([common, ".visible .global .u32 x[4] = {7};"], (16, vec![7])),
        ([common, ".common .global .b8 x[64];"], (64, vec![])),
    ] {
        let (bytes, mut init) = chosen(texts);
        init.truncate(expected.1.len().max(init.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)));
        assert_eq!((bytes, init), expected, "{texts:?}");
    }
}

#[test]
fn places_in_linked_modules_are_named_by_their_file() {
    let program = opened(&folder().join("linked.ron")).program;
    let files: std::collections::BTreeSet<String> =
        (0..program.code.len()).map(|pc| program.place(ptxdbg::program::Pc::new(pc)).split(':').next().unwrap().to_string()).collect();
    assert_eq!(files.into_iter().collect::<Vec<_>>(), ["linked_a.ptx", "linked_b.ptx"]);
    let names: Vec<&str> = program.functions.iter().map(|function| &*function.name).collect();
    assert!(names.contains(&"helper") && names.contains(&"helper$2"), "{names:?}");
}
