//! ptxdbg as a C library: `include/ptxdbg.h` documents each function and its preconditions.
//!
//! Handles are opaque, errors are a status and a text of the thread, and no panic crosses the C boundary.

mod error;
mod finding;
mod fix;
mod handle;
mod interrupt;
mod launch;
mod memory;
mod module;
mod ocelot;
mod options;
mod plan;
mod result;
mod session;
mod text;

pub use error::{Failure, Status, ptxdbg_error};
pub use finding::{CFinding, CSide};
pub use fix::*;
pub use launch::{CLaunch, CParam, CVariable, ptxdbg_run};
pub use memory::{ADDRESSES, host_memory, ptxdbg_register, ptxdbg_unregister, write_back};
pub use module::*;
pub use ocelot::ptx_run;
pub use options::COptions;
pub use plan::*;
pub use result::*;
pub use session::*;
pub use text::ptxdbg_text_free;

/// `ptxdbg_version`
#[unsafe(no_mangle)]
pub extern "C" fn ptxdbg_version() -> u32 {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 16 | number(env!("CARGO_PKG_VERSION_MINOR"))
}
