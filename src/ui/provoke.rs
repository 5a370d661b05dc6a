//! Fault injection: failures that a test requests by an environment variable, to check that the session is saved and the terminal restored.

/// Panics or overflows the stack at the command line that a test names.
pub fn end_at(line: &str) {
    let is_requested = |name: &str| std::env::var(name).is_ok_and(|requested| requested == line);
    assert!(!is_requested("PTXDBG_PANIC_AT"), "a test wants to see this");
    if is_requested("PTXDBG_OVERFLOW_AT") {
        overflow(1);
    }
}

/// Overflows the stack.
fn overflow(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { overflow(depth + 1) + frame[1] }
}
