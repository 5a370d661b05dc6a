//! `ptxdbg capture`: runs a program on a machine with a GPU, and makes a bundle of a launch of it that opens on any machine.
//!
//! The program runs with a small library ([`library`]) that looks on as kernels are launched. It reports which kernels it sees
//! and asks which of them are wanted ([`answers`]). Of a wanted launch it writes what the driver was given, and memory before and after the
//! launch, to a folder ([`kept`]); [`bundle`] makes a launch file of that, with the memory after the launch as what is expected.

mod answers;
mod bundle;
mod child;
mod driver;
mod folder;
mod kept;
mod kernel_pattern;
pub mod library;
mod modules;
mod seen;
mod textures;
mod triton;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use self::answers::{Answers, Wanted};
use self::child::Ended;
use self::folder::Folder;
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
/// The variable that names the library to the driver, which loads it as the program begins to use it.
const INJECTION: &str = "CUDA_INJECTION64_PATH";
/// CuPy and PyTorch then compile what they need in the program, where the PTX is seen, and take no cubin of an earlier run.
const NO_CACHES: [(&str, &str); 2] = [("CUPY_CACHE_IN_MEMORY", "1"), ("USE_PYTORCH_KERNEL_CACHE", "0")];
/// The exit status where the program has ended well and a bundle cannot be written.
const UNWRITTEN: i32 = 2;
/// The status of a program that a signal has ended is that of the signal and this, as shells have it.
const SIGNALLED: i32 = 128;

/// How calls of the driver are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// By the functions of a library that is loaded before the others, and by CUPTI where a program's calls do not come to these.
    #[default]
    Both,
    /// By a library that is loaded before the others.
    Preload,
    /// By CUPTI, which calls a library that the driver loads.
    Cupti,
}

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
    /// How calls of the driver are seen.
    pub by: By,
    /// What `LD_PRELOAD` holds already.
    pub preload: Option<OsString>,
    /// What `CUDA_INJECTION64_PATH` holds already: another tool, which stays.
    pub injection: Option<OsString>,
}

/// Runs the program, and writes the bundles. Each line for the user goes to `say`. The exit status is that of the program.
///
/// # Errors
/// The program cannot be run so, in one line.
pub fn run(request: &Request, say: &dyn Fn(&str)) -> Result<i32, String> {
    let library = library::bytes()?;
    let (program, arguments) = request.command.split_first().ok_or("no program is given: ptxdbg capture -- ./app ARGS")?;
    if let Some(output) = &request.output {
        bundle::check_output(output, request.nth.is_none())?;
    }
    let cannot = |what: &'static str| move |error: io::Error| format!("cannot {what}: {}", cause(&error));
    // The path of a socket is short, and so is that of a temporary folder; launches are as large as where the bundle goes.
    let here = Folder::new(&std::env::temp_dir()).map_err(cannot("make a temporary folder"))?;
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
    let mut command = Command::new(program);
    command.args(arguments).env(SOCKET, &socket).envs(NO_CACHES);
    load(&mut command, request, &file)?;
    let ended = child::run(&mut command).map_err(|error| format!("cannot run {}: {}", program.display(), cause(&error)))?;
    let mut seen = answers.end();
    // A launch that hangs is kept as it began.
    if seen.kept.is_empty() {
        seen.kept.extend(seen.begun.clone());
    }
    for line in &seen.said {
        say(line);
    }
    let are_written = write_bundles(request, &seen, &ended, say);
    if seen.kept.is_empty() {
        say(&nothing(request, &seen));
    }
    let code = code(ended.status);
    Ok(if are_written || code != 0 { code } else { UNWRITTEN })
}

/// Has the library at `file` loaded into the program.
fn load(command: &mut Command, request: &Request, file: &Path) -> Result<(), String> {
    let other = request.injection.as_deref().filter(|other| !other.is_empty());
    if request.by != By::Cupti {
        command.env(PRELOAD, preload(file, request.preload.as_deref())?);
    }
    match other {
        Some(other) if request.by == By::Cupti => {
            let other = Path::new(other).display();
            let why = "the driver loads one library for tools, and CUPTI calls one of them: unset it, or leave out --by cupti";
            Err(format!("{INJECTION} is {other}: {why}"))
        }
        None if request.by != By::Preload => {
            command.env(INJECTION, file);
            Ok(())
        }
        Some(_) | None => Ok(()),
    }
}

/// The folder in which launches are kept, beside the bundle.
fn launches_folder(output: Option<&Path>) -> Result<Folder, String> {
    let parent = output.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Folder::new(parent).map_err(|error| format!("cannot make a folder in {}, where the bundle goes: {}", parent.display(), cause(&error)))
}

/// The value of `LD_PRELOAD`.
fn preload(library: &Path, before: Option<&OsStr>) -> Result<OsString, String> {
    // The dynamic linker takes both for the end of a name.
    if library.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        let folder = std::env::temp_dir();
        return Err(format!("the name of the temporary folder {} has a space or a colon: set TMPDIR to another one", folder.display()));
    }
    let mut value = library.as_os_str().to_os_string();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        value.push(":");
        value.push(before);
    }
    Ok(value)
}

/// Makes bundles of the launches that were kept; false if one of them is not made.
fn write_bundles(request: &Request, seen: &Seen, ended: &Ended, say: &dyn Fn(&str)) -> bool {
    let is_one = request.nth.is_some();
    let mut are_well = true;
    // Two processes may each have kept one before they knew of each other.
    let count = if is_one { 1 } else { LAUNCHES_MAX };
    for (index, folder) in seen.kept.iter().take(count).enumerate() {
        if ended.is_stopped() {
            say("a signal came while bundles were written: the rest of what was captured is not written");
            return false;
        }
        let number = (!is_one).then_some(index + 1);
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
        let why = match driver::is_installed() {
            true => "it is linked statically, or it launches no kernel",
            false => "this machine has no driver of NVIDIA (no libcuda.so.1 is found), so no kernel can be launched here",
        };
        return format!("nothing is captured: the program has not called the driver (libcuda.so.1) where that is seen; {why}");
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
