//! The registers that hold clock values, or values computed from them.
//!
//! A thread that waits with a timeout or a back-off reads a clock in every iteration of its loop, so no two of its states are the same. To
//! detect that it loops forever, states are compared without such registers, and the clocks are advanced ([`ClockJump`]): a loop that ends
//! after some time ends then.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::base::Tick;
use crate::machine::state::special;
use crate::machine::state::warp::{Warp, frames};
use crate::program::operands::{RegisterOperand, Use, call_results, registers_of};
use crate::program::{ControlOp, Inst, MoveOp, Op, Pc, Program};

/// The lengths of the jumps, as powers of two: from a thousand ticks to a quarter of an hour of nanoseconds.
const JUMPS: Range<u32> = 10..41;

/// The ratio of the lengths of two successive jumps, as a power of two.
const GROWTH: u32 = 6;

/// The offset of the clocks from the ticks, which grows in jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockJump {
    /// Ticks by which clocks are ahead of the run.
    offset: u64,
    /// The next jump, as a power of two.
    next: u32,
}

impl Default for ClockJump {
    fn default() -> Self {
        Self { offset: 0, next: JUMPS.start }
    }
}

impl ClockJump {
    /// The value of a clock at `tick`.
    pub fn clock(self, tick: Tick) -> u64 {
        tick.0.wrapping_add(self.offset)
    }

    /// Advances the clocks, each time by much more. False, without effect, after the longest jump.
    pub fn jump(&mut self) -> bool {
        if self.next >= JUMPS.end {
            return false;
        }
        assert!(JUMPS.contains(&self.next), "a jump of no length");
        self.offset = self.offset.wrapping_add(1 << self.next);
        self.next += GROWTH;
        true
    }

    /// An effect occurred: makes the next jump the shortest again.
    pub fn reset(&mut self) {
        self.next = JUMPS.start;
    }
}

/// For each function, the registers that hold clock values, or values computed from them.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// By function; empty for a program that reads no clock.
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
            let registers = clock_registers(program, &program.code[code.start as usize..code.end as usize]);
            (code, registers)
        };
        Self { functions: program.functions.iter().map(of).collect() }
    }

    /// True if the program reads no clock.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Adds the registers of a warp to `state`, without those that depend on clocks.
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

/// The registers to which every write in `code` computes a value from a clock or from other such registers: a loop counter is none, even if
/// its first value is a clock's. Loaded values and results of calls do not count as computed.
fn clock_registers(program: &Program, code: &[Inst]) -> Vec<RegisterOperand> {
    let mut found: Vec<RegisterOperand> = Vec::new();
    loop {
        let (mut from_clocks, mut others) = (Vec::new(), Vec::new());
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
            let list = if depends { &mut from_clocks } else { &mut others };
            list.extend(written);
        }
        from_clocks.retain(|register| !found.contains(register) && !others.iter().any(|other| overlaps(*other, *register)));
        from_clocks.sort_unstable();
        from_clocks.dedup();
        if from_clocks.is_empty() {
            return found;
        }
        found.extend(from_clocks);
    }
}

fn overlaps(a: RegisterOperand, b: RegisterOperand) -> bool {
    a.bank == b.bank && a.slot < b.slot.offset(b.width) && b.slot < a.slot.offset(a.width)
}
