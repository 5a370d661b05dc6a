//! The launches of the benches can be run.

#![allow(clippy::unwrap_used, reason = "a test that cannot read what it has written fails")]

#[path = "../../benches/six/mod.rs"]
mod six;

use std::path::PathBuf;

use ptxdbg::debug::{LaunchChoice, Overrides, Request, open};

#[test]
fn the_six_kernels_can_be_launched() {
    let folder = six::write();
    for kernel in 0..six::NAMES.len() {
        for module in ["k_n11_35.ptx", "k_n13_75.ptx", "k_n13_90.ptx"] {
            let file = PathBuf::from(six::launch(&folder, kernel, module));
            let opened = open(&Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() });
            assert!(opened.is_ok(), "{} of {module}: {:?}", six::NAMES[kernel], opened.err());
        }
    }
}
