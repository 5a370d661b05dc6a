//! Keys on their way from the terminal to the editor, the run and browse mode.
//!
//! The line editor takes a function key with Shift held down for one that it does not know. Therefore a thread of its own reads the
//! terminal and writes into a pseudo-terminal, the other end of which is standard input from then on. Bytes go through as they come, except
//! that:
//!
//! - a function key with something held down, where the key map has it, becomes a character of Unicode's private use
//!   ([`private_use_char`]): the editor can bind it, and the terminal's events report it;
//! - a byte that is not UTF-8 becomes such a character too: the editor would end at it, and lose what followed.
//!
//! The thread reads only while the terminal is used: what is typed at other times stays with the terminal.

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

/// The numbers by which terminals of the DEC VT220 kind call F1, F2 and so on.
const NUMBERS: [&str; 20] =
    ["11", "12", "13", "14", "15", "17", "18", "19", "20", "21", "23", "24", "25", "26", "28", "29", "31", "32", "33", "34"];
/// The first of the characters that stand for keys.
const FIRST: u32 = 0x10_F000;
/// The character that stands for byte 0; those of other bytes follow.
const FIRST_BYTE: u32 = 0x10_F100;
/// How long a sequence may take that came in parts.
const SEQUENCE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The character that stands for a function key; `held` is 1 for Shift, 2 for Alt, 4 for Control, or a sum.
pub fn private_use_char(number: u8, held: u8) -> Option<char> {
    let is_needed = (1..=12).contains(&number) && held > 0 || (13..=20).contains(&number);
    char::from_u32(FIRST + u32::from(number) * 8 + u32::from(held)).filter(|_| is_needed && held < 8)
}

/// The function key that a character stands for, and what is held down.
pub fn function_key(c: char) -> Option<(u8, u8)> {
    let code = u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()?;
    private_use_char(code / 8, code % 8).map(|_| (code / 8, code % 8))
}

/// The character that stands for a byte which is not UTF-8.
fn private_use_char_for_byte(byte: u8) -> char {
    char::from_u32(FIRST_BYTE + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Whether a character stands for a byte which is not UTF-8.
pub fn is_byte(c: char) -> bool {
    byte_of(c).is_some()
}

fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST_BYTE)?).ok().filter(|byte| !byte.is_ascii())
}

/// The line that was typed, if it is text.
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

/// Whether keys are read.
static GATE: Gate = Gate { open: Mutex::new(false), changed: Condvar::new(), wake: OnceLock::new() };

struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    /// What is written here ends a wait for keys.
    wake: OnceLock<UnixStream>,
}

/// From now on keys are read.
pub fn resume() {
    *GATE.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
    GATE.changed.notify_all();
}

/// From now on keys stay with the terminal.
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

/// Puts itself between the terminal and standard input, which has these modes then; the terminal itself. Of the characters that stand for
/// keys only `wanted` are made.
pub fn divert(modes: &Termios, wanted: BTreeSet<char>) -> io::Result<OwnedFd> {
    let terminal = io::stdin().as_fd().try_clone_to_owned()?;
    let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&keys)?;
    unlockpt(&keys)?;
    let end = rustix::fs::open(ptsname(&keys, Vec::new())?, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    tcsetattr(&end, OptionalActions::Now, modes)?;
    rustix::stdio::dup2_stdin(&end)?;
    let (from, to) = (File::from(terminal.try_clone()?), File::from(keys));
    // Where one end is gone, the other is closed: the reader of standard input sees its end.
    let (wake, woken) = UnixStream::pair()?;
    let is_first = GATE.wake.set(wake).is_ok();
    debug_assert!(is_first, "there is one keyboard");
    std::thread::spawn(move || pass_on(from, to, woken, &wanted));
    Ok(terminal)
}

fn pass_on(mut from: File, mut to: File, mut woken: UnixStream, wanted: &BTreeSet<char>) -> io::Result<()> {
    let mut bytes = [0; 1024];
    let mut waiting = Vec::new();
    loop {
        wait_for_keys(from.as_fd(), &mut woken)?;
        let count = match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        waiting.extend_from_slice(&bytes[..count]);
        let mut passed = translated(&mut waiting, wanted);
        // The beginning of a character waits for its end, however long that takes.
        if waiting.first() == Some(&b'\x1b') && !more_comes(from.as_fd()) {
            passed.append(&mut waiting);
        }
        to.write_all(&passed)?;
    }
}

/// Whether the rest of a sequence follows its beginning.
fn more_comes(terminal: BorrowedFd<'_>) -> bool {
    poll(&mut [PollFd::from_borrowed_fd(terminal, PollFlags::IN)], Some(&SEQUENCE_TIMEOUT)).is_ok_and(|ready| ready > 0)
}

/// What comes next.
enum Sequence {
    /// It is to become `.0`; it has this many bytes.
    Wanted(char, usize),
    /// Its end has not come yet.
    Unfinished,
    /// This many bytes go through as they are.
    Other(usize),
}

/// What `waiting` becomes. The beginning of a sequence stays in it.
fn translated(waiting: &mut Vec<u8>, wanted: &BTreeSet<char>) -> Vec<u8> {
    let mut passed = Vec::with_capacity(waiting.len());
    let mut at = 0;
    while at < waiting.len() {
        match sequence(&waiting[at..], wanted) {
            Sequence::Wanted(c, length) => {
                passed.extend(c.to_string().bytes());
                at += length;
            }
            Sequence::Unfinished => break,
            Sequence::Other(length) => {
                passed.extend_from_slice(&waiting[at..at + length]);
                at += length;
            }
        }
    }
    waiting.drain(..at);
    passed
}

/// `ESC [ 1 ; HELD P` to `S`, or `ESC [ NUMBER ; HELD ~`. An escape at the very end is the key of that name.
fn sequence(bytes: &[u8], wanted: &BTreeSet<char>) -> Sequence {
    let Some(rest) = bytes.strip_prefix(b"\x1b[") else { return character(bytes) };
    let length = rest.iter().take(5).take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    let Some(last) = rest.get(length) else { return Sequence::Unfinished };
    let numbers = std::str::from_utf8(&rest[..length]).unwrap_or_default();
    let (key, held) = numbers.split_once(';').unwrap_or((numbers, "1"));
    let number = match (key, last) {
        ("1", b'P'..=b'S') => Some(last - b'P' + 1),
        (_, b'~') => (1..).zip(NUMBERS).find(|(_, name)| *name == key).map(|(number, _)| number),
        _ => None,
    };
    let held = held.parse::<u8>().ok().and_then(|held| held.checked_sub(1));
    match number.zip(held).and_then(|(number, held)| private_use_char(number, held)) {
        Some(c) if wanted.contains(&c) => Sequence::Wanted(c, b"\x1b[".len() + length + 1),
        _ => Sequence::Other(1),
    }
}

/// The character that `bytes` begin with, or its first byte if that cannot be part of one.
fn character(bytes: &[u8]) -> Sequence {
    match bytes.utf8_chunks().next() {
        Some(chunk) if chunk.valid().is_empty() && is_beginning(bytes) => Sequence::Unfinished,
        Some(chunk) if chunk.valid().is_empty() => Sequence::Wanted(private_use_char_for_byte(bytes[0]), 1),
        Some(chunk) => Sequence::Other(chunk.valid().chars().next().map_or(1, char::len_utf8)),
        None => Sequence::Other(0),
    }
}

/// Whether `bytes` are the beginning of a character, without its end.
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
        let wanted = [private_use_char(5, 1), private_use_char(1, 1), private_use_char(13, 0)].into_iter().flatten().collect();
        let mut waiting = bytes.to_vec();
        (String::from_utf8(translated(&mut waiting, &wanted)).unwrap_or_default(), waiting)
    }

    #[test]
    fn wanted_keys_become_characters_and_all_else_goes_through() {
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
    fn the_beginning_of_a_sequence_waits() {
        assert_eq!(after("a\x1b[15;2"), ("a".to_string(), b"\x1b[15;2".to_vec()));
        assert_eq!(after("\x1b["), (String::new(), b"\x1b[".to_vec()));
    }

    #[test]
    fn what_is_no_text_becomes_characters_and_is_reported() {
        let (passed, waiting) = after_bytes(b"print 1\xff\xc3\r\xc3\xa9");
        assert_eq!((passed.as_str(), waiting.as_slice()), ("print 1\u{10F1FF}\u{10F1C3}\ré", &b""[..]));
        let line = passed.split('\r').next().unwrap_or_default().to_string();
        let bad = typed(line).unwrap_err();
        assert_eq!((bad.line.as_str(), bad.error.message.as_str()), ("print 1\u{fffd}\u{fffd}", "byte 0xff is not UTF-8"));
        assert_eq!(typed("é\u{10F029}".to_string()), Ok("é\u{10F029}".to_string()));
        assert_eq!(after_bytes(b"a\xe5\xb9"), ("a".to_string(), b"\xe5\xb9".to_vec()));
        assert_eq!(after_bytes(b"\xe5a").0, "\u{10F1E5}a");
    }

    #[test]
    fn a_character_stands_for_one_key() {
        for (number, held) in (0..=255).flat_map(|number| (0..=255).map(move |held| (number, held))) {
            let Some(c) = private_use_char(number, held) else { continue };
            assert_eq!(function_key(c), Some((number, held)));
        }
        assert_eq!(function_key('a'), None);
        assert_eq!(function_key('\u{10FFFF}'), None);
    }
}
