//! The translation of keys between the terminal and its readers: the editor, the run and browse mode.
//!
//! The line editor does not recognize function keys with Shift. Therefore a separate thread reads the terminal and writes into a
//! pseudo-terminal, whose other end replaces standard input. Bytes are copied unchanged, except that:
//!
//! - a function key with modifiers that is in the key map becomes a private-use character of Unicode ([`private_use_char`]), which the
//!   editor can bind and the terminal's events report;
//! - a byte that is not UTF-8 becomes such a character, too: the editor would stop at it and lose the rest.
//!
//! The thread reads only while the terminal is used: keys that are typed at other times stay in the terminal.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, tcsetattr};

use crate::ui::bad_line::{BadLine, text_of};

/// The numbers of F1, F2 and so on in the escape sequences of terminals like the DEC VT220.
const NUMBERS: [&str; 20] =
    ["11", "12", "13", "14", "15", "17", "18", "19", "20", "21", "23", "24", "25", "26", "28", "29", "31", "32", "33", "34"];
/// The first of the private-use characters for keys.
const FIRST: u32 = 0x10_F000;
/// The private-use character for byte 0; those of other bytes follow.
const FIRST_BYTE: u32 = 0x10_F100;
/// The maximum time between the parts of an escape sequence.
const SEQUENCE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The private-use character for a function key with modifiers: 1 for Shift, 2 for Alt, 4 for Control, or a sum.
pub fn private_use_char(number: u8, modifiers: u8) -> Option<char> {
    let is_needed = (1..=12).contains(&number) && modifiers > 0 || (13..=20).contains(&number);
    char::from_u32(FIRST + u32::from(number) * 8 + u32::from(modifiers)).filter(|_| is_needed && modifiers < 8)
}

/// The function key of a private-use character, and its modifiers.
pub fn function_key(c: char) -> Option<(u8, u8)> {
    let code = u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()?;
    private_use_char(code / 8, code % 8).map(|_| (code / 8, code % 8))
}

/// The private-use character for a byte that is not UTF-8.
fn private_use_char_for_byte(byte: u8) -> char {
    char::from_u32(FIRST_BYTE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// True if a character represents a byte that is not UTF-8.
pub fn is_byte(c: char) -> bool {
    byte_of(c).is_some()
}

fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST_BYTE)?).ok().filter(|byte| !byte.is_ascii())
}

/// The line that was typed, with its original bytes.
///
/// # Errors
/// It has a byte that is not UTF-8.
pub fn typed(line: String) -> Result<String, BadLine> {
    if !line.contains(is_byte) {
        return Ok(line);
    }
    let mut bytes = Vec::new();
    for c in line.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    text_of(bytes)
}

/// The switch of the thread that reads keys.
static GATE: Gate = Gate { open: Mutex::new(false), changed: Condvar::new(), wake: OnceLock::new() };

struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    /// A write to this socket ends a wait for keys.
    wake: OnceLock<UnixStream>,
}

/// Starts reading keys.
pub fn resume() {
    *GATE.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
    GATE.changed.notify_all();
}

/// Stops reading keys: they stay in the terminal.
pub fn pause() {
    *GATE.open.lock().unwrap_or_else(PoisonError::into_inner) = false;
    if let Some(mut wake) = GATE.wake.get() {
        let _ = wake.write_all(&[0]);
    }
}

/// Waits until there are keys to be read.
fn wait_for_keys(terminal: BorrowedFd<'_>, woken: &mut UnixStream) -> io::Result<()> {
    loop {
        let open = GATE.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(GATE.changed.wait_while(open, |open| !*open).unwrap_or_else(PoisonError::into_inner));
        let mut ready = [PollFd::from_borrowed_fd(terminal, PollFlags::IN), PollFd::new(&*woken, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) if ready[1].revents().is_empty() => return Ok(()),
            Ok(_) => _ = woken.read(&mut [0; 64])?,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Replaces standard input by a pseudo-terminal with these modes, starts the thread that copies keys to it, and returns the terminal. Keys
/// are translated only to the private-use characters in `bound`.
pub fn divert(modes: &Termios, bound: BTreeSet<char>) -> io::Result<OwnedFd> {
    let terminal = io::stdin().as_fd().try_clone_to_owned()?;
    let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&keys)?;
    unlockpt(&keys)?;
    let end = rustix::fs::open(ptsname(&keys, Vec::new())?, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    tcsetattr(&end, OptionalActions::Now, modes)?;
    rustix::stdio::dup2_stdin(&end)?;
    let (from, to) = (File::from(terminal.try_clone()?), File::from(keys));
    // When the thread ends it closes its end, and the reader of standard input sees the end of the file.
    let (wake, woken) = UnixStream::pair()?;
    let is_first = GATE.wake.set(wake).is_ok();
    debug_assert!(is_first, "there is one keyboard");
    std::thread::spawn(move || copy_keys(from, to, woken, &bound));
    Ok(terminal)
}

fn copy_keys(mut from: File, mut to: File, mut woken: UnixStream, bound: &BTreeSet<char>) -> io::Result<()> {
    let mut bytes = [0; 1024];
    let mut pending = Vec::new();
    loop {
        wait_for_keys(from.as_fd(), &mut woken)?;
        let count = match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        pending.extend_from_slice(&bytes[..count]);
        let mut output = translated(&mut pending, bound);
        // An incomplete UTF-8 character stays pending without a timeout.
        if pending.first() == Some(&b'\x1b') && !more_comes(from.as_fd()) {
            output.append(&mut pending);
        }
        to.write_all(&output)?;
    }
}

/// True if more bytes arrive before the timeout of an escape sequence.
fn more_comes(terminal: BorrowedFd<'_>) -> bool {
    poll(&mut [PollFd::from_borrowed_fd(terminal, PollFlags::IN)], Some(&SEQUENCE_TIMEOUT)).is_ok_and(|ready| ready > 0)
}

/// The next sequence of the input.
enum Sequence {
    /// A sequence of this many bytes, translated to a character.
    Translated(char, usize),
    /// A sequence whose end is missing.
    Incomplete,
    /// This many bytes, copied unchanged.
    Unchanged(usize),
}

/// Translates the complete sequences of `pending` and removes them; an incomplete one stays.
fn translated(pending: &mut Vec<u8>, bound: &BTreeSet<char>) -> Vec<u8> {
    let mut output = Vec::with_capacity(pending.len());
    let mut at = 0;
    while at < pending.len() {
        match sequence(&pending[at..], bound) {
            Sequence::Translated(c, length) => {
                output.extend(c.to_string().bytes());
                at += length;
            }
            Sequence::Incomplete => break,
            Sequence::Unchanged(length) => {
                output.extend_from_slice(&pending[at..at + length]);
                at += length;
            }
        }
    }
    pending.drain(..at);
    output
}

/// `ESC [ 1 ; MODIFIERS P` to `S`, or `ESC [ NUMBER ; MODIFIERS ~`. An escape at the very end is the key of that name.
fn sequence(bytes: &[u8], bound: &BTreeSet<char>) -> Sequence {
    let Some(rest) = bytes.strip_prefix(b"\x1b[") else { return character(bytes) };
    let length = rest.iter().take(5).take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    let Some(last) = rest.get(length) else { return Sequence::Incomplete };
    let numbers = std::str::from_utf8(&rest[..length]).unwrap_or_default();
    let (key, modifiers) = numbers.split_once(';').unwrap_or((numbers, "1"));
    let number = match (key, last) {
        ("1", b'P'..=b'S') => Some(last - b'P' + 1),
        (_, b'~') => (1..).zip(NUMBERS).find(|(_, name)| *name == key).map(|(number, _)| number),
        _ => None,
    };
    let modifiers = modifiers.parse::<u8>().ok().and_then(|modifiers| modifiers.checked_sub(1));
    match number.zip(modifiers).and_then(|(number, modifiers)| private_use_char(number, modifiers)) {
        Some(c) if bound.contains(&c) => Sequence::Translated(c, b"\x1b[".len() + length + 1),
        _ => Sequence::Unchanged(1),
    }
}

/// The first UTF-8 character of `bytes`, or the first byte if it is invalid.
fn character(bytes: &[u8]) -> Sequence {
    match bytes.utf8_chunks().next() {
        Some(chunk) if chunk.valid().is_empty() && is_beginning(bytes) => Sequence::Incomplete,
        Some(chunk) if chunk.valid().is_empty() => Sequence::Translated(private_use_char_for_byte(bytes[0]), 1),
        Some(chunk) => Sequence::Unchanged(chunk.valid().chars().next().map_or(1, char::len_utf8)),
        None => Sequence::Unchanged(0),
    }
}

/// True if `bytes` are an incomplete UTF-8 character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> (String, Vec<u8>) {
        after_bytes(text.as_bytes())
    }

    fn after_bytes(bytes: &[u8]) -> (String, Vec<u8>) {
        let bound = [private_use_char(5, 1), private_use_char(1, 1), private_use_char(13, 0)].into_iter().flatten().collect();
        let mut pending = bytes.to_vec();
        (String::from_utf8(translated(&mut pending, &bound)).unwrap_or_default(), pending)
    }

    #[test]
    fn bound_keys_become_characters_and_other_bytes_are_unchanged() {
        assert_eq!(after("a\x1b[15;2~b\x1b[1;2P"), ("a\u{10F029}b\u{10F009}".to_string(), vec![]));
        assert_eq!(after("\x1b[25~"), ("\u{10F068}".to_string(), vec![]));
        for other in [
            "",
            "é",
            "\x1b",
            "\x1b\x1b",
            "\x1b[15~",
            "\x1b[17;2~",
            "\x1b[1;2A",
            "\x1b[200~x\x1b[201~",
            "\x1b[<0;10;5M",
            "\x1b[15;9~",
            "\x1b[;~",
        ] {
            assert_eq!(after(other), (other.to_string(), vec![]));
        }
    }

    #[test]
    fn an_incomplete_sequence_stays_pending() {
        assert_eq!(after("a\x1b[15;2"), ("a".to_string(), b"\x1b[15;2".to_vec()));
        assert_eq!(after("\x1b["), (String::new(), b"\x1b[".to_vec()));
    }

    #[test]
    fn bytes_that_are_not_utf8_become_characters_and_are_reported() {
        let (output, pending) = after_bytes(b"print 1\xff\xc3\r\xc3\xa9");
        assert_eq!((output.as_str(), pending.as_slice()), ("print 1\u{10F1FF}\u{10F1C3}\ré", &b""[..]));
        let line = output.split('\r').next().unwrap_or_default().to_string();
        let bad = typed(line).unwrap_err();
        assert_eq!((bad.line.as_str(), bad.error.message.as_str()), ("print 1\u{fffd}\u{fffd}", "byte 0xff is not UTF-8"));
        assert_eq!(typed("é\u{10F029}".to_string()), Ok("é\u{10F029}".to_string()));
        assert_eq!(after_bytes(b"a\xe5\xb9"), ("a".to_string(), b"\xe5\xb9".to_vec()));
        assert_eq!(after_bytes(b"\xe5a").0, "\u{10F1E5}a");
    }

    #[test]
    fn each_key_has_one_character() {
        for (number, modifiers) in (0..=255).flat_map(|number| (0..=255).map(move |modifiers| (number, modifiers))) {
            let Some(c) = private_use_char(number, modifiers) else { continue };
            assert_eq!(function_key(c), Some((number, modifiers)));
        }
        assert_eq!(function_key('a'), None);
        assert_eq!(function_key('\u{10FFFF}'), None);
    }
}
