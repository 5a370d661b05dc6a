//! Lexer and parser on any text.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    ptxdbg_fuzz::syntax::check(text);
});
