//! Rows of the instruction table, and the forms that they are parsed into.
//!
//! A row is written as the manual writes an instruction, in the notation that `notation` parses:
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
//! `(..)` is a slot that one of its modifiers must fill, `[..]` an optional one; a bare `.modifier` is required, and `.*` is any modifiers.
//! `<name>` denotes a set of modifiers of `notation`. `{8.0,90}` after a modifier is the PTX version and target it needs. Modifiers may be
//! written in any order, but types fill the slots from left to right, and a word with `-` instead of its dot belongs to the name of the
//! instruction: only other words of the name precede it, in the order of the row.
//!
//! Operands called `d`, `p` and `q` are written, the others read; they have the type of the instruction, which is its last type, unless an
//! annotation says otherwise:
//!
//! | annotation | the operand |
//! | --- | --- |
//! | `:u32` | is of this type |
//! | `:t1` | is of the first type of the opcode (`:t2` of the second) |
//! | `:2x` | is of the type twice as wide |
//! | `:+` | may be a wider register |
//! | `:imm` | is a constant |
//! | `:=4\|8` | is one of these constants |
//! | `:*16` | is a multiple of this if it is a constant |
//! | `:0-255` | is in this range if it is a constant |
//! | `:reg` | is a register |
//! | `:x4` | is four registers in braces; for `[a, c]`, four coordinates |
//! | `:xd` | is as many registers as `.1d` to `.5d` has dimensions (`:xd-2` two less) |
//! | `:xn2` | is half as many registers as the shape `.m64n8k16` has columns (`:xn4` a quarter) |
//! | `:or-desc` | may be a matrix descriptor instead |
//! | `:in.SPACE` | is an address in this space (`global`, `shared`, `cluster`), regardless of the spaces of the opcode |
//! | `:narrow` | is an address that a 32-bit register may hold, even if it is generic |
//! | `:vec` | is a vector if the instruction has `.v2`, `.v4` or `.v8` |
//! | `:special` | may be a special register |
//! | `:addr` | may be the address of a variable or function |
//! | `:_` | may be `_` |
//! | `:__` | is `_` |
//! | `:or-pred` | may be a predicate instead |
//! | `:label` | is a name that the decoder of the instruction looks up |
//! | `:with.WORD` | is present if and only if the opcode has the modifier |
//! | `:any` | is checked by the decoder of the instruction |

use super::decode::Decode;
use super::{ScalarType, Space, TypeKind};

/// One form of an instruction as a row of the table: its syntax, the versions that have it, and its decoding.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Notation of the opcode with its modifier slots, and of the operands.
    pub syntax: &'static str,
    /// First PTX version that has it.
    pub ptx: (u8, u8),
    /// First target that has it, as the number after `sm_`.
    pub sm: u32,
    /// Targets that have it, if not all from `sm` on do: `90a` is that target only, `100f` its family.
    pub only: &'static [&'static str],
    /// PTX version and target since which it is removed: both must be reached.
    pub removed: Option<((u8, u8), u32)>,
    /// The operation that `sema` decodes it to.
    pub decode: Decode,
    /// One line of help.
    pub help: &'static str,
}

/// A row of the table.
pub(super) const fn row(syntax: &'static str, ptx: (u8, u8), sm: u32, decode: Decode, help: &'static str) -> Row {
    Row { syntax, ptx, sm, only: &[], removed: None, decode, help }
}

impl Row {
    /// The row restricted to architecture-specific targets.
    pub(super) const fn only(mut self, targets: &'static [&'static str]) -> Self {
        self.only = targets;
        self
    }

    /// The row, removed for targets from `sm` on in modules from version `ptx` on.
    pub(super) const fn removed(mut self, ptx: (u8, u8), sm: u32) -> Self {
        self.removed = Some((ptx, sm));
        self
    }
}

/// A parsed row.
#[derive(Clone, Debug)]
pub struct Form {
    /// The row it was read from.
    pub row: &'static Row,
    /// Text before the first dot.
    pub opcode: &'static str,
    /// Slots for the modifiers after it.
    pub slots: Vec<ModifierSlot>,
    /// `.*`: any further modifiers.
    pub any_modifiers: bool,
    /// Its operands.
    pub operands: Vec<OperandForm>,
    /// `...`: any operands.
    pub any_operands: bool,
}

/// A slot for one modifier of the opcode.
#[derive(Clone, Debug)]
pub struct ModifierSlot {
    /// The modifiers that it accepts.
    pub modifiers: Vec<Modifier>,
    /// True if one of them must be present.
    pub required: bool,
    /// True if they belong to the name of the instruction, which other modifiers cannot interrupt.
    pub in_name: bool,
}

/// A modifier that a slot accepts. Types are modifiers too.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// Its text without the first dot; `xorsign.abs` is one modifier of two words.
    pub text: &'static str,
    /// The type it names, if it does.
    pub ty: Option<ScalarType>,
    /// First PTX version that has it here.
    pub ptx: (u8, u8),
    /// First target that has it here.
    pub sm: u32,
}

/// The role of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandRole {
    /// It is written.
    Dest,
    /// It is read.
    Source,
    /// `[a]`: an address is computed from it.
    Address,
    /// A label, function or table that the decoder of the instruction looks up.
    Label,
    /// Any operand; the decoder of the instruction checks it.
    Any,
}

/// The source of an operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandType {
    /// The last type of the opcode.
    Last,
    /// The type of the opcode with this index, from 0.
    Nth(usize),
    /// The type twice as wide as the last type.
    Double,
    /// This type.
    Fixed(ScalarType),
}

/// The number of registers in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterCount {
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
    /// Its role.
    pub role: OperandRole,
    /// Its type.
    pub ty: OperandType,
    /// A register may be wider.
    pub wider: bool,
    /// Constants are refused.
    pub register_only: bool,
    /// Only constants are accepted.
    pub constant_only: bool,
    /// The constants that are accepted; any if empty.
    pub values: Vec<u64>,
    /// A constant must be a multiple of this.
    pub multiple: Option<u64>,
    /// A constant must be in this range, inclusive.
    pub range: Option<(u64, u64)>,
    /// A special register may be read.
    pub special: bool,
    /// The address of a variable or function is a value here.
    pub address_of: bool,
    /// This many registers in braces.
    pub registers: Option<RegisterCount>,
    /// The space of an address, if it is not the one that the opcode names.
    pub space: Option<Space>,
    /// A register of 32 bits may hold a generic address.
    pub narrow: bool,
    /// A vector, if the opcode has a vector modifier.
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
    /// A second predicate destination after `|`: true if it is required.
    pub pair: Option<bool>,
    /// It may be omitted.
    pub optional: bool,
    /// It is present only with this modifier.
    pub only_with: Option<&'static str>,
}

impl Form {
    /// True if `count` operands can be a complete list, with some set of modifiers.
    pub fn accepts(&self, count: usize) -> bool {
        let needed = self.operands.iter().filter(|operand| !operand.optional && operand.only_with.is_none()).count();
        self.any_operands || (needed..=self.operands.len()).contains(&count)
    }

    /// Every type that some slot accepts, with the index of the slot.
    pub fn type_words(&self) -> impl Iterator<Item = (usize, Modifier)> + '_ {
        let slots = self.slots.iter().enumerate();
        slots.flat_map(|(index, slot)| slot.modifiers.iter().filter(|word| word.ty.is_some()).map(move |word| (index, *word)))
    }
}

/// True if a register declared `register` may be used where an instruction works on `ty` (PTX ISA, "Type Checking" and "Operand Size
/// Exceeding Instruction-Type Size"); with `wider` it may be wider.
pub fn agrees(ty: ScalarType, register: ScalarType, wider: bool) -> bool {
    use TypeKind::{Float, Predicate, Signed, Unsigned, Untyped};
    let size = if wider { register.bits() >= ty.bits() } else { register.bits() == ty.bits() };
    let kind = match (ty.kind(), register.kind()) {
        (Predicate, other) | (other, Predicate) => return other == Predicate && ty == register,
        (Untyped, _) | (_, Untyped) => true,
        // Integer instructions take a pair of halves as 32 untyped bits.
        (Unsigned | Signed, Float) => register == ScalarType::F16x2,
        (Unsigned | Signed, Unsigned | Signed) => !is_bits_only(ty),
        (Float, _) => ty == register && !is_bits_only(ty),
    };
    size && kind
}

/// True if registers for `ty` are declared with the untyped type of its size (PTX ISA, "Alternate Floating-Point Data Formats" and
/// "Packed Data Types").
pub fn is_bits_only(ty: ScalarType) -> bool {
    use ScalarType::{F16, F16x2, F32, F64};
    match ty.kind() {
        TypeKind::Float => !matches!(ty, F16 | F16x2 | F32 | F64),
        _ => matches!(ty, ScalarType::U16x2 | ScalarType::S16x2),
    }
}
