//! Names of a kernel's parameters from the CUDA C++ that its PTX was compiled from; in PTX, compilers call them `KERNEL_param_N`.
//!
//! The source is the file that was compiled, one that `.file` names, or one with the same stem in the folder of the PTX.
//! It is read without a preprocessor. If the number of parameters or the size of one differs from the PTX, it gives no names.

mod assigned;
mod body;
mod signature;
mod tokens;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ron_text::read_text;
use crate::base::{SourceFile, source_paths};
use crate::container::bundle;
use crate::program::{FuncId, Function, Program, plain_name};
pub use assigned::{AssignedBy, assigned, assignments_in};
pub use body::{changed, mentions};
use signature::{Declared, Signature, signatures};
pub use tokens::{Tokens, tokens};

/// File name extensions of CUDA C++, including headers.
const EXTENSIONS: &[&str] = &["cu", "cuh", "h", "hpp", "hh", "cpp", "cc", "inl"];

/// Names of parameters, by index, and their origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The names.
    pub names: BTreeMap<usize, String>,
    /// Their origin, or why there are none, as a phrase; empty if no source is found.
    pub why: String,
}

/// The names that the source of `module` gives to the parameters of a kernel; it is looked for in `folders` too.
pub fn names(module: &Path, program: &Program, kernel: FuncId, folders: &[PathBuf]) -> Names {
    let kernel = &program.functions[kernel.index()];
    if kernel.params.is_empty() {
        return Names::default();
    }
    let mut doubt = Names::default();
    for path in candidates(module, program, kernel, folders) {
        let Ok(text) = read_text(&path) else { continue };
        let short = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match in_text(&SourceFile::new(short, text), kernel) {
            Some(Ok(names)) => return names,
            Some(Err(why)) if doubt.why.is_empty() => doubt.why = why,
            Some(Err(_)) | None => {}
        }
    }
    doubt
}

/// Files that may be the source, the likeliest first.
fn candidates(module: &Path, program: &Program, kernel: &Function, folders: &[PathBuf]) -> Vec<PathBuf> {
    let is_cuda = |path: &Path| path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
    let lines = program.source_lines.get(kernel.code.start as usize..kernel.code.end as usize).unwrap_or(&[]);
    let own = lines.iter().flatten().next().map(|line| line.file);
    let mut files: Vec<&(u32, String)> = program.source_files.iter().filter(|(_, name)| is_cuda(Path::new(name))).collect();
    files.sort_by_key(|(number, name)| (Some(*number) != own, !name.ends_with(".cu")));
    let named = files.into_iter().flat_map(|(_, name)| source_paths(name, module, folders));
    let beside = [module.to_path_buf(), module.with_extension("cu")].into_iter().filter(|path| is_cuda(path));
    let mut candidates: Vec<PathBuf> = Vec::new();
    for path in named.chain(beside).filter(|path| bundle::is_file(path)) {
        if !candidates.contains(&path) {
            candidates.push(path);
        }
    }
    candidates
}

/// The names in one source, or why it has none; `None` if it does not declare the kernel.
fn in_text(source: &SourceFile, kernel: &Function) -> Option<Result<Names, String>> {
    let is_mangled = kernel.name.starts_with("_Z");
    let name = if is_mangled { plain_name(&kernel.name)? } else { &*kernel.name };
    if !source.text().contains("__global__") || !source.text().contains(name) {
        return None;
    }
    let tokens = tokens(source.text());
    let mut found = signatures(&tokens, name);
    if found.iter().any(|signature| signature.has_body) {
        found.retain(|signature| signature.has_body);
    }
    let first = found.first()?;
    let place = |signature: &Signature<'_>| format!("{}:{}", source.name(), source.line_of(signature.at as u32));
    let fits = |signature: &&Signature<'_>| signature.params.as_ref().is_ok_and(|params| misfit(params, kernel).is_none());
    let Some(fitting) = found.iter().find(fits) else {
        let why = match &first.params {
            Err(why) => (*why).to_string(),
            Ok(params) => misfit(params, kernel).unwrap_or_default(),
        };
        return Some(Err(format!("those at {} are not used: {why}", place(first))));
    };
    let params = fitting.params.as_deref().unwrap_or_default();
    let is_other = |other: &&Signature<'_>| other.params.as_deref().is_ok_and(|others| others != params);
    if let Some(other) = found.iter().filter(fits).find(is_other) {
        return Some(Err(format!("both {} and {} may be the kernel", place(fitting), place(other))));
    }
    let named = params.iter().enumerate().filter_map(|(index, param)| Some((index, param.name?.to_string())));
    Some(Ok(Names { names: named.collect(), why: format!("as {} has them", place(fitting)) }))
}

/// The first difference between the parameters of a source and those of the PTX.
fn misfit(declared: &[Declared<'_>], kernel: &Function) -> Option<String> {
    if declared.len() != kernel.params.len() {
        return Some(format!("there are {} parameters, and the PTX has {}", declared.len(), kernel.params.len()));
    }
    let mut names: Vec<&str> = declared.iter().filter_map(|param| param.name).collect();
    let named = names.len();
    names.sort_unstable();
    names.dedup();
    if names.len() < named {
        return Some("two parameters have the same name".to_string());
    }
    let is_wrong =
        |(_, (said, param)): &(usize, (&Declared<'_>, &crate::program::Param))| said.bytes.is_some_and(|bytes| bytes != param.bytes);
    let (index, (said, param)) = declared.iter().zip(&kernel.params).enumerate().find(is_wrong)?;
    let name = said.name.map_or_else(|| format!("parameter {index}"), |name| format!("'{name}'"));
    Some(format!("{name} has {} bytes, and {} of the PTX {}", said.bytes.unwrap_or(0), param.name, param.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameter lists of `k` in a text.
    fn lists(text: &str) -> Vec<Result<String, &'static str>> {
        let tokens = tokens(text);
        let list = |params: Vec<Declared<'_>>| {
            let one = |param: &Declared<'_>| {
                format!("{}:{}", param.name.unwrap_or("-"), param.bytes.map_or("?".to_string(), |bytes| bytes.to_string()))
            };
            params.iter().map(one).collect::<Vec<_>>().join(" ")
        };
        signatures(&tokens, "k").into_iter().map(|signature| signature.params.map(list)).collect()
    }

    #[test]
    fn declarations_are_read() {
        for (text, params) in [
            ("__global__ void k(const float* A, int n) {}", "A:8 n:4"),
            ("template <class T, int N = (1 < 2)> __global__ void __launch_bounds__(256, 2) k(T *__restrict__ x, T y) {}", "x:8 y:?"),
            ("extern \"C\" __global__ void k(unsigned n, unsigned long long m, long l, short int s) {}", "n:4 m:8 l:? s:2"),
            ("__global__ void k(float (*A)[16], float b[4][4], int c[]) {}", "A:8 b:8 c:8"),
            ("__global__ void k(std::size_t n, ns::Tensor<float, 3> t, int = 3, float* = nullptr) {}", "n:8 t:? -:4 -:8"),
            ("__global__ void k(int a = f(1, 2), bool b = 3 < 4, /* int c, */ double d // ,\n) {}", "a:4 b:1 d:8"),
            (
                "__global__ void k(const __grid_constant__ CUtensorMap map, __attribute__((aligned(8))) int n, [[maybe_unused]] int m);",
                "map:? n:4 m:4",
            ),
            ("#define R __restrict__\n#define REAL float\n__global__ void k(REAL *R x, const struct Foo f) {}", "x:8 f:?"),
            ("void __global__ k() {}", ""),
            ("__global__ void k(void) {}", ""),
            ("__global__ void k(int, Foo) {}", "-:4 -:?"),
            ("const char* s = \"__global__ void k(int x)\"; char q = '\"'; __global__ void k(void (*call)(int), int n) {}", "call:8 n:4"),
            ("auto s = R\"x(__global__ void k(int no)x\"; template <> __global__ void k<float, 3>(float* v) {}", "v:8"),
        ] {
            assert_eq!(lists(text), [Ok(params.to_string())], "{text}");
        }
    }

    #[test]
    fn what_needs_a_preprocessor_is_not_guessed() {
        for (text, why) in [
            ("__global__ void k(int a,\n#ifdef X\nint b,\n#endif\nint c) {}", "lines of the preprocessor stand among them"),
            ("__global__ void k(PARAM(float*, x), int n) {}", "a macro stands among them"),
            ("__global__ void k(int n UNUSED) {}", "a macro stands among them"),
            ("#define A A\n__global__ void k(A n) {}", "a macro stands among them"),
            ("template <class... T> __global__ void k(T... x) {}", "they are a pack"),
        ] {
            assert_eq!(lists(text), [Err(why)], "{text}");
        }
        assert_eq!(lists("__global__ void other(int x) { k(x); }"), []);
        assert_eq!(lists("__global__ void k(int x"), [Err("lines of the preprocessor stand among them")]);
        assert_eq!(lists("__global__"), []);
    }
}
