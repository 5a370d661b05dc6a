//! `cfg`: the control flow of the focused function, with the lanes that stand in each block.

use super::divergence::{Divergence, divergence};
use super::standing::standings;
use crate::cfg::{BlockId, ControlFlow};
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;
use crate::machine::{Coverage, LaneMask, Tally};
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
    /// The block where ways that part here meet again, by index; only of blocks with several ways out.
    pub meeting: Option<usize>,
    /// Whether ways that part at another block meet again here.
    pub joins: bool,
    /// If the groups of the focused warp will stand together again here: lanes of each, the one that runs next first.
    pub meets: Vec<u32>,
    /// Loops around it.
    pub loop_depth: u32,
    /// Whether a loop is entered here.
    pub loop_header: bool,
    /// Lanes of the focused warp that stand in it.
    pub lanes: LaneMask,
    /// Threads of the focused block that stand in it.
    pub threads: u32,
    /// Whether the focused lane is among them.
    pub focused: bool,
    /// How often it has run; none if the machine does not keep count.
    pub counts: Option<BlockCounts>,
}

/// How often a block has run: lanes of all blocks of the grid, since the launch began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCounts {
    /// Lanes that executed its first instruction.
    pub entered: u64,
    /// Lanes that went from it to each of its successors.
    pub taken: Vec<u64>,
}

/// The control flow of `function`, with the threads that stand in it.
pub fn control_flow(scene: &Scene<'_>, function: FuncId) -> CfgView {
    let program = scene.program();
    let flow = ControlFlow::new(program, function);
    let tally = scene.machine.coverage().map(Coverage::tally);
    let standings = standings(scene, &ThreadFilter::of_block(&scene.focus));
    let view = |(id, code): (BlockId, std::ops::Range<u32>)| {
        let here = || standings.iter().filter(|standing| code.contains(&standing.pc.0));
        let own = here().filter(|standing| standing.warp == scene.focus.warp);
        let lanes = own.fold(0, |mask, standing| mask | standing.lanes);
        let successors = flow.successors(id);
        let depth = flow.loops().iter().filter(|each| each.blocks.contains(&id)).map(|each| each.depth).max();
        BlockView {
            name: name(program, function, id, code.start),
            lines: (line(program, code.start), line(program, code.end.saturating_sub(1).max(code.start))),
            successors: successors.iter().map(|block| block.index()).collect(),
            joins: false,
            meets: Vec::new(),
            meeting: flow.ipdom(id).filter(|_| successors.len() > 1).map(BlockId::index),
            loop_depth: depth.unwrap_or(0),
            loop_header: flow.loops().iter().any(|each| each.header == id),
            lanes,
            threads: here().map(|standing| standing.lanes.count_ones()).sum(),
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

fn counts(program: &Program, tally: &Tally<'_>, flow: &ControlFlow, block: BlockId) -> BlockCounts {
    let code = flow.code(block);
    let last = Pc(code.end.saturating_sub(1));
    let taken = flow.successors(block).iter().map(|next| tally.went(program, last, Pc(flow.code(*next).start)));
    BlockCounts { entered: tally.lanes(Pc(code.start)), taken: taken.collect() }
}

/// Marks blocks where ways meet, and the one where the groups of the focused warp will.
fn mark_joins(scene: &Scene<'_>, blocks: &mut [BlockView]) {
    for block in 0..blocks.len() {
        let meeting = blocks.get(block).and_then(|block| block.meeting);
        if let Some(block) = meeting.and_then(|block| blocks.get_mut(block)) {
            block.joins = true;
        }
    }
    let Ok(Divergence { meeting: Some(pc), groups, .. }) = divergence(scene) else { return };
    if let Some(block) = blocks.iter_mut().find(|block| block.code.contains(&pc.0)) {
        block.meets = groups.iter().map(|group| group.lanes.count_ones()).collect();
    }
}

fn name(program: &Program, function: FuncId, block: BlockId, start: u32) -> String {
    let function = &program.functions[function.index()];
    let label = function.labels.iter().find(|(_, pc)| pc.0 == start).map(|(label, _)| label.to_string());
    let unnamed = || if start == function.code.start { "entry".to_string() } else { format!("bb{}", block.0) };
    label.unwrap_or_else(unnamed)
}

/// The line of the PTX text, from 1.
pub(super) fn line(program: &Program, pc: u32) -> u32 {
    let span = program.spans.get(Pc(pc).index());
    span.map_or(0, |span| program.sources_text.position(*span).line)
}
