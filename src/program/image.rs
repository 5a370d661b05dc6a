//! Texture and surface instructions. There are few of them, so what they do lies in a table beside the code.

use super::op::{Effect, Effects, Family, Purpose};
use super::operands::{Use, Walk};
use super::{Bank, Dst, Program, Src};
use crate::base::define_id;
use crate::isa::{AtomicFn, Geometry, ImageKind, ImageQuery, ScalarType, SurfaceBounds};

define_id!(
    /// A texture or surface instruction: an index into [`Program::images`](super::Program).
    ImageId, "image"
);

/// Where an instruction finds the handle of its texture, sampler or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// A 64-bit value: in a register, or the address of a variable of the module, which is its handle.
    Value(Src),
    /// In the kernel's parameters, from this byte on.
    Param(u32),
}

/// What a texture or surface instruction does with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageAccess {
    /// The function.
    pub f: ImageFn,
    /// The texture or surface; of a query, perhaps the sampler.
    pub image: Handle,
    /// The sampler, in the independent mode.
    pub sampler: Option<Handle>,
    /// How many coordinates there are. Queries have none.
    pub geometry: Geometry,
    /// 32-bit operands: the index of the layer of an array, then the coordinates, then the offsets in texels if there are any.
    pub place: Box<[Src]>,
    /// What is stored or combined with memory; of lookups the level, or the gradients, which choose among a single one.
    pub values: Box<[Src]>,
    /// What is written: a predicate for `IsHandle`.
    pub dests: Box<[Dst]>,
    /// Whether values and results are 64-bit registers.
    pub wide: bool,
    /// The predicate that says that the texels are resident, which they always are.
    pub resident: Dst,
}

/// The functions of texture and surface instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFn {
    /// `tex`: four components as `to`, or two pairs of halves.
    Sample {
        /// `.u32`, `.s32`, `.f32`, `.f16` or `.f16x2`.
        to: ScalarType,
        /// Coordinates are `.f32`, not `.s32`.
        float: bool,
    },
    /// `tld4`: one component of four texels.
    Gather {
        /// 0 to 3.
        component: usize,
    },
    /// `suld.b`: elements of this many bits.
    Load(u8, SurfaceBounds),
    /// `sust.b`.
    Store(u8, SurfaceBounds),
    /// `sust.p`.
    StoreFormatted(SurfaceBounds),
    /// `sured`, in bytes or, `formatted`, in texels along x.
    Reduce {
        /// The function.
        f: AtomicFn,
        /// Type of the element.
        ty: ScalarType,
        /// `.p`.
        formatted: bool,
        /// The mode of accesses out of bounds.
        bounds: SurfaceBounds,
    },
    /// `txq`, `suq`: asked of such a handle.
    Query(ImageQuery, ImageKind),
    /// `istypep`.
    IsHandle(ImageKind),
}

impl ImageAccess {
    /// What it does beside writing registers. What is known of a handle lies in memory as well.
    pub fn effects(&self) -> Effects {
        match self.f {
            ImageFn::Sample { .. } | ImageFn::Gather { .. } | ImageFn::Load(..) | ImageFn::Query(..) | ImageFn::IsHandle(_) => {
                Effects::of(&[Effect::ReadsMemory])
            }
            ImageFn::Store(..) | ImageFn::StoreFormatted(_) => Effects::of(&[Effect::WritesMemory]),
            ImageFn::Reduce { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory]),
        }
    }
}

impl Family for ImageId {
    fn operands(&self, walk: &mut Walk<'_>) {
        let program = walk.program;
        let access = &program.images[*self];
        for handle in [Some(access.image), access.sampler].into_iter().flatten() {
            if let Handle::Value(source) = handle {
                walk.source(Use::Address, Bank::B64, source, 1);
            }
        }
        access.place.iter().for_each(|source| walk.source(Use::Address, Bank::B32, *source, 1));
        access.values.iter().for_each(|source| walk.read(Bank::of_wide(access.wide), *source));
        let bank = if matches!(access.f, ImageFn::IsHandle(_)) { Bank::Pred } else { Bank::of_wide(access.wide) };
        access.dests.iter().for_each(|d| walk.write(bank, *d));
        walk.write(Bank::Pred, access.resident);
    }

    fn effects(&self, program: &Program) -> Effects {
        program.images[*self].effects()
    }

    fn purpose(&self) -> Purpose {
        Purpose::Memory
    }
}
