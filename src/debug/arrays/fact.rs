//! What a register may hold: a number, or an address in variables.

use smallvec::SmallVec;

use super::form::Form;
use crate::program::VarId;

/// What a register may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The variables that it may be an address in, in order.
    pub variables: SmallVec<[VarId; 2]>,
    /// How it is made; of an address, counted from the start of the variable.
    pub form: Form,
    /// Whether it is made from an address, and may be none: a field of a descriptor, a part of one.
    pub is_derived: bool,
}

impl Fact {
    /// A number that is no address.
    pub fn number(form: Form) -> Self {
        Self { variables: SmallVec::new(), form, is_derived: false }
    }

    /// An address in one of these variables.
    pub fn of(variables: &[VarId], form: Form) -> Self {
        Self { variables: SmallVec::from_slice(variables), form, is_derived: false }
    }

    /// Whether it is an address in a variable, or made from one.
    pub fn is_address(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Makes it stand for what `other` may be as well; whether that is more than before.
    pub fn join(&mut self, other: &Fact) -> bool {
        let mut grown = false;
        // A number that is no address says nothing of the place in a variable.
        if self.is_address() == other.is_address() {
            grown |= self.form.join(&other.form);
        } else if other.is_address() {
            self.form = other.form.clone();
            grown = true;
        }
        for variable in &other.variables {
            if let Err(at) = self.variables.binary_search(variable) {
                self.variables.insert(at, *variable);
                grown = true;
            }
        }
        grown |= other.is_derived && !self.is_derived;
        self.is_derived |= other.is_derived;
        grown
    }

    /// The sum of two.
    pub fn plus(&self, other: &Fact) -> Fact {
        let mut sum = self.clone();
        sum.form = self.form.plus(&other.form);
        for variable in &other.variables {
            if let Err(at) = sum.variables.binary_search(variable) {
                sum.variables.insert(at, *variable);
            }
        }
        // The sum of two addresses is none.
        sum.is_derived |= other.is_derived || (self.is_address() && other.is_address());
        sum
    }

    /// The difference of two.
    pub fn minus(&self, other: &Fact) -> Fact {
        match (self.is_address(), other.is_address()) {
            // A distance.
            (true, true) => Fact::number(Form::unknown()),
            (false, true) => Fact { is_derived: true, ..other.clone() },
            (_, false) => Fact { form: self.form.plus(&other.form.negated()), ..self.clone() },
        }
    }
}

/// Something made from two, of which no more is known.
pub fn derived(a: &Fact, b: &Fact) -> Fact {
    let mut fact = loose(a, b);
    fact.is_derived |= fact.is_address();
    fact
}

/// An address near that of either, or a number.
pub fn loose(a: &Fact, b: &Fact) -> Fact {
    let mut fact = a.plus(b);
    fact.form = if fact.is_address() { Form::unknown() } else { Form::multiple_of(a.form.alignment().min(b.form.alignment())) };
    fact
}

/// `a & b`. A mask that leaves the upper bits rounds an address down.
pub fn masked(a: &Fact, b: &Fact) -> Fact {
    if a.is_address() || b.is_address() {
        let mask = a.form.as_constant().filter(|_| !a.is_address()).or(b.form.as_constant().filter(|_| !b.is_address()));
        return if mask.is_some_and(|mask| mask < 0) { loose(a, b) } else { derived(a, b) };
    }
    match (a.form.as_constant(), b.form.as_constant()) {
        (Some(a), Some(b)) => Fact::number(Form::constant(a & b)),
        _ => Fact::number(Form::multiple_of(a.form.alignment().max(b.form.alignment()))),
    }
}
