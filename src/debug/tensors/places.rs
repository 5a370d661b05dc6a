//! The places of the source that instructions come from, with the calls of inlined functions that Triton writes into comments:
//! `.loc 2 170 27 // standard.py:170:27 @[ k.py:114:42 ]`.

use crate::program::{Pc, Program};
use crate::ttgir::Place;

/// The places of the instructions of a function, innermost first; none for an instruction that comes from no place.
pub fn places(program: &Program, code: std::ops::Range<u32>) -> Vec<Vec<Place>> {
    let Some(file) = program.spans.get(code.start as usize).map(|span| span.source) else { return Vec::new() };
    let source = program.sources_text.file(file);
    let mut locs: Vec<(u32, Vec<Place>)> = Vec::new();
    for (line, number) in source.text().lines().zip(1_u32..).filter(|(line, _)| line.trim_start().starts_with(".loc")) {
        let chain = chain(line);
        let is_in_asm = || program.inline_asm_at(file, source.offset(number, 1)).is_some();
        if !(locs.last().is_some_and(|(_, before)| may_count(before, &chain)) && is_in_asm()) {
            locs.push((number, chain));
        }
    }
    code.map(|pc| {
        let line = program.line(Pc(pc));
        let last = locs.partition_point(|row| row.0 <= line).checked_sub(1);
        last.map_or_else(Vec::new, |last| locs[last].1.clone())
    })
    .collect()
}

/// True if a `.loc` in an `asm` statement may be one that LLVM writes for each line of its text: they count up from that of the statement.
fn may_count(before: &[Place], chain: &[Place]) -> bool {
    let (Some(before), Some(own)) = (before.first(), chain.first()) else { return false };
    (&before.file, before.column) == (&own.file, own.column) && before.line <= own.line
}

/// The places of a `.loc` with a comment; line 0 is no place.
fn chain(line: &str) -> Vec<Place> {
    let Some((_, comment)) = line.split_once("//") else { return Vec::new() };
    let places = comment.split("@[").map(|part| {
        let mut parts = part.trim_matches([' ', ']']).rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok().filter(|line| *line != 0)?;
        Some(Place { file: parts.next()?.to_string(), line, column, ..Place::default() })
    });
    places.collect::<Option<_>>().unwrap_or_default()
}
