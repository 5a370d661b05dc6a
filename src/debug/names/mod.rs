//! Lookup of names, and names of addresses.
//!
//! [`scope`] looks up a name in the scope of the focused thread; [`symbols`] names an address or an instruction, and [`mod@memory_name`] an
//! element of an array or an mbarrier; [`inferred`] infers the types of untyped registers; [`mbarriers`] finds an mbarrier by name;
//! [`parameters`] says what names of the kernel's parameters mean where the module has no variables.

pub mod access;
pub mod inferred;
pub mod mbarriers;
pub mod memory_name;
pub mod parameters;
pub mod scope;
pub mod symbols;
