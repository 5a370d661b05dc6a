//! Litmus tests by the axioms of the PTX memory model (PTX ISA, "Memory Consistency Model").
//!
//! A [`Test`] is read from the PTX format of herd, as Dat3M uses it ([`parse()`]). [`judge`] enumerates its executions: the paths of its
//! threads (`path`), the write that each read reads from (`candidates`), and the orders of writes and of `fence.sc` that the axioms leave
//! open (`axioms`). It keeps every outcome that an execution has, with an execution that shows it. `docs/memory-model.md` has the rules.
//!
//! The model is that of version 7.5 of the manual, with proxies and aliases; the text of the manual and the relations of Lustig,
//! Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model" (2019) are followed.

mod axioms;
mod barrier;
mod candidates;
mod condition;
mod effort;
mod error;
mod event;
mod judgement;
mod kernel;
mod lexer;
mod operational;
mod parser;
mod path;
mod relation;
mod sequential;
mod test;
mod values;

pub use axioms::Relations;
pub use condition::{Comparison, Condition, Formula, Quantifier, Variable};
pub use effort::TooLarge;
pub use error::ParseError;
pub use event::{Event, EventKind};
pub use judgement::{Judgement, Limits, Outcome, Place, Witness, judge};
pub use kernel::{Kernel, NoKernel, kernel};
pub use operational::{can_run, count_outcomes, run};
pub use parser::parse;
pub use relation::{Relation, bits};
pub use test::{Access, AccessKind, Arithmetic, Instruction, Location, Op, Operand, Proxy, Test, Thread};
