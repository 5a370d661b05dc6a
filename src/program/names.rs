//! Names of variables as the author of a kernel wrote them.

/// `full` of `_ZZ13ring_mbarrierE4full`: a variable of a function by the name that it has there. Other names stay as they are.
pub fn short_name(name: &str) -> &str {
    let last = || {
        let inner = name.strip_prefix("_ZZ")?;
        inner.match_indices('E').find_map(|(at, _)| {
            let rest = &inner[at + 1..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (length, own) = rest.split_at(digits);
            // After the name there may be a number that distinguishes variables of one name.
            let length = length.parse().ok()?;
            let (own, tail) = own.split_at_checked(length)?;
            (length > 0 && (tail.is_empty() || tail.starts_with('_'))).then_some(own)
        })
    };
    last().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn variables_of_functions_have_short_names() {
        assert_eq!(short_name("_ZZ13ring_mbarrierE4full"), "full");
        assert_eq!(short_name("_ZZ12smooth_asyncPKfPfiiE3buf"), "buf");
        assert_eq!(short_name("_ZZ1kE1E_0"), "E");
        assert_eq!(short_name("tile"), "tile");
        assert_eq!(short_name("_ZZ1"), "_ZZ1");
    }
}
