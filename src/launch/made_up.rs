//! Made-up launches: made up from the kernel alone, or from one word for each parameter.
//!
//! A [`Study`] reads off the code which parameters are pointers and to what, which numbers end loops, and which shape of block the
//! code is for. What cannot be read off is guessed: a [`Guess`] is a shape and a few numbers, from which the whole launch follows. The
//! layer that runs kernels tries one guess after the other, and measures how much memory the kernel reaches.

#![warn(clippy::wildcard_enum_match_arm)]

mod arithmetic;
mod constants;
mod descriptors;
mod dimensions;
mod flow;
mod hints;
mod indices;
mod origins;
mod shape;
mod uses;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use super::element::{Kind, Number};
use super::file::{Buffer, Content, Init, Launch, Param};
use super::given::{Formal, Own};
use super::read::{LaunchFile, Origin};
use super::variables;
use crate::base::{SourceFile, Sources};
use crate::isa::{OutsideFill, ScalarType, Swizzle, TensorElement, TypeKind};
use crate::program::{self, FuncId, Function, Pc, Program};
use flow::Flow;
use shape::KernelFeatures;
use uses::Uses;

pub use constants::constants_of;
pub use flow::ParamPart;
pub use origins::Origins;

/// The number that sizes, strides and the ends of loops get, at least and at most.
const SIZE: (u64, u64) = (16, 1024);
/// At most where a loop ends at one.
const SIZE_OF_LOOPS: u64 = 128;
/// At most where tiles of matrices are multiplied, which are up to 128 wide.
const SIZE_OF_MATRICES: u64 = 256;
/// Smaller numbers, for kernels that run long.
const SIZES_SMALLER: [u64; 2] = [64, 16];
/// Rounds of a loop in which the whole grid meets.
const ROUNDS_COOPERATIVE: u64 = 4;
/// Larger numbers, for kernels whose tiles are wider.
const SIZES_LARGER: [u64; 3] = [256, 512, 1024];
/// Parts of what barrier objects expect that one tensor copy may bring.
const BOX_PARTS: [u32; 4] = [2, 4, 8, 16];
/// Bytes of a tensor copy where no mbarrier gives the count.
const BOX_BYTES: u32 = 8192;

/// Why a number is an extent of the arrays that are given where another one fits as well.
pub const ONE_OF_SEVERAL: &str = "one of the extents with which the arrays fit";

/// A made-up launch.
#[derive(Clone, Debug)]
pub struct MadeUp {
    /// What a launch file would say.
    pub content: Content,
    /// Why its values are what they are.
    pub reasons: Vec<Reason>,
}

/// Why a value of a made-up launch is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Which value: `n = 64`, `block`, the name of a buffer.
    pub what: String,
    /// Why, as a phrase: `the loop at gemm.cu:9 ends at it`.
    pub why: String,
    /// The index of the parameter that it is about, if it is about one.
    pub param: Option<usize>,
    /// What it rests on.
    pub basis: Basis,
}

/// What the reason is called why a launch is not the one that is tried first.
pub const NOT_FIRST: &str = "not the first guess";

/// How such a reason ends where nothing but its length speaks against the first guess.
pub const RUNS_LONG: &str = "the kernel runs long";

/// What a value of a made-up launch rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The command line, or a file that a compiler wrote.
    Given,
    /// The code, or the arrays that are given, leave no other.
    Derived,
    /// Another value may be meant.
    Guessed,
}

impl Reason {
    fn new(what: &str, why: String) -> Self {
        Self { what: what.to_string(), why, param: None, basis: Basis::Guessed }
    }

    fn based(self, basis: Basis) -> Self {
        Self { basis, ..self }
    }
}

/// What is known of a launch beside the code: by the command line, and by files that a compiler wrote.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Blocks in x, y and z, and the source of that.
    pub grid: Option<([u32; 3], String)>,
    /// Threads of a block.
    pub block: Option<([u32; 3], String)>,
    /// Blocks of a cluster.
    pub cluster: Option<([u32; 3], String)>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: Option<(u32, String)>,
    /// Names of parameters, by index.
    pub names: BTreeMap<usize, String>,
    /// Where the names are from, or why there are none.
    pub names_why: Option<String>,
    /// Types of the elements that pointers point to.
    pub elements: BTreeMap<usize, ScalarType>,
    /// Numbers that follow from others, and why.
    pub numbers: BTreeMap<usize, (Number, String)>,
    /// Pointers to scratch memory, with its bytes for each block; null where they are 0.
    pub scratch: BTreeMap<usize, u64>,
    /// Whether the whole grid must be resident.
    pub cooperative: bool,
    /// Parameters that are not made up.
    pub params: BTreeMap<usize, Param>,
    /// What is given to variables of the module.
    pub variables: Vec<variables::Given>,
    /// Elements of a row of the arrays that are given, and the name of one, where all rows are as long.
    pub row: Option<(u64, String)>,
    /// Elements of the arrays that are given, and the name of one, where all have one dimension and are as long.
    pub length: Option<(u64, String)>,
    /// The extents of the arrays that are given, each once.
    pub extents: Vec<u64>,
    /// The elements of the arrays that are given and have several extents, each once.
    pub totals: Vec<u64>,
    /// The parameters that are the extents, outermost first, and then the strides of the array of a tensor map, by the parameter that is
    /// the map.
    pub map_parts: BTreeMap<usize, Vec<usize>>,
    /// What tensor maps say.
    pub maps: BTreeMap<usize, KnownMap>,
}

/// What is known of a tensor map.
#[derive(Clone, Debug)]
pub struct KnownMap {
    /// Type of an element.
    pub element: Option<TensorElement>,
    /// Elements of the box in each dimension, innermost first.
    pub tile: Vec<u32>,
    /// How 16-byte units change places.
    pub swizzle: Swizzle,
    /// What elements outside the tensor read as.
    pub fill: OutsideFill,
    /// The source of that.
    pub why: String,
}

/// What buffers of integers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// Numbers from 0 up.
    Counting,
    /// Zeros: as an index they fit everywhere.
    Zero,
    /// Numbers from 1 up: loops that wait for 1 or divide by two end.
    FromOne,
}

/// What decides a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// What sizes, strides and the ends of loops are.
    pub size: u64,
    /// What buffers of integers hold.
    pub integers: Integers,
    /// Bytes that a tensor copy brings.
    pub box_bytes: Option<u32>,
    /// Whether a run has shown that the block fits the tiles in shared memory.
    pub block_fits: bool,
    /// Elements of buffers that were measured, by index of parameter.
    pub lens: BTreeMap<usize, u64>,
    /// Extents of the arrays that are given, by index of the parameter that is one, and why.
    pub extents: BTreeMap<usize, (u64, &'static str)>,
    /// Why this guess and not the one before, if it is not the first.
    pub instead: Option<String>,
}

/// What is known of a kernel.
pub struct Study<'a> {
    program: &'a Program,
    kernel: &'a Function,
    id: FuncId,
    module: &'a str,
    known: &'a Known,
    uses: Uses,
    features: KernelFeatures,
    /// The words of parameters that point to integers for sure.
    integers: Vec<flow::ParamPart>,
}

impl<'a> Study<'a> {
    /// Reads the code of `kernel`; the module is called `module` in the launch.
    pub fn new(program: &'a Program, kernel: FuncId, module: &'a str, known: &'a Known) -> Self {
        let flow = Flow::new(program, kernel);
        let bits = arithmetic::integers(&flow);
        let integers = flow.words.iter().take(64).enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, word)| *word).collect();
        let (id, kernel) = (kernel, &program.functions[kernel.index()]);
        Self { program, kernel, id, module, known, uses: Uses::of(&flow), features: KernelFeatures::of(&flow), integers }
    }

    /// The guess to begin with.
    pub fn first(&self) -> Guess {
        let block = self.known.block.as_ref().map_or_else(|| self.features.block(self.kernel).0, |known| known.0);
        self.with_block(block)
    }

    fn with_block(&self, block: [u32; 3]) -> Guess {
        let cluster = self.known.cluster.as_ref().map_or_else(|| self.features.cluster(self.kernel).0, |known| known.0);
        let grid = self.known.grid.as_ref().map_or_else(|| self.features.grid(cluster), |known| known.0);
        let most = self.features.dynamic_most.unwrap_or(0);
        let dynamic_shared = self.known.dynamic_shared.as_ref().map_or(most, |known| known.0);
        let covered = (0..3).map(|index| u64::from(grid[index]) * u64::from(block[index])).max().unwrap_or(1);
        let has_loops = self.uses.words.iter().any(|used| used.number.ends_loop.is_some());
        let most = match (has_loops, self.features.multiplies()) {
            (true, true) => SIZE_OF_MATRICES,
            (true, false) => SIZE_OF_LOOPS,
            (false, _) => SIZE.1,
        };
        let size = covered.next_multiple_of(SIZE.0).clamp(SIZE.0, most);
        let box_bytes = (self.uses.expected_bytes > 0).then_some(self.uses.expected_bytes);
        let integers = Integers::Counting;
        Guess {
            grid,
            block,
            cluster,
            dynamic_shared,
            size,
            integers,
            box_bytes,
            block_fits: false,
            lens: BTreeMap::new(),
            extents: BTreeMap::new(),
            instead: None,
        }
    }

    /// Guesses for a kernel that `failed` says does not run with the `first` one, in the order in which they are worth a try. A deadlock is
    /// not avoided by loops that run less often, nor by another block than the code or the command line names.
    pub fn others(&self, first: &Guess, failed: &str, is_deadlock: bool) -> Vec<Guess> {
        let mut others = Vec::new();
        if self.uses.words.iter().any(|used| used.pointer.is_some_and(|pointer| pointer.reads)) {
            others.push(Guess { integers: Integers::Zero, instead: Some(format!("with integers from 0 up, {failed}")), ..first.clone() });
        }
        if self.uses.words.iter().any(|used| used.word.param < self.kernel.params.len()) && self.uses.tensor_rank > 0 {
            for part in BOX_PARTS {
                let box_bytes = Some(first.box_bytes.unwrap_or(BOX_BYTES) / part);
                others.push(Guess { box_bytes, instead: Some(format!("with larger boxes, {failed}")), ..first.clone() });
            }
        }
        if !is_deadlock || self.kernel.limits.max_block.is_none() {
            others.extend(self.other_block_shapes(first, failed));
        }
        for size in [16, 4, 1].into_iter().filter(|size| *size < first.size && !is_deadlock) {
            let instead = Some(format!("with larger numbers, {failed}"));
            others.push(Guess { size, integers: Integers::Zero, instead, ..first.clone() });
        }
        others
    }

    /// Whether a word points to integers that the code reads and nothing gives.
    fn holds_integers(&self, used: &uses::WordUse) -> bool {
        let element = |pointer: &uses::PointerUse| pointer.element.and_then(values::memory_element);
        let is_float = |pointer: &uses::PointerUse| element(pointer).is_some_and(|element| element.kind() == Kind::Float);
        used.pointer.is_some_and(|pointer| pointer.reads && !is_float(&pointer)) && !self.known.params.contains_key(&used.word.param)
    }

    /// The guess to try where `long` runs without end.
    pub fn ending(&self, long: &Guess) -> Option<Guess> {
        let reads = self.uses.words.iter().any(|used| self.holds_integers(used));
        let instead = Some(format!("with integers from 0 up {RUNS_LONG}"));
        reads.then(|| Guess { integers: Integers::FromOne, instead, size: SIZE.0, extents: long.extents.clone(), ..self.first() })
    }

    /// The parameters as words of the command line can name them: `n`, `param_2` and the name that the module has.
    pub fn formals(&self) -> Vec<Formal> {
        let formal = |(index, formal): (usize, &program::Param)| {
            let named = self.known.names.get(&index).cloned();
            let names = named.into_iter().chain([formal.name.to_string(), format!("param_{index}")]).collect();
            Formal { names, own: self.own(index, formal) }
        };
        self.kernel.params.iter().enumerate().map(formal).collect()
    }

    /// What the code says of a parameter.
    fn own(&self, index: usize, formal: &program::Param) -> Own {
        if self.is_map(formal) {
            return Own::TensorMap(self.map_rank(index), Some(values::buffer_element(self.map_element(index))));
        }
        let whole = self.uses.whole(index, formal.bytes);
        if let Some(pointer) = whole.and_then(|used| used.pointer) {
            let known = self.known.elements.get(&index).copied();
            let ty = known.or(pointer.element);
            let Some(element) = ty.and_then(values::memory_element) else { return Own::Pointer(None) };
            return match ty.map(ScalarType::kind) {
                _ if known.is_some() => Own::Pointer(Some(element)),
                Some(TypeKind::Float) => Own::Pointer(Some(element)),
                _ if !self.is_of_integers(index) => Own::Moved(element),
                _ if element.kind() == Kind::Bits => Own::Pointer(element.unsigned()),
                _ => Own::Pointer(Some(element)),
            };
        }
        values::element_of(formal, whole).map_or(Own::Struct(formal.bytes), Own::Scalar)
    }

    fn is_of_integers(&self, index: usize) -> bool {
        self.integers.iter().any(|word| word.param == index && word.offset == 0 && word.bytes == self.kernel.params[index].bytes)
    }

    /// The parameters that are given and that the kernel writes to, where nothing says how many blocks there are.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other parameters are no buffers")]
    pub fn outputs(&self) -> Vec<usize> {
        let is_free = self.known.grid.is_none() && !self.features.cooperative;
        let writes = |index: &usize| {
            let whole = self.uses.whole(*index, self.kernel.params.get(*index).map_or(0, |formal| formal.bytes));
            whole.and_then(|used| used.pointer).is_some_and(|pointer| pointer.writes)
        };
        // A tensor map over zeros is one of which nothing but the expected result is given.
        let is_result = |index: &usize, buffer: &Buffer| {
            self.kernel.params.get(*index).is_some_and(|formal| self.is_map(formal)) && buffer.init == Init::Zero
        };
        let buffers = self.known.params.iter().filter_map(|(index, param)| match param {
            Param::Buffer(buffer) => Some((index, buffer)),
            _ => None,
        });
        let is_sized = |buffer: &Buffer| !buffer.lacks_length();
        buffers
            .filter(|(index, buffer)| is_free && is_sized(buffer) && (writes(index) || is_result(index, buffer)))
            .map(|(index, _)| *index)
            .collect()
    }

    /// The numbers that are not given and may be extents of arrays: they end loops, are compared or make addresses.
    pub fn free_extents(&self) -> Vec<usize> {
        let is_part = |index: &usize| self.known.map_parts.values().any(|parts| parts.contains(index));
        let is_given = |index: &usize| self.known.params.contains_key(index) || self.known.numbers.contains_key(index);
        let is_free = |index: &usize| !is_given(index) && !is_part(index);
        let counts = |index: &usize| {
            let bytes = self.kernel.params[*index].bytes;
            let whole = self.uses.whole(*index, bytes).filter(|used| bytes >= 4 && used.pointer.is_none());
            whole.is_some_and(|used| used.number.is_extent() && used.number.handle.is_none())
        };
        (0..self.kernel.params.len()).filter(is_free).filter(counts).collect()
    }

    /// What is known beside the code.
    pub fn known(&self) -> &Known {
        self.known
    }

    /// The dimensions in which the code distinguishes blocks.
    pub fn ctaid_axes(&self) -> [bool; 3] {
        self.features.ctaid_axes
    }

    /// What a number gets that does nothing but end a loop.
    fn rounds(&self, guess: &Guess) -> u64 {
        if self.features.cooperative { guess.size.min(ROUNDS_COOPERATIVE) } else { guess.size }
    }

    /// Whether a shape or a size that nothing decides may lead the kernel to memory that it does not write, or writes twice.
    pub fn may_misfit(&self) -> bool {
        self.has_free_block() || self.has_free_strides()
    }

    /// Whether nothing decides the block, and the kernel has tiles in shared memory that one must fit.
    pub fn has_free_block(&self) -> bool {
        let limits = &self.kernel.limits;
        let decided = self.known.block.is_some() || limits.required_block.is_some();
        !decided && self.features.has_tiles() && (limits.max_block.is_none() || self.features.has_rows())
    }

    fn has_free_strides(&self) -> bool {
        let is_free = |index: usize| !self.known.params.contains_key(&index);
        self.uses.words.iter().any(|used| used.pointer.is_none() && used.number.addressed.is_some() && is_free(used.word.param))
    }

    /// Guesses with other blocks for a kernel of which `found` says what is wrong with that of `guess`; none where the block is decided.
    pub fn other_block_shapes(&self, guess: &Guess, found: &str) -> Vec<Guess> {
        if self.known.block.is_some() {
            return Vec::new();
        }
        let instead = format!("with a block of {}, {found}", extents(guess.block));
        let blocks = self.features.other_blocks(self.kernel).into_iter().filter(|block| *block != guess.block);
        let with = |block| Guess { instead: Some(instead.clone()), extents: guess.extents.clone(), ..self.with_block(block) };
        blocks.map(with).collect()
    }

    /// Guesses with larger strides for a kernel of which `found` says what a checker finds in a run of `guess`.
    pub fn larger(&self, guess: &Guess, found: &str) -> Vec<Guess> {
        let sizes = SIZES_LARGER.into_iter().filter(|size| *size > guess.size && self.has_free_strides());
        let instead = Some(format!("with smaller numbers, {found}"));
        sizes.map(|size| Guess { size, instead: instead.clone(), lens: BTreeMap::new(), ..guess.clone() }).collect()
    }

    /// The same guess with smaller numbers, for a kernel that runs long; none if there are no smaller ones, or no number matters.
    pub fn smaller(&self, guess: &Guess) -> Option<Guess> {
        let is_free = |index: usize| !self.known.params.contains_key(&index);
        let matters = self.uses.words.iter().any(|used| used.pointer.is_none() && is_free(used.word.param));
        // Where the whole grid meets, it is the meeting that lasts.
        let size = SIZES_SMALLER.into_iter().find(|size| *size < guess.size && !self.features.cooperative)?;
        let instead = guess.instead.clone().or_else(|| Some(format!("with larger numbers {RUNS_LONG}")));
        matters.then(|| Guess { size, instead, ..guess.clone() })
    }

    /// Whether the number of bytes of dynamic shared memory is to be measured.
    pub fn measures_shared(&self) -> bool {
        self.known.dynamic_shared.is_none() && self.features.dynamic_most.is_some()
    }

    /// The launch that follows from `guess`.
    pub fn launch(&self, guess: &Guess) -> MadeUp {
        let mut reasons = self.shape_reasons(guess);
        let mut params = Vec::new();
        for (index, formal) in self.kernel.params.iter().enumerate() {
            let (param, reason) = self.param(index, formal, guess);
            params.push(param);
            reasons.extend(reason.map(|reason| Reason { param: Some(index), ..reason }));
        }
        reasons.extend(self.known.names_why.as_ref().map(|why| Reason::new("parameter names", why.clone()).based(Basis::Given)));
        if self.known.extents.is_empty() && !self.free_extents().is_empty() {
            let edges = "they are round: what the kernel does at the edges of arrays needs others, as -a n=1000";
            reasons.push(Reason::new("sizes", edges.to_string()).based(Basis::Derived));
        }
        reasons.extend(guess.instead.as_ref().map(|why| Reason::new(NOT_FIRST, why.clone()).based(Basis::Derived)));
        let triple = |[x, y, z]: [u32; 3]| (x, y, z);
        let cluster = (guess.cluster != self.kernel.limits.required_cluster.unwrap_or([1; 3])).then(|| triple(guess.cluster));
        reasons.extend(self.constants().into_iter().map(|(name, word)| {
            let why = format!("the kernel reads this constant, which the module does not initialize: zero; -a {word} gives it a value");
            Reason::new(name, why)
        }));
        let mut launch = Launch {
            module: Some(self.module.to_string()),
            cluster,
            dynamic_shared: guess.dynamic_shared,
            cooperative: self.features.cooperative || self.known.cooperative,
            ..Launch::new(Some(self.kernel.name.to_string()), guess.grid, guess.block, params)
        };
        self.known.variables.iter().for_each(|given| given.clone().put(&mut launch));
        MadeUp { content: Content::Launch(launch), reasons }
    }

    fn shape_reasons(&self, guess: &Guess) -> Vec<Reason> {
        let said = |known: &Option<([u32; 3], String)>| known.as_ref().map(|known| known.1.clone());
        let (first, why, decided) = self.features.block(self.kernel);
        let fits = if guess.block_fits { Basis::Derived } else { Basis::Guessed };
        let (block, basis) = match said(&self.known.block) {
            Some(why) => (why, Basis::Given),
            None if first == guess.block => (why, if decided { Basis::Derived } else { fits }),
            None => ("the first shape that fits the tiles".to_string(), fits),
        };
        let (grid, grid_basis) = match said(&self.known.grid) {
            Some(why) => (why, Basis::Given),
            None => ("two blocks where the code distinguishes them".to_string(), Basis::Guessed),
        };
        let mut reasons = vec![Reason::new("grid", grid).based(grid_basis), Reason::new("block", block).based(basis)];
        let cluster = said(&self.known.cluster).or_else(|| self.features.cluster(self.kernel).1.map(str::to_string));
        reasons.extend(cluster.map(|why| Reason::new("cluster", why)));
        let dynamic = match (&self.known.dynamic_shared, self.features.dynamic_most) {
            (Some((_, why)), _) => Some((why.as_str(), Basis::Given)),
            (None, Some(most)) if guess.dynamic_shared == most => Some(("the most that the target allows", Basis::Guessed)),
            (None, Some(_)) => Some(("as much as the kernel reaches", Basis::Derived)),
            (None, None) => None,
        };
        let what = format!("dynamic shared memory = {}", guess.dynamic_shared);
        reasons.extend(dynamic.map(|(why, basis)| Reason::new(&what, why.to_string()).based(basis)));
        if self.features.cooperative {
            reasons.push(Reason::new("cooperative", "the code reads the address of the grid's barrier".to_string()));
        }
        reasons
    }

    /// `gemm.cu:9`, or the place in the PTX where no line of the source language is known; of a function that was put in place of its
    /// call, where that was called.
    fn place(&self, pc: Pc) -> String {
        let program = self.program;
        let called = program.call_sites.get(&pc).and_then(|sites| sites.last()).copied();
        let line = called.or_else(|| program.source_lines.get(pc.index()).copied().flatten()).filter(|line| line.line > 0);
        let named = line.and_then(|line| program.source_files.iter().find(|file| file.0 == line.file).map(|file| (&file.1, line.line)));
        match named {
            Some((file, line)) => format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
            None => program.place(pc),
        }
    }
}

fn extents([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// A launch file that holds `content`, without a text.
pub fn file_of(content: Content) -> LaunchFile {
    let mut sources = Sources::default();
    let whole = sources.add(SourceFile::new("the made-up launch", ""));
    LaunchFile {
        content,
        folder: Path::new("").to_path_buf(),
        sources,
        origin: Origin::Arguments(whole),
        given: Vec::new(),
        expected: Vec::new(),
    }
}
