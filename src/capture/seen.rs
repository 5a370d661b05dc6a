//! What a program has said of its kernels.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::program::shown_name;

/// Kernels that are listed at most.
const LISTED: usize = 40;

/// What was seen so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Whether a process has launched anything.
    pub is_connected: bool,
    /// The kernels, by the names in their modules.
    pub kernels: BTreeMap<String, Kernel>,
    /// The folders of launches that were kept, in order.
    pub kept: Vec<PathBuf>,
    /// The folder of the last launch that was begun.
    pub begun: Option<PathBuf>,
    /// Lines for the user.
    pub said: Vec<String>,
}

/// A kernel that was launched.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// How often; 0 where the process did not say so at its end.
    pub launches: u64,
    /// Why it cannot be captured.
    pub lacks: Option<String>,
}

impl Seen {
    /// What is known of a kernel.
    pub fn kernel(&mut self, name: &str) -> &mut Kernel {
        self.kernels.entry(name.to_string()).or_default()
    }

    /// Says a line, if it was not said before.
    pub fn say(&mut self, line: &str) {
        if !self.said.iter().any(|said| said == line) {
            self.said.push(line.to_string());
        }
    }

    /// A line for each kernel, the most launched first.
    pub fn kernel_lines(&self) -> Vec<String> {
        let mut kernels: Vec<(&String, &Kernel)> = self.kernels.iter().collect();
        kernels.sort_by_key(|(_, kernel)| std::cmp::Reverse(kernel.launches));
        let more = kernels.len().saturating_sub(LISTED);
        let lines = kernels.into_iter().take(LISTED).map(|(name, kernel)| {
            let times = if kernel.launches > 0 { format!("{:>6} ", kernel.launches) } else { "     ? ".to_string() };
            let lacks = kernel.lacks.as_ref().map_or(String::new(), |lacks| format!("  ({lacks})"));
            format!("{times}{}{lacks}", shown_name(name))
        });
        lines.chain((more > 0).then(|| format!("and {more} more"))).collect()
    }
}
