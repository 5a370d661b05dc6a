//! The tensor that a statement of the source gives in one of its executions, whenever each warp of the block comes to it.

use crate::debug::breakpoints::{Breakpoint, Breakpoints, Trigger};
use crate::debug::focus::ThreadFilter;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::stop::{Direction, Goal, Reason};
use crate::debug::tensors::reader::Reader;
use crate::debug::value::Tensor;
use crate::machine::Tick;
use crate::program::Pc;

/// Most stops for other reasons on the way to a statement.
const OTHER_STOPS_MAX: u32 = 1000;

const INTERRUPTED: &str = "the run was interrupted";

/// An execution of a statement of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The line of the source; the last that gives the variable a value if there is none.
    pub line: Option<u32>,
    /// The block.
    pub block: [u32; 3],
    /// The executions of the statement before it.
    pub iteration: u64,
}

impl Session {
    /// The tensor that the statement gives the variable `name`. Each warp's part is read when the warp has executed the statement. The
    /// session goes through the run for it, and is somewhere else afterwards.
    ///
    /// # Errors
    /// In words: there is no such variable or statement, it is not executed that often, or its registers are not known.
    pub fn tensor_given(&mut self, name: &str, execution: Execution, interrupt: &mut dyn InterruptCheck) -> Result<Tensor, String> {
        let breakpoints = std::mem::take(&mut self.breakpoints);
        let result = self.tensor_of_execution(name, execution, interrupt);
        self.breakpoints = breakpoints;
        result
    }

    fn tensor_of_execution(&mut self, name: &str, at: Execution, interrupt: &mut dyn InterruptCheck) -> Result<Tensor, String> {
        const MISSING: &str = "there is no description of tensors (NAME.ttgir beside NAME.ptx)";
        let context = self.eval_context();
        let tensors = context.tensors().ok_or(MISSING)?;
        let given = tensors.given(name, at.line)?;
        let (line, is_number) = (given.line, tensors.module().value(given.value).is_number());
        let pcs: Vec<Pc> = given.stops.iter().copied().map(Pc).collect();
        let threads = self.machine().config().block.iter().product::<u32>();
        let warps = if is_number || given.is_computed { 1 } else { threads.div_ceil(crate::machine::LANES as u32) };
        let start = Pc(self.program().functions[tensors.kernel().index()].code.start);
        let mut elements: Option<Vec<Option<u128>>> = None;
        for warp in 0..warps {
            let place = if pcs.is_empty() { vec![start] } else { pcs.clone() };
            let pc = self.run_warp_past(place, (warp, line), at, interrupt)?;
            let context = self.eval_context();
            let tensors = context.tensors().ok_or(MISSING)?;
            let current = tensors.given(name, at.line)?.current();
            let own = Reader::new(tensors, &context, pc.0 + 1).of_warp(&current, warp);
            elements = Some(match elements {
                None => own,
                Some(all) => all.into_iter().zip(own).map(|(all, own)| all.or(own)).collect(),
            });
            if warp + 1 == warps {
                let reader = Reader::new(tensors, &context, pc.0 + 1);
                let tensor = reader.with_elements(&current, elements.as_deref().unwrap_or_default(), None);
                return tensor.ok_or_else(|| format!("'{name}' is no tensor of numbers"));
            }
        }
        Err(format!("block {:?} has no warp", at.block))
    }

    /// Runs until a warp has executed one of these instructions as often as wanted; returns the instruction.
    fn run_warp_past(
        &mut self,
        pcs: Vec<Pc>,
        (warp, line): (u32, u32),
        at: Execution,
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<Pc, String> {
        self.breakpoints = Breakpoints::default();
        let filter = ThreadFilter { block: Some(at.block), warp: Some(warp), ..ThreadFilter::default() };
        self.breakpoints.add(Breakpoint { filter, ..Breakpoint::new(Trigger::Code(pcs), "tensor") });
        self.seek(Tick(0), interrupt);
        let (mut hits, mut others) = (0, 0);
        loop {
            let goal = if self.time() == Tick(0) { Goal::Run } else { Goal::Continue };
            let stop = self.resume(&goal, Direction::Forward, interrupt).map_err(|error| error.to_string())?;
            let is_interrupted = stop.reasons.iter().any(|reason| matches!(reason, Reason::Interrupted));
            if stop.reasons.iter().any(|reason| matches!(reason, Reason::Breakpoint { .. })) {
                let pc = self.eval_context().frame().map_err(|error| error.to_string())?.pc;
                self.finish_instruction(pc, interrupt)?;
                if hits == at.iteration {
                    return Ok(pc);
                }
                hits += 1;
            } else if is_interrupted || self.ended().is_some() || others == OTHER_STOPS_MAX {
                return Err(if is_interrupted { INTERRUPTED.to_string() } else { self.too_few((warp, line), at, hits) });
            } else {
                others += 1;
            }
        }
    }

    /// Why a line has not been executed as often as wanted: it was `hits` times.
    fn too_few(&self, (warp, line): (u32, u32), at: Execution, hits: u64) -> String {
        let ([x, y, z], [width, height, depth]) = (at.block, self.machine().config().grid);
        if x >= width || y >= height || z >= depth {
            return format!("there is no block ({x},{y},{z}) in a grid of ({width},{height},{depth})");
        }
        match hits {
            0 => format!("warp {warp} of block ({x},{y},{z}) does not execute line {line}"),
            _ => format!(
                "line {line} is executed {} by warp {warp} of block ({x},{y},{z}), and iteration {} is wanted: the first is 0",
                if hits == 1 { "once".to_string() } else { format!("{hits} times") },
                at.iteration
            ),
        }
    }

    /// Lets the focused warp execute the instruction at `pc` to its end. One that waits for other warps is executed again when they have
    /// come.
    fn finish_instruction(&mut self, pc: Pc, interrupt: &mut dyn InterruptCheck) -> Result<(), String> {
        let step = Goal::Instruction { count: 1, over_calls: true };
        for _ in 0..OTHER_STOPS_MAX {
            let stop = self.resume(&step, Direction::Forward, interrupt).map_err(|error| error.to_string())?;
            if stop.reasons.iter().any(|reason| matches!(reason, Reason::Interrupted)) {
                return Err(INTERRUPTED.to_string());
            }
            if self.ended().is_some() || self.eval_context().frame().is_ok_and(|frame| frame.pc != pc) {
                break;
            }
        }
        Ok(())
    }
}
