//! Tensors of Triton's programs, put together from the registers of all threads of a block.
//!
//! [`Tensors::parse`] reads what Triton keeps beside the PTX. [`Tensors::current`] chooses what a name of the source means at an
//! instruction: the value that the last statement before it has left there. [`reader`] gives its elements.

mod binding;
mod code;
mod compute;
mod contents;
mod finals;
mod merged;
pub(in crate::debug) mod moves;
mod places;
pub mod reader;
mod rules;
mod sunk;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use binding::{Binding, Part};
pub use watched::Watched;

use self::code::Code;
use self::contents::{Contents, Meaning, State};
use self::finals::{Final, finals, region_names};
use self::rules::{Giving, Rules};
use crate::container::{self, bundle};
use crate::isa::ScalarType;
use crate::program::{FuncId, Pc, Program};
use crate::ttgir::{Definition, ElementType, LinearLayout, Module, Op, OpId, TextError, ValueId, ValueType};

/// Most bytes of a description that are read.
const DESCRIPTION_BYTES_MAX: u64 = 1 << 28;

/// Most operations in each other by which a value is computed.
const COMPUTED_MAX: u32 = 64;

/// The operations that a compiler leaves in order, and with them their registers.
const KEPT_IN_ORDER: [&str; 7] =
    ["tt.load", "tt.dot", "ttng.warp_group_dot", "ttng.warp_group_dot_wait", "ttg.local_load", "tt.atomic_rmw", "tt.atomic_cas"];

/// The operations that a mask limits, and which of their operands it is.
const MASKED: [(&str, usize); 4] = [("tt.load", 1), ("tt.store", 2), ("tt.atomic_rmw", 2), ("ttg.async_copy_global_to_local", 2)];

/// Most operations between a value and the operand whose registers give the order of its own.
const OPERANDS_MAX: u32 = 8;

/// The tensors of the kernel of one launch, read when a name is first asked for.
#[derive(Debug, Default)]
pub struct LazyTensors {
    /// The module that they may be described beside.
    module: Option<PathBuf>,
    /// The text of Triton's intermediate code, if it was given.
    text: Option<String>,
    read: OnceLock<Result<Tensors, Option<String>>>,
}

impl LazyTensors {
    /// The tensors that are described beside `module`: in `NAME.ttgir` of `NAME.ptx`, or in that of the kernel's name.
    pub fn beside(module: Option<PathBuf>) -> Self {
        Self { module, ..Self::default() }
    }

    /// The tensors that `text` describes.
    pub fn described(text: String) -> Self {
        Self { text: Some(text), ..Self::default() }
    }

    /// The tensors of `kernel`, which must be the same in each call; none if there is no description of it.
    pub fn get(&self, program: &Program, kernel: FuncId) -> Option<&Tensors> {
        self.read(program, kernel).as_ref().ok()
    }

    /// Why a description of `kernel` that is there is not used: its name, the line, and what is wrong.
    pub fn problem(&self, program: &Program, kernel: FuncId) -> Option<&str> {
        self.read(program, kernel).as_ref().err()?.as_deref()
    }

    /// The text that describes the kernel of this name, if there is one.
    pub fn text(&self, kernel: &str) -> Option<String> {
        Some(self.description(kernel)?.1)
    }

    fn description(&self, kernel: &str) -> Option<(String, String)> {
        let given = self.text.clone().map(|text| ("the .ttgir".to_string(), text));
        given.or_else(|| beside(self.module.as_deref()?, kernel, "ttgir"))
    }

    fn read(&self, program: &Program, kernel: FuncId) -> &Result<Tensors, Option<String>> {
        self.read.get_or_init(|| {
            let name = &program.functions[kernel.index()].name;
            let (file, text) = self.description(name).ok_or(None)?;
            let first = self.text.is_none().then(|| beside(self.module.as_deref()?, name, "source")).flatten();
            let first = first.map(|(_, text)| text);
            Tensors::parse(&text, first.as_deref(), program, kernel)
                .map_err(|error| Some(format!("{file}, {error}: its variables are not known")))
        })
    }
}

/// The name and the text of Triton's intermediate code beside a module, in the file with this extension.
fn beside(module: &Path, kernel: &str, extension: &str) -> Option<(String, String)> {
    let file = container::file_of(module);
    let is_name = !kernel.contains('/');
    let named = file.parent().filter(|_| is_name).map(|folder| folder.join(format!("{kernel}.{extension}")));
    let text = |path: PathBuf| {
        let bytes = bundle::read(&path, DESCRIPTION_BYTES_MAX).ok()??;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Some((name, String::from_utf8_lossy(&bytes).into_owned()))
    };
    text(file.with_extension(extension)).or_else(|| text(named?))
}

/// The tensors of a kernel.
#[derive(Debug)]
pub struct Tensors {
    module: Module,
    code: Code,
    kernel: FuncId,
    /// The values that statements of the source leave in their variables, in order of the text.
    finals: BTreeMap<String, Vec<Final>>,
    /// The variables of what loops and branches hand on.
    regions: BTreeMap<ValueId, Vec<String>>,
    /// Where values are, by the number of the value.
    held: Vec<OnceLock<Held>>,
    contents: OnceLock<Contents>,
}

/// The registers of a value.
#[derive(Debug)]
struct Held {
    layout: Option<LinearLayout>,
    bindings: Vec<Binding>,
}

/// A value that a variable has at an instruction.
#[derive(Clone, Debug)]
pub struct Current {
    /// The value.
    pub value: ValueId,
    /// The lines of the statements that may have given it.
    pub lines: Vec<u32>,
    /// How it comes to be the variable's.
    meaning: Meaning,
}

impl Current {
    /// True if it is of the round of the loop before.
    pub fn is_earlier(&self) -> bool {
        matches!(self.meaning, Meaning::Value { is_earlier: true, .. })
    }

    /// The instruction that began to compute it and the one that waits for it, if it is not complete.
    pub fn in_flight(&self) -> Option<(u32, u32)> {
        match self.meaning {
            Meaning::InFlight { since, until, .. } => Some((since, until)),
            Meaning::Value { .. } | Meaning::OneOf(_) => None,
        }
    }

    /// `line 12`, `line 12 or line 14`
    pub fn lines_text(&self) -> String {
        lines_text(&self.lines)
    }
}

fn lines_text(lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("line {line}")).collect();
    lines.join(" or ")
}

/// `f32[64][32]`, `f16*`, `s32`; empty for what is no number.
fn type_words(ty: &ValueType) -> String {
    let element = |element: ElementType| match element {
        ElementType::Scalar(ty) => ty.word().to_string(),
        ElementType::Pointer(Some(to)) => format!("{}*", to.word()),
        ElementType::Pointer(None) => "void*".to_string(),
    };
    match ty {
        ValueType::Scalar(one) => element(*one),
        ValueType::Tensor(tensor) => {
            let extents: String = tensor.shape.iter().map(|extent| format!("[{extent}]")).collect();
            format!("{}{extents}", element(tensor.element))
        }
        ValueType::Other => String::new(),
    }
}

/// What a statement of the source gives its variable.
#[derive(Clone, Debug)]
pub struct Given {
    /// The value.
    pub value: ValueId,
    /// The line of the statement.
    pub line: u32,
    /// The instructions after each of which it is complete, one for each copy of the code; none if it never changes.
    pub stops: Vec<u32>,
    /// True if each thread can compute all of it.
    pub is_computed: bool,
}

impl Given {
    /// The value, as the variable has it after the statement.
    pub fn current(&self) -> Current {
        Current { value: self.value, lines: vec![self.line], meaning: Meaning::of(self.value) }
    }
}

/// Why a variable has no value at an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// No statement has given it one.
    #[error("'{name}' has no value yet: line {line} of the source gives it one")]
    NotYet {
        /// Its name.
        name: String,
        /// The first line.
        line: u32,
    },
    /// Several statements may have given it one.
    #[error("'{name}' is not known here: {lines} gave it, by the path that was taken")]
    OneOf {
        /// Its name.
        name: String,
        /// The statements.
        lines: String,
    },
    /// The registers that hold it are not known.
    #[error("'{0}' is in no registers that are known: the compiler has made something else of it")]
    NotHeld(String),
}

impl Tensors {
    /// Reads the description of `kernel`. `first` is Triton's code before the compiler has changed it, if that is at hand: it names
    /// variables that have become one. What of it cannot be read adds no names.
    ///
    /// # Errors
    /// `text` has no such kernel, or not all of it.
    pub fn parse(text: &str, first: Option<&str>, program: &Program, kernel: FuncId) -> Result<Self, TextError> {
        let function = &program.functions[kernel.index()];
        let module = Module::parse(text, &function.name)?;
        let held = module.values.iter().map(|_| OnceLock::new()).collect();
        let mut finals = finals(&module);
        if let Some(first) = first.and_then(|text| Module::parse(text, &function.name).ok()) {
            merged::add(&mut finals, &module, &first);
        }
        let regions = region_names(&module, &finals);
        Ok(Self { finals, regions, code: Code::new(program, kernel), kernel, module, held, contents: OnceLock::new() })
    }

    /// The operations.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The mask of the load or store that the instruction at `pc` is of.
    fn mask_at(&self, pc: u32) -> Option<ValueId> {
        let places = self.code.places(pc);
        let is_here =
            |op: &&Op| op.places.len() == places.len() && !places.is_empty() && op.places.iter().zip(places).all(|(a, b)| a.is_at(b));
        let operand = |op: &Op| MASKED.iter().find(|row| row.0 == op.name).and_then(|row| op.operands.get(row.1).copied());
        let is_mask = |value: &ValueId| self.module.value(*value).ty.element() == Some(ElementType::Scalar(ScalarType::Pred));
        self.module.ops.iter().filter(is_here).find_map(operand).filter(is_mask)
    }

    /// The kernel.
    pub fn kernel(&self) -> FuncId {
        self.kernel
    }

    /// The names of the variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.finals.keys().map(String::as_str)
    }

    /// True if a statement of the source gives this variable a tensor.
    pub fn is_tensor(&self, name: &str) -> bool {
        let is_tensor = |one: &Final| matches!(self.module.value(one.value).ty, ValueType::Tensor(_));
        self.finals.get(name).is_some_and(|list| list.iter().any(is_tensor))
    }

    /// The type of a variable that has a tensor or a number, and the layout of a tensor as it is written; none for another name.
    pub fn type_of(&self, name: &str) -> Option<(String, Option<String>)> {
        let list = self.finals.get(name)?;
        let is_tensor = |one: &&Final| matches!(self.module.value(one.value).ty, ValueType::Tensor(_));
        let one = list.iter().rev().find(is_tensor).or(list.last())?;
        Some(match &self.module.value(one.value).ty {
            ValueType::Tensor(ty) => (type_words(&self.module.value(one.value).ty), Some(self.module.written_layout(ty))),
            ty @ (ValueType::Scalar(_) | ValueType::Other) => (type_words(ty), None),
        })
    }

    /// The types of the kernel's parameters in the source, by index.
    pub fn parameter_types(&self) -> BTreeMap<usize, String> {
        let of = |value: &crate::ttgir::Value| match value.definition {
            Definition::Argument(index) => Some((index, type_words(&value.ty))),
            Definition::Result(..) | Definition::Region(_) => None,
        };
        self.module.values.iter().filter_map(of).filter(|(_, words)| !words.is_empty()).collect()
    }

    /// The lines of the statements that give a variable a value, each with the instructions that complete it.
    pub fn lines_of(&self, name: &str) -> Vec<(u32, Vec<u32>)> {
        let of = |one: &Final| {
            let bindings = self.bindings_of_statement(one.value).iter();
            (one.line, bindings.filter_map(|binding| binding.writers.last().copied()).collect())
        };
        self.finals.get(name).into_iter().flatten().map(of).collect()
    }

    /// Which registers hold what, at each instruction.
    fn contents(&self) -> &Contents {
        self.contents.get_or_init(|| {
            let bindings: Vec<&[Binding]> =
                (0..self.module.values.len()).map(|index| self.held(ValueId::new(index)).bindings.as_slice()).collect();
            let takes = |name: &str| {
                let is_argument = |value: &crate::ttgir::Value| matches!(value.definition, Definition::Argument(_));
                self.module.values.iter().any(|value| is_argument(value) && value.name.trim_start_matches('%') == name)
            };
            let takes = &takes;
            let givings = self.finals.iter().flat_map(|(name, list)| {
                list.iter().enumerate().map(move |(index, one)| Giving {
                    name,
                    value: one.value,
                    bindings: self.bindings_of_statement(one.value),
                    is_constant: index == 0 && self.is_computable(one.value, COMPUTED_MAX, false) && !takes(name),
                })
            });
            let givings: Vec<Giving<'_>> = givings.collect();
            Contents::new(&self.code, Rules::new(&self.module, &self.code, &bindings, &givings, &self.regions))
        })
    }

    /// True if an instruction is in a loop of Triton's.
    fn is_inside(&self, op: OpId, pc: u32) -> bool {
        let block = self.code.control().block_of(Pc(pc));
        let loops = self.contents().rules().loops.iter().filter(|one| one.op == Some(op));
        block.is_some_and(|block| loops.into_iter().any(|one| one.blocks.contains(&block)))
    }

    /// What is known before an instruction.
    fn before(&self, pc: u32) -> State {
        self.contents().before(&self.code, pc)
    }

    fn held(&self, value: ValueId) -> &Held {
        let Some(cell) = self.held.get(value.index()) else { return const { &Held { layout: None, bindings: Vec::new() } } };
        cell.get_or_init(|| {
            let layout = match &self.module.value(value).ty {
                ValueType::Tensor(ty) => self.module.layout(ty).ok(),
                ValueType::Scalar(_) | ValueType::Other => None,
            };
            let mut bindings = binding::bind(&self.module, &self.code, value, layout.as_ref());
            if bindings.is_empty() {
                bindings.extend(sunk::bind(&self.module, &self.code, value));
            }
            let operand = self.operand_of(value, OPERANDS_MAX).and_then(|operand| self.held(operand).bindings.last());
            let proven = |one: Binding| match operand {
                Some(operand) if !self.is_reduced_by_memory(value) => binding::ordered(&self.code, one, operand),
                _ => Some(one).filter(|one| self.keeps_order(value, one)),
            };
            Held { layout, bindings: bindings.into_iter().filter_map(proven).collect() }
        })
    }

    /// The registers that a statement leaves its value in, in each copy of the code; empty for one that is computed.
    fn bindings_of_statement(&self, value: ValueId) -> &[Binding] {
        // Of indices, masks and addresses a compiler keeps what it needs, in forms of its own.
        if self.is_computable(value, COMPUTED_MAX, true) {
            return &[];
        }
        let same = self.same(value).into_iter().map(|value| self.held(value).bindings.as_slice());
        same.into_iter().find(|bindings| !bindings.is_empty()).unwrap_or_default()
    }

    /// True for what warps reduce together: the last step loads it from shared memory.
    fn is_reduced_by_memory(&self, value: ValueId) -> bool {
        let Definition::Result(id, index) = self.module.value(value).definition else { return false };
        let op = self.module.op(id);
        let axis =
            op.text.split_once("axis = ").and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok());
        let (Some(axis), Some(operand)) = (axis.filter(|_| op.name == "tt.reduce"), op.operands.get(index)) else { return false };
        let layout = self.held(*operand).layout.as_ref();
        layout.is_some_and(|layout| layout.warp.iter().any(|basis| basis.get(axis).is_some_and(|step| *step != 0)))
    }

    /// True if the registers of a value that no operand puts in order are in that of the layout: a compiler keeps the order of what has
    /// effects of its own, and may change that of arithmetic.
    fn keeps_order(&self, value: ValueId, binding: &Binding) -> bool {
        let Definition::Result(id, _) = self.module.value(value).definition else { return true };
        let registers: BTreeSet<_> = binding.parts.iter().map(|part| (part.bank, part.slot)).collect();
        let is_loaded = || binding.writers.last().is_some_and(|pc| self.code.opcode(*pc).starts_with("ld."));
        match registers.len() {
            0 | 1 => !self.is_reduced_by_memory(value) || is_loaded(),
            _ => KEPT_IN_ORDER.contains(&self.module.op(id).name.as_str()),
        }
    }

    /// A tensor in registers that a value is computed from, element by element or by a reduction.
    fn operand_of(&self, value: ValueId, depth: u32) -> Option<ValueId> {
        let depth = depth.checked_sub(1)?;
        let module = &self.module;
        let Definition::Result(id, index) = module.value(value).definition else { return None };
        let op = module.op(id);
        let is_elementwise = ["arith.", "math.", "tt.extern_elementwise"].iter().any(|start| op.name.starts_with(start));
        let layout = |value: ValueId| match &module.value(value).ty {
            ValueType::Tensor(ty) => Some((&ty.shape, &ty.layout)),
            ValueType::Scalar(_) | ValueType::Other => None,
        };
        let own = layout(value)?;
        let selected = module.branched(id).into_iter().filter(|one| one.result == value).flat_map(|one| [one.otherwise, one.then]);
        let operands: Vec<ValueId> = match op.name.as_str() {
            "scf.if" => selected.collect(),
            "tt.reduce" => op.operands.get(index).copied().into_iter().collect(),
            _ if is_elementwise => op.operands.iter().map(|operand| self.handed_on(self.left_by_loop(*operand))).collect(),
            _ => Vec::new(),
        };
        let is_reduced = op.name == "tt.reduce";
        let same: Vec<ValueId> = operands.into_iter().filter(|operand| is_reduced || layout(*operand) == Some(own)).collect();
        let held = same.iter().find(|operand| !self.held(**operand).bindings.is_empty()).copied();
        held.or_else(|| same.iter().find_map(|operand| self.operand_of(*operand, depth)))
    }

    /// What the round before hands on, if the value is what a round of a loop takes of it and the registers of that keep their order; else
    /// the value.
    fn handed_on(&self, value: ValueId) -> ValueId {
        let Definition::Region(id) = self.module.value(value).definition else { return value };
        let given = self.module.carried(id).into_iter().find(|one| one.argument == value).map(|one| one.handed_on);
        let is_kept = |given: &ValueId| match self.module.value(*given).definition {
            Definition::Result(op, _) => KEPT_IN_ORDER.contains(&self.module.op(op).name.as_str()),
            Definition::Argument(_) | Definition::Region(_) => false,
        };
        given.filter(is_kept).unwrap_or(value)
    }

    /// What the last round of a loop hands on, if the value is a result of one; else the value.
    fn left_by_loop(&self, value: ValueId) -> ValueId {
        let Definition::Result(op, index) = self.module.value(value).definition else { return value };
        let ends_round = |other: &&crate::ttgir::Op| other.name == "scf.yield" && other.parent == Some(op);
        let end = self.module.ops.iter().find(ends_round).filter(|_| self.module.op(op).name == "scf.for");
        end.and_then(|end| end.operands.get(index)).copied().unwrap_or(value)
    }

    /// The values that are the same tensor in other layouts, the value itself first.
    fn same(&self, value: ValueId) -> Vec<ValueId> {
        let mut all = vec![value];
        let mut at = value;
        while let Definition::Result(op, _) = self.module.value(at).definition
            && matches!(
                self.module.op(op).name.as_str(),
                "ttg.convert_layout" | "ttg.local_load" | "ttg.local_alloc" | "ttng.warp_group_dot_wait"
            )
            && let Some(from) = self.module.op(op).operands.first()
        {
            at = *from;
            all.push(at);
        }
        let converted = self.module.users(value).map(|op| self.module.op(op)).filter(|op| op.name == "ttg.convert_layout");
        all.extend(converted.filter_map(|op| op.results.first().copied()));
        all
    }

    /// What `name` means at the instruction `pc`. `is_written` says whether the thread has written the registers of a value.
    ///
    /// # Errors
    /// It has no value there. None if no statement of the source gives such a variable a value.
    pub fn current(&self, name: &str, pc: u32, is_written: &dyn Fn(&Binding) -> bool) -> Option<Result<Current, TensorError>> {
        let contents = self.contents();
        let variable = contents.rules().variable(name)?;
        let lines = self.finals.get(name).into_iter().flatten().map(|one| one.line);
        let not_yet = TensorError::NotYet { name: name.to_string(), line: lines.min().unwrap_or(0) };
        let meaning = self.before(pc).meanings.remove(&variable);
        let value = match &meaning {
            None => return Some(Err(not_yet)),
            Some(Meaning::OneOf(values)) => {
                let lines: BTreeSet<u32> = values.iter().flat_map(|value| self.lines(name, *value)).collect();
                let lines = lines_text(&lines.into_iter().collect::<Vec<u32>>());
                return Some(Err(TensorError::OneOf { name: name.to_string(), lines }));
            }
            Some(Meaning::Value { value, .. } | Meaning::InFlight { value, .. }) => *value,
        };
        let is_doubtful = matches!(meaning, Some(Meaning::Value { is_certain: false, .. }));
        let bindings = self.bindings_of_statement(value);
        let is_computed = self.is_computable(value, COMPUTED_MAX, true);
        if is_doubtful && !is_computed && !bindings.iter().any(is_written) {
            return Some(Err(not_yet));
        }
        Some(Ok(Current { value, lines: self.lines(name, value).into_iter().collect(), meaning: meaning? }))
    }

    /// The lines of the statements that may have given a variable a value.
    fn lines(&self, name: &str, value: ValueId) -> BTreeSet<u32> {
        let (mut open, mut seen, mut lines) = (vec![value], BTreeSet::new(), BTreeSet::new());
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            let own = self.finals.get(name).into_iter().flatten().filter(|one| one.value == value).map(|one| one.line);
            let before = lines.len();
            lines.extend(own);
            if lines.len() == before {
                open.extend(self.origins(value));
            }
        }
        lines
    }

    /// The values that a value of a loop or of a branch may be.
    fn origins(&self, value: ValueId) -> Vec<ValueId> {
        let module = &self.module;
        let Some(op) = module.definer(value) else { return Vec::new() };
        let branches = module.branched(op).into_iter().filter(|one| one.result == value).flat_map(|one| [one.then, one.otherwise]);
        let is_it = |one: &crate::ttgir::Carried| one.argument == value || one.result == Some(value);
        let handed = module.carried(op).into_iter().filter(is_it).flat_map(|one| [one.initial, one.handed_on]);
        let converted = Some(module.op(op)).filter(|op| op.name == "ttg.convert_layout").and_then(|op| op.operands.first().copied());
        branches.chain(handed).chain(converted).collect()
    }

    /// What the statement at `line` gives the variable `name`; without a line, the last statement that gives it a tensor.
    ///
    /// # Errors
    /// In words: there is no such statement, or it is not known where its value is.
    pub fn given(&self, name: &str, line: Option<u32>) -> Result<Given, String> {
        let list = self.finals.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.finals.keys().map(String::as_str).collect();
            format!("no statement of the kernel gives '{name}' a value; the variables are {}", names.join(", "))
        })?;
        if list.is_empty() {
            return Err(TensorError::NotHeld(name.to_string()).to_string());
        }
        let is_tensor = |one: &&Final| !self.module.value(one.value).is_number();
        let at_line: Vec<&Final> = list.iter().filter(|one| line.is_none_or(|line| one.line == line)).collect();
        let chosen = at_line.iter().rev().find(|one| is_tensor(one)).or(at_line.last()).ok_or_else(|| {
            let lines: BTreeSet<u32> = list.iter().map(|one| one.line).collect();
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!(
                "line {} gives '{name}' no value: {} {}",
                line.unwrap_or(0),
                if lines.len() == 1 { "line" } else { "lines" },
                lines.join(", ")
            )
        })?;
        let Final { value, line } = **chosen;
        let is_computed = self.is_computable(value, COMPUTED_MAX, true);
        let stops: Vec<u32> = if self.is_computable(value, COMPUTED_MAX, false) {
            Vec::new()
        } else if is_computed {
            self.module.definer(value).and_then(|op| rules::done(&self.module, &self.code, op)).into_iter().collect()
        } else {
            self.bindings_of_statement(value).iter().filter_map(|binding| binding.writers.last().copied()).collect()
        };
        if stops.is_empty() && !is_computed {
            return Err(TensorError::NotHeld(name.to_string()).to_string());
        }
        Ok(Given { value, line, stops, is_computed })
    }

    /// True if a value can be computed from what does not change while the kernel runs, and from the counters of loops if
    /// `with_counters`.
    fn is_computable(&self, value: ValueId, depth: u32, with_counters: bool) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.module.value(value).definition {
            Definition::Argument(_) => true,
            Definition::Region(op) => with_counters && self.is_counter(op, value),
            Definition::Result(op, _) => {
                let op = self.module.op(op);
                let is_source =
                    matches!(op.name.as_str(), "arith.constant" | "tt.make_range" | "tt.get_program_id" | "tt.get_num_programs");
                let is_pure = compute::is_computed(&op.name);
                is_source || is_pure && op.operands.iter().all(|operand| self.is_computable(*operand, depth, with_counters))
            }
        }
    }

    /// True for the counter of a loop.
    fn is_counter(&self, op: OpId, value: ValueId) -> bool {
        let op = self.module.op(op);
        op.name == "scf.for" && op.arguments.first() == Some(&value)
    }
}
