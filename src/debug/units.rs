//! Amounts of memory in words.

const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// `8 GiB`, `1.5 MiB`, `17 bytes`: with at most two decimal digits, truncated.
pub fn format_bytes(bytes: u64) -> String {
    let Some((unit, shift)) = UNITS.iter().find(|(_, shift)| bytes >> shift > 0) else { return format!("{bytes} bytes") };
    let hundredths = (u128::from(bytes) * 100) >> shift;
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    let rest = format!(".{rest:02}");
    format!("{whole}{} {unit}", rest.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_truncated() {
        let words = [0, 17, 1024, 1536, (8 << 30) - 1, 8 << 30, u64::MAX].map(format_bytes);
        assert_eq!(words, ["0 bytes", "17 bytes", "1 KiB", "1.5 KiB", "7.99 GiB", "8 GiB", "17179869183.99 GiB"]);
    }
}
