//! The execution of asynchronous copies.
//!
//! An instruction checks its addresses and puts an `AsyncCopy` in flight; bytes move when the copy ends. The `CompletionPolicyKind` chooses
//! that time within the guarantees of the ISA, so that a missing or wrong wait changes results. While a copy is in flight the bytes that it
//! will overwrite are `POISON`, unless it ends at once.
//!
//! | ends | `cp.async` | bulk copies of a group | copies that complete on an mbarrier |
//! | --- | --- | --- | --- |
//! | at the latest | when its lane waits for its group | the same | when no warp is ready and a group waits for the mbarrier |

mod tensor;
mod transfer;
pub(in crate::machine) mod view;
