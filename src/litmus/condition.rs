//! What a test asks of its outcomes.

/// The question of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Of which outcomes it is asked.
    pub quantifier: Quantifier,
    /// What is asked.
    pub formula: Formula,
    /// The text of both.
    pub text: String,
}

/// Of which outcomes a formula is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `exists`: it holds of one.
    Exists,
    /// `~exists`: it holds of none.
    NotExists,
    /// `forall`: it holds of all.
    Forall,
}

/// A formula over an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// `~`.
    Not(Box<Self>),
    /// `/\`.
    And(Vec<Self>),
    /// `\/`.
    Or(Vec<Self>),
    /// A comparison.
    Compare(Variable, Comparison, Variable),
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
}

impl Comparison {
    /// Whether it holds.
    pub fn of(self, first: i64, second: i64) -> bool {
        match self {
            Self::Eq => first == second,
            Self::Ne => first != second,
            Self::Lt => first < second,
            Self::Le => first <= second,
            Self::Gt => first > second,
            Self::Ge => first >= second,
        }
    }
}

/// A value of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// A register of a thread at its end: the thread's place in the test, and the register.
    Register(usize, usize),
    /// The memory of a location at the end.
    Memory(usize),
    /// A constant.
    Constant(i64),
}

impl Formula {
    /// Whether it holds.
    pub fn holds(&self, value: &impl Fn(Variable) -> i64) -> bool {
        match self {
            Self::Not(formula) => !formula.holds(value),
            Self::And(all) => all.iter().all(|formula| formula.holds(value)),
            Self::Or(any) => any.iter().any(|formula| formula.holds(value)),
            Self::Compare(first, comparison, second) => comparison.of(value(*first), value(*second)),
        }
    }

    /// Adds the registers and locations in it.
    pub fn variables(&self, into: &mut Vec<Variable>) {
        match self {
            Self::Not(formula) => formula.variables(into),
            Self::And(all) | Self::Or(all) => all.iter().for_each(|formula| formula.variables(into)),
            Self::Compare(first, _, second) => {
                into.extend([*first, *second].into_iter().filter(|variable| !matches!(variable, Variable::Constant(_))));
            }
        }
    }
}

impl Quantifier {
    /// The answer to a question, of whether the formula holds of each outcome.
    pub fn answer(self, mut each: impl Iterator<Item = bool>) -> bool {
        match self {
            Self::Exists => each.any(|holds| holds),
            Self::NotExists => !each.any(|holds| holds),
            Self::Forall => each.all(|holds| holds),
        }
    }
}
