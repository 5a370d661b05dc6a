//! What a row of the table decodes to.

#![allow(missing_docs, reason = "the variants are families of operations and functions documented there")]

use super::{
    AtomicFn, BarrierFn, BitCount, BitField32, BoolOp, CarryFn, DotFn, FloatBinary, FloatTernary, FloatUnary, IntBinary, IntTernary,
    IntUnary, MatrixFamily, MbarrierFn, ReduxFn, Shift, ShuffleMode, TestProperty, VideoFn, VoteMode,
};

/// The operation family a row decodes to, with the function that the row fixes. Types and modifiers come from the words.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum Decode {
    /// Known, but not modelled: a run stops there.
    Unsupported,
    /// Without an effect that a deterministic machine could show.
    Nop,

    IntUnary(IntUnary),
    BitCount(BitCount),
    IntBinary(IntBinary),
    IntTernary(IntTernary),
    MulWide,
    MadWide,
    /// With the carry read or not; `.cc` says whether it is written.
    Carry(CarryFn, bool),
    Dot(DotFn),

    Shift(Shift),
    Lop3,
    Lop3Pred(BoolOp),
    /// `shf`, `bmsk`, `szext`, `fns` and `prmt`, by function; those with two sources have a zero for the third.
    BitField32(BitField32),
    BitExtract,
    BitInsert,

    FloatUnary(FloatUnary),
    FloatBinary(FloatBinary),
    /// `min` and `max`: `.NaN` and `.xorsign.abs` choose the function. True for `max`.
    FloatMinMax(bool),
    FloatTernary(FloatTernary),
    TestProperty(TestProperty),

    /// A scalar video instruction; `.clamp` and `.wrap`, and the comparison, come from the words.
    Video(VideoFn),
    VideoShift(Shift),
    VideoSet,
    VideoMad,
    /// The same of 2 halves or 4 bytes.
    VideoSimd(VideoFn, u8),
    VideoSimdSet(u8),

    Setp,
    Set,
    Select,
    SelectSign,
    PredBinary(BoolOp),
    PredNot,

    Move,
    Convert,
    ConvertPair,
    ConvertPack,
    ConvertAddress,
    IsSpace,
    /// `mapa` and `getctarank`.
    MapShared,
    ClusterRank,
    CreatePolicy,
    ConvertPolicy,
    MoveVector,

    Load,
    Store,
    Atomic(AtomicFn),
    Reduction(AtomicFn),
    /// Of vectors of floats; `.add .min .max` come from the words.
    AtomicVector,
    ReductionVector,
    Fence,
    MemBar,
    /// `tex`, `tld4`, `txq`, `istypep`.
    Texture,
    Gather,
    TextureQuery,
    IsImage,
    /// `suld.b`, `sust.b`, `sust.p`, `sured.b`, `sured.p`, `suq`.
    SurfaceLoad,
    SurfaceStore,
    SurfaceFormattedStore,
    SurfaceReduce,
    SurfaceFormattedReduce,
    SurfaceQuery,
    /// `cp.async`; `cp.async.bulk` and `cp.reduce.async.bulk` of bytes; `st.async` and `red.async`.
    LaneCopy,
    BulkCopy,
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, and `cp.async.bulk.prefetch.tensor`, of which only the operands are checked.
    TensorCopy,
    /// `tensormap.replace`, `tensormap.cp_fenceproxy`.
    TensorMapReplace,
    TensorMapCopy,
    AsyncStore,
    /// `commit_group`, `wait_group` and `wait_all`, and `cp.async.mbarrier.arrive`.
    CommitCopies,
    WaitCopies,
    CopyArrive,
    /// `mma`, `mma.sp`, `wmma.mma`; shape, types and modes come from the words.
    MatrixMultiply(MatrixFamily),
    /// `wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix`, `movmatrix`.
    FragmentLoad,
    FragmentStore,
    MatrixLoad,
    MatrixStore,
    MatrixTranspose,
    /// `wgmma.mma_async`, and `fence`, `commit_group` and `wait_group` of `wgmma`.
    Wgmma,
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait,
    Alloca,
    StackSave,
    StackRestore,

    Branch,
    BranchIndexed,
    Call,
    Return,
    Exit,
    Trap,
    Breakpoint,

    Barrier(BarrierFn),
    ClusterArrive,
    ClusterWait,
    Mbarrier(MbarrierFn),
    /// `test_wait` and `try_wait`.
    MbarrierWait,
    PendingCount,
    WarpSync,
    ActiveMask,
    Shuffle(ShuffleMode),
    Vote(VoteMode),
    Match,
    Redux(ReduxFn),
    /// `redux.sync` of `f32`: the greatest, or the least.
    ReduxFloat { max: bool },
    Elect,
}
