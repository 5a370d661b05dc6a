//! Weak memory by views: which writes a load may return (PTX ISA, "Memory Consistency Model").
//!
//! [`WeakMemory`] keeps the last writes of each location that was written, with their coherence order, and for each thread its *view*: the
//! writes that precede its next operation in causality order (`view`). A load returns a write that no write in its view follows in
//! coherence order. A release pattern attaches the view of its first operation to its write, and an acquire pattern that observes the
//! write joins it into the view of its thread; so do barriers, and `fence.sc` in the order in which they are executed (`thread`).
//!
//! Most locations need no history: those of which every thread that accesses them knows all writes. What warps write there is kept by lines
//! of memory (`lines`), which are asked once for all lanes; the history is made when a thread comes that may not know the newest write.
//!
//! Coherence order is partial, as in the model: it relates writes that are morally strong or related in causality order. A write may take
//! a place before others that are not in the view of its thread (`history`).
//!
//! Whether a run could have happened on sequentially consistent memory is asked of `consistency`.
//!
//! No load returns a write that is executed later (load buffering), and operations of a thread take effect in program order. All choices
//! are drawn from the seed. The structure is that of operational models of C11 by views (Kang, Hur, Lahav, Vafeiadis and Dreyer, "A
//! Promising Semantics for Relaxed-Memory Concurrency", 2017, without promises); what scopes and moral strength change is that of PTX.

mod consistency;
mod history;
mod lines;
mod memory;
mod polls;
mod sorted_map;
mod stale;
mod strengthening;
mod sync;
mod thread;
mod view;

pub use consistency::{Consistency, Event, Segment};
pub use history::{Location, Source};
pub use lines::{Record, WarpAccess};
pub use memory::{Access, Learned, Read, WeakMemory};
pub use stale::{Choice, Knowing, Link, StaleRead, Standing};
pub use strengthening::{Strength, Strengthening};
pub use thread::{LastRead, Party, Place};
