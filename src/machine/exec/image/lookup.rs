//! `tex` and `tld4`.

use smallvec::SmallVec;

use super::Results;
use crate::isa::{ImageKind, Sampler, ScalarType};
use crate::machine::event::AccessKind;
use crate::machine::exec::sampling::{Lookup, Texel, sample};
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::Trap;
use crate::num::F16;
use crate::program::{Content, Image, ImageAccess, Texture};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// `tex` and `tld4`.
    pub(super) fn texture(
        &mut self,
        access: &ImageAccess,
        float: bool,
        gather: Option<usize>,
        to: ScalarType,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let prepared = self.prepared;
        let images = self.images(access.image, ImageKind::Texture, group, active)?;
        let samplers = match access.sampler {
            Some(handle) => Some(self.images(handle, ImageKind::Sampler, group, active)?),
            None => None,
        };
        let mut results: Results = SmallVec::from_elem([0; 32], 4);
        let mut addresses: SmallVec<[(u64, usize); 64]> = SmallVec::new();
        let mut unknown = None;
        for lane in active.iter() {
            let Some(texture) = images[lane].and_then(|index| texture_of(&prepared.config.images[index])) else { continue };
            let named = samplers.as_ref().and_then(|samplers| samplers[lane]).and_then(|index| sampler_of(&prepared.config.images[index]));
            let coordinates = self.coordinates_of(access, lane, group);
            let lookup = Lookup {
                texture,
                sampler: named.unwrap_or(&texture.sampler),
                geometry: access.geometry,
                coordinates: &coordinates,
                float,
                gather,
            };
            let Texel(components) = sample(&lookup, |address| {
                addresses.push((address, lane));
                self.texel(texture, address, &mut unknown)
            });
            if let Some(address) = unknown {
                return Err(self.unknown_texel(address, lane, group));
            }
            for (result, word) in results.iter_mut().zip(components) {
                result[lane] = u64::from(word);
            }
            if let Some(texture) = images[lane].and_then(|index| prepared.config.images[index].texels()) {
                self.report_texels(&addresses, texture.texel_bytes(), AccessKind::Read);
            }
            addresses.clear();
        }
        let results = converted(results, to);
        self.put_results(access, &results, group, active);
        self.lanes(group, active).put_pred(access.resident, active);
        Ok(())
    }

    /// The texel at an address of its buffer; sets `unknown` to the first unknown byte.
    fn texel(&self, texture: &Texture, address: u64, unknown: &mut Option<u64>) -> Texel {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..texture.texels.texel_bytes() as usize];
        if let Some(allocation) = self.global.find(address) {
            allocation.pages.read(allocation.offset(address), bytes);
            *unknown = unknown.or_else(|| allocation.first_unknown(address, address, bytes.len() as u64));
        }
        texture.texels.decode(bytes, texture.normalized_float)
    }
}

fn texture_of(image: &Image) -> Option<&Texture> {
    if let Content::Texture(texture) = &image.content { Some(texture) } else { None }
}

fn sampler_of(image: &Image) -> Option<&Sampler> {
    if let Content::Sampler(sampler) = &image.content { Some(sampler) } else { None }
}

/// Converts four components to the type of the destination: pairs of halves, halves, or unchanged.
#[expect(clippy::wildcard_enum_match_arm, reason = "registers of the other types hold one number each")]
fn converted(results: Results, to: ScalarType) -> Results {
    let half = |word: u64| u64::from(F16::from_f64(f64::from(f32::from_bits(word as u32))).0);
    match to {
        ScalarType::F16x2 => [0, 2]
            .map(|first| std::array::from_fn(|lane| half(results[first][lane]) | half(results[first + 1][lane]) << 16))
            .into_iter()
            .collect(),
        ScalarType::F16 => results.iter().map(|words| words.map(half)).collect(),
        _ => results,
    }
}
