//! What `-a`, `--expect` and `--save-launch` do: which arrays of NumPy a kernel takes, and what words say of a launch file that is there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod memory;

use std::path::{Path, PathBuf};
use std::process::Command;

use ptxdbg::launch::Element;
use ptxdbg::launch::npy::header_bytes;

/// `out[i] = 2 * in[i]` for i below `n`, of integers.
const DOUBLE: &str = ".version 7.8 .target sm_90 .address_size 64
.visible .entry double(.param .u64 in, .param .u64 out, .param .u32 n) {
    .reg .b64 %a, %b, %at; .reg .b32 %i, %n, %v; .reg .pred %p;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %n, [n];
    mov.u32 %i, %tid.x; setp.ge.u32 %p, %i, %n; @%p bra end;
    mul.wide.u32 %at, %i, 4; add.u64 %a, %a, %at; add.u64 %b, %b, %at;
    ld.global.u32 %v, [%a]; shl.b32 %v, %v, 1; st.global.u32 [%b], %v;
end: ret;
}";

/// `out[i] = in[i]`, words of 32 bits.
const COPY: &str = ".version 7.8 .target sm_90 .address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out) {
    .reg .b64 %a, %b, %at; .reg .b32 %i, %v;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
    mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.u64 %a, %a, %at; add.u64 %b, %b, %at;
    ld.global.u32 %v, [%a]; st.global.u32 [%b], %v; ret;
}";

/// The bf16 numbers of `in` as f32.
const WIDEN: &str = ".version 7.8 .target sm_90 .address_size 64
.visible .entry widen(.param .u64 in, .param .u64 out) {
    .reg .b64 %a, %b, %at; .reg .b32 %i; .reg .b16 %h; .reg .f32 %f;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; mov.u32 %i, %tid.x;
    mul.wide.u32 %at, %i, 2; add.u64 %a, %a, %at; mul.wide.u32 %at, %i, 4; add.u64 %b, %b, %at;
    ld.global.b16 %h, [%a]; cvt.f32.bf16 %f, %h; st.global.f32 [%b], %f; ret;
}";

/// A folder of one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("given").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// NumPy's file of these numbers.
    fn npy(&self, name: &str, element: Element, numbers: &[f64]) {
        self.array(name, element, &[numbers.len() as u64], numbers);
    }

    /// The same in the given shape.
    fn array(&self, name: &str, element: Element, shape: &[u64], numbers: &[f64]) {
        let mut bytes = header_bytes(element, shape);
        for number in numbers {
            let bits = if element.name().starts_with(['f', 'b']) { element.encode_float(*number) } else { element.wrap(*number as i128) };
            element.write(bits, &mut bytes);
        }
        self.write(name, bytes);
    }

    /// Exit status, and standard output with standard error, of `ptxdbg` with these words in the folder.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(&self.0).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (output.status.code().unwrap(), text)
    }

    #[track_caller]
    fn assert(&self, words: &str, status: i32, said: &[&str]) {
        let (code, text) = self.run(&words.split_whitespace().collect::<Vec<_>>());
        assert_eq!(code, status, "{words}: {text}");
        said.iter().for_each(|said| assert!(text.contains(said), "{words}: {said} is missing in\n{text}"));
    }
}

const COUNTING: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

#[test]
fn arrays_of_another_type_are_refused_with_the_way_out_in_numpy() {
    let folder = Folder::new("types");
    folder.write("double.ptx", DOUBLE);
    folder.write("copy.ptx", COPY);
    for element in [Element::S64, Element::U64, Element::S32, Element::U32, Element::F16, Element::F32, Element::F64, Element::U8] {
        folder.npy(&format!("{}.npy", element.name()), element, &COUNTING);
    }
    let doubled = COUNTING.map(|number| number * 2.0);
    folder.npy("doubled.npy", Element::S32, &doubled);
    folder.npy("doubled64.npy", Element::S64, &doubled);
    let refused = |file: &str, holds: &str, dtype: &str, own: &str| {
        let message = format!("error[arg]: '{file}' holds elements of {holds}, and the kernel reads u32");
        let help = format!(
            "save it with np.save(\"{file}\", x.astype(np.{dtype})), or name its type, for its bytes as they are: in={own}[]=@{file}"
        );
        folder.assert(&format!("--batch double.ptx -a @{file}"), 2, &[&message, &help]);
    };
    refused("s64.npy", "int64", "int32", "s64");
    refused("u64.npy", "uint64", "uint32", "u64");
    refused("f32.npy", "float32", "int32", "f32");
    refused("f64.npy", "float64", "int32", "f64");
    refused("u8.npy", "uint8", "uint32", "u8");
    let message = "error[arg]: 'doubled64.npy' holds elements of int64, and 'out' is of u32";
    let expected = "np.save(\"doubled64.npy\", x.astype(np.int32))";
    folder.assert("--batch double.ptx -a @s32.npy --expect out=@doubled64.npy", 2, &[message, expected]);
    folder.assert("--batch double.ptx -a @s32.npy -a out=[8] --expect param_1=@doubled64.npy", 2, &["and 'param_1' is of u32"]);
    for file in ["s32", "u32"] {
        folder.assert(&format!("--batch double.ptx -a @{file}.npy -a n=8 --expect out=@doubled.npy"), 0, &["double: as expected"]);
    }
    // Nothing in the code says what a word is that is only moved: it may be a float, or two halves, but no part of a larger number.
    for file in ["f32", "f16", "u8", "s32"] {
        folder.assert(&format!("--batch copy.ptx -a @{file}.npy --block 2"), 0, &[&format!("in: {file}[8] = 0 1 2")]);
    }
    folder.assert("--batch copy.ptx -a @s64.npy", 2, &["'s64.npy' holds elements of int64, and the kernel reads u32"]);
    folder.assert("--batch copy.ptx -a @f64.npy", 2, &["'f64.npy' holds elements of float64"]);
}

#[test]
fn a_word_that_names_integers_takes_the_bytes_of_a_file_as_they_are() {
    let folder = Folder::new("bytes");
    folder.write("double.ptx", DOUBLE);
    folder.npy("s64.npy", Element::S64, &COUNTING);
    folder.npy("f32.npy", Element::F32, &COUNTING);
    folder.assert("--batch double.ptx -a in=u32[]=@s64.npy", 0, &["in: u32[16] = 0 0 1 0 2 0 3 0"]);
    folder.assert("--batch double.ptx -a in=u32[4,4]=@s64.npy", 0, &["in: u32[4][4] = 0 0 1 0 2 0 3 0"]);
    folder.assert("--batch double.ptx -a in=b32[]=@f32.npy", 0, &["in: b32[8] = 0x00000000 0x3f800000"]);
    folder.assert("--batch double.ptx -a in=s64[]=@s64.npy", 0, &["in: s64[8] = 0 1 2 3"]);
    folder.assert(
        "--batch double.ptx -a in=u32[4]=@s64.npy",
        2,
        &["'s64.npy' has 64 bytes of data, which are not the u32 that the word says"],
    );
    let help = "np.save(\"s64.npy\", x.astype(np.float32)); for its bytes as they are in=b32[]=@s64.npy";
    folder.assert("--batch double.ptx -a in=f32[]=@s64.npy", 2, &["'s64.npy' holds elements of int64, and the word says f32", help]);
    folder.assert("--batch double.ptx -a in=u32[]=@s64.npy --save-launch k.ron", 0, &["launch written to k.ron\n"]);
    folder.assert("--batch double.ptx -l k.ron", 0, &["in: u32[16] = 0 0 1 0 2 0 3 0"]);
}

/// Halfway cases go to the even neighbour: 1 + 2^-8 to 1, 1 + 3 * 2^-8 to 1 + 2^-6; what is above half goes up.
#[test]
fn floats_are_rounded_where_the_kernel_reads_bf16() {
    let folder = Folder::new("bf16");
    folder.write("widen.ptx", WIDEN);
    let numbers = [1.003_906_25, 1.011_718_75, 1.003_906_369, -3.143, 0.1];
    let rounded = [1.0, 1.015_625, 1.007_812_5, -3.140_625, 0.100_097_656_25];
    folder.npy("x.npy", Element::F32, &numbers);
    folder.npy("wide.npy", Element::F32, &rounded);
    folder.npy("x64.npy", Element::F64, &numbers);
    let line = "in: bf16[5] = 1 1.016 1.01 -3.14 0.1";
    for word in ["in=@x.npy", "in=bf16[]=@x.npy"] {
        folder.assert(&format!("--batch widen.ptx --block 5 -a {word} --expect out=@wide.npy"), 0, &[line, "widen: as expected"]);
    }
    // What is expected of bf16 is rounded as well.
    folder.assert("--batch widen.ptx --block 5 -a in=@x.npy --expect in=@x.npy", 0, &["widen: as expected"]);
    let launch = "Launch(module: \"widen.ptx\", grid: (1, 1, 1), block: (5, 1, 1), params: [
        Buffer(name: \"in\", elem: BF16, init: File(\"x.npy\"), expect: File(\"x.npy\")),
        Buffer(name: \"out\", elem: F32, len: 5, init: Zero, expect: File(\"wide.npy\"))])";
    folder.write("k.ron", launch);
    folder.assert("--verify -l k.ron", 0, &["1 passed, 0 failed"]);
    let message = "'x64.npy' holds elements of float64, and the kernel reads bf16";
    folder.assert("--batch widen.ptx -a in=@x64.npy", 2, &[message, "np.save(\"x64.npy\", x.astype(np.float32))"]);
    folder.write("k.ron", launch.replace("x.npy", "x64.npy"));
    folder.assert("--verify -l k.ron", 2, &["holds elements of type f64, and the buffer is of bf16", "x.astype(np.float32)"]);
}

#[test]
fn a_file_that_is_no_launch_file_is_not_replaced() {
    let folder = Folder::new("saving");
    folder.write("double.ptx", DOUBLE);
    folder.assert("double.ptx --save-launch double.ptx", 2, &["double.ptx is there and is no launch file, so it is left as it is"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("double.ptx")).unwrap(), DOUBLE);
    folder.write("bytes", [0xff, 0xfe]);
    folder.assert("double.ptx --save-launch bytes", 2, &["bytes is there and is no launch file"]);
    folder.assert("double.ptx --save-launch .", 2, &["cannot write .: "]);
    folder.write("blank.ron", "// later\n");
    for file in ["blank.ron", "new.ron", "new.ron"] {
        folder.assert(&format!("double.ptx --save-launch {file}"), 0, &[&format!("launch written to {file}\n")]);
    }
    folder.assert("double.ptx --save-launch /dev/stdout", 0, &["Launch(\n"]);
    let (status, text) = folder.run(&["double.ptx", "-e", "save launch double.ptx"]);
    assert!(status == 2 && text.contains("double.ptx is there and is no launch file"), "{text}");
    let (status, text) = folder.run(&["double.ptx", "-e", "save launch new.ron"]);
    assert!(status == 0 && text.contains("launch written to new.ron\n"), "{text}");
}

#[test]
fn words_change_the_launch_file_that_is_there() {
    let folder = Folder::new("beside");
    folder.write("double.ptx", DOUBLE);
    let launch = "Launch(module: \"double.ptx\", kernel: \"double\", grid: (1, 1, 1), block: (32, 1, 1), params: [
        Buffer(name: \"x\", elem: S32, len: 8, init: Iota(start: 1, step: 1)),
        Buffer(name: \"y\", elem: S32, len: 8, init: Zero, expect: Values([2, 4, 6, 8, 10, 12, 14, 16])), U32(8)])";
    folder.write("double.ron", launch);
    folder.npy("x.npy", Element::S32, &COUNTING);
    let y = "--expect y=0,2,4,6,8,10,12,14";
    for x in ["x", "in", "param_0"] {
        let (status, text) = folder.run(&format!("--batch double.ptx -a {x}=@x.npy {y}").split_whitespace().collect::<Vec<_>>());
        assert!(status == 0 && text.contains("x: s32[8] = 0 1 2 3") && !text.contains("There is no launch file"), "{text}");
    }
    for y in ["out", "param_1"] {
        folder.assert(&format!("--batch double.ptx -a x=@x.npy --expect {y}=0,2,4,6,8,10,12,14"), 0, &["double: as expected"]);
        folder.assert(&format!("--batch double.ptx --expect {y}=0,0,0,0,0,0,0,0"), 1, &["FAIL double: y[0] = 2, expected 0"]);
    }
    folder.assert("--batch double.ptx -a n=1", 1, &["FAIL double: y[1] = 0, expected 4"]);
    folder.assert("--batch double.ptx -a param_2=1 --save-launch saved.ron", 0, &["launch written"]);
    assert!(std::fs::read_to_string(folder.0.join("saved.ron")).unwrap().contains("U32(1)"));
    folder.assert(
        "--batch double.ptx -a m=1",
        2,
        &["'m' is neither a parameter nor a type", "parameters: x (s32 buffer), y (s32 buffer), n (u32)"],
    );
    folder.assert("--batch double.ptx -a y=[4]", 1, &["memory.out_of_bounds"]);
    folder.assert("--verify double.ptx -a n=1", 1, &["0 passed, 1 failed"]);
    // Data files of words lie where the words are said, those of a launch file beside it.
    folder.write("far/double.ron", launch.replace("double.ptx", "../double.ptx"));
    folder.assert(&format!("--batch -l far/double.ron -a x=@x.npy {y}"), 0, &["x: s32[8] = 0 1 2 3", "double: as expected"]);
    folder.npy("y.npy", Element::S32, &COUNTING.map(|number| number * 2.0));
    folder.assert("--batch -l far/double.ron -a in=@x.npy --expect out=@y.npy", 0, &["double: as expected"]);
    folder.assert("--batch -l far/double.ron -a x=@none.npy", 2, &["none.npy' cannot be read"]);
    let (status, text) = folder.run(&["-l", "far/double.ron", "--yes", "-e", "launch x=@x.npy", "-e", "p x[1]", "-e", "launch n = 4"]);
    assert!(status == 0 && text.contains("x[1] = 1"), "{text}");
    let two = "Suite(module: \"double.ptx\", launches: [Launch(kernel: \"double\", grid: (1, 1, 1), block: (8, 1, 1), params: [U64(0), U64(0), U32(0)]),
        Launch(kernel: \"double\", grid: (1, 1, 1), block: (8, 1, 1), params: [U64(0), U64(0), U32(0)])])";
    folder.write("two.ron", two);
    folder.assert("--batch -l two.ron -a n=1", 2, &["the launch file has 2 launches, and a parameter is changed of one alone"]);
}

#[test]
fn the_compiler_can_be_named() {
    let folder = Folder::new("compiler");
    folder.write("k.cu", "__global__ void k() {}");
    let run = |variable: &str, name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
        let output = command.args(["--batch", "k.cu"]).env_remove("NVCC").env(variable, name).current_dir(&folder.0).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    for variable in ["NVCC", "CUDACXX"] {
        assert!(run(variable, "no-such-nvcc").contains("cannot run no-such-nvcc"), "{}", run(variable, "no-such-nvcc"));
    }
}

/// A kernel of Triton multiplies matrices that it gets as tensor descriptors: the arrays decide their extents, K and the grid.
#[test]
fn arrays_are_given_to_tensor_descriptors() {
    const M: usize = 128;
    const N: usize = 192;
    const K: usize = 128;
    let folder = Folder::new("descriptors");
    for end in ["ptx", "json", "ttir"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/triton/sm_90/host_tma").with_extension(end);
        std::fs::copy(from, folder.0.join("host_tma").with_extension(end)).unwrap();
    }
    // Products and sums of small integers are exact.
    let (a, b) =
        (|row: usize, k: usize| ((row * 3 + k * 7) % 5) as f64 - 2.0, |k: usize, column: usize| ((k * 5 + column) % 3) as f64 - 1.0);
    let matrix = |rows: usize, columns: usize, of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(row, column)| of(row, column)).collect()
    };
    let product = |row: usize, column: usize| (0..K).map(|k| a(row, k) * b(k, column)).sum();
    let f16 = |name: &str, rows: usize, columns: usize, of: &dyn Fn(usize, usize) -> f64| {
        folder.array(name, Element::F16, &[rows as u64, columns as u64], &matrix(rows, columns, of));
    };
    f16("a.npy", M, K, &a);
    f16("b.npy", K, N, &b);
    f16("c.npy", M, N, &product);
    f16("wrong.npy", M, N, &|row, column| product(row, column) + f64::from(u8::from((row, column) == (77, 5))));
    let given = "--batch host_tma.ptx -a a_desc=@a.npy -a b_desc=@b.npy --expect";
    folder.assert(&format!("{given} c_desc=@c.npy"), 0, &["grid: (2, 3, 1)", "K = 128", "host_tma: as expected"]);
    folder.assert(&format!("{given} c_desc=@wrong.npy"), 1, &["c_desc[77][5]", "last written by block", "host_tma.ptx:330"]);
    folder.npy("line.npy", Element::F16, &COUNTING);
    folder.array("narrow.npy", Element::F16, &[4, 4], &[0.0; 16]);
    let refused = |word: &str, said: &str| folder.assert(&format!("--batch host_tma.ptx -a {word}"), 2, &["error[arg]", said]);
    refused("a_desc=@line.npy", "an array of 1 dimension for 'a_desc', a tensor map of 2");
    folder.assert(
        &format!("{given} c_desc=@line.npy"),
        2,
        &["--expect 1:1:8", "'line.npy' has shape [8], and 4096 elements are wanted (buffer 'c_desc')"],
    );
    refused("a_desc=@narrow.npy", "rows of 8 bytes for 'a_desc'");
    refused("a_desc=3", "'a_desc' is a tensor map, so the word says the array that it describes");
    refused("a_desc=f16[64]=random", "an array of 1 dimension");
    refused("a_desc=u32=5", "so the word says the array");
    for other in ["f32", "bf16", "u16"] {
        refused(&format!("a_desc={other}[64,64]=1"), &format!("elements of {other} for 'a_desc', a tensor map of f16"));
    }
    folder.assert(&format!("{given} c_desc=@wrong.npy --expect c_desc=@c.npy"), 2, &["--expect 2:1", "is given twice"]);
    let contradiction = "--arg 2:1:1: error[arg]: 'a_desc_0' is 32, and the array of 'a_desc' makes it 128";
    folder.assert("--batch host_tma.ptx -a a_desc=@a.npy -a a_desc_0=32", 2, &[contradiction, "leave a_desc_0 out"]);
    folder.assert("--batch host_tma.ptx -a a_desc=@a.npy -a a_desc_0=128 -a b_desc=@b.npy --expect c_desc=@c.npy", 0, &["as expected"]);
    folder.assert(
        "--batch host_tma.ptx -a c_desc_9=64 --expect c_desc=@c.npy",
        2,
        &["'c_desc_9' is 64, and the array of 'c_desc' makes it 192"],
    );
    let (_, text) = folder.run(&["host_tma.ptx", "-a", "a_desc=@a.npy", "-e", "launch a_desc_1=64"]);
    assert!(text.contains("'a_desc_1' is 64, and the array of 'a_desc' makes it 128 (leave a_desc_1 out"), "{text}");
    // What a launch file says of the map stays, but for the array.
    folder.assert(&format!("{given} c_desc=@c.npy --save-launch host_tma.ron"), 0, &["launch written to host_tma.ron"]);
    f16("longer.npy", M + 64, K, &|row, k| if row < M { a(row, k) } else { 9.0 });
    folder.assert("--batch host_tma.ptx -a a_desc=@longer.npy", 0, &["a_desc: f16[192][128]", "as expected"]);
}

/// CUDA C++ of [`DOUBLE`] under the name `_Z5twicePKjPjj`.
const TWICE: &str = "#define READ const unsigned*
template <int N> __global__ void twice(float a);
/* __global__ void twice(int no) */
static __global__ void __launch_bounds__(32) twice(READ __restrict__ from, unsigned *to, unsigned count = (1 < 2)) { }
";

/// PTX of [`DOUBLE`] as nvcc writes it: a mangled name, numbered parameters, and the file that it was made from.
fn as_of_nvcc(file: &str) -> String {
    let entry = "_ZL5twicePKjPjj";
    let numbered = [("double(", 0), ("u64 in", 0), ("[in]", 0), ("u64 out", 1), ("[out]", 1), ("u32 n", 2), ("[n]", 2)];
    let text = numbered.iter().fold(DOUBLE.to_string(), |text, (old, number)| {
        let new = match *old {
            "double(" => format!("{entry}("),
            old if old.starts_with('[') => format!("[{entry}_param_{number}]"),
            old => format!("{} {entry}_param_{number}", &old[..3]),
        };
        text.replace(old, &new)
    });
    let text = text.replace("mov.u32 %i, %tid.x;", ".loc 1 4 0\nmov.u32 %i, %tid.x;");
    format!("{text}\n.file 1 \"{file}\"\n")
}

#[test]
fn parameters_have_the_names_of_the_source() {
    let folder = Folder::new("source_names");
    let doubled = COUNTING.map(|number| number * 2.0);
    folder.npy("x.npy", Element::U32, &COUNTING);
    folder.npy("y.npy", Element::U32, &doubled);
    let kernel = "-a from=@x.npy -a count=8 --expect to=@y.npy";
    // At the path that .file says, relative to the PTX, in a folder of -I, and beside the PTX under its name.
    folder.write("sources/twice.cu", TWICE);
    folder.write("named.ptx", as_of_nvcc("sources/twice.cu"));
    folder.write("elsewhere.ptx", as_of_nvcc("/nowhere/twice.cu"));
    folder.write("beside.ptx", as_of_nvcc("/nowhere/other.cu"));
    folder.write("beside.cu", TWICE);
    folder.assert(&format!("--batch named.ptx {kernel}"), 0, &["as twice.cu:4 has them", "as expected", "from: u32[8]"]);
    folder.assert(&format!("--batch elsewhere.ptx -I sources {kernel}"), 0, &["as twice.cu:4 has them", "as expected"]);
    folder.assert(&format!("--batch beside.ptx {kernel}"), 0, &["as beside.cu:4 has them", "as expected"]);
    folder.assert("--batch named.ptx -a param_0=@x.npy -a _ZL5twicePKjPjj_param_2=8 --expect param_1=@y.npy", 0, &["as expected"]);
    let answers =
        [("info launch", "count    .u32 4"), ("p count", "count = 4"), ("p from[3]", "from[3] = 3"), ("p param_2", "param_2 = 4")];
    for (command, answer) in answers {
        let (code, text) = folder.run(&["--batch", "named.ptx", "-a", "from=@x.npy", "-a", "count=4", "-e", command]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains(answer), "{command}: {text}");
    }
    let changed = ["--batch", "named.ptx", "-a", "from=@x.npy", "-e", "launch count=5", "-e", "p count", "-e", "launch cuont=5"];
    let (_, text) = folder.run(&changed);
    assert!(text.contains("count = 5") && text.contains("did you mean 'count'?"), "{text}");
}

#[test]
fn a_source_that_does_not_fit_gives_no_names() {
    let folder = Folder::new("source_misfits");
    folder.npy("x.npy", Element::U32, &COUNTING);
    folder.write("k.ptx", as_of_nvcc("k.cu"));
    let head = "__global__ void twice(";
    for (source, why) in [
        ("const unsigned* from, unsigned* to) {}", "there are 2 parameters, and the PTX has 3"),
        ("const unsigned* from, unsigned* to, double count) {}", "'count' has 8 bytes, and _ZL5twicePKjPjj_param_2 of the PTX 4"),
        ("const unsigned* from, unsigned* from, int count) {}", "two parameters have the same name"),
        ("const unsigned* from,\n#if 1\nunsigned* to,\n#endif\nint count) {}", "lines of the preprocessor stand among them"),
        ("ARRAY(unsigned, from), unsigned* to, int count) {}", "a macro stands among them"),
    ] {
        folder.write("k.cu", format!("{head}{source}"));
        let reason = format!("parameter names: those at k.cu:1 are not used: {why}");
        folder.assert("--batch k.ptx -a param_0=@x.npy -a param_2=8", 0, &[&reason]);
    }
    folder.write("k.cu", format!("{head}const int* a, int* b, int n) {{}}\n{head}const unsigned* c, unsigned* d, unsigned m) {{}}"));
    folder.assert("--batch k.ptx -a param_0=@x.npy", 0, &["both k.cu:1 and k.cu:2 may be the kernel"]);
    // No source at all: what the parameters are is reported.
    folder.write("k.cu", "");
    let listed = "parameters: param_0 (u32 buffer), param_1 (u32 buffer), param_2 (u32); names need the source: give KERNEL.cu";
    folder.assert("--batch k.ptx -a from=@x.npy", 2, &["'from' is neither a parameter nor a type", listed]);
    folder.assert("--batch k.ptx --expect to=1,2", 2, &["there is no buffer 'to'", listed]);
    folder.assert("--batch k.ptx --expect param_1=x.npy", 2, &["'x.npy' is not a number", "a file has @ before its name: param_1=@x.npy"]);
    folder.assert("--batch k.ptx --expect param_2=1,2", 2, &["'param_2' is not a buffer"]);
    folder.assert("--batch k.ptx -a parm_0=@x.npy", 2, &["did you mean 'param_0'? parameters: "]);
}

#[test]
fn an_expected_list_says_how_long_its_buffer_is() {
    let folder = Folder::new("expected_list");
    folder.write("double.ptx", DOUBLE);
    folder.assert("--batch double.ptx -a in=1,2,3 -a n=3 --expect out=2,4,6", 0, &["as expected"]);
    folder.assert("--batch double.ptx -a in=1,2,3 -a n=3 --expect out=2,4,7", 1, &["out[2]"]);
    folder.assert(
        "--batch double.ptx -a in=1,2,3 --expect out=@none.npy",
        2,
        &["--expect 1:1:5: error[launch]: 'none.npy' cannot be read"],
    );
}

#[test]
fn constants_are_given_like_parameters() {
    const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/made_up/filter.ptx");
    let folder = Folder::new("constants");
    folder.write("filter.ptx", std::fs::read(MODULE).unwrap());
    let input = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
    // 0.5 * (1 a + 2 b + 3 c + 4 d + 5 e), as NumPy computes it.
    let out = [0.0, 0.0, 23.0, 38.5, 33.5, 38.0, 0.0, 0.0];
    folder.npy("in.npy", Element::F32, &input);
    folder.npy("weights.npy", Element::F32, &[1.0, 2.0, 3.0, 4.0, 5.0]);
    folder.npy("short.npy", Element::F32, &[1.0]);
    folder.npy("doubles.npy", Element::F64, &[1.0]);
    folder.npy("out.npy", Element::F32, &out);
    let given = "--batch filter.ptx -a param_0=@in.npy -a param_2=8 --expect param_1=@out.npy";
    folder.assert(&format!("{given} -a weights=@weights.npy -a scale=0.5"), 0, &["as expected"]);
    folder.assert(&format!("{given} -a weights=1,2,3,4,5 -a scale=f32=0.5 --save-launch saved.ron"), 0, &["launch written"]);
    folder.assert("--verify -l saved.ron", 0, &["1 passed"]);
    folder.assert("--batch -l saved.ron -a scale=1", 1, &["param_1[2]"]);
    let note = "scale: the kernel reads this constant, which the module does not initialize: zero; -a scale=1.5 gives it a value";
    let words = format!("{given} -a weights=@weights.npy --grid 1 --block 8");
    folder.assert(&words, 1, &[note]);
    let (_, said) = folder.run(&words.split_whitespace().collect::<Vec<_>>());
    assert!(!said.contains("weights: ") && !said.contains("limits: "), "constants that have a value are not noted: {said}");
    for (word, message) in [
        ("weights=@doubles.npy", "'doubles.npy' holds elements of float64, and the kernel reads f32"),
        ("weights=1,2,3,4,5,6", "6 elements of f32 for variable 'weights', which has 20 bytes"),
        ("weights=0.5", "'weights' has 5 elements of f32"),
        ("weights=f32[4]=random", "'weights' has 5 elements of f32"),
        ("scale=f64=1", "one f64 for 'scale', which has 4 bytes"),
        ("scale=@short.npy", "'scale' is a number (f32), not a buffer"),
        ("limits=bytes=0", "no value of variable 'limits'"),
    ] {
        folder.assert(&format!("{given} -a {word}"), 2, &[message]);
    }
    folder.assert(&format!("{given} -a scale=1 -a scale=2"), 2, &["variable 'scale' is given twice"]);
}

#[test]
fn an_array_shorter_than_the_numbers_say_is_the_launchs_doing() {
    let folder = Folder::new("short");
    folder.write("double.ptx", DOUBLE);
    folder.write("copy.ptx", COPY);
    folder.npy("x.npy", Element::S32, &COUNTING);
    let said = "launch.bounds: in holds 8 elements, n = 16: the kernel goes on to element 8; give an array of 16 elements, or -a n=8; ";
    folder.assert("--batch double.ptx -a in=@x.npy -a n=16 --block 16", 1, &[said]);
    folder.assert("--batch double.ptx -a in=@x.npy -a out=[16] -a n=16 --block 16 --grid 1", 1, &[said]);
    folder.assert("--batch double.ptx -a in=@x.npy -a n=8 --block 16", 0, &["double: grid"]);
    // No number says that the array is longer: the kernel goes beyond it by itself.
    folder.assert("--batch copy.ptx -a in=@x.npy --block 16", 1, &["memory.out_of_bounds: global load of 4 bytes"]);
}

/// Kernels of one name in two namespaces, and one of another name.
const NAMESPACES: &str = ".version 7.8 .target sm_90 .address_size 64
.visible .entry _Z3addPf(.param .u64 p) { ret; }
.visible .entry _ZN1a3mulEPf(.param .u64 p) { ret; }
.visible .entry _ZN1b3mulEPf(.param .u64 p) { ret; }";

#[test]
fn kernels_are_chosen_by_the_name_of_the_source() {
    let folder = Folder::new("plain");
    folder.write("k.ptx", NAMESPACES);
    folder.assert("--batch k.ptx -k add", 0, &["kernel: \"_Z3addPf\"", "\nadd: grid"]);
    folder.assert("--batch k.ptx -k _ZN1b3mulEPf", 0, &["\nb::mul: grid"]);
    folder.assert("--batch k.ptx -k mul", 2, &["2 kernels are called 'mul'; say which one: a::mul(float*), b::mul(float*)"]);
    folder.assert("--batch k.ptx -k sub", 2, &["there is no kernel 'sub'; the module has add(float*), a::mul(float*), b::mul(float*)"]);
    let first = "kernel add: the first of the module; others: a::mul, b::mul (-k a::mul)\n";
    folder.assert("--batch k.ptx", 0, &[first]);
    folder.assert("--batch k.ptx -a u64=0 --grid 1 --block 1", 0, &[first]);
    let (_, text) = folder.run(&["k.ptx", "-k", "add", "-e", "info launch"]);
    assert!(!text.contains("the first of the module"), "{text}");
    let (_, text) = folder.run(&["k.ptx", "-e", "info launch"]);
    assert!(text.starts_with(first), "{text}");
    let suite = "Suite(module: \"k.ptx\", launches: [
        Launch(kernel: \"_Z3addPf\", grid: (1, 1, 1), block: (1, 1, 1), params: [U64(0)]),
        Launch(kernel: \"_ZN1a3mulEPf\", grid: (1, 1, 1), block: (1, 1, 1), params: [U64(0)])])";
    folder.write("suite.ron", suite);
    folder.assert("--batch -l suite.ron -k add", 0, &["add: grid"]);
    folder.assert("--batch -l suite.ron -k mul", 2, &["no launch here is of kernel 'mul'"]);
}

#[test]
fn a_comparison_that_fails_says_by_how_much() {
    let folder = Folder::new("distance");
    folder.write("double.ptx", DOUBLE);
    folder.npy("x.npy", Element::S32, &COUNTING);
    folder.npy("y.npy", Element::S32, &[0.0, 2.0, 4.0, 9.0, 8.0, 10.0, 12.0, 15.0]);
    let run = |more: &str| format!("--batch double.ptx -a in=@x.npy -a n=8 --expect out=@y.npy {more}");
    // 6 in place of 9, and 14 in place of 15.
    let said = "out: 2 of its 8 elements are wrong; the largest difference is 3, and --atol 3 or --rtol 0.334 accepts it";
    folder.assert(&run(""), 1, &["out[3] = 6, expected 9", "out[7] = 14, expected 15", said]);
    folder.assert(&run("--atol 3"), 0, &["double: as expected"]);
    folder.assert(&run("--rtol 0.334"), 0, &["double: as expected"]);
    folder.assert(&run("--rtol 0.333"), 1, &["out: 1 of its 8 elements is wrong; the largest difference is 3"]);
    folder.assert(&run("--atol 1"), 1, &["the largest difference is 3, and --atol 3 or --rtol 0.223 accepts it"]);
    folder.assert(&run("--atol 1 --rtol 0.223"), 0, &["double: as expected"]);
    let (_, json) = folder.run(&run("--format json").split(' ').collect::<Vec<_>>());
    assert!(
        json.contains(r#"{"atol":3.0,"buffer":"out","elements":8,"kind":"mismatches","largest":3.0,"rtol":0.334,"wrong":2}"#),
        "{json}"
    );
}

#[test]
fn what_is_said_of_words_is_said_once() {
    let folder = Folder::new("once");
    let variables = ".const .f32 scale; .const .align 4 .b8 table[16];\n.visible .entry";
    folder.write(
        "double.ptx",
        DOUBLE.replacen(".visible .entry", variables, 1).replacen("mov.u32 %i", "ld.const.f32 %v, [scale]; mov.u32 %i", 1),
    );
    let (code, text) = folder.run(&["--batch", "double.ptx", "-a", "foo=1", "-a", "bar=2", "-a", "scal=3"]);
    let list = "parameters: in (u32 buffer), out (u32 buffer), n (u32); also param_0 to param_2; variables: scale (f32), table (16 bytes)";
    assert_eq!((code, text.matches(list).count()), (2, 1), "{text}");
    assert!(text.contains("help: did you mean 'scale'?\n"), "{text}");
    folder.assert("--batch double.ptx --expect tabel=1", 2, &["there is no buffer 'tabel'", "did you mean 'table'?", list]);
    folder.assert("--batch double.ptx", 0, &["zero; -a scale=1.5 gives it a value"]);
    folder.assert("--batch double.ptx -a scale=2", 0, &["double: grid"]);
    folder.assert("help", 0, &["Topics:\n", "ptxdbg --help explains the command line"]);
    folder.assert("help tbreak", 0, &["tbreak [LOCATION]"]);
    folder.assert("help tbreik", 2, &["did you mean 'tbreak'?; ptxdbg --help explains the command line"]);
}

#[test]
fn dynamic_shared_memory_that_is_made_up_is_named() {
    let folder = Folder::new("dynamic");
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs/fft_shared.ptx");
    std::fs::copy(module, folder.0.join("fft.ptx")).unwrap();
    let words = "--batch fft.ptx -k fft_shared -a f32[2,512] -a f32[2,512] -a f32[512] -a f32=1 --grid 1 --block 256";
    let said = "dynamic shared memory = 4096: as much as the kernel reaches\nfft_shared: grid (1,1,1)";
    folder.assert(words, 0, &[said]);
    let (_, text) = folder.run(&format!("{words} --dynamic-shared 4096").split(' ').collect::<Vec<_>>());
    assert!(!text.contains("dynamic shared memory"), "{text}");
}

#[test]
fn what_stops_the_first_guess_is_said_at_the_end_and_a_deadlock_is_not_avoided() {
    let folder = Folder::new("first");
    let kernel = |bound: &str, body: &str| {
        format!(
            ".version 7.8 .target sm_90 .address_size 64
.visible .entry k(.param .u64 out) {bound} {{
    .reg .pred %p; .reg .b32 %t, %s; .reg .b64 %a; .shared .align 8 .b64 object; .shared .align 4 .b32 tile[96];
    mov.u32 %t, %tid.x; ld.param.u64 %a, [out]; {body}
    ret;
}}"
        )
    };
    // Threads beyond the tile leave shared memory; a block of 64 does not.
    let tile = "mov.u32 %s, tile; mad.lo.u32 %t, %t, 4, %s; st.shared.u32 [%t], 1;";
    folder.write("tile.ptx", kernel(".maxntid 256", tile));
    let said = ["first guess  with a block of (256, 1, 1), memory.out_of_bounds stops the kernel", "--grid, --block and -a"];
    folder.assert("--batch tile.ptx", 0, &said);
    // 64 of 128 arrivals: only a block of 128 comes to its end.
    let wait = "setp.ne.u32 %p, %t, 0; @!%p mbarrier.init.shared.b64 [object], 128; bar.sync 0;
    mbarrier.arrive.shared.b64 %a, [object];
WAIT: mbarrier.try_wait.shared.b64 %p, [object], %a; @!%p bra WAIT;";
    folder.write("wait.ptx", kernel(".maxntid 64", wait));
    folder.assert("--batch wait.ptx", 1, &["deadlock", "64 of 128 arrivals are missing"]);
}

#[test]
fn a_null_pointer_that_is_a_parameter_is_named() {
    let folder = Folder::new("null");
    let text = ".version 7.8 .target sm_90 .address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
    .reg .b64 %a<2>; .reg .b32 %v;
    ld.param.u64 %a0, [in]; cvta.to.global.u64 %a0, %a0; ld.global.u32 %v, [%a0+4];
    ld.param.u64 %a1, [out]; cvta.to.global.u64 %a1, %a1; st.global.u32 [%a1], %v; ret;
}";
    folder.write("k.ptx", text);
    let said = "the pointer is parameter 2 of the kernel, in, which the launch gives as 0";
    folder.assert("--batch k.ptx --grid 1 --block 1 -a in=u64=0", 1, &["global load of 4 bytes at 0x4: a null pointer", said]);
}

#[test]
fn a_null_pointer_in_a_structure_is_named_by_its_bytes() {
    let folder = Folder::new("member");
    let text = ".version 7.8 .target sm_90 .address_size 64
.visible .entry k(.param .align 8 .b8 args[24]) {
    .reg .b64 %a; .reg .b32 %v;
    ld.param.u64 %a, [args+8]; cvta.to.global.u64 %a, %a; ld.param.u32 %v, [args+16]; st.global.u32 [%a+4], %v; ret;
}";
    folder.write("k.ptx", text);
    let said = "the pointer is bytes 8 to 15 of the 24 of args, and this made-up launch gives 0";
    folder.assert("--batch k.ptx", 1, &["memory.null: global store of 4 bytes at 0x4: a null pointer", said]);
    let words = format!("--batch k.ptx --grid 1 --block 1 -a bytes={}", "00".repeat(24));
    folder.assert(&words, 1, &["the pointer is bytes 8 to 15 of the 24 of args, and they are 0"]);
}
