//! The content of a launch file, as data types that `serde` reads and writes. Their doc comments are the reference of the format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::distinct::distinct;
use super::element::{Element, Number};
use super::image::{BufferRef, Image, Sampler, Surface, Texture};
use super::tensor_map::TensorMap;
use crate::program::is_called;

/// The content of a launch file.
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
    /// The expected output of printf, of a `Sequence`: a `File`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Init>,
    /// The launches in order.
    pub launches: Vec<Launch>,
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The PTX file, relative to the launch file; of a file with a single launch only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Instead of one: PTX files that are linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// The kernel; may be omitted if the module has only one.
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
    /// True if the whole grid is resident at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cooperative: bool,
    /// The blocks that run, by their indices in x, y and z, if not all of them do. Memory that only other blocks write keeps its value, and
    /// of what is expected only the bytes are compared that these blocks store. With a block run the others of its cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<(u32, u32, u32)>>,
    /// Memory that exists before the launch and that no parameter defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Memory>,
    /// One entry for each kernel parameter.
    pub params: Vec<Param>,
    /// Textures, samplers and surfaces that variables of the module refer to, by the variables' names.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub bind: BTreeMap<String, Image>,
    /// Textures, samplers and surfaces by handles that parameters, structures or memory hold as numbers, as those of a captured launch.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub handles: BTreeMap<u64, Image>,
    /// Contents of `.const` and `.global` variables of the module from this launch on, by their names. `Values` and files may have
    /// fewer elements than the variable: the others are unchanged.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Init>,
    /// Element types of variables that are declared as bytes, as nvcc declares arrays, also of those in `expect_variables`.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub variable_types: BTreeMap<String, Element>,
    /// Expected contents of `.global` variables of the module at the end, by their names: `Values`, `File` or `Slice`, of all elements.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub expect_variables: BTreeMap<String, Init>,
    /// Tolerances of these variables, by their names.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub variable_tolerances: BTreeMap<String, Tolerance>,
    /// Byte ranges of buffers without expected contents, by the buffers' names: first byte and length. They are not compared, and
    /// storing undefined data there is only a note.
    #[serde(default, deserialize_with = "distinct", skip_serializing_if = "BTreeMap::is_empty")]
    pub expect_ignoring: BTreeMap<String, Vec<(u64, u64)>>,
    /// The expected output of printf, of a launch outside a `Sequence`: a `File`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Init>,
    /// The expected findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<ExpectedFindings>,
}

impl Launch {
    /// A launch with defaults for everything else.
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
            handles: BTreeMap::new(),
            variables: BTreeMap::new(),
            variable_types: BTreeMap::new(),
            expect_variables: BTreeMap::new(),
            variable_tolerances: BTreeMap::new(),
            expect_ignoring: BTreeMap::new(),
            printed: None,
            findings: None,
        }
    }

    /// True if it launches `kernel`, by any of its names; always true for `None`.
    pub fn is_of(&self, kernel: Option<&str>) -> bool {
        let is_launched = |name: &str| self.kernel.as_deref().is_some_and(|kernel| kernel == name || is_called(name, kernel));
        kernel.is_none_or(is_launched)
    }
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// Values inside a structure or memory, by byte offset.
pub type Parts = BTreeMap<u64, Param>;

/// The value of a kernel parameter.
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
    /// A struct by value: its bytes in hexadecimal, and values that replace some of them, by byte offset: addresses, tensor maps,
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
    /// A parameter with these bytes.
    pub fn bytes(bytes: &[u8]) -> Self {
        Param::Bytes(bytes.iter().map(|byte| format!("{byte:02x}")).collect(), Parts::new())
    }

    /// Sets the value; a buffer set for a tensor map becomes the array that the map describes, and one without a length keeps the
    /// length of the buffer that it replaces.
    pub fn set(&mut self, value: Self) {
        match (self, value) {
            (Param::TensorMap(map), Param::Buffer(buffer)) => map.describe(buffer),
            (Param::Buffer(before), Param::Buffer(buffer)) if buffer.lacks_length() => {
                *before = Buffer { len: before.len, shape: before.shape.take(), ..buffer };
            }
            (param, value) => *param = value,
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

    /// The buffer this parameter defines, mutable.
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
    /// The element type by which it is shown and compared.
    pub elem: Element,
    /// Number of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// Extent of every dimension, outermost first, instead of `len`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// Its initial contents.
    pub init: Init,
    /// Its expected contents at the end: `Values`, `File` or `Slice`, or the `Pages` of it that are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Init>,
    /// The tolerance of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// The expected element with which each element is compared.
    #[serde(default, skip_serializing_if = "is_by_index")]
    pub compare: Compare,
}

impl Buffer {
    /// True if nothing determines its number of elements.
    pub fn lacks_length(&self) -> bool {
        self.len.is_none() && self.shape.is_none() && self.init.is_generated()
    }
}

fn is_by_index(compare: &Compare) -> bool {
    *compare == Compare::Index
}

/// Memory that exists before a launch, whether a parameter points to it or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Memory")]
pub struct Memory {
    /// Its name; the default is derived from the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address of its first byte, a multiple of 16 unless `init` is `Pages`; chosen automatically if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The element type by which it is shown and compared; bytes by default.
    #[serde(default = "bytes", skip_serializing_if = "is_bytes")]
    pub elem: Element,
    /// Number of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// Extents, outermost first; instead of `len`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// Its initial contents.
    pub init: Init,
    /// Its expected contents at the end: `Values`, `File` or `Slice`, or the `Pages` of it that are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Init>,
    /// The tolerance of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// The expected element with which each element is compared.
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
    /// Bytes at an address, with defaults for everything else.
    pub fn at(at: u64, len: u64, init: Init) -> Self {
        let (elem, compare) = (bytes(), Compare::Index);
        Self { name: None, at: Some(at), elem, len: Some(len), shape: None, init, expect: None, tolerance: None, compare }
    }

    /// Its name; `None` if it has neither a name nor an address.
    pub fn name(&self) -> Option<String> {
        self.name.clone().or_else(|| self.at.map(|at| format!("memory_{at:x}")))
    }

    /// A buffer of this name with the same contents.
    pub fn as_buffer(&self, name: String) -> Buffer {
        let Memory { name: _, at: _, elem, len, shape, init, expect, tolerance, compare } = self.clone();
        Buffer { name, elem, len, shape, init, expect, tolerance, compare }
    }
}

/// The initial contents of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Init {
    /// Zero bytes.
    Zero,
    /// Undefined: a read before a write is a finding.
    Uninit,
    /// Every byte this value.
    Byte(u8),
    /// Every element this value.
    Fill(Number),
    /// Element i is `start + i * step`; integers wrap.
    Iota {
        /// Element 0.
        start: Number,
        /// Difference of adjacent elements.
        step: Number,
    },
    /// Evenly distributed pseudo-random elements: floats in `low..high`, integers in `low..=high`.
    Random {
        /// Seed of the generator; the same seed gives the same numbers on every machine.
        seed: u64,
        /// The smallest value.
        low: Number,
        /// The largest value.
        high: Number,
    },
    /// The elements one by one.
    Values(Vec<Number>),
    /// A whole data file. The elements of one that NumPy saved must be of the buffer's type; but float32 is rounded to nearest even
    /// for a buffer of bf16, which NumPy does not have.
    File(String),
    /// A part of a data file.
    Slice {
        /// The data file.
        file: String,
        /// Byte offset of the part.
        offset: u64,
    },
    /// The pages that a capture has saved, in a data file: their number, then each with its offset, in ascending order; both numbers
    /// are little-endian and have 8 bytes, a page has 4,096. Reading another page stops the run unless it has been written.
    Pages(String),
    /// Other contents with some bytes replaced, by byte offset, by addresses, tensor maps or scalars. It is written
    /// `With(Zero, at: {8: Alias("x")})`.
    With(Box<Init>, Parts),
}

impl Init {
    /// The contents without replaced bytes, and the replacements.
    pub fn split(&self) -> (&Init, Option<&Parts>) {
        match self {
            Init::With(init, parts) => (init, Some(parts)),
            init => (init, None),
        }
    }

    /// True if it is a rule, which does not determine the number of elements.
    pub fn is_generated(&self) -> bool {
        match self {
            Init::Zero | Init::Uninit | Init::Byte(_) | Init::Fill(_) | Init::Iota { .. } | Init::Random { .. } => true,
            Init::Values(_) | Init::File(_) | Init::Slice { .. } | Init::Pages(_) | Init::With(..) => false,
        }
    }
}

/// The expected element with which an element is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compare {
    /// With the one of the same index.
    #[default]
    Index,
    /// With any: both hold the same elements the same number of times, in any order.
    Multiset,
}

/// How close an element must be to the expected one. Two NaNs are equal except with `Bits`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Tolerance {
    /// The same bits.
    #[default]
    Bits,
    /// At most this many representable values between them.
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

/// The findings that a launch must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ExpectedFindings {
    /// None.
    Clean,
    /// At least one of these, and no other.
    AnyOf {
        /// The expected ids.
        ids: Vec<String>,
        /// The source line one of them must be on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
}
