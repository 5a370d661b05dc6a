//! The interface between decoding and the function under construction, which resolves names to registers, constants and addresses, and adds
//! entries to the program's tables (constants, lists, call sites).
//!
//! `decode` does not depend on scopes, and an implementation of [`DecodeContext`] does not depend on instructions. There is one
//! `decode::Decoder` per module: `decoder.decode(&instruction, &mut builder, &mut diagnostics)` returns the instruction with its guard, or
//! reports its errors.

use crate::base::{Diagnostic, Span};
use crate::isa::{ImageKind, ScalarType};
use crate::program::map::Map;
use crate::program::{
    Bank, CopyId, CopyOp, FuncId, ImageAccess, ImageId, ListId, Location, MatrixId, MatrixOp, Op, Pc, Slot, SpecialRef, Src, TableId,
    UnsupportedId, WgmmaId, WgmmaOp,
};
use crate::syntax::tree::{Expr, Name, Operand};

/// The function under construction, as the context of decoding.
pub(super) trait DecodeContext<'a> {
    /// PTX version of the module, major and minor.
    fn version(&self) -> (u8, u8);
    /// Target of the module: the number after `sm_`, and its suffix letter if any.
    fn target(&self) -> (u32, Option<char>);
    /// True if the target supports the features of target `sm`.
    fn has_target(&self, sm: u32) -> bool;
    /// 32 or 64.
    fn address_bits(&self) -> u32;
    /// The address map.
    fn map(&self) -> Map;
    /// True if samplers are separate objects (`.target .., texmode_independent`).
    fn has_samplers(&self) -> bool;
    /// True if the function is a kernel, whose `.param` space is the parameter bank and not the frame.
    fn in_kernel(&self) -> bool;

    /// True if `name` is an input parameter of the function.
    fn is_input(&self, name: &str) -> bool;

    /// Resolves an expression; undeclared names and invalid constant expressions are errors.
    fn resolve(&mut self, expr: &Expr<'a>) -> Result<Value, Diagnostic>;

    /// Inserts an operation before the instruction that is being decoded, with the same guard.
    fn insert_before(&mut self, op: Op);
    /// A temporary register of type `ty` for results of inserted operations; `name` is its name in the debugger.
    fn temporary(&mut self, ty: ScalarType, name: String) -> RegisterRef;

    /// A 32-bit constant, the same for all lanes; 16-bit constants are zero-extended.
    fn const32(&mut self, value: u32) -> Src;
    /// A 64-bit constant.
    fn const64(&mut self, value: u64) -> Src;
    /// An address in shared memory as a constant, of the shared space or a generic one.
    fn shared_address(&mut self, address: u64, wide: bool) -> Src;
    /// Adds to `Program::copies`.
    fn copy(&mut self, copy: CopyOp) -> CopyId;
    /// Adds to `Program::matrices`.
    fn matrix(&mut self, op: MatrixOp) -> MatrixId;
    /// Adds to `Program::wgmmas`.
    fn wgmma(&mut self, wgmma: WgmmaOp) -> WgmmaId;
    /// A special register of `Fixed` kind and at most 32 bits.
    fn special(&mut self, register: SpecialRef) -> Src;
    /// Adds to `Program::sources`.
    fn source_list(&mut self, sources: &[Src]) -> ListId;
    /// Adds to `Program::images`.
    fn image(&mut self, access: ImageAccess) -> ImageId;
    /// The operands of a list in `Program::sources`.
    fn sources(&self, list: ListId) -> Box<[Src]>;
    /// The operands of a list in `Program::dests`.
    fn dests(&self, list: ListId) -> Box<[crate::program::Dst]>;
    /// Adds to `Program::dests`.
    fn dest_list(&mut self, dests: &[crate::program::Dst]) -> ListId;

    /// The address of a label of this function, before insertions.
    fn branch_target(&mut self, label: Name<'a>) -> Result<Pc, Diagnostic>;
    /// The table that a `.branchtargets` directive with this label declares.
    fn branch_table(&mut self, label: Name<'a>) -> Result<TableId, Diagnostic>;
    /// The operation of `call`: its operands are `(results), target, (arguments), table or prototype`, all but the target optional.
    /// A call of a function without a body is `Op::Unsupported`.
    fn call(&mut self, operands: &[Operand<'a>], uniform: bool, span: Span) -> Result<Op, Diagnostic>;
    /// Adds to `Program::unsupported`.
    fn unsupported(&mut self, why: String) -> UnsupportedId;
}

/// A register of the function, or a component of a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterRef {
    /// Its bank.
    pub bank: Bank,
    /// Its slot; a `.b128` has the next one too.
    pub slot: Slot,
    /// Its declared type.
    pub ty: ScalarType,
}

/// A declared register, or the first of several, which gets a slot at its first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberedRegister {
    /// Its bank.
    pub bank: Bank,
    /// Its number in the function's declarations of that bank; a `.b128` has the next one too.
    pub number: u32,
    /// Its declared type.
    pub ty: ScalarType,
}

/// The value of an operand expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A register, `%r1` or `%v.x`.
    Register(RegisterRef),
    /// A register with a selector of bytes or halves (`%r1.b0`, `%r1.h32`), or negated; only video instructions accept it.
    Modified {
        /// The register.
        register: RegisterRef,
        /// `-` precedes it.
        negated: bool,
    },
    /// A whole vector register, component by component.
    Vector(Vec<RegisterRef>),
    /// A register plus a number, `%rd1+8`.
    RegisterOffset(RegisterRef, i64),
    /// A special register, `%tid.x`.
    Special(SpecialRef),
    /// A whole vector special register, `%tid`.
    SpecialVector([SpecialRef; 4]),
    /// An integer constant expression; `unsigned` if its type is `.u64`. Negative values are in two's complement.
    Int {
        /// Its bits.
        value: u64,
        /// True if it is of type `.u64`.
        unsigned: bool,
    },
    /// A floating-point constant expression, computed in 64 bits.
    Float(f64),
    /// `0f3F800000`
    Float32Bits(u32),
    /// `0d3FF0000000000000`
    Float64Bits(u64),
    /// A variable or parameter plus bytes.
    Symbol {
        /// Its location, offset included; for `ParamFunc`, and `Local` of a function, relative to the frame's base.
        location: Location,
        /// Element type.
        ty: ScalarType,
        /// The opaque type, if it is one: its value is a handle.
        opaque: Option<ImageKind>,
        /// True if it was declared with dimensions.
        is_array: bool,
    },
    /// A function or kernel.
    Function(FuncId),
    /// A label of this function.
    Label,
    /// `_`
    Sink,
}
