//! Failures that a test requests by an environment variable, to check that the session is saved and the terminal restored.

/// Ends the process at the line that a test names.
pub fn end_at(line: &str) {
    let is_wanted = |name: &str| std::env::var(name).is_ok_and(|wanted| wanted == line);
    assert!(!is_wanted("PTXDBG_PANIC_AT"), "a test wants to see this");
    if is_wanted("PTXDBG_OVERFLOW_AT") {
        overflow(1);
    }
}

/// Fills the stack.
fn overflow(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { overflow(depth + 1) + frame[1] }
}
