//! Runs the commands that README.md shows and holds it to what they print.

use std::process::Command;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = std::fs::read_to_string(format!("{TOP}/README.md")).unwrap_or_default();
    let blocks = readme.split("```").skip(1).step_by(2);
    let dialogues: Vec<(&str, &str)> = blocks.filter_map(|block| block.trim_start().strip_prefix("$ ptxdbg ")?.split_once('\n')).collect();
    // Only files of the project, and statements, can be opened; `kernel.ptx` stands for the reader's own.
    let real: Vec<_> = dialogues.into_iter().filter(|(words, _)| words.contains("fixtures/") || words.contains("--asm")).collect();
    assert!(real.len() >= 3, "README.md shows too little: {real:?}");
    for (words, shown) in real {
        let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(crate::common::words::words(words)).current_dir(TOP).output();
        let printed = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        assert_eq!(printed.trim_end(), shown.trim_end(), "ptxdbg {words}");
    }
}
