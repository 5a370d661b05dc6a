//! The memory that the lines access, and what a test calls it.

use super::place::{Place, signed};
use super::recording::Recording;
use super::refusal::Refusal;
use super::selection::Chosen;
use crate::debug::eval_context::{Buffer, EvalContext};
use crate::debug::focus::Focus;
use crate::debug::memory::{self, ByteRange};
use crate::debug::names::memory_name::element;
use crate::isa::Space;
use crate::machine::Machine;
use crate::program::{Pc, Program};

/// A location of the test.
pub(super) struct Location {
    place: Place,
    /// Its name in the test.
    pub name: String,
    /// What the debugger calls it.
    pub shown: String,
    /// The value before the first access.
    pub first: i64,
    /// The value that the run left.
    pub last: i64,
    /// Where it is accessed first in the test.
    pc: Pc,
    /// Where others write it in between.
    disturbed: Option<String>,
}

/// The locations of a test.
pub(super) struct Locations<'a> {
    buffers: &'a [Buffer],
    recording: &'a Recording,
    rows: Vec<Location>,
}

/// Words that the format has for itself.
const RESERVED: &[&str] = &["exists", "forall", "filter", "locations", "not", "final", "aliases"];

impl<'a> Locations<'a> {
    pub fn new(buffers: &'a [Buffer], recording: &'a Recording) -> Self {
        Self { buffers, recording, rows: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn rows(&self) -> &[Location] {
        &self.rows
    }

    /// What the test leaves out.
    pub fn notes(&self) -> Vec<String> {
        let disturbed = self.rows.iter().filter_map(|row| Some((row, row.disturbed.as_ref()?)));
        disturbed
            .map(|(row, place)| {
                format!("{} is also written at {place}, which is not in the test, between two accesses that are", row.shown)
            })
            .collect()
    }

    /// The name of the location that `thread` accesses at `pc`.
    pub fn name_of(
        &mut self,
        (program, machine, thread): (&Program, &Machine, &Chosen),
        pc: Pc,
        (space, address, bytes): (Space, u64, u32),
    ) -> Result<String, Refusal> {
        let focus = Focus { block: thread.block, warp: thread.warp, lane: thread.lane as u32, frame: 0 };
        let context = EvalContext::at(machine, focus).with_buffers(self.buffers);
        let found = memory::locate(&context, space, address, bytes.into()).map_err(|error| Refusal::new(pc, error.to_string()))?;
        let place = place_of(&found, bytes).ok_or_else(|| Refusal::new(pc, "it accesses memory that threads do not share"))?;
        if let Some(known) = self.rows.iter().find(|row| row.place == place) {
            return Ok(known.name.clone());
        }
        let shown = element(&context, space, address).name;
        if let Some(other) = self.rows.iter().find(|row| row.place.overlaps(&place)) {
            return Err(Refusal::new(
                pc,
                format!(
                    "it accesses {bytes} bytes at {shown}, and {} {} bytes at {}: locations have one size",
                    program.place(other.pc),
                    other.place.bytes,
                    other.shown
                ),
            ));
        }
        let name = self.free_name(&shown, &place);
        let first = self.recording.first.get(&place).copied().or_else(|| place.read(machine)).unwrap_or(0);
        let last = self.recording.last.get(&place).copied().unwrap_or(first);
        let disturbed = self.recording.disturbed.get(&place).map(|pc| program.place(*pc));
        let (first, last) = (signed(first, bytes), signed(last, bytes));
        self.rows.push(Location { place, name: name.clone(), shown, first, last, pc, disturbed });
        Ok(name)
    }

    /// An identifier that no location has yet.
    fn free_name(&self, shown: &str, place: &Place) -> String {
        let base = identifier(shown);
        let of_block = place.block.map(|[x, y, z]| format!("{base}_of_{x}_{y}_{z}"));
        let numbered = (2_u32..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(of_block).chain(numbered);
        names.find(|name| self.rows.iter().all(|row| row.name != *name)).unwrap_or(base)
    }
}

fn place_of(found: &ByteRange, bytes: u32) -> Option<Place> {
    let block = match found.space {
        Space::Global | Space::Generic => None,
        Space::Shared | Space::SharedCluster => Some(found.owner.block),
        Space::Const | Space::Local | Space::Param | Space::ParamFunc => return None,
    };
    Some(Place { block, address: found.address, bytes })
}

/// `data_3` of `data[3]`.
fn identifier(shown: &str) -> String {
    let words: Vec<&str> =
        shown.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').filter(|word| !word.is_empty()).collect();
    let name = words.join("_");
    let is_register = name.strip_prefix('r').is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if begins_well && !is_register && !RESERVED.contains(&name.as_str()) { name } else { format!("m_{name}") }
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn names_of_memory_become_identifiers() {
        let names = ["flag", "data[3]", "m[1][7]", "smem+0x40", "0x7f00", "r0", "exists", "_ZN1kE4tile"];
        let identifiers = ["flag", "data_3", "m_1_7", "smem_0x40", "m_0x7f00", "m_r0", "m_exists", "m__ZN1kE4tile"];
        assert_eq!(names.map(identifier), identifiers);
    }
}
