//! Memory as a thread sees it: bytes of any space, read and written by address.
//!
//! Generic addresses are resolved to a state space first. Shared memory is that of the focused block, local memory that of the focused
//! thread; `shared::cluster` addresses name the block by its rank in the cluster. Only memory that a kernel could read is read: an error
//! names the object nearest to the address.

use super::eval_context::{EvalContext, ThreadError};
use super::focus::Focus;
use super::names::symbols::{self, Object, RANK_SHIFT};
use crate::base::counted;
use crate::isa::Space;
use crate::machine::{Allocation, Machine};
use crate::program::{map, shown_name};

/// Greatest distance in bytes from an address at which an error gives the offset from the nearest object.
const NEAR_DISTANCE: u64 = 1 << 30;

/// Why bytes cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// None, or not all, of the bytes exist.
    #[error("no {} memory at {address:#x}..{:#x}{}", .space.word(), .address.wrapping_add(*.bytes), nearby(.nearest.as_ref()))]
    NotThere {
        /// The space.
        space: Space,
        /// The address in that space.
        address: u64,
        /// Bytes asked for.
        bytes: u64,
        /// The distance from the nearest allocation or variable.
        nearest: Option<String>,
    },
    /// The thread that owns the memory is not on the machine.
    #[error(transparent)]
    Thread(#[from] ThreadError),
}

fn nearby(nearest: Option<&String>) -> String {
    nearest.map_or(String::new(), |nearest| format!(": {nearest}"))
}

/// A checked range of bytes, in the space that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The space: never generic, never `shared::cluster`.
    pub space: Space,
    /// The block or thread that owns the shared or local memory.
    pub owner: Focus,
    /// The address in that space.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Finds the memory of `bytes` bytes at `address` of `space`, as the focused thread sees it.
///
/// # Errors
/// Not all of them exist.
pub fn locate(context: &EvalContext<'_>, space: Space, address: u64, bytes: u64) -> Result<ByteRange, MemoryError> {
    let (actual, at) = symbols::resolve(context.program(), space, address);
    let (actual, at, owner) = match actual {
        Space::Shared | Space::SharedCluster => {
            let owner = owner_of(context, actual, at).ok_or_else(|| not_there(context, actual, at, bytes))?;
            (Space::Shared, at & ((1 << RANK_SHIFT) - 1), owner)
        }
        actual => (actual, at, context.focus),
    };
    let end = at.checked_add(bytes);
    let inside = |start: u64, limit: u64| at >= start && end.is_some_and(|end| end <= limit);
    let device = context.machine.device();
    let covered = |region: &crate::machine::Region| {
        let is_known = |allocation: &Allocation| allocation.first_unknown(at, at, bytes).is_none();
        let holds = |allocation: &Allocation| at >= allocation.base && end.is_some_and(|end| end <= allocation.end());
        region.find(at).is_some_and(|allocation| holds(allocation) && is_known(allocation))
    };
    let exists = match actual {
        Space::Generic | Space::Global => covered(device.global()),
        Space::Const => covered(device.constant_memory()),
        Space::Shared | Space::SharedCluster => {
            context.refocused(owner).block()?;
            inside(context.machine.shared_start(), context.machine.shared_bytes())
        }
        Space::Local | Space::ParamFunc => inside(map::LOCAL_BASE, u64::from(context.group()?.local_top)),
        Space::Param => inside(0, context.machine.config().params.len() as u64),
    };
    if exists { Ok(ByteRange { space: actual, owner, address: at, bytes }) } else { Err(not_there(context, actual, at, bytes)) }
}

/// Fills `out` with the bytes from `address` of `space` on.
///
/// # Errors
/// Not all of it exists.
pub fn read(context: &EvalContext<'_>, space: Space, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
    let found = locate(context, space, address, out.len() as u64)?;
    fill(context.machine, &found, out).ok_or_else(|| not_there(context, found.space, found.address, found.bytes))
}

/// Reads bytes that [`locate`] found into `out`, which has the same length; none if they no longer exist.
pub fn fill(machine: &Machine, range: &ByteRange, out: &mut [u8]) -> Option<()> {
    let (device, at, owner) = (machine.device(), range.address, range.owner);
    let end = at.checked_add(range.bytes)?;
    match range.space {
        Space::Generic | Space::Global => device.read(at, out).ok()?,
        Space::Const => {
            let allocation = device.constant_memory().find(at).filter(|allocation| end <= allocation.end())?;
            allocation.pages.read(allocation.offset(at), out);
        }
        Space::Shared | Space::SharedCluster => {
            let shared = &machine.block(owner.block)?.shared.pages;
            (end <= shared.len()).then(|| shared.read(at, out))?;
        }
        Space::Local | Space::ParamFunc => {
            let local = &machine.block(owner.block)?.warps.get(owner.warp as usize)?.local;
            for (byte, at) in out.iter_mut().zip(at..) {
                [*byte] = local.read(owner.lane as usize % 32, at);
            }
        }
        Space::Param => out.copy_from_slice(machine.config().params.get(usize::try_from(at).ok()?..usize::try_from(end).ok()?)?),
    }
    Some(())
}

/// Writes bytes that [`locate`] found.
///
/// # Errors
/// They no longer exist.
pub fn write(machine: &mut Machine, range: &ByteRange, bytes: &[u8]) -> Result<(), MemoryError> {
    let Focus { block, warp, lane, .. } = range.owner;
    let written = match range.space {
        Space::Generic | Space::Global => machine.write_global(range.address, bytes),
        Space::Const => machine.write_constant(range.address, bytes),
        Space::Shared | Space::SharedCluster => machine.write_shared(block, range.address, bytes),
        Space::Local | Space::ParamFunc => machine.write_local((block, warp, lane), range.address, bytes),
        Space::Param => machine.write_params(range.address, bytes),
    };
    let missing = MemoryError::NotThere { space: range.space, address: range.address, bytes: bytes.len() as u64, nearest: None };
    if written { Ok(()) } else { Err(missing) }
}

/// The thread whose block owns the shared memory at `address`: the focused one, or for a `shared::cluster` address one of the block with
/// that rank.
fn owner_of(context: &EvalContext<'_>, space: Space, address: u64) -> Option<Focus> {
    let rank = u32::try_from(address >> RANK_SHIFT).ok()?;
    if rank == 0 && space == Space::Shared {
        return Some(context.focus);
    }
    let config = context.machine.config();
    let [columns, rows, layers] = config.cluster;
    if u64::from(rank) >= u64::from(columns) * u64::from(rows) * u64::from(layers) {
        return None;
    }
    let inside = [rank % columns, rank / columns % rows, rank / columns / rows];
    let block = std::array::from_fn(|axis| context.focus.block[axis] / config.cluster[axis] * config.cluster[axis] + inside[axis]);
    Some(Focus { block, ..context.focus })
}

fn not_there(context: &EvalContext<'_>, space: Space, address: u64, bytes: u64) -> MemoryError {
    let in_shared = || {
        let is_there = context.block().is_ok() && matches!(space, Space::Global | Space::Generic);
        is_there && (context.machine.shared_start()..context.machine.shared_bytes()).contains(&address)
    };
    let nearest = match address {
        _ if in_shared() => {
            let symbol = symbols::symbol(context, Space::Shared, address).map_or(String::new(), |symbol| format!(", <{symbol}>"));
            Some(format!("it lies in the block's shared memory{symbol}: name the space, as in (shared u32*){address:#x}"))
        }
        0..4096 if matches!(space, Space::Global | Space::Generic) => Some("a null pointer".to_string()),
        _ if matches!(space, Space::Global | Space::Generic) && !context.machine.device().unknown(address, bytes).is_empty() => {
            Some("the launch does not give this page, and nothing has written it".to_string())
        }
        _ => nearest(&symbols::objects(context, space), address, bytes),
    };
    MemoryError::NotThere { space, address, bytes, nearest }
}

/// The distance of the bytes from the nearest object.
fn nearest(objects: &[Object], address: u64, bytes: u64) -> Option<String> {
    let end = |object: &Object| object.start.saturating_add(object.bytes);
    let distance = |object: &Object| if address < object.start { object.start - address } else { address.saturating_sub(end(object)) };
    let object = objects.iter().min_by_key(|object| distance(object))?;
    let object_text = format!("'{}' ({} at {:#x})", shown_name(&object.name), counted(object.bytes, "byte"), object.start);
    Some(if distance(object) > NEAR_DISTANCE {
        format!("no object is nearby; the nearest is {object_text}")
    } else if address < object.start {
        format!("{} before the start of {object_text}", counted(object.start - address, "byte"))
    } else if address == end(object) {
        format!("just past the end of {object_text}")
    } else if address > end(object) {
        format!("{} past the end of {object_text}", counted(address - end(object), "byte"))
    } else {
        format!("reaches {} past the end of {object_text}", counted(address.saturating_add(bytes).saturating_sub(end(object)), "byte"))
    })
}
