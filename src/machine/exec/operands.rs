//! The access of operations to registers.

use crate::machine::state::block;
use crate::machine::state::lanes::{LaneMask, PerLane, blend};
use crate::machine::state::prepared::Immediates;
use crate::machine::state::registers::{FrameBase, Registers};
use crate::machine::state::warp::Warp;
use crate::program::operands::RegisterOperand;
use crate::program::{Dst, Pc, PredSrc, Src, SrcKind};

/// The registers of an instruction: those of one warp, in the frame of one group.
pub struct Lanes<'a> {
    /// The warp's registers.
    pub registers: &'a mut Registers,
    /// Values of special registers.
    specials: &'a [PerLane<u32>],
    immediates: &'a Immediates,
    /// The frame of the group.
    frame: FrameBase,
    /// The lanes that execute.
    pub mask: LaneMask,
}

impl<'a> Lanes<'a> {
    /// The lanes `mask` of `warp` in the frame at `frame`.
    #[inline(always)]
    pub fn new(warp: &'a mut Warp, immediates: &'a Immediates, frame: FrameBase, mask: LaneMask) -> Self {
        Self::of(&mut warp.registers, &warp.specials, immediates, frame, mask)
    }

    /// The same of a warp's registers and special registers.
    #[inline(always)]
    pub fn of(
        registers: &'a mut Registers,
        specials: &'a [PerLane<u32>],
        immediates: &'a Immediates,
        frame: FrameBase,
        mask: LaneMask,
    ) -> Self {
        Self { registers, specials, immediates, frame, mask }
    }

    /// Records that `lanes` have written these registers.
    #[inline]
    pub fn mark_written(&mut self, registers: &[RegisterOperand], lanes: LaneMask) {
        self.registers.mark_written(self.frame, registers, lanes);
    }

    /// Records that `lanes` have executed the instructions from `start` to before `end`.
    #[inline]
    pub fn mark_range(&mut self, lanes: LaneMask, start: Pc, end: Pc) {
        self.registers.mark_range((self.frame, lanes), start, end);
    }

    /// The same lanes, for a function that is not inlined: what it is given does not stay in registers.
    #[inline(always)]
    pub fn copy(&mut self) -> Lanes<'_> {
        let Self { specials, immediates, frame, mask, .. } = *self;
        Lanes { registers: &mut *self.registers, specials, immediates, frame, mask }
    }

    /// A 32-bit operand.
    #[inline(always)]
    pub fn get32(&self, source: Src) -> &PerLane<u32> {
        match source.kind() {
            SrcKind::Reg(slot) => &self.registers.b32[slot.in_frame(self.frame.b32).index()],
            SrcKind::Const(index) => &self.immediates.narrow[index as usize],
            SrcKind::Special(index) => &self.specials[index as usize],
        }
    }

    /// A 64-bit operand.
    #[inline(always)]
    pub fn get64(&self, source: Src) -> &PerLane<u64> {
        match source.kind() {
            SrcKind::Reg(slot) => &self.registers.b64[slot.in_frame(self.frame.b64).index()],
            SrcKind::Const(index) | SrcKind::Special(index) => &self.immediates.wide[index as usize],
        }
    }

    /// Writes a 32-bit register for the executing lanes. Not inlined, since every operation of every type calls it.
    #[inline(never)]
    pub fn put32(&mut self, d: Dst, values: &PerLane<u32>) {
        self.write32(d, values);
    }

    /// Writes a 64-bit register for the executing lanes.
    #[inline(never)]
    pub fn put64(&mut self, d: Dst, values: &PerLane<u64>) {
        self.write64(d, values);
    }

    /// [`Self::put32`], inlined: for the loop over straight stretches.
    #[inline(always)]
    pub fn write32(&mut self, d: Dst, values: &PerLane<u32>) {
        if !d.is_sink() {
            blend(&mut self.registers.b32[d.0.in_frame(self.frame.b32).index()], values, self.mask);
        }
    }

    /// [`Self::put64`], inlined.
    #[inline(always)]
    pub fn write64(&mut self, d: Dst, values: &PerLane<u64>) {
        if !d.is_sink() {
            blend(&mut self.registers.b64[d.0.in_frame(self.frame.b64).index()], values, self.mask);
        }
    }

    /// A 128-bit operand, which is two consecutive registers of 64 bits.
    pub fn get128(&self, source: Src) -> PerLane<u128> {
        let (low, high) = (self.get64(source), self.get64(source.next()));
        std::array::from_fn(|lane| u128::from(high[lane]) << 64 | u128::from(low[lane]))
    }

    /// Writes a 128-bit register for the executing lanes.
    pub fn put128(&mut self, d: Dst, values: &PerLane<u128>) {
        if !d.is_sink() {
            self.put64(d, &values.map(|value| value as u64));
            self.put64(Dst(d.0.offset(1)), &values.map(|value| (value >> 64) as u64));
        }
    }

    /// The lanes in which a predicate is true, executing or not.
    #[inline(always)]
    pub fn pred(&self, source: PredSrc) -> LaneMask {
        block::predicate(self.registers, self.frame, source)
    }

    /// Writes a predicate for the executing lanes.
    #[inline(always)]
    pub fn put_pred(&mut self, d: Dst, bits: LaneMask) {
        if !d.is_sink() {
            let register = &mut self.registers.pred[d.0.in_frame(self.frame.pred).index()];
            *register = *register & !self.mask | bits & self.mask;
        }
    }

    /// Applies `f` to every lane of one operand.
    #[inline(always)]
    pub fn map1<A: Lane, R: Lane>(&mut self, d: Dst, a: Src, f: impl Fn(A) -> R) {
        let a = A::get(self, a);
        let mut out = [R::Word::default(); 32];
        for lane in 0..32 {
            out[lane] = f(A::from_word(a[lane])).to_word();
        }
        R::put(self, d, &out);
    }

    /// Applies `f` to every lane of two operands.
    #[inline(always)]
    pub fn map2<A: Lane, B: Lane, R: Lane>(&mut self, d: Dst, a: Src, b: Src, f: impl Fn(A, B) -> R) {
        let (a, b) = (A::get(self, a), B::get(self, b));
        let mut out = [R::Word::default(); 32];
        for lane in 0..32 {
            out[lane] = f(A::from_word(a[lane]), B::from_word(b[lane])).to_word();
        }
        R::put(self, d, &out);
    }

    /// Applies `f` to every lane of three operands.
    #[inline(always)]
    pub fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(&mut self, d: Dst, a: Src, b: Src, c: Src, f: impl Fn(A, B, C) -> R) {
        let (a, b, c) = (A::get(self, a), B::get(self, b), C::get(self, c));
        let mut out = [R::Word::default(); 32];
        for lane in 0..32 {
            out[lane] = f(A::from_word(a[lane]), B::from_word(b[lane]), C::from_word(c[lane])).to_word();
        }
        R::put(self, d, &out);
    }

    /// The lanes in which `f` holds of one operand.
    #[inline(always)]
    pub fn test1<A: Lane>(&self, a: Src, f: impl Fn(A) -> bool) -> LaneMask {
        let a = A::get(self, a);
        let mut mask = LaneMask::NONE;
        for (lane, word) in a.iter().enumerate() {
            mask |= if f(A::from_word(*word)) { LaneMask::of(lane) } else { LaneMask::NONE };
        }
        mask
    }

    /// The lanes in which `f` holds of two operands.
    #[inline(always)]
    pub fn test2<A: Lane>(&self, a: Src, b: Src, f: impl Fn(A, A) -> bool) -> LaneMask {
        let (a, b) = (A::get(self, a), A::get(self, b));
        let mut mask = LaneMask::NONE;
        for lane in 0..32 {
            mask |= if f(A::from_word(a[lane]), A::from_word(b[lane])) { LaneMask::of(lane) } else { LaneMask::NONE };
        }
        mask
    }
}

/// A scalar type, and its representation in the register file.
pub trait Lane: Copy {
    /// The type of a register slot.
    type Word: Copy + Default;
    /// The value in a slot.
    fn from_word(word: Self::Word) -> Self;
    /// The slot that holds a value.
    fn to_word(self) -> Self::Word;
    /// An operand of this type.
    fn get<'l>(lanes: &'l Lanes<'_>, source: Src) -> &'l PerLane<Self::Word>;
    /// Writes a register of this type.
    fn put(lanes: &mut Lanes<'_>, d: Dst, values: &PerLane<Self::Word>);
    /// The same, inlined.
    fn write(lanes: &mut Lanes<'_>, d: Dst, values: &PerLane<Self::Word>);
}

macro_rules! lane {
    ($ty:ty, $word:ty, $get:ident, $put:ident, $write:ident, $from:expr, $to:expr) => {
        impl Lane for $ty {
            type Word = $word;

            #[inline(always)]
            fn from_word(word: $word) -> Self {
                ($from)(word)
            }

            #[inline(always)]
            fn to_word(self) -> $word {
                ($to)(self)
            }

            #[inline(always)]
            fn get<'l>(lanes: &'l Lanes<'_>, source: Src) -> &'l PerLane<$word> {
                lanes.$get(source)
            }

            #[inline(always)]
            fn put(lanes: &mut Lanes<'_>, d: Dst, values: &PerLane<$word>) {
                lanes.$put(d, values);
            }

            #[inline(always)]
            fn write(lanes: &mut Lanes<'_>, d: Dst, values: &PerLane<$word>) {
                lanes.$write(d, values);
            }
        }
    };
}

lane!(u8, u32, get32, put32, write32, |word| word as u8, u32::from);
lane!(i8, u32, get32, put32, write32, |word| word as i8, |value| value as u32);
lane!(u16, u32, get32, put32, write32, |word| word as u16, u32::from);
lane!(i16, u32, get32, put32, write32, |word| word as i16, |value| u32::from(value as u16));
lane!(u32, u32, get32, put32, write32, |word| word, |value| value);
lane!(i32, u32, get32, put32, write32, |word| word as i32, |value| value as u32);
lane!(f32, u32, get32, put32, write32, f32::from_bits, f32::to_bits);
lane!(u64, u64, get64, put64, write64, |word| word, |value| value);
lane!(i64, u64, get64, put64, write64, |word| word as i64, |value| value as u64);
lane!(f64, u64, get64, put64, write64, f64::from_bits, f64::to_bits);
