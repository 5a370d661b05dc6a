//! From names to what they stand for, and back.
//!
//! [`scope`] finds what a name means where the focused thread stands; [`symbols`] names an address or an instruction; [`usage`] tells what
//! an untyped register is used as.

pub mod scope;
pub mod symbols;
pub mod usage;
