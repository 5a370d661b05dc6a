//! The library that `ptxdbg capture` loads into a program: it looks on as kernels are launched, and keeps one launch with its memory.
//!
//! It is loaded with `LD_PRELOAD`. The functions of the driver that load modules and launch kernels are replaced, by whichever way a
//! program comes to them: linked, by `dlsym`, or by `cuGetProcAddress` ([`hooks`], [`symbols`]). Each calls the real one. The driver loads
//! it, too, as `CUDA_INJECTION64_PATH` says: where calls of the program do not come to these functions, CUPTI calls back ([`injection`]).
//! What it sees it reports to the process that has started the program, over a socket whose path stands in the environment ([`parent`]);
//! that process says which kernels are wanted. Where nothing is at that path, the functions only call the real ones.
//!
//! `ptxdbg`'s build script compiles this crate alone, with nothing but `std`. No header of CUDA is needed: [`driver`] declares what is used
//! of its binary interface.

#[cfg(not(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the functions of the C library are replaced as Linux with glibc has them, on x86-64 and aarch64");

mod callbacks;
mod counters;
mod driver;
mod graph_hooks;
mod graphs;
mod hooks;
mod images;
mod injection;
mod keeping;
mod launch;
mod linkers;
mod made;
mod memory;
mod nvrtc;
mod output;
mod parent;
mod pointers;
mod state;
mod symbols;
mod texture_hooks;
mod textures;
