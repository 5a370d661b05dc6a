//! The fidelity of a run: which of the instructions that it executed are known to give the results of hardware, which follow the
//! manual alone, which only approximate; and whether anything approximated has decided more than a value.
//!
//! The interpreter executes one warp-instruction after the other, so all threads agree on the order of all accesses: it is
//! sequentially consistent, and never shows what the weaker memory model of PTX would allow besides.

use std::collections::{BTreeMap, BTreeSet};

pub use super::value_flow::Decides;
use super::value_flow::{AccessedBuffers, FollowedSources, ValueFlow};
use crate::isa::{Trust, trust};
use crate::machine::Machine;
use crate::program::{Effect, Pc, Program};

/// The fidelity of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// The opcodes that were executed: those known to be exact first, then by name.
    pub opcodes: Vec<OpcodeFidelity>,
    /// The influences of results of approximate instructions: the first instruction of each kind.
    pub decided: Vec<(Decides, String)>,
}

/// An opcode that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpcodeFidelity {
    /// As PTX spells it.
    pub opcode: String,
    /// Its trust: recorded on hardware, by the manual, or approximate.
    pub trust: Trust,
    /// Its first line: `file.ptx:12`.
    pub place: String,
}

impl Fidelity {
    /// Adds what another run comes to.
    pub fn add(&mut self, other: Fidelity) {
        for row in other.opcodes {
            if self.opcodes.iter().all(|own| own.opcode != row.opcode) {
                self.opcodes.push(row);
            }
        }
        self.opcodes.sort_by(|a, b| rank(a.trust).cmp(&rank(b.trust)).then_with(|| a.opcode.cmp(&b.opcode)));
        for (decides, place) in other.decided {
            if self.decided.iter().all(|(own, _)| *own != decides) {
                self.decided.push((decides, place));
            }
        }
    }
}

/// The instructions that `machine` has executed since its launch began; none if it keeps no account.
pub fn executed(machine: &Machine) -> BTreeSet<Pc> {
    let Some(coverage) = machine.coverage() else { return BTreeSet::new() };
    let tally = coverage.tally();
    (0..machine.program().code.len() as u32).map(Pc).filter(|pc| tally.lanes(*pc) > 0).collect()
}

/// The fidelity of a run that executed these instructions of `program`.
pub fn fidelity(program: &Program, executed: &BTreeSet<Pc>) -> Fidelity {
    let mut first: BTreeMap<String, Pc> = BTreeMap::new();
    let mut approximate = BTreeSet::new();
    for pc in executed {
        if let Some(opcode) = program.opcode(*pc) {
            first.entry(opcode.text.to_string()).or_insert(*pc);
            if trust(&opcode.text) == Trust::Approximate {
                approximate.insert(*pc);
            }
        }
    }
    let row = |(opcode, pc): (String, Pc)| OpcodeFidelity { trust: trust(&opcode), place: program.place(pc), opcode };
    let mut opcodes: Vec<OpcodeFidelity> = first.into_iter().map(row).collect();
    opcodes.sort_by_key(|row| rank(row.trust));
    // What an approximate operation leaves in memory is a value; the old value that it returns is exact.
    let computes = |pc: &Pc| !program.code[pc.index()].op.effects(program).has(Effect::WritesMemory);
    let sources = FollowedSources { results: approximate.into_iter().filter(computes).collect(), ..FollowedSources::default() };
    let decided = if sources.results.is_empty() {
        BTreeMap::new()
    } else {
        ValueFlow::of(program, executed, AccessedBuffers::new()).decided(&sources)
    };
    let decided = decided.into_iter().filter(|(decides, _)| *decides != Decides::Stored);
    Fidelity { opcodes, decided: decided.map(|(decides, pc)| (decides, program.place(pc))).collect() }
}

fn rank(trust: Trust) -> u32 {
    match trust {
        Trust::Recorded(_) => 0,
        Trust::Manual => 1,
        Trust::Approximate => 2,
    }
}
