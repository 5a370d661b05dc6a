//! What the launch file of a bundle may name.

use std::cell::RefCell;

use crate::container::bundle;
use crate::launch::{LaunchFile, rename_files};

/// The file outside the bundle that the launch file of one names: a bundle may come from anywhere.
pub(super) fn outside_bundle(file: &LaunchFile) -> Option<String> {
    let named = RefCell::new(None);
    if bundle::is_bundle(&file.folder) {
        rename_files(&mut file.content.clone(), &|name: &mut String| {
            if !bundle::is_member_name(name) {
                *named.borrow_mut() = Some(name.clone());
            }
        });
    }
    named.into_inner()
}
