//! Reads the sections of all modules of a program: [`section`](super::section) their bytes, [`entries`](super::entries) the tree of
//! entries, [`types`] and [`scopes`] what they say.

use std::collections::BTreeMap;

use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};

use super::address::Addresses;
use super::assigned::SourceText;
use super::entries::Entries;
use super::error::DwarfError;
use super::model::DebugInfo;
use super::scope_index::ScopeIndex;
use super::section::{LINES, Sections};
use super::{paths, qualified, scopes, types};
use crate::base::{SourceId, Span};
use crate::program::Program;

/// A line table of version 2 without lines: `.loc` says the lines of a module.
const NO_LINES: &[u8] = &[13, 0, 0, 0, 2, 0, 7, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0];

/// The debug data of all modules of `program`. What cannot be read is left out, and said in the problems.
pub(super) fn read(program: &Program, source: Option<&dyn SourceText>) -> DebugInfo {
    let mut info = DebugInfo::default();
    for source in &program.modules {
        if let Err(error) = read_module(program, *source, &mut info) {
            info.problems.push(error);
        }
    }
    qualified::read(&mut info);
    paths::follow(program, &mut info, source);
    info.index = ScopeIndex::new(&info.scopes);
    info
}

fn read_module(program: &Program, source: SourceId, info: &mut DebugInfo) -> Result<(), DwarfError> {
    let spans = program.debug_sections.iter().filter(|span| span.source == source);
    let texts: Vec<(Span, &str)> = spans.map(|span| (*span, program.sources_text.text(*span))).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let addresses = Addresses::new(program, source);
    let sections = Sections::evaluate(&texts, &addresses)?;
    let slice = |id: SectionId| {
        let bytes = if id.name() == LINES { NO_LINES } else { sections.get(id.name()) };
        EndianSlice::new(bytes, LittleEndian)
    };
    let dwarf = Dwarf::load(|id| Ok::<_, DwarfError>(slice(id)))?;
    let mut entries =
        Entries { dwarf, units: Vec::new(), nodes: Vec::new(), by_offset: BTreeMap::new(), types: BTreeMap::new(), addresses: &addresses };
    entries.read(sections.relative, &mut info.problems);
    types::read(&mut entries, info);
    scopes::read(&entries, info);
    Ok(())
}
