//! ptxdbg: a debugger for NVIDIA PTX kernels that needs no GPU.
pub mod base;
pub mod isa;
pub mod program;
pub mod syntax;
mod sema;
