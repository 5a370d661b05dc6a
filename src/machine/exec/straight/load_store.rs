//! Loads, stores and atomic additions of a stretch.

use super::Straight;
use super::access::{Found, Memory, Page, Words, gather, in_one_page, is_aligned, scatter};
use super::pattern::Pattern;
use super::report::Reported;
use crate::isa::Space;
use crate::machine::exec::load_store::{Element, put_extended};
use crate::machine::exec::operands::Lanes;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::memory::PAGE_BYTES;
use crate::machine::state::tables::straight::{Micro, Step};
use crate::program::{Dst, MemoryOp, Op, Pc, Program, Src};
use smallvec::SmallVec;

impl Straight<'_> {
    /// A load; false, without effect, if it is not simple.
    #[inline(always)]
    pub(super) fn load(&mut self, micro: &Micro, pc: Pc, ticks: u32) -> bool {
        if !self.loads {
            return false;
        }
        let (point, bytes) = (self.point(pc, ticks), u32::from(micro.bytes));
        let Self { program, simd, lanes, patterns, memory, report, .. } = self;
        let op = &program.code[pc.index()].op;
        let Some((low, pattern)) = patterns.of(*simd, lanes, micro) else { return false };
        if !is_aligned(low, pattern, bytes) {
            return false;
        }
        let mut emit = |found: &Found<'_>, lanes: LaneMask| {
            if let Some(report) = report
                && report.wants(found)
                && let Op::Memory(op) = op
            {
                report.load(&Reported { point, lanes, bytes, semantics: op.access(), pattern }, found);
            }
        };
        if micro.space == Space::Param {
            return load_param(lanes, memory, micro, (low, pattern), emit);
        }
        let Some(found) = memory.find(micro.space, low, pattern.span, bytes) else { return false };
        let Some((pages, start)) = found.pages else { return false };
        let Some(at) = in_one_page(start, pattern.span, bytes) else { return false };
        emit(&found, lanes.mask);
        let page = pages.page(start);
        let words32 = |at: usize| simd.dispatch(Words { page, at, pattern, word: u32::from_le_bytes });
        let words64 = |at: usize| simd.dispatch(Words { page, at, pattern, word: u64::from_le_bytes });
        #[expect(clippy::wildcard_enum_match_arm, reason = "the caller has the other steps")]
        match micro.step {
            Step::Load32 => lanes.write32(micro.d, &gather(page, at, pattern, u32::from_le_bytes)),
            Step::Load64 => lanes.write64(micro.d, &words64(at)),
            Step::LoadVector32 => parts_of(program, op).zip((at..).step_by(4)).for_each(|(d, at)| lanes.write32(d, &words32(at))),
            Step::LoadVector64 => parts_of(program, op).zip((at..).step_by(8)).for_each(|(d, at)| lanes.write64(d, &words64(at))),
            _ => simd.dispatch(NarrowLoad { lanes: lanes.copy(), op, d: micro.d, found: (page, at, pattern) }),
        }
        true
    }

    /// A store; false, without effect, if it is not simple.
    #[inline(always)]
    pub(super) fn store(&mut self, micro: &Micro, pc: Pc, ticks: u32) -> bool {
        if !self.stores {
            return false;
        }
        let (point, bytes) = (self.point(pc, ticks), u32::from(micro.bytes));
        let Self { program, simd, lanes, patterns, memory, report, done, .. } = self;
        let op = &program.code[pc.index()].op;
        let parts = if matches!(micro.step, Step::StoreVector32 | Step::StoreVector64)
            && let Op::Memory(MemoryOp::StoreVector { parts, .. }) = *op
        {
            &program.sources[parts]
        } else {
            std::slice::from_ref(&micro.c)
        };
        let element = bytes / parts.len() as u32;
        let Some((low, pattern)) = patterns.of(*simd, lanes, micro) else { return false };
        if !is_aligned(low, pattern, bytes) {
            return false;
        }
        let Some((found, start, at)) = memory.find_writable(micro.space, low, pattern.span, bytes) else { return false };
        if let Some(report) = report
            && report.wants(&found)
            && let Op::Memory(op) = op
        {
            let value = |part: &Src| if element == 8 { *lanes.get64(*part) } else { lanes.get32(*part).map(u64::from) };
            // Moved as a whole, the elements would take longer than the rest of the store.
            let (single, several): ([PerLane<u64>; 1], SmallVec<[PerLane<u64>; 4]>);
            let elements: &[PerLane<u64>] = if let [part] = parts {
                single = [value(part)];
                &single
            } else {
                several = parts.iter().map(value).collect();
                &several
            };
            let reported = Reported { point, lanes: lanes.mask, bytes, semantics: op.access(), pattern };
            report.store(&reported, &found, element, elements);
        }
        let (space, low) = (found.space, found.low);
        let Some(page) = memory.page_mut(space, low, start) else { return false };
        for (part, at) in parts.iter().zip((at..).step_by(element as usize)) {
            if element == 8 {
                scatter(page, at, (pattern, lanes.mask), lanes.get64(*part), u64::to_le_bytes);
            } else {
                scatter(page, at, (pattern, lanes.mask), lanes.get32(*part), u32::to_le_bytes);
            }
        }
        done.progress += parts.len() as u64;
        true
    }

    /// Adds integers to memory, lane by lane; false, without effect, if it is not simple.
    #[inline(never)]
    pub(super) fn atomic_add(&mut self, micro: &Micro, pc: Pc, ticks: u32) -> bool {
        let (point, bytes) = (self.point(pc, ticks), u32::from(micro.bytes));
        let Self { program, simd, lanes, patterns, memory, report, done, .. } = self;
        let Op::Atomic(op) = &program.code[pc.index()].op else { return false };
        let Some((low, pattern)) = patterns.of(*simd, lanes, micro) else { return false };
        if !self.stores || !is_aligned(low, pattern, bytes) {
            return false;
        }
        let Some((found, start, at)) = memory.find_writable(micro.space, low, pattern.span, bytes) else { return false };
        if let Some(report) = report
            && report.wants(&found)
        {
            report.atomic(&Reported { point, lanes: lanes.mask, bytes, semantics: op.access(), pattern }, &found);
        }
        let (space, low) = (found.space, found.low);
        let Some(page) = memory.page_mut(space, low, start) else { return false };
        let (added, mut old) = (*lanes.get32(micro.c), [0; LANES]);
        let words = page.as_chunks_mut::<4>().0;
        for lane in lanes.mask.iter() {
            let word = &mut words[(at + pattern.deltas[lane] as usize) / 4 % (PAGE_BYTES / 4)];
            old[lane] = u32::from_le_bytes(*word);
            *word = old[lane].wrapping_add(added[lane]).to_le_bytes();
        }
        // An addition that changes nothing is no progress.
        done.progress += u64::from(lanes.mask.iter().any(|lane| added[lane] != 0));
        lanes.write32(micro.d, &old);
        true
    }
}

/// The destinations of a vector load.
fn parts_of<'a>(program: &'a Program, op: &Op) -> impl Iterator<Item = Dst> + use<'a> {
    let Op::Memory(MemoryOp::LoadVector { parts, .. }) = *op else { unreachable!("{op:?} is no vector load") };
    program.dests[parts].iter().copied()
}

/// [`load_narrow`], as a function of its own.
struct NarrowLoad<'a> {
    lanes: Lanes<'a>,
    op: &'a Op,
    d: Dst,
    found: (&'a Page, usize, &'a Pattern),
}

impl pulp::WithSimd for NarrowLoad<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, _simd: S) {
        load_narrow(&mut self.lanes, self.op, self.d, self.found);
    }
}

/// Loads elements of 8 or 16 bits.
#[inline(always)]
fn load_narrow(lanes: &mut Lanes<'_>, op: &Op, d: Dst, (page, at, pattern): (&Page, usize, &Pattern)) {
    let Op::Memory(MemoryOp::Load { bits, signed, reg_bits, .. }) = *op else { return };
    let words: PerLane<u32> = match (bits, signed) {
        (8, false) => gather(page, at, pattern, |[byte]| u32::from(byte)),
        (8, true) => gather(page, at, pattern, |[byte]| i32::from(byte as i8) as u32),
        (_, false) => gather(page, at, pattern, |bytes| u32::from(u16::from_le_bytes(bytes))),
        (_, true) => gather(page, at, pattern, |bytes| i32::from(i16::from_le_bytes(bytes)) as u32),
    };
    put_extended(lanes, Element { bits, signed, reg_bits }, d, &words);
}

/// Loads a parameter of the kernel from one address; false, without effect, for other loads of parameters.
#[inline(always)]
fn load_param(
    lanes: &mut Lanes<'_>,
    memory: &Memory<'_>,
    micro: &Micro,
    (low, pattern): (u64, &Pattern),
    mut emit: impl FnMut(&Found<'_>, LaneMask),
) -> bool {
    let found = Found { space: Space::Param, low, pages: None };
    if pattern.span != 0 {
        return false;
    }
    if micro.step == Step::Load32
        && let Some(bytes) = memory.param(low)
    {
        emit(&found, lanes.mask);
        lanes.write32(micro.d, &[u32::from_le_bytes(bytes); 32]);
        return true;
    }
    if micro.step == Step::Load64
        && let Some(bytes) = memory.param(low)
    {
        emit(&found, lanes.mask);
        lanes.write64(micro.d, &[u64::from_le_bytes(bytes); 32]);
        return true;
    }
    false
}
