//! What a launch file says, as data types that `serde` reads and writes. Their doc comments are the reference of the format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distinct::distinct;
use super::element::{Element, Number};
use super::image::{BufferRef, Image, Sampler, Surface, Texture};
use super::tensor_map::TensorMap;
use crate::program::is_called;

/// What a file holds.
#[expect(clippy::large_enum_variant, reason = "there is one of them")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Content {
    /// One launch.
    Launch(Launch),
    /// Launches that each start on fresh memory.
    Suite(Launches),
    /// Launches that run in order on the same memory.
    Sequence(Launches),
}

/// The launches of a `Suite` or a `Sequence`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launches {
    /// The PTX file, relative to the launch file.
    pub module: Option<String>,
    /// Instead of one: PTX files that are linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// What printf must have written, of a `Sequence`: a `File`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Init>,
    /// The launches in order.
    pub launches: Vec<Launch>,
}

/// How one kernel is started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The PTX file, relative to the launch file; of a file with a single launch only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Instead of one: PTX files that are linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// The kernel; may be left out where the module has one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Blocks in x, y and z.
    pub grid: (u32, u32, u32),
    /// Threads of a block in x, y and z.
    pub block: (u32, u32, u32),
    /// Blocks of a cluster in x, y and z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<(u32, u32, u32)>,
    /// Bytes of dynamic shared memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dynamic_shared: u32,
    /// Whether the whole grid is resident at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
    /// The blocks that run, by their indices in x, y and z, if not all of them do. What only others would write keeps its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<(u32, u32, u32)>>,
    /// Memory that is there before the launch and that no parameter defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Memory>,
    /// One entry a kernel parameter.
    pub params: Vec<Param>,
    /// Textures, samplers and surfaces that variables of the module stand for, by the variables' names.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub bind: BTreeMap<String, Image>,
    /// What `.const` and `.global` variables of the module hold from this launch on, by their names. `Values` and files may say fewer
    /// elements than the variable has: the others stay as they are.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Init>,
    /// The types of the elements of those that are declared by the byte, as nvcc declares arrays, and of those in `expect_variables`.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub variable_types: BTreeMap<String, Element>,
    /// What `.global` variables of the module must hold at the end, by their names: `Values`, `File` or `Slice`, of all their elements.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub expect_variables: BTreeMap<String, Init>,
    /// How close they must be to it.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub variable_tolerances: BTreeMap<String, Tolerance>,
    /// Bytes of buffers that nothing is said of when their launches are over, by the buffers' names: the first byte and how many. They are
    /// not compared, and what is stored there without having been written is a note.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub expect_ignoring: BTreeMap<String, Vec<(u64, u64)>>,
    /// What printf must have written, of a launch on its own: a `File`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Init>,
    /// Which findings are right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<ExpectedFindings>,
}

impl Launch {
    /// A launch of which nothing else is said.
    pub fn new(kernel: Option<String>, grid: [u32; 3], block: [u32; 3], params: Vec<Param>) -> Self {
        let triple = |[x, y, z]: [u32; 3]| (x, y, z);
        Self {
            module: None,
            modules: Vec::new(),
            kernel,
            grid: triple(grid),
            block: triple(block),
            cluster: None,
            dynamic_shared: 0,
            cooperative: false,
            blocks: None,
            memory: Vec::new(),
            params,
            bind: BTreeMap::new(),
            variables: BTreeMap::new(),
            variable_types: BTreeMap::new(),
            expect_variables: BTreeMap::new(),
            variable_tolerances: BTreeMap::new(),
            expect_ignoring: BTreeMap::new(),
            printed: None,
            findings: None,
        }
    }

    /// Whether it is of the kernel `wanted`, by any name that it has; any launch is where none is wanted.
    pub fn is_of(&self, wanted: Option<&str>) -> bool {
        let is_it = |wanted: &str| self.kernel.as_deref().is_some_and(|kernel| kernel == wanted || is_called(wanted, kernel));
        wanted.is_none_or(is_it)
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// What stands at some bytes of a structure or of memory, by the offset of the first of them.
pub type Parts = BTreeMap<u64, Param>;

/// What a kernel parameter holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "scalars are named by their type")]
#[rustfmt::skip]
pub enum Param {
    /// The address of a buffer defined here.
    Buffer(Buffer),
    /// The address of a buffer defined before.
    Alias(String),
    /// The address of a buffer defined before, plus bytes.
    Offset(String, i64),
    /// A struct by value: its bytes in hexadecimal, and what stands at some of them instead, by their offsets: addresses, tensor maps,
    /// handles of textures, samplers and surfaces, scalars. It is written `Bytes("..", at: {16: Alias("x")})`.
    Bytes(String, #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")] Parts),
    /// A tensor map by value over a buffer.
    TensorMap(TensorMap),
    /// The handle of a texture.
    Texture(Texture),
    /// The handle of a sampler.
    Sampler(Sampler),
    /// The handle of a surface.
    Surface(Surface),
    U8(Number), S8(Number), B8(Number),
    U16(Number), S16(Number), B16(Number), F16(Number), BF16(Number),
    U32(Number), S32(Number), B32(Number), F32(Number),
    U64(Number), S64(Number), B64(Number), F64(Number),
}

impl Param {
    /// A value of these bytes.
    pub fn bytes(bytes: &[u8]) -> Self {
        Param::Bytes(bytes.iter().map(|byte| format!("{byte:02x}")).collect(), Parts::new())
    }

    /// Gives the parameter the value `given`; a buffer given to a tensor map is the array that the map describes, and one without a length
    /// is as long as the one before.
    pub fn give(&mut self, given: Self) {
        match (self, given) {
            (Param::TensorMap(map), Param::Buffer(buffer)) => map.describe(buffer),
            (Param::Buffer(before), Param::Buffer(given)) if given.lacks_length() => {
                *before = Buffer { len: before.len, shape: before.shape.take(), ..given };
            }
            (param, given) => *param = given,
        }
    }

    /// Element type and value of a scalar.
    #[rustfmt::skip]
    pub fn scalar(&self) -> Option<(Element, Number)> {
        Some(match self {
            Param::U8(n) => (Element::U8, *n), Param::S8(n) => (Element::S8, *n), Param::B8(n) => (Element::B8, *n),
            Param::U16(n) => (Element::U16, *n), Param::S16(n) => (Element::S16, *n), Param::B16(n) => (Element::B16, *n),
            Param::U32(n) => (Element::U32, *n), Param::S32(n) => (Element::S32, *n), Param::B32(n) => (Element::B32, *n),
            Param::U64(n) => (Element::U64, *n), Param::S64(n) => (Element::S64, *n), Param::B64(n) => (Element::B64, *n),
            Param::F16(n) => (Element::F16, *n), Param::BF16(n) => (Element::BF16, *n),
            Param::F32(n) => (Element::F32, *n), Param::F64(n) => (Element::F64, *n),
            Param::Buffer(_) | Param::Alias(_) | Param::Offset(..) | Param::Bytes(..) | Param::TensorMap(_) => return None,
            Param::Texture(_) | Param::Sampler(_) | Param::Surface(_) => return None,
        })
    }

    /// The scalar of this type and value.
    #[rustfmt::skip]
    pub fn from_scalar(element: Element, n: Number) -> Self {
        match element {
            Element::U8 => Param::U8(n), Element::S8 => Param::S8(n), Element::B8 => Param::B8(n),
            Element::U16 => Param::U16(n), Element::S16 => Param::S16(n), Element::B16 => Param::B16(n),
            Element::U32 => Param::U32(n), Element::S32 => Param::S32(n), Element::B32 => Param::B32(n),
            Element::U64 => Param::U64(n), Element::S64 => Param::S64(n), Element::B64 => Param::B64(n),
            Element::F16 => Param::F16(n), Element::BF16 => Param::BF16(n),
            Element::F32 => Param::F32(n), Element::F64 => Param::F64(n),
        }
    }

    /// The buffer this parameter defines.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Param::Buffer(buffer) => Some(buffer),
            Param::TensorMap(TensorMap { buffer: BufferRef::Buffer(buffer), .. })
            | Param::Texture(Texture { buffer: BufferRef::Buffer(buffer), .. })
            | Param::Surface(Surface { buffer: BufferRef::Buffer(buffer), .. }) => Some(buffer),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn buffer_mut(&mut self) -> Option<&mut Buffer> {
        match self {
            Param::Buffer(buffer) => Some(buffer),
            Param::TensorMap(TensorMap { buffer: BufferRef::Buffer(buffer), .. })
            | Param::Texture(Texture { buffer: BufferRef::Buffer(buffer), .. })
            | Param::Surface(Surface { buffer: BufferRef::Buffer(buffer), .. }) => Some(buffer),
            _ => None,
        }
    }
}

/// An allocation in global memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Buffer")]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// How it is shown and compared.
    pub elem: Element,
    /// Number of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// Extent of every dimension, outermost first, instead of `len`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// What it holds at the start.
    pub init: Init,
    /// What it must hold at the end: `Values`, `File` or `Slice`, or the `Pages` of it that are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Init>,
    /// How close it must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// With which expected element each is compared.
    #[serde(default, skip_serializing_if = "is_by_index")]
    pub compare: Compare,
}

impl Buffer {
    /// Whether nothing says how many elements it has.
    pub fn lacks_length(&self) -> bool {
        self.len.is_none() && self.shape.is_none() && self.init.is_generated()
    }
}

fn is_by_index(compare: &Compare) -> bool {
    *compare == Compare::Index
}

/// Memory that is there before a launch, whether a parameter leads to it or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Memory")]
pub struct Memory {
    /// Its name; one is made of the address where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address of its first byte, a multiple of 16; where there is room if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// How it is shown and compared: bytes if nothing is said.
    #[serde(default = "bytes", skip_serializing_if = "is_bytes")]
    pub elem: Element,
    /// Number of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// Extents, outermost first; instead of `len`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// What it holds at the start.
    pub init: Init,
    /// What it must hold at the end: `Values`, `File` or `Slice`, or the `Pages` of it that are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Init>,
    /// How close it must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// With which expected element each is compared.
    #[serde(default, skip_serializing_if = "is_by_index")]
    pub compare: Compare,
}

fn bytes() -> Element {
    Element::B8
}

fn is_bytes(element: &Element) -> bool {
    *element == Element::B8
}

impl Memory {
    /// Bytes at an address, of which nothing else is said.
    pub fn at(at: u64, len: u64, init: Init) -> Self {
        let (elem, compare) = (bytes(), Compare::Index);
        Self { name: None, at: Some(at), elem, len: Some(len), shape: None, init, expect: None, tolerance: None, compare }
    }

    /// Its name; none where it has neither a name nor an address.
    pub fn name(&self) -> Option<String> {
        self.name.clone().or_else(|| self.at.map(|at| format!("memory_{at:x}")))
    }

    /// The same as a buffer of this name.
    pub fn as_buffer(&self, name: String) -> Buffer {
        let Memory { name: _, at: _, elem, len, shape, init, expect, tolerance, compare } = self.clone();
        Buffer { name, elem, len, shape, init, expect, tolerance, compare }
    }
}

/// What a buffer holds at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Init {
    /// Zero bytes.
    Zero,
    /// Nothing: a read before a write is a finding.
    Uninit,
    /// Every byte this value.
    Byte(u8),
    /// Every element this value.
    Fill(Number),
    /// Element i is `start + i * step`; integers wrap.
    Iota {
        /// Element 0.
        start: Number,
        /// Difference of neighbours.
        step: Number,
    },
    /// Evenly distributed pseudo-random elements: floats in `low..high`, integers in `low..=high`.
    Random {
        /// Chooses the numbers; the same seed gives the same numbers everywhere.
        seed: u64,
        /// The smallest value.
        low: Number,
        /// The largest value.
        high: Number,
    },
    /// The elements one by one.
    Values(Vec<Number>),
    /// A whole data file. Of one that NumPy saved the elements must be of the buffer's type; those of float32 are rounded to nearest
    /// even where the buffer's are bf16, which NumPy does not have.
    File(String),
    /// A part of a data file.
    Slice {
        /// The data file.
        file: String,
        /// Where the part starts, in bytes.
        offset: u64,
    },
    /// The pages that a capture has kept, in a data file: how many there are, then each with its offset, in ascending order; both numbers
    /// are little-endian and have 8 bytes, a page has 4,096. Reading another page stops the run, until it has been written.
    Pages(String),
    /// The same as another one but for what stands at some bytes, by their offsets: addresses, tensor maps, scalars. It is written
    /// `With(Zero, at: {8: Alias("x")})`.
    With(Box<Init>, Parts),
}

impl Init {
    /// What it is but for what stands at some bytes, and that.
    pub fn split(&self) -> (&Init, Option<&Parts>) {
        match self {
            Init::With(init, parts) => (init, Some(parts)),
            init => (init, None),
        }
    }

    /// Whether it is a rule that says nothing of how many elements there are.
    pub fn is_generated(&self) -> bool {
        match self {
            Init::Zero | Init::Uninit | Init::Byte(_) | Init::Fill(_) | Init::Iota { .. } | Init::Random { .. } => true,
            Init::Values(_) | Init::File(_) | Init::Slice { .. } | Init::Pages(_) | Init::With(..) => false,
        }
    }
}

/// With which expected element an element is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compare {
    /// With the one of the same index.
    #[default]
    Index,
    /// With any: both hold the same elements the same number of times, in whatever order.
    Multiset,
}

/// How close an element must be to the expected one. Under any but `Bits`, two NaNs are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Tolerance {
    /// The same bits.
    #[default]
    Bits,
    /// At most this many representable values away.
    Ulp(u64),
    /// |value - expected| at most this.
    Abs(f64),
    /// |value - expected| at most this times |expected|.
    Rel(f64),
    /// Either of the two: absolute, relative.
    AbsOrRel(f64, f64),
    /// The sum of the two, absolute and relative, as NumPy's `allclose` adds `atol` and `rtol`.
    AbsPlusRel(f64, f64),
}

/// Which findings a launch must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ExpectedFindings {
    /// None.
    Clean,
    /// At least one of these, and no other.
    AnyOf {
        /// Ids that are right.
        ids: Vec<String>,
        /// The source line one of them must be on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
}
