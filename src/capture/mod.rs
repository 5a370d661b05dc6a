//! `ptxdbg capture`: runs a program on a machine with a GPU, and makes a bundle of a launch of it that opens on any machine.
//!
//! The program runs with a small library ([`library`]) that looks on as kernels are launched. It reports which kernels it sees
//! and asks which of them are wanted ([`answers`]). Of a wanted launch it writes what the driver was given, and memory before and after the
//! launch, to a folder ([`kept`]); [`bundle`] makes a launch file of that, with the memory after the launch as what is expected.

mod answers;
mod bundle;
mod kept;
mod kernel_pattern;
pub mod library;
mod modules;
mod seen;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use tempfile::TempDir;

use self::answers::{Answers, Wanted};
use self::kernel_pattern::KernelPattern;
use self::seen::Seen;

pub use self::bundle::file_name;
use crate::base::save::cause;

/// Launches that are captured at most where all are.
pub const LAUNCHES_MAX: usize = 100;
/// The variable of the environment by which the library finds this process.
const SOCKET: &str = "PTXDBG_CAPTURE";
/// The variable that names the library to the dynamic linker.
const PRELOAD: &str = "LD_PRELOAD";
/// CuPy then compiles what it needs in the program, where the PTX is seen, and takes no cubin of an earlier run.
const CUPY: (&str, &str) = ("CUPY_CACHE_IN_MEMORY", "1");
/// Begins the names of folders with launches that are being captured.
const FOLDER: &str = ".ptxdbg-capture-";
/// The status of a program that a signal has ended is that of the signal and this, as shells have it.
const SIGNALLED: i32 = 128;

/// What is to be captured.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which kernels, by a name or with `*` and `?`; without it all that have PTX.
    pub kernel: Option<String>,
    /// Which launch of these kernels, from 1; without it all, up to [`LAUNCHES_MAX`].
    pub nth: Option<u64>,
    /// Bytes of memory that are kept of a launch at most.
    pub max_bytes: u64,
    /// The bundle; without it a file named for the kernel. Of several launches, their numbers come before the ending.
    pub output: Option<PathBuf>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What `LD_PRELOAD` holds already.
    pub preload: Option<OsString>,
}

/// Runs the program, and writes the bundles. Each line for the user goes to `say`. The exit status is that of the program.
///
/// # Errors
/// The program cannot be run so, in one line.
pub fn run(request: &Request, say: &dyn Fn(&str)) -> Result<i32, String> {
    let library = library::bytes()?;
    let (program, arguments) = request.command.split_first().ok_or("no program is given: ptxdbg capture -- ./app ARGS")?;
    let cannot = |what: &'static str| move |error: io::Error| format!("cannot {what}: {}", cause(&error));
    // The path of a socket is short, and so is that of a temporary folder; launches are as large as where the bundle goes.
    let here = tempfile::tempdir().map_err(cannot("make a temporary folder"))?;
    let launches = launches_folder(request.output.as_deref())?;
    let file = here.path().join("libptxdbg_capture.so");
    fs::write(&file, library).map_err(cannot("write the capture library to a temporary folder"))?;
    let socket = here.path().join("socket");
    let wanted = Wanted {
        kernel: request.kernel.as_deref().map(KernelPattern::new),
        nth: request.nth,
        max_bytes: request.max_bytes,
        folder: std::path::absolute(launches.path()).map_err(cannot("find the folder of launches"))?,
    };
    let answers = Answers::listen(&socket, wanted).map_err(cannot("listen for what the program says"))?;
    let status = Command::new(program)
        .args(arguments)
        .env(PRELOAD, preload(&file, request.preload.as_deref()))
        .env(SOCKET, &socket)
        .env(CUPY.0, CUPY.1)
        .status()
        .map_err(|error| format!("cannot run {}: {}", program.display(), cause(&error)))?;
    let seen = answers.end();
    for line in &seen.said {
        say(line);
    }
    if !write_bundles(request, &seen, say) {
        let kept = launches.keep();
        say(&format!("what was kept of the launches is in {}", kept.display()));
    }
    if seen.kept.is_empty() {
        say(&nothing(request, &seen));
    }
    Ok(code(status))
}

/// The folder in which launches are kept, beside the bundle.
fn launches_folder(output: Option<&Path>) -> Result<TempDir, String> {
    let parent = output.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = tempfile::Builder::new().prefix(FOLDER).tempdir_in(parent);
    made.map_err(|error| format!("cannot make a folder in {}, where the bundle goes: {}", parent.display(), cause(&error)))
}

/// The value of `LD_PRELOAD`.
fn preload(library: &Path, before: Option<&OsStr>) -> OsString {
    let mut value = library.as_os_str().to_os_string();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        value.push(":");
        value.push(before);
    }
    value
}

/// Makes bundles of the launches that were kept; false if one of them cannot be.
fn write_bundles(request: &Request, seen: &Seen, say: &dyn Fn(&str)) -> bool {
    let is_one = request.nth.is_some();
    let mut are_well = true;
    for (index, folder) in seen.kept.iter().enumerate() {
        let number = (!is_one || index > 0).then_some(index + 1);
        match bundle::write(folder, request.output.as_deref(), number) {
            Ok(lines) => lines.iter().for_each(|line| say(line)),
            Err(why) => {
                are_well = false;
                say(&why);
            }
        }
    }
    are_well
}

/// What is said where no launch was captured.
fn nothing(request: &Request, seen: &Seen) -> String {
    if !seen.is_connected {
        return "nothing is captured: the program has not called the driver (libcuda.so.1) where that is seen; it is linked statically, or \
                it launches no kernel"
            .to_string();
    }
    let wanted = request.kernel.as_deref().map_or(String::new(), |kernel| format!(" of '{kernel}'"));
    let which = match request.nth {
        Some(nth @ 2..) => format!("launch {nth}{wanted} did not come"),
        Some(_) | None => format!("no launch{wanted} could be"),
    };
    let mut text = format!("nothing is captured: {which}; launched were");
    if seen.kernels.is_empty() {
        text += " no kernels";
    }
    for line in seen.kernel_lines() {
        text += "\n  ";
        text += &line;
    }
    text
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal)).unwrap_or(1)
}
