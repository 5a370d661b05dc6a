//! `cfg`: the control flow of the focused function, with the lanes that stand in each block.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::divergence::{Divergence, divergence};
use super::location::{LaneLocation, lane_locations};
use crate::cfg::{BlockId, ControlFlow, pushed_targets};
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;
use crate::machine::{Coverage, DivergencePolicy, LaneMask, Tally};
use crate::program::{FuncId, Pc, Program};

/// The control flow of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfgView {
    /// The function.
    pub function: String,
    /// Its blocks in the order of the text.
    pub blocks: Vec<BlockView>,
}

/// One block of straight code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Its label, or `entry`, or `bb3` if it has none.
    pub name: String,
    /// Its instructions.
    pub code: std::ops::Range<u32>,
    /// Lines of the PTX text, first and last.
    pub lines: (u32, u32),
    /// Blocks that control can go to, by index.
    pub successors: Vec<usize>,
    /// The block where lanes that diverge here reconverge, by index; only of blocks with several successors.
    pub reconvergence: Option<usize>,
    /// Whether paths that diverge at another block reconverge here.
    pub joins: bool,
    /// If the groups of the focused warp will reconverge here: lanes of each, the one that runs next first.
    pub meets: Vec<u32>,
    /// Loops around it.
    pub loop_depth: u32,
    /// Whether a loop is entered here.
    pub loop_header: bool,
    /// Lanes of the focused warp that are in it.
    pub lanes: LaneMask,
    /// Threads of the focused block that are in it.
    pub threads: u32,
    /// Whether the focused lane is among them.
    pub focused: bool,
    /// How often it was executed; none if the machine does not count.
    pub counts: Option<BlockCounts>,
}

/// How often a block was executed: lanes of all blocks of the grid, since the launch began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCounts {
    /// Lanes that executed its first instruction.
    pub entered: u64,
    /// Lanes that went from it to each of its successors.
    pub taken: Vec<u64>,
}

/// The control flow of `function`, with the threads that are in it.
pub fn control_flow(scene: &Scene<'_>, function: FuncId) -> CfgView {
    let program = scene.program();
    let flow = ControlFlow::new(program, function);
    let tally = scene.machine.coverage().map(Coverage::tally);
    let places = Places::new(program, function, &flow, lane_locations(scene, &ThreadFilter::of_block(&scene.focus)));
    let reconvergence = reconvergence_blocks(scene, function, &flow);
    let view = |(id, code): (BlockId, std::ops::Range<u32>)| {
        let here = &places.lane_locations[id.index()];
        let own = here.iter().filter(|location| location.warp == scene.focus.warp);
        let lanes = own.fold(LaneMask::NONE, |mask, location| mask | location.lanes);
        let successors = flow.successors(id);
        BlockView {
            name: places.name(id, &code),
            lines: (line(program, code.start), line(program, code.end.saturating_sub(1).max(code.start))),
            successors: successors.iter().map(|block| block.index()).collect(),
            joins: false,
            meets: Vec::new(),
            reconvergence: reconvergence[id.index()].filter(|_| successors.len() > 1).map(BlockId::index),
            loop_depth: places.depths[id.index()],
            loop_header: places.headers.contains(&id),
            lanes,
            threads: here.iter().map(|location| location.lanes.count()).sum(),
            focused: scene.is_focused(lanes),
            counts: tally.as_ref().map(|tally| counts(program, tally, &flow, id)),
            code,
        }
    };
    // The closing brace is an instruction of ours: a block that nothing comes to is nothing to look at.
    let is_brace = |id: BlockId, code: &std::ops::Range<u32>| id.0 > 0 && code.len() == 1 && flow.predecessors(id).is_empty();
    let end = program.functions[function.index()].code.end;
    let mut blocks: Vec<BlockView> = flow.blocks().filter(|(id, code)| !(code.end == end && is_brace(*id, code))).map(view).collect();
    mark_joins(scene, &mut blocks);
    CfgView { function: program.functions[function.index()].name.to_string(), blocks }
}

/// By block: the block where lanes that diverge at its end reconverge.
fn reconvergence_blocks(scene: &Scene<'_>, function: FuncId, flow: &ControlFlow) -> Vec<Option<BlockId>> {
    let program = scene.program();
    let config = scene.machine.config();
    match config.divergence {
        DivergencePolicy::Independent => flow.blocks().map(|(id, _)| flow.ipdom(id)).collect(),
        DivergencePolicy::Stack if function != config.kernel && program.functions[function.index()].is_kernel => {
            pushed_targets(program, function).into_iter().map(|places| places.last().copied()).collect()
        }
        DivergencePolicy::Stack => {
            let last = |code: std::ops::Range<u32>| scene.machine.pushed_targets_at(Pc(code.end.saturating_sub(1))).last().copied();
            flow.blocks().map(|(_, code)| flow.block_of(last(code)?)).collect()
        }
    }
}

fn counts(program: &Program, tally: &Tally<'_>, flow: &ControlFlow, block: BlockId) -> BlockCounts {
    let code = flow.code(block);
    let last = Pc(code.end.saturating_sub(1));
    let taken = flow.successors(block).iter().map(|next| tally.went(program, last, Pc(flow.code(*next).start)));
    BlockCounts { entered: tally.lanes(Pc(code.start)), taken: taken.collect() }
}

/// Marks reconvergence points, and the one of the groups of the focused warp.
fn mark_joins(scene: &Scene<'_>, blocks: &mut [BlockView]) {
    for block in 0..blocks.len() {
        let reconvergence = blocks.get(block).and_then(|block| block.reconvergence);
        if let Some(block) = reconvergence.and_then(|block| blocks.get_mut(block)) {
            block.joins = true;
        }
    }
    let Ok(Divergence { reconvergence: Some(pc), groups, .. }) = divergence(scene) else { return };
    if let Some(block) = blocks.iter_mut().find(|block| block.code.contains(&pc.0)) {
        block.meets = groups.iter().map(|group| group.lanes.count()).collect();
    }
}

/// Tables that are looked up for every block: a function may have tens of thousands of them.
struct Places<'a> {
    /// Start of the function's code.
    entry: u32,
    /// Labels by their instruction, the first of several.
    labels: BTreeMap<u32, &'a str>,
    /// Loops around each block.
    depths: Vec<u32>,
    /// Blocks at which a loop is entered.
    headers: BTreeSet<BlockId>,
    /// Groups of lanes that stand in each block.
    lane_locations: Vec<Vec<LaneLocation>>,
}

impl<'a> Places<'a> {
    fn new(program: &'a Program, function: FuncId, flow: &ControlFlow, groups: Vec<LaneLocation>) -> Self {
        let function = &program.functions[function.index()];
        let mut labels = BTreeMap::new();
        function.labels.iter().for_each(|(label, pc)| {
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
    /// The blocks nearest to the focused one, `max` at most, in the order of the text: one step along edges, forwards or back, is as
    /// near as another. Successors and meetings that are left out are not named.
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
