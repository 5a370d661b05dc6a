//! PTX ISA, "Texture Instructions" and "Surface Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::Image;
use crate::isa::ImageDecode::{
    Gather, IsImage, SurfaceFormattedReduce, SurfaceFormattedStore, SurfaceLoad, SurfaceQuery, SurfaceReduce, SurfaceStore, Texture,
    TextureQuery,
};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("tex[-base{3.1,20}](<geometry>).v4(.u32|.s32|.f16{4.2,53}|.f32)(.s32|.f32)       d[|p]:t1:vec, a:any[, e:any][, f:any]", (1, 0), 0, Image(Texture), "texture lookup"),
    row("tex[-base{3.1,20}](<geometry>).v2(.f16x2)(.s32|.f32)                             d[|p]:t1:vec, a:any[, e:any][, f:any]", (4, 2), 53, Image(Texture), "texture lookup, the result as halves"),
    row("tex-level(<geometry>).v4(.u32|.s32|.f16{4.2,53}|.f32)(.s32|.f32)                d[|p]:t1:vec, a:any, l[, e:any][, f:any]", (3, 1), 20, Image(Texture), "texture lookup in a level of the mipmap"),
    row("tex-level(<geometry>).v2(.f16x2)(.s32|.f32)                                      d[|p]:t1:vec, a:any, l[, e:any][, f:any]", (4, 2), 53, Image(Texture), "texture lookup in a level of the mipmap, the result as halves"),
    row("tex-grad(<geometry>).v4(.u32|.s32|.f16{4.2,53}|.f32)(.s32|.f32)                 d[|p]:t1:vec, a:any, x:any, y:any[, e:any][, f:any]", (3, 1), 20, Image(Texture), "texture lookup in the level of the mipmap that gradients choose"),
    row("tex-grad(<geometry>).v2(.f16x2)(.s32|.f32)                                       d[|p]:t1:vec, a:any, x:any, y:any[, e:any][, f:any]", (4, 2), 53, Image(Texture), "texture lookup in the level of the mipmap that gradients choose"),
    row("tex[-base](.2dms|.a2dms).v4(.u32|.s32|.f16{4.2,53}|.f32).s32                    d[|p]:t1:vec, a:any[, e:any]", (3, 2), 30, Image(Texture), "texture lookup of one of several samples"),
    row("tex[-base](.2dms|.a2dms).v2.f16x2.s32                                         d[|p]:t1:vec, a:any[, e:any]", (4, 2), 53, Image(Texture), "texture lookup of one of several samples, the result as halves"),
    row("tld4(.r|.g|.b|.a)(.2d|.a2d{4.3,30}|.cube{4.3,30}|.acube{4.3,30}).v4(.u32|.s32|.f32)(.f32)    d[|p]:t1:vec, a:any[, e:any][, f:any]", (2, 2), 20, Image(Gather), "texture lookup of the four texels around a point"),
    row("txq(.width|.height|.depth|.channel_data_type|.channel_order|.normalized_coords|.array_size{4.1,0}|.num_mipmap_levels{4.1,20}|.num_samples{4.1,30}).b32   d, a:any", (1, 5), 0, Image(TextureQuery), "attribute of a texture"),
    row("txq-level(.width|.height|.depth).b32                              d, a:any, l:u32", (4, 3), 30, Image(TextureQuery), "extent of a level of a texture"),
    row("txq(.force_unnormalized_coords|.filter_mode|.addr_mode_0|.addr_mode_1|.addr_mode_2).b32   d, a:any", (1, 5), 0, Image(TextureQuery), "attribute of a sampler"),
    row("istypep(.texref|.samplerref|.surfref)                             p, a:u64", (4, 0), 30, Image(IsImage), "is it a handle of this type?"),

    row("suld-b(<surface>)[<surface_cop>][.v2|.v4](.b8|.b16|.b32)(<bounds>)                       d:+:vec, a:any", (1, 5), 0, Image(SurfaceLoad), "surface load"),
    row("suld-b(<surface>)[<surface_cop>][.v2].b64(<bounds>)                                      d:+:vec, a:any", (1, 5), 0, Image(SurfaceLoad), "surface load"),
    row("sust-b(<surface>)[.wb|.cg|.cs|.wt][.v2|.v4](.b8|.b16|.b32)(<bounds>)                     a:any, b:+:vec", (1, 5), 0, Image(SurfaceStore), "surface store"),
    row("sust-b(<surface>)[.wb|.cg|.cs|.wt][.v2].b64(<bounds>)                                    a:any, b:+:vec", (1, 5), 0, Image(SurfaceStore), "surface store"),
    row("sust-p(.1d|.2d|.3d{3.0,20}|.a1d{4.1,30}|.a2d{4.1,30})[.wb|.cg|.cs|.wt][.v2|.v4].b32(<bounds>)                                a:any, b:+:vec", (2, 0), 20, Image(SurfaceFormattedStore), "surface store of texels, converted to the surface's format"),
    row("sured-b.add(.1d|.2d|.3d)(.u32|.u64|.s32)(<bounds>)                                       a:any, b:+", (2, 0), 20, Image(SurfaceReduce), "surface reduction"),
    row("sured-b(.min|.max)(.1d|.2d|.3d)(.u32|.u64{8.1,50}|.s32|.s64{8.1,50})(<bounds>)           a:any, b:+", (2, 0), 20, Image(SurfaceReduce), "surface reduction"),
    row("sured-b(.and|.or)(.1d|.2d|.3d).b32(<bounds>)                                             a:any, b:+", (2, 0), 20, Image(SurfaceReduce), "surface reduction"),
    row("sured-p(.add|.and|.or)(.1d|.2d|.3d).b32(<bounds>)                                        a:any, b:+", (2, 0), 20, Image(SurfaceFormattedReduce), "surface reduction of a texel"),
    row("sured-p(.min|.max)(.1d|.2d|.3d)(.b32|.b64{8.1,50})(<bounds>)                             a:any, b:+", (2, 0), 20, Image(SurfaceFormattedReduce), "surface reduction of a texel"),
    row("suq(.width|.height|.depth|.channel_data_type|.channel_order|.array_size{4.2,0}|.memory_layout{4.2,0}).b32   d, a:any", (1, 5), 0, Image(SurfaceQuery), "attribute of a surface"),
];
