//! The pattern of the addresses of an access, analyzed once per value of the register that is their base.

use crate::machine::exec::operands::Lanes;
use crate::machine::state::lanes::{LANES, LaneMask, LaneShape, PerLane, ROW, ROWS, UNEVEN};
use crate::machine::state::memory::PAGE_BYTES;
use crate::machine::state::tables::straight::Micro;
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
    /// The pattern of `bases` for the lanes of `mask`; none if they are further apart than a page.
    #[inline(always)]
    fn new(bases: &PerLane<u64>, mask: LaneMask) -> Option<Self> {
        let first = bases[mask.first()];
        let mut values = *bases;
        if mask != LaneMask::ALL {
            (0..LANES).for_each(|lane| values[lane] = if mask.contains(lane) { values[lane] } else { first });
        }
        let (mut signed, mut outside) = ([0_i32; LANES], 0);
        for lane in 0..LANES {
            let delta = values[lane].wrapping_sub(first);
            signed[lane] = delta as i32;
            outside |= delta.wrapping_add(PAGE_BYTES as u64) & !(2 * PAGE_BYTES as u64 - 1);
        }
        if outside != 0 {
            return None;
        }
        let min = signed.iter().fold(0, |min, delta| min.min(*delta));
        let (mut deltas, mut span, mut low_bits) = ([0; LANES], 0, 0);
        for lane in 0..LANES {
            let delta = (signed[lane] - min) as u32;
            deltas[lane] = delta;
            span = span.max(delta);
            low_bits |= delta;
        }
        let shape = if span == 0 { LaneShape::Same } else { LaneShape::Rows(strides(&deltas)) };
        Some(Self { low: first.wrapping_add(i64::from(min) as u64), span, low_bits, deltas, shape, mask })
    }
}

/// The analysis of the bases of the lanes of `mask`.
struct Analysis<'a> {
    bases: &'a PerLane<u64>,
    mask: LaneMask,
}

impl pulp::WithSimd for Analysis<'_> {
    type Output = Option<Pattern>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Option<Pattern> {
        Pattern::new(self.bases, self.mask)
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
const KEPT: usize = 4;

/// The key of no register.
const NO_KEY: u32 = u32::MAX;

/// The patterns of the last bases that were used, by register.
pub struct Patterns {
    keys: [u32; KEPT],
    patterns: [Pattern; KEPT],
}

impl Patterns {
    /// No pattern.
    #[inline(always)]
    pub fn new() -> Self {
        Self { keys: [NO_KEY; KEPT], patterns: [SAME; KEPT] }
    }

    /// Forgets all patterns, since the base of one may have changed.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.keys = [NO_KEY; KEPT];
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
        let key = slot.0 << 1 | u32::from(micro.is_wide);
        let at = slot.0 as usize % KEPT;
        if self.keys[at] != key || self.patterns[at].mask != lanes.mask {
            self.keys[at] = NO_KEY;
            let widened;
            let bases = if micro.is_wide {
                lanes.get64(micro.a)
            } else {
                widened = lanes.get32(micro.a).map(u64::from);
                &widened
            };
            self.patterns[at] = simd.dispatch(Analysis { bases, mask: lanes.mask })?;
            self.keys[at] = key;
        }
        let pattern = &self.patterns[at];
        let low = pattern.low.wrapping_add(offset as u64);
        // The sum of 32 bits may wrap in some lanes.
        let wraps = !micro.is_wide && low.saturating_add(u64::from(pattern.span)) > u64::from(u32::MAX);
        (!wraps).then_some((low, pattern))
    }
}
