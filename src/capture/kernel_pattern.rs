//! Names of kernels with `*`, which is any text, and `?`, which is any character.

use crate::base::Glob;
use crate::program::{is_called, shown_name};

/// The kernels that are wanted.
#[derive(Clone, Debug)]
pub struct KernelPattern {
    text: String,
    glob: Glob,
}

impl KernelPattern {
    /// The kernels of this name, or whose names are so.
    pub fn new(pattern: &str) -> Self {
        Self { text: pattern.to_string(), glob: Glob::without_sets(pattern) }
    }

    /// Whether the kernel called `mangled` in its module is one: by that name, or by that of the source.
    pub fn is_of(&self, mangled: &str) -> bool {
        self.glob.matches(mangled) || self.glob.matches(&shown_name(mangled)) || is_called(mangled, &self.text)
    }
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
            assert_eq!(KernelPattern::new(pattern).is_of(name), expected, "{pattern} {name}");
        }
    }
}
