//! The written bytes of memory, and reads of bytes that were not written.

use std::ops::Range;
use std::sync::Arc;

use super::bits::Bytes;
use super::local::LocalBytes;
use super::params::ParamBytes;
use super::registers::{Cause, Origin, Reported};
use super::undefined::UndefinedBytes;
use super::unwritten::whose;
use super::used;
use crate::base::Severity;
use crate::check::finding::{Finding, MemoryRange, Side, SideAction};
use crate::check::init::catalogue::MEMORY_UNINITIALIZED;
use crate::check::lane_text::lanes_do;
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyKind, CopyStage, Destination, Issue, IssuePoint, LANES, LaneMask, LaunchStart, MbarrierChange,
    MbarrierEvent, MemoryOwner, PreparedLaunch, Warp, WgmmaChange, WgmmaEvent,
};
use crate::program::operands::RegisterOperand;
use crate::program::{Program, map};

/// Bytes of an mbarrier.
const MBARRIER_BYTES: u64 = 8;

/// The largest size of a buffer, not compared after the launch, through which undefined values are followed.
const FOLLOWED: u64 = 1 << 28;

/// The unit of bulk copies: a copy whose source lacks less than this has padding there.
const UNIT: u64 = 16;

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

/// Whether a stored value outlives the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlives {
    /// It does not.
    Nothing,
    /// It does.
    Launch,
    /// It does, in a buffer that is not compared although others are.
    Uncompared,
}

/// A region of global memory that was uninitialized.
#[derive(Clone)]
struct UndefinedRegion {
    range: Range<u64>,
    /// The bytes written with defined values, from its start on.
    written: Bytes,
    /// The bytes written with undefined values, by address.
    undefined: UndefinedBytes,
}

/// The written bytes of a block's shared memory and its threads' local memory.
#[derive(Clone, Default)]
struct BlockBytes {
    /// The block, in order of launch.
    number: u64,
    shared: Bytes,
    /// The bytes of shared memory written with undefined values.
    undefined: UndefinedBytes,
    /// By warp.
    local: Vec<LocalBytes>,
    /// By warp, the bytes written with undefined values: byte b of lane l at 32 b + l.
    undefined_local: Vec<UndefinedBytes>,
}

impl Memory {
    /// A launch begins: the memory of blocks is new, and so are buffers made for it.
    pub fn begin(&mut self, launch: &LaunchStart) {
        self.prepared = Some(Arc::clone(&launch.prepared));
        self.blocks.clear();
        self.params.clear();
        self.uncompared = [&launch.uncompared[..], &launch.ignored].concat();
        for range in &launch.undefined {
            if !self.undefined.iter().any(|known| known.range == *range) {
                self.undefined.push(UndefinedRegion {
                    range: range.clone(),
                    written: Bytes::default(),
                    undefined: UndefinedBytes::default(),
                });
            }
        }
    }

    /// Marks the bytes that a write covers. False if bytes that are read are undefined.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>) -> bool {
        match event.space {
            Space::Shared | Space::SharedCluster => {
                let bytes = &mut self.block(event.block_id.number, event.owner.0).shared;
                if !passes(bytes, 0, event) {
                    return false;
                }
                if event.kind == AccessKind::Write {
                    mark_written(bytes, 0, event);
                }
            }
            Space::Global | Space::Generic => {
                let first = event.addresses[0];
                let Some(region) = self.undefined.iter_mut().find(|region| region.range.contains(&first)) else { return true };
                if !passes(&region.written, region.range.start, event) {
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

    /// Parameters of functions are handed over without an access, so nothing there counts as unwritten; what is stored there can be
    /// undefined.
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

    /// The lanes that read what is undefined, each with the bytes of it as bits. A copy of a structure includes the padding in it, which
    /// does not count.
    #[cold]
    pub fn lacking(&mut self, event: &AccessEvent<'_>, program: &Program) -> Vec<(usize, u64)> {
        let lacks = |lane: usize| {
            let start = event.addresses[lane];
            let bytes = (start..start + u64::from(event.bytes)).zip(0..);
            bytes
                .filter(|(address, _)| !self.is_written(event, lane, *address))
                .fold(0, |lacks, (_, offset)| lacks | 1_u64 << (offset & 63))
        };
        assert!(event.bytes > 0, "an access is of some bytes");
        let all = u64::MAX >> (64 - u64::from(event.bytes.clamp(1, 64)));
        let matters = |lacks: u64| lacks == all || event.kind == AccessKind::Atomic || used::uses(program, event.place.pc, lacks);
        event.lanes.iter().map(|lane| (lane, lacks(lane))).filter(|(_, lacks)| *lacks != 0 && matters(*lacks)).collect()
    }

    fn is_written(&self, event: &AccessEvent<'_>, lane: usize, address: u64) -> bool {
        let number = self.number_of(event.block_id.number, event.owner.0);
        let block = self.blocks.get(event.owner.0 as usize).filter(|block| block.number == number);
        match event.space {
            Space::Shared | Space::SharedCluster => block.is_some_and(|block| block.shared.contains(address, 1)),
            Space::Local => {
                let local = block.and_then(|block| block.local.get(event.place.warp.index()));
                local.is_some_and(|local| local.missing(LaneMask::of(lane), address).is_empty())
            }
            Space::ParamFunc => self.params.get(&event.place, lane, address).is_none(),
            Space::Generic | Space::Global | Space::Const | Space::Param => {
                self.region(address).is_none_or(|region| region.written.contains(address - region.range.start, 1))
            }
        }
    }

    /// The origin of the undefined value of a byte that a lane reads: the origin of the value stored there, or this read.
    pub fn origin(&mut self, event: &AccessEvent<'_>, (register, lane): (RegisterOperand, usize), address: u64) -> Origin {
        let stored = match event.space {
            Space::Shared | Space::SharedCluster => self.block(event.block_id.number, event.owner.0).undefined.get(address),
            Space::Local => {
                let block = self.block(event.block_id.number, event.block_id.block_slot);
                block.undefined_local.get(event.place.warp.index()).and_then(|bytes| bytes.get(LANES as u64 * address + lane as u64))
            }
            Space::ParamFunc => self.params.get(&event.place, lane, address),
            Space::Generic | Space::Global | Space::Const | Space::Param => {
                self.region(address).and_then(|region| region.undefined.get(address))
            }
        };
        let unwritten = || {
            let memory = MemoryRange { space: event.space, block: self.owner_of(event), address, bytes: event.bytes };
            Origin { place: event.place, lane, register, cause: Cause::Memory(memory) }
        };
        stored.unwrap_or_else(unwritten)
    }

    /// The block whose memory an access is to.
    fn owner_of(&self, event: &AccessEvent<'_>) -> [u32; 3] {
        match event.space {
            Space::SharedCluster => self.index_of(self.number_of(event.block_id.number, event.owner.0)),
            Space::Generic | Space::Global | Space::Const | Space::Shared | Space::Local | Space::Param | Space::ParamFunc => {
                event.place.block
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

    /// `lane` stores something undefined in `bytes` bytes from `address` on. What comes into memory that outlives the launch and is
    /// compared then is followed no further.
    pub fn undefine(&mut self, event: &AccessEvent<'_>, lane: usize, (address, bytes): (u64, u64), origin: Origin) -> Outlives {
        match event.space {
            Space::Shared | Space::SharedCluster => {
                let block = self.block(event.block_id.number, event.owner.0);
                block.shared.remove(address, bytes);
                block.undefined.set(address, bytes, origin);
                Outlives::Nothing
            }
            Space::Local => {
                let warp = event.place.warp.index();
                self.local(event);
                let block = self.block(event.block_id.number, event.block_id.block_slot);
                block.undefined_local.resize_with(block.local.len(), UndefinedBytes::default);
                for at in address..address + bytes {
                    block.local[warp].remove_byte(LaneMask::of(lane), at);
                    block.undefined_local[warp].set(LANES as u64 * at + lane as u64, 1, origin);
                }
                Outlives::Nothing
            }
            Space::ParamFunc => {
                self.params.undefine(&event.place, lane, (address, bytes), origin);
                Outlives::Nothing
            }
            Space::Generic | Space::Global | Space::Const | Space::Param => self.undefine_global((address, bytes), origin),
        }
    }

    /// The same of global memory.
    fn undefine_global(&mut self, (address, bytes): (u64, u64), origin: Origin) -> Outlives {
        let is_whole = |range: &&Range<u64>| range.contains(&address) && address.saturating_add(bytes) <= range.end;
        let Some(range) = self.uncompared.iter().find(is_whole).cloned() else { return Outlives::Launch };
        if range.end - range.start > FOLLOWED {
            return Outlives::Uncompared;
        }
        if self.region(address).is_none() {
            let mut written = Bytes::default();
            written.add(0, range.end - range.start);
            self.undefined.push(UndefinedRegion { range, written, undefined: UndefinedBytes::default() });
        }
        if let Some(region) = self.undefined.iter_mut().find(|region| region.range.contains(&address)) {
            region.written.remove(address - region.range.start, bytes);
            region.undefined.set(address, bytes, origin);
        }
        Outlives::Uncompared
    }

    /// Whether a parameter of a function held anything undefined.
    pub fn follows_params(&self) -> bool {
        !self.params.is_empty()
    }

    /// A call or a return hands over parameters.
    pub fn hand_over(&mut self, issue: &Issue, warp: &Warp, program: &Program) {
        if !self.params.is_empty() {
            self.params.hand_over(issue, warp, program);
        }
    }

    /// The finding for an access that uses the undefined value itself: it reads it into no register, or writes it to memory.
    pub fn immediate_use(&self, event: &AccessEvent<'_>, lanes: LaneMask, address: u64, program: &Program) -> Finding {
        let action = if event.kind == AccessKind::Atomic { SideAction::Atomic } else { SideAction::Read };
        let side = Side { bytes: event.bytes, ..Side::new(event.place, lanes, action) };
        let memory = MemoryRange { space: event.space, block: self.owner_of(event), address, bytes: event.bytes };
        finding(side, memory, &lanes_do(lanes, "read"), program)
    }

    /// The source of a copy must have been written when it is issued; its destination counts as written from then on. A copy to shared
    /// memory moves undefined bytes as they are.
    pub fn copy(&mut self, event: &CopyEvent<'_>, program: &Program) -> Option<Finding> {
        if event.stage != CopyStage::Issued {
            return None;
        }
        let copy = event.copy;
        let moved = moved(&copy.work, event.lanes);
        if !moved.is_empty() {
            moved.into_iter().for_each(|moved| self.move_bytes(copy.block_id.number, copy.issued, moved));
            return None;
        }
        let mut missing = None;
        copy.work.reads(event.lanes, |from, bytes| {
            if missing.is_none() && !self.holds(copy.block_id.number, from, bytes) {
                missing = self.gap(copy.block_id.number, from, bytes);
            }
        });
        let reduces = matches!(&copy.work, CopyKind::Bulk { reduction: Some(_), .. } | CopyKind::StAsync { reduction: Some(_), .. });
        let mut written = Vec::new();
        copy.work.writes(event.lanes, |at, bytes| written.push((at, bytes)));
        let is_uncompared = !reduces && !written.is_empty() && written.iter().all(|(at, bytes)| self.is_uncompared(*at, *bytes));
        for (at, bytes) in written {
            if reduces && missing.is_none() && !self.holds(copy.block_id.number, at, bytes) {
                missing = self.gap(copy.block_id.number, at, bytes);
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

    /// Whether nothing looks at a place after the launch, where others are compared.
    fn is_uncompared(&self, at: Destination, bytes: u64) -> bool {
        let is_whole = |range: &Range<u64>| range.contains(&at.address) && at.address.saturating_add(bytes) <= range.end;
        at.owner == MemoryOwner::Global && self.uncompared.iter().any(is_whole)
    }

    /// A copy moves bytes to shared memory: what is undefined of them is so there, with where it comes from.
    fn move_bytes(&mut self, issuer: u64, issued: IssuePoint, Moved { lane, from, to, read, bytes }: Moved) {
        let is_whole = self.holds(issuer, from, read);
        let lacking: Vec<(u64, Option<Origin>)> = match is_whole {
            true => Vec::new(),
            false => {
                let missing = (0..read).filter(|at| !self.holds(issuer, Destination { address: from.address + at, ..from }, 1));
                missing.collect::<Vec<u64>>().into_iter().map(|at| (at, self.stored_in(issuer, from, from.address + at))).collect()
            }
        };
        self.mark_written(issuer, to, bytes);
        let MemoryOwner::Block { block_slot, .. } = to.owner else { return };
        let (space, owner) = match from.owner {
            MemoryOwner::Global => (Space::Global, [0; 3]),
            MemoryOwner::Block { index, .. } => (Space::Shared, index),
        };
        let first = lacking.first().map_or(0, |(at, _)| *at);
        let memory = MemoryRange { space, block: owner, address: from.address + first, bytes: (read - first).min(UNIT) as u32 };
        let unwritten = Origin { place: issued, lane, register: Origin::NO_REGISTER, cause: Cause::Memory(memory) };
        let block = self.block(issuer, block_slot);
        for (at, origin) in lacking {
            block.shared.remove(to.address + at, 1);
            block.undefined.set(to.address + at, 1, origin.unwrap_or(unwritten));
        }
    }

    /// The origin of the value stored in a byte, if that is undefined.
    fn stored_in(&mut self, issuer: u64, of: Destination, address: u64) -> Option<Origin> {
        match of.owner {
            MemoryOwner::Global => self.region(address).and_then(|region| region.undefined.get(address)),
            MemoryOwner::Block { block_slot, .. } => self.block(issuer, block_slot).undefined.get(address),
        }
    }

    /// A finding about undefined memory that an asynchronous operation reads, which names what brought it there, if that is known.
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
        match origin.and_then(|origin| Reported::new(program, Origin::NO_REGISTER, &[(origin.lane, origin)])) {
            None => finding(side, memory, reader, program),
            Some(Reported { origin, from, why, fix, .. }) => {
                let why = format!("{reader} {} bytes that hold nothing defined{why}", memory.bytes);
                let first = origin.side(side.place, from);
                Finding { memory: Some(memory), first, ..Finding::new(origin.id(), side, why, fix) }
            }
        }
    }

    /// The shared memory that a `wgmma` reads must have been written when it is issued.
    pub fn wgmma(&mut self, event: &WgmmaEvent<'_>, program: &Program) -> Option<Finding> {
        let WgmmaChange::Issued { wgmma, .. } = event.change else { return None };
        let owner = MemoryOwner::Block { block_slot: event.block_id.block_slot, index: event.place.block };
        let missing = wgmma.reads().find_map(|(start, end)| {
            let (from, bytes) = (Destination { owner, address: u64::from(start) }, u64::from(end - start));
            if self.holds(event.block_id.number, from, bytes) { None } else { self.gap(event.block_id.number, from, bytes) }
        });
        missing.map(|memory| {
            let side = Side { bytes: memory.bytes, copy: Some(wgmma.id), ..Side::new(event.place, event.lanes, SideAction::Read) };
            self.finding_with_origin(side, memory, "this wgmma reads", program)
        })
    }

    /// `mbarrier.init` writes the object.
    pub fn mbarrier(&mut self, event: &MbarrierEvent) {
        if let (MbarrierChange::Made(_), Some(prepared)) = (event.change, &self.prepared) {
            let Some(number) = prepared.block_number(event.block) else { return };
            self.block(number, event.block_slot).shared.add(u64::from(event.address), MBARRIER_BYTES);
        }
    }

    fn holds(&mut self, issuer: u64, at: Destination, bytes: u64) -> bool {
        match at.owner {
            MemoryOwner::Global => {
                self.region(at.address).is_none_or(|region| region.written.contains(at.address - region.range.start, bytes))
            }
            MemoryOwner::Block { block_slot, .. } => self.block(issuer, block_slot).shared.contains(at.address, bytes),
        }
    }

    /// The first unit from `at` on of which nothing was written.
    fn gap(&mut self, issuer: u64, at: Destination, bytes: u64) -> Option<MemoryRange> {
        let units = (0..bytes.div_ceil(UNIT)).map(|unit| (at.address + unit * UNIT, UNIT.min(bytes - unit * UNIT)));
        let is_empty = |(address, bytes): &(u64, u64)| {
            (*address..address + bytes).all(|address| !self.holds(issuer, Destination { address, ..at }, 1))
        };
        let (address, bytes) = units.into_iter().find(is_empty)?;
        let (space, block) = match at.owner {
            MemoryOwner::Global => (Space::Global, [0; 3]),
            MemoryOwner::Block { index, .. } => (Space::Shared, index),
        };
        Some(MemoryRange { space, block, address, bytes: bytes as u32 })
    }

    fn mark_written(&mut self, issuer: u64, at: Destination, bytes: u64) {
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

    /// The block in a block slot of the cluster of the block `issuer`; what the one before it in that block slot wrote is dropped.
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
                // What the system reserves starts as zeros.
                block.shared.add(0, map::SHARED_RESERVED);
            }
        }
        block
    }

    fn local(&mut self, event: &AccessEvent<'_>) -> &mut LocalBytes {
        let warp = event.place.warp.index();
        let warps = &mut self.block(event.block_id.number, event.block_id.block_slot).local;
        if warp >= warps.len() {
            warps.resize_with(warp + 1, LocalBytes::default);
        }
        &mut warps[warp]
    }

    /// The number of the block in a block slot of the cluster of the block `issuer`: a cluster takes neighbouring block slots and numbers,
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
struct Moved {
    lane: usize,
    from: Destination,
    to: Destination,
    read: u64,
    bytes: u64,
}

/// The bytes that a copy moves to shared memory as they are.
fn moved(work: &CopyKind, lanes: LaneMask) -> Vec<Moved> {
    match work {
        CopyKind::CpAsync(copies) => {
            let of_lane = |lane: usize| Moved {
                lane,
                from: Destination { owner: MemoryOwner::Global, address: copies.from[lane] },
                to: Destination { owner: copies.owner, address: u64::from(copies.to[lane]) },
                read: u64::from(copies.kept[lane]),
                bytes: u64::from(copies.bytes),
            };
            lanes.iter().map(of_lane).collect()
        }
        CopyKind::Bulk { from, to, bytes, reduction: None, mask: u16::MAX, .. } if to.owner != MemoryOwner::Global => {
            let bytes = u64::from(*bytes);
            vec![Moved { lane: lanes.first(), from: *from, to: *to, read: bytes, bytes }]
        }
        CopyKind::Bulk { .. } | CopyKind::Tensor(_) | CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => Vec::new(),
    }
}

/// Whether an access needs no finding: it only writes, or all that it reads was written.
#[inline]
fn passes(written: &Bytes, base: u64, event: &AccessEvent<'_>) -> bool {
    if event.kind == AccessKind::Write {
        return true;
    }
    let (low, high) = (event.min, event.max);
    let bytes = u64::from(event.bytes);
    // Mostly everything around was written, which is one question for all lanes.
    high - low <= 64 * bytes && written.contains(low - base, high - low + bytes)
        || event.lanes.iter().all(|lane| written.contains(event.addresses[lane] - base, bytes))
}

/// Adds what an access covers.
#[inline]
fn mark_written(written: &mut Bytes, base: u64, event: &AccessEvent<'_>) {
    let (first, bytes) = (event.addresses[0], u64::from(event.bytes));
    let stray = event.addresses.iter().zip(0..).fold(0, |stray, (address, lane)| stray | (address.wrapping_sub(first) ^ (lane * bytes)));
    if stray == 0 && event.lanes == LaneMask::ALL {
        return written.add(first - base, 32 * bytes);
    }
    event.lanes.iter().for_each(|lane| written.add(event.addresses[lane] - base, bytes));
}

fn finding(side: Side, memory: MemoryRange, reader: &str, program: &Program) -> Finding {
    let (whose, fix) = whose(memory, program);
    let why = format!("{reader} {} bytes before any thread wrote them: {whose}", memory.bytes);
    Finding { memory: Some(memory), ..Finding::new(MEMORY_UNINITIALIZED, side, why, fix.to_string()) }
}
