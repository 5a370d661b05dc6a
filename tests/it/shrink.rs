//! `ptxdbg shrink`: bundles with only the memory that their run needs replay as before, and stop where another run needs more.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ptxdbg::container::bundle;

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shrink").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What the program says in `folder`, and its status.
fn ptxdbg(folder: &Path, words: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (said, output.status.code().unwrap())
}

/// Bytes of the pages in a bundle.
fn page_bytes(path: &Path) -> u64 {
    bundle::members(path).unwrap().iter().filter(|(name, _)| name.contains(".pages")).map(|(_, bytes)| bytes).sum()
}

/// What a session says at each of some times: registers, findings and the end.
const QUESTIONS: &[&str] = &["info registers", "stepi 5", "info registers", "continue", "info findings", "mismatches", "info fidelity"];

fn answers(folder: &Path, path: &str) -> String {
    let mut words = vec!["--batch", "--no-init", path];
    QUESTIONS.iter().for_each(|command| words.extend(["-e", command]));
    let (said, _) = ptxdbg(folder, &words);
    assert!(said.contains("(ptxdbg) mismatches\nall is as expected\n"), "{said}");
    // Another version may have written the digest of a captured bundle, and that of a small one is of less memory.
    said.lines()
        .filter(|line| !line.contains("load session") && !line.contains("the state here has digest"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Every captured bundle: the run prints the same, fails or passes the same, and a session answers the same.
#[test]
fn a_captured_bundle_replays_as_before() {
    let captured = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captured");
    let mut count = 0;
    for entry in std::fs::read_dir(&captured).unwrap() {
        let path = entry.unwrap().path();
        if !bundle::is_bundle(&path) {
            continue;
        }
        count += 1;
        let folder = folder(&path.file_stem().unwrap().to_string_lossy());
        std::fs::copy(&path, folder.join("x.ptxcap")).unwrap();
        let (said, status) = ptxdbg(&folder, &["shrink", "x.ptxcap"]);
        assert!(status == 0 && said.starts_with("x.small.ptxcap: "), "{said}");
        for words in [&["--batch"][..], &["--batch", "--format", "json"], &["--verify"], &["--verify", "--format", "json"]] {
            let run = |file: &'static str| {
                let (said, status) = ptxdbg(&folder, &[words, &[file]].concat());
                // The heads of memory that the run does not need are not known.
                let known: Vec<String> =
                    said.lines().filter(|line| !line.contains(": b8[") && !line.contains("\"buffers\"")).map(str::to_string).collect();
                (known.join("\n").replace("x.small.ptxcap", "x.ptxcap"), status)
            };
            assert_eq!(run("x.small.ptxcap"), run("x.ptxcap"), "{words:?}");
        }
        assert_eq!(answers(&folder, "x.small.ptxcap"), answers(&folder, "x.ptxcap"));
        // Once more, nothing is left to be taken away.
        let (said, status) = ptxdbg(&folder, &["shrink", "x.small.ptxcap", "-o", "again.ptxcap"]);
        assert!(status == 0, "{said}");
        assert_eq!(page_bytes(&folder.join("again.ptxcap")), page_bytes(&folder.join("x.small.ptxcap")));
    }
    assert!(count >= 6, "{count}");
}

/// A kernel that reads one page of 16 that a parameter chooses, and writes another one.
const CHOSEN: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 page)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [page];
    mul.wide.u32 %rd2, %r1, 4096;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3+8];
    st.global.u32 [%rd1+4100], %r2;
    ret;
}
";

/// Writes a bundle of a launch on memory of 16 pages that holds 7; `after` changes what is expected.
fn chosen(folder: &Path, after: impl Fn(&mut Vec<u8>)) {
    std::fs::write(folder.join("k.ptx"), CHOSEN).unwrap();
    let before: Vec<u8> = 7_u32.to_le_bytes().repeat(16 * 1024);
    let mut expected = before.clone();
    after(&mut expected);
    std::fs::write(folder.join("x.bin"), &before).unwrap();
    std::fs::write(folder.join("after.bin"), &expected).unwrap();
    let launch = "Launch(module: \"k.ptx\", kernel: \"k\", grid: (1, 1, 1), block: (1, 1, 1),\n\
                  memory: [Memory(name: \"x\", at: 0x7f1230000000, init: File(\"x.bin\"), expect: File(\"after.bin\"))],\n\
                  params: [Alias(\"x\"), U32(3)])";
    std::fs::write(folder.join("k.ron"), launch).unwrap();
    let (said, status) = ptxdbg(folder, &["--batch", "--no-init", "-l", "k.ron", "-e", "bundle k.ptxcap"]);
    assert_eq!(status, 0, "{said}");
}

#[test]
fn pages_that_are_read_written_or_different_are_kept() {
    let one = folder("chosen");
    chosen(&one, |_| {});
    let (said, status) = ptxdbg(&one, &["shrink", "k.ptxcap", "-o", "small.ptxcap"]);
    assert!(status == 0 && said.contains("131072 bytes of memory to 8192"), "{said}");
    // Page 3 of the memory before, page 1 of that after: each with its offset, and a count.
    assert_eq!(page_bytes(&one.join("small.ptxcap")), 2 * (8 + 8 + 4096));
    // Another run reads what is not there, and stops there; it gets no zeroes.
    let (said, status) = ptxdbg(&one, &["--batch", "small.ptxcap", "-a", "page=5"]);
    assert!(status == 1 && said.contains("memory.not_captured"), "{said}");
    let (said, status) = ptxdbg(&one, &["--batch", "k.ptxcap", "-a", "page=5"]);
    assert!(status == 0 && said.contains("this launch is not the one of the bundle"), "{said}");
    // What the device changed and the run does not is a difference still.
    let other = folder("different");
    chosen(&other, |after| after[9 * 4096] = 8);
    let (said, status) = ptxdbg(&other, &["shrink", "k.ptxcap", "-o", "small.ptxcap"]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(page_bytes(&other.join("small.ptxcap")), 2 * (8 + 2 * (8 + 4096)));
    for file in ["k.ptxcap", "small.ptxcap"] {
        let (said, status) = ptxdbg(&other, &["--verify", file]);
        assert!(
            status == 1 && said.contains("x+0x9000 = 0x07, expected 0x08; never written")
                || said.contains("x[36864] = 0x07, expected 0x08; never written"),
            "{file}: {said}"
        );
    }
}

/// A bundle of some blocks needs what these read, and of the memory after the launch what they write.
#[test]
fn a_block_alone_needs_less() {
    let there = folder("alone");
    let captured = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/captured/batched.ptxcap");
    let words = ["--batch", "--no-init", "--blocks", "1", &captured.display().to_string(), "-e", "bundle part.ptxcap"];
    let (said, status) = ptxdbg(&there, &words);
    assert_eq!(status, 0, "{said}");
    let (said, status) = ptxdbg(&there, &["shrink", "part.ptxcap"]);
    // 5 arrays of 4,000 bytes before and after the launch, of which one block needs one, the 5 addresses of the arrays, and two variables.
    let bytes = |text: &str| text.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    let (before, after) = said.split_once(',').unwrap().0.split_once(" bytes of memory to ").unwrap();
    assert!(status == 0 && bytes(before) > 40_000 && bytes(after) < 8_200, "{said}");
    for file in ["part.ptxcap", "part.small.ptxcap"] {
        let (said, status) = ptxdbg(&there, &["--batch", file]);
        assert!(status == 0 && said.contains("batched, only 1 of 5 blocks: as expected\ncompared     4,000 bytes"), "{file}: {said}");
    }
    let (said, status) = ptxdbg(&there, &["--batch", "part.small.ptxcap", "--blocks", "2"]);
    assert!(status == 1 && said.contains("memory.not_captured"), "{said}");
}

#[test]
fn what_cannot_be_shrunk_is_refused() {
    let there = folder("refused");
    chosen(&there, |_| {});
    let launch = ["--batch", "--no-init", "--yes", "-l", "k.ron"];
    let edited = [&launch[..], &["-e", "stepi", "-e", "set %r1 = 4", "-e", "bundle edited.ptxcap"]].concat();
    assert_eq!(ptxdbg(&there, &edited).1, 0);
    std::fs::write(there.join("thesis.tex"), "\\documentclass{article}").unwrap();
    for (words, reason) in [
        (&["shrink"][..], "required arguments were not provided"),
        (&["shrink", "none.ptxcap"], "none.ptxcap: no such file"),
        (&["shrink", "k.ptx"], "k.ptx: this is no bundle"),
        (&["shrink", "k.ptxcap", "-o", "thesis.tex"], "thesis.tex is there and is no bundle"),
        (&["shrink", "edited.ptxcap"], "its session has changed the run"),
        (&["shrink", "k.ptxcap", "-o", "none/x.ptxcap"], "none/x.ptxcap"),
    ] {
        let (said, status) = ptxdbg(&there, words);
        assert!(status == 2 && said.contains(reason), "{words:?}: {status}: {said}");
    }
    assert_eq!(std::fs::read_to_string(there.join("thesis.tex")).unwrap(), "\\documentclass{article}");
    // In place, if that is wanted.
    let (said, status) = ptxdbg(&there, &["shrink", "k.ptxcap", "-o", "k.ptxcap"]);
    assert!(status == 0, "{said}");
    let (said, status) = ptxdbg(&there, &["--verify", "k.ptxcap"]);
    assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{said}");
}
