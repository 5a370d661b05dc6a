//! Cubins that were made in this process, each with what it was made from: the PTX of a compiler, or the inputs of a linker.

use std::sync::{Arc, Mutex, PoisonError};

/// Gives what a cubin was made from. It is asked where a kernel of the cubin is wanted, and may compile.
pub type Source = Arc<dyn Fn() -> Vec<Vec<u8>> + Send + Sync>;

static MADE: Mutex<Vec<(Vec<u8>, Source)>> = Mutex::new(Vec::new());

/// Remembers a cubin.
pub fn remember(cubin: Vec<u8>, source: Source) {
    MADE.lock().unwrap_or_else(PoisonError::into_inner).push((cubin, source));
}

/// Gives what the cubin `image` was made from; none if it was not made here.
pub fn source_of(image: &[u8]) -> Option<Source> {
    // What the tables of a cubin describe may end before its last bytes.
    let is_it = |cubin: &[u8]| !image.is_empty() && (cubin.starts_with(image) || image.starts_with(cubin) && !cubin.is_empty());
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.iter().rev().find(|(cubin, _)| is_it(cubin)).map(|(_, source)| Arc::clone(source))
}
