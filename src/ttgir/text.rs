//! Helpers for the text of MLIR: brackets that match, lists split at their commas.

/// The change of depth that a character makes. The `>` of an arrow closes nothing.
fn depth_change(before: Option<char>, letter: char) -> i32 {
    match letter {
        '(' | '<' | '{' | '[' => 1,
        '>' if before == Some('-') => 0,
        ')' | '>' | '}' | ']' => -1,
        _ => 0,
    }
}

/// The characters outside of strings, with their bytes and the depth of brackets before them.
fn plain_characters(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
    let (mut depth, mut before, mut is_string) = (0, None, false);
    text.char_indices().filter_map(move |(at, letter)| {
        let found = (at, letter, depth);
        if letter == '"' {
            is_string = !is_string;
        } else if !is_string {
            depth += depth_change(before, letter);
        }
        before = Some(letter);
        (!is_string && letter != '"').then_some(found)
    })
}

/// Splits `text` at each `separator` outside of brackets and strings.
pub fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, letter, depth) in plain_characters(text) {
        if letter == separator && depth == 0 {
            parts.push(text[start..at].trim());
            start = at + letter.len_utf8();
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Splits `text` after the bracket that closes one opened before it: what is inside, and what follows.
pub fn inside(text: &str) -> Option<(&str, &str)> {
    let (at, letter, _) = plain_characters(text).find(|(at, letter, depth)| {
        let before = text[..*at].chars().next_back();
        *depth == 0 && depth_change(before, *letter) < 0
    })?;
    Some((&text[..at], &text[at + letter.len_utf8()..]))
}

/// The last place of `word` outside of brackets and strings.
pub fn rfind(text: &str, word: &str) -> Option<usize> {
    plain_characters(text).filter(|(at, _, depth)| *depth == 0 && text[*at..].starts_with(word)).last().map(|found| found.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_and_strings_split_nothing() {
        assert_eq!(split("a, tensor<2x3xf32, #b>, \"x,y\" (c, d)", ','), ["a", "tensor<2x3xf32, #b>", "\"x,y\" (c, d)"]);
        assert_eq!(split("", ','), Vec::<&str>::new());
    }

    #[test]
    fn an_arrow_closes_no_bracket() {
        assert_eq!(inside("(i32) -> i32> rest"), Some(("(i32) -> i32", " rest")));
        assert_eq!(inside("never closed"), None);
        assert_eq!(rfind("a : (x : y) -> z : w", " : "), Some(16));
    }
}
