//! What commands write, on its way to the screen: whole lines.

use std::io::{self, Write};
use std::sync::Arc;

use super::desk::Desk;
use crate::ui::output::Output;
use crate::ui::visible::visible_bytes;

/// Takes what a command writes.
pub struct Said {
    desk: Arc<Desk>,
    /// A line that has no end yet.
    begun: Vec<u8>,
}

impl Said {
    /// Of one command.
    pub fn new(desk: &Arc<Desk>) -> Self {
        Self { desk: Arc::clone(desk), begun: Vec::new() }
    }
}

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        if let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.begun.drain(..=end).collect();
            self.desk.stage().say(&visible_bytes(&lines))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Said {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
}

impl Drop for Said {
    fn drop(&mut self) {
        if !self.begun.is_empty() {
            // The next write to the terminal will tell.
            let _ = self.desk.stage().say(&visible_bytes(&self.begun));
        }
    }
}
