//! The functions of C that expressions have: `fabs(x - y) < 0.001`, `min(n, 32)`.

use super::evaluate::{Evaluated, Evaluator, refused};
use super::operators::{self, OperatorError};
use super::tree::{Function, FunctionId, Node};
use crate::debug::value::{Scalar, Type, number};
use crate::isa::{ScalarType, TypeKind};

impl FunctionId {
    /// Its value: in the type of the arguments, or `f64` of integers where the result is no integer.
    fn of(self, a: &Scalar, b: &Scalar) -> Result<Scalar, OperatorError> {
        let (function, is_single) = self.row();
        let common = operators::common_type(a, b)?;
        let keeps_integers = matches!(function, Function::Min | Function::Max);
        let ty = match common.kind() {
            _ if is_single => ScalarType::F32,
            TypeKind::Float if common == ScalarType::F64 => ScalarType::F64,
            TypeKind::Float => ScalarType::F32,
            _ if keeps_integers => return integer(function == Function::Min, common, a, b),
            _ => ScalarType::F64,
        };
        let value = |operand: &Scalar| number::to_f64(ty, operators::convert(operand, ty).bits).unwrap_or(f64::NAN);
        let (a, b) = (value(a), value(b));
        let result = match function {
            Function::Fabs => a.abs(),
            Function::Sqrt => a.sqrt(),
            Function::Rsqrt => a.sqrt().recip(),
            Function::Min | Function::Fmin => a.min(b),
            Function::Max | Function::Fmax => a.max(b),
        };
        let bits = number::from_f64(ty, result).ok_or_else(|| format!("{} has no value here", self.name()))?;
        Ok(Scalar::new(Type::Scalar(ty), bits))
    }
}

/// The less or the greater of two integers.
fn integer(is_min: bool, ty: ScalarType, a: &Scalar, b: &Scalar) -> Result<Scalar, OperatorError> {
    let (a, b) = (operators::convert(a, ty), operators::convert(b, ty));
    let values = [a, b].map(|value| number::to_integer(ty, value.bits).unwrap_or(0));
    Ok(if (values[0] <= values[1]) == is_min { a } else { b })
}

impl Evaluator<'_> {
    /// The value of a call.
    pub fn function(&mut self, node: &Node, function: FunctionId, arguments: &[Node]) -> Evaluated<Scalar> {
        let values = arguments.iter().map(|argument| self.value(argument)).collect::<Evaluated<Vec<Scalar>>>()?;
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Err(refused(node, format!("{} takes an argument", function.name())));
        };
        function.of(first, last).map_err(|message| refused(node, message))
    }
}

#[cfg(test)]
mod tests {
    use super::{FunctionId, Scalar, ScalarType, Type};

    #[test]
    fn functions_have_the_values_of_c() {
        let f32 = |value: f32| Scalar::new(Type::Scalar(ScalarType::F32), u128::from(value.to_bits()));
        let s32 = |value: i32| Scalar::new(Type::Scalar(ScalarType::S32), u128::from(value.cast_unsigned()));
        let of = |name, a: Scalar, b: Scalar| FunctionId::called(name).map(|function| function.of(&a, &b));
        assert_eq!(of("fabs", f32(-1.5), f32(-1.5)), Some(Ok(f32(1.5))));
        assert_eq!(of("sqrtf", s32(9), s32(9)), Some(Ok(f32(3.0))));
        assert_eq!(of("min", s32(-4), s32(3)), Some(Ok(s32(-4))));
        assert_eq!(of("max", s32(-4), f32(2.5)), Some(Ok(f32(2.5))));
        assert_eq!(of("fmin", f32(std::primitive::f32::NAN), f32(2.5)), Some(Ok(f32(2.5))));
        assert_eq!(of("rsqrt", f32(4.0), f32(4.0)), Some(Ok(f32(0.5))));
        assert_eq!(of("round", f32(4.0), f32(4.0)), None);
    }
}
