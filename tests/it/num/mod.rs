//! The arithmetic of `num` against results recorded on an NVIDIA H200 (driver 13.0, sm_90a), and against properties that must hold.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot read its fixture fails")]

mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod int;
mod matrix;
mod rounding;
mod special;
mod video;

/// An integer as the bits of a register, zeros above it.
trait Word {
    fn word(self) -> u64;
}

macro_rules! word {
    ($($t:ty, $unsigned:ty;)*) => {
        $(impl Word for $t {
            fn word(self) -> u64 {
                u64::from(self as $unsigned)
            }
        })*
    };
}

word! { u16, u16; i16, u16; u32, u32; i32, u32; i64, u64; }

impl Word for u64 {
    fn word(self) -> u64 {
        self
    }
}

/// Checks rows of N operands and the result that the hardware gave for them.
fn check<W: Word, const N: usize, const M: usize>(what: &str, f: impl Fn([u64; N]) -> W, rows: &[[u64; M]]) {
    assert_eq!(N + 1, M);
    for row in rows {
        let mut operands = [0; N];
        operands.copy_from_slice(&row[..N]);
        let (got, expected) = (f(operands).word(), row[N]);
        assert_eq!(got, expected, "{what} of {operands:x?}: got {got:#x}, the hardware {expected:#x}");
    }
}
