//! Names and their scopes: the module, a function, and the blocks nested in it.
//!
//! All live declarations are on one stack, innermost scope on top; two maps give the latest declaration of a name, which has the index of
//! the one it hides. A parameterized declaration `%r<100>` (a *family*) is one entry, found by its prefix `%r`; so a look-up needs two
//! probes at any depth, and closing a scope pops its entries.

use std::collections::HashMap;

use super::decode_context::NumberedRegister;
use crate::base::{Diagnostic, Span};
use crate::program::{FuncId, Pc, TableId, VarId};
use crate::syntax::tree::Name;

/// A declared symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A register, or a vector of `components` registers in adjacent slots.
    Register {
        /// The first component.
        first: NumberedRegister,
        /// 1, 2 or 4.
        components: u32,
    },
    /// A variable of the module or of the function.
    Variable(VarId),
    /// A formal parameter in `.param` space: an index into `Function::params`.
    Param(usize),
    /// A return parameter in `.param` space: an index into `Function::results`.
    Result(usize),
    /// A function or kernel.
    Function(FuncId),
    /// A label before an instruction.
    Label(Pc),
    /// The label of `.branchtargets`.
    BranchTable(TableId),
    /// The label of `.calltargets`, numbered within the function.
    CallTargets(usize),
    /// The label of `.callprototype`, numbered within the function.
    Prototype(usize),
}

impl Symbol {
    /// The noun with its article, in messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Symbol::Register { .. } => "a register",
            Symbol::Variable(_) => "a variable",
            Symbol::Param(_) | Symbol::Result(_) => "a parameter",
            Symbol::Function(_) => "a function",
            Symbol::Label(_) => "a label",
            Symbol::BranchTable(_) => "a list of branch targets",
            Symbol::CallTargets(_) => "a list of call targets",
            Symbol::Prototype(_) => "a call prototype",
        }
    }
}

/// Predefined identifiers (PTX ISA, "Identifiers" and "Predefined Constants").
const RESERVED: &[&str] = &["_", "WARP_SZ"];

/// The error for a name that cannot be declared.
pub(super) fn check_reserved(name: Name<'_>) -> Result<(), Diagnostic> {
    if RESERVED.contains(&name.text) {
        return Err(Diagnostic::error("name", name.span, format!("'{}' is reserved and cannot be declared", name.text)));
    }
    Ok(())
}

/// Number of slots of a register: two for `.b128`.
pub(super) fn slots_of(register: NumberedRegister) -> u32 {
    register.ty.bits().div_ceil(64).max(1)
}

/// A live declaration.
#[derive(Clone, Copy, Debug)]
struct Declared<'a> {
    /// The name, or the prefix of a family.
    name: &'a str,
    span: Span,
    symbol: Symbol,
    /// Number of registers of `%r<100>`.
    count: Option<u32>,
    /// The declaration of the same name that this one hides.
    hidden: Option<usize>,
}

/// The names in scope at the current position.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    singles: HashMap<&'a str, usize>,
    families: HashMap<&'a str, usize>,
    /// Live declarations, innermost scope last.
    live: Vec<Declared<'a>>,
    /// The start of each open scope in `live`, except that of the module.
    starts: Vec<usize>,
}

impl<'a> Scopes<'a> {
    /// The symbol that `name` denotes in the current scope, and the span of its declaration.
    pub(super) fn find(&self, name: &str) -> Option<(Symbol, Span)> {
        let single = self.singles.get(name).copied();
        match (single, self.find_numbered(name)) {
            (None, None) => None,
            (Some(index), None) => Some((self.live[index].symbol, self.live[index].span)),
            // The later of two live declarations is the inner one.
            (Some(index), Some((family, _))) if index > family => Some((self.live[index].symbol, self.live[index].span)),
            (_, Some((family, number))) => Some((nth(self.live[family].symbol, number), self.live[family].span)),
        }
    }

    /// The innermost `%r<N>` that declares `name`, and the number of the register.
    fn find_numbered(&self, name: &str) -> Option<(usize, u32)> {
        let (prefix, number) = split_number(name)?;
        let mut index = self.families.get(prefix).copied();
        while let Some(family) = index {
            if self.live[family].count.is_some_and(|count| number < count) {
                return Some((family, number));
            }
            index = self.live[family].hidden;
        }
        None
    }

    /// Declares `name` in the innermost scope; with a `count`, the registers `name0` to `name(count - 1)`.
    ///
    /// # Errors
    /// The name is declared in this scope already.
    pub(super) fn declare(&mut self, name: Name<'a>, symbol: Symbol, count: Option<u32>) -> Result<(), Diagnostic> {
        check_reserved(name)?;
        if let Some((clash, earlier)) = self.clash(name.text, count) {
            let message = format!("'{clash}' is declared twice in this scope");
            return Err(Diagnostic::error("duplicate", name.span, message).with_label(earlier, format!("'{clash}' is first declared here")));
        }
        let names = if count.is_some() { &mut self.families } else { &mut self.singles };
        let hidden = names.insert(name.text, self.live.len());
        self.live.push(Declared { name: name.text, span: name.span, symbol, count, hidden });
        Ok(())
    }

    /// The name that a new declaration would declare a second time in the innermost scope, and the span of the first.
    fn clash(&self, name: &str, count: Option<u32>) -> Option<(String, Span)> {
        let start = self.starts.last().copied().unwrap_or(0);
        let here = |index: Option<usize>| index.filter(|index| *index >= start).map(|index| self.live[index].span);
        let Some(count) = count else {
            let span = here(self.singles.get(name).copied()).or_else(|| here(self.find_numbered(name).map(|found| found.0)))?;
            return Some((name.to_string(), span));
        };
        if let Some(span) = here(self.families.get(name).copied()) {
            return Some((format!("{name}<{count}>"), span));
        }
        let single = |text: &str| here(self.singles.get(text).copied()).map(|span| (text.to_string(), span));
        let local = &self.live[start..];
        if local.len() < count as usize {
            let numbered = |text: &str| split_number(text).is_some_and(|(prefix, number)| prefix == name && number < count);
            local.iter().filter(|declared| declared.count.is_none() && numbered(declared.name)).find_map(|declared| single(declared.name))
        } else {
            (0..count).find_map(|number| single(&format!("{name}{number}")))
        }
    }

    /// Opens a scope inside the innermost one.
    pub(super) fn open(&mut self) {
        self.starts.push(self.live.len());
    }

    /// Closes the innermost scope and removes its declarations.
    pub(super) fn close(&mut self) {
        let start = self.starts.pop().unwrap_or(0);
        for declared in self.live.drain(start..).rev() {
            let names = if declared.count.is_some() { &mut self.families } else { &mut self.singles };
            match declared.hidden {
                Some(hidden) => names.insert(declared.name, hidden),
                None => names.remove(declared.name),
            };
        }
    }

    /// Names in scope, except those of parameterized declarations.
    pub(super) fn singles(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.live.iter().filter(|declared| declared.count.is_none()).map(|declared| declared.name)
    }

    /// The prefix and size of the innermost family for which the number of `name` is too large: `%r12` with `%r<10>`.
    pub(super) fn outgrown_family(&self, name: &str) -> Option<(&'a str, u32)> {
        let (prefix, _) = split_number(name)?;
        let family = self.live[*self.families.get(prefix)?];
        Some((family.name, family.count?))
    }
}

/// The register `number` of a family whose first is `symbol`.
fn nth(symbol: Symbol, number: u32) -> Symbol {
    match symbol {
        Symbol::Register { first, components } => {
            let number = first.number + number * components * slots_of(first);
            Symbol::Register { first: NumberedRegister { number, ..first }, components }
        }
        other @ (Symbol::Variable(_)
        | Symbol::Param(_)
        | Symbol::Result(_)
        | Symbol::Function(_)
        | Symbol::Label(_)
        | Symbol::BranchTable(_)
        | Symbol::CallTargets(_)
        | Symbol::Prototype(_)) => other,
    }
}

/// Splits `%r12` into `%r` and 12; `None` if the name does not end with a number.
fn split_number(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let number = name.get(prefix.len()..)?.parse().ok()?;
    Some((prefix, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceId;
    use crate::isa::ScalarType;
    use crate::program::Bank;

    fn name(text: &str, at: u32) -> Name<'_> {
        Name { text, span: Span::new(SourceId(0), at, at + 1) }
    }

    fn register(number: u32) -> Symbol {
        Symbol::Register { first: NumberedRegister { bank: Bank::B32, number, ty: ScalarType::B32 }, components: 1 }
    }

    #[test]
    fn an_inner_family_hides_only_the_numbers_it_has() {
        let mut scopes = Scopes::default();
        scopes.open();
        assert!(scopes.declare(name("%r", 0), register(100), Some(10)).is_ok());
        scopes.open();
        assert!(scopes.declare(name("%r", 1), register(200), Some(5)).is_ok());
        assert_eq!(scopes.find("%r4").map(|found| found.0), Some(register(204)));
        assert_eq!(scopes.find("%r7").map(|found| found.0), Some(register(107)));
        assert_eq!(scopes.find("%r10"), None);
        scopes.close();
        assert_eq!(scopes.find("%r4").map(|found| found.0), Some(register(104)));
    }

    #[test]
    fn a_single_register_and_a_family_clash_in_one_scope_only() {
        let mut scopes = Scopes::default();
        scopes.open();
        assert!(scopes.declare(name("%r5", 0), register(0), None).is_ok());
        assert!(scopes.declare(name("%r", 1), register(1), Some(6)).is_err());
        assert!(scopes.declare(name("%r", 1), register(1), Some(5)).is_ok());
        assert!(scopes.declare(name("%r3", 2), register(1), None).is_err());
        scopes.open();
        assert!(scopes.declare(name("%r3", 2), register(9), None).is_ok());
        assert_eq!(scopes.find("%r3").map(|found| found.0), Some(register(9)));
    }
}
