//! Addresses that are computed from one variable, or from the pointer to one buffer, and reach another one.
//!
//! A static analysis ([`crate::flow::address_base`]) finds the base of an address: the one variable or parameter in the sum that computes
//! it. An access is compared with the bytes of that variable, or of the buffer that the parameter points into. Dynamic shared memory
//! extends to the end of the shared memory of the block. Addresses with two bases, as a difference of pointers has, or from memory are not
//! checked.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::base_bytes::bytes_of;
use super::catalogue::FindingId;
use super::checker::{Checker, CheckerRow};
use super::finding::{Finding, MemoryRange, Side, SideAction};
use super::free_reads::FreeReads;
use super::lane_text::lanes_do;
use super::reporter::Reporter;
use crate::flow::address_base::{AddressBase, BasesOfValue, address_bases};
use crate::isa::Space;
use crate::machine::{AccessEvent, BlockId, Event, EventKind, EventMask, LaneMask, LaunchEnd, LaunchStart, PlainRead, PreparedLaunch};
use crate::program::{FuncId, Param, ParamStorage, Pc, Program, source_name};

/// An address computed from one variable reaches another one.
pub const MEMORY_NEIGHBOUR: FindingId =
    FindingId::warning("memory.neighbour", "an address computed from one variable or buffer reaches another one");

/// The checker of addresses that are outside their base.
pub(super) const ROW: CheckerRow = CheckerRow {
    word: "neighbour",
    about: "addresses computed from one variable or buffer that reach another one",
    findings: &[MEMORY_NEIGHBOUR],
    make: Some(|program| Box::new(NeighbourChecker::new(program))),
};

/// The range of an instruction whose function was not analyzed.
const NOT_ANALYZED: Range<u64> = Range { start: u64::MAX, end: 0 };

/// The range of an instruction that may access any byte.
const ANYWHERE: Range<u64> = 0..u64::MAX;

/// The memory accesses of a function, with the bases of their addresses.
type Accesses = Arc<Vec<(Pc, BasesOfValue)>>;

/// The checker.
#[derive(Clone)]
struct NeighbourChecker {
    program: Arc<Program>,
    /// The functions that were analyzed.
    analyzed: BTreeMap<FuncId, Accesses>,
    /// The launch that runs.
    prepared: Option<Arc<PreparedLaunch>>,
    /// The addresses of buffers and variables in global memory, in order.
    allocations: Vec<Range<u64>>,
    /// By instruction, the addresses that it may access.
    within: Arc<Vec<Range<u64>>>,
    /// The bases of the instructions that are neither [`NOT_ANALYZED`] nor [`ANYWHERE`].
    bases: BTreeMap<Pc, AddressBase>,
}

impl NeighbourChecker {
    fn new(program: &Arc<Program>) -> Self {
        let (analyzed, within, bases) = (BTreeMap::new(), Arc::default(), BTreeMap::new());
        Self { program: Arc::clone(program), analyzed, prepared: None, allocations: Vec::new(), within, bases }
    }

    /// Checks an access outside its range, or of a function that was not analyzed yet.
    #[cold]
    fn check(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let pc = event.point.pc;
        if self.within[pc.index()] == NOT_ANALYZED {
            self.analyze(pc);
        }
        let within = self.within[pc.index()].clone();
        let Some(base) = self.bases.get(&pc).copied().filter(|base| self.is_in_space(*base, event)) else { return false };
        let is_outside =
            |lane: &usize| event.addresses[*lane] < within.start || event.addresses[*lane] + u64::from(event.bytes) > within.end;
        let lanes: LaneMask = event.lanes.iter().filter(is_outside).collect();
        let action = SideAction::from(event.kind);
        if lanes.is_empty() || to.count_again(MEMORY_NEIGHBOUR, (pc, action)) {
            return false;
        }
        to.report(self.finding(event, (lanes, action), (base, within)))
    }

    /// Sets the ranges that the accesses of the function of `pc` may access.
    fn analyze(&mut self, pc: Pc) {
        Arc::make_mut(&mut self.within)[pc.index()] = ANYWHERE;
        let program = Arc::clone(&self.program);
        let Some(function) = program.function_at(pc) else { return };
        let accesses = Arc::clone(self.analyzed.entry(function).or_insert_with(|| Arc::new(address_bases(&program, function))));
        let code = program.functions[function.index()].code.clone();
        let mut within = std::mem::take(&mut self.within);
        let ranges = Arc::make_mut(&mut within);
        ranges[code.start as usize..code.end as usize].fill(ANYWHERE);
        for (pc, bases) in accesses.iter() {
            if let Some(base) = bases.unique(|base| self.bytes_of(base).is_some())
                && let Some(bytes) = self.bytes_of(base)
            {
                ranges[pc.index()] = bytes;
                self.bases.insert(*pc, base);
            }
        }
        self.within = within;
    }

    fn bytes_of(&self, base: AddressBase) -> Option<Range<u64>> {
        bytes_of(&self.program, self.prepared.as_ref()?, &self.allocations, base)
    }

    fn is_in_space(&self, base: AddressBase, event: &AccessEvent<'_>) -> bool {
        let space = match base {
            AddressBase::Variable(variable) => self.program.variables[variable.index()].location.space,
            AddressBase::Param(_) => Space::Global,
        };
        event.space == space
    }

    fn finding(
        &self,
        event: &AccessEvent<'_>,
        (lanes, action): (LaneMask, SideAction),
        (base, within): (AddressBase, Range<u64>),
    ) -> Finding {
        let address = event.addresses[lanes.first()];
        let (name, what) = match base {
            AddressBase::Variable(variable) => (source_name(&self.program.variables[variable.index()].name).to_string(), "variable"),
            AddressBase::Param(offset) => (self.param(offset), "buffer"),
        };
        let bytes = within.end - within.start;
        let place = match address.checked_sub(within.start) {
            None => format!("{} bytes before its start", within.start - address),
            Some(offset) => format!("byte {offset} of its {bytes}"),
        };
        let why =
            format!("the address is computed from {name}, and {} at {place}: that is another {what}'s memory", lanes_do(lanes, "access"));
        let fix = format!("keep the index inside {name}, or make {name} as large as the code needs it");
        let side = Side { bytes: event.bytes, ..Side::new(event.point, lanes, action) };
        let block = if event.space == Space::Shared { event.point.block } else { [0; 3] };
        let memory = MemoryRange { space: event.space, block, address, bytes: event.bytes };
        Finding { memory: Some(memory), ..Finding::new(MEMORY_NEIGHBOUR, side, why, fix) }
    }

    /// The name of the parameter at an offset.
    fn param(&self, offset: u32) -> String {
        let kernel = self.prepared.as_ref().map(|prepared| &self.program.functions[prepared.config.kernel.index()]);
        let params = kernel.iter().flat_map(|kernel| &kernel.params);
        let at = |param: &&Param| match param.storage {
            ParamStorage::Kernel(start) => (start..start + param.bytes).contains(&offset),
            ParamStorage::Register(..) | ParamStorage::Frame(_) => false,
        };
        params.clone().find(at).map_or_else(|| format!("parameter byte {offset}"), |param| source_name(&param.name).to_string())
    }
}

impl Checker for NeighbourChecker {
    fn begin(&mut self, launch: &LaunchStart) {
        self.prepared = Some(Arc::clone(&launch.prepared));
        self.allocations.clone_from(&launch.allocations);
        self.within = Arc::new(vec![NOT_ANALYZED; self.program.code.len()]);
        self.bases.clear();
    }

    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access])
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        let Event::Access(event) = event else { return false };
        let Some(within) = self.within.get(event.point.pc.index()) else { return false };
        let is_inside = within.start <= event.min && event.max.saturating_add(u64::from(event.bytes)) <= within.end;
        !is_inside && self.check(event, to)
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        let within = self.within.get(read.point.pc.index());
        within.is_none_or(|within| within.start <= read.low && read.low.saturating_add(read.span) <= within.end)
    }

    fn free_reads(&self, _block_id: BlockId) -> Option<FreeReads> {
        Some(FreeReads { bytes: 0..u64::MAX, of_instructions: Some(Arc::clone(&self.within)) })
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, _to: &mut Reporter<'_>) {}

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}
