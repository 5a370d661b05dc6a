//! Cost of a small launch in process: 64 threads through `ptx_run`, repeatedly with the same text.

#![expect(clippy::print_stdout, reason = "a measurement prints what it measured")]

use std::ffi::{CStr, c_void};
use std::ptr::without_provenance;
use std::time::Instant;

use ptxdbg_c::ptx_run;

/// Adds a number to each element.
const ADD: &CStr = c".version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [p];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %d2, %r2, 4;
    add.s64 %d1, %d1, %d2;
    ld.global.u32 %r3, [%d1];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%d1], %r3;
    ret;
}
";

const LAUNCHES: u32 = 5000;

fn main() {
    let mut data = vec![0_u32; 64];
    let args = [data.as_mut_ptr().cast::<c_void>().cast_const(), without_provenance::<c_void>(1)];
    // SAFETY: the text ends with a zero byte, and there are two arguments.
    let launch = || unsafe { ptx_run(ADD.as_ptr(), 2, args.as_ptr(), 64, 1, 1, 1, 1, 1, 0) };
    let begun = Instant::now();
    assert_eq!(launch(), 0, "the kernel is right");
    let first = begun.elapsed();
    let begun = Instant::now();
    assert!((0..LAUNCHES).all(|_| launch() == 0), "the kernel is right");
    let each = begun.elapsed() / LAUNCHES;
    assert!(data.iter().all(|value| *value == LAUNCHES + 1), "each launch adds one");
    println!("the first launch takes {first:?}, each of the next {LAUNCHES} {each:?}");
}
