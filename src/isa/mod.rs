//! The instruction set as data: types, modifiers, forms, operation families, special registers, and the `table` by chapter of the
//! PTX manual. The one place that knows which instructions exist.

mod function;
mod special;
mod types;

pub use function::*;
mod form;
pub use form::{Decode, Row};
pub use special::{SPECIAL_REGISTERS, SpecialKind, SpecialRegister, special_register};
pub use types::*;
