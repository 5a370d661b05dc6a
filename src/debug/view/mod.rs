//! Views of the stopped machine, as plain data: the front ends only format them.
//!
//! A listing is rows of a type of its own. Listings of threads take a [`ThreadFilter`](super::focus::ThreadFilter) and merge equal
//! rows: 32 lanes at one instruction are one row.

mod arrays;
mod banks;
mod barriers;
mod blocks;
mod cfg;
mod changed_parameter;
mod changed_variable;
mod contents;
mod contracted;
mod copies;
mod descriptor;
mod divergence;
mod element_state;
mod examine;
mod fragment;
mod lane_access;
mod launch;
mod list;
mod locals;
mod location;
mod masks;
mod may_read;
mod mbarriers;
mod mentioned;
mod occupancy;
mod operand_fragments;
mod past_end;
mod pipeline;
mod place;
mod registers;
mod roles;
mod source;
mod stack;
mod symbols;
mod target;
mod threads;
mod warp_summary;
mod wgmmas;

pub use crate::base::ranges;
pub use crate::isa::Major;
pub use crate::machine::Contribution;
pub use crate::program::ContractionKind;
pub use arrays::{ArrayTypeRow, Origin, array_type, array_types, buffer_type, dynamic_bytes};
pub use banks::{BANKS, BankView, Remedy, banks};
pub use barriers::{BarrierRow, barriers};
pub use blocks::{BlockSpan, Condition, blocks};
pub use cfg::{BlockCounts, BlockView, CfgView, control_flow};
pub use changed_parameter::{ChangedParameter, changed_parameter};
pub use changed_variable::{ChangedVariable, changed_variable};
pub use contents::{MemoryObject, MemorySpace, bytes, elements, memory_objects};
pub use contracted::{ContractionNote, FirstOp, contraction_note, unrounded_uses};
pub use copies::{
    AsyncGroup, CopySide, FlightBytes, FlightEnd, FlightKind, FlightRow, GroupKind, InFlight, PlaceRange, WarpGroups, copies, in_flight,
};
pub use descriptor::{DescriptorView, descriptor};
pub use divergence::{Divergence, GroupView, divergence};
pub use element_state::{ElementState, ElementWriter, element_state};
pub use examine::{Examine, ExamineError, ExamineRow, Examined, Shape, Unit, add_source, examine};
pub use fragment::{FragmentCell, FragmentElement, FragmentError, FragmentView, NamedFragment, fragment, other_holder};
pub use lane_access::{LaneAccess, lane_access};
pub use launch::{KernelRow, LaunchView, ParamRow, ParamValue, SharedBytes, VariableOrigin, VariableRow, kernels, launch};
pub use list::{Line, Listing, current_line, list, list_source};
pub use locals::{
    LocalRow, ScopeRow, SourceArgument, arguments, debug_data_problem, is_of_source, locals, no_arguments, no_locals, scope_at,
    variables_in_registers, where_is,
};
pub use location::{LaneLocation, State, ThreadSet, lane_locations};
pub use masks::masked;
pub use may_read::{LocationWrites, MayRead, MayReadError, MayReadRow, WriteRow, may_read, writes_of_next};
pub use mbarriers::{EndedPhase, MbarrierAction, MbarrierView, MbarrierWaiter, TransactionBytes, mbarrier_views, shared_address};
pub use mentioned::{Mentioned, mentioned};
pub use occupancy::{CodeText, LineOccupancy, Mark, occupancies, original_line};
pub use operand_fragments::{OperandFragment, OperandFragments, operand_fragments};
pub use past_end::past_end;
pub use pipeline::{Cells, Pipeline, Stage, StageSpan, StageState, cells, pipeline};
pub use place::{Actor, CodePlace};
pub use registers::{RegisterRow, RegisterState, Values, live_registers, register_rows, register_states, registers, undefined_lanes};
pub use roles::{GuessedRole, RoleRow, RolesGuessed, role_guess, roles};
pub use source::{InlineAsm, SourceFileState, SourcePlace, file_of_source, source_place};
pub use stack::{FrameRow, FrameView, Stack, backtrace, frame, locals_of, outermost};
pub use symbols::{
    AllocationKind, AllocationRow, SharedKind, SharedRow, SymbolKind, SymbolRow, TypeName, allocations, function_place,
    functions_of_source, is_known_anywhere, named_type, nearest_name, shared, symbol_of, symbols, types_of_source,
};
pub use target::{TargetView, target};
pub use threads::{LaneGroupRow, LaneRow, ThreadRow, Threads, WarpRow, Warps, lanes, threads, warps};
pub use warp_summary::{BlockCell, WarpSummaryRow, block_map, thread_of, warp_summary};
pub use wgmmas::accumulator_in_flight;

use crate::program::{Pc, Program};

/// `looking.ptx:37`, or with the preceding label `looking.ptx:37 <low+2>`.
pub fn place(program: &Program, pc: Pc) -> String {
    match super::names::symbols::code_symbol(program, pc) {
        Some(symbol) => format!("{} <{symbol}>", program.place(pc)),
        None => program.place(pc),
    }
}

/// The statement at `pc`, without its semicolon.
pub fn statement(program: &Program, pc: Pc) -> String {
    program.text(pc).trim_end_matches(';').trim_end().to_string()
}

/// `8,431`
pub fn grouped(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let comma = |index: usize| if index > 0 && (digits.len() - index).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(index, digit)| format!("{}{digit}", comma(index))).collect()
}

/// The output of `printf` as whole lines, with a note on the number of bytes that were lost.
pub fn printed(mut bytes: Vec<u8>, lost: u64) -> Vec<u8> {
    if bytes.last().is_some_and(|last| *last != b'\n') {
        bytes.push(b'\n');
    }
    if lost > 0 {
        bytes.extend(format!("printf wrote {} more bytes, which are not kept\n", grouped(lost)).bytes());
    }
    bytes
}
