//! Arrays of made-up launches: their element types, and arrays that are given beside them.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

use std::path::Path;

use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request};

fn opened(module: &Path, params: &[&str]) -> Opened {
    let overrides = Overrides { params: params.iter().map(|param| (*param).to_string()).collect(), ..Overrides::default() };
    open(&Request { modules: vec![module.to_path_buf()], launch: LaunchChoice::MadeUp, overrides }).unwrap()
}

/// Copies by vectors and by `cp.async` transfer whole elements of the types in the mangled name, whatever the tiles hold that they go to.
#[test]
fn staged_arrays_have_the_types_of_the_signature() {
    let opened = opened(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/made_up/staged.ptx"), &[]);
    let elements: Vec<&str> = opened.plan.cases[0].buffers.iter().map(|buffer| buffer.element.name()).collect();
    assert_eq!(elements, ["bf16", "f32", "f64", "f32", "f32"]);
}

/// An array that is given may have more elements than any that is made up.
#[test]
fn a_given_array_may_be_longer_than_those_made_up() {
    let folder = std::env::temp_dir().join(format!("ptxdbg-made-up-long-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let module = folder.join("long.ptx");
    let text = ".version 8.0 .target sm_80 .address_size 64 .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p; .reg .b32 %r<3>; \
        .reg .b64 %rd<3>; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, 0; L: ld.global.u32 %r2, [%rd1]; \
        st.global.u32 [%rd2], %r2; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 100000; @%p bra L; ret; }";
    std::fs::write(&module, text).unwrap();
    let opened = opened(&module, &["a=u32[5000000]=zero"]);
    assert_eq!(opened.plan.cases[0].buffers[0].bytes, 20_000_000);
    std::fs::remove_dir_all(&folder).unwrap();
}
