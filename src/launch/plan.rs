//! What is to be run: launches with every name resolved, every size checked, and parameters ready but for the addresses.

use std::collections::BTreeMap;
use std::ops::Range;

use super::element::Element;
use super::expect::Expect;
use super::file::ExpectedFindings;
use super::init::Contents;
use super::made_up::Reason;
use crate::program::{Content, FuncId, Image, TensorMap, VarId};

/// What a launch file asks for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Programs that know nothing of each other: each starts on fresh memory.
    pub cases: Vec<Case>,
}

/// Launches that run in order on the same memory.
#[derive(Clone, Debug)]
pub struct Case {
    /// How it is called in messages: the kernel, or for several launches the module.
    pub name: String,
    /// The launches in order; at least one.
    pub launches: Vec<PlannedLaunch>,
    /// All their buffers, in the order of definition.
    pub buffers: Vec<PlannedBuffer>,
    /// What printf must have written.
    pub printed: Option<Vec<u8>>,
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
    /// The blocks that run, if not all do, by their indices in the grid; of a cluster all or none.
    pub blocks: Vec<[u32; 3]>,
    /// Blocks of a cluster in x, y and z; none is 0.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Whether the whole grid is resident at once.
    pub cooperative: bool,
    /// What the parameters hold.
    pub params: Vec<PlannedParam>,
    /// Textures, samplers and surfaces of parameters and of variables.
    pub images: Vec<PlannedImage>,
    /// What it gives to variables of the module.
    pub variables: Vec<PlannedVariable>,
    /// Bytes of all parameters.
    pub param_size: u32,
    /// Why the device would refuse it (finding `launch.bounds`).
    pub bounds: Option<String>,
    /// Which findings are right.
    pub findings: Option<ExpectedFindings>,
    /// What the source calls its parameters, by index, where that is known.
    pub names: BTreeMap<usize, String>,
    /// Whether words of the command line, or the debugger, made it, and no launch file.
    pub is_of_words: bool,
    /// Why its values are what they are, if it is made up; else nothing.
    pub reasons: Vec<Reason>,
}

/// A texture, sampler or surface.
#[derive(Clone, Debug)]
pub struct PlannedImage {
    /// What it is, with its texels at the address that they have in the buffer.
    pub image: Image,
    /// Index into [`Case::buffers`] of the one its texels lie in.
    pub buffer: Option<usize>,
}

/// What a launch gives to a variable of the module.
#[derive(Clone, Debug)]
pub struct PlannedVariable {
    /// The variable, `.const` or `.global`.
    pub variable: VarId,
    /// What its first bytes hold from the launch on.
    pub contents: Contents,
    /// How many bytes these are.
    pub bytes: u64,
    /// What stands at some of them instead.
    pub parts: Vec<PlannedPart>,
}

/// What stands at some bytes of a structure or of memory.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// The first of them.
    pub offset: u64,
    /// How many there are.
    pub bytes: u32,
    /// What stands there.
    pub value: ParamValue,
}

/// One kernel parameter.
#[derive(Clone, Debug)]
pub struct PlannedParam {
    /// Where it lies among the parameters.
    pub offset: u32,
    /// Its size.
    pub bytes: u32,
    /// What it holds.
    pub value: ParamValue,
}

/// What a parameter holds.
#[derive(Clone, Debug)]
pub enum ParamValue {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, and what stands at some of them instead.
    Struct {
        /// The bytes.
        bytes: Vec<u8>,
        /// What stands at some of them.
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
        /// What it says, with its tensor at the address that it has in the buffer.
        map: Box<TensorMap>,
    },
}

/// One allocation in global memory.
#[derive(Clone, Debug)]
pub struct PlannedBuffer {
    /// Its name.
    pub name: String,
    /// How it is shown and compared.
    pub element: Element,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// Size in bytes.
    pub bytes: u64,
    /// The `.global` variable of the module that it is, which has its place and its contents already.
    pub variable: Option<VarId>,
    /// Bytes after it that only words may touch.
    pub padding: u64,
    /// The address that it has; where there is room if it asks for none.
    pub at: Option<u64>,
    /// What it holds at the start.
    pub contents: Contents,
    /// What stands at some of its bytes instead, which may be addresses of buffers that are defined later in the same launch.
    pub parts: Vec<PlannedPart>,
    /// What it must hold at the end.
    pub expect: Option<Expect>,
    /// Its bytes of which nothing is said when the case is over (`expect_ignoring`), in order of offset: they are not compared, and may be
    /// without definition.
    pub ignored: Vec<Range<u64>>,
    /// The launch of the case that defines it, before which it is made.
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
    let place = &mut all[offset as usize..][..bytes as usize];
    place.iter_mut().zip(encoded).for_each(|(place, byte)| *place = byte);
}

/// `value` and all that stands in it.
pub fn values_of(value: &ParamValue) -> Vec<&ParamValue> {
    match value {
        ParamValue::Struct { parts, .. } => [value].into_iter().chain(parts.iter().flat_map(|part| values_of(&part.value))).collect(),
        ParamValue::Bytes(_) | ParamValue::Address { .. } | ParamValue::TensorMap { .. } => vec![value],
    }
}
