//! Plans: text changes that are tried together, with their descriptions.

use super::patch::TextChange;
use super::statement::{Modifiers, rewritten};
use crate::debug::users_calls::place_with_line;
use crate::program::{Pc, Program};

/// Text changes, and their descriptions, one for each printed line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct FixPlan {
    pub changes: Vec<TextChange>,
    descriptions: Vec<Description>,
}

/// A line about changes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Description {
    /// In words.
    Words(String),
    /// Other modifiers for the opcode of a statement.
    Modifiers(Pc, Modifiers),
}

impl FixPlan {
    /// Changes with one description.
    pub fn new(changes: Vec<TextChange>, text: String) -> Self {
        Self { changes, descriptions: vec![Description::Words(text)] }
    }

    /// Other modifiers for the opcode at `pc`.
    pub fn modify(pc: Pc, modifiers: Modifiers) -> Self {
        Self { changes: vec![TextChange::Modify(pc, modifiers)], descriptions: vec![Description::Modifiers(pc, modifiers)] }
    }

    /// The changes of both. Those of one opcode are one change.
    pub fn with(&self, other: &Self) -> Self {
        let mut descriptions = self.descriptions.clone();
        for new in &other.descriptions {
            match descriptions.iter_mut().find_map(|own| Some((own.with(new)?, own))) {
                Some((both, own)) => *own = both,
                None => descriptions.push(new.clone()),
            }
        }
        Self { changes: self.changes.iter().chain(&other.changes).cloned().collect(), descriptions }
    }

    /// The descriptions, in words.
    pub fn texts(&self, program: &Program) -> Vec<String> {
        self.descriptions.iter().map(|description| description.text(program)).collect()
    }
}

impl Description {
    /// One description of both, if they are equal or of one opcode.
    fn with(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Modifiers(pc, own), Self::Modifiers(at, new)) if pc == at => Some(Self::Modifiers(*pc, own.with(*new)?)),
            (own, new) => (own == new).then(|| own.clone()),
        }
    }

    fn text(&self, program: &Program) -> String {
        match self {
            Self::Words(text) => text.clone(),
            Self::Modifiers(pc, modifiers) => {
                let current = program.opcode(*pc).map_or("", |opcode| &opcode.text);
                let text = rewritten(current, *modifiers, program);
                let change = text.map_or_else(|| format!("other modifiers of {current}"), |text| format!("{text} for {current}"));
                format!("{change} at {}", place_with_line(program, None, *pc))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Sources;
    use crate::isa::{Ordering, Scope};
    use crate::sema;

    const TEXT: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %p;
	.reg .b32 %r;
	ld.param.u64 %p, [p];
	atom.global.cta.exch.b32 %r, [%p], 1;
	st.global.b32 [%p], %r;
	ret;
}
";

    #[test]
    fn modifiers_of_one_opcode_are_one_change() {
        let program = sema::load(&mut Sources::default(), "k.ptx", TEXT).0;
        let Some(program) = program else { panic!("the module is right") };
        let order = |pc, ordering| FixPlan::modify(Pc(pc), Modifiers::semantics(ordering));
        let (released, wide) = (order(1, Ordering::Release), FixPlan::modify(Pc(1), Modifiers::scope(Scope::Gpu)));
        let texts = |one: &FixPlan, other: &FixPlan| one.with(other).texts(&program).join(", ");
        assert_eq!(texts(&released, &released), "atom.release.cta.global.exch.b32 for atom.global.cta.exch.b32 at k.ptx:9");
        assert_eq!(texts(&order(1, Ordering::Relaxed), &released), texts(&released, &released));
        assert_eq!(texts(&released, &wide), "atom.release.gpu.global.exch.b32 for atom.global.cta.exch.b32 at k.ptx:9");
        assert_eq!(texts(&released, &order(2, Ordering::Relaxed)).matches(" for ").count(), 2);
    }
}
