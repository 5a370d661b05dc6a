//! The solver: facts at the nodes of a graph, carried along its edges until they agree with all of them.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use super::graph::Graph;
use super::worklist::{Order, Worklist};

/// A fact: what is known at a node. It can only change a limited number of times by joins.
pub trait Lattice: Clone {
    /// Makes it hold where either holds; true if that changed it.
    fn join(&mut self, other: &Self) -> bool;
}

impl Lattice for bool {
    fn join(&mut self, other: &Self) -> bool {
        let grown = *other && !*self;
        *self |= *other;
        grown
    }
}

impl<T: Ord + Clone> Lattice for BTreeSet<T> {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.len();
        self.extend(other.iter().cloned());
        self.len() > before
    }
}

/// The direction in which facts travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along the edges.
    Forward,
    /// Against them.
    Backward,
}

/// A question about the nodes of a graph.
pub trait Analysis {
    /// The facts.
    type Fact: Lattice;
    /// The direction in which it travels.
    const DIRECTION: Direction;

    /// The fact of unreachable nodes, neutral under joins.
    fn bottom(&self) -> Self::Fact;

    /// The fact at `node` if paths begin there.
    fn start(&self, node: usize) -> Option<Self::Fact>;

    /// Makes the fact before `node` the one after it, in the direction of travel.
    fn transfer(&self, node: usize, fact: &mut Self::Fact);
}

/// The facts before every node, in the direction of travel: the least that hold on all paths from the starts. Nodes that no path leads
/// to keep the bottom.
pub fn solve<A: Analysis>(graph: &impl Graph, analysis: &A) -> Vec<A::Fact> {
    let count = graph.nodes();
    let mut facts = vec![analysis.bottom(); count];
    let mut seen = FixedBitSet::with_capacity(count);
    let mut open = Worklist::new(
        count,
        match A::DIRECTION {
            Direction::Forward => Order::Ascending,
            Direction::Backward => Order::Descending,
        },
    );
    for node in 0..count {
        if let Some(start) = analysis.start(node) {
            facts[node].join(&start);
            seen.insert(node);
            open.push(node);
        }
    }
    while let Some(node) = open.pop() {
        let mut fact = facts[node].clone();
        analysis.transfer(node, &mut fact);
        let carry = |next: usize| {
            if facts[next].join(&fact) | !seen.put(next) {
                open.push(next);
            }
        };
        match A::DIRECTION {
            Direction::Forward => graph.successor_nodes(node).for_each(carry),
            Direction::Backward => graph.predecessor_nodes(node).for_each(carry),
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::super::graph::Edges;
    use super::*;

    /// The nodes on paths to (or from) each node, itself left out.
    struct Passed<const BACKWARD: bool>;

    impl<const BACKWARD: bool> Analysis for Passed<BACKWARD> {
        type Fact = BTreeSet<usize>;
        const DIRECTION: Direction = if BACKWARD { Direction::Backward } else { Direction::Forward };

        fn bottom(&self) -> Self::Fact {
            BTreeSet::new()
        }

        fn start(&self, node: usize) -> Option<Self::Fact> {
            (node == if BACKWARD { 4 } else { 0 }).then(BTreeSet::new)
        }

        fn transfer(&self, node: usize, fact: &mut Self::Fact) {
            fact.insert(node);
        }
    }

    /// 0 to 1, round 1 and 2, out to 3 and 4; 5 leads to 3, and nothing to 5.
    const EDGES: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 1), (1, 3), (3, 4), (5, 3)];

    #[test]
    fn facts_travel_forward_round_loops() {
        let passed = solve(&Edges::new(6, EDGES), &Passed::<false>);
        let sets: Vec<Vec<usize>> = passed.into_iter().map(|set| set.into_iter().collect()).collect();
        assert_eq!(sets, [vec![], vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2, 3], vec![]]);
    }

    #[test]
    fn facts_travel_backward() {
        let passed = solve(&Edges::new(6, EDGES), &Passed::<true>);
        let sets: Vec<Vec<usize>> = passed.into_iter().map(|set| set.into_iter().collect()).collect();
        assert_eq!(sets, [vec![1, 2, 3, 4], vec![1, 2, 3, 4], vec![1, 2, 3, 4], vec![4], vec![], vec![3, 4]]);
    }

    #[test]
    fn a_graph_without_nodes_has_no_facts() {
        assert!(solve(&Edges::new(0, &[]), &Passed::<false>).is_empty());
    }

    #[test]
    fn sets_and_flags_grow_by_joins() {
        let mut set = BTreeSet::from([1]);
        assert!(set.join(&BTreeSet::from([1, 2])) && !set.join(&BTreeSet::from([2])));
        let mut flag = false;
        assert!(!flag.join(&false) && flag.join(&true) && !flag.join(&true) && !flag.join(&false) && flag);
    }
}
