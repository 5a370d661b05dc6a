//! Commands of the shell.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long a command runs between two checks for Ctrl-C.
const SLICE: Duration = Duration::from_millis(50);

/// Runs `command` with `sh -c`, without input, and passes on what it writes. It is ended where `should_continue` says no.
///
/// Returns a message if it could not be run, or did not end well.
///
/// # Errors
/// The output cannot be written.
pub fn run(
    command: &str,
    should_continue: &mut dyn FnMut() -> bool,
    written: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Result<(), String>> {
    let started = start(command);
    let (mut child, output) = match started {
        Ok(started) => started,
        Err(error) => return Ok(Err(format!("the shell cannot be run: {error}"))),
    };
    loop {
        match output.recv_timeout(SLICE) {
            Ok(bytes) => written(&bytes)?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if should_continue() => {}
            Err(RecvTimeoutError::Timeout) => {
                // It may have ended by itself in the meantime.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(Err("interrupted".to_string()));
            }
        }
    }
    Ok(match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the command ended with {status}")),
        Err(error) => Err(format!("the command cannot be awaited: {error}")),
    })
}

/// Starts the command; what it writes comes in pieces.
fn start(command: &str) -> io::Result<(Child, Receiver<Vec<u8>>)> {
    let (mut reader, writer) = io::pipe()?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let child = shell.spawn()?;
    drop(shell);
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = [0; 8192];
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    Ok((child, receiver))
}
