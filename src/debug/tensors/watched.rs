//! Where the elements of a variable are that a thread holds, at every instruction, for watchpoints and histories.

use std::ops::Range;

use super::contents::{Meaning, State, Variable};
use super::reader::place;
use super::{Part, Tensors};
use crate::ttgir::{LinearLayout, ValueId, ValueType};

/// A variable whose elements are in registers.
#[derive(Clone, Debug)]
pub struct Watched {
    /// A value that it has: its type and its layout are those of all.
    pub value: ValueId,
    /// The instructions at which all elements of a thread are in registers, with these.
    pub places: Vec<(Range<u32>, Vec<Part>)>,
}

impl Tensors {
    /// Where the elements of the variable `name` are; none if it is in no registers. Of values in several layouts those count that have the
    /// one at the instruction `pc`, or else the first.
    pub fn watched(&self, name: &str, pc: u32) -> Option<Watched> {
        let variable = self.contents().rules().variable(name)?;
        let mut found: Vec<(u32, ValueId, Vec<Part>)> = Vec::new();
        self.contents().walk(&self.code, |at, state| {
            found.extend(self.elements(variable, state).map(|(value, parts)| (at, value, parts)));
        });
        let value = found.iter().find(|(at, ..)| *at == pc).or(found.first())?.1;
        let mut places: Vec<(Range<u32>, Vec<Part>)> = Vec::new();
        for (at, _, parts) in found.into_iter().filter(|(_, other, _)| self.is_laid_out_alike(value, *other)) {
            match places.last_mut() {
                Some((code, last)) if code.end == at && *last == parts => code.end = at + 1,
                _ => places.push((at..at + 1, parts)),
            }
        }
        Some(Watched { value, places })
    }

    /// The value that a variable has in this state and the registers of its elements, if these hold all.
    fn elements(&self, variable: Variable, state: &State) -> Option<(ValueId, Vec<Part>)> {
        let Meaning::Value { value, .. } = state.meanings.get(&variable)? else { return None };
        self.same(self.module.resolved(*value)).into_iter().find_map(|value| {
            let count = self.held(value).layout.as_ref().map_or(1, LinearLayout::registers);
            let mut parts: Vec<Option<Part>> = vec![None; count as usize];
            for ((bank, slot), cell) in &state.cells {
                for element in cell.elements.iter().filter(|element| element.value == value) {
                    if let Some(part) = parts.get_mut(element.number as usize) {
                        *part = Some(Part { bank: *bank, slot: *slot, shift: element.shift, bits: element.bits });
                    }
                }
            }
            Some((value, parts.into_iter().collect::<Option<_>>()?))
        })
    }

    fn is_laid_out_alike(&self, a: ValueId, b: ValueId) -> bool {
        let (a, b) = (&self.module.value(a).ty, &self.module.value(b).ty);
        match (a, b) {
            (ValueType::Tensor(x), ValueType::Tensor(y)) => {
                (&x.shape, x.element, self.module.written_layout(x)) == (&y.shape, y.element, self.module.written_layout(y))
            }
            _ => a == b,
        }
    }

    /// The indices of the element in register `register` of the layout of a lane: `[3, 5]`; empty for a number.
    pub fn indices(&self, value: ValueId, register: u32, lane: u32, warp: u32) -> String {
        let Some(layout) = &self.held(value).layout else { return String::new() };
        let mut rest = place(layout, register, lane, warp) as u64;
        let mut indices: Vec<String> = Vec::new();
        for extent in layout.shape.iter().rev().map(|extent| u64::from(*extent).max(1)) {
            indices.push((rest % extent).to_string());
            rest /= extent;
        }
        indices.reverse();
        format!("[{}]", indices.join(", "))
    }
}
