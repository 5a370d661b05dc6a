//! The library's surface: what another program needs to run and to debug kernels, and nothing else.
//!
//! | type | what it is |
//! | --- | --- |
//! | [`Module`] | PTX that was read and checked |
//! | [`Launch`] | what is to be launched; what it does not say is made up from what the kernel does |
//! | [`Planned`] | the two together: cases that can be run or debugged, any number of times |
//! | [`Run`] | what a case came to: buffers, findings, fidelity, counts |
//! | [`Session`] | a case being debugged, driven by the command lines of `ptxdbg(1)`, with typed answers |
//!
//! Nothing here prints, reads a terminal or keeps anything between calls: all state is in these values, which can be used from several
//! threads. It is the same with and without the feature `tui`. The types that the answers are made of are plain data of the
//! [engine](crate::debug).
//!
//! ```
//! use ptxdbg::api::{Launch, Module, RunOptions};
//!
//! let module = Module::from_text("double.ptx", "
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry double(.param .u64 out, .param .u32 x)
//!     {
//!         .reg .b32 %r<2>;
//!         .reg .b64 %rd<2>;
//!         ld.param.u64 %rd1, [out];
//!         ld.param.u32 %r1, [x];
//!         shl.b32 %r1, %r1, 1;
//!         st.global.u32 [%rd1], %r1;
//!         ret;
//!     }")?;
//! assert_eq!(module.kernels().collect::<Vec<_>>(), ["double"]);
//!
//! let planned = Launch::new().arg("out=u32[1]").arg("x=21").grid([1, 1, 1]).block([1, 1, 1]).plan(&module)?;
//! let run = planned.run(0, &RunOptions::default())?;
//! assert_eq!(run.buffer("out").unwrap().values, ["42"]);
//! assert!(run.findings().is_empty());
//! assert_eq!(run.launches()[0].ticks, 5);
//! # Ok::<(), ptxdbg::api::Error>(())
//! ```

mod error;
mod launch;
mod module;
mod run;
mod session;

pub use error::{Error, Problem};
pub use launch::{Launch, Planned};
pub use module::Module;
pub use run::{Buffer, Run};
pub use session::Session;

pub use crate::base::{Severity, Tick};
pub use crate::command::{CommandError, Outcome, View};
pub use crate::debug::fidelity::Fidelity;
pub use crate::debug::findings::{Checks, FindingId, FindingText};
pub use crate::debug::session::InterruptCheck;
pub use crate::debug::stop::{Reason, Stop};
pub use crate::debug::value::ValueText;
pub use crate::debug::{
    Comparison, CompletionPolicyKind, DivergencePolicy, Failure, HostMemory, HostRange, HostWrite, Interrupt, LaunchRun, MemoryLimit,
    RunOptions, Schedule, Site, Summary, Writer,
};
pub use crate::launch::DriverLaunch;
pub use crate::machine::{PAGE_BYTES, PageSource};
