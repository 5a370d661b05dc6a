//! The condition of a query, evaluated before each instruction that may do what is asked for.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::debug::eval_context::EvalContext;
use crate::debug::expression::{Compiled, Expression, Node, Operands, PartValues};
use crate::debug::focus::Focus;
use crate::machine::{Issue, LaneMask, Memories, Warp};

/// A warp by its block.
type WarpKey = ([u32; 3], u32);

/// Most warps whose values are kept.
const WARPS_MAX: usize = 4096;

/// A condition, and what of it is known by now.
pub(super) struct Condition<'q> {
    expression: &'q Expression,
    /// What of it depends on the thread alone.
    parts: Vec<Node>,
    /// What it means at an instruction, by its number.
    code: Vec<Option<Compiled>>,
    /// The values of the parts in each warp, and its number here by block and warp.
    warps: Vec<Vec<PartValues>>,
    numbers: BTreeMap<WarpKey, usize>,
    /// The warp that was looked up last, and its number.
    last: Cell<Option<(WarpKey, usize)>>,
    /// The launch that this is known of.
    launch: usize,
    /// The first error of those lanes that were tried, and whether another one had a value.
    tried: (Option<String>, bool),
}

impl<'q> Condition<'q> {
    pub fn new(expression: &'q Expression) -> Self {
        Self {
            expression,
            parts: expression.parts_of_threads(),
            code: Vec::new(),
            warps: Vec::new(),
            numbers: BTreeMap::new(),
            last: Cell::new(None),
            launch: 0,
            tried: (None, false),
        }
    }

    /// Why it had no value in any of the lanes that were tried: one for each instruction and warp.
    pub fn no_value(&self) -> Option<String> {
        let (error, had_value) = &self.tried;
        error.clone().filter(|_| !had_value)
    }

    /// The lanes of `lanes` for which it holds before an instruction; none if the machine must stand still to know.
    pub fn lanes(&self, issue: &Issue, warp: (&Warp, &Memories<'_>), lanes: LaneMask) -> Option<LaneMask> {
        let (holds, open) = self.decided(issue, warp, lanes)?;
        open.is_empty().then_some(holds)
    }

    fn decided(&self, issue: &Issue, (warp, memories): (&Warp, &Memories<'_>), lanes: LaneMask) -> Option<(LaneMask, LaneMask)> {
        let code = self.code.get(issue.point.pc.index())?.as_ref()?;
        let parts = if self.parts.is_empty() { &[][..] } else { self.parts_of(warp_of(issue))? };
        Some(code.decide(&Operands { registers: &warp.registers, frame: issue.frame, memories: *memories, parts }, lanes))
    }

    /// The values of the parts in a warp, if they are known.
    fn parts_of(&self, warp: WarpKey) -> Option<&[PartValues]> {
        let number = match self.last.get() {
            Some((last, number)) if last == warp => number,
            _ => *self.numbers.get(&warp)?,
        };
        self.last.set(Some((warp, number)));
        self.warps.get(number).map(Vec::as_slice)
    }

    fn forget_warps(&mut self) {
        self.warps.clear();
        self.numbers.clear();
        self.last.set(None);
    }

    /// Forgets what is known of another launch.
    pub fn at_launch(&mut self, launch: usize) {
        if launch != self.launch {
            self.code.clear();
            self.forget_warps();
            self.launch = launch;
        }
    }

    /// The lanes of `lanes` for which it holds; the machine of `context` stands before the instruction.
    pub fn evaluate(&mut self, context: &EvalContext<'_>, issue: &Issue, lanes: LaneMask) -> LaneMask {
        let (block, warp) = warp_of(issue);
        let at = |lane: usize| context.refocused(Focus { block, warp, lane: lane as u32, frame: 0 });
        let first = at(lanes.first());
        match self.expression.evaluate(&first) {
            Ok(_) => self.tried.1 = true,
            Err(error) => self.tried.0 = self.tried.0.take().or(Some(error.to_string())),
        }
        let pc = issue.point.pc.index();
        self.code.resize_with(self.code.len().max(pc + 1), || None);
        self.code[pc].get_or_insert_with(|| self.expression.compile(&first, &self.parts));
        if self.warps.len() >= WARPS_MAX {
            self.forget_warps();
        }
        if !self.numbers.contains_key(&(block, warp)) {
            self.numbers.insert((block, warp), self.warps.len());
            self.warps.push(PartValues::of_warp(&first, &self.parts));
        }
        let decided = first.block().ok().zip(first.warp().ok()).and_then(|(block, warp)| {
            let device = context.machine.device();
            let memories = Memories { global: device.global(), constant: device.constant_memory(), shared: &block.shared.pages };
            self.decided(issue, (warp, &memories), lanes)
        });
        let (holds, open) = decided.unwrap_or((LaneMask::NONE, lanes));
        holds | open.filter(|lane| self.expression.holds(&at(lane)))
    }
}

fn warp_of(issue: &Issue) -> WarpKey {
    (issue.point.block, issue.point.warp.number())
}
