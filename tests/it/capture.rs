//! `ptxdbg capture` without a GPU: a stand-in for the driver, whose kernels are functions in Rust, and a program that launches them, both in
//! `capture/stand_in`. A bundle is right if a run of it leaves what those functions left.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ptxdbg::api::Planned;
use ptxdbg::capture::library;
use ptxdbg::container::bundle;

/// The folder with the program and the stand-in; none where they cannot be built, with a word.
fn stand_in() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        if let Err(why) = library::bytes() {
            eprintln!("skipped: {why}");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture_stand_in");
        std::fs::create_dir_all(&folder).unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("capture/stand_in");
        let library = folder.join("libcuda.so.1");
        let compile = |source: &str, words: &[&str], out: &Path| {
            let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
            let run = Command::new(rustc).args(["--edition=2024", "-o"]).arg(out).arg(sources.join(source)).args(words).output();
            let run = run.map_err(|error| eprintln!("skipped: rustc cannot be run: {error}")).ok()?;
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            Some(())
        };
        compile("libcuda.rs", &["--crate-type=cdylib", "--crate-name=cuda", "-Clink-arg=-Wl,-soname,libcuda.so.1"], &library)?;
        std::fs::copy(&library, folder.join("libcuda.so")).unwrap();
        compile("program.rs", &["-L", &folder.display().to_string()], &folder.join("program"))?;
        Some(folder)
    });
    built.as_deref()
}

/// What `ptxdbg capture OPTIONS -- program WORDS` says in an empty folder of this name, its status, and the folder.
fn captured(name: &str, options: &[&str], words: &[&str]) -> Option<(String, i32, PathBuf)> {
    let built = stand_in()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("captured").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
    command.arg("capture").args(options).arg("--").arg(built.join("program")).args(words);
    let output = command.current_dir(&folder).env("LD_LIBRARY_PATH", built).output().unwrap();
    assert!(output.stdout.is_empty(), "the program prints nothing, and what is said goes to standard error");
    // Nothing is left but bundles.
    let left: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| bundle::is_bundle(path)), "{left:?}");
    Some((String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap(), folder))
}

/// What the program says of a bundle, and its status.
fn replayed(path: &Path, words: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).arg("--no-init").args(words).arg(path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (said, output.status.code().unwrap())
}

/// However a program comes to the driver, gives its module and its parameters: the run of the bundle leaves what the kernel left.
#[test]
fn a_captured_launch_leaves_what_the_device_left() {
    let cases: &[(&str, &str, &str)] = &[
        ("linked", "text", "vecadd"),
        ("dlsym", "text", "vecadd"),
        ("address", "text", "vecadd"),
        ("linked", "fat", "vecadd+extra"),
        ("address", "fat", "vecadd+ex"),
        ("address", "text", "double_list"),
        ("linked", "text", "scale"),
        ("dlsym", "fat", "scale+extra"),
    ];
    for (number, (way, image, launch)) in cases.iter().enumerate() {
        let Some((said, status, folder)) = captured(&format!("left{number}"), &[], &[way, image, launch]) else { return };
        let kernel = launch.split('+').next().unwrap();
        assert_eq!(status, 0, "{said}");
        assert!(said.starts_with(&format!("ptxdbg: captured: launch 1 of {kernel} on sm_90, ")), "{said}");
        let path = folder.join(format!("{kernel}.ptxcap"));
        let (said, status) = replayed(&path, &["--verify"]);
        assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{way} {image} {launch}: {said}");
        // It compares something: the memory before the launch is not the memory after it.
        let (planned, _) = Planned::open(&path).unwrap();
        let text = planned.launch_file().unwrap();
        assert!(text.contains(".after.bin"), "{text}");
        assert_eq!(text.contains("cluster: (2, 1, 1)"), launch.ends_with("+ex"), "{text}");
        // A kernel that does something else is found out.
        let unpacked = folder.join("unpacked");
        unpack(&path, &unpacked);
        let ptx = std::fs::read_to_string(unpacked.join("kernel.ptx")).unwrap();
        let (right, wrong) =
            [("add.f32 %f2", "sub.f32 %f2"), ("shl.b32 %r0, %r0, 1", "shl.b32 %r0, %r0, 2"), ("mul.f32 %f2", "add.f32 %f2")]
                [["vecadd", "double_list", "scale"].iter().position(|name| *name == kernel).unwrap()];
        std::fs::write(unpacked.join("kernel.ptx"), ptx.replace(right, wrong)).unwrap();
        let (said, status) = replayed(&unpacked.join("launch.ron"), &["--verify", "-l"]);
        assert!(status == 1 && said.ends_with("0 passed, 1 failed\n"), "{said}");
    }
}

/// What was captured on a GPU.
#[test]
fn bundles_of_a_device_leave_what_it_left() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captured");
    let names = ["batched", "clustered", "constants", "list", "structs", "table"];
    for name in names {
        let (said, status) = replayed(&folder.join(name).with_extension("ptxcap"), &["--verify"]);
        assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{name}: {said}");
        assert!(
            Planned::open(folder.join(name).with_extension("ptxcap")).unwrap().0.launch_file().unwrap().contains(".after.bin"),
            "{name}"
        );
    }
    let bundles = std::fs::read_dir(folder).unwrap().filter(|entry| bundle::is_bundle(&entry.as_ref().unwrap().path()));
    assert_eq!(bundles.count(), names.len());
}

/// Writes what a bundle holds to a folder.
fn unpack(path: &Path, folder: &Path) {
    for (name, _) in bundle::members(path).unwrap() {
        let bytes = bundle::read(&path.join(&name), u64::MAX).unwrap().unwrap();
        std::fs::create_dir_all(folder.join(&name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

#[test]
fn the_wanted_launch_is_taken() {
    let words = ["linked", "text", "double_list", "vecadd+ex", "vecadd", "scale", "exit=7"];
    let Some((said, status, folder)) = captured("wanted", &["-k", "vec*", "--nth", "2", "-o", "second.ptxcap"], &words) else { return };
    assert_eq!(status, 7, "the status is that of the program: {said}");
    assert!(said.contains("launch 2 of vecadd"), "{said}");
    // The first launch has clusters, the second has none.
    let text = Planned::open(folder.join("second.ptxcap")).unwrap().0.launch_file().unwrap();
    assert!(!text.contains("cluster:"), "{text}");
    let (said, status, folder) = captured("all", &["--all", "-o", "x.ptxcap"], &words).unwrap();
    assert_eq!(status, 7, "{said}");
    for number in 1..=4 {
        let (said, status) = replayed(&folder.join(format!("x.{number}.ptxcap")), &["--verify"]);
        assert!(status == 0, "{number}: {said}");
    }
    assert!(!folder.join("x.5.ptxcap").exists());
}

/// Where nothing is captured, what was seen is said.
#[test]
fn what_was_seen_is_said() {
    let Some((said, status, _)) = captured("none", &["-k", "gemm"], &["linked", "text", "vecadd", "vecadd", "scale", "exit=3"]) else {
        return;
    };
    let expected = "ptxdbg: nothing is captured: no launch of 'gemm' could be; launched were\n       2 vecadd\n       1 scale\n";
    assert_eq!((said.as_str(), status), (expected, 3));
    let (said, status, _) = captured("sass", &[], &["address", "cubin", "machine_code"]).unwrap();
    assert!(said.contains("     1 machine_code  (SASS only: a cubin without PTX of it; ") && status == 0, "{said}");
    let (said, _, _) = captured("recorded", &[], &["dlsym", "text", "vecadd+recorded", "graph"]).unwrap();
    assert!(said.starts_with("ptxdbg: the program launches graphs, whose kernels are not captured\n"), "{said}");
    assert!(said.contains("vecadd  (recorded for a graph, which is not captured)"), "{said}");
    // A recorded launch does not count.
    let (said, _, folder) = captured("after", &[], &["dlsym", "text", "vecadd+recorded", "vecadd"]).unwrap();
    assert!(said.contains("captured: launch 1 of vecadd"), "{said}");
    assert!(folder.join("vecadd.ptxcap").exists());
}

/// What is not kept of memory is named, and reading it is a stop.
#[test]
fn memory_that_is_left_out_is_named() {
    let Some((said, _, folder)) = captured("cut", &["--max-bytes", "4K"], &["linked", "text", "vecadd"]) else { return };
    assert!(said.contains("of the 4000 bytes at 0x") && said.contains("0 bytes are kept: --max-bytes allows more"), "{said}");
    let (said, status) = replayed(&folder.join("vecadd.ptxcap"), &["--batch"]);
    assert!(status == 1 && said.contains("memory.not_captured"), "{said}");
}

#[test]
fn what_cannot_be_run_is_said() {
    if stand_in().is_none() {
        return;
    }
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (said, output.status.code().unwrap())
    };
    let (said, status) = run(&["capture", "--", "./there_is_no_such_program"]);
    assert!(said.starts_with("ptxdbg: cannot run ./there_is_no_such_program: ") && status == 2, "{said}");
    let (said, status) = run(&["capture"]);
    assert!(said.contains("<COMMAND>") && status == 2, "{said}");
    let (said, status) = run(&["capture", "--", "true"]);
    let expected = "ptxdbg: nothing is captured: the program has not called the driver (libcuda.so.1) where that is seen; ";
    assert!(said.starts_with(expected) && status == 0, "{said}");
    let (said, status) = run(&["capture", "-o", "no/such/folder/x.ptxcap", "--", "true"]);
    assert!(said.starts_with("ptxdbg: cannot make a folder in no/such/folder, where the bundle goes: ") && status == 2, "{said}");
    let (said, status) = run(&["capture", "--", "sh", "-c", "kill -TERM $$"]);
    assert!(status == 128 + 15, "{status} {said}");
}
