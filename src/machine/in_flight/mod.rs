//! Asynchronous operations: copies, tensor copies and matrix multiplications, and their completion policies.

pub(super) mod copy;
pub(super) mod policy;
pub mod tensor;
pub(super) mod wgmma;
