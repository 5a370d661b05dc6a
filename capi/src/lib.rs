//! ptxdbg as a C library: `include/ptxdbg.h` says what each function does, and what it asks of its caller.
//!
//! Handles are opaque, errors are a status and a text of the thread, and no panic crosses the surface.

mod error;
mod launch;
mod memory;
mod module;
mod ocelot;
mod result;
mod text;

pub use error::{Failure, Status, ptxdbg_error};
pub use launch::{CLaunch, COptions, CParam, ptxdbg_run};
pub use memory::{ADDRESSES, host_memory, ptxdbg_register, ptxdbg_unregister, write_back};
pub use module::{CModule, ptxdbg_module_create, ptxdbg_module_free, ptxdbg_module_kernel_count, ptxdbg_module_kernel_name};
pub use ocelot::ptx_run;
pub use result::{
    CFinding, CResult, CSide, ptxdbg_result_certificate, ptxdbg_result_fidelity, ptxdbg_result_finding, ptxdbg_result_finding_count,
    ptxdbg_result_free, ptxdbg_result_printed, ptxdbg_result_thread_instructions, ptxdbg_result_ticks,
};
