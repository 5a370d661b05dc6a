//! The program as it is called: what it prints where, and how it ends, above all when it is used wrongly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit status, standard output and standard error of `ptxdbg` with these words, run in `fixtures`.
fn ptxdbg(words: &[&str]) -> (i32, String, String) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(fixtures).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// What a report says, without the lines on how far the run can be trusted.
fn report(words: &[&str]) -> (i32, String, String) {
    let (status, out, err) = ptxdbg(words);
    let trust = |line: &&str| {
        ["bit-exact ", "by manual ", "approximate ", "             ", "every order ", "one order "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    (status, out.lines().filter(|line| !trust(line)).map(|line| format!("{line}\n")).collect(), err)
}

/// A file with this content in a folder of ours.
fn file(name: &str, content: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("command_line").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_string()
}

#[track_caller]
fn assert_unusable(words: &[&str], message: &str) {
    let (status, out, err) = ptxdbg(words);
    assert_eq!(status, 2, "{words:?}: {out}{err}");
    assert_eq!(out, "", "{words:?}");
    assert!(err.contains(message), "{words:?}: {err}");
}

const TWO_KERNELS: &[u8] = b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry a() { ret; }\n.visible .entry b() { ret; }\n";

#[test]
fn a_suite_passes() {
    let (status, out, err) = ptxdbg(&["--verify", "-l", "hardware/integer.ron", "-l", "hardware/barrier.ron"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((status, lines.last().copied(), err.as_str()), (0, Some("147 passed, 0 failed"), ""));
    assert!(lines[0].starts_with("bit-exact    ") && lines[0].contains(" opcodes, as recorded on hardware: "), "{out}");
    assert_eq!(lines[1..2], ["every order  147 of 147 hold for every order"], "{out}");
    assert_eq!(lines.len(), 3, "{out}");
}

#[test]
fn a_run_says_how_far_it_can_be_trusted() {
    let (_, out, _) = ptxdbg(&["--batch", "-l", "small/approximate.ron"]);
    let end: Vec<&str> = out.lines().rev().take(2).collect();
    let decided = "             what they computed may have decided an address (approximate.ptx:30), a branch (approximate.ptx:33)";
    let approximate = "approximate  1 opcode: tex.3d.v4.f32.f32 (approximate.ptx:18)";
    assert_eq!(end, [decided, approximate], "{out}");
}

#[test]
fn a_launch_file_beside_the_kernel_is_found() {
    assert_eq!(report(&["--verify", "small/smallest.ptx"]), (0, "1 passed, 0 failed\n".to_string(), String::new()));
    let expected = "smallest: grid (1,1,1), block (8,1,1): 6 ticks, 48 thread-instructions\nout: u32[8] = 0 1 2 3 4 5 6 7\n\
        smallest: as expected\n";
    assert_eq!(report(&["--batch", "small/smallest.ptx"]), (0, expected.to_string(), String::new()));
}

#[test]
fn a_mismatch_names_the_element_and_its_writer() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/small/smallest.ptx")).unwrap();
    file("smallest.ptx", text.as_bytes());
    let launch = "Launch(module: \"smallest.ptx\", kernel: \"smallest\", grid: (1, 1, 1), block: (4, 1, 1), params: [
        Buffer(name: \"out\", elem: U32, len: 8, init: Fill(9), expect: Values([0, 1, 5, 3, 9, 9, 9, 8]))])";
    let (status, out, err) = report(&["--verify", "-l", &file("mismatch.ron", launch.as_bytes())]);
    let line = text.lines().position(|line| line.contains("st.global")).unwrap() + 1;
    let expected = format!(
        "FAIL smallest: out[2] = 2, expected 5; last written by block (0,0,0) thread (2,0,0) at smallest.ptx:{line}, time 4\n\
         FAIL smallest: out[7] = 9, expected 8; never written\n\
         FAIL smallest: out: 2 of its 8 elements are wrong; the largest difference is 3, and --atol 3 or --rtol 0.6 accepts it\n\
         0 passed, 1 failed\n"
    );
    assert_eq!((status, out, err), (1, expected, String::new()));
}

/// A launch of the smallest kernel with these words after its buffer's contents, in a file, and the kernel beside it: in a folder of
/// its own, as tests run side by side.
fn smallest(name: &str, block: &str, expect: &str) -> String {
    let text = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/small/smallest.ptx")).unwrap();
    file(&format!("{name}.d/expecting.ptx"), &text);
    let launch = format!(
        "Launch(module: \"expecting.ptx\", kernel: \"smallest\", grid: (1, 1, 1), block: ({block}, 1, 1), params: [
        Buffer(name: \"out\", elem: U32, len: 8, init: Fill(9), {expect})])"
    );
    file(&format!("{name}.d/{name}"), launch.as_bytes())
}

#[test]
fn a_batch_run_compares_what_its_launch_file_expects() {
    let wrong = smallest("expects_wrong.ron", "8", "expect: Values([0, 1, 5, 3, 4, 5, 6, 7])");
    let (status, out, err) = report(&["--batch", "-l", &wrong]);
    let mismatch = "out[2] = 2, expected 5; last written by block (0,0,0) thread (2,0,0) at expecting.ptx:";
    assert_eq!((status, err.as_str()), (1, ""), "{out}");
    assert!(out.contains(&format!("\nFAIL smallest: {mismatch}")), "{out}");
    let described: Vec<&str> = out.lines().filter(|line| line.starts_with("FAIL ")).collect();
    let verified = report(&["--verify", "-l", &wrong]).1;
    assert_eq!(described, verified.lines().filter(|line| line.starts_with("FAIL ")).collect::<Vec<_>>());
    let json = ptxdbg(&["--batch", "--format", "json", "-l", &wrong]);
    assert_eq!(json.0, 1);
    let comparison = r#""compared":true,"failures":[{"element":"out[2]","expected":"5","kind":"mismatch","#;
    assert!(json.1.contains(comparison) && json.1.contains(r#""kind":"comparison","name":"smallest","passed":false}"#), "{}", json.1);
    let sarif = ptxdbg(&["--batch", "--format", "sarif", "-l", &wrong]);
    assert!(sarif.0 == 1 && sarif.1.contains(mismatch), "{}", sarif.1);
    let right = smallest("expects_right.ron", "8", "expect: Values([0, 1, 2, 3, 4, 5, 6, 7])");
    let (status, out, _) = report(&["--batch", "-l", &right]);
    assert_eq!((status, out.lines().count()), (0, 3), "{out}");
    assert!(out.ends_with("smallest: as expected\n"), "{out}");
    assert!(ptxdbg(&["--batch", "--format", "json", "-l", &right]).1.contains(r#""compared":true,"failures":[],"kind":"comparison""#));
    let none = smallest("expects_nothing.ron", "8", "");
    assert!(!ptxdbg(&["--batch", "--format", "json", "-l", &none]).1.contains("comparison"));
}

#[test]
fn a_batch_run_that_stops_early_says_that_nothing_was_compared() {
    let launch = smallest("stops_early.ron", "8", "expect: Values([0, 1, 2, 3, 4, 5, 6, 7])");
    let (status, out, err) = report(&["--batch", "--step-limit", "2", "-l", &launch]);
    assert_eq!((status, err.as_str()), (1, ""), "{out}");
    assert!(out.ends_with("smallest: not compared with what is expected: the run stopped before its end\n"), "{out}");
    let json = ptxdbg(&["--batch", "--format", "json", "--step-limit", "2", "-l", &launch]).1;
    assert!(json.contains(r#"{"compared":false,"failures":[],"kind":"comparison","name":"smallest","passed":false}"#), "{json}");
    let sarif = ptxdbg(&["--batch", "--format", "sarif", "--step-limit", "2", "-l", &launch]).1;
    assert!(sarif.contains("\"notCompared\": [\n"), "{sarif}");
}

#[test]
fn a_session_stops_at_the_step_limit_as_a_batch_run_does() {
    let launch = smallest("stops_early_in_session.ron", "8", "");
    for words in [&["-e", "run"][..], &["-e", "goto 1", "-e", "goto 4"]] {
        let (status, out, _) = report(&[&["--batch", "--step-limit", "2", "-l", &launch], words].concat());
        assert!(status == 1 && out.contains("the step limit of 2 warp-instructions was reached\n  t=2 "), "{status}: {out}");
        assert!(!out.contains("t=3") && !out.contains("t=4"), "{out}");
    }
}

#[test]
fn an_empty_launch_file_beside_the_kernel_is_ignored_with_a_word() {
    let kernel = file("empty.ptx", TWO_KERNELS);
    for blank in ["", " \n\n", "// saved later\n/* a /* nested */ one */\n"] {
        let launch = file("empty.ron", blank.as_bytes());
        let (status, out, err) = ptxdbg(&["--batch", &kernel]);
        assert_eq!(status, 0, "{blank:?}: {err}");
        assert!(out.starts_with("// There is no launch file") && err.contains("empty.ron is empty and is ignored"), "{out}{err}");
        let (status, _, err) = ptxdbg(&["--batch", "-l", &launch, &kernel]);
        assert_eq!(status, 2);
        assert!(err.contains("error[launch]: the file is empty") && err.contains("prints a made-up launch"), "{err}");
        let (status, _, err) = ptxdbg(&["--verify", &kernel]);
        assert!(status == 2 && err.contains("empty.ron is empty"), "{err}");
    }
    file("empty.ron", b"/* never ends");
    assert_eq!(ptxdbg(&["--batch", &kernel]).0, 2);
    std::fs::remove_file(Path::new(&kernel).with_extension("ron")).unwrap();
}

#[test]
fn a_launch_that_is_saved_by_redirection_is_a_launch_file() {
    let kernel = file("redirected.ptx", TWO_KERNELS);
    let beside = Path::new(&kernel).with_extension("ron");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
    let run = command.args(["--batch", &kernel]).stdout(std::fs::File::create(&beside).unwrap()).output().unwrap();
    let described = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && described.contains("a: grid (1,1,1), block (32,1,1): "), "{described}");
    let again = report(&["--batch", &kernel]);
    assert_eq!((again.0, again.2.as_str()), (0, ""), "{}", again.1);
    let saved = std::fs::read_to_string(&beside).unwrap();
    std::fs::write(&beside, format!("{saved}{}", again.1)).unwrap();
    let (status, _, err) = ptxdbg(&["--batch", &kernel]);
    assert!(status == 2 && err.contains("the file goes on after its end") && err.contains("delete the rest"), "{err}");
    std::fs::remove_file(&beside).unwrap();
}

#[test]
fn a_fault_is_a_failure_with_its_place() {
    let (status, out, err) = ptxdbg(&["faults/global_out_of_bounds.ptx"]);
    assert_eq!((status, err.as_str()), (1, ""));
    assert!(out.contains("memory.out_of_bounds: "), "{out}");
    assert!(out.contains("block (0,0,0) warp 0 lanes 28-31  global_out_of_bounds.ptx:19  st.global.u32 [%out], %t\n"), "{out}");
    let (status, out, _) = ptxdbg(&["--verify", "-l", "faults/global_out_of_bounds.ron"]);
    assert_eq!(status, 1);
    assert!(out.starts_with("FAIL global_out_of_bounds: memory.out_of_bounds: "), "{out}");
    assert!(out.ends_with("0 passed, 1 failed\n"), "{out}");
}

#[test]
fn findings_that_the_launch_file_names_are_right() {
    let launch = |findings: &str| {
        let text =
            format!("Launch(module: \"fault.ptx\", kernel: \"k\", grid: (1, 1, 1), block: (1, 1, 1), params: [], findings: {findings})");
        file("findings.ron", text.as_bytes())
    };
    file("fault.ptx", b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { trap; }\n");
    let verify = |findings: &str| report(&["--verify", "-l", &launch(findings)]);
    assert_eq!(verify("AnyOf(ids: [\"race.global\", \"trap\"])").1, "1 passed, 0 failed\n");
    let (status, out, _) = verify("Clean");
    assert_eq!((status, out.lines().next()), (1, Some("FAIL k: trap: trap executed")));
    file("fault.ptx", b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n");
    assert_eq!(verify("Clean").1, "1 passed, 0 failed\n");
    assert_eq!(verify("AnyOf(ids: [\"trap\"])").1, "FAIL k: k: nothing was found, expected trap\n0 passed, 1 failed\n");
    let silent = "FAIL k: k: nothing was found, expected race.global or trap\n0 passed, 1 failed\n";
    assert_eq!(verify("AnyOf(ids: [\"race.global\", \"trap\"])"), (1, silent.to_string(), String::new()));
    let unchecked = report(&["--verify", "--checks", "init,sync", "-l", &launch("AnyOf(ids: [\"race.global\"])")]);
    assert!(unchecked.1.contains("expected race.global; --checks leaves out race"), "{}", unchecked.1);
}

#[test]
fn warnings_fail_where_they_are_to_and_notes_never() {
    let run = |case: &str, words: &[&str]| {
        let module = format!("cases/{case}.ptx");
        let (code, out, _) = ptxdbg(&[&["--batch", &module, "--block", "64", "-a", "u32[128]"], words].concat());
        (
            code,
            out.lines()
                .filter(|line| line.contains(": race."))
                .map(|line| line[..line.find(" in ").unwrap()].to_string())
                .collect::<Vec<_>>(),
        )
    };
    let unordered = vec!["warning: race.unordered: s[32]".to_string()];
    assert_eq!(run("volatile_shared", &[]), (0, unordered.clone()));
    assert_eq!(run("volatile_shared", &["--strict"]), (1, unordered));
    let (code, notes) = run("same_value", &["--strict"]);
    assert!(code == 0 && !notes.is_empty() && notes.iter().all(|line| line.starts_with("note: race.same_value: ")), "{code} {notes:?}");
}

#[test]
fn each_lane_of_one_store_is_shown_with_what_it_writes_itself() {
    let values = |kernel: &str, arguments: &[&str]| -> Vec<String> {
        let (_, out, _) = ptxdbg(&[&["--batch", "cases/lane_sums.ptx", "-k", kernel, "--block", "32"], arguments].concat());
        out.lines().filter_map(|line| line.split_once("   writes ")).map(|(_, value)| value.to_string()).collect()
    };
    let sums = values("fused", &["-a", "f32[32]=random(2,-1,1)", "-a", "f32[32]=random(12,-1,1)", "-a", "f32[1]=zero"]);
    assert!(sums.len() == 2 && sums[0] != sums[1] && sums.iter().all(|sum| sum.parse::<f32>().is_ok()), "{sums:?}");
    assert_eq!(values("not_numbers", &["-a", "u32[1]"]), ["nan(0x400001)", "nan(0x400002)"]);
}

#[test]
fn a_made_up_launch_is_shown() {
    let path = file("made_up.ptx", TWO_KERNELS);
    let (status, out, err) = report(&["--block", "2", &path]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("the values of this launch are made up"), "{out}");
    assert!(out.contains("kernel: \"a\",\n    grid: (1, 1, 1),\n    block: (2, 1, 1),"), "{out}");
    let end = "a: grid (1,1,1), block (2,1,1): 1 tick, 2 thread-instructions\nmade up      grid (1,1,1): give --grid\n";
    assert!(out.ends_with(end), "{out}");
}

#[test]
fn parameters_may_be_words() {
    let (status, out, err) = report(&["small/smallest.ptx", "--block", "4", "-a", "u32[4]=7"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.ends_with("out: u32[4] = 0 1 2 3\n"), "{out}");
    assert_unusable(&["small/smallest.ptx", "-a", "u32[4]=many"], "--arg 1:1:8: error[arg]: 'many' is not a number");
    assert_unusable(&["small/smallest.ptx", "-a", "u32=1"], "--arg 1:1:1: error[launch]: params[0]: kernel parameter");
    assert_unusable(&["small/smallest.ptx", "-a", "in=u32[4]"], "--arg 1:1:1: error[arg]: 'in' is neither a parameter nor a type");
    assert_unusable(&["small/smallest.ptx", "-a", "u32[4]", "-a", "u32=1"], "--arg 2:1:1: error[arg]: the kernel has only 1 parameter");
}

/// `out[i] = factor * in[i]` for i below `n`, one row of 32 for each block.
const SCALE: &[u8] = b".version 7.0 .target sm_80 .address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n, .param .f32 factor) {
    .reg .b64 %a, %b, %at; .reg .b32 %i, %n, %c; .reg .f32 %f, %g; .reg .pred %p;
    ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %n, [n]; ld.param.f32 %g, [factor];
    mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %i, %c, 32, %i;
    setp.ge.u32 %p, %i, %n; @%p bra end;
    mul.wide.u32 %at, %i, 4; add.u64 %a, %a, %at; add.u64 %b, %b, %at;
    ld.global.f32 %f, [%a]; mul.rn.f32 %f, %f, %g; st.global.f32 [%b], %f;
end: ret;
}";

/// NumPy's file of these numbers.
fn npy(name: &str, numbers: &[f32]) -> String {
    let mut bytes = ptxdbg::launch::npy::header_bytes(ptxdbg::launch::Element::F32, &[numbers.len() as u64]);
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    file(name, &bytes)
}

/// The grid follows from the length of what is expected, the types from the kernel.
#[test]
fn a_kernel_is_compared_with_arrays_by_name() {
    let ptx = file("scale.ptx", SCALE);
    let numbers: Vec<f32> = (0..100).map(|number| number as f32 * 0.25).collect();
    let x = npy("scale_x.npy", &numbers);
    let right = npy("scale_y.npy", &numbers.iter().map(|number| number * 3.0).collect::<Vec<_>>());
    let (x, right) = (format!("in=@{x}"), format!("out=@{right}"));
    let given = ["--batch", &ptx, "-a", &x, "-a", "n=100", "-a", "factor=3", "--expect"];
    let with = |expected: &[&str]| ptxdbg(&given.iter().chain(expected).copied().collect::<Vec<_>>());
    let (status, out, err) = with(&[&right]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("what is not given of this launch is made up"), "{out}");
    assert!(out.contains("scale: grid (4,1,1), block (32,1,1)"), "{out}");
    let near = npy("scale_near.npy", &numbers.iter().map(|number| number * 3.0 + 1e-3).collect::<Vec<_>>());
    let near = format!("out=@{near}");
    assert_eq!(with(&[&near, "--atol", "0.002"]).0, 0);
    assert_eq!(with(&[&near, "--rtol", "1e-9", "--atol", "0.0005"]).0, 1);
    let (status, out, _) = with(&[&near]);
    assert_eq!(status, 1);
    assert!(
        out.contains("scale: out[0] = 0 (0x00000000), expected 0.001 (0x3a83126f); last written by block (0,0,0) thread (0,0,0)"),
        "{out}"
    );
    assert_unusable(&["--batch", &ptx, "--expect", "y=1,2"], "--expect 1:1:1: error[arg]: there is no buffer 'y'");
    assert_unusable(
        &["--batch", &ptx, "-a", "n=4", "--expect", "out=@none.npy"],
        "--expect 1:1:5: error[launch]: 'none.npy' cannot be read",
    );
    assert_unusable(&["--batch", &ptx, "--rtol", "1"], "--expect");
    assert_unusable(&["--batch", &ptx, "--expect", &right, "-e", "run"], "--expect compares a run without commands");
    assert_unusable(&["--batch", &ptx, "--expect", &right, "--rtol", "-1"], "'-1' is not a number of 0 or more");
}

#[test]
fn the_launch_that_would_run_is_saved() {
    let ptx = file("scale_saved.ptx", SCALE);
    let x = npy("scale_saved_x.npy", &[1.0, 2.0, 3.0]);
    let saved = file("scale_saved.launch.ron", b"");
    let given = format!("in=@{x}");
    let words = [&ptx, "-a", &given, "-a", "n=3", "-a", "out=[3]", "-a", "factor=2", "--expect", "out=2,4,6", "--save-launch", &saved];
    let (status, out, err) = ptxdbg(&words);
    assert_eq!((status, out, err.as_str()), (0, format!("launch written to {saved}\n"), ""));
    let text = std::fs::read_to_string(&saved).unwrap();
    assert!(text.contains("File(\"scale_saved_x.npy\")") && text.contains("module: \"scale_saved.ptx\""), "{text}");
    let (status, out, _) = ptxdbg(&["--verify", "-l", &saved]);
    assert!(status == 0 && out.contains("1 passed, 0 failed"), "{out}");
}

/// A script stands for nvcc.
#[test]
fn cuda_is_compiled_where_there_is_a_compiler() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_line/toolkit");
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    let source = file("scale.cu", b"__global__ void scale() {}");
    std::fs::write(folder.join("scale.ptx"), SCALE).unwrap();
    let script = "#!/bin/sh\ncase \"$*\" in *-DWRONG*) echo 'scale.cu(1): error: wrong' >&2; exit 1;; esac\n\
        [ \"$1 $2 $3\" = '-ptx -lineinfo -arch=sm_80' ] && cp \"${0%/bin/nvcc}/scale.ptx\" \"$5\"\n";
    std::fs::write(folder.join("bin/nvcc"), script).unwrap();
    std::fs::set_permissions(folder.join("bin/nvcc"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |words: &[&str], path: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).env("PATH", path).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let (status, out, err) = run(&["--batch", &source, "--nvcc", "-arch=sm_80"], &path);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("scale: grid "), "{out}");
    let (status, _, err) = run(&["--batch", &source, "--nvcc", "-DWRONG"], &path);
    assert_eq!(status, Some(2));
    assert!(err.contains("nvcc does not compile") && err.contains("scale.cu(1): error: wrong"), "{err}");
    if !std::path::Path::new("/usr/local/cuda/bin/nvcc").exists() {
        let (status, _, err) = run(&["--batch", &source], "/nowhere");
        assert_eq!(status, Some(2));
        assert!(err.contains("is CUDA C++ and no nvcc is found; where there is one: nvcc -ptx -lineinfo"), "{err}");
    }
}

#[test]
fn what_cannot_be_used_ends_with_2() {
    let two = file("two.ptx", TWO_KERNELS);
    assert_unusable(&[], "no file is given");
    assert_unusable(&["absent.ptx"], "cannot read absent.ptx: ");
    assert_unusable(&["hardware/in"], "hardware/in is a folder without PTX: no .ptx, .cubin or .fatbin is in it; Triton keeps it in ");
    let binary = "offset 0x0: it begins like an object, and is of no kind that is known here";
    assert_unusable(&[&file("binary.ptx", b"\x7fELF\x02\x01\x00")], binary);
    assert_unusable(&["-l", "absent.ron"], "cannot read absent.ron: no such file or directory");
    assert_unusable(&["small/smallest.ron"], "small/smallest.ron is a launch file: say --launch small/smallest.ron");
    assert_unusable(&["-k", "c", &two], "there is no kernel 'c'; the module has a, b");
    assert_unusable(&["-k", "c", "-l", "hardware/barrier.ron"], "no launch here is of kernel 'c'");
    assert_unusable(&["-l", "hardware/barrier.ron", "-l", "hardware/logic.ron"], "several are for --verify");
    let unnamed = file("unnamed.ron", b"Launch(grid: (1, 1, 1), block: (1, 1, 1), params: [])");
    assert_unusable(&["-l", &unnamed], "names no module");
    assert_unusable(&["-l", &unnamed, &two], "error[launch]: several kernels and none chosen");
    assert_unusable(&["--grid", "0", &two], "no extent can be 0");
    assert_unusable(&["--schedule", "backwards", &two], "invalid value 'backwards'");
    assert_unusable(&["--layout", "async", &two], "--layout needs the screen: a terminal for input and output");
    assert_unusable(&["--async", "sometimes", &two], "the policies are eager, lazy, random, random:SEED and by-hand");
    assert_unusable(&["--async", "random:x", &two], "'x' is not a seed");
    assert_unusable(&["--checks", "memory,races", &two], "there is no checker 'races'");
}

#[test]
fn a_module_with_errors_ends_with_1() {
    let empty = file("empty.ptx", b"");
    let broken = file("broken.ptx", b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { add.sat.u32 %r1, %r1, 1; }\n");
    for words in [&["--check"][..], &["--verify"], &[]] {
        for path in [&empty, &broken] {
            let words: Vec<&str> = words.iter().copied().chain([path.as_str()]).collect();
            let (status, out, err) = ptxdbg(&words);
            assert_eq!(status, 1, "{words:?}: {out}{err}");
            assert!(format!("{out}{err}").contains(": error["), "{words:?}: {out}{err}");
        }
    }
    assert_eq!(ptxdbg(&["--check", "small/smallest.ptx", "-l", "small/smallest.ron"]), (0, String::new(), String::new()));
}

#[test]
fn json_is_one_object_a_line() {
    let broken = file("broken.json.ptx", b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { nonsense; }\n");
    for words in [
        &["--check", &broken][..],
        &["small/smallest.ptx"],
        &["faults/barrier_deadlock.ptx"],
        &["--verify", "-l", "faults/trap_some.ron"],
        &["--block", "2", &file("two.json.ptx", TWO_KERNELS)],
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--format", "json"]).collect();
        let (_, out, err) = ptxdbg(&words);
        assert_eq!(err, "", "{words:?}");
        assert!(!out.is_empty(), "{words:?}");
        for line in out.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(value.get("kind").is_some_and(serde_json::Value::is_string), "{line}");
        }
    }
}

#[test]
fn programs_get_what_went_wrong_on_standard_output() {
    for words in [&["--frmat", "x"][..], &["none.ptx"], &[], &["--verify", "small/smallest.ptx", "--jobs", "0"]] {
        let json: Vec<&str> = words.iter().copied().chain(["--format", "json"]).collect();
        let (status, out, err) = ptxdbg(&json);
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        let message = value["message"].as_str().unwrap_or_default();
        assert_eq!((status, value["kind"].as_str()), (2, Some("error")), "{words:?}: {out}");
        assert!(!message.is_empty() && err.contains(message), "{words:?}: {out}{err}");
        let sarif: Vec<&str> = words.iter().copied().chain(["--format=sarif"]).collect();
        let document: serde_json::Value = serde_json::from_str(&ptxdbg(&sarif).1).unwrap();
        let invocation = &document["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false, "{words:?}: {document}");
        assert_eq!(invocation["toolExecutionNotifications"][0]["message"]["text"], message, "{words:?}");
    }
}

#[test]
fn a_race_on_a_tile_names_the_tile() {
    let of = |format: &str| ptxdbg(&["--batch", "-l", "cases/tile_race.ron", "--format", format]).1;
    let (text, json, sarif) = (of("human"), of("json"), of("sarif"));
    assert!(text.contains("race.global: C[2][4] of C[2:6, 4:12] in global memory, 4 bytes"), "{text}");
    assert!(text.contains("race.global: D[3][8] in global memory, 4 bytes"), "{text}");
    assert!(json.contains(r#""name":"C[2][4]","region":"C[2:6, 4:12]""#) && json.contains(r#""name":"D[3][8]","region":null"#), "{json}");
    assert!(sarif.contains("C[2][4] of C[2:6, 4:12]: "), "{sarif}");
}

#[test]
fn sarif_says_what_holds_for_every_order_and_what_is_made_up() {
    let document: serde_json::Value = serde_json::from_str(&ptxdbg(&["--batch", "small/smallest.ptx", "--format", "sarif"]).1).unwrap();
    let properties = &document["runs"][0]["properties"];
    assert_eq!(properties["certificates"][0]["verdict"], "every_order", "{properties}");
    assert!(properties["certificates"][0]["name"].is_string(), "{properties}");
    let words = ["--batch", "cases/flag_reset.ptx", "-k", "flag_reset", "--format", "sarif"];
    let document: serde_json::Value = serde_json::from_str(&ptxdbg(&words).1).unwrap();
    let made_up = &document["runs"][0]["properties"]["madeUp"][0];
    assert!(made_up["launchFile"].as_str().is_some_and(|file| file.contains("flag_reset")), "{document}");
    assert!(made_up["reasons"][0]["why"].is_string(), "{document}");
}

#[test]
fn colour_is_written_only_where_it_is_wanted() {
    let broken = file("colour.ptx", b".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { nonsense; }\n");
    assert!(!ptxdbg(&["--check", &broken]).1.contains('\x1b'));
    assert!(ptxdbg(&["--check", "--color", "always", &broken]).1.contains('\x1b'));
}

#[test]
fn the_last_line_counts_sequences_as_one() {
    assert_eq!(report(&["--verify", "-l", "programs/bfs_frontier.ron"]).1, "1 passed, 0 failed\n");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_failure_of_ours() {
    let command = format!("{} --batch small/smallest.ptx | true", env!("CARGO_BIN_EXE_ptxdbg"));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let output = Command::new("sh").args(["-c", &command]).current_dir(fixtures).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_failed_assertion_keeps_the_session() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("failed_assertion");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let launch = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/debug/walk.ron");
    let run = |lines: &[&str], fails_at: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
        command.current_dir(&folder).env("PTXDBG_PANIC_AT", fails_at).args(["--batch", "-l"]).arg(&launch);
        lines.iter().for_each(|line| _ = command.args(["-e", line]));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for number in 1..=2 {
        let (status, _, err) = run(&["stepi 3", "break 20", "echo fail"], "echo fail");
        let file = format!("ptxdbg-failed-{number}.ptxdbg");
        assert_eq!(status, Some(101), "{err}");
        assert!(err.contains("panicked at") && err.contains(&format!("the session is saved in {file}: 'load session {file}'")), "{err}");
    }
    let (status, out, err) = run(&["load session ptxdbg-failed-2.ptxdbg", "when", "info breakpoints"], "");
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains("t=3") && out.contains("20"), "{out}");
}
