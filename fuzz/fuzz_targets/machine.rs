//! The interpreter on random kernels.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::Corpus;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> Corpus {
    match ptxdbg_fuzz::machine::check(&mut Unstructured::new(bytes)) {
        Ok(_) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});
