//! The elements of a tensor, out of the registers of a block.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::binding::{Binding, Part, bits};
use super::{Current, Tensors, compute};
use crate::debug::eval_context::EvalContext;
use crate::debug::memory;
use crate::debug::value::number::little_endian;
use crate::debug::value::{Tensor, TensorElement};
use crate::isa::Space;
use crate::machine::{LANES, Warp};
use crate::program::ParamStorage;
use crate::ttgir::{Definition, ElementType, LinearLayout, Op, ValueId, ValueType};

/// Most operations in each other that an element is computed by.
const DEPTH_MAX: u32 = 64;

/// Elements, each with its bits if they are known.
type Dense = Rc<Vec<Option<u128>>>;

/// Reads values for the focused thread's block.
pub struct Reader<'r, 'a> {
    tensors: &'r Tensors,
    context: &'r EvalContext<'a>,
    /// The instruction at which the values are wanted.
    pc: u32,
    dense: RefCell<BTreeMap<ValueId, Dense>>,
}

impl<'r, 'a> Reader<'r, 'a> {
    /// A reader at the instruction `pc`.
    pub fn new(tensors: &'r Tensors, context: &'r EvalContext<'a>, pc: u32) -> Self {
        Self { tensors, context, pc, dense: RefCell::default() }
    }

    /// The tensor, or the number as a tensor without dimensions, that a variable has.
    pub fn tensor(&self, current: &Current<'_>) -> Option<Tensor> {
        let dense = match current.binding {
            Some(binding) if current.is_earlier => self.registers(current.value, binding, true),
            _ => self.value(current.value, current.binding, DEPTH_MAX),
        };
        self.with_elements(current, &dense)
    }

    /// The elements of a value that one warp holds.
    pub fn of_warp(&self, current: &Current<'_>, warp: u32) -> Vec<Option<u128>> {
        match current.binding {
            Some(binding) => self.registers_of(current.value, binding, false, Some(warp)).to_vec(),
            None => self.value(current.value, None, DEPTH_MAX).to_vec(),
        }
    }

    /// The tensor with these elements, which a variable has.
    pub fn with_elements(&self, current: &Current<'_>, dense: &[Option<u128>]) -> Option<Tensor> {
        let value = self.tensors.module.value(current.value);
        let (element, shape) = (value.ty.element()?, shape(&value.ty));
        let left_out = self.left_out(current);
        let elements: Vec<TensorElement> = dense
            .iter()
            .enumerate()
            .map(|(at, bits)| match bits {
                Some(bits) if left_out.as_ref().is_some_and(|mask| mask.get(at) == Some(&Some(0))) => TensorElement::Masked(*bits),
                Some(bits) => TensorElement::Known(*bits),
                None => TensorElement::Missing,
            })
            .collect();
        let missing = elements.iter().filter(|element| matches!(element, TensorElement::Missing)).count();
        let mut notes = Vec::new();
        if current.is_earlier {
            notes.push(format!("as line {} gave it in an earlier round of the loop: it gives it anew in this one", current.line));
        }
        let late = self.late(current);
        if !late.is_empty() {
            let list: Vec<String> = late.iter().map(u32::to_string).collect();
            let warps = if late.len() == 1 { "warp" } else { "warps" };
            notes.push(format!("{warps} {} have not come to line {} in this round: theirs are older", list.join(", "), current.line));
        }
        if missing > 0 {
            notes.push(format!("{missing} of {} elements are in no register now", elements.len()));
        }
        Some(Tensor { ty: element.number(), start: vec![0; shape.len()], shape, elements, notes })
    }

    /// The warps that stand before the value is complete, where the focused one stands after it.
    fn late(&self, current: &Current<'_>) -> Vec<u32> {
        let (Some(binding), Ok(block)) = (current.binding.filter(|_| !current.is_earlier), self.context.block()) else { return Vec::new() };
        let stands_before = |warp: &Warp| warp.groups.iter().any(|group| group.current_pc().0 < binding.done());
        let warps = block.warps.iter().zip(0_u32..).filter(|(_, number)| *number != self.context.focus.warp);
        warps.filter(|(warp, _)| stands_before(warp)).map(|(_, number)| number).collect()
    }

    /// The mask of the load that gave the value.
    fn left_out(&self, current: &Current<'_>) -> Option<Dense> {
        let same = self.tensors.same(current.value);
        let load = same.into_iter().find_map(|value| match self.tensors.module.value(value).definition {
            Definition::Result(op, _) if self.tensors.module.op(op).name == "tt.load" => Some(self.tensors.module.op(op)),
            Definition::Result(..) | Definition::Argument(_) | Definition::Region(_) => None,
        })?;
        let mask = load.operands.get(1).filter(|_| !current.is_earlier)?;
        Some(self.value(*mask, self.binding(*mask), DEPTH_MAX))
    }

    /// The registers of a value that were written last before the instruction.
    fn binding(&self, value: ValueId) -> Option<&'r Binding> {
        if self.tensors.is_computable(value, DEPTH_MAX) {
            return None;
        }
        let before = self.tensors.held(value).bindings.iter().filter(|binding| binding.done() <= self.pc);
        before.max_by_key(|binding| binding.done())
    }

    /// All elements of a value: from its registers, or else computed.
    fn value(&self, value: ValueId, binding: Option<&Binding>, depth: u32) -> Dense {
        if let Some(known) = self.dense.borrow().get(&value) {
            return Rc::clone(known);
        }
        let count = shape(&self.tensors.module.value(value).ty).iter().product::<u64>() as usize;
        let mut dense = binding.map_or_else(|| Rc::new(vec![None; count]), |binding| self.registers(value, binding, false));
        if dense.iter().any(Option::is_none)
            && let Some(depth) = depth.checked_sub(1)
            && let Some(computed) = self.computed(value, count, depth)
        {
            let filled = dense.iter().zip(computed.iter()).map(|(held, computed)| held.or(*computed)).collect();
            dense = Rc::new(filled);
        }
        self.dense.borrow_mut().insert(value, Rc::clone(&dense));
        dense
    }

    /// The elements that the registers of all warps hold.
    fn registers(&self, value: ValueId, binding: &Binding, is_earlier: bool) -> Dense {
        self.registers_of(value, binding, is_earlier, None)
    }

    /// The elements that the registers of one warp, or of all, hold.
    fn registers_of(&self, value: ValueId, binding: &Binding, is_earlier: bool, only: Option<u32>) -> Dense {
        let held = self.tensors.held(value);
        let Ok(block) = self.context.block() else { return Rc::default() };
        let intact: Vec<bool> = binding.parts.iter().map(|part| self.is_intact(binding, part, is_earlier)).collect();
        let Some(layout) = &held.layout else {
            let warp = block.warps.get(self.context.focus.warp as usize);
            let part = binding.parts.first().filter(|_| intact.first() == Some(&true));
            return Rc::new(vec![warp.zip(part).and_then(|(warp, part)| bits(warp, part, self.context.focus.lane))]);
        };
        let mut dense = vec![None; layout.shape.iter().map(|extent| *extent as usize).product()];
        let warps = block.warps.iter().zip(0_u32..).filter(|(_, warp)| warp >> layout.warp.len() == 0);
        let warps = warps.filter(|(_, warp)| only.is_none_or(|only| only == *warp));
        for (warp, number) in warps {
            for (part, register) in binding.parts.iter().zip(0_u32..).filter(|(_, register)| intact[*register as usize]) {
                for lane in 0..LANES as u32 {
                    let at = place(layout, register, lane, number);
                    if let (Some(bits), Some(slot)) = (bits(warp, part, lane), dense.get_mut(at)) {
                        *slot = Some(bits);
                    }
                }
            }
        }
        Rc::new(dense)
    }

    /// True if no other instruction has written the register between the value's own writes and the instruction.
    fn is_intact(&self, binding: &Binding, part: &Part, is_earlier: bool) -> bool {
        let code = &self.tensors.code;
        let writes = |pc: &u32| code.writes(*pc).iter().any(|register| (register.bank, register.slot) == (part.bank, part.slot));
        let is_other = |pc: &u32| writes(pc) && !binding.writers.contains(pc);
        let done = binding.done();
        if !is_earlier {
            return !(done..self.pc).any(|pc| is_other(&pc));
        }
        let around = code.loop_around(&[binding.writers.as_slice(), &[self.pc]].concat()).cloned().unwrap_or(0..0);
        let written_again = (around.start..self.pc).any(|pc| writes(&pc));
        !written_again && !(done..around.end).any(|pc| is_other(&pc))
    }

    /// The elements that an operation gives, as far as it is one that is computed.
    fn computed(&self, value: ValueId, count: usize, depth: u32) -> Option<Vec<Option<u128>>> {
        let module = &self.tensors.module;
        let ty = &module.value(value).ty;
        let element = ty.element()?;
        let Definition::Result(op, _) = module.value(value).definition else {
            return self.argument(value).map(|bits| vec![Some(bits)]);
        };
        let op = module.op(op);
        let uniform = |bits: Option<u128>| Some(vec![bits; count]);
        let axis = || ["x", "y", "z"].iter().position(|axis| op.text.trim() == *axis);
        match op.name.as_str() {
            "arith.constant" => uniform(compute::constant(op, element)),
            "tt.make_range" => {
                let start = op.number("start").unwrap_or(0);
                Some((0..count as i64).map(|at| u128::try_from(start + at).ok()).collect())
            }
            "tt.get_program_id" => uniform(Some(u128::from(self.context.focus.block[axis()?]))),
            "tt.get_num_programs" => uniform(Some(u128::from(self.context.machine.config().grid[axis()?]))),
            "tt.expand_dims" => op.operands.first().map(|from| self.value(*from, self.binding(*from), depth).to_vec()),
            "tt.broadcast" => self.broadcast(op, &shape(ty), depth),
            name if compute::is_computed(name) => self.elementwise(op, element, count, depth),
            _ => None,
        }
    }

    fn broadcast(&self, op: &Op, shape: &[u64], depth: u32) -> Option<Vec<Option<u128>>> {
        let from = *op.operands.first()?;
        let narrow = self::shape(&self.tensors.module.value(from).ty);
        let dense = self.value(from, self.binding(from), depth);
        let count: u64 = shape.iter().product();
        let at = |number: u64| {
            let (mut rest, mut place, mut stride) = (number, 0, 1);
            for (extent, narrow) in shape.iter().zip(&narrow).rev() {
                place += (rest % extent) % narrow * stride;
                stride *= narrow;
                rest /= extent;
            }
            dense.get(place as usize).copied().flatten()
        };
        Some((0..count).map(at).collect())
    }

    fn elementwise(&self, op: &Op, to: ElementType, count: usize, depth: u32) -> Option<Vec<Option<u128>>> {
        let module = &self.tensors.module;
        let from = module.value(*op.operands.first()?).ty.element()?;
        let operands: Vec<Dense> = op.operands.iter().map(|operand| self.value(*operand, self.binding(*operand), depth)).collect();
        // The distance that a pointer is moved by has a sign.
        let widened = |index: usize, bits: u128| match (op.name.as_str(), index) {
            ("tt.addptr", 1) => module.value(op.operands[1]).ty.element().map(|ty| compute::extended(ty, bits)),
            _ => Some(bits),
        };
        let at = |number: usize| {
            let bits = operands.iter().enumerate().map(|(index, dense)| {
                let number = if dense.len() == 1 { 0 } else { number };
                widened(index, dense.get(number).copied().flatten()?)
            });
            compute::element(op, from, to, &bits.collect::<Option<Vec<u128>>>()?)
        };
        Some((0..count).map(at).collect())
    }

    /// The bits of a parameter of the kernel.
    fn argument(&self, value: ValueId) -> Option<u128> {
        let Definition::Argument(index) = self.tensors.module.value(value).definition else { return None };
        let function = &self.context.program().functions[self.tensors.kernel.index()];
        let param = function.params.get(index)?;
        let ParamStorage::Kernel(offset) = param.storage else { return None };
        let mut bytes = vec![0; (param.bytes as usize).min(16)];
        memory::read(self.context, Space::Param, u64::from(offset), &mut bytes).ok()?;
        Some(little_endian(&bytes))
    }

    /// The first indices and the extents of the smallest part of a tensor with all elements that a warp holds; none for a value that
    /// is in no registers.
    pub fn part_of_warp(&self, current: &Current<'_>, warp: u32) -> Option<(Vec<u64>, Vec<u64>)> {
        let layout = self.tensors.held(current.value).layout.as_ref()?;
        let all = (0..layout.registers()).flat_map(|register| (0..LANES as u32).map(move |lane| (register, lane)));
        let places: Vec<Vec<u32>> = all.map(|(register, lane)| layout.coordinates(register, lane, warp)).collect();
        let end = |dimension: usize, last: bool| {
            let along = places.iter().map(|at| u64::from(at[dimension]));
            if last { along.max() } else { along.min() }.unwrap_or(0)
        };
        let first: Vec<u64> = (0..layout.shape.len()).map(|dimension| end(dimension, false)).collect();
        let extents = (0..layout.shape.len()).map(|dimension| end(dimension, true) + 1 - first[dimension]).collect();
        Some((first, extents))
    }
}

/// The extents of a tensor; none for a number.
fn shape(ty: &ValueType) -> Vec<u64> {
    match ty {
        ValueType::Tensor(tensor) => tensor.shape.clone(),
        ValueType::Scalar(_) | ValueType::Other => Vec::new(),
    }
}

/// The number of the element that a register holds.
fn place(layout: &LinearLayout, register: u32, lane: u32, warp: u32) -> usize {
    let at = layout.coordinates(register, lane, warp);
    at.iter().zip(&layout.shape).fold(0, |place, (at, extent)| place * *extent as usize + *at as usize)
}
