//! Completions of shells, and the manual pages as files.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell as Known, generate};
use clap_complete_nushell::Nushell;

use crate::base::save;
use crate::debug::findings::CheckerId;
use crate::ui::tour::STORIES;
#[cfg(feature = "tui")]
use crate::ui::tui::layout::layouts::SHIPPED;

/// A shell that can complete arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    /// Nushell
    Nushell,
}

/// The manual pages: section, name and text.
const PAGES: [(u8, &str, &str); 3] = [
    (1, "ptxdbg.1", include_str!("../../man/ptxdbg.1")),
    (5, "ptxdbg-launch.5", include_str!("../../man/ptxdbg-launch.5")),
    (5, "ptxdbg-layout.5", include_str!("../../man/ptxdbg-layout.5")),
];

impl Shell {
    /// What the shell reads to complete the arguments of `command`, which is ptxdbg.
    pub fn completions(self, command: clap::Command) -> Vec<u8> {
        let mut command = with_values(command);
        let mut text = Vec::new();
        match self {
            Self::Bash => generate(Known::Bash, &mut command, "ptxdbg", &mut text),
            Self::Zsh => generate(Known::Zsh, &mut command, "ptxdbg", &mut text),
            Self::Fish => generate(Known::Fish, &mut command, "ptxdbg", &mut text),
            Self::Nushell => generate(Nushell, &mut command, "ptxdbg", &mut text),
        }
        text
    }
}

/// The command with the values of options that are parsed by a function: the names of tours, layouts and checkers.
fn with_values(command: clap::Command) -> clap::Command {
    let values = |names: Vec<&'static str>| move |arg: clap::Arg| arg.value_parser(PossibleValuesParser::new(names));
    let checkers = ["all", "none"].into_iter().chain(CheckerId::all().map(CheckerId::word));
    let command = command.mut_arg("checks", values(checkers.collect()));
    #[cfg(feature = "tui")]
    let command = command.mut_arg("layout", values(SHIPPED.iter().map(|(name, _)| *name).collect()));
    command.mut_arg("tour", values(STORIES.iter().map(|story| story.name).collect()))
}

/// Writes the manual pages to `man1` and `man5` of `folder`; returns their paths.
///
/// # Errors
/// A folder or a file cannot be written, in one line.
pub fn install_pages(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let page = |(section, name, text): (u8, &str, &str)| {
        let section = folder.join(format!("man{section}"));
        let path = section.join(name);
        let failed = |error: &std::io::Error| format!("{}: {}", path.display(), save::cause(error));
        std::fs::create_dir_all(&section).map_err(|error| failed(&error))?;
        save::save(&path, &[text.as_bytes()]).map_err(|error| failed(&error))?;
        Ok(path)
    };
    PAGES.into_iter().map(page).collect()
}
