//! The vocabulary of the matrix instructions (PTX ISA, "Warp Level Matrix Instructions").
//!
//! A matrix is distributed over the registers of a warp as a [`Fragment`]; its [`Layout`] maps lanes and registers to elements. For a
//! sparse A the registers hold only the stored elements, and [`Sparsity`] maps them to columns.

mod fragment;
mod layout;
mod sparsity;

pub use fragment::{Fragment, Matrix, MatrixFamily, Shape};
pub use layout::{Layout, Position};
pub use sparsity::{FactorInB, Sparsity};
