//! How kernels are started: launch files, buffers and their data, made-up launches, and what buffers must hold afterwards.
//!
//! The way of a launch file: its text is read into [`mod@file`] types by `ron` ([`LaunchFile::parse`]); [`plan`](fn@plan) resolves
//! them against a program into a [`Plan`], finding every mistake before anything runs; the run makes each buffer
//! from its [`Contents`] and compares it with its [`Expect`]. Launches that come from no file ([`MadeUp`], those of [words](given), and
//! those of `asm` statements) take the same way: they are made as [`mod@file`] types.
//!
//! Nothing here runs anything. Buffers are recipes and files, never their bytes as a whole, because memory counts twice: once
//! here and once in the machine.

pub mod beside;
mod bounds;
pub mod change;
mod cuda;
mod data;
mod described;
mod distinct;
mod driver;
mod element;
mod expect;
pub mod file;
pub mod foreign;
pub mod given;
mod half;
pub mod image;
mod init;
mod made_up;
pub mod memory_words;
pub mod npy;
mod npy_types;
pub mod nvcc;
pub mod pages;
mod plan;
mod positional;
mod read;
mod relocate;
mod resolve;
mod ron_advice;
pub mod ron_text;
pub mod tensor_map;
pub mod triton;
mod value_path;
pub mod variables;
pub mod wanted;
mod words;

pub use data::DataError;
pub use driver::DriverLaunch;
pub use element::{Element, Kind, Number};
pub use expect::{Compared, Comparison, Expect, Mismatch, join_ranges};
pub use file::{Compare, Content, ExpectedFindings, Tolerance};
pub use init::{Contents, Recipe, pieces};
pub use made_up::{
    Basis, Guess, Integers, Known, KnownMap, MadeUp, NOT_FIRST, ONE_OF_SEVERAL, Origins, ParamPart, RUNS_LONG, Reason, Study, constants_of,
    file_of,
};
pub use pages::Pages;
pub use plan::{Case, ParamValue, Plan, PlannedBuffer, PlannedImage, PlannedLaunch, PlannedParam, PlannedPart, PlannedVariable, values_of};
pub use read::{LaunchFile, LaunchFileError, Origin, may_replace};
pub use relocate::{carry_init, carry_param, relative, relocate, rename_files};
pub use resolve::{Overrides, choose_kernel, plan};
pub use value_path::ValuePath;
pub use words::{extents, parse as parse_word};
