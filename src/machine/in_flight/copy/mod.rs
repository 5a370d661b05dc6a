//! Asynchronous copies as values: what is in flight, where from and where to, and what says that it has ended.
//!
//! An instruction checks its addresses and puts an `AsyncCopy` in flight; bytes move when the copy ends. When that is, is the
//! `CompletionPolicyKind`'s choice within what the ISA promises, so a missing or wrong wait shows. While a copy is in flight the bytes it
//! will replace are `POISON`, unless it ends at once.
//!
//! | ends | `cp.async` | bulk copies of a group | copies that complete on an mbarrier |
//! | --- | --- | --- | --- |
//! | at the latest | when its lane waits for its group | the same | when no warp is ready and a group waits for the mbarrier |

mod tensor;
mod transfer;
pub(in crate::machine) mod view;
