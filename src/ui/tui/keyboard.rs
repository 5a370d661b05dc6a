//! Keys on their way from the terminal to those who read them.
//!
//! The line editor cannot tell a function key with Shift held down from one that it does not know. Therefore a thread of its own reads the
//! terminal and writes into a pseudo-terminal, the other end of which is standard input from then on. Bytes go through as they come, except
//! that a function key with something held down, where the key map has it, becomes a character of Unicode's private use ([`stand_in`]):
//! the editor can bind it, and the terminal's events report it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, tcsetattr};

/// The numbers by which terminals of the DEC VT220 kind call F1, F2 and so on.
const NUMBERS: [&str; 20] =
    ["11", "12", "13", "14", "15", "17", "18", "19", "20", "21", "23", "24", "25", "26", "28", "29", "31", "32", "33", "34"];
/// The first of the characters that stand for keys.
const FIRST: u32 = 0x10_F000;
/// How long a sequence may take that came in parts.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The character that stands for a function key; `held` is 1 for Shift, 2 for Alt, 4 for Control, or a sum.
pub fn stand_in(number: u8, held: u8) -> Option<char> {
    let is_needed = (1..=12).contains(&number) && held > 0 || (13..=20).contains(&number);
    char::from_u32(FIRST + u32::from(number) * 8 + u32::from(held)).filter(|_| is_needed && held < 8)
}

/// The function key that a character stands for, and what is held down.
pub fn function_key(c: char) -> Option<(u8, u8)> {
    let code = u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()?;
    stand_in(code / 8, code % 8).map(|_| (code / 8, code % 8))
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
    // Where one end is gone, the other is closed: who reads standard input is told.
    std::thread::spawn(move || pass_on(from, to, &wanted));
    Ok(terminal)
}

fn pass_on(mut from: File, mut to: File, wanted: &BTreeSet<char>) -> io::Result<()> {
    let mut bytes = [0; 1024];
    let mut waiting = Vec::new();
    loop {
        let count = match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        waiting.extend_from_slice(&bytes[..count]);
        let mut passed = translated(&mut waiting, wanted);
        if !waiting.is_empty() && !more_comes(from.as_fd()) {
            passed.append(&mut waiting);
        }
        to.write_all(&passed)?;
    }
}

/// Whether the rest of a sequence follows its beginning.
fn more_comes(terminal: BorrowedFd<'_>) -> bool {
    poll(&mut [PollFd::from_borrowed_fd(terminal, PollFlags::IN)], Some(&PATIENCE)).is_ok_and(|ready| ready > 0)
}

/// What begins with an escape.
enum Sequence {
    /// It is to become `.0`; it has this many bytes.
    Wanted(char, usize),
    /// Its end has not come yet.
    Unfinished,
    /// It goes through as it is.
    Other,
}

/// What `waiting` becomes. The beginning of a sequence stays in it.
fn translated(waiting: &mut Vec<u8>, wanted: &BTreeSet<char>) -> Vec<u8> {
    let mut passed = Vec::with_capacity(waiting.len());
    let mut at = 0;
    while let Some(byte) = waiting.get(at) {
        match sequence(&waiting[at..], wanted) {
            Sequence::Wanted(c, length) => {
                passed.extend(c.to_string().bytes());
                at += length;
            }
            Sequence::Unfinished => break,
            Sequence::Other => {
                passed.push(*byte);
                at += 1;
            }
        }
    }
    waiting.drain(..at);
    passed
}

/// `ESC [ 1 ; HELD P` to `S`, or `ESC [ NUMBER ; HELD ~`. An escape at the very end is the key of that name.
fn sequence(bytes: &[u8], wanted: &BTreeSet<char>) -> Sequence {
    let Some(rest) = bytes.strip_prefix(b"\x1b[") else { return Sequence::Other };
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
    match number.zip(held).and_then(|(number, held)| stand_in(number, held)) {
        Some(c) if wanted.contains(&c) => Sequence::Wanted(c, b"\x1b[".len() + length + 1),
        _ => Sequence::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(bytes: &str) -> (String, Vec<u8>) {
        let wanted = [stand_in(5, 1), stand_in(1, 1), stand_in(13, 0)].into_iter().flatten().collect();
        let mut waiting = bytes.as_bytes().to_vec();
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
    fn a_character_stands_for_one_key() {
        for (number, held) in (0..=255).flat_map(|number| (0..=255).map(move |held| (number, held))) {
            let Some(c) = stand_in(number, held) else { continue };
            assert_eq!(function_key(c), Some((number, held)));
        }
        assert_eq!(function_key('a'), None);
        assert_eq!(function_key('\u{10FFFF}'), None);
    }
}
