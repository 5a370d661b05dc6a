//! Objects of the source: where a variable, a member or an element is for a thread, and its bytes.

use super::SourceVariable;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::file_line::source_line;
use crate::debug::memory::{self, MemoryError};
use crate::debug::names::scope::{self, Named, RegisterLocation, register_bits};
use crate::debug::target::BitField;
use crate::debug::value::number::little_endian;
use crate::dwarf::{Base, Cell, DebugInfo, Location, LocationError, Resolver, ScopeKind, Storage, Symbol, Type, TypeId};
use crate::isa::Space;
use crate::program::{Function, Op, ParamStorage, Pc, Program, operands};

/// Most bytes of an object that is in parts, and most bytes of an object that are read.
const PARTS_MAX: usize = 64;
/// Most bytes of an object that are read.
const BYTES_MAX: u64 = 1 << 16;

/// An object: a type and a place.
#[derive(Clone, Copy, Debug)]
pub struct SourceObject<'a> {
    /// The debug data.
    pub info: &'a DebugInfo,
    /// Its type; none for `void`.
    pub ty: Option<TypeId>,
    /// Its place.
    pub place: ObjectPlace<'a>,
    /// Of a bit field: its lowest bit and its number of bits.
    pub bits: Option<(u32, u32)>,
}

/// The place of an object.
#[derive(Clone, Copy, Debug)]
pub enum ObjectPlace<'a> {
    /// A register.
    Register(RegisterLocation),
    /// Memory.
    Memory(Space, u64),
    /// None: the value is known all the same.
    Value(Parts),
    /// None: the bytes are those of a value that was kept.
    Kept(&'a [u8]),
}

/// The bytes of a value without a place.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    bytes: [u8; PARTS_MAX],
    /// Bit by bit, the bytes that are known.
    known: u64,
}

/// Why a variable has no value here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// The compiler kept nothing of it.
    #[error("'{0}' has no place: the compiler has removed it")]
    Removed(String),
    /// No range of its locations holds the instruction.
    #[error("'{name}' has no value here: it has one {}in {ranges} of the module", from_on(from.as_deref()))]
    OutOfRange {
        /// Its name.
        name: String,
        /// The line of the source from which on it has one, if that is still to come.
        from: Option<String>,
        /// The lines of PTX in which it has one.
        ranges: String,
    },
    /// The register that holds it has not been written.
    #[error("'{name}' has no value yet: {register}, which holds it, has not been written{}", writes_it(by.as_deref()))]
    NotAssigned {
        /// Its name.
        name: String,
        /// The register.
        register: String,
        /// The line of the source with the first instruction that writes it.
        by: Option<String>,
    },
    /// It belongs to another part of the function.
    #[error("'{name}' is not in scope here: it is {place}")]
    OutOfScope {
        /// Its name.
        name: String,
        /// Where it is in scope.
        place: String,
    },
    /// The location cannot be evaluated.
    #[error("'{name}': {error}")]
    Location {
        /// Its name.
        name: String,
        /// The reason.
        error: LocationError,
    },
    /// Memory cannot be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Another reason.
    #[error("{0}")]
    Other(String),
}

impl ObjectError {
    /// True if the variable has no value at the instruction of a lane: other lanes may have one.
    pub fn is_without_value(&self) -> bool {
        match self {
            ObjectError::NotAssigned { .. } | ObjectError::OutOfRange { .. } | ObjectError::OutOfScope { .. } => true,
            ObjectError::Removed(_) | ObjectError::Location { .. } | ObjectError::Memory(_) | ObjectError::Other(_) => false,
        }
    }
}

/// `from k.cu:12 on, `
fn from_on(line: Option<&str>) -> String {
    line.map_or(String::new(), |line| format!("from {line} on, "))
}

/// `; k.cu:12 writes it`
fn writes_it(line: Option<&str>) -> String {
    line.map_or(String::new(), |line| format!("; {line} writes it"))
}

impl<'a> SourceVariable<'a> {
    /// The object that the variable is for the thread of `frame`.
    ///
    /// # Errors
    /// It has no place at the instruction of the frame.
    pub fn object(&self, context: &EvalContext<'a>, frame: Option<&Frame<'a>>) -> Result<SourceObject<'a>, ObjectError> {
        let name = || self.variable.name.to_string();
        let location = match frame {
            Some(frame) => self.variable.location_at(frame.position()),
            None => self.variable.locations.first().map(|entry| &entry.location),
        };
        if location.is_none()
            && let Some(place) = self.parameter_as_passed(context, frame)
        {
            return Ok(SourceObject { info: self.info, ty: self.variable.ty, place, bits: None });
        }
        let Some(location) = location else {
            return Err(match self.variable.locations.as_slice() {
                [] => ObjectError::Removed(name()),
                entries => {
                    let first = entries.iter().filter_map(|entry| entry.code.as_ref().map(|code| code.start)).min();
                    let ahead = first.filter(|first| frame.is_some_and(|frame| frame.position().0 < *first));
                    let from = ahead.and_then(|first| source_line(context.program(), Pc(first)));
                    ObjectError::OutOfRange { name: name(), from, ranges: self.ranges(context.program()) }
                }
            });
        };
        let thread = Thread { context, frame, variable: self };
        let place = location.evaluate(&thread).map_err(|error| ObjectError::Location { name: name(), error })?;
        let place = thread.place(&place).map_err(|message| ObjectError::Other(format!("'{}': {message}", name())))?;
        let place = match place {
            ObjectPlace::Register(register) => self.parameter_before_its_load(context, frame, &register).unwrap_or(place),
            ObjectPlace::Memory(..) => self.parameter_before_its_store(context, frame).unwrap_or(place),
            ObjectPlace::Value(_) | ObjectPlace::Kept(_) => place,
        };
        Ok(SourceObject { info: self.info, ty: self.variable.ty, place, bits: None })
    }
}

impl<'a> SourceVariable<'a> {
    /// The parameter of the module that the register of a parameter is loaded from, for a thread that has not come to that load yet: the
    /// debug data has the register from the first instruction of the function on.
    fn parameter_before_its_load(
        &self,
        context: &EvalContext<'a>,
        frame: Option<&Frame<'a>>,
        register: &RegisterLocation,
    ) -> Option<ObjectPlace<'a>> {
        let frame = frame.filter(|_| self.variable.is_parameter)?;
        let function = context.function(frame);
        let load = first_write(context.program(), function, register)?;
        let is_control = |pc: u32| context.program().code.get(pc as usize).is_some_and(|inst| matches!(inst.op, Op::Control(_)));
        // A write after a branch may not be the load.
        if (function.code.start..load.0).any(is_control) {
            return None;
        }
        if frame.position() > load { None } else { self.parameter_of_module(function, frame) }
    }

    /// The address that a pointer has now; none if it has no value here.
    pub(super) fn pointer(&self, context: &EvalContext<'a>, frame: &Frame<'a>) -> Option<u64> {
        let object = self.object(context, Some(frame)).ok()?;
        let is_written = match &object.place {
            ObjectPlace::Register(register) => scope::is_written(frame, register),
            ObjectPlace::Memory(..) | ObjectPlace::Value(_) | ObjectPlace::Kept(_) => true,
        };
        if is_written { object.read_integer(context, Some(frame), 8).ok() } else { None }
    }

    /// The address that a pointer has in all of its function, as it is passed: the compiler keeps it in one register, which is written
    /// once, or has removed it.
    pub(super) fn pointer_as_passed(&self, context: &EvalContext<'a>, frame: &Frame<'a>) -> Option<u64> {
        let function = context.function(frame);
        let is_of_function = self.scope.is_some_and(|id| matches!(self.info.scopes[id].kind, ScopeKind::Function { .. }));
        let locations = &self.variable.locations;
        let is_one = locations.iter().all(|entry| entry.location == locations[0].location);
        let is_written_once = match locations.first().map(|entry| entry.location.constant_place()) {
            None => true,
            Some(Some(Storage::Register(name))) => scope::register(function, frame.pc, &name)
                .is_some_and(|register| writes(context.program(), function, &register).count() <= 1),
            Some(Some(Storage::Memory(Cell { base: Base::Symbol(Symbol::Param(..)), .. }))) => true,
            Some(Some(Storage::Memory(_) | Storage::Value(_) | Storage::Bytes(_) | Storage::Pieces(_)) | None) => false,
        };
        if !(is_of_function && is_one && is_written_once) {
            return None;
        }
        let place = self.parameter_of_module(function, frame)?;
        let object = SourceObject { info: self.info, ty: self.variable.ty, place, bits: None };
        object.read_integer(context, Some(frame), 8).ok()
    }

    /// The parameter of the module that the first instructions of a function, those of its first line, store where the debug data has it,
    /// for a thread that has not come to the next line yet.
    fn parameter_before_its_store(&self, context: &EvalContext<'a>, frame: Option<&Frame<'a>>) -> Option<ObjectPlace<'a>> {
        let frame = frame.filter(|_| self.variable.is_parameter)?;
        let (function, program) = (context.function(frame), context.program());
        let line = |pc: u32| program.source_line(Pc(pc));
        let first = line(function.code.start)?;
        let is_control = |pc: u32| program.code.get(pc as usize).is_some_and(|inst| matches!(inst.op, Op::Control(_)));
        let is_before = (function.code.start..=frame.position().0).all(|pc| line(pc) == Some(first) && !is_control(pc));
        if is_before { self.parameter_of_module(function, frame) } else { None }
    }

    /// The parameter of the module that a parameter is, where that still has its value: before the first instruction at which the compiler
    /// has put it elsewhere, and in all of a kernel if it has removed it.
    fn parameter_as_passed(&self, context: &EvalContext<'a>, frame: Option<&Frame<'a>>) -> Option<ObjectPlace<'a>> {
        let frame = frame.filter(|_| self.variable.is_parameter)?;
        let is_as_passed = match self.variable.locations.iter().map(|entry| entry.code.as_ref().map_or(0, |code| code.start)).min() {
            Some(first) => frame.position().0 < first,
            None => frame.function == context.machine.config().kernel,
        };
        if is_as_passed { self.parameter_of_module(context.function(frame), frame) } else { None }
    }

    fn parameter_of_module(&self, function: &Function, frame: &Frame<'a>) -> Option<ObjectPlace<'a>> {
        let names = super::parameters(self.info, function);
        let index = names.iter().position(|variable| std::ptr::eq(*variable, self.variable))?;
        match scope::param_location(function.params.get(index)?, frame) {
            Named::Register(register) => Some(ObjectPlace::Register(register)),
            Named::Memory(location) => Some(ObjectPlace::Memory(location.space, location.address)),
            Named::Untyped { .. } | Named::Label(_) | Named::Function(_) => None,
        }
    }
}

/// The first instruction of a function that writes the register.
pub(in crate::debug) fn first_write(program: &Program, function: &Function, register: &RegisterLocation) -> Option<Pc> {
    writes(program, function, register).next()
}

/// The instructions of a function that write the register.
fn writes(program: &Program, function: &Function, register: &RegisterLocation) -> impl Iterator<Item = Pc> {
    function.code.clone().map(Pc).filter(|pc| {
        let written = program.code.get(pc.index()).map(|inst| operands::writes(inst, program));
        written.is_some_and(|written| written.iter().any(|other| other.bank == register.bank && Some(other.slot) == register.slot))
    })
}

/// A thread that a location is evaluated for.
pub(super) struct Thread<'t, 'a> {
    pub(super) context: &'t EvalContext<'a>,
    pub(super) frame: Option<&'t Frame<'a>>,
    pub(super) variable: &'t SourceVariable<'a>,
}

impl<'a> Thread<'_, 'a> {
    /// The place in the machine of a place in the debug data.
    pub(super) fn place(&self, place: &Storage) -> Result<ObjectPlace<'a>, String> {
        match place {
            Storage::Register(name) => self.register_called(name).map(ObjectPlace::Register),
            Storage::Memory(cell) => self.memory(*cell),
            Storage::Value(value) => Ok(ObjectPlace::Value(Parts::of(&value.to_le_bytes(), 8))),
            Storage::Bytes(bytes) => Ok(ObjectPlace::Value(Parts::of(bytes, bytes.len()))),
            Storage::Pieces(pieces) => self.pieces(pieces).map(ObjectPlace::Value),
        }
    }

    fn pieces(&self, pieces: &[(Option<Storage>, u64)]) -> Result<Parts, String> {
        let mut all = Parts { bytes: [0; PARTS_MAX], known: 0 };
        let mut at = 0;
        for (place, bytes) in pieces {
            let end = usize::try_from(*bytes).ok().and_then(|bytes| bytes.checked_add(at)).filter(|end| *end <= PARTS_MAX);
            let end = end.ok_or_else(|| format!("it lies in parts of more than {PARTS_MAX} bytes together"))?;
            if let Some(place) = place {
                let object = SourceObject { info: self.variable.info, ty: None, place: self.place(place)?, bits: None };
                let part = object.read(self.context, self.frame, end as u64 - at as u64).map_err(|error| error.to_string())?;
                all.bytes[at..end].copy_from_slice(&part);
                (at..end).for_each(|byte| all.known |= 1 << byte);
            }
            at = end;
        }
        Ok(all)
    }

    fn register_called(&self, name: &str) -> Result<RegisterLocation, String> {
        let frame = self.frame.ok_or("the thread is not on the machine")?;
        let function = self.context.function(frame);
        let found = scope::register(function, frame.pc, name);
        let found = found.ok_or_else(|| format!("the debug data says that it is in {name}, which is not declared here"))?;
        Ok(scope::with_type_in_effect(self.context, frame.function, found))
    }

    fn memory(&self, Cell { base, offset }: Cell) -> Result<ObjectPlace<'a>, String> {
        let at = |location: scope::MemoryLocation<'_>| ObjectPlace::Memory(location.space, location.address.wrapping_add(offset));
        match base {
            Base::Zero => Ok(ObjectPlace::Memory(self.variable.variable.space.unwrap_or(Space::Generic), offset)),
            Base::Frame => self.frame_memory().map(at),
            Base::Symbol(Symbol::Variable(id)) => {
                let variable = &self.context.program().variables[id.index()];
                let is_of_frame = matches!(variable.location.space, Space::Local | Space::ParamFunc);
                if is_of_frame && variable.function.is_some() && self.frame.is_none() {
                    return Err("the thread is not on the machine".to_string());
                }
                Ok(at(scope::variable_location(self.context, variable, self.frame)))
            }
            Base::Symbol(Symbol::Param(function, index)) => {
                let param = &self.context.program().functions[function.index()].params[index];
                if let ParamStorage::Kernel(start) = param.storage {
                    return Ok(ObjectPlace::Memory(Space::Param, u64::from(start).wrapping_add(offset)));
                }
                let frame = self.frame.ok_or("the thread is not on the machine")?;
                match scope::param_location(param, frame) {
                    Named::Register(register) => Ok(ObjectPlace::Register(register)),
                    Named::Memory(location) => Ok(at(location)),
                    Named::Untyped { .. } | Named::Label(_) | Named::Function(_) => Err("its parameter has no place".to_string()),
                }
            }
        }
    }

    /// The memory that compilers keep the variables of a function in.
    fn frame_memory(&self) -> Result<scope::MemoryLocation<'_>, String> {
        let frame = self.frame.ok_or("the thread is not on the machine")?;
        let depot = self.context.program().variables_of(frame.function).find(|variable| variable.name.starts_with("__local_depot"));
        let depot = depot.ok_or("the function has no frame in local memory")?;
        Ok(scope::variable_location(self.context, depot, Some(frame)))
    }

    /// The location of the frame that the function of the variable gives.
    fn frame_location(&self) -> Option<&Location> {
        let info = self.variable.info;
        let mut around = std::iter::successors(self.variable.scope, |id| info.scopes[*id].parent);
        let function = around.find(|id| matches!(info.scopes[*id].kind, ScopeKind::Function { .. }))?;
        info.scopes[function].frame_base.as_ref()
    }
}

impl Resolver for Thread<'_, '_> {
    fn register(&self, name: &str) -> Result<Cell, String> {
        // The start of the frame, as LLVM calls it.
        if name.starts_with("%Depot") {
            return Ok(Cell { base: Base::Frame, offset: 0 });
        }
        let location = self.register_called(name)?;
        let frame = self.frame.ok_or("the thread is not on the machine")?;
        // The pointer to the frame, before the first instructions have computed it.
        if matches!(name, "%SP" | "%SPL") && !scope::is_written(frame, &location) {
            return Ok(Cell { base: Base::Frame, offset: 0 });
        }
        let bits = register_bits(frame, &location).ok_or_else(|| format!("no instruction names {name}"))?;
        Ok(Cell { base: Base::Zero, offset: bits as u64 })
    }

    fn load(&self, address: Cell, bytes: u8) -> Result<u64, String> {
        let place = self.memory(address)?;
        let object = SourceObject { info: self.variable.info, ty: None, place, bits: None };
        object.read_integer(self.context, self.frame, u64::from(bytes)).map_err(|error| error.to_string())
    }

    fn frame_base(&self) -> Result<Cell, String> {
        match self.frame_location().map(|location| location.0.as_slice()) {
            Some([crate::dwarf::Operation::Register(name)]) if &**name != "%SPL" => self.register(name),
            _ => Ok(Cell { base: Base::Frame, offset: 0 }),
        }
    }
}

impl Parts {
    /// These bytes, of which the first `known` are known.
    pub fn of(bytes: &[u8], known: usize) -> Self {
        let mut all = Self { bytes: [0; PARTS_MAX], known: 0 };
        let count = bytes.len().min(PARTS_MAX);
        all.bytes[..count].copy_from_slice(&bytes[..count]);
        (0..known.min(PARTS_MAX)).for_each(|byte| all.known |= 1 << byte);
        all
    }
}

impl<'a> SourceObject<'a> {
    /// Its type without typedefs and qualifiers.
    pub fn stripped(&self) -> Option<&'a Type> {
        self.info.stripped(self.ty).map(|id| &self.info.types[id])
    }

    /// Its size in bytes; of a type without a size in a register, that of the register.
    pub fn bytes(&self) -> u64 {
        match (self.info.bytes(self.ty), self.place) {
            (0, ObjectPlace::Register(register)) => u64::from(register.ty.bits().div_ceil(8)),
            (bytes, _) => bytes,
        }
    }

    /// An object of type `ty` that starts `offset` bytes further on.
    ///
    /// # Errors
    /// It is in a register and reaches beyond it.
    pub fn part(
        &self,
        ty: Option<TypeId>,
        offset: u64,
        bits: Option<(u32, u32)>,
        context: &EvalContext<'a>,
        frame: Option<&Frame<'a>>,
    ) -> Result<Self, ObjectError> {
        let place = match self.place {
            ObjectPlace::Memory(space, address) => ObjectPlace::Memory(space, address.wrapping_add(offset)),
            place if offset == 0 && bits.is_none() => place,
            ObjectPlace::Kept(bytes) => {
                let wanted = self.info.bytes(ty) as usize;
                let part = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..offset.checked_add(wanted)?));
                ObjectPlace::Kept(part.ok_or_else(|| ObjectError::Other("it reaches beyond the object".to_string()))?)
            }
            ObjectPlace::Register(_) | ObjectPlace::Value(_) => {
                let wanted = self.info.bytes(ty).max(1).min(PARTS_MAX as u64);
                let end = offset.checked_add(wanted).filter(|end| *end <= PARTS_MAX as u64);
                let end = end.ok_or_else(|| ObjectError::Other("it reaches beyond the register that holds the object".to_string()))?;
                let bytes = self.read(context, frame, end)?;
                ObjectPlace::Value(Parts::of(&bytes[offset as usize..], wanted as usize))
            }
        };
        Ok(Self { info: self.info, ty, place, bits })
    }

    /// Its bytes.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn contents(&self, context: &EvalContext<'a>, frame: Option<&Frame<'a>>) -> Result<Vec<u8>, ObjectError> {
        let Some(bits) = self.bits else { return self.read(context, frame, self.bytes()) };
        // A bit field may reach into the byte after its storage.
        let holding = self.read(context, frame, u64::from(BitField::holding_bytes(bits)))?;
        Ok(self.field(bits).value(&holding))
    }

    /// The bit field that it is in the bytes that hold it.
    pub fn field(&self, (low, count): (u32, u32)) -> BitField {
        let bytes = u32::try_from(self.bytes()).unwrap_or(0);
        BitField { low, count, signed: super::types::is_signed(self.info, self.ty), bytes }
    }

    /// The first bytes of the object, eight at most, as an integer.
    fn read_integer(&self, context: &EvalContext<'a>, frame: Option<&Frame<'a>>, bytes: u64) -> Result<u64, ObjectError> {
        self.read(context, frame, bytes).map(|bytes| little_endian(&bytes) as u64)
    }

    fn read(&self, context: &EvalContext<'a>, frame: Option<&Frame<'a>>, bytes: u64) -> Result<Vec<u8>, ObjectError> {
        if bytes > BYTES_MAX {
            return Err(ObjectError::Other(format!("it has {bytes} bytes: name a part of it")));
        }
        let mut out = vec![0; bytes as usize];
        match self.place {
            ObjectPlace::Memory(space, address) => memory::read(context, space, address, &mut out)?,
            ObjectPlace::Register(register) => {
                let frame = frame.ok_or_else(|| ObjectError::Other("the thread is not on the machine".to_string()))?;
                let bits = register_bits(frame, &register).ok_or_else(|| {
                    ObjectError::Other("the compiler has removed what it is assigned: no instruction names its register".to_string())
                })?;
                let count = out.len().min(16);
                out[..count].copy_from_slice(&bits.to_le_bytes()[..count]);
            }
            ObjectPlace::Kept(bytes) => {
                let count = out.len().min(bytes.len());
                out[..count].copy_from_slice(&bytes[..count]);
            }
            ObjectPlace::Value(parts) => {
                let count = out.len().min(PARTS_MAX);
                if (0..count).any(|byte| parts.known & 1 << byte == 0) {
                    return Err(ObjectError::Other("the compiler has removed a part of it here".to_string()));
                }
                out[..count].copy_from_slice(&parts.bytes[..count]);
            }
        }
        Ok(out)
    }
}
