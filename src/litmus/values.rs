//! Values of registers and of writes, as functions of what reads return.

use std::sync::Arc;

use super::condition::Comparison;
use super::test::Arithmetic;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A constant.
    Constant(i64),
    /// What a read returns, by its number among the events of its thread.
    Read(usize),
    /// A function of two values.
    Apply(Arithmetic, Arc<Self>, Arc<Self>),
    /// What a compare-and-swap writes: the third value if the first is the second, else the first.
    Swap(Arc<Self>, Arc<Self>, Arc<Self>),
}

/// A branch of a path, which decides for executions with certain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The comparison.
    pub comparison: Comparison,
    /// Its operands.
    pub operands: [Value; 2],
    /// Whether the path takes the branch.
    pub is_taken: bool,
}

impl Value {
    /// A function of two values, at once if they are known.
    pub fn apply(function: Arithmetic, first: Self, second: Self) -> Self {
        match (function, first, second) {
            (Arithmetic::Second, _, second) => second,
            (_, Self::Constant(first), Self::Constant(second)) => Self::Constant(function.of(first, second)),
            (_, first, second) => Self::Apply(function, Arc::new(first), Arc::new(second)),
        }
    }

    /// The reads that it depends on.
    pub fn reads(&self) -> u64 {
        match self {
            Self::Constant(_) => 0,
            Self::Read(read) => 1 << read,
            Self::Apply(_, first, second) => first.reads() | second.reads(),
            Self::Swap(first, second, third) => first.reads() | second.reads() | third.reads(),
        }
    }

    /// Its value, where `read` has what reads return; none if that is not known yet.
    pub fn evaluate(&self, read: &impl Fn(usize) -> Option<i64>) -> Option<i64> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Read(of) => read(*of),
            Self::Apply(function, first, second) => Some(function.of(first.evaluate(read)?, second.evaluate(read)?)),
            Self::Swap(old, expected, new) => {
                let old = old.evaluate(read)?;
                if old == expected.evaluate(read)? { new.evaluate(read) } else { Some(old) }
            }
        }
    }
}

impl Decision {
    /// Whether it is as the path has it; none if that is not known yet.
    pub fn holds(&self, read: &impl Fn(usize) -> Option<i64>) -> Option<bool> {
        let [first, second] = &self.operands;
        Some(self.comparison.of(first.evaluate(read)?, second.evaluate(read)?) == self.is_taken)
    }
}
