//! Texture and surface instructions. They are rare, so an instruction holds an index into a table of their operands.

use super::op::{Effect, Effects, Family, Purpose};
use super::operands::{OperandVisitor, Use};
use super::{Bank, Dst, Program, Src};
use crate::base::define_id;
use crate::isa::{AtomicFn, Geometry, ImageKind, ImageQuery, ScalarType, SurfaceBounds};

define_id!(
    /// A texture or surface instruction: an index into [`Program::images`](super::Program).
    ImageId, "image"
);

/// The operand from which an instruction reads the handle of its texture, sampler or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleSource {
    /// A 64-bit value: a register, or the address of a module variable, which serves as its handle.
    Value(Src),
    /// A kernel parameter, by its byte offset.
    Param(u32),
}

/// The operation of a texture or surface instruction, with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageAccess {
    /// The function.
    pub f: ImageFn,
    /// The texture or surface; the sampler, in a query of one.
    pub image: HandleSource,
    /// The sampler, in the independent mode.
    pub sampler: Option<HandleSource>,
    /// The number of coordinates. Unused in queries.
    pub geometry: Geometry,
    /// 32-bit operands: the index of the layer of an array, then the coordinates, then the offsets in texels if there are any.
    pub coordinates: Box<[Src]>,
    /// The values that are stored or combined with memory. In lookups the level of detail or the gradients: they have no effect, since
    /// textures have one level.
    pub values: Box<[Src]>,
    /// The destinations; a predicate for `IsHandle`.
    pub dests: Box<[Dst]>,
    /// True if values and results are 64-bit registers.
    pub wide: bool,
    /// The predicate destination that reports whether the texels are resident: always true.
    pub resident: Dst,
}

/// The functions of texture and surface instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFn {
    /// `tex`: four components of type `to`, or two pairs of halves.
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
    /// `sured`: the x coordinate counts bytes or, if `formatted`, texels.
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
    /// `txq`, `suq` of a handle of this kind.
    Query(ImageQuery, ImageKind),
    /// `istypep`.
    IsHandle(ImageKind),
}

impl ImageAccess {
    /// Its effects other than writing registers. Queries count as reads: the properties of a texture are in memory as well.
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
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        let program = visitor.program;
        let access = &program.images[*self];
        for handle in [Some(access.image), access.sampler].into_iter().flatten() {
            if let HandleSource::Value(source) = handle {
                visitor.source(Use::Address, Bank::B64, source, 1);
            }
        }
        access.coordinates.iter().for_each(|source| visitor.source(Use::Address, Bank::B32, *source, 1));
        access.values.iter().for_each(|source| visitor.read(Bank::of_wide(access.wide), *source));
        let bank = if matches!(access.f, ImageFn::IsHandle(_)) { Bank::Pred } else { Bank::of_wide(access.wide) };
        access.dests.iter().for_each(|d| visitor.write(bank, *d));
        visitor.write(Bank::Pred, access.resident);
    }

    fn effects(&self, program: &Program) -> Effects {
        program.images[*self].effects()
    }

    fn purpose(&self) -> Purpose {
        Purpose::Memory
    }
}
