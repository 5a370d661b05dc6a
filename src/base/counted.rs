//! Numbers of things.

/// `1 byte`, `2 bytes`; the plural of `thing` ends in s.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "byte")), ["0 bytes", "1 byte", "2 bytes"]);
    }
}
