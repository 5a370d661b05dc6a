//! What commands write, on its way to the screen: whole lines.

use std::io::{self, Write};
use std::sync::Arc;

use super::shared::Shared;
use crate::ui::output::Output;
use crate::ui::visible::visible_bytes;

/// Takes what a command writes.
pub struct OutputBuffer {
    shared: Arc<Shared>,
    /// A line that has no end yet.
    begun: Vec<u8>,
}

impl OutputBuffer {
    /// Of one command.
    pub fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), begun: Vec::new() }
    }
}

impl Write for OutputBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        if let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.begun.drain(..=end).collect();
            self.shared.stage().say(&visible_bytes(&lines))?;
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
        if !self.begun.is_empty() {
            // An error shows at the next write to the terminal.
            let _ = self.shared.stage().say(&visible_bytes(&self.begun));
        }
    }
}
