//! The user's files: history, configuration, and completion of file names.

use std::path::PathBuf;

use super::visible::is_terminal_control;

/// The history file: `ptxdbg/history` in the user's folder for state.
pub fn history() -> Option<PathBuf> {
    Some(in_home("XDG_STATE_HOME", ".local/state")?.join("ptxdbg/history"))
}

/// The start-up file: `ptxdbg/init` in the user's folder for configuration.
pub fn start_up() -> Option<PathBuf> {
    Some(in_home("XDG_CONFIG_HOME", ".config")?.join("ptxdbg/init"))
}

/// The folder of the user's own layouts: `ptxdbg/layouts` in the user's folder for configuration.
pub fn layouts() -> Option<PathBuf> {
    Some(in_home("XDG_CONFIG_HOME", ".config")?.join("ptxdbg/layouts"))
}

/// The user's own key map: `ptxdbg/keys.ron` in the user's folder for configuration.
pub fn keys() -> Option<PathBuf> {
    Some(in_home("XDG_CONFIG_HOME", ".config")?.join("ptxdbg/keys.ron"))
}

/// The `nvcc` in NVCC or CUDACXX, else in PATH, else in the toolkit at CUDA_HOME or CUDA_PATH, else in `/usr/local/cuda`.
pub fn nvcc() -> Option<PathBuf> {
    let named = ["NVCC", "CUDACXX"].into_iter().filter_map(std::env::var_os).find(|name| !name.is_empty());
    // If the file does not exist, executing it is an error.
    if let Some(named) = named {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join("nvcc")).collect();
    let roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let in_toolkits = roots.chain([PathBuf::from("/usr/local/cuda")]).map(|root| root.join("bin/nvcc"));
    on_path.into_iter().chain(in_toolkits).find(|file| file.is_file())
}

/// The folder in the environment variable `variable`, or `folder` in the user's home.
fn in_home(variable: &str, folder: &str) -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named(variable).or_else(|| Some(named("HOME")?.join(folder)))
}

/// The files and folders whose paths begin with `word`; folders end with a slash.
pub fn paths_with_prefix(word: &str) -> Vec<String> {
    let (folder, start) = word.rsplit_once('/').map_or(("", word), |(folder, start)| (&word[..folder.len() + 1], start));
    let listed = std::fs::read_dir(if folder.is_empty() { "." } else { folder });
    let entries = listed.into_iter().flatten().flatten();
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hidden = name.starts_with('.') && !start.starts_with('.');
            let end = if entry.path().is_dir() { "/" } else { "" };
            // A name with control characters cannot be typed.
            (name.starts_with(start) && !hidden && !name.contains(is_terminal_control)).then(|| format!("{folder}{name}{end}"))
        })
        .collect();
    found.sort();
    found
}
