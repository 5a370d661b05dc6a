//! Memory that a launch can reach, in files: as it is before the launch, and what of it is otherwise after.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::driver::{Driver, SUCCESS};
use crate::pointers::{Found, Search};

/// Bytes that are copied at a time.
const PIECE: u64 = 8 << 20;
/// What is kept of an allocation in part begins and ends at multiples of this.
const PAGE: u64 = 4096;

/// What is kept of an allocation, or of a variable.
pub struct Region {
    /// Its first address.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The addresses that are kept of it.
    pub kept: std::ops::Range<u64>,
    /// The file with what was there before the launch.
    pub before: String,
    /// The file with what was there after it, if that is something else.
    pub after: Option<String>,
    /// The name, of a variable.
    pub variable: Option<String>,
}

/// Memory that is kept of a launch.
pub struct Memory {
    driver: &'static Driver,
    folder: PathBuf,
    /// What is kept, in the order in which it was found.
    pub regions: Vec<Region>,
    left: u64,
}

impl Memory {
    /// Nothing yet, in files of `folder`, of at most `bytes` bytes.
    pub fn new(driver: &'static Driver, folder: &Path, bytes: u64) -> Self {
        Self { driver, folder: folder.to_path_buf(), regions: Vec::new(), left: bytes }
    }

    /// Keeps a variable of the module, whose words are looked at.
    ///
    /// # Errors
    /// It cannot be copied or written.
    pub fn keep_variable(&mut self, search: &mut Search<'_>, name: &str, address: u64, bytes: u64) -> io::Result<()> {
        let kept = address..address + bytes.min(self.left);
        search.exclude(address, kept.end);
        self.keep(search, Region { start: address, bytes, kept, before: String::new(), after: None, variable: Some(name.to_string()) })
    }

    /// Keeps all that was found, and what is found in that.
    ///
    /// # Errors
    /// It cannot be copied or written.
    pub fn keep_found(&mut self, search: &mut Search<'_>) -> io::Result<()> {
        while let Some(Found { start, bytes, at }) = search.next() {
            let kept = if bytes <= self.left {
                start..start + bytes
            } else {
                // From a little before where it is pointed to: what an address is computed from may lie there.
                let half = self.left / 2 / PAGE * PAGE;
                let from = ((at - start) / PAGE * PAGE).saturating_sub(half);
                let to = (from + self.left / PAGE * PAGE).min(bytes);
                start + from..start + to
            };
            self.keep(search, Region { start, bytes, kept, before: String::new(), after: None, variable: None })?;
        }
        Ok(())
    }

    fn keep(&mut self, search: &mut Search<'_>, mut region: Region) -> io::Result<()> {
        region.before = format!("memory{}.bin", self.regions.len());
        let mut file = BufWriter::new(File::create(self.folder.join(&region.before))?);
        pieces(self.driver, &region.kept, |piece| {
            search.look(piece, size_of::<u64>());
            file.write_all(piece)
        })?;
        file.flush()?;
        self.left -= region.kept.end - region.kept.start;
        self.regions.push(region);
        Ok(())
    }

    /// Keeps what is otherwise now.
    ///
    /// # Errors
    /// It cannot be copied or written.
    pub fn keep_after(&mut self) -> io::Result<()> {
        for (number, region) in self.regions.iter_mut().enumerate() {
            let name = format!("memory{number}.after.bin");
            let path = self.folder.join(&name);
            let mut before = File::open(self.folder.join(&region.before))?;
            let mut file = BufWriter::new(File::create(&path)?);
            let (mut is_same, mut same) = (true, Vec::new());
            pieces(self.driver, &region.kept, |piece| {
                same.resize(piece.len(), 0);
                before.read_exact(&mut same)?;
                is_same &= same == piece;
                file.write_all(piece)
            })?;
            file.flush()?;
            if is_same {
                fs::remove_file(&path)?;
            } else {
                region.after = Some(name);
            }
        }
        Ok(())
    }
}

/// Copies memory of the device piece by piece.
fn pieces(driver: &Driver, addresses: &std::ops::Range<u64>, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut at = addresses.start;
    let mut room = vec![0; usize::try_from((addresses.end - addresses.start).min(PIECE)).unwrap_or(0)];
    while at < addresses.end {
        let count = usize::try_from(addresses.end - at).unwrap_or(usize::MAX).min(room.len());
        let piece = room.get_mut(..count).unwrap_or_default();
        let status = driver.copy(at, piece);
        if status != SUCCESS {
            return Err(io::Error::other(format!("memory at {at:#x} cannot be copied from the device: the driver answers {status}")));
        }
        each(piece)?;
        at += count as u64;
    }
    Ok(())
}
