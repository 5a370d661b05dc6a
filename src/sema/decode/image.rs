//! Texture and surface instructions, and their bracketed operands: a handle, perhaps a sampler, and the coordinates.

use smallvec::SmallVec;

use super::super::decode_context::Value;
use super::availability::require_at_least;
use super::constant;
use super::family::{Decoded, Decoding};
use super::operand::{Arg, not_a_register, width};
use super::vector::{Elements, elements, same_width, sources};
use crate::base::{Diagnostic, Span};
use crate::isa::{AtomicFn, Decode, Geometry, ImageDecode, ImageKind, ImageQuery, ScalarType, Space, SurfaceBounds, agrees};
use crate::program::{Bank, Dst, HandleSource, ImageAccess, ImageFn, Op, Src};
use crate::syntax::tree::{Expr, Operand, OperandKind};

/// The bracketed operands.
struct Brackets {
    image: HandleSource,
    sampler: Option<HandleSource>,
    coordinates: Vec<Src>,
}

/// First PTX version and target whose texture lookups have texel offsets and depth comparison.
const SHIFTED: ((u8, u8), u32) = ((4, 3), 30);
/// First PTX version and target whose cube lookups have gradients.
const CUBE_GRADIENT: ((u8, u8), u32) = ((4, 3), 20);
/// First PTX version and target whose texture lookups return whether the texels are resident.
const RESIDENT: ((u8, u8), u32) = ((7, 1), 60);

/// Image, sampler and coordinates, in the order of the brackets.
type Parts<'o, 'a> = (&'o Operand<'a>, Option<&'o Operand<'a>>, &'o Operand<'a>);

impl<'a> Decoding<'_, 'a> {
    /// A texture or surface instruction.
    pub(super) fn image(&mut self, decode: ImageDecode) -> Decoded {
        match decode {
            ImageDecode::Texture | ImageDecode::Gather => self.texture(),
            ImageDecode::TextureQuery => self.query(ImageKind::Texture),
            ImageDecode::SurfaceQuery => self.query(ImageKind::Surface),
            ImageDecode::IsImage => {
                let kinds = [ImageKind::Texture, ImageKind::Sampler, ImageKind::Surface].map(|kind| (kind.word(), kind));
                let kind = self.matched.choose(&kinds).ok_or_else(|| self.type_mismatch())?;
                let (image, d) = (HandleSource::Value(self.src(1)?), self.dst(0)?);
                Ok(self.finish(ImageAccess { dests: [d].into(), ..access(ImageFn::IsHandle(kind), image) }))
            }
            ImageDecode::SurfaceLoad => self.surface(0, 1, ImageFn::Load(self.ty().bits() as u8, self.bounds())),
            ImageDecode::SurfaceStore => self.surface(1, 0, ImageFn::Store(self.ty().bits() as u8, self.bounds())),
            ImageDecode::SurfaceFormattedStore => self.surface(1, 0, ImageFn::StoreFormatted(self.bounds())),
            ImageDecode::SurfaceReduce => self.reduction(false),
            ImageDecode::SurfaceFormattedReduce => self.reduction(true),
        }
    }

    fn finish(&mut self, access: ImageAccess) -> Op {
        Op::Image { access: self.cx.image(access) }
    }

    fn bounds(&self) -> SurfaceBounds {
        self.matched.choose(&[("clamp", SurfaceBounds::Clamp), ("zero", SurfaceBounds::Zero)]).unwrap_or(SurfaceBounds::Trap)
    }

    fn geometry(&self) -> Result<Geometry, Diagnostic> {
        self.matched.choose(Geometry::WORDS).ok_or_else(|| self.type_mismatch())
    }

    /// `tex` and `tld4`. The requested level has no effect, since all textures have one level.
    fn texture(&mut self) -> Decoded {
        if self.matched.has("2dms") || self.matched.has("a2dms") {
            return self.multisample();
        }
        let geometry = self.geometry()?;
        let to = self.matched.types.first().copied().unwrap_or(ScalarType::F32);
        let coordinate = self.ty();
        if geometry.is_cube() && coordinate != ScalarType::F32 {
            let message = format!("'.{}' takes coordinates of type .f32", geometry.word());
            return Err(Diagnostic::error("type", self.instruction.opcode.span, message));
        }
        if geometry.is_cube() && self.matched.has("grad") {
            require_at_least(CUBE_GRADIENT.0, CUBE_GRADIENT.1, "a gradient of a cube", self.instruction.opcode.span, self.cx)?;
        }
        let brackets = self.brackets(1, geometry, coordinate)?;
        let components = [("r", 0), ("g", 1), ("b", 2), ("a", 3)];
        let f = match (self.matched.form.row.decode, self.matched.choose(&components)) {
            (Decode::Image(ImageDecode::Gather), Some(component)) => ImageFn::Gather { component },
            _ => ImageFn::Sample { to, float: coordinate == ScalarType::F32 },
        };
        let levels = if self.matched.has("level") { 1 } else { 2 * usize::from(self.matched.has("grad")) };
        let mut coordinates = brackets.coordinates;
        for operand in self.instruction.operands.iter().skip(2 + levels) {
            require_at_least(SHIFTED.0, SHIFTED.1, "an offset or a depth after the place", operand.span, self.cx)?;
            match self.offsets(operand, geometry)? {
                None if geometry == Geometry::D3 || coordinate != ScalarType::F32 => {
                    let message = "a depth to compare with goes with coordinates of type .f32 in one or two dimensions or a cube";
                    return Err(Diagnostic::error("operand", operand.span, message));
                }
                Some(offsets) if coordinates.len() == coordinate_count(geometry) => coordinates.extend(offsets),
                _ => {
                    let why = format!("'{}' with a depth to compare with is not modelled", self.instruction.opcode.text);
                    return Ok(Op::Unsupported { why: self.cx.unsupported(why) });
                }
            }
        }
        let (dests, resident) = match self.args.first() {
            Some(Arg::Vector { list, .. }) => (self.cx.dests(*list), Dst::SINK),
            Some(Arg::VectorAnd { list, second, .. }) => {
                require_at_least(RESIDENT.0, RESIDENT.1, "a predicate beside the texels", self.operand_span(0), self.cx)?;
                (self.cx.dests(*list), *second)
            }
            _ => return Err(self.operand_mismatch(0)),
        };
        let (coordinates, sampler, values) = (coordinates.into(), brackets.sampler, self.levels(levels, geometry)?.into());
        Ok(self.finish(ImageAccess { sampler, geometry, coordinates, values, dests, resident, ..access(f, brackets.image) }))
    }

    /// The operands that select a level of detail: the level, or two gradients.
    fn levels(&mut self, count: usize, geometry: Geometry) -> Result<Vec<Src>, Diagnostic> {
        let mut levels = Vec::new();
        for operand in self.instruction.operands.iter().skip(2).take(count) {
            if count == 1 {
                let values = self.tuple(operand)?;
                levels.extend(self.operands_of(&values, 1, self.ty(), operand.span)?);
            } else {
                levels.extend(self.gradient(operand, geometry)?);
            }
        }
        Ok(levels)
    }

    /// A gradient: a vector of one float per dimension, with an unused fourth for `.3d`. For a cube ptxas accepts two elements, and four as
    /// in the manual.
    fn gradient(&mut self, operand: &Operand<'a>, geometry: Geometry) -> Result<SmallVec<[Src; 8]>, Diagnostic> {
        let sizes: &[usize] = match geometry {
            Geometry::D1 | Geometry::A1d => &[1],
            Geometry::D2 | Geometry::A2d => &[2],
            Geometry::D3 => &[4],
            Geometry::Cube | Geometry::Acube => &[2, 4],
        };
        let values = elements(operand, self.cx)?.filter(|values| sizes.contains(&values.len()));
        let Some(values) = values else {
            let size = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
            let message = format!("a gradient of '.{}' is a vector of size {size}", geometry.word());
            return Err(Diagnostic::error("operand", operand.span, message).with_help("write its elements in braces: {a, b}"));
        };
        let used = values.len().min(geometry.coordinates());
        Ok(self.operands_of(&values, used, ScalarType::F32, operand.span)?.into_iter().collect())
    }

    /// A multisample lookup. Only its operands are checked, since no texture of a launch has several samples.
    fn multisample(&mut self) -> Decoded {
        let operand = self.instruction.operands.get(1).ok_or_else(|| self.operand_mismatch(1))?;
        let (image, sampler, coordinates) = self.bracketed(operand)?;
        let values = self.tuple(coordinates)?;
        if values.len() != 4 {
            let message = format!("a place of several samples has 4 coordinates, not {}", values.len());
            return Err(Diagnostic::error("operand", coordinates.span, message));
        }
        self.operands_of(&values, 4, ScalarType::S32, coordinates.span)?;
        self.check_sampler(sampler, operand.span)?;
        self.handle(image, ImageKind::Texture)?;
        if let Some(operand) = self.instruction.operands.get(2) {
            require_at_least(SHIFTED.0, SHIFTED.1, "an offset after the place", operand.span, self.cx)?;
        }
        if matches!(self.args.first(), Some(Arg::VectorAnd { .. })) {
            require_at_least(RESIDENT.0, RESIDENT.1, "a predicate beside the texels", self.operand_span(0), self.cx)?;
        }
        if let Some(operand) = self.instruction.operands.get(2)
            && self.offsets(operand, Geometry::D2)?.is_none()
        {
            return Err(Diagnostic::error("operand", operand.span, "offsets in texels are needed here").with_help("write {s, t}"));
        }
        self.unsupported()
    }

    /// Offsets in texels: a vector, or for a single coordinate a value of type `.s32`; `None` if it is a depth.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other values are no offsets")]
    fn offsets(&mut self, operand: &Operand<'a>, geometry: Geometry) -> Result<Option<Vec<Src>>, Diagnostic> {
        let count = geometry.coordinates();
        if let Some(values) = elements(operand, self.cx)? {
            if geometry.is_cube() {
                let message = format!("a place of '.{}' has no offset in texels", geometry.word());
                return Err(Diagnostic::error("operand", operand.span, message));
            }
            check_size(&values, operand.span)?;
            return self.operands_of(&values, count, ScalarType::S32, operand.span).map(Some);
        }
        let OperandKind::Expr(expr) = &operand.kind else { return Err(not_a_register(operand.span)) };
        match self.cx.resolve(expr)? {
            Value::Register(register) if register.ty == ScalarType::F32 => Ok(None),
            value if count == 1 => {
                self.operands_of(&Elements::from_iter([(value, operand.span)]), 1, ScalarType::S32, operand.span).map(Some)
            }
            _ => Ok(None),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other queries are of the image itself or of its sampler")]
    fn query(&mut self, kind: ImageKind) -> Decoded {
        let query = self.matched.choose(ImageQuery::WORDS).ok_or_else(|| self.type_mismatch())?;
        let kinds: &[ImageKind] = match query {
            ImageQuery::ForceUnnormalizedCoords => &[ImageKind::Sampler],
            _ if query.is_of_sampler() && self.cx.has_samplers() => &[ImageKind::Sampler],
            _ if query.is_of_sampler() => &[kind, ImageKind::Sampler],
            _ => &[kind],
        };
        let (image, d) = (self.sole_handle(1, kinds)?, self.dst(0)?);
        Ok(self.finish(ImageAccess { dests: [d].into(), ..access(ImageFn::Query(query, kind), image) }))
    }

    fn reduction(&mut self, formatted: bool) -> Decoded {
        let words = [("add", AtomicFn::Add), ("min", AtomicFn::Min), ("max", AtomicFn::Max), ("and", AtomicFn::And), ("or", AtomicFn::Or)];
        let f = self.matched.choose(&words).ok_or_else(|| self.type_mismatch())?;
        let (ty, bounds) = (self.ty(), self.bounds());
        self.surface(1, 0, ImageFn::Reduce { f, ty, formatted, bounds })
    }

    /// A surface access whose data is operand `data` and whose bracketed operand is number `at`.
    fn surface(&mut self, data: usize, at: usize, f: ImageFn) -> Decoded {
        let geometry = self.geometry()?;
        let brackets = self.brackets(at, geometry, ScalarType::S32)?;
        let (values, dests, bits): (Box<[Src]>, Box<[Dst]>, u8) = match self.args.get(data) {
            Some(Arg::Vector { list, bits }) if data == 0 => ([].into(), self.cx.dests(*list), *bits),
            Some(Arg::Vector { list, bits }) => (self.cx.sources(*list), [].into(), *bits),
            Some(Arg::Dest { d, bits, .. }) => ([].into(), [*d].into(), *bits),
            Some(Arg::Source { a, bits, .. }) => ([*a].into(), [].into(), *bits),
            _ => return Err(self.operand_mismatch(data)),
        };
        let coordinates = brackets.coordinates.into();
        Ok(self.finish(ImageAccess { geometry, coordinates, values, dests, wide: bits == 64, ..access(f, brackets.image) }))
    }

    /// `[a, c]`, or `[a, b, c]` with a sampler `b`.
    fn brackets(&mut self, at: usize, geometry: Geometry, coordinate: ScalarType) -> Result<Brackets, Diagnostic> {
        let operand = self.instruction.operands.get(at).ok_or_else(|| self.operand_mismatch(at))?;
        let (image, sampler, coordinates) = self.bracketed(operand)?;
        let values = self.tuple(coordinates)?;
        let coordinates = self.coordinates_of(&values, geometry, coordinate, coordinates.span)?;
        let sampler = self.check_sampler(sampler, operand.span)?;
        let kind = if self.is_texture() { ImageKind::Texture } else { ImageKind::Surface };
        Ok(Brackets { image: self.handle(image, kind)?, sampler, coordinates })
    }

    fn is_texture(&self) -> bool {
        matches!(self.matched.form.row.decode, Decode::Image(ImageDecode::Texture | ImageDecode::Gather))
    }

    /// The contents of the brackets: image, sampler, coordinates.
    fn bracketed<'o>(&self, operand: &'o Operand<'a>) -> Result<Parts<'o, 'a>, Diagnostic> {
        let parts = match &operand.kind {
            OperandKind::AddressList(parts) => parts.as_slice(),
            OperandKind::Expr(_)
            | OperandKind::Not(_)
            | OperandKind::Pair(..)
            | OperandKind::Vector(_)
            | OperandKind::Address(_)
            | OperandKind::Index(..)
            | OperandKind::List(_) => &[],
        };
        match parts {
            [image, coordinates] => Ok((image, None, coordinates)),
            [image, sampler, coordinates] if self.is_texture() => Ok((image, Some(sampler), coordinates)),
            _ => {
                let error = Diagnostic::error("operand", operand.span, "a handle and coordinates are needed here");
                Err(error.with_help("write [image, {x, y}]; between them may stand a sampler of a texture"))
            }
        }
    }

    /// The sampler, which is required in independent texturing mode (PTX ISA, "Texturing modes").
    fn check_sampler(&mut self, sampler: Option<&Operand<'a>>, brackets: Span) -> Result<Option<HandleSource>, Diagnostic> {
        if sampler.is_none() && self.is_texture() && self.cx.has_samplers() {
            let error = Diagnostic::error("operand", brackets, "a sampler is needed here: the module is in independent texturing mode");
            return Err(error.with_help("write [texture, sampler, {x, y}], or take 'texmode_independent' out of '.target'"));
        }
        sampler.map(|sampler| self.handle(sampler, ImageKind::Sampler)).transpose()
    }

    /// The elements of a vector, or a single value.
    fn tuple(&mut self, operand: &Operand<'a>) -> Result<Elements, Diagnostic> {
        let values = match (elements(operand, self.cx)?, &operand.kind) {
            (Some(values), _) => values,
            (None, OperandKind::Expr(expr)) => Elements::from_iter([(self.cx.resolve(expr)?, operand.span)]),
            (None, _) => return Err(not_a_register(operand.span)),
        };
        check_size(&values, operand.span)?;
        Ok(values)
    }

    /// The operands for the layer index, which is an integer, and for the coordinates.
    fn coordinates_of(
        &mut self,
        values: &Elements,
        geometry: Geometry,
        coordinate: ScalarType,
        span: Span,
    ) -> Result<Vec<Src>, Diagnostic> {
        if !geometry.is_array() {
            return self.operands_of(values, geometry.coordinates(), coordinate, span);
        }
        let (first, rest): (Elements, Elements) = (values.iter().take(1).cloned().collect(), values.iter().skip(1).cloned().collect());
        let mut operands = self.operands_of(&first, 1, ScalarType::U32, span)?;
        operands.extend(self.operands_of(&rest, geometry.coordinates(), coordinate, span)?);
        Ok(operands)
    }

    /// The first `count` of `values`, which are 32-bit registers or constants; further ones, up to four in all, are ignored.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other values are constants, or refused")]
    fn operands_of(&mut self, values: &Elements, count: usize, ty: ScalarType, span: Span) -> Result<Vec<Src>, Diagnostic> {
        if values.len() < count || values.len() > 4 {
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("{count} coordinate{plural} are needed here, not {}", values.len());
            return Err(Diagnostic::error("operand", span, message));
        }
        let values: Elements = values.iter().take(count).cloned().collect();
        for (value, span) in &values {
            match value {
                Value::Register(register) if agrees(ty, register.ty, false) => {}
                Value::Register(register) => {
                    let message = format!("a register of type .{} where a coordinate is .{}", register.ty.word(), ty.word());
                    return Err(Diagnostic::error("type", *span, message));
                }
                other if constant::bits(other, ty, *span).is_some() => {}
                _ => return Err(not_a_register(*span)),
            }
        }
        let bits = same_width(&values, ty, span)?;
        Ok(sources(&values, ty, bits.max(width(ty)), self.cx)?.into_iter().collect())
    }

    /// `[a]` of a query.
    fn sole_handle(&mut self, at: usize, kinds: &[ImageKind]) -> Result<HandleSource, Diagnostic> {
        match self.instruction.operands.get(at).map(|operand| (&operand.kind, operand.span)) {
            Some((OperandKind::Address(expr), span)) => self.handle_of(expr, span, kinds),
            Some((_, span)) => Err(Diagnostic::error("operand", span, "a handle is needed here").with_help("write it in brackets: [a]")),
            None => Err(self.operand_mismatch(at)),
        }
    }

    fn handle(&mut self, operand: &Operand<'a>, kind: ImageKind) -> Result<HandleSource, Diagnostic> {
        match &operand.kind {
            OperandKind::Expr(expr) => self.handle_of(expr, operand.span, &[kind]),
            OperandKind::Not(_)
            | OperandKind::Pair(..)
            | OperandKind::Vector(_)
            | OperandKind::Address(_)
            | OperandKind::Index(..)
            | OperandKind::AddressList(_)
            | OperandKind::List(_) => Err(not_a_handle(operand.span, &[kind])),
        }
    }

    /// The handle in a 64-bit register, or in a module variable or kernel parameter of one of these kinds.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn handle_of(&mut self, expr: &Expr<'a>, span: Span, kinds: &[ImageKind]) -> Result<HandleSource, Diagnostic> {
        match self.cx.resolve(expr)? {
            Value::Register(register) if register.bank == Bank::B64 && agrees(ScalarType::U64, register.ty, false) => {
                Ok(HandleSource::Value(Src::reg(register.slot)))
            }
            Value::Symbol { opaque: Some(kind), .. } if !kinds.contains(&kind) => {
                let message = format!("a '.{}' where '{}' takes a '{}'", kind.word(), self.instruction.opcode.text, words_of(kinds));
                Err(Diagnostic::error("type", span, message))
            }
            Value::Symbol { location, opaque: Some(_), .. } => match location.space {
                Space::Global => Ok(HandleSource::Value(self.cx.const64(location.address))),
                Space::Param => Ok(HandleSource::Param(location.address as u32)),
                Space::Generic | Space::Const | Space::Shared | Space::SharedCluster | Space::Local | Space::ParamFunc => {
                    Err(not_a_handle(span, kinds))
                }
            },
            _ => Err(not_a_handle(span, kinds)),
        }
    }
}

/// An access with a handle only.
fn access(f: ImageFn, image: HandleSource) -> ImageAccess {
    ImageAccess {
        f,
        image,
        sampler: None,
        geometry: Geometry::D1,
        coordinates: Box::default(),
        values: Box::default(),
        dests: Box::default(),
        wide: false,
        resident: Dst::SINK,
    }
}

/// The number of coordinate operands, the index of the layer included.
fn coordinate_count(geometry: Geometry) -> usize {
    geometry.coordinates() + usize::from(geometry.is_array())
}

fn not_a_handle(span: Span, kinds: &[ImageKind]) -> Diagnostic {
    let nouns = kinds.iter().map(|kind| kind.noun()).collect::<Vec<_>>().join(" or ");
    Diagnostic::error("operand", span, format!("this is not a handle of a {nouns}"))
        .with_help(format!("a handle is a .u64 register, or a variable or kernel parameter of type '{}'", words_of(kinds)))
}

/// `.texref' or '.samplerref`
fn words_of(kinds: &[ImageKind]) -> String {
    kinds.iter().map(|kind| format!(".{}", kind.word())).collect::<Vec<_>>().join("' or '")
}

/// Checks that a vector has one, two or four elements; a fourth that no coordinate needs is ignored.
fn check_size(values: &Elements, span: Span) -> Result<(), Diagnostic> {
    if values.len() == 3 {
        return Err(Diagnostic::error("operand", span, "a vector of coordinates has 1, 2 or 4 elements, not 3")
            .with_help("repeat the last one: {x, y, z, z}"));
    }
    Ok(())
}
