//! Where a variable is at every instruction of its frame, for watchpoints and histories.

use std::ops::Range;

use super::SourceVariable;
use super::object::{ObjectPlace, Thread};
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::memory;
use crate::debug::target::{PartStorage, VariablePart, VariablePlace};
use crate::dwarf::{Location, LocationEntry, Operation, ScopeKind, Storage};
use crate::program::Pc;

/// Some bytes of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The first byte.
    pub offset: u32,
    /// The number of bytes.
    pub bytes: u32,
}

impl<'a> SourceVariable<'a> {
    /// The instructions at which a thread is in the frame of the variable: those of the function, or, of one in the place of its call, from
    /// its first to its last.
    pub fn frame_code(&self, context: &EvalContext<'a>, frame: &Frame<'a>) -> Range<u32> {
        let mut around = std::iter::successors(self.scope, |id| self.info.scopes[*id].parent).map(|id| &self.info.scopes[id]);
        match around.find(|scope| !matches!(scope.kind, ScopeKind::Block)) {
            Some(scope) if matches!(scope.kind, ScopeKind::Inlined { .. }) => {
                let first = scope.code.iter().map(|range| range.start).min().unwrap_or(0);
                first..scope.code.iter().map(|range| range.end).max().unwrap_or(0)
            }
            Some(_) | None => context.function(frame).code.clone(),
        }
    }

    /// Where these bytes of the variable are at the instructions of `code`, those of the frame `frame`. A location that values of registers
    /// decide is left out: it may be another one later.
    pub fn places(&self, context: &EvalContext<'a>, frame: &Frame<'a>, code: &Range<u32>, extract: Extract) -> Vec<VariablePlace> {
        // Compilers write several variables of one name for parts of one.
        let scope = self.scope.map(|id| &self.info.scopes[id]);
        let same = scope.into_iter().flat_map(|scope| &scope.variables).filter(|other| other.name == self.variable.name);
        let places = same.flat_map(|variable| {
            let own = SourceVariable { variable, ..*self };
            variable.locations.iter().filter_map(move |entry| own.place(context, frame, code, entry, extract))
        });
        places.collect()
    }

    fn place(
        &self,
        context: &EvalContext<'a>,
        frame: &Frame<'a>,
        code: &Range<u32>,
        entry: &LocationEntry,
        extract: Extract,
    ) -> Option<VariablePlace> {
        let holds = entry.code.clone().unwrap_or_else(|| code.clone());
        if is_computed(&entry.location) {
            return None;
        }
        // Names of registers are looked up where the location holds.
        let there = Frame { pc: Pc(holds.start), ..*frame };
        let thread = Thread { context, frame: Some(&there), variable: self };
        let storage = entry.location.evaluate(&thread).ok()?;
        Some(VariablePlace { code: holds, parts: thread.parts(&storage, extract)? })
    }
}

/// True if the location depends on the value of a register that may change.
fn is_computed(location: &Location) -> bool {
    location.0.iter().any(|operation| match operation {
        Operation::RegisterValue { name, .. } => !matches!(&**name, "%SP" | "%SPL") && !name.starts_with("%Depot"),
        Operation::Load { .. } => true,
        _ => false,
    })
}

impl Thread<'_, '_> {
    /// The parts that these bytes of an object at `storage` consist of.
    fn parts(&self, storage: &Storage, Extract { offset, bytes }: Extract) -> Option<Vec<VariablePart>> {
        let one = |storage: PartStorage| Some(vec![VariablePart { bytes, storage }]);
        match storage {
            Storage::Register(_) | Storage::Memory(_) => match self.place(storage).ok()? {
                ObjectPlace::Register(register) => {
                    let slot = register.slot?.in_frame(self.frame?.base.slot(register.bank));
                    one(PartStorage::Register { bank: register.bank, slot, width: register.width, offset })
                }
                ObjectPlace::Memory(space, address) => {
                    let address = address.wrapping_add(u64::from(offset));
                    let found = memory::locate(self.context, space, address, u64::from(bytes)).ok()?;
                    one(PartStorage::Memory { space: found.space, address: found.address })
                }
                ObjectPlace::Value(_) | ObjectPlace::Kept(_) => None,
            },
            Storage::Value(value) => one(known(&value.to_le_bytes(), Extract { offset, bytes })),
            Storage::Bytes(value) => one(known(value, Extract { offset, bytes })),
            Storage::Pieces(pieces) => {
                let (mut parts, mut start) = (Vec::new(), 0);
                for (piece, length) in pieces {
                    let end = u32::try_from(*length).ok().and_then(|length| length.checked_add(start))?;
                    let (from, to) = (start.max(offset), end.min(offset.checked_add(bytes)?));
                    if from < to {
                        let part = Extract { offset: from - start, bytes: to - from };
                        match piece {
                            Some(piece) => parts.extend(self.parts(piece, part)?),
                            None => parts.push(VariablePart { bytes: part.bytes, storage: PartStorage::Removed }),
                        }
                    }
                    start = end;
                }
                Some(parts)
            }
        }
    }
}

/// These bytes of a value that has no place.
fn known(value: &[u8], Extract { offset, bytes }: Extract) -> PartStorage {
    let end = offset.saturating_add(bytes) as usize;
    value.get(offset as usize..end).map_or(PartStorage::Removed, |bytes| PartStorage::Known(bytes.to_vec()))
}
