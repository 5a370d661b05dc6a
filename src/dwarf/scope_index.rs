//! The scopes by their instructions: what is asked of one function does not look at those of the others.

use std::ops::Range;

use super::model::{Scope, ScopeId};
use crate::base::IdVec;
use crate::program::Pc;

/// The ranges of instructions of all scopes.
#[derive(Debug, Default)]
pub(super) struct ScopeIndex {
    /// In order of their first instructions.
    ranges: Vec<(Range<u32>, ScopeId)>,
    /// For each range, the greatest end of those up to it: no range before one whose number is small holds a later instruction.
    ends: Vec<u32>,
}

impl ScopeIndex {
    /// The index of `scopes`.
    pub fn new(scopes: &IdVec<ScopeId, Scope>) -> Self {
        let of_scope = |(id, scope): (ScopeId, &'_ Scope)| scope.code.iter().map(move |code| (code.clone(), id)).collect::<Vec<_>>();
        let mut ranges: Vec<(Range<u32>, ScopeId)> = scopes.entries().flat_map(of_scope).collect();
        ranges.sort_by_key(|(code, id)| (code.start, *id));
        let ends = ranges.iter().scan(0, |end, (code, _)| {
            *end = code.end.max(*end);
            Some(*end)
        });
        Self { ends: ends.collect(), ranges }
    }

    /// The scopes that hold the instruction, in order of the data.
    pub fn holding(&self, pc: Pc) -> Vec<ScopeId> {
        let after = self.ranges.partition_point(|(code, _)| code.start <= pc.0);
        let reaching = (0..after).rev().take_while(|index| self.ends[*index] > pc.0);
        let mut found: Vec<ScopeId> =
            reaching.map(|index| &self.ranges[index]).filter(|(code, _)| code.contains(&pc.0)).map(|(_, id)| *id).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The scopes with a range that begins in `code`, in order of the data.
    pub fn beginning_in(&self, code: &Range<u32>) -> Vec<ScopeId> {
        let first = self.ranges.partition_point(|(other, _)| other.start < code.start);
        let begin = self.ranges[first..].iter().take_while(|(other, _)| other.start < code.end);
        let mut found: Vec<ScopeId> = begin.map(|(_, id)| *id).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dwarf::ScopeKind;

    #[test]
    fn scopes_are_found_by_their_instructions_alone() {
        let scope = |code: &[(u32, u32)]| Scope {
            kind: ScopeKind::Block,
            code: code.iter().map(|(start, end)| *start..*end).collect(),
            parent: None,
            variables: Vec::new(),
            frame_base: None,
            result: None,
        };
        let all = [&[(10, 20)][..], &[(12, 14), (16, 18)], &[(0, 10)], &[(2, 3)], &[(20, 30), (5, 6)], &[(13, 17)]];
        let scopes: IdVec<ScopeId, Scope> = all.iter().map(|code| scope(code)).collect();
        let index = ScopeIndex::new(&scopes);
        for pc in (0..32).map(Pc) {
            let expected: Vec<ScopeId> = scopes.entries().filter(|(_, scope)| scope.contains(pc)).map(|(id, _)| id).collect();
            assert_eq!(index.holding(pc), expected, "{pc:?}");
        }
        let numbers = |code: Range<u32>| index.beginning_in(&code).into_iter().map(ScopeId::index).collect::<Vec<_>>();
        assert_eq!((numbers(10..20), numbers(0..10), numbers(30..40)), (vec![0, 1, 5], vec![2, 3, 4], vec![]));
    }
}
