//! The texels of coordinates: scaling, cube faces, and addressing modes for coordinates out of range.

use crate::isa::AddressMode;
use crate::num::texture::{FRACTION_BITS, fixed, texel};

/// A dimension of a texture, with its addressing.
#[derive(Clone, Copy)]
pub struct Axis {
    /// The extent in texels.
    pub extent: u32,
    /// The addressing mode for coordinates out of range.
    pub mode: AddressMode,
    /// True if coordinates are normalized: from 0 to 1.
    pub normalized: bool,
}

impl Axis {
    /// The texel that contains a coordinate.
    pub fn nearest(self, x: f32) -> i64 {
        texel(self.wrapped(x), self.scale())
    }

    /// The lower of the two texels for linear filtering, and the 8-bit fraction of the upper one.
    pub fn lower(self, x: f32) -> (i64, i64) {
        let texels = fixed(self.wrapped(x), self.scale()) - (1 << (FRACTION_BITS - 1));
        (texels >> FRACTION_BITS, texels & ((1 << FRACTION_BITS) - 1))
    }

    /// The coordinate; in the modes wrap and mirror, reduced to the first two repetitions, which differ if mirrored. Subnormal numbers
    /// become zero, and so does infinity in these modes.
    fn wrapped(self, x: f32) -> f64 {
        let x = if x.is_subnormal() { 0.0 } else { f64::from(x) };
        let repeats = self.normalized && matches!(self.mode, AddressMode::Wrap | AddressMode::Mirror);
        match repeats {
            true if x.is_infinite() => 0.0,
            true => x - 2.0 * (x / 2.0).floor(),
            false => x,
        }
    }

    fn scale(self) -> u32 {
        if self.normalized { self.extent } else { 1 }
    }

    /// The texel for `index`, by the addressing mode; `None` is the border.
    pub fn texel(self, index: i64) -> Option<u32> {
        let extent = i64::from(self.extent);
        let clamped = || index.clamp(0, extent - 1);
        let inside = match self.mode {
            AddressMode::Border => return u32::try_from(index).ok().filter(|index| *index < self.extent),
            AddressMode::Wrap if self.normalized => index.rem_euclid(extent),
            AddressMode::Mirror if self.normalized => {
                let index = index.rem_euclid(2 * extent);
                index.min(2 * extent - 1 - index)
            }
            AddressMode::Wrap | AddressMode::Mirror | AddressMode::Clamp => clamped(),
        };
        u32::try_from(inside).ok()
    }
}

/// The cube face of a direction, and the position on it, from 0 to 1 (CUDA C++ Programming Guide, "Cubemap Textures").
pub fn face([x, y, z]: [f32; 3]) -> (u64, [f32; 2]) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, major, s, t) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, az, x, -y) } else { (5, az, -x, -y) }
    } else if ay >= ax {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if x >= 0.0 {
        (0, ax, -z, -y)
    } else {
        (1, ax, z, -y)
    };
    let position = |offset: f32| (offset / major + 1.0) / 2.0;
    (face, [position(s), position(t)])
}
