//! The written bytes of memory, and reads of bytes that were not written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::bits::Bytes;
use super::local::LocalBytes;
use super::params::ParamBytes;
use super::regions::{BlockBytes, Lifetime, UndefinedRegion};
use super::registers::{Cause, Origin, OriginText, UndefinedFactors};
use super::undefined::UndefinedBytes;
use super::unwritten::unwritten_text;
use super::used;
use super::written::{mark_written, needs_no_finding};
use crate::base::Severity;
use crate::check::finding::{Finding, MemoryRange, Side, SideAction};
use crate::check::init::catalogue::MEMORY_UNINITIALIZED;
use crate::check::lane_text::lanes_do;
use crate::isa::{CHUNK, Major, SharedTile, Space};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, CopyEvent, CopyKind, CopyStage, Issue, IssuePoint, LANES, LaneMask, LaunchStart, LocalStart,
    MbarrierChange, MbarrierEvent, MemoryAddress, MemoryOwner, PlainRead, PreparedLaunch, Warp, Wgmma, WgmmaEvent,
};
use crate::program::operands::RegisterOperand;
use crate::program::{Program, map};

/// Bytes of an mbarrier.
const MBARRIER_BYTES: u64 = 8;

/// The largest size of an uncompared buffer through which undefined values are tracked, in bytes.
const MAX_TRACKED: u64 = 1 << 28;

/// The unit of bulk copies in bytes: fewer unwritten bytes in the source of a copy are taken to be padding.
const BULK_UNIT: u64 = 16;

/// The written bytes of all memory that is uninitialized when a launch begins.
#[derive(Clone, Default)]
pub(super) struct Memory {
    /// Global memory that was uninitialized.
    undefined: Vec<UndefinedRegion>,
    /// The written bytes of resident blocks, by block slot.
    blocks: Vec<BlockBytes>,
    /// Parameters of functions.
    params: ParamBytes,
    /// Global memory that is not compared after the last launch.
    uncompared: Vec<Range<u64>>,
    /// The launch that runs.
    prepared: Option<Arc<PreparedLaunch>>,
}

impl Memory {
    /// A launch begins: the memory of blocks is new, and so are buffers made for it.
    pub fn begin(&mut self, launch: &LaunchStart) {
        self.prepared = Some(Arc::clone(&launch.prepared));
        self.blocks.clear();
        self.params.clear();
        self.uncompared = [&launch.uncompared[..], &launch.ignored].concat();
        for range in &launch.undefined {
            if !self.undefined.iter().any(|region| region.range == *range) {
                let (written, undefined) = (Bytes::default(), UndefinedBytes::default());
                self.undefined.push(UndefinedRegion { range: range.clone(), written, undefined });
            }
        }
    }

    /// Adds the bytes that another part of the grid has written. False if one of the parts has stored undefined values: these are not
    /// joined.
    pub fn join_part(&mut self, part: &Self) -> bool {
        let is_defined = |region: &UndefinedRegion| region.undefined.is_empty();
        if !self.undefined.iter().chain(&part.undefined).all(is_defined) || self.undefined.len() != part.undefined.len() {
            return false;
        }
        for (region, of_part) in self.undefined.iter_mut().zip(&part.undefined) {
            assert!(region.range == of_part.range, "the parts have the same buffers");
            region.written.join(&of_part.written);
        }
        true
    }

    /// Marks the bytes that a write covers. False if bytes that are read are undefined.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>) -> bool {
        match event.space {
            Space::Shared | Space::SharedCluster => {
                let bytes = &mut self.block(event.block_id.number, event.owner.0).shared;
                if !needs_no_finding(bytes, 0, event) {
                    return false;
                }
                if event.kind == AccessKind::Write {
                    mark_written(bytes, 0, event);
                }
            }
            Space::Global | Space::Generic => {
                let first = event.addresses[0];
                let Some(region) = self.undefined.iter_mut().find(|region| region.range.contains(&first)) else { return true };
                if !needs_no_finding(&region.written, region.range.start, event) {
                    return false;
                }
                if event.kind == AccessKind::Write {
                    mark_written(&mut region.written, region.range.start, event);
                }
            }
            Space::Local | Space::ParamFunc => return self.access_local(event),
            Space::Const | Space::Param => {}
        }
        true
    }

    /// True if all bytes around a read were written.
    #[inline]
    pub fn is_read_written(&self, read: &PlainRead<'_>) -> bool {
        let PlainRead { block_id, space, low, span, deltas, .. } = *read;
        if space == Space::Global {
            let region = self.undefined.iter().find(|region| region.range.contains(&(low + u64::from(deltas[0]))));
            return region.is_none_or(|region| low >= region.range.start && region.written.contains(low - region.range.start, span));
        }
        let block = self.blocks.get(block_id.block_slot as usize);
        block.is_some_and(|block| block.number == block_id.number && block.shared.contains(low, span))
    }

    /// Bytes of the shared memory of a block that were all written; none before its first access.
    pub fn written_of(&self, BlockId { number, block_slot }: BlockId) -> Option<Range<u64>> {
        let block = self.blocks.get(block_slot as usize).filter(|block| block.number == number)?;
        Some(block.shared.known())
    }

    /// Parameters of functions are passed without an access, so none is unwritten; but an undefined value can be stored there.
    fn access_local(&mut self, event: &AccessEvent<'_>) -> bool {
        if event.space == Space::ParamFunc && !self.params.is_empty() {
            match event.kind {
                AccessKind::Read if self.params.is_read(event) => return false,
                AccessKind::Read => {}
                AccessKind::Write | AccessKind::Atomic => self.params.overwrite(event),
            }
        }
        let local = self.local(event);
        if event.space == Space::Local && event.kind != AccessKind::Write && !local.contains(event) {
            return false;
        }
        if event.kind != AccessKind::Read {
            local.add(event);
        }
        true
    }

    /// Lanes get local memory.
    pub fn begin_local(&mut self, event: &LocalStart<'_>) {
        self.block(event.block_id.number, event.block_id.block_slot).begin_local(event);
    }

    /// The lanes that read undefined bytes, each with these as a bit mask. Padding that is only copied with its structure is left out.
    #[cold]
    pub fn undefined_reads(&mut self, event: &AccessEvent<'_>, program: &Program) -> Vec<(usize, u64)> {
        let undefined_bytes = |lane: usize| {
            let start = event.addresses[lane];
            let bytes = (start..start + u64::from(event.bytes)).zip(0..);
            bytes
                .filter(|(address, _)| !self.is_written(event, lane, *address))
                .fold(0, |undefined_bytes, (_, offset)| undefined_bytes | 1_u64 << (offset & 63))
        };
        assert!(event.bytes > 0, "an access is of some bytes");
        let all = u64::MAX >> (64 - u64::from(event.bytes.clamp(1, 64)));
        let is_used = |undefined_bytes: u64| {
            undefined_bytes == all || event.kind == AccessKind::Atomic || used::are_used(program, event.point.pc, undefined_bytes)
        };
        event
            .lanes
            .iter()
            .map(|lane| (lane, undefined_bytes(lane)))
            .filter(|(_, undefined_bytes)| *undefined_bytes != 0 && is_used(*undefined_bytes))
            .collect()
    }

    fn is_written(&self, event: &AccessEvent<'_>, lane: usize, address: u64) -> bool {
        let number = self.number_of(event.block_id.number, event.owner.0);
        let block = self.blocks.get(event.owner.0 as usize).filter(|block| block.number == number);
        match event.space {
            Space::Shared | Space::SharedCluster => block.is_some_and(|block| block.shared.contains(address, 1)),
            Space::Local => {
                let local = block.and_then(|block| block.local.get(event.point.warp.index()));
                local.is_some_and(|local| local.missing(LaneMask::of(lane), address).is_empty())
            }
            Space::ParamFunc => self.params.get(&event.point, lane, address).is_none(),
            Space::Generic | Space::Global | Space::Const | Space::Param => {
                self.region(address).is_none_or(|region| region.written.contains(address - region.range.start, 1))
            }
        }
    }

    /// The origin of the undefined byte that a lane reads: that of the value stored there, or this read.
    pub fn origin(&mut self, event: &AccessEvent<'_>, (register, lane): (RegisterOperand, usize), address: u64) -> Origin {
        let stored = match event.space {
            Space::Shared | Space::SharedCluster => self.block(event.block_id.number, event.owner.0).undefined.get(address),
            Space::Local => {
                let block = self.block(event.block_id.number, event.block_id.block_slot);
                block.undefined_local.get(event.point.warp.index()).and_then(|bytes| bytes.get(LANES as u64 * address + lane as u64))
            }
            Space::ParamFunc => self.params.get(&event.point, lane, address),
            Space::Generic | Space::Global | Space::Const | Space::Param => {
                self.region(address).and_then(|region| region.undefined.get(address))
            }
        };
        let unwritten = || {
            let memory = MemoryRange { space: event.space, block: self.owning_block(event), address, bytes: event.bytes };
            Origin { point: event.point, lane, register, cause: Cause::Memory(memory) }
        };
        stored.unwrap_or_else(unwritten)
    }

    /// The undefined bits of a byte that is undefined and that a lane reads.
    pub fn bits(&self, event: &AccessEvent<'_>, lane: usize, address: u64) -> u8 {
        let number = self.number_of(event.block_id.number, event.owner.0);
        let of_block = || self.blocks.get(event.owner.0 as usize).filter(|block| block.number == number);
        let bits = match event.space {
            Space::Shared | Space::SharedCluster => of_block().map(|block| block.undefined.bits(address)),
            Space::Local => {
                let bytes = of_block().and_then(|block| block.undefined_local.get(event.point.warp.index()));
                bytes.map(|bytes| bytes.bits(LANES as u64 * address + lane as u64))
            }
            Space::ParamFunc => Some(self.params.bits(&event.point, lane, address)),
            Space::Generic | Space::Global | Space::Const | Space::Param => {
                self.region(address).map(|region| region.undefined.bits(address))
            }
        };
        bits.unwrap_or(u8::MAX)
    }

    /// The block whose memory an access is to, by its index.
    fn owning_block(&self, event: &AccessEvent<'_>) -> [u32; 3] {
        match event.space {
            Space::SharedCluster => self.index_of(self.number_of(event.block_id.number, event.owner.0)),
            Space::Generic | Space::Global | Space::Const | Space::Shared | Space::Local | Space::Param | Space::ParamFunc => {
                event.point.block
            }
        }
    }

    /// Marks the bytes of an access as defined, so that a mistake is reported once.
    pub fn mark_defined(&mut self, event: &AccessEvent<'_>) {
        match event.space {
            Space::Shared | Space::SharedCluster => mark_written(&mut self.block(event.block_id.number, event.owner.0).shared, 0, event),
            Space::Local => self.local(event).add(event),
            Space::Generic | Space::Global | Space::Const | Space::Param | Space::ParamFunc => {
                let region = self.undefined.iter_mut().find(|region| region.range.contains(&event.addresses[0]));
                region.into_iter().for_each(|region| mark_written(&mut region.written, region.range.start, event));
            }
        }
    }

    /// `lane` stores an undefined value in these bytes, each with its undefined bits. It is not tracked further in memory that is compared
    /// after the launch.
    pub fn undefine(&mut self, event: &AccessEvent<'_>, lane: usize, bytes: &[(u64, u8)], origin: Origin) -> Lifetime {
        match event.space {
            Space::Shared | Space::SharedCluster => {
                let block = self.block(event.block_id.number, event.owner.0);
                for (at, bits) in bytes {
                    block.shared.remove(*at, 1);
                    block.undefined.set_bits(*at, *bits, origin);
                }
                Lifetime::Launch
            }
            Space::Local => {
                let warp = event.point.warp.index();
                self.local(event);
                let block = self.block(event.block_id.number, event.block_id.block_slot);
                block.undefined_local.resize_with(block.local.len(), UndefinedBytes::default);
                for (at, bits) in bytes {
                    block.local[warp].remove_byte(LaneMask::of(lane), *at);
                    block.undefined_local[warp].set_bits(LANES as u64 * at + lane as u64, *bits, origin);
                }
                Lifetime::Launch
            }
            Space::ParamFunc => {
                self.params.undefine(&event.point, lane, bytes, origin);
                Lifetime::Launch
            }
            Space::Generic | Space::Global | Space::Const | Space::Param => self.undefine_global(bytes, origin),
        }
    }

    /// The same of global memory.
    fn undefine_global(&mut self, bytes: &[(u64, u8)], origin: Origin) -> Lifetime {
        let (Some((address, _)), Some((last, _))) = (bytes.first().copied(), bytes.last()) else { return Lifetime::Launch };
        let contains_all = |range: &&Range<u64>| range.contains(&address) && *last < range.end;
        let Some(range) = self.uncompared.iter().find(contains_all).cloned() else { return Lifetime::Output };
        if range.end - range.start > MAX_TRACKED {
            return Lifetime::UncomparedOutput;
        }
        if self.region(address).is_none() {
            let mut written = Bytes::default();
            written.add(0, range.end - range.start);
            self.undefined.push(UndefinedRegion { range, written, undefined: UndefinedBytes::default() });
        }
        if let Some(region) = self.undefined.iter_mut().find(|region| region.range.contains(&address)) {
            for (at, bits) in bytes {
                region.written.remove(at - region.range.start, 1);
                region.undefined.set_bits(*at, *bits, origin);
            }
        }
        Lifetime::UncomparedOutput
    }

    /// True if a parameter of a function was undefined.
    pub fn follows_params(&self) -> bool {
        !self.params.is_empty()
    }

    /// A call or a return passes parameters.
    pub fn pass_params(&mut self, issue: &Issue, warp: &Warp, program: &Program) {
        if !self.params.is_empty() {
            self.params.pass_params(issue, warp, program);
        }
    }

    /// The finding for an access that is itself the use: it reads the value into no register, or writes it to memory.
    pub fn immediate_use(&self, event: &AccessEvent<'_>, lanes: LaneMask, address: u64, program: &Program) -> Finding {
        let action = if event.kind == AccessKind::Atomic { SideAction::Atomic } else { SideAction::Read };
        let side = Side { bytes: event.bytes, ..Side::new(event.point, lanes, action) };
        let memory = MemoryRange { space: event.space, block: self.owning_block(event), address, bytes: event.bytes };
        finding(side, memory, &lanes_do(lanes, "read"), program)
    }

    /// The source of a copy must have been written at its issue; its destination is written from then on. A copy to shared memory moves
    /// undefined bytes without a finding.
    pub fn copy(&mut self, event: &CopyEvent<'_>, program: &Program) -> Option<Finding> {
        if event.stage != CopyStage::Issued {
            return None;
        }
        let copy = event.copy;
        let moved = moved_bytes(&copy.kind, event.lanes);
        if !moved.is_empty() {
            moved.into_iter().for_each(|moved| self.move_bytes(copy.block_id.number, copy.issued, moved));
            return None;
        }
        let mut missing = None;
        copy.kind.visit_reads(event.lanes, |from, bytes| {
            if missing.is_none() && !self.is_range_written(copy.block_id.number, from, bytes) {
                missing = self.first_unwritten(copy.block_id.number, from, bytes);
            }
        });
        let reduces = matches!(&copy.kind, CopyKind::Bulk { reduction: Some(_), .. } | CopyKind::StAsync { reduction: Some(_), .. });
        let mut written = Vec::new();
        copy.kind.visit_writes(event.lanes, |at, bytes| written.push((at, bytes)));
        let is_uncompared = !reduces && !written.is_empty() && written.iter().all(|(at, bytes)| self.is_uncompared(*at, *bytes));
        for (at, bytes) in written {
            if reduces && missing.is_none() && !self.is_range_written(copy.block_id.number, at, bytes) {
                missing = self.first_unwritten(copy.block_id.number, at, bytes);
            }
            self.mark_written(copy.block_id.number, at, bytes);
        }
        missing.map(|memory| {
            let side = Side { bytes: memory.bytes, copy: Some(copy.id), ..Side::new(copy.issued, event.lanes, SideAction::Read) };
            let finding = self.finding_with_origin(side, memory, "this copy reads", program);
            if !is_uncompared {
                return finding;
            }
            let why = format!("{}; it goes to memory that the launch does not compare, as it does others", finding.why);
            Finding { severity: Severity::Note, why, ..finding }
        })
    }

    /// True if the bytes at a destination are not compared after the launch, though others are.
    fn is_uncompared(&self, at: MemoryAddress, bytes: u64) -> bool {
        let contains_all = |range: &Range<u64>| range.contains(&at.address) && at.address.saturating_add(bytes) <= range.end;
        at.owner == MemoryOwner::Global && self.uncompared.iter().any(contains_all)
    }

    /// A copy moves bytes to shared memory: undefined ones stay undefined, with their origins.
    fn move_bytes(&mut self, issuer: u64, issued: IssuePoint, MovedBytes { lane, from, to, read, bytes }: MovedBytes) {
        if self.is_range_written(issuer, from, read) {
            return self.mark_written(issuer, to, bytes);
        }
        let missing: Vec<u64> =
            (0..read).filter(|at| !self.is_range_written(issuer, MemoryAddress { address: from.address + at, ..from }, 1)).collect();
        let undefined_bytes: Vec<(u64, Option<Origin>)> =
            missing.into_iter().map(|at| (at, self.stored_in(issuer, from, from.address + at))).collect();
        self.mark_written(issuer, to, bytes);
        let MemoryOwner::Block { block_slot, .. } = to.owner else { return };
        let (space, owner) = match from.owner {
            MemoryOwner::Global => (Space::Global, [0; 3]),
            MemoryOwner::Block { index, .. } => (Space::Shared, index),
        };
        let first = undefined_bytes.first().map_or(0, |(at, _)| *at);
        let memory = MemoryRange { space, block: owner, address: from.address + first, bytes: (read - first).min(BULK_UNIT) as u32 };
        let unwritten = Origin { point: issued, lane, register: Origin::NO_REGISTER, cause: Cause::Memory(memory) };
        let block = self.block(issuer, block_slot);
        for (at, origin) in undefined_bytes {
            block.shared.remove(to.address + at, 1);
            block.undefined.set(to.address + at, 1, origin.unwrap_or(unwritten));
        }
    }

    /// The origin of the value stored in a byte, if that is undefined.
    fn stored_in(&mut self, issuer: u64, of: MemoryAddress, address: u64) -> Option<Origin> {
        match of.owner {
            MemoryOwner::Global => self.region(address).and_then(|region| region.undefined.get(address)),
            MemoryOwner::Block { block_slot, .. } => self.block(issuer, block_slot).undefined.get(address),
        }
    }

    /// A finding about undefined memory that an asynchronous operation reads, with the origin of the value if that is known.
    fn finding_with_origin(&self, side: Side, memory: MemoryRange, reader: &str, program: &Program) -> Finding {
        let origin = match memory.space {
            Space::Shared | Space::SharedCluster => {
                let of_block = |block: &&BlockBytes| self.index_of(block.number) == memory.block;
                let block = self.blocks.iter().filter(|block| block.number != u64::MAX).find(of_block);
                block.and_then(|block| block.undefined.get(memory.address))
            }
            Space::Generic | Space::Global | Space::Const | Space::Param | Space::ParamFunc | Space::Local => {
                self.region(memory.address).and_then(|region| region.undefined.get(memory.address))
            }
        };
        match origin.and_then(|origin| OriginText::new(program, Origin::NO_REGISTER, &[(origin.lane, origin)])) {
            None => finding(side, memory, reader, program),
            Some(OriginText { origin, from, why, fix, .. }) => {
                let why = format!("{reader} {} bytes that hold nothing defined{why}", memory.bytes);
                let first = origin.side(side.point, from);
                Finding { memory: Some(memory), first, ..Finding::new(origin.id(), side, why, fix) }
            }
        }
    }

    /// The rows of A and the columns of B with undefined elements, of the operands in shared memory of a `wgmma` that is issued.
    pub fn undefined_factors(&mut self, event: &WgmmaEvent<'_>, wgmma: &Wgmma) -> UndefinedFactors {
        let (number, block_slot) = (event.block_id.number, event.block_id.block_slot);
        let shared = &self.block(number, block_slot).shared;
        if wgmma.reads().all(|(start, end)| shared.contains(u64::from(start), u64::from(end - start))) {
            return UndefinedFactors::default();
        }
        let rows = wgmma.a.map(|tile| self.undefined_lines(event, tile)).unwrap_or_default();
        UndefinedFactors { rows, columns: self.undefined_lines(event, wgmma.b) }
    }

    /// The rows or columns of an operand with undefined elements.
    fn undefined_lines(&mut self, event: &WgmmaEvent<'_>, tile: SharedTile) -> BTreeMap<usize, Origin> {
        let block = self.block(event.block_id.number, event.block_id.block_slot);
        let mut found = BTreeMap::new();
        tile.for_each_chunk(|chunk| {
            let start = u64::from(chunk.address);
            if block.shared.contains(start, u64::from(CHUNK)) {
                return;
            }
            // A chunk belongs to one line, or has a 16-bit element of each of eight.
            let part = if tile.major == Major::K { CHUNK } else { 2 };
            for (line, at) in (chunk.index as usize..).zip((start..start + u64::from(CHUNK)).step_by(part as usize)) {
                let Some(address) = (at..at + u64::from(part)).find(|address| !block.shared.contains(*address, 1)) else { continue };
                let unwritten = || {
                    let memory =
                        MemoryRange { space: Space::Shared, block: event.point.block, address, bytes: part - (address - at) as u32 };
                    Origin { point: event.point, lane: 0, register: Origin::NO_REGISTER, cause: Cause::Memory(memory) }
                };
                found.entry(line).or_insert_with(|| block.undefined.get(address).unwrap_or_else(unwritten));
            }
        });
        found
    }

    /// `mbarrier.init` writes the bytes of the mbarrier.
    pub fn mbarrier(&mut self, event: &MbarrierEvent) {
        if let (MbarrierChange::Initialized(_), Some(prepared)) = (event.change, &self.prepared) {
            let Some(number) = prepared.block_number(event.block) else { return };
            self.block(number, event.block_slot).shared.add(u64::from(event.address), MBARRIER_BYTES);
        }
    }

    fn is_range_written(&mut self, issuer: u64, at: MemoryAddress, bytes: u64) -> bool {
        match at.owner {
            MemoryOwner::Global => {
                self.region(at.address).is_none_or(|region| region.written.contains(at.address - region.range.start, bytes))
            }
            MemoryOwner::Block { block_slot, .. } => self.block(issuer, block_slot).shared.contains(at.address, bytes),
        }
    }

    /// The first unit from `at` on that has no written byte.
    fn first_unwritten(&mut self, issuer: u64, at: MemoryAddress, bytes: u64) -> Option<MemoryRange> {
        let units = (0..bytes.div_ceil(BULK_UNIT)).map(|unit| (at.address + unit * BULK_UNIT, BULK_UNIT.min(bytes - unit * BULK_UNIT)));
        let is_empty = |(address, bytes): &(u64, u64)| {
            (*address..address + bytes).all(|address| !self.is_range_written(issuer, MemoryAddress { address, ..at }, 1))
        };
        let (address, bytes) = units.into_iter().find(is_empty)?;
        let (space, block) = match at.owner {
            MemoryOwner::Global => (Space::Global, [0; 3]),
            MemoryOwner::Block { index, .. } => (Space::Shared, index),
        };
        Some(MemoryRange { space, block, address, bytes: bytes as u32 })
    }

    fn mark_written(&mut self, issuer: u64, at: MemoryAddress, bytes: u64) {
        match at.owner {
            MemoryOwner::Global => {
                let region = self.undefined.iter_mut().find(|region| region.range.contains(&at.address));
                region.into_iter().for_each(|region| region.written.add(at.address - region.range.start, bytes));
            }
            MemoryOwner::Block { block_slot, .. } => self.block(issuer, block_slot).shared.add(at.address, bytes),
        }
    }

    fn region(&self, address: u64) -> Option<&UndefinedRegion> {
        self.undefined.iter().find(|region| region.range.contains(&address))
    }

    /// The block in a block slot of the cluster of the block `issuer`; the state of the previous block in that block slot is dropped.
    #[inline]
    fn block(&mut self, issuer: u64, block_slot: u32) -> &mut BlockBytes {
        let (number, index) = (self.number_of(issuer, block_slot), block_slot as usize);
        if index >= self.blocks.len() {
            self.blocks.resize_with(index + 1, || BlockBytes { number: u64::MAX, ..BlockBytes::default() });
        }
        let block = &mut self.blocks[index];
        assert!(block.number == u64::MAX || block.number <= number, "block {number} after block {}", block.number);
        if block.number != number {
            *block = BlockBytes { number, ..BlockBytes::default() };
            if self.prepared.as_ref().is_some_and(|prepared| prepared.shared_start < map::SHARED_RESERVED) {
                // The reserved part of shared memory starts as zeros.
                block.shared.add(0, map::SHARED_RESERVED);
            }
        }
        block
    }

    fn local(&mut self, event: &AccessEvent<'_>) -> &mut LocalBytes {
        self.block(event.block_id.number, event.block_id.block_slot).local_of(event.point.warp)
    }

    /// The number of the block in a block slot of the cluster of the block `issuer`: a cluster has adjacent block slots and numbers,
    /// by rank.
    fn number_of(&self, issuer: u64, block_slot: u32) -> u64 {
        match self.prepared.as_ref().map_or(1, |prepared| prepared.cluster_blocks as u64) {
            1 => issuer,
            size => issuer - issuer % size + u64::from(block_slot) % size,
        }
    }

    fn index_of(&self, number: u64) -> [u32; 3] {
        self.prepared.as_ref().map_or([0; 3], |prepared| prepared.block_index(number))
    }
}

/// Bytes that a copy of a lane moves to shared memory: `read` bytes, and zeros up to `bytes`.
struct MovedBytes {
    lane: usize,
    from: MemoryAddress,
    to: MemoryAddress,
    read: u64,
    bytes: u64,
}

/// The bytes that a copy moves to shared memory as they are.
fn moved_bytes(work: &CopyKind, lanes: LaneMask) -> SmallVec<[MovedBytes; LANES]> {
    match work {
        CopyKind::CpAsync(copies) => {
            let of_lane = |lane: usize| MovedBytes {
                lane,
                from: MemoryAddress { owner: MemoryOwner::Global, address: copies.from[lane] },
                to: MemoryAddress { owner: copies.owner, address: u64::from(copies.to[lane]) },
                read: u64::from(copies.source_sizes[lane]),
                bytes: u64::from(copies.bytes),
            };
            lanes.iter().map(of_lane).collect()
        }
        CopyKind::Bulk { from, to, bytes, reduction: None, mask: u16::MAX, .. } if to.owner != MemoryOwner::Global => {
            let bytes = u64::from(*bytes);
            smallvec![MovedBytes { lane: lanes.first(), from: *from, to: *to, read: bytes, bytes }]
        }
        CopyKind::Bulk { .. } | CopyKind::Tensor(_) | CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => SmallVec::new(),
    }
}

fn finding(side: Side, memory: MemoryRange, reader: &str, program: &Program) -> Finding {
    let (reason, fix) = unwritten_text(memory, program);
    let why = format!("{reader} {} bytes before any thread wrote them: {reason}", memory.bytes);
    Finding { memory: Some(memory), ..Finding::new(MEMORY_UNINITIALIZED, side, why, fix.to_string()) }
}
