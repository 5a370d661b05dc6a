//! The output to the terminal: the panes above, the scroll region for the prompt below.
//!
//! Everything is written to one unbuffered file, and each update is one write, so that it cannot be interleaved. The escape sequences are
//! those of the DEC VT100 and of xterm (`ctlseqs`); the terminal resets the scroll region whenever its size changes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::wrap::{clean, first_row, wrapped};
use crate::ui::tty::guard::{self, unbuffered};
use crate::ui::visible::visible;

/// Enters the alternate screen; the wheel is not translated to arrow keys.
const ENTER: &str = "\x1b[?1049h\x1b[?1007l";
/// Leaves the alternate screen after resetting the margins, which the two screens may share.
const LEAVE: &str = "\x1b[?2026l\x1b[r\x1b[0m\x1b[?25h\x1b[?1049l";
/// Synchronized output, for terminals that support it.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Mouse reports of presses and the wheel, in SGR encoding.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// The minimum size of a screen with panes.
const COLUMNS_MIN: u16 = 40;
const ROWS_MIN: u16 = 14;
/// The size that is assumed if the terminal does not report one.
const SIZE_UNKNOWN: Size = Size { columns: 80, rows: 24 };
/// The maximum number of recent lines that are stored, to be drawn again.
const RECENT_LINES_MAX: usize = 200;
/// The fewest and the most rows below the panes: for the prompt, and the end of the last answer.
const PROMPT_ROWS: (u16, u16) = (5, 12);
/// The rows below the panes in browse mode: the last output, and the keys.
const BROWSE_ROWS: u16 = 4;

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of columns.
    pub columns: u16,
    /// The number of rows.
    pub rows: u16,
}

/// The size for which the screen was last drawn in full.
#[derive(Clone, Default)]
pub struct LaidOutSize(Arc<AtomicU32>);

/// The division of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Panes above, the prompt below.
    Prompt,
    /// Panes, and a few rows of output below.
    Browse,
}

/// The state of bracketed paste, which the line editor uses while it reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pasting {
    /// On.
    Marked,
    /// Off.
    Plain,
}

/// The terminal and its contents.
pub struct Terminal {
    out: File,
    size: Size,
    usage: Use,
    /// The panes as the terminal shows them.
    shown: Buffer,
    /// The last lines of output.
    recent_lines: VecDeque<String>,
    /// The text of the last row in browse mode, and of the row of the cursor while the kernel runs.
    status: String,
    laid_out: LaidOutSize,
}

impl Size {
    /// The current size of the terminal.
    pub fn now() -> Self {
        match rustix::termios::tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Self { columns: size.ws_col, rows: size.ws_row },
            _ => SIZE_UNKNOWN,
        }
    }

    /// The number of rows for panes.
    fn panes(self, usage: Use) -> u16 {
        match usage {
            Use::Browse => self.rows.saturating_sub(BROWSE_ROWS),
            Use::Prompt if self.columns < COLUMNS_MIN || self.rows < ROWS_MIN => 0,
            Use::Prompt => self.rows - (self.rows / 5).clamp(PROMPT_ROWS.0, PROMPT_ROWS.1),
        }
    }
}

impl LaidOutSize {
    /// True if the screen was drawn for another size.
    pub fn differs(&self, size: Size) -> bool {
        self.0.load(Ordering::SeqCst) != Self::packed(size)
    }

    fn set(&self, size: Size) {
        self.0.store(Self::packed(size), Ordering::SeqCst);
    }

    fn packed(size: Size) -> u32 {
        u32::from(size.columns) << 16 | u32::from(size.rows)
    }
}

impl Terminal {
    /// The terminal of standard output. Nothing is written.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            out: unbuffered(io::stdout().as_fd())?,
            size: Size::now(),
            usage: Use::Prompt,
            shown: Buffer::default(),
            recent_lines: VecDeque::new(),
            status: String::new(),
            laid_out: LaidOutSize::default(),
        })
    }

    /// Enters the alternate screen, which is empty.
    pub fn enter(&mut self) -> io::Result<()> {
        let mouse = if self.usage == Use::Browse { MOUSE_ON } else { "" };
        self.write(&format!("{ENTER}{mouse}"))
    }

    /// Returns to the main screen.
    pub fn leave(&mut self) -> io::Result<()> {
        let mouse = if self.usage == Use::Browse { MOUSE_OFF } else { "" };
        self.write(&format!("{mouse}{LEAVE}"))
    }

    /// Ctrl-Z: restores the terminal, stops the process, and enters the alternate screen again when it is continued. The caller must then
    /// draw everything.
    pub fn suspend(&mut self, pasting: Pasting) -> io::Result<()> {
        let mark = |terminal: &mut Self, marked| if pasting == Pasting::Marked { terminal.mark_pasting(marked) } else { Ok(()) };
        mark(self, false)?;
        self.leave()?;
        guard::suspend()?;
        mark(self, true)?;
        self.enter()
    }

    /// Switches bracketed paste on or off.
    fn mark_pasting(&mut self, marked: bool) -> io::Result<()> {
        self.write(if marked { "\x1b[?2004h" } else { "\x1b[?2004l" })
    }

    /// Changes the division of the rows. The caller must then draw everything.
    pub fn set_use(&mut self, usage: Use) -> io::Result<()> {
        self.usage = usage;
        self.status.clear();
        self.write(if usage == Use::Browse { MOUSE_ON } else { MOUSE_OFF })
    }

    /// The size for which it was drawn.
    pub fn laid_out(&self) -> LaidOutSize {
        self.laid_out.clone()
    }

    /// True if the size has changed since it was drawn in full.
    pub fn is_stale(&self) -> bool {
        self.laid_out.differs(Size::now())
    }

    /// The area of the panes; empty if there is no room for any.
    pub fn panes(&self) -> Rect {
        Rect::new(0, 0, self.size.columns, self.size.panes(self.usage))
    }

    /// The rows below the panes that show output.
    pub fn rows_below(&self) -> usize {
        usize::from(self.size.rows.saturating_sub(self.panes().height + 1))
    }

    /// Reads the size of the terminal for [`Self::panes`] and the next [`Self::lay_out`].
    pub fn measure(&mut self) {
        self.size = Size::now();
    }

    /// The panes as they were drawn last.
    pub fn shown(&self) -> &Buffer {
        &self.shown
    }

    /// Draws everything. The cursor is then at the beginning of the last row.
    pub fn lay_out(&mut self, panes: Buffer) -> io::Result<()> {
        let top = panes.area.height;
        let rows = self.size.rows;
        let mut bytes = format!("{BEGIN}\x1b[0m\x1b[r\x1b[H\x1b[2J").into_bytes();
        // A scroll region must have at least two rows.
        if self.usage == Use::Prompt && top > 0 && rows - top > 1 {
            write!(bytes, "\x1b[{};{rows}r", top + 1)?;
        }
        encode(&mut bytes, &Buffer::empty(panes.area), &panes)?;
        self.shown = panes;
        bytes.extend(self.tail().into_bytes());
        if self.usage == Use::Prompt {
            write!(bytes, "\x1b[{rows};1H{}\x1b[?25h", self.status)?;
        }
        bytes.extend(END.as_bytes());
        self.laid_out.set(self.size);
        self.out.write_all(&bytes)
    }

    /// The escape sequences that draw the last output between the panes and the last row, and in browse mode the status in the last row.
    fn tail(&self) -> String {
        let columns = usize::from(self.size.columns);
        let room = self.size.rows.saturating_sub(self.shown.area.height + 1);
        let mut lines: Vec<String> = Vec::new();
        for line in self.recent_lines.iter().rev().take(usize::from(room)) {
            lines.extend(wrapped(line, columns).into_iter().rev());
        }
        let mut text = String::new();
        for (index, line) in lines.iter().take(usize::from(room)).enumerate() {
            let row = usize::from(self.size.rows) - 1 - index;
            text += &format!("\x1b[{row};1H\x1b[2K{line}\x1b[0m");
        }
        if self.usage == Use::Browse {
            let status = first_row(&self.status, columns);
            text += &format!("\x1b[{};1H\x1b[2K\x1b[7m{status}\x1b[K\x1b[0m\x1b[?25l", self.size.rows);
        }
        text
    }

    /// Shows panes: writes the differences from the current contents. The cursor does not move.
    pub fn show(&mut self, panes: Buffer) -> io::Result<()> {
        let mut bytes = format!("{BEGIN}\x1b7\x1b[?25l").into_bytes();
        let begun = bytes.len();
        encode(&mut bytes, &self.shown, &panes)?;
        self.shown = panes;
        if bytes.len() == begun {
            return Ok(());
        }
        bytes.extend(b"\x1b8");
        bytes.extend(if self.usage == Use::Prompt { "\x1b[?25h" } else { "" }.bytes());
        bytes.extend(END.as_bytes());
        self.out.write_all(&bytes)
    }

    /// Prints lines below the previous output. The cursor must be at the beginning of a row.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        let lines = self.record(text);
        match self.usage {
            Use::Prompt => {
                let rows = |line: &String| wrapped(line, usize::from(self.size.columns).max(1)).join("\r\n");
                self.write(&lines.iter().map(|line| format!("{}\x1b[0m\r\n", rows(line))).collect::<String>())
            }
            Use::Browse => self.write_tail(),
        }
    }

    /// Records lines that are already on the screen; returns them with control characters removed.
    pub fn record(&mut self, text: &str) -> Vec<String> {
        let lines: Vec<String> = text.lines().map(clean).collect();
        self.recent_lines.extend(lines.iter().cloned());
        let surplus = self.recent_lines.len().saturating_sub(RECENT_LINES_MAX);
        self.recent_lines.drain(..surplus);
        lines
    }

    /// Shows a text in place of the first row of output below the panes.
    pub fn mark_first_row(&mut self, text: &str) -> io::Result<()> {
        let text = first_row(text, usize::from(self.size.columns));
        self.write(&format!("\x1b7\x1b[{};1H\x1b[2K\x1b[2m{text}\x1b[0m\x1b8", self.shown.area.height + 1))
    }

    /// Shows a status line in the row of the cursor, or in browse mode in the last row; an empty one removes it.
    pub fn set_status(&mut self, text: &str) -> io::Result<()> {
        self.status = first_row(&clean(&visible(text)), usize::from(self.size.columns).saturating_sub(1));
        match self.usage {
            Use::Prompt => self.write(&format!("\r\x1b[2K{}", self.status)),
            Use::Browse => self.write_tail(),
        }
    }

    fn write_tail(&mut self) -> io::Result<()> {
        self.write(&format!("{BEGIN}{}{END}", self.tail()))
    }

    /// Clears the row above the cursor, in which a line was read, and moves the cursor to it.
    pub fn clear_input_row(&mut self) -> io::Result<()> {
        self.write("\x1b[A\r\x1b[J")
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }
}

/// Appends the escape sequences that change the contents of the terminal from `before` to `after`.
fn encode(bytes: &mut Vec<u8>, before: &Buffer, after: &Buffer) -> io::Result<()> {
    let same_area = before.area == after.area;
    let empty = Buffer::empty(after.area);
    let changes = if same_area { before.diff(after) } else { empty.diff(after) };
    if changes.is_empty() { Ok(()) } else { CrosstermBackend::new(bytes).draw(changes.into_iter()) }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn emulator() -> vt100::Parser {
        vt100::Parser::new(NonZeroU16::MIN.saturating_add(9), NonZeroU16::MIN.saturating_add(19), 0)
    }

    /// The output of a panic in the worst case: in browse mode, in the middle of a frame.
    #[test]
    fn restoring_resets_all_modes() {
        let mut terminal = emulator();
        terminal.process(format!("before\r\n{ENTER}\x1b[?2004h{MOUSE_ON}\x1b[3;5r{BEGIN}\x1b7\x1b[?25l\x1b[7mframe").as_bytes());
        assert!(terminal.screen().alternate_screen());
        terminal.process(crate::ui::tty::guard::TerminalUse::Screen.reset_sequences().as_bytes());
        terminal.process(b"1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7");
        let screen = terminal.screen();
        assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor() && !screen.inverse());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert_eq!(screen.contents(), "before\n1\n2\n3\n4\n5\n6\n7");
    }

    #[test]
    fn the_prompt_has_a_fifth_of_the_rows() {
        let panes = |columns, rows| Size { columns, rows }.panes(Use::Prompt);
        assert_eq!(panes(80, 24), 19);
        assert_eq!(panes(200, 60), 48);
        assert_eq!(panes(80, 14), 9);
        assert_eq!(panes(80, 13), 0);
        assert_eq!(panes(39, 24), 0);
        assert_eq!(Size { columns: 1, rows: 1 }.panes(Use::Browse), 0);
    }

    #[test]
    fn a_frame_keeps_the_cursor_and_what_is_below() {
        let area = Rect::new(0, 0, 20, 4);
        let mut panes = Buffer::empty(area);
        panes.set_string(0, 0, "panes", ratatui::style::Style::new());
        let mut bytes = b"\x1b7".to_vec();
        encode(&mut bytes, &Buffer::empty(area), &panes).unwrap();
        bytes.extend(b"\x1b8");
        let mut terminal = emulator();
        terminal.process(b"\x1b[5;10r\x1b[10;1Hprompt> ");
        terminal.process(&bytes);
        assert_eq!(terminal.screen().cursor_position(), (9, 8));
        assert_eq!(terminal.screen().contents(), "panes\n\n\n\n\n\n\n\n\nprompt> ");
        bytes.clear();
        encode(&mut bytes, &panes, &panes.clone()).unwrap();
        assert!(bytes.is_empty());
    }
}
