//! Functions in the place of their calls as locations: where they begin, and the frame that a stop there selects.

use super::location::Location;
use crate::debug::inlined;
use crate::debug::skip::is_path_called;
use crate::dwarf::{DebugInfo, LazyDebugInfo, ScopeKind};
use crate::program::{InlinedCall, Pc, Program, SourceLine, is_called};

/// The instructions with which a function called `name` begins in the place of its calls.
pub(super) fn entries(program: &Program, info: Option<&DebugInfo>, name: &str) -> Vec<Pc> {
    let names = program.inlined_functions.entries();
    let wanted: Vec<_> =
        names.filter(|(_, other)| other.as_deref().is_some_and(|other| is_called(other, name))).map(|(id, _)| id).collect();
    let is_wanted = |call: &InlinedCall| call.function.is_some_and(|id| wanted.contains(&id));
    let mut found = Vec::new();
    let mut before: Option<(Pc, &[InlinedCall])> = None;
    for (pc, calls) in &program.inlined_calls {
        // The calls around an instruction are innermost first: those of one place end alike.
        let is_next = |last: Pc| (last.0 + 1..pc.0).all(|between| !inlined::has_line(program, Pc(between)));
        let goes_on = |from: usize| before.is_some_and(|(last, around)| is_next(last) && around.ends_with(&calls[from..]));
        if (0..calls.len()).any(|from| is_wanted(&calls[from]) && !goes_on(from)) {
            found.push(*pc);
        }
        before = Some((*pc, calls));
    }
    if found.is_empty() {
        let scopes = info.into_iter().flat_map(|info| info.scopes.entries());
        let begins = scopes.filter_map(|(_, scope)| {
            let ScopeKind::Inlined { name: own, linkage_name, .. } = &scope.kind else { return None };
            let is_it = |other: &str| other == name || is_called(other, name);
            let is_named = linkage_name.as_deref().is_some_and(is_it) || own.as_deref().is_some_and(is_it);
            scope.code.iter().map(|code| Pc(code.start)).min().filter(|_| is_named)
        });
        found.extend(begins);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The names of the functions that stand in the place of calls, as the source has them.
pub(super) fn names(program: &Program) -> impl Iterator<Item = String> {
    let all = program.inlined_functions.entries();
    all.filter_map(|(_, name)| crate::program::plain_name(name.as_deref()?).map(str::to_string))
}

/// The frame that a stop at `pc` selects, for a breakpoint at the location `text`: where the location is the line of a call, or a function
/// with another one in it that begins there, that of the caller.
pub fn frame_of(text: &str, program: &Program, data: &LazyDebugInfo, pc: Pc) -> u32 {
    if !program.inlined_calls.contains_key(&pc) && program.debug_sections.is_empty() {
        return 0;
    }
    let frame = match Location::parse(text) {
        Ok(Location::Line { file: Some(file), line }) => {
            let calls = inlined::calls_at(program, data.get(program), pc);
            let own = program.source_line(pc);
            let lines = std::iter::once(own).chain(calls.iter().map(|call| call.at));
            let is_of_file =
                |place: &SourceLine| program.source_files.iter().any(|(number, name)| *number == place.file && is_path_called(name, &file));
            let after = |place: Option<SourceLine>| place.filter(|place| is_of_file(place) && place.line >= line).map(|place| place.line);
            lines.enumerate().filter_map(|(frame, place)| Some((after(place)?, frame))).min().map(|(_, frame)| frame)
        }
        Ok(Location::Name { name, .. }) => {
            let calls = inlined::calls_at(program, data.get(program), pc);
            let inlined = calls.iter().position(|call| call.function.as_deref().is_some_and(|own| is_called(own, &name)));
            // The body of a function may begin with another one in the place of its call.
            let own = program.function_at(pc).is_some_and(|id| is_called(&program.functions[id.index()].name, &name));
            inlined.or(own.then_some(calls.len()))
        }
        Ok(_) | Err(_) => None,
    };
    frame.unwrap_or(0) as u32
}
