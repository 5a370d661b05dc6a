//! PTX ISA, "Parallel Synchronization and Communication Instructions" and data movement between the lanes of a warp.

use super::super::form::{Row, row};
use crate::isa::Decode::Parallel;
use crate::isa::ParallelDecode::{ActiveMask, Elect, Match, Redux, ReduxFloat, Shuffle, Vote};
use crate::isa::{ReduxFn, ShuffleMode as To, VoteMode as Mode};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("shfl.sync.up.b32           d[|p], a, b, c, mask:u32", (6, 0), 30, Parallel(Shuffle(To::Up)), "value from the lane b lower"),
    row("shfl.sync.down.b32         d[|p], a, b, c, mask:u32", (6, 0), 30, Parallel(Shuffle(To::Down)), "value from the lane b higher"),
    row("shfl.sync.bfly.b32         d[|p], a, b, c, mask:u32", (6, 0), 30, Parallel(Shuffle(To::Bfly)), "value of the lane whose number differs by exclusive or with b"),
    row("shfl.sync.idx.b32          d[|p], a, b, c, mask:u32", (6, 0), 30, Parallel(Shuffle(To::Idx)), "value of lane b"),
    row("shfl.up.b32                d[|p], a, b, c", (3, 0), 30, Parallel(Shuffle(To::Up)), "value from the lane b lower").removed((6, 4), 70),
    row("shfl.down.b32              d[|p], a, b, c", (3, 0), 30, Parallel(Shuffle(To::Down)), "value from the lane b higher").removed((6, 4), 70),
    row("shfl.bfly.b32              d[|p], a, b, c", (3, 0), 30, Parallel(Shuffle(To::Bfly)), "value of the lane whose number differs by exclusive or with b").removed((6, 4), 70),
    row("shfl.idx.b32               d[|p], a, b, c", (3, 0), 30, Parallel(Shuffle(To::Idx)), "value of lane b").removed((6, 4), 70),
    row("vote.sync.all.pred         p, [!]a:pred, mask:u32", (6, 0), 30, Parallel(Vote(Mode::All)), "do all lanes have the predicate?"),
    row("vote.sync.any.pred         p, [!]a:pred, mask:u32", (6, 0), 30, Parallel(Vote(Mode::Any)), "does any lane have the predicate?"),
    row("vote.sync.uni.pred         p, [!]a:pred, mask:u32", (6, 0), 30, Parallel(Vote(Mode::Uni)), "do all lanes have the same predicate?"),
    row("vote.sync.ballot.b32       d, [!]a:pred, mask:u32", (6, 0), 30, Parallel(Vote(Mode::Ballot)), "mask of the lanes that have the predicate"),
    row("vote.all.pred              p, [!]a:pred", (1, 2), 12, Parallel(Vote(Mode::All)), "do all lanes have the predicate?").removed((6, 4), 70),
    row("vote.any.pred              p, [!]a:pred", (1, 2), 12, Parallel(Vote(Mode::Any)), "does any lane have the predicate?").removed((6, 4), 70),
    row("vote.uni.pred              p, [!]a:pred", (1, 2), 12, Parallel(Vote(Mode::Uni)), "do all lanes have the same predicate?").removed((6, 4), 70),
    row("vote.ballot.b32            d, [!]a:pred", (2, 0), 20, Parallel(Vote(Mode::Ballot)), "mask of the lanes that have the predicate").removed((6, 4), 70),
    row("match.any.sync(.b32|.b64)  d:u32, a, mask:u32", (6, 0), 70, Parallel(Match), "mask of the lanes with the same value"),
    row("match.all.sync(.b32|.b64)  d[|p]:u32:_, a, mask:u32", (6, 0), 70, Parallel(Match), "mask if all lanes have the same value, else 0"),
    row("activemask.b32             d", (6, 2), 30, Parallel(ActiveMask), "mask of the lanes that execute this"),
    row("redux.sync.add(.u32|.s32)  d:u32, a:u32, mask:u32", (7, 0), 80, Parallel(Redux(ReduxFn::Add)), "sum over lanes"),
    row("redux.sync.min(.u32|.s32)  d:u32, a:u32, mask:u32", (7, 0), 80, Parallel(Redux(ReduxFn::Min)), "least over lanes"),
    row("redux.sync.max(.u32|.s32)  d:u32, a:u32, mask:u32", (7, 0), 80, Parallel(Redux(ReduxFn::Max)), "greatest over lanes"),
    row("redux.sync.and.b32         d:u32, a:u32, mask:u32", (7, 0), 80, Parallel(Redux(ReduxFn::And)), "bitwise and over lanes"),
    row("redux.sync.or.b32          d:u32, a:u32, mask:u32", (7, 0), 80, Parallel(Redux(ReduxFn::Or)), "bitwise or over lanes"),
    row("redux.sync.xor.b32         d:u32, a:u32, mask:u32", (7, 0), 80, Parallel(Redux(ReduxFn::Xor)), "bitwise exclusive or over lanes"),
    row("redux.sync.min[.abs][.NaN].f32  d, a, mask:u32", (8, 6), 100, Parallel(ReduxFloat { max: false }), "least float over lanes").only(&["100f"]),
    row("redux.sync.max[.abs][.NaN].f32  d, a, mask:u32", (8, 6), 100, Parallel(ReduxFloat { max: true }), "greatest float over lanes").only(&["100f"]),
    row("elect.sync                 d|p:u32:_, mask:u32", (8, 0), 90, Parallel(Elect), "chooses one lane of the mask"),
];
