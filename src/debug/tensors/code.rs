//! What the instructions of a kernel read and write, and where its loops are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::moves::{Moved, moves};
use super::places::places;
use crate::cfg::ControlFlow;
use crate::isa::ScalarType;
use crate::program::operands::{RegisterOperand, RegisterOperands, reads, writes};
use crate::program::{Bank, FuncId, Function, Op, Pc, Program, Slot};
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
    /// What moves copy, by their instructions.
    moves: BTreeMap<u32, Vec<Moved>>,
    /// The instructions that only some lanes may execute.
    guarded: BTreeSet<u32>,
    /// The instructions that read each register.
    readers: BTreeMap<(Bank, Slot), Vec<u32>>,
    /// The instructions that write each register.
    writers: BTreeMap<(Bank, Slot), Vec<u32>>,
    /// The instructions by the line and column of the outermost place that they come from.
    of_places: BTreeMap<(u32, u32), Vec<u32>>,
    /// Blocks and edges.
    control: ControlFlow,
    /// The first instructions of pieces without branches.
    pieces: Vec<u32>,
    /// The instructions after which no `wgmma` is in flight.
    waits: Vec<u32>,
    /// The declared widths of registers, in bits.
    widths: BTreeMap<(Bank, Slot), u32>,
}

impl Code {
    /// The instructions of a function.
    pub fn new(program: &Program, id: FuncId) -> Self {
        let function = &program.functions[id.index()];
        let code = function.code.clone();
        let inst = |pc: u32| &program.code[pc as usize];
        let targets = function.labels.iter().map(|(_, pc)| pc.0);
        let after_branches = code.clone().filter(|pc| matches!(inst(*pc).op, Op::Control(_))).map(|pc| pc + 1);
        let mut pieces: Vec<u32> = targets.chain(after_branches).chain([code.start]).filter(|pc| code.contains(pc)).collect();
        pieces.sort_unstable();
        pieces.dedup();
        let places = places(program, code.clone());
        let reads: Vec<RegisterOperands> = code.clone().map(|pc| reads(inst(pc), program)).collect();
        let mut readers: BTreeMap<(Bank, Slot), Vec<u32>> = BTreeMap::new();
        for (pc, registers) in code.clone().zip(&reads) {
            registers.iter().for_each(|register| readers.entry((register.bank, register.slot)).or_default().push(pc));
        }
        let writes: Vec<RegisterOperands> = code.clone().map(|pc| writes(inst(pc), program)).collect();
        let mut writers: BTreeMap<(Bank, Slot), Vec<u32>> = BTreeMap::new();
        for (pc, registers) in code.clone().zip(&writes) {
            registers.iter().for_each(|register| writers.entry((register.bank, register.slot)).or_default().push(pc));
        }
        let mut of_places: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for (pc, chain) in code.clone().zip(&places) {
            chain.last().into_iter().for_each(|place| of_places.entry((place.line, place.column)).or_default().push(pc));
        }
        Self {
            start: code.start,
            places,
            reads,
            readers,
            of_places,
            moves: code.clone().map(|pc| (pc, moves(inst(pc), program))).filter(|(_, list)| !list.is_empty()).collect(),
            guarded: code.clone().filter(|pc| inst(*pc).guard.is_some()).collect(),
            control: ControlFlow::new(program, id),
            writes,
            writers,
            opcodes: code.clone().map(|pc| program.opcode(Pc(pc)).map_or_else(String::new, |opcode| opcode.text.to_string())).collect(),
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

    /// What an instruction copies from one register to another, if it is a move.
    pub fn moves(&self, pc: u32) -> &[Moved] {
        self.moves.get(&pc).map_or(&[], Vec::as_slice)
    }

    /// True for an instruction that only some lanes may execute.
    pub fn is_guarded(&self, pc: u32) -> bool {
        self.guarded.contains(&pc)
    }

    /// The instructions that read a register.
    pub fn readers(&self, register: RegisterOperand) -> &[u32] {
        self.readers.get(&(register.bank, register.slot)).map_or(&[], Vec::as_slice)
    }

    /// The instructions that write a register.
    pub fn writers(&self, register: (Bank, Slot)) -> &[u32] {
        self.writers.get(&register).map_or(&[], Vec::as_slice)
    }

    /// The instructions that come from a place of this line and column, perhaps by calls there.
    pub fn at_place(&self, place: &Place) -> &[u32] {
        self.of_places.get(&(place.line, place.column)).map_or(&[], Vec::as_slice)
    }

    /// The instructions that come from exactly these places.
    pub fn of_chain<'c>(&'c self, chain: &'c [Place]) -> impl DoubleEndedIterator<Item = u32> + 'c {
        let candidates = chain.last().map_or(&[][..], |place| self.at_place(place));
        candidates.iter().copied().filter(move |pc| {
            let places = self.places(*pc);
            places.len() == chain.len() && places.iter().zip(chain).all(|(a, b)| a.is_at(b))
        })
    }

    /// The instruction at which all threads exit, if there is one alone.
    pub fn only_exit(&self) -> Option<u32> {
        let mut exits = self.all().filter(|pc| ["ret", "exit"].iter().any(|word| self.opcode(*pc).starts_with(word)));
        let first = exits.next()?;
        exits.next().is_none().then_some(first)
    }

    /// Blocks and edges.
    pub fn control(&self) -> &ControlFlow {
        &self.control
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
