//! Kernel launches: launch files, buffers and their data, made-up launches, and the expected contents of buffers.
//!
//! Stages of a launch file: its text is parsed into [`mod@file`] types by `ron` ([`LaunchFile::parse`]); [`plan`](fn@plan) resolves
//! them against a program into a [`Plan`], finding every mistake before anything runs; the run initializes each buffer
//! from its [`Contents`] and compares it with its [`Expect`]. Launches without a file ([`MadeUp`], those of [arguments](param_args), and
//! those of `asm` statements) go through the same stages: they are built as [`mod@file`] types.
//!
//! Nothing here runs anything. Contents are rules and files, not bytes: these would be in memory twice, here and in the machine.

mod arg_syntax;
pub mod block_list;
mod bounds;
pub mod change;
pub mod cuda;
mod data;
mod described;
mod distinct;
mod driver;
mod element;
mod expect;
pub mod expect_args;
pub mod file;
pub mod foreign;
mod half;
pub mod image;
mod init;
mod made_up;
pub mod memory_args;
pub mod npy;
mod npy_types;
pub mod nvcc;
pub mod pages;
pub mod param_args;
mod plan;
mod positional;
mod read;
mod relocate;
mod resolve;
mod ron_advice;
pub mod ron_text;
pub mod sibling_files;
pub mod tensor_map;
pub mod triton;
mod value_path;
pub mod variable_args;

pub use crate::isa::{AddressMode, Filter};
pub use arg_syntax::{extents, parse as parse_arg};
pub use data::DataError;
pub use described::{forget_expected, loosen};
pub use driver::{DriverLaunch, DriverVariable, variable_called};
pub use element::{Element, Kind, Number};
pub use expect::{Compared, Comparison, Expect, Mismatch, join_ranges, whole_elements};
pub use file::{Compare, Content, ExpectedFindings, Tolerance};
pub use init::{Contents, Generator, for_each_chunk};
pub use made_up::{
    Basis, Guess, Integers, LaunchFacts, MadeUp, MapFacts, NOT_FIRST, ONE_OF_SEVERAL, Origins, ParamPart, RUNS_LONG, Reason, Study,
    UniformElements, WITH_BLOCK, constants_of, file_of, stored_elements,
};
pub use pages::Pages;
pub use plan::{Case, ParamValue, Plan, PlannedBuffer, PlannedImage, PlannedLaunch, PlannedParam, PlannedPart, PlannedVariable, values_of};
pub use read::{LaunchFile, LaunchFileError, Origin, may_replace};
pub use relocate::{carry_init, carry_param, relative, relocate, rename_files};
pub use resolve::{Overrides, choose_kernel, plan};
pub use value_path::ValuePath;
