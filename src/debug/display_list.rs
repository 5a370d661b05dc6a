//! The displays of a session. Numbers count from 1 and are never used again.

use std::ops::Range;

/// A display.
#[derive(Clone, Debug, Default)]
pub struct Display {
    /// The argument of the command; empty after `undisplay`.
    pub what: String,
    /// The instructions of the scope in which it is shown; none for one that is shown everywhere.
    pub scope: Option<Vec<Range<u32>>>,
}

/// All displays with their numbers.
pub fn numbered(displays: &[Display]) -> impl Iterator<Item = (usize, &Display)> {
    (1..).zip(displays).filter(|(_, display)| !display.what.is_empty())
}

/// Removes display number `number`; false if there is none.
pub fn remove(displays: &mut [Display], number: u64) -> bool {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let entry = index.and_then(|index| displays.get_mut(index)).filter(|display| !display.what.is_empty());
    entry.map(std::mem::take).is_some()
}
