//! Addresses in debug data: of instructions, and of variables and parameters.
//!
//! The address of an instruction is its number in the program plus [`CODE_BASE`], so that no two functions overlap and none is at 0, which
//! ends lists. A variable has a window of addresses of its own, above all code: the data says where a variable is by its symbol, and the
//! debugger knows best where that is for a thread.

use std::ops::Range;

use crate::base::SourceId;
use crate::program::{FuncId, Pc, Program, VarId};

/// The address of the first instruction.
const CODE_BASE: u64 = 1;

/// What a symbol of the module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// A variable.
    Variable(VarId),
    /// A parameter of a function, by its index.
    Param(FuncId, usize),
}

/// Names with numbers: all are added before the first is looked up.
#[derive(Default)]
pub(super) struct NameTable<'n>(Vec<(&'n str, u64)>);

impl<'n> NameTable<'n> {
    /// Adds a name; of several equal ones the last counts.
    pub fn add(&mut self, name: &'n str, number: u64) {
        self.0.push((name, number));
    }

    /// All names are there.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|(name, _)| *name);
    }

    /// The number of a name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let after = self.0.partition_point(|(other, _)| *other <= name);
        self.0.get(after.checked_sub(1)?).filter(|(other, _)| *other == name).map(|(_, number)| *number)
    }
}

/// The addresses of the labels and symbols of one module.
pub(super) struct Addresses<'p> {
    code: NameTable<'p>,
    symbols: NameTable<'p>,
    all: Vec<Symbol>,
    windows: Windows,
}

/// Where the windows of symbols begin, and how long they are.
#[derive(Clone, Copy)]
struct Windows {
    base: u64,
    shift: u32,
}

impl<'p> Addresses<'p> {
    /// The addresses of the module that was read from `source`.
    pub fn new(program: &'p Program, source: SourceId) -> Self {
        let mut addresses = Self {
            code: NameTable::default(),
            symbols: NameTable::default(),
            all: Vec::new(),
            windows: if program.address_bits == 32 { Windows { base: 1 << 31, shift: 16 } } else { Windows { base: 1 << 62, shift: 32 } },
        };
        let variables = program.variables.iter().enumerate().filter(|(_, variable)| variable.span.source == source);
        for (index, variable) in variables {
            addresses.add(&variable.name, Symbol::Variable(VarId::new(index)));
        }
        let functions = program.functions.iter().enumerate().filter(|(_, function)| function.span.source == source);
        for (index, function) in functions {
            function.labels.iter().for_each(|(name, pc)| addresses.code.add(name, code_address(*pc)));
            addresses.code.add(&function.name, code_address(Pc(function.code.start)));
            for (number, param) in function.params.iter().enumerate() {
                addresses.add(&param.name, Symbol::Param(FuncId::new(index), number));
            }
        }
        addresses.code.sort();
        addresses.symbols.sort();
        addresses
    }

    fn add(&mut self, name: &'p str, symbol: Symbol) {
        self.symbols.add(name, self.all.len() as u64);
        self.all.push(symbol);
    }

    /// The address of a label, a function, a variable or a parameter.
    pub fn address(&self, name: &str) -> Option<u64> {
        let window = |index: u64| self.windows.base | index << self.windows.shift;
        self.code.get(name).or_else(|| self.symbols.get(name).map(window))
    }

    /// The symbol whose window holds `address`, and the offset in it; none for an address of code, or another number.
    pub fn symbol(&self, address: u64) -> Option<(Symbol, u64)> {
        let Windows { base, shift } = self.windows;
        let from_base = address.checked_sub(base)?;
        let symbol = self.all.get(usize::try_from(from_base >> shift).ok()?)?;
        Some((*symbol, from_base & ((1 << shift) - 1)))
    }
}

fn code_address(pc: Pc) -> u64 {
    u64::from(pc.0) + CODE_BASE
}

/// The instructions of a range of addresses; none if it is empty or not of code.
pub(super) fn instructions(range: &gimli::Range) -> Option<Range<u32>> {
    let pc = |address: u64| u32::try_from(address.checked_sub(CODE_BASE)?).ok();
    let (begin, end) = (pc(range.begin)?, pc(range.end)?);
    (begin < end).then_some(begin..end)
}
