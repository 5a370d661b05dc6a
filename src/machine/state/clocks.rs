//! Registers that say what time it is, and what is worked out from them.
//!
//! A thread that waits with a limit or a back-off reads a clock in every iteration of its loop, so no two of its states are the same. To
//! detect that it loops forever, states are compared without such registers; what depends on the time is decided by letting it pass
//! ([`ClockJump`]): a loop that ends after some time ends then.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::base::Tick;
use crate::machine::state::special;
use crate::machine::state::warp::{Warp, frames};
use crate::program::operands::{RegisterOperand, Use, call_results, registers_of};
use crate::program::{ControlOp, Inst, MoveOp, Op, Pc, Program};

/// The first jump, and the one after the last, as powers of two: from a thousand ticks to a quarter of an hour of nanoseconds.
const JUMPS: Range<u32> = 10..41;

/// The ratio of the lengths of two successive jumps, as a power of two.
const GROWTH: u32 = 6;

/// The offset of the clocks to the ticks, and the jumps that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockJump {
    /// Ticks that clocks are ahead of the run.
    ahead: u64,
    /// The next jump, as a power of two.
    next: u32,
}

impl Default for ClockJump {
    fn default() -> Self {
        Self { ahead: 0, next: JUMPS.start }
    }
}

impl ClockJump {
    /// The value of a clock at `tick`.
    pub fn clock(self, tick: Tick) -> u64 {
        tick.0.wrapping_add(self.ahead)
    }

    /// Lets time pass, each time much more; false, and it does not, once it has passed for longer than anything waits.
    pub fn jump(&mut self) -> bool {
        if self.next >= JUMPS.end {
            return false;
        }
        assert!(JUMPS.contains(&self.next), "a jump of no length");
        self.ahead = self.ahead.wrapping_add(1 << self.next);
        self.next += GROWTH;
        true
    }

    /// An effect occurred: the next jump is short again.
    pub fn rest(&mut self) {
        self.next = JUMPS.start;
    }
}

/// For each function, the registers that hold clock values, or what was computed from them.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// By function; nothing at all for a program that reads no clock.
    functions: Vec<(Range<u32>, Vec<RegisterOperand>)>,
}

impl Clocks {
    /// The clock reads of a program.
    pub fn new(program: &Program) -> Self {
        if !program.code.iter().any(reads_clock) {
            return Self::default();
        }
        let of = |function: &crate::program::Function| {
            let code = function.code.clone();
            let registers = derived(program, &program.code[code.start as usize..code.end as usize]);
            (code, registers)
        };
        Self { functions: program.functions.iter().map(of).collect() }
    }

    /// Whether the program reads no clock.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Adds the registers of a warp to `state`, those that depend on clocks left out.
    pub fn hash_registers<H: Hasher>(&self, warp: &Warp, state: &mut H) {
        if self.is_empty() {
            return warp.registers.hash(state);
        }
        let mut registers = warp.registers.clone();
        for group in &warp.groups {
            let calls = frames(&group.stack).map(|call| (call.pc, call.caller));
            for (pc, frame) in [(group.pc, group.frame)].into_iter().chain(calls) {
                self.of(pc).iter().for_each(|register| registers.clear_slots(frame, *register));
            }
        }
        registers.hash(state);
    }

    fn of(&self, pc: Pc) -> &[RegisterOperand] {
        let function = self.functions.iter().find(|(code, _)| code.contains(&pc.0));
        function.map_or(&[], |(_, registers)| registers)
    }
}

fn reads_clock(inst: &Inst) -> bool {
    matches!(inst.op, Op::Move(MoveOp::ReadSpecial { register, .. }) if special::is_clock(register))
}

/// The registers that every write in `code` makes from a clock, or from others that are known by then: so none that counts, even from a
/// clock on. What is loaded is not among them, nor what a call gives back: a state that differs only there counts as another one.
fn derived(program: &Program, code: &[Inst]) -> Vec<RegisterOperand> {
    let mut found: Vec<RegisterOperand> = Vec::new();
    loop {
        let (mut made, mut others) = (Vec::new(), Vec::new());
        for inst in code {
            let (mut depends, mut written) = (reads_clock(inst), Vec::new());
            registers_of(inst, program, |used, register| match used {
                Use::Write => written.push(register),
                Use::Read => depends |= inst.op.effects(program).only_computes() && found.iter().any(|other| overlaps(*other, register)),
                Use::Guard | Use::Address => {}
            });
            if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
                others.extend(call_results(program, call));
            }
            let list = if depends { &mut made } else { &mut others };
            list.extend(written);
        }
        made.retain(|register| !found.contains(register) && !others.iter().any(|other| overlaps(*other, *register)));
        made.sort_unstable();
        made.dedup();
        if made.is_empty() {
            return found;
        }
        found.extend(made);
    }
}

fn overlaps(a: RegisterOperand, b: RegisterOperand) -> bool {
    a.bank == b.bank && a.slot < b.slot.offset(b.width) && b.slot < a.slot.offset(a.width)
}
