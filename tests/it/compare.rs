//! `ptxdbg compare`: two orders, two programs, two captures; the first store that differs, in both.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compare").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What `ptxdbg compare WORDS` says in `folder`, and its status.
fn compare(folder: &Path, words: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).arg("compare").args(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (said, output.status.code().unwrap())
}

/// A module with kernel `k`, of one array `out`; the body has the address of element `%tid.x` in `%at`, and `%t` is `%tid.x`.
fn module(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p;\n.reg .b32 %t, %r<8>;\n\
         .reg .f32 %f;\n.reg .b64 %at, %base, %offset;\nld.param.u64 %base, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %offset, %t, 4;\n\
         add.s64 %at, %base, %offset;\n{body}\nret;\n}}\n"
    )
}

/// The line of the body's first statement.
const BODY: u32 = 14;

/// Writes modules of these bodies, `a.ptx` and `b.ptx`, and a launch file of 64 threads.
fn programs(name: &str, a: &str, b: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("a.ptx"), module(a)).unwrap();
    std::fs::write(folder.join("b.ptx"), module(b)).unwrap();
    let launch = "Launch(module: \"a.ptx\", kernel: \"k\", grid: (1, 1, 1), block: (64, 1, 1),\n\
                  params: [Buffer(name: \"out\", elem: U32, len: 128, init: Zero)])";
    std::fs::write(folder.join("k.ron"), launch).unwrap();
    folder
}

#[test]
fn two_orders_differ_in_what_a_thread_stores() {
    let ticket = "mov.u32 %r1, 0;\nsetp.ne.u32 %p, %t, 0;\n@%p setp.ne.u32 %p, %t, 32;\n@%p bra done;\n\
                  atom.global.add.u32 %r1, [%base+400], 1;\nst.global.u32 [%at], %r1;\ndone:";
    let folder = programs("orders", ticket, ticket);
    let held = "hold:0:0:0-100";
    let (said, status) = compare(&folder, &["a.ptx", "-l", "k.ron", "--schedule", "in-order", "--schedule", held]);
    assert_eq!(status, 1, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[2], "differ in a store of block (0,0,0) thread (0,0,0)", "{said}");
    let at = format!("a.ptx:{}  st.global.u32 [%at], %r1   ", BODY + 5);
    assert!(lines[3].starts_with("  A  t=") && lines[3].ends_with(&format!("{at}0 to out[0]")), "{said}");
    assert!(lines[4].starts_with("  B  t=") && lines[4].ends_with(&format!("{at}1 to out[0]")), "{said}");
    assert_eq!(lines[5], "2 threads store something else", "{said}");
    // The time is that of a session of A.
    let time = lines[3].trim_start_matches("  A  t=").split(' ').next().unwrap();
    let session = ["--no-init", "--batch", "-l", "k.ron", "-e", &format!("goto {time}"), "-e", "print out[0]"];
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(session).current_dir(&folder).output().unwrap();
    let there = String::from_utf8(output.stdout).unwrap();
    assert!(there.contains(&format!("a.ptx:{}  st.global.u32", BODY + 5)), "{there}");
    let (said, status) = compare(&folder, &["a.ptx", "-l", "k.ron", "--seed", "1", "--seed", "2"]);
    assert!(status == 0 && said.ends_with("equal: all stores, and 512 bytes of memory at the end\n"), "{said}");
}

#[test]
fn two_programs_are_compared_place_by_place() {
    let one = "st.global.u32 [%at], %t;\nst.global.u32 [%at+256], 7;";
    for (name, other, expected) in [
        // Stores to other places may be ordered otherwise.
        ("swapped", "st.global.u32 [%at+256], 7;\nst.global.u32 [%at], %t;", "equal: all stores, and 512 bytes of memory at the end\n"),
        ("value", "st.global.u32 [%at], %t;\nst.global.u32 [%at+256], 8;", "b.ptx:15  st.global.u32 [%at+256], 8   8 to out[64]\n"),
        ("missing", "st.global.u32 [%at], %t;", "7 to out[64]\n  B  no such store\n"),
        ("more", "st.global.u32 [%at], %t;\nst.global.u32 [%at+256], 7;\nst.global.u32 [%at+256], 7;", "  A  no such store\n  B  t="),
        (
            "twice",
            "st.global.u32 [%at], 0;\nst.global.u32 [%at], %t;\nst.global.u32 [%at+256], 7;",
            "st.global.u32 [%at], 0   0 to out[1]\n",
        ),
        ("elsewhere", "st.global.u32 [%at], %t;\nst.global.u32 [%at+252], 7;", "7 to out[64]\n  B  no such store\n"),
    ] {
        let folder = programs(name, one, other);
        let (said, status) = compare(&folder, &["a.ptx", "b.ptx", "-l", "k.ron"]);
        assert!(said.contains(expected) && status == i32::from(!expected.starts_with("equal")), "{name}: {said}");
    }
}

#[test]
fn floats_may_differ_within_a_tolerance() {
    let folder = programs("tolerance", "st.global.f32 [%at], 0f3f800000;", "st.global.f32 [%at], 0f3f800001;");
    for (words, status) in [(&[][..], 1), (&["--rtol", "1e-6"], 0), (&["--atol", "1e-6"], 0), (&["--rtol", "1e-9"], 1)] {
        let launch: Vec<&str> = ["a.ptx", "b.ptx", "-l", "k.ron"].iter().chain(words).copied().collect();
        // The elements are integers for the launch file, and floats for the instruction.
        std::fs::write(folder.join("k.ron"), std::fs::read_to_string(folder.join("k.ron")).unwrap().replace("U32", "F32")).unwrap();
        let (said, ended) = compare(&folder, &launch);
        assert_eq!(ended, status, "{words:?}: {said}");
    }
    let (said, _) = compare(&folder, &["a.ptx", "b.ptx", "-l", "k.ron"]);
    assert!(said.contains("1 (0x3f800000) to out[0]") && said.contains("1.0000001 (0x3f800001) to out[0]"), "{said}");
}

#[test]
fn what_atomics_leave_is_found_in_the_memory() {
    let folder = programs("memory", "red.global.add.u32 [%at], 1;", "red.global.add.u32 [%at], 2;");
    let (said, status) = compare(&folder, &["a.ptx", "b.ptx", "-l", "k.ron"]);
    assert_eq!(status, 1, "{said}");
    assert!(
        said.contains("differ in the memory at the end, where all stores are equal: out[0]\n  A  1; last written by block (0,0,0)"),
        "{said}"
    );
    assert!(said.contains("at b.ptx:14") && said.ends_with("64 elements differ\n"), "{said}");
}

#[test]
fn what_stops_is_said() {
    let trap = "setp.eq.u32 %p, %t, 40;\nst.global.u32 [%at], %t;\n@%p trap;\nst.global.u32 [%at], 1;";
    let folder = programs("stops", trap, &trap.replace("@%p trap", "@%p add.u32 %r1, %t, %t"));
    let (said, status) = compare(&folder, &["a.ptx", "b.ptx", "-l", "k.ron"]);
    assert!(status == 1 && said.contains("   stops: ") && said.contains("differ in where they stop"), "{said}");
    let (said, status) = compare(&folder, &["b.ptx", "a.ptx", "-l", "k.ron"]);
    assert!(status == 1 && said.contains("differ in where they stop"), "{said}");
    let (said, status) = compare(&folder, &["a.ptx", "a.ptx", "-l", "k.ron"]);
    assert!(status == 0 && said.ends_with("equal: all stores up to where both stop\n"), "{said}");
}

/// More stores than are kept at once, in another order for each thread; one of them differs.
#[test]
fn many_stores_are_compared_in_rounds() {
    let body = |stores: &str| {
        format!(
            "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, 256, %t;\nmul.wide.u32 %offset, %r2, 8;\nadd.s64 %at, %base, %offset;\n\
             mov.u32 %r3, 0;\nloop:\n{stores}\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p, %r3, 1024;\n@%p bra loop;"
        )
    };
    let odd = "setp.eq.u32 %p, %r2, 1500;\nmov.u32 %r4, %r3;\n@%p setp.eq.u32 %p, %r3, 700;\n@%p add.u32 %r4, %r4, 1;\n";
    let folder = programs(
        "rounds",
        &body("st.global.u32 [%at], %r3;\nst.global.u32 [%at+4], %r2;"),
        &body(&format!("{odd}st.global.u32 [%at+4], %r2;\nst.global.u32 [%at], %r4;")),
    );
    let launch =
        "Launch(kernel: \"k\", grid: (8, 1, 1), block: (256, 1, 1), params: [Buffer(name: \"out\", elem: U32, len: 4096, init: Zero)])";
    std::fs::write(folder.join("k.ron"), launch).unwrap();
    let (said, status) = compare(&folder, &["a.ptx", "b.ptx", "-l", "k.ron"]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("4,194,304 stores of 2,048 threads\n"), "{said}");
    assert!(said.contains("differ in a store of block (5,0,0) thread (220,0,0)\n"), "{said}");
    assert!(said.contains("   700 to out[3000]\n") && said.contains("   701 to out[3000]\n"), "{said}");
}

#[test]
fn a_bundle_is_compared_with_a_changed_program() {
    let folder = folder("bundle");
    let bundle = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captured/batched.ptxcap");
    let path = bundle.display().to_string();
    let (said, status) = compare(&folder, &[&path, &path]);
    assert!(status == 0 && said.contains("equal: all stores"), "{said}");
    let ptx = ptxdbg::container::bundle::read(&bundle.join("kernel.ptx"), u64::MAX).unwrap().unwrap();
    let ptx = String::from_utf8(ptx).unwrap();
    std::fs::write(folder.join("changed.ptx"), ptx.replace("mul.f32", "add.f32")).unwrap();
    let (said, status) = compare(&folder, &[&path, "changed.ptx"]);
    assert!(status == 1 && said.contains("kernel.ptx:159") && said.contains("changed.ptx:159"), "{said}");
    let (said, status) = compare(&folder, &[&path, "changed.ptx", "--blocks", "3", "--format", "json"]);
    assert_eq!(status, 1, "{said}");
    let record: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((record["kind"].as_str(), record["equal"].as_bool()), (Some("compared"), Some(false)), "{said}");
    assert_eq!(record["difference"]["block"], serde_json::json!([3, 0, 0]), "{said}");
}

#[test]
fn a_launch_that_is_made_up_is_said_to_be() {
    let folder = programs("made_up", "st.global.u32 [%at], %t;", "st.global.u32 [%at], 0;");
    let (said, status) = compare(&folder, &["a.ptx", "b.ptx"]);
    assert!(status == 1 && said.starts_with("the launch is made up: ptxdbg --batch a.ptx prints it"), "{said}");
    std::fs::rename(folder.join("k.ron"), folder.join("a.ron")).unwrap();
    let (said, status) = compare(&folder, &["a.ptx", "b.ptx"]);
    assert!(status == 1 && said.starts_with("A  a.ptx  k: "), "{said}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = programs("refused", "st.global.u32 [%at], %t;", "st.global.u32 [%at], %t;");
    std::fs::write(folder.join("other.ptx"), module("").replace(".entry k(", ".entry other(")).unwrap();
    std::fs::write(folder.join("wide.ron"), std::fs::read_to_string(folder.join("k.ron")).unwrap().replace("(64, 1, 1)", "(32, 1, 1)"))
        .unwrap();
    std::fs::write(folder.join("text.txt"), "no PTX").unwrap();
    for (words, reason) in [
        (&["a.ptx", "-l", "k.ron"][..], "a.ptx is compared with nothing"),
        (&[], "required arguments were not provided"),
        (&["a.ptx", "b.ptx", "a.ptx"], "unexpected value 'a.ptx'"),
        (&["a.ptx", "-l", "k.ron", "--seed", "1", "--seed", "2", "--seed", "3"], "--seed is given 3 times"),
        (&["a.ptx", "b.ptx", "-l", "k.ron", "--format", "sarif"], "compare reports no findings"),
        (&["a.ptx", "none.ptx", "-l", "k.ron"], "none.ptx"),
        (&["a.ptx", "text.txt", "-l", "k.ron"], "text.txt"),
        (&["a.ptx", "other.ptx", "-l", "k.ron"], "there is no kernel 'k'"),
        (&["k.ron", "wide.ron"], "the block is (64,1,1) in A and (32,1,1) in B"),
        (&["k.ron", "b.ptx", "-l", "k.ron"], "k.ron has a launch of its own"),
        (&["a.ptx", "b.ptx", "-l", "k.ron", "--blocks", "7"], "the grid of (1,1,1) has no block (7,0,0)"),
    ] {
        let (said, status) = compare(&folder, words);
        assert!(status == 2 && said.contains(reason), "{words:?}: {status}: {said}");
    }
}
