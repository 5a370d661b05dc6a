//! The dataflow solver: propagates facts along the edges of a graph until a fixed point.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use super::graph::Graph;
use super::worklist::{Order, Worklist};

/// A fact: an element of a join semilattice of finite height.
pub trait Lattice: Clone {
    /// Replaces `self` by the join of both; true if that changed it.
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

/// A set that is joined by intersection: what holds on every path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnEveryPath(pub FixedBitSet);

impl OnEveryPath {
    /// The neutral element of the join: all numbers below `count`.
    pub fn all(count: usize) -> Self {
        let mut all = FixedBitSet::with_capacity(count);
        all.insert_range(..);
        Self(all)
    }
}

impl Lattice for OnEveryPath {
    fn join(&mut self, other: &Self) -> bool {
        let shrinks = !self.0.is_subset(&other.0);
        if shrinks {
            self.0.intersect_with(&other.0);
        }
        shrinks
    }
}

/// The direction in which facts are propagated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Along the edges.
    Forward,
    /// Against them.
    Backward,
}

/// A dataflow analysis of the nodes of a graph.
pub trait Analysis {
    /// The facts.
    type Fact: Lattice;
    /// The direction in which the facts are propagated.
    const DIRECTION: Direction;

    /// The fact of unreachable nodes: the neutral element of the join.
    fn bottom(&self) -> Self::Fact;

    /// The initial fact at `node` if it is a start.
    fn start(&self, node: usize) -> Option<Self::Fact>;

    /// Turns the fact before `node` into the fact after it, in the direction of the analysis.
    fn transfer(&self, node: usize, fact: &mut Self::Fact);
}

/// The fact before every node, in the direction of the analysis: the least fixed point. Unreachable nodes have the bottom.
pub fn solve<A: Analysis>(graph: &impl Graph, analysis: &A) -> Vec<A::Fact> {
    let count = graph.nodes();
    let mut facts = vec![analysis.bottom(); count];
    let mut reached = FixedBitSet::with_capacity(count);
    let mut worklist = Worklist::new(
        count,
        match A::DIRECTION {
            Direction::Forward => Order::Ascending,
            Direction::Backward => Order::Descending,
        },
    );
    for node in 0..count {
        if let Some(start) = analysis.start(node) {
            facts[node].join(&start);
            reached.insert(node);
            worklist.push(node);
        }
    }
    while let Some(node) = worklist.pop() {
        let mut fact = facts[node].clone();
        analysis.transfer(node, &mut fact);
        let propagate = |next: usize| {
            if facts[next].join(&fact) | !reached.put(next) {
                worklist.push(next);
            }
        };
        match A::DIRECTION {
            Direction::Forward => graph.successor_nodes(node).for_each(propagate),
            Direction::Backward => graph.predecessor_nodes(node).for_each(propagate),
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::super::graph::Edges;
    use super::*;

    /// The other nodes on paths to (or from) each node.
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
