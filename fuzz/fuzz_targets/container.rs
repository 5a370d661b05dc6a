//! Programs, libraries, archives and fat binaries, damaged in any way.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ptxdbg_fuzz::container::check(bytes.to_vec());
});
