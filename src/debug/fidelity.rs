//! The fidelity of a run: which of its instructions are known to give the results of hardware, which follow only the manual, which
//! approximate; and whether an approximate result has influenced more than values.
//!
//! The interpreter executes one warp-instruction after the other, so all threads agree on the order of all accesses: it is
//! sequentially consistent, and never shows the reorderings that the weaker memory model of PTX allows.

use std::collections::{BTreeMap, BTreeSet};

pub use super::value_flow::Influence;
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
    pub influences: Vec<(Influence, String)>,
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
    /// Adds the fidelity of another run.
    pub fn add(&mut self, other: Fidelity) {
        for row in other.opcodes {
            if self.opcodes.iter().all(|known| known.opcode != row.opcode) {
                self.opcodes.push(row);
            }
        }
        self.opcodes.sort_by(|a, b| rank(a.trust).cmp(&rank(b.trust)).then_with(|| a.opcode.cmp(&b.opcode)));
        for (influence, place) in other.influences {
            if self.influences.iter().all(|(known, _)| *known != influence) {
                self.influences.push((influence, place));
            }
        }
    }
}

/// The instructions that `machine` has executed since its launch began; none if coverage is not recorded.
pub fn executed(machine: &Machine) -> BTreeSet<Pc> {
    let Some(coverage) = machine.coverage() else { return BTreeSet::new() };
    let counts = coverage.tally();
    (0..machine.program().code.len() as u32).map(Pc).filter(|pc| counts.lanes(*pc) > 0).collect()
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
    // An approximate operation on memory stores a value; the old value that it returns is exact.
    let computes = |pc: &Pc| !program.code[pc.index()].op.effects(program).has(Effect::WritesMemory);
    let sources = FollowedSources { results: approximate.into_iter().filter(computes).collect(), ..FollowedSources::default() };
    let influences = if sources.results.is_empty() {
        BTreeMap::new()
    } else {
        ValueFlow::of(program, executed, AccessedBuffers::new()).influences(&sources)
    };
    let influences = influences.into_iter().filter(|(influence, _)| *influence != Influence::Stored);
    Fidelity { opcodes, influences: influences.map(|(influence, pc)| (influence, program.place(pc))).collect() }
}

fn rank(trust: Trust) -> u32 {
    match trust {
        Trust::Recorded(_) => 0,
        Trust::Manual => 1,
        Trust::Approximate => 2,
    }
}
