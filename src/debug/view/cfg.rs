//! `cfg`: the control-flow graph of the focused function, with the lanes in each basic block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::divergence::{Divergence, divergence};
use super::location::{LaneLocation, lane_locations};
use crate::cfg::{BlockId, ControlFlow, pushed_targets};
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;
use crate::machine::{Coverage, DivergencePolicy, LaneMask, Tally};
use crate::program::{FuncId, Pc, Program, demangled, is_debug_label};

/// The control-flow graph of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfgView {
    /// The function.
    pub function: String,
    /// Its blocks in the order of the text.
    pub blocks: Vec<BlockView>,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Its label, or `entry`, or `bb3` if it has none but those of debug data and mangled names.
    pub name: String,
    /// Its instructions.
    pub code: std::ops::Range<u32>,
    /// Lines of the PTX text, first and last.
    pub lines: (u32, u32),
    /// Its successors, by index.
    pub successors: Vec<usize>,
    /// The block where lanes that diverge here reconverge, by index; only for blocks with several successors.
    pub reconvergence: Option<usize>,
    /// True if paths that diverge at another block reconverge here.
    pub is_reconvergence: bool,
    /// If the diverged lanes of the focused warp will reconverge here: the number of lanes of each group, the one that runs next first.
    pub reconverging: Vec<u32>,
    /// Loop nesting depth.
    pub loop_depth: u32,
    /// True if it is a loop header.
    pub loop_header: bool,
    /// Lanes of the focused warp that are in it.
    pub lanes: LaneMask,
    /// Number of threads of the focused block that are in it.
    pub threads: u32,
    /// True if the focused lane is among them.
    pub focused: bool,
    /// Its execution counts; none if the machine does not count.
    pub counts: Option<BlockCounts>,
}

/// Execution counts of a basic block: lanes of the whole grid, since the launch began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCounts {
    /// Lanes that executed its first instruction.
    pub entered: u64,
    /// Lanes that took the edge to each successor.
    pub taken: Vec<u64>,
}

/// The control-flow graph of `function`, with the threads in it.
pub fn control_flow(context: &EvalContext<'_>, function: FuncId) -> CfgView {
    let program = context.program();
    let flow = ControlFlow::new(program, function);
    let tally = context.machine.coverage().map(Coverage::tally);
    let tables = BlockTables::new(program, function, &flow, lane_locations(context, &ThreadFilter::of_block(&context.focus)));
    let reconvergence = reconvergence_blocks(context, function, &flow);
    let view = |(id, code): (BlockId, std::ops::Range<u32>)| {
        let here = &tables.lane_locations[id.index()];
        let of_warp = here.iter().filter(|location| location.warp == context.focus.warp);
        let lanes = of_warp.fold(LaneMask::NONE, |mask, location| mask | location.lanes);
        let successors = flow.successors(id);
        BlockView {
            name: tables.name(id, &code),
            lines: (line(program, code.start), line(program, code.end.saturating_sub(1).max(code.start))),
            successors: successors.iter().map(|block| block.index()).collect(),
            is_reconvergence: false,
            reconverging: Vec::new(),
            reconvergence: reconvergence[id.index()].filter(|_| successors.len() > 1).map(BlockId::index),
            loop_depth: tables.depths[id.index()],
            loop_header: tables.headers.contains(&id),
            lanes,
            threads: here.iter().map(|location| location.lanes.count()).sum(),
            focused: context.is_focused(lanes),
            counts: tally.as_ref().map(|tally| counts(program, tally, &flow, id)),
            code,
        }
    };
    // The closing brace is compiled to a return of its own, which is usually unreachable: it is not shown then.
    let is_brace = |id: BlockId, code: &std::ops::Range<u32>| id.0 > 0 && code.len() == 1 && flow.predecessors(id).is_empty();
    let end = program.functions[function.index()].code.end;
    let mut blocks: Vec<BlockView> = flow.blocks().filter(|(id, code)| !(code.end == end && is_brace(*id, code))).map(view).collect();
    mark_reconvergence(context, &mut blocks);
    CfgView { function: program.functions[function.index()].name.to_string(), blocks }
}

/// For each block, the block where lanes that diverge at its end reconverge.
fn reconvergence_blocks(context: &EvalContext<'_>, function: FuncId, flow: &ControlFlow) -> Vec<Option<BlockId>> {
    let program = context.program();
    let config = context.machine.config();
    match config.divergence {
        DivergencePolicy::Independent => flow.blocks().map(|(id, _)| flow.ipdom(id)).collect(),
        DivergencePolicy::Stack if function != config.kernel && program.functions[function.index()].is_kernel => {
            pushed_targets(program, function).into_iter().map(|targets| targets.last().copied()).collect()
        }
        DivergencePolicy::Stack => {
            let last = |code: std::ops::Range<u32>| context.machine.pushed_targets_at(Pc(code.end.saturating_sub(1))).last().copied();
            flow.blocks().map(|(_, code)| flow.block_of(last(code)?)).collect()
        }
    }
}

fn counts(program: &Program, tally: &Tally<'_>, flow: &ControlFlow, block: BlockId) -> BlockCounts {
    let code = flow.code(block);
    let last = Pc(code.end.saturating_sub(1));
    let taken = flow.successors(block).iter().map(|next| tally.edge_lanes(program, last, Pc(flow.code(*next).start)));
    BlockCounts { entered: tally.lanes(Pc(code.start)), taken: taken.collect() }
}

/// Marks reconvergence points, and the next one of the focused warp's diverged lanes.
fn mark_reconvergence(context: &EvalContext<'_>, blocks: &mut [BlockView]) {
    for block in 0..blocks.len() {
        let reconvergence = blocks.get(block).and_then(|block| block.reconvergence);
        if let Some(block) = reconvergence.and_then(|block| blocks.get_mut(block)) {
            block.is_reconvergence = true;
        }
    }
    let Ok(Divergence { reconvergence: Some(pc), groups, .. }) = divergence(context) else { return };
    if let Some(block) = blocks.iter_mut().find(|block| block.code.contains(&pc.0)) {
        block.reconverging = groups.iter().map(|group| group.lanes.count()).collect();
    }
}

/// Lookup tables for the blocks of a function, which may have tens of thousands of them.
struct BlockTables<'a> {
    /// Start of the function's code.
    entry: u32,
    /// Labels that branches name by their instruction, the first of several.
    labels: BTreeMap<u32, &'a str>,
    /// Loop nesting depth of each block.
    depths: Vec<u32>,
    /// Loop headers.
    headers: BTreeSet<BlockId>,
    /// The lanes in each block.
    lane_locations: Vec<Vec<LaneLocation>>,
}

impl<'a> BlockTables<'a> {
    fn new(program: &'a Program, function: FuncId, flow: &ControlFlow, groups: Vec<LaneLocation>) -> Self {
        let function = &program.functions[function.index()];
        let mut labels = BTreeMap::new();
        let names = function.labels.iter().filter(|(label, _)| !is_debug_label(label) && demangled(label).is_none());
        names.for_each(|(label, pc)| {
            labels.entry(pc.0).or_insert(&**label);
        });
        let count = flow.blocks().count();
        let (mut depths, mut lane_locations) = (vec![0; count], vec![Vec::new(); count]);
        for each in flow.loops() {
            each.blocks.iter().for_each(|block| depths[block.index()] = each.depth.max(depths[block.index()]));
        }
        for group in groups {
            if let Some(block) = flow.block_of(group.pc) {
                lane_locations[block.index()].push(group);
            }
        }
        Self { entry: function.code.start, labels, depths, headers: flow.loops().iter().map(|each| each.header).collect(), lane_locations }
    }

    /// The label of a block, or a name for one that has none.
    fn name(&self, block: BlockId, code: &std::ops::Range<u32>) -> String {
        match self.labels.get(&code.start) {
            Some(label) => (*label).to_string(),
            None if code.start == self.entry => "entry".to_string(),
            None => format!("bb{}", block.0),
        }
    }
}

impl CfgView {
    /// The `max` blocks nearest to the focused one, by number of edges in either direction, in the order of the text. Edges to other blocks
    /// are removed.
    #[must_use]
    pub fn around_focus(&self, max: usize) -> Self {
        let focus = self.blocks.iter().position(|block| block.focused).unwrap_or(0);
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (from, block) in self.blocks.iter().enumerate() {
            block.successors.iter().filter(|to| **to < self.blocks.len()).for_each(|to| predecessors[*to].push(from));
        }
        let (mut near, mut queue) = (BTreeSet::from([focus]), VecDeque::from([focus]));
        while let Some(block) = queue.pop_front() {
            for next in self.blocks[block].successors.iter().chain(&predecessors[block]).copied() {
                if near.len() < max && next < self.blocks.len() && near.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        let index_of: BTreeMap<usize, usize> = near.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let renumber = |block: &BlockView| {
            let kept = |index: &usize| block.successors.get(*index).is_some_and(|to| index_of.contains_key(to));
            let edges: Vec<usize> = (0..block.successors.len()).filter(kept).collect();
            let counts = block.counts.as_ref().map(|counts| BlockCounts {
                entered: counts.entered,
                taken: edges.iter().filter_map(|edge| counts.taken.get(*edge).copied()).collect(),
            });
            let successors = edges.iter().filter_map(|edge| index_of.get(&block.successors[*edge]).copied()).collect();
            let reconvergence = block.reconvergence.and_then(|reconvergence| index_of.get(&reconvergence).copied());
            BlockView { successors, reconvergence, counts, ..block.clone() }
        };
        Self { function: self.function.clone(), blocks: near.iter().map(|block| renumber(&self.blocks[*block])).collect() }
    }
}

/// The line of the PTX text, from 1.
pub(super) fn line(program: &Program, pc: u32) -> u32 {
    let span = program.spans.get(Pc(pc).index());
    span.map_or(0, |span| program.sources_text.position(*span).line)
}
