//! The part of the device runtime that is PTX: by it the blocks of a cooperative launch wait for each other where the compiler calls
//! `cudaCGSynchronize`, which is in `libcudadevrt`, in place of inserting the code.

use crate::syntax::tree::{Function, Item, Module};

/// Its name in messages, and its text.
pub const GRID_SYNC: (&str, &str) = ("cudadevrt.ptx", include_str!("grid_sync.ptx"));

/// The functions that it defines.
const DEFINED: &[&str] = &["cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGSynchronizeGrid"];

/// True if the modules declare one of its functions and define none: they are linked with it.
pub fn is_needed(modules: &[Module<'_>]) -> bool {
    let functions = || modules.iter().flat_map(|module| &module.items).filter_map(function);
    let ours = || functions().filter(|function| DEFINED.contains(&function.name.text));
    ours().next().is_some() && ours().all(|function| function.body.is_none())
}

fn function<'m, 'a>(item: &'m Item<'a>) -> Option<&'m Function<'a>> {
    if let Item::Function(function) = item { Some(function) } else { None }
}
