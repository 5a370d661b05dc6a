//! Texts with PTX between other lines: Numba's dump of each kernel (`NUMBA_DUMP_ASSEMBLY`), mixed with other output of the program.

use std::ops::Range;

/// A module in such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dumped {
    /// The name in the heading before it.
    pub name: String,
    /// Byte range of its text.
    pub bytes: Range<usize>,
}

/// Bytes in which `.version` is searched.
const HEAD: usize = 64 << 10;
/// Minimum of `=` in a line that ends a module.
const RULE_MIN: usize = 2;
/// Longer names leave no room for dashes in the heading of 80 characters.
const LONG_NAME: usize = 60;

/// True if `text` begins with `.version`, after comments and white space.
pub fn is_ptx(text: &str) -> bool {
    super::tokens::Tokens::new(text).next() == Some(".version")
}

/// The modules of a dump; none if `text` is PTX itself, or has no module.
pub fn modules(text: &str) -> Vec<Dumped> {
    if is_ptx(text) {
        return Vec::new();
    }
    let (mut modules, mut at) = (Vec::new(), 0);
    let mut open: Option<(String, usize)> = None;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let line = line.trim();
        let has_begun = open.as_ref().is_some_and(|(_, begin)| is_ptx(&text[*begin..start]));
        // With debug information there are several modules under one heading.
        let ends = heading(line).is_some() || is_rule(line) || has_begun && line.starts_with(".version");
        let again = open.as_ref().filter(|_| has_begun && line.starts_with(".version")).map(|(name, _)| (name.clone(), start));
        if let Some((name, begin)) = open.take_if(|_| ends) {
            modules.push(Dumped { name, bytes: begin..start });
        }
        open = heading(line).map(|name| (name.to_string(), end)).or(again).or(open);
    }
    modules.extend(open.map(|(name, begin)| Dumped { name, bytes: begin..text.len() }));
    modules.retain(|dumped| is_ptx(&text[dumped.bytes.start..floor(text, dumped.bytes.end.min(dumped.bytes.start + HEAD))]));
    modules
}

/// The last character boundary up to `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// `k` of `-------ASSEMBLY k-------`.
fn heading(line: &str) -> Option<&str> {
    let inner = line.trim_matches('-');
    let (before, after) = (line.len() - line.trim_start_matches('-').len(), line.len() - line.trim_end_matches('-').len());
    let name = inner.strip_prefix("ASSEMBLY ")?;
    (before.min(after) > 0 || name.len() > LONG_NAME).then(|| name.trim())
}

/// `=======`
fn is_rule(line: &str) -> bool {
    line.len() >= RULE_MIN && line.bytes().all(|byte| byte == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_lie_between_headings_and_rules() {
        let text = "loss 3\n-----ASSEMBLY one----\n//\n.version 8.0\n.target sm_80\n\n=====\nnoise\n---ASSEMBLY two---\ndefine i32\n====\n\
            ---ASSEMBLY three---\n.version 8.1\n.version 8.2\n";
        let found: Vec<(String, &str)> = modules(text).into_iter().map(|found| (found.name, &text[found.bytes])).collect();
        let expected = [
            ("one".to_string(), "//\n.version 8.0\n.target sm_80\n\n"),
            ("three".to_string(), ".version 8.1\n"),
            ("three".to_string(), ".version 8.2\n"),
        ];
        assert_eq!(found, expected);
        assert_eq!(modules(".version 8.0\n---ASSEMBLY one---\n.version 8.0\n"), []);
        assert_eq!(modules("nothing\n====\n"), []);
    }
}
