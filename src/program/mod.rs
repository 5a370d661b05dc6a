//! The immutable executable form of a module, which `sema` builds and all later layers read.
//!
//! All code of a module is in one vector; a [`Pc`] is an index into it, so code addresses have the order of the text. Operands are register
//! slots ([`operand`](self)), addresses are numbers ([`map`]); names, spans and lines, for display, have tables of their own.

#![warn(clippy::wildcard_enum_match_arm)]

mod contraction;
mod copy;
mod image;
mod inlined;
pub mod map;
mod matrix;
mod name_parts;
mod names;
mod op;
mod operand;
pub mod operands;
pub mod registers;
mod shared;
mod spelling;
mod statement;
mod tensor_map;
mod texels;
mod visitor;
mod wgmma;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::{IdVec, SourceId, Sources, Span, define_id};
use crate::isa::{ImageKind, Sampler, ScalarType, Space};

pub use contraction::{Contraction, ContractionKind};
pub use copy::{Completion, CopyId, CopyOp, SourceSize, SpaceAddress, TensorCopy};
pub use image::{HandleSource, ImageAccess, ImageFn, ImageId};
pub use inlined::{InlinedCall, InlinedFunctionId};
pub use matrix::{FragmentAccess, MatrixId, MatrixMultiply, MatrixOp, MultiplyKind, MultiplyMode, RowsAccess};
pub use name_parts::{enclosing, last_component, unqualified_name};
pub use names::{
    ANONYMOUS, demangled, is_called, is_debug_label, is_signed_parameter, listed_name, parameter_types, plain_name, qualified_name,
    short_name, shown_name, source_name, visible,
};
pub use op::*;
pub use operand::{Address, Bank, Base, Dst, Location, PredSrc, Slots, Src, SrcKind};
pub use shared::SharedVariable;
pub use statement::{Mention, Named, Opcode, OpcodeId, Statement};
pub use tensor_map::{BoxShape, FieldError, RANK_MAX, TENSOR_MAP_BYTES, TensorMap, TensorMapError};
pub use texels::{Content, Image, Texels, Texture, find};
pub use wgmma::{WgmmaA, WgmmaId, WgmmaOp};

define_id!(
    /// A program counter: an index into [`Program::code`].
    Pc, "pc"
);
define_id!(
    /// A register slot: an index into a bank, relative to the start of the frame unless stated otherwise.
    #[derive(Default)]
    #[repr(transparent)]
    Slot, "slot"
);
define_id!(
    /// A function or kernel: an index into [`Program::functions`].
    FuncId, "fn"
);
define_id!(
    /// A variable: an index into [`Program::variables`].
    VarId, "var"
);
define_id!(
    /// A call site: an index into [`Program::calls`].
    CallId, "call"
);
define_id!(
    /// A list of operands: an index into [`Program::sources`] or [`Program::dests`], depending on the operation.
    ListId, "list"
);
define_id!(
    /// A branch table: an index into [`Program::tables`].
    TableId, "table"
);

/// A module ready to run.
#[derive(Debug, Default)]
pub struct Program {
    /// PTX version of the module, major and minor.
    pub version: (u8, u8),
    /// Target: the number after `sm_`, and its suffix letter if any.
    pub target: (u32, Option<char>),
    /// 32 or 64.
    pub address_bits: u32,
    /// The address map.
    pub map: map::Map,
    /// All code, function after function. `sema` ends every function with a `Return`, so a `Pc` never runs past its end.
    pub code: Vec<Inst>,
    /// Span of the statement of each instruction, in the same order; for the final `Return` that of the closing brace.
    pub spans: Vec<Span>,
    /// The parts of each statement, in the same order; `None` for closing braces.
    pub statements: Vec<Option<Statement>>,
    /// The opcodes of the module, each spelling once.
    pub opcodes: Vec<Opcode>,
    /// The positions of the operands of all statements, statement by statement.
    pub operand_spans: Vec<Span>,
    /// The names that operands refer to, statement by statement.
    pub mentions: Vec<Mention>,
    /// The line of the last `.loc` before each instruction, if any.
    pub source_lines: Vec<Option<SourceLine>>,
    /// For instructions of inlined functions: the inlined calls, innermost first.
    pub inlined_calls: BTreeMap<Pc, Vec<InlinedCall>>,
    /// The names of inlined functions, mangled; none where the module does not say one.
    pub inlined_functions: IdVec<InlinedFunctionId, Option<Arc<str>>>,
    /// The text between `// begin inline asm` and `// end inline asm`, which compilers write around the text of an `asm` statement, in
    /// order.
    pub inline_asm: Vec<Span>,
    /// Names of `.file` directives by number.
    pub source_files: Vec<(u32, String)>,
    /// Functions and kernels, in order of first appearance. Declarations without a body have an empty code range.
    pub functions: Vec<Function>,
    /// The functions with code, in order of their code.
    pub functions_by_code: Vec<FuncId>,
    /// Variables of the module and of all functions.
    pub variables: Vec<Variable>,
    /// 32-bit constants, each the same for all lanes.
    pub consts32: Vec<u32>,
    /// 64-bit constants.
    pub consts64: Vec<u64>,
    /// The constants that are addresses in the block's shared memory, shared or generic ones, by their index in `consts32` and
    /// `consts64`: in a cluster they name the block too.
    pub shared_addresses: SharedAddresses,
    /// The unchanging special registers that code reads through `SrcKind::Special`.
    pub specials: Vec<SpecialRef>,
    /// Read operands of vectors.
    pub sources: IdVec<ListId, Box<[Src]>>,
    /// Written operands of vectors.
    pub dests: IdVec<ListId, Box<[Dst]>>,
    /// Targets of `brx.idx`.
    pub tables: IdVec<TableId, Box<[Pc]>>,
    /// Call sites.
    pub calls: IdVec<CallId, CallSite>,
    /// The operations of texture and surface instructions.
    pub images: IdVec<ImageId, ImageAccess>,
    /// The operations of asynchronous copies, stores and reductions.
    pub copies: IdVec<CopyId, CopyOp>,
    /// The operations of matrix instructions of a warp.
    pub matrices: IdVec<MatrixId, MatrixOp>,
    /// The operations of asynchronous matrix multiplications.
    pub wgmmas: IdVec<WgmmaId, WgmmaOp>,
    /// The reason why each unsupported instruction is not modelled, as shown to the user.
    pub unsupported: IdVec<UnsupportedId, String>,
    /// Multiplications and additions that are rounded once, in order of the additions.
    pub contractions: Vec<Contraction>,
    /// The texts all spans point into.
    pub sources_text: Sources,
    /// The texts of the module itself: one, or those of the linked modules, in order.
    pub modules: Vec<SourceId>,
    /// True if a module says that it is for debuggers (`.target sm_90, debug`), as those of `nvcc -G` do.
    pub is_debug: bool,
    /// The `.section` directives with debug data, whole, in order.
    pub debug_sections: Vec<Span>,
}

/// The constants that are addresses of shared memory.
#[derive(Clone, Debug, Default)]
pub struct SharedAddresses {
    /// Indices into `Program::consts32`.
    pub narrow: Vec<u32>,
    /// Indices into `Program::consts64`.
    pub wide: Vec<u32>,
}

/// A special register by its index in [`crate::isa::SPECIAL_REGISTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpecialRef(pub u16);

impl SpecialRef {
    /// Its name with `%`.
    pub fn name(self) -> &'static str {
        crate::isa::SPECIAL_REGISTERS[usize::from(self.0)].name
    }
}

/// A source position, from `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// Number of the `.file` directive.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// A kernel or device function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Arc<str>,
    /// The declaration of the name.
    pub span: Span,
    /// True if it is a kernel.
    pub is_kernel: bool,
    /// Its code, `start..end`; empty for a function that is only declared.
    pub code: std::ops::Range<u32>,
    /// Input parameters in order.
    pub params: Vec<Param>,
    /// Return parameters in order.
    pub results: Vec<Param>,
    /// The slots that a frame needs in each bank.
    pub slots: Slots,
    /// Bytes of local memory a frame needs: `.local` variables and call parameters; a multiple of 16.
    pub frame_bytes: u32,
    /// Bytes of shared memory before its dynamic part, from [`map::SHARED_RESERVED`] on: the static variables of a kernel and of all
    /// functions it can reach. 0 for functions that are not kernels.
    pub shared_bytes: u32,
    /// Bytes of kernel parameters.
    pub param_bytes: u32,
    /// Declarations of registers, in order, for the debugger.
    pub registers: Vec<Register>,
    /// The variables of its body, in order of declaration.
    pub variables: Vec<LocalVariable>,
    /// The slots of the registers that code uses.
    pub placement: Placement,
    /// Labels, in order of address.
    pub labels: Vec<(Arc<str>, Pc)>,
    /// Launch limits from directives.
    pub limits: Limits,
}

/// A variable that is declared in the body of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// The variable.
    pub id: VarId,
    /// The instructions in the block that declares it, after the declaration.
    pub scope: std::ops::Range<u32>,
}

/// A declaration of registers: one, a vector, or many (`%r<100>`).
///
/// Registers are numbered bank by bank as they are declared, and those that code uses get slots ([`Placement`]). No two registers share a
/// slot. Compilers declare far more registers than they use.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name with `%` if it has one; of `%r<100>` the part before the number, `%r`.
    pub name: Arc<str>,
    /// The number of registers that `%r<100>` declares; `None` for a declaration of one.
    pub count: Option<u32>,
    /// Components of each register: 1, or 2 or 4 of a vector.
    pub components: u32,
    /// Declared type of a component.
    pub ty: ScalarType,
    /// Its bank.
    pub bank: Bank,
    /// Number of the first component of the first register; the others follow.
    pub number: u32,
    /// The instructions its scope covers.
    pub scope: std::ops::Range<u32>,
}

impl Register {
    /// Numbers, and slots, of one component: 2 for `.b128`, otherwise 1.
    pub fn width(&self) -> u32 {
        if self.ty.bits() > 64 { 2 } else { 1 }
    }

    /// Every component of every register with its name (`%r7`, `%v.x`) and its number.
    pub fn components(&self) -> impl Iterator<Item = (String, u32)> + '_ {
        let registers = 0..self.count.unwrap_or(1);
        let components = registers.flat_map(|register| (0..self.components).map(move |component| (register, component)));
        components.zip(0..).map(|((register, component), index): (_, u32)| {
            let number = self.count.map_or(String::new(), |_| register.to_string());
            let suffix = if self.components == 1 { "" } else { [".x", ".y", ".z", ".w"][component as usize & 3] };
            (format!("{}{number}{suffix}", self.name), self.number + index * self.width())
        })
    }
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Arc<str>,
    /// Element type; arrays of bytes are `.b8`.
    pub ty: ScalarType,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// True if it was declared as an array.
    pub is_array: bool,
    /// The opaque type, if it is one: its value is a handle.
    pub opaque: Option<ImageKind>,
    /// `.ptr` space of a kernel parameter, if declared.
    pub pointer: Option<Space>,
    /// For a component of a vector register: its index and the number of components. A vector parameter is split into its components.
    pub component: Option<(u32, u32)>,
    /// Its storage.
    pub storage: ParamStorage,
}

/// The storage of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamStorage {
    /// `.reg`: a slot of the callee's frame.
    Register(Bank, Slot),
    /// `.param` of a function: offset in the callee's frame of local memory.
    Frame(u32),
    /// `.param` of a kernel: offset in the parameter bank.
    Kernel(u32),
}

/// Launch limits from performance directives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`, in blocks.
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`.
    pub explicit_cluster: bool,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
}

/// A variable of the module or of a function.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its declaration.
    pub span: Span,
    /// Element type.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first; empty for a scalar.
    pub shape: Vec<u64>,
    /// True if it was declared with dimensions, other than those of a vector type.
    pub is_array: bool,
    /// Its location. For `Local`, the offset in the frame of `function`, or the address of a variable of the module.
    pub location: Location,
    /// Size in bytes; 0 for `extern .shared x[]`, which denotes the dynamic shared memory: it starts at [`map::SHARED_RESERVED`] +
    /// `Function::shared_bytes` of the kernel, and `location` is not used.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// The initial bytes, shorter than `bytes` if the rest is zero; global and const only.
    pub init: Vec<u8>,
    /// The function it is declared in.
    pub function: Option<FuncId>,
    /// Of a shared variable, the kernels that have space for it: others may have another variable there.
    pub kernels: Vec<FuncId>,
    /// The opaque type, if it is one: its value is a handle.
    pub opaque: Option<ImageKind>,
    /// The sampling modes of a `.samplerref`, from its initializer.
    pub sampler: Option<Box<Sampler>>,
}

impl Program {
    /// The variables of the body of a function, in order of declaration.
    pub fn variables_of(&self, function: FuncId) -> impl DoubleEndedIterator<Item = &Variable> {
        self.functions[function.index()].variables.iter().map(|local| &self.variables[local.id.index()])
    }
}

/// A call: its target, and how arguments and results are passed.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// The callee.
    pub target: CallTarget,
    /// Arguments, in the callee's order of parameters.
    pub args: Vec<CallArg>,
    /// The destinations of the results, in the callee's order.
    pub results: Vec<CallArg>,
}

impl CallTarget {
    /// The callee of a direct call.
    pub fn direct(&self) -> Option<FuncId> {
        match self {
            CallTarget::Direct(callee) => Some(*callee),
            CallTarget::Indirect { .. } => None,
        }
    }
}

/// The callee of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A function of the module.
    Direct(FuncId),
    /// The function whose address ([`map::function_address`]) the register holds: 64-bit if `wide`. `candidates` is empty if only a
    /// prototype is given.
    Indirect {
        /// The address.
        address: Src,
        /// True if it is a 64-bit value.
        wide: bool,
        /// `.calltargets`, or empty.
        candidates: Vec<FuncId>,
    },
}

/// The caller's side of an argument or result. It has the width of the parameter, but either side may be a register or in memory: a value
/// can be passed for a `.param` parameter, and a `.param` variable for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArg {
    /// A register or constant passed by value; for results, the register (`Dst.0` as slot).
    Value(Bank, Src),
    /// A predicate passed by value.
    Pred(PredSrc),
    /// A `.param` variable of the caller: offset in the caller's frame and size.
    Frame {
        /// Offset in the caller's frame of local memory.
        offset: u32,
        /// Size in bytes.
        bytes: u32,
    },
    /// `_`: the result is discarded.
    Ignored,
}

/// The slot of each register of a function, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    b32: Vec<Option<Slot>>,
    b64: Vec<Option<Slot>>,
    pred: Vec<Option<Slot>>,
    /// The slots assigned so far.
    pub slots: Slots,
}

impl Slot {
    /// The slot `count` after it.
    #[inline(always)]
    #[must_use]
    pub fn offset(self, count: u32) -> Self {
        Self(self.0 + count)
    }

    /// This slot of a frame that starts at `base`, as an index into the bank.
    #[inline(always)]
    #[must_use]
    pub fn in_frame(self, base: Slot) -> Self {
        Self(base.0 + self.0)
    }

    /// `count` slots, starting with this one.
    #[inline]
    pub fn run(self, count: u32) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.0..self.0 + count).map(Self)
    }
}

impl Placement {
    /// The slot of register `number` of a bank, and of the next `width - 1` after it; assigned now if it has none.
    pub fn assign(&mut self, bank: Bank, number: u32, width: u32) -> Slot {
        let (assigned, next) = match bank {
            Bank::B32 => (&mut self.b32, &mut self.slots.b32),
            Bank::B64 => (&mut self.b64, &mut self.slots.b64),
            Bank::Pred => (&mut self.pred, &mut self.slots.pred),
        };
        let end = (number + width) as usize;
        if assigned.len() < end {
            assigned.resize(end, None);
        }
        if let Some(slot) = assigned[number as usize] {
            return slot;
        }
        let slot = Slot(*next);
        *next += width;
        for (entry, slot) in assigned[number as usize..end].iter_mut().zip(slot.run(width)) {
            *entry = Some(slot);
        }
        slot
    }

    /// The slot of register `number` of a bank; `None` if no code uses it.
    pub fn slot(&self, bank: Bank, number: u32) -> Option<Slot> {
        let assigned = match bank {
            Bank::B32 => &self.b32,
            Bank::B64 => &self.b64,
            Bank::Pred => &self.pred,
        };
        assigned.get(number as usize).copied().flatten()
    }
}

impl Program {
    /// The function or kernel called `name`.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().position(|function| &*function.name == name).map(FuncId::new)
    }

    /// The kernels of the module, in order.
    pub fn kernels(&self) -> impl Iterator<Item = FuncId> + '_ {
        (0..self.functions.len()).map(FuncId::new).filter(|id| self.functions[id.index()].is_kernel)
    }

    /// The kernels that `name` denotes: the one with exactly this name in the module or this signature in the source, otherwise all whose
    /// source name matches ([`is_called`]).
    pub fn kernels_called(&self, name: &str) -> Vec<FuncId> {
        let is_exact = |id: &FuncId| &*self.functions[id.index()].name == name;
        match self.kernels().find(is_exact) {
            Some(exact) => vec![exact],
            None => self.with_signature(self.kernels().filter(|id| is_called(&self.functions[id.index()].name, name)).collect(), name),
        }
    }

    /// Of functions that `name` denotes the one that has it for its signature; all if none does.
    fn with_signature(&self, called: Vec<FuncId>, name: &str) -> Vec<FuncId> {
        let whole = called.iter().find(|id| names::is_signature(&self.functions[id.index()].name, name)).copied();
        whole.map_or(called, |whole| vec![whole])
    }

    /// The shortest source name of a kernel that is unambiguous in the module.
    pub fn shortest_name(&self, id: FuncId) -> String {
        let mangled = &*self.functions[id.index()].name;
        let names = [plain_name(mangled).map(str::to_string), qualified_name(mangled), demangled(mangled)];
        let unambiguous = names.into_iter().flatten().find(|name| self.kernels_called(name).len() == 1);
        unambiguous.unwrap_or_else(|| mangled.to_string())
    }

    /// The functions and kernels that `name` denotes, by the same rule as [`Program::kernels_called`].
    pub fn functions_called(&self, name: &str) -> Vec<FuncId> {
        let matches = |function: &Function| is_called(&function.name, name);
        let all = || (0..self.functions.len()).map(FuncId::new).filter(|id| matches(&self.functions[id.index()]));
        self.function(name).map_or_else(|| self.with_signature(all().collect(), name), |exact| vec![exact])
    }

    /// The function whose code holds `pc`.
    pub fn function_at(&self, pc: Pc) -> Option<FuncId> {
        let code = |id: &FuncId| &self.functions[id.index()].code;
        let after = self.functions_by_code.partition_point(|id| code(id).start <= pc.0);
        self.functions_by_code[..after].last().filter(|id| code(id).contains(&pc.0)).copied()
    }

    /// The calls of functions by their names in the code of `function`, with the callees.
    pub fn direct_calls(&self, function: FuncId) -> impl Iterator<Item = (Pc, FuncId)> + '_ {
        let code = self.functions[function.index()].code.clone().map(Pc);
        code.filter_map(|pc| {
            let Op::Control(ControlOp::Call { call, .. }) = self.code[pc.index()].op else { return None };
            Some((pc, self.calls[call].target.direct()?))
        })
    }

    /// The numbers of the functions that are called so.
    pub fn callees(&self, function: usize) -> impl Iterator<Item = usize> + '_ {
        self.direct_calls(FuncId::new(function)).map(|(_, callee)| callee.index())
    }

    /// The line of the PTX text with the statement at `pc`; 0 if there is no such instruction.
    pub fn line(&self, pc: Pc) -> u32 {
        self.spans.get(pc.index()).map_or(0, |span| self.sources_text.file(span.source).line_of(span.start))
    }

    /// The inline asm that contains the statement at `pc`.
    pub fn inline_asm(&self, pc: Pc) -> Option<Span> {
        self.spans.get(pc.index()).and_then(|span| self.inline_asm_at(span.source, span.start))
    }

    /// The inline asm that contains the byte at `offset` of `file`.
    pub fn inline_asm_at(&self, file: SourceId, offset: u32) -> Option<Span> {
        let at = Span::new(file, offset, offset);
        let started = self.inline_asm.partition_point(|region| (region.source, region.start) <= (at.source, at.start));
        let region = self.inline_asm.get(started.checked_sub(1)?)?;
        (region.source == file && offset < region.end).then_some(*region)
    }

    /// `file.ptx:12` for the statement at `pc`.
    pub fn place(&self, pc: Pc) -> String {
        let Some(span) = self.spans.get(pc.index()) else { return "?".to_string() };
        let file = self.sources_text.file(span.source);
        format!("{}:{}", file.short_name(), file.line_of(span.start))
    }
}
