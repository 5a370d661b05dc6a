//! Short texts that several panes show.

use crate::ui::tui::canvas::{fitted, width};

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

/// The smallest magnitude that is written without an exponent where a number must be shortened.
const PLAIN_MIN: f64 = 1e-3;
/// The most digits of a number that is shortened.
const DIGITS_MAX: usize = 17;

/// The text of a number, rounded to as many digits as fit in `columns`; `…` where not even one fits. Other texts are cut at the end.
pub(super) fn rounded(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    if let Some(at) = text.find("nan").filter(|at| at + 3 <= columns) {
        return text.get(..at + 3).unwrap_or_default().to_string();
    }
    let Ok(number) = text.parse::<f64>() else { return fitted(text, columns) };
    let plain = (0..=DIGITS_MAX).rev().map(|digits| format!("{number:.digits$}"));
    let exponential = (0..=DIGITS_MAX).rev().map(|digits| format!("{number:.digits$e}"));
    let plain = plain.filter(|_| number.abs() >= PLAIN_MIN || number == 0.0);
    plain.chain(exponential).find(|text| width(text) <= columns).unwrap_or_else(|| fitted("…", columns))
}

/// Names with consecutive numbers as ranges: `%r1-%r3 %r7`.
pub(super) fn name_ranges<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((_, last)) if follows(last, name) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    let run = |(first, last): &(&str, &str)| if first == last { (*first).to_string() } else { format!("{first}-{last}") };
    runs.iter().map(run).collect::<Vec<_>>().join(" ")
}

/// True if `next` is the name with the next number.
fn follows(name: &str, next: &str) -> bool {
    let split = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at(stem);
        number.parse::<u32>().ok().map(|number| (stem.to_string(), number))
    };
    split(name).zip(split(next)).is_some_and(|((stem, number), (other, next))| stem == other && number.checked_add(1) == Some(next))
}

#[cfg(test)]
mod tests {
    use super::{compact_count, name_ranges, rounded};

    #[test]
    fn numbers_are_rounded_to_their_cells() {
        let cases = [
            ("0.13210678", 6, "0.1321"),
            ("-0.13210678", 6, "-0.132"),
            ("-112", 4, "-112"),
            ("12345678", 6, "1.23e7"),
            ("0.000012345", 6, "1.2e-5"),
            ("9999.9999", 5, "10000"),
            ("-nan(0x7fffff)", 6, "-nan"),
            ("true", 3, "tr…"),
            ("123456", 2, "… "),
        ];
        for (text, columns, shown) in cases {
            assert_eq!(rounded(text, columns), shown, "{text} in {columns}");
        }
    }

    #[test]
    fn consecutive_names_are_ranges() {
        assert_eq!(name_ranges(["%r1", "%r2", "%r3", "%r7", "%p8", "acc", "%p9"].into_iter()), "%r1-%r3 %r7 %p8 acc %p9");
        assert_eq!(name_ranges([].into_iter()), "");
    }

    #[test]
    fn counts_take_four_characters() {
        let described = [0, 9999, 10_000, 999_999, 1_299_999, 34_000_000, u64::MAX].map(compact_count);
        assert_eq!(described, ["0", "9999", "10k", "999k", "1.2M", "34M", "18E"]);
    }
}
