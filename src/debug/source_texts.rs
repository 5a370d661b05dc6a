//! The texts of the source, found by their names in `.file`, or else in comments of the PTX that `nvcc -src-in-ptx` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::bundle::is_file;
use crate::base::{SourceFile, file_name, source_paths};
use crate::dwarf::{Assignment, Declaration, SourceText};
use crate::launch::cuda;
use crate::launch::ron_text::read_text;
use crate::program::{FuncId, Program, SourceLine, plain_name};

/// The maximum line number in comments: a wrong number must not produce a text of unbounded length.
const LINES_MAX: u32 = 1_000_000;

/// The texts of the source of one program, each read when it is first asked for.
#[derive(Debug, Default)]
pub struct SourceTexts {
    /// By the number of `.file`; none for a file that is not found.
    files: BTreeMap<u32, OnceLock<Option<SourceFile>>>,
    /// Folders to search in addition to those of the modules.
    folders: Vec<PathBuf>,
    /// The parameters that functions with code may change.
    changed: BTreeMap<FuncId, OnceLock<BTreeSet<String>>>,
}

impl SourceTexts {
    /// The texts of `program`, which are also searched in `folders`.
    pub fn new(program: &Program, folders: Vec<PathBuf>) -> Self {
        let files = program.source_files.iter().map(|(number, _)| (*number, OnceLock::new())).collect();
        let with_code = program.functions.iter().enumerate().filter(|(_, function)| !function.code.is_empty());
        Self { files, folders, changed: with_code.map(|(index, _)| (FuncId::new(index), OnceLock::new())).collect() }
    }

    /// The text of file `number`, if it is at hand; `program` must be the one of [`Self::new`].
    pub fn file(&self, program: &Program, number: u32) -> Option<&SourceFile> {
        self.files.get(&number)?.get_or_init(|| self.read(program, number)).as_ref()
    }

    /// The text of a line, without the blanks at its end.
    pub fn line(&self, program: &Program, place: SourceLine) -> Option<&str> {
        let file = self.file(program, place.file)?;
        (1..=file.line_count()).contains(&place.line).then(|| file.line(place.line).trim_end())
    }

    /// Those of `parameters` that the body of a function may give another value, as its text says.
    pub fn changed(&self, program: &Program, function: FuncId, parameters: &[&str]) -> Option<&BTreeSet<String>> {
        let find = || {
            let Some((name, text)) = self.text_of(program, function) else { return BTreeSet::new() };
            cuda::changed(text, name, parameters.iter().copied())
        };
        Some(self.changed.get(&function)?.get_or_init(find))
    }

    /// The name of a function in its text, and the text.
    fn text_of<'p>(&'p self, program: &'p Program, function: FuncId) -> Option<(&'p str, &'p str)> {
        let function = &program.functions[function.index()];
        let lines = program.source_lines.get(function.code.start as usize..function.code.end as usize)?;
        let first = lines.iter().flatten().find(|line| line.line > 0)?;
        Some((plain_name(&function.name).unwrap_or(&function.name), self.file(program, first.file)?.text()))
    }

    fn read(&self, program: &Program, number: u32) -> Option<SourceFile> {
        let (_, name) = program.source_files.iter().find(|(file, _)| *file == number)?;
        let modules = || program.modules.iter().map(|id| program.sources_text.file(*id));
        let places = modules().flat_map(|module| source_paths(name, Path::new(module.name()), &self.folders));
        let text = places.filter(|path| is_file(path)).find_map(|path| read_text(&path).ok());
        let text = text.or_else(|| modules().find_map(|module| in_comments(module.text(), name)));
        text.map(|text| SourceFile::new(name.clone(), text))
    }
}

impl SourceText for SourceTexts {
    fn assignments(&self, program: &Program, file: u32, variables: &[Declaration<'_>]) -> Vec<Option<Vec<Assignment>>> {
        let Some(file) = self.file(program, file) else { return Vec::new() };
        let tokens = cuda::tokens(file.text());
        let of_statement = |found: cuda::AssignedBy| {
            let line = |at: usize| file.line_of(at as u32);
            let (first, last) = (line(found.statement.start), line(found.statement.end - 1));
            let whole = file.offset(first, 1) as usize..file.offset(last + 1, 1) as usize;
            let is_alone = cuda::assignments_in(&tokens, &whole) == 1;
            Assignment { lines: first..=last, line: line(found.at), is_alone }
        };
        let of_variable = |variable: &Declaration<'_>| {
            let declared = file.offset(variable.line.line, 1) as usize..file.offset(variable.line.line + 1, 1) as usize;
            let found = cuda::assigned(file.text(), &tokens, declared, variable.name, variable.is_parameter)?;
            Some(found.into_iter().map(of_statement).collect())
        };
        variables.iter().map(of_variable).collect()
    }
}

/// The lines of the text called `name` in comments of the PTX, `//kernel.cu:12     y[i] = x[i];`; other lines are empty.
fn in_comments(ptx: &str, name: &str) -> Option<String> {
    let line = |line: &str| {
        let (file, rest) = line.strip_prefix("//")?.split_once(':')?;
        let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = number.parse().ok().filter(|number| (1..=LINES_MAX).contains(number))?;
        (!file.is_empty() && file_name(file) == file_name(name)).then(|| (number, text.to_string()))
    };
    let lines: BTreeMap<u32, String> = ptx.lines().filter_map(line).collect();
    let (last, _) = lines.last_key_value()?;
    let text = |number| lines.get(&number).map_or("", String::as_str);
    Some((1..=*last).map(text).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::in_comments;

    #[test]
    fn lines_in_comments() {
        let ptx =
            "// kernel: one\n//k.cu:2     int i = a ? b : c;\n\t.loc 1 2 0\n//k.cu:4 }\n//k.cu:3\n//other.cu:1 x\n//k.cu:4000000000 y\n";
        assert_eq!(in_comments(ptx, "/src/k.cu").as_deref(), Some("\n    int i = a ? b : c;\n\n}"));
        assert_eq!(in_comments(ptx, "kk.cu"), None);
    }
}
