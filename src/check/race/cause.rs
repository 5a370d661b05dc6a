//! Races with one cause: the same two statements, or accesses on either side of one point at which the same fix orders all of them.

use crate::check::finding::{Finding, Side, ThreadDistance};
use crate::check::reachability::{BarrierKind, Reachability};
use crate::check::statement::is_same_statement;
use crate::isa::{Ordering, Space};
use crate::program::{Op, Pc, Program};

/// True if the fix of `earlier` fixes `new` as well.
pub(in crate::check) fn is_same(program: &Program, reachability: &mut Reachability, earlier: &Finding, new: &Finding) -> bool {
    if (earlier.id, earlier.launch, earlier.severity) != (new.id, new.launch, new.severity) {
        return false;
    }
    if new.severity < new.id.severity() {
        // Races that only the toolchain can fix are one note for the kernel.
        return earlier.why == new.why;
    }
    let changes_the_same = !new.candidates.is_empty() && earlier.candidates == new.candidates;
    if changes_the_same && is_flag(program, earlier) == is_flag(program, new) {
        return true;
    }
    let (Some(earlier_first), Some(new_first)) = (&earlier.first, &new.first) else { return false };
    if variable(program, earlier) != variable(program, new) {
        return false;
    }
    if rely_on_lockstep(program, reachability, (earlier, earlier_first), (new, new_first)) {
        return true;
    }
    // Synchronization of distant threads orders nearer ones as well.
    let is_same_fix = earlier.distance != new.distance || have_same_fix(program, earlier, new);
    // One barrier after an initialization orders all that use the mbarrier.
    if is_same_fix && earlier_first.point.pc == new_first.point.pc && program.code[new_first.point.pc.index()].op.initializes_mbarrier() {
        return true;
    }
    let mut matches = |one: &Side, other: &Side| {
        let pairs = [(one, new_first), (other, &new.second)];
        pairs.iter().all(|(earlier, new)| is_same_statement(program, earlier, new))
            || is_same_fix
                && pairs.iter().all(|(earlier, new)| is_same_block(program, reachability, earlier, new))
                && have_common_point(earlier, pairs)
    };
    matches(earlier_first, &earlier.second) || matches(&earlier.second, earlier_first)
}

/// True if the advice is the same, up to the places that are on one line.
fn have_same_fix(program: &Program, earlier: &Finding, new: &Finding) -> bool {
    earlier.fix.in_program(program) == new.fix.in_program(program)
}

/// True if both findings are of lanes of one warp that read and then write, or write and then read, in one part of the code that no barrier
/// divides: steps of one computation that relies on lockstep.
fn rely_on_lockstep(
    program: &Program,
    reachability: &mut Reachability,
    (earlier, earlier_first): (&Finding, &Side),
    (new, new_first): (&Finding, &Side),
) -> bool {
    let actions = |first: &Side, finding: &Finding| (first.action, finding.second.action);
    let is_of_warp = earlier.distance == Some(ThreadDistance::Warp) && new.distance == earlier.distance;
    if !is_of_warp || actions(earlier_first, earlier) != actions(new_first, new) || !have_same_fix(program, earlier, new) {
        return false;
    }
    let mut reaches = |from: &Side, to: &Side| reachability.reaches_without_barrier(program, from.point.pc, to.point.pc, BarrierKind::Any);
    reaches(earlier_first, &new.second) || reaches(new_first, &earlier.second)
}

/// True if both sides are strong, as those of a flag: then the synchronization itself is at fault.
fn is_flag(program: &Program, finding: &Finding) -> bool {
    let is_strong = |side: &Side| {
        let op = &program.code[side.point.pc.index()].op;
        matches!(op, Op::Atomic(_)) || matches!(op, Op::Memory(op) if op.access().ordering != Ordering::Weak)
    };
    finding.first.iter().chain([&finding.second]).all(is_strong)
}

/// The shared variable of a finding.
pub(in crate::check) fn variable<'a>(program: &'a Program, finding: &Finding) -> Option<&'a str> {
    let memory = finding.memory.filter(|memory| memory.space == Space::Shared)?;
    let function = program.function_at(finding.second.point.pc)?;
    program.shared_variable(function, memory.address, u64::MAX).map(|variable| variable.name)
}

/// True if two accesses are in one basic block.
fn is_same_block(program: &Program, reachability: &mut Reachability, one: &Side, other: &Side) -> bool {
    one.action == other.action && reachability.is_same_block(program, one.point.pc, other.point.pc)
}

/// True if some point in the code is between the two sides of both findings. Accesses to global memory, whose variable is unknown, must
/// share an instruction.
fn have_common_point(earlier: &Finding, [(earlier_one, new_one), (earlier_other, new_other)]: [(&Side, &Side); 2]) -> bool {
    let pc = |side: &Side| side.point.pc;
    let shares = pc(earlier_one) == pc(new_one) || pc(earlier_other) == pc(new_other);
    let is_shared = earlier.memory.is_some_and(|memory| memory.space == Space::Shared);
    let (ones, others) = ([pc(earlier_one), pc(new_one)], [pc(earlier_other), pc(new_other)]);
    let is_before = |early: [Pc; 2], late: [Pc; 2]| early.iter().max() < late.iter().min();
    (shares || is_shared) && (is_before(ones, others) || is_before(others, ones))
}
