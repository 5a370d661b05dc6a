//! The elements of a tensor, out of the registers of a block.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::binding::{Part, bits};
use super::contents::{Element, Meaning, State, Variable};
use super::finals::Final;
use super::{COMPUTED_MAX, Current, Tensors, compute};
use crate::debug::eval_context::EvalContext;
use crate::debug::memory;
use crate::debug::value::number::little_endian;
use crate::debug::value::{Tensor, TensorElement};
use crate::isa::Space;
use crate::machine::{LANES, Warp};
use crate::program::{ParamStorage, Pc};
use crate::ttgir::{Definition, ElementType, LinearLayout, Op, ValueId, ValueType};

/// Most operations in each other that an element is computed by.
const DEPTH_MAX: u32 = 64;

/// Elements, each with its bits if they are known.
type Dense = Rc<Vec<Option<u128>>>;

/// Where the elements of a value are, by their numbers in a thread.
type Parts = BTreeMap<u32, Part>;

/// Reads values for the focused thread's block.
pub struct Reader<'r, 'a> {
    tensors: &'r Tensors,
    context: &'r EvalContext<'a>,
    /// The instruction at which the values are wanted.
    pc: u32,
    dense: RefCell<BTreeMap<ValueId, Dense>>,
    states: RefCell<BTreeMap<u32, Rc<State>>>,
}

/// Which elements of a value are wanted.
#[derive(Clone, Copy)]
struct Wanted<'w> {
    /// True for those of an earlier round too.
    with_earlier: bool,
    /// True if a register that has been written holds what only one statement writes there.
    with_written: bool,
    /// Of one warp only.
    warp: Option<u32>,
    /// The variable that all warps must have with the same meaning.
    variable: Option<(Variable, &'w Meaning)>,
}

impl Wanted<'_> {
    /// Those of this round, of all warps.
    const OF_ROUND: Self = Self { with_earlier: false, with_written: false, warp: None, variable: None };
}

impl<'r, 'a> Reader<'r, 'a> {
    /// A reader at the instruction `pc`.
    pub fn new(tensors: &'r Tensors, context: &'r EvalContext<'a>, pc: u32) -> Self {
        Self { tensors, context, pc, dense: RefCell::default(), states: RefCell::default() }
    }

    /// The tensor, or the number as a tensor without dimensions, that a variable has.
    pub fn tensor(&self, name: &str, current: &Current) -> Option<Tensor> {
        let variable = self.tensors.contents().rules().variable(name).map(|variable| (variable, &current.meaning));
        let mut tensor = self.with_elements(current, &self.of_current(current, None, variable), variable)?;
        tensor.notes.extend(self.in_the_middle(name, current));
        Some(tensor)
    }

    /// What of a variable the focused warp has already given anew, if it stands between the instructions of a statement that does.
    pub fn in_the_middle(&self, name: &str, current: &Current) -> Option<String> {
        let finals = self.tensors.finals.get(name)?;
        let is_between = |one: &&Final| {
            let mut bindings = self.tensors.bindings_of_statement(one.value).iter();
            bindings.any(|binding| binding.writers.first().is_some_and(|first| *first < self.pc) && self.pc < binding.done())
        };
        let one = finals.iter().filter(|one| one.value != current.value).find(is_between).filter(|_| current.in_flight().is_none())?;
        let wanted = Wanted { warp: Some(self.context.focus.warp), ..Wanted::OF_ROUND };
        let values = self.tensors.same(one.value).into_iter();
        let given = values.map(|value| self.registers(value, wanted).iter().flatten().count()).max().filter(|given| *given > 0)?;
        let (line, count) = (one.line, self.count(one.value));
        Some(format!("line {line} is not complete here: {given} of {count} elements are already what it gives, in registers of this warp"))
    }

    /// The elements of a value that one warp holds.
    pub fn of_warp(&self, current: &Current, warp: u32) -> Vec<Option<u128>> {
        self.of_current(current, Some(warp), None).to_vec()
    }

    fn of_current(&self, current: &Current, warp: Option<u32>, variable: Option<(Variable, &Meaning)>) -> Dense {
        let count = self.count(current.value);
        let (with_earlier, with_written) = match current.meaning {
            Meaning::Value { is_earlier, is_certain, .. } => (is_earlier, is_earlier || !is_certain),
            Meaning::OneOf(_) | Meaning::InFlight { .. } => return Rc::new(vec![None; count]),
        };
        let wanted = Wanted { with_earlier, with_written, warp, variable };
        self.value(current.value, wanted, DEPTH_MAX)
    }

    fn count(&self, value: ValueId) -> usize {
        shape(&self.tensors.module.value(value).ty).iter().product::<u64>() as usize
    }

    /// The tensor with these elements, which a variable has.
    pub fn with_elements(&self, current: &Current, dense: &[Option<u128>], variable: Option<(Variable, &Meaning)>) -> Option<Tensor> {
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
        let mut notes = self.notes(current, missing, elements.len());
        let elsewhere =
            variable.filter(|_| missing > 0 && current.in_flight().is_none()).map_or_else(Vec::new, |variable| self.elsewhere(variable));
        if !elsewhere.is_empty() {
            let list: Vec<String> = elsewhere.iter().map(u32::to_string).collect();
            let (warps, have) = if elsewhere.len() == 1 { ("warp", "has") } else { ("warps", "have") };
            notes.push(format!("{warps} {} {have} another value of it, or none yet; @* shows this warp's part", list.join(", ")));
        }
        let indices = shape.iter().map(|extent| (0..*extent).collect()).collect();
        Some(Tensor { ty: element.number(), indices, shape, elements, notes })
    }

    /// What is to be known about elements of which some are missing.
    pub fn notes(&self, current: &Current, missing: usize, count: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((since, until)) = current.in_flight() {
            let place = |pc: u32| self.context.program().line(Pc(pc));
            let lines = (current.lines_text(), place(since), place(until));
            notes.push(format!("in flight since {} (PTX line {}), complete after PTX line {}", lines.0, lines.1, lines.2));
        } else if current.is_earlier() {
            let by = if current.lines.is_empty() { String::new() } else { format!("as {} gave it, ", current.lines_text()) };
            notes.push(format!("{by}of an earlier round of the loop: it is given anew in this one"));
        }
        if matches!(self.tensors.module.value(current.value).definition, Definition::Region(_)) && current.in_flight().is_none() {
            // A variable that takes over the value of another has no operation of its own.
            let before = if current.lines.is_empty() {
                "the round before gave it".to_string()
            } else {
                format!("{} gave it in the round before", current.lines_text())
            };
            notes.push(format!("as the round takes it: {before}, or it is what the loop began with"));
        }
        if missing > 0 && current.in_flight().is_none() {
            notes.push(format!("{missing} of {count} elements are in no register now"));
        }
        notes
    }

    /// Where a value was complete: `; it was complete after line 433 of the PTX`.
    pub fn last_place(&self, current: &Current) -> String {
        let writers = self.tensors.bindings_of_statement(current.value).iter().filter_map(|binding| binding.writers.last());
        let lines: Vec<String> = writers.map(|pc| self.context.program().line(Pc(*pc)).to_string()).collect();
        if lines.is_empty() { String::new() } else { format!("; it was complete after PTX line {}", lines.join(" or ")) }
    }

    /// The warps in which a variable means something else.
    fn elsewhere(&self, (variable, meaning): (Variable, &Meaning)) -> Vec<u32> {
        let Ok(block) = self.context.block() else { return Vec::new() };
        let warps = block.warps.iter().zip(0_u32..).filter(|(_, number)| *number != self.context.focus.warp);
        let is_other = |warp: &Warp| self.pc_of(warp).is_none_or(|pc| self.state(pc).meanings.get(&variable) != Some(meaning));
        warps.filter(|(warp, _)| is_other(warp)).map(|(_, number)| number).collect()
    }

    /// The instruction at which a warp stands, or has exited; none if its lanes stand at several.
    fn pc_of(&self, warp: &Warp) -> Option<u32> {
        let mut all = warp.groups.iter().map(|group| group.current_pc().0);
        let Some(first) = all.next() else { return self.tensors.code.only_exit() };
        all.all(|pc| pc == first).then_some(first)
    }

    fn state(&self, pc: u32) -> Rc<State> {
        let known = self.states.borrow().get(&pc).cloned();
        known.unwrap_or_else(|| {
            let state = Rc::new(self.tensors.before(pc));
            self.states.borrow_mut().insert(pc, Rc::clone(&state));
            state
        })
    }

    /// The mask of the load that gave the value.
    fn left_out(&self, current: &Current) -> Option<Dense> {
        let same = self.tensors.same(current.value);
        let load = same.into_iter().find_map(|value| match self.tensors.module.value(value).definition {
            Definition::Result(op, _) if self.tensors.module.op(op).name == "tt.load" => Some(self.tensors.module.op(op)),
            Definition::Result(..) | Definition::Argument(_) | Definition::Region(_) => None,
        })?;
        let mask = load.operands.get(1).filter(|_| !current.is_earlier())?;
        Some(self.value(*mask, Wanted::OF_ROUND, DEPTH_MAX))
    }

    /// The extents and the elements of the mask of the load or store that the instruction at `pc` is of, if all are known.
    pub fn mask_at(&self, pc: u32) -> Option<(Vec<u64>, Vec<bool>)> {
        let mask = self.tensors.mask_at(pc)?;
        let holds = self.value(mask, Wanted::OF_ROUND, DEPTH_MAX).iter().map(|bits| bits.map(|bits| bits != 0)).collect::<Option<_>>()?;
        Some((shape(&self.tensors.module.value(mask).ty), holds))
    }

    /// All elements of a value: computed, or from registers.
    fn value(&self, value: ValueId, wanted: Wanted<'_>, depth: u32) -> Dense {
        let is_plain = wanted.warp.is_none() && wanted.variable.is_none() && !wanted.with_earlier;
        if let Some(known) = self.dense.borrow().get(&value).filter(|_| is_plain) {
            return Rc::clone(known);
        }
        let count = self.count(value);
        // Of indices and masks a compiler keeps what it needs, in forms of its own: they are computed, never read.
        let is_computed = self.tensors.is_computable(value, COMPUTED_MAX, true);
        let mut dense = vec![None; count];
        let computed = |reader: &Self| depth.checked_sub(1).and_then(|depth| reader.computed(value, count, depth, wanted.with_earlier));
        if is_computed && let Some(computed) = computed(self) {
            dense = computed;
        }
        let same = if is_computed { Vec::new() } else { self.tensors.same(self.tensors.module.resolved(value)) };
        for same in same {
            if dense.iter().all(Option::is_some) {
                break;
            }
            fill(&mut dense, &self.registers(same, wanted));
        }
        let is_left = !is_computed && !wanted.with_earlier && dense.iter().any(Option::is_none);
        if is_left && let Some(computed) = computed(self) {
            fill(&mut dense, &computed);
        }
        let dense = Rc::new(dense);
        if is_plain {
            self.dense.borrow_mut().insert(value, Rc::clone(&dense));
        }
        dense
    }

    /// The elements of a value that registers hold.
    fn registers(&self, value: ValueId, wanted: Wanted<'_>) -> Vec<Option<u128>> {
        let held = self.tensors.held(value);
        let Ok(block) = self.context.block() else { return Vec::new() };
        let Some(layout) = &held.layout else {
            let warp = block.warps.get(self.context.focus.warp as usize);
            let with_written = wanted.with_written && warp.is_some_and(|warp| warp.registers.written.is_some());
            let parts = self.parts(value, self.pc, Wanted { with_written, ..wanted });
            return vec![warp.zip(parts.get(&0)).and_then(|(warp, part)| bits(warp, part, self.context.focus.lane))];
        };
        let mut dense = vec![None; layout.shape.iter().map(|extent| *extent as usize).product()];
        let warps = block.warps.iter().zip(0_u32..).filter(|(_, warp)| warp >> layout.warp.len() == 0);
        for (warp, number) in warps.filter(|(_, warp)| wanted.warp.is_none_or(|only| only == *warp)) {
            let is_focused = number == self.context.focus.warp;
            let pc = if is_focused { Some(self.pc) } else { self.pc_of(warp) };
            let Some(pc) = pc else { continue };
            let with_written = wanted.with_written && warp.registers.written.is_some();
            let wanted = Wanted { with_written, ..wanted };
            let is_other = |(variable, meaning)| self.state(pc).meanings.get(&variable) != Some(meaning);
            if !is_focused && wanted.variable.is_some_and(is_other) {
                continue;
            }
            for (register, part) in self.parts(value, pc, wanted) {
                for lane in 0..LANES as u32 {
                    let at = place(layout, register, lane, number);
                    if let (Some(bits), Some(slot)) = (bits(warp, &part, lane), dense.get_mut(at)) {
                        *slot = Some(bits);
                    }
                }
            }
        }
        dense
    }

    /// The registers that hold the elements of a value at an instruction.
    fn parts(&self, value: ValueId, pc: u32, wanted: Wanted<'_>) -> Parts {
        let state = self.state(pc);
        let mut parts = Parts::new();
        for ((bank, slot), cell) in &state.cells {
            let is_it = |element: &&Element| element.value == value && (wanted.with_earlier || !element.is_earlier);
            for element in cell.elements.iter().filter(is_it) {
                parts.insert(element.number, Part { bank: *bank, slot: *slot, shift: element.shift, bits: element.bits });
            }
        }
        if wanted.with_written
            && let [binding] = self.tensors.held(value).bindings.as_slice()
        {
            let is_own = |part: &Part| self.tensors.code.writers((part.bank, part.slot)).iter().all(|pc| binding.writers.contains(pc));
            for (part, number) in binding.parts.iter().zip(0..).filter(|(part, _)| is_own(part)) {
                parts.entry(number).or_insert(*part);
            }
        }
        parts
    }

    /// The elements that an operation gives, as far as it is one that is computed.
    fn computed(&self, value: ValueId, count: usize, depth: u32, is_earlier: bool) -> Option<Vec<Option<u128>>> {
        let module = &self.tensors.module;
        let ty = &module.value(value).ty;
        let element = ty.element()?;
        let Definition::Result(op, _) = module.value(value).definition else {
            return self.argument(value).or_else(|| self.counter(value, depth, is_earlier)).map(|bits| vec![Some(bits)]);
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
            "tt.expand_dims" => {
                op.operands.first().map(|from| self.value(*from, Wanted { with_earlier: is_earlier, ..Wanted::OF_ROUND }, depth).to_vec())
            }
            "tt.broadcast" => self.broadcast(op, &shape(ty), depth, is_earlier),
            name if compute::is_computed(name) => self.elementwise(op, element, count, depth, is_earlier),
            _ => None,
        }
    }

    fn broadcast(&self, op: &Op, shape: &[u64], depth: u32, is_earlier: bool) -> Option<Vec<Option<u128>>> {
        let from = *op.operands.first()?;
        let narrow = self::shape(&self.tensors.module.value(from).ty);
        let dense = self.value(from, Wanted { with_earlier: is_earlier, ..Wanted::OF_ROUND }, depth);
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

    fn elementwise(&self, op: &Op, to: ElementType, count: usize, depth: u32, is_earlier: bool) -> Option<Vec<Option<u128>>> {
        let module = &self.tensors.module;
        let from = module.value(*op.operands.first()?).ty.element()?;
        let operands: Vec<Dense> = op
            .operands
            .iter()
            .map(|operand| self.value(*operand, Wanted { with_earlier: is_earlier, ..Wanted::OF_ROUND }, depth))
            .collect();
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

    /// The bits of the counter of a loop: in this round, in the one before, or after the loop in the last one.
    fn counter(&self, value: ValueId, depth: u32, is_earlier: bool) -> Option<u128> {
        let module = &self.tensors.module;
        let Definition::Region(id) = module.value(value).definition else { return None };
        let op = module.op(id);
        if op.name != "scf.for" || op.arguments.first() != Some(&value) {
            return None;
        }
        let element = module.value(value).ty.element()?;
        let signed = |bits: u128| compute::extended(element, bits).cast_signed();
        let number = |index: usize| {
            let wanted = Wanted { with_earlier: is_earlier, ..Wanted::OF_ROUND };
            Some(signed((*self.value(*op.operands.get(index)?, wanted, depth).first()?)?))
        };
        let wrapped = |number: i128| number.cast_unsigned() & (u128::MAX >> (128 - element.bits().clamp(1, 128)));
        if self.tensors.is_inside(id, self.pc) {
            let now = signed((*self.registers(value, Wanted::OF_ROUND).first()?)?);
            return match is_earlier {
                true => Some(now - number(2)?).filter(|before| Some(*before) >= number(0)).map(wrapped),
                false => Some(wrapped(now)),
            };
        }
        let (first, end, step) = (number(0)?, number(1)?, number(2)?);
        (first < end && step > 0).then(|| wrapped(first + (end - first - 1) / step * step))
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

    /// Along each dimension, the indices of the elements that a warp holds, if these are rows and columns; none for a value that is in no
    /// registers.
    pub fn part_of_warp(&self, current: &Current, warp: u32) -> Option<Option<Vec<Vec<u64>>>> {
        let layout = self.tensors.held(current.value).layout.as_ref()?;
        let all = (0..layout.registers()).flat_map(|register| (0..LANES as u32).map(move |lane| (register, lane)));
        let places: BTreeSet<Vec<u32>> = all.map(|(register, lane)| layout.coordinates(register, lane, warp)).collect();
        let along = |dimension: usize| {
            let indices: BTreeSet<u64> = places.iter().map(|at| u64::from(at[dimension])).collect();
            indices.into_iter().collect::<Vec<u64>>()
        };
        let indices: Vec<Vec<u64>> = (0..layout.shape.len()).map(along).collect();
        Some((indices.iter().map(Vec::len).product::<usize>() == places.len()).then_some(indices))
    }
}

/// Fills in the elements that are not known from others.
fn fill(dense: &mut [Option<u128>], others: &[Option<u128>]) {
    dense.iter_mut().zip(others).for_each(|(own, other)| *own = own.or(*other));
}

/// The extents of a tensor; none for a number.
fn shape(ty: &ValueType) -> Vec<u64> {
    match ty {
        ValueType::Tensor(tensor) => tensor.shape.clone(),
        ValueType::Scalar(_) | ValueType::Other => Vec::new(),
    }
}

/// The number of the element that a register holds.
pub(super) fn place(layout: &LinearLayout, register: u32, lane: u32, warp: u32) -> usize {
    let at = layout.coordinates(register, lane, warp);
    at.iter().zip(&layout.shape).fold(0, |place, (at, extent)| place * *extent as usize + *at as usize)
}
