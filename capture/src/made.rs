//! Cubins that were made in this process, each with what it was made from: the PTX of a compiler, or the inputs of a linker.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cubin, and what it was made from.
type Made = (Vec<u8>, Vec<Vec<u8>>);

static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

fn made() -> MutexGuard<'static, Vec<Made>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a cubin. An input that was itself made here stands for what it was made from.
pub fn remember(cubin: Vec<u8>, inputs: Vec<Vec<u8>>) {
    let mut made = made();
    let inputs = inputs.into_iter().flat_map(|input| find(&made, &input).unwrap_or_else(|| vec![input])).collect();
    made.push((cubin, inputs));
}

/// What the cubin `image` was made from; none if it was not made here.
pub fn inputs_of(image: &[u8]) -> Vec<Vec<u8>> {
    find(&made(), image).unwrap_or_default()
}

fn find(made: &[Made], image: &[u8]) -> Option<Vec<Vec<u8>>> {
    // What the tables of a cubin describe may end before its last bytes.
    let is_it = |cubin: &[u8]| !image.is_empty() && (cubin.starts_with(image) || image.starts_with(cubin) && !cubin.is_empty());
    made.iter().rev().find(|(cubin, _)| is_it(cubin)).map(|(_, inputs)| inputs.clone())
}
