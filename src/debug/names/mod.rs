//! From names to what they stand for, and back.
//!
//! [`scope`] finds what a name means where the focused thread stands; [`symbols`] names an address or an instruction; [`usage`] tells what
//! an untyped register is used as; [`mbarriers`] finds a barrier object.

pub mod mbarriers;
pub mod scope;
pub mod symbols;
pub mod usage;
