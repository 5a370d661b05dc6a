//! Lookup of names, and names of addresses.
//!
//! [`scope`] looks up a name in the scope of the focused thread; [`symbols`] names an address or an instruction, and [`mod@memory_name`] an
//! element of an array or an mbarrier; [`inferred`] infers the types of untyped registers; [`mbarriers`] finds an mbarrier by name.

pub mod access;
pub mod inferred;
pub mod mbarriers;
pub mod memory_name;
pub mod scope;
pub mod symbols;
