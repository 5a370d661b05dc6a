//! Graphs: which kernels one launches, and how it is launched in parts.
//!
//! Of a graph with a kernel that is wanted a copy is made, as the program makes it executable: the program may destroy its own. To keep a
//! kernel of it, the graph is launched as several: the nodes before the kernel, the kernel alone, and the nodes after it. The nodes are in
//! an order in which each comes after those that it depends on, and a part is a run of that order: all that depends on one another is done
//! in the same order as by the whole graph.

use std::collections::HashMap;
use std::ffi::c_uint;
use std::ops::Range;
use std::ptr;

use crate::driver::{Attribute, Driver, Handle, KernelNode, SUCCESS};
use crate::launch::Launch;

/// Kinds of nodes.
const KERNEL: i32 = 0;
const CHILD_GRAPH: i32 = 4;

/// An executable graph.
pub struct Graph {
    /// Its kernels, in the order of its nodes: where each is among these, and its function.
    pub kernels: Vec<(usize, Handle)>,
    /// Whether it has graphs within it, whose kernels are not among these.
    pub has_children: bool,
    /// Where each node of the program's graph is.
    positions: HashMap<usize, usize>,
    /// The program's nodes, each after those that it depends on.
    order: Vec<Handle>,
    /// A copy of the graph, with its nodes in the same order.
    copy: Option<(Owned, Vec<Handle>)>,
    /// Why it cannot be launched in parts.
    trouble: Option<String>,
}

// SAFETY: the handles of the driver are of the process and not of a thread.
unsafe impl Send for Graph {}

/// A graph, or an executable one, that is destroyed with this.
struct Owned {
    handle: Handle,
    is_executable: bool,
}

impl Drop for Owned {
    fn drop(&mut self) {
        crate::driver::driver().destroy_graph(self.handle, self.is_executable);
    }
}

/// A part of a graph: one kernel that is kept, or nodes between those.
pub struct Part {
    executable: Owned,
    _graph: Owned,
    /// Where the kernel is among those that are kept.
    pub kept: Option<usize>,
    node: Handle,
}

impl Graph {
    /// What is known of a graph of the program.
    pub fn new(driver: &Driver, graph: Handle) -> Result<Self, String> {
        let order = ordered(driver, graph).ok_or("the driver does not say what nodes it has")?;
        let kind = |node: &Handle| driver.node_kind(*node);
        let has_children = order.iter().any(|node| kind(node) == Some(CHILD_GRAPH));
        let kernels = order.iter().enumerate().filter(|(_, node)| kind(node) == Some(KERNEL));
        let kernels = kernels.filter_map(|(at, node)| Some((at, driver.kernel_node(*node)?.function())));
        let kernels = kernels.collect();
        let positions = order.iter().enumerate().map(|(at, node)| (*node as usize, at)).collect();
        Ok(Self { kernels, has_children, positions, order, copy: None, trouble: None })
    }

    /// Makes the copy of `graph`, of which this is known.
    pub fn copy(&mut self, driver: &Driver, graph: Handle) {
        let copied = driver.clone_graph(graph).and_then(|handle| {
            let copy = Owned { handle, is_executable: false };
            let nodes = self.order.iter().map(|node| driver.node_of_clone(*node, handle)).collect::<Result<Vec<Handle>, _>>()?;
            Ok((copy, nodes))
        });
        match copied {
            Ok(copy) => self.copy = Some(copy),
            Err(status) => self.trouble = Some(format!("the graph that it is in cannot be copied: the driver answers {status}")),
        }
    }

    /// Takes the program's change of a kernel in the executable graph.
    pub fn change_kernel(&mut self, driver: &Driver, node: Handle, kernel: &KernelNode) {
        let position = self.positions.get(&(node as usize)).copied();
        let Some(known) = self.kernels.iter_mut().find(|(at, _)| Some(*at) == position) else {
            self.change("cuGraphExecKernelNodeSetParams");
            return;
        };
        known.1 = kernel.function();
        let copied = self.copy.as_ref().and_then(|(_, nodes)| nodes.get(known.0));
        if copied.is_some_and(|copied| driver.set_kernel_node(*copied, kernel) != SUCCESS) {
            self.change("cuGraphExecKernelNodeSetParams");
        }
    }

    /// Takes note of a change of the executable graph that the copy does not have.
    pub fn change(&mut self, function: &str) {
        self.trouble = Some(format!("the graph that it is in was changed by {function} after it was made, which is not followed"));
    }

    /// The graph in parts, each of those kernels alone that are at `kept`, in this order.
    ///
    /// # Errors
    /// Why it cannot be launched so.
    pub fn parts(&self, driver: &Driver, kept: &[usize]) -> Result<Vec<Part>, String> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        let (copy, nodes) = self.copy.as_ref().ok_or("the graph that it is in has no copy")?;
        let mut ranges: Vec<(Range<usize>, Option<usize>)> = Vec::new();
        let mut from = 0;
        for (number, at) in kept.iter().enumerate() {
            ranges.push((from..*at, None));
            ranges.push((*at..at + 1, Some(number)));
            from = at + 1;
        }
        ranges.push((from..nodes.len(), None));
        let ranges = ranges.into_iter().filter(|(range, _)| !range.is_empty());
        let part = |(range, kept)| {
            part(driver, copy.handle, nodes, &range, kept)
                .map_err(|status| format!("the graph that it is in cannot be launched in parts: the driver answers {status}"))
        };
        ranges.map(part).collect()
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.order.len()
    }
}

/// The part of `copy` that has the nodes of a range.
fn part(driver: &Driver, copy: Handle, nodes: &[Handle], range: &Range<usize>, kept: Option<usize>) -> Result<Part, i32> {
    let graph = Owned { handle: driver.clone_graph(copy)?, is_executable: false };
    let mut own = ptr::null_mut();
    for (at, node) in nodes.iter().enumerate() {
        let node = driver.node_of_clone(*node, graph.handle)?;
        if range.contains(&at) {
            own = node;
        } else {
            driver.destroy_node(node)?;
        }
    }
    let executable = Owned { handle: driver.instantiate(graph.handle)?, is_executable: true };
    Ok(Part { executable, _graph: graph, kept, node: own })
}

impl Part {
    /// The executable graph.
    pub fn executable(&self) -> Handle {
        self.executable.handle
    }

    /// The launch of its kernel.
    pub fn launch(&self, driver: &Driver, stream: Handle) -> Option<Launch> {
        let KernelNode { grid, block, shared, params, extra, .. } = driver.kernel_node(self.node)?;
        let function = driver.kernel_node(self.node)?.function();
        let mut launch = Launch::new(function, grid, block, shared, stream, params, extra);
        launch.cooperative = driver.kernel_attribute(self.node, Attribute::COOPERATIVE).is_some_and(|[is, ..]| is != 0);
        let cluster = driver.kernel_attribute(self.node, Attribute::CLUSTER).map(|[x, y, z, ..]| [x, y, z]);
        launch.cluster = cluster.filter(|extents: &[c_uint; 3]| extents.iter().all(|extent| *extent > 0));
        Some(launch)
    }
}

/// The nodes of a graph, each after those that it depends on.
fn ordered(driver: &Driver, graph: Handle) -> Option<Vec<Handle>> {
    let nodes = driver.graph_nodes(graph)?;
    let edges = driver.graph_edges(graph)?;
    let mut next: HashMap<usize, Vec<Handle>> = HashMap::new();
    let mut waits: HashMap<usize, usize> = HashMap::new();
    for (from, to) in edges {
        next.entry(from as usize).or_default().push(to);
        *waits.entry(to as usize).or_default() += 1;
    }
    let mut order: Vec<Handle> = nodes.iter().copied().filter(|node| !waits.contains_key(&(*node as usize))).collect();
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        for to in next.remove(&(node as usize)).unwrap_or_default() {
            let left = waits.entry(to as usize).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                order.push(to);
            }
        }
        at += 1;
    }
    (order.len() == nodes.len()).then_some(order)
}
