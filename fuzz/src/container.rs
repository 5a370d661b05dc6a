//! Reading any bytes as a file that holds PTX: nothing makes the reader fail, what it names lies inside the file, and no text is longer
//! than its bytes can stand for.

use std::path::Path;

use ptxdbg::container::{Container, Input, of_input, outline};

/// Bytes that one byte of a file stands for at most: a block of zstd that repeats one byte has 4 bytes for 128 KiB.
const RATIO: u64 = 64 << 10;

/// Reads `bytes` as a container. Returns how many modules were unpacked, and how many parts could not be read.
pub fn check(bytes: Vec<u8>) -> (usize, usize) {
    let length = bytes.len() as u64;
    match of_input(Path::new("lib/file.so"), Input::of_bytes(bytes)) {
        Ok(Some(container)) => check_container(container, length),
        Ok(None) => (0, 0),
        Err(problem) => {
            assert!(problem.place.starts_with("lib/file.so") && !problem.what.is_empty(), "{problem}");
            (0, 1)
        }
    }
}

fn check_container(mut container: Container, length: u64) -> (usize, usize) {
    let (mut unpacked, mut problems) = (0, container.problems().to_vec());
    for index in 0..container.modules().len() {
        let module = container.modules()[index].clone();
        assert!(module.bytes.start <= module.bytes.end && module.bytes.end <= length, "{module:?} in {length} bytes");
        assert!(module.name.ends_with(".ptx") && !module.name.contains(['/', '\\']), "{module:?}");
        match container.text(index) {
            Ok(text) => {
                assert!(text.len() as u64 <= length * RATIO, "{module:?}: {} bytes", text.len());
                outline(&text);
                unpacked += 1;
            }
            Err(problem) => problems.push(problem),
        }
    }
    for problem in &problems {
        assert!(problem.place.starts_with("lib/file.so") && !problem.what.is_empty(), "{problem}");
    }
    (unpacked, problems.len())
}
