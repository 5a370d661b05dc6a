//! Programs and objects of Windows, made here byte by byte (Microsoft, "PE Format") around a fat binary of nvcc.

use super::{bytes, container, problems, recorded, texts};

/// A section header: its name, its bytes' size and offset.
fn section(name: &[u8; 8], size: u32, at: u32) -> Vec<u8> {
    let mut header = name.to_vec();
    for number in [size, 0x1000, size, at, 0, 0, 0, 0x4000_0040] {
        header.extend(u32::to_le_bytes(number));
    }
    header
}

/// The header of an object for x86-64 with one section and an optional header of `optional` bytes.
fn coff(optional: u16) -> Vec<u8> {
    let mut header = vec![0x64, 0x86, 1, 0];
    header.extend([0; 12]);
    header.extend(optional.to_le_bytes());
    header.extend([0x22, 0]);
    header
}

fn object() -> Vec<u8> {
    let fatbin = bytes("scale_speed.fatbin");
    [coff(0), section(b".nv_fatb", fatbin.len() as u32, 64), vec![0; 4], fatbin].concat()
}

fn program() -> Vec<u8> {
    let fatbin = bytes("scale_speed.fatbin");
    let mut dos = vec![0; 64];
    dos[..2].copy_from_slice(b"MZ");
    dos[0x3c] = 64;
    // PE32+: the magic number, and 16 directories, all empty.
    let mut optional = vec![0; 240];
    optional[..2].copy_from_slice(&0x20b_u16.to_le_bytes());
    optional[108] = 16;
    let mut file = [dos, b"PE\0\0".to_vec(), coff(240), optional, section(b".nv_fatb", fatbin.len() as u32, 512)].concat();
    file.resize(512, 0);
    [file, fatbin].concat()
}

fn expected() -> Vec<String> {
    recorded()["scale_speed.fatbin"].iter().map(|(_, text)| text.clone()).collect()
}

#[test]
fn programs_and_objects_of_windows_are_read() {
    for file in [program(), object()] {
        let mut container = container(file);
        assert_eq!(problems(&container), [""; 0]);
        assert_eq!(texts(&mut container), expected());
    }
}

#[test]
fn a_library_of_windows_is_an_archive() {
    let object = object();
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "scale.obj/", 0, "", "", 100_666, object.len());
    let mut container = container([b"!<arch>\n".to_vec(), header.into_bytes(), object].concat());
    assert_eq!((problems(&container), container.what()), (Vec::new(), "an archive"));
    assert_eq!(container.modules()[0].member.as_deref(), Some("scale.obj"));
    assert_eq!(texts(&mut container), expected());
}

#[test]
fn a_program_that_ends_too_soon_says_where() {
    let mut file = program();
    file.truncate(700);
    let said = problems(&container(file));
    assert_eq!(said[0], "file.so: section .nv_fatb, offset 0x200: the section says that it has 2752 bytes, and 188 are left");
    assert_eq!(said[1], "file.so: section .nv_fatb, offset 0x200: the fat binary says that it has 2736 bytes, and 172 are left");
    assert!(said[2].starts_with("file.so: section .nv_fatb, offset 0x210: the entry says that it has 80 + "), "{said:?}");
}
