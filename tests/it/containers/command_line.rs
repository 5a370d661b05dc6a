//! `ptxdbg` on files that hold PTX: what it lists, which module it takes, and how it ends.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::folder;

/// Exit status, standard output and standard error of `ptxdbg` with these words, run in `fixtures/containers`.
fn ptxdbg(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(folder()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// A folder of ours for `name`, empty.
fn empty_folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("containers").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Sizes of shared memory are those of the source: 130 floats, and none of its own.
#[test]
fn kernels_are_listed_under_the_names_of_the_source() {
    let (status, out, err) = ptxdbg(&["--list", "libboth.a", "--arch", "sm_90"]);
    let expected = "\
libboth.a: an archive with 2 modules; launch file: libboth.ron (none yet)
  module                                            target   shared       parameters     kernel
  libboth.2.sm_90a.ptx (scale.o)                    sm_90a   0            u64, f32, u32  void scale<float>(float*, float, int)
  libboth.2.sm_90a.ptx (scale.o)                    sm_90a   0            u64, f64, u32  void scale<double>(double*, double, int)
  libboth.2.sm_90a.ptx (scale.o)                    sm_90a   520          2 x u64, u32   filters::smooth(float const*, float*, int)
  libboth.4.sm_90a.ptx (a_total_packed_with_lz4.o)  sm_90a   0 + dynamic  2 x u64, u32   total
";
    let squeezed = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!((status, squeezed(&out), err.as_str()), (0, squeezed(expected), ""));
}

#[test]
fn records_have_what_there_is_to_know() {
    let (status, out, _) = ptxdbg(&["--list", "app", "--arch", "compute_75", "--format", "json"]);
    let records: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, records.len()), (0, 4));
    let total = serde_json::json!({
        "kind": "kernel", "file": "app", "module": "app/app.3.sm_75.ptx", "member": null, "source": null, "packing": "zstd", "version": "9.0",
        "target": "sm_75", "name": "total", "demangled": null,
        "params": [
            { "name": "total_param_0", "type": "u64", "bytes": 8 },
            { "name": "total_param_1", "type": "u64", "bytes": 8 },
            { "name": "total_param_2", "type": "u32", "bytes": 4 },
        ],
        "shared": 0, "dynamic_shared": true, "launch_file": "app.ron", "has_launch_file": false,
    });
    assert_eq!(records[3], total);
    assert_eq!(records[2]["demangled"], "filters::smooth(float const*, float*, int)");
}

/// The sum is that of the source over 0, 1, .. 255, worked out here.
#[test]
fn a_kernel_is_run_out_of_a_program() {
    let mix = |x: u32| x.wrapping_mul(2_654_435_761) ^ (x >> 15);
    let sum = (0..256_u32).map(mix).fold(0, u32::wrapping_add).to_string();
    let expect = format!("total_param_1={sum}");
    let words = [
        "-k",
        "total",
        "--batch",
        "--block",
        "64",
        "--grid",
        "1",
        "--dynamic-shared",
        "256",
        "-a",
        "u32[256]=iota",
        "-a",
        "u32[1]",
        "-a",
        "256",
    ];
    for file in ["app", "libboth.so", "libboth.a", "total.cubin", "cubins.fatbin", "app/app.3.sm_75.ptx"] {
        let (status, out, err) = ptxdbg(&[&[file], &words[..], &["--expect", &expect]].concat());
        assert_eq!((status, err.as_str()), (0, ""), "{file}: {out}");
        assert_eq!(out.contains("sm_90a, the best of 6 modules (--arch, --list)"), file == "app", "{file}: {out}");
    }
}

#[test]
fn every_name_of_a_kernel_is_taken() {
    for name in
        ["smooth", "filters::smooth", "_ZN7filters6smoothEPKfPfi", "scale<float>", "void scale<double>(double*, double, int)", "total"]
    {
        let (status, out, err) = ptxdbg(&["app_rdc", "-k", name, "--batch", "--step-limit", "200000", "--checks", "none"]);
        assert!(status < 2 && err.is_empty(), "{name}: {out}{err}");
    }
    let (status, _, err) = ptxdbg(&["app", "-k", "scale", "--batch"]);
    let both =
        "ptxdbg: app: 2 kernels are called 'scale': void scale<double>(double*, double, int), void scale<float>(float*, float, int)\n";
    assert_eq!((status, err.as_str()), (2, both));
    let (status, _, err) = ptxdbg(&["app", "-k", "sum"]);
    let none = "ptxdbg: app: there is no kernel 'sum'; there are filters::smooth, scale<double>, scale<float>, total\n";
    assert_eq!((status, err.as_str()), (2, none));
}

/// The names are those that the source declares.
#[test]
fn every_name_of_a_kernel_is_taken_for_a_text() {
    let file = "../debug/names.ptx";
    let run = |name: &str, words: &[&str]| ptxdbg(&[&[file, "-k", name, "--batch", "--grid", "1", "--block", "64"], words].concat());
    for (name, mangled) in [
        ("scale<float>", "_ZN3lin5scaleIfEEvPT_i"),
        ("lin::scale<float>(float *, int)", "_ZN3lin5scaleIfEEvPT_i"),
        ("void lin::scale< double >(double*,int)", "_ZN3lin5scaleIdEEvPT_i"),
        ("lin::detail::scale", "_ZN3lin6detail5scaleEPfi"),
        ("detail::scale(float*, int)", "_ZN3lin6detail5scaleEPfi"),
        ("pack<>", "_Z4packIJEEvPiDpT_"),
        ("_Z4packIJEEvPiDpT_", "_Z4packIJEEvPiDpT_"),
        ("hidden", "_ZN40_GLOBAL__N__eddd1448_8_names_cu_f1b708936hiddenEPi"),
    ] {
        let (status, out, err) = run(name, &["--format", "json"]);
        let launched =
            out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).find(|record| record["kind"] == "run");
        assert_eq!(launched.map(|run| run["launches"][0]["kernel"].clone()), Some(mangled.into()), "{name}: {status} {out}{err}");
    }
    let (status, out, err) = run("pack", &[]);
    assert!(status < 2 && out.contains("\npack<>: grid (1,1,1)") && err.is_empty(), "{out}{err}");
    let (status, _, err) = run("scale", &[]);
    let which = "3 kernels are called 'scale'; say which one: void lin::scale<float>(float*, int), void lin::scale<double>(double*, int), \
        lin::detail::scale(float*, int)\n";
    assert!(status == 2 && err.ends_with(which), "{err}");
    let (status, _, err) = run("lin::scale<int>", &[]);
    assert!(status == 2 && err.contains("there is no kernel 'lin::scale<int>'; the module has void pack<>(int*), "), "{err}");
}

#[test]
fn the_architecture_can_be_chosen() {
    let (status, _, err) = ptxdbg(&["--list", "libboth.so", "--arch", "sm_80"]);
    assert_eq!((status, err.as_str()), (2, "ptxdbg: libboth.so has no PTX for sm_80: there is sm_75, sm_90a\n"));
    let (status, _, err) = ptxdbg(&["libboth.so", "-k", "total", "--arch", "sm_120", "--batch"]);
    assert_eq!((status, err.as_str()), (2, "ptxdbg: libboth.so has no PTX for sm_120: there is sm_75, sm_90a\n"));
    let (status, _, err) = ptxdbg(&["libboth.so/libboth.9.sm_75.ptx"]);
    let wanted = "ptxdbg: libboth.so has no module libboth.9.sm_75.ptx: ptxdbg --list libboth.so names them\n";
    assert_eq!((status, err.as_str()), (2, wanted));
}

/// What is saved names the module, so that it runs the same whatever else the file holds.
#[test]
fn a_saved_launch_names_the_module() {
    let folder_of_ours = empty_folder("saved");
    let library = folder_of_ours.join("libboth.so");
    fs::copy(folder().join("libboth.so"), &library).unwrap();
    let (library, saved) = (library.to_str().unwrap(), folder_of_ours.join("total.ron"));
    let (status, out, err) = ptxdbg(&[library, "-k", "total", "--arch", "sm_75", "--save-launch", saved.to_str().unwrap()]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let text = fs::read_to_string(&saved).unwrap();
    assert!(text.contains("module: \"libboth.so/libboth.3.sm_75.ptx\""), "{text}");
    let (status, out, err) = ptxdbg(&["-l", saved.to_str().unwrap(), "--batch"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    // The launch that is printed is relative to the folder of the library.
    let (_, out, _) = ptxdbg(&[library, "-k", "total", "--batch"]);
    assert!(out.contains("module: \"libboth.so/libboth.4.sm_90a.ptx\""), "{out}");
}

#[test]
fn all_modules_are_checked() {
    for file in ["app", "app_rdc", "libboth.a", "scale.o", "total.cubin", "cubins.fatbin", "scale_none.fatbin"] {
        assert_eq!(ptxdbg(&["--check", file]), (0, String::new(), String::new()), "{file}");
    }
}

#[test]
fn damage_ends_with_2_and_the_rest_is_listed() {
    let mut bytes = super::bytes("scale_speed.fatbin");
    bytes[96..100].copy_from_slice(&[0xff; 4]);
    let path = empty_folder("damaged").join("half.fatbin");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let (status, out, err) = ptxdbg(&["--list", path]);
    assert_eq!((status, out.lines().count()), (2, 5), "{out}{err}");
    assert!(err.starts_with(&format!("ptxdbg: {path}: offset 0x10: its LZ4 block is damaged: ")), "{err}");
    let (status, out, _) = ptxdbg(&["--list", path, "--format", "json"]);
    let unread: serde_json::Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((status, &unread["kind"], &unread["place"]), (2, &"unread".into(), &format!("{path}: offset 0x10").into()));
    let (status, _, err) = ptxdbg(&["--check", path]);
    assert!(status == 2 && err.contains("offset 0x10: its LZ4 block is damaged"), "{err}");
    // What can be read runs, and what cannot be read is said.
    let (status, out, err) = ptxdbg(&[path, "-k", "scale<float>", "--batch"]);
    assert!(status == 0 && err.is_empty() && out.contains("not read: "), "{out}{err}");
    let (status, _, err) = ptxdbg(&[path, "-k", "scale<float>", "--arch", "sm_75"]);
    assert!(status == 2 && err.contains("has no PTX that can be read\n") && err.contains("offset 0x10: its LZ4 block"), "{err}");
}

/// The source says that x becomes (x << 3) + 5, in a function of the second module with numbers of the third.
#[test]
fn modules_that_need_each_other_are_linked() {
    let words = ["-k", "turn", "--batch", "--grid", "1", "--block", "1", "-a", "u32[1]=7", "--expect", "turn_param_0=61"];
    let (status, out, err) = ptxdbg(&[&["libparts.a"], &words[..]].concat());
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("linked with: libparts.2.sm_90.ptx, libparts.3.sm_90.ptx, which define what it calls"), "{out}");
    // A launch file that names the module links it with the same ones.
    let saved = empty_folder("linked").join("turn.ron");
    let words = ["-k", "turn", "--grid", "1", "--block", "1", "-a", "u32[1]=7", "--save-launch", saved.to_str().unwrap()];
    let (status, out, err) = ptxdbg(&[&["libparts.a"], &words[..]].concat());
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let (status, out, err) = ptxdbg(&["-l", saved.to_str().unwrap(), "--batch", "--expect", "turn_param_0=61"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
}

#[test]
fn a_module_is_meant_by_the_name_that_is_listed() {
    let names = |file: &str| -> Vec<String> {
        let (status, out, err) = ptxdbg(&["--list", file]);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        out.lines().skip(2).map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
    };
    for (file, count) in [("lines.o", 2), ("total.cubin", 1), ("libparts.a", 3), ("texts/9814fec6.txt", 1)] {
        let names = names(file);
        assert_eq!(names.len(), count, "{names:?}");
        for name in names {
            let (status, out, err) = ptxdbg(&["--list", &format!("{file}/{name}")]);
            assert_eq!((status, out.lines().count(), err.as_str()), (0, 3, ""), "{file}/{name}: {out}");
        }
    }
    assert_eq!(names("lines.o"), ["total.sm_90.ptx", "total.sm_75.ptx"]);
}

#[test]
fn what_is_no_ptx_is_refused_with_its_place() {
    let there = empty_folder("no_ptx");
    for (name, text, reason) in [
        ("empty.ptx", "", "empty.ptx is empty: a module begins with .version"),
        (
            "blank.ptx",
            "// nothing\n \n",
            "blank.ptx:1:1: this is no PTX: a module begins with .version, and here is white space and comments alone",
        ),
        (
            "main.txt",
            "// main\n  int main() { return 0; }\n",
            "main.txt:2:3: this is no PTX: a module begins with .version, and here is 'int'",
        ),
        ("zero.ptx", ".version\0 8.0", "zero.ptx is not a text file: byte 0x00 at offset 8; "),
    ] {
        fs::write(there.join(name), text).unwrap();
        let (status, out, err) = ptxdbg(&["--list", there.join(name).to_str().unwrap()]);
        assert!(status == 2 && out.is_empty() && err.contains(reason), "{name}: {status} {out}{err}");
    }
}

/// Of code without PTX it is said what it is.
#[test]
fn code_in_other_forms_is_said_to_be_that() {
    let said = |words: &[&str]| {
        let (status, out, err) = ptxdbg(words);
        assert_eq!((status, out.as_str()), (2, ""), "{err}");
        err
    };
    let err = said(&["--list", "lto.o"]);
    let way_out = "it has LTO IR alone, for sm_90, which becomes machine code at link time; link with nvcc -dlto, or compile with -gencode \
        arch=compute_90,code=compute_90\n";
    assert!(err.ends_with(way_out), "{err}");
    let program = std::env::current_exe().unwrap();
    let err = said(&["--list", program.to_str().unwrap()]);
    assert!(err.contains("without code for a GPU: it has no section of fat binaries (.nv_fatbin)"), "{err}");
    let err = said(&["--list", "-"]);
    assert!(err.contains("'-' is no file: give standard input as /dev/stdin"), "{err}");
}

/// What is said of a file that comes through a pipe.
#[cfg(unix)]
fn through_a_pipe(file: &str, words: &[&str]) -> (Option<i32>, String, String) {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
    let child = child.args(words).current_dir(folder()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::copy(&mut fs::File::open(folder().join(file)).unwrap(), &mut input).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("/dev/stdin", "FILE").replace("stdin.", "FILE.");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A program or a library is read here and there, and all of it has come through the pipe by then.
#[cfg(unix)]
#[test]
fn a_program_through_a_pipe_is_read_as_from_a_file() {
    for file in ["app_rdc", "libparts.a", "scale_default.fatbin", "total.cubin"] {
        let (status, listed, err) = ptxdbg(&["--list", file]);
        let stem = std::path::Path::new(file).file_stem().unwrap().to_str().unwrap();
        let listed = listed.replace(file, "FILE").replace(&format!("{stem}."), "FILE.");
        let lines = |text: &str| text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        let (piped_status, piped, piped_err) = through_a_pipe(file, &["--list", "/dev/stdin"]);
        assert_eq!((piped_status, lines(&piped), piped_err), (Some(status), lines(&listed), err), "{file}");
    }
    let (status, out, err) = through_a_pipe("app_rdc", &["--batch", "/dev/stdin", "-k", "scale<float>"]);
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.contains("scale<float>: grid"), "{out}");
}

#[test]
fn code_without_ptx_says_what_would_be_right() {
    let (status, out, err) = ptxdbg(&["without_text.cubin"]);
    let message = "ptxdbg: without_text.cubin is a cubin, and has no PTX: it has machine code alone, in 1 cubin; compile with -lineinfo, \
        which keeps the PTX in a cubin, or for a virtual architecture too, such as -gencode arch=compute_90,code=compute_90\n";
    assert_eq!((status, out.as_str(), err.as_str()), (2, "", message));
}

/// The folders that Triton makes: one for each kernel, and the cubin beside the PTX is no second module.
#[test]
fn a_cache_is_a_folder_of_modules() {
    let cache = empty_folder("cache");
    for (name, kernel) in [("A1B2", "matmul"), ("C3D4", "vadd"), ("E5F6", "softmax")] {
        let own = cache.join(name);
        fs::create_dir(&own).unwrap();
        for end in ["ptx", "json", "ttir"] {
            fs::copy(folder().join(format!("../triton/sm_90/{kernel}.{end}")), own.join(format!("{kernel}.{end}"))).unwrap();
        }
        fs::copy(folder().join("without_text.cubin"), own.join(format!("{kernel}.cubin"))).unwrap();
    }
    let path = cache.to_str().unwrap();
    let (status, out, err) = ptxdbg(&["--list", path, "--format", "json"]);
    let records: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((status, records.len(), err.as_str()), (0, 3, ""), "{out}");
    assert!(records[1]["file"].as_str().unwrap().ends_with("C3D4/vadd.ptx") && records[1]["target"] == "sm_90a", "{out}");
    let name = records[1]["name"].as_str().unwrap();
    // The number of warps is what the JSON beside the module says.
    let json: serde_json::Value = serde_json::from_slice(&fs::read(folder().join("../triton/sm_90/vadd.json")).unwrap()).unwrap();
    let threads = json["num_warps"].as_u64().unwrap() * 32;
    let (status, out, err) = ptxdbg(&[path, "-k", name, "--batch"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("vadd.json says so") && out.contains(&format!("block: ({threads}, 1, 1)")), "{out}");
    let (status, _, err) = ptxdbg(&["texts"]);
    assert!(status == 2 && err.contains("texts is a folder without PTX: no .ptx, .cubin or .fatbin is in it; "), "{err}");
}
