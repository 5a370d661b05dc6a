//! `ptxdbg capture` without a GPU: a stand-in for the driver, whose kernels are functions in Rust, and a program that launches them, both in
//! `capture/stand_in`. A bundle is right if a run of it leaves what those functions left.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
        compile("cupti.rs", &["--crate-type=cdylib", "-L", &folder.display().to_string()], &folder.join("libcupti.so.12"))?;
        compile("program.rs", &["-L", &folder.display().to_string()], &folder.join("program"))?;
        Some(folder)
    });
    built.as_deref()
}

/// An empty folder of this name.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("captured").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The names of the files in a folder, in order.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until a file is there.
fn wait_for(path: &Path) {
    let begun = std::time::Instant::now();
    while !path.exists() {
        assert!(begun.elapsed().as_secs() < 60, "{} does not come", path.display());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// What `ptxdbg capture OPTIONS -- COMMAND` says in a folder, and its status.
fn captured_in(folder: &Path, options: &[&str], words: &[&str]) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
    command.arg("capture").args(options).arg("--").args(words);
    let output = command.current_dir(folder).env("LD_LIBRARY_PATH", stand_in().unwrap()).output().unwrap();
    assert!(output.stdout.is_empty(), "the program prints nothing, and what is said goes to standard error");
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

/// As [`captured`], of any command.
fn captured_command(name: &str, options: &[&str], words: &[&str]) -> (String, i32, PathBuf) {
    let folder = empty_folder(name);
    let (said, status) = captured_in(&folder, options, words);
    // Nothing is left but bundles.
    assert!(files(&folder).iter().all(|name| bundle::is_bundle(&folder.join(name))), "{:?}", files(&folder));
    (said, status, folder)
}

/// What `ptxdbg capture OPTIONS -- program WORDS` says in an empty folder of this name, its status, and the folder.
fn captured(name: &str, options: &[&str], words: &[&str]) -> Option<(String, i32, PathBuf)> {
    let program = stand_in()?.join("program").display().to_string();
    Some(captured_command(name, options, &[&[program.as_str()], words].concat()))
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
        ("linked", "text", "brighten"),
        ("address", "fat", "brighten+extra"),
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
        let (right, wrong) = match kernel {
            "vecadd" => ("add.f32 %f2", "sub.f32 %f2"),
            "double_list" => ("shl.b32 %r0, %r0, 1", "shl.b32 %r0, %r0, 2"),
            // What is stored to the surface.
            "brighten" => ("add.u32 %r7", "sub.u32 %r7"),
            _ => ("mul.f32 %f2", "add.f32 %f2"),
        };
        std::fs::write(unpacked.join("kernel.ptx"), ptx.replace(right, wrong)).unwrap();
        let (said, status) = replayed(&unpacked.join("launch.ron"), &["--verify", "-l"]);
        assert!(status == 1 && said.ends_with("0 passed, 1 failed\n"), "{said}");
    }
}

/// What was captured on a GPU.
#[test]
fn bundles_of_a_device_leave_what_it_left() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captured");
    let textures = ["surface_write", "texture_2d", "texture_cube", "texture_layered", "texture_table"];
    let names = ["batched", "clustered", "constants", "list", "structs", "table"].into_iter().chain(textures);
    for name in names.clone() {
        let (said, status) = replayed(&folder.join(name).with_extension("ptxcap"), &["--verify"]);
        assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{name}: {said}");
        assert!(
            Planned::open(folder.join(name).with_extension("ptxcap")).unwrap().0.launch_file().unwrap().contains(".after.bin"),
            "{name}"
        );
    }
    let bundles = std::fs::read_dir(folder).unwrap().filter(|entry| bundle::is_bundle(&entry.as_ref().unwrap().path()));
    assert_eq!(bundles.count(), names.count());
}

/// Each block alone, or each cluster: what it writes is what the device left there, and nothing else is compared.
#[test]
fn a_block_alone_leaves_what_the_device_left() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captured");
    let cases: [(&str, &[&str]); 3] =
        [("batched", &["0", "1", "2,0,0", "3-4"]), ("clustered", &["0-1", "2;3", "0-3"]), ("structs", &["0", "3"])];
    for (name, lists) in cases {
        let path = folder.join(name).with_extension("ptxcap");
        let mut bytes = 0;
        for list in lists {
            let (said, status) = replayed(&path, &["--batch", "--blocks", list]);
            let compared = said.lines().find_map(|line| line.strip_prefix("compared     "));
            assert!(status == 0 && said.contains(": as expected\n"), "{name} {list}: {said}");
            // The certificate is about the blocks that ran.
            let is_whole = !said.contains("blocks that ran, and says nothing of the others");
            assert_eq!(is_whole, (name, *list) == ("clustered", "0-3") || !said.contains("every order "), "{name} {list}: {said}");
            let (verified, status) = replayed(&path, &["--verify", "--blocks", list]);
            assert!(status == 0 && verified.contains(compared.unwrap()), "{name} {list}: {verified}");
            bytes += compared.unwrap().split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap();
        }
        assert!(bytes > 0, "{name}");
    }
    // A kernel that does something else is found out by one block.
    let unpacked = Path::new(env!("CARGO_TARGET_TMPDIR")).join("captured/alone");
    unpack(&folder.join("batched.ptxcap"), &unpacked);
    let ptx = std::fs::read_to_string(unpacked.join("kernel.ptx")).unwrap();
    assert!(ptx.contains("mul.f32"), "{ptx}");
    std::fs::write(unpacked.join("kernel.ptx"), ptx.replace("mul.f32", "add.f32")).unwrap();
    let (said, status) = replayed(&unpacked.join("launch.ron"), &["--batch", "--blocks", "1", "-l"]);
    assert!(status == 1 && said.contains("FAIL") && said.contains("of its 1,000 elements are wrong"), "{said}");
    // The memory of a pointer in memory is bytes: what is wrong there has the type by which the kernel stores it, and the tolerance.
    assert!(said.contains("memory_7f861be01000[0] = -1.5 (0xbfc00000), expected -4.5 (0xc0900000)"), "{said}");
    let (said, status) = replayed(&unpacked.join("launch.ron"), &["--batch", "--blocks", "1", "--atol", "3.25", "-l"]);
    assert!(status == 0 && said.contains(": as expected\n"), "{said}");
    let (said, status) = replayed(&unpacked.join("launch.ron"), &["--batch", "--blocks", "1", "--atol", "3.125", "-l"]);
    assert!(status == 1 && said.contains("of its 1,000 elements are wrong"), "{said}");
    let (said, _) = replayed(&unpacked.join("launch.ron"), &["--batch", "--blocks", "1", "-l"]);
    assert!(
        said.contains("4,000 bytes that 1 of 5 blocks wrote; where the other blocks write to the same places, too, it differs"),
        "{said}"
    );
    let (said, status) = replayed(&folder.join("batched.ptxcap"), &["--batch", "--blocks", "5"]);
    assert!(status == 2 && said.contains("the grid of (5,1,1) has no block (5,0,0)"), "{said}");
    // With a block run the others of its cluster.
    let (said, status) = replayed(&folder.join("clustered.ptxcap"), &["--batch", "--blocks", "1"]);
    assert!(status == 0 && said.contains("only 2 of 4 blocks"), "{said}");
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
    // To wait for the device would end the recording of another stream.
    for way in ["linked", "dlsym", "address"] {
        let (said, _, folder) = captured("meanwhile", &[], &[way, "text", "begin", "vecadd+recorded", "scale", "end", "vecadd"]).unwrap();
        let expected = "ptxdbg: scale: launch 1 is not captured, as another stream is being recorded for a graph\n";
        assert!(said.starts_with(expected) && said.contains("captured: launch 2 of vecadd"), "{said}");
        assert_eq!(replayed(&folder.join("vecadd.ptxcap"), &["--verify"]).1, 0);
    }
    // A recorded launch does not count.
    let (said, _, folder) = captured("after", &[], &["dlsym", "text", "vecadd+recorded", "vecadd"]).unwrap();
    assert!(said.contains("captured: launch 1 of vecadd"), "{said}");
    assert!(folder.join("vecadd.ptxcap").exists());
}

/// Where a program's calls do not come to the preloaded library, CUPTI calls back.
#[test]
fn calls_are_seen_by_cupti() {
    let Some(built) = stand_in() else { return };
    let program = built.join("program").display().to_string();
    for launch in ["vecadd", "vecadd+ex", "scale+extra", "double_list", "brighten"] {
        let kernel = launch.split('+').next().unwrap();
        for (number, (options, script)) in [
            (&["--by", "cupti"] as &[&str], format!("{program} dlsym fat {launch} exit=5")),
            (&[], format!("env -u LD_PRELOAD {program} linked text {launch} exit=5")),
        ]
        .iter()
        .enumerate()
        {
            let (said, status, folder) = captured_command(&format!("cupti{number}_{launch}"), options, &["sh", "-c", script]);
            assert!(status == 5 && said.contains(&format!("captured: launch 1 of {kernel} on sm_90")), "{launch}: {said}");
            let (said, status) = replayed(&folder.join(format!("{kernel}.ptxcap")), &["--verify"]);
            assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{launch}: {said}");
        }
    }
    let run = |name: &str, options: &[&str], script: &str| captured_command(&format!("cupti_{name}"), options, &["sh", "-c", script]).0;
    let said = run("two", &["--by", "cupti"], &format!("STAND_IN_SUBSCRIBER=1 {program} linked text vecadd"));
    assert!(said.starts_with("ptxdbg: calls of the program are not seen: two subscribers: another tool in the program, "), "{said}");
    let said = run("graph", &["--by", "cupti"], &format!("{program} linked text graph=vecadd,scale"));
    assert!(said.contains("graphs are seen by CUPTI, which cannot have them launched in parts"), "{said}");
    // Where the preloaded library sees them, CUPTI is not asked, and has room for another tool.
    let said = run("both", &[], &format!("STAND_IN_SUBSCRIBER=1 {program} linked text vecadd"));
    assert!(said.starts_with("ptxdbg: captured: launch 1 of vecadd on sm_90"), "{said}");
    let said = run("preload", &["--by", "preload"], &format!("env -u LD_PRELOAD {program} linked text vecadd"));
    assert!(said.starts_with("ptxdbg: nothing is captured: the program has not called the driver"), "{said}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
    command.args(["capture", "--by", "cupti", "--", "true"]).env("CUDA_INJECTION64_PATH", "/opt/tool.so");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("ptxdbg: CUDA_INJECTION64_PATH is /opt/tool.so: ") && output.status.code() == Some(2), "{said}");
}

/// A kernel of a graph is kept as the graph is launched in parts: each leaves what the device left, and so does the program.
#[test]
fn kernels_of_graphs_are_taken() {
    let run = |name: &str, options: &[&str], words: &[&str]| captured(&format!("graph_{name}"), options, words);
    for way in ["linked", "dlsym", "address"] {
        let words = [way, "text", "vecadd", "graph=scale,vecadd,double_list,scale"];
        let Some((said, status, folder)) = run(way, &["--all", "-o", "x.ptxcap"], &words) else { return };
        assert_eq!(status, 0, "{said}");
        let kernels = ["vecadd", "scale", "vecadd", "double_list", "scale", "scale", "vecadd", "double_list", "scale"];
        for (index, kernel) in kernels.iter().enumerate() {
            let number = index + 1;
            let graph = if number == 1 { "" } else { ", a node of a graph of 4 nodes, which was launched in parts" };
            assert!(said.contains(&format!("captured: launch {number} of {kernel} on sm_90{graph}")), "{said}");
            let path = folder.join(format!("x.{number}.ptxcap"));
            let (said, status) = replayed(&path, &["--verify"]);
            assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{way} {number}: {said}");
            // What vecadd leaves the second time is there before.
            let is_changed = Planned::open(&path).unwrap().0.launch_file().unwrap().contains(".after.bin");
            assert_eq!(is_changed, number != 7, "{way} {number}");
        }
        assert!(!folder.join("x.10.ptxcap").exists());
    }
    let words = ["dlsym", "text", "graph=vecadd,scale,changed"];
    let (said, _, folder) = run("changed", &["-k", "vecadd", "--nth", "2"], &words).unwrap();
    assert!(said.contains("launch 2 of vecadd"), "{said}");
    assert_eq!(replayed(&folder.join("vecadd.ptxcap"), &["--verify"]).1, 0);
    let (said, _, folder) = run("disabled", &["-k", "scale"], &["dlsym", "text", "graph=vecadd,scale,disabled", "scale"]).unwrap();
    let why = "scale: the graph that it is in was changed by cuGraphNodeSetEnabled after it was made, which is not followed";
    assert!(said.starts_with(&format!("ptxdbg: {why}\n")) && said.contains("captured: launch 3 of scale on sm_90, "), "{said}");
    assert_eq!(replayed(&folder.join("scale.ptxcap"), &["--verify"]).1, 0);
}

/// What is linked in the program is a bundle of several modules.
#[test]
fn linked_modules_are_taken() {
    for way in ["linked", "dlsym", "address"] {
        let Some((said, status, folder)) = captured(&format!("linked_{way}"), &[], &[way, "link", "halve"]) else { return };
        assert_eq!(status, 0, "{said}");
        let path = folder.join("halve.ptxcap");
        let (said, status) = replayed(&path, &["--verify"]);
        assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{said}");
        let members: Vec<String> = bundle::members(&path).unwrap().into_iter().map(|(name, _)| name).collect();
        assert!(["modules/0/kernel.ptx", "modules/1/linked1.ptx"].iter().all(|name| members.iter().any(|member| member == name)));
    }
}

/// A cubin that lies in Triton's cache has the PTX beside it, which comes along with the rest.
#[test]
fn triton_s_cache_is_looked_into() {
    let Some(built) = stand_in() else { return };
    let cache = empty_folder("cache");
    let source = cache.join("kernels.py");
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry machine_code() {{\n\t.loc 1 2 5\n\tret;\n}}\n.file 1 \"{}\"\n",
        source.display()
    );
    std::fs::write(&source, "def machine_code():\n    pass\n").unwrap();
    // The header that the program gives as a cubin.
    let mut cubin = vec![0_u8; 64];
    cubin[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x33");
    cubin[16..20].copy_from_slice(&[2, 0, 190, 0]);
    cubin[52] = 64;
    let entry = cache.join("HASH");
    std::fs::create_dir(&entry).unwrap();
    let (ir, options) = ("module {}", "{\"hash\": \"HASH\"}");
    let files: [(&str, &[u8]); 4] = [("cubin", &cubin), ("ptx", ptx.as_bytes()), ("ttgir", ir.as_bytes()), ("json", options.as_bytes())];
    for (ending, bytes) in files {
        std::fs::write(entry.join(format!("machine_code.{ending}")), bytes).unwrap();
    }
    let script = format!("TRITON_CACHE_DIR={} {} dlsym cubin machine_code", cache.display(), built.join("program").display());
    let (said, status, folder) = captured_command("cached", &[], &["sh", "-c", &script]);
    assert!(status == 0 && said.contains("captured: launch 1 of machine_code"), "{said}");
    let path = folder.join("machine_code.ptxcap");
    let member = |name: &str| bundle::read(&path.join(name), u64::MAX).ok().flatten();
    assert_eq!(member("machine_code.ttgir").unwrap(), ir.as_bytes());
    assert_eq!(member("machine_code.json").unwrap(), options.as_bytes());
    assert_eq!(member("kernels.py").unwrap(), std::fs::read(source).unwrap());
    assert_eq!(replayed(&path, &["--batch"]).1, 0);
}

/// Launches are counted over all processes of a program.
#[test]
fn processes_count_together() {
    let Some(built) = stand_in() else { return };
    let program = built.join("program").display().to_string();
    let script = format!("{program} linked text vecadd scale; {program} dlsym text vecadd; {program} linked text vecadd vecadd");
    let run = |name: &str, options: &[&str]| captured_command(&format!("processes_{name}"), options, &["sh", "-c", &script]);
    let (said, _, folder) = run("third", &["-k", "vecadd", "--nth", "3", "-o", "q"]);
    assert!(said.contains("launch 3 of vecadd") && files(&folder) == ["q"], "{said}");
    let (said, _, folder) = run("first", &["-k", "vecadd", "-o", "q"]);
    assert!(said.contains("launch 1 of vecadd") && files(&folder) == ["q"], "{said}");
    let (said, _, folder) = run("all", &["-k", "vecadd", "--all", "-o", "q"]);
    assert_eq!(files(&folder), ["q.1.ptxcap", "q.2.ptxcap", "q.3.ptxcap", "q.4.ptxcap"], "{said}");
    let (said, _, _) = run("none", &["-k", "vecadd", "--nth", "5"]);
    assert!(said.contains("nothing is captured: launch 5 of 'vecadd' did not come"), "{said}");
}

/// `ptxdbg capture` of a shell script without a terminal, as where a script runs it; a script that runs in the background has some of the
/// signals ignored.
fn in_own_session(options: &[&str], script: &str) -> Command {
    let mut command = Command::new("setsid");
    command.args(["env", "--default-signal=TERM,HUP,INT", env!("CARGO_BIN_EXE_ptxdbg"), "capture"]);
    command.args(options).args(["--", "sh", "-c", script]);
    command
}

/// A signal that asks ptxdbg to end ends the program with all that it has started; what was captured is written.
#[test]
fn signals_are_passed_on() {
    let Some(built) = stand_in() else { return };
    let program = built.join("program").display().to_string();
    for (signal, number) in [("TERM", 15), ("HUP", 1), ("INT", 2), ("KILL", 9)] {
        let folder = empty_folder(&format!("signal_{signal}"));
        let script = format!("{program} linked text vecadd; echo > began; sleep 3; {program} linked text scale; echo $? > alive");
        let nth = if signal == "KILL" { "2" } else { "1" };
        let mut command = in_own_session(&["--nth", nth, "-o", "x.ptxcap"], &script);
        let command = command.current_dir(&folder).env("LD_LIBRARY_PATH", built).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_for(&folder.join("began"));
        assert!(Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().unwrap().success());
        let status = child.wait().unwrap();
        if signal == "KILL" {
            // The program goes on, and what it launches is not disturbed.
            wait_for(&folder.join("alive"));
            assert_eq!(std::fs::read_to_string(folder.join("alive")).unwrap(), "0\n");
            // The next one removes what the killed one could not.
            assert!(files(&folder).iter().any(|name| name.starts_with(".ptxdbg-capture-")));
            captured_in(&folder, &["-o", "x.ptxcap"], &["true"]);
            assert_eq!(files(&folder), ["alive", "began"]);
            continue;
        }
        assert_eq!(status.code(), Some(128 + number), "{signal}");
        assert_eq!(files(&folder), ["began", "x.ptxcap"], "{signal}");
        assert_eq!(replayed(&folder.join("x.ptxcap"), &["--verify"]).1, 0);
    }
}

/// A launch that hangs is captured as it began, when the program is ended.
#[test]
fn a_launch_that_hangs_is_captured_as_it_began() {
    let Some(built) = stand_in() else { return };
    let folder = empty_folder("hang");
    let program = built.join("program").display().to_string();
    let script = format!("echo > began; exec {program} linked text vecadd");
    let mut command = in_own_session(&["-o", "x.ptxcap"], &script);
    let command = command.current_dir(&folder).env("LD_LIBRARY_PATH", built).env("STAND_IN_HANG", "1").stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(&folder.join("began"));
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    assert_eq!(files(&folder), ["began", "x.ptxcap"]);
    let (said, status) = replayed(&folder.join("x.ptxcap"), &["--batch"]);
    assert!(status == 0 && !said.contains("as expected"), "{said}");
}

/// Where no bundle can be written, the program is not run.
#[test]
fn a_place_for_the_bundle_is_looked_at_first() {
    if stand_in().is_none() {
        return;
    }
    let folder = empty_folder("places");
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("a.7.ptxcap"), "mine").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["-o", "notes.txt"], "-o notes.txt: it is there and is no bundle, so it is left as it is: choose another name"),
        (&["-o", "/dev/null"], "-o /dev/null: it is there and is no bundle, so it is left as it is: choose another name"),
        (&["-o", "sub"], "-o sub is a folder: give the name of a file in it, such as gemm.ptxcap"),
        (&["-o", "sub/"], "-o sub/ is a folder: give the name of a file in it, such as gemm.ptxcap"),
        (&["-o", "new/"], "-o new/ is a folder: give the name of a file in it, such as gemm.ptxcap"),
        (&["-o", "/"], "-o / is a folder: give the name of a file in it, such as gemm.ptxcap"),
        (&["-o", "none/x.ptxcap"], "cannot make a folder in none, where the bundle goes: no such file or directory"),
        (
            &["-o", "\u{1b}[31m.ptxcap"],
            "-o \\x1b[31m.ptxcap has a control character in its name, with which no bundle is read: choose another name",
        ),
        (&["--all", "-o", "a.ptxcap"], "-o a.7.ptxcap: it is there and is no bundle, so it is left as it is: choose another name"),
    ];
    for (options, expected) in cases {
        let (said, status) = captured_in(&folder, options, &["sh", "-c", "echo > ran"]);
        assert_eq!((said.as_str(), status), (format!("ptxdbg: {expected}\n").as_str(), 2), "{options:?}");
        assert_eq!(files(&folder), ["a.7.ptxcap", "notes.txt", "sub"], "{options:?}");
    }
    let (said, status) = captured_in(&folder, &[], &["./\u{1b}[31m"]);
    assert!(said.starts_with("ptxdbg: cannot run ./\\x1b[31m: ") && status == 2, "{said}");
    let (said, _) =
        captured_in(&folder, &["-k", "\u{1b}[31m"], &[&stand_in().unwrap().join("program").display().to_string(), "linked", "text"]);
    assert!(said.contains("no launch of '\\x1b[31m' could be") || said.contains("has not called the driver"), "{said}");
    assert!(!said.contains('\u{1b}'));
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
