//! Thirty-two lanes at a time: masks, and the arrays that hold one value a lane.

/// Lanes of a warp.
pub const LANES: usize = 32;

/// A set of lanes, bit `i` for lane `i`.
pub type LaneMask = u32;

/// All lanes.
pub const ALL_LANES: LaneMask = u32::MAX;

/// One value for each lane.
pub type PerLane<T> = [T; LANES];

/// The lanes of `mask`, lowest first.
#[inline(always)]
pub fn lanes_of(mask: LaneMask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The lowest lane of `mask`, or 0 for the empty mask.
#[inline(always)]
pub fn first_lane(mask: LaneMask) -> usize {
    mask.trailing_zeros() as usize % LANES
}

/// Replaces the lanes of `mask` in `old` by those of `new`.
#[inline(always)]
pub fn blend<T: Copy>(old: &mut PerLane<T>, new: &PerLane<T>, mask: LaneMask) {
    if mask == ALL_LANES {
        *old = *new;
        return;
    }
    for lane in 0..LANES {
        old[lane] = if mask & (1 << lane) != 0 { new[lane] } else { old[lane] };
    }
}

/// The mask of the lowest `count` lanes; all lanes from 32 on.
pub fn lowest(count: u32) -> LaneMask {
    if count >= LANES as u32 { ALL_LANES } else { (1 << count) - 1 }
}

/// The lanes of `mask` for which `test` holds.
#[inline]
pub fn lanes_where(mask: LaneMask, test: impl Fn(usize) -> bool) -> LaneMask {
    lanes_of(mask).filter(|lane| test(*lane)).fold(0, |found, lane| found | 1 << lane)
}

/// `0-3,7` for lanes 0, 1, 2, 3 and 7.
pub fn lane_list(mask: LaneMask) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask & (1 << lane) == 0 {
            lane += 1;
            continue;
        }
        let run = (mask >> lane).trailing_ones();
        let last = lane + run - 1;
        parts.push(if run == 1 { lane.to_string() } else { format!("{lane}-{last}") });
        lane = last + 1;
    }
    parts.join(",")
}

/// `all lanes`, `lane 3` or `lanes 0-3,7`.
pub fn lanes_in_words(mask: LaneMask) -> String {
    match mask.count_ones() {
        32 => "all lanes".to_string(),
        1 => format!("lane {}", lane_list(mask)),
        _ => format!("lanes {}", lane_list(mask)),
    }
}

#[cfg(test)]
mod tests {
    use super::lanes_in_words;

    #[test]
    fn lanes_are_told_in_runs() {
        assert_eq!(lanes_in_words(1 << 5), "lane 5");
        assert_eq!(lanes_in_words(0xf000_000f), "lanes 0-3,28-31");
        assert_eq!(lanes_in_words(0b10110), "lanes 1-2,4");
        assert_eq!(lanes_in_words(u32::MAX), "all lanes");
    }
}
