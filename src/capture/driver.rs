//! Whether there is a driver to look at.

use std::path::Path;
use std::process::Command;

/// Folders in which the dynamic linker looks without asking its cache.
const FOLDERS: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];
/// The driver's library.
const LIBRARY: &str = "libcuda.so.1";

/// True if the dynamic linker would find the driver; also where it cannot be asked.
pub fn is_installed() -> bool {
    let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&named).chain(FOLDERS.iter().map(Path::new).map(Path::to_path_buf));
    let is_in_cache = || {
        let listed = ["ldconfig", "/sbin/ldconfig"].iter().find_map(|program| Command::new(program).arg("-p").output().ok());
        listed.is_none_or(|listed| String::from_utf8_lossy(&listed.stdout).contains(LIBRARY))
    };
    folders.any(|folder| folder.join(LIBRARY).exists()) || is_in_cache()
}
