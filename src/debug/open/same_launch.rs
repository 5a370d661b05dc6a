//! Another module with the launch of one that is open.

use super::{LaunchFile, OpenError, Opened, OpenedLaunch, Origin, Overrides, Request, choose_at, open_launch_file};
use crate::base::{SourceFile, Sources};
use crate::program::map::Maps;

/// Opens the module of `request` with the launch of `opened`; the launch and the parameters of the request are left aside.
///
/// # Errors
/// As those of [`open`](super::open()); the launch may not fit the module.
pub fn open_with_launch(request: &Request, opened: &OpenedLaunch) -> Result<Opened, OpenError> {
    let mut content = opened.content.clone();
    content.name_modules(&[]);
    let mut sources = Sources::default();
    let text = sources.add(SourceFile::new("the launch of A", content.to_text()));
    let (folder, origin) = (opened.folder.clone(), Origin::Text(text));
    let file = LaunchFile { content, folder, sources, origin, given: Vec::new(), expected: Vec::new() };
    let overrides = Overrides { params: Vec::new(), expect: Vec::new(), kernel: opened.kernel.clone(), ..request.overrides.clone() };
    let launches = file.launches();
    let kernel = overrides.kernel.as_deref().or(launches.first().and_then(|(_, launch)| launch.kernel.as_deref()));
    let chosen = choose_at(&request.modules, kernel, &overrides, &Maps::avoiding(&file.occupied()))?;
    open_launch_file(chosen.path, chosen.program, file, &overrides)
}
