//! The socket on which the library asks: a line a question, its fields with tabs between; an answer is a number of lines, and the lines.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::LAUNCHES_MAX;
use super::kernel_pattern::KernelPattern;
use super::modules::{self, Found};
use super::seen::Seen;

/// How long processes are waited for that outlive the program.
const TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);
/// The file in which all processes count, and its bytes.
const COUNTERS: (&str, usize) = ("counters", 16);

/// Which launches are wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Of which kernels.
    pub kernel: Option<KernelPattern>,
    /// Which one of these, from 1; all without it.
    pub nth: Option<u64>,
    /// Bytes of memory at most.
    pub max_bytes: u64,
    /// Where launches are kept.
    pub folder: PathBuf,
}

/// What all connections share.
struct Shared {
    wanted: Wanted,
    seen: Mutex<Seen>,
    open: AtomicUsize,
}

/// Answers the library until the program has ended.
pub struct Answers {
    shared: Arc<Shared>,
}

impl Answers {
    /// Listens on a new socket at `path`, and makes the file in which all processes count.
    ///
    /// # Errors
    /// There can be none.
    pub fn listen(path: &Path, wanted: Wanted) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        fs::write(wanted.folder.join(COUNTERS.0), [0; COUNTERS.1])?;
        let shared = Arc::new(Shared { wanted, seen: Mutex::default(), open: AtomicUsize::new(0) });
        let answering = Arc::clone(&shared);
        // It ends with this process.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answering.open.fetch_add(1, Ordering::AcqRel);
                let shared = Arc::clone(&answering);
                thread::spawn(move || {
                    // A connection that breaks is that of a process that has ended.
                    let _ = shared.answer(stream);
                    shared.open.fetch_sub(1, Ordering::AcqRel);
                });
            }
        });
        Ok(Self { shared })
    }

    /// What was seen, after the end of the program.
    pub fn end(&self) -> Seen {
        let begun = Instant::now();
        while self.shared.open.load(Ordering::Acquire) > 0 && begun.elapsed() < TIMEOUT {
            thread::sleep(PAUSE);
        }
        self.shared.seen().clone()
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a process until it ends.
    fn answer(&self, stream: UnixStream) -> io::Result<()> {
        let mut writer = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            let line = line?;
            let fields: Vec<&str> = line.split('\t').collect();
            let answer = match fields.as_slice() {
                ["hello", _] => {
                    self.seen().is_connected = true;
                    let Wanted { nth, max_bytes, folder, .. } = &self.wanted;
                    writeln!(writer, "{}\n{}\n{max_bytes}", folder.display(), nth.unwrap_or(0))?;
                    continue;
                }
                ["kernel", name] => vec![self.kernel(name)],
                ["module", file, name, architecture] => self.module(file, name, architecture.parse().ok()),
                ["kept", folder] => vec![self.kept(folder)],
                ["begun", folder] => {
                    self.seen().begun = Some(PathBuf::from(folder));
                    continue;
                }
                ["seen", count, name] => {
                    self.seen().kernel(name).launches += count.parse::<u64>().unwrap_or(0);
                    continue;
                }
                ["say", text] => {
                    self.seen().say(text);
                    continue;
                }
                _ => Vec::new(),
            };
            let text: String = answer.iter().map(|line| format!("{line}\n")).collect();
            writer.write_all(format!("{}\n{text}", answer.len()).as_bytes())?;
        }
        Ok(())
    }

    /// Whether launches of a kernel are wanted.
    fn kernel(&self, name: &str) -> String {
        self.seen().kernel(name);
        let is_wanted = self.wanted.kernel.as_ref().is_none_or(|glob| glob.is_of(name));
        if is_wanted { "take" } else { "leave" }.to_string()
    }

    /// Whether there is PTX of a kernel, and the variables of its module.
    fn module(&self, file: &str, kernel: &str, architecture: Option<u32>) -> Vec<String> {
        match modules::find(&self.wanted.folder.join(file), kernel, architecture) {
            Ok(Found { texts }) => {
                let variables = texts.iter().flat_map(|text| modules::variables(text)).map(|variable| variable.name);
                let has_images = texts.iter().any(|text| modules::has_images(text));
                [if has_images { "ptx with images" } else { "ptx" }.to_string()].into_iter().chain(variables).collect()
            }
            Err(lacks) => {
                self.seen().kernel(kernel).lacks = Some(lacks);
                vec!["none".to_string()]
            }
        }
    }

    /// Takes a launch; whether more are wanted.
    fn kept(&self, folder: &str) -> String {
        let mut seen = self.seen();
        seen.kept.push(PathBuf::from(folder));
        let are_more = self.wanted.nth.is_none() && seen.kept.len() < LAUNCHES_MAX;
        if are_more { "more" } else { "done" }.to_string()
    }
}
