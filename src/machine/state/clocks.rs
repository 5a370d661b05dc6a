//! The registers that hold clock values, or values computed from them.
//!
//! A thread that waits with a timeout or a back-off reads a clock in every iteration of its loop, so no two of its states are the same. To
//! detect that it loops forever, states are compared without such registers, and the clocks are advanced ([`ClockJump`]): a loop that ends
//! after some time ends then. A loop that ends at some values of the clock, such as multiples of 1024, has time to meet one: its iterations
//! take a constant number of ticks, but clocks are a little faster than ticks, so the values that it reads have no common divisor.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::base::Tick;
use crate::isa::IntBinary;
use crate::machine::state::special;
use crate::machine::state::warp::{Warp, frames};
use crate::program::operands::{RegisterOperand, Use, call_results, registers_of};
use crate::program::{Bank, ControlOp, Inst, IntegerOp, MoveOp, Op, Pc, Program, SrcKind};

/// The lengths of the jumps, as powers of two: from a thousand ticks to a quarter of an hour of nanoseconds.
const JUMPS: Range<u32> = 10..41;

/// The ratio of the lengths of two successive jumps, as a power of two.
const GROWTH: u32 = 6;

/// The numbers of ticks in which a clock gains one on the ticks: primes, so that few loops have a multiple of them as their length. With
/// one of them alone, clocks would never have one of the residues modulo the number after it.
const DRIFT_TICKS: [u64; 2] = [61, 4093];

/// The ticks for which a program that reads clocks spins before that is a livelock: many times the iterations of a short loop until its
/// clock has had each residue of a small divisor.
const MET_TICKS: u64 = 1 << 20;

/// The same for each residue of the greatest divisor that the program takes of a clock.
const MET_TICKS_OF_RESIDUE: u64 = 64;

/// The greatest divisor whose residues are waited for. Greater ones are those of times.
const DIVISOR_MAX: u64 = 1 << 20;

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
        let drift: u64 = DRIFT_TICKS.iter().map(|ticks| tick.0 / ticks).sum();
        tick.0.wrapping_add(drift).wrapping_add(self.offset)
    }

    /// Advances the clocks, each time by much more, and by an odd number: all residues move. False, without effect, after the longest jump.
    pub fn jump(&mut self) -> bool {
        if self.next >= JUMPS.end {
            return false;
        }
        assert!(JUMPS.contains(&self.next), "a jump of no length");
        self.offset = self.offset.wrapping_add((1 << self.next) + 1);
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
    /// The greatest divisor that the program takes of a clock.
    divisor: u64,
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
        let functions: Vec<(Range<u32>, Vec<RegisterOperand>)> = program.functions.iter().map(of).collect();
        let divisors = functions.iter().flat_map(|(code, registers)| {
            let code = &program.code[code.start as usize..code.end as usize];
            code.iter().filter_map(|inst| divisor(program, inst, registers))
        });
        let divisor = divisors.max().unwrap_or_default();
        Self { functions, divisor }
    }

    /// The ticks without an effect after which a warp that reads clocks has met every value of its clocks that it may wait for.
    pub fn met_ticks(&self) -> u64 {
        MET_TICKS.max(self.divisor * MET_TICKS_OF_RESIDUE)
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

/// The divisor whose residues of a clock, or of what is computed from one, `inst` computes: by a remainder or a mask.
fn divisor(program: &Program, inst: &Inst, clocks: &[RegisterOperand]) -> Option<u64> {
    let Op::Integer(IntegerOp::Binary { f: f @ (IntBinary::And | IntBinary::Rem), ty, a, b, .. }) = inst.op else { return None };
    let mut reads_clock = false;
    registers_of(inst, program, |used, register| {
        reads_clock |= used == Use::Read && clocks.iter().any(|clock| overlaps(*clock, register));
    });
    let constant = [a, b].into_iter().find_map(|source| match (source.kind(), ty.bank()) {
        (SrcKind::Const(index), Bank::B32) => program.consts32.get(index as usize).map(|word| u64::from(*word)),
        (SrcKind::Const(index), Bank::B64) => program.consts64.get(index as usize).copied(),
        (SrcKind::Const(_) | SrcKind::Reg(_) | SrcKind::Special(_), _) => None,
    })?;
    let divisor = if f == IntBinary::And { constant.checked_add(1)?.checked_next_power_of_two()? } else { constant };
    (reads_clock && divisor <= DIVISOR_MAX).then_some(divisor)
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
