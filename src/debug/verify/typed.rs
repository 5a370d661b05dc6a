//! Elements of memory that a launch has as bytes, such as what a captured pointer in memory leads to: what is wrong there is shown as the
//! instructions stored it that wrote it last.

use std::collections::BTreeMap;

use crate::launch::{Case, Element, Kind, stored_elements};
use crate::program::{Pc, Program};

/// `case` with elements of more than a byte in the buffers of bytes whose wrong bytes all come from stores of such; none if there are no
/// such buffers. `stored` has the buffer of each wrong byte, and the instruction that wrote it last.
pub(in crate::debug) fn typed_by_stores(program: &Program, case: &Case, stored: &[(usize, Option<Pc>)]) -> Option<Case> {
    let is_of_bytes = |index: usize| case.buffers.get(index).is_some_and(|buffer| buffer.element == Element::B8);
    let stored: Vec<(usize, Option<Pc>)> = stored.iter().copied().filter(|(index, _)| is_of_bytes(*index)).collect();
    if stored.is_empty() {
        return None;
    }
    let pcs: Vec<Pc> = stored.iter().filter_map(|(_, pc)| *pc).collect();
    let mut known: BTreeMap<Pc, Element> = BTreeMap::new();
    for launch in &case.launches {
        let found = stored_elements(program, launch.kernel, &pcs);
        known.extend(pcs.iter().zip(found).filter_map(|(pc, element)| Some((*pc, element?))));
    }
    let mut of_buffers: BTreeMap<usize, Option<Element>> = BTreeMap::new();
    for (index, pc) in stored {
        let element = pc.and_then(|pc| known.get(&pc).copied());
        of_buffers.entry(index).and_modify(|first| *first = first.filter(|first| Some(*first) == element)).or_insert(element);
    }
    let mut typed = case.clone();
    let mut is_any = false;
    for (index, element) in of_buffers {
        let buffer = &mut typed.buffers[index];
        let is_whole = |element: &Element| element.bytes() > 1 && buffer.bytes.is_multiple_of(element.bytes().into());
        let Some(element) = element.filter(is_whole) else { continue };
        (buffer.element, buffer.shape) = (element, vec![buffer.bytes / u64::from(element.bytes())]);
        if let Some(expect) = buffer.expect.as_mut().filter(|_| element.kind() != Kind::Bits) {
            expect.tolerance = case.tolerance_of_bytes;
        }
        is_any = true;
    }
    is_any.then_some(typed)
}
