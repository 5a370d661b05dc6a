//! A worklist: a set of pending nodes, which are visited in sweeps over their order.

use fixedbitset::FixedBitSet;

/// The order in which pending nodes are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Repeated sweeps from the first node to the last.
    Ascending,
    /// Repeated sweeps from the last node to the first.
    Descending,
    /// Sweeps in alternating directions, the first ascending.
    Alternating,
}

/// A set of pending nodes, visited in sweeps.
#[derive(Clone, Debug)]
pub struct Worklist {
    pending: FixedBitSet,
    order: Order,
    is_ascending: bool,
    /// The position of the sweep: an ascending sweep continues with this node, a descending one with the node before it.
    at: usize,
}

impl Worklist {
    /// An empty list for the nodes below `nodes`.
    pub fn new(nodes: usize, order: Order) -> Self {
        let is_ascending = order != Order::Descending;
        Self { pending: FixedBitSet::with_capacity(nodes), order, is_ascending, at: if is_ascending { 0 } else { nodes } }
    }

    /// A list where all nodes below `nodes` are pending.
    pub fn full(nodes: usize, order: Order) -> Self {
        let mut list = Self::new(nodes, order);
        list.push_all();
        list
    }

    /// Adds all nodes.
    pub fn push_all(&mut self) {
        self.pending.insert_range(..);
    }

    /// Adds `node`, if it is not pending already.
    pub fn push(&mut self, node: usize) {
        self.pending.insert(node);
    }

    /// Removes and returns the next pending node of the sweep.
    pub fn pop(&mut self) -> Option<usize> {
        let node = self.next_pending().or_else(|| {
            self.begin_sweep();
            self.next_pending()
        })?;
        self.pending.remove(node);
        self.at = if self.is_ascending { node + 1 } else { node };
        Some(node)
    }

    /// Begins the next sweep.
    fn begin_sweep(&mut self) {
        self.is_ascending = match self.order {
            Order::Ascending => true,
            Order::Descending => false,
            Order::Alternating => !self.is_ascending,
        };
        self.at = if self.is_ascending { 0 } else { self.pending.len() };
    }

    /// The next pending node in the current sweep.
    fn next_pending(&self) -> Option<usize> {
        let bits = usize::BITS as usize;
        let (words, at) = (self.pending.as_slice(), self.at);
        if self.is_ascending {
            let first = words.get(at / bits)? & (usize::MAX << (at % bits));
            let found = std::iter::once(first).chain(words.iter().skip(at / bits + 1).copied()).zip(at / bits..);
            return found.into_iter().find(|(word, _)| *word != 0).map(|(word, index)| index * bits + word.trailing_zeros() as usize);
        }
        let last = words.get(at / bits).map_or(0, |word| word & !(usize::MAX << (at % bits)));
        let found = std::iter::once((last, at / bits)).chain((0..at / bits).rev().map(|index| (words[index], index)));
        found.into_iter().find(|(word, _)| *word != 0).map(|(word, index)| index * bits + word.ilog2() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes in the order of their visits; the visit of 70 adds 3, 70 and 150 to the worklist again.
    fn visits(order: Order) -> Vec<usize> {
        let mut list = Worklist::new(200, order);
        [3, 70, 128, 199].iter().for_each(|node| list.push(*node));
        let mut again = [3, 70, 150].iter();
        let mut visits = Vec::new();
        while let Some(node) = list.pop() {
            visits.push(node);
            if node == 70 {
                again.by_ref().for_each(|node| list.push(*node));
            }
        }
        visits
    }

    #[test]
    fn sweeps_follow_their_order() {
        assert_eq!(visits(Order::Ascending), [3, 70, 128, 150, 199, 3, 70]);
        assert_eq!(visits(Order::Descending), [199, 128, 70, 3, 150, 70]);
        assert_eq!(visits(Order::Alternating), [3, 70, 128, 150, 199, 70, 3]);
    }

    #[test]
    fn a_node_is_pending_once() {
        let mut list = Worklist::full(65, Order::Ascending);
        list.push(64);
        assert_eq!(std::iter::from_fn(|| list.pop()).count(), 65);
        assert_eq!(Worklist::full(0, Order::Descending).pop(), None);
        assert_eq!(Worklist::full(64, Order::Descending).pop(), Some(63));
    }
}
