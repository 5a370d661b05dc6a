//! A process that restores the terminal if the debugger ends without restoring it.
//!
//! It is a second process of this program, started before the terminal is changed. It reads the terminal modes, reports that it is ready,
//! and waits on a socket on which the debugger sends each [`TerminalUse`]. When the socket closes, it restores the terminal according to
//! the last use. It is the leader of a session without a terminal, so that no key and no hang-up of the terminal ends it early, and it ends
//! on request, or after the debugger.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::guard::TerminalUse;

/// The only argument of a restorer.
const ARGUMENT: &str = "__restore-terminal";
/// The byte that a restorer sends when it is ready.
const READY: u8 = b'!';
/// The byte that ends a restorer without restoring the terminal.
const DISMISS: u8 = b'q';
/// The timeout for the start of a restorer.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The restorer of this process, while it runs.
static RESTORER: Mutex<Option<Restorer>> = Mutex::new(None);

struct Restorer {
    process: Child,
    socket: UnixStream,
}

/// The arguments that start this program, if they are not only its executable file.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the arguments that start this program, if its executable file is an interpreter. Only the first call has an effect.
pub fn set_program(arguments: Vec<OsString>) {
    assert!(!arguments.is_empty(), "a program has a name");
    let _ = PROGRAM.set(arguments);
}

/// True if a process with these arguments, its name first, must run as a restorer.
pub fn is_requested(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, argument] if argument == OsStr::new(ARGUMENT))
}

/// Starts a restorer for the terminal of standard input and output.
///
/// # Errors
/// It cannot be started, or is not ready in time.
pub fn start() -> io::Result<()> {
    let (mut socket, remote) = UnixStream::pair()?;
    let executable = || std::env::current_exe().map(|file| vec![file.into_os_string()]);
    let program = PROGRAM.get().cloned().map_or_else(executable, Ok)?;
    let mut process = Command::new(&program[0])
        .args(&program[1..])
        .arg(ARGUMENT)
        .stdin(Stdio::from(OwnedFd::from(remote)))
        .stdout(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?))
        .stderr(Stdio::from(io::stdin().as_fd().try_clone_to_owned()?))
        .spawn()?;
    socket.set_read_timeout(Some(START_TIMEOUT))?;
    let mut reply = [0];
    if let Err(error) = socket.read_exact(&mut reply) {
        let _ = process.kill().and_then(|()| process.wait());
        return Err(error);
    }
    *RESTORER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Restorer { process, socket });
    Ok(())
}

/// Sends the new use of the terminal to the restorer, if it runs.
pub fn send(usage: TerminalUse) {
    // A signal may arrive while the lock is held: its handler then sends nothing, because the owner of the lock is sending.
    if let Ok(mut restorer) = RESTORER.try_lock()
        && let Some(restorer) = restorer.as_mut()
    {
        let _ = restorer.socket.write_all(&[usage as u8]);
    }
}

/// Ends the restorer after the terminal has been restored.
pub fn dismiss() {
    let restorer = RESTORER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Restorer { mut process, mut socket }) = restorer {
        let _ = socket.write_all(&[DISMISS]);
        drop(socket);
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
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.write_all(&[READY])?;
    let mut last = TerminalUse::Released;
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(1..) if byte[0] == DISMISS => return Ok(()),
            Ok(1..) => last = TerminalUse::from_byte(byte[0]).unwrap_or(last),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
        }
    }
    if last == TerminalUse::Released {
        return Ok(());
    }
    // Without a delay, before a shell sets its own modes.
    tcsetattr(&terminal, OptionalActions::Now, &before)?;
    let mut out = super::guard::unbuffered(out.as_fd())?;
    out.write_all(last.reset_sequences().as_bytes())
}
