//! What Triton keeps beside a cubin in its cache: its intermediate code, and what it has chosen.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::modules::beside as beside_image;

/// The endings of the files that a bundle takes along.
const ENDINGS: [&str; 3] = ["ttir", "ttgir", "json"];
/// Bytes of a cubin at most.
const CUBIN_MAX: u64 = 1 << 30;

/// The PTX of the cubin `image` of `kernel` in one of these places: it has lines of the source, unlike that in the cubin.
pub fn ptx(image: &Path, kernel: &str) -> Option<PathBuf> {
    let cubin = cubin(image, kernel)?;
    // Other compilers leave cubins without these beside them.
    let is_triton = cubin.with_extension("ttgir").is_file();
    Some(cubin.with_extension("ptx")).filter(|ptx| is_triton && ptx.is_file())
}

/// The files that lie beside the cubin `image` of `kernel` where it was loaded from, or in one of the caches that are named beside it.
pub fn beside(image: &Path, kernel: &str) -> Vec<PathBuf> {
    let Some(cubin) = cubin(image, kernel) else { return Vec::new() };
    ENDINGS.iter().map(|ending| cubin.with_extension(ending)).filter(|path| path.is_file()).collect()
}

/// The file that has the bytes of the cubin.
fn cubin(image: &Path, kernel: &str) -> Option<PathBuf> {
    let named = |ending| fs::read(beside_image(image, ending)).ok();
    if let Some(path) = named("path") {
        return Some(PathBuf::from(OsStr::from_bytes(&path)));
    }
    let bytes = crate::base::read_bounded(image, CUBIN_MAX).ok()??;
    let caches = named("caches")?;
    let file = format!("{kernel}.cubin");
    // A name with a slash would be that of another folder.
    if bytes.is_empty() || kernel.contains('/') {
        return None;
    }
    let caches = caches.split(|byte| *byte == b'\n').filter(|cache| !cache.is_empty());
    let entries = caches.flat_map(|cache| fs::read_dir(OsStr::from_bytes(cache)).into_iter().flatten().flatten());
    // What the tables of a cubin describe may end before its last bytes.
    let is_it = |path: &PathBuf| crate::base::read_bounded(path, CUBIN_MAX).ok().flatten().is_some_and(|found| found.starts_with(&bytes));
    entries.map(|entry| entry.path().join(&file)).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cubin_of_a_cache_is_known_by_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (entry, cubin) in [("a", "other"), ("b", "cubin and more")] {
            fs::create_dir_all(at("cache").join(entry)).unwrap();
            for (ending, text) in [("cubin", cubin), ("ttgir", entry), ("json", "{}"), ("ptx", "")] {
                fs::write(at("cache").join(entry).join(format!("k.{ending}")), text).unwrap();
            }
        }
        fs::write(at("image"), "cubin").unwrap();
        assert_eq!(beside(&at("image"), "k"), Vec::<PathBuf>::new());
        fs::write(at("image.caches"), format!("/nowhere\n{}", at("cache").display())).unwrap();
        let found = beside(&at("image"), "k");
        assert_eq!(found, ["ttgir", "json"].map(|ending| at("cache/b").join(format!("k.{ending}"))));
        assert_eq!(ptx(&at("image"), "k"), Some(at("cache/b/k.ptx")));
        fs::write(at("loaded.path"), at("cache/a/k.cubin").display().to_string()).unwrap();
        assert_eq!(ptx(&at("loaded"), "any"), Some(at("cache/a/k.ptx")));
        fs::remove_file(at("cache/a/k.ttgir")).unwrap();
        assert_eq!(ptx(&at("loaded"), "any"), None);
        assert_eq!(beside(&at("image"), "../b/k"), Vec::<PathBuf>::new());
        assert_eq!(beside(&at("image"), "l"), Vec::<PathBuf>::new());
    }
}
