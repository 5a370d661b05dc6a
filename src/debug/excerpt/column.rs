//! The instructions of a thread of the test, with labels and branches.

use std::collections::BTreeMap;

use super::constants::{Comparison, Operand};
use super::recording::Register;
use crate::isa::Compare;
use crate::program::Pc;

/// What a branch leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An instruction.
    At(Pc),
    /// What follows an instruction that is executed on a condition.
    After(Pc),
    /// The end of the thread.
    End,
}

/// A register of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// One of the kernel.
    Of(Register),
    /// One for a result that is thrown away.
    Thrown(Pc),
}

/// The registers of a thread by the numbers that the test gives them, in the order in which it names them.
pub(super) struct Numbers<T: Ord + Copy>(BTreeMap<T, usize>);

impl<T: Ord + Copy> Default for Numbers<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Ord + Copy> Numbers<T> {
    pub fn number(&mut self, of: T) -> usize {
        let next = self.0.len();
        *self.0.entry(of).or_insert(next)
    }

    /// In the order of their numbers.
    pub fn all(&self) -> Vec<T> {
        let mut all: Vec<(usize, T)> = self.0.iter().map(|(of, number)| (*number, *of)).collect();
        all.sort();
        all.into_iter().map(|(_, of)| of).collect()
    }
}

enum Item {
    Mark(Target),
    Code(String),
    Branch(Option<String>, Target),
}

/// The column of a thread, as it is made.
#[derive(Default)]
pub(super) struct Column {
    items: Vec<Item>,
    pub numbers: Numbers<Name>,
}

impl Column {
    pub fn mark(&mut self, target: Target) {
        self.items.push(Item::Mark(target));
    }

    pub fn code(&mut self, text: String) {
        self.items.push(Item::Code(text));
    }

    pub fn jump(&mut self, to: Target) {
        self.items.push(Item::Branch(None, to));
    }

    /// A branch where the comparison holds.
    pub fn branch(&mut self, comparison: Comparison, to: Target) {
        let [a, b] = comparison.operands.map(|operand| self.operand(operand));
        let name = match comparison.compare {
            Compare::Eq => "beq",
            Compare::Ne => "bne",
            Compare::Lt => "blt",
            Compare::Le => "ble",
            Compare::Gt => "bgt",
            _ => "bge",
        };
        self.items.push(Item::Branch(Some(format!("{name} {a}, {b}, ")), to));
    }

    pub fn name(&mut self, name: Name) -> String {
        format!("r{}", self.numbers.number(name))
    }

    pub fn register(&mut self, register: Register) -> String {
        self.name(Name::Of(register))
    }

    pub fn operand(&mut self, operand: Operand) -> String {
        match operand {
            Operand::Constant(value) => value.to_string(),
            Operand::Register(register) => self.register(register),
        }
    }

    /// The cells, with labels before the instructions that branches lead to. A `goto` to what follows is left out.
    pub fn cells(&self) -> Vec<String> {
        let mut items: Vec<&Item> = self.items.iter().collect();
        let mut at = items.len();
        while at > 0 {
            at -= 1;
            let Item::Branch(None, to) = items[at] else { continue };
            let mut following = items[at + 1..].iter().take_while(|item| matches!(item, Item::Mark(_)));
            if following.any(|item| matches!(item, Item::Mark(target) if target == to)) {
                items.remove(at);
            }
        }
        let is_target = |target: &Target| items.iter().any(|item| matches!(item, Item::Branch(_, to) if to == target));
        let targets: Vec<&Target> = items
            .iter()
            .filter_map(|item| if let Item::Mark(target) = item { Some(target) } else { None })
            .filter(|at| is_target(at))
            .collect();
        let label = |to: &Target| format!("LC{:02}", targets.iter().position(|target| *target == to).unwrap_or(targets.len()));
        let (mut cells, mut labels) = (Vec::new(), String::new());
        for item in &items {
            match item {
                Item::Mark(target) if is_target(target) => labels.push_str(&format!("{}: ", label(target))),
                Item::Mark(_) => {}
                Item::Code(text) => cells.push(std::mem::take(&mut labels) + text),
                Item::Branch(None, to) => cells.push(format!("{}goto {}", std::mem::take(&mut labels), label(to))),
                Item::Branch(Some(test), to) => cells.push(format!("{}{test}{}", std::mem::take(&mut labels), label(to))),
            }
        }
        if !labels.is_empty() {
            cells.push(labels.trim_end().to_string());
        }
        cells
    }
}
