//! The words of a remedy: what is missing, and what to change.

use std::collections::BTreeSet;

use super::remedy::{Change, fence_at};
use crate::isa::{Ordering, Scope};
use crate::program::{Pc, Program};
use crate::weak::{Strength, Strengthening};

/// What changes say that is to be changed.
pub(super) fn advice(program: &Program, changes: &[&Change]) -> String {
    let both = |change: &&&Change| {
        let other =
            |one: Strength, other: Strength| is_at(change, one) && changes.iter().any(|also| also.same_line(change) && is_at(also, other));
        other(Strength::Release, Strength::Acquire) || other(Strength::Acquire, Strength::Release)
    };
    let mut said: Vec<String> = changes.iter().filter(|change| !both(change)).map(|change| change.advice(program)).collect();
    said.dedup();
    let orderings = changes.iter().filter(both).filter(|change| is_at(change, Strength::Release)).filter_map(|change| change.also);
    said.extend(orderings.map(|also| {
        let (line, word) = (program.line(Pc(also.code)), also.scope.word());
        format!("make line {line} acq_rel of the scope .{word}, or put fence.acq_rel.{word} before and after line {line}")
    }));
    said.join(", and ")
}

fn is_at(change: &Change, strength: Strength) -> bool {
    change.also.is_some_and(|also| also.strength == strength)
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
    /// `make line 12 a release of the scope .gpu, or put fence.acq_rel.gpu before line 12`
    fn advice(&self, program: &Program) -> String {
        let line = |code: u32| program.line(Pc(code));
        let Strengthening { code, strength, scope } = self.strengthening;
        let (own, word) = (line(code), scope.word());
        let fence = match strength {
            Strength::Relaxed if self.is_weak(program) => return format!("make line {own} relaxed or stronger, of the scope .{word}"),
            Strength::Relaxed => return format!("widen the scope of line {own} to .{word}"),
            Strength::Acquire if self.ordering(program).releases() => return format!("make line {own} acq_rel of the scope .{word}"),
            Strength::Release if self.ordering(program).acquires() => return format!("make line {own} acq_rel of the scope .{word}"),
            Strength::Acquire => return format!("make line {own} an acquire of the scope .{word}"),
            Strength::Release => return format!("make line {own} a release of the scope .{word}"),
            Strength::Fence(_) => {
                let changed = self.strengthening.of_fence(fence_at(program, code).unwrap_or_default());
                return format!("make the fence of line {own} {}", fence_word(changed));
            }
            Strength::FenceBefore(ordering) => match self.first_line(program) {
                Some(first) if ordering == Ordering::SeqCst => {
                    format!("put {} between line {first} and line {own}", fence_word((ordering, scope)))
                }
                _ => format!("put {} before line {own}", fence_word((ordering, scope))),
            },
            Strength::FenceAfter(ordering) => format!("put {} after line {own}", fence_word((ordering, scope))),
        };
        match self.also {
            None => fence,
            Some(also) => {
                let other = Change { strengthening: also, after: BTreeSet::new(), also: None };
                format!("{}, or {fence}", other.advice(program))
            }
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
                let fence = fence_word(fence_at(program, code).unwrap_or_default());
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

    /// True if an access is to say what both order.
    fn same_line(&self, other: &Self) -> bool {
        self.also.map(|also| also.code) == other.also.map(|also| also.code)
    }

    /// The line of the first access that is to be ordered, if it is before this one in the text.
    fn first_line(&self, program: &Program) -> Option<u32> {
        let own = self.strengthening.code;
        self.after.iter().rfind(|first| **first < own).map(|first| program.line(Pc(*first)))
    }

    fn is_weak(&self, program: &Program) -> bool {
        self.ordering(program) == Ordering::Weak
    }

    /// What the access says.
    fn ordering(&self, program: &Program) -> Ordering {
        program.code[self.strengthening.code as usize].op.access().map_or(Ordering::Weak, |access| access.ordering)
    }
}
