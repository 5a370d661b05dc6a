//! `suld`, `sust` and `sured`.

use smallvec::SmallVec;

use super::Results;
use crate::isa::{ChannelType, ImageKind, ScalarType, SurfaceBounds};
use crate::machine::event::AccessKind;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::read_modify_write::{Adder, RmwOperation};
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::{ImageAccess, ImageFn, Texels};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// `suld`, `sust` and `sured`. If a lane with `.trap` is out of bounds, the instruction has no effect.
    pub(super) fn surface(&mut self, access: &ImageAccess, group: &Group, active: LaneMask) -> Result<(), Box<Trap>> {
        let prepared = self.prepared;
        let images = self.images(access.image, ImageKind::Surface, group, active)?;
        let mut texel_addresses: PerLane<Option<u64>> = [None; 32];
        for lane in active.iter() {
            let Some(texels) = images[lane].and_then(|index| prepared.config.images[index].texels()) else { continue };
            let coordinates = self.coordinates_of(access, lane, group);
            let surface = SurfaceAccess::new(access, texels);
            texel_addresses[lane] = match (surface.address(access, texels, &coordinates), surface.bounds) {
                (Err(message), SurfaceBounds::Trap) => return Err(self.trap(TrapKind::OutOfBounds, LaneMask::of(lane), &message)),
                (target, _) => target.unwrap_or(None),
            };
            let reads = matches!(access.f, ImageFn::Load(..) | ImageFn::Reduce { .. });
            let read = texel_addresses[lane].filter(|_| reads).and_then(|address| Some((address, self.global.find(address)?)));
            if let Some(unknown) = read.and_then(|(address, memory)| memory.first_unknown(address, address, surface.bytes)) {
                return Err(self.unknown_texel(unknown, lane, group));
            }
        }
        let values: SmallVec<[PerLane<u64>; 4]> = access
            .values
            .iter()
            .map(|source| {
                let lanes = self.lanes(group, active);
                if access.wide { *lanes.get64(*source) } else { lanes.get32(*source).map(u64::from) }
            })
            .collect();
        let mut results: Results = SmallVec::from_elem([0; 32], access.dests.len());
        for lane in active.iter() {
            let (Some(address), Some(texels)) =
                (texel_addresses[lane], images[lane].and_then(|index| prepared.config.images[index].texels()))
            else {
                continue;
            };
            let operands: SmallVec<[u64; 4]> = values.iter().map(|value| value[lane]).collect();
            self.access_texels(access, texels, (address, lane), &operands, &mut results);
        }
        self.put_results(access, &results, group, active);
        Ok(())
    }

    /// Reads or writes at `address` for one lane.
    fn access_texels(&mut self, access: &ImageAccess, texels: &Texels, target: (u64, usize), operands: &[u64], results: &mut Results) {
        let (address, lane) = target;
        let kind = match access.f {
            ImageFn::Load(..) => AccessKind::Read,
            ImageFn::Reduce { .. } => AccessKind::Atomic,
            ImageFn::Sample { .. }
            | ImageFn::Gather { .. }
            | ImageFn::Store(..)
            | ImageFn::StoreFormatted(_)
            | ImageFn::Query(..)
            | ImageFn::IsHandle(_) => AccessKind::Write,
        };
        self.report_texels(&[target], SurfaceAccess::new(access, texels).bytes, kind);
        let Some(allocation) = self.global.find_mut(address) else { return };
        let offset = allocation.offset(address);
        match access.f {
            ImageFn::Load(bits, _) => {
                let size = usize::from(bits / 8);
                for (index, result) in results.iter_mut().enumerate() {
                    let mut word = [0; 8];
                    allocation.pages.read(offset + (index * size) as u64, &mut word[..size]);
                    result[lane] = u64::from_le_bytes(word);
                }
            }
            ImageFn::Store(bits, _) => {
                let size = usize::from(bits / 8);
                for (index, operand) in operands.iter().enumerate() {
                    allocation.pages.write(offset + (index * size) as u64, &operand.to_le_bytes()[..size]);
                }
            }
            ImageFn::StoreFormatted(_) => {
                let mut components = [0; 4];
                components.iter_mut().zip(operands).for_each(|(component, operand)| *component = *operand as u32);
                allocation.pages.write(offset, &texels.encode(components));
            }
            ImageFn::Reduce { f, ty, formatted, .. } => {
                let size = ty.bytes() as usize;
                let mut word = [0; 8];
                allocation.pages.read(offset, &mut word[..size]);
                let ty = if formatted && texels.channel == ChannelType::S32 { ScalarType::S32 } else { ty };
                let function = RmwOperation { f, ty, adder: Adder::GlobalMemory };
                let operand = operands.first().copied().unwrap_or(0);
                let new = function.apply(u64::from_le_bytes(word), operand, operand);
                allocation.pages.write(offset, &new.to_le_bytes()[..size]);
            }
            ImageFn::Sample { .. } | ImageFn::Gather { .. } | ImageFn::Query(..) | ImageFn::IsHandle(_) => {}
        }
    }
}

/// The access of a surface instruction.
struct SurfaceAccess {
    /// Bytes per lane.
    bytes: u64,
    /// Bytes per unit of the x coordinate.
    step: u64,
    bounds: SurfaceBounds,
}

impl SurfaceAccess {
    fn new(access: &ImageAccess, texels: &Texels) -> Self {
        let texel = texels.texel_bytes();
        match access.f {
            ImageFn::Load(bits, bounds) => Self { bytes: u64::from(bits / 8) * access.dests.len() as u64, step: 1, bounds },
            ImageFn::Store(bits, bounds) => Self { bytes: u64::from(bits / 8) * access.values.len() as u64, step: 1, bounds },
            ImageFn::Reduce { ty, formatted, bounds, .. } => {
                Self { bytes: u64::from(ty.bytes()), step: if formatted { texel } else { 1 }, bounds }
            }
            ImageFn::StoreFormatted(bounds) => Self { bytes: texel, step: texel, bounds },
            ImageFn::Sample { .. } | ImageFn::Gather { .. } | ImageFn::Query(..) | ImageFn::IsHandle(_) => {
                Self { bytes: texel, step: texel, bounds: SurfaceBounds::Zero }
            }
        }
    }

    /// The address of the access.
    ///
    /// # Errors
    /// The message for a coordinate out of bounds.
    fn address(&self, access: &ImageAccess, texels: &Texels, coordinates: &[u32]) -> Result<Option<u64>, String> {
        let first = usize::from(access.geometry.is_array());
        let row = u64::from(texels.extent[0]) * texels.texel_bytes();
        let x_end = i64::try_from((row.saturating_sub(self.bytes) / self.step) + 1).unwrap_or(i64::MAX);
        let mut index = [0_u64; 3];
        let axes = [("x", x_end), ("y", i64::from(texels.extent[1])), ("z", i64::from(texels.extent[2]))];
        for (dimension, word) in coordinates[first..].iter().enumerate().take(3) {
            let (name, end) = axes[dimension];
            index[dimension] = self.inside(name, i64::from(*word as i32), end)?;
        }
        let layer = if first == 1 { self.inside("layer", i64::from(coordinates[0]), i64::from(texels.layers))? } else { 0 };
        let x = index[0] * self.step;
        if !x.is_multiple_of(self.bytes.min(texels.texel_bytes()).max(1)) && self.step == 1 && self.bounds == SurfaceBounds::Trap {
            return Err(format!("surface access of {} bytes at byte {x} of a row, which is not a multiple of it", self.bytes));
        }
        Ok(Some(texels.byte(x, index[1], index[2] + layer)))
    }

    /// The index, clamped to the bounds or checked against them.
    fn inside(&self, name: &str, index: i64, end: i64) -> Result<u64, String> {
        match self.bounds {
            SurfaceBounds::Clamp => Ok(index.clamp(0, end - 1) as u64),
            SurfaceBounds::Zero | SurfaceBounds::Trap if (0..end).contains(&index) => Ok(index as u64),
            SurfaceBounds::Zero | SurfaceBounds::Trap => {
                Err(format!("surface access of {} bytes with {name} = {index}, which must be below {end}", self.bytes))
            }
        }
    }
}
