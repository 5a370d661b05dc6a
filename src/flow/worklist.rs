//! Nodes that wait to be visited, each once, in sweeps over their order.

use fixedbitset::FixedBitSet;

/// In which order waiting nodes are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Sweeps from the first node to the last, over and over.
    Ascending,
    /// Sweeps from the last node to the first.
    Descending,
    /// A sweep up, a sweep down, and so on.
    Alternating,
}

/// Nodes that wait. A sweep visits those that wait where it comes by; of a full list it is what a loop over all nodes would do, but for
/// the nodes where nothing is new.
#[derive(Clone, Debug)]
pub struct Worklist {
    waiting: FixedBitSet,
    order: Order,
    is_up: bool,
    /// Nodes from here on are still to come in a sweep up, and nodes before it in a sweep down.
    at: usize,
}

impl Worklist {
    /// A list for the nodes below `nodes`, of which none waits.
    pub fn new(nodes: usize, order: Order) -> Self {
        let is_up = order != Order::Descending;
        Self { waiting: FixedBitSet::with_capacity(nodes), order, is_up, at: if is_up { 0 } else { nodes } }
    }

    /// The same, where all of them wait.
    pub fn full(nodes: usize, order: Order) -> Self {
        let mut list = Self::new(nodes, order);
        list.push_all();
        list
    }

    /// Lets all nodes wait.
    pub fn push_all(&mut self) {
        self.waiting.insert_range(..);
    }

    /// Lets `node` wait; without effect if it does.
    pub fn push(&mut self, node: usize) {
        self.waiting.insert(node);
    }

    /// Takes the node that comes next, if one waits.
    pub fn pop(&mut self) -> Option<usize> {
        let node = self.next_waiting().or_else(|| {
            self.begin_sweep();
            self.next_waiting()
        })?;
        self.waiting.remove(node);
        self.at = if self.is_up { node + 1 } else { node };
        Some(node)
    }

    /// Begins the next sweep.
    fn begin_sweep(&mut self) {
        self.is_up = match self.order {
            Order::Ascending => true,
            Order::Descending => false,
            Order::Alternating => !self.is_up,
        };
        self.at = if self.is_up { 0 } else { self.waiting.len() };
    }

    /// The nearest waiting node that the sweep has not passed.
    fn next_waiting(&self) -> Option<usize> {
        let bits = usize::BITS as usize;
        let (words, at) = (self.waiting.as_slice(), self.at);
        if self.is_up {
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

    /// The nodes in the order of their visits, where the visit of 70 adds 3, 70 and 150 to the worklist again.
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
    fn a_node_waits_once() {
        let mut list = Worklist::full(65, Order::Ascending);
        list.push(64);
        assert_eq!(std::iter::from_fn(|| list.pop()).count(), 65);
        assert_eq!(Worklist::full(0, Order::Descending).pop(), None);
        assert_eq!(Worklist::full(64, Order::Descending).pop(), Some(63));
    }
}
