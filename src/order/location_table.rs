//! A map by location, stored by lines of memory: adjacent locations are mostly accessed together.

use std::collections::BTreeMap;

/// A location: 0 for global memory, or the block slot of a block plus one; the address; and the bytes of the access,
/// since accesses of different sizes are never morally strong.
pub type LocationKey = (u32, u64, u32);

/// Bytes of a line.
const LINE: u64 = 128;

/// A line: 0 for global memory, or the block slot of a block plus one; the address divided by [`LINE`]; and the bytes of the accesses.
type LineKey = (u32, u64, u32);

/// The values of a line by their offset.
type Line<'a, T> = &'a [(u8, T)];

/// Values by location.
#[derive(Clone, Debug)]
pub struct LocationTable<T> {
    /// The values of each line by their offset, in order.
    lines: BTreeMap<LineKey, Vec<(u8, T)>>,
}

impl<T> Default for LocationTable<T> {
    fn default() -> Self {
        Self { lines: BTreeMap::new() }
    }
}

/// The line of a location, and the offset in it.
fn line_of((memory, address, bytes): LocationKey) -> (LineKey, u8) {
    ((memory, address / LINE, bytes), (address % LINE) as u8)
}

fn find<T>(line: &[(u8, T)], offset: u8) -> Result<usize, usize> {
    find_from(line, offset, 0)
}

/// The same, where it is mostly at `guess`, or after all others.
#[inline(always)]
fn find_from<T>(line: &[(u8, T)], offset: u8, guess: usize) -> Result<usize, usize> {
    match line.get(guess) {
        Some((at, _)) if *at == offset => Ok(guess),
        None if line.last().is_none_or(|(last, _)| *last < offset) => Err(line.len()),
        Some(_) | None => line.binary_search_by_key(&offset, |(offset, _)| *offset),
    }
}

impl<T> LocationTable<T> {
    /// True if there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The value of a location.
    pub fn get_mut(&mut self, key: LocationKey) -> Option<&mut T> {
        let (line, offset) = line_of(key);
        let line = self.lines.get_mut(&line)?;
        let index = find(line, offset).ok()?;
        Some(&mut line[index].1)
    }

    /// The value of a location, created if there is none.
    pub fn get_or_insert_with(&mut self, key: LocationKey, make: impl FnOnce() -> T) -> &mut T {
        let (line, offset) = line_of(key);
        let line = self.lines.entry(line).or_default();
        let index = find(line, offset).unwrap_or_else(|index| {
            line.insert(index, (offset, make()));
            index
        });
        &mut line[index].1
    }

    /// The values of several locations, with adjacent ones one after the other.
    pub fn all_of(&self, keys: impl Iterator<Item = LocationKey>) -> impl Iterator<Item = Option<&T>> {
        let mut last: Option<(LineKey, Line<'_, T>, usize)> = None;
        keys.map(move |key| {
            let (key, offset) = line_of(key);
            let (line, next) = match last {
                Some((last, line, next)) if last == key => (line, next),
                _ => (self.lines.get(&key).map_or(&[][..], |line| &line[..]), 0),
            };
            let found = find_from(line, offset, next).ok();
            last = Some((key, line, found.map_or(next, |index| index + 1)));
            found.map(|index| &line[index].1)
        })
    }

    /// Sets the values of several locations, with adjacent ones one after the other.
    pub fn set_all(&mut self, values: impl Iterator<Item = (LocationKey, T)>) {
        let mut values = values.map(|(key, value)| (line_of(key), value)).peekable();
        while let Some(((key, _), _)) = values.peek() {
            let key = *key;
            let line = self.lines.entry(key).or_insert_with(|| Vec::with_capacity((LINE / u64::from(key.2.max(1))) as usize));
            let mut next = 0;
            while let Some(((_, offset), value)) = values.next_if(|((of, _), _)| *of == key) {
                let found = find_from(line, offset, next);
                match found {
                    Ok(index) => line[index].1 = value,
                    Err(index) => line.insert(index, (offset, value)),
                }
                next = found.unwrap_or_else(|index| index) + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_differ_by_memory_address_and_size() {
        let mut table = LocationTable::default();
        assert!(table.is_empty());
        let keys = [(0, 124, 4), (0, 128, 4), (0, 132, 4), (0, 0, 4), (0, 128, 8), (1, 128, 4)];
        table.set_all(keys.into_iter().zip(1..));
        let missing = [(0, 136, 4), (2, 128, 4), (0, 128, 2)];
        let found: Vec<Option<i32>> = table.all_of(keys.into_iter().chain(missing)).map(Option::<&i32>::copied).collect();
        assert_eq!(found, [Some(1), Some(2), Some(3), Some(4), Some(5), Some(6), None, None, None]);
        *table.get_or_insert_with((0, 132, 4), || 0) += 10;
        *table.get_or_insert_with((0, 136, 4), || 20) += 1;
        table.set_all([((0, 128, 4), 7)].into_iter());
        let now = [(0, 128, 4), (0, 132, 4), (0, 136, 4), (0, 140, 4)].map(|key| table.get_mut(key).copied());
        assert_eq!(now, [Some(7), Some(13), Some(21), None]);
    }
}
