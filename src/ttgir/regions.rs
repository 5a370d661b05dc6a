//! What regions give: the branches of `scf.if`, and what `scf.for` and `scf.while` hand from round to round.

use super::{Definition, Module, Op, OpId, ValueId};

/// A value that a loop hands from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What it is before the first round.
    pub initial: ValueId,
    /// What it is in a round.
    pub argument: ValueId,
    /// What a round hands on.
    pub handed_on: ValueId,
    /// What it is after the last round, if the loop has such a result.
    pub result: Option<ValueId>,
}

/// A result of `scf.if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branched {
    /// The result.
    pub result: ValueId,
    /// What it is if the condition holds.
    pub then: ValueId,
    /// What it is otherwise.
    pub otherwise: ValueId,
}

impl Module {
    /// The operation that ends a region of `op`.
    fn end_of(&self, op: OpId, region: u32, name: &str) -> Option<&Op> {
        let later = self.ops.get(op.index()..).unwrap_or_default();
        later.iter().find(|other| other.parent == Some(op) && other.region == region && other.name == name)
    }

    /// What a loop hands from round to round; empty for an operation that is none.
    pub fn carried(&self, id: OpId) -> Vec<Carried> {
        let op = self.op(id);
        match op.name.as_str() {
            "scf.for" => {
                let (Some(arguments), Some(initial), Some(end)) =
                    (op.arguments.get(1..), op.operands.get(3..), self.end_of(id, 0, "scf.yield"))
                else {
                    return Vec::new();
                };
                if initial.len() != arguments.len() || end.operands.len() != arguments.len() {
                    return Vec::new();
                }
                let one = |index: usize| Carried {
                    initial: initial[index],
                    argument: arguments[index],
                    handed_on: end.operands[index],
                    result: op.results.get(index).copied(),
                };
                (0..arguments.len()).map(one).collect()
            }
            "scf.while" => {
                let Some(end) = self.end_of(id, 1, "scf.yield").filter(|end| end.operands.len() == op.operands.len()) else {
                    return Vec::new();
                };
                // What the condition is computed from after the last round is what that has handed on.
                let one = |((initial, argument), end): ((&ValueId, &ValueId), &ValueId)| Carried {
                    initial: *initial,
                    argument: *argument,
                    handed_on: *end,
                    result: Some(*argument),
                };
                op.operands.iter().zip(&op.arguments).zip(&end.operands).map(one).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The results of an `scf.if` with what its branches give; empty for any other operation.
    pub fn branched(&self, id: OpId) -> Vec<Branched> {
        let op = self.op(id);
        if op.name != "scf.if" {
            return Vec::new();
        }
        let (Some(then), Some(otherwise)) = (self.end_of(id, 0, "scf.yield"), self.end_of(id, 1, "scf.yield")) else { return Vec::new() };
        let gives = then.operands.iter().zip(&otherwise.operands);
        op.results
            .iter()
            .zip(gives)
            .map(|(result, (then, otherwise))| Branched { result: *result, then: *then, otherwise: *otherwise })
            .collect()
    }

    /// The condition of an `scf.while`.
    pub fn condition(&self, id: OpId) -> Option<ValueId> {
        self.end_of(id, 0, "scf.condition")?.operands.first().copied()
    }

    /// The last operation of an operation's regions, or the operation itself.
    pub fn last_inside(&self, id: OpId) -> OpId {
        let inside = (id.index() + 1..self.ops.len()).map(OpId::new).take_while(|other| self.region_in(*other, id).is_some());
        inside.last().unwrap_or(id)
    }

    /// The value that another one is by definition: what the condition of an `scf.while` gives to its rounds and to what follows it.
    pub fn resolved(&self, value: ValueId) -> ValueId {
        let of_condition = |op: OpId, index: usize| {
            let is_while = self.op(op).name == "scf.while";
            let end = self.end_of(op, 0, "scf.condition").filter(|_| is_while)?;
            end.operands.get(index + 1).copied()
        };
        let found = match self.value(value).definition {
            Definition::Result(op, index) => of_condition(op, index),
            Definition::Region(op) => {
                let op_of = self.op(op);
                let index = op_of.arguments.iter().position(|argument| *argument == value);
                index.and_then(|index| index.checked_sub(op_of.operands.len())).and_then(|index| of_condition(op, index))
            }
            Definition::Argument(_) => None,
        };
        found.filter(|other| *other != value).unwrap_or(value)
    }

    /// The number of the region of `ancestor` that `op` is in, however deep; none if it is in none.
    pub fn region_in(&self, op: OpId, ancestor: OpId) -> Option<u32> {
        let mut at = op;
        while let Some(parent) = self.op(at).parent {
            if parent == ancestor {
                return Some(self.op(at).region);
            }
            at = parent;
        }
        None
    }

    /// The operation that defines a value or takes it into its region.
    pub fn definer(&self, value: ValueId) -> Option<OpId> {
        match self.value(value).definition {
            Definition::Result(op, _) | Definition::Region(op) => Some(op),
            Definition::Argument(_) => None,
        }
    }
}
