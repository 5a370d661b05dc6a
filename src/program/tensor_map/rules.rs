//! The rules by which the driver rejects a tensor map (CUDA Driver API, "Tensor Map Object Management"). The driver of an H200 requires the
//! innermost dimension of the box, and the channels, to be a multiple of 16 bytes with interleaving too, which the manual does not say.

use super::{BoxShape, RANK_MAX, TensorMap};
use crate::isa::{Interleave, OutsideFill, TensorMode};

/// A field for which the driver would reject the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field by its name in launch files.
    pub field: &'static str,
    /// The error, in one sentence.
    pub message: String,
}

impl TensorMap {
    /// All errors of the map.
    pub fn check(&self) -> Vec<FieldError> {
        let mut rules = Rules { map: self, errors: Vec::new() };
        if !(1..=RANK_MAX).contains(&self.rank) {
            rules.reject("dims", format!("a tensor has 1 to 5 dimensions, not {}", self.rank));
            return rules.errors;
        }
        rules.memory();
        rules.layout();
        match self.shape {
            BoxShape::Tile(extents) => rules.tile(&extents[..self.rank]),
            BoxShape::Im2col { lower, upper, channels, pixels } => rules.im2col(lower, upper, channels, pixels),
        }
        rules.errors
    }
}

struct Rules<'m> {
    map: &'m TensorMap,
    errors: Vec<FieldError>,
}

impl Rules<'_> {
    fn reject(&mut self, field: &'static str, message: String) {
        self.errors.push(FieldError { field, message });
    }

    /// Address, dimensions and strides of the tensor.
    fn memory(&mut self) {
        let map = self.map;
        let unit = if map.interleave == Interleave::B32 { 32 } else { 16 };
        let with = if unit == 32 { " with interleave: B32" } else { "" };
        if !map.address.is_multiple_of(unit) {
            self.reject("buffer", format!("the tensor starts at {:#x}, and must start at a multiple of {unit} bytes{with}", map.address));
        }
        for (d, extent) in map.dims[..map.rank].iter().enumerate() {
            if !(1..=1 << 32).contains(extent) {
                self.reject("dims", format!("dims[{d}] is {extent}, and a dimension has 1 to 2^32 elements"));
            }
        }
        for (d, stride) in map.strides[..map.rank - 1].iter().enumerate() {
            if stride % unit != 0 {
                self.reject("strides", format!("strides[{d}] is {stride} bytes, and must be a multiple of {unit}{with}"));
            } else if *stride >= 1 << 40 {
                self.reject("strides", format!("strides[{d}] is {stride} bytes, and must be less than 2^40"));
            }
        }
        for (d, stride) in map.element_strides[..map.rank].iter().enumerate() {
            if !(1..=8).contains(stride) {
                self.reject("element_strides", format!("element_strides[{d}] is {stride}, and must be 1 to 8"));
            }
        }
    }

    /// Consistency of interleaving, swizzle, fill and mode.
    fn layout(&mut self) {
        let map = self.map;
        if map.interleave != Interleave::None && map.rank < 3 {
            self.reject("interleave", format!("an interleaved tensor has 3 to 5 dimensions, not {}", map.rank));
        }
        if map.interleave == Interleave::B32 && map.swizzle.span() != Some(32) {
            self.reject("swizzle", "interleave: B32 goes with swizzle: B32 only".to_string());
        }
        if map.fill == OutsideFill::NanRequestZeroFma && !map.element.is_float() {
            self.reject("fill", format!("elements of type .{} cannot be NaN", map.element.word()));
        }
        if map.mode() == TensorMode::Im2col && map.rank < 3 {
            self.reject("im2col", format!("a tensor for im2col has 3 to 5 dimensions, not {}", map.rank));
        }
    }

    fn tile(&mut self, extents: &[u32]) {
        for (d, extent) in extents.iter().enumerate() {
            if !(1..=256).contains(extent) {
                self.reject("box", format!("box[{d}] is {extent}, and a box has 1 to 256 elements in each dimension"));
            }
        }
        self.row("box", "box[0]", extents.first().copied().unwrap_or(0));
    }

    fn im2col(&mut self, lower: [i32; RANK_MAX - 2], upper: [i32; RANK_MAX - 2], channels: u32, pixels: u32) {
        if !(1..=256).contains(&channels) {
            self.reject("im2col", format!("a pixel has 1 to 256 channels, not {channels}"));
        }
        if !(1..=1024).contains(&pixels) {
            self.reject("im2col", format!("a column has 1 to 1024 pixels, not {pixels}"));
        }
        self.row("im2col", "channels", channels);
        let (low, high) = match self.map.rank {
            4 => (-128, 127),
            5 => (-16, 15),
            _ => (-32768, 32767),
        };
        let first = usize::from(self.map.interleave == Interleave::None);
        for d in 0..self.map.rank.saturating_sub(2) {
            for (name, corner) in [("lower", lower[d]), ("upper", upper[d])] {
                if !(low..=high).contains(&corner) {
                    let rank = self.map.rank;
                    self.reject("im2col", format!("{name}[{d}] is {corner}, and with {rank} dimensions it must be {low} to {high}"));
                }
            }
            let extent = i64::try_from(self.map.dims[first + d]).unwrap_or(i64::MAX).min(1 << 33);
            if extent + i64::from(upper[d]) - i64::from(lower[d]) < 1 {
                let (lower, upper) = (lower[d], upper[d]);
                self.reject("im2col", format!("from {lower} to {extent} - 1 + {upper} there is no pixel in spatial dimension {d}"));
            }
        }
    }

    /// The innermost dimension of the box, which is contiguous in shared memory.
    fn row(&mut self, field: &'static str, name: &str, elements: u32) {
        let bytes = elements.saturating_mul(self.map.element.bytes());
        let what = format!("{name} is {elements}: {elements} elements of type .{} are {bytes} bytes", self.map.element.word());
        if !bytes.is_multiple_of(16) {
            self.reject(field, format!("{what}, which is not a multiple of 16"));
        }
        let span = self.map.swizzle.span().filter(|_| self.map.interleave == Interleave::None);
        if let Some(span) = span.filter(|span| bytes > *span) {
            self.reject(field, format!("{what}, and swizzle: B{span} takes {span} at most"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{L2Promotion, Swizzle, TensorElement};

    /// 64 x 40 halves with a box of 32 x 4.
    fn tiles() -> TensorMap {
        TensorMap {
            address: 0x1000,
            element: TensorElement::F16,
            rank: 2,
            dims: [64, 40, 0, 0, 0],
            strides: [128, 0, 0, 0],
            shape: BoxShape::Tile([32, 4, 0, 0, 0]),
            element_strides: [1; 5],
            interleave: Interleave::None,
            swizzle: Swizzle::B64,
            promotion: L2Promotion::None,
            fill: OutsideFill::NanRequestZeroFma,
        }
    }

    fn columns() -> TensorMap {
        let shape = BoxShape::Im2col { lower: [-1, -1, 0], upper: [-1, -1, 0], channels: 32, pixels: 128 };
        TensorMap { rank: 4, dims: [64, 10, 9, 3, 0], strides: [128, 1280, 11520, 0], shape, ..tiles() }
    }

    fn fields(map: &TensorMap) -> Vec<&'static str> {
        map.check().iter().map(|error| error.field).collect()
    }

    #[test]
    fn good_maps_are_taken() {
        assert_eq!(tiles().check(), []);
        assert_eq!(columns().check(), []);
        let interleaved = TensorMap { rank: 3, dims: [64, 4, 4, 0, 0], strides: [2048, 8192, 0, 0], swizzle: Swizzle::B32, ..tiles() };
        let shape = BoxShape::Tile([32, 4, 1, 0, 0]);
        assert_eq!(TensorMap { interleave: Interleave::B32, shape, ..interleaved }.check(), []);
    }

    #[test]
    fn every_field_that_is_wrong_is_named() {
        let box_of = |extents| TensorMap { shape: BoxShape::Tile(extents), ..tiles() };
        let im2col = |lower, upper, channels, pixels| TensorMap { shape: BoxShape::Im2col { lower, upper, channels, pixels }, ..columns() };
        let wrong = [
            (TensorMap { rank: 0, ..tiles() }, "dims"),
            (TensorMap { address: 0x1008, ..tiles() }, "buffer"),
            (TensorMap { dims: [64, 0, 0, 0, 0], ..tiles() }, "dims"),
            (TensorMap { dims: [64, (1 << 32) + 1, 0, 0, 0], ..tiles() }, "dims"),
            (TensorMap { strides: [120, 0, 0, 0], ..tiles() }, "strides"),
            (TensorMap { strides: [1 << 40, 0, 0, 0], ..tiles() }, "strides"),
            (TensorMap { element_strides: [1, 9, 1, 1, 1], ..tiles() }, "element_strides"),
            (TensorMap { interleave: Interleave::B16, ..tiles() }, "interleave"),
            (TensorMap { element: TensorElement::U16, ..tiles() }, "fill"),
            (box_of([32, 257, 0, 0, 0]), "box"),
            (box_of([4, 4, 0, 0, 0]), "box"),
            (box_of([64, 4, 0, 0, 0]), "box"),
            (im2col([-129, 0, 0], [0; 3], 32, 8), "im2col"),
            (im2col([0; 3], [128, 0, 0], 32, 8), "im2col"),
            (im2col([5, 0, 0], [-5, 0, 0], 32, 8), "im2col"),
            (im2col([0; 3], [0; 3], 4, 8), "im2col"),
            (im2col([0; 3], [0; 3], 32, 1025), "im2col"),
        ];
        for (map, field) in wrong {
            assert_eq!(fields(&map), [field], "{map:?}");
        }
        let message = &box_of([64, 4, 0, 0, 0]).check()[0].message;
        assert_eq!(message, "box[0] is 64: 64 elements of type .f16 are 128 bytes, and swizzle: B64 takes 64 at most");
    }
}
