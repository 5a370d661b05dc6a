//! The arithmetic of `num` against results recorded on an NVIDIA H200 (driver 13.0, sm_90a), and against properties that must hold.

mod bits;
mod convert;
mod float;
mod half;
mod int;
mod rounding;
mod special;

/// Checks rows of N operands and the result that the hardware gave for them.
fn check<const N: usize, const M: usize>(what: &str, f: impl Fn([u64; N]) -> u64, rows: &[[u64; M]]) {
    assert_eq!(N + 1, M);
    for row in rows {
        let mut operands = [0; N];
        operands.copy_from_slice(&row[..N]);
        let (got, expected) = (f(operands), row[N]);
        assert_eq!(got, expected, "{what} of {operands:x?}: got {got:#x}, the hardware {expected:#x}");
    }
}
