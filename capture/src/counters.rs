//! What all processes of the program count together, in a file that each has in its memory.

use std::ffi::{c_int, c_void};
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file's name in the folder of launches.
const NAME: &str = "counters";

unsafe extern "C" {
    fn mmap(address: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
}

/// States of the one launch that is wanted.
const OPEN: u64 = 0;
const BEING_KEPT: u64 = 1;
const DONE: u64 = 2;

/// The counters, as they lie in the file.
#[repr(C)]
pub struct Counters {
    launches: AtomicU64,
    state: AtomicU64,
}

/// The counters of this session; none where the file cannot be mapped.
pub fn counters(folder: &Path) -> Option<&'static Counters> {
    static MAPPED: OnceLock<Option<&'static Counters>> = OnceLock::new();
    *MAPPED.get_or_init(|| map(folder))
}

fn map(folder: &Path) -> Option<&'static Counters> {
    const READ_AND_WRITE: c_int = 3;
    const SHARED: c_int = 1;
    let file = OpenOptions::new().read(true).write(true).open(folder.join(NAME)).ok()?;
    let bytes = size_of::<Counters>();
    if file.metadata().ok()?.len() < bytes as u64 {
        return None;
    }
    // SAFETY: the file has as many bytes; nothing else is at the address that is chosen.
    let mapped = unsafe { mmap(ptr::null_mut(), bytes, READ_AND_WRITE, SHARED, file.as_raw_fd(), 0) };
    // SAFETY: a page is aligned; it stays as long as the process, and all that is done to it is atomic.
    (mapped as isize != -1).then(|| unsafe { &*mapped.cast::<Counters>() })
}

impl Counters {
    /// The number of a launch of a wanted kernel, from 1.
    pub fn count(&self) -> u64 {
        self.launches.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Whether nothing more is wanted.
    pub fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) == DONE
    }

    /// Begins to keep the one launch that is wanted; false if another process does.
    pub fn begin(&self) -> bool {
        self.state.compare_exchange(OPEN, BEING_KEPT, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Ends that: with nothing more to do, or with another launch to be kept.
    pub fn end(&self, is_done: bool) {
        self.state.store(if is_done { DONE } else { OPEN }, Ordering::Release);
    }
}
