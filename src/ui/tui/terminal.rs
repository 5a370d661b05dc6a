//! What goes to the terminal, byte by byte: the panes above, the scroll region for the prompt below.
//!
//! Everything goes out through one unbuffered file, and what belongs together in one write, so that nothing can come between. The
//! sequences are those of the DEC VT100 and of xterm (`ctlseqs`); the terminal forgets the scroll region whenever its size changes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::wrap::{clean, wrapped};
use crate::ui::tty::hold::{self, unbuffered};
use crate::ui::visible::visible;

/// Alternate screen; the wheel is not turned into arrow keys.
const ENTER: &str = "\x1b[?1049h\x1b[?1007l";
/// Margins before the alternate screen, which may share them with the main one.
const LEAVE: &str = "\x1b[?2026l\x1b[r\x1b[0m\x1b[?25h\x1b[?1049l";
/// What follows is shown at once, by terminals that know how.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// The mouse reports presses and the wheel, in numbers.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// Smallest screen that has panes.
const COLUMNS_MIN: u16 = 40;
const ROWS_MIN: u16 = 14;
/// A terminal that does not know its size.
const SIZE_UNKNOWN: Size = Size { columns: 80, rows: 24 };
/// Lines of the transcript that can be shown again.
const SAID_MAX: usize = 200;
/// Rows below the panes while one browses: what was said last, and what keys there are.
const BROWSE_ROWS: u16 = 4;

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// The size that the screen was laid out for last, to compare with the real one.
#[derive(Clone, Default)]
pub struct LaidOut(Arc<AtomicU32>);

/// What the rows are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Panes above, the prompt below.
    Prompt,
    /// Panes, and a few rows below where no line is typed.
    Browse,
}

/// Whether the terminal marks what is pasted, as the line editor wants it while it reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pasting {
    /// It does.
    Marked,
    /// It does not.
    Plain,
}

/// The terminal, laid out.
pub struct Terminal {
    out: File,
    size: Size,
    usage: Use,
    /// The panes as the terminal shows them.
    shown: Buffer,
    /// The last lines that were said.
    output_buffer: VecDeque<String>,
    /// What stands in the last row while one browses, and in the row of the cursor while the kernel runs.
    status: String,
    laid_out: LaidOut,
}

impl Size {
    /// That of the terminal.
    pub fn now() -> Self {
        match rustix::termios::tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Self { columns: size.ws_col, rows: size.ws_row },
            _ => SIZE_UNKNOWN,
        }
    }

    /// Rows for panes.
    fn panes(self, usage: Use) -> u16 {
        match usage {
            Use::Browse => self.rows.saturating_sub(BROWSE_ROWS),
            Use::Prompt if self.columns < COLUMNS_MIN || self.rows < ROWS_MIN => 0,
            Use::Prompt => self.rows - (self.rows / 3).clamp(6, 14),
        }
    }
}

impl LaidOut {
    /// Whether the screen was laid out for another size.
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
    /// The terminal of standard output. Nothing is written yet.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            out: unbuffered(io::stdout().as_fd())?,
            size: Size::now(),
            usage: Use::Prompt,
            shown: Buffer::default(),
            output_buffer: VecDeque::new(),
            status: String::new(),
            laid_out: LaidOut::default(),
        })
    }

    /// Goes to the alternate screen, which is empty then.
    pub fn enter(&mut self) -> io::Result<()> {
        let mouse = if self.usage == Use::Browse { MOUSE_ON } else { "" };
        self.write(&format!("{ENTER}{mouse}"))
    }

    /// Goes back to the main screen.
    pub fn leave(&mut self) -> io::Result<()> {
        let mouse = if self.usage == Use::Browse { MOUSE_OFF } else { "" };
        self.write(&format!("{mouse}{LEAVE}"))
    }

    /// Ctrl-Z: gives the terminal back, stops the process, and takes it again when it is continued; everything has to be drawn then.
    pub fn suspend(&mut self, pasting: Pasting) -> io::Result<()> {
        let mark = |terminal: &mut Self, marked| if pasting == Pasting::Marked { terminal.mark_pasting(marked) } else { Ok(()) };
        mark(self, false)?;
        self.leave()?;
        hold::suspend()?;
        mark(self, true)?;
        self.enter()
    }

    /// The terminal marks what is pasted, or does not.
    fn mark_pasting(&mut self, marked: bool) -> io::Result<()> {
        self.write(if marked { "\x1b[?2004h" } else { "\x1b[?2004l" })
    }

    /// From now on the rows are for this; they have to be laid out anew.
    pub fn set_use(&mut self, usage: Use) -> io::Result<()> {
        self.usage = usage;
        self.status.clear();
        self.write(if usage == Use::Browse { MOUSE_ON } else { MOUSE_OFF })
    }

    /// The size that it was laid out for.
    pub fn laid_out(&self) -> LaidOut {
        self.laid_out.clone()
    }

    /// Whether the size has changed since it was laid out.
    pub fn is_stale(&self) -> bool {
        self.laid_out.differs(Size::now())
    }

    /// Where panes are drawn; empty if there is no room for any.
    pub fn panes(&self) -> Rect {
        Rect::new(0, 0, self.size.columns, self.size.panes(self.usage))
    }

    /// Takes up the size of the terminal: [`Self::panes`] is that of the next [`Self::lay_out`].
    pub fn measure(&mut self) {
        self.size = Size::now();
    }

    /// Writes everything anew. The cursor is then at the beginning of the last row.
    pub fn lay_out(&mut self, panes: Buffer) -> io::Result<()> {
        let top = panes.area.height;
        let rows = self.size.rows;
        let mut bytes = format!("{BEGIN}\x1b[0m\x1b[r\x1b[H\x1b[2J").into_bytes();
        // A region of one row is none.
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

    /// What was said last, in the rows between the panes and the last one, and while one browses the status below it.
    fn tail(&self) -> String {
        let columns = usize::from(self.size.columns);
        let room = self.size.rows.saturating_sub(self.shown.area.height + 1);
        let mut lines: Vec<String> = Vec::new();
        for line in self.output_buffer.iter().rev().take(usize::from(room)) {
            lines.extend(wrapped(line, columns).into_iter().rev());
        }
        let mut text = String::new();
        for (index, line) in lines.iter().take(usize::from(room)).enumerate() {
            let row = usize::from(self.size.rows) - 1 - index;
            text += &format!("\x1b[{row};1H\x1b[2K{line}\x1b[0m");
        }
        if self.usage == Use::Browse {
            let status = wrapped(&self.status, columns).into_iter().next().unwrap_or_default();
            text += &format!("\x1b[{};1H\x1b[2K\x1b[7m{status}\x1b[K\x1b[0m\x1b[?25l", self.size.rows);
        }
        text
    }

    /// Shows panes: writes what differs from what is shown. The cursor stays where it is.
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

    /// Writes lines below what was said before. The cursor must stand at the beginning of a row.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        let lines = self.note(text);
        match self.usage {
            Use::Prompt => self.write(&lines.iter().map(|line| format!("{line}\x1b[0m\r\n")).collect::<String>()),
            Use::Browse => self.write_tail(),
        }
    }

    /// Remembers lines that are on the screen already; the lines as they can be written.
    pub fn note(&mut self, text: &str) -> Vec<String> {
        let lines: Vec<String> = text.lines().map(clean).collect();
        self.output_buffer.extend(lines.iter().cloned());
        let surplus = self.output_buffer.len().saturating_sub(SAID_MAX);
        self.output_buffer.drain(..surplus);
        lines
    }

    /// Shows a line that is not said, in the row of the cursor or while one browses in the last row; an empty one takes it away.
    pub fn set_status(&mut self, text: &str) -> io::Result<()> {
        self.status =
            wrapped(&clean(&visible(text)), usize::from(self.size.columns).saturating_sub(1)).into_iter().next().unwrap_or_default();
        match self.usage {
            Use::Prompt => self.write(&format!("\r\x1b[2K{}", self.status)),
            Use::Browse => self.write_tail(),
        }
    }

    fn write_tail(&mut self) -> io::Result<()> {
        self.write(&format!("{BEGIN}{}{END}", self.tail()))
    }

    /// Takes the row above the cursor away, in which a line was read: what is written next stands there.
    pub fn take_back_row(&mut self) -> io::Result<()> {
        self.write("\x1b[A\r\x1b[J")
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }
}

/// What turns `before` into `after` on the terminal.
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

    /// What a panic writes, at the worst moment: browsing, in the middle of a frame.
    #[test]
    fn giving_back_undoes_everything() {
        let mut terminal = emulator();
        terminal.process(format!("before\r\n{ENTER}\x1b[?2004h{MOUSE_ON}\x1b[3;5r{BEGIN}\x1b7\x1b[?25l\x1b[7mframe").as_bytes());
        assert!(terminal.screen().alternate_screen());
        terminal.process(crate::ui::tty::hold::Hold::Screen.undo().as_bytes());
        terminal.process(b"1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7");
        let screen = terminal.screen();
        assert!(!screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor() && !screen.inverse());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert_eq!(screen.contents(), "before\n1\n2\n3\n4\n5\n6\n7");
    }

    #[test]
    fn the_prompt_has_a_third_of_the_rows() {
        let panes = |columns, rows| Size { columns, rows }.panes(Use::Prompt);
        assert_eq!(panes(80, 24), 16);
        assert_eq!(panes(200, 60), 46);
        assert_eq!(panes(80, 14), 8);
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
