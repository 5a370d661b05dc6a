//! What the instructions of a kernel read and write, and where its loops are.

use std::collections::BTreeMap;
use std::ops::Range;

use super::places::places;
use crate::isa::ScalarType;
use crate::program::operands::{RegisterOperand, RegisterOperands, reads, writes};
use crate::program::{Bank, ControlOp, Function, Op, Pc, Program, Slot};
use crate::ttgir::Place;

/// The instructions of a kernel.
#[derive(Debug)]
pub struct Code {
    /// The first instruction; the others follow.
    start: u32,
    /// Where each comes from.
    places: Vec<Vec<Place>>,
    reads: Vec<RegisterOperands>,
    writes: Vec<RegisterOperands>,
    opcodes: Vec<String>,
    /// The instructions of each loop.
    loops: Vec<Range<u32>>,
    /// The first instructions of pieces without branches.
    pieces: Vec<u32>,
    /// The instructions after which no `wgmma` is in flight.
    waits: Vec<u32>,
    /// The declared widths of registers, in bits.
    widths: BTreeMap<(Bank, Slot), u32>,
}

impl Code {
    /// The instructions of `function`.
    pub fn new(program: &Program, function: &Function) -> Self {
        let code = function.code.clone();
        let inst = |pc: u32| &program.code[pc as usize];
        let targets = function.labels.iter().map(|(_, pc)| pc.0);
        let after_branches = code.clone().filter(|pc| matches!(inst(*pc).op, Op::Control(_))).map(|pc| pc + 1);
        let mut pieces: Vec<u32> = targets.chain(after_branches).chain([code.start]).filter(|pc| code.contains(pc)).collect();
        pieces.sort_unstable();
        pieces.dedup();
        let loops = code.clone().filter_map(|pc| match inst(pc).op {
            Op::Control(ControlOp::Branch { target, .. }) if target.0 <= pc => Some(target.0..pc + 1),
            _ => None,
        });
        Self {
            start: code.start,
            places: places(program, code.clone()),
            reads: code.clone().map(|pc| reads(inst(pc), program)).collect(),
            writes: code.clone().map(|pc| writes(inst(pc), program)).collect(),
            opcodes: code.clone().map(|pc| program.opcode(Pc(pc)).map_or_else(String::new, |opcode| opcode.text.to_string())).collect(),
            loops: loops.collect(),
            waits: code.clone().filter(|pc| waits_for_all(program, Pc(*pc))).collect(),
            pieces,
            widths: widths(function),
        }
    }

    /// All instructions.
    pub fn all(&self) -> Range<u32> {
        self.start..self.start + self.writes.len() as u32
    }

    fn index(&self, pc: u32) -> usize {
        pc.saturating_sub(self.start) as usize
    }

    /// The places that an instruction comes from, innermost first.
    pub fn places(&self, pc: u32) -> &[Place] {
        self.places.get(self.index(pc)).map_or(&[], Vec::as_slice)
    }

    /// The registers that an instruction reads.
    pub fn reads(&self, pc: u32) -> &[RegisterOperand] {
        self.reads.get(self.index(pc)).map_or(&[], |registers| registers.as_slice())
    }

    /// The registers that an instruction writes.
    pub fn writes(&self, pc: u32) -> &[RegisterOperand] {
        self.writes.get(self.index(pc)).map_or(&[], |registers| registers.as_slice())
    }

    /// The opcode of an instruction, with its modifiers.
    pub fn opcode(&self, pc: u32) -> &str {
        self.opcodes.get(self.index(pc)).map_or("", String::as_str)
    }

    /// The declared width of a register, in bits.
    pub fn bits(&self, register: RegisterOperand) -> u32 {
        self.widths.get(&(register.bank, register.slot)).copied().unwrap_or(0)
    }

    /// The number of the piece without branches that an instruction is in.
    pub fn piece(&self, pc: u32) -> usize {
        self.pieces.partition_point(|first| *first <= pc)
    }

    /// The first instruction after `pc` that waits for all `wgmma`.
    pub fn wait_after(&self, pc: u32) -> Option<u32> {
        self.waits.iter().copied().find(|wait| *wait > pc)
    }

    /// The innermost loop that holds all of these instructions.
    pub fn loop_around(&self, instructions: &[u32]) -> Option<&Range<u32>> {
        let around = self.loops.iter().filter(|code| instructions.iter().all(|pc| code.contains(pc)));
        around.min_by_key(|code| code.len())
    }
}

/// True for `wgmma.wait_group.sync.aligned 0`.
fn waits_for_all(program: &Program, pc: Pc) -> bool {
    let is_wait = program.opcode(pc).is_some_and(|opcode| opcode.text.starts_with("wgmma.wait_group"));
    let text = program.spans.get(pc.index()).map(|span| program.sources_text.text(*span));
    is_wait && text.is_some_and(|text| text.trim_end_matches(';').split_whitespace().next_back() == Some("0"))
}

/// The declared width of each register that code names.
fn widths(function: &Function) -> BTreeMap<(Bank, Slot), u32> {
    let declared = function.registers.iter().flat_map(|register| {
        let bits = if register.ty == ScalarType::Pred { 1 } else { register.ty.bits() };
        register.components().map(move |(_, number)| (register.bank, number, bits))
    });
    declared.filter_map(|(bank, number, bits)| Some(((bank, function.placement.slot(bank, number)?), bits))).collect()
}
