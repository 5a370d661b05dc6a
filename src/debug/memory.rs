//! Memory as a thread sees it: bytes of any space, read and written by address.
//!
//! Generic addresses are taken apart first. Shared memory is that of the focused block, local memory that of the focused thread;
//! `shared::cluster` addresses name the block by its rank in the cluster. Nothing is read that a kernel could not read: an error says
//! what lies nearest to the address.

use super::focus::Focus;
use super::names::symbols::{self, Object, RANK_SHIFT};
use super::scene::{Scene, SceneError};
use crate::base::counted;
use crate::isa::Space;
use crate::machine::{Allocation, Machine};
use crate::program::map;

/// Bytes between an address and an object up to which they are said to have to do with each other.
const NEAR: u64 = 1 << 30;

/// Why bytes cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// There is nothing, or not all of it.
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
    /// Parameters are fixed once the kernel is launched.
    #[error("kernel parameters cannot be changed once the kernel is launched")]
    ReadOnly,
    /// The thread that owns the memory is not there.
    #[error(transparent)]
    Scene(#[from] SceneError),
}

fn nearby(nearest: Option<&String>) -> String {
    nearest.map_or(String::new(), |nearest| format!(": {nearest}"))
}

/// A checked range of bytes, in the space that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
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
/// Not all of them are there.
pub fn locate(scene: &Scene<'_>, space: Space, address: u64, bytes: u64) -> Result<Bytes, MemoryError> {
    let (actual, at) = symbols::resolve(scene.program(), space, address);
    let (actual, at, owner) = match actual {
        Space::Shared | Space::SharedCluster => {
            let owner = owner_of(scene, actual, at).ok_or_else(|| not_there(scene, actual, at, bytes))?;
            (Space::Shared, at & ((1 << RANK_SHIFT) - 1), owner)
        }
        actual => (actual, at, scene.focus),
    };
    let end = at.checked_add(bytes);
    let inside = |start: u64, limit: u64| at >= start && end.is_some_and(|end| end <= limit);
    let device = scene.machine.device();
    let covered = |region: &crate::machine::Region| {
        let is_known = |allocation: &Allocation| allocation.first_unknown(at, at, bytes).is_none();
        let holds = |allocation: &Allocation| at >= allocation.base && end.is_some_and(|end| end <= allocation.end());
        region.find(at).is_some_and(|allocation| holds(allocation) && is_known(allocation))
    };
    let good = match actual {
        Space::Generic | Space::Global => covered(device.global()),
        Space::Const => covered(device.constant_memory()),
        Space::Shared | Space::SharedCluster => {
            scene.refocused(owner).block()?;
            inside(scene.machine.shared_start(), scene.machine.shared_bytes())
        }
        Space::Local | Space::ParamFunc => inside(map::LOCAL_BASE, u64::from(scene.group()?.local_top)),
        Space::Param => inside(0, scene.machine.config().params.len() as u64),
    };
    if good { Ok(Bytes { space: actual, owner, address: at, bytes }) } else { Err(not_there(scene, actual, at, bytes)) }
}

/// Reads from `address` of `space` on into `out`.
///
/// # Errors
/// Not all of it is there.
pub fn read(scene: &Scene<'_>, space: Space, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
    let found = locate(scene, space, address, out.len() as u64)?;
    fill(scene.machine, &found, out).ok_or_else(|| not_there(scene, found.space, found.address, found.bytes))
}

/// Reads bytes that [`locate`] found into `out`, which is as long; none if they are not there any more.
pub fn fill(machine: &Machine, place: &Bytes, out: &mut [u8]) -> Option<()> {
    let (device, at, owner) = (machine.device(), place.address, place.owner);
    let end = at.checked_add(place.bytes)?;
    match place.space {
        Space::Generic | Space::Global => device.read(at, out).ok()?,
        Space::Const => {
            let allocation = device.constant_memory().find(at).filter(|allocation| end <= allocation.end())?;
            allocation.pages.read(at - allocation.base, out);
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
/// They are parameters, or not there any more.
pub fn write(machine: &mut Machine, place: &Bytes, bytes: &[u8]) -> Result<(), MemoryError> {
    let Focus { block, warp, lane, .. } = place.owner;
    let written = match place.space {
        Space::Generic | Space::Global => machine.write_global(place.address, bytes),
        Space::Const => machine.write_constant(place.address, bytes),
        Space::Shared | Space::SharedCluster => machine.write_shared(block, place.address, bytes),
        Space::Local | Space::ParamFunc => machine.write_local((block, warp, lane), place.address, bytes),
        Space::Param => return Err(MemoryError::ReadOnly),
    };
    let missing = MemoryError::NotThere { space: place.space, address: place.address, bytes: bytes.len() as u64, nearest: None };
    if written { Ok(()) } else { Err(missing) }
}

/// The thread whose block has the shared memory at `address`: the focused one, or of a `shared::cluster` address the block with that
/// rank.
fn owner_of(scene: &Scene<'_>, space: Space, address: u64) -> Option<Focus> {
    let rank = u32::try_from(address >> RANK_SHIFT).ok()?;
    if rank == 0 && space == Space::Shared {
        return Some(scene.focus);
    }
    let config = scene.machine.config();
    let [columns, rows, layers] = config.cluster;
    if u64::from(rank) >= u64::from(columns) * u64::from(rows) * u64::from(layers) {
        return None;
    }
    let inside = [rank % columns, rank / columns % rows, rank / columns / rows];
    let block = std::array::from_fn(|axis| scene.focus.block[axis] / config.cluster[axis] * config.cluster[axis] + inside[axis]);
    Some(Focus { block, ..scene.focus })
}

fn not_there(scene: &Scene<'_>, space: Space, address: u64, bytes: u64) -> MemoryError {
    let in_shared = || {
        let is_there = scene.block().is_ok() && matches!(space, Space::Global | Space::Generic);
        is_there && (scene.machine.shared_start()..scene.machine.shared_bytes()).contains(&address)
    };
    let nearest = match address {
        _ if in_shared() => {
            let symbol = symbols::symbol(scene, Space::Shared, address).map_or(String::new(), |symbol| format!(", <{symbol}>"));
            Some(format!("it lies in the block's shared memory{symbol}: name the space, as in (shared u32*){address:#x}"))
        }
        0..4096 if matches!(space, Space::Global | Space::Generic) => Some("a null pointer".to_string()),
        _ if matches!(space, Space::Global | Space::Generic) && !scene.machine.device().unknown(address, bytes).is_empty() => {
            Some("the launch does not give this page, and nothing has written it".to_string())
        }
        _ => nearest(&symbols::objects(scene, space), address, bytes),
    };
    MemoryError::NotThere { space, address, bytes, nearest }
}

/// The distance of the bytes from the nearest object.
fn nearest(objects: &[Object], address: u64, bytes: u64) -> Option<String> {
    let end = |object: &Object| object.start.saturating_add(object.bytes);
    let distance = |object: &Object| if address < object.start { object.start - address } else { address.saturating_sub(end(object)) };
    let object = objects.iter().min_by_key(|object| distance(object))?;
    let whole = format!("'{}' ({} at {:#x})", object.name, counted(object.bytes, "byte"), object.start);
    Some(if distance(object) > NEAR {
        format!("no object is nearby; the nearest is {whole}")
    } else if address < object.start {
        format!("{} before the start of {whole}", counted(object.start - address, "byte"))
    } else if address == end(object) {
        format!("just past the end of {whole}")
    } else if address > end(object) {
        format!("{} past the end of {whole}", counted(address - end(object), "byte"))
    } else {
        format!("reaches {} past the end of {whole}", counted(address.saturating_add(bytes).saturating_sub(end(object)), "byte"))
    })
}
