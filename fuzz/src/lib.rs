//! What must hold for any text of a PTX file, and the random files to try it on.
//!
//! Every target of `fuzz_targets` hands its bytes to one function here:
//!
//! | target | the bytes are | what must hold |
//! | --- | --- | --- |
//! | `syntax` | a text | [`syntax::check`] |
//! | `sema` | mistakes made in a module of `fixtures` ([`mistakes`]) | [`sema::check`] |
//! | `bundle` | a bundle, and the archive in one | [`bundle::check`] |
//! | `container` | a program, a library, an archive or a fat binary | [`container::check`] |
//! | `machine` | a kernel, written by the rows of the instruction table ([`kernel`]) | [`machine::check`] |
//!
//! `tests/it/fuzz.rs` holds the same on numbers that have no pattern, without a fuzzer.

pub mod bundle;
pub mod container;
pub mod instruction;
pub mod kernel;
pub mod machine;
pub mod mistakes;
pub mod operand;
pub mod sema;
pub mod syntax;
