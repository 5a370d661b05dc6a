//! Expressions of a thread: registers, special registers, symbols, memory and arithmetic.
//!
//! An [`Expression`] is parsed once and evaluated any number of times, in any [`EvalContext`]; names are looked up in the thread's scope.
//! The grammar is in [`parser`], the rules of arithmetic in [`operators`]. What can be watched or set is a [`Target`]: a register of
//! some lanes, or a range of memory.
//!
//! | syntax | meaning |
//! | --- | --- |
//! | `%r1`, `%p1`, `%v.x` | a register in scope |
//! | `%tid.x`, `%laneid` | a special register |
//! | `tile`, `x`, `kernel_param_0` | a variable, a buffer of the launch, a parameter |
//! | `s.field`, `p->field`, `color == app::BLUE` | an object of the source, by the debug data of the module |
//! | `tile[1][2]`, `tile[1, 2]`, `x[0..7]` | an element, some elements (both ends included) |
//! | `qk[0, 5]`, `qk[0:4, 2]`, `qk - @ref.npy` | elements of a tensor of Triton (without the end), arithmetic with a file |
//! | `*(f32*)%rd1`, `*(shared f32*)0x400` | memory with type and space; `*(@shared int*)32` as cuda-gdb writes it |
//! | `%f1@*`, `%f1@0-7,12`, `%f1@0..7`, `(%r1 + 1)@5` | in these lanes of the warp |
//! | `*x@8`, `x[3]@8` | 8 elements, as in gdb, if the operand has no register |
//! | `(V*)p`, `(Color)5`, `sizeof(V)`, `sizeof(x)` | a cast to a type of the source, a size in bytes |
//! | `any(..) all(..) min(..) max(..) sum(..) uniform(..)` | over the active lanes, or those of an `@` inside |
//! | `$pc $lane $warp $frame $time $active` | the position of the thread |
//! | `$`, `$$`, `$2`, `$_`, `$x` | values that are kept: of the history, of `x`, of `set $x = VALUE` |

mod aggregates;
mod bytes;
mod compiled;
mod error;
mod evaluate;
mod functions;
mod kept;
mod lane_code;
mod lane_loops;
mod lexer;
mod names;
mod objects;
mod operators;
mod parsed;
mod parser;
mod print;
mod reductions;
mod references;
mod source;
mod special;
mod steps;
mod targets;
mod tensors;
mod threads;
mod tree;
mod variables;

pub use super::names::scope::register_bits;
pub use super::value::number::little_endian;
pub use aggregates::ObjectsOfLanes;
pub use bytes::Retyped;
pub(in crate::debug) use compiled::{Compiled, Operands, PartValues};
pub use error::ExpressionError;
pub use evaluate::{ELEMENTS, EvaluationError, FollowedReference, Reason};
pub(in crate::debug) use names::{SourceTypeName, type_of as type_called};
pub use objects::PastEnd;
pub use parsed::Expression;
pub use source::DescribedObject;
pub use steps::Stepper;
pub use targets::AssignmentError;
pub use tree::{AGGREGATES, Aggregate, BINARY, BinaryOp, CONVENIENCES, Convenience, Node, NodeKind, Step, UnaryOp};

use evaluate::Evaluator;

use super::edit::Edit;
use super::eval_context::EvalContext;
use super::focus::ThreadFilter;
use super::target::Target;
use super::value::{Format, Scalar, Type, Value, ValueText};
use crate::isa::{ScalarType, Space};

impl Expression {
    /// Its value for the focused thread.
    ///
    /// # Errors
    /// An unknown name, memory that does not exist, or an invalid operation.
    pub fn evaluate(&self, context: &EvalContext<'_>) -> Result<Value, EvaluationError> {
        Evaluator::new(context).root(&self.root)
    }

    /// True if it is about some lanes, as `x@*` is.
    pub fn has_lanes(&self) -> bool {
        self.root.lanes().is_some()
    }

    /// The number that it is for the focused lane.
    ///
    /// # Errors
    /// It has no value, or is no number.
    pub fn number(&self, context: &EvalContext<'_>) -> Result<Scalar, EvaluationError> {
        Evaluator::new(context).value(&self.root)
    }

    /// Its value for the focused thread, `value`, as `format` shows it: of a bit field its own bits, if the format shows bits.
    pub fn formatted(&self, value: &Value, format: Option<Format>, context: &EvalContext<'_>) -> ValueText {
        // An address that is cast to a number is shown in digits.
        let format = format.or(match (&self.root.kind, value) {
            (NodeKind::AddressOf(_), Value::Scalar(Scalar { ty: Type::Function, .. })) => Some(Format::Address),
            (NodeKind::Cast(cast, _), Value::Scalar(Scalar { ty: Type::Scalar(ScalarType::S64), .. })) if !cast.pointer => {
                Some(Format::Decimal)
            }
            (NodeKind::Cast(cast, _), Value::Scalar(Scalar { ty: Type::Scalar(ScalarType::U64), .. })) if !cast.pointer => {
                Some(Format::Unsigned)
            }
            _ => None,
        });
        let shows_bits = format.is_some_and(Format::shows_bits);
        let field = if shows_bits { Evaluator::new(context).bit_field(targets::innermost(&self.root)) } else { None };
        field.map_or_else(|| value.text(context, format), |count| value.lowest_bits(count).text(context, format))
    }

    /// True if it has a value for the focused thread, which is true. For many threads: why it has none is not looked for.
    pub fn holds(&self, context: &EvalContext<'_>) -> bool {
        let mut evaluator = Evaluator { has_hints: false, ..Evaluator::new(context) };
        evaluator.root(&self.root).is_ok_and(|value| value.is_true())
    }

    /// Its type in words; with `in_full`, with the members of a structure and the names of an enumeration. The expression may also be the
    /// name of a type of the source.
    ///
    /// # Errors
    /// The expression has no value, and is no type.
    pub fn type_text(&self, context: &EvalContext<'_>, in_full: bool) -> Result<String, EvaluationError> {
        Evaluator::new(context).type_text(&self.root, in_full)
    }

    /// The object of the source that it names; none if it names something else, or the object has no place here.
    pub fn object_of_source(&self, context: &EvalContext<'_>) -> Option<DescribedObject> {
        Evaluator::new(context).described_object(&self.root)
    }

    /// True if it has a tensor of a Triton program in it, or a file.
    pub fn names_tensor(&self, context: &EvalContext<'_>) -> bool {
        Evaluator::new(context).names_tensor(&self.root)
    }

    /// The target that it names, for watchpoints and `last`.
    ///
    /// # Errors
    /// It names no target, or one that does not exist.
    pub fn target(&self, context: &EvalContext<'_>) -> Result<Target, EvaluationError> {
        targets::target(self, context)
    }

    /// The target that it names for some threads, also a register of a block that has not started.
    ///
    /// # Errors
    /// It names no target, or one that does not exist.
    pub fn target_for(&self, context: &EvalContext<'_>, threads: &ThreadFilter) -> Result<Target, EvaluationError> {
        threads::target_for(self, context, threads)
    }

    /// The structures or arrays of the source that it names over lanes; none if it names numbers.
    pub fn objects_over_lanes(&self, context: &EvalContext<'_>) -> Option<ObjectsOfLanes> {
        aggregates::over_lanes(self, context, false)
    }

    /// The numbers of the source that it names over lanes, as objects; none if it names something else.
    pub fn numbers_over_lanes(&self, context: &EvalContext<'_>) -> Option<ObjectsOfLanes> {
        aggregates::over_lanes(self, context, true)
    }

    /// The variable of the source, or the part of one, that it names for some threads, if that is in registers or memory of a thread: for
    /// watchpoints and histories, which follow it wherever the compiler moves it. Its frame is taken to begin with the launch.
    ///
    /// # Errors
    /// None of the threads is in the frame of the variable.
    pub fn variable_for(&self, context: &EvalContext<'_>, threads: &ThreadFilter) -> Result<Option<Target>, EvaluationError> {
        variables::variable_target(self, context, threads)
    }

    /// The edits that assign `value`, converted to the target's type, to the target that it names. A value per lane is assigned lane by
    /// lane to a target with lanes.
    ///
    /// # Errors
    /// It names no target, or the value does not fit.
    pub fn assign(&self, context: &EvalContext<'_>, value: &Value) -> Result<Vec<Edit>, AssignmentError> {
        targets::assign(self, context, value)
    }

    /// The address that its indices start from and the one that they lead to; none if it is no element, or not in memory.
    pub fn indexed(&self, context: &EvalContext<'_>) -> Option<((Space, u64), (Space, u64))> {
        Evaluator::new(context).indexed(&self.root)
    }

    /// The array of the source that an index leads out of; none if none does.
    pub fn past_end(&self, context: &EvalContext<'_>) -> Option<PastEnd> {
        Evaluator::new(context).past_end(&self.root)
    }

    /// The expression rewritten for wider elements, if it names an array that is declared as bytes.
    pub fn retyped(&self, context: &EvalContext<'_>) -> Option<Retyped> {
        bytes::retyped(self, context)
    }
}
