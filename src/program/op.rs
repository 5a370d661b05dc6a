//! The operation families: what an instruction does, with everything decided that can be decided before the run.
//!
//! About thirty families serve the whole instruction set, because functions and types are data inside them (`isa::function`).
//! `machine::exec` holds the semantics, one file a family. The size of [`Inst`] is tested: it is the hottest type of all.

use super::{Address, CallId, CopyId, Dst, ImageId, ListId, MatrixId, Pc, PredSrc, Src, TableId, WgmmaId};
use crate::base::define_id;
use crate::isa::{
    AtomicFn, BarrierFn, BitCount, BitField32, BoolOp, CarryFn, Compare, DotFn, Factored, FenceKind, FloatBinary, FloatMode, FloatTernary,
    FloatType, FloatUnary, IntBinary, IntTernary, IntType, IntUnary, MbarrierFn, Ordering, ReduxFn, Rounding, ScalarType, Scope, Shift,
    ShuffleMode, Space, SystemFn, TensorField, TestProperty, VideoMadMode, VideoMode, VideoSimdMode, VoteMode, Width,
};

define_id!(
    /// An entry of `Program::unsupported`: why an instruction cannot be executed.
    UnsupportedId, "unsupported"
);

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Slot in the predicate bank.
    pub slot: u32,
    /// `@!p`.
    pub negate: bool,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// Lanes that execute it.
    pub guard: Option<Guard>,
    /// What they execute.
    pub op: Op,
}

/// Semantics and scope of a memory access, for ordering and for the checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// The space named by the instruction.
    pub space: AccessSpace,
    /// Memory ordering.
    pub ordering: Ordering,
    /// Scope of the ordering.
    pub scope: Scope,
    /// `.nc`: through the read-only (texture) path.
    pub non_coherent: bool,
}

/// The space of an access; generic addresses are resolved lane by lane.
pub type AccessSpace = Space;

/// Source and destination formats and modifiers of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvertMode {
    /// Type of the result.
    pub to: ScalarType,
    /// Type of the source.
    pub from: ScalarType,
    /// Rounding; for float to integer and `.rni` and kin, of the integer.
    pub rounding: Rounding,
    /// `.rni .rzi .rmi .rpi`: round to an integral value.
    pub to_integral: bool,
    /// `.ftz`.
    pub ftz: bool,
    /// `.sat`.
    pub sat: bool,
    /// `.relu`.
    pub relu: bool,
    /// `.satfinite`.
    pub satfinite: bool,
    /// Width of the destination register, 16 (also for 8-bit registers), 32 or 64: a narrower integer result is extended to it.
    pub d_bits: u8,
    /// Width of the source register, 16, 32 or 64: of a wider one the low bits are read.
    pub a_bits: u8,
}

impl ConvertMode {
    /// From the whole of one integer type to the whole of another, without modifiers.
    pub fn of_integers(to: ScalarType, from: ScalarType) -> Self {
        Self {
            to,
            from,
            rounding: Rounding::Nearest,
            to_integral: false,
            ftz: false,
            sat: false,
            relu: false,
            satfinite: false,
            d_bits: to.bits() as u8,
            a_bits: from.bits() as u8,
        }
    }
}

/// What an instruction does. Register operands named `d` are written, all others read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum Op {
    /// Nothing that can be observed: `prefetch`, `pragma`-like hints, `nanosleep` of a deterministic machine.
    Nop,
    /// Parsed but not modelled: the run stops here.
    Unsupported { why: UnsupportedId },

    // Integer arithmetic.
    IntUnary { f: IntUnary, ty: IntType, d: Dst, a: Src },
    BitCount { f: BitCount, ty: IntType, d: Dst, a: Src },
    IntBinary { f: IntBinary, ty: IntType, d: Dst, a: Src, b: Src },
    IntTernary { f: IntTernary, ty: IntType, d: Dst, a: Src, b: Src, c: Src },
    /// `mul.wide`: the result has twice the width of `ty`.
    MulWide { ty: IntType, d: Dst, a: Src, b: Src },
    /// `mad.wide`: `c` has twice the width of `ty` as well.
    MadWide { ty: IntType, d: Dst, a: Src, b: Src, c: Src },
    /// `.cc` arithmetic. `Add` and `Sub` do not read `c`.
    Carry { f: CarryFn, ty: IntType, carry_in: bool, carry_out: bool, d: Dst, a: Src, b: Src, c: Src },
    Dot { f: DotFn, a_signed: bool, b_signed: bool, d: Dst, a: Src, b: Src, c: Src },

    // Bits.
    Shift { f: Shift, ty: IntType, d: Dst, a: Src, b: Src },
    Lop3 { lut: u8, d: Dst, a: Src, b: Src, c: Src },
    /// `lop3.BoolOp`: also writes predicate `p` = (d != 0) BoolOp q.
    Lop3Pred { lut: u8, f: BoolOp, d: Dst, p: Dst, a: Src, b: Src, c: Src, q: PredSrc },
    BitField32 { f: BitField32, d: Dst, a: Src, b: Src, c: Src },
    /// `bfe`: `a` of type `ty`, `b` (position) and `c` (length) 32-bit.
    BitExtract { ty: IntType, d: Dst, a: Src, b: Src, c: Src },
    /// `bfi`: the field `a` put into `b` at position `c` with length `e`.
    BitInsert { width: Width, d: Dst, a: Src, b: Src, c: Src, e: Src },

    // Floating point.
    FloatUnary { f: FloatUnary, ty: FloatType, mode: FloatMode, d: Dst, a: Src },
    FloatBinary { f: FloatBinary, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src },
    /// A product that leaves its factors in `kept` and the slot behind it, for what is rounded once with it.
    KeepingProduct { f: Factored, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src, kept: Dst },
    FloatTernary { f: FloatTernary, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src, c: Src },
    TestProperty { f: TestProperty, ty: FloatType, p: Dst, a: Src },

    // Video: all operands are 32-bit registers. What has no `c` has its `b` there again.
    Video { mode: VideoMode, d: Dst, a: Src, b: Src, c: Src },
    VideoMad { mode: VideoMadMode, d: Dst, a: Src, b: Src, c: Src },
    VideoSimd { mode: VideoSimdMode, d: Dst, a: Src, b: Src, c: Src },

    // Comparison and selection.
    /// `setp`: p = (a cmp b) BoolOp c, q = !(a cmp b) BoolOp c. Without a BoolOp `combine` is `And` and `c` is true.
    SetpInt { cmp: Compare, ty: IntType, combine: BoolOp, c: PredSrc, p: Dst, q: Dst, a: Src, b: Src },
    SetpFloat { cmp: Compare, ty: FloatType, ftz: bool, combine: BoolOp, c: PredSrc, p: Dst, q: Dst, a: Src, b: Src },
    /// `set`: all ones (1.0 for a float `to`) if (a cmp b) BoolOp c, else zero. `from` is the compared type.
    SetInt { cmp: Compare, from: IntType, to: ScalarType, combine: BoolOp, c: PredSrc, d: Dst, a: Src, b: Src },
    SetFloat { cmp: Compare, from: FloatType, to: ScalarType, ftz: bool, combine: BoolOp, c: PredSrc, d: Dst, a: Src, b: Src },
    /// `selp`: p ? a : b.
    Select { width: Width, d: Dst, a: Src, b: Src, p: PredSrc },
    /// `slct`: c >= 0 ? a : b; `float` compares `c` as `.f32` (with `ftz`: -subnormal counts as zero).
    SelectSign { width: Width, float: bool, ftz: bool, d: Dst, a: Src, b: Src, c: Src },
    PredBinary { f: BoolOp, d: Dst, a: PredSrc, b: PredSrc },
    /// `not.pred` and `mov.pred`.
    PredMove { d: Dst, a: PredSrc },

    // Data movement.
    /// `mov`, `cvta` where it changes nothing, and address constants.
    Move { width: Width, d: Dst, a: Src },
    /// A 128-bit `mov`: both halves.
    Move128 { d: Dst, a: Src },
    /// `mov.bN d, {..}`: `parts` are [`Program::sources`](super::Program) of `part` bits each, lowest first, into a register of
    /// `parts * part` bits.
    Pack { part: u8, parts: ListId, d: Dst },
    /// `mov.bN {..}, a`: the reverse, into [`Program::dests`](super::Program).
    Unpack { part: u8, parts: ListId, a: Src },
    /// d = address of the current frame's local block + `offset`; 64-bit if `wide`. In the local space, or in the generic one.
    FrameAddress { wide: bool, generic: bool, d: Dst, offset: i32 },
    /// A special register whose value changes while a block runs (`%clock`, `%clock64`, `%globaltimer`, …), or a 64-bit one.
    ReadSpecial { register: u16, width: Width, d: Dst },
    Convert { mode: ConvertMode, d: Dst, a: Src },
    /// `cvt.rn.f16x2.f32 d, a, b`: two sources packed, `a` in the upper half.
    ConvertPair { mode: ConvertMode, d: Dst, a: Src, b: Src },
    /// `cvt.pack`: `b` saturated to `to` at the bottom, then `a`, then the low bits of `c` (zero for the two-operand form).
    ConvertPack { to: ScalarType, from: ScalarType, d: Dst, a: Src, b: Src, c: Src },
    /// `cvta`: from `space` to generic, or back if `to_space`.
    ConvertAddress { space: Space, to_space: bool, wide: bool, d: Dst, a: Src },
    IsSpace { space: Space, wide: bool, p: Dst, a: Src },

    /// `mov.v2`, `mov.v4`: `d` are [`Program::dests`](super::Program), `a` [`Program::sources`](super::Program).
    MoveVector { width: Width, d: ListId, a: ListId },
    /// `mapa`: the address `a` in the block of rank `b`; of shared memory, or generic.
    MapShared { wide: bool, generic: bool, d: Dst, a: Src, b: Src },
    /// `getctarank`: the rank of the block whose shared memory the address `a` is in.
    ClusterRank { wide: bool, generic: bool, d: Dst, a: Src },

    /// `createpolicy.fractional` with a fraction that is known only in the run; `priorities` is the upper byte of the value.
    CachePolicy { priorities: u8, d: Dst, fraction: Src },

    // Memory. `bits` is the width of one element in memory; `signed` extends it into a wider register of `reg_bits` (16, 32, 64, 128).
    Load { access: Access, bits: u8, signed: bool, reg_bits: u8, d: Dst, address: Address },
    /// Vector load of `ListId` destinations.
    LoadVector { access: Access, bits: u8, signed: bool, reg_bits: u8, parts: ListId, address: Address },
    /// `reg_bits` is the width of the source register, which may be wider than the element: 16, 32, 64 or 128.
    Store { access: Access, bits: u8, reg_bits: u8, a: Src, address: Address },
    StoreVector { access: Access, bits: u8, reg_bits: u8, parts: ListId, address: Address },
    /// `atom`: d = old value. `c` is the new value of `Cas`, which compares with `b`. A sink destination makes it `red`.
    Atomic { f: AtomicFn, ty: ScalarType, access: Access, d: Dst, b: Src, c: Src, address: Address },
    /// The same of neighbouring elements, one after the other: `d` are [`Program::dests`](super::Program) or nothing for `red`, `b`
    /// [`Program::sources`](super::Program).
    AtomicVector { f: AtomicFn, ty: ScalarType, access: Access, d: Option<ListId>, b: ListId, address: Address },
    /// A texture or surface instruction.
    Image { access: ImageId },
    /// A matrix instruction of a warp: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.
    Matrix { matrix: MatrixId },
    /// `cp.async` and its kin, `st.async`, `red.async`.
    AsyncCopy { copy: CopyId },
    /// Closes the group of the lane's copies: of `cp.async.bulk`, or of `cp.async`.
    CommitCopies { bulk: bool },
    /// Waits until at most `pending` of the lane's groups have not ended, or have not been read if `read`; `open` are waited for too
    /// (`wait_all`).
    WaitCopies { bulk: bool, read: bool, open: bool, pending: u32 },
    /// `tensormap.replace`: field `field`, of dimension `ordinal`, of the map at `address` becomes `a`.
    ReplaceTensorField { field: TensorField, ordinal: u8, access: Access, a: Src, address: Address },
    /// `tensormap.cp_fenceproxy`: the map at `from` in shared memory is copied to `to` in global memory.
    CopyTensorMap { to: Address, from: Address },
    /// `fence`, `membar`; of a proxy fence without a semantics both ways.
    Fence { kind: FenceKind, ordering: Ordering, scope: Scope },
    /// `wgmma.mma_async`.
    Wgmma { wgmma: WgmmaId },
    /// `wgmma.fence`.
    WgmmaFence,
    /// `wgmma.commit_group`.
    WgmmaCommit,
    /// `wgmma.wait_group`: waits until at most `pending` of the warp's groups have not ended.
    WgmmaWait { pending: u32 },
    /// `alloca`: d = new address in local space, `size` bytes below the stack, aligned to `align`.
    Alloca { wide: bool, d: Dst, size: Src, align: u32 },
    StackSave { wide: bool, d: Dst },
    StackRestore { wide: bool, a: Src },

    // Control.
    Branch { target: Pc, uniform: bool },
    BranchIndexed { index: Src, table: TableId, uniform: bool },
    Call { call: CallId, uniform: bool },
    /// A call of a function of the device runtime, which is done at once.
    SystemCall { f: SystemFn, call: CallId },
    Return { uniform: bool },
    Exit,
    Trap,
    /// `brkpt`.
    Breakpoint,

    // Between threads.
    /// `bar`, `barrier`. `count` is absent where the whole block takes part; reductions read `p` and write `d` (a predicate for
    /// And and Or, 32 bits for Popc).
    Barrier { f: BarrierFn, aligned: bool, id: Src, count: Option<Src>, d: Dst, p: PredSrc },
    /// `barrier.cluster.arrive`; `relaxed` orders nothing.
    ClusterArrive { relaxed: bool, aligned: bool },
    ClusterWait { aligned: bool },
    /// `mbarrier`: d = state before it, `a` the count of arrivals, of bytes, or of both for the expecting arrivals (one arrival).
    Mbarrier { f: MbarrierFn, access: Access, d: Dst, a: Option<Src>, address: Address },
    /// `mbarrier.test_wait` and, if it `blocks`, `try_wait`: whether the phase of state `a`, or of `parity` `a`, has ended.
    MbarrierWait { blocks: bool, parity: bool, access: Access, p: Dst, a: Src, address: Address },
    PendingCount { d: Dst, a: Src },
    /// `bar.warp.sync`.
    WarpSync { mask: Src },
    ActiveMask { d: Dst },
    /// `membermask` is absent in the pre-Volta forms without `.sync`.
    Shuffle { f: ShuffleMode, d: Dst, p: Dst, a: Src, b: Src, c: Src, mask: Option<Src> },
    Vote { f: VoteMode, d: Dst, p: PredSrc, mask: Option<Src> },
    /// `match.any` (d = lanes with the same value) or `match.all` (`all`; p = whether all agree).
    Match { all: bool, width: Width, d: Dst, p: Dst, a: Src, mask: Src },
    Redux { f: ReduxFn, ty: IntType, d: Dst, a: Src, mask: Src },
    /// `elect.sync d|p, mask`.
    Elect { d: Dst, p: Dst, mask: Src },
}

impl Op {
    /// What the asynchronous operation is called that it puts in flight.
    pub fn flight_word(&self) -> &'static str {
        if matches!(self, Op::Wgmma { .. }) { "wgmma" } else { "copy" }
    }

    /// Whether the instruction names by a mask which lanes must execute it. Where those of a warp must come together and it does not,
    /// they are all lanes.
    pub fn has_member_mask(&self) -> bool {
        match self {
            Op::Shuffle { mask, .. } | Op::Vote { mask, .. } => mask.is_some(),
            Op::WarpSync { .. } | Op::Match { .. } | Op::Redux { .. } | Op::Elect { .. } => true,
            _ => false,
        }
    }

    /// How the operation accesses memory by itself, if it does: loads, stores, atomics, and what is done to barrier objects.
    pub fn access(&self) -> Option<Access> {
        match self {
            Op::Load { access, .. }
            | Op::LoadVector { access, .. }
            | Op::Store { access, .. }
            | Op::StoreVector { access, .. }
            | Op::Atomic { access, .. }
            | Op::AtomicVector { access, .. }
            | Op::ReplaceTensorField { access, .. }
            | Op::Mbarrier { access, .. }
            | Op::MbarrierWait { access, .. } => Some(*access),
            _ => None,
        }
    }
}
