//! A launch file in another folder: the paths of its module and its data files become relative to that folder.

use std::path::{Component, Path, PathBuf};

use super::file::{Buffer, Content, Init, Launch, Param};
use super::image::{BufferRef, Image};

/// Changes the paths in `content`, relative to folder `from`, to be relative to folder `to`.
pub fn relocate(content: &mut Content, from: &Path, to: &Path) {
    rename_files(content, &|name: &mut String| *name = relative(&from.join(&*name), to).display().to_string());
}

/// Applies `renamed` to all file names in `content`, including its module.
pub fn rename_files(content: &mut Content, renamed: &dyn Fn(&mut String)) {
    if let Content::Suite(list) | Content::Sequence(list) = content {
        list.module.iter_mut().chain(&mut list.modules).for_each(renamed);
        list.printed.iter_mut().for_each(|init| rename_init(init, renamed));
    }
    content.launches_mut().iter_mut().for_each(|launch| rename_launch(launch, renamed));
}

/// Makes the file names of `init`, relative to folder `from`, valid in folder `to`: absolute paths, which symbolic links do not affect.
pub fn carry_init(init: &mut Init, from: &Path, to: &Path) {
    if from != to {
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        rename_init(init, &|name: &mut String| *name = whole(from.join(&*name)).display().to_string());
    }
}

/// [`carry_init`] for the contents of a parameter's buffer.
pub fn carry_param(param: &mut Param, from: &Path, to: &Path) {
    param.buffer_mut().into_iter().for_each(|buffer| carry_init(&mut buffer.init, from, to));
}

fn rename_launch(launch: &mut Launch, renamed: &dyn Fn(&mut String)) {
    launch.module.iter_mut().chain(&mut launch.modules).for_each(renamed);
    launch.printed.iter_mut().for_each(|init| rename_init(init, renamed));
    launch.params.iter_mut().for_each(|param| rename_param(param, renamed));
    for memory in &mut launch.memory {
        rename_init(&mut memory.init, renamed);
        memory.expect.iter_mut().for_each(|init| rename_init(init, renamed));
    }
    launch.variables.values_mut().chain(launch.expect_variables.values_mut()).for_each(|init| rename_init(init, renamed));
    for image in launch.bind.values_mut().chain(launch.handles.values_mut()) {
        let (Image::Texture(super::image::Texture { buffer: BufferRef::Buffer(buffer), .. })
        | Image::Surface(super::image::Surface { buffer: BufferRef::Buffer(buffer), .. })) = image
        else {
            continue;
        };
        rename_buffer(buffer, renamed);
    }
}

fn rename_param(param: &mut Param, renamed: &dyn Fn(&mut String)) {
    if let Param::Bytes(_, parts) = param {
        parts.values_mut().for_each(|param| rename_param(param, renamed));
    }
    param.buffer_mut().into_iter().for_each(|buffer| rename_buffer(buffer, renamed));
}

fn rename_buffer(buffer: &mut Buffer, renamed: &dyn Fn(&mut String)) {
    rename_init(&mut buffer.init, renamed);
    buffer.expect.iter_mut().for_each(|init| rename_init(init, renamed));
}

fn rename_init(init: &mut Init, renamed: &dyn Fn(&mut String)) {
    match init {
        Init::File(file) | Init::Slice { file, .. } | Init::Pages(file) => renamed(file),
        Init::With(init, parts) => {
            rename_init(init, renamed);
            parts.values_mut().for_each(|param| rename_param(param, renamed));
        }
        Init::Zero | Init::Uninit | Init::Byte(_) | Init::Fill(_) | Init::Iota { .. } | Init::Random { .. } | Init::Values(_) => {}
    }
}

/// `path` relative to folder `to`; both may be relative to the current folder. A path on another drive or without an absolute form is
/// returned as it is.
pub fn relative(path: &Path, to: &Path) -> PathBuf {
    let whole = |path: &Path| std::path::absolute(path).map(|path| plain(&path));
    let (Ok(path), Ok(to)) = (whole(path), whole(to)) else { return path.to_path_buf() };
    let (mut here, mut there) = (to.components().peekable(), path.components().peekable());
    while here.peek().is_some() && here.peek() == there.peek() {
        here.next();
        there.next();
    }
    if matches!(here.peek(), Some(Component::Prefix(_))) {
        return path;
    }
    here.map(|_| Component::ParentDir).chain(there).collect()
}

/// `path` without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::read::LaunchFile;
    use super::*;

    #[test]
    fn files_are_named_from_the_new_folder() {
        let text = "Launch(module: \"k.ptx\", grid: (1, 1, 1), block: (1, 1, 1), params: [
            Buffer(name: \"x\", elem: F32, init: File(\"data/x.npy\"), expect: Slice(file: \"../y.bin\", offset: 4)),
            U32(1)])";
        let mut content = LaunchFile::parse("a.ron", Path::new("a/b"), text.to_string()).unwrap().content;
        relocate(&mut content, Path::new("a/b"), Path::new("a/c/d"));
        let Content::Launch(launch) = &content else { panic!("{text} is one launch") };
        let buffer = launch.params[0].buffer().unwrap();
        assert_eq!(launch.module.as_deref(), Some("../../b/k.ptx"));
        assert_eq!(buffer.init, Init::File("../../b/data/x.npy".to_string()));
        assert_eq!(buffer.expect, Some(Init::Slice { file: "../../y.bin".to_string(), offset: 4 }));
        let original = LaunchFile::parse("a.ron", Path::new("a/b"), text.to_string()).unwrap().content;
        relocate(&mut content, Path::new("a/c/d"), Path::new("a/b"));
        assert_eq!(content, original);
    }
}
