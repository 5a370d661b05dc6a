//! `--list`: the kernels of files, as a table for each file or as JSON records.

use super::table::{Table, table};
use super::{Style, json};
use crate::base::counted;
use crate::debug::open::modules::{ListedFile, ListedModule, Param, Problem, demangled};
use crate::ui::visible::visible;

/// The kernels of `files`, without the problems, which are [`unread`].
pub fn listing(files: &[ListedFile], style: Style) -> String {
    match style {
        Style::Human { .. } => files.iter().map(human).collect(),
        Style::Json => files.iter().map(json::listed).collect(),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The parts of files that cannot be read, a line each.
pub fn unread(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("ptxdbg: {}\n", visible(&problem.to_string()))).collect()
}

/// The parts of files that cannot be read, as JSON records; empty in other styles.
pub fn unread_records(problems: &[Problem], style: Style) -> String {
    match style {
        Style::Json => problems.iter().map(json::unread).collect(),
        Style::Human { .. } | Style::Sarif | Style::Junit => String::new(),
    }
}

fn human(file: &ListedFile) -> String {
    let mut rows = Table::new(&["  module", "target", ">shared", "parameters", "kernel"]);
    for module in &file.modules {
        let member = module.member.as_ref().map_or(String::new(), |member| format!(" ({member})"));
        let name = format!("  {}{member}", module.name);
        let cells = |name: String, shared, params, kernel| [name, module.outline.target.clone(), shared, params, kernel];
        if module.outline.kernels.is_empty() {
            rows.push(false, cells(name, String::new(), String::new(), "(none)".to_string()));
            continue;
        }
        for kernel in &module.outline.kernels {
            let dynamic = if kernel.dynamic_shared { " + dynamic" } else { "" };
            let shared = kernel.shared.map_or("?".to_string(), |bytes| bytes.to_string()) + dynamic;
            let types: Vec<String> = kernel.params.iter().map(Param::text).collect();
            let runs = types.chunk_by(|one, next| one == next).map(|run| match run {
                [one] => one.clone(),
                several => format!("{} x {}", several.len(), several[0]),
            });
            let called = demangled(&kernel.name).unwrap_or_else(|| kernel.name.clone());
            rows.push(false, cells(name.clone(), shared, runs.collect::<Vec<_>>().join(", "), called));
        }
    }
    visible(&format!("{}\n{}", heading(file), table(&rows))).into_owned()
}

/// `app: an object with 2 modules and 3 cubins; launch file: app.ron (none yet)`
fn heading(file: &ListedFile) -> String {
    let is_plain = matches!(file.modules.as_slice(), [ListedModule { packing: None, .. }]);
    let contents = match (is_plain, file.cubins) {
        (true, _) => String::new(),
        (false, 0) => format!(" with {}", counted(file.modules.len() as u64, "module")),
        (false, cubins) => format!(" with {} and {}", counted(file.modules.len() as u64, "module"), counted(cubins as u64, "cubin")),
    };
    let missing = if file.has_launch_file { "" } else { " (none yet)" };
    format!("{}: {}{contents}; launch file: {}{missing}", file.path.display(), file.what, file.launch_file.display())
}
