//! The calls that an inlined function lies in, by the `.loc`s of a body.
//!
//! nvcc writes the `.loc` of a call once, and not again before copies of the code: of several calls that are known for a line the one is
//! meant that the next `.loc` of the calling function names, or the last one.
//!
//! ```text
//! .loc 1 54 3, function_name dot, inlined_at 1 87 3          line 87 is of hit(), which is in the place of calls at 225, 226 and 227
//! .loc 1 89 3, function_name hit, inlined_at 1 225 7         hit() goes on: it was the call at 225
//! ```

use std::collections::BTreeMap;

use super::inlined::CALLS_MAX;
use crate::program::{InlinedCall, InlinedFunctionId, SourceLine};
use crate::syntax::tree::{Block, Loc, Statement};

/// Most `.loc`s that are looked at before and after one.
const NEAR: usize = 1024;

/// The `.loc`s of a body.
#[derive(Default)]
pub(super) struct InlineSites {
    /// All of them in order: the line, and the call that it lies in.
    locs: Vec<(SourceLine, Option<InlinedCall>)>,
    /// The number of those that have been passed.
    passed: usize,
    /// The calls that the lines of those lie in, in order.
    calls: BTreeMap<SourceLine, Vec<Option<InlinedCall>>>,
}

/// The line that a `.loc` or an `inlined_at` names.
pub(super) fn source_line((file, line, column): (u32, u32, u32)) -> SourceLine {
    SourceLine { file, line, column }
}

/// All `.loc`s of a body, in order.
pub(super) fn locs<'b, 'a>(body: &'b Block<'a>) -> Vec<&'b Loc<'a>> {
    body.flattened().filter_map(|statement| if let Statement::Loc(loc) = statement { Some(loc) } else { None }).collect()
}

impl InlineSites {
    /// Those of a body, with the functions that they name.
    pub(super) fn new(locs: &[(&Loc<'_>, Option<InlinedFunctionId>)]) -> Self {
        let site = |(loc, function): &(&Loc<'_>, Option<InlinedFunctionId>)| {
            let call = loc.inlined_at.map(|at| InlinedCall { function: *function, at: source_line(at) });
            (source_line((loc.file, loc.line, loc.column)), call)
        };
        Self { locs: locs.iter().map(site).collect(), passed: 0, calls: BTreeMap::new() }
    }

    /// Passes the next `.loc`: the calls that its line lies in, innermost first.
    pub(super) fn pass(&mut self) -> Vec<InlinedCall> {
        let here = self.passed;
        let Some((line, call)) = self.locs.get(here).copied() else { return Vec::new() };
        self.passed += 1;
        let mut chain: Vec<InlinedCall> = call.into_iter().collect();
        while let Some(inner) = chain.last().filter(|_| chain.len() < CALLS_MAX)
            && let Some(outer) = self.call_around(inner.at, here, chain.len())
        {
            chain.push(outer);
        }
        let known = self.calls.entry(line).or_default();
        known.retain(|other| *other != call);
        known.push(call);
        chain
    }

    /// The call that the line of a call lies in, which is the `number`th around the `.loc` at `here`.
    fn call_around(&self, line: SourceLine, here: usize, number: usize) -> Option<InlinedCall> {
        let known = self.calls.get(&line)?;
        let last = (*known.last()?)?;
        // The `.loc`s of the calls stand before it, if they were not written earlier.
        let is_written = here.checked_sub(number).is_some_and(|before| self.locs[before].0 == line);
        if known.len() == 1 || is_written {
            return Some(last);
        }
        let is_known = |(_, call): &&(SourceLine, Option<InlinedCall>)| call.is_some() && known.contains(call);
        let next = self.locs[here + 1..].iter().take(NEAR).find(is_known);
        let before = self.locs[..here].iter().rev().take(NEAR).find(is_known);
        // The code of a call goes on with later lines.
        let goes_on = next.filter(|(at, _)| at.line >= line.line).or(before.filter(|(at, _)| at.line <= line.line));
        goes_on.or(next).map_or(Some(last), |(_, call)| *call)
    }
}
