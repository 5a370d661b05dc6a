//! The matrix multiplications in flight and their commit groups, for `info async`.

use triomphe::Arc;

use super::copies::{AsyncGroup, FlightBytes, FlightEnd, FlightKind, FlightRow, GroupKind, PlaceRange};
use super::{Actor, place};
use crate::base::WarpId;
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;
use crate::debug::names::memory_name as names;
use crate::debug::names::scope::register_of_slot;
use crate::debug::target::RegisterTarget;
use crate::isa::Space;
use crate::machine::{GroupState, LaneMask, Warp, Wgmma};
use crate::program::{Bank, Op, Slot, WarpgroupOp};

/// The matrix multiplications in flight issued by the warps that match `filter`, by number.
pub fn issued_by<'a>(context: &EvalContext<'a>, filter: &ThreadFilter) -> Vec<&'a Wgmma> {
    let block = filter.block.unwrap_or(context.focus.block);
    let is_listed = |wgmma: &&Wgmma| wgmma.issued.block == block && !filter.lanes_of(block, wgmma.issued.warp.number()).is_empty();
    let mut wgmmas: Vec<&Wgmma> = context.machine.wgmmas().map(|(_, wgmma)| wgmma).filter(is_listed).collect();
    wgmmas.sort_by_key(|wgmma| wgmma.id);
    wgmmas
}

/// A row of the listing, with the bytes that the multiplication reads from shared memory.
pub fn row(context: &EvalContext<'_>, wgmma: &Wgmma) -> FlightRow {
    let bytes: u64 = wgmma.reads().map(|(start, end)| u64::from(end - start)).sum();
    let start = |address: u32| PlaceRange { first: names::address_name(context, Space::Shared, u64::from(address)), last: None };
    let a = wgmma.a.map_or_else(|| registers(context, wgmma, &wgmma.fragments), |a| Some(start(a.descriptor.start)));
    let warp = context.machine.block(wgmma.issued.block).and_then(|block| block.warps.get(wgmma.issued.warp.index()));
    let open = warp.is_some_and(|warp| warp.wgmmas.committed() == wgmma.group);
    FlightRow {
        id: wgmma.id,
        kind: FlightKind::Wgmma(context.program().wgmmas[wgmma.op].shape.to_string()),
        bytes: FlightBytes::All(bytes),
        from: a.into_iter().chain([start(wgmma.b.descriptor.start)]).collect(),
        to: registers(context, wgmma, &wgmma.accumulators).into_iter().collect(),
        end: FlightEnd::Group { kind: GroupKind::Wgmma, number: wgmma.group, open },
        issued: wgmma.issued.tick,
        by: Actor::new(context, wgmma.issued, LaneMask::ALL),
        focused: wgmma.issued.block == context.focus.block && wgmma.issued.warp == WarpId::new(context.focus.warp),
    }
}

/// The note for a register that multiplications in flight will write.
pub fn accumulator_in_flight(context: &EvalContext<'_>, target: &RegisterTarget) -> Option<String> {
    let block = context.machine.block(target.block)?;
    let warp = block.warps.get(target.warp as usize)?;
    let writes = |wgmma: &&Arc<Wgmma>| target.bank == Bank::B32 && wgmma.accumulators.contains(&target.slot);
    let mut writers: Vec<&Arc<Wgmma>> = context.machine.in_flight().wgmmas_of(block.number, target.warp).filter(writes).collect();
    if writers.is_empty() && warp.wgmmas.is_pending(target.slot) {
        writers.extend(warp.wgmmas.unwaited().filter(writes));
    }
    let place = |wgmma: &Wgmma| place(context.program(), wgmma.issued.pc);
    let (writer, verb) = match writers.as_slice() {
        [] => return None,
        [only] => (format!("wgmma #{} ({})", only.id, place(only)), "writes"),
        [first, .., last] => (format!("{} wgmmas, #{} ({}) to #{},", writers.len(), first.id, place(first), last.id), "write"),
    };
    Some(format!("in flight: {writer} {verb} this; poison until a wgmma.wait_group waits for it"))
}

/// The names of the first and the last register of a multiplication's operand.
fn registers(context: &EvalContext<'_>, wgmma: &Wgmma, slots: &[Slot]) -> Option<PlaceRange> {
    let program = context.program();
    let function = program.function_at(wgmma.issued.pc).map(|id| &program.functions[id.index()]);
    let name = |slot: &Slot| {
        let slot = Slot(slot.0.saturating_sub(wgmma.frame.b32.0));
        function.and_then(|function| register_of_slot(function, wgmma.issued.pc, Bank::B32, slot)).unwrap_or_else(|| "?".to_string())
    };
    match slots {
        [] => None,
        [only] => Some(PlaceRange { first: name(only), last: None }),
        [first, .., last] => Some(PlaceRange { first: name(first), last: Some(name(last)) }),
    }
}

/// The commit groups of a warp that have multiplications in flight.
pub fn groups(context: &EvalContext<'_>, (block, number): (u64, u32), warp: &Warp) -> Vec<AsyncGroup> {
    let committed = warp.wgmmas.committed();
    let awaits = |number: u32| {
        warp.groups.iter().filter(|group| matches!(group.state, GroupState::AtWgmmas | GroupState::AtWarpgroup)).any(|group| {
            let op = context.program().code[group.pc.index()].op;
            matches!(op, Op::Wgmma(WarpgroupOp::Wait { pending }) if number < committed.saturating_sub(pending))
        })
    };
    let mut groups: Vec<AsyncGroup> = Vec::new();
    for wgmma in context.machine.in_flight().wgmmas_of(block, number) {
        match groups.last_mut().filter(|group| group.number == wgmma.group) {
            Some(group) => group.members += 1,
            None => {
                let (number, open) = (wgmma.group, wgmma.group == committed);
                groups.push(AsyncGroup { kind: GroupKind::Wgmma, number, open, members: 1, awaited: awaits(number), read: false });
            }
        }
    }
    groups
}
