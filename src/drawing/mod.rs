//! Layout of a directed graph as plain data: the position of every box, and the corners of every edge. It depends only on the sizes of
//! the boxes and on the edges, not on the contents of the boxes.
//!
//! It is a layered layout (Sugiyama, Tagawa and Toda, 1981). Back edges are removed first; then a box is below all its predecessors. An
//! edge over several layers has a dummy vertex in each of them. Boxes of a layer are ordered to reduce crossings, and moved towards
//! their neighbors in the graph. Horizontal segments of edges have separate rows between two layers; back edges go up in columns left
//! of all boxes.

/// The size of a box to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxSize {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// Upper left corners of the boxes, in input order.
    pub corners: Vec<Point>,
    /// The edges.
    pub edges: Vec<DrawnEdge>,
    /// Columns of the whole drawing.
    pub width: usize,
    /// Rows of the whole drawing.
    pub height: usize,
}

/// A character cell, relative to the upper left corner of the drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Column.
    pub x: usize,
    /// Row.
    pub y: usize,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnEdge {
    /// The box it leaves.
    pub from: usize,
    /// The box it enters, from above.
    pub to: usize,
    /// True for a back edge.
    pub back: bool,
    /// The corners of its polyline, from the cell below one box to the cell above the other.
    pub route: Vec<Point>,
}

/// Columns between boxes of a layer.
const GAP: usize = 3;
/// Passes over the layers, alternately downwards and upwards, in which they are ordered.
const SWEEPS: usize = 6;

/// Lays out boxes and the edges between them; the first box is the entry of the function. Edges to boxes that do not exist are ignored.
pub fn lay_out(sizes: &[BoxSize], edges: &[(usize, usize)]) -> Drawing {
    let edges: Vec<(usize, usize)> = edges.iter().copied().filter(|(from, to)| *from < sizes.len() && *to < sizes.len()).collect();
    let back = back_edges(sizes.len(), &edges);
    let layers = layers_of(sizes.len(), &edges, &back);
    let mut graph = LayeredGraph::new(sizes, &edges, &back, &layers);
    graph.order_layers();
    graph.assign_columns();
    graph.draw(sizes, &edges, &back)
}

/// True for each back edge: one to a box on the current path of a depth-first search.
fn back_edges(count: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut back = vec![false; edges.len()];
    let outgoing: Vec<Vec<usize>> = (0..count).map(|node| (0..edges.len()).filter(|edge| edges[*edge].0 == node).collect()).collect();
    // 0: not visited, 1: on the path, 2: done.
    let mut state = vec![0_u8; count];
    for root in 0..count {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let Some(edge) = outgoing[*node].get(*next).copied() else {
                state[*node] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            let target = edges[edge].1;
            match state[target] {
                0 => {
                    state[target] = 1;
                    path.push((target, 0));
                }
                1 => back[edge] = true,
                _ => {}
            }
        }
    }
    back
}

/// The layer of each box: one below its lowest predecessor.
fn layers_of(count: usize, edges: &[(usize, usize)], back: &[bool]) -> Vec<usize> {
    let mut layers = vec![0; count];
    // Without back edges there is no cycle, so `count` passes suffice.
    for _ in 0..count {
        let mut changed = false;
        for ((from, to), _) in edges.iter().zip(back).filter(|(_, back)| !**back) {
            if layers[*to] <= layers[*from] {
                layers[*to] = layers[*from] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    layers
}

/// Boxes and the dummy vertices of long edges, layer by layer.
struct LayeredGraph {
    nodes: Vec<Node>,
    /// Nodes of each layer, from left to right.
    layers: Vec<Vec<usize>>,
    /// The nodes of each edge, from its first box over its dummy vertices to its last; empty for a back edge.
    chains: Vec<Vec<usize>>,
}

#[derive(Clone, Default)]
struct Node {
    width: usize,
    height: usize,
    /// Left column.
    x: usize,
    above: Vec<usize>,
    below: Vec<usize>,
}

impl Node {
    fn middle(&self) -> usize {
        self.x + self.width / 2
    }
}

impl LayeredGraph {
    fn new(sizes: &[BoxSize], edges: &[(usize, usize)], back: &[bool], layer_of: &[usize]) -> Self {
        let count = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut graph = LayeredGraph { nodes: Vec::new(), layers: vec![Vec::new(); count], chains: Vec::new() };
        for (size, layer) in sizes.iter().zip(layer_of) {
            graph.add(*size, *layer);
        }
        for ((from, to), back) in edges.iter().zip(back) {
            let mut chain = Vec::new();
            if !back {
                chain.push(*from);
                for layer in layer_of[*from] + 1..layer_of[*to] {
                    chain.push(graph.add(BoxSize { width: 1, height: 0 }, layer));
                }
                chain.push(*to);
                for pair in chain.windows(2) {
                    graph.nodes[pair[0]].below.push(pair[1]);
                    graph.nodes[pair[1]].above.push(pair[0]);
                }
            }
            graph.chains.push(chain);
        }
        graph
    }

    fn add(&mut self, size: BoxSize, layer: usize) -> usize {
        self.nodes.push(Node { width: size.width.max(1), height: size.height, ..Node::default() });
        let node = self.nodes.len() - 1;
        self.layers[layer].push(node);
        node
    }

    /// Orders every layer by the mean position of the neighbors above, then below, for a few sweeps.
    fn order_layers(&mut self) {
        let mut position = vec![0; self.nodes.len()];
        for sweep in 0..SWEEPS {
            let downwards = sweep % 2 == 0;
            let count = self.layers.len();
            for step in 0..count {
                let layer = if downwards { step } else { count - 1 - step };
                let nodes = &self.nodes;
                let mut order: Vec<(usize, usize)> = Vec::new();
                for (index, node) in self.layers[layer].iter().enumerate() {
                    let near = if downwards { &nodes[*node].above } else { &nodes[*node].below };
                    let sum: usize = near.iter().map(|other| position[*other]).sum();
                    // Fixed point, in 256ths.
                    order.push((if near.is_empty() { index * 256 } else { sum * 256 / near.len() }, *node));
                }
                order.sort_by_key(|(key, _)| *key);
                self.layers[layer] = order.into_iter().map(|(_, node)| node).collect();
                for (index, node) in self.layers[layer].iter().enumerate() {
                    position[*node] = index;
                }
            }
        }
    }

    /// Assigns columns: packed at first, then moved towards the neighbors above and below as far as the layer allows.
    fn assign_columns(&mut self) {
        for layer in &self.layers {
            let mut x = 0;
            for node in layer {
                self.nodes[*node].x = x;
                x += self.nodes[*node].width + GAP;
            }
        }
        for sweep in 0..SWEEPS {
            let downwards = sweep % 2 == 0;
            let count = self.layers.len();
            for step in 0..count {
                let layer = if downwards { step } else { count - 1 - step };
                self.pull(layer, downwards);
            }
        }
        self.straighten();
        let least = self.nodes.iter().map(|node| node.x).min().unwrap_or(0);
        self.nodes.iter_mut().for_each(|node| node.x -= least);
    }

    /// Aligns the dummy vertices of each edge in one column, if the other nodes of their layers leave room.
    fn straighten(&mut self) {
        for chain in self.chains.clone() {
            let Some(dummies) = chain.get(1..chain.len().saturating_sub(1)).filter(|dummies| !dummies.is_empty()) else { continue };
            let end = chain.last().map_or(0, |last| self.nodes[*last].middle());
            let mut columns: Vec<usize> = dummies.iter().map(|node| self.nodes[*node].x).chain([end]).collect();
            columns.sort_unstable_by_key(|column| column.abs_diff(end));
            if let Some(column) = columns.into_iter().find(|column| dummies.iter().all(|node| self.has_room(*node, *column))) {
                dummies.iter().for_each(|node| self.nodes[*node].x = column);
            }
        }
    }

    /// True if a dummy vertex can be at this column of its layer without a change of order.
    fn has_room(&self, node: usize, column: usize) -> bool {
        let Some(layer) = self.layers.iter().find(|layer| layer.contains(&node)) else { return false };
        let at = layer.iter().position(|other| *other == node).unwrap_or(0);
        let left = at.checked_sub(1).and_then(|at| layer.get(at)).map(|other| &self.nodes[*other]);
        let right = layer.get(at + 1).map(|other| &self.nodes[*other]);
        left.is_none_or(|left| left.x + left.width + 1 < column) && right.is_none_or(|right| column + 2 < right.x + 1)
    }

    /// Moves the nodes of a layer towards the median of their neighbors, without overlaps.
    fn pull(&mut self, layer: usize, downwards: bool) {
        let order = self.layers[layer].clone();
        let preferred: Vec<usize> = order.iter().map(|node| self.preferred_column(*node, downwards)).collect();
        // The mean of a pass from the left and a pass from the right keeps the order and the gaps.
        let mut lefts = preferred.clone();
        for index in 1..order.len() {
            let after = lefts[index - 1] + self.nodes[order[index - 1]].width + GAP;
            lefts[index] = lefts[index].max(after);
        }
        let total = lefts.last().zip(order.last()).map_or(0, |(x, node)| x + self.nodes[*node].width);
        let mut rights = preferred;
        let mut end = total;
        for index in (0..order.len()).rev() {
            let width = self.nodes[order[index]].width;
            rights[index] = rights[index].min(end.saturating_sub(width));
            end = rights[index].saturating_sub(GAP);
        }
        for index in 0..order.len() {
            self.nodes[order[index]].x = usize::midpoint(lefts[index], rights[index]);
        }
        for index in 1..order.len() {
            let after = self.nodes[order[index - 1]].x + self.nodes[order[index - 1]].width + GAP;
            self.nodes[order[index]].x = self.nodes[order[index]].x.max(after);
        }
    }

    /// The left column with which a node's middle is at the median of its neighbors' middles.
    fn preferred_column(&self, node: usize, downwards: bool) -> usize {
        let own = &self.nodes[node];
        let near = if downwards { &own.above } else { &own.below };
        if near.is_empty() {
            return own.x;
        }
        let mut middles: Vec<usize> = near.iter().map(|other| self.nodes[*other].middle()).collect();
        middles.sort_unstable();
        let middle = usize::midpoint(middles[(middles.len() - 1) / 2], middles[middles.len() / 2]);
        middle.saturating_sub(own.width / 2)
    }

    fn draw(mut self, sizes: &[BoxSize], edges: &[(usize, usize)], back: &[bool]) -> Drawing {
        let back_columns = back.iter().filter(|back| **back).count();
        let margin = if back_columns > 0 { 2 * back_columns + 1 } else { 0 };
        self.nodes.iter_mut().for_each(|node| node.x += margin);
        let layer_of = self.layer_of();
        let segments = self.segments(edges, back, &layer_of);
        let (rows, tracks) = self.rows(&segments);
        let edge = |index: usize| {
            let (from, to) = edges[index];
            let own = || segments.iter().zip(&tracks).filter(|(segment, _)| segment.edge == index);
            let mut route = Vec::new();
            for (segment, track) in own() {
                let y = rows.channels[segment.channel] + track;
                let from_y = segment.from_top.map_or(y, |layer| rows.tops[layer] + self.height_at(from, segment, layer));
                route.extend([Point { x: segment.from, y: from_y.min(y) }, Point { x: segment.from, y }, Point { x: segment.to, y }]);
                if let Some(layer) = segment.to_bottom {
                    route.push(Point { x: segment.to, y: rows.tops[layer].saturating_sub(1).max(y) });
                }
            }
            route.dedup();
            DrawnEdge { from, to, back: back[index], route }
        };
        let drawn: Vec<DrawnEdge> = (0..edges.len()).map(edge).collect();
        let corners = (0..sizes.len()).map(|node| Point { x: self.nodes[node].x, y: rows.tops[layer_of[node]] }).collect();
        let width = self.nodes.iter().map(|node| node.x + node.width).max().unwrap_or(0);
        Drawing { corners, edges: drawn, width, height: rows.end }
    }

    /// The height of the box below which a segment starts; a segment from a dummy vertex starts below the whole layer.
    fn height_at(&self, from: usize, segment: &Segment, layer: usize) -> usize {
        if segment.is_first {
            self.nodes[from].height
        } else {
            self.layers[layer].iter().map(|node| self.nodes[*node].height).max().unwrap_or(0)
        }
    }

    fn layer_of(&self) -> Vec<usize> {
        let mut layer_of = vec![0; self.nodes.len()];
        for (layer, nodes) in self.layers.iter().enumerate() {
            nodes.iter().for_each(|node| layer_of[*node] = layer);
        }
        layer_of
    }

    /// The segments of all edges. Their horizontal parts are in the channels between layers; channel `n` is above layer `n`.
    fn segments(&self, edges: &[(usize, usize)], back: &[bool], layer_of: &[usize]) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut back_column = 0;
        for (edge, (from, to)) in edges.iter().copied().enumerate() {
            if back[edge] {
                let column = 2 * back_column;
                back_column += 1;
                let (start, end) = (self.port(edge, from, edges, true), self.port(edge, to, edges, false));
                let (below, above) = (layer_of[from] + 1, layer_of[to]);
                let up = Segment {
                    edge,
                    channel: below,
                    from: start,
                    to: column,
                    from_top: Some(layer_of[from]),
                    to_bottom: None,
                    is_first: true,
                };
                let down =
                    Segment { edge, channel: above, from: column, to: end, from_top: None, to_bottom: Some(layer_of[to]), is_first: false };
                segments.extend([up, down]);
                continue;
            }
            let chain = &self.chains[edge];
            for (step, pair) in chain.windows(2).enumerate() {
                let is_first = step == 0;
                let start = if is_first { self.port(edge, from, edges, true) } else { self.nodes[pair[0]].x };
                let end = if step + 2 == chain.len() { self.port(edge, to, edges, false) } else { self.nodes[pair[1]].x };
                let (above, below) = (layer_of[pair[0]], layer_of[pair[1]]);
                segments.push(Segment {
                    edge,
                    channel: below,
                    from: start,
                    to: end,
                    from_top: Some(above),
                    to_bottom: Some(below),
                    is_first,
                });
            }
        }
        segments
    }

    /// The column at which an edge leaves or enters a box: the edges are spread evenly over the side, ordered by their other ends.
    fn port(&self, edge: usize, node: usize, edges: &[(usize, usize)], leaves: bool) -> usize {
        let far = |index: usize| {
            let (from, to) = edges[index];
            let chain = &self.chains[index];
            match (chain.is_empty(), leaves) {
                // Back edges are left of all boxes.
                (true, _) => 0,
                (false, true) => chain.get(1).map_or(0, |next| self.nodes[*next].middle()),
                (false, false) => chain.iter().rev().nth(1).map_or(0, |next| self.nodes[*next].middle()),
            }
            .max(usize::from(from == to))
        };
        let is_here = |index: &usize| if leaves { edges[*index].0 == node } else { edges[*index].1 == node };
        let mut here: Vec<usize> = (0..edges.len()).filter(is_here).collect();
        here.sort_by_key(|index| (far(*index), *index));
        let at = here.iter().position(|index| *index == edge).unwrap_or(0);
        let own = &self.nodes[node];
        own.x + (own.width * (at + 1) / (here.len() + 1)).min(own.width - 1)
    }

    /// The rows of all layers and channels, and the track (row within its channel) of each segment.
    fn rows(&self, segments: &[Segment]) -> (Rows, Vec<usize>) {
        let count = self.layers.len();
        let mut tracks = vec![0; segments.len()];
        let mut used = vec![0; count + 1];
        for channel in 0..=count {
            let mut across: Vec<usize> = (0..segments.len()).filter(|index| segments[*index].channel == channel).collect();
            across.sort_by_key(|index| (segments[*index].to_bottom.is_none(), segments[*index].span()));
            let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
            for index in across {
                let (left, right) = segments[index].span();
                if left == right {
                    used[channel] = used[channel].max(1);
                    continue;
                }
                let is_free = |row: &Vec<(usize, usize)>| row.iter().all(|(start, end)| right < *start || *end < left);
                let track = taken.iter().position(is_free).unwrap_or(taken.len());
                if track == taken.len() {
                    taken.push(Vec::new());
                }
                taken[track].push((left, right));
                tracks[index] = track;
            }
            used[channel] = used[channel].max(taken.len());
        }
        let (mut rows, mut y) = (Rows::default(), 0);
        for (layer, nodes) in self.layers.iter().enumerate() {
            rows.channels.push(y);
            // A row for the arrow above the boxes.
            y += used[layer] + usize::from(used[layer] > 0);
            rows.tops.push(y);
            y += nodes.iter().map(|node| self.nodes[*node].height).max().unwrap_or(0);
        }
        rows.channels.push(y);
        rows.end = y + used[count];
        (rows, tracks)
    }
}

/// A segment of an edge in one channel: down from a box or a dummy vertex, across, and down to the next.
struct Segment {
    edge: usize,
    channel: usize,
    from: usize,
    to: usize,
    /// The layer it comes down from; `None` if it comes from a back edge's column.
    from_top: Option<usize>,
    /// The layer it goes down to; `None` if it goes to a back edge's column.
    to_bottom: Option<usize>,
    is_first: bool,
}

impl Segment {
    fn span(&self) -> (usize, usize) {
        (self.from.min(self.to), self.from.max(self.to))
    }
}

/// First rows of layers and channels.
#[derive(Default)]
struct Rows {
    tops: Vec<usize>,
    channels: Vec<usize>,
    end: usize,
}

#[cfg(test)]
mod tests {
    use super::{BoxSize, lay_out};

    const BOX: BoxSize = BoxSize { width: 9, height: 3 };

    #[test]
    fn a_diamond_has_three_layers() {
        let drawing = lay_out(&[BOX; 4], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let [top, left, right, bottom] = drawing.corners[..] else { panic!("four boxes") };
        assert!(top.y < left.y && left.y == right.y && right.y < bottom.y);
        assert!(left.x + BOX.width < right.x);
        assert_eq!(top.x, bottom.x, "the ends stand above each other");
        assert!(drawing.edges.iter().all(|edge| !edge.back));
    }

    #[test]
    fn a_loop_goes_back_on_the_left() {
        let drawing = lay_out(&[BOX; 3], &[(0, 1), (1, 1), (1, 2)]);
        let back: Vec<_> = drawing.edges.iter().filter(|edge| edge.back).collect();
        assert_eq!(back.len(), 1);
        assert_eq!((back[0].from, back[0].to), (1, 1));
        assert!(back[0].route.iter().any(|point| point.x < drawing.corners[1].x));
    }

    /// Every graph of four boxes: boxes do not overlap, edges are rectilinear from below one box to above the other.
    #[test]
    fn boxes_do_not_overlap_and_edges_connect_them() {
        for bits in 0..1_u32 << 12 {
            let pairs = (0..4).flat_map(|from| (0..4).filter(move |to| *to != from).map(move |to| (from, to)));
            let edges: Vec<(usize, usize)> = pairs.enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, pair)| pair).collect();
            let drawing = lay_out(&[BOX; 4], &edges);
            for (index, corner) in drawing.corners.iter().enumerate() {
                assert!(corner.x + BOX.width <= drawing.width && corner.y + BOX.height <= drawing.height, "{edges:?}");
                let apart = |other: &super::Point| corner.x.abs_diff(other.x) >= BOX.width || corner.y.abs_diff(other.y) >= BOX.height;
                assert!(drawing.corners[index + 1..].iter().all(apart), "{edges:?}: {:?}", drawing.corners);
            }
            for edge in &drawing.edges {
                assert!(edge.route.windows(2).all(|pair| pair[0].x == pair[1].x || pair[0].y == pair[1].y), "{edges:?}");
                let (from, to) = (drawing.corners[edge.from], drawing.corners[edge.to]);
                let (first, last) = (edge.route[0], edge.route[edge.route.len() - 1]);
                assert_eq!((first.y, last.y), (from.y + BOX.height, to.y - 1), "{edges:?} {edge:?}");
                assert!((from.x..from.x + BOX.width).contains(&first.x) && (to.x..to.x + BOX.width).contains(&last.x));
            }
        }
    }
}
