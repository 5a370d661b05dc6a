//! The vocabulary of the matrix instructions (PTX ISA, "Warp Level Matrix Instructions").
//!
//! A matrix is spread over the registers of a warp as a [`Fragment`]; its [`Layout`] says which lane holds which element where. Of a
//! sparse A the registers hold the elements that are kept, and [`Sparsity`] says which columns those are.

mod fragment;
mod layout;
mod sparsity;

pub use fragment::{Fragment, Matrix, MatrixFamily, Shape};
pub use layout::{Layout, Position};
pub use sparsity::{KeptElement, Sparsity};
