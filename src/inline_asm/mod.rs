//! Single `asm` statements of CUDA C++: parsed as in a source file, checked as by the compiler, and wrapped into a module with one kernel
//! that executes the statement in every lane of one warp.
//!
//! ```text
//! asm volatile("add.s32 %0, %1, %2;" : "=r"(x) : "r"(3), "r"(4));
//! ```
//!
//! [`read`] parses the arguments of the command line into a [`Statement`]: a template, and operands, each with a constraint
//! ([`constraint`]) and, if evident, a type and a value ([`constant`]). Values of other operands come from further arguments
//! ([`Statement::set_values`]). [`template::expand`] replaces `%0`, `%1`, … by registers; [`scope::check`] finds text that is invalid
//! between other instructions, or if it is repeated. [`Wrapped`] is the module, which maps every byte of the template to its origin, and
//! [`wrap::launch`] its launch.
//!
//! The rules are those of NVIDIA's "Inline PTX Assembly in CUDA", and for unspecified details those of nvcc 13.0.

mod constant;
mod constraint;
mod cursor;
mod effects;
mod literal;
mod operand;
mod scope;
mod statement;
mod template;
mod text;
mod values;
mod wrap;

pub use operand::{Operand, Value};
pub use statement::{Statement, read};
pub use wrap::{MODULE, Wrapped, launch, wrap};
