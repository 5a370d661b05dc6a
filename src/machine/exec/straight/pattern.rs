//! The pattern of the addresses of an access, analyzed once and recognized again by later warps.
//!
//! Warps of a kernel compute their addresses alike, so that the distances of their lanes are mostly those of the warp before: comparing
//! them costs less than the analysis. A pattern that was compared stays valid until its base is written or the stretch ends.

use crate::machine::exec::operands::Lanes;
use crate::machine::state::lanes::{LANES, LaneMask, LaneShape, PerLane, ROW, ROWS, UNEVEN};
use crate::machine::state::memory::PAGE_BYTES;
use crate::machine::state::tables::straight::{BaseKey, BaseWrite, Micro};
use crate::program::SrcKind;

/// Addresses that are close together, relative to the lowest. Lanes that do not execute have that of the first that does.
#[derive(Clone, Copy)]
pub struct Pattern {
    /// The lowest address, without the offset of the instruction.
    low: u64,
    /// The distance of the highest address.
    pub span: u32,
    /// The bits that are set in the distance of some lane.
    pub low_bits: u32,
    /// The distance of each lane from the lowest address.
    pub deltas: PerLane<u32>,
    /// The order of the distances.
    pub shape: LaneShape,
    /// The lanes that execute.
    mask: LaneMask,
}

/// The pattern of an address that all lanes share.
const SAME: Pattern = Pattern { low: 0, span: 0, low_bits: 0, deltas: [0; LANES], shape: LaneShape::Same, mask: LaneMask::ALL };

impl Pattern {
    /// Makes it the pattern of `bases` for the lanes of `mask`; false if they are further apart than a page. It is written in place, which
    /// takes less than to return it.
    #[inline(always)]
    fn analyze(&mut self, bases: &PerLane<u64>, mask: LaneMask) -> bool {
        let first = bases[mask.first()];
        let mut values = *bases;
        if mask != LaneMask::ALL {
            for lane in 0..LANES {
                values[lane] = if mask.contains(lane) { values[lane] } else { first };
            }
        }
        let (mut signed, mut outside) = ([0_i32; LANES], 0);
        for lane in 0..LANES {
            let delta = values[lane].wrapping_sub(first);
            signed[lane] = delta as i32;
            outside |= delta.wrapping_add(PAGE_BYTES as u64) & !(2 * PAGE_BYTES as u64 - 1);
        }
        if outside != 0 {
            return false;
        }
        let min = signed.iter().fold(0, |min, delta| min.min(*delta));
        let (mut span, mut low_bits) = (0, 0);
        for lane in 0..LANES {
            let delta = (signed[lane] - min) as u32;
            self.deltas[lane] = delta;
            span = span.max(delta);
            low_bits |= delta;
        }
        (self.low, self.span, self.low_bits, self.mask) = (first.wrapping_add(i64::from(min) as u64), span, low_bits, mask);
        self.shape = if span == 0 { LaneShape::Same } else { LaneShape::Rows(strides(&self.deltas)) };
        true
    }

    /// Moves the pattern to `bases`; false, without effect, if their distances in its lanes are others.
    #[inline(always)]
    fn recognizes<T: Copy>(&mut self, bases: &PerLane<T>, wide: impl Fn(T) -> u64) -> bool {
        let first = self.mask.first();
        let low = wide(bases[first]).wrapping_sub(u64::from(self.deltas[first]));
        let mut differences = 0;
        for lane in 0..LANES {
            let difference = wide(bases[lane]).wrapping_sub(low) ^ u64::from(self.deltas[lane]);
            differences |= if self.mask.contains(lane) { difference } else { 0 };
        }
        if differences == 0 {
            self.low = low;
        }
        differences == 0
    }
}

/// The analysis of the bases of the lanes of `mask`.
struct Analysis<'a> {
    pattern: &'a mut Pattern,
    bases: &'a PerLane<u64>,
    mask: LaneMask,
}

impl pulp::WithSimd for Analysis<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> bool {
        self.pattern.analyze(self.bases, self.mask)
    }
}

/// The stride of each row.
#[inline(always)]
fn strides(deltas: &PerLane<u32>) -> [u32; ROWS] {
    let mut strides = [UNEVEN; ROWS];
    for row in 0..ROWS {
        let start = deltas[row * ROW];
        let stride = deltas[row * ROW + 1].wrapping_sub(start);
        let mut error = 0;
        for lane in 0..ROW {
            error |= deltas[row * ROW + lane] ^ start.wrapping_add((lane as u32).wrapping_mul(stride));
        }
        strides[row] = if error == 0 { stride } else { UNEVEN };
    }
    strides
}

/// Patterns that are kept.
const KEPT: usize = 32;

/// The patterns of the last bases that were used, by register.
struct Kept {
    keys: [Option<BaseKey>; KEPT],
    /// Those whose bases have not been written since they were compared.
    valid: u32,
    patterns: [Pattern; KEPT],
}

/// The patterns of a machine's accesses. They follow from the registers, so that a clone starts without any.
#[derive(Default)]
pub struct Patterns(Option<Box<Kept>>);

impl Clone for Patterns {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl Patterns {
    /// All patterns must be compared before they are used again: another stretch begins. They are forgotten if it recognizes none.
    #[inline(always)]
    pub fn begin(&mut self, recognizes: bool) {
        if let Some(kept) = &mut self.0 {
            kept.valid = 0;
            if !recognizes {
                kept.keys = [None; KEPT];
            }
        }
    }

    /// Notes that bases are written.
    #[inline(always)]
    pub fn forget(&mut self, write: BaseWrite) {
        let written = match write {
            BaseWrite::None => return,
            BaseWrite::One(key) => 1 << (key.index() % KEPT),
            BaseWrite::Several => u32::MAX,
        };
        if let Some(kept) = &mut self.0 {
            kept.valid &= !written;
        }
    }

    /// The lowest address of the access `micro` by `lanes`, and its pattern; none for one that is not simple.
    #[inline(always)]
    pub fn of(&mut self, simd: pulp::Arch, lanes: &Lanes<'_>, micro: &Micro) -> Option<(u64, &Pattern)> {
        let offset = i64::from(micro.offset);
        let slot = match (micro.a.kind(), micro.is_wide) {
            (SrcKind::Reg(slot), _) => slot,
            (SrcKind::Const(_), true) => return Some((lanes.get64(micro.a)[0].wrapping_add(offset as u64), &SAME)),
            (SrcKind::Const(_), false) => return Some((u64::from(lanes.get32(micro.a)[0].wrapping_add(offset as u32)), &SAME)),
            (SrcKind::Special(_), _) => return None,
        };
        let key = BaseKey::new(slot, micro.is_wide);
        let at = key.index() % KEPT;
        let kept = self.0.get_or_insert_with(none_kept);
        let (kept_key, pattern) = (&mut kept.keys[at], &mut kept.patterns[at]);
        let is_known = *kept_key == Some(key) && pattern.mask == lanes.mask;
        if !is_known || kept.valid & 1 << at == 0 {
            kept.valid |= 1 << at;
            if !(is_known && is_recognized(lanes, micro, pattern)) {
                *kept_key = analyze(simd, lanes, micro, pattern).then_some(key);
                (*kept_key)?;
            }
        }
        let low = pattern.low.wrapping_add(offset as u64);
        // The sum of 32 bits may wrap in some lanes.
        let wraps = !micro.is_wide && low.saturating_add(u64::from(pattern.span)) > u64::from(u32::MAX);
        (!wraps).then_some((low, pattern))
    }
}

#[cold]
fn none_kept() -> Box<Kept> {
    Box::new(Kept { keys: [None; KEPT], valid: 0, patterns: [SAME; KEPT] })
}

/// Moves the pattern to the bases of `micro`, which are registers; false if their distances are others.
#[inline(always)]
fn is_recognized(lanes: &Lanes<'_>, micro: &Micro, pattern: &mut Pattern) -> bool {
    if micro.is_wide { pattern.recognizes(lanes.get64(micro.a), |base| base) } else { pattern.recognizes(lanes.get32(micro.a), u64::from) }
}

/// Makes `pattern` that of the bases of `micro`, which are registers; false if they are further apart than a page.
#[inline(never)]
fn analyze(simd: pulp::Arch, lanes: &Lanes<'_>, micro: &Micro, pattern: &mut Pattern) -> bool {
    let widened;
    let bases = if micro.is_wide {
        lanes.get64(micro.a)
    } else {
        widened = lanes.get32(micro.a).map(u64::from);
        &widened
    };
    simd.dispatch(Analysis { pattern, bases, mask: lanes.mask })
}
