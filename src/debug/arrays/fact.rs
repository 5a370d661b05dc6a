//! Facts of the address flow: a register may hold a number, or an address in variables.

use smallvec::SmallVec;

use super::affine_form::AffineForm;
use crate::program::VarId;

/// The values that a register may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The variables whose addresses it may hold, in order.
    pub variables: SmallVec<[VarId; 2]>,
    /// The number; of an address, the offset from the start of the variable.
    pub form: AffineForm,
    /// True if it is computed from an address and may itself be none: a field of a descriptor, a part of an address.
    pub is_derived: bool,
}

impl Fact {
    /// A number that is no address.
    pub fn number(form: AffineForm) -> Self {
        Self { variables: SmallVec::new(), form, is_derived: false }
    }

    /// An address in one of these variables.
    pub fn of(variables: &[VarId], form: AffineForm) -> Self {
        Self { variables: SmallVec::from_slice(variables), form, is_derived: false }
    }

    /// True if it is an address in a variable, or computed from one.
    pub fn is_address(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Joins `other` into it; true if it has changed.
    pub fn join(&mut self, other: &Fact) -> bool {
        let mut changed = false;
        // A number that is no address gives no offset in a variable.
        if self.is_address() == other.is_address() {
            changed |= self.form.join(&other.form);
        } else if other.is_address() {
            self.form = other.form.clone();
            changed = true;
        }
        for variable in &other.variables {
            if let Err(at) = self.variables.binary_search(variable) {
                self.variables.insert(at, *variable);
                changed = true;
            }
        }
        changed |= other.is_derived && !self.is_derived;
        self.is_derived |= other.is_derived;
        changed
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
        // The sum of two addresses is no address.
        sum.is_derived |= other.is_derived || (self.is_address() && other.is_address());
        sum
    }

    /// The difference of two.
    pub fn minus(&self, other: &Fact) -> Fact {
        match (self.is_address(), other.is_address()) {
            // A distance.
            (true, true) => Fact::number(AffineForm::unknown()),
            (false, true) => Fact { is_derived: true, ..other.clone() },
            (_, false) => Fact { form: self.form.plus(&other.form.negated()), ..self.clone() },
        }
    }
}

/// A value computed from two in an unknown way.
pub fn derived(a: &Fact, b: &Fact) -> Fact {
    let mut fact = with_unknown_offset(a, b);
    fact.is_derived |= fact.is_address();
    fact
}

/// An address near that of either, or a number.
pub fn with_unknown_offset(a: &Fact, b: &Fact) -> Fact {
    let mut fact = a.plus(b);
    fact.form = if fact.is_address() { AffineForm::unknown() } else { AffineForm::multiple_of(a.form.alignment().min(b.form.alignment())) };
    fact
}

/// `a & b`. A mask that keeps the upper bits rounds an address down.
pub fn masked(a: &Fact, b: &Fact) -> Fact {
    if a.is_address() || b.is_address() {
        let mask = a.form.as_constant().filter(|_| !a.is_address()).or(b.form.as_constant().filter(|_| !b.is_address()));
        return if mask.is_some_and(|mask| mask < 0) { with_unknown_offset(a, b) } else { derived(a, b) };
    }
    match (a.form.as_constant(), b.form.as_constant()) {
        (Some(a), Some(b)) => Fact::number(AffineForm::constant(a & b)),
        _ => Fact::number(AffineForm::multiple_of(a.form.alignment().max(b.form.alignment()))),
    }
}
