//! Texture lookups: the texel of a coordinate (`place`), its components (`texel`), and filtering (`sample`).

mod place;
mod sample;
mod texel;

pub use sample::{Lookup, sample};
pub use texel::Texel;
