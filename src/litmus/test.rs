//! A litmus test as data.

use super::condition::{Comparison, Condition, Formula, Variable};
use crate::isa::{Ordering, Scope};

/// A litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its threads.
    pub threads: Vec<Thread>,
    /// Its locations: virtual addresses.
    pub locations: Vec<Location>,
    /// What is asked.
    pub condition: Condition,
    /// Only executions of which this holds are considered.
    pub filter: Option<Formula>,
    /// Variables to be shown beside those of the condition.
    pub shown: Vec<Variable>,
}

/// A virtual address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// The address of the generic proxy that it stands for: itself, unless it is an address of another proxy.
    pub generic: usize,
    /// The location that names the memory: the same for all aliases.
    pub physical: usize,
    /// The value at first.
    pub initial: i64,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The number in its name: 0 of `P0`.
    pub number: u32,
    /// Its block.
    pub block: u32,
    /// The GPU of its block.
    pub gpu: u32,
    /// Names of its registers.
    pub registers: Vec<String>,
    /// Their values at first.
    pub initial: Vec<i64>,
    /// Its instructions.
    pub code: Vec<Instruction>,
}

impl Thread {
    /// The number of a register, which is made if it is new.
    pub fn register(&mut self, name: &str) -> usize {
        self.registers.iter().position(|other| other == name).unwrap_or_else(|| {
            self.registers.push(name.to_string());
            self.initial.push(0);
            self.registers.len() - 1
        })
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its text.
    pub text: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// What it does.
    pub op: Op,
}

/// A path to memory (PTX ISA, "Proxies").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proxy {
    /// The generic proxy.
    Generic,
    /// Textures.
    Texture,
    /// Surfaces.
    Surface,
    /// Constant memory.
    Constant,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A constant.
    Constant(i64),
    /// A register, by number.
    Register(usize),
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// An access of memory.
    Access(Access),
    /// `fence` with semantics.
    Fence {
        /// Its semantics: `.sc`, `.acq_rel`, `.acquire` or `.release`.
        ordering: Ordering,
        /// Its scope.
        scope: Scope,
    },
    /// `fence.proxy.…` of a proxy.
    ProxyFence(Proxy),
    /// `fence.proxy.alias`.
    AliasFence,
    /// `bar.cta.…`.
    Barrier {
        /// True for `bar.arrive`.
        only_arrives: bool,
        /// The number of the instruction: barriers of different numbers are different.
        instance: i64,
        /// The number of the barrier.
        id: Option<Operand>,
        /// The threads that meet.
        count: Option<Operand>,
    },
    /// Arithmetic on registers.
    Compute {
        /// The result.
        result: usize,
        /// The function.
        function: Arithmetic,
        /// Its operands.
        operands: [Operand; 2],
    },
    /// A branch.
    Branch {
        /// When it is taken; always without one.
        condition: Option<(Comparison, Operand, Operand)>,
        /// The instruction that follows then.
        target: usize,
    },
}

/// Integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// The second operand.
    Second,
    /// A sum.
    Add,
    /// A difference.
    Sub,
    /// A product.
    Mul,
    /// A quotient.
    Div,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Arithmetic {
    /// The result; of a division by 0 all ones.
    pub fn of(self, first: i64, second: i64) -> i64 {
        match self {
            Self::Second => second,
            Self::Add => first.wrapping_add(second),
            Self::Sub => first.wrapping_sub(second),
            Self::Mul => first.wrapping_mul(second),
            Self::Div => first.checked_div(second).unwrap_or(-1),
            Self::And => first & second,
            Self::Or => first | second,
            Self::Xor => first ^ second,
        }
    }
}

/// An access of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The location.
    pub location: usize,
    /// The proxy.
    pub proxy: Proxy,
    /// Its semantics.
    pub ordering: Ordering,
    /// Its scope, of a strong access.
    pub scope: Scope,
    /// What it does.
    pub kind: AccessKind,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Reads into a register.
    Load(usize),
    /// Writes a value.
    Store(Operand),
    /// Reads into a register, if it has one, and writes a function of what it read and a value.
    Atomic(Option<usize>, Arithmetic, Operand),
    /// Reads into a register and writes the second value if the first was read, else what it read.
    CompareAndSwap(usize, Operand, Operand),
}
