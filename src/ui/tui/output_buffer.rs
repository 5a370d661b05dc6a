//! The output of commands, buffered by line for the screen.

use std::io::{self, Write};
use std::sync::Arc;

use super::shared::Shared;
use crate::ui::output::Output;
use crate::ui::visible::visible_bytes;

/// The output of one command.
pub struct OutputBuffer {
    shared: Arc<Shared>,
    /// An incomplete line.
    incomplete: Vec<u8>,
}

impl OutputBuffer {
    /// An empty buffer.
    pub fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), incomplete: Vec::new() }
    }
}

impl Write for OutputBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.incomplete.extend_from_slice(bytes);
        if let Some(end) = self.incomplete.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.incomplete.drain(..=end).collect();
            self.shared.screen_terminal().print(&visible_bytes(&lines))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for OutputBuffer {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
}

impl Drop for OutputBuffer {
    fn drop(&mut self) {
        if !self.incomplete.is_empty() {
            // A write error is reported by the next write to the terminal.
            let _ = self.shared.screen_terminal().print(&visible_bytes(&self.incomplete));
        }
    }
}
