//! The program that runs, and the signals that it gets.
//!
//! A signal that asks ptxdbg to end asks the program: it is passed on to the program and what that has started, and the program's end is
//! waited for. What is typed (Ctrl-C) the terminal has sent to all of them already.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

/// The signals that are passed on, each as the system calls it and as it is sent.
const PASSED: [(i32, Signal); 6] = [
    (SIGHUP, Signal::HUP),
    (SIGINT, Signal::INT),
    (SIGQUIT, Signal::QUIT),
    (SIGTERM, Signal::TERM),
    (SIGUSR1, Signal::USR1),
    (SIGUSR2, Signal::USR2),
];

/// What the signals have said so far.
#[derive(Default)]
struct Said {
    has_ended: AtomicBool,
    is_signalled: AtomicBool,
    is_stopped: AtomicBool,
}

/// A program that has ended.
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    said: Arc<Said>,
}

impl Ended {
    /// Whether a signal asks a second time to end, and the program has ended.
    pub fn is_stopped(&self) -> bool {
        self.said.is_stopped.load(Ordering::Acquire)
    }
}

/// Runs a program to its end. From here on the signals do not end this process.
///
/// # Errors
/// It cannot be run.
pub fn run(command: &mut Command) -> io::Result<Ended> {
    let ignored = ignored();
    // A signal that is ignored, as with nohup, is ignored by the program, too.
    let passed = PASSED.iter().map(|(number, _)| *number).filter(|number| ignored >> (number - 1) & 1 == 0);
    let mut signals = Signals::new(passed)?;
    let mut child = command.spawn()?;
    let (said, program) = (Arc::new(Said::default()), child.id());
    let listening = Arc::clone(&said);
    thread::spawn(move || signals.forever().for_each(|number| listening.signal(number, program)));
    let status = child.wait();
    said.has_ended.store(true, Ordering::Release);
    Ok(Ended { status: status?, said })
}

impl Said {
    fn signal(&self, number: i32, program: u32) {
        let is_first = !self.is_signalled.swap(true, Ordering::AcqRel);
        if self.has_ended.load(Ordering::Acquire) {
            // The first one may be that by which the program has ended.
            self.is_stopped.store(!is_first, Ordering::Release);
            return;
        }
        let is_typed = matches!(number, SIGINT | SIGQUIT) && is_first && is_in_foreground();
        let Some((_, signal)) = PASSED.iter().find(|(known, _)| *known == number).filter(|_| !is_typed) else { return };
        for process in with_descendants(program) {
            if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
                // One that has ended needs none.
                let _ = kill_process(process, *signal);
            }
        }
    }
}

/// A bit for each signal that this process ignores: bit 0 is signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Whether what is typed at the terminal goes to this process, and so to the program.
fn is_in_foreground() -> bool {
    File::open("/dev/tty").is_ok_and(|terminal| tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp()))
}

/// A process and those that it has started, and so on.
fn with_descendants(process: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for number in processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        if let Some(parent) = parent_of(number) {
            children.entry(parent).or_default().push(number);
        }
    }
    let mut found = vec![process];
    let mut at = 0;
    while let Some(process) = found.get(at) {
        found.extend(children.remove(process).unwrap_or_default());
        at += 1;
    }
    found
}

fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may hold spaces and parentheses.
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 5 & wait"]).spawn().unwrap();
        let process = child.id();
        let begun = std::time::Instant::now();
        while with_descendants(process).len() < 2 {
            assert!(begun.elapsed().as_secs() < 5, "sleep is a child of sh");
        }
        assert!(with_descendants(std::process::id()).contains(&process));
        for process in with_descendants(process) {
            kill_process(Pid::from_raw(i32::try_from(process).unwrap()).unwrap(), Signal::TERM).unwrap();
        }
        child.wait().unwrap();
    }
}
