//! What an event is to the race checker: the threads that access memory, how, and where.

use super::access::Access;
use super::lane_addresses::LaneAddresses;
use crate::check::finding::SideAction;
use crate::isa::{Ordering, Scope};
use crate::machine::{AccessEvent, AccessKind, BlockId, IssuePoint, LaneMask};
use crate::order::{Actor, Agent, Operation};
use crate::program::{self, AtomicOp, MemoryOp, Op, Program};

/// The access of an event by `lanes`, which have these addresses.
pub(super) fn access_of(program: &Program, event: &AccessEvent<'_>, lanes: LaneMask, lane_addresses: LaneAddresses) -> Access {
    let action = SideAction::from(event.kind);
    let is_weak = event.semantics.ordering == Ordering::Weak;
    let element = if is_weak { event.bytes } else { element_bytes(&program.code[event.point.pc.index()].op, event.bytes) };
    let op = operation(event.block_id, &event.point, lanes, (Agent::Threads, action));
    Access {
        strong: strength(&event.semantics),
        is_relaxed: matches!(event.semantics.ordering, Ordering::Volatile | Ordering::Relaxed) && event.kind != AccessKind::Atomic,
        proxy: event.proxy,
        element,
        ..Access::plain(op, (event.point.pc, action), event.bytes, lane_addresses)
    }
}

/// The lanes of a block that execute an instruction.
pub(super) fn actor(block_id: BlockId, point: &IssuePoint, lanes: LaneMask) -> Actor {
    Actor { block_slot: block_id.block_slot, warp: point.warp, lanes, tick: point.tick }
}

/// The operation of lanes of a block at an instruction, or the asynchronous one that they issue there.
pub(super) fn operation(block_id: BlockId, point: &IssuePoint, lanes: LaneMask, (agent, action): (Agent, SideAction)) -> Operation {
    let only_reads = action == SideAction::Read;
    Operation { tick: point.tick, block: block_id.number as u32, warp: point.warp, lanes, agent, only_reads }
}

/// Bytes of each scalar of an instruction that accesses `bytes` bytes a lane (PTX ISA, "Vector Data-types").
pub(super) fn element_bytes(op: &Op, bytes: u32) -> u32 {
    let bits = if let Op::Memory(MemoryOp::LoadVector { bits, .. } | MemoryOp::StoreVector { bits, .. }) = op {
        u32::from(*bits)
    } else if let Op::Atomic(AtomicOp::Vector { ty, .. }) = op {
        ty.bits()
    } else {
        return bytes;
    };
    assert!(bits >= 8 && bytes.is_multiple_of(bits / 8), "{bytes} bytes are elements of {bits} bits");
    bits / 8
}

/// The scope of a strong access (PTX ISA, "Strong operations"); none for a weak one.
pub(super) fn strength(access: &program::Access) -> Option<Scope> {
    match access.ordering {
        Ordering::Weak => None,
        Ordering::Volatile | Ordering::Mmio => Some(Scope::Sys),
        _ if access.scope == Scope::None => Some(Scope::Gpu),
        Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => Some(access.scope),
    }
}
