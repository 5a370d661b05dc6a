//! The results of trying fixes, and the PTX with the changes that held.

use std::path::Path;

use serde::Serialize;

use super::patch::ChangedModule;
use crate::base::save::{cause, save};
use crate::debug::findings::{FindingText, FixOutcome};
use crate::debug::ron_text::read_text;

/// The results of trying the fixes of some findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixReports {
    /// In the order of their numbers.
    pub reports: Vec<FixReport>,
    /// All changes that held, each in words.
    pub changes: Vec<String>,
    /// The user interrupted it.
    pub interrupted: bool,
    /// The modules with all changes that held; empty if none did.
    pub texts: Vec<ChangedModule>,
}

/// The result of trying the fixes of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixReport {
    /// Its number, from 1.
    pub finding: usize,
    /// Its id.
    pub id: String,
    /// The result.
    #[serde(flatten)]
    pub outcome: FixOutcome,
}

impl FixReports {
    /// Adds the results to the findings.
    pub fn describe_in(&self, findings: &mut [FindingText]) {
        for report in &self.reports {
            let of = findings.iter_mut().filter(|finding| finding.number == report.finding);
            of.for_each(|finding| finding.tried = Some(report.outcome.clone()));
        }
    }

    /// Writes the changed PTX to `path`, which must not exist or be written by an earlier call, or each changed module to a file of its
    /// name in the folder `path`; returns a line about each file.
    ///
    /// # Errors
    /// No change held, several modules changed and `path` is no folder, another file is there, or it cannot be written, in one line.
    pub fn save(&self, path: &Path) -> Result<String, String> {
        let names: Vec<&str> = self.texts.iter().map(|module| module.name.as_str()).collect();
        let is_folder = path.is_dir();
        let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        match names.as_slice() {
            [] => return Err(format!("no change held, so {} is not written", path.display())),
            [_, _, ..] if !is_folder => {
                return Err(format!("{}: {} changed: FILE is to be a folder that is there", path.display(), names.join(" and ")));
            }
            [_, ..] => {}
        }
        if let Some((_, name)) = twice {
            return Err(format!("{}: two modules that changed are called {name}: rename one of them", path.display()));
        }
        let place = |module: &ChangedModule| if is_folder { path.join(&module.name) } else { path.to_path_buf() };
        self.texts.iter().try_for_each(|module| may_replace(&place(module)))?;
        self.texts.iter().map(|module| self.write(module, &place(module))).collect()
    }

    fn write(&self, module: &ChangedModule, path: &Path) -> Result<String, String> {
        let lines: String = self.changes.iter().map(|change| format!("//   {change}\n")).collect();
        let remains = self.reports.iter().filter_map(|report| report.outcome.remainder());
        let remains: String = remains.map(|remainder| format!("//   With all of them {remainder}.\n")).collect();
        let head = format!("{HEAD}\n{lines}{remains}");
        let cannot = |error| format!("cannot write {}: {}", path.display(), cause(&error));
        save(path, &[head.as_bytes(), module.text.as_bytes()]).map_err(cannot)?;
        Ok(format!("changed PTX written to {}\n", path.display()))
    }
}

/// The first line of a file that [`FixReports::save`] writes.
const HEAD: &str = "// Changed by ptxdbg, after 'fix':";

/// Checks that there is no file at `path`, or one that `fix` wrote.
fn may_replace(path: &Path) -> Result<(), String> {
    if !path.is_file() || read_text(path).is_ok_and(|text| text.starts_with(HEAD)) {
        return Ok(());
    }
    Err(format!("{} is there and was not written by fix, so it is left as it is: choose another name", path.display()))
}
