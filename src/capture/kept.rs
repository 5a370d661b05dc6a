//! What the library has written of a launch: `launch.txt` in its folder, a word a line and its values, with tabs between.

use std::fs;
use std::path::Path;

use super::textures::{Array, Object};

/// The file of a folder that says what is in it.
const NAME: &str = "launch.txt";
/// The file of a launch that has not ended.
const BEGUN: &str = "begun.txt";
/// The status of such a one.
pub const UNFINISHED: i32 = -1;

/// Memory that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its address on the device.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The first byte that is kept, and the one after the last.
    pub kept: std::ops::Range<u64>,
    /// The file with what it held before the launch.
    pub before: String,
    /// The file with what it held after it, if that is something else.
    pub after: Option<String>,
    /// The name, of a variable of the module.
    pub variable: Option<String>,
}

impl Region {
    /// Whether all of it is kept.
    pub fn is_whole(&self) -> bool {
        self.kept == (0..self.bytes)
    }
}

/// A launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The kernel, by its name in the module.
    pub kernel: String,
    /// Which launch of the wanted kernels it is, from 1.
    pub number: u64,
    /// The file with the image of the module.
    pub module: String,
    /// What the launch, or waiting for its end, answered: 0 is success.
    pub status: i32,
    /// The architecture of the device: 90 is sm_90.
    pub architecture: Option<u32>,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Whether the whole grid is resident at once.
    pub cooperative: bool,
    /// Whether more words look like addresses than were followed.
    pub is_cut: bool,
    /// The number of nodes, of a graph that it was launched in.
    pub graph: Option<u64>,
    /// Offset and bytes of each parameter.
    pub params: Vec<(u64, Vec<u8>)>,
    /// Memory.
    pub regions: Vec<Region>,
    /// Texels of textures and surfaces.
    pub arrays: Vec<Array>,
    /// Textures and surfaces.
    pub textures: Vec<Object>,
}

impl Kept {
    /// What the folder of a launch says.
    ///
    /// # Errors
    /// It cannot be read, in one line.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = [NAME, BEGUN].map(|name| folder.join(name)).into_iter().find(|path| path.is_file()).unwrap_or_else(|| folder.join(NAME));
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))?;
        let mut kept = Self::default();
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split('\t').collect();
            kept.take(&fields)
                .ok_or_else(|| format!("{}:{}: '{line}' is nothing that the capture library writes", path.display(), index + 1))?;
        }
        Ok(kept)
    }

    /// Takes a line; none if it is not understood.
    fn take(&mut self, fields: &[&str]) -> Option<()> {
        let triple = |fields: [&str; 3]| {
            let [x, y, z] = fields.map(|field| field.parse::<u32>().ok());
            Some([x?, y?, z?])
        };
        match *fields {
            ["kernel", name] => self.kernel = name.to_string(),
            ["number", number] => self.number = number.parse().ok()?,
            ["module", file] => self.module = file.to_string(),
            ["status", status] => self.status = status.parse().ok()?,
            ["architecture", number] => self.architecture = Some(number.parse().ok()?),
            ["grid", x, y, z] => self.grid = triple([x, y, z])?,
            ["block", x, y, z] => self.block = triple([x, y, z])?,
            ["cluster", x, y, z] => self.cluster = Some(triple([x, y, z])?),
            ["shared", bytes] => self.shared = bytes.parse().ok()?,
            ["cooperative"] => self.cooperative = true,
            ["graph", nodes] => self.graph = Some(nodes.parse().ok()?),
            ["cut"] => self.is_cut = true,
            ["param", offset, digits] => self.params.push((offset.parse().ok()?, bytes_of(digits)?)),
            ["region", start, bytes, from, to, before, after, variable] => {
                let some = |name: &str| (!name.is_empty()).then(|| name.to_string());
                self.regions.push(Region {
                    start: start.parse().ok()?,
                    bytes: bytes.parse().ok()?,
                    kept: from.parse().ok()?..to.parse().ok()?,
                    before: before.to_string(),
                    after: some(after),
                    variable: some(variable),
                });
            }
            ["array", ref fields @ ..] => self.arrays.push(Array::read(fields)?),
            [word @ ("texture" | "surface"), ref fields @ ..] => self.textures.push(Object::read(word, fields)?),
            _ => return None,
        }
        Some(())
    }
}

/// The bytes that pairs of hexadecimal digits stand for.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()).collect()
}
