//! What is kept of a launch, as lines of text: a word, then its values, with tabs between.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use crate::driver::Status;
use crate::launch::Launch;
use crate::memory::Region;
use crate::textures::{Object, Place, Textures};

/// The file of a folder that says what is in it. It is written last: a folder without it is not whole.
pub const NAME: &str = "launch.txt";
/// The same of a launch that has not ended, with what was kept before it.
pub const BEGUN: &str = "begun.txt";

/// What is known of a launch.
pub struct Kept<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The number of this launch among those of the wanted kernels, from 1.
    pub number: u64,
    /// The file with the image of the module.
    pub module: &'a str,
    /// The compute capability of the device: 90 is 9.0.
    pub architecture: Option<i32>,
    /// Extents and the like.
    pub launch: &'a Launch,
    /// Offset and bytes of each parameter.
    pub params: &'a [(usize, Vec<u8>)],
    /// Memory.
    pub regions: &'a [Region],
    /// Textures and surfaces.
    pub textures: &'a Textures,
    /// Whether some words were not followed, as there were too many.
    pub is_cut: bool,
    /// The number of nodes, of a graph that it is in.
    pub graph: Option<usize>,
    /// What the launch answered, or waiting for it.
    pub status: Status,
}

/// Writes what is known to the file `name` in the folder of the launch.
///
/// # Errors
/// It cannot be written.
pub fn write(folder: &Path, name: &str, kept: &Kept<'_>) -> io::Result<()> {
    let being_written = folder.join("launch.part");
    fs::write(&being_written, text(kept))?;
    fs::rename(being_written, folder.join(name))
}

fn text(kept: &Kept<'_>) -> String {
    let launch = kept.launch;
    let mut text = format!("kernel\t{}\nnumber\t{}\nmodule\t{}\nstatus\t{}\n", kept.kernel, kept.number, kept.module, kept.status);
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a string succeeds.
        let _ = writeln!(text, "{words}");
    };
    if let Some(architecture) = kept.architecture {
        line(format_args!("architecture\t{architecture}"));
    }
    for (word, [x, y, z]) in
        [("grid", launch.grid), ("block", launch.block)].into_iter().chain(launch.cluster.map(|extents| ("cluster", extents)))
    {
        line(format_args!("{word}\t{x}\t{y}\t{z}"));
    }
    line(format_args!("shared\t{}", launch.shared));
    if launch.cooperative {
        line(format_args!("cooperative"));
    }
    if let Some(nodes) = kept.graph {
        line(format_args!("graph\t{nodes}"));
    }
    if kept.is_cut {
        line(format_args!("cut"));
    }
    for (offset, bytes) in kept.params {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        line(format_args!("param\t{offset}\t{digits}"));
    }
    for Region { start, bytes, kept, before, after, variable } in kept.regions {
        let (from, to) = (kept.start - start, kept.end - start);
        let (after, variable) = (after.as_deref().unwrap_or_default(), variable.as_deref().unwrap_or_default());
        line(format_args!("region\t{start}\t{bytes}\t{from}\t{to}\t{before}\t{after}\t{variable}"));
    }
    for array in &kept.textures.arrays {
        line(format_args!("array\t{}\t{}\t{}", array.bytes, array.before, array.after.as_deref().unwrap_or_default()));
    }
    for object in &kept.textures.objects {
        line(format_args!("{}", image(object)));
    }
    text
}

/// A texture or surface.
fn image(object: &Object) -> String {
    let Object { kind, handle, format: (format, channels), extents: [width, height, depth], is_layered, is_cube, sampling, .. } = object;
    let (array, address) = match object.place {
        Place::Array(index) => (index.to_string(), 0),
        Place::Address(address) => (String::new(), address),
    };
    let [x, y, z] = sampling.address;
    let border = sampling.border.map(|channel| channel.to_bits().to_string()).join("\t");
    let shape = format!("{width}\t{height}\t{depth}\t{}\t{}", u8::from(*is_layered), u8::from(*is_cube));
    let read = format!("{x}\t{y}\t{z}\t{}\t{}\t{border}", sampling.filter, sampling.flags);
    format!("{}\t{handle}\t{array}\t{address}\t{format}\t{channels}\t{shape}\t{read}", kind.word())
}
