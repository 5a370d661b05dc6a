//! ptxdbg: a debugger for NVIDIA PTX kernels that needs no GPU.
pub mod args;
pub mod base;
pub mod cfg;
pub mod debug;
pub mod isa;
pub mod launch;
pub mod machine;
pub mod num;
pub mod program;
pub mod sema;
pub mod syntax;
pub mod ui;
