//! Cells for the parameters of functions that lie in local memory: arguments and results of calls, word by word.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::isa::Space;
use crate::program::{Address, Base, CallArg, ControlOp, FuncId, Function, MemoryOp, MoveOp, Op, ParamStorage, Pc, Program};

/// Bytes of a cell.
const WORD: u32 = 4;

/// The cells of the parameters of all functions.
#[derive(Clone, Debug, Default)]
pub struct ParamCells {
    /// By function, the cells of the words of its frame that hold parameters, by their number. None if the function takes the address of
    /// one: any access to local memory may be to it.
    functions: Vec<Option<BTreeMap<u32, usize>>>,
    end: usize,
}

impl ParamCells {
    /// Numbers the parameters of all functions from `first` on.
    pub fn of_program(program: &Program, first: usize) -> Self {
        let mut cells = Self { functions: Vec::new(), end: first };
        for function in &program.functions {
            let words = words_of(program, function).map(|words| {
                let numbered = words.into_iter().zip(cells.end..);
                numbered.collect::<BTreeMap<u32, usize>>()
            });
            cells.end += words.as_ref().map_or(0, BTreeMap::len);
            cells.functions.push(words);
        }
        cells
    }

    /// The number after the last cell.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The cells of `bytes` bytes from `offset` of the frame of a function on; none if they are not all parameters.
    pub fn of(&self, function: FuncId, offset: u32, bytes: u32) -> Option<Vec<usize>> {
        let words = self.functions.get(function.index())?.as_ref()?;
        range(offset, bytes).map(|word| words.get(&word).copied()).collect()
    }

    /// The cells that a load or a store of a parameter by its name accesses.
    pub fn accessed(&self, program: &Program, function: FuncId, op: &Op) -> Option<Vec<usize>> {
        let Op::Memory(op) = op else { return None };
        let (bits, count, Address { base, offset }) = match *op {
            MemoryOp::Load { bits, address, .. } | MemoryOp::Store { bits, address, .. } => (bits, 1, address),
            MemoryOp::LoadVector { bits, parts, address, .. } => (bits, program.dests[parts].len(), address),
            MemoryOp::StoreVector { bits, parts, address, .. } => (bits, program.sources[parts].len(), address),
        };
        let is_named = op.access().space == Space::ParamFunc && base == Base::Frame;
        let bytes = u32::from(bits).div_ceil(8).checked_mul(u32::try_from(count).ok()?)?;
        if is_named { self.of(function, u32::try_from(offset).ok()?, bytes) } else { None }
    }
}

/// The words of some bytes of a frame.
fn range(offset: u32, bytes: u32) -> Range<u32> {
    offset / WORD..offset.saturating_add(bytes).div_ceil(WORD)
}

/// The words of a function's frame that hold parameters, each once; none if it takes the address of one.
fn words_of(program: &Program, function: &Function) -> Option<BTreeSet<u32>> {
    let own = function.params.iter().chain(&function.results).filter_map(|param| match param.storage {
        ParamStorage::Frame(offset) => Some((offset, param.bytes)),
        ParamStorage::Register(..) | ParamStorage::Kernel(_) => None,
    });
    let mut words: BTreeSet<u32> = own.flat_map(|(offset, bytes)| range(offset, bytes)).collect();
    let code = || function.code.clone().map(|pc| &program.code[Pc(pc).index()].op);
    for op in code() {
        if let Op::Control(ControlOp::Call { call, .. } | ControlOp::SystemCall { call, .. }) = op {
            let site = &program.calls[*call];
            for argument in site.args.iter().chain(&site.results) {
                if let CallArg::Frame { offset, bytes } = *argument {
                    words.extend(range(offset, bytes));
                }
            }
        }
    }
    let taken = |op: &Op| if let Op::Move(MoveOp::FrameAddress { offset, .. }) = op { u32::try_from(*offset).ok() } else { None };
    let takes_address = code().filter_map(taken).any(|offset| words.contains(&(offset / WORD)));
    (!takes_address).then_some(words)
}
