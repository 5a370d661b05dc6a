//! From text to tree.
pub mod tree;
