//! Tensors of Triton's programs, put together from the registers of all threads of a block.
//!
//! [`Tensors::parse`] reads what Triton keeps beside the PTX. [`Tensors::current`] chooses what a name of the source means at an
//! instruction: the value that the last statement before it has left there. [`reader`] gives its elements.

mod binding;
mod code;
mod compute;
mod finals;
mod places;
pub mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use binding::{Binding, Part};

use self::code::Code;
use self::finals::{Final, finals};
use crate::container::{self, bundle};
use crate::program::{FuncId, Program};
use crate::ttgir::{Definition, LinearLayout, Module, ValueId, ValueType};

/// Most bytes of a description that are read.
const DESCRIPTION_BYTES_MAX: u64 = 1 << 28;

/// Most operations between a value and the operand whose registers give the order of its own.
const OPERANDS_MAX: u32 = 8;

/// The tensors of the kernel of one launch, read when a name is first asked for.
#[derive(Debug, Default)]
pub struct LazyTensors {
    /// The module that they may be described beside.
    module: Option<PathBuf>,
    /// The text of Triton's intermediate code, if it was given.
    text: Option<String>,
    read: OnceLock<Option<Tensors>>,
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
        let read = || {
            let name = &program.functions[kernel.index()].name;
            let text = self.text.clone().or_else(|| description(self.module.as_deref()?, name))?;
            Tensors::parse(&text, program, kernel)
        };
        self.read.get_or_init(read).as_ref()
    }
}

/// The text of Triton's intermediate code beside a module.
fn description(module: &Path, kernel: &str) -> Option<String> {
    let file = container::file_of(module);
    let is_name = !kernel.contains('/');
    let named = file.parent().filter(|_| is_name).map(|folder| folder.join(format!("{kernel}.ttgir")));
    let text = |path: PathBuf| String::from_utf8(bundle::read(&path, DESCRIPTION_BYTES_MAX).ok()??).ok();
    text(file.with_extension("ttgir")).or_else(|| text(named?))
}

/// The tensors of a kernel.
#[derive(Debug)]
pub struct Tensors {
    module: Module,
    code: Code,
    kernel: FuncId,
    /// The values that statements of the source leave in their variables, in order of the text.
    finals: BTreeMap<String, Vec<Final>>,
    /// Where values are, by the number of the value.
    held: Vec<OnceLock<Held>>,
}

/// The registers of a value.
#[derive(Debug)]
struct Held {
    layout: Option<LinearLayout>,
    bindings: Vec<Binding>,
}

/// A value that a variable has at an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Current<'t> {
    /// The value.
    pub value: ValueId,
    /// The line of the statement that has given it.
    pub line: u32,
    /// Its registers; none if it is computed.
    pub binding: Option<&'t Binding>,
    /// True if it is of the round of the loop before.
    pub is_earlier: bool,
}

/// What a statement of the source gives its variable.
#[derive(Clone, Debug)]
pub struct Given<'t> {
    /// The value.
    pub value: ValueId,
    /// The line of the statement.
    pub line: u32,
    /// Where it is, in each copy of the code.
    copies: Vec<Current<'t>>,
}

impl<'t> Given<'t> {
    /// The instructions that write the last register of it, one for each copy of the code; none if it is computed.
    pub fn last_writers(&self) -> Vec<u32> {
        self.copies.iter().filter_map(|copy| copy.binding?.writers.last().copied()).collect()
    }

    /// The value in the copy of the code whose last instruction is `pc`.
    pub fn at(&self, pc: u32) -> Option<Current<'t>> {
        let is_it = |copy: &&Current<'t>| copy.binding.is_none_or(|binding| binding.writers.last() == Some(&pc));
        self.copies.iter().find(is_it).copied()
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
    /// The registers that hold it are not known.
    #[error("'{0}' is in no registers that are known: the compiler has made something else of it")]
    NotHeld(String),
}

impl Tensors {
    /// Reads the description of `kernel`; none if `text` has no such kernel.
    pub fn parse(text: &str, program: &Program, kernel: FuncId) -> Option<Self> {
        let function = &program.functions[kernel.index()];
        let module = Module::parse(text, &function.name)?;
        let held = module.values.iter().map(|_| OnceLock::new()).collect();
        Some(Self { finals: finals(&module), code: Code::new(program, function), kernel, module, held })
    }

    /// The operations.
    pub fn module(&self) -> &Module {
        &self.module
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

    fn held(&self, value: ValueId) -> &Held {
        let Some(cell) = self.held.get(value.index()) else { return const { &Held { layout: None, bindings: Vec::new() } } };
        cell.get_or_init(|| {
            let layout = match &self.module.value(value).ty {
                ValueType::Tensor(ty) => self.module.layout(ty).ok(),
                ValueType::Scalar(_) | ValueType::Other => None,
            };
            let bindings = binding::bind(&self.module, &self.code, value, layout.as_ref());
            let operand = self.operand_of(value, OPERANDS_MAX).and_then(|operand| self.held(operand).bindings.last());
            let bindings = match operand {
                Some(operand) => bindings.into_iter().filter_map(|one| binding::ordered(&self.code, one, operand)).collect(),
                None => bindings,
            };
            Held { layout, bindings }
        })
    }

    /// A tensor of the same layout in registers that a value is computed from, element by element.
    fn operand_of(&self, value: ValueId, depth: u32) -> Option<ValueId> {
        let depth = depth.checked_sub(1)?;
        let module = &self.module;
        let Definition::Result(op, _) = module.value(value).definition else { return None };
        let op = module.op(op);
        let is_elementwise = ["arith.", "math.", "tt.extern_elementwise"].iter().any(|start| op.name.starts_with(start));
        let layout = |value: ValueId| match &module.value(value).ty {
            ValueType::Tensor(ty) => Some((&ty.shape, &ty.layout)),
            ValueType::Scalar(_) | ValueType::Other => None,
        };
        let own = layout(value).filter(|_| is_elementwise)?;
        let operands = op.operands.iter().map(|operand| self.left_by_loop(*operand));
        let same: Vec<ValueId> = operands.filter(|operand| layout(*operand) == Some(own)).collect();
        let held = same.iter().find(|operand| !self.held(**operand).bindings.is_empty()).copied();
        held.or_else(|| same.iter().find_map(|operand| self.operand_of(*operand, depth)))
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
    pub fn current(&self, name: &str, pc: u32, is_written: &dyn Fn(&Binding) -> bool) -> Option<Result<Current<'_>, TensorError>> {
        let list = self.finals.get(name)?;
        let held = list.iter().flat_map(|one| self.copies(one));
        let (before, after): (Vec<Current<'_>>, Vec<Current<'_>>) = held.partition(|one| self.done(one) <= pc);
        let before = before.into_iter().max_by_key(|one| self.done(one));
        let is_in_loop = |one: &Current<'_>, binding: &Binding| {
            let of_round = [binding.writers.as_slice(), &[pc]].concat();
            let around = self.code.loop_around(&of_round);
            let begun = before.as_ref().and_then(|before| before.binding).map_or(0, Binding::done);
            around.is_some_and(|round| !round.contains(&begun) || begun == 0) && self.done(one) > pc
        };
        let earlier = after.iter().filter(|one| one.binding.is_some_and(|binding| is_in_loop(one, binding) && is_written(binding)));
        let earlier = earlier.max_by_key(|one| self.done(one)).map(|one| Current { is_earlier: true, ..*one });
        let line = list.iter().map(|one| one.line).min().unwrap_or(0);
        let is_known = !after.is_empty();
        Some(earlier.or(before).ok_or_else(|| match is_known {
            true => TensorError::NotYet { name: name.to_string(), line },
            false => TensorError::NotHeld(name.to_string()),
        }))
    }

    /// What the statement at `line` gives the variable `name`; without a line, the last statement that gives it a tensor.
    ///
    /// # Errors
    /// In words: there is no such statement, or it is not known where its value is.
    pub fn given(&self, name: &str, line: Option<u32>) -> Result<Given<'_>, String> {
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
        let copies = self.copies(chosen);
        let value = copies.first().map(|copy| copy.value).ok_or_else(|| TensorError::NotHeld(name.to_string()).to_string())?;
        Ok(Given { value, line: chosen.line, copies })
    }

    /// Where a value of a statement is: its registers in each copy of the code, or nowhere if it can be computed.
    fn copies(&self, one: &Final) -> Vec<Current<'_>> {
        let current = |value, binding| Current { value, line: one.line, binding, is_earlier: false };
        // Of indices, masks and addresses a compiler keeps what it needs, in forms of its own.
        if self.is_computable(one.value, 64) {
            return vec![current(one.value, None)];
        }
        let same = self.same(one.value);
        let holder = same.into_iter().find(|value| !self.held(*value).bindings.is_empty());
        match holder {
            Some(value) => self.held(value).bindings.iter().map(|binding| current(value, Some(binding))).collect(),
            None => Vec::new(),
        }
    }

    /// The first instruction at which a value is complete.
    fn done(&self, current: &Current<'_>) -> u32 {
        if let Some(binding) = current.binding {
            return binding.done();
        }
        let Definition::Result(op, _) = self.module.value(current.value).definition else { return 0 };
        let places = &self.module.op(op).places;
        let is_of = |pc: &u32| {
            let at = self.code.places(*pc);
            at.len() == places.len() && at.iter().zip(places).all(|(a, b)| a.is_at(b))
        };
        self.code.all().rev().find(is_of).map_or(0, |last| last + 1)
    }

    /// True if a value can be computed from what does not change while the kernel runs.
    fn is_computable(&self, value: ValueId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.module.value(value).definition {
            Definition::Argument(_) => true,
            Definition::Region(_) => false,
            Definition::Result(op, _) => {
                let op = self.module.op(op);
                let is_source =
                    matches!(op.name.as_str(), "arith.constant" | "tt.make_range" | "tt.get_program_id" | "tt.get_num_programs");
                let is_pure = compute::is_computed(&op.name);
                is_source || is_pure && op.operands.iter().all(|operand| self.is_computable(*operand, depth))
            }
        }
    }
}
