//! Texture lookups: from coordinates to texels ([`place`]), their components ([`texel`]), and what is made of them (`sample`).

mod place;
mod sample;
mod texel;

pub use sample::{Lookup, sample};
pub use texel::Texel;
