//! The plan of a run: launches with every name resolved, every size checked, and parameters complete except for the addresses.

use std::collections::BTreeMap;
use std::ops::Range;

use super::element::Element;
use super::expect::Expect;
use super::file::{ExpectedFindings, Tolerance};
use super::init::Contents;
use super::made_up::{Basis, Reason};
use crate::base::Dim3;
use crate::program::{Content, FuncId, Image, TensorMap, VarId};

/// The most made-up numbers that are named in one line.
const NUMBERS_MAX: usize = 4;

/// A launch file, resolved.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Independent cases: each starts on fresh memory.
    pub cases: Vec<Case>,
}

/// Launches that run in order on the same memory.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in messages: the kernel, or for several launches the module.
    pub name: String,
    /// The launches in order; at least one.
    pub launches: Vec<PlannedLaunch>,
    /// All their buffers, in the order of definition.
    pub buffers: Vec<PlannedBuffer>,
    /// How close numbers must be to what is expected of buffers of bytes, where it is known which numbers the bytes are.
    pub tolerance_of_bytes: Tolerance,
    /// The expected output of printf.
    pub printed: Option<Vec<u8>>,
    /// Index of the launch at which a session begins: the first of the kernel that was named.
    pub begin: usize,
}

/// One launch of a kernel.
#[derive(Clone, Debug)]
pub struct PlannedLaunch {
    /// The kernel.
    pub kernel: FuncId,
    /// Blocks in x, y and z; none is 0.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; none is 0.
    pub block: [u32; 3],
    /// The blocks that run, if not all do, by their indices in the grid; all or none of a cluster.
    pub blocks: Vec<[u32; 3]>,
    /// Blocks of a cluster in x, y and z; none is 0.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// True if the whole grid is resident at once.
    pub cooperative: bool,
    /// The values of the parameters.
    pub params: Vec<PlannedParam>,
    /// Textures, samplers and surfaces of parameters and of variables.
    pub images: Vec<PlannedImage>,
    /// Contents that it assigns to variables of the module.
    pub variables: Vec<PlannedVariable>,
    /// Element types by which variables of the module are shown.
    pub variable_types: Vec<(VarId, Element)>,
    /// Bytes of all parameters.
    pub param_size: u32,
    /// The reason why the device would reject it (finding `launch.bounds`).
    pub bounds: Option<String>,
    /// The expected findings.
    pub findings: Option<ExpectedFindings>,
    /// Names of its parameters in the source, by index, if known.
    pub names: BTreeMap<usize, String>,
    /// True if it comes from arguments of the command line, or from the debugger, not from a launch file.
    pub is_from_args: bool,
    /// The reasons for its values, if it is made up.
    pub reasons: Vec<Reason>,
}

impl PlannedLaunch {
    /// The number of blocks of the grid.
    pub fn block_count(&self) -> u64 {
        self.grid.iter().map(|extent| u64::from(*extent)).product()
    }

    /// What of the launch is a guess, in one line, with the options that say it instead: `block (32,32,1): the code reads %tid.y; grid
    /// (2,2,1), n = 64: give --block, --grid, -a`. None if nothing is.
    pub fn guesses(&self) -> Option<String> {
        let guessed = || self.reasons.iter().filter(|reason| reason.basis == Basis::Guessed);
        let is_guessed = |what: &str| guessed().any(|reason| reason.what == what);
        let block = guessed().find(|reason| reason.what == "block").map(|reason| format!("block {}: {}", Dim3(self.block), reason.why));
        let grid = is_guessed("grid").then(|| format!("grid {}", Dim3(self.grid)));
        let mut numbers: Vec<String> = guessed().filter(|reason| reason.is_number()).map(|reason| reason.what.clone()).collect();
        let options: Vec<&str> = [(block.is_some(), "--block"), (grid.is_some(), "--grid"), (!numbers.is_empty(), "-a")]
            .into_iter()
            .filter_map(|(is_guessed, option)| is_guessed.then_some(option))
            .collect();
        if options.is_empty() {
            return None;
        }
        let more = numbers.len().saturating_sub(NUMBERS_MAX);
        numbers.truncate(NUMBERS_MAX);
        numbers.extend((more > 0).then(|| format!("{more} more numbers")));
        let rest: Vec<String> = grid.into_iter().chain(numbers).collect();
        let parts: Vec<String> = block.into_iter().chain(Some(rest.join(", ")).filter(|rest| !rest.is_empty())).collect();
        Some(format!("{}: give {}", parts.join("; "), options.join(", ")))
    }
}

/// A texture, sampler or surface.
#[derive(Clone, Debug)]
pub struct PlannedImage {
    /// The image; the address of its texels is relative to the buffer.
    pub image: Image,
    /// Index into [`Case::buffers`] of the buffer of its texels.
    pub buffer: Option<usize>,
}

/// Contents that a launch assigns to a variable of the module.
#[derive(Clone, Debug)]
pub struct PlannedVariable {
    /// The variable, `.const` or `.global`.
    pub variable: VarId,
    /// Contents of its first bytes from the launch on.
    pub contents: Contents,
    /// The number of these bytes.
    pub bytes: u64,
    /// Values that replace some of them.
    pub parts: Vec<PlannedPart>,
}

/// A value inside a structure or memory.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// Byte offset.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// The value.
    pub value: ParamValue,
}

/// One kernel parameter.
#[derive(Clone, Debug)]
pub struct PlannedParam {
    /// Byte offset among the parameters.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its value.
    pub value: ParamValue,
}

/// The value of a parameter.
#[derive(Clone, Debug)]
pub enum ParamValue {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, with some of them replaced.
    Struct {
        /// The bytes.
        bytes: Vec<u8>,
        /// The values that replace some of them.
        parts: Vec<PlannedPart>,
    },
    /// The address of buffer `buffer` of the case, plus `add`.
    Address {
        /// Index into [`Case::buffers`].
        buffer: usize,
        /// Bytes added to the address.
        add: u64,
    },
    /// A tensor map over buffer `buffer` of the case.
    TensorMap {
        /// Index into [`Case::buffers`].
        buffer: usize,
        /// The map; the address of its tensor is relative to the buffer.
        map: Box<TensorMap>,
    },
}

/// One allocation in global memory.
#[derive(Clone, Debug)]
pub struct PlannedBuffer {
    /// Its name.
    pub name: String,
    /// The element type by which it is shown and compared.
    pub element: Element,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// Size in bytes.
    pub bytes: u64,
    /// The `.global` variable of the module that it is, which already has its address and contents.
    pub variable: Option<VarId>,
    /// Bytes after it that only 32-bit accesses may reach.
    pub padding: u64,
    /// Its address; chosen automatically if `None`.
    pub at: Option<u64>,
    /// Its initial contents.
    pub contents: Contents,
    /// Values that replace some of its bytes, including addresses of buffers that are defined later in the same launch.
    pub parts: Vec<PlannedPart>,
    /// Its expected contents at the end.
    pub expect: Option<Expect>,
    /// Byte ranges without expected contents (`expect_ignoring`), in order of offset: they are not compared, and may be undefined.
    pub ignored: Vec<Range<u64>>,
    /// The launch of the case that defines it, before which it is allocated.
    pub launch: usize,
}

impl PlannedLaunch {
    /// The images in order of handle, given the address of each buffer of the case.
    pub fn images(&self, addresses: &[u64]) -> Vec<Image> {
        let placed = |planned: &PlannedImage| {
            let mut image = planned.image.clone();
            let start = planned.buffer.and_then(|buffer| addresses.get(buffer)).copied().unwrap_or(0);
            match &mut image.content {
                Content::Texture(texture) => texture.texels.address += start,
                Content::Surface(texels) => texels.address += start,
                Content::Sampler(_) => {}
            }
            image
        };
        let mut images: Vec<Image> = self.images.iter().map(placed).collect();
        images.sort_by_key(|image| image.handle);
        images
    }

    /// The bytes of all parameters, given the address of each buffer of the case.
    pub fn param_bytes(&self, addresses: &[u64]) -> Vec<u8> {
        let mut all = vec![0; self.param_size as usize];
        for param in &self.params {
            put(&mut all, u64::from(param.offset), param.bytes, &param.value, addresses);
        }
        all
    }
}

impl PlannedPart {
    /// Its bytes, given the address of each buffer of the case.
    pub fn encode(&self, addresses: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes as usize];
        put(&mut bytes, 0, self.bytes, &self.value, addresses);
        bytes
    }
}

/// Writes `value` over `bytes` bytes of `all` from `offset` on.
fn put(all: &mut [u8], offset: u64, bytes: u32, value: &ParamValue, addresses: &[u64]) {
    let address_of = |buffer: usize| addresses.get(buffer).copied().unwrap_or(0);
    let encoded = match value {
        ParamValue::Bytes(bytes) => bytes.clone(),
        ParamValue::Struct { bytes, parts } => {
            let mut bytes = bytes.clone();
            parts.iter().for_each(|part| put(&mut bytes, part.offset, part.bytes, &part.value, addresses));
            bytes
        }
        ParamValue::Address { buffer, add } => address_of(*buffer).wrapping_add(*add).to_le_bytes().to_vec(),
        ParamValue::TensorMap { buffer, map } => {
            let address = address_of(*buffer).wrapping_add(map.address);
            TensorMap { address, ..**map }.encode().to_vec()
        }
    };
    let target = &mut all[offset as usize..][..bytes as usize];
    target.iter_mut().zip(encoded).for_each(|(target, byte)| *target = byte);
}

/// `value` and all values nested in it.
pub fn values_of(value: &ParamValue) -> Vec<&ParamValue> {
    match value {
        ParamValue::Struct { parts, .. } => [value].into_iter().chain(parts.iter().flat_map(|part| values_of(&part.value))).collect(),
        ParamValue::Bytes(_) | ParamValue::Address { .. } | ParamValue::TensorMap { .. } => vec![value],
    }
}
