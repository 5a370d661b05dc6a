//! The program in a pseudo-terminal, and an emulator that shows what a person would see.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const DEBUGGER: &str = env!("CARGO_BIN_EXE_ptxdbg");
/// Far longer than anything takes, even on a slow and busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time between two looks at the screen.
const GLANCE: Duration = Duration::from_millis(5);

/// A program in a terminal.
pub struct Pty {
    screen: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<Vec<u8>>>,
    keyboard: Box<dyn Write + Send>,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    owner: PathBuf,
}

impl Pty {
    /// The debugger with these arguments, at 80 columns and 24 rows.
    pub fn debugger(args: &[&str]) -> Self {
        Self::sized(args, 80, 24)
    }

    /// The debugger at another size.
    pub fn sized(args: &[&str], columns: u16, rows: u16) -> Self {
        Self::start(&[&[DEBUGGER], args].concat(), &[], (columns, rows))
    }

    /// The debugger with a key map of the user's own.
    pub fn configured(args: &[&str], keys: &str) -> Self {
        let owner = owner();
        let folder = owner.join(".config/ptxdbg");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("keys.ron"), keys).unwrap();
        Self::at_owner(owner, &[&[DEBUGGER], args].concat(), &[], (80, 24))
    }

    /// Any program, with variables that are set or, without a value, not set.
    pub fn start(words: &[&str], variables: &[(&str, Option<&str>)], size: (u16, u16)) -> Self {
        Self::at_owner(owner(), words, variables, size)
    }

    fn at_owner(owner: PathBuf, words: &[&str], variables: &[(&str, Option<&str>)], (columns, rows): (u16, u16)) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        command.env("HOME", &owner);
        command.env("TERM", "xterm-256color");
        let unset = ["NO_COLOR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].map(|name| (name, None));
        for (name, value) in unset.iter().chain(variables) {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            }
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (columns, rows) = if columns == 0 { (80, 24) } else { (columns, rows) };
        let screen = Arc::new(Mutex::new(vt100::Parser::new(wide(rows), wide(columns), 0)));
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (shown, kept) = (Arc::clone(&screen), Arc::clone(&written));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..count]);
                shown.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self { screen, written, keyboard: pair.master.take_writer().unwrap(), master: pair.master, child, owner }
    }

    /// All that was written to the terminal.
    pub fn written(&self) -> Vec<u8> {
        self.written.lock().unwrap().clone()
    }

    /// Waits until these bytes have been written after the first `from`.
    #[track_caller]
    pub fn wait_written(&self, what: &str, from: usize, bytes: &[u8]) {
        self.wait(what, |_| self.written()[from..].windows(bytes.len()).any(|window| window == bytes));
    }

    /// Types.
    pub fn send(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Types bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// The user's folder.
    pub fn owner(&self) -> &Path {
        &self.owner
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(wide(rows), wide(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// What a function says of the screen as it is now.
    pub fn look<T>(&self, at: impl FnOnce(&vt100::Screen) -> T) -> T {
        at(self.screen.lock().unwrap().screen())
    }

    /// The rows of the screen as it is now.
    pub fn rows(&self) -> Vec<String> {
        self.look(rows)
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub fn wait(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        self.wait_looking(GLANCE, what, is_so);
    }

    /// Waits, and looks more often, for measurements.
    #[track_caller]
    pub fn wait_closely(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        self.wait_looking(GLANCE / 50, what, is_so);
    }

    #[track_caller]
    fn wait_looking(&self, pause: Duration, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        let begun = Instant::now();
        while !self.look(&is_so) {
            assert!(begun.elapsed() < TIMEOUT, "never seen: {what}\n{}", self.rows().join("\n"));
            std::thread::sleep(pause);
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    /// Waits until a row begins as `row` does and the cursor stands after it.
    #[track_caller]
    pub fn wait_for_line(&self, row: &str) {
        self.wait(row, |screen| {
            let (at, column) = screen.cursor_position();
            let (_, columns) = screen.size();
            let shown = screen.rows(0, columns.get()).nth(usize::from(at)).unwrap_or_default();
            shown.starts_with(row) && usize::from(column) == row.chars().count()
        });
    }

    /// Waits until the program has ended; its exit status.
    #[track_caller]
    pub fn ended(&mut self) -> u32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(begun.elapsed() < TIMEOUT, "it has not ended\n{}", self.rows().join("\n"));
            std::thread::sleep(GLANCE);
        }
    }

    /// The number of the process.
    pub fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.owner);
    }
}

/// The rows of a screen, without blanks at their ends: an emulator distinguishes written blanks from others.
pub fn rows(screen: &vt100::Screen) -> Vec<String> {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).map(|row| row.trim_end().to_string()).collect()
}

/// An empty folder for the history, so that no test sees what another has typed.
fn owner() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let owner = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("terminal-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&owner).unwrap();
    owner
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn wide(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}
