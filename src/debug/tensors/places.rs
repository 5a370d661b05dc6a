//! The places of the source that instructions come from, with the calls of inlined functions that Triton writes into comments:
//! `.loc 2 170 27 // standard.py:170:27 @[ k.py:114:42 ]`.

use crate::program::{Pc, Program};
use crate::ttgir::Place;

/// The places of the instructions of a function, innermost first; none for an instruction that comes from no place.
pub fn places(program: &Program, code: std::ops::Range<u32>) -> Vec<Vec<Place>> {
    let Some(file) = program.spans.get(code.start as usize).map(|span| span.source) else { return Vec::new() };
    let text = program.sources_text.file(file).text();
    let is_loc = |line: &&str| line.trim_start().starts_with(".loc");
    let locs: Vec<(u32, Vec<Place>)> =
        text.lines().zip(1_u32..).filter(|(line, _)| is_loc(line)).map(|(line, number)| (number, chain(line))).collect();
    code.map(|pc| {
        let line = program.line(Pc(pc));
        let last = locs.partition_point(|row| row.0 <= line).checked_sub(1);
        last.map_or_else(Vec::new, |last| locs[last].1.clone())
    })
    .collect()
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
