//! Bundles of any bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ptxdbg_fuzz::bundle::check(bytes);
});
