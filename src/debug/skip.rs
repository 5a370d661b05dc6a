//! What stepping passes over: files and functions that are not the user's, as `skip` of gdb lists them.

use crate::base::Glob;
use crate::program::{is_called, shown_name};

/// Files that no user wrote, in the form of `skip -gfi`: headers of the toolkit and of compilers, the packages of Triton and Numba, the
/// library of Rust.
const DEFAULTS: &[&str] = &[
    "/usr/local/cuda*",
    "/opt/cuda/*",
    "*/hpc_sdk/*",
    "*/targets/*/include/*",
    "*site-packages/nvidia/*",
    "*/nvidia/*/include/*",
    "*/device_atomic_functions.h*",
    "*/sm_*_intrinsics.h*",
    "*/sm_*_atomic_functions.h*",
    "*/include/crt/*",
    "*/include/cccl/*",
    "*/include/cub/*",
    "*/include/thrust/*",
    "*/include/cuda/*",
    "*/cooperative_groups*",
    "*/cuda_fp16.h*",
    "*/cuda_bf16.h*",
    "*/cuda_fp8.h*",
    "*/lib/clang/*/include/*",
    "/usr/include/*",
    "/usr/lib/*",
    "/rustc/*",
    "*site-packages/triton/*",
    "*triton/language/*",
    "*site-packages/numba*",
];

/// The list of `info skip`.
#[derive(Clone, Debug)]
pub struct Skips {
    entries: Vec<Skip>,
    last: u32,
}

/// A file or a function that stepping passes over.
#[derive(Clone, Debug)]
pub struct Skip {
    /// Its number, which is never used again.
    pub number: u32,
    /// False after `skip disable`.
    pub enabled: bool,
    /// What is skipped.
    pub what: SkipKind,
    pattern: Glob,
}

/// What a [`Skip`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipKind {
    /// A file, by the last parts of its path.
    File(String),
    /// Files whose paths a pattern matches.
    Files(String),
    /// A function, or those that a pattern matches.
    Function(String),
}

impl Default for Skips {
    fn default() -> Self {
        let mut skips = Self { entries: Vec::new(), last: 0 };
        DEFAULTS.iter().for_each(|pattern| _ = skips.add(SkipKind::Files((*pattern).to_string())));
        skips
    }
}

impl Skips {
    /// The list.
    pub fn entries(&self) -> &[Skip] {
        &self.entries
    }

    /// Adds an entry and returns its number.
    pub fn add(&mut self, what: SkipKind) -> u32 {
        self.last += 1;
        let (SkipKind::File(text) | SkipKind::Files(text) | SkipKind::Function(text)) = &what;
        let pattern = Glob::without_sets(text);
        self.entries.push(Skip { number: self.last, enabled: true, what, pattern });
        self.last
    }

    /// Removes entry `number`; false if there is none.
    pub fn delete(&mut self, number: u32) -> bool {
        let before = self.entries.len();
        self.entries.retain(|skip| skip.number != number);
        self.entries.len() < before
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Turns entry `number` on or off; false if there is none.
    pub fn enable(&mut self, number: u32, enabled: bool) -> bool {
        let entry = self.entries.iter_mut().find(|skip| skip.number == number);
        entry.map(|skip| skip.enabled = enabled).is_some()
    }

    /// True if the file of the source is skipped.
    pub fn skips_file(&self, name: &str) -> bool {
        let names = |skip: &Skip| match &skip.what {
            SkipKind::File(file) => is_path_called(name, file),
            SkipKind::Files(_) => skip.pattern.matches(name),
            SkipKind::Function(_) => false,
        };
        self.entries.iter().any(|skip| skip.enabled && names(skip))
    }

    /// True if the function is skipped; `name` is mangled, or as in the source.
    pub fn skips_function(&self, name: &str) -> bool {
        let names = |skip: &Skip| match &skip.what {
            SkipKind::Function(function) => is_called(name, function) || skip.pattern.matches(&shown_name(name)),
            SkipKind::File(_) | SkipKind::Files(_) => false,
        };
        self.entries.iter().any(|skip| skip.enabled && names(skip))
    }
}

/// True if `word` is the path or its last parts.
pub fn is_path_called(path: &str, word: &str) -> bool {
    !word.is_empty()
        && path.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']) || word.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_toolkits_are_skipped_and_those_of_users_are_not() {
        let skips = Skips::default();
        let skipped = [
            "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/cuda_fp16.hpp",
            "/src/a/.venv/lib/python3.11/site-packages/nvidia/cu13/bin/..//include/crt/math_functions.hpp",
            "/src/a/.venv/lib/python3.11/site-packages/triton/language/standard.py",
            "site-packages/triton/language/standard.py",
            "/usr/lib/llvm-14/lib/clang/14.0.6/include/__clang_cuda_math.h",
            "/rustc/0123/library/core/src/num/mod.rs",
        ];
        let kept = ["/src/a/cuda-samples/include/tile.h", "kernels.cu", "/src/a/triton-kernels/k.py", "include/gemm.cuh"];
        assert_eq!(skipped.map(|name| skips.skips_file(name)), [true; 6]);
        assert_eq!(kept.map(|name| skips.skips_file(name)), [false; 4]);
    }

    #[test]
    fn entries_are_deleted_and_turned_off_by_number() {
        let mut skips = Skips::default();
        skips.clear();
        let file = skips.add(SkipKind::File("vec.h".to_string()));
        let function = skips.add(SkipKind::Function("app::square".to_string()));
        assert!(skips.skips_file("/src/vec.h") && !skips.skips_file("/src/myvec.h"));
        assert!(skips.skips_function("_ZN3app6squareEf") && !skips.skips_function("_ZN3app5scaleEf"));
        assert!(skips.enable(file, false) && !skips.skips_file("/src/vec.h"));
        assert!(skips.delete(function) && !skips.delete(function) && !skips.enable(99, true));
    }
}
