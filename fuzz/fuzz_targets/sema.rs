//! The assembler's judgement on right modules with mistakes made in them.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::Corpus;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(text) = ptxdbg_fuzz::mistakes::module(&mut Unstructured::new(bytes)) else { return Corpus::Reject };
    ptxdbg_fuzz::sema::check(&text);
    Corpus::Keep
});
