//! Entries of units, in order, each with the index of its parent.
//!
//! The tree is walked without recursion, since a hostile file may nest it as deep as it likes.

use std::collections::BTreeMap;

use gimli::{DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian};

use super::address::Addresses;
use super::error::DwarfError;
use super::model::TypeId;

/// A slice of a section.
pub(super) type Slice<'a> = EndianSlice<'a, LittleEndian>;
/// An entry of a unit.
pub(super) type Entry<'a> = DebuggingInformationEntry<Slice<'a>, usize>;

/// Most entries of a program.
const ENTRIES_MAX: usize = 1 << 24;

/// An entry with its place in the tree.
pub(super) struct Node<'a> {
    pub entry: Entry<'a>,
    /// Index of the entry that contains it; none for that of a unit.
    pub parent: Option<usize>,
    /// Index of its unit.
    pub unit: usize,
}

/// A unit with what depends on the module.
pub(super) struct Unit<'a> {
    pub unit: gimli::Unit<Slice<'a>>,
    /// Where it starts in `.debug_info`.
    pub start: usize,
}

/// All entries of one module.
pub(super) struct Entries<'a, 'p> {
    pub dwarf: Dwarf<Slice<'a>>,
    pub units: Vec<Unit<'a>>,
    pub nodes: Vec<Node<'a>>,
    /// The entries by their offset in `.debug_info`.
    pub by_offset: BTreeMap<usize, usize>,
    /// The types of the entries that are types.
    pub types: BTreeMap<usize, TypeId>,
    pub addresses: &'a Addresses<'p>,
}

impl<'a> Entries<'a, '_> {
    /// Reads all units; a unit that cannot be read to its end keeps the entries before.
    pub fn read(&mut self, are_lists_relative: bool, problems: &mut Vec<DwarfError>) {
        let mut headers = self.dwarf.units();
        loop {
            let header = match headers.next() {
                Ok(Some(header)) => header,
                Ok(None) => return,
                Err(error) => return problems.push(error.into()),
            };
            let start = header.debug_info_offset().map_or(0, |offset| offset.0);
            match self.dwarf.unit(header) {
                Ok(mut unit) => {
                    // A list whose addresses are all labels has no base: a compiler for PTX cannot subtract one.
                    if !are_lists_relative {
                        unit.low_pc = 0;
                    }
                    if let Err(error) = self.read_unit(&unit, start) {
                        problems.push(error.into());
                    }
                    self.units.push(Unit { unit, start });
                }
                Err(error) => problems.push(error.into()),
            }
        }
    }

    fn read_unit(&mut self, unit: &gimli::Unit<Slice<'a>>, start: usize) -> gimli::Result<()> {
        let mut raw = unit.entries_raw(None)?;
        let mut parents: Vec<usize> = Vec::new();
        while !raw.is_empty() && self.nodes.len() < ENTRIES_MAX {
            let mut entry = Entry::null();
            if !raw.read_entry(&mut entry)? {
                continue;
            }
            parents.truncate(usize::try_from(entry.depth).unwrap_or(0));
            let index = self.nodes.len();
            self.by_offset.insert(start + entry.offset.0, index);
            let node = Node { entry, parent: parents.last().copied(), unit: self.units.len() };
            parents.push(index);
            self.nodes.push(node);
        }
        Ok(())
    }
}
