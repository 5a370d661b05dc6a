//! `txq`, `suq` and `istypep`.

use smallvec::SmallVec;

use super::Results;
use crate::isa::{Filter, ImageKind, ImageQuery, Sampler};
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::Trap;
use crate::program::{Content, Image, ImageAccess, Texels, Variable, find};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// `txq` and `suq`.
    pub(super) fn query(
        &mut self,
        access: &ImageAccess,
        query: ImageQuery,
        kind: ImageKind,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let images = &self.prepared.config.images;
        let handles = self.handles(access.image, group, active);
        let mut results: Results = SmallVec::from_elem([0; 32], 1);
        for lane in active.iter() {
            let image = find(images, handles[lane]).filter(|image| {
                image.kind() == kind || image.kind() == ImageKind::Sampler && kind == ImageKind::Texture && query.is_of_sampler()
            });
            let Some(image) = image else { return Err(self.wrong_handle(handles, kind, active)) };
            results[0][lane] = u64::from(answer(image, query));
        }
        self.put_results(access, &results, group, active);
        Ok(())
    }

    /// `istypep`: true for handles of variables of the kind. Handles from the launch have no type, as on the hardware.
    pub(super) fn is_handle(&mut self, access: &ImageAccess, kind: ImageKind, group: &Group, active: LaneMask) {
        let handles = self.handles(access.image, group, active);
        let is_it = |variable: &Variable, handle: u64| variable.opaque == Some(kind) && variable.location.address == handle;
        let holds = |lane: usize| self.program.variables.iter().any(|variable| is_it(variable, handles[lane]));
        let mask = active.filter(holds);
        if let Some(d) = access.dests.first() {
            self.lanes(group, active).put_pred(*d, mask);
        }
    }
}

/// The answer to a query of an image, with the numbers of OpenCL for channel types and orders (PTX ISA, "Channel Data Type and Channel
/// Order Fields").
fn answer(image: &Image, query: ImageQuery) -> u32 {
    use crate::isa::ChannelType::{F16, F32, S8, S16, S32, U8, U16, U32};
    let sampler = match &image.content {
        Content::Texture(texture) => texture.sampler,
        Content::Sampler(sampler) => *sampler,
        Content::Surface(_) => Sampler::default(),
    };
    let extent = |index: usize| image.texels().map_or(0, |texels| if index < texels.dimensions() { texels.extent[index] } else { 0 });
    let normalized = matches!(&image.content, Content::Texture(texture) if texture.normalized);
    let unorm = matches!(&image.content, Content::Texture(texture) if texture.normalized_float);
    match query {
        ImageQuery::Width => extent(0),
        ImageQuery::Height => extent(1).max(u32::from(image.kind() == ImageKind::Texture)),
        // The hardware reports the layers as depth.
        ImageQuery::Depth => extent(2).max(image.texels().map_or(0, layers)),
        ImageQuery::ChannelDataType => image.texels().map_or(0, |texels| match (texels.channel, unorm) {
            (S8, true) => 0x10d0,
            (S16, true) => 0x10d1,
            (U8, true) => 0x10d2,
            (U16, true) => 0x10d3,
            (S8, false) => 0x10d7,
            (S16, false) => 0x10d8,
            (S32, _) => 0x10d9,
            (U8, false) => 0x10da,
            (U16, false) => 0x10db,
            (U32, _) => 0x10dc,
            (F16, _) => 0x10dd,
            (F32, _) => 0x10de,
        }),
        ImageQuery::ChannelOrder => match image.texels().map_or(0, |texels| texels.channels) {
            1 => 0x10b0,
            2 => 0x10b2,
            _ => 0x10b5,
        },
        ImageQuery::NormalizedCoords => u32::from(normalized),
        ImageQuery::ArraySize => image.texels().map_or(0, layers),
        ImageQuery::NumMipmapLevels | ImageQuery::NumSamples => 1,
        ImageQuery::ForceUnnormalizedCoords => u32::from(sampler.unnormalized),
        ImageQuery::FilterMode => u32::from(sampler.filter == Filter::Linear),
        ImageQuery::AddrMode0 => sampler.address[0] as u32,
        ImageQuery::AddrMode1 => sampler.address[1] as u32,
        ImageQuery::AddrMode2 => sampler.address[2] as u32,
        ImageQuery::MemoryLayout => 0,
    }
}

/// The layers of an array; 0 for other textures.
fn layers(texels: &Texels) -> u32 {
    if texels.geometry.is_array() { texels.layers } else { 0 }
}
