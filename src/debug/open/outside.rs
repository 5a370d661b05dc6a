//! Restricts the launch file of a bundle to files in that bundle.

use std::cell::RefCell;
use std::path::Path;

use crate::container::bundle;
use crate::launch::{LaunchFile, rename_files};

/// Refuses a launch file of a bundle that names a file outside of the bundle: a bundle may come from an untrusted source.
pub(super) fn refuse_outside(file: &LaunchFile, path: &Path) -> Result<(), String> {
    let named = RefCell::new(None);
    if bundle::is_bundle(&file.folder) {
        rename_files(&mut file.content.clone(), &|name: &mut String| {
            if !bundle::is_member_name(name) {
                *named.borrow_mut() = Some(name.clone());
            }
        });
    }
    match named.into_inner() {
        Some(name) => Err(format!("{}: '{name}' is no member of the bundle, and a bundle reads no other files", path.display())),
        None => Ok(()),
    }
}
