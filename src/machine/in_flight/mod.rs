//! Asynchronous operations: copies, boxes of tensors and matrix multiplications that are under way.

pub(super) mod copy;
pub(super) mod policy;
pub mod tensor;
pub(super) mod wgmma;
