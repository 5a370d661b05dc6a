//! Taint: which cells the values of some cells have a part in.
//!
//! A cell is whatever holds a value: a register, a memory. A rule says that cells are made of others; order of execution does not count,
//! so whatever may be tainted is found, and sometimes what is not.

use fixedbitset::FixedBitSet;

use super::graph::Edges;
use super::reach::forward;

/// The rules: which cells are computed from which.
#[derive(Clone, Debug)]
pub struct Taint {
    cells: usize,
    /// Nodes: the cells, and one for each rule, so that a rule takes as many edges as it names cells.
    nodes: usize,
    edges: Vec<(u32, u32)>,
}

impl Taint {
    /// For the cells below `cells`, of which none is made of another.
    pub fn new(cells: usize) -> Self {
        Self { cells, nodes: cells, edges: Vec::new() }
    }

    /// The cells `to` are made of the cells `from`: where one of these is tainted, all of those are.
    pub fn rule(&mut self, from: impl IntoIterator<Item = usize>, to: impl IntoIterator<Item = usize>) {
        let rule = self.nodes as u32;
        let before = self.edges.len();
        self.edges.extend(from.into_iter().map(|cell| (cell as u32, rule)));
        if self.edges.len() > before {
            self.edges.extend(to.into_iter().map(|cell| (rule, cell as u32)));
            self.nodes += 1;
        }
    }

    /// The cells that are tainted if `sources` are.
    pub fn spread(&self, sources: impl IntoIterator<Item = usize>) -> FixedBitSet {
        let mut tainted = forward(&Edges::new(self.nodes, &self.edges), sources).into_set();
        tainted.remove_range(self.cells..);
        tainted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taint_spreads_by_rules_in_any_order() {
        let mut taint = Taint::new(7);
        taint.rule([2, 3], [4, 5]);
        taint.rule([0, 1], [2]);
        taint.rule([5], [0]);
        taint.rule([], [6]);
        assert_eq!(taint.spread([1]).ones().collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
        assert_eq!(taint.spread([4]).ones().collect::<Vec<_>>(), [4]);
        assert_eq!(taint.spread([]).count_ones(..), 0);
    }
}
