//! The words of a remedy: what is missing, and what to change.

use std::collections::BTreeSet;

use super::remedy::Change;
use crate::isa::{Ordering, Scope};
use crate::program::{Pc, Program};
use crate::weak::{Strength, Strengthening};

/// What changes say that is to be changed.
pub(super) fn advice(program: &Program, changes: &[&Change]) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut accesses = BTreeSet::new();
    for change in changes {
        match change.also {
            None => said.push(change.advice(program)),
            Some(also) if accesses.insert(also.code) => {
                let same: Vec<&Change> = changes.iter().copied().filter(|other| other.is_also_at(also.code)).collect();
                said.push(alternatives(program, &same));
            }
            Some(_) => {}
        }
    }
    said.dedup();
    said.join(", and ")
}

/// What one access can do as well as fences: `make line 12 a release of the scope .gpu, or put fence.acq_rel.gpu before line 12`
fn alternatives(program: &Program, changes: &[&Change]) -> String {
    let Some(also) = changes.first().and_then(|change| change.also) else { return String::new() };
    let ordering = program.code[also.code as usize].op.access().map_or(Ordering::Weak, |access| access.ordering);
    let has = |strength: Strength| changes.iter().any(|change| change.also.is_some_and(|also| also.strength == strength));
    let (acquires, releases) = (ordering.acquires() || has(Strength::Acquire), ordering.releases() || has(Strength::Release));
    let what = if acquires && releases {
        "acq_rel"
    } else if acquires {
        "an acquire"
    } else {
        "a release"
    };
    let line = |code: u32| program.line(Pc(code));
    let scope = changes.iter().map(|change| change.strengthening.scope).max().unwrap_or_default();
    let place = |change: &&Change| {
        let side = if matches!(change.strengthening.strength, Strength::FenceAfter(_)) { "after" } else { "before" };
        format!("{side} line {}", line(change.strengthening.code))
    };
    let places: Vec<String> = changes.iter().map(place).collect();
    let (fence, places) = (fence_word((Ordering::AcqRel, scope)), places.join(" and "));
    format!("make line {} {what} of the scope .{}, or put {fence} {places}", line(also.code), scope.word())
}

/// What is missing without changes.
pub(super) fn missing(program: &Program, changes: &[&Change]) -> String {
    let mut said: Vec<String> = changes.iter().map(|change| change.missing(program)).collect();
    said.dedup();
    said.join(", and ")
}

/// `fence.sc.gpu`
fn fence_word((ordering, scope): (Ordering, Scope)) -> String {
    format!("fence.{}.{}", ordering.word(), scope.word())
}

impl Change {
    /// `put fence.sc.gpu between line 12 and line 14`
    fn advice(&self, program: &Program) -> String {
        let line = |code: u32| program.line(Pc(code));
        let Strengthening { code, strength, scope } = self.strengthening;
        let (own, word) = (line(code), scope.word());
        match strength {
            Strength::Relaxed if self.is_weak(program) => format!("make line {own} relaxed or stronger, of the scope .{word}"),
            Strength::Relaxed => format!("widen the scope of line {own} to .{word}"),
            Strength::Acquire => format!("make line {own} an acquire of the scope .{word}"),
            Strength::Release => format!("make line {own} a release of the scope .{word}"),
            Strength::Fence(_) => {
                let changed = self.strengthening.of_fence(program.code[code as usize].op.memory_fence().unwrap_or_default());
                format!("make the fence of line {own} {}", fence_word(changed))
            }
            Strength::FenceBefore(ordering) => match self.first_line(program) {
                Some(first) if ordering == Ordering::SeqCst => {
                    format!("put {} between line {first} and line {own}", fence_word((ordering, scope)))
                }
                _ => format!("put {} before line {own}", fence_word((ordering, scope))),
            },
            Strength::FenceAfter(ordering) => format!("put {} after line {own}", fence_word((ordering, scope))),
        }
    }

    /// `no release orders line 11 before line 12`
    fn missing(&self, program: &Program) -> String {
        let line = |code: u32| program.line(Pc(code));
        let Strengthening { code, strength, scope } = self.strengthening;
        let own = line(code);
        match (strength, self.also.map(|also| also.strength)) {
            (Strength::Relaxed, _) if self.is_weak(program) => format!("line {own} is weak"),
            (Strength::Relaxed, _) => format!("the scope of line {own} is narrower than .{}", scope.word()),
            (Strength::Fence(_), _) => {
                let fence = fence_word(program.code[code as usize].op.memory_fence().unwrap_or_default());
                format!("the fence of line {own} is {fence}, which does not order enough")
            }
            (Strength::Acquire, _) | (Strength::FenceAfter(_), Some(_)) => format!("no acquire at line {own}, and no fence after it"),
            (Strength::Release, _) => format!("no release at line {own}, and no fence before it"),
            (Strength::FenceAfter(ordering), None) => format!("no fence.{} after line {own}", ordering.word()),
            (Strength::FenceBefore(ordering), also) => {
                let what = match also {
                    Some(Strength::Acquire) => "acquire".to_string(),
                    Some(Strength::Release) => "release".to_string(),
                    Some(_) | None => format!("fence.{}", ordering.word()),
                };
                match self.first_line(program) {
                    Some(first) => format!("no {what} orders line {first} before line {own}"),
                    None => format!("no {what} orders what comes before line {own}"),
                }
            }
        }
    }

    /// True if an access can do as well what it does.
    fn is_also_at(&self, code: u32) -> bool {
        self.also.is_some_and(|also| also.code == code)
    }

    /// The line of the first access that is to be ordered, if it is before this one in the text.
    fn first_line(&self, program: &Program) -> Option<u32> {
        let own = self.strengthening.code;
        self.after.iter().rfind(|first| **first < own).map(|first| program.line(Pc(*first)))
    }

    fn is_weak(&self, program: &Program) -> bool {
        program.code[self.strengthening.code as usize].op.access().is_none_or(|access| access.ordering == Ordering::Weak)
    }
}
