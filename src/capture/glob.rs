//! Names of kernels with `*`, which is any text, and `?`, which is any character.

use crate::program::{is_called, shown_name};

/// Which kernels are wanted.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: String,
}

impl Glob {
    /// The kernels of this name, or whose names are so.
    pub fn new(pattern: &str) -> Self {
        Self { pattern: pattern.to_string() }
    }

    /// Whether the kernel called `mangled` in its module is one: by that name, or by that of the source.
    pub fn is_of(&self, mangled: &str) -> bool {
        let pattern: Vec<char> = self.pattern.chars().collect();
        let matches_all = |name: &str| matches(&pattern, &name.chars().collect::<Vec<char>>());
        matches_all(mangled) || matches_all(&shown_name(mangled)) || is_called(mangled, &self.pattern)
    }
}

/// Whether all of `name` is as `pattern` says.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and the first character that it does not stand for yet.
    let mut star = None;
    while from < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[from] => (at, from) = (at + 1, from + 1),
            Some(_) | None => match star {
                Some((place, end)) => {
                    star = Some((place, end + 1));
                    (at, from) = (place + 1, end + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text() {
        for (pattern, name, expected) in [
            ("scale", "scale", true),
            ("scale", "scale2", false),
            ("scale?", "scale2", true),
            ("*_kernel", "add_kernel", true),
            ("*_kernel", "add_kernel_2", false),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXb", false),
            ("*", "", true),
            ("**", "x", true),
            ("?", "", false),
            // The name of the source, with and without template arguments.
            ("scale", "_Z5scaleIfEvPT_S0_i", true),
            ("scale<*>", "_Z5scaleIfEvPT_S0_i", true),
            ("_Z5scale*", "_Z5scaleIfEvPT_S0_i", true),
            ("gemm*", "_Z5scaleIfEvPT_S0_i", false),
        ] {
            assert_eq!(Glob::new(pattern).is_of(name), expected, "{pattern} {name}");
        }
    }
}
