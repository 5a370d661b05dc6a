//! Bundles: a session in one file that opens elsewhere, and files that are damaged or want to be more than bundles.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ptxdbg::container::bundle::{self, Content};

use crate::properties;

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bundles").join(name);
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

/// Writes a bundle of these members.
fn write(path: &Path, members: &[(String, Vec<u8>)]) {
    let content: Vec<_> = members.iter().map(|(name, bytes)| (name.clone(), Content::Bytes(bytes.clone()))).collect();
    bundle::write(path, &content).unwrap();
}

/// What is said from the line on that holds `from`.
fn after(said: &str, from: &str) -> String {
    said.lines().skip_while(|line| !line.contains(from)).skip(1).map(|line| format!("{line}\n")).collect()
}

/// Sessions: what opens them, and what is done before the bundle is written.
const SESSIONS: &[(&[&str], &[&str])] = &[
    (&["-l", "fixtures/programs/sgemm_reg.ron"], &["tbreak *20", "run", "mark here", "stepi 40"]),
    (&["-l", "fixtures/programs/mbar_pipeline.ron"], &["stepi 200", "display %tid.x", "watch %r1"]),
    (&["-l", "fixtures/programs/reduce_ticket.ron", "--schedule", "random", "--seed", "7"], &["stepi 100"]),
    (&["fixtures/gallery/shared_raw.ptx", "-k", "shared_raw_bug", "--checks", "race"], &["break 41", "run", "set %r2@* = 5"]),
    (&["-l", "fixtures/launches/linked.ron", "-k", "of_the_second"], &["stepi 3"]),
    (&["fixtures/gallery/shared_raw.ptx", "-k", "shared_raw_bug"], &["launch grid=2", "run"]),
];

/// What is asked on both sides, and what happens then.
const QUESTIONS: &[&str] =
    &["where", "info registers", "info breakpoints", "info marks", "reverse-stepi 5", "continue", "info findings", "info checks", "dump"];

#[test]
fn a_bundle_opens_elsewhere_as_it_was() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (number, (open, commands)) in SESSIONS.iter().enumerate() {
        let here = folder(&format!("moved/{number}/here"));
        let there = folder(&format!("moved/{number}/there"));
        let path = here.join("bug.ptxcap").display().to_string();
        let write = format!("bundle {path} --notes as it was");
        let mut words = vec!["--batch", "--no-init"];
        words.extend(*open);
        commands.iter().chain([&&*write]).chain(QUESTIONS).for_each(|command| words.extend(["-e", command]));
        let (before, _) = ptxdbg(root, &words);
        std::fs::rename(&path, there.join("bug.ptxcap")).unwrap();
        let mut words = vec!["--batch", "--no-init", "bug.ptxcap"];
        QUESTIONS.iter().for_each(|command| words.extend(["-e", command]));
        let (now, _) = ptxdbg(&there, &words);
        assert!(now.starts_with("(ptxdbg) echo as it was\nas it was\n"), "{now}");
        assert!(!now.contains("warning"), "{now}");
        let first = format!("(ptxdbg) {}", QUESTIONS[0]);
        let (before, now) = (after(&before, &first), after(&now, &first));
        assert!(before.lines().count() > 20, "{before}");
        assert_eq!(now, before, "{open:?}");
    }
}

#[test]
fn a_bundle_is_verified_and_run_without_commands() {
    let there = folder("alone");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap").display().to_string();
    let (said, status) = ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/programs/sgemm_reg.ron", "-e", &format!("bundle {path}")]);
    assert_eq!(status, 0, "{said}");
    for words in
        [&["--verify", "x.ptxcap"][..], &["--batch", "x.ptxcap"], &["--check", "x.ptxcap"], &["--batch", "-l", "x.ptxcap/launch.ron"]]
    {
        let (said, status) = ptxdbg(&there, words);
        assert_eq!(status, 0, "{words:?}: {said}");
    }
    let (said, _) = ptxdbg(&there, &["--verify", "x.ptxcap"]);
    assert!(said.ends_with("1 passed, 0 failed\n"), "{said}");
    // What is said beside the bundle counts.
    let (said, status) = ptxdbg(&there, &["--batch", "--seed", "3", "x.ptxcap", "-e", "show seed"]);
    assert!(said.contains('3') && !said.contains("left out") && status == 0, "{status}: {said}");
    for words in [&["--schedule", "random", "--seed", "3"][..], &["--memory", "weak"], &["--resident", "1"], &["--async", "eager"]] {
        let (said, status) = ptxdbg(&there, &[&["--batch", "x.ptxcap"], words].concat());
        assert!(said.contains("as expected\n") && status == 0, "{words:?} {status}: {said}");
    }
}

/// A bundle that was saved at a time opens with other options at its start, and says so.
#[test]
fn a_bundle_of_a_time_opens_with_other_options_at_its_start() {
    let there = folder("restarted");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap").display().to_string();
    let commands = ["-e", "break 30", "-e", "stepi 5", "-e", "mark here", "-e", &format!("bundle {path}")];
    let (said, status) = ptxdbg(root, &[&["--batch", "--no-init", "-l", "fixtures/debug/ring_sum.ron"], &commands[..]].concat());
    assert_eq!(status, 0, "{said}");
    let (said, _) = ptxdbg(&there, &["--batch", "x.ptxcap", "-e", "where", "-e", "info breakpoints"]);
    assert!(said.contains("\nt=5 ") && !said.contains("left out"), "{said}");
    let (said, status) = ptxdbg(&there, &["--batch", "--schedule", "random", "x.ptxcap", "-e", "where", "-e", "info breakpoints"]);
    assert!(said.contains("left out are its time t=5, its marks") && status == 0, "{status}: {said}");
    assert!(said.contains("\nt=0 ") && said.contains("ring_sum.ptx:30"), "{said}");
}

/// Writes the bundle at `from` to `to` with changed members.
fn rewrite(from: &Path, to: &Path, change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) {
    let read = |(name, _): (String, u64)| (name.clone(), bundle::read(&from.join(name), u64::MAX).unwrap().unwrap());
    let mut members: Vec<(String, Vec<u8>)> = bundle::members(from).unwrap().into_iter().map(read).collect();
    change(&mut members);
    let members: Vec<(String, Content)> = members.into_iter().map(|(name, bytes)| (name, Content::Bytes(bytes))).collect();
    bundle::write(to, &members).unwrap();
}

/// A bundle whose module was changed by hand opens without what depends on its instructions.
#[test]
fn a_bundle_with_a_changed_module_opens() {
    let there = folder("changed");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap");
    let bundle = format!("bundle {}", path.display());
    let (said, status) = ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/debug/ring_sum.ron", "-e", "break 30", "-e", &bundle]);
    assert_eq!(status, 0, "{said}");
    rewrite(&path, &there.join("y.ptxcap"), |members| {
        let (_, ptx) = members.iter_mut().find(|(name, _)| name.ends_with(".ptx")).unwrap();
        let text = String::from_utf8(std::mem::take(ptx)).unwrap();
        *ptx = text.replace("add.u32 %result", "sub.u32 %result").into_bytes();
    });
    for words in [&["--batch", "y.ptxcap"][..], &["--batch", "y.ptxcap", "-e", "info breakpoints"]] {
        let (said, status) = ptxdbg(&there, words);
        assert!(said.contains("the text of ring_sum.ptx has changed since the session was saved") && status < 2, "{status}: {said}");
    }
}

/// Triton's files in a bundle give the names of the parameters, as they do beside a module.
#[test]
fn a_bundle_with_files_of_triton_has_their_names() {
    let there = folder("triton");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap");
    let kernel = "fixtures/triton/tensors/add_kernel";
    let words = ["--batch", "--no-init", "-l", &format!("{kernel}.ron"), "-e", &format!("bundle {}", path.display())];
    let (said, status) = ptxdbg(root, &words);
    assert_eq!(status, 0, "{said}");
    let ttir = std::fs::read(root.join(kernel).with_extension("ttir")).unwrap();
    rewrite(&path, &there.join("y.ptxcap"), |members| members.push(("add_kernel.ttir".to_string(), ttir)));
    let (said, status) = ptxdbg(&there, &["--batch", "y.ptxcap", "-e", "p n"]);
    assert!(said.contains("n = 1000\n") && status == 0, "{status}: {said}");
    // The bundle has the tensors itself.
    let words = ["--batch", "x.ptxcap", "-e", "break add_kernel.py:11", "-e", "run", "-e", "p offs[5]"];
    let (said, status) = ptxdbg(&there, &words);
    assert!(said.contains("offs[5] = 5\n") && status == 0, "{status}: {said}");
}

/// A bundle's results are those of its launch: another one is not judged by them, and a tolerance is for its floats.
#[test]
fn what_a_bundle_expects_is_of_its_launch() {
    let there = folder("expects");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap").display().to_string();
    let (said, status) = ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/programs/sgemm_reg.ron", "-e", &format!("bundle {path}")]);
    assert_eq!(status, 0, "{said}");
    let (said, status) = ptxdbg(&there, &["--batch", "x.ptxcap", "-a", "alpha=3"]);
    assert!(said.contains("this launch is not the one of the bundle") && !said.contains("expected\n") && status == 0, "{status}: {said}");
    let (said, status) = ptxdbg(&there, &["--verify", "x.ptxcap", "--rtol", "1e-5"]);
    assert!(said.ends_with("1 passed, 0 failed\n") && status == 0, "{status}: {said}");
    let (said, status) = ptxdbg(root, &["--verify", "-l", "fixtures/faults/barrier_deadlock.ron", "--rtol", "1e-5"]);
    assert!(said.contains("the launch expects none") && status == 2, "{status}: {said}");
}

/// A file that is there and is no bundle stays; one that is a bundle is replaced.
#[test]
fn a_file_of_another_kind_is_left_as_it_is() {
    let there = folder("kept");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("thesis.tex");
    std::fs::write(&path, "\\documentclass{article}").unwrap();
    let write = |path: &Path| {
        let command = format!("bundle {}", path.display());
        ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/programs/sgemm_reg.ron", "-e", &command])
    };
    let (said, status) = write(&path);
    assert!(status == 2 && said.contains("is there and is no bundle"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "\\documentclass{article}");
    let path = there.join("x.ptxcap");
    assert_eq!([write(&path).1, write(&path).1], [0, 0]);
}

/// A tar archive of these members, with `change` made in each header before it is summed.
fn archive<T: AsRef<[u8]>>(members: &[(&[u8], tar::EntryType, T)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, kind, text) in members {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.set_size(text.as_ref().len() as u64);
        header.set_entry_type(*kind);
        header.set_cksum();
        archive.append(&header, text.as_ref()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn what_wants_to_be_more_than_a_bundle_is_refused() {
    use tar::EntryType;
    let file = EntryType::Regular;
    let two = |name: &[u8]| archive(&[(b"bundle.ron", file, "Bundle()"), (name, file, "x")]);
    for (what, bytes, reason) in [
        ("a way out", two(b"../x"), "member 2: it is not a regular file with a plain name"),
        ("the root", two(b"/etc/x"), "member 2: it is not a regular file with a plain name"),
        ("a way out below", two(b"data/../../x"), "member 2: it is not a regular file with a plain name"),
        ("twice", two(b"bundle.ron"), "member 2: 'bundle.ron' is there twice"),
        ("a link", archive(&[(b"bundle.ron", EntryType::Symlink, "")]), "member 1: it is not a regular file with a plain name"),
        ("a long name", archive(&[(b"x", EntryType::GNULongName, "abc")]), "member 1: it is an extension of the archive's format"),
        ("a PAX header", archive(&[(b"x", EntryType::XHeader, "11 path=k.p")]), "member 1: it is an extension of the archive's format"),
        ("what follows", [archive::<&str>(&[]), b"more".to_vec()].concat(), "after the end of its archive there is more: byte 0x6d"),
        ("nothing", archive::<&str>(&[]), "it has no member 'bundle.ron'"),
        ("no launch", two(b"session.ron"), "it has no member 'launch.ron'"),
    ] {
        let there = folder("refused");
        std::fs::write(there.join("x.ptxcap"), bundle::packed(&bytes)).unwrap();
        let (said, status) = ptxdbg(&there, &["--batch", "x.ptxcap"]);
        assert!(said.contains(reason) && status == 2, "{what}: {said}");
    }
    let full = [(&b"launch.ron"[..], file, ""), (b"session.ron", file, ""), (b"k.ptx", file, "")];
    for (manifest, reason) in [
        (
            "Bundle(version: 2, module: \"k.ptx\", seed: 0, schedule: \"\", copies: \"\", divergence: \"\", checks: \"\")",
            "it is of version 2",
        ),
        (
            "Bundle(version: 1, module: \"k.ptx\", seed: 0, schedule: \"x\", copies: \"lazy\", divergence: \"stack\", checks: \"all\")",
            "x.ptxcap/bundle.ron: schedule: 'x' cannot be used: ",
        ),
        (
            "Bundle(version: 1, module: \"q.ptx\", seed: 0, schedule: \"\", copies: \"\", divergence: \"\", checks: \"\")",
            "no member 'q.ptx'",
        ),
        ("Bundle(version: 1, module: 3)", "bundle.ron:1:27: a string is missing"),
        ("", "bundle.ron:1:1: "),
        (
            "Bundle(version: 1, module: \"k.ptx\", seed: 0, schedule: \"random\", copies: \"lazy\", divergence: \"stack\", checks: \"all\", notes: \"hi\\nsave session x\")",
            "more than one line",
        ),
    ] {
        let there = folder("refused");
        let members: Vec<_> = std::iter::once((&b"bundle.ron"[..], file, manifest)).chain(full).collect();
        std::fs::write(there.join("x.ptxcap"), bundle::packed(&archive(&members))).unwrap();
        let (said, status) = ptxdbg(&there, &["--batch", "x.ptxcap"]);
        assert!(said.contains(reason) && !said.contains("--") && status == 2, "{manifest}: {said}");
    }
}

/// A bundle may come from anywhere: it names no other files, and none of its breakpoints has commands.
#[test]
fn a_bundle_does_nothing_outside_of_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = folder("outside");
    let path = there.join("x.ptxcap");
    let commands = ["break 41", "commands 1\nsave session stolen.ron\nend", &format!("bundle {}", path.display())];
    let mut words = vec!["--batch", "--no-init", "fixtures/gallery/shared_raw.ptx", "-k", "shared_raw_bug"];
    commands.iter().for_each(|command| words.extend(["-e", command]));
    let (said, _) = ptxdbg(root, &words);
    assert!(path.is_file(), "{said}");
    let (said, _) = ptxdbg(&there, &["--batch", "--no-init", "x.ptxcap", "-e", "run"]);
    assert!(said.contains("the commands of 1 breakpoint are left out"), "{said}");
    assert!(said.contains("breakpoint 1") && !there.join("stolen.ron").exists(), "{said}");
    let members = bundle::members(&path).unwrap();
    for name in ["/etc/passwd", "../secret.bin", "a/../../secret.bin"] {
        let changed = |member: &str, text: Vec<u8>| match member {
            "launch.ron" => {
                String::from_utf8(text).unwrap().replacen("init: Iota(start: 0, step: 1)", &format!("init: File({name:?})"), 1).into_bytes()
            }
            _ => text,
        };
        let read = |name: &String| bundle::read(&path.join(name), u64::MAX).unwrap().unwrap();
        let content: Vec<_> = members.iter().map(|(member, _)| (member.clone(), changed(member, read(member)))).collect();
        assert!(content.iter().any(|(_, text)| String::from_utf8_lossy(text).contains(name)), "the launch names {name}");
        write(&there.join("y.ptxcap"), &content);
        let (said, status) = ptxdbg(&there, &["--batch", "--no-init", "y.ptxcap"]);
        assert!(status == 2 && said.contains("is no member of the bundle"), "{name}: {said}");
    }
}

/// The first bytes of a bundle say that it is one; what comes after them may be anything.
#[test]
fn a_damaged_bundle_is_refused_or_is_the_same() {
    let members = [
        ("bundle.ron", "Bundle()".repeat(20)),
        ("k.ptx", ".version 8.0 ret; ret; mov".repeat(30)),
        ("data/0-x.bin", "0123456789".repeat(40)),
    ];
    let members: Vec<_> = members.into_iter().map(|(name, text)| (name.to_string(), text.into_bytes())).collect();
    let path = folder("damaged").join("x.ptxcap");
    write(&path, &members);
    let whole = std::fs::read(&path).unwrap();
    let expected: bundle::Members = members.iter().map(|(name, text)| (name.clone(), text.len() as u64)).collect();
    assert_eq!(bundle::members_of(&whole[..]).unwrap(), expected);
    let (mut refused, mut same) = (0, 0);
    let mut judge = |bytes: &[u8]| match bundle::members_of(bytes) {
        Ok(members) if members == expected => same += 1,
        Ok(members) => panic!("{members:?}"),
        Err(_) => refused += 1,
    };
    for at in 0..whole.len() {
        judge(&whole[..at]);
        for bit in 0..8 {
            let mut other = whole.clone();
            other[at] ^= 1 << bit;
            judge(&other);
        }
    }
    assert!(same * 10 < refused, "{same} damaged bundles are read, {refused} are refused");
}

/// A megabyte of the archive takes few bytes of the bundle; memory is needed for what is asked for alone.
#[test]
fn members_are_read_up_to_the_one_that_is_asked_for() {
    let path = folder("long").join("x.ptxcap");
    let members = [("a.txt".to_string(), b"first".to_vec()), ("zeros".to_string(), vec![0; 64 << 20])];
    write(&path, &members);
    assert!(std::fs::metadata(&path).unwrap().len() < 64 << 10);
    assert_eq!(bundle::read(&path.join("a.txt"), 5).unwrap(), Some(b"first".to_vec()));
    assert_eq!(bundle::read(&path.join("a.txt"), 4).unwrap(), None);
    assert_eq!(bundle::read(&path.join("zeros"), 1 << 20).unwrap(), None);
    assert!(bundle::is_file(&path.join("zeros")) && !bundle::is_file(&path.join("ones")) && !bundle::is_file(&path.join("../x")));
    assert!(bundle::read(&path.join("ones"), 1).is_err());
}

/// What `tar -c .` makes is read: names below `./`, and folders. Of what is no bundle it is said what to do.
#[test]
fn bundles_made_by_hand_are_read_and_other_files_are_not() {
    use tar::EntryType;
    let file = EntryType::Regular;
    let there = folder("by_hand");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap");
    let command = format!("bundle {}", path.display());
    ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/programs/sgemm_reg.ron", "-e", &command]);
    let members = bundle::members(&path).unwrap();
    let texts: Vec<_> =
        members.iter().map(|(name, _)| (format!("./{name}"), bundle::read(&path.join(name), u64::MAX).unwrap().unwrap())).collect();
    let mut rows = vec![(&b"./"[..], EntryType::Directory, Vec::new())];
    rows.extend(texts.iter().map(|(name, text)| (name.as_bytes(), file, text.clone())));
    std::fs::write(there.join("y.ptxcap"), bundle::packed(&archive(&rows))).unwrap();
    let (said, status) = ptxdbg(&there, &["--verify", "y.ptxcap"]);
    assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{said}");
    let (said, status) = ptxdbg(&there, &["--list", "y.ptxcap"]);
    assert!(status == 0 && said.contains("; launch file: y.ptxcap/launch.ron\n"), "{said}");
    let (said, status) = ptxdbg(&there, &["--batch", "x.ptxcap", "y.ptxcap"]);
    assert!(status == 2 && said.contains("x.ptxcap is a bundle, which holds its module: give one bundle"), "{said}");
    std::fs::write(there.join("k.ptx.zst"), bundle::packed(b".version 8.0\n")).unwrap();
    let (said, status) = ptxdbg(&there, &["--batch", "k.ptx.zst"]);
    assert!(status == 2 && said.contains("unpack it (zstd -d k.ptx.zst)"), "{said}");
    std::fs::write(there.join("k.zip"), b"PK\x03\x04rest").unwrap();
    let (said, status) = ptxdbg(&there, &["--batch", "k.zip"]);
    assert!(status == 2 && said.contains("k.zip is a zip archive"), "{said}");
}

/// A run without commands refuses the session that the prompt refuses.
#[test]
fn the_session_is_compared_without_commands_too() {
    let there = folder("session");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap");
    let command = format!("bundle {}", path.display());
    ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/programs/sgemm_reg.ron", "-e", &command]);
    let members = bundle::members(&path).unwrap();
    for (change, reason) in [
        (("version:", "versions:"), "session.ron:2:5: there is no field 'versions'"),
        (("name: \"", "name: \"of_another_"), "this session is of of_another_"),
    ] {
        let read = |name: &String| bundle::read(&path.join(name), u64::MAX).unwrap().unwrap();
        let text = |name: &String| match name.as_str() {
            "session.ron" => {
                String::from_utf8(read(name)).unwrap().replacen(change.0, change.1, 1).replacen("digest: \"", "digest: \"0", 1).into_bytes()
            }
            _ => read(name),
        };
        let content: Vec<_> = members.iter().map(|(name, _)| (name.clone(), text(name))).collect();
        write(&there.join("y.ptxcap"), &content);
        let (said, status) = ptxdbg(&there, &["--batch", "--no-init", "y.ptxcap"]);
        assert!(status == 2 && said.contains(reason), "{reason}: {said}");
        assert!(ptxdbg(&there, &["--batch", "--no-init", "y.ptxcap", "-e", "where"]).0.contains(reason), "{reason}");
    }
}

/// Data that a launch names is not held in memory while it is packed.
#[test]
fn data_files_are_packed_piece_by_piece() {
    let there = folder("data");
    let data = there.join("data.bin");
    let mut random = crate::common::random_numbers();
    let bytes: Vec<u8> = (0..(9 << 20) / 4).flat_map(|_| (random.next().unwrap() as u32).to_le_bytes()).collect();
    std::fs::write(&data, &bytes).unwrap();
    let path = there.join("x.ptxcap");
    bundle::write(&path, &[("data/0/data.bin".to_string(), Content::File(data.clone(), u64::MAX))]).unwrap();
    assert!(bundle::read(&path.join("data/0/data.bin"), u64::MAX).unwrap().unwrap() == bytes);
    // A bundle of a member of a bundle.
    let again = there.join("y.ptxcap");
    bundle::write(&again, &[("x".to_string(), Content::File(path.join("data/0/data.bin"), u64::MAX))]).unwrap();
    assert!(bundle::read(&again.join("x"), u64::MAX).unwrap().unwrap() == bytes);
    let long = bundle::write(&again, &[("x".to_string(), Content::File(data, 100))]).unwrap_err().to_string();
    assert!(long.contains("it has more than 100 bytes"), "{long}");
    assert!(bundle::read(&again.join("x"), u64::MAX).unwrap().unwrap() == bytes, "the old bundle is left");
}

/// GNU tar and zstd write what is read, and read what is written.
#[test]
fn other_programs_read_and_write_bundles() {
    let Ok(tar) = Command::new("tar").args(["--zstd", "--version"]).output() else { return eprintln!("skipped: there is no tar") };
    if !tar.status.success() || Command::new("zstd").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no tar with zstd");
    }
    let there = folder("tar");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = there.join("x.ptxcap").display().to_string();
    ptxdbg(root, &["--batch", "--no-init", "-l", "fixtures/programs/sgemm_reg.ron", "-e", &format!("bundle {path}")]);
    let run = |words: &[&str]| assert!(Command::new("tar").args(words).current_dir(&there).status().unwrap().success(), "{words:?}");
    std::fs::create_dir_all(there.join("unpacked")).unwrap();
    run(&["--zstd", "-xf", "x.ptxcap", "-C", "unpacked"]);
    let members = bundle::members(Path::new(&path)).unwrap();
    for (name, bytes) in &members {
        let unpacked = std::fs::read(there.join("unpacked").join(name)).unwrap();
        assert_eq!(unpacked.len() as u64, *bytes, "{name}");
        assert_eq!(bundle::read(&Path::new(&path).join(name), u64::MAX).unwrap(), Some(unpacked), "{name}");
    }
    let names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    run(&[&["--zstd", "-cf", "y.ptxcap", "--format=ustar", "-C", "unpacked"], &names[..]].concat());
    let (said, status) = ptxdbg(&there, &["--verify", "y.ptxcap"]);
    assert!(status == 0 && said.ends_with("1 passed, 0 failed\n"), "{said}");
}

#[test]
fn bytes_without_a_pattern_are_no_bundle() {
    let mut random = crate::common::random_numbers();
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..700).map(|_| random.next().unwrap() as u8).collect();
        assert!(!properties::bundle::check(&bytes));
    }
    let archive = archive(&[(b"bundle.ron", tar::EntryType::Regular, "Bundle()")]);
    assert!(properties::bundle::check(&archive));
}
