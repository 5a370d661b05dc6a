//! The operation that a row of the instruction table decodes to.

#![allow(missing_docs, reason = "the variants are families of operations and functions documented there")]

use super::{
    AtomicFn, BarrierFn, BitCount, BitField32, BoolOp, CarryFn, DotFn, FloatBinary, FloatTernary, FloatUnary, IntBinary, IntTernary,
    IntUnary, MatrixFamily, MbarrierFn, ReduxFn, Shift, ShuffleMode, TestProperty, VideoFn, VoteMode,
};

/// The operation family and function that a row decodes to. Types and other modifiers come from the opcode.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum Decode {
    /// Not modelled: a run stops there.
    Unsupported,
    /// No observable effect.
    Nop,

    /// Integer arithmetic.
    Integer(IntegerDecode),
    /// Logic, shifts and bit fields.
    Bits(BitsDecode),
    /// Floating-point arithmetic.
    Float(FloatDecode),
    /// Video instructions.
    Video(VideoDecode),
    /// Comparison, selection and logic of predicates.
    Compare(CompareDecode),
    /// Moves and conversions.
    Move(MoveDecode),
    /// `mapa` and `getctarank`.
    Cluster(ClusterDecode),
    /// Cache policies.
    Policy(PolicyDecode),
    /// Loads, stores and fences.
    Memory(MemoryDecode),
    /// Atomics and reductions in memory.
    Atomic(AtomicDecode),
    /// Textures and surfaces.
    Image(ImageDecode),
    /// Copies of tensors, and changes of tensor maps.
    Tensor(TensorDecode),
    /// Asynchronous copies.
    Async(AsyncDecode),
    /// Asynchronous matrix multiplication of a warpgroup.
    Wgmma(WgmmaDecode),
    /// Mbarriers, and the barrier of the cluster.
    Mbarrier(MbarrierDecode),
    /// Matrix instructions of a warp.
    Matrix(MatrixDecode),
    /// Dynamic stack allocation.
    Stack(StackDecode),
    /// Branches, calls and exits.
    Control(ControlDecode),
    /// Barriers and warp collectives.
    Parallel(ParallelDecode),
}

/// Integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum IntegerDecode {
    Unary(IntUnary),
    BitCount(BitCount),
    Binary(IntBinary),
    Ternary(IntTernary),
    MulWide,
    MadWide,
    /// True if the carry is read; `.cc` says that it is written.
    Carry(CarryFn, bool),
    Dot(DotFn),
}

/// Logic, shifts and bit fields.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum BitsDecode {
    Shift(Shift),
    Lop3,
    Lop3Pred(BoolOp),
    /// `shf`, `bmsk`, `szext`, `fns` and `prmt`; those with two sources have a zero as the third.
    Field32(BitField32),
    Extract,
    Insert,
}

/// Floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum FloatDecode {
    Unary(FloatUnary),
    Binary(FloatBinary),
    /// `min` and `max`: `.NaN` and `.xorsign.abs` choose the function. True for `max`.
    MinMax(bool),
    Ternary(FloatTernary),
    TestProperty(TestProperty),
}

/// Video instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum VideoDecode {
    /// A scalar video instruction; `.clamp` and `.wrap`, and the comparison, come from the modifiers.
    Scalar(VideoFn),
    Shift(Shift),
    Set,
    Mad,
    /// The same on 2 halves or 4 bytes.
    Simd(VideoFn, u8),
    SimdSet(u8),
}

/// Comparison, selection and logic of predicates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum CompareDecode {
    Setp,
    Set,
    Select,
    SelectSign,
    PredBinary(BoolOp),
    PredNot,
}

/// Moves and conversions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum MoveDecode {
    Plain,
    Convert,
    ConvertPair,
    ConvertPack,
    ConvertAddress,
    IsSpace,
    Vector,
}

/// `mapa` and `getctarank`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum ClusterDecode {
    /// `mapa` and `getctarank`.
    MapShared,
    ClusterRank,
}

/// Cache policies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum PolicyDecode {
    CreatePolicy,
    ConvertPolicy,
}

/// Loads, stores and fences.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum MemoryDecode {
    Load,
    Store,
    Fence,
    MemBar,
}

/// Atomics and reductions in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum AtomicDecode {
    Returning(AtomicFn),
    Reducing(AtomicFn),
    /// On vectors of floats; `.add .min .max` come from the modifiers.
    ReturningVector,
    ReducingVector,
}

/// Textures and surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum ImageDecode {
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
}

/// Copies of tensors, and changes of tensor maps.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum TensorDecode {
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`, and `cp.async.bulk.prefetch.tensor`, whose operands are only checked.
    TensorCopy,
    /// `tensormap.replace`, `tensormap.cp_fenceproxy`.
    TensorMapReplace,
    TensorMapCopy,
}

/// Asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum AsyncDecode {
    /// `cp.async`; `cp.async.bulk` and `cp.reduce.async.bulk` of bytes; `st.async` and `red.async`.
    LaneCopy,
    BulkCopy,
    AsyncStore,
    /// `commit_group`, `wait_group` and `wait_all`, and `cp.async.mbarrier.arrive`.
    CommitCopies,
    WaitCopies,
    CopyArrive,
}

/// Asynchronous matrix multiplication of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum WgmmaDecode {
    /// `wgmma.mma_async`, and `fence`, `commit_group` and `wait_group` of `wgmma`.
    Multiply,
    Fence,
    Commit,
    Wait,
}

/// Mbarriers, and the barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum MbarrierDecode {
    ClusterArrive,
    ClusterWait,
    Update(MbarrierFn),
    /// `test_wait` and `try_wait`.
    Wait,
    PendingCount,
}

/// Matrix instructions of a warp.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum MatrixDecode {
    /// `mma`, `mma.sp`, `wmma.mma`; shape, types and modes come from the modifiers.
    Product(MatrixFamily),
    /// `wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix`, `movmatrix`.
    FragmentLoad,
    FragmentStore,
    MatrixLoad,
    MatrixStore,
    MatrixTranspose,
}

/// Dynamic stack allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum StackDecode {
    Alloca,
    Save,
    Restore,
}

/// Branches, calls and exits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum ControlDecode {
    Branch,
    BranchIndexed,
    Call,
    Return,
    Exit,
    Trap,
    Breakpoint,
}

/// Barriers and warp collectives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum ParallelDecode {
    Barrier(BarrierFn),
    WarpSync,
    ActiveMask,
    Shuffle(ShuffleMode),
    Vote(VoteMode),
    Match,
    Redux(ReduxFn),
    /// `redux.sync` of `f32`: the maximum if `max`, otherwise the minimum.
    ReduxFloat { max: bool },
    Elect,
}
