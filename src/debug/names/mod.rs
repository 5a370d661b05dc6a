//! From names to what they stand for, and back.
//!
//! [`scope`] finds what a name means where the focused thread stands; [`symbols`] names an address or an instruction, and [`mod@place`]
//! does so in the words of the kernel's author; [`inferred`] infers what an untyped register is used as; [`mbarriers`] finds an mbarrier.

pub mod access;
pub mod inferred;
pub mod mbarriers;
pub mod place;
mod registers;
pub mod scope;
pub mod symbols;
