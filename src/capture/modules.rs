//! The PTX of a module, out of what the driver was given to load.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::triton;
use crate::container::{self, Container};

/// PTX of a kernel's module.
pub struct Found {
    /// The text that has the kernel, and those that are linked with it.
    pub texts: Vec<String>,
}

/// The endings of the files beside an image: what it was made from in the program, with numbers, and the path that it was loaded from.
const INPUT: &str = "input";
const PATH: &str = "path";
const PTX: &str = "ptx";
/// Bytes of a PTX text at most.
const TEXT_MAX: u64 = 1 << 30;

/// The PTX of `kernel` in the image at `image`, for a device of this architecture: 90 is sm_90.
///
/// # Errors
/// Why there is none, as a remark on the kernel.
pub fn find(image: &Path, kernel: &str, architecture: Option<u32>) -> Result<Found, String> {
    let inputs = (0_usize..).map(|number| beside(image, &format!("{INPUT}{number}"))).take_while(|path| path.is_file());
    let inputs: Vec<PathBuf> = inputs.collect();
    if !inputs.is_empty() {
        return of_inputs(&inputs, kernel, architecture);
    }
    let opened = container::open(image).map_err(|problem| problem.to_string())?;
    let Some(mut container) = opened else { return whole_text(image, kernel) };
    if let Some(path) = triton::ptx(image, kernel) {
        return whole_text(&path, kernel);
    }
    if let Some(text) = best(&mut container, kernel, architecture)? {
        return Ok(Found { texts: vec![text] });
    }
    // Triton and Inductor keep the PTX beside the cubin.
    let loaded = fs::read(beside(image, PATH)).ok().map(|path| PathBuf::from(OsStr::from_bytes(&path)).with_extension(PTX));
    if let Some(path) = loaded.filter(|path| path.is_file()) {
        return whole_text(&path, kernel);
    }
    let what = container.what();
    Err(format!("SASS only: {what} without PTX of it; build with -gencode arch=compute_NN,code=compute_NN, or a cubin with -lineinfo"))
}

/// The PTX of what an image was compiled or linked from: that of the kernel, and the rest if that needs any.
fn of_inputs(inputs: &[PathBuf], kernel: &str, architecture: Option<u32>) -> Result<Found, String> {
    let (mut own, mut others, mut lacks) = (None, Vec::new(), false);
    for input in inputs {
        let texts = texts_of(input, architecture)?;
        lacks |= texts.is_empty();
        for text in texts {
            match own {
                None if has(&text, kernel) => own = Some(text),
                Some(_) | None => others.push(text),
            }
        }
    }
    let Some(own) = own else {
        let why = if lacks {
            "SASS only: what it is linked from has no PTX of it"
        } else {
            "the PTX that it is said to be made from has no such kernel"
        };
        return Err(why.to_string());
    };
    let others = if needs_others(&own) { others } else { Vec::new() };
    Ok(Found { texts: [own].into_iter().chain(others).collect() })
}

/// The texts in a file, of several for one module those that a driver would take. What is neither PTX nor holds any has none.
fn texts_of(path: &Path, architecture: Option<u32>) -> Result<Vec<String>, String> {
    let Some(mut container) = container::open(path).map_err(|problem| problem.to_string())? else {
        // What a compiler gives a linker in a language of its own is no text.
        return Ok(text(path).into_iter().filter(|text| text.contains(".version")).collect());
    };
    let targets: Vec<Option<(u32, bool)>> = container.modules().iter().map(|module| target(&module.target)).collect();
    let chosen = targets.iter().flatten().filter(|target| runs(**target, architecture)).max().copied();
    let chosen = (0..targets.len()).filter(|index| chosen.is_some() && targets[*index] == chosen);
    chosen.map(|index| container.text(index).map_err(|problem| problem.to_string())).collect()
}

/// Whether a module declares what another one defines.
fn needs_others(text: &str) -> bool {
    let text = crate::base::without_comments(text);
    // Shared memory whose size the launch gives is declared so, too, and functions of the system.
    let system = ["vprintf", "malloc", "free", "__assertfail"];
    text.split(".extern").skip(1).any(|declared| {
        let declared = declared.split(';').next().unwrap_or_default();
        let mut words = declared.split_whitespace();
        words.next() != Some(".shared")
            && !declared.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| system.contains(&word))
    })
}

/// The file that lies beside an image with this ending.
pub fn beside(image: &Path, ending: &str) -> PathBuf {
    let mut name = image.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(ending);
    image.with_file_name(name)
}

fn text(path: &Path) -> Result<String, String> {
    let bytes = crate::base::read_bounded(path, TEXT_MAX).map_err(|error| error.to_string())?.ok_or("its PTX is longer than 1 GiB")?;
    let text = String::from_utf8(bytes).map_err(|_| "its PTX is not text")?;
    Ok(text.trim_end_matches('\0').to_string())
}

fn whole_text(path: &Path, kernel: &str) -> Result<Found, String> {
    let text = text(path)?;
    if has(&text, kernel) {
        Ok(Found { texts: vec![text] })
    } else {
        Err("the PTX that it is said to be made from has no such kernel".to_string())
    }
}

fn has(text: &str, kernel: &str) -> bool {
    container::outline(text).kernels.iter().any(|known| known.name == kernel)
}

/// The text of the module that a driver would take: the newest that the device runs, and of two of a number the one with features of the
/// device.
fn best(container: &mut Container, kernel: &str, architecture: Option<u32>) -> Result<Option<String>, String> {
    let mut found: Option<((u32, bool), String)> = None;
    for index in 0..container.modules().len() {
        let Some(target) = target(&container.modules()[index].target).filter(|target| runs(*target, architecture)) else { continue };
        let text = container.text(index).map_err(|problem| problem.to_string())?;
        if has(&text, kernel) && found.as_ref().is_none_or(|(before, _)| target > *before) {
            found = Some((target, text));
        }
    }
    Ok(found.map(|(_, text)| text))
}

/// The number of an architecture, and whether it names features that no later one has: `(90, true)` of `sm_90a`.
fn target(name: &str) -> Option<(u32, bool)> {
    let digits = name.strip_prefix("sm_")?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    Some((digits[..end].parse().ok()?, end < digits.len()))
}

/// Whether a device of this architecture runs PTX for `target`.
fn runs((number, has_features): (u32, bool), architecture: Option<u32>) -> bool {
    architecture.is_none_or(|own| if has_features { number == own } else { number <= own })
}

/// A variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether it is in global memory; it is in constant memory otherwise.
    pub is_global: bool,
    /// Whether the module mentions it nowhere else, as it does none of the placeholders of the toolkit's headers.
    pub is_unused: bool,
    /// Whether its initial values name functions, as a table of them does.
    pub names_functions: bool,
}

/// Whether a module has instructions of textures or surfaces.
pub fn has_images(text: &str) -> bool {
    const OPCODES: [&str; 8] = ["tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"];
    let is_opcode = |word: &str| word.split_once('.').is_some_and(|(opcode, _)| OPCODES.contains(&opcode));
    crate::base::without_comments(text).split_whitespace().any(is_opcode)
}

/// The variables in global and constant memory that a module defines, but for those that stand for textures, samplers and surfaces.
pub fn variables(text: &str) -> Vec<Variable> {
    let text = crate::base::without_comments(text);
    let (mut depth, mut found) = (0_usize, Vec::new());
    let (mut functions, mut initialized): (BTreeSet<&str>, Vec<(usize, &str)>) = (BTreeSet::new(), Vec::new());
    for line in text.split_inclusive([';', '{', '}']) {
        if depth == 0 {
            found.extend(variable(line));
            if line.contains(".func") || line.contains(".entry") {
                functions.extend(line.split(|c| !is_of_name(c)));
            }
        }
        // An initial value begins in the declaration, and goes on in braces.
        let begins = depth == 0 && line.contains('=');
        if let Some(last) = found.len().checked_sub(1).filter(|last| begins || initialized.last().is_some_and(|(index, _)| index == last)) {
            initialized.push((last, line));
        }
        match line.chars().last() {
            Some('{') => depth += 1,
            Some('}') => depth = depth.saturating_sub(1),
            Some(_) | None => {}
        }
    }
    for (index, values) in initialized {
        let values = values.split_once('=').map_or(values, |(_, values)| values);
        found[index].names_functions |= values.split(|c| !is_of_name(c)).any(|word| !word.is_empty() && functions.contains(word));
    }
    let mut mentions: BTreeMap<&str, usize> = found.iter().map(|variable| (variable.name.as_str(), 0)).collect();
    for word in text.split(|c| !is_of_name(c)) {
        mentions.entry(word).and_modify(|count| *count += 1);
    }
    let is_unused: Vec<bool> = found.iter().map(|variable| mentions.get(variable.name.as_str()) == Some(&1)).collect();
    found.iter_mut().zip(is_unused).for_each(|(variable, is_unused)| variable.is_unused = is_unused);
    found
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// The variable in global or constant memory that a declaration of the module defines.
fn variable(declaration: &str) -> Option<Variable> {
    const LINKING: [&str; 4] = [".visible", ".weak", ".common", ".internal"];
    const OPAQUE: [&str; 3] = [".texref", ".samplerref", ".surfref"];
    let declared = declaration.split('=').next()?.trim_end_matches([';', '{']);
    // Directives that end with their lines stand before it.
    let mut words =
        declared.split_whitespace().skip_while(|word| !matches!(*word, ".global" | ".const" | ".extern") && !LINKING.contains(word));
    let space = words.find(|word| !LINKING.contains(word)).filter(|word| matches!(*word, ".global" | ".const"))?;
    let rest: Vec<&str> = words.collect();
    if rest.iter().any(|word| OPAQUE.contains(word)) {
        return None;
    }
    let rest = rest.join(" ");
    let named = rest.split('[').next()?.trim_end();
    let name: String = named.chars().rev().take_while(|c| is_of_name(*c)).collect::<Vec<char>>().into_iter().rev().collect();
    let begins = name.starts_with(|c: char| !c.is_ascii_digit());
    begins.then_some(Variable { name, is_global: space == ".global", is_unused: false, names_functions: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_functions_and_unused_variables_are_known() {
        let text = "
            .version 8.0
            .func (.param .b32 r) fa(.param .b32 x);
            .func fb() { ret; }
            .global .align 8 .u64 table[2] = {fa,
                fb};
            .global .u64 one = fb;
            .global .u64 pointer = generic(numbers);
            .global .u32 numbers[2] = {1, 2};
            .global .b8 placeholder;
            .entry k() { ld.global.u64 %rd1, [table]; ld.global.u64 %rd1, [one]; ld.global.u64 %rd1, [pointer]; }";
        let found: Vec<(String, bool, bool)> =
            variables(text).into_iter().map(|each| (each.name, each.names_functions, each.is_unused)).collect();
        let row = |name: &str, names_functions, is_unused| (name.to_string(), names_functions, is_unused);
        assert_eq!(
            found,
            [
                row("table", true, false),
                row("one", true, false),
                row("pointer", false, false),
                row("numbers", false, false),
                row("placeholder", false, true)
            ]
        );
    }

    #[test]
    fn variables_are_those_of_global_and_constant_memory() {
        let text = "
            .version 8.0
            .target sm_80
            .address_size 64
            .global .align 4 .u32 count;
            .visible .const .align 16 .b8 coef[64] = {1, 2, 3};
            // .global .u32 none;
            .extern .global .u32 elsewhere;
            .extern .shared .align 16 .b8 tile[];
            .weak .global .v4 .f32 four;
            .global .texref picture;
            .visible .entry k(.param .u64 p)
            {
                .reg .b32 %r1;
                { .shared .u32 own; }
                ret;
            }
            .global .align 8 .u64 last[1] = {count};";
        let found: Vec<(String, bool)> = variables(text).into_iter().map(|variable| (variable.name, variable.is_global)).collect();
        let expected = [("count", true), ("coef", false), ("four", true), ("last", true)];
        assert_eq!(found, expected.map(|(name, is_global)| (name.to_string(), is_global)));
    }

    #[test]
    fn a_module_needs_others_for_what_it_declares() {
        for (text, expected) in [
            (".extern .shared .align 16 .b8 tile[];", false),
            (".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0\n)\n;", false),
            (".extern .func (.param .b32 r) half(.param .b32 x);", true),
            ("// .extern .func f;\n.visible .entry k() { ret; }", false),
            (".extern .global .u32 count;", true),
        ] {
            assert_eq!(needs_others(text), expected, "{text}");
        }
    }

    #[test]
    fn the_driver_takes_the_newest_that_the_device_runs() {
        for (name, expected) in
            [("sm_80", true), ("sm_90", true), ("sm_90a", true), ("sm_80a", false), ("sm_100", false), ("sm_100a", false)]
        {
            assert_eq!(runs(target(name).unwrap(), Some(90)), expected, "{name}");
        }
    }
}
