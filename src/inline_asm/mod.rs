//! `asm` statements of CUDA C++, on their own: read as they stand in a source file, judged as the compiler would, and wrapped into a
//! module with one kernel that executes the statement in every lane of one warp.
//!
//! ```text
//! asm volatile("add.s32 %0, %1, %2;" : "=r"(x) : "r"(3), "r"(4));
//! ```
//!
//! [`read`] takes the words of the command line apart into a [`Statement`]: a template, and operands, each with a constraint
//! ([`constraint`]) and, where it is known, a type and a value ([`constant`]). Values of named operands come from further words
//! ([`Statement::give`]). [`template::expand`] puts registers for `%0`, `%1`, …; [`scope::check`] finds what keeps the text from standing
//! between other instructions, or from doing so twice. [`Wrapped`] is the module, in which every byte of the template knows where it came
//! from, and [`wrap::launch`] its launch.
//!
//! The rules are those of NVIDIA's "Inline PTX Assembly in CUDA", and where that is silent those of nvcc 13.0.

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
