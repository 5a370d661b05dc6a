//! Waits for phases of an mbarrier, as text. Each thread counts its waits: the mbarrier of a ring and the parity follow from the count.

use std::collections::{BTreeMap, BTreeSet};

use super::patch::TextChange;
use crate::check::{FunctionAnalysis, Position};
use crate::program::{ControlOp, FuncId, Op, Pc, Program};

/// The most rings that are tried.
const RINGS_MAX: usize = 6;

/// The parity with which the first wait at an mbarrier passes only after a phase has completed, and that with which it passes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstWait {
    /// For what others bring.
    Waits,
    /// For room that is free at first.
    Passes,
}

/// mbarriers at equal distances in one variable, which are used one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    /// The variable.
    variable: String,
    /// Bytes from its start to the first mbarrier.
    offset: u64,
    /// The number of mbarriers.
    count: u32,
    /// Bytes from one to the next.
    stride: u32,
}

/// The rings that the mbarriers at `addresses` may be: first all of a variable, then each half of them, then each one.
pub(super) fn rings(program: &Program, kernel: FuncId, addresses: &BTreeSet<u32>) -> Vec<Ring> {
    let mut by_variable: BTreeMap<(u64, &str), Vec<u32>> = BTreeMap::new();
    for address in addresses {
        if let Some(variable) = program.shared_variable(kernel, u64::from(*address), u64::MAX) {
            by_variable.entry((variable.start, variable.name)).or_default().push(*address);
        }
    }
    type Part = fn(&[u32]) -> Vec<&[u32]>;
    let parts: [Part; 3] = [|all| vec![all], |all| vec![&all[..all.len() / 2], &all[all.len() / 2..]], |all| all.chunks(1).collect()];
    let mut found = Vec::new();
    for part in parts {
        for ((start, name), addresses) in &by_variable {
            let rings = part(addresses).into_iter().filter_map(|addresses| ring(name, *start, addresses));
            found.extend(rings.filter(|ring| !found.contains(ring)).collect::<Vec<_>>());
        }
    }
    found.truncate(RINGS_MAX);
    found
}

fn ring(variable: &str, start: u64, addresses: &[u32]) -> Option<Ring> {
    let first = *addresses.first()?;
    let stride = addresses.get(1).map_or(0, |second| second - first);
    let is_even = addresses.windows(2).all(|pair| pair[1] - pair[0] == stride);
    let offset = u64::from(first).checked_sub(start)?;
    is_even.then(|| Ring { variable: variable.to_string(), offset, count: addresses.len() as u32, stride })
}

/// Positions at which a thread may wait before it executes the instruction at `pc`: before it, and before each loop around it, the
/// innermost first.
pub(super) fn positions(program: &Program, analysis: &FunctionAnalysis, pc: Pc) -> Vec<Position> {
    let flow = analysis.flow();
    let Some(block) = flow.block_of(pc) else { return Vec::new() };
    let mut loops: Vec<_> = flow.loops().iter().filter(|natural_loop| natural_loop.blocks.contains(&block)).collect();
    loops.sort_by_key(|natural_loop| std::cmp::Reverse(natural_loop.depth));
    let before_loop = |header| {
        let last = Pc(flow.code(flow.idom(header)?).end.checked_sub(1)?);
        let is_branch = matches!(program.code[last.index()].op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }));
        program.statement(last).map(|_| if is_branch { Position::Before(last) } else { Position::After(last) })
    };
    std::iter::once(Position::Before(pc)).chain(loops.into_iter().filter_map(|around| before_loop(around.header))).collect()
}

/// True if the instruction at a position is in a loop.
pub(super) fn is_repeated(analysis: &FunctionAnalysis, at: Position) -> bool {
    let flow = analysis.flow();
    flow.block_of(at.pc()).is_some_and(|block| flow.loops().iter().any(|natural_loop| natural_loop.blocks.contains(&block)))
}

/// The changes that wait for the next phase of a ring at a position in a kernel, and their description without the position.
pub(super) fn wait(
    program: &Program,
    kernel: FuncId,
    ring: &Ring,
    (at, first): (Position, FirstWait),
    is_repeated: bool,
) -> (Vec<TextChange>, String) {
    let opcode = if program.version >= (7, 8) && program.target.0 >= 90 { "try_wait" } else { "test_wait" };
    let Ring { variable, offset, count, stride } = ring;
    let (counter, entry) = (
        format!("%fix_waits_{variable}_{offset}_{}", at.pc().0).replace(['.', '$'], "_"),
        Pc(program.functions[kernel.index()].code.start),
    );
    let initial = if first == FirstWait::Passes { *count } else { 0 };
    let place = if *offset == 0 { variable.clone() } else { format!("{variable}+{offset}") };
    let declared = format!(".reg .b32 {counter}; mov.u32 {counter}, {initial};");
    let text = format!(
        "{{ .reg .pred %fix_ended; .reg .b32 %fix_at, %fix_slot, %fix_parity; mov.u32 %fix_at, {variable}; \
         rem.u32 %fix_slot, {counter}, {count}; mad.lo.u32 %fix_at, %fix_slot, {stride}, %fix_at; div.u32 %fix_parity, {counter}, {count}; \
         and.b32 %fix_parity, %fix_parity, 1; add.u32 {counter}, {counter}, 1; \
         $fix_wait: mbarrier.{opcode}.parity.shared.b64 %fix_ended, [%fix_at+{offset}], %fix_parity; @!%fix_ended bra $fix_wait; }}"
    );
    let flip = if first == FirstWait::Passes { " ^ 1" } else { "" };
    let waits = match (count, is_repeated) {
        (1, false) => format!("[{place}], {}", u32::from(first == FirstWait::Passes)),
        (1, true) => format!("[{place}], n & 1{flip}"),
        (_, _) => format!("[{place} + {stride} * (n % {count})], n / {count} & 1{flip}"),
    };
    let counted = if waits.contains("n ") { " (n: the thread's waits there before)" } else { "" };
    let changes = vec![TextChange::Insert(Position::Before(entry), declared), TextChange::Insert(at, text)];
    let description = format!("mbarrier.{opcode}.parity.shared.b64 {waits}; until it is true{counted}");
    (changes, description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Sources;
    use crate::sema;

    const TEXT: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
	.reg .b32 %r;
	.shared .align 8 .b64 full[4];
	.shared .align 8 .b64 one;
	mov.u32 %r, full;
	mov.u32 %r, one;
	ret;
}
";

    #[test]
    fn mbarriers_of_a_variable_may_be_one_ring_or_two() {
        let program = sema::load(&mut Sources::default(), "k.ptx", TEXT).0;
        let Some(program) = program else { panic!("the module is right") };
        let kernel = FuncId::new(0);
        let start =
            |name: &str| program.variables.iter().find(|variable| &*variable.name == name).map_or(0, |found| found.location.address);
        let (full, one) = (start("full") as u32, start("one") as u32);
        let addresses: BTreeSet<u32> = (0..4).map(|at| full + 8 * at).chain([one]).collect();
        let found = rings(&program, kernel, &addresses);
        let shape = |ring: &Ring| (ring.variable.clone(), ring.offset, ring.count, ring.stride);
        let all: Vec<_> = found.iter().map(shape).collect();
        for ring in [("full", 0, 4, 8), ("one", 0, 1, 0), ("full", 0, 2, 8), ("full", 16, 2, 8), ("full", 0, 1, 0)] {
            assert!(all.contains(&(ring.0.to_string(), ring.1, ring.2, ring.3)), "{ring:?} of {all:?}");
        }
    }
}
