//! "Did you mean": the nearest known word to one that is not known.

use std::cmp::Reverse;

use strsim::levenshtein;

/// The candidate with the fewest single-letter edits from `word`, if they are few for its length; of several, the one that begins
/// most like it.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + word.chars().count() / 4;
    let scored = candidates.filter(|candidate| candidate.len().abs_diff(word.len()) <= limit);
    let ranked = scored.map(|candidate| (levenshtein(word, candidate), Reverse(common_start(word, candidate)), candidate));
    ranked.filter(|ranked| ranked.0 <= limit).min().map(|ranked| ranked.2)
}

/// Letters at the start that are the same.
fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        assert_eq!(nearest("ad", ["and", "add", "abs"].into_iter()), Some("add"));
        assert_eq!(nearest("sm_91", ["sm_11", "sm_90", "sm_101"].into_iter()), Some("sm_90"));
        assert_eq!(nearest("frobnicate", ["and", "add", "abs"].into_iter()), None);
    }
}
