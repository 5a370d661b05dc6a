//! Expressions over what a thread sees: registers, special registers, symbols, memory and arithmetic.
//!
//! An [`Expression`] is read once and evaluated as often as one likes, in any [`Scene`]; names are looked up where the thread stands.
//! The grammar is in [`parser`], the rules of arithmetic in [`operators`]. What can be watched or set is a [`Target`]: a register of
//! some lanes, or a range of memory.
//!
//! | written | is |
//! | --- | --- |
//! | `%r1`, `%p1`, `%v.x` | a register in scope |
//! | `%tid.x`, `%laneid` | a special register |
//! | `tile`, `x`, `kernel_param_0` | a variable, a buffer of the launch, a parameter |
//! | `tile[1][2]`, `x[0..7]` | an element, some elements (both ends included) |
//! | `*(f32*)%rd1`, `*(shared f32*)0x400` | memory with type and space; `*(@shared int*)32` as cuda-gdb writes it |
//! | `%f1@*`, `%f1@0-7,12`, `%f1@0..7`, `(%r1 + 1)@5` | in these lanes of the warp |
//! | `*x@8`, `x[3]@8` | 8 elements, as in gdb, where no register takes part |
//! | `any(..) all(..) min(..) max(..) sum(..) uniform(..)` | over the active lanes, or those of an `@` inside |
//! | `$pc $lane $warp $frame $time $active` | where the thread is |

mod bytes;
mod error;
mod evaluate;
mod lexer;
mod names;
mod operators;
mod parsed;
mod parser;
mod place;
mod print;
mod threads;
mod tree;

pub use bytes::Retyped;
pub use error::ExpressionError;
pub use evaluate::{ELEMENTS, EvaluationError, Reason, little_endian, register_bits};
pub(in crate::debug) use names::type_of as type_called;
pub use parsed::Expression;
pub use place::AssignmentError;
pub use tree::{AGGREGATES, Aggregate, BINARY, BinaryOp, CONVENIENCES, Convenience, Node, NodeKind, UnaryOp};

use evaluate::Evaluator;

use super::edit::Edit;
use super::focus::ThreadFilter;
use super::scene::Scene;
use super::target::Target;
use super::value::Value;

impl Expression {
    /// Its value where the focused thread stands.
    ///
    /// # Errors
    /// A name that means nothing there, memory that is not there, an operation that does not work.
    pub fn evaluate(&self, scene: &Scene<'_>) -> Result<Value, EvaluationError> {
        Evaluator::new(scene).root(&self.root)
    }

    /// The place that it names: what a watchpoint watches and `last` looks for.
    ///
    /// # Errors
    /// It names no place, or none that is there.
    pub fn target(&self, scene: &Scene<'_>) -> Result<Target, EvaluationError> {
        place::target(self, scene)
    }

    /// The place that it names for some threads: a register of a block that has not started as well.
    ///
    /// # Errors
    /// It names no place, or none that is there.
    pub fn target_for(&self, scene: &Scene<'_>, threads: &ThreadFilter) -> Result<Target, EvaluationError> {
        threads::target_for(self, scene, threads)
    }

    /// The changes that give the place that it names the value of `value`, converted to the place's type. A value with lanes goes lane
    /// by lane to a place with lanes.
    ///
    /// # Errors
    /// It names no place, or the value does not fit.
    pub fn assign(&self, scene: &Scene<'_>, value: &Value) -> Result<Vec<Edit>, AssignmentError> {
        place::assign(self, scene, value)
    }

    /// How it is written for wider elements, if it is about an array that is declared by the byte.
    pub fn retyped(&self, scene: &Scene<'_>) -> Option<Retyped> {
        bytes::retyped(self, scene)
    }
}
