//! Options of runs.

use std::ffi::{c_char, c_int};

use ptxdbg::api::{Checks, CompletionChoice, DivergencePolicy, MemoryLimit, RESIDENT_MAX, RunOptions, Schedule};

use crate::error::Failure;
use crate::handle::{Filled, filled};
use crate::interrupt::Flag;
use crate::text::text_at;

/// `ptxdbg_options`
#[repr(C)]
pub struct COptions {
    size: usize,
    checks: *const c_char,
    schedule: *const c_char,
    copies: *const c_char,
    divergence: *const c_char,
    seed: u64,
    step_limit: u64,
    memory_limit: u64,
    resident: u32,
    orders: u32,
    interrupt: *const c_int,
}

// SAFETY: pointers and numbers, the first one its size.
unsafe impl Filled for COptions {
    const NAME: &'static str = "ptxdbg_options";
}

/// `PTXDBG_NO_ORDERS`
const NO_ORDERS: u32 = u32::MAX;

/// The flag that ends runs with these options.
///
/// # Safety
/// `options` is null or as the header says.
pub unsafe fn interrupt_flag(options: *const COptions) -> Result<Flag, Failure> {
    // SAFETY: the caller says so.
    Ok(unsafe { filled(options)?.map_or(Flag::NONE, |given| Flag::new(given.interrupt)) })
}

/// Parses the value of the option `name`.
pub fn parsed<T>(name: &str, value: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Failure> {
    parse(value).map_err(|message| Failure::argument(format!("{name} '{value}': {message}")))
}

/// The options that a caller has filled; `None` for a null pointer.
///
/// # Safety
/// `options` is null or as the header says.
pub unsafe fn run_options(options: *const COptions) -> Result<Option<RunOptions>, Failure> {
    // SAFETY: the caller says so.
    let Some(given) = (unsafe { filled(options)? }) else { return Ok(None) };
    let default = RunOptions::default();
    // SAFETY: the caller says so.
    let (checks, schedule) = unsafe { (text_at(given.checks, "checks")?, text_at(given.schedule, "schedule")?) };
    // SAFETY: the caller says so.
    let (copies, divergence) = unsafe { (text_at(given.copies, "copies")?, text_at(given.divergence, "divergence")?) };
    if given.resident > RESIDENT_MAX {
        return Err(Failure::argument(format!("resident {}: at most {RESIDENT_MAX} blocks are on the machine", given.resident)));
    }
    let copies = copies.map(|word| parsed("copies", word, CompletionChoice::parse)).transpose()?;
    Ok(Some(RunOptions {
        checks: checks.map_or(Ok(default.checks), |word| parsed("checks", word, Checks::parse))?,
        schedule: schedule.map_or(Ok(default.schedule), |word| parsed("schedule", word, Schedule::parse))?,
        copies: copies.map_or(default.copies, |choice| choice.policy(given.seed)),
        divergence: divergence.map(|word| parsed("divergence", word, DivergencePolicy::parse)).transpose()?,
        seed: given.seed,
        memory: default.memory,
        step_limit: Some(given.step_limit).filter(|limit| *limit > 0),
        memory_limit: if given.memory_limit > 0 { MemoryLimit(given.memory_limit) } else { default.memory_limit },
        resident: Some(given.resident).filter(|blocks| *blocks > 0),
        orders: match given.orders {
            0 => default.orders,
            NO_ORDERS => 0,
            orders => orders,
        },
        fast_paths: default.fast_paths,
        jobs: default.jobs,
        short: default.short,
        host: None,
    }))
}
