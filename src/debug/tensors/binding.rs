//! The registers that hold a value of Triton's code.
//!
//! An operation and the instructions that it becomes have the same place of the source. Of what these write, the operation's results are
//! what other instructions read; a thread's elements are in the order of the registers of its layout, which is that of the code. The
//! number of registers must be exactly that of the layout: otherwise the value counts as not held by registers.

use std::collections::BTreeSet;

use super::code::Code;
use crate::machine::{LANES, Warp};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Slot};
use crate::ttgir::{LinearLayout, Module, Op, ValueId, ValueType};

/// One element of a thread: the register, and the bits of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bank of the register.
    pub bank: Bank,
    /// Its slot in the kernel's frame.
    pub slot: Slot,
    /// The first bit.
    pub shift: u32,
    /// The number of bits.
    pub bits: u32,
}

/// The registers of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// For each register of the layout, where a thread has it. One for a number.
    pub parts: Vec<Part>,
    /// The instructions that write them, in order.
    pub writers: Vec<u32>,
}

impl Binding {
    /// True if a lane has written all registers.
    pub fn is_written(&self, warp: &Warp, lane: u32) -> bool {
        self.parts.iter().all(|part| bits(warp, part, lane).is_some())
    }

    /// The first instruction after all registers are written.
    pub fn done(&self) -> u32 {
        self.writers.last().map_or(0, |last| last + 1)
    }
}

/// The registers of a value, in each copy that the compiler has made of the operation, in order of the code.
pub fn bind(module: &Module, code: &Code, value: ValueId, layout: Option<&LinearLayout>) -> Vec<Binding> {
    let value = module.value(value);
    let crate::ttgir::Definition::Result(id, _) = value.definition else { return Vec::new() };
    let (Some(element), op) = (value.ty.element(), module.op(id)) else { return Vec::new() };
    // What a region gives has the registers of what its branches or rounds give, unless it has become a selection.
    let is_region = op.name.starts_with("scf.") && !(op.name == "scf.if" && is_converted(code, op));
    if is_region || op.places.is_empty() || has_no_code(module, op) {
        return Vec::new();
    }
    if matches!(value.ty, ValueType::Tensor(_)) && layout.is_none() {
        return Vec::new();
    }
    let candidates = op.places.last().map_or(&[][..], |place| code.at_place(place));
    let group: Vec<u32> = candidates.iter().copied().filter(|pc| is_of(op, code, *pc)).collect();
    if layout.is_some_and(|layout| has_unknown_order(code, op, layout, &group)) {
        return Vec::new();
    }
    let wanted = Wanted { code, layout, bits: element.bits() };
    if let Some(binding) = wanted.binding(&group, op) {
        return vec![binding];
    }
    group.chunk_by(|a, b| code.piece(*a) == code.piece(*b)).filter_map(|piece| wanted.binding(piece, op)).collect()
}

/// True for an operation that only names elements anew, and for one that another of the same place goes on with: what their instructions
/// write last is the result of the other.
fn has_no_code(module: &Module, op: &Op) -> bool {
    const SHAPES: [&str; 7] = ["arith.constant", "tt.make_range", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.unsplat"];
    let gives_elements = |user: &Op| user.results.iter().any(|result| module.value(*result).ty.element().is_some());
    let is_there = |user: &Op| {
        user.places.len() == op.places.len() && user.places.iter().zip(&op.places).all(|(a, b)| a.is_at(b)) && gives_elements(user)
    };
    let goes_on = |result: &ValueId| module.users(*result).any(|user| is_there(module.op(user)));
    SHAPES.contains(&op.name.as_str()) || op.results.iter().any(goes_on)
}

/// True for a load of several matrices along both dimensions: in which order a compiler leaves them is not known.
fn has_unknown_order(code: &Code, op: &Op, layout: &LinearLayout, group: &[u32]) -> bool {
    // Three bits of the number count the elements that a lane has of one such instruction.
    let is_repeated = |dimension: usize| layout.register.iter().skip(3).any(|basis| basis.get(dimension).is_some_and(|step| *step != 0));
    let loads = group.iter().filter(|pc| code.opcode(**pc).starts_with("ldmatrix.")).count();
    op.name == "ttg.local_load" && loads > 1 && is_repeated(0) && is_repeated(1)
}

/// True for an `scf.if` that is no branch of the code, but selects between what both regions compute.
pub fn is_converted(code: &Code, op: &Op) -> bool {
    let is_branch = |pc: u32| code.is_guarded(pc) && code.opcode(pc).starts_with("bra");
    !code.of_chain(&op.places).any(is_branch)
}

/// True for an instruction that the operation has become.
fn is_of(op: &Op, code: &Code, pc: u32) -> bool {
    let places = code.places(pc);
    let is_same =
        |places: &[crate::ttgir::Place]| places.len() == op.places.len() && places.iter().zip(&op.places).all(|(a, b)| a.is_at(b));
    // What stands in the region of a reduction is called from its place.
    let has_region = matches!(op.name.as_str(), "tt.reduce" | "tt.scan");
    let inner = places.len().saturating_sub(op.places.len());
    !op.places.is_empty() && (is_same(places) || has_region && is_same(&places[inner..]))
}

/// What is wanted of the registers.
struct Wanted<'w> {
    code: &'w Code,
    layout: Option<&'w LinearLayout>,
    /// Bits of an element.
    bits: u32,
}

impl Wanted<'_> {
    /// The registers that the instructions `group` of `op` leave the value in.
    fn binding(&self, group: &[u32], op: &Op) -> Option<Binding> {
        let of_group: BTreeSet<u32> = group.iter().copied().collect();
        let is_read =
            |register: &RegisterOperand, inside: bool| self.code.readers(*register).iter().any(|pc| of_group.contains(pc) == inside);
        let mut written: Vec<RegisterOperand> = Vec::new();
        for pc in group.iter().filter(|pc| may_give(op, self.code, **pc)) {
            let is_element = |register: &RegisterOperand| !self.is_constant_beside(op, *pc) || self.is_loaded(*register, group);
            let new = |register: &&RegisterOperand| self.is_wide_enough(**register) && !written.contains(*register) && is_element(register);
            let new: Vec<RegisterOperand> = self.code.writes(*pc).iter().filter(new).copied().collect();
            written.extend(new);
        }
        // In order of trust. What is loaded may go to shared memory by instructions of the same place.
        let is_result = |choice: u32, register: &RegisterOperand| match choice {
            0 => is_read(register, false),
            1 => is_read(register, false) && !is_read(register, true),
            2 => !is_read(register, true),
            _ => op.name == "tt.load",
        };
        (0..4).find_map(|choice| {
            let results: Vec<RegisterOperand> = written.iter().filter(|register| is_result(choice, register)).copied().collect();
            let parts = self.parts(&results)?;
            let writes = |pc: &&u32| self.code.writes(**pc).iter().any(|register| results.contains(register));
            let mut writers: Vec<u32> = group.iter().filter(writes).copied().collect();
            let last = *writers.last()?;
            if self.code.opcode(last).starts_with("wgmma.mma_async") {
                writers.push(self.code.wait_after(last)?);
            }
            Some(Binding { parts, writers })
        })
    }

    /// True for an instruction of a load that gives a register a constant: the address of shared memory, or what a load that not all
    /// lanes execute leaves there.
    fn is_constant_beside(&self, op: &Op, pc: u32) -> bool {
        matches!(op.name.as_str(), "tt.load" | "ttg.local_load") && self.code.reads(pc).is_empty()
    }

    /// True for a register that an instruction of `group` loads.
    fn is_loaded(&self, register: RegisterOperand, group: &[u32]) -> bool {
        let loads = |pc: &u32| self.code.opcode(*pc).starts_with("ld") && self.code.writes(*pc).contains(&register);
        group.iter().any(loads)
    }

    fn is_wide_enough(&self, register: RegisterOperand) -> bool {
        let bits = self.code.bits(register);
        if self.bits == 1 { bits == 1 } else { bits >= self.bits && bits <= self.bits.max(32) }
    }

    /// The elements that lie in `registers`, in the order of the registers of the layout; none if their number is another one.
    fn parts(&self, registers: &[RegisterOperand]) -> Option<Vec<Part>> {
        let (all, distinct) = match self.layout {
            Some(layout) => (layout.registers(), layout.distinct_bits()),
            None => (1, Vec::new()),
        };
        let part = |register: &RegisterOperand, shift: u32| Part { bank: register.bank, slot: register.slot, shift, bits: self.bits };
        let packed =
            registers.iter().flat_map(|register| (0..self.code.bits(*register) / self.bits).map(move |at| part(register, at * self.bits)));
        let single = registers.iter().map(|register| part(register, 0));
        let lists: [Vec<Part>; 2] = [packed.collect(), single.collect()];
        let whole = lists.iter().find(|list| list.len() == all as usize).cloned();
        whole.or_else(|| {
            let list = lists.iter().find(|list| list.len() == 1 << distinct.len())?;
            // Registers that hold the same element are one to the compiler.
            let index = |register: u32| distinct.iter().zip(0..).map(|(bit, at)| (register >> bit & 1) << at).sum::<u32>();
            (0..all).map(|register| list.get(index(register) as usize).copied()).collect()
        })
    }
}

/// The binding of a result with its registers in the order of those of an operand, from whose elements the result's are computed one by
/// one; none if some register is not computed from the operand, so that it cannot hold the result.
///
/// A compiler may change the order of instructions, and with it that of the registers in the code.
pub fn ordered(code: &Code, binding: Binding, operand: &Binding) -> Option<Binding> {
    if binding.writers.iter().any(|pc| packs(code, *pc)) {
        return unpacked(code, binding, operand);
    }
    let mut registers: Vec<(Bank, Slot)> = binding.parts.iter().map(|part| (part.bank, part.slot)).collect();
    registers.dedup();
    let first = registers.iter().map(|register| {
        let writer = binding.writers.iter().rev().find(|pc| is_written(code, **pc, *register))?;
        reached(code, *writer, operand)
    });
    let first: Vec<usize> = first.collect::<Option<_>>()?;
    let distinct: BTreeSet<usize> = first.iter().copied().collect();
    // Registers that appear several times, and parts of one register of the operand, keep the order of the code.
    if distinct.len() != first.len() || registers.iter().collect::<BTreeSet<_>>().len() != registers.len() {
        return Some(binding);
    }
    let mut order: Vec<usize> = (0..registers.len()).collect();
    order.sort_by_key(|index| first[*index]);
    let is_in = |part: &Part, index: usize| (part.bank, part.slot) == registers[index];
    let parts = order.iter().flat_map(|index| binding.parts.iter().filter(|part| is_in(part, *index)).copied()).collect();
    Some(Binding { parts, writers: binding.writers })
}

/// True for an instruction that converts two numbers into one register, `cvt.rn.f16x2.f32`: the compiler chooses which elements these are.
fn packs(code: &Code, pc: u32) -> bool {
    code.opcode(pc).starts_with("cvt.") && code.opcode(pc).contains("x2.f32")
}

/// The same for a result of which two elements are converted into one register, in the order of what each is converted from.
fn unpacked(code: &Code, binding: Binding, operand: &Binding) -> Option<Binding> {
    let element = |part: &Part| {
        let writer = *binding.writers.iter().rev().find(|pc| is_written(code, **pc, (part.bank, part.slot)))?;
        // The first source goes to the upper half.
        let &[high, low] = code.reads(writer) else { return None };
        if !packs(code, writer) {
            return None;
        }
        let source = if part.shift == 0 { low } else { high };
        let is_source = |other: &Part| (other.bank, other.slot) == (source.bank, source.slot);
        let direct = operand.parts.iter().position(is_source);
        let from = || code.writers((source.bank, source.slot)).iter().filter_map(|pc| reached(code, *pc, operand)).min();
        direct.or_else(from)
    };
    let mut parts: Vec<(usize, Part)> = binding.parts.iter().map(|part| Some((element(part)?, *part))).collect::<Option<_>>()?;
    parts.sort_by_key(|(element, _)| *element);
    let are_distinct = parts.windows(2).all(|pair| pair[0].0 != pair[1].0);
    are_distinct.then(|| Binding { parts: parts.into_iter().map(|(_, part)| part).collect(), writers: binding.writers })
}

fn is_written(code: &Code, pc: u32, register: (Bank, Slot)) -> bool {
    code.writes(pc).iter().any(|written| (written.bank, written.slot) == register)
}

/// Most instructions that are followed backwards for one register.
const STEPS_MAX: usize = 400;

/// The least number of the elements of `operand` that the instruction at `pc` is computed from in the fewest steps; none if there is none.
/// What all elements are reduced to, and each is computed with, is more steps away.
fn reached(code: &Code, pc: u32, operand: &Binding) -> Option<usize> {
    let element =
        |register: &RegisterOperand| operand.parts.iter().position(|part| (part.bank, part.slot) == (register.bank, register.slot));
    let (mut open, mut seen) = (vec![pc], BTreeSet::new());
    while !open.is_empty() && seen.len() < STEPS_MAX {
        let read = || open.iter().flat_map(|pc| code.reads(*pc));
        if let Some(found) = read().filter_map(element).min() {
            return Some(found);
        }
        let written = |pc: &u32| {
            // What the round before hands on stands after it in the code.
            code.reads(*pc).iter().flat_map(|register| code.writers((register.bank, register.slot)))
        };
        let next: BTreeSet<u32> = open.iter().flat_map(written).copied().filter(|pc| !seen.contains(pc)).collect();
        open = next.iter().copied().collect();
        seen.extend(next);
    }
    None
}

/// True if an instruction may give an element of the result; the others of the operation compute addresses.
fn may_give(op: &Op, code: &Code, pc: u32) -> bool {
    let opcode = code.opcode(pc);
    let starts = |words: &[&str]| words.iter().any(|word| opcode.starts_with(word));
    match op.name.as_str() {
        "tt.load" => starts(&["ld.", "mov.", "selp.", "prmt."]),
        "ttg.local_load" => starts(&["ld.", "ldmatrix.", "mov.", "prmt."]),
        "tt.dot" | "ttng.warp_group_dot" | "ttng.warp_group_dot_wait" => starts(&["mma.", "wgmma.", "fma."]),
        // What is copied whole after it is the value of a loop or of a branch.
        _ => !code.moves(pc).iter().any(|moved| moved.to_shift == 0 && moved.from_shift == 0 && moved.bits >= 32),
    }
}

/// The bits of a part of a register of a lane; none if the lane has not written it.
pub(super) fn bits(warp: &Warp, part: &Part, lane: u32) -> Option<u128> {
    let (registers, lane) = (&warp.registers, lane as usize % LANES);
    if registers.written.as_ref().is_some_and(|written| !written.lanes(part.bank, part.slot).contains(lane)) {
        return None;
    }
    let slot = part.slot.index();
    let all = match part.bank {
        Bank::B32 => u128::from(registers.b32.get(slot)?[lane]),
        Bank::B64 => u128::from(registers.b64.get(slot)?[lane]),
        Bank::Pred => u128::from(registers.pred.get(slot)?.contains(lane)),
    };
    Some(all >> part.shift & (u128::MAX >> (128 - part.bits.clamp(1, 128))))
}
