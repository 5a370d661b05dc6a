//! PTX out of programs, libraries, archives, fat binaries, cubins, dumps and caches: what is taken out is what `cuobjdump` takes out, and
//! what is damaged is said with its place.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says what it skips")]

#[path = "containers/command_line.rs"]
mod command_line;
#[path = "containers/windows.rs"]
mod windows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{fixtures, random_numbers};
use crate::properties;
use ptxdbg::container::{self, Container, Input, Packing, Param, of_input, outline};
use ptxdbg::debug::open::read_text_module;
use ptxdbg::isa::Space;

fn folder() -> PathBuf {
    fixtures().join("containers")
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

fn container(bytes: Vec<u8>) -> Container {
    of_input(Path::new("file.so"), Input::of_bytes(bytes)).unwrap().unwrap()
}

fn texts(container: &mut Container) -> Vec<String> {
    (0..container.modules().len()).map(|index| container.text(index).unwrap()).collect()
}

fn problems(container: &Container) -> Vec<String> {
    container.problems().iter().map(ToString::to_string).collect()
}

/// What `cuobjdump -all -xptx all` took out of each file: names without the file's, and texts.
fn recorded() -> BTreeMap<String, Vec<(String, String)>> {
    let mut recorded: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for line in fs::read_to_string(folder().join("cuobjdump.txt")).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [file, name, text] = words.try_into().unwrap();
        let text = fs::read_to_string(folder().join("texts").join(text).with_extension("txt")).unwrap();
        recorded.entry(file.to_string()).or_default().push((name.to_string(), text));
    }
    recorded
}

#[test]
fn modules_are_what_cuobjdump_takes_out() {
    let recorded = recorded();
    assert_eq!(recorded.len(), 13);
    for (file, mut expected) in recorded {
        let path = folder().join(&file);
        let mut container = container::open(&path).unwrap().unwrap();
        assert_eq!(problems(&container), [""; 0], "{file}");
        let stem = path.file_stem().unwrap().to_str().unwrap();
        // Names of sources that entries have stand in place of the file's.
        let name = |index: usize| {
            let name = &container.modules()[index].name;
            name.strip_prefix(&format!("{stem}.")).unwrap_or(name).to_string()
        };
        let names: Vec<String> = (0..container.modules().len()).map(name).collect();
        let mut found: Vec<(String, String)> = names.into_iter().zip(texts(&mut container)).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn every_packing_is_read() {
    let packing = |mode: &str| container(bytes(&format!("scale_{mode}.fatbin"))).modules()[0].packing;
    assert_eq!(["none", "speed"].map(packing), [Packing::Plain, Packing::Lz4]);
    assert_eq!(["default", "size", "balance"].map(packing), [Packing::Zstd; 3]);
}

/// With a `cuobjdump`, the files of a folder of the user's own too: `CUOBJDUMP=.. PTXDBG_BINARIES=FOLDER`.
#[test]
fn a_cuobjdump_that_is_there_takes_out_the_same() {
    let Some(cuobjdump) = std::env::var_os("CUOBJDUMP") else {
        println!("skipped: CUOBJDUMP names no cuobjdump");
        return;
    };
    let mut files: Vec<PathBuf> = recorded().into_keys().map(|file| folder().join(file)).collect();
    if let Some(own) = std::env::var_os("PTXDBG_BINARIES") {
        files.extend(fs::read_dir(own).unwrap().map(|entry| entry.unwrap().path()));
    }
    let mut compared = 0;
    for file in files {
        let Some(mut container) = container::open(&file).unwrap() else { continue };
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cuobjdump");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(&out).unwrap();
        let file = fs::canonicalize(&file).unwrap();
        let run = Command::new(&cuobjdump).args(["-all", "-xptx", "all"]).arg(&file).current_dir(&out).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        if said.contains("fatal") {
            println!("{}: {said}", file.display());
            continue;
        }
        assert_eq!(fs::read_dir(&out).unwrap().count(), container.modules().len(), "{}", file.display());
        for (index, text) in texts(&mut container).into_iter().enumerate() {
            let name = out.join(&container.modules()[index].name);
            assert!(fs::read(&name).unwrap() == text.as_bytes(), "{}: {}", file.display(), name.display());
            compared += 1;
        }
    }
    println!("{compared} modules are the same");
}

#[test]
fn a_cubin_has_the_text_that_it_was_made_from() {
    let mut cubin = container(bytes("total.cubin"));
    assert_eq!((cubin.what(), cubin.modules().len()), ("a cubin", 1));
    assert_eq!((cubin.modules()[0].name.as_str(), cubin.module_path(0)), ("file.1.sm_90.ptx", PathBuf::from("file.so")));
    let text = texts(&mut cubin).remove(0);
    // The source says what is in it: a function and a kernel with a loop over shared memory.
    let module = read_text_module(Path::new("total.ptx"), text.clone());
    assert!(module.program.is_some(), "{:?}", module.diagnostics);
    let found = outline(&text);
    assert_eq!((found.target.as_str(), found.kernels.len(), found.kernels[0].name.as_str()), ("sm_90", 1, "total"));
    assert!(found.kernels[0].dynamic_shared && text.contains(".func  (.param .b32 func_retval0) _Z3mixj("), "{text}");
    // In a fat binary without PTX the texts are those of its cubins.
    let mut cubins = container(bytes("cubins.fatbin"));
    assert_eq!((cubins.modules().len(), cubins.cubins()), (2, 2));
    let targets: Vec<String> = texts(&mut cubins).iter().map(|text| outline(text).target).collect();
    assert_eq!(targets, ["sm_80", "sm_90"]);
    assert_eq!(container(bytes("without_text.cubin")).modules(), []);
}

#[test]
fn what_cupy_keeps_is_read_after_its_hash() {
    for digits in [32, 40] {
        let hash = "0123456789abcdef".repeat(3)[..digits].to_string().into_bytes();
        let cubin = container([hash.clone(), bytes("total.cubin")].concat());
        assert_eq!((cubin.what(), cubin.modules().len()), ("a file of CuPy's cache", 1));
        let mut text = container([hash, b"//\n.version 8.0\n.target sm_80\n".to_vec()].concat());
        assert_eq!(texts(&mut text), ["//\n.version 8.0\n.target sm_80\n"]);
        assert_eq!(text.modules()[0].target, "sm_80");
    }
}

#[test]
fn what_numba_prints_is_taken_out() {
    let one = ".version 8.0\n.target sm_80\n.visible .entry one() { ret; }\n";
    let two = ".version 8.0\n.target sm_90\n.visible .entry two() { ret; }\n";
    let printed = format!(
        "warming up\n{:-^80}\n{one}{}\nloss 0.5\n{:-^80}\n{two}{}\n",
        "ASSEMBLY one",
        "=".repeat(80),
        "ASSEMBLY two",
        "=".repeat(80)
    );
    let mut dump = container(printed.into_bytes());
    assert_eq!((dump.what(), texts(&mut dump)), ("a text", vec![one.to_string(), two.to_string()]));
    let names: Vec<_> = dump.modules().iter().map(|module| (module.name.as_str(), module.source.as_deref())).collect();
    assert_eq!(names, [("file.1.sm_80.ptx", Some("one")), ("file.2.sm_90.ptx", Some("two"))]);
    assert!(of_input(Path::new("k.ptx"), Input::of_bytes(one.as_bytes().to_vec())).unwrap().is_none());
}

/// The member, the section and the offset are those that `readelf` and a hex dump show.
#[test]
fn damage_is_said_with_its_place_and_hides_nothing_else() {
    let whole = bytes("scale_speed.fatbin");
    let damaged = |at: usize, with: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + with.len()].copy_from_slice(with);
        let mut container = container(bytes);
        let read: Vec<Result<usize, String>> = (0..container.modules().len())
            .map(|index| container.text(index).map(|text| text.len()).map_err(|error| error.to_string()))
            .collect();
        (problems(&container), read)
    };
    // The first entry lies at 16, its payload of LZ4 at 96.
    let (said, read) = damaged(96, &[0xff; 4]);
    assert_eq!(said, [""; 0]);
    assert!(read[0].as_ref().unwrap_err().starts_with("file.so: offset 0x10: its LZ4 block is damaged: "), "{read:?}");
    assert_eq!(read[1], Ok(3297));
    let (said, read) = damaged(16 + 56, &(u64::MAX >> 8).to_le_bytes());
    assert_eq!(said, [""; 0]);
    let much = "file.so: offset 0x10: it says it has 72057594037927935 bytes when unpacked; 536870912 is the most that is read";
    assert_eq!(read, [Err(much.to_string()), Ok(3297)]);
    let (said, read) = damaged(16 + 8, &(1_u64 << 40).to_le_bytes());
    assert_eq!(
        (said, read),
        (vec!["file.so: offset 0x10: the entry says that it has 80 + 1099511627776 bytes, and 2736 are left".to_string()], vec![])
    );
    let (said, _) = damaged(4, &[9]);
    assert_eq!(said, ["file.so: offset 0x0: a fat binary of version 9 with a header of 16 bytes is not known here"]);
    let (said, read) = damaged(16 + 40, &0x6000_u64.to_le_bytes());
    assert_eq!((said.len(), read[1].clone()), (0, Ok(3297)));
    let (_, read) = damaged(16 + 40, &0x1011_u64.to_le_bytes());
    assert_eq!(read[0], Err("file.so: offset 0x10: it is packed in a way that is not known here (flags 0x1011)".to_string()));
    // Cut off in the second module of the second member.
    let archive = bytes("libboth.a");
    let cut = container(archive[..archive.len() - 8000].to_vec());
    let said = problems(&cut);
    assert!(said[0].starts_with("file.so(a_total_packed_with_lz4.o): offset 0x") && said[0].contains("headers are damaged"), "{said:?}");
    assert!(said.last().unwrap().contains("the member says that it has"), "{said:?}");
    let object = bytes("scale.o");
    let cut = of_input(Path::new("scale.o"), Input::of_bytes(object[..600].to_vec())).unwrap().unwrap();
    assert_eq!(problems(&cut), ["scale.o: offset 0x0: its headers are damaged: Invalid ELF section header offset/size/alignment"]);
}

/// The table of sections lies at the end of an object: of one that is cut off there, fat binaries are found by what they begin with.
#[test]
fn what_is_whole_in_a_damaged_file_is_read() {
    let expected = |file: &str| recorded().remove(file).unwrap().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    let object = bytes("scale.o");
    let mut cut = container(object[..object.len() - 64].to_vec());
    assert_eq!((texts(&mut cut), cut.problems().len()), (expected("scale.o"), 1));
    // A member that is no object any more, and one whose header is damaged, hide none of those after them.
    let mut archive = bytes("libparts.a");
    let ends = archive.windows(2).enumerate().filter(|(_, two)| two == b"`\n").map(|(at, _)| at).collect::<Vec<_>>();
    archive[ends[1]] = b'x';
    let mut damaged = container(archive);
    let said = problems(&damaged);
    assert_eq!(said, [format!("file.so: offset {:#x}: this is not the header of a member", ends[1] - 58)]);
    let all = expected("libparts.a");
    assert_eq!(texts(&mut damaged), all[1..]);
}

#[test]
fn archives_in_archives_are_looked_into() {
    let member = |name: &str, bytes: Vec<u8>| {
        let mut member = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, bytes.len()).into_bytes();
        member.extend(&bytes);
        member.resize(member.len().next_multiple_of(2), b'\n');
        member
    };
    let inner = [b"!<arch>\n".to_vec(), member("first.o/", bytes("lines.o"))].concat();
    let outer = |inner: Vec<u8>| [b"!<arch>\n".to_vec(), member("readme/", b"text".to_vec()), member("inner.a/", inner)].concat();
    let found = container(outer(inner.clone()));
    let names: Vec<_> = found.modules().iter().map(|module| (module.name.as_str(), module.member.as_deref())).collect();
    assert_eq!(names, [("total.sm_90.ptx", Some("inner.a(first.o)")), ("total.sm_75.ptx", Some("inner.a(first.o)"))]);
    let deep = container((0..20).fold(inner, |inner, _| outer(inner)));
    assert!(
        deep.modules().is_empty() && problems(&deep)[0].ends_with("an archive so deep in others is not looked into"),
        "{:?}",
        problems(&deep)
    );
}

/// Two objects made from sources of one name: cuobjdump takes out both under one name, and the second replaces the first.
#[test]
fn names_that_are_given_twice_get_numbers() {
    let two = [bytes("lines.o"), bytes("lines.o")].map(|bytes| {
        let mut member = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "a.o/", 0, 0, 0, 644, bytes.len()).into_bytes();
        member.extend(bytes);
        member
    });
    let twice = container([b"!<arch>\n".to_vec(), two.concat()].concat());
    let names: Vec<_> = twice.modules().iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["total.sm_90.ptx", "total.sm_75.ptx", "total.3.sm_90.ptx", "total.4.sm_75.ptx"]);
}

#[test]
fn any_damage_is_survived() {
    let mut random = random_numbers();
    let (mut unpacked, mut refused) = (0, 0);
    for file in ["scale_speed.fatbin", "scale_size.fatbin", "scale.o", "libboth.a", "app_rdc", "cubins.fatbin"] {
        let whole = bytes(file);
        for round in 0..60 {
            let mut bytes = whole.clone();
            for _ in 0..=round % 4 {
                let at = random.next().unwrap() as usize;
                // Headers matter most: half of the damage is near the start of something.
                let at = if at.is_multiple_of(2) { at / 2 % bytes.len() } else { at / 2 % 128 };
                bytes[at] = random.next().unwrap() as u8;
            }
            if round % 5 == 0 {
                bytes.truncate(random.next().unwrap() as usize % bytes.len());
            }
            let (more, wrong) = properties::container::check(bytes);
            (unpacked, refused) = (unpacked + more, refused + wrong);
        }
    }
    assert!(unpacked > 200 && refused > 50, "{unpacked} modules unpacked, {refused} parts refused");
}

/// The outline and the program are made by different readers.
#[test]
fn outlines_say_what_the_programs_say() {
    let (mut kernels, mut with_shared) = (0, 0);
    for folder in ["programs", "gallery", "compilers", "debug", "hangs", "triton/sm_90", "checks", "small"] {
        for entry in fs::read_dir(fixtures().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "ptx") || fs::metadata(&path).unwrap().len() > 400_000 {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let Some(program) = read_text_module(&path, text.clone()).program else { continue };
            let found = outline(&text);
            let known: Vec<_> = program.functions.iter().filter(|function| function.is_kernel && !function.code.is_empty()).collect();
            assert_eq!(found.kernels.len(), known.len(), "{}", path.display());
            for (kernel, function) in found.kernels.iter().zip(known) {
                let sizes: Vec<u64> = kernel.params.iter().map(Param::bytes).collect();
                let known: Vec<u64> = function.params.iter().map(|param| u64::from(param.bytes)).collect();
                assert_eq!((kernel.name.as_str(), sizes), (&*function.name, known), "{}", path.display());
                // A variable that several kernels use lies after what each of them has: a kernel may be given more than it needs.
                let shared = kernel.shared.unwrap_or(0);
                assert!(shared <= u64::from(function.shared_bytes), "{} {}: {shared}", path.display(), kernel.name);
                let has = program.variables.iter().any(|variable| variable.location.space == Space::Shared);
                let is_alone = program.kernels().count() == 1 && !kernel.dynamic_shared;
                assert!(!is_alone || shared == u64::from(function.shared_bytes), "{} {}: {shared}", path.display(), kernel.name);
                kernels += 1;
                with_shared += usize::from(has && is_alone);
            }
        }
    }
    assert!(kernels > 200 && with_shared > 10, "{kernels} kernels, {with_shared} with shared memory of their own");
}

/// A library of a gigabyte, most of it machine code: what is read of it is its headers and its PTX.
#[test]
fn a_large_library_is_listed_from_its_headers() {
    use std::io::{Seek, SeekFrom, Write};
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("large.so");
    let fatbin = bytes("scale_default.fatbin");
    let mut file = fs::File::create(&path).unwrap();
    // A cubin of a gigabyte that is a hole of the file, then the entries of the small one: one fat binary.
    let cubin = 1_u64 << 30;
    let size = 64 + cubin + fatbin.len() as u64 - 16;
    let mut header = fatbin[..16].to_vec();
    header[8..].copy_from_slice(&size.to_le_bytes());
    let mut entry = vec![0; 64];
    entry[0] = 2;
    entry[4..8].copy_from_slice(&64_u32.to_le_bytes());
    entry[8..16].copy_from_slice(&cubin.to_le_bytes());
    file.write_all(&[header, entry].concat()).unwrap();
    file.seek(SeekFrom::Current(cubin as i64)).unwrap();
    file.write_all(&fatbin[16..]).unwrap();
    drop(file);
    let used = cpu_time::ProcessTime::now();
    let mut container = container::open(&path).unwrap().unwrap();
    let found: Vec<usize> = texts(&mut container).iter().map(String::len).collect();
    let used = used.elapsed();
    fs::remove_file(&path).unwrap();
    assert_eq!((found, container.cubins()), (vec![3296, 3297], 1));
    assert!(used.as_millis() < 1000, "{used:?}");
}
