//! "Did you mean": the valid word nearest to an unknown one.

use std::cmp::Reverse;

use strsim::levenshtein;

/// The candidate with the smallest edit distance from `word`, if it is small for its length; of several, the one with the longest common
/// prefix.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + word.chars().count() / 4;
    let scored = candidates.filter(|candidate| candidate.len().abs_diff(word.len()) <= limit);
    let ranked = scored.map(|candidate| (levenshtein(word, candidate), Reverse(common_prefix(word, candidate)), candidate));
    ranked.filter(|ranked| ranked.0 <= limit).min().map(|ranked| ranked.2)
}

/// Length of the common prefix, in characters.
fn common_prefix(a: &str, b: &str) -> usize {
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
