//! What `--expect` says of memory that no parameter names.

use ptxdbg::launch::Element;

use super::{COUNTING, DOUBLE, Folder};

/// Memory by its name, by that of a parameter which is its address, and what is described in it.
#[test]
fn memory_is_compared_with_what_words_expect() {
    let folder = Folder::new("expected_memory");
    folder.write("double.ptx", DOUBLE);
    folder.npy("x.npy", Element::S32, &COUNTING);
    folder.npy("y.npy", Element::S32, &COUNTING.map(|number| number * 2.0));
    for (file, out) in [("named", "Alias(\"heap\")"), ("raw", "B64(0x7f5000000000)")] {
        let launch = format!(
            "Launch(module: \"double.ptx\", kernel: \"double\", grid: (1, 1, 1), block: (8, 1, 1), memory: [
                Memory(name: \"first\", len: 16, init: With(Zero, at: {{8: Buffer(name: \"inner\", elem: S32, len: 2, init: Fill(5))}})),
                Memory(name: \"heap\", at: 0x7f5000000000, elem: S32, len: 8, init: Zero, expect: Values([1, 1, 1, 1, 1, 1, 1, 1])),
            ], params: [Buffer(name: \"x\", elem: S32, len: 8, init: File(\"x.npy\")), {out}, U32(8)])"
        );
        folder.write(&format!("{file}.ron"), &launch);
    }
    for (file, name) in [("named", "heap"), ("named", "out"), ("raw", "heap"), ("raw", "out")] {
        folder.assert(&format!("--batch -l {file}.ron --expect {name}=@y.npy"), 0, &["double: as expected"]);
        folder.assert(&format!("--batch -l {file}.ron --expect {name}=0,2,4,6,8,10,12,15"), 1, &["FAIL double: heap[7] = 14, expected 15"]);
    }
    let heap = "--expect heap=@y.npy";
    folder.assert(&format!("--batch -l raw.ron {heap} --expect inner=5,5"), 0, &["double: as expected"]);
    folder.assert(&format!("--batch -l raw.ron {heap} --expect inner=5,6"), 1, &["FAIL double: inner[1] = 5, expected 6"]);
    folder.assert("--batch -l raw.ron --expect heap=1,2", 2, &["--expect 1:1:6", "buffer 'heap' has 8 elements, and 2 are given"]);
    folder.assert("--batch -l raw.ron --expect hep=1,2", 2, &["there is no buffer 'hep'", "; other buffers: first, heap, inner"]);
    folder.assert("--batch -l raw.ron --expect heap=@y.npy --expect out=@y.npy", 2, &["what this buffer must hold is given twice"]);
}

#[test]
fn a_launch_file_types_a_variable_for_the_debugger() {
    let folder = Folder::new("typed");
    folder.write("k.ptx", ".version 7.8 .target sm_90 .address_size 64 .global .align 4 .b8 table[8]; .visible .entry k() { ret; }");
    let launch = |types: &str| format!("Launch(module: \"k.ptx\", grid: (1, 1, 1), block: (1, 1, 1), params: []{types})");
    for (types, shown) in
        [("", "table = {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00}"), (", variable_types: {\"table\": F32}", "table = {0, 0}")]
    {
        folder.write("k.ron", launch(types));
        let (_, text) = folder.run(&["--batch", "-l", "k.ron", "-e", "print table"]);
        assert!(text.contains(shown), "{text}");
    }
}
