//! `x/NFU ADDRESS`: memory row by row, as gdb's `x` shows it, and instructions.

use super::in_flight;
use crate::base::file_name;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::little_endian;
use crate::debug::memory::{self, MemoryError};
use crate::debug::names::scope::{Named, look_up};
use crate::debug::names::symbols::{self, Symbol};
use crate::debug::value::{Format, Scalar, Type, Value, number};
use crate::isa::{ScalarType, Space, TypeKind};
use crate::program::{FuncId, Pc};

/// Bytes of memory on a row.
const ROW_BYTES: u64 = 16;

/// Most characters that are read of a string, as in gdb.
const STRING_MAX: u64 = 200;

/// Most units that are shown: more are refused.
const COUNT: u64 = 1 << 16;

/// The arguments of `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examine {
    /// Number of units.
    pub count: u64,
    /// The format of the units.
    pub shape: Shape,
    /// Size of a unit; if none, that of the address's type, or 32 bits.
    pub unit: Option<Unit>,
    /// True if the unit is that of an earlier `x`: the type of the address takes precedence over it.
    pub unit_is_inherited: bool,
}

/// The format of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// According to the type of the address.
    Typed,
    /// As numbers.
    Number(Format),
    /// `s`: as strings that end with a zero byte.
    String,
    /// `i`: as instructions.
    Instruction,
}

/// Size of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `b`: 1 byte.
    Byte,
    /// `h`: 2 bytes.
    Half,
    /// `w`: 4 bytes.
    Word,
    /// `g`: 8 bytes.
    Giant,
}

/// The examined memory or code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The rows.
    pub rows: Vec<ExamineRow>,
    /// The address at which the next `x` continues.
    pub next: Scalar,
    /// The error that ended the listing early.
    pub stopped: Option<MemoryError>,
    /// The copies in flight that will write it.
    pub in_flight: Option<String>,
    /// True if the address is not a valid generic address and is interpreted as one of the block's shared memory.
    pub is_shared: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExamineRow {
    /// The line of the source that the instruction was made of, where that is another than of the row above.
    pub source: Option<String>,
    /// The address, or the number of an instruction.
    pub address: u64,
    /// The symbol that contains the address.
    pub symbol: Option<Symbol>,
    /// The values.
    pub values: Vec<String>,
    /// True if this is the current instruction of the focused lane.
    pub current: bool,
}

/// The error of `x`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExamineError {
    /// An unknown letter.
    #[error("'{0}' is not a format letter: formats are x d u o t f a c z s i, sizes b h w g; or a type: f16 bf16 e4m3 u8 …")]
    Letter(char),
    /// A count below 0.
    #[error("units are shown from an address on, not before it: 'x/4xw ADDRESS - 16' shows the four words before")]
    Backwards,
    /// Too many units.
    #[error("{0} units are too many: at most {COUNT} are shown")]
    Count(u64),
    /// The value is no address.
    #[error("a value of type {0} is not an address")]
    NoAddress(String),
    /// There is no code there.
    #[error("there is no instruction {0}")]
    NoCode(u64),
    /// There is no memory there.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Examined {
    /// The address of the last unit that was shown.
    pub fn last(&self) -> Option<Scalar> {
        let row = self.rows.last()?;
        let bits = match self.next.ty {
            // Strings have a row each.
            Type::Pointer(_, ScalarType::B8) if row.values.len() == 1 => u128::from(row.address),
            Type::Pointer(_, ty) => self.next.bits.saturating_sub(u128::from(ty.bytes())),
            Type::Code | Type::SourcePointer(..) | Type::Function | Type::Scalar(_) => u128::from(row.address),
        };
        Some(Scalar { ty: self.next.ty, bits })
    }
}

impl Default for Examine {
    fn default() -> Self {
        Self { count: 1, shape: Shape::Typed, unit: None, unit_is_inherited: false }
    }
}

impl Examine {
    /// Parses the text after `x/`: a count, then letters in any order, which replace the settings of `self`, or a type.
    ///
    /// # Errors
    /// An unknown letter, or a count that is too large.
    pub fn with(self, letters: &str) -> Result<Self, ExamineError> {
        let digits = letters.len() - letters.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, letters) = letters.split_at(digits);
        let count = if count.is_empty() { 1 } else { count.parse().unwrap_or(u64::MAX) };
        if count > COUNT {
            return Err(ExamineError::Count(count));
        }
        let mut examine = Self { count, unit_is_inherited: true, ..self };
        if let Some(typed @ Format::Typed(_)) = Format::from_name(letters) {
            return Ok(Self { shape: Shape::Number(typed), unit: None, ..examine });
        }
        for letter in letters.chars() {
            if let Some((_, unit)) = UNITS.iter().find(|row| row.0 == letter) {
                (examine.unit, examine.unit_is_inherited) = (Some(*unit), false);
                continue;
            }
            match letter {
                's' => examine.shape = Shape::String,
                'i' => examine.shape = Shape::Instruction,
                '-' => return Err(ExamineError::Backwards),
                letter => examine.shape = Shape::Number(Format::from_letter(letter).ok_or(ExamineError::Letter(letter))?),
            }
        }
        // As in gdb, characters are bytes if no unit is named.
        if letters.contains('c') && examine.unit_is_inherited {
            (examine.unit, examine.unit_is_inherited) = (Some(Unit::Byte), false);
        }
        Ok(examine)
    }
}

/// The letters of units.
const UNITS: [(char, Unit); 4] = [('b', Unit::Byte), ('h', Unit::Half), ('w', Unit::Word), ('g', Unit::Giant)];

impl Unit {
    fn bytes(self) -> u64 {
        match self {
            Unit::Byte => 1,
            Unit::Half => 2,
            Unit::Word => 4,
            Unit::Giant => 8,
        }
    }
}

/// Shows memory or code from `start` on.
///
/// # Errors
/// Nothing can be shown; if the listing ends early, [`Examined::stopped`] has the error.
pub fn examine(context: &EvalContext<'_>, examine: &Examine, start: &Value) -> Result<Examined, ExamineError> {
    if let Some(pc) = code_address(context, examine.shape, start) {
        return instructions(context, examine.count, pc);
    }
    let (mut space, address, ty) = data_address(context, start).ok_or_else(|| ExamineError::NoAddress(start.type_name(context)))?;
    let is_shared = is_only_shared(context, start, address);
    if is_shared {
        space = Space::Shared;
    }
    let ty = ty.or_else(|| if examine.unit.is_none() { type_at(context, space, address) } else { None });
    let examined = match examine.shape {
        Shape::Instruction => Err(ExamineError::NoCode(address)),
        Shape::String => strings(context, examine.count, (space, address)),
        Shape::Typed | Shape::Number(_) => numbers(context, examine, (space, address), ty),
    }?;
    Ok(Examined { is_shared, ..examined })
}

/// The element type of the variable or buffer with an element at an address; none for one that is declared as bytes.
fn type_at(context: &EvalContext<'_>, space: Space, address: u64) -> Option<ScalarType> {
    let Symbol { name, offset, .. } = symbols::symbol(context, space, address)?;
    let Some(Named::Memory(place)) = look_up(context, context.frame().ok().as_ref(), &name) else { return None };
    let is_element = place.ty != ScalarType::B8 && offset.is_multiple_of(u64::from(place.ty.bytes().max(1)));
    is_element.then_some(place.ty)
}

/// True if an untyped value of at most 32 bits, the usual type of shared addresses, is a valid address of the block's shared memory but
/// not a valid generic address.
fn is_only_shared(context: &EvalContext<'_>, start: &Value, address: u64) -> bool {
    let Value::Scalar(Scalar { ty: Type::Scalar(ty), .. }) = start else { return false };
    let is_in = |space| memory::locate(context, space, address, 1).is_ok();
    ty.bits() <= 32 && !is_in(Space::Generic) && is_in(Space::Shared)
}

/// The instruction that a value names: `$pc`, a label, or a function's address.
/// The number of the instruction from which code is shown; none if memory is. With `i` a number can be the address of a function, too.
fn code_address(context: &EvalContext<'_>, shape: Shape, start: &Value) -> Option<u64> {
    let Value::Scalar(Scalar { ty, bits }) = *start else { return None };
    match (ty, shape) {
        (_, Shape::String | Shape::Number(_)) => None,
        (Type::Code, _) => Some(bits as u64),
        (Type::Function, _) | (Type::Scalar(_), Shape::Instruction) => {
            let FuncId(function) = symbols::function_at(context.program(), bits as u64)?;
            Some(u64::from(context.program().functions[function as usize].code.start))
        }
        (Type::Scalar(_) | Type::Pointer(..) | Type::SourcePointer(..), Shape::Instruction | Shape::Typed) => None,
    }
}

fn data_address(context: &EvalContext<'_>, start: &Value) -> Option<(Space, u64, Option<ScalarType>)> {
    match start {
        Value::Array(array) => Some((array.space, array.address, Some(array.ty))),
        Value::Scalar(Scalar { ty: Type::Pointer(space, ty), bits }) => Some((*space, *bits as u64, Some(*ty))),
        Value::Scalar(Scalar { ty: Type::SourcePointer(space, ..), bits }) => Some((*space, *bits as u64, None)),
        Value::Source(source) => match source.scalar(context).map(|scalar| (source.pointed_space(context), scalar.bits)) {
            Some((Some(space), bits)) => Some((space, bits as u64, None)),
            Some((None, _)) | None => source.place.map(|(space, address)| (space, address, None)),
        },
        Value::Scalar(Scalar { ty: Type::Scalar(ty), bits }) => {
            number::to_integer(*ty, 0)?;
            Some((Space::Generic, *bits as u64, None))
        }
        Value::Scalar(_) | Value::Lanes(_) | Value::Tensor(_) => None,
    }
}

fn numbers(
    context: &EvalContext<'_>,
    examine: &Examine,
    (space, start): (Space, u64),
    ty: Option<ScalarType>,
) -> Result<Examined, ExamineError> {
    let (element, format) = element_type(examine, ty);
    let size = u64::from(element.bytes());
    let per_row = (ROW_BYTES / size).clamp(1, 8);
    let mut examined =
        Examined { rows: Vec::new(), next: pointer(space, element, start), stopped: None, in_flight: None, is_shared: false };
    for index in 0..examine.count {
        let address = start.wrapping_add(index.wrapping_mul(size));
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..(size as usize).min(16)];
        if let Err(error) = memory::read(context, space, address, bytes) {
            if index == 0 {
                return Err(error.into());
            }
            examined.stopped = Some(error);
            break;
        }
        let text = Scalar::new(Type::Scalar(element), little_endian(bytes)).text(context, format);
        if index % per_row == 0 {
            let symbol = symbols::symbol(context, space, address);
            examined.rows.push(ExamineRow { address, symbol, values: Vec::new(), current: false, source: None });
        }
        if let Some(row) = examined.rows.last_mut() {
            row.values.push(text);
        }
        examined.next = pointer(space, element, address.wrapping_add(size));
    }
    examined.in_flight = in_flight(context, space, start, (examined.next.bits as u64).wrapping_sub(start));
    Ok(examined)
}

/// The type of a unit and the format that shows it.
fn element_type(examine: &Examine, ty: Option<ScalarType>) -> (ScalarType, Option<Format>) {
    // There are no floating-point numbers of one byte: an array that is declared as bytes is shown as f32 then.
    let as_float = examine.shape == Shape::Number(Format::Float);
    let type_bytes = ty.filter(|ty| !(as_float && *ty == ScalarType::B8)).map_or(4, |ty| u64::from(ty.bytes()));
    if let Shape::Number(typed @ Format::Typed(ty)) = examine.shape {
        // A byte holds two numbers of four bits.
        return if ty.bits() < 8 { (ScalarType::B8, Some(typed)) } else { (ty, None) };
    }
    let unit = examine.unit.filter(|_| !(examine.unit_is_inherited && ty.is_some()));
    let bytes = unit.map_or(type_bytes, Unit::bytes);
    let untyped = match bytes {
        1 => ScalarType::B8,
        2 => ScalarType::B16,
        8 => ScalarType::B64,
        16 => ScalarType::B128,
        _ => ScalarType::B32,
    };
    let same_size = ty.filter(|ty| u64::from(ty.bytes()) == bytes);
    match examine.shape {
        Shape::Number(Format::Float) => (same_size.filter(|ty| ty.kind() == TypeKind::Float).unwrap_or(untyped), Some(Format::Float)),
        Shape::Number(Format::Address) => (ScalarType::B64, Some(Format::Address)),
        Shape::Number(format) => (same_size.unwrap_or(untyped), Some(format)),
        _ => match same_size {
            Some(ty) => (ty, None),
            None => (untyped, Some(Format::ZeroHex)),
        },
    }
}

fn pointer(space: Space, ty: ScalarType, address: u64) -> Scalar {
    Scalar { ty: Type::Pointer(space, ty), bits: u128::from(address) }
}

fn strings(context: &EvalContext<'_>, count: u64, (space, start): (Space, u64)) -> Result<Examined, ExamineError> {
    let mut examined =
        Examined { rows: Vec::new(), next: pointer(space, ScalarType::B8, start), stopped: None, in_flight: None, is_shared: false };
    let mut address = start;
    for index in 0..count {
        let first = address;
        let mut text = String::from("\"");
        let end = loop {
            let mut byte = [0];
            if let Err(error) = memory::read(context, space, address, &mut byte) {
                if index == 0 && address == first {
                    return Err(error.into());
                }
                examined.stopped = Some(error);
                break "\"";
            }
            address += 1;
            match byte[0] {
                0 => break "\"",
                b'"' => text += "\\\"",
                other => text += crate::debug::value::format::character(u128::from(other)).trim_matches('\''),
            }
            if address - first >= STRING_MAX {
                break "\"…";
            }
        };
        if address > first {
            let symbol = symbols::symbol(context, space, first);
            examined.rows.push(ExamineRow { address: first, symbol, values: vec![text + end], current: false, source: None });
        }
        examined.next = pointer(space, ScalarType::B8, address);
        if examined.stopped.is_some() {
            break;
        }
    }
    Ok(examined)
}

/// Adds the lines of the source to rows of instructions.
pub fn add_source(context: &EvalContext<'_>, examined: &mut Examined) {
    let program = context.program();
    let mut above = None;
    for row in &mut examined.rows {
        let place = u32::try_from(row.address).ok().and_then(|pc| program.source_line(Pc(pc)));
        let line = place.map(|place| (place.file, place.line));
        // Line 0 is what compilers give to code of no line.
        if let Some(place) = place.filter(|place| line != above && place.line > 0) {
            let name = program.source_files.iter().find(|(number, _)| *number == place.file).map_or("?", |(_, name)| name.as_str());
            let name = file_name(name);
            let text = context.source_texts.and_then(|texts| texts.line(program, place)).unwrap_or_default();
            row.source = Some(format!("{name}:{}  {}", place.line, text.trim_start()).trim_end().to_string());
        }
        above = line;
    }
}

fn instructions(context: &EvalContext<'_>, count: u64, start: u64) -> Result<Examined, ExamineError> {
    let program = context.program();
    let code = program.code.len() as u64;
    if start >= code {
        return Err(ExamineError::NoCode(start));
    }
    let here = context.frame().ok().map(|frame| frame.position());
    let end = start.saturating_add(count).min(code);
    let row = |number: u64| {
        let pc = Pc(number as u32);
        let values = vec![super::statement(program, pc)];
        ExamineRow { address: number, symbol: symbols::code_symbol(program, pc), values, current: Some(pc) == here, source: None }
    };
    Ok(Examined {
        rows: (start..end).map(row).collect(),
        next: Scalar { ty: Type::Code, bits: u128::from(end) },
        stopped: None,
        in_flight: None,
        is_shared: false,
    })
}
