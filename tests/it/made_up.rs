//! Made-up launches: `fixtures/made_up/table.txt` says which launch each module gets that comes with nothing but its PTX, and how the run
//! ends. `PTXDBG_BLESS=1 cargo test --test it made_up::` writes it anew. Beside it are the files that Triton leaves beside its PTX.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ptxdbg::base::Sources;
use ptxdbg::check::Checks;
use ptxdbg::check::faults::{LAUNCH_BOUNDS, MEMORY_OUT_OF_BOUNDS, UNSUPPORTED};
use ptxdbg::debug::certificate::Certificate;
use ptxdbg::debug::never_ran::NeverRan;
use ptxdbg::debug::open::{OpenError, open};
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions, run_case, verify_case};
use ptxdbg::launch::expect_args::ToleranceArgs;
use ptxdbg::launch::param_args::ParamType;
use ptxdbg::launch::{Element, Kind, LaunchFacts, LaunchFile, ParamValue, Study};
use ptxdbg::sema;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// A folder of its own with nothing in it.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ptxdbg-made-up-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn opened(module: &Path, kernel: Option<&str>) -> Result<Opened, OpenError> {
    let overrides = Overrides { kernel: kernel.map(str::to_string), ..Overrides::default() };
    open(&Request { modules: vec![module.to_path_buf()], launch: LaunchChoice::Sibling, overrides })
}

fn extents([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

/// Launch, findings and fault of a kernel that is given with its PTX alone.
fn row(module: &Path, kernel: &str) -> String {
    let opened = opened(module, Some(kernel)).unwrap();
    let case = &opened.plan.cases[0];
    let launch = &case.launches[0];
    assert!(!launch.reasons.is_empty(), "{kernel}: a made-up launch says why");
    let options = RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() };
    let run = run_case(&opened.program, case, &options).unwrap();
    let mut ids: Vec<String> = run.findings.iter().map(|finding| finding.id.word().to_string()).collect();
    ids.sort();
    ids.dedup();
    let end = match &run.fault {
        None if ids.is_empty() => "ran to its end".to_string(),
        None => format!("ran to its end with {}", ids.join(", ")),
        Some(fault) => {
            assert_eq!(fault.id, UNSUPPORTED, "{kernel} of {}: {}", module.display(), fault.message);
            let instruction = fault.message.split('\'').nth(1).unwrap_or_default();
            format!("unsupported: {}", instruction.split('.').take(2).collect::<Vec<_>>().join("."))
        }
    };
    let (grid, block, dynamic) = (extents(launch.grid), extents(launch.block), launch.dynamic_shared);
    format!("{kernel:<20} {grid:<8} {block:<8} {dynamic:>6}  {end}")
}

#[test]
fn every_module_runs_with_nothing_but_its_ptx() {
    let folder = folder("alone");
    let mut table = "# kernel             grid     block    dynamic shared, and how the run ends\n".to_string();
    for source in ["corpus", "programs"] {
        let mut modules: Vec<PathBuf> = std::fs::read_dir(fixtures().join(source)).unwrap().map(|entry| entry.unwrap().path()).collect();
        modules.retain(|path| path.extension().is_some_and(|end| end == "ptx"));
        modules.sort();
        for path in modules {
            let name = path.file_name().unwrap().to_str().unwrap();
            let alone = folder.join(name);
            std::fs::copy(&path, &alone).unwrap();
            writeln!(table, "{source}/{name}").unwrap();
            let program = opened(&alone, None).unwrap().program;
            for kernel in program.kernels() {
                writeln!(table, "  {}", row(&alone, &program.functions[kernel.index()].name)).unwrap();
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
    let path = fixtures().join("made_up/table.txt");
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    let wrong = held.lines().zip(table.lines()).find(|(held, made)| held != made);
    assert!(held == table, "run this test with PTXDBG_BLESS=1 and read the difference; the first: {wrong:?}");
}

/// The numbers that a buffer holds after the run, and at its start.
struct Ran {
    opened: Opened,
    device: ptxdbg::machine::Device,
    addresses: Vec<u64>,
}

fn ran(module: &str) -> Ran {
    let opened = opened(&fixtures().join("triton").join(module), None).unwrap();
    let run = run_case(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched()).unwrap();
    assert!(run.fault.is_none(), "{module}: {:?}", run.fault);
    Ran { opened, device: run.device.unwrap(), addresses: run.addresses }
}

impl Ran {
    fn numbers(&self, name: &str) -> (Element, Vec<f64>) {
        let buffers = &self.opened.plan.cases[0].buffers;
        let index = buffers.iter().position(|buffer| buffer.name == name).unwrap();
        let mut bytes = vec![0; buffers[index].bytes as usize];
        self.device.read(self.addresses[index], &mut bytes).unwrap();
        let element = buffers[index].element;
        let numbers = bytes.chunks(element.bytes() as usize).map(|bytes| element.to_f64(element.read(bytes))).collect();
        (element, numbers)
    }

    fn text(&self) -> &str {
        self.opened.made_up.as_deref().unwrap()
    }
}

#[test]
fn triton_kernels_have_their_names_types_and_results() {
    for module in ["sm_80/vadd.ptx", "sm_90/vadd.ptx"] {
        let ran = ran(module);
        let [x, y, out] = ["x_ptr", "y_ptr", "out_ptr"].map(|name| ran.numbers(name));
        assert_eq!((x.0, out.0), (Element::F32, Element::F32));
        assert!(x.1.len() >= 256 && x.1.iter().all(|x| (-1.0..1.0).contains(x)));
        for ((x, y), out) in x.1.iter().zip(&y.1).zip(&out.1) {
            assert_eq!(f64::from(*x as f32 + *y as f32), *out, "{module}");
        }
    }
    let softmax = ran("sm_90/softmax.ptx");
    assert!(softmax.text().contains("dynamic_shared: 16,"), "{}", softmax.text());
    let out = softmax.numbers("out_ptr").1;
    for row in out.chunks(256) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{row:?}");
    }
    assert_eq!(ran("sm_90/layer_norm.ptx").numbers("x_ptr").0, Element::BF16);
}

#[test]
fn triton_matrices_are_multiplied() {
    for (module, names) in [
        ("sm_80/matmul.ptx", ["a_ptr", "b_ptr", "c_ptr"]),
        ("sm_90/matmul.ptx", ["a_ptr", "b_ptr", "c_ptr"]),
        ("sm_80/host_tma.ptx", ["a_desc", "b_desc", "c_desc"]),
        ("sm_90/host_tma.ptx", ["a_desc", "b_desc", "c_desc"]),
    ] {
        let ran = ran(module);
        let [a, b, c] = names.map(|name| ran.numbers(name));
        assert_eq!((a.0, b.0, c.0), (Element::F16, Element::F16, Element::F16), "{module}");
        // All sizes of a launch are the same.
        let case = &ran.opened.plan.cases[0];
        let number =
            ran.text().lines().filter_map(|line| line.trim().strip_prefix("U32(")?.strip_suffix("),")?.parse::<usize>().ok()).next_back();
        let size = number.unwrap();
        for (row, column) in [(0, 0), (1, 7), (63, 64), (64, 1), (127, 127)] {
            let exact: f64 = (0..size).map(|k| a.1[row * size + k] * b.1[k * size + column]).sum();
            let got = c.1[row * size + column];
            assert!((got - exact).abs() <= 0.02 * exact.abs().max(1.0), "{module} {}: c[{row}][{column}] {got} {exact}", case.name);
        }
    }
}

#[test]
fn descriptors_that_a_kernel_makes_lie_in_its_scratch_memory() {
    let ran = ran("sm_90/device_tma.ptx");
    assert!(ran.text().contains("Buffer(name: \"global_scratch\", elem: B8, len: 1024, init: Uninit)"), "{}", ran.text());
    let (x, out) = (ran.numbers("in_ptr").1, ran.numbers("out_ptr").1);
    // Two by two blocks, each with a tile of 32 by 32 numbers; a row has 256.
    for at in (0..64).flat_map(|row| (0..64).map(move |column| row * 256 + column)) {
        assert_eq!(2.0 * x[at], out[at], "{at}");
    }
}

/// What is said of a module beside which these files lie.
fn said(files: &[(&str, &str)]) -> Result<String, String> {
    let folder = folder("beside");
    std::fs::copy(fixtures().join("triton/sm_90/vadd.ptx"), folder.join("vadd.ptx")).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let answer = match opened(&folder.join("vadd.ptx"), None) {
        Ok(opened) => Ok(opened.made_up.unwrap()),
        Err(OpenError::Launch(sources, errors)) => {
            let position = sources.position(errors[0].span);
            Err(format!("{}:{}: {}", position.line, position.column, errors[0].message))
        }
        Err(other) => Err(format!("{other:?}")),
    };
    std::fs::remove_dir_all(folder).unwrap();
    answer
}

#[test]
fn what_lies_beside_a_module_is_used_or_refused_with_its_place() {
    let cached = |end: &str| std::fs::read_to_string(fixtures().join("triton/sm_90").join(format!("vadd.{end}"))).unwrap();
    let (json, ttir) = (cached("json"), cached("ttir"));
    assert!(said(&[]).unwrap().contains("name: \"vadd_param_0\""));
    assert!(said(&[("vadd.json", &json), ("vadd.ttir", &ttir)]).unwrap().contains("name: \"x_ptr\""));
    // Fields of a later version are left alone, and so are files of other programs.
    let later = json.replacen('{', "{\"a_new_field\": [1, {\"x\": null}], ", 1);
    assert!(said(&[("vadd.json", &later)]).is_ok());
    assert!(said(&[("vadd.json", "{\"name\": \"notes\"}")]).is_ok());
    // Another kernel's metadata do not apply.
    let other = json.replace("\"name\": \"vadd\"", "\"name\": \"vsub\"").replace("\"shared\": 0", "\"shared\": 64");
    assert!(!said(&[("vadd.json", &other)]).unwrap().contains("dynamic_shared"));
    for (text, place) in [("", "1:1: "), ("{\n  \"num_warps\": 4,\n  \"shared\": }", "3:13: "), (&json[..json.len() / 2], "1:")] {
        let error = said(&[("vadd.json", text)]).unwrap_err();
        assert!(error.starts_with(place) && error.contains("this is not what Triton writes of a launch"), "{error}");
    }
    let error = said(&[("vadd.json", &json.replace("\"num_warps\": 4", "\"num_warps\": \"four\""))]).unwrap_err();
    assert!(error.contains("invalid type: string \"four\", expected u32"), "{error}");
    let error = said(&[("vadd.json", &json.replace("\"num_warps\": 4", "\"num_warps\": 400"))]).unwrap_err();
    assert!(error.contains("asks for 12800 threads of a block"), "{error}");
    let error = said(&[("vadd.ttir", &ttir.replace("%n: i32 {", "%m: i32, %o: i32, %p: i32, %n: i32 {"))]).unwrap_err();
    assert!(error.contains("vadd.ttir gives 'vadd' 7 arguments, and the PTX 6 parameters"), "{error}");
    assert!(said(&[("vadd.ttir", "module {}")]).unwrap().contains("name: \"vadd_param_0\""));
}

#[test]
fn a_fault_names_what_the_launch_may_have_caused() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 n) {\n.reg .b64 %a, %b;\n.reg .b32 %n;\n\
        ld.param.u64 %a, [x];\nld.param.u32 %n, [n];\nmul.wide.u32 %b, %n, 100000000;\nadd.u64 %a, %a, %b;\nst.global.u32 [%a], %n;\nret;\n}\n";
    let folder = folder("caused");
    let module = folder.join("k.ptx");
    std::fs::write(&module, text).unwrap();
    let opened = opened(&module, None).unwrap();
    let run = run_case(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched()).unwrap();
    let fault = run.fault.unwrap();
    assert_eq!(fault.id, MEMORY_OUT_OF_BOUNDS);
    assert!(fault.made_up.starts_with("its address comes from n = ") && fault.made_up.contains("which is made up"), "{}", fault.made_up);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn dynamic_shared_memory_that_is_not_given_is_no_fault_of_the_kernel() {
    let words = ["f32[2,512]", "f32[2,512]", "f32[512]", "f32=1"].map(str::to_string).to_vec();
    let modules = vec![fixtures().join("programs/fft_shared.ptx")];
    let overrides = Overrides { dynamic_shared: Some(0), params: words, ..Overrides::default() };
    let opened = open(&Request { modules, launch: LaunchChoice::MadeUp, overrides }).unwrap();
    let run = run_case(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched()).unwrap();
    let fault = run.fault.unwrap();
    assert_eq!(fault.id, LAUNCH_BOUNDS);
    assert!(fault.message.starts_with("dynamic shared memory is not known (0 bytes given): --dynamic-shared BYTES; "), "{}", fault.message);
}

/// The block is that which fits the tiles; a race of the kernel's own is no reason for another one.
#[test]
fn blocks_fit_the_tiles() {
    for (kernel, block, ids) in
        [("tiles", [32, 32, 1], &[][..]), ("tiles_race", [32, 32, 1], &["race.shared.raw"]), ("tiles_flat", [1024, 1, 1], &[])]
    {
        let opened = opened(&fixtures().join("made_up/tiles.ptx"), Some(kernel)).unwrap();
        let case = &opened.plan.cases[0];
        assert_eq!(case.launches[0].block, block, "{kernel}");
        let run = run_case(&opened.program, case, &RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() }).unwrap();
        let mut found: Vec<&str> = run.findings.iter().map(|finding| finding.id.word()).collect();
        found.dedup();
        assert_eq!(found, ids, "{kernel}");
    }
}

/// A block that is a guess is named where another one may avoid what is found, and so is a grid where the result is another one.
#[test]
fn guesses_are_named() {
    let modules = vec![fixtures().join("made_up/tiles.ptx")];
    let overrides = Overrides { kernel: Some("tiles".to_string()), block: Some([16, 16, 1]), ..Overrides::default() };
    let given = open(&Request { modules, launch: LaunchChoice::MadeUp, overrides }).unwrap();
    let run = run_case(&given.program, &given.plan.cases[0], &RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() }).unwrap();
    assert!(
        run.findings.iter().all(|finding| finding.id.word() == "memory.uninitialized" && finding.made_up.is_empty()),
        "{:?}",
        run.findings
    );
    assert!(!run.findings.is_empty());
}

/// Saves a matrix as NumPy does, as NAME.npy.
fn save(folder: &Path, name: &str, shape: [usize; 2], numbers: &[f32]) {
    let mut bytes = ptxdbg::launch::npy::header_bytes(Element::F32, &shape.map(|extent| extent as u64));
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    std::fs::write(folder.join(name).with_extension("npy"), bytes).unwrap();
}

/// `gemm.ptx` with matrices A and B of these shapes, and what their product must be.
fn product(folder: &Path, (rows, columns): (usize, usize), depth: usize) -> Request {
    let number = |seed: usize, at: usize| ((at * seed) % 7) as f32 - 3.0;
    let a: Vec<f32> = (0..rows * depth).map(|at| number(37, at)).collect();
    let b: Vec<f32> = (0..depth * columns).map(|at| number(41, at)).collect();
    let sum = |at: usize| (0..depth).map(|k| a[at / columns * depth + k] * b[k * columns + at % columns]).sum();
    let c: Vec<f32> = (0..rows * columns).map(sum).collect();
    save(folder, "a", [rows, depth], &a);
    save(folder, "b", [depth, columns], &b);
    save(folder, "c", [rows, columns], &c);
    let given = |param: &str, name: &str| format!("{param}=@{}", folder.join(name).display());
    let params = vec![given("param_0", "a.npy"), given("param_1", "b.npy")];
    let overrides = Overrides { params, expect: vec![given("param_2", "c.npy")], ..Overrides::default() };
    Request { modules: vec![fixtures().join("made_up/gemm.ptx")], launch: LaunchChoice::MadeUp, overrides }
}

/// Grid and extents follow from the arrays.
#[test]
fn a_product_of_matrices_needs_no_numbers() {
    let folder = folder("product");
    for (shape, depth, grid) in [((40, 72), 56, [5, 3, 1]), ((48, 48), 48, [3, 3, 1]), ((20, 70), 33, [5, 2, 1])] {
        let opened = open(&product(&folder, shape, depth)).unwrap();
        let case = &opened.plan.cases[0];
        assert_eq!(case.launches[0].grid, grid);
        let numbers: Vec<&str> =
            case.launches[0].reasons.iter().filter(|reason| reason.param.is_some()).map(|reason| &*reason.what).collect();
        assert_eq!(numbers, [("m", shape.0), ("n", shape.1), ("k", depth)].map(|(param, extent)| format!("{param} = {extent}")));
        let report = verify_case(&opened.program, case, &RunOptions::unwatched(), false).unwrap();
        assert!(report.failures.is_empty(), "{report:#?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Where the numbers are given, a long run is what is asked for: no reason to prefer another block.
#[test]
fn a_long_product_keeps_its_block() {
    let folder = folder("long");
    for (shape, depth, grid) in [((50, 40), 33, [3, 4, 1]), ((64, 64), 200, [4, 4, 1])] {
        let mut request = product(&folder, shape, depth);
        let numbers = [(3, shape.0), (4, shape.1), (5, depth)];
        request.overrides.params.extend(numbers.map(|(param, number)| format!("param_{param}={number}")));
        let opened = open(&request).unwrap();
        let case = &opened.plan.cases[0];
        assert_eq!((case.launches[0].block, case.launches[0].grid), ([16, 16, 1], grid));
        let report = verify_case(&opened.program, case, &RunOptions::unwatched(), false).unwrap();
        assert!(report.failures.is_empty(), "{report:#?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The grid that writes the whole output is that of the block which fits the tiles, not of the first guess.
#[test]
fn a_grid_goes_with_the_block_that_fits() {
    let folder = folder("grid_of_block");
    for size in [64, 96] {
        let mut request = product(&folder, (size, size), size);
        request.modules = vec![fixtures().join("made_up/tiles.ptx")];
        request.overrides.kernel = Some("tiles".to_string());
        request.overrides.params.push(format!("param_3={size}"));
        let opened = open(&request).unwrap();
        let case = &opened.plan.cases[0];
        let blocks = size as u32 / 32;
        assert_eq!((case.launches[0].block, case.launches[0].grid), ([32, 32, 1], [blocks, blocks, 1]));
        let report = verify_case(&opened.program, case, &RunOptions::unwatched(), false).unwrap();
        assert!(report.failures.is_empty(), "{report:#?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_expected_array_has_the_shape_of_its_buffer() {
    let folder = folder("shapes");
    let mut request = product(&folder, (40, 72), 56);
    save(&folder, "other", [72, 40], &[0.0; 72 * 40]);
    request.overrides.params.push(format!("param_2=@{}", folder.join("c.npy").display()));
    request.overrides.expect = vec![format!("param_2=@{}", folder.join("other.npy").display())];
    let Err(OpenError::Launch(sources, errors)) = open(&request) else { panic!("the shapes differ") };
    assert_eq!(errors[0].message, "buffer 'c' has shape [40, 72], and what is expected of it [72, 40]");
    assert_eq!(sources.file(errors[0].span.source).name(), "--expect 1");
    std::fs::remove_dir_all(folder).unwrap();
}

/// The grid and the stride follow from the arrays, the types from Triton's own files: `softmax` of the rows of a matrix, of NumPy.
#[test]
fn a_triton_kernel_is_compared_with_arrays() {
    let folder = folder("compared");
    let (rows, columns) = (5, 40);
    let x: Vec<f32> = (0..rows * columns).map(|at| ((at * 37 % 101) as f32) / 17.0).collect();
    let softmax = |row: &[f32]| {
        let exponentials: Vec<f64> = row.iter().map(|value| f64::from(*value).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        exponentials.into_iter().map(|value| (value / sum) as f32).collect::<Vec<f32>>()
    };
    let y: Vec<f32> = x.chunks(columns).flat_map(softmax).collect();
    save(&folder, "x", [rows, columns], &x);
    save(&folder, "y", [rows, columns], &y);
    let words = vec![format!("in_ptr=@{}", folder.join("x.npy").display()), format!("n_cols={columns}")];
    let expect = vec![format!("out_ptr=@{}", folder.join("y.npy").display())];
    let overrides = Overrides { params: words, expect, tolerance: ToleranceArgs { rtol: Some(1e-5), atol: None }, ..Overrides::default() };
    let modules = vec![fixtures().join("triton/sm_90/softmax.ptx")];
    let opened = open(&Request { modules, launch: LaunchChoice::MadeUp, overrides }).unwrap();
    assert_eq!(opened.plan.cases[0].launches[0].grid, [rows as u32, 1, 1]);
    let report = verify_case(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched(), false).unwrap();
    assert!(report.failures.is_empty(), "{report:#?}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A program's launch file gives the types of its arrays rightly: what the code says of a parameter refuses none of them.
#[test]
fn the_types_that_kernels_read_are_those_of_their_arrays() {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(fixtures().join("programs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ron") {
            continue;
        }
        let file = LaunchFile::read(&path).unwrap();
        let (program, _) = sema::load_file(&mut Sources::default(), &file.folder.join(file.module().unwrap())).unwrap();
        let program = program.unwrap();
        for (_, launch) in file.launches() {
            let kernel = program.function(launch.kernel.as_deref().unwrap()).unwrap();
            let formals = Study::new(&program, kernel, "", &LaunchFacts::default()).formals();
            for (formal, param) in formals.iter().zip(&launch.params) {
                let Some(buffer) = param.buffer() else { continue };
                let is_float = |element: Element| element.kind() == Kind::Float;
                let agrees = match formal.ty {
                    // Four fp8 numbers in a word.
                    ParamType::Pointer(Some(Element::B8)) if buffer.name == "q" => true,
                    ParamType::Pointer(Some(_)) if buffer.elem.kind() == Kind::Bits => true,
                    ParamType::Pointer(Some(own)) | ParamType::TensorMap(_, Some(own)) => {
                        own.bytes() == buffer.elem.bytes() && is_float(own) == is_float(buffer.elem)
                    }
                    ParamType::AnyOfWidth(own) => buffer.elem.bytes() <= own.bytes(),
                    ParamType::Pointer(None)
                    | ParamType::TensorMap(_, None)
                    | ParamType::Scalar(_)
                    | ParamType::AnySign(_)
                    | ParamType::Struct(_) => true,
                };
                if !agrees {
                    let kernel = launch.kernel.as_deref().unwrap();
                    wrong.push(format!("{}: {kernel} {}: {:?} is read as {:?}", path.display(), buffer.name, buffer.elem, formal.ty));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn formats_are_known_by_what_is_done_with_the_elements() {
    let opened = opened(&fixtures().join("made_up/formats.ptx"), None).unwrap();
    let reasons = &opened.plan.cases[0].launches[0].reasons;
    for (parameter, wanted) in [
        (0, "64 e4m3, random numbers in [0, 1): read at formats.cu:10"),
        (1, "128 f16, random numbers in [-1, 1): read at formats.cu:9"),
        (2, "64 bf16, random numbers in [-1, 1): read at formats.cu:10"),
        (3, "64 f16, random numbers in [-1, 1): read at formats.cu:10"),
        (4, "64 f32, random numbers in [-1, 1): read and written at formats.cu:10"),
        (5, "compared at formats.cu:8, and at most as large as the grid"),
        (6, "64 u32, random indices below 64: read at formats.cu:10"),
        (7, "128 f64, zeros: written at formats.cu:11"),
        (8, "part of the address at formats.cu:11"),
    ] {
        let reason = reasons.iter().find(|reason| reason.param == Some(parameter)).unwrap();
        assert_eq!(reason.why, wanted, "{}", reason.what);
    }
}

/// Arrays that the code only copies have the elements that the types in the mangled name say.
#[test]
fn arrays_have_the_types_of_the_signature() {
    let opened = opened(&fixtures().join("made_up/typed.ptx"), None).unwrap();
    let elements: Vec<Element> = opened.plan.cases[0].buffers.iter().map(|buffer| buffer.element).collect();
    let [s8, s16, s32, s64] = ["s8", "s16", "s32", "s64"].map(|name| Element::from_name(name).unwrap());
    let [u32, f16, f32, f64] = ["u32", "f16", "f32", "f64"].map(|name| Element::from_name(name).unwrap());
    assert_eq!(elements, [s32, s32, f32, f64, f16, s16, s8, u32, s64]);
}

/// Cooperative groups compute with the index of a block in y and z, and number through: a second row of blocks says nothing.
#[test]
fn indices_of_cooperative_groups_make_no_second_dimension() {
    let module = fixtures().join("made_up/indices.ptx");
    for (kernel, end) in [
        ("grid_rank", "2x1x1    32x1x1        0  ran to its end"),
        ("group_index", "2x1x1    32x1x1        0  ran to its end"),
        ("block_rank", "2x1x1    32x1x1        0  ran to its end"),
        ("rows", "2x2x1    32x1x1        0  ran to its end"),
        // Each thread has an element of an array of 22.
        ("reversed", "1x1x1    22x1x1        0  ran to its end"),
    ] {
        let opened = opened(&module, Some(kernel)).unwrap();
        let full = opened.program.functions[opened.plan.cases[0].launches[0].kernel.index()].name.to_string();
        let row = row(&module, &full);
        assert!(row.ends_with(end), "{row}");
    }
}

/// Of a descriptor that is passed as its parts, the rows lie side by side.
#[test]
fn strides_of_descriptors_go_with_their_extents() {
    let module = fixtures().join("corpus/triton_tma_matmul_13_sm80.ptx");
    let params = vec!["param_2=128".to_string()];
    let overrides = Overrides { params, ..Overrides::default() };
    let opened = open(&Request { modules: vec![module], launch: LaunchChoice::MadeUp, overrides }).unwrap();
    let numbers: Vec<u64> = [3, 4, 13, 14].into_iter().map(|index| number(&opened, index)).collect();
    let [size, ..] = [number(&opened, 11)];
    assert_eq!(numbers, [128, 1, size, 1]);
    let reasons = &opened.plan.cases[0].launches[0].reasons;
    let why = reasons.iter().find(|reason| reason.what == "tma_matmul_param_4 = 1").map(|reason| reason.why.as_str());
    assert_eq!(why, Some("a stride of the tensor descriptor that begins with tma_matmul_param_0"));
}

/// The number that parameter `index` holds.
fn number(opened: &Opened, index: usize) -> u64 {
    let bytes = match &opened.plan.cases[0].launches[0].params[index].value {
        ParamValue::Bytes(bytes) => Some(bytes),
        ParamValue::Address { .. } | ParamValue::TensorMap { .. } | ParamValue::Struct { .. } => None,
    };
    let bytes = bytes.unwrap();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn opened_graph(kernel: &str, words: &[&str]) -> Opened {
    let overrides = Overrides {
        kernel: Some(kernel.to_string()),
        params: words.iter().map(|word| (*word).to_string()).collect(),
        ..Overrides::default()
    };
    open(&Request { modules: vec![fixtures().join("made_up/graph.ptx")], launch: LaunchChoice::MadeUp, overrides }).unwrap()
}

/// What is said of a kernel of `graph.ptx` and what is found in its run.
fn of_graph(kernel: &str, words: &[&str]) -> (String, Vec<String>, [u32; 3], Option<Certificate>) {
    let opened = opened_graph(kernel, words);
    let options = RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() };
    let report = verify_case(&opened.program, &opened.plan.cases[0], &options, false).unwrap();
    let found = report.findings.iter().map(|finding| finding.id.word().to_string()).collect();
    (opened.made_up.unwrap(), found, opened.plan.cases[0].launches[0].block, report.certificate)
}

#[test]
fn indices_lead_threads_to_the_same_elements_and_stay_inside() {
    let every_order = |certificate: &Option<Certificate>| matches!(certificate, Some(Certificate::EveryOrder { never_ran: None, .. }));
    let (text, found, _, certificate) = of_graph("push", &[]);
    let neighbours = "Buffer(name: \"neighbours\", elem: U32, len: 4096, init: Random(seed: 2, low: 0, high: 63))";
    assert!(text.contains(neighbours) && text.contains("init: Iota(start: 0, step: 43)"), "{text}");
    assert!(found == ["race.global"] && certificate.is_none(), "{found:?}");
    let (_, found, _, certificate) = of_graph("push_atomically", &[]);
    assert!(found.is_empty() && every_order(&certificate), "{found:?} {certificate:?}");
    let (text, found, _, certificate) = of_graph("permute", &[]);
    assert!(text.contains("Buffer(name: \"place\", elem: U32, len: 64, init: Iota(start: 0, step: 1))"), "{text}");
    assert!(text.contains("Buffer(name: \"from\", elem: U32, len: 64, init: Random(seed: 2, low: 0, high: 63))"), "{text}");
    assert!(found.is_empty() && every_order(&certificate), "{found:?} {certificate:?}");
    // Inside an array that is given, the indices are below its length.
    let (text, found, _, _) = of_graph("permute", &["in=u32[8]=iota"]);
    assert!(text.contains("len: 64, init: Random(seed: 2, low: 0, high: 7)") && found.is_empty(), "{text} {found:?}");
}

/// A number that is given says how many threads have something to do.
#[test]
fn a_grid_has_the_blocks_that_a_given_number_asks_for() {
    for (words, grid, why) in [
        (&["nodes=1000"][..], 32, "as many blocks as nodes = 1000 asks for"),
        (&["nodes=33"], 2, "as many blocks as nodes = 33 asks for"),
        (&["nodes=20"], 1, "as many blocks as nodes = 20 asks for"),
        (&[], 2, "two blocks where the code distinguishes them"),
    ] {
        let opened = opened_graph("push_atomically", words);
        let launch = &opened.plan.cases[0].launches[0];
        let said = launch.reasons.iter().find(|reason| reason.what == "grid").map(|reason| reason.why.as_str());
        assert_eq!((launch.grid, said), ([grid, 1, 1], Some(why)), "{words:?}");
        let (text, found, _, _) = of_graph("push_atomically", words);
        assert!(found.is_empty(), "{words:?} {found:?} {text}");
    }
}

#[test]
fn a_block_has_the_warps_that_the_code_distinguishes() {
    let (_, found, block, _) = of_graph("by_warps", &[]);
    assert_eq!((found, block), (vec!["race.global".to_string()], [128, 1, 1]));
}

#[test]
fn what_a_made_up_launch_does_not_lead_to_is_said() {
    let (_, found, _, certificate) = of_graph("rare", &[]);
    let never_ran = Some(NeverRan { instructions: 1, of: 2 });
    assert_eq!(
        (found.len(), &certificate),
        (0, &Some(Certificate::EveryOrder { may_round_differently: false, blocks: None, never_ran, resident: None, has_reserved: false }))
    );
    let (_, found, _, certificate) = of_graph("rare", &["in=u32[32]=123456", "out=zero"]);
    assert!(found == ["race.global"] && certificate.is_none(), "{found:?}");
}

#[test]
fn a_buffer_without_a_length_is_as_long_as_the_kernel_reaches() {
    let (text, _, _, _) = of_graph("rare", &["in=random(3,5,6)"]);
    assert!(text.contains("Buffer(name: \"in\", elem: U32, len: 32, init: Random(seed: 3, low: 5, high: 6))"), "{text}");
}
