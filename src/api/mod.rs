//! The library's surface: what another program needs to run and to debug kernels, and nothing else.
//!
//! | type | what it is |
//! | --- | --- |
//! | [`Module`] | PTX that was read and checked |
//! | [`Launch`] | what is to be launched; what it does not say is made up from what the kernel does |
//! | [`DriverLaunch`] | a launch as `cuLaunchKernel` gets it, on [`HostMemory`] |
//! | [`Planned`] | module and launch together: cases that can be run, debugged, fixed and written to bundles, any number of times |
//! | [`RunOptions`] | how a case is run: seed, order of warps, checkers; the default is what the command line does |
//! | [`Run`] | what a case came to: buffers, findings, certificate, fidelity, counts |
//! | [`Session`] | a case being debugged, driven by the command lines of `ptxdbg(1)`, with typed answers |
//! | [`Prompt`] | the same with answers as text |
//!
//! | to | see |
//! | --- | --- |
//! | load a module, run a launch, read a buffer | below |
//! | say what is wrong with a module | [`Module::from_text`] |
//! | look at findings | [`Run::findings`] |
//! | run many orders | [`RunOptions`] below |
//! | step a session, read registers | [`Session`], [`Prompt`] |
//! | fix a kernel | [`Planned::fix`] |
//! | write and open a bundle | [`Planned::bundle`] |
//! | run on memory of the process | [`HostMemory`] below |
//!
//! Nothing here prints, reads a terminal or keeps anything between calls: all state is in these values, which can be used from several
//! threads. It is the same with and without the feature `tui`. What may change, and when, the [crate] says.
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
//!
//! # Many orders
//!
//! Each seed is another order of warps, the same on every machine. What the buffer below holds is the number of the block that stored last,
//! and the race checker says so in every order.
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use ptxdbg::api::{Checks, Launch, Module, RunOptions, Schedule};
//!
//! let module = Module::from_text("last.ptx", "
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry last(.param .u64 out)
//!     {
//!         .reg .b32 %r1;
//!         .reg .b64 %rd1;
//!         ld.param.u64 %rd1, [out];
//!         mov.u32 %r1, %ctaid.x;
//!         st.global.u32 [%rd1], %r1;
//!         ret;
//!     }")?;
//! let planned = Launch::new().arg("out=u32[1]").grid([3, 1, 1]).block([1, 1, 1]).plan(&module)?;
//! let mut last = BTreeSet::new();
//! for seed in 0..50 {
//!     let options = RunOptions { schedule: Schedule::Random, seed, checks: Checks::NONE, ..RunOptions::default() };
//!     last.extend(planned.run(0, &options)?.buffer("out").unwrap().values);
//! }
//! assert_eq!(last, BTreeSet::from(["0", "1", "2"].map(str::to_string)));
//! assert_eq!(planned.run(0, &RunOptions::default())?.findings()[0].id.word(), "race.global");
//! # Ok::<(), ptxdbg::api::Error>(())
//! ```
//!
//! # Memory of the process
//!
//! A [`PageSource`] gives what kernels find at the addresses they are given, page by page; what they leave there is read at the end.
//!
//! ```
//! use std::ops::Range;
//!
//! use ptxdbg::api::{DriverLaunch, HostMemory, HostRange, Module, PAGE_BYTES, PageSource, RunOptions};
//!
//! /// An array that is at an address of its own.
//! struct Array(Vec<u8>);
//! const START: u64 = 0x5000_0000_0000;
//!
//! impl PageSource for Array {
//!     fn extent(&mut self, _: u64) -> Option<Range<u64>> {
//!         None // there is nothing around it
//!     }
//!
//!     fn page(&mut self, address: u64) -> Option<Box<[u8; PAGE_BYTES]>> {
//!         let mut page = Box::new([0; PAGE_BYTES]);
//!         let own = self.0.get((address - START) as usize..)?;
//!         let length = own.len().min(PAGE_BYTES);
//!         page[..length].copy_from_slice(&own[..length]);
//!         Some(page)
//!     }
//! }
//!
//! let module = Module::from_text_avoiding("double.ptx", "
//!     .version 8.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry double(.param .u64 at)
//!     {
//!         .reg .b32 %r1;
//!         .reg .b64 %rd1;
//!         ld.param.u64 %rd1, [at];
//!         ld.global.u32 %r1, [%rd1];
//!         shl.b32 %r1, %r1, 1;
//!         st.global.u32 [%rd1], %r1;
//!         ret;
//!     }", &[START..START + 8])?;
//! let array = HostRange { addresses: START..START + 8, name: "array".to_string(), element: None };
//! let host = HostMemory::new(Box::new(Array(vec![21, 0, 0, 0, 7, 7, 7, 7])), &[array]);
//! let launch = DriverLaunch {
//!     kernel: None,
//!     grid: [1, 1, 1],
//!     block: [1, 1, 1],
//!     cluster: None,
//!     dynamic_shared: 0,
//!     cooperative: false,
//!     params: vec![START.to_le_bytes().to_vec()],
//!     variables: Vec::new(),
//! };
//! let run = launch.planned(&module)?.run(0, &RunOptions { host: Some(host.clone()), ..RunOptions::default() })?;
//! let writes = run.host_writes(&host);
//! assert_eq!((writes.len(), writes[0].address, &writes[0].bytes[..]), (1, START, &[42][..]));
//!
//! // The same launch on a copy of that memory: to be debugged, fixed, or written to a bundle.
//! let mut prompt = launch.captured(&module, &host)?.prompt(0, &RunOptions::default())?;
//! prompt.execute("break 12\nrun")?;
//! assert_eq!(prompt.execute("print %r1")?, "%r1 = 42\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capture;
mod error;
mod launch;
mod module;
mod prompt;
mod run;
mod session;
mod shrink;
pub mod text;

pub use error::{Error, Problem};
pub use launch::{Launch, Planned};
pub use module::{Module, ModuleVariable};
pub use prompt::{Interrupter, Prompt, PromptError};
pub use run::{Buffer, Run};
pub use session::Session;
pub use shrink::{Shrunk, shrink};

pub use crate::base::{Severity, Tick};
pub use crate::command::{CommandError, Outcome, View};
pub use crate::debug::certificate::{Certificate, Dependence, ForwardWait};
pub use crate::debug::fidelity::Fidelity;
pub use crate::debug::findings::{
    Checks, FailedFix, FindingId, FindingText, FixOutcome, LinkText, MemoryText, Outputs, SideAction, SideText,
};
pub use crate::debug::fix::{ChangedModule, FixReport, FixReports};
pub use crate::debug::resume::Execution;
pub use crate::debug::session::InterruptCheck;
pub use crate::debug::stop::{Reason, Stop};
pub use crate::debug::value::{Tensor, TensorElement, ValueText};
pub use crate::debug::{
    ComparedPart, Comparison, CompletionPolicyKind, DivergencePolicy, Failure, HostMemory, HostRange, HostWrite, LaneMask, LaunchRun,
    MemoryLimit, RESIDENT_MAX, RunOptions, Schedule, Site, Summary, Writer,
};
pub use crate::launch::{DriverLaunch, DriverVariable, Element};
pub use crate::machine::{CompletionChoice, PAGE_BYTES, PageSource};
