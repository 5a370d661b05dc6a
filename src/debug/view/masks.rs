//! The lanes that a guard predicate turns off, and which elements these are, over the whole block.

use super::lane_access::{LaneAccess, access_at, elements_at};
use crate::base::ranges;
use crate::cfg::{BlockId, ControlFlow};
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::focus::Focus;
use crate::debug::tensors::reader::Reader;
use crate::machine::{GroupState, LaneMask};
use crate::program::operands::{address_registers, writes};
use crate::program::{Bank, ControlOp, FuncId, Op, Pc, Program};

use super::location::off_at;

/// What a predicate does to the lanes of a block.
#[derive(Default)]
struct Lanes {
    /// The warps of which it is known.
    warps: Vec<u32>,
    /// Their lanes.
    all: u32,
    /// Those that are turned off.
    off: u32,
    /// Where these would have accessed memory.
    addresses: Vec<u64>,
    /// The access of one of the warps.
    access: Option<LaneAccess>,
}

/// The lanes of the block that do not execute the instruction of the focused lane, because their guard predicate is false, and what they
/// would have accessed: `14 of 128 lanes off: C[3][18-31]`; for a branch, how many take it; for an access of a Triton program, the elements
/// of the tensor that its mask leaves out: `56 of 256 masked: columns 200-255`. None if nothing is turned off.
pub fn masked(context: &EvalContext<'_>) -> Option<String> {
    let frame = context.frame().ok().filter(|frame| context.focus.frame == 0 && frame.group.state == GroupState::Ready)?;
    let pc = frame.position();
    context.program().code.get(pc.index())?.guard?;
    tensor_mask(context, &frame, pc).or_else(|| block_mask(context, &frame, pc))
}

/// The elements of a tensor that the mask of an access leaves out.
fn tensor_mask(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc) -> Option<String> {
    let tensors = context.tensors().filter(|tensors| frame.function == tensors.kernel())?;
    let (shape, mask) = Reader::new(tensors, context, pc.0).mask_at(pc.0)?;
    let off = mask.iter().filter(|holds| !**holds).count();
    let which = left_out(&shape, &mask).map_or(String::new(), |which| format!(": {which}"));
    (off > 0).then(|| format!("{off} of {} masked{which}", mask.len()))
}

/// The rows and columns that are left out whole, if that is all: `rows 60-63, columns 200-255`.
fn left_out(shape: &[u64], mask: &[bool]) -> Option<String> {
    let columns = usize::try_from(*shape.last()?).ok().filter(|columns| *columns > 0)?;
    let rows: Vec<&[bool]> = mask.chunks_exact(columns).collect();
    let numbers = |is_off: &dyn Fn(usize) -> bool, count: usize| {
        (0..count).filter(|number| is_off(*number)).filter_map(|number| u32::try_from(number).ok()).collect::<Vec<u32>>()
    };
    let off_rows = numbers(&|row| rows[row].iter().all(|holds| !holds), rows.len());
    let is_off_row = |row: usize| u32::try_from(row).is_ok_and(|row| off_rows.binary_search(&row).is_ok());
    let others: Vec<&[bool]> = rows.iter().enumerate().filter(|(row, _)| !is_off_row(*row)).map(|(_, row)| *row).collect();
    let Some(first) = others.first() else { return Some("all".to_string()) };
    if shape.len() > 2 || others.iter().any(|row| row != first) {
        return None;
    }
    let off_columns = numbers(&|column| !first[column], columns);
    let named = |word: &str, numbers: &[u32]| (!numbers.is_empty()).then(|| format!("{word} {}", ranges(numbers)));
    let parts: Vec<String> = named("rows", &off_rows).into_iter().chain(named("columns", &off_columns)).collect();
    Some(parts.join(", "))
}

/// The lanes of all warps of the block that stand at the instruction, or so near to it that their registers have not changed since; of
/// warps that have exited, what they have left there.
fn block_mask(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc) -> Option<String> {
    let program = context.program();
    let mut lanes = Lanes::default();
    let around = Around::new(program, frame.function, pc);
    let is_kept_at_exit = frame.depth == 0 && around.holds_at_exit();
    for (warp, number) in frame.block.warps.iter().zip(0_u32..) {
        let has_passed =
            warp.groups.is_empty() && is_kept_at_exit && context.machine.lanes_of_warp(number) & LaneMask::ALL == frame.group.mask;
        if has_passed {
            lanes.add(context, &Frame { warp, warp_number: number, ..*frame }, pc);
        }
        for group in &warp.groups {
            let other = context.refocused(Focus { warp: number, lane: group.mask.first() as u32, frame: 0, ..context.focus });
            let Ok(there) = other.frame() else { continue };
            let is_same = (there.function, there.depth) == (frame.function, frame.depth);
            if is_same && around.holds_at(there.pc) {
                lanes.add(&other, &there, pc);
            }
        }
    }
    if lanes.off == 0 {
        return None;
    }
    let Lanes { warps, all, off, addresses, access } = lanes;
    let count = frame.block.warps.len();
    // The lanes of one warp are known without its number.
    let known = if warps.len() > 1 && warps.len() < count { format!(" in {} of {count} warps", warps.len()) } else { String::new() };
    if matches!(program.code[pc.index()].op, Op::Control(_)) {
        return Some(format!("{} of {all} lanes take it{known}", all - off));
    }
    let elements =
        access.and_then(|access| elements_at(context, &access, &addresses)).map_or(String::new(), |elements| format!(": {elements}"));
    Some(format!("{off} of {all} lanes off{known}{elements}"))
}

impl Lanes {
    fn add(&mut self, context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc) {
        let off = off_at(context.program(), frame.warp, frame.group, pc);
        if self.warps.last() != Some(&frame.warp_number) {
            self.warps.push(frame.warp_number);
        }
        self.all += frame.group.mask.count();
        self.off += off.count();
        let Some(access) = access_at(context, &Frame { pc, ..*frame }, pc) else { return };
        let is_off = |(lane, _): &&(u32, u64)| off.contains(*lane as usize);
        self.addresses.extend(access.addresses.iter().filter(is_off).map(|(_, address)| *address));
        self.access.get_or_insert(access);
    }
}

/// Where the predicate and the addresses of the instruction at `pc` have the values that they have there.
struct Around<'a> {
    program: &'a Program,
    pc: Pc,
    flow: ControlFlow,
}

impl<'a> Around<'a> {
    fn new(program: &'a Program, function: FuncId, pc: Pc) -> Self {
        Self { program, pc, flow: ControlFlow::new(program, function) }
    }

    /// True for threads at `other`: it is in the same basic block, and no instruction between writes one of their registers.
    fn holds_at(&self, other: Pc) -> bool {
        let (program, pc) = (self.program, self.pc);
        let Some(inst) = program.code.get(pc.index()) else { return false };
        let registers = address_registers(inst, program);
        let is_changed = |at: u32| {
            let at = &program.code[at as usize];
            let written = writes(at, program);
            let is_guard = |slot| written.iter().any(|register| register.bank == Bank::Pred && register.slot == slot);
            matches!(at.op, Op::Control(_))
                || inst.guard.is_some_and(|guard| is_guard(guard.slot))
                || registers.iter().any(|register| written.contains(register))
        };
        let block = self.flow.block_of(pc);
        block.is_some() && self.flow.block_of(other) == block && !(pc.min(other).0..pc.max(other).0).any(is_changed)
    }

    /// True for threads of the kernel that have exited: all do so at one instruction.
    fn holds_at_exit(&self) -> bool {
        let ends = |at: u32| {
            matches!(self.program.code[at as usize].op, Op::Control(ControlOp::Exit | ControlOp::Return { .. } | ControlOp::Trap))
        };
        // Every function ends with a return, which may come after another one.
        let is_reached = |block: BlockId| block.index() == 0 || self.flow.idom(block).is_some();
        let lasts = self.flow.blocks().filter(|(block, _)| is_reached(*block)).map(|(_, code)| code.end - 1);
        let mut exits = lasts.filter(|last| ends(*last));
        let first = exits.next();
        exits.next().is_none() && first.is_some_and(|exit| self.holds_at(Pc(exit)))
    }
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn rows_and_columns_are_named() {
        let mask = |rows: u64, columns: u64| {
            (0..4_u64).flat_map(|row| (0..8_u64).map(move |column| row < rows && column < columns)).collect::<Vec<bool>>()
        };
        assert_eq!(left_out(&[4, 8], &mask(4, 6)).as_deref(), Some("columns 6-7"));
        assert_eq!(left_out(&[4, 8], &mask(3, 8)).as_deref(), Some("rows 3"));
        assert_eq!(left_out(&[4, 8], &mask(2, 5)).as_deref(), Some("rows 2-3, columns 5-7"));
        assert_eq!(left_out(&[4, 8], &mask(0, 8)).as_deref(), Some("all"));
        assert_eq!(left_out(&[32], &mask(4, 6)).as_deref(), Some("columns 6-7,14-15,22-23,30-31"));
        let diagonal: Vec<bool> = (0..16).map(|at| at / 4 != at % 4).collect();
        assert_eq!(left_out(&[4, 4], &diagonal), None);
    }
}
