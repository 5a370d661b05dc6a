//! Taint: the cells whose values depend on those of the tainted cells.
//!
//! A cell holds a value: it is a register or a memory. A rule says that cells are computed from others. The analysis ignores the order of
//! execution: it finds every cell that may be tainted, and sometimes more.

use fixedbitset::FixedBitSet;

use super::graph::Edges;
use super::reach::forward;

/// The rules of the analysis.
#[derive(Clone, Debug)]
pub struct Taint {
    cells: usize,
    /// Nodes: the cells, and one for each rule, so that a rule needs only as many edges as it has cells.
    nodes: usize,
    edges: Vec<(u32, u32)>,
}

impl Taint {
    /// No rules, for the cells below `cells`.
    pub fn new(cells: usize) -> Self {
        Self { cells, nodes: cells, edges: Vec::new() }
    }

    /// Adds a rule: the cells `to` are computed from the cells `from`. If one of `from` is tainted, all of `to` are.
    pub fn add_rule(&mut self, from: impl IntoIterator<Item = usize>, to: impl IntoIterator<Item = usize>) {
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
        taint.add_rule([2, 3], [4, 5]);
        taint.add_rule([0, 1], [2]);
        taint.add_rule([5], [0]);
        taint.add_rule([], [6]);
        assert_eq!(taint.spread([1]).ones().collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
        assert_eq!(taint.spread([4]).ones().collect::<Vec<_>>(), [4]);
        assert_eq!(taint.spread([]).count_ones(..), 0);
    }
}
