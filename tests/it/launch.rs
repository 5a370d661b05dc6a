//! Launch files: every fixture is read and fits its module, and every kind of mistake is reported with its place and the way out.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use ptxdbg::base::{Diagnostic, Sources};
use ptxdbg::launch::{LaunchFacts, LaunchFile, LaunchFileError, Overrides, Plan, Study, npy, plan};
use ptxdbg::program::Program;
use ptxdbg::sema;

/// What the launches below are held against.
const MODULE: &str = "
.version 9.0
.target sm_90a
.address_size 64
.const .align 4 .b8 table[16];
.const .align 4 .f32 factors[2] = {1.0, 2.0};
.global .align 4 .u32 counter;
.func helper() { ret; }
.visible .entry scale(.param .u64 x, .param .u32 n, .param .align 4 .b8 pair[8])
{
    .reg .u64 %x;
    .reg .f32 %f;
    ld.param.u64 %x, [x];
    ld.global.f32 %f, [%x];
    ret;
}
.visible .entry other() { ret; }
";

fn program(text: &str) -> Arc<Program> {
    let (program, diagnostics) = sema::load(&mut Sources::default(), "module.ptx", text);
    program.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// A folder of data files: `eight.bin` of 8 bytes, and `.npy` files.
fn folder() -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(make_folder);
    FOLDER.clone()
}

fn make_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("launch");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("eight.bin"), [0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let floats = [npy::header_bytes(ptxdbg::launch::Element::F32, &[2, 3]), vec![0; 24]].concat();
    std::fs::write(folder.join("floats.npy"), &floats).unwrap();
    std::fs::write(folder.join("short.npy"), &floats[..floats.len() - 1]).unwrap();
    let big: Vec<u8> = floats.iter().map(|byte| if *byte == b'<' { b'>' } else { *byte }).collect();
    std::fs::write(folder.join("big_endian.npy"), big).unwrap();
    folder
}

fn read(text: &str) -> Result<Plan, (Sources, Vec<Diagnostic>)> {
    let file = LaunchFile::parse("a.ron", &folder(), text.to_string()).map_err(|wrong| *wrong)?;
    let plan = plan(&file, &program(MODULE), "module.ptx", &Overrides::default());
    plan.map_err(|errors| (file.sources.clone(), errors))
}

/// What is wrong with the launch file `text`: `line:column: message (help)`, a line each.
fn mistakes(text: &str) -> String {
    let (sources, errors) = read(text).expect_err("the launch file is accepted");
    let show = |error: &Diagnostic| {
        let place = sources.position(error.span);
        let help = error.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}:{}: {}{help}", place.line, place.column, error.message)
    };
    let folder = format!("{}{}", folder().display(), std::path::MAIN_SEPARATOR);
    errors.iter().map(show).collect::<Vec<_>>().join("\n").replace(&folder, "")
}

/// A launch of `scale` with these parameters, which start in column 10 of line 2.
fn launch(params: &str) -> String {
    format!("Launch(kernel: \"scale\", grid: (1, 1, 1), block: (32, 1, 1),\nparams: [{params}])")
}

/// A launch of `scale` whose first parameter is this buffer.
fn buffer(fields: &str) -> String {
    launch(&format!("Buffer({fields}), U32(1), Bytes(\"0011223344556677\")"))
}

#[track_caller]
fn assert_mistakes(cases: &[(String, &str)]) {
    let described = cases.iter().map(|(text, expected)| (text, mistakes(text), *expected));
    let wrong = described.filter(|(_, described, expected)| described != expected);
    let wrong: Vec<String> =
        wrong.map(|(text, described, expected)| format!("{text}\n  reported: {described}\n  expected: {expected}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_fixture_is_read_and_fits_its_module() {
    for folder in ["hardware", "programs", "faults", "small"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "ron")) {
            let file = LaunchFile::read(&path).unwrap();
            let (program, _) = sema::load_file(&mut Sources::default(), &file.folder.join(file.module().unwrap())).unwrap();
            let plan = plan(&file, &program.unwrap(), "module.ptx", &Overrides::default());
            assert!(plan.is_ok_and(|plan| !plan.cases.is_empty()), "{}", path.display());
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hardware/warp.ron")).unwrap();
    let file = LaunchFile::parse("a.ron", Path::new(""), text).unwrap();
    let again = LaunchFile::parse("b.ron", Path::new(""), file.content.to_text()).unwrap();
    assert_eq!(file.content, again.content);
}

#[test]
fn a_file_that_is_no_launch_file_is_refused_at_its_place() {
    let ends = "the file ends before it is complete (a launch file is one Launch(..), Suite(..) or Sequence(..))";
    let empty = "the file is empty ('ptxdbg --batch KERNEL.ptx' prints a made-up launch: save the lines up to the first empty one)";
    let range = "this number is out of range (sizes and counts are whole numbers that are not negative: extents are below 2^32, a Byte is 0 to 255)";
    let fields = "fields: module, modules, kernel, grid, block, cluster, dynamic_shared, cooperative, blocks, memory, params, bind, handles, variables, variable_types, expect_variables, variable_tolerances, expect_ignoring, printed, findings";
    let elements = "types: U8 S8 B8 U16 S16 B16 U32 S32 B32 U64 S64 B64 F16 BF16 F32 F64";
    assert_mistakes(&[
        (String::new(), &format!("1:1: {empty}")),
        ("\n// nothing yet\n".to_string(), &format!("2:15: {empty}")),
        (
            "Launch(grid: (1, 1, 1), block: (1, 1, 1), params: []) x".to_string(),
            "1:54: the file goes on after its end (a launch file is one Launch(..), Suite(..) or Sequence(..): delete the rest, or make it a comment)",
        ),
        ("Launch(".to_string(), &format!("1:7: {ends}")),
        (
            "{\"grid\": [1, 1, 1]}".to_string(),
            "1:1: the file starts with '{', and this is RON, not JSON (a launch file is one Launch(..), Suite(..) or Sequence(..))",
        ),
        ("Launch(grid: (1, 1, 1), grid: (1, 1, 1))".to_string(), "1:25: field 'grid' of Launch is given twice"),
        ("Lunch()".to_string(), "1:1: 'Lunch' is none of what can stand here (expected one of Launch, Suite, Sequence)"),
        (
            "Launch(\n  grids: (1, 1, 1), grid: (1, 1, 1), block: (1, 1, 1), params: [])".to_string(),
            &format!("2:3: there is no field 'grids' of Launch (did you mean 'grid'? {fields})"),
        ),
        (
            "Launch(grid: (1, 1, 1))".to_string(),
            "1:23: field 'block' of Launch is missing (for one: block: (32, 1, 1))\n\
             1:23: field 'params' of Launch is missing (for one: params: [])",
        ),
        ("Launch(grid: (1, -1, 1))".to_string(), &format!("1:19: {range}")),
        ("Launch(grid: (1, 4294967296, 1))".to_string(), &format!("1:18: {range}")),
        (launch("U32(\"one\")"), "2:15: expected a number but found the string \"one\" instead"),
        (buffer("name: \"x\", elem: F8, len: 8, init: Zero"), &format!("2:34: 'F8' is not a type of element ({elements})")),
        (buffer("name: \"x\", elem: U8, len: -8, init: Zero"), &format!("2:44: {range}")),
        (buffer("name: \"x\", elem: U8, len: 8, init: Byte(256)"), &format!("2:57: {range}")),
    ]);
}

#[test]
fn mistakes_of_hand_written_files_are_reported_all_at_once_with_a_way_out() {
    let text = "Launch(
  kernel: scale,
  grid: (3, 3),
  block: 8x4,
  params: [
    Buffer(name: \"a\", elem: f32, shape: 40x48, init: random),
    Buffer(name: \"b\", elem: float, len: 40x48, init: A.npy, expect: \"B.npy\"),
    Buffer(name: \"c\", elem: F32, shape: (40, 48)), // the rest is zero
    Buffer(name: \"d\", elem: F32, len: 4, init: 1.5),
    Buffer(name: \"e\", elem: F32, init: [1, 2], ),
    Buffer(name: \"f\", elem: F32, init: Values([1]), expect: Values([1]), tolerance: 1e-4)
    40,
    1.5,
    n: 40,
    s32=-7,
    x.npy,
  ],
)";
    let of_contents = "does not say what a buffer holds";
    let of_params = "does not say what a parameter is";
    let written =
        |right: &str| format!("(a parameter is written with its type, such as {right}; parameters have no names, they stand in order)");
    let expected = [
        "2:11: 'scale' is not a string (kernel: \"scale\")".to_string(),
        "3:9: '(3, 3)' is not three extents, x, y and z (grid: (3, 3, 1))".to_string(),
        "4:10: '8x4' is not three extents, x, y and z (block: (8, 4, 1))".to_string(),
        "6:29: 'f32' is not a type of element (elem: F32)".to_string(),
        "6:41: '40x48' is not a list of extents (shape: [40, 48])".to_string(),
        format!("6:54: 'random' {of_contents} (init: Random(seed: 0, low: 0, high: 1))"),
        "7:29: 'float' is not a type of element (elem: F32)".to_string(),
        "7:41: '40x48' is not one number (shape: [40, 48], in place of len)".to_string(),
        format!("7:54: 'A.npy' {of_contents} (init: File(\"A.npy\"))"),
        format!("7:69: '\"B.npy\"' {of_contents} (expect: File(\"B.npy\"))"),
        "8:41: '(40, 48)' is not a list of extents (shape: [40, 48])".to_string(),
        "8:49: field 'init' of Buffer is missing (for one: init: Zero)".to_string(),
        format!("9:48: '1.5' {of_contents} (init: Fill(1.5))"),
        format!("10:40: '[1, 2]' {of_contents} (init: Values([1, 2]))"),
        "11:85: '1e-4' is a bound, and not of what (tolerance: Rel(1e-4), or Abs(1e-4), Ulp(2))".to_string(),
        "12:5: a comma is missing before this (a comma stands between two values: a, b)".to_string(),
        format!("12:5: '40' {of_params} {}", written("U32(40)")),
        format!("13:5: '1.5' {of_params} {}", written("F32(1.5)")),
        format!("14:5: 'n: 40' {of_params} {}", written("U32(40)")),
        format!("15:5: 's32=-7' {of_params} {}", written("S32(-7)")),
        format!("16:5: 'x.npy' {of_params} {}", written("Buffer(name: \"x\", elem: F32, init: File(\"x.npy\"))")),
    ];
    assert_eq!(mistakes(text).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn fields_that_are_missing_or_misspelt_are_reported_all_at_once() {
    let text = "Launch(
  kernel: 'scale',
  Grid: (1, 1, 1),
  block: (32, 1, 1),
  shared: 64,
  param: [
    Buffer(name: \"a\", elem: F32, len: \"1000\", init: Random(seed: 1)),
    Buffer(name: \"b\", elem: F32, init: Random(), expect: Values([1])),
  ],
)";
    let launch = "fields: module, modules, kernel, grid, block, cluster, dynamic_shared, cooperative, blocks, memory, params, bind, handles, variables, variable_types, expect_variables, variable_tolerances, expect_ignoring, printed, findings";
    let expected = [
        "2:11: 'scale' is not a string (kernel: \"scale\")".to_string(),
        format!("3:3: there is no field 'Grid' of Launch (did you mean 'grid'? {launch})"),
        format!("5:3: there is no field 'shared' of Launch (did you mean 'dynamic_shared'? {launch})"),
        format!("6:3: there is no field 'param' of Launch (did you mean 'params'? {launch})"),
        "7:39: \"1000\" is a string, not a number (len: 1000)".to_string(),
        "7:67: field 'low' of Random is missing (for one: low: 0)".to_string(),
        "7:67: field 'high' of Random is missing (for one: high: 1)".to_string(),
        "8:47: field 'seed' of Random is missing (for one: seed: 1)".to_string(),
        "8:47: field 'low' of Random is missing (for one: low: 0)".to_string(),
        "8:47: field 'high' of Random is missing (for one: high: 1)".to_string(),
    ];
    assert_eq!(mistakes(text).lines().collect::<Vec<_>>(), expected);
    // A buffer without a size has no size that what is expected of it could miss.
    let unsized_buffer = buffer("name: \"x\", elem: F32, init: Zero, expect: Values([1, 2])");
    assert_eq!(mistakes(&unsized_buffer), "2:10: buffer 'x' needs 'len' or 'shape'");
}

#[test]
fn kernels_are_named_and_exist() {
    let of = |kernel: &str| format!("Launch({kernel} grid: (1, 1, 1), block: (1, 1, 1), params: [])");
    assert_mistakes(&[
        (of("kernel: \"scael\","), "1:16: there is no kernel 'scael' (the module has scale, other)"),
        (of("kernel: \"helper\","), "1:16: 'helper' is a function, not a kernel (the module has scale, other)"),
        (of(""), "1:1: several kernels and none chosen (the module has scale, other)"),
        ("Suite(module: \"a.ptx\", launches: [])".to_string(), "1:34: there is no launch"),
    ]);
}

#[test]
fn extents_are_not_zero() {
    let text = "Launch(kernel: \"other\", grid: (1, 0, 1), block: (0, 1, 1),\n cluster: (0, 0, 0), params: [])";
    let expected = "1:31: no extent of the grid can be 0\n1:49: no extent of the block can be 0\n2:11: no extent of the cluster can be 0";
    assert_eq!(mistakes(text), expected);
}

#[test]
fn parameters_are_as_many_and_as_large_as_the_kernel_wants() {
    let x = "Buffer(name: \"x\", elem: F32, len: 4, init: Zero)";
    let missing = "2:9: kernel 'scale' has 3 parameters, and 1 is given (missing: 'n' (.u32), 'pair' (.b8[8]))";
    assert_mistakes(&[
        (launch(x), missing),
        (launch(&format!("{x}, U32(1), Bytes(\"0011223344556677\"),\nU32(2)")), "3:1: params[3]: kernel 'scale' has only 3 parameters"),
        (
            launch(&format!("{x}, F64(1.0), Bytes(\"0011223344556677\")")),
            "2:60: params[1]: kernel parameter 'n' is .u32 (4 bytes); F64 has 8 bytes",
        ),
        (
            launch(&format!("{x}, Alias(\"x\"), Bytes(\"00112233445566\")")),
            "2:60: params[1]: kernel parameter 'n' is .u32 (4 bytes); an address has 8 bytes\n\
             2:72: params[2]: kernel parameter 'pair' is .b8[8] (8 bytes); 7 bytes are given",
        ),
        (
            launch("U32(1), U32(-1), Bytes(\"00112233445566 7\")"),
            "2:10: params[0]: kernel parameter 'x' is .u64 (8 bytes); U32 has 4 bytes\n2:18: -1 does not fit U32, which holds 0 to 4294967295\n2:27: two hexadecimal digits make a byte, and there are 15",
        ),
        (
            launch("U64(1.5), U32(NaN), Bytes(\"0g\")"),
            "2:10: 1.5 is not an integer, and U64 holds integers only\n2:20: NaN is not an integer, and U32 holds integers only\n2:30: 'g' is not a hexadecimal digit",
        ),
    ]);
}

#[test]
fn names_of_buffers_are_defined_once_and_before_their_use() {
    let rest = "U32(1), Bytes(\"0011223344556677\")";
    assert_mistakes(&[
        (launch(&format!("Alias(\"y\"), {rest}")), "2:10: there is no buffer 'y' yet (no buffer is defined before this entry)"),
        (
            format!(
                "Sequence(module: \"m\", launches: [\n{0},\n{0}])",
                launch(&format!("Buffer(name: \"x\", elem: U8, len: 1, init: Zero), {rest}"))
            ),
            "5:23: buffer 'x' is defined twice (Alias(\"x\") names the same buffer again)",
        ),
        (
            format!(
                "Sequence(module: \"m\", launches: [\n{},\n{},\n{}])",
                launch(&format!("Buffer(name: \"x\", elem: U8, len: 16, init: Zero), {rest}")),
                launch(&format!("Offset(\"x\", 17), {rest}")),
                launch(&format!("Offset(\"x\", -1), {rest}"))
            ),
            "5:10: offset 17 is outside buffer 'x', which has 16 bytes\n7:10: offset -1 is outside buffer 'x', which has 16 bytes",
        ),
    ]);
}

#[test]
fn sizes_of_buffers_can_be() {
    let gib = "2:43: buffer 'x' would have more than 141 GiB, the memory of the device";
    assert_mistakes(&[
        (buffer("name: \"x\", elem: U8, init: Zero"), "2:10: buffer 'x' needs 'len' or 'shape'"),
        (buffer("name: \"x\", elem: U8, len: 4, shape: [4], init: Zero"), "2:53: a buffer has either 'len' or 'shape'"),
        (buffer("name: \"x\", elem: U8, len: 1000000000000000000, init: Zero"), gib),
        (buffer("name: \"x\", elem: F64, len: 18446744073709551615, init: Zero"), &gib.replace(":43", ":44")),
        (
            buffer("name: \"x\", elem: U8, len: 20000000000, init: Iota(start: 0, step: 1)"),
            "2:10: the buffers up to this one are filled with more than 16 GiB of different elements (Zero, Byte and Uninit buffers take \
             memory only where the kernel touches them)",
        ),
    ]);
}

#[test]
fn contents_fit_their_buffer() {
    let x = |rest: &str| buffer(&format!("name: \"x\", elem: U16, {rest}"));
    assert_mistakes(&[
        (x("len: 4, init: Fill(70000)"), "2:58: 70000 does not fit U16, which holds 0 to 65535"),
        (x("len: 4, init: Iota(start: 0.5, step: 1)"), "2:53: U16 holds integers only, so 'start' and 'step' must be integers"),
        (x("len: 4, init: Random(seed: 1, low: 9, high: 3)"), "2:53: 'low' (9) is above 'high' (3)"),
        (x("len: 4, init: Random(seed: 1, low: -1, high: 3)"), "2:74: -1 does not fit U16, which holds 0 to 65535"),
        (x("len: 4, init: Values([1, 2, 3])"), "2:53: buffer 'x' has 4 elements, and 3 are given"),
        (x("init: Values([1, 2,\n 65536])"), "3:2: 65536 does not fit U16, which holds 0 to 65535"),
        (x("len: 3, init: File(\"eight.bin\")"), "2:53: 'eight.bin' has 8 bytes, and 6 are wanted (buffer 'x')"),
        (
            x("len: 3, init: Slice(file: \"eight.bin\", offset: 4)"),
            "2:53: 'eight.bin' has 8 bytes, and 6 from byte 4 on are wanted (buffer 'x')",
        ),
        (
            x("len: 1, init: Slice(file: \"eight.bin\", offset: 18446744073709551615)"),
            "2:53: 'eight.bin' has 8 bytes, and 2 from byte 18446744073709551615 on are wanted (buffer 'x')",
        ),
        (x("len: 3, init: File(\"nine.bin\")"), "2:58: 'nine.bin' cannot be read: no such file or directory"),
        (x("len: 3, init: File(\".\")"), "2:58: '.' is not a regular file"),
        (
            x("init: File(\"floats.npy\")"),
            "2:45: 'floats.npy' holds elements of type f32, and the buffer is of u16 (buffer 'x') (save it with np.save(\"floats.npy\", x.astype(np.int16)))",
        ),
        (
            buffer("name: \"x\", elem: F32, len: 5, init: File(\"floats.npy\")"),
            "2:53: 'floats.npy' has shape [2, 3], and 5 elements are wanted (buffer 'x')",
        ),
        (buffer("name: \"x\", elem: F32, init: File(\"short.npy\")"), "2:45: 'short.npy' ends before its last element (buffer 'x')"),
        (x("init: File(\"big_endian.npy\")"), "2:50: 'big_endian.npy' holds big-endian elements (>f4); save a little-endian copy"),
    ]);
}

#[test]
fn expectations_can_be_compared() {
    let x = |elem: &str, rest: &str| buffer(&format!("name: \"x\", elem: {elem}, len: 2, init: Zero, {rest}"));
    let finite = "a tolerance is a finite number that is not negative";
    assert_mistakes(&[
        (x("F32", "tolerance: Ulp(1)"), "2:70: a tolerance without 'expect' means nothing"),
        (x("F32", "expect: Zero"), "2:67: 'expect' is Values, File, Slice or Pages"),
        (x("F32", "expect: Values([1])"), "2:67: buffer 'x' has 2 elements, and 1 are given"),
        (x("F32", "expect: Values([1, 2]), tolerance: Abs(NaN)"), &format!("2:94: {finite}")),
        (x("F32", "expect: Values([1, 2]), tolerance: AbsOrRel(0.0, -1.0)"), &format!("2:94: {finite}")),
        (
            x("B32", "expect: Values([1, 2]), tolerance: Rel(0.5)"),
            "2:94: elements of B32 are compared bit for bit; a tolerance needs a buffer of numbers",
        ),
    ]);
}

#[test]
fn variables_are_of_the_module_and_hold_what_is_given() {
    let params = "Buffer(name: \"x\", elem: F32, len: 4, init: Zero), U32(1), Bytes(\"0011223344556677\")";
    let with = |fields: &str| format!("Launch(kernel: \"scale\", grid: (1, 1, 1), block: (32, 1, 1), params: [{params}],\n{fields})");
    let plan = |fields: &str| {
        read(&with(fields)).map(|plan| plan.cases[0].launches[0].variables.iter().map(|given| given.bytes).collect::<Vec<_>>())
    };
    let bytes = |fields: &str| plan(fields).unwrap_or_else(|_| panic!("{}", mistakes(&with(fields))));
    assert_eq!(bytes("variables: {\"factors\": Values([0.5]), \"counter\": Values([7])}"), [4, 4]);
    assert_eq!(bytes("variables: {\"table\": Values([0.5, 1])}, variable_types: {\"table\": F32}"), [8]);
    assert_eq!(bytes("variables: {\"table\": File(\"eight.bin\")}"), [8]);
    assert_eq!(bytes("variables: {\"table\": Random(seed: 1, low: 0, high: 1)}, variable_types: {\"table\": F32}"), [16]);
    assert_eq!(bytes("variable_types: {\"table\": F32}"), [0; 0]);
    for (fields, message) in [
        ("variables: {\"tabel\": Zero}", "there is no .const or .global variable 'tabel' (variables: table, factors, counter)"),
        ("variables: {\"factors\": Values([1, 2, 3])}", "3 elements of f32 for variable 'factors', which has 8 bytes"),
        ("variables: {\"factors\": Uninit}", "variable 'factors' is never uninitialized: without a value it is zero"),
        ("variables: {\"table\": Values([1])}", "variable 'table' is declared by the byte, and nothing says which elements these are"),
        ("variable_types: {\"tabel\": F32}", "there is no .const or .global variable 'tabel' (variables: table, factors, counter)"),
        ("variables: {\"counter\": Values([0.5])}", "0.5 is not an integer, and U32 holds integers only"),
        (
            "variables: {\"counter\": Values([1])}, variable_types: {\"counter\": F64}",
            "1 element of f64 for variable 'counter', which has 4 bytes",
        ),
    ] {
        let said = mistakes(&with(fields));
        assert!(said.contains(message) && said.lines().count() == 1, "{fields}: {said}");
    }
}

#[test]
fn sequences_and_suites_say_things_where_they_belong() {
    let other = |rest: &str| format!("Launch(kernel: \"other\", grid: (1, 1, 1), block: (1, 1, 1), params: [], {rest})");
    assert_mistakes(&[
        (
            format!("Suite(launches: [{}])", other("module: \"m\"")),
            "1:97: the module is the same for all launches: name it beside 'launches'",
        ),
        (
            format!("Suite(printed: File(\"x\"), launches: [{}])", other("")),
            "1:16: the launches of a Suite are independent: say what each one prints in it",
        ),
        (
            format!("Sequence(launches: [{}])", other("printed: File(\"x\")")),
            "1:101: what a Sequence prints is compared as a whole: say it beside 'launches'",
        ),
        (format!("Sequence(printed: Zero, launches: [{}])", other("")), "1:19: 'printed' is a File"),
    ]);
}

#[test]
fn places_are_found_past_strings_and_comments() {
    let text = "// a ( comment\nLaunch(/* [ /* nested */ ( */ kernel: \"other\", grid: (1, 1, 1), // ,\n block: (1, 1, 1), module: r#\"a\",\"(\"#,\n\
                params: [Alias(\"\\\"),(\"), /* , */ Alias(r\"z\")])";
    let none = "(no buffer is defined before this entry)";
    let expected = format!("4:10: there is no buffer '\"),(' yet {none}\n4:10: params[0]: kernel 'other' has no parameters");
    assert_eq!(mistakes(text), expected);
}

#[test]
fn npy_files_bring_their_shape() {
    let plan = read(&buffer("name: \"x\", elem: F32, init: File(\"floats.npy\")")).unwrap();
    assert_eq!(plan.cases[0].buffers[0].shape, [2, 3]);
}

#[test]
fn a_launch_outside_the_bounds_is_planned_and_says_so() {
    let module = ".version 9.0 .target sm_90a .address_size 64\n.visible .entry k() .maxntid 64, 1, 1 .maxclusterrank 4 { ret; }";
    let bounds = |fields: &str| {
        let text = format!("Launch({fields}, params: [])");
        let file = LaunchFile::parse("a.ron", Path::new(""), text).unwrap();
        plan(&file, &program(module), "module.ptx", &Overrides::default()).unwrap().cases[0].launches[0].bounds.clone()
    };
    let cases = [
        ("grid: (1, 1, 1), block: (8, 8, 1)", None),
        ("grid: (1, 1, 1), block: (65, 1, 1)", Some("a block of (65, 1, 1) has 65 threads, but .maxntid allows 64")),
        ("grid: (1, 1, 1), block: (1025, 1, 1)", Some("a block of (1025, 1, 1) has 1025 threads; at most 1024 are possible")),
        ("grid: (1, 1, 1), block: (1, 1, 65)", Some("a block of (1, 1, 65) is too large: at most (1024, 1024, 64) is possible")),
        (
            "grid: (1, 65536, 1), block: (1, 1, 1)",
            Some("a grid of (1, 65536, 1) is too large: at most (2147483647, 65535, 65535) is possible"),
        ),
        ("grid: (3, 1, 1), block: (1, 1, 1), cluster: (2, 1, 1)", Some("a grid of (3, 1, 1) cannot be divided into clusters of (2, 1, 1)")),
        ("grid: (4, 1, 1), block: (1, 1, 1), cluster: (4, 1, 1)", None),
        (
            "grid: (8, 1, 1), block: (1, 1, 1), cluster: (8, 1, 1)",
            Some("a cluster of (8, 1, 1) has 8 blocks, but .maxclusterrank allows 4"),
        ),
        (
            "grid: (1, 1, 1), block: (1, 1, 1), dynamic_shared: 232449",
            Some("a block needs 232449 bytes of shared memory (0 static, 232449 dynamic); at most 232448 are possible"),
        ),
        // 132 multiprocessors hold 32 blocks each, and one of more than half their shared memory.
        ("grid: (4224, 1, 1), block: (64, 1, 1), cooperative: true", None),
        (
            "grid: (4225, 1, 1), block: (64, 1, 1), cooperative: true",
            Some(
                "a cooperative grid of (4225, 1, 1) has 4225 blocks, all of which must be resident; at most 4224 of this block fit the device",
            ),
        ),
        (
            "grid: (133, 1, 1), block: (64, 1, 1), dynamic_shared: 120000, cooperative: true",
            Some(
                "a cooperative grid of (133, 1, 1) has 133 blocks, all of which must be resident; at most 132 of this block fit the device",
            ),
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(bounds(fields).as_deref(), expected, "{fields}");
    }
}

#[test]
fn a_made_up_launch_has_a_buffer_for_every_pointer() {
    let program = program(MODULE);
    let known = LaunchFacts::default();
    let study = Study::new(&program, program.function("scale").unwrap(), "module.ptx", &known);
    let expected = "\
Launch(
    module: \"module.ptx\",
    kernel: \"scale\",
    grid: (1, 1, 1),
    block: (32, 1, 1),
    params: [
        Buffer(name: \"x\", elem: F32, len: 1024, init: Random(seed: 1, low: -1, high: 1)),
        U32(32),
        Bytes(\"0000000000000000\"),
    ],
)";
    assert_eq!(study.launch(&study.first()).content.to_text(), expected);
    assert!(read(expected).is_ok());
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = folder();
    std::fs::write(folder.join("binary.ron"), [0x4c, 0xff, 0xfe]).unwrap();
    for (name, expected) in
        [("absent.ron", "no such file or directory"), (".", "is a directory"), ("binary.ron", "it is not text: byte 1 is not UTF-8")]
    {
        let path = folder.join(name);
        let Err(LaunchFileError::Unreadable(message)) = LaunchFile::read(&path) else { panic!("{name} is read") };
        assert_eq!(message, format!("cannot read {}: {expected}", path.display()));
    }
}

/// What is wrong with a tensor map over 2048 halves, 64 x 32, with these further fields.
fn tensor_map(rest: &str) -> String {
    let tensor = "buffer: Buffer(name: \"t\", elem: F16, len: 2048, init: Zero), elem: F16";
    mistakes(&launch(&format!("TensorMap({tensor},\n{rest}), U32(1), Bytes(\"0011223344556677\")")))
}

#[test]
fn tensor_maps_that_the_driver_would_refuse_are_refused_at_their_field() {
    let tiles = |rest: &str| tensor_map(&format!("dims: [64, 32], strides: [128], {rest}"));
    assert_eq!(tiles("box: [4, 4], swizzle: B32"), "3:38: box[0] is 4: 4 elements of type .f16 are 8 bytes, which is not a multiple of 16");
    assert_eq!(
        tiles("box: [32, 300], swizzle: B32"),
        "3:38: box[1] is 300, and a box has 1 to 256 elements in each dimension\n\
         3:38: box[0] is 32: 32 elements of type .f16 are 64 bytes, and swizzle: B32 takes 32 at most"
    );
    assert_eq!(tiles("box: [8]"), "3:38: box has 1 entry, and of 2 dimensions it has 2");
    assert_eq!(tiles("box: [8, 8], interleave: B16"), "3:58: an interleaved tensor has 3 to 5 dimensions, not 2");
    assert_eq!(
        tiles("swizzle: None"),
        "2:10: a tensor map needs 'box' or 'im2col' (box: [64, 32] takes that many elements of each dimension, innermost first)"
    );
    assert_eq!(tensor_map("dims: [], strides: [], box: []"), "3:7: a tensor has 1 to 5 dimensions, not 0");
    assert_eq!(
        tensor_map("dims: [64, 33], strides: [128], box: [8, 8]"),
        "3:7: the tensor has 4224 bytes from first to last, and its buffer 4096 bytes"
    );
    assert_eq!(
        tensor_map("dims: [64, 4, 8], strides: [128, 512], im2col: (lower: [0, 0], upper: [0], channels: 64, pixels: 8)"),
        "3:56: lower has 2 entries, and 3 dimensions have 1 spatial one"
    );
    assert_eq!(tiles("box: [8, 8]"), "2:10: params[0]: kernel parameter 'x' is .u64 (8 bytes); a tensor map has 128 bytes");
}

#[test]
fn a_tensor_map_can_lie_in_a_buffer_that_was_named_before() {
    let alias = |name: &str| {
        let map = format!("TensorMap(buffer: Alias(\"{name}\"), elem: F16, dims: [64], strides: [], box: [64])");
        mistakes(&launch(&format!("Buffer(name: \"x\", elem: F16, len: 64, init: Zero), U32(1), {map}")))
    };
    assert_eq!(alias("x"), "2:69: params[2]: kernel parameter 'pair' is .b8[8] (8 bytes); a tensor map has 128 bytes");
    assert_eq!(alias("y"), "2:93: there is no buffer 'y' yet (defined before this entry: x)");
}
