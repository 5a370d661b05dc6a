//! A process that restores the terminal when the debugger ends without having done so.
//!
//! It is this program once more, started before anything of the terminal is changed. It reads the terminal's modes, reports that it is
//! ready, and waits on a socket on which the debugger sends each [`Hold`]: the last one sent is what has to be undone when the socket
//! closes, for whatever reason the debugger ends. It is the leader of a session without a terminal, so that no key and no hang-up of the
//! terminal ends it before, and it ends on request, or with the debugger.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::hold::Hold;

/// The only argument of a restorer.
const WORD: &str = "__restore-terminal";
/// Sent by a restorer when it is ready, and received by it when it is not needed any more.
const READY: u8 = b'!';
const DISMISS: u8 = b'q';
/// Far longer than a restorer takes to start.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The restorer of this process, once it is started and until it is dismissed.
static RESTORER: Mutex<Option<Restorer>> = Mutex::new(None);

struct Restorer {
    process: Child,
    line: UnixStream,
}

/// The words that start this program, where that is not its file alone.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says which words start this program, where its file is that of an interpreter; the first time counts.
pub fn set_program(words: Vec<OsString>) {
    assert!(!words.is_empty(), "a program has a name");
    let _ = PROGRAM.set(words);
}

/// Whether a process with these words, its name first, is to be a restorer.
pub fn is_wanted(words: &[OsString]) -> bool {
    matches!(words, [_, word] if word == OsStr::new(WORD))
}

/// Starts the restorer of the terminal that standard input and output are.
///
/// # Errors
/// It cannot be started, or is not ready in time.
pub fn start() -> io::Result<()> {
    let (mut line, far) = UnixStream::pair()?;
    let own = || std::env::current_exe().map(|file| vec![file.into_os_string()]);
    let program = PROGRAM.get().cloned().map_or_else(own, Ok)?;
    let mut process = Command::new(&program[0])
        .args(&program[1..])
        .arg(WORD)
        .stdin(Stdio::from(OwnedFd::from(far)))
        .stdout(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?))
        .stderr(Stdio::from(io::stdin().as_fd().try_clone_to_owned()?))
        .spawn()?;
    line.set_read_timeout(Some(START_TIMEOUT))?;
    let mut said = [0];
    if let Err(error) = line.read_exact(&mut said) {
        let _ = process.kill().and_then(|()| process.wait());
        return Err(error);
    }
    *RESTORER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Restorer { process, line });
    Ok(())
}

/// Sends the restorer how the terminal is used from now on. Nothing is sent to one that is gone.
pub fn send(hold: Hold) {
    // A signal may arrive while the lock is held: its handler then sends nothing, as the holder is sending.
    if let Ok(mut restorer) = RESTORER.try_lock()
        && let Some(restorer) = restorer.as_mut()
    {
        let _ = restorer.line.write_all(&[hold as u8]);
    }
}

/// Ends the restorer: the terminal is as it was.
pub fn dismiss() {
    let restorer = RESTORER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Restorer { mut process, mut line }) = restorer {
        let _ = line.write_all(&[DISMISS]);
        drop(line);
        let _ = process.wait();
    }
}

/// Runs as a restorer: standard input is its end of the socket, standard output and standard error are the terminal.
///
/// # Errors
/// It was not started by a debugger on a terminal.
pub fn run() -> io::Result<()> {
    rustix::process::setsid()?;
    let (terminal, out) = (io::stderr(), io::stdout());
    let before = tcgetattr(&terminal)?;
    let mut line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    line.write_all(&[READY])?;
    let mut last = Hold::Released;
    let mut byte = [0];
    loop {
        match line.read(&mut byte) {
            Ok(1..) if byte[0] == DISMISS => return Ok(()),
            Ok(1..) => last = Hold::from_byte(byte[0]).unwrap_or(last),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
        }
    }
    if last == Hold::Released {
        return Ok(());
    }
    // At once, before a shell sets modes of its own.
    tcsetattr(&terminal, OptionalActions::Now, &before)?;
    let mut out = super::hold::unbuffered(out.as_fd())?;
    out.write_all(last.undo().as_bytes())
}
