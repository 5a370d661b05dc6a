//! Locations of variables: DWARF expressions, decoded and evaluated ("2.5 DWARF Expressions" of the standard).
//!
//! PTX has no numbers for its registers, so `DW_OP_regx` has the ASCII characters of the name as one number, the first as the highest byte
//! (PTX interoperability, "Debug information"): `0x256631` is `%f1`. Some compilers write the bytes the other way round.

use std::sync::Arc;

use gimli::{EndianSlice, LittleEndian, Reader};

use super::address::{Addresses, Symbol};

/// Most operations of one location.
const OPERATIONS_MAX: usize = 256;
/// Most values on the stack.
const STACK_MAX: usize = 64;

/// Where a variable is: a sequence of operations on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location(pub Vec<Operation>);

/// An operation of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the operands of the standard")]
pub enum Operation {
    /// A number.
    Constant(u64),
    /// The address of a symbol, with an offset.
    Address {
        symbol: Symbol,
        offset: u64,
    },
    /// The location is a register.
    Register(Arc<str>),
    /// The value of a register, and a number added.
    RegisterValue {
        name: Arc<str>,
        offset: i64,
    },
    /// The address of the frame, and a number added.
    FrameBase(i64),
    /// The start of the function's frame in local memory.
    CallFrame,
    /// Two values become one.
    Binary(gimli::DwOp),
    /// One value becomes one.
    Unary(gimli::DwOp),
    /// Adds a number.
    Add(u64),
    /// The value at `index` from the top, once more.
    Pick(u8),
    Drop,
    Swap,
    /// Bytes from memory.
    Load {
        bytes: u8,
    },
    /// The top of the stack is the value of the variable, not its address.
    IsValue,
    /// The bytes of the value.
    Implicit(Arc<[u8]>),
    /// What stands before is the next `bytes` bytes of the variable.
    Piece {
        bytes: u64,
    },
    /// An operation that is not evaluated.
    Unsupported(gimli::DwOp),
    /// The bytes end in the middle of an operation.
    Truncated,
}

/// A value on the stack: a number, or an address that is known by its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What the offset counts from.
    pub base: Base,
    /// The number, or the offset.
    pub offset: u64,
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// From 0.
    Zero,
    /// From a variable or parameter of the module.
    Symbol(Symbol),
    /// From the frame of the function in local memory.
    Frame,
}

/// The place of a variable, or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A register.
    Register(Arc<str>),
    /// Memory.
    Memory(Cell),
    /// No place, but a value.
    Value(u64),
    /// No place, but the bytes of a value.
    Bytes(Arc<[u8]>),
    /// Parts, each with its number of bytes; a part without a place has no value.
    Pieces(Vec<(Option<Storage>, u64)>),
}

/// Why a location has no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// The data says that the variable has no value here.
    #[error("the compiler has removed it here")]
    Removed,
    /// An operation is not known.
    #[error("its location has {0}, which is not evaluated")]
    Unsupported(String),
    /// The operations contradict each other.
    #[error("its location in the debug data makes no sense")]
    Malformed,
    /// A register or memory cannot be read.
    #[error("{0}")]
    NotReadable(String),
}

/// What evaluation asks of the thread.
pub trait Resolver {
    /// The value of register `name`.
    ///
    /// # Errors
    /// In words, why it has none.
    fn register(&self, name: &str) -> Result<Cell, String>;
    /// `bytes` bytes of memory at an address, at most 8.
    ///
    /// # Errors
    /// In words, why it cannot be read.
    fn load(&self, address: Cell, bytes: u8) -> Result<u64, String>;
    /// Where the frame of the function is.
    ///
    /// # Errors
    /// In words, why it is not known.
    fn frame_base(&self) -> Result<Cell, String>;
}

/// No thread: nothing can be read.
struct NoThread;

impl Resolver for NoThread {
    fn register(&self, _: &str) -> Result<Cell, String> {
        Err(String::new())
    }

    fn load(&self, _: Cell, _: u8) -> Result<u64, String> {
        Err(String::new())
    }

    fn frame_base(&self) -> Result<Cell, String> {
        Err(String::new())
    }
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

impl Location {
    /// Decodes an expression.
    pub(super) fn decode(mut bytes: Bytes<'_>, encoding: gimli::Encoding, addresses: &Addresses<'_>) -> Self {
        let mut operations = Vec::new();
        while !bytes.is_empty() && operations.len() < OPERATIONS_MAX {
            match operation(&mut bytes, encoding, addresses) {
                Ok(Some(operation)) => operations.push(operation),
                Ok(None) => {}
                Err(_) => {
                    operations.push(Operation::Truncated);
                    break;
                }
            }
        }
        if !bytes.is_empty() {
            operations.push(Operation::Truncated);
        }
        // Before version 4 there is no `DW_OP_stack_value`: a number without any address is the value itself.
        let is_number = |operation: &Operation| matches!(operation, Operation::Constant(_));
        if encoding.version < 4 && !operations.is_empty() && operations.iter().all(is_number) {
            operations.push(Operation::IsValue);
        }
        Self(operations)
    }

    /// The location of a variable whose value is known.
    pub(super) fn constant(bytes: &[u8]) -> Self {
        Self(vec![Operation::Implicit(bytes.into())])
    }

    /// The place, if it depends on no thread.
    pub fn constant_place(&self) -> Option<Storage> {
        self.evaluate(&NoThread).ok()
    }

    /// The registers that it names.
    pub fn registers(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|operation| match operation {
            Operation::Register(name) | Operation::RegisterValue { name, .. } => Some(&**name),
            Operation::Constant(_)
            | Operation::Address { .. }
            | Operation::FrameBase(_)
            | Operation::CallFrame
            | Operation::Binary(_)
            | Operation::Unary(_)
            | Operation::Add(_)
            | Operation::Pick(_)
            | Operation::Drop
            | Operation::Swap
            | Operation::Load { .. }
            | Operation::IsValue
            | Operation::Implicit(_)
            | Operation::Piece { .. }
            | Operation::Unsupported(_)
            | Operation::Truncated => None,
        })
    }

    /// The place that it means for a thread.
    ///
    /// # Errors
    /// The variable has none, or it is not known.
    pub fn evaluate(&self, thread: &dyn Resolver) -> Result<Storage, LocationError> {
        let mut evaluation = Evaluation { stack: Vec::new(), whole: None, pieces: Vec::new(), is_value: false };
        for operation in &self.0 {
            evaluation.execute(operation, thread)?;
        }
        if !evaluation.pieces.is_empty() {
            return Ok(Storage::Pieces(evaluation.pieces));
        }
        evaluation.take().ok_or(LocationError::Removed)
    }
}

fn operation(bytes: &mut Bytes<'_>, encoding: gimli::Encoding, addresses: &Addresses<'_>) -> gimli::Result<Option<Operation>> {
    use gimli::constants as op;
    let code = gimli::DwOp(bytes.read_u8()?);
    let number = u64::from(code.0);
    Ok(Some(match code {
        op::DW_OP_nop => return Ok(None),
        op::DW_OP_addr => address(bytes.read_address(encoding.address_size)?, addresses),
        op::DW_OP_const1u => Operation::Constant(u64::from(bytes.read_u8()?)),
        op::DW_OP_const1s => signed(i64::from(bytes.read_i8()?)),
        op::DW_OP_const2u => Operation::Constant(u64::from(bytes.read_u16()?)),
        op::DW_OP_const2s => signed(i64::from(bytes.read_i16()?)),
        op::DW_OP_const4u => Operation::Constant(u64::from(bytes.read_u32()?)),
        op::DW_OP_const4s => signed(i64::from(bytes.read_i32()?)),
        op::DW_OP_const8u | op::DW_OP_const8s => address(bytes.read_u64()?, addresses),
        op::DW_OP_constu => Operation::Constant(bytes.read_uleb128()?),
        op::DW_OP_consts => signed(bytes.read_sleb128()?),
        gimli::DwOp(0x30..=0x4f) => Operation::Constant(number - 0x30),
        gimli::DwOp(0x50..=0x6f) => Operation::Register(register_name(number - 0x50)),
        op::DW_OP_regx => Operation::Register(register_name(bytes.read_uleb128()?)),
        gimli::DwOp(0x70..=0x8f) => Operation::RegisterValue { name: register_name(number - 0x70), offset: bytes.read_sleb128()? },
        op::DW_OP_bregx => Operation::RegisterValue { name: register_name(bytes.read_uleb128()?), offset: bytes.read_sleb128()? },
        op::DW_OP_fbreg => Operation::FrameBase(bytes.read_sleb128()?),
        op::DW_OP_call_frame_cfa => Operation::CallFrame,
        op::DW_OP_plus_uconst => Operation::Add(bytes.read_uleb128()?),
        op::DW_OP_dup => Operation::Pick(0),
        op::DW_OP_over => Operation::Pick(1),
        op::DW_OP_pick => Operation::Pick(bytes.read_u8()?),
        op::DW_OP_drop => Operation::Drop,
        op::DW_OP_swap => Operation::Swap,
        op::DW_OP_deref => Operation::Load { bytes: encoding.address_size },
        op::DW_OP_deref_size => Operation::Load { bytes: bytes.read_u8()? },
        op::DW_OP_neg | op::DW_OP_not | op::DW_OP_abs => Operation::Unary(code),
        gimli::DwOp(0x1a..=0x1e | 0x21..=0x22 | 0x24..=0x27 | 0x29..=0x2e) => Operation::Binary(code),
        op::DW_OP_stack_value => Operation::IsValue,
        op::DW_OP_implicit_value => {
            let length = usize::try_from(bytes.read_uleb128()?).map_err(|_| gimli::Error::UnsupportedOffset)?;
            Operation::Implicit(bytes.split(length)?.slice().into())
        }
        op::DW_OP_piece => Operation::Piece { bytes: bytes.read_uleb128()? },
        _ => Operation::Unsupported(code),
    }))
}

fn signed(value: i64) -> Operation {
    Operation::Constant(value.cast_unsigned())
}

fn address(value: u64, addresses: &Addresses<'_>) -> Operation {
    match addresses.symbol(value) {
        Some((symbol, offset)) => Operation::Address { symbol, offset },
        None => Operation::Constant(value),
    }
}

/// The name that a register's number is: its characters, first or last highest.
fn register_name(number: u64) -> Arc<str> {
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'%' | b'_' | b'$');
    let mut characters: Vec<u8> = number.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    if characters.first() != Some(&b'%') && characters.last() == Some(&b'%') {
        characters.reverse();
    }
    if characters.is_empty() || !characters.iter().all(is_name) {
        return format!("register {number}").into();
    }
    characters.into_iter().map(char::from).collect::<String>().into()
}

/// A location being evaluated.
struct Evaluation {
    stack: Vec<Cell>,
    /// A register or bytes, which are no values on the stack.
    whole: Option<Storage>,
    pieces: Vec<(Option<Storage>, u64)>,
    is_value: bool,
}

impl Evaluation {
    fn execute(&mut self, operation: &Operation, thread: &dyn Resolver) -> Result<(), LocationError> {
        let not_readable = LocationError::NotReadable;
        match operation {
            Operation::Constant(number) => self.push(Cell { base: Base::Zero, offset: *number })?,
            Operation::Address { symbol, offset } => self.push(Cell { base: Base::Symbol(*symbol), offset: *offset })?,
            Operation::Register(name) => self.whole = Some(Storage::Register(Arc::clone(name))),
            Operation::RegisterValue { name, offset } => {
                let value = thread.register(name).map_err(not_readable)?;
                self.push(value.moved(offset.cast_unsigned()))?;
            }
            Operation::FrameBase(offset) => {
                let base = thread.frame_base().map_err(not_readable)?;
                self.push(base.moved(offset.cast_unsigned()))?;
            }
            Operation::CallFrame => self.push(Cell { base: Base::Frame, offset: 0 })?,
            Operation::Add(number) => {
                let value = self.pop()?;
                self.push(value.moved(*number))?;
            }
            Operation::Binary(code) => {
                let (b, a) = (self.pop()?, self.pop()?);
                let result = binary(*code, a, b).ok_or(LocationError::Malformed)?;
                self.push(result)?;
            }
            Operation::Unary(code) => {
                let value = self.number()?;
                let result = match *code {
                    gimli::constants::DW_OP_neg => value.wrapping_neg(),
                    gimli::constants::DW_OP_abs => value.cast_signed().unsigned_abs(),
                    _ => !value,
                };
                self.push(Cell { base: Base::Zero, offset: result })?;
            }
            Operation::Pick(index) => {
                let from_top = self.stack.len().checked_sub(1 + usize::from(*index)).ok_or(LocationError::Malformed)?;
                self.push(self.stack[from_top])?;
            }
            Operation::Drop => _ = self.pop()?,
            Operation::Swap => {
                let (b, a) = (self.pop()?, self.pop()?);
                self.push(b)?;
                self.push(a)?;
            }
            Operation::Load { bytes } => {
                let address = self.pop()?;
                let offset = thread.load(address, (*bytes).min(8)).map_err(not_readable)?;
                self.push(Cell { base: Base::Zero, offset })?;
            }
            Operation::IsValue => self.is_value = true,
            Operation::Implicit(bytes) => self.whole = Some(Storage::Bytes(Arc::clone(bytes))),
            Operation::Piece { bytes } => {
                let place = self.take();
                self.pieces.push((place, *bytes));
            }
            Operation::Unsupported(code) => return Err(LocationError::Unsupported(code.to_string())),
            Operation::Truncated => return Err(LocationError::Malformed),
        }
        Ok(())
    }

    /// The place that stands before, which the next piece follows.
    fn take(&mut self) -> Option<Storage> {
        let is_value = std::mem::take(&mut self.is_value);
        let top = self.stack.pop();
        self.stack.clear();
        self.whole.take().or_else(|| match top? {
            Cell { base: Base::Zero, offset } if is_value => Some(Storage::Value(offset)),
            cell => Some(Storage::Memory(cell)),
        })
    }

    fn push(&mut self, cell: Cell) -> Result<(), LocationError> {
        self.stack.push(cell);
        if self.stack.len() <= STACK_MAX { Ok(()) } else { Err(LocationError::Malformed) }
    }

    fn pop(&mut self) -> Result<Cell, LocationError> {
        self.stack.pop().ok_or(LocationError::Malformed)
    }

    /// A number from the top.
    fn number(&mut self) -> Result<u64, LocationError> {
        match self.pop()? {
            Cell { base: Base::Zero, offset } => Ok(offset),
            Cell { base: Base::Symbol(_) | Base::Frame, .. } => Err(LocationError::Malformed),
        }
    }
}

impl Cell {
    /// The address `offset` bytes further on.
    #[must_use]
    pub fn moved(self, offset: u64) -> Self {
        Self { offset: self.offset.wrapping_add(offset), ..self }
    }
}

/// `a code b`; none if addresses of different symbols are combined, or by zero is divided.
fn binary(code: gimli::DwOp, a: Cell, b: Cell) -> Option<Cell> {
    use gimli::constants as op;
    let number = |offset| Some(Cell { base: Base::Zero, offset });
    match (code, a.base, b.base) {
        (op::DW_OP_plus, _, Base::Zero) => return Some(a.moved(b.offset)),
        (op::DW_OP_plus, Base::Zero, _) => return Some(b.moved(a.offset)),
        (op::DW_OP_minus, _, Base::Zero) => return Some(a.moved(b.offset.wrapping_neg())),
        (op::DW_OP_minus, from, to) if from == to => return number(a.offset.wrapping_sub(b.offset)),
        (_, Base::Zero, Base::Zero) => {}
        _ => return None,
    }
    let (a, b) = (a.offset, b.offset);
    let (left, right) = (a.cast_signed(), b.cast_signed());
    let shift = u32::try_from(b).ok().filter(|count| *count < 64);
    let truth = |is_true: bool| number(u64::from(is_true));
    match code {
        op::DW_OP_and => number(a & b),
        op::DW_OP_or => number(a | b),
        op::DW_OP_xor => number(a ^ b),
        op::DW_OP_mul => number(a.wrapping_mul(b)),
        op::DW_OP_div => number(left.checked_div(right)?.cast_unsigned()),
        op::DW_OP_mod => number(a.checked_rem(b)?),
        op::DW_OP_shl => number(shift.map_or(0, |count| a << count)),
        op::DW_OP_shr => number(shift.map_or(0, |count| a >> count)),
        op::DW_OP_shra => number((left >> shift.unwrap_or(63)).cast_unsigned()),
        op::DW_OP_eq => truth(left == right),
        op::DW_OP_ne => truth(left != right),
        op::DW_OP_lt => truth(left < right),
        op::DW_OP_le => truth(left <= right),
        op::DW_OP_gt => truth(left > right),
        op::DW_OP_ge => truth(left >= right),
        _ => None,
    }
}
