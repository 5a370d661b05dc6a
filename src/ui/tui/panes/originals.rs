//! The texts that the PTX was made from, found by the names that `.file` gives them, or in the comments of the PTX itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::SourceFile;
use crate::debug::names::embedded;
use crate::debug::ron_text::read_text;
use crate::debug::session::Session;
use crate::debug::view::{current_line, original_line};

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
        let places = self.places(&name, Path::new(ptx.name())).into_iter();
        let text = places.filter(|path| path.is_file()).find_map(|path| read_text(&path).ok()).or_else(|| embedded(ptx.text(), &name));
        self.texts.insert(name.clone(), text.map(|text| SourceFile::new(name, text)));
    }

    /// The text called `name`.
    pub fn get(&self, name: &str) -> Option<&SourceFile> {
        self.texts.get(name)?.as_ref()
    }

    /// Where a text may lie: where its name says, and in each folder with its whole name and with its last part.
    fn places(&self, name: &str, ptx: &Path) -> Vec<PathBuf> {
        let name = Path::new(name);
        let beside = ptx.parent().map(Path::to_path_buf);
        let folders = beside.iter().chain(&self.folders);
        let inside = folders.flat_map(|folder| [Some(folder.join(name)), name.file_name().map(|last| folder.join(last))]);
        std::iter::once(name.to_path_buf()).chain(inside.flatten()).collect()
    }
}
