//! Bounds on what a run, a file and a report may take: simulated state, bytes that are read, findings that are printed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::Session;
use ptxdbg::debug::view::control_flow;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};

/// Exit status, standard output and standard error of `ptxdbg` with these words.
fn ptxdbg(words: &[&str]) -> (i32, String, String) {
    outcome(Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words))
}

/// The same, ended by a signal after these seconds of processor time: how busy the machine is does not count.
fn ptxdbg_within(seconds: u32, words: &[&str]) -> (i32, String, String) {
    let limited = format!("ulimit -t {seconds} && exec \"$0\" \"$@\"");
    outcome(Command::new("sh").args(["-c", &limited, env!("CARGO_BIN_EXE_ptxdbg")]).args(words))
}

fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// The path of a file with this content in a folder of its own.
fn file(name: &str, content: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_string()
}

/// A module with one kernel `k` that takes an address.
fn kernel(body: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n{body}\n}}\n")
}

/// Writes a word to each of 4,096 pages of `out`.
fn pages() -> String {
    kernel(
        "    .reg .u64 %a;\n    .reg .u32 %i;\n    .reg .pred %p;\n    ld.param.u64 %a, [out];\n    cvta.to.global.u64 %a, %a;\n    \
         mov.u32 %i, 0;\nagain:\n    st.global.u32 [%a], %i;\n    add.u64 %a, %a, 4096;\n    add.u32 %i, %i, 1;\n    \
         setp.lt.u32 %p, %i, 4096;\n    @%p bra again;\n    ret;",
    )
}

#[test]
fn touched_pages_end_a_run_at_the_limit() {
    let ptx = file("pages.ptx", &pages());
    let words = ["--batch", &ptx, "--block", "1", "-a", "u32[4194304]=uninit", "--memory-limit"];
    let limited = |limit: &str| ptxdbg(&[&words[..], &[limit]].concat());
    let (status, out, err) = limited("4M");
    assert_eq!((status, err.as_str()), (1, ""), "{out}");
    assert!(out.contains("memory.limit: the run needs more simulated state than 4 MiB, the limit (--memory-limit): "), "{out}");
    // All of it is 16 MiB and what a block takes.
    let (status, out, _) = limited("17M");
    assert_eq!(status, 0, "{out}");
}

#[test]
fn the_limit_ends_a_session_at_the_same_time() {
    let ptx = file("pages_in_a_session.ptx", &pages());
    let words = ["--batch", &ptx, "--grid", "1", "--block", "1", "-a", "u32[4194304]=uninit", "--memory-limit", "4M"];
    let (_, batch, _) = ptxdbg(&words);
    let (_, at_once, _) = ptxdbg(&[&words[..], &["-e", "run", "-e", "when"]].concat());
    let (_, in_slices, _) = ptxdbg(&[&words[..], &["-e", "goto 100", "-e", "goto 777", "-e", "continue", "-e", "when"]].concat());
    let ticks = batch.lines().find_map(|line| line.split(": ").nth(2)?.split(" ticks").next()).unwrap_or_default().to_string();
    for session in [at_once, in_slices] {
        assert!(session.contains("memory.limit"), "{session}");
        assert!(session.contains(&ticks), "{ticks}: {session}");
    }
}

#[test]
fn call_frames_count() {
    // Each call keeps a frame, and 256 bytes of local memory of each lane.
    let ptx = kernel("    .param .u32 n;\n    st.param.u32 [n], 1000;\n    call down, (n);\n    ret;").replace(
        ".visible .entry",
        ".func down(.param .u32 n)\n{\n    .local .u32 own[64];\n    .reg .u32 %n;\n    .reg .pred %p;\n    ld.param.u32 %n, [n];\n    \
         st.local.u32 [own], %n;\n    setp.eq.u32 %p, %n, 0;\n    @%p ret;\n    sub.u32 %n, %n, 1;\n    {\n    .param .u32 next;\n    \
         st.param.u32 [next], %n;\n    call down, (next);\n    }\n    ld.local.u32 %n, [own];\n    ret;\n}\n.visible .entry",
    );
    let ptx = file("frames.ptx", &ptx);
    let (status, out, _) = ptxdbg(&["--batch", &ptx, "-a", "u32[1]", "--memory-limit", "1M"]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("memory.limit"), "{out}");
    let (status, out, _) = ptxdbg(&["--batch", &ptx, "-a", "u32[1]", "--memory-limit", "64M"]);
    assert_eq!(status, 0, "{out}");
}

#[test]
fn giant_data_files_are_not_read() {
    let data = file("giant.bin", "");
    std::fs::File::options().write(true).open(&data).unwrap().set_len(20 << 30).unwrap();
    file("giant.ptx", &kernel("    ret;"));
    let launch = |init: &str| {
        format!(
            "Launch(module: \"giant.ptx\", kernel: \"k\", grid: (1, 1, 1), block: (1, 1, 1),\n    params: [Buffer(name: \"x\", elem: U32, len: \
             5368709120, init: {init})])\n"
        )
    };
    for (name, init) in [("file.ron", "File(\"giant.bin\")"), ("slice.ron", "Slice(file: \"giant.bin\", offset: 0)")] {
        let launch = file(name, &launch(init));
        let begun = Instant::now();
        let (status, out, err) = ptxdbg(&["--batch", "-l", &launch]);
        assert_eq!((status, out.as_str()), (2, ""), "{err}");
        let message = "buffer 'x' is filled with 20 GiB of data: more simulated state than 8 GiB, the limit (--memory-limit)";
        assert!(err.contains(message), "{err}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    std::fs::remove_file(data).unwrap();
}

#[test]
fn what_is_no_number_of_bytes_is_refused() {
    let ptx = file("empty.ptx", &kernel("    ret;"));
    for wrong in ["", "0", "8X", "-1", "1.5G", "99999999999G"] {
        let (status, _, err) = ptxdbg(&["--batch", &ptx, &format!("--memory-limit={wrong}")]);
        assert_eq!(status, 2, "{wrong}");
        assert!(err.contains("number of bytes") || err.contains("value is required"), "{wrong}: {err}");
    }
}

#[test]
fn files_without_end_are_not_read_to_their_end() {
    if !Path::new("/dev/zero").exists() {
        return;
    }
    let ptx = file("whole.ptx", &kernel("    ret;"));
    let calls: [&[&str]; 3] =
        [&["--check", "/dev/zero"], &["--batch", "-l", "/dev/zero"], &["--batch", &ptx, "-a", "u32[1]", "-x", "/dev/zero"]];
    for words in calls {
        let (status, out, err) = ptxdbg(words);
        assert_eq!(status, 2, "{words:?}: {out}{err}");
        assert!(err.contains("/dev/zero"), "{words:?}: {err}");
    }
}

/// A kernel with `count` statements that each race with themselves over a word of their own.
fn racy(count: usize) -> String {
    let stores: String = (0..count).map(|word| format!("    st.shared.u32 [words+{}], %t;\n", 4 * word)).collect();
    kernel(&format!("    .shared .u32 words[{count}];\n    .reg .u32 %t;\n    mov.u32 %t, %tid.x;\n{stores}    ret;"))
}

/// Lines of `text` that say `word`.
fn lines_with(text: &str, word: &str) -> usize {
    text.lines().filter(|line| line.contains(word)).count()
}

#[test]
fn a_hundred_findings_are_printed_and_the_others_counted() {
    let ptx = file("racy.ptx", &racy(130));
    let words = ["--batch", &ptx, "--block", "64", "-a", "u32[1]"];
    let (status, out, _) = ptxdbg(&words);
    assert_eq!((status, lines_with(&out, "race.shared.waw: ")), (1, 100), "{out}");
    assert!(out.contains("30 more findings are not printed (--max-findings): race.shared.waw 30\n"), "{out}");
    let (status, out, _) = ptxdbg(&[&words[..], &["--max-findings", "0"]].concat());
    assert_eq!((status, lines_with(&out, "race.shared.waw: ")), (1, 0), "{out}");
    let (_, out, _) = ptxdbg(&[&words[..], &["--max-findings", "1000"]].concat());
    assert_eq!((lines_with(&out, "race.shared.waw: "), lines_with(&out, "not printed")), (130, 0), "{out}");
}

#[test]
fn machine_formats_count_findings_that_are_not_printed() {
    let ptx = file("racy_for_programs.ptx", &racy(5));
    let words = ["--batch", &ptx, "--block", "64", "-a", "u32[1]", "--max-findings", "2", "--format"];
    let (_, out, _) = ptxdbg(&[&words[..], &["json"]].concat());
    assert!(out.contains("{\"by_id\":{\"race.shared.waw\":3},\"count\":3,\"kind\":\"findings_omitted\"}\n"), "{out}");
    let (_, out, _) = ptxdbg(&[&words[..], &["sarif"]].concat());
    let log: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 2);
    assert_eq!(log["runs"][0]["properties"]["findingsOmitted"]["race.shared.waw"], 3);
}

/// Branches over branches: 20,000 blocks, of which each goes on, forwards, or back.
fn maze() -> String {
    let block = |at: usize| {
        let (forwards, back) = ((at + 7).min(10_000), at * 7919 % 10_000);
        format!("L{at}:\n    setp.eq.u32 %p, %i, {at};\n    @%p bra L{forwards};\n    add.u32 %i, %i, 1;\n    @%p bra L{back};\n")
    };
    let blocks: String = (0..10_000).map(block).collect();
    kernel(&format!("    .reg .u32 %i;\n    .reg .pred %p;\n    mov.u32 %i, %tid.x;\n{blocks}L10000:\n    ret;"))
}

#[test]
fn twenty_thousand_blocks_of_warps_with_a_stack_are_launched_at_once() {
    let ptx = file("maze_with_stack.ptx", &maze());
    // Two seconds are enough for what ships.
    let (status, out, err) = ptxdbg_within(20, &["--batch", &ptx, "--block", "32", "-a", "u32[1]", "--divergence", "stack"]);
    assert_eq!(status, 0, "{out}{err}");
}

#[test]
fn twenty_thousand_blocks_are_shown_at_once() {
    let path = file("maze.ptx", &maze());
    let overrides = Overrides { params: vec!["u32[1]".to_string()], ..Overrides::default() };
    let request = Request { modules: vec![path.into()], launch: LaunchChoice::MadeUp, overrides };
    let session = Session::new(open(&request).unwrap(), 0, RunOptions::unwatched()).unwrap();
    let context = session.eval_context();
    let begun = ThreadTime::now();
    let view = control_flow(&context, context.machine.config().kernel);
    let near = view.around_focus(40);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!((view.blocks.len(), near.blocks.len()), (20_002, 40));
    assert_eq!(near.blocks[0].name, "entry");
    assert!(near.blocks.iter().all(|block| block.successors.iter().all(|to| *to < 40)));
}
