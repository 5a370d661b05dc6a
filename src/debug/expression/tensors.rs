//! Tensors in expressions: variables of Triton's programs, `@ref.npy`, their elements, and arithmetic element by element.

use super::evaluate::{Evaluated, EvaluationError, Evaluator, Reason, refused};
use super::operators;
use super::tree::{Aggregate, AtLanes, BinaryOp, Node, NodeKind};
use crate::debug::eval_context::Frame;
use crate::debug::source_names::ObjectError;
use crate::debug::tensors::reader::Reader;
use crate::debug::tensors::{Binding, Current, Tensors};
use crate::debug::transfer;
use crate::debug::value::{Scalar, Tensor, TensorElement, Type, Value};
use crate::isa::ScalarType;
use crate::machine::LaneMask;
use crate::program::Pc;

/// Most elements of a tensor that are computed with.
const ELEMENTS_MAX: u64 = 1 << 22;

/// A tensor or a number.
enum Operand {
    Tensor(Tensor),
    Number(Scalar),
}

impl<'a> Evaluator<'a> {
    /// The value of an expression with tensors in it; none for any other.
    pub fn tensor_value(&mut self, node: &Node) -> Evaluated<Option<Value>> {
        if !self.names_tensor(node) {
            return Ok(None);
        }
        Ok(Some(match self.operand(node)? {
            Operand::Number(number) => Value::Scalar(number),
            Operand::Tensor(tensor) => match (tensor.shape.is_empty(), tensor.elements.first()) {
                (true, Some(TensorElement::Known(bits))) => Value::Scalar(Scalar::new(Type::Scalar(tensor.ty), *bits)),
                _ => Value::Tensor(Box::new(tensor)),
            },
        }))
    }

    /// True if the expression has a tensor in it.
    pub fn names_tensor(&self, node: &Node) -> bool {
        match &node.kind {
            NodeKind::File(_) => true,
            NodeKind::Name(name) => self.is_tensor(name),
            _ => node.children().iter().any(|child| self.names_tensor(child)),
        }
    }

    /// The tensors of the kernel that the thread is in.
    fn tensors(&self) -> Option<(&'a Tensors, u32)> {
        let frame = self.frame.as_ref().ok()?;
        let tensors = self.context.tensors()?;
        (frame.function == tensors.kernel() && frame.base.is_first()).then_some((tensors, frame.pc.0))
    }

    /// True if the name is a variable that has a tensor here, or that the debug data does not know.
    fn is_tensor(&self, name: &str) -> bool {
        let Some((tensors, pc)) = self.tensors() else { return false };
        match tensors.current(name, pc, &|binding| self.is_held(binding)) {
            Some(Ok(current)) => {
                let has_dimensions = !tensors.module().value(current.value).is_number();
                has_dimensions || crate::debug::source_names::find(&self.context, self.frame.as_ref().ok(), name).is_none()
            }
            Some(Err(_)) => {
                tensors.is_tensor(name) || crate::debug::source_names::find(&self.context, self.frame.as_ref().ok(), name).is_none()
            }
            None => false,
        }
    }

    /// True if the thread is known to have written all registers of a value.
    fn is_held(&self, binding: &Binding) -> bool {
        let is_written = |frame: &Frame<'_>| frame.warp.registers.written.is_some() && binding.is_written(frame.warp, frame.lane);
        self.frame.as_ref().is_ok_and(is_written)
    }

    /// The type of an expression with tensors in it, with the layout if it is a variable and `in_full`; none for any other expression.
    pub fn tensor_type(&mut self, node: &Node, in_full: bool) -> Evaluated<Option<String>> {
        let of_variable = if let NodeKind::Name(name) = &node.kind { self.tensors().and_then(|found| found.0.type_of(name)) } else { None };
        if let Some((words, layout)) = of_variable.filter(|_| self.names_tensor(node)) {
            let layout = layout.filter(|_| in_full).map_or_else(String::new, |layout| format!(", in the layout {layout}"));
            return Ok(Some(format!("{words}{layout}")));
        }
        Ok(self.tensor_value(node)?.map(|value| value.type_name(&self.context)))
    }

    /// Why a tensor is nothing that is watched or assigned, and what to do instead.
    pub fn tensor_is_no_place(&self, node: &Node) -> String {
        let NodeKind::Name(name) = &node.kind else {
            return "tensors of a Triton program are computed from registers: no place".to_string();
        };
        let lines = self.tensors().map_or_else(Vec::new, |found| found.0.lines_of(name));
        let program = &self.context.program();
        let places = lines.iter().flat_map(|(line, pcs)| {
            let ptx: Vec<String> = pcs.iter().map(|pc| program.line(Pc(*pc)).to_string()).collect();
            (!ptx.is_empty()).then(|| format!("line {line} (complete after PTX line {})", ptx.join(", ")))
        });
        let places = places.collect::<Vec<String>>().join(", ");
        let given = if places.is_empty() { "no instruction".to_string() } else { places };
        format!("'{name}' is in the registers of all threads; it is given by {given}: break there, and go back with reverse-continue")
    }

    /// What `name` means here.
    fn current(&self, node: &Node, name: &str) -> Evaluated<(&'a Tensors, Current, u32)> {
        let unknown = || EvaluationError { column: node.at, reason: Reason::Unknown { name: name.to_string(), hint: None } };
        let (tensors, pc) = self.tensors().ok_or_else(unknown)?;
        let current = tensors.current(name, pc, &|binding| self.is_held(binding)).ok_or_else(unknown)?;
        let current =
            current.map_err(|error| EvaluationError { column: node.at, reason: Reason::Object(ObjectError::Other(error.to_string())) })?;
        Ok((tensors, current, pc))
    }

    fn named_tensor(&self, node: &Node, name: &str, of_warp: bool) -> Evaluated<Tensor> {
        let (tensors, current, pc) = self.current(node, name)?;
        let reader = Reader::new(tensors, &self.context, pc);
        let no_element = || refused(node, format!("'{name}' is no tensor of numbers"));
        let mut tensor = reader.tensor(name, &current).ok_or_else(no_element)?;
        if of_warp {
            let apart = || refused(node, format!("what a warp holds of '{name}' is no rows and columns of it"));
            if let Some(indices) = reader.part_of_warp(&current, self.context.focus.warp) {
                tensor = tensor.part(&indices.ok_or_else(apart)?);
                let missing = tensor.missing();
                tensor.notes = reader.notes(&current, missing, tensor.elements.len());
            }
        }
        if tensor.missing() == tensor.elements.len() && current.in_flight().is_none() {
            let lines = current.lines_text();
            let message = format!("'{name}' is not known here: {lines} gave it, and no register holds it now");
            return Err(refused(node, format!("{message}{}", reader.last_place(&current))));
        }
        Ok(tensor)
    }

    fn operand(&mut self, node: &Node) -> Evaluated<Operand> {
        if !self.names_tensor(node) {
            return self.value(node).map(Operand::Number);
        }
        let tensor = match &node.kind {
            NodeKind::Name(name) => self.named_tensor(node, name, false)?,
            NodeKind::File(path) => file(node, path)?,
            NodeKind::Lanes(inner, AtLanes { mask: LaneMask::ALL, .. }) if matches!(inner.kind, NodeKind::Name(_)) => {
                let NodeKind::Name(name) = &inner.kind else { return Err(refused(node, String::new())) };
                self.named_tensor(inner, name, true)?
            }
            NodeKind::Index(operands) => self.subscripted(node, &operands[0], std::slice::from_ref(&operands[1]))?,
            NodeKind::Slice(operands) => {
                let end = NodeKind::Binary(BinaryOp::Add, Box::new([operands[2].clone(), number(node, 1)]));
                let range = NodeKind::Range(Box::new([operands[1].clone(), Node { at: operands[2].at, kind: end }]));
                self.subscripted(node, &operands[0], &[Node { at: operands[1].at, kind: range }])?
            }
            NodeKind::Subscripts(parts) => match parts.split_first() {
                Some((base, subscripts)) => self.subscripted(node, base, subscripts)?,
                None => return Err(refused(node, "there is nothing to take elements of".to_string())),
            },
            NodeKind::Unary(op, a) => each(node, self.tensor(a)?, |a| operators::unary(*op, &a))?,
            NodeKind::Cast(ty, a) if !ty.pointer => each(node, self.tensor(a)?, |a| operators::cast(&a, ty.ty))?,
            NodeKind::Binary(op, operands) => {
                let (a, b) = (self.operand(&operands[0])?, self.operand(&operands[1])?);
                both(node, a, b, |a, b| operators::binary(*op, &a, &b))?
            }
            NodeKind::Aggregate(aggregate, inner) => {
                let tensor = self.tensor(inner)?;
                return over_elements(node, *aggregate, &tensor).map(Operand::Number);
            }
            NodeKind::Lanes(..) => {
                let help = "the elements of a tensor are named by their indices, those of the warp by @*";
                return Err(refused(node, help.to_string()));
            }
            _ => return Err(refused(node, "tensors are added, subtracted, multiplied, divided, compared and converted".to_string())),
        };
        Ok(Operand::Tensor(tensor))
    }

    fn tensor(&mut self, node: &Node) -> Evaluated<Tensor> {
        match self.operand(node)? {
            Operand::Tensor(tensor) => Ok(tensor),
            Operand::Number(_) => Err(refused(node, "this is a number, and a tensor is wanted".to_string())),
        }
    }

    /// `base[i, j..k]`: an index takes a dimension away, a range narrows it.
    fn subscripted(&mut self, node: &Node, base: &Node, subscripts: &[Node]) -> Evaluated<Tensor> {
        let tensor = self.tensor(base)?;
        if subscripts.len() > tensor.shape.len() {
            let (has, given) = (tensor.shape.len(), subscripts.len());
            return Err(refused(node, format!("{} has {has} dimensions, not {given}", tensor.type_name())));
        }
        let mut positions: Vec<Vec<u64>> = tensor.shape.iter().map(|extent| (0..*extent).collect()).collect();
        let mut is_kept = vec![true; tensor.shape.len()];
        for (dimension, subscript) in subscripts.iter().enumerate() {
            let indices = &tensor.indices[dimension];
            let (first, last) = (indices.first().copied().unwrap_or(0), indices.last().copied().unwrap_or(0));
            let outside = |index: i128| {
                let held = if last + 1 - first == indices.len() as u64 { String::new() } else { ", not all of them".to_string() };
                refused(subscript, format!("the index {index} is outside: dimension {dimension} has {first} to {last}{held}"))
            };
            if let NodeKind::Range(ends) = &subscript.kind {
                let (low, high) = (self.index_value(&ends[0])?, self.index_value(&ends[1])?);
                let high = if high == i128::from(i64::MAX) { i128::from(last) + 1 } else { high };
                let range = i128::from(first)..=i128::from(last) + 1;
                if let Some(end) = [low, high].into_iter().find(|end| !range.contains(end)) {
                    return Err(outside(end));
                }
                positions[dimension].retain(|at| (low..high).contains(&i128::from(indices[*at as usize])));
                if positions[dimension].is_empty() {
                    return Err(refused(subscript, format!("no element has an index from {low} on and before {high}")));
                }
            } else {
                let index = self.index_value(subscript)?;
                let at = indices.iter().position(|own| i128::from(*own) == index).ok_or_else(|| outside(index))?;
                (positions[dimension], is_kept[dimension]) = (vec![at as u64], false);
            }
        }
        let mut part = tensor.part(&positions);
        let mut kept = is_kept.iter();
        part.shape.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = is_kept.iter();
        part.indices.retain(|_| *kept.next().unwrap_or(&true));
        if part.missing() == 0 {
            part.notes.clear();
        }
        Ok(part)
    }
}

fn number(node: &Node, value: u32) -> Node {
    Node { at: node.at, kind: NodeKind::Number(Scalar::new(Type::Scalar(ScalarType::S32), u128::from(value))) }
}

/// The array in a `.npy` file.
fn file(node: &Node, path: &str) -> Evaluated<Tensor> {
    let (ty, shape, elements) =
        transfer::array(std::path::Path::new(path), ELEMENTS_MAX).map_err(|error| refused(node, error.to_string()))?;
    let elements = elements.into_iter().map(TensorElement::Known).collect();
    Ok(Tensor { ty, indices: whole(&shape), shape, elements, notes: Vec::new() })
}

/// All indices of a tensor of a shape.
fn whole(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().map(|extent| (0..*extent).collect()).collect()
}

/// A function of each element.
fn each(node: &Node, tensor: Tensor, function: impl Fn(Scalar) -> Result<Scalar, String>) -> Evaluated<Tensor> {
    let ty = Type::Scalar(tensor.ty);
    let result = function(Scalar::new(ty, 1)).map_err(|message| refused(node, message))?;
    let Type::Scalar(result) = result.ty else { return Err(refused(node, "the result is no number".to_string())) };
    let change = |element: &TensorElement| element.map(|bits| function(Scalar::new(ty, bits)).map(|value| value.bits));
    let elements = tensor.elements.iter().map(change).collect::<Result<_, String>>().map_err(|message| refused(node, message))?;
    Ok(Tensor { ty: result, elements, ..tensor })
}

/// A function of the elements of two tensors, or of a tensor and a number; extents of 1 are stretched, as NumPy does.
fn both(node: &Node, a: Operand, b: Operand, function: impl Fn(Scalar, Scalar) -> Result<Scalar, String>) -> Evaluated<Tensor> {
    let (a, b) = match (a, b) {
        (Operand::Tensor(a), Operand::Number(b)) => return each(node, a, |a| function(a, b)),
        (Operand::Number(a), Operand::Tensor(b)) => return each(node, b, |b| function(a, b)),
        (Operand::Tensor(a), Operand::Tensor(b)) => (a, b),
        (Operand::Number(_), Operand::Number(_)) => return Err(refused(node, "a tensor is wanted".to_string())),
    };
    let differ = || refused(node, format!("the shapes of {} and {} do not go together", a.type_name(), b.type_name()));
    let shape = broadcast(&a.shape, &b.shape).ok_or_else(differ)?;
    let (left, right) = (Type::Scalar(a.ty), Type::Scalar(b.ty));
    let sample = function(Scalar::new(left, 1), Scalar::new(right, 1)).map_err(|message| refused(node, message))?;
    let Type::Scalar(ty) = sample.ty else { return Err(refused(node, "the result is no number".to_string())) };
    let count: u64 = shape.iter().product();
    let element = |number: u64| {
        let (x, y) = (at(&a, &shape, number), at(&b, &shape, number));
        let Some(second) = y.bits() else { return Ok(TensorElement::Missing) };
        let result = x.map(|first| function(Scalar::new(left, first), Scalar::new(right, second)).map(|value| value.bits))?;
        Ok(match (result, y) {
            (TensorElement::Known(bits), TensorElement::Masked(_)) => TensorElement::Masked(bits),
            (result, _) => result,
        })
    };
    let elements = (0..count).map(element).collect::<Result<_, String>>().map_err(|message| refused(node, message))?;
    let indices = if a.shape == shape { a.indices } else { whole(&shape) };
    let mut notes = [a.notes, b.notes].concat();
    notes.dedup();
    Ok(Tensor { ty, shape, indices, elements, notes })
}

/// The shape of the result of two shapes; none if they do not go together.
fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[u64], dimension: usize| (dimension + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    let one = |dimension: usize| match (extent(a, dimension), extent(b, dimension)) {
        (x, y) if x == y => Some(x),
        (1, y) => Some(y),
        (x, 1) => Some(x),
        _ => None,
    };
    (0..rank).map(one).collect::<Option<Vec<u64>>>().filter(|shape| shape.iter().product::<u64>() <= ELEMENTS_MAX)
}

/// The element of `tensor` that stands at element `number` of a tensor of `shape`.
fn at(tensor: &Tensor, shape: &[u64], number: u64) -> TensorElement {
    let (mut rest, mut place, mut stride) = (number, 0, 1);
    let skipped = shape.len() - tensor.shape.len();
    for (dimension, extent) in shape.iter().enumerate().rev() {
        if dimension >= skipped {
            let own = tensor.shape[dimension - skipped];
            place += if own == 1 { 0 } else { rest % extent * stride };
            stride *= own;
        }
        rest /= extent;
    }
    tensor.elements.get(place as usize).copied().unwrap_or(TensorElement::Missing)
}

/// A function of all elements that a load has not left out; all must be known.
fn over_elements(node: &Node, aggregate: Aggregate, tensor: &Tensor) -> Evaluated<Scalar> {
    let refuse = |message: String| refused(node, message);
    let missing = tensor.missing();
    if missing > 0 {
        let notes = tensor.notes.join("; ");
        return Err(refuse(format!("{missing} of {} elements are not known: {notes}", tensor.elements.len())));
    }
    let mut values = tensor.known();
    let combine = |op: BinaryOp, mut values: Box<dyn Iterator<Item = Scalar> + '_>| {
        let first = values.next().ok_or_else(|| refuse("no element is known".to_string()))?;
        values.try_fold(first, |best, value| {
            let wins = operators::binary(op, &value, &best).map_err(refuse)?.is_true();
            Ok(if wins { value } else { best })
        })
    };
    match aggregate {
        Aggregate::Any => Ok(Scalar::truth(values.any(|value| value.is_true()))),
        Aggregate::All => Ok(Scalar::truth(values.all(|value| value.is_true()))),
        Aggregate::Uniform => {
            let first = values.next();
            Ok(Scalar::truth(values.all(|value| Some(value.bits) == first.map(|first| first.bits))))
        }
        Aggregate::Min => combine(BinaryOp::Lt, Box::new(values)),
        Aggregate::Max => combine(BinaryOp::Gt, Box::new(values)),
        Aggregate::Sum => {
            let wide = match tensor.ty.kind() {
                crate::isa::TypeKind::Float => ScalarType::F64,
                crate::isa::TypeKind::Unsigned => ScalarType::U64,
                _ => ScalarType::S64,
            };
            let start = Scalar::new(Type::Scalar(wide), 0);
            values.try_fold(start, |sum, value| operators::binary(BinaryOp::Add, &sum, &operators::convert(&value, wide)).map_err(refuse))
        }
    }
}
