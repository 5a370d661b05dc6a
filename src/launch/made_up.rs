//! Made-up launches: derived from the kernel alone, or from one argument for each parameter.
//!
//! A [`Study`] derives from the code which parameters are pointers and to what, which numbers are loop bounds, and which block shape
//! the code is for. The rest is guessed: a [`Guess`] is a shape and a few numbers, which determine the whole launch. The layer that
//! runs kernels tries one guess after the other, and measures how much memory the kernel accesses.

#![warn(clippy::wildcard_enum_match_arm)]

mod arithmetic;
mod constants;
mod descriptors;
mod dimensions;
mod evidence;
mod flow;
mod hints;
mod indices;
mod origins;
mod shape;
mod uses;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use super::element::{Element, Kind, Number};
use super::file::{Buffer, Content, Init, Launch, Param};
use super::param_args::{Formal, ParamType};
use super::read::{LaunchFile, Origin};
use super::variable_args;
use crate::base::{SourceFile, Sources, file_name};
use crate::isa::{OutsideFill, ScalarType, Swizzle, TensorElement, TypeKind};
use crate::program::{self, FuncId, Function, Pc, Program, is_signed_parameter, parameter_types};
use flow::Flow;
use shape::KernelFeatures;
use uses::Uses;

pub use constants::constants_of;
pub use flow::ParamPart;
pub use origins::Origins;
pub use uses::stored_elements;

/// Minimum and maximum of the number that sizes, strides and loop bounds get.
const SIZE: (u64, u64) = (16, 1024);
/// The maximum if one is a loop bound.
const SIZE_OF_LOOPS: u64 = 128;
/// The maximum if tiles of matrices are multiplied, which are up to 128 wide.
const SIZE_OF_MATRICES: u64 = 256;
/// Smaller numbers, for kernels that run long.
const SIZES_SMALLER: [u64; 2] = [64, 16];
/// Iterations of a loop in which the whole grid synchronizes.
const ROUNDS_COOPERATIVE: u64 = 4;
/// Larger numbers, for kernels whose tiles are wider.
const SIZES_LARGER: [u64; 3] = [256, 512, 1024];
/// One tensor copy may transfer one half to one sixteenth of the bytes that an mbarrier expects.
const BOX_PARTS: [u32; 4] = [2, 4, 8, 16];
/// Bytes of a tensor copy if no mbarrier expects a constant count.
const BOX_BYTES: u32 = 8192;

/// The reason for one of several matching extents of the user's arrays.
pub const ONE_OF_SEVERAL: &str = "one of the extents with which the arrays fit";

/// A made-up launch.
#[derive(Clone, Debug)]
pub struct MadeUp {
    /// The launch, as the content of a launch file.
    pub content: Content,
    /// The reasons for its values.
    pub reasons: Vec<Reason>,
}

/// Elements of one type, which all accesses of a kernel by a pointer are to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformElements {
    /// The type.
    pub element: Element,
    /// True if an instruction transfers several of them.
    pub has_vectors: bool,
}

/// The reason for a value of a made-up launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The value: `n = 64`, `block`, the name of a buffer.
    pub what: String,
    /// The reason, as a phrase: `the loop at gemm.cu:9 ends at it`.
    pub why: String,
    /// The index of the parameter whose value it is, if it is one's.
    pub param: Option<usize>,
    /// The source of the value.
    pub basis: Basis,
}

/// The name of the reason why a launch is not the one that was tried first.
pub const NOT_FIRST: &str = "not the first guess";

/// The end of such a reason if the first guess was rejected only for its run time.
pub const RUNS_LONG: &str = "the kernel runs long";

/// The beginning of such a reason if the first guess had another block.
pub const WITH_BLOCK: &str = "with a block of";

/// The source of a value of a made-up launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The command line, or a file that a compiler wrote.
    Given,
    /// The code, or the user's arrays, determine it.
    Derived,
    /// Another value is possible.
    Guessed,
}

impl Reason {
    fn new(what: &str, why: String) -> Self {
        Self { what: what.to_string(), why, param: None, basis: Basis::Guessed }
    }

    fn based(self, basis: Basis) -> Self {
        Self { basis, ..self }
    }

    /// True if the value is a number that a parameter gets.
    pub fn is_number(&self) -> bool {
        self.param.is_some() && self.what.contains(" = ")
    }
}

/// Facts about a launch that are not in the code: from the command line, and from files that a compiler wrote.
#[derive(Clone, Debug, Default)]
pub struct LaunchFacts {
    /// Blocks in x, y and z, and the source of this fact.
    pub grid: Option<([u32; 3], String)>,
    /// Threads of a block.
    pub block: Option<([u32; 3], String)>,
    /// Blocks of a cluster.
    pub cluster: Option<([u32; 3], String)>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: Option<(u32, String)>,
    /// Names of parameters, by index.
    pub names: BTreeMap<usize, String>,
    /// The origin of the names, or why there are none.
    pub names_why: Option<String>,
    /// Types of the elements that pointers point to.
    pub elements: BTreeMap<usize, ScalarType>,
    /// Numbers that follow from others, with reasons.
    pub numbers: BTreeMap<usize, (Number, String)>,
    /// Pointers to scratch memory, with its bytes for each block; null if 0.
    pub scratch: BTreeMap<usize, u64>,
    /// True if the whole grid must be resident.
    pub cooperative: bool,
    /// Parameters from the user.
    pub params: BTreeMap<usize, Param>,
    /// Values from the user for variables of the module.
    pub variables: Vec<variable_args::VariableArg>,
    /// Elements of a row of the user's arrays, and the name of one, if all rows have the same length.
    pub row: Option<(u64, String)>,
    /// Elements of the user's arrays, and the name of one, if all have one dimension and the same length.
    pub length: Option<(u64, String)>,
    /// The distinct extents of the user's arrays.
    pub extents: Vec<u64>,
    /// The distinct numbers of elements of the user's arrays with several dimensions.
    pub totals: Vec<u64>,
    /// For the parameter that is a tensor map, the parameters that are the extents of its array, outermost first, and then the strides.
    pub map_parts: BTreeMap<usize, Vec<usize>>,
    /// Facts about tensor maps.
    pub maps: BTreeMap<usize, MapFacts>,
}

/// Facts about a tensor map from a compiler's files.
#[derive(Clone, Debug)]
pub struct MapFacts {
    /// Type of an element.
    pub element: Option<TensorElement>,
    /// Elements of the box in each dimension, innermost first.
    pub tile: Vec<u32>,
    /// The swizzle mode: the permutation of 16-byte units.
    pub swizzle: Swizzle,
    /// The value of elements outside the tensor.
    pub fill: OutsideFill,
    /// The source of these facts.
    pub why: String,
}

/// What buffers of integers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// Numbers from 0 up.
    Counting,
    /// Zeros: a valid index of every array.
    Zero,
    /// Numbers from 1 up: loops that wait for 1 or divide by two terminate.
    FromOne,
}

/// The choices that determine a launch.
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
    /// The value of sizes, strides and loop bounds.
    pub size: u64,
    /// Contents of buffers of integers.
    pub integers: Integers,
    /// Bytes that a tensor copy transfers.
    pub box_bytes: Option<u32>,
    /// True if a run has shown that the block matches the tiles in shared memory.
    pub block_fits: bool,
    /// Elements of buffers that were measured, by index of parameter.
    pub lens: BTreeMap<usize, u64>,
    /// Extents of the user's arrays, with reasons, by index of the parameter that gets one.
    pub extents: BTreeMap<usize, (u64, &'static str)>,
    /// The reason why this guess replaces an earlier one, if it is not the first.
    pub instead: Option<String>,
}

/// The analysis of a kernel, with the facts that are not in its code.
pub struct Study<'a> {
    program: &'a Program,
    kernel: &'a Function,
    id: FuncId,
    module: &'a str,
    known: &'a LaunchFacts,
    uses: Uses,
    features: KernelFeatures,
    /// The parts of parameters that certainly point to integers.
    integers: Vec<flow::ParamPart>,
}

impl<'a> Study<'a> {
    /// Analyzes the code of `kernel`; the module is called `module` in the launch.
    pub fn new(program: &'a Program, kernel: FuncId, module: &'a str, known: &'a LaunchFacts) -> Self {
        let flow = Flow::new(program, kernel);
        let bits = arithmetic::integers(&flow);
        let integers = flow.parts.iter().take(64).enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, part)| *part).collect();
        let (id, kernel) = (kernel, &program.functions[kernel.index()]);
        Self { program, kernel, id, module, known, uses: Uses::of(&flow), features: KernelFeatures::of(&flow), integers }
    }

    /// The first guess.
    pub fn first(&self) -> Guess {
        let block = self.known.block.as_ref().map_or_else(|| self.features.block(self.kernel).0, |known| known.0);
        self.with_block(block)
    }

    fn with_block(&self, block: [u32; 3]) -> Guess {
        let cluster = self.known.cluster.as_ref().map_or_else(|| self.cluster().0, |known| known.0);
        let grid = self.known.grid.as_ref().map_or_else(|| self.features.grid(cluster), |known| known.0);
        let most = self.features.dynamic_most.unwrap_or(0);
        let dynamic_shared = self.known.dynamic_shared.as_ref().map_or(most, |known| known.0);
        let covered = (0..3).map(|index| u64::from(grid[index]) * u64::from(block[index])).max().unwrap_or(1);
        let has_loops = self.uses.parts.iter().any(|used| used.number.ends_loop.is_some());
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

    /// Further guesses for a kernel that does not run with the `first` one, for the reason `failed`, the most promising first. A
    /// deadlock is not avoided by fewer iterations, nor by another block than the code or the command line names.
    pub fn others(&self, first: &Guess, failed: &str, is_deadlock: bool) -> Vec<Guess> {
        let mut others = Vec::new();
        if self.uses.parts.iter().any(|used| used.pointer.is_some_and(|pointer| pointer.reads)) {
            others.push(Guess { integers: Integers::Zero, instead: Some(format!("with integers from 0 up, {failed}")), ..first.clone() });
        }
        if self.uses.parts.iter().any(|used| used.part.param < self.kernel.params.len()) && self.uses.tensor_rank > 0 {
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

    /// True if a part points to integers that the code reads and the user did not define.
    fn holds_integers(&self, used: &uses::PartUse) -> bool {
        let element = |pointer: &uses::PointerUse| pointer.element.and_then(values::memory_element);
        let is_float = |pointer: &uses::PointerUse| element(pointer).is_some_and(|element| element.kind() == Kind::Float);
        used.pointer.is_some_and(|pointer| pointer.reads && !is_float(&pointer)) && !self.known.params.contains_key(&used.part.param)
    }

    /// The guess to try if `long` does not terminate.
    pub fn ending(&self, long: &Guess) -> Option<Guess> {
        let reads = self.uses.parts.iter().any(|used| self.holds_integers(used));
        let instead = Some(format!("with integers from 0 up {RUNS_LONG}"));
        reads.then(|| Guess { integers: Integers::FromOne, instead, size: SIZE.0, extents: long.extents.clone(), ..self.first() })
    }

    /// The parameters as arguments of the command line can name them: `n`, `param_2` and the name in the module.
    pub fn formals(&self) -> Vec<Formal> {
        let formal = |(index, formal): (usize, &program::Param)| {
            let named = self.known.names.get(&index).cloned();
            let names = named.into_iter().chain([formal.name.to_string(), format!("param_{index}")]).collect();
            Formal { names, ty: self.param_type(index, formal) }
        };
        self.kernel.params.iter().enumerate().map(formal).collect()
    }

    /// Blocks of a cluster as the code shows them, and the reason if there are several: one where a guess does not divide the grid that is
    /// given.
    fn cluster(&self) -> ([u32; 3], Option<&'static str>) {
        let shown @ (cluster, _) = self.features.cluster(self.kernel);
        let divides = |grid: &[u32; 3]| grid.iter().zip(&cluster).all(|(blocks, cluster)| blocks.is_multiple_of(*cluster));
        let is_possible = self.kernel.limits.required_cluster.is_some() || self.known.grid.as_ref().is_none_or(|known| divides(&known.0));
        if is_possible { shown } else { ([1; 3], None) }
    }

    /// The type of a parameter as its uses show it.
    fn param_type(&self, index: usize, formal: &program::Param) -> ParamType {
        if self.is_map(formal) {
            return ParamType::TensorMap(self.map_rank(index), Some(values::buffer_element(self.map_element(index))));
        }
        let whole = self.uses.whole(index, formal.bytes);
        if let Some(pointer) = whole.and_then(|used| used.pointer) {
            let known = self.known.elements.get(&index).copied();
            let ty = known.or(pointer.element);
            let Some(element) = ty.and_then(values::memory_element) else { return ParamType::Pointer(None) };
            return match ty.map(ScalarType::kind) {
                _ if known.is_some() => ParamType::Pointer(Some(element)),
                Some(TypeKind::Float) => ParamType::Pointer(Some(element)),
                _ if !self.is_of_integers(index) => ParamType::AnyOfWidth(element),
                _ if element.kind() == Kind::Bits => ParamType::Pointer(element.unsigned()),
                _ => ParamType::Pointer(Some(element)),
            };
        }
        match values::element_of(formal, whole) {
            Some(element) if element.kind() == Kind::Unsigned && is_signed_parameter(self.kernel, index) != Some(false) => {
                ParamType::AnySign(element)
            }
            Some(element) => ParamType::Scalar(element),
            None => self.number_of_class(index, formal).map_or(ParamType::Struct(formal.bytes), ParamType::Scalar),
        }
    }

    /// The number that a class of two bytes is, such as `__half`.
    fn number_of_class(&self, index: usize, formal: &program::Param) -> Option<Element> {
        let types = parameter_types(&self.kernel.name).filter(|types| types.len() == self.kernel.params.len() && formal.bytes == 2)?;
        match types.get(index)?.as_str() {
            "__half" => Some(Element::F16),
            "__nv_bfloat16" => Some(Element::BF16),
            _ => None,
        }
    }

    /// The elements that a parameter points to, if the kernel computes with them and all its accesses are of their size.
    pub fn uniform_elements(&self, index: usize) -> Option<UniformElements> {
        let formal = self.kernel.params.get(index)?;
        let ParamType::Pointer(Some(element)) = self.param_type(index, formal) else { return None };
        let pointer = self.uses.whole(index, formal.bytes)?.pointer?;
        let is_uniform = pointer.sizes == element.bytes() && element.kind() != Kind::Bits;
        is_uniform.then_some(UniformElements { element, has_vectors: pointer.has_vectors })
    }

    /// True if the kernel accesses whole elements of `bytes` bytes, a power of two, by the pointer `index`, one or several at a time.
    pub fn accesses_whole(&self, index: usize, bytes: u32) -> bool {
        let whole = self.kernel.params.get(index).and_then(|formal| self.uses.whole(index, formal.bytes));
        // Sizes are powers of two: an element is never a part of another one.
        whole
            .and_then(|used| used.pointer)
            .is_some_and(|pointer| pointer.transfers != 0 && pointer.transfers & (uses::UNKNOWN_BYTES | (bytes - 1)) == 0)
    }

    fn is_of_integers(&self, index: usize) -> bool {
        self.integers.iter().any(|part| part.param == index && part.offset == 0 && part.bytes == self.kernel.params[index].bytes)
    }

    /// The user's parameters that the kernel writes to, if nothing determines the number of blocks.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other parameters are no buffers")]
    pub fn outputs(&self) -> Vec<usize> {
        let is_free = self.known.grid.is_none() && !self.features.cooperative;
        let writes = |index: &usize| {
            let whole = self.uses.whole(*index, self.kernel.params.get(*index).map_or(0, |formal| formal.bytes));
            whole.and_then(|used| used.pointer).is_some_and(|pointer| pointer.writes)
        };
        // A tensor map over zeros is one for the result.
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

    /// The numbers that the user left out and that may be extents of arrays: loop bounds, compared, or part of addresses.
    pub fn free_extents(&self) -> Vec<usize> {
        let is_part = |index: &usize| self.known.map_parts.values().any(|parts| parts.contains(index));
        let is_given = |index: &usize| self.known.params.contains_key(index) || self.known.numbers.contains_key(index);
        let is_free = |index: &usize| !is_given(index) && !is_part(index);
        let may_be_extent = |index: &usize| {
            let bytes = self.kernel.params[*index].bytes;
            let whole = self.uses.whole(*index, bytes).filter(|used| bytes >= 4 && used.pointer.is_none());
            whole.is_some_and(|used| used.number.is_extent() && used.number.handle.is_none())
        };
        (0..self.kernel.params.len()).filter(is_free).filter(may_be_extent).collect()
    }

    /// The facts that are not in the code.
    pub fn known(&self) -> &LaunchFacts {
        self.known
    }

    /// The dimensions in which the code distinguishes blocks.
    pub fn ctaid_axes(&self) -> [bool; 3] {
        self.features.ctaid_axes
    }

    /// The value of a number that is only a loop bound.
    fn iterations(&self, guess: &Guess) -> u64 {
        if self.features.cooperative { guess.size.min(ROUNDS_COOPERATIVE) } else { guess.size }
    }

    /// True if a shape or size that is guessed may make the kernel leave memory unwritten, or write it twice.
    pub fn may_misfit(&self) -> bool {
        self.has_free_block() || self.has_free_strides()
    }

    /// True if the block is guessed and the kernel has tiles in shared memory that it must match.
    pub fn has_free_block(&self) -> bool {
        let limits = &self.kernel.limits;
        let decided = self.known.block.is_some() || limits.required_block.is_some();
        !decided && self.features.has_tiles() && (limits.max_block.is_none() || self.features.has_rows())
    }

    fn has_free_strides(&self) -> bool {
        let is_free = |index: usize| !self.known.params.contains_key(&index);
        self.uses.parts.iter().any(|used| used.pointer.is_none() && used.number.addressed.is_some() && is_free(used.part.param))
    }

    /// Guesses with other blocks for a kernel for which the block of `guess` is wrong because of `found`; none if the user gave the block.
    pub fn other_block_shapes(&self, guess: &Guess, found: &str) -> Vec<Guess> {
        if self.known.block.is_some() {
            return Vec::new();
        }
        let instead = format!("{WITH_BLOCK} {}, {found}", extents(guess.block));
        let blocks = self.features.other_blocks(self.kernel).into_iter().filter(|block| *block != guess.block);
        let with = |block| Guess { instead: Some(instead.clone()), extents: guess.extents.clone(), ..self.with_block(block) };
        blocks.map(with).collect()
    }

    /// Guesses with larger strides for a kernel; `found` describes the finding in a run of `guess`.
    pub fn larger(&self, guess: &Guess, found: &str) -> Vec<Guess> {
        let sizes = SIZES_LARGER.into_iter().filter(|size| *size > guess.size && self.has_free_strides());
        let instead = Some(format!("with smaller numbers, {found}"));
        sizes.map(|size| Guess { size, instead: instead.clone(), lens: BTreeMap::new(), ..guess.clone() }).collect()
    }

    /// The same guess with smaller numbers, for a kernel that runs long; `None` if there are no smaller ones, or no number matters.
    pub fn smaller(&self, guess: &Guess) -> Option<Guess> {
        let is_free = |index: usize| !self.known.params.contains_key(&index);
        let matters = self.uses.parts.iter().any(|used| used.pointer.is_none() && is_free(used.part.param));
        // In a cooperative kernel, the barriers of the grid dominate the run time.
        let size = SIZES_SMALLER.into_iter().find(|size| *size < guess.size && !self.features.cooperative)?;
        let instead = guess.instead.clone().or_else(|| Some(format!("with larger numbers {RUNS_LONG}")));
        matters.then(|| Guess { size, instead, ..guess.clone() })
    }

    /// True if the size of dynamic shared memory is to be measured.
    pub fn measures_shared(&self) -> bool {
        self.known.dynamic_shared.is_none() && self.features.dynamic_most.is_some()
    }

    /// True if the array of parameter `index` is a list that the kernel appends to: a counter in memory, which the kernel changes, is the
    /// index of the next element.
    pub fn is_appended(&self, index: usize) -> bool {
        let counters = self.uses.parts.iter().filter_map(|used| used.pointer).filter(|used| used.writes || used.atomics);
        counters.filter(|used| used.indexes.is_some()).any(|used| self.uses.parts_of(used.into).any(|part| part.param == index))
    }

    /// The launch that `guess` determines.
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
        reasons.extend(self.constants().into_iter().map(|(name, argument)| {
            let why = format!("the kernel reads this constant, which the module does not initialize: zero; -a {argument} gives it a value");
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
        let cluster = said(&self.known.cluster).or_else(|| self.cluster().1.map(str::to_string));
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

    /// `gemm.cu:9`, or the line of the PTX if no line of the source language is known; for an inlined function, the line of the call.
    fn place(&self, pc: Pc) -> String {
        let program = self.program;
        let line = program.source_places(pc).last().filter(|line| line.line > 0);
        let named = line.and_then(|line| program.source_files.iter().find(|file| file.0 == line.file).map(|file| (&file.1, line.line)));
        match named {
            Some((file, line)) => format!("{}:{line}", file_name(file)),
            None => program.place(pc),
        }
    }
}

fn extents([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// A launch file with this content and without a text.
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
