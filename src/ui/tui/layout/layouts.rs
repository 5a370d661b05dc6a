//! The layouts by name: those that are shipped, those in the user's configuration directory, and files.

use std::path::{Path, PathBuf};

use super::Layout;
use super::file::LayoutError;
use crate::base::save::{cause, save};
use crate::debug::{nearest, ron_text};

/// The shipped layouts: name and text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("default", include_str!("../../../../layouts/default.ron")),
    ("compact", include_str!("../../../../layouts/compact.ron")),
    ("source", include_str!("../../../../layouts/source.ron")),
    ("triton", include_str!("../../../../layouts/triton.ron")),
    ("divergence", include_str!("../../../../layouts/divergence.ron")),
    ("race", include_str!("../../../../layouts/race.ron")),
    ("async", include_str!("../../../../layouts/async.ron")),
    ("memory", include_str!("../../../../layouts/memory.ron")),
    ("tensor", include_str!("../../../../layouts/tensor.ron")),
    ("tour", include_str!("../../../../layouts/tour.ron")),
];

/// Layouts by the names that gdb has for them.
const GDB_NAMES: [(&str, &str); 4] = [("src", "source"), ("split", "source"), ("asm", "default"), ("regs", "default")];

/// A command on layouts: `layout` or `save layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Shows a layout: its name, its file, `next` or `prev`.
    Show(&'a str),
    /// Writes the current layout to a file, or under a name to the configuration directory.
    Save(&'a str),
}

/// The available layouts.
#[derive(Clone, Debug, Default)]
pub struct LayoutStore {
    /// The folder of the user's layouts.
    folder: Option<PathBuf>,
    /// The name of the layout that is shown.
    shown: String,
}

/// The error of a layout that cannot be shown or saved.
#[derive(Debug, thiserror::Error)]
pub enum LayoutStoreError {
    /// There is none of that name.
    #[error("there is no layout '{name}'{}", near(.nearest.as_deref(), .names))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar one.
        nearest: Option<String>,
        /// All names.
        names: Vec<String>,
    },
    /// Its file has an error.
    #[error("{}", described(.0))]
    File(LayoutError),
    /// It cannot be written.
    #[error("cannot write {path}: {reason}")]
    Unwritable {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
}

fn near(nearest: Option<&str>, names: &[String]) -> String {
    nearest.map_or_else(|| format!(": there are {}", names.join(", ")), |nearest| format!(", did you mean '{nearest}'?"))
}

fn described(error: &LayoutError) -> String {
    match error {
        LayoutError::Unreadable(reason) => reason.clone(),
        LayoutError::Wrong(wrong) => {
            let (sources, diagnostic) = &**wrong;
            let position = sources.position(diagnostic.span);
            format!("{}:{}:{}: {}", sources.file(diagnostic.span.source).name(), position.line, position.column, diagnostic.message)
        }
    }
}

impl LayoutStore {
    /// The shipped layouts, and the user's in `folder`.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, shown: SHIPPED.first().map_or(String::new(), |(name, _)| (*name).to_string()) }
    }

    /// The names of all layouts: the shipped ones, then the user's in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = SHIPPED.iter().map(|(name, _)| (*name).to_string()).collect();
        let entries = self.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let of_user = paths.filter(|path| path.extension().is_some_and(|extension| extension == "ron"));
        let mut of_user: Vec<String> = of_user.filter_map(|path| Some(path.file_stem()?.to_str()?.to_string())).collect();
        of_user.retain(|name| !names.contains(name));
        of_user.sort();
        names.extend(of_user);
        names
    }

    /// The names of all layouts with what they are for, a line each; `*` marks the one that is shown.
    pub fn listing(&self) -> String {
        let names = self.names();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let row = |name: &String| {
            let about = self.read(name, &names).map_or_else(|error| error.to_string(), |layout| layout.about);
            format!("{} {name:width$}  {about}\n", if *name == self.shown { '*' } else { ' ' })
        };
        names.iter().map(row).collect()
    }

    /// Selects a layout by its name, its file, `next` or `prev`.
    ///
    /// # Errors
    /// There is none, or its file has an error.
    pub fn take(&mut self, name: &str) -> Result<Layout, LayoutStoreError> {
        let names = self.names();
        let step = |step: usize| {
            let at = names.iter().position(|name| *name == self.shown).map_or(0, |at| at + step);
            names.get(at % names.len().max(1)).cloned().unwrap_or_default()
        };
        let gdb_name = GDB_NAMES.iter().find(|(gdb, _)| *gdb == name && !names.iter().any(|own| own == gdb)).map(|(_, own)| *own);
        let name = match name {
            "next" => step(1),
            "prev" | "previous" => step(names.len().max(1) - 1),
            name => gdb_name.unwrap_or(name).to_string(),
        };
        let layout = self.read(&name, &names);
        // `layout next` skips a layout that cannot be read.
        if layout.is_ok() || names.contains(&name) {
            self.shown = name;
        }
        layout
    }

    /// Reads a layout. A layout of the user takes precedence over the shipped one of the same name.
    fn read(&self, name: &str, names: &[String]) -> Result<Layout, LayoutStoreError> {
        let of_user = self.user_file(name).filter(|path| path.is_file());
        if let Some(path) = of_user.or_else(|| Some(PathBuf::from(name)).filter(|path| is_path(name) && path.is_file())) {
            let text = ron_text::read_text(&path).map_err(|reason| LayoutStoreError::File(LayoutError::Unreadable(reason)))?;
            return Layout::parse(&path.display().to_string(), text).map_err(LayoutStoreError::File);
        }
        if let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            return Layout::parse(&format!("{name}.ron"), (*text).to_string()).map_err(LayoutStoreError::File);
        }
        if is_path(name) {
            let text = ron_text::read_text(Path::new(name)).map_err(|reason| LayoutStoreError::File(LayoutError::Unreadable(reason)))?;
            return Layout::parse(name, text).map_err(LayoutStoreError::File);
        }
        let nearest = nearest(name, names.iter().map(String::as_str)).map(str::to_string);
        Err(LayoutStoreError::Unknown { name: name.to_string(), nearest, names: names.to_vec() })
    }

    /// The file of the user's layout called `name`.
    fn user_file(&self, name: &str) -> Option<PathBuf> {
        self.folder.as_ref().filter(|_| !is_path(name)).map(|folder| folder.join(format!("{name}.ron")))
    }

    /// Writes a layout to a file, or under a name to the user's folder; returns a message with the path.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, name: &str, layout: &Layout) -> Result<String, LayoutStoreError> {
        let path = self.user_file(name).unwrap_or_else(|| PathBuf::from(name));
        let unwritable = |error: std::io::Error| LayoutStoreError::Unwritable { path: path.display().to_string(), reason: cause(&error) };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(unwritable)?;
        }
        save(&path, &[layout.to_text().as_bytes(), b"\n"]).map_err(unwritable)?;
        Ok(format!("layout written to {}", path.display()))
    }
}

/// True if a name is the path of a file.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || Path::new(name).extension().is_some_and(|extension| extension == "ron")
}
