//! A table of items whose places are used again once the items are freed: an item keeps its index.

/// Items by index.
#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    /// The places without an item, the lowest last.
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Adds an item, and returns its index: the lowest that is free.
    pub fn push(&mut self, item: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.items[index as usize] = item;
            return index;
        }
        assert!(self.items.len() < MAX_ITEMS, "an index has room for every item");
        self.items.push(item);
        self.items.len() as u32 - 1
    }

    /// The item at `index`.
    #[inline]
    pub fn get(&self, index: u32) -> &T {
        &self.items[index as usize]
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.items[..]) + size_of_val(&self.free[..])
    }

    /// A mark for each place: none is set.
    pub fn unmarked(&self) -> Vec<bool> {
        vec![false; self.items.len()]
    }

    /// Frees the items without a mark.
    pub fn retain(&mut self, marks: &[bool]) {
        assert_eq!(marks.len(), self.items.len(), "there is a mark for each place");
        let len = marks.iter().rposition(|is_marked| *is_marked).map_or(0, |last| last + 1);
        self.items.truncate(len);
        self.free.clear();
        self.free.extend((0..len).rev().filter(|index| !marks[*index]).map(|index| index as u32));
    }
}

/// The most items: one bit of an index is left for other use.
const MAX_ITEMS: usize = 1 << 31;

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn a_place_is_used_again() {
        let mut slab = Slab::default();
        let indices = ['a', 'b', 'c', 'd'].map(|item| slab.push(item));
        assert_eq!((indices, slab.len()), ([0, 1, 2, 3], 4));
        let mut marks = slab.unmarked();
        marks[1] = true;
        slab.retain(&marks);
        assert_eq!((slab.len(), *slab.get(1)), (1, 'b'));
        assert_eq!(['e', 'f', 'g'].map(|item| slab.push(item)), [0, 2, 3]);
        assert_eq!(([0, 1, 2, 3].map(|index| *slab.get(index)), slab.len()), (['e', 'b', 'f', 'g'], 4));
    }
}
