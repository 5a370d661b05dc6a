//! What a row of the instruction table says, and what is made of it.
//!
//! A row is written as the manual writes an instruction, in the notation that `notation` reads:
//!
//! ```text
//! add[<round>][.ftz][.sat].f32                    d, a, b
//! setp(<cmp>)(<bool>)[.ftz].f32                   p[|q], a, b, [!]c:pred
//! mul-wide(.u16|.s16|.u32|.s32)                   d:2x, a, b
//! shl(.b16|.b32|.b64)                             d, a, b:u32
//! ld[.weak][.global|.shared{2.0,20}](.b8|.u8)     d:+, [a]
//! bar.sync                                        a:u32[, b:u32]
//! tcgen05.mma.*                                   ...
//! ```
//!
//! `(..)` is a place that one of its words must fill, `[..]` one that may be filled; a bare `.word` is required, and `.*` is any words.
//! `<name>` denotes a set of words of `notation`. `{8.0,90}` after a word says the PTX version and target it needs. Words may be written in
//! any order, but type words fill the places from left to right, and a word with `-` for its dot belongs to the name of the instruction:
//! only others of the kind precede it, in the order of the row.
//!
//! Operands called `d`, `p` and `q` are written, the others read; they have the type of the instruction, which is its last type
//! word, unless an annotation says otherwise:
//!
//! | annotation | the operand |
//! | --- | --- |
//! | `:u32` | is of this type |
//! | `:t1` | is of the first type word (`:t2` of the second) |
//! | `:2x` | is of the type twice as wide |
//! | `:+` | may be a wider register |
//! | `:imm` | is a constant |
//! | `:=4\|8` | is one of these constants |
//! | `:*16` | is a multiple of this if it is a constant |
//! | `:0-255` | is in this range if it is a constant |
//! | `:reg` | is a register |
//! | `:x4` | is four registers in braces; of `[a, c]`, this many coordinates |
//! | `:xd` | is as many as the word `.1d` to `.5d` says (`:xd-2` two less) |
//! | `:xn2` | is half as many as the shape `.m64n8k16` has columns (`:xn4` a quarter) |
//! | `:or-desc` | may be a matrix descriptor instead |
//! | `:in.SPACE` | is an address in this space (`global`, `shared`, `cluster`), whichever spaces the opcode names |
//! | `:narrow` | is an address that 32 bits may hold, even where it is generic |
//! | `:vec` | is a vector if the instruction has `.v2`, `.v4` or `.v8` |
//! | `:special` | may be a special register |
//! | `:addr` | may be the address of a variable or function |
//! | `:_` | may be `_` |
//! | `:__` | is `_` |
//! | `:or-pred` | may be a predicate instead |
//! | `:label` | is a name that the instruction itself looks up |
//! | `:with.WORD` | is there if and only if the opcode has the word |
//! | `:any` | is whatever the instruction's own rules say |

use super::decode::Decode;
use super::{ScalarType, Space, TypeKind};

/// One form of an instruction as the table writes it: what may be written, since when, and what it decodes to.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Notation of the opcode with its places, and of the operands.
    pub syntax: &'static str,
    /// First PTX version that has it.
    pub ptx: (u8, u8),
    /// First target that has it, as the number after `sm_`.
    pub sm: u32,
    /// Targets that have it, where it is not every one from `sm` on: `90a` is that target alone, `100f` its family.
    pub only: &'static [&'static str],
    /// PTX version and target from which on, both together, it is gone.
    pub gone: Option<((u8, u8), u32)>,
    /// How `sema` decodes it.
    pub decode: Decode,
    /// One line of help: what it computes.
    pub help: &'static str,
}

/// A row of the table.
pub(super) const fn row(syntax: &'static str, ptx: (u8, u8), sm: u32, decode: Decode, help: &'static str) -> Row {
    Row { syntax, ptx, sm, only: &[], gone: None, decode, help }
}

impl Row {
    /// The row restricted to architecture-specific targets.
    pub(super) const fn only(mut self, targets: &'static [&'static str]) -> Self {
        self.only = targets;
        self
    }

    /// The row withdrawn from targets of `sm` on in modules of version `ptx` on.
    pub(super) const fn gone(mut self, ptx: (u8, u8), sm: u32) -> Self {
        self.gone = Some((ptx, sm));
        self
    }
}

/// A row, read.
#[derive(Clone, Debug)]
pub struct Form {
    /// The row it was read from.
    pub row: &'static Row,
    /// Text before the first dot.
    pub opcode: &'static str,
    /// Places for the words after it.
    pub places: Vec<ModifierSlot>,
    /// `.*`: any further words.
    pub any_words: bool,
    /// Its operands.
    pub operands: Vec<OperandForm>,
    /// `...`: any operands.
    pub any_operands: bool,
}

/// A place for a word after the opcode.
#[derive(Clone, Debug)]
pub struct ModifierSlot {
    /// The words that fit.
    pub words: Vec<Modifier>,
    /// Whether one of them must be there.
    pub required: bool,
    /// Whether they belong to the name of the instruction, which other words cannot interrupt.
    pub joined: bool,
}

/// A word that fits a place.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// Its text without the first dot; `xorsign.abs` is one word of two parts.
    pub text: &'static str,
    /// The type it names, if it does.
    pub ty: Option<ScalarType>,
    /// First PTX version that has it here.
    pub ptx: (u8, u8),
    /// First target that has it here.
    pub sm: u32,
}

/// What an operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is written.
    Dest,
    /// It is read.
    Source,
    /// `[a]`: an address is computed from it.
    Address,
    /// A label, function or table that the instruction's own decoding looks up.
    Label,
    /// Anything; the instruction's own decoding looks at it.
    Any,
}

/// Where an operand's type comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandType {
    /// The last type word of the opcode.
    Last,
    /// The type word with this index, from 0.
    Nth(usize),
    /// The type twice as wide as the last type word.
    Double,
    /// Always this one.
    Fixed(ScalarType),
}

/// How many registers there are in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// This many.
    Fixed(usize),
    /// As many as the tensor has dimensions (`.1d` to `.5d`), less this number.
    Dimensions(usize),
    /// As many as the matrix has columns (the number after `n` in `.m64n8k16`), divided by this number.
    Columns(usize),
}

/// An operand of a form.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an annotation of its own")]
pub struct OperandForm {
    /// Its name in the manual.
    pub name: &'static str,
    /// What it is for.
    pub role: Role,
    /// Its type.
    pub ty: OperandType,
    /// A register may be wider.
    pub wider: bool,
    /// Constants are refused.
    pub register_only: bool,
    /// Only constants will do.
    pub constant_only: bool,
    /// Only these constants will do; any if there are none.
    pub values: Vec<u64>,
    /// A constant must be a multiple of this.
    pub multiple: Option<u64>,
    /// A constant must be one of these.
    pub range: Option<(u64, u64)>,
    /// A special register may be read.
    pub special: bool,
    /// The address of a variable or function is a value here.
    pub address_of: bool,
    /// This many registers in braces.
    pub registers: Option<Count>,
    /// The space an address lies in, where it is not the one that the opcode names.
    pub space: Option<Space>,
    /// A register of 32 bits may hold a generic address.
    pub narrow: bool,
    /// A vector, if the opcode has a vector word.
    pub vector: bool,
    /// `_` may be written.
    pub sink: bool,
    /// Nothing but `_` may be written.
    pub sink_only: bool,
    /// A predicate may be read instead.
    pub or_predicate: bool,
    /// A matrix descriptor in a register of 64 bits may take the place of registers in braces.
    pub or_descriptor: bool,
    /// `!` may precede it.
    pub negatable: bool,
    /// A second predicate destination after `|`: whether it must be there.
    pub pair: Option<bool>,
    /// It may be left out.
    pub optional: bool,
    /// It is there only with this word.
    pub with: Option<&'static str>,
}

impl Form {
    /// Whether `count` operands can be a complete list, leaving aside which words are there.
    pub fn takes(&self, count: usize) -> bool {
        let needed = self.operands.iter().filter(|operand| !operand.optional && operand.with.is_none()).count();
        self.any_operands || (needed..=self.operands.len()).contains(&count)
    }

    /// Every type word that fits some place, with its place.
    pub fn type_words(&self) -> impl Iterator<Item = (usize, Modifier)> + '_ {
        let places = self.places.iter().enumerate();
        places.flat_map(|(index, place)| place.words.iter().filter(|word| word.ty.is_some()).map(move |word| (index, *word)))
    }
}

/// Whether a register declared `register` may be used where an instruction works on `ty` (PTX ISA, "Type Checking" and "Operand Size
/// Exceeding Instruction-Type Size"); `wider` says whether it may be wider.
pub fn agrees(ty: ScalarType, register: ScalarType, wider: bool) -> bool {
    use TypeKind::{Float, Predicate, Signed, Unsigned, Untyped};
    let size = if wider { register.bits() >= ty.bits() } else { register.bits() == ty.bits() };
    let kind = match (ty.kind(), register.kind()) {
        (Predicate, other) | (other, Predicate) => return other == Predicate && ty == register,
        (Untyped, _) | (_, Untyped) => true,
        // A pair of halves is 32 bits without a meaning to integer instructions.
        (Unsigned | Signed, Float) => register == ScalarType::F16x2,
        (Unsigned | Signed, Unsigned | Signed) => !is_bits_only(ty),
        (Float, _) => ty == register && !is_bits_only(ty),
    };
    size && kind
}

/// Whether registers for `ty` are declared with the untyped type of its size (PTX ISA, "Alternate Floating-Point Data Formats" and
/// "Packed Data Types").
pub fn is_bits_only(ty: ScalarType) -> bool {
    use ScalarType::{F16, F16x2, F32, F64};
    match ty.kind() {
        TypeKind::Float => !matches!(ty, F16 | F16x2 | F32 | F64),
        _ => matches!(ty, ScalarType::U16x2 | ScalarType::S16x2),
    }
}
