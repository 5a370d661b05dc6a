//! "Did you mean": the nearest known word to one that is not known.

/// The candidate with the fewest single-letter edits from `word`, if they are few for its length.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + word.chars().count() / 4;
    let scored = candidates.filter(|candidate| candidate.len().abs_diff(word.len()) <= limit);
    scored.map(|candidate| (edits(word, candidate), candidate)).filter(|scored| scored.0 <= limit).min().map(|scored| scored.1)
}

/// Letters to insert, delete or replace to make `b` of `a` (Levenshtein distance).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replace = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        assert_eq!(nearest("ad", ["and", "add", "abs"].into_iter()), Some("add"));
        assert_eq!(nearest("frobnicate", ["and", "add", "abs"].into_iter()), None);
        assert_eq!(edits("setp", "selp"), 1);
        assert_eq!(edits("", "abc"), 3);
    }
}
