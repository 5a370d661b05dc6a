//! The races with one cause: the same two statements, or accesses on either side of one place where the same fix orders all of them.

use crate::check::finding::{Finding, Side};
use crate::check::reachability::Reachability;
use crate::check::statement::is_same_statement;
use crate::isa::{Ordering, Space};
use crate::program::{Op, Pc, Program};

/// Whether the fix of `known` is that of `new` as well.
pub(in crate::check) fn is_same(program: &Program, reachability: &mut Reachability, known: &Finding, new: &Finding) -> bool {
    if (known.id, known.launch, known.severity) != (new.id, new.launch, new.severity) {
        return false;
    }
    if new.severity < new.id.severity() {
        // What only the toolchain can change is one note for the kernel.
        return known.why == new.why;
    }
    let changes_the_same = !new.candidates.is_empty() && known.candidates == new.candidates;
    if changes_the_same && is_flag(program, known) == is_flag(program, new) {
        return true;
    }
    let (Some(known_first), Some(new_first)) = (&known.first, &new.first) else { return false };
    if variable(program, known) != variable(program, new) {
        return false;
    }
    // What orders sides that are far apart orders nearer ones.
    let is_same_fix = known.fix == new.fix || known.distance != new.distance;
    let mut is_same = |one: &Side, other: &Side| {
        let straight = [(one, new_first), (other, &new.second)];
        straight.iter().all(|(known, new)| is_same_statement(program, known, new))
            || is_same_fix
                && straight.iter().all(|(known, new)| is_same_block(program, reachability, known, new))
                && is_one_cut(known, straight)
    };
    is_same(known_first, &known.second) || is_same(&known.second, known_first)
}

/// Whether both sides are strong, as those of a flag: the conflict is what the synchronization lacks itself, and not one that it leaves.
fn is_flag(program: &Program, finding: &Finding) -> bool {
    let is_strong = |side: &Side| {
        let op = &program.code[side.place.pc.index()].op;
        matches!(op, Op::Atomic(_)) || matches!(op, Op::Memory(op) if op.access().ordering != Ordering::Weak)
    };
    finding.first.iter().chain([&finding.second]).all(is_strong)
}

/// The shared variable of a finding.
fn variable<'a>(program: &'a Program, finding: &Finding) -> Option<&'a str> {
    let memory = finding.memory.filter(|memory| memory.space == Space::Shared)?;
    let function = program.function_at(finding.second.place.pc)?;
    program.shared_variable(function, memory.address, u64::MAX).map(|variable| variable.name)
}

/// Whether two accesses lie in one basic block.
fn is_same_block(program: &Program, reachability: &mut Reachability, one: &Side, other: &Side) -> bool {
    one.action == other.action && reachability.is_same_block(program, one.place.pc, other.place.pc)
}

/// Whether one place between the two sides is between those of both findings. Accesses to global memory, of which no variable is known,
/// must share an instruction.
fn is_one_cut(known: &Finding, [(known_one, new_one), (known_other, new_other)]: [(&Side, &Side); 2]) -> bool {
    let pc = |side: &Side| side.place.pc;
    let shares = pc(known_one) == pc(new_one) || pc(known_other) == pc(new_other);
    let is_shared = known.memory.is_some_and(|memory| memory.space == Space::Shared);
    let (ones, others) = ([pc(known_one), pc(new_one)], [pc(known_other), pc(new_other)]);
    let is_before = |early: [Pc; 2], late: [Pc; 2]| early.iter().max() < late.iter().min();
    (shares || is_shared) && (is_before(ones, others) || is_before(others, ones))
}
