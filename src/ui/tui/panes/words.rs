//! Short texts that several panes show.

/// The end of a title if not all rows are visible: the range of visible rows.
pub(super) fn visible_range(window: &std::ops::Range<usize>, total: usize) -> String {
    if window.len() >= total { String::new() } else { format!(" · {}-{} of {total}", window.start + 1, window.end) }
}

/// A count in at most four characters: `9999`, `12k`, `1.2M`, `340G`.
pub(super) fn compact_count(count: u64) -> String {
    if count < 10_000 {
        return count.to_string();
    }
    let (mut whole, mut rest, mut units) = (count, 0, ["", "k", "M", "G", "T", "P", "E"].iter());
    let mut unit = units.next();
    while whole >= 1000 {
        (rest, whole, unit) = (whole % 1000, whole / 1000, units.next());
    }
    let unit = unit.copied().unwrap_or_default();
    if whole < 10 { format!("{whole}.{}{unit}", rest / 100) } else { format!("{whole}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::compact_count;

    #[test]
    fn counts_take_four_characters() {
        let described = [0, 9999, 10_000, 999_999, 1_299_999, 34_000_000, u64::MAX].map(compact_count);
        assert_eq!(described, ["0", "9999", "10k", "999k", "1.2M", "34M", "18E"]);
    }
}
