//! The instruction set as data: types, modifiers, forms, operation families, special registers, and the instruction `table` by chapter of
//! the PTX manual.

mod decode;
mod descriptor;
mod explain;
mod form;
mod function;
mod image;
mod matcher;
mod matrix;
mod notation;
mod recorded;
mod special;
mod suggest;
pub mod table;
mod tensor;
mod types;
mod video;

pub use crate::num::compare::Compare;
pub use crate::num::float::TestProperty;
pub use crate::num::{Mode, Rounding};
pub use decode::*;
pub use descriptor::{CHUNK, Chunk, Major, MatrixDescriptor, SharedTile};
pub use form::{Form, Modifier, ModifierSlot, OperandForm, OperandRole, OperandType, RegisterCount, Row, agrees, is_bits_only};
pub use function::*;
pub use image::*;
pub use matcher::{MatchError, Matched, match_opcode};
pub use matrix::*;
pub use recorded::{Recorded, Trust, recorded, trust};
pub use special::{SPECIAL_REGISTERS, SpecialKind, SpecialRegister, special_register};
pub use suggest::nearest;
pub use tensor::*;
pub use types::*;
pub use video::*;
