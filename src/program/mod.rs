//! The immutable executable form of a module: what `sema` makes of a file and everything after it reads.
//!
//! All code of a module lies in one vector; a [`Pc`] is an index into it, so a program counter is one word and code addresses order like
//! the text. Operands are slots ([`operand`](self)), addresses are numbers ([`map`]), and names, spans and lines lie in tables beside the
//! code, used only for diagnostics and display.

#![warn(clippy::wildcard_enum_match_arm)]

mod copy;
mod image;
pub mod map;
mod matrix;
mod names;
mod op;
mod operand;
pub mod operands;
mod statement;
mod tensor_map;
mod texels;
mod walk;
mod wgmma;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::{IdVec, SourceId, Sources, Span, define_id};
use crate::isa::{ImageKind, Sampler, ScalarType, Space};

pub use copy::{Completion, CopyId, CopyOp, Kept, SpaceAddress, TensorCopy};
pub use image::{Handle, ImageAccess, ImageFn, ImageId};
pub use matrix::{FragmentAccess, MatrixId, MatrixMultiply, MatrixOp, MultiplyKind, MultiplyMode, RowsAccess};
pub use names::{demangled, is_called, listed_name, plain_name, qualified_name, short_name, shown_name, source_name};
pub use op::*;
pub use operand::{Address, Bank, Base, Dst, Location, PredSrc, Src, SrcKind};
pub use statement::{Mention, Named, Opcode, OpcodeId, Statement};
pub use tensor_map::{BoxShape, FieldError, NotAMap, RANK_MAX, TENSOR_MAP_BYTES, TensorMap};
pub use texels::{Content, Image, Texels, Texture, find};
pub use wgmma::{WgmmaA, WgmmaId, WgmmaOp};

define_id!(
    /// A program counter: an index into [`Program::code`].
    Pc, "pc"
);
define_id!(
    /// A slot of a bank of registers: counted from the start of the frame, or over the whole bank where it says so.
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
    /// A list of operands: an index into [`Program::sources`] or [`Program::dests`], whichever the operation names.
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
    /// All code, function after function. Every function's code ends with a `Return` or `Exit` of ours, so a `Pc` never runs off it.
    pub code: Vec<Inst>,
    /// The statement each instruction was made from, in the same order; the closing `Return` has the closing brace.
    pub spans: Vec<Span>,
    /// The parts of each statement, in the same order; none of closing braces.
    pub statements: Vec<Option<Statement>>,
    /// The opcodes of the module, each spelling once.
    pub opcodes: Vec<Opcode>,
    /// The positions of the operands of all statements, statement by statement.
    pub operand_spans: Vec<Span>,
    /// The names in operands, statement by statement.
    pub mentions: Vec<Mention>,
    /// `.loc` in force at each instruction; `None` where there is none.
    pub source_lines: Vec<Option<SourceLine>>,
    /// Of instructions of a function that the compiler has put in place of its call: where that was called, innermost first.
    pub call_sites: BTreeMap<Pc, Vec<SourceLine>>,
    /// The text between `// begin inline asm` and `// end inline asm`, which compilers write around the text of an `asm` statement, in
    /// order.
    pub inline_asm: Vec<Span>,
    /// Names of `.file` directives by number.
    pub source_files: Vec<(u32, String)>,
    /// Functions and kernels, in order of first appearance. Declarations without a body have an empty code range.
    pub functions: Vec<Function>,
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
    /// Why the instructions that are not modelled are not, as shown to the user.
    pub unsupported: IdVec<UnsupportedId, String>,
    /// Multiplications and additions that are rounded once, in order of the additions.
    pub contracted: Vec<Contraction>,
    /// The texts all spans point into.
    pub sources_text: Sources,
    /// Those that it is made of: one, or the modules that are linked, in order.
    pub modules: Vec<SourceId>,
}

/// The constants that are addresses of shared memory.
#[derive(Clone, Debug, Default)]
pub struct SharedAddresses {
    /// Indices into `Program::consts32`.
    pub narrow: Vec<u32>,
    /// Indices into `Program::consts64`.
    pub wide: Vec<u32>,
}

/// A contraction by the vendor's assembler: one operation made of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContractionKind {
    /// A product, or what is computed as one, and its addition or subtraction are rounded once (`fma`).
    Sum,
    /// A product and its multiplication by a power of two are rounded once.
    Scale,
    /// The reciprocal of a fast reciprocal or power is computed from its operand.
    Inverse,
}

/// Two operations that the vendor's assembler makes one of: `taker` takes the operands of `given` in place of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// The kind of contraction.
    pub how: ContractionKind,
    /// The second one: the addition, the scaling or the reciprocal.
    pub taker: Pc,
    /// The first one, whose result the other one does not take.
    pub given: Pc,
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

/// A place in the source language, from `.loc`.
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
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Its code, `start..end`; empty for a function that is only declared.
    pub code: std::ops::Range<u32>,
    /// Input parameters in order.
    pub params: Vec<Param>,
    /// Return parameters in order.
    pub results: Vec<Param>,
    /// Slots of each bank a frame needs.
    pub slots: Slots,
    /// Bytes of local memory a frame needs: `.local` variables and call parameters; a multiple of 16.
    pub frame_bytes: u32,
    /// Bytes of shared memory before its dynamic part, from [`map::SHARED_RESERVED`] on: the static variables of a kernel and of all
    /// functions it can reach. 0 for functions that are no kernels.
    pub shared_bytes: u32,
    /// Bytes of kernel parameters.
    pub param_bytes: u32,
    /// Declarations of registers, in order, for the debugger.
    pub registers: Vec<Register>,
    /// Slots of those that code names.
    pub placement: Placement,
    /// Labels, in order of address.
    pub labels: Vec<(Arc<str>, Pc)>,
    /// Launch limits from directives.
    pub limits: Limits,
}

/// Number of slots a frame needs in each bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// 32-bit slots.
    pub b32: u32,
    /// 64-bit slots.
    pub b64: u32,
    /// Predicate slots.
    pub pred: u32,
}

/// A declaration of registers: one, a vector, or many (`%r<100>`).
///
/// Registers are numbered bank by bank as they are declared, and those that code names get slots ([`Placement`]), each its own:
/// neighbouring declarations and scopes never share any. Compilers declare far more registers than they use.
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
    /// Numbers, and slots, of one component: 2 for `.b128`, else 1.
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
    /// Whether it was declared as an array.
    pub is_array: bool,
    /// The opaque type, if it is one: its value is a handle.
    pub opaque: Option<ImageKind>,
    /// `.ptr` space of a kernel parameter, if declared.
    pub pointer: Option<Space>,
    /// The component of a vector register that it is, and their number: such a parameter is split into its components, in order.
    pub component: Option<(u32, u32)>,
    /// Its storage.
    pub place: ParamPlace,
}

/// The storage of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamPlace {
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
    /// Whether it was declared with dimensions, those of a vector left aside.
    pub is_array: bool,
    /// Its location. For `Local`, the offset in the frame of `function`, or the address of a variable of the module.
    pub location: Location,
    /// Size in bytes; 0 for `extern .shared x[]`, which denotes the dynamic shared memory: it starts at [`map::SHARED_RESERVED`] +
    /// `Function::shared_bytes` of the kernel, and `location` says nothing.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// The initial bytes, shorter than `bytes` where the rest is zero; global and const only.
    pub init: Vec<u8>,
    /// The function it is declared in.
    pub function: Option<FuncId>,
    /// The opaque type, if it is one: its value is a handle.
    pub opaque: Option<ImageKind>,
    /// The sampling modes of a `.samplerref`, from its initializer.
    pub sampler: Option<Box<Sampler>>,
}

/// A variable in shared memory as one kernel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedVariable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its start.
    pub start: u64,
    /// Its size, that of dynamic shared memory included.
    pub bytes: u64,
}

impl Program {
    /// The variable that holds `address` of the shared memory of a block of `kernel`, which has `shared_bytes` bytes in all.
    pub fn shared_variable(&self, kernel: FuncId, address: u64, shared_bytes: u64) -> Option<SharedVariable<'_>> {
        let dynamic = map::SHARED_RESERVED + u64::from(self.functions[kernel.index()].shared_bytes);
        let shared = self.variables.iter().filter(|variable| variable.location.space == Space::Shared);
        let own = shared
            .filter(|variable| variable.function.is_none_or(|function| function == kernel || !self.functions[function.index()].is_kernel));
        let mut placed = own.map(|variable| match variable.bytes {
            0 => SharedVariable { name: &variable.name, start: dynamic, bytes: shared_bytes.saturating_sub(dynamic) },
            bytes => SharedVariable { name: &variable.name, start: variable.location.address, bytes },
        });
        placed.rfind(|variable| (variable.start..variable.start + variable.bytes).contains(&address))
    }
}

/// A call: what it calls and how arguments travel.
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
    /// The function that is called by its name.
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
    /// The function whose address ([`map::function_address`]) the register holds: 64-bit if `wide`. `candidates` is empty where only
    /// a prototype is known.
    Indirect {
        /// The address.
        address: Src,
        /// Whether it is a 64-bit value.
        wide: bool,
        /// `.calltargets`, or empty.
        candidates: Vec<FuncId>,
    },
}

/// One side of an argument or result, as the caller sees it. It fits the parameter in width, but either side may be a register or
/// lie in memory: a value can be passed for a `.param` parameter, and a `.param` variable for a register.
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
    /// `_` where a result is dropped.
    Ignored,
}

/// The slot of each register of a function, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    b32: Vec<Option<Slot>>,
    b64: Vec<Option<Slot>>,
    pred: Vec<Option<Slot>>,
    /// Slots given away.
    pub slots: Slots,
}

impl Slot {
    /// The slot `count` after it.
    #[inline(always)]
    #[must_use]
    pub fn offset(self, count: u32) -> Self {
        Self(self.0 + count)
    }

    /// This slot of a frame that starts at `base`, counted over the whole bank.
    #[inline(always)]
    #[must_use]
    pub fn in_frame(self, base: Slot) -> Self {
        Self(base.0 + self.0)
    }

    /// It and those after it, `count` in all.
    #[inline]
    pub fn run(self, count: u32) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.0..self.0 + count).map(Self)
    }
}

impl Placement {
    /// The slot of register `number` of a bank, and of the next `width - 1` after it; assigned now if it has none.
    pub fn place(&mut self, bank: Bank, number: u32, width: u32) -> Slot {
        let (placed, next) = match bank {
            Bank::B32 => (&mut self.b32, &mut self.slots.b32),
            Bank::B64 => (&mut self.b64, &mut self.slots.b64),
            Bank::Pred => (&mut self.pred, &mut self.slots.pred),
        };
        let end = (number + width) as usize;
        if placed.len() < end {
            placed.resize(end, None);
        }
        if let Some(slot) = placed[number as usize] {
            return slot;
        }
        let slot = Slot(*next);
        *next += width;
        for (place, slot) in placed[number as usize..end].iter_mut().zip(slot.run(width)) {
            *place = Some(slot);
        }
        slot
    }

    /// The slot of register `number` of a bank; none if no code names it.
    pub fn slot(&self, bank: Bank, number: u32) -> Option<Slot> {
        let placed = match bank {
            Bank::B32 => &self.b32,
            Bank::B64 => &self.b64,
            Bank::Pred => &self.pred,
        };
        placed.get(number as usize).copied().flatten()
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

    /// The kernels that `name` means: the one called so in the module, or else those that the source calls so, as [`is_called`] says.
    pub fn kernels_called(&self, name: &str) -> Vec<FuncId> {
        let is_called = |id: &FuncId| &*self.functions[id.index()].name == name;
        match self.kernels().find(is_called) {
            Some(exact) => vec![exact],
            None => self.kernels().filter(|id| names::is_called(&self.functions[id.index()].name, name)).collect(),
        }
    }

    /// The shortest name that the source has for a kernel and that means no other one.
    pub fn kernel_word(&self, id: FuncId) -> String {
        let whole = &*self.functions[id.index()].name;
        let names = [plain_name(whole).map(str::to_string), qualified_name(whole), demangled(whole)];
        let sole = names.into_iter().flatten().find(|name| self.kernels_called(name).len() == 1);
        sole.unwrap_or_else(|| whole.to_string())
    }

    /// The functions and kernels that `name` means, in the same way.
    pub fn functions_called(&self, name: &str) -> Vec<FuncId> {
        let called = |function: &Function| is_called(&function.name, name);
        let all = || (0..self.functions.len()).map(FuncId::new).filter(|id| called(&self.functions[id.index()]));
        self.function(name).map_or_else(|| all().collect(), |exact| vec![exact])
    }

    /// The function whose code holds `pc`.
    pub fn function_at(&self, pc: Pc) -> Option<FuncId> {
        self.functions.iter().position(|function| function.code.contains(&pc.0)).map(FuncId::new)
    }

    /// The line of the PTX text with the statement at `pc`; 0 if there is no such instruction.
    pub fn line(&self, pc: Pc) -> u32 {
        self.spans.get(pc.index()).map_or(0, |span| self.sources_text.file(span.source).line_of(span.start))
    }

    /// The inline asm that the statement at `pc` is of.
    pub fn inline_asm(&self, pc: Pc) -> Option<Span> {
        self.spans.get(pc.index()).and_then(|span| self.inline_asm_at(span.source, span.start))
    }

    /// The inline asm that holds the byte at `offset` of `file`.
    pub fn inline_asm_at(&self, file: SourceId, offset: u32) -> Option<Span> {
        let place = Span::new(file, offset, offset);
        let begun = self.inline_asm.partition_point(|region| (region.source, region.start) <= (place.source, place.start));
        let region = self.inline_asm.get(begun.checked_sub(1)?)?;
        (region.source == file && offset < region.end).then_some(*region)
    }

    /// `file.ptx:12` for the statement at `pc`.
    pub fn place(&self, pc: Pc) -> String {
        let Some(span) = self.spans.get(pc.index()) else { return "?".to_string() };
        let file = self.sources_text.file(span.source);
        format!("{}:{}", file.short_name(), file.line_of(span.start))
    }

    /// The contraction by which the instruction at `taker` takes the operands of another one, if any.
    pub fn contracted_given(&self, taker: Pc) -> Option<Contraction> {
        let index = self.contracted.binary_search_by_key(&taker, |contracted| contracted.taker).ok()?;
        self.contracted.get(index).copied()
    }

    /// The instructions that take the operands of the one at `given`, in order.
    pub fn contracted_takers(&self, given: Pc) -> impl Iterator<Item = Contraction> {
        self.contracted.iter().filter(move |contracted| contracted.given == given).copied()
    }
}
