//! ptxdbg: a debugger for NVIDIA PTX kernels that needs no GPU.
pub mod base;
pub mod isa;
pub mod launch;
pub mod program;
pub mod syntax;
