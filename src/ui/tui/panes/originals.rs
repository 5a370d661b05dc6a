//! The texts that the PTX was made from, found by the names that `.file` gives them; or else what comments of the PTX hold of them, as
//! `nvcc -src-in-ptx` writes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::{SourceFile, original_places};
use crate::debug::bundle::is_file;
use crate::debug::ron_text::read_text;
use crate::debug::session::Session;
use crate::debug::view::{current_line, original_line};

/// Lines after this one are not taken from comments: a wrong number must not make a text of any length.
const LINES_MAX: u32 = 1_000_000;

/// Texts that were looked for; none for those that were not found.
#[derive(Default)]
pub struct Originals {
    texts: BTreeMap<String, Option<SourceFile>>,
    /// Folders to look in beside that of the PTX file.
    folders: Vec<PathBuf>,
}

impl Originals {
    /// Looks in these folders too.
    pub fn with_folders(folders: Vec<PathBuf>) -> Self {
        Self { texts: BTreeMap::new(), folders }
    }

    /// Finds the text of the place where the focused lane stands, if it was not looked for yet.
    pub fn find(&mut self, session: &Session) {
        let scene = session.scene();
        let Some((_, name, _)) = original_line(&scene) else { return };
        if self.texts.contains_key(&name) {
            return;
        }
        let (file, _) = current_line(&scene);
        let ptx = session.program().sources_text.file(file);
        let places = original_places(&name, Path::new(ptx.name()), &self.folders);
        let text = places.into_iter().filter(|path| is_file(path)).find_map(|path| read_text(&path).ok());
        let text = text.or_else(|| embedded(ptx.text(), &name));
        self.texts.insert(name.clone(), text.map(|text| SourceFile::new(name, text)));
    }

    /// The text called `name`.
    pub fn get(&self, name: &str) -> Option<&SourceFile> {
        self.texts.get(name)?.as_ref()
    }
}

/// The lines of the text called `name` that comments of the PTX hold, `//kernel.cu:12     y[i] = x[i];`; the others are empty.
fn embedded(ptx: &str, name: &str) -> Option<String> {
    let short = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or_default().to_string();
    let line = |line: &str| {
        let (file, rest) = line.strip_prefix("//")?.split_once(':')?;
        let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = number.parse().ok().filter(|number| (1..=LINES_MAX).contains(number))?;
        (!file.is_empty() && short(file) == short(name)).then(|| (number, text.to_string()))
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
    fn lines_that_comments_hold() {
        let ptx =
            "// kernel: one\n//k.cu:2     int i = a ? b : c;\n\t.loc 1 2 0\n//k.cu:4 }\n//k.cu:3\n//other.cu:1 x\n//k.cu:4000000000 y\n";
        assert_eq!(embedded(ptx, "/src/k.cu").as_deref(), Some("\n    int i = a ? b : c;\n\n}"));
        assert_eq!(embedded(ptx, "kk.cu"), None);
    }
}
