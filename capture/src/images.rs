//! What the driver was given to load, by the modules and libraries that it made of it.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::{Driver, Handle};
use crate::made::{self, Source};
use crate::parent;

/// What a compiler of CUDA puts around a fat binary in a program, and what the fat binary begins with.
const WRAPPER: u32 = 0x4662_43b1;
const FAT_BINARY: u32 = 0xba55_ed50;
/// Bytes of its header.
const FAT_HEADER: u64 = 16;
const ELF: &[u8] = b"\x7fELF";
/// Bytes of the header of a 64-bit ELF file.
const ELF_HEADER: u64 = 64;
/// Bytes of an image at most.
const BYTES_MAX: u64 = 4 << 30;

/// Where the bytes of an image are.
#[derive(Clone)]
enum Content {
    /// In the program, which keeps them while it runs, unless it unloads the library that they lie in.
    Static { address: u64, bytes: u64 },
    /// Here.
    Owned(Vec<u8>),
}

/// An image that was loaded.
#[derive(Clone)]
pub struct Image {
    /// The module or library.
    pub owner: Handle,
    /// Whether it is a library.
    pub is_library: bool,
    /// The file that it was loaded from.
    pub path: Option<PathBuf>,
    /// Gives what a compiler or linker in this process has made it from.
    source: Option<Source>,
    /// Its number in this process.
    pub number: usize,
    content: Content,
}

/// Handles are compared, and given back to the driver while they hold.
struct Images {
    all: Vec<Image>,
    loaded: usize,
}

// SAFETY: the handles of the driver are of the process and not of a thread.
unsafe impl Send for Images {}

static IMAGES: Mutex<Images> = Mutex::new(Images { all: Vec::new(), loaded: 0 });

fn images() -> MutexGuard<'static, Images> {
    IMAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers that `owner` was made of what lies at `image`.
///
/// # Safety
/// The driver has loaded it.
pub unsafe fn record(owner: Handle, is_library: bool, image: *const c_void) {
    if image.is_null() || !parent::is_there() {
        return;
    }
    // SAFETY: the caller says so.
    if let Some(content) = unsafe { content_at(image.cast()) } {
        push(owner, is_library, None, content);
    }
}

/// Remembers that `owner` was made of the file at `path`.
///
/// # Safety
/// The driver has loaded it.
pub unsafe fn record_file(owner: Handle, is_library: bool, path: *const c_char) {
    if path.is_null() || !parent::is_there() {
        return;
    }
    // SAFETY: a path ends with a zero.
    let path = PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    let path = std::path::absolute(&path).unwrap_or(path);
    if let Ok(bytes) = std::fs::read(&path) {
        push(owner, is_library, Some(path), Content::Owned(bytes));
    }
}

fn push(owner: Handle, is_library: bool, path: Option<PathBuf>, content: Content) {
    let source = match &content {
        Content::Owned(bytes) => made::source_of(bytes),
        Content::Static { .. } => None,
    };
    let mut images = images();
    images.loaded += 1;
    let number = images.loaded;
    images.all.retain(|image| image.owner != owner);
    images.all.push(Image { owner, is_library, path, source, number, content });
}

/// Forgets what an unloaded module or library was made of.
pub fn forget(owner: Handle) {
    images().all.retain(|image| image.owner != owner);
}

/// What the module of `function` was made of.
pub fn of_function(driver: &Driver, function: Handle) -> Option<Image> {
    let owners = driver.owners(function);
    let images = images();
    let direct = images.all.iter().find(|image| owners.contains(&image.owner));
    // A function may be of the module that a library is in this context.
    let is_module_of = |image: &&Image| image.is_library && driver.module_of(image.owner).is_some_and(|module| owners.contains(&module));
    direct.or_else(|| images.all.iter().find(is_module_of)).cloned()
}

impl Image {
    /// Writes it to `file` in a folder, and beside it what it was made from, where it was loaded from, and where Triton keeps its like.
    ///
    /// # Errors
    /// It cannot be written, or is no longer there.
    pub fn write(&self, folder: &Path, file: &str) -> std::io::Result<()> {
        self.write_content(&folder.join(file))?;
        let inputs = self.source.as_ref().map_or(Vec::new(), |source| source());
        for (number, input) in inputs.iter().enumerate() {
            std::fs::write(folder.join(format!("{file}.input{number}")), input)?;
        }
        if let Some(path) = &self.path {
            std::fs::write(folder.join(format!("{file}.path")), path.as_os_str().as_bytes())?;
        }
        let caches = triton_caches().iter().map(|cache| cache.as_os_str().as_bytes().to_vec()).collect::<Vec<_>>();
        std::fs::write(folder.join(format!("{file}.caches")), caches.join(&b'\n'))
    }

    fn write_content(&self, path: &Path) -> std::io::Result<()> {
        match &self.content {
            Content::Owned(bytes) => std::fs::write(path, bytes),
            Content::Static { address, bytes } => {
                // What is no longer mapped is an error there, and a fault if it were read in place.
                let mut content = vec![0; usize::try_from(*bytes).unwrap_or(0)];
                File::open("/proc/self/mem")?.read_exact_at(&mut content, *address)?;
                std::fs::write(path, content)
            }
        }
    }
}

/// Where Triton keeps what it has compiled. The program may say so after its start.
fn triton_caches() -> Vec<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |home: PathBuf| home.join(".triton/cache");
    [of("TRITON_CACHE_DIR"), of("TRITON_HOME").map(below), of("HOME").map(below)].into_iter().flatten().collect()
}

/// What lies at `image`: a fat binary, also one that is wrapped, a cubin, or a text.
///
/// # Safety
/// The driver has loaded it: it is one of these.
unsafe fn content_at(image: *const u8) -> Option<Content> {
    // SAFETY: the shortest image, a text, may be shorter than a number: it is read byte by byte.
    let head: Vec<u8> = unsafe {
        (0..4).map(|at| image.add(at)).scan(true, |goes_on, at| {
            (*goes_on).then(|| {
                *goes_on = *at != 0;
                *at
            })
        })
    }
    .collect();
    let magic = <[u8; 4]>::try_from(head.as_slice()).map(u32::from_le_bytes).unwrap_or(0);
    // SAFETY: an image that begins so has the whole header.
    unsafe {
        match magic {
            WRAPPER => {
                let data = image.add(8).cast::<*const u8>().read_unaligned();
                let bytes = fat_bytes(data)?;
                Some(Content::Static { address: data as u64, bytes })
            }
            FAT_BINARY => Some(Content::Owned(std::slice::from_raw_parts(image, fat_bytes(image)? as usize).to_vec())),
            _ if head == ELF => Some(Content::Owned(std::slice::from_raw_parts(image, elf_bytes(image)? as usize).to_vec())),
            _ => Some(Content::Owned(CStr::from_ptr(image.cast()).to_bytes().to_vec())),
        }
    }
}

/// How many bytes the fat binary at `image` has.
unsafe fn fat_bytes(image: *const u8) -> Option<u64> {
    // SAFETY: the caller says that it is one.
    let (magic, bytes) = unsafe { (image.cast::<u32>().read_unaligned(), image.add(8).cast::<u64>().read_unaligned()) };
    (magic == FAT_BINARY && bytes < BYTES_MAX).then_some(FAT_HEADER + bytes)
}

/// How many bytes the 64-bit ELF file at `image` has: up to the end of its tables and of what they describe.
unsafe fn elf_bytes(image: *const u8) -> Option<u64> {
    // SAFETY: the caller says that the driver has read it, with its tables.
    unsafe {
        let half = |at: u64| u64::from(image.add(at as usize).cast::<u16>().read_unaligned());
        let word = |at: u64| u64::from(image.add(at as usize).cast::<u32>().read_unaligned());
        let long = |at: u64| image.add(at as usize).cast::<u64>().read_unaligned();
        let (segments, sections) = (long(32), long(40));
        let (segment_bytes, segment_count, section_bytes, section_count) = (half(54), half(56), half(58), half(60));
        let mut end = ELF_HEADER.max(segments + segment_bytes * segment_count).max(sections + section_bytes * section_count);
        if end > BYTES_MAX {
            return None;
        }
        // A section without bytes in the file, such as that of zeros.
        const NO_BITS: u64 = 8;
        for number in 0..section_count {
            let header = sections + number * section_bytes;
            if word(header + 4) != NO_BITS {
                end = end.max(long(header + 24).checked_add(long(header + 32))?);
            }
        }
        for number in 0..segment_count {
            let header = segments + number * segment_bytes;
            end = end.max(long(header + 8).checked_add(long(header + 32))?);
        }
        (end <= BYTES_MAX).then_some(end)
    }
}
