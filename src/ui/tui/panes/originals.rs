//! The source texts of the PTX, found by their names in `.file`, or else in comments of the PTX that `nvcc -src-in-ptx` writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::{SourceFile, source_paths};
use crate::debug::bundle::is_file;
use crate::debug::ron_text::read_text;
use crate::debug::session::Session;
use crate::debug::view::{current_line, original_line};

/// The maximum line number in comments: a wrong number must not produce a text of unbounded length.
const LINES_MAX: u32 = 1_000_000;

/// A cache of source texts; `None` for those that were not found.
#[derive(Default)]
pub struct Originals {
    texts: BTreeMap<String, Option<SourceFile>>,
    /// Folders to search in addition to that of the PTX file.
    folders: Vec<PathBuf>,
}

impl Originals {
    /// An empty cache that also searches these folders.
    pub fn with_folders(folders: Vec<PathBuf>) -> Self {
        Self { texts: BTreeMap::new(), folders }
    }

    /// Finds the source text for the location of the focused lane, if it is not in the cache.
    pub fn find(&mut self, session: &Session) {
        let eval_context = session.eval_context();
        let Some((_, name, _)) = original_line(&eval_context) else { return };
        if self.texts.contains_key(&name) {
            return;
        }
        let (file, _) = current_line(&eval_context);
        let ptx = session.program().sources_text.file(file);
        let places = source_paths(&name, Path::new(ptx.name()), &self.folders);
        let text = places.into_iter().filter(|path| is_file(path)).find_map(|path| read_text(&path).ok());
        let text = text.or_else(|| embedded(ptx.text(), &name));
        self.texts.insert(name.clone(), text.map(|text| SourceFile::new(name, text)));
    }

    /// The text called `name`.
    pub fn get(&self, name: &str) -> Option<&SourceFile> {
        self.texts.get(name)?.as_ref()
    }
}

/// The lines of the text called `name` in comments of the PTX, `//kernel.cu:12     y[i] = x[i];`; other lines are empty.
fn embedded(ptx: &str, name: &str) -> Option<String> {
    let file_name = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or_default().to_string();
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
    use super::embedded;

    #[test]
    fn lines_in_comments() {
        let ptx =
            "// kernel: one\n//k.cu:2     int i = a ? b : c;\n\t.loc 1 2 0\n//k.cu:4 }\n//k.cu:3\n//other.cu:1 x\n//k.cu:4000000000 y\n";
        assert_eq!(embedded(ptx, "/src/k.cu").as_deref(), Some("\n    int i = a ? b : c;\n\n}"));
        assert_eq!(embedded(ptx, "kk.cu"), None);
    }
}
