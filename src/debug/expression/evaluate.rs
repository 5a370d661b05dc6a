//! Evaluates a syntax tree in a context.
//!
//! Everything is computed for one lane at a time, without allocating. A tree with `@` is evaluated once for each of its lanes: the operand
//! of `@` in that lane, the rest in the focused lane.

use std::cell::RefCell;

use super::kept::KeptElements;
use super::names::TypeName;
use super::objects::Sliced;
use super::operators::{self, OperatorError};
use super::tree::{AtLanes, Node, NodeKind};
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::memory::{self, MemoryError};
use crate::debug::names::scope::{self, MemoryLocation, Named, RegisterLocation};
use crate::debug::source_names::{self, ObjectError, SourceObject};
use crate::debug::value::number::{self, little_endian};
use crate::debug::value::{Array, Lanes, Scalar, Type, Value};
use crate::isa::{ScalarType, Space};
use crate::machine::LaneMask;
use crate::program::map;

/// Default maximum number of array elements that are read.
pub const ELEMENTS: u64 = 200;

/// Why an expression has no value here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EvaluationError {
    /// Byte of the error in the text, from 0.
    pub column: usize,
    /// The reason.
    pub reason: Reason,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The thread is not on the machine.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// The memory does not exist.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Nothing here has that name.
    #[error("nothing here is called '{name}'{}", .hint.as_ref().map_or(String::new(), |hint| format!(": {hint}")))]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// The register is declared, and no code names it.
    #[error("'{0}' is declared, but no instruction names it: it has no value")]
    NoValue(String),
    /// A variable of the source has no value here.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The operation does not work on its operands.
    #[error("{0}")]
    Refused(OperatorError),
}

pub(super) type Evaluated<T> = Result<T, EvaluationError>;

/// The object that a part of an expression names, before its value is read.
#[derive(Clone, Copy)]
pub(super) enum Referent<'a> {
    /// A value without a location.
    Value(Scalar),
    /// A register.
    Register(RegisterLocation),
    /// Memory.
    Memory(Extent<'a>),
    /// A built-in vector of CUDA, such as `gridDim`.
    Vector3([u32; 3]),
    /// Elements of an array that is kept under a name with a `$`.
    Kept(KeptElements<'a>),
    /// An object of a type of the source.
    Source(SourceObject<'a>),
    /// Objects of a type of the source in a row.
    Slice(Row<'a>),
}

/// Objects of a type of the source, of which each starts as many bytes after the one before.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub first: SourceObject<'a>,
    pub count: u64,
    pub stride: u64,
}

/// Memory with a type and extents.
#[derive(Clone, Copy)]
pub(super) struct Extent<'a> {
    pub space: Space,
    pub address: u64,
    pub ty: ScalarType,
    /// Elements of the outermost dimension; none for a scalar.
    pub elements: Option<u64>,
    /// The other dimensions.
    pub shape: &'a [u64],
}

impl<'a> From<MemoryLocation<'a>> for Extent<'a> {
    fn from(MemoryLocation { space, address, ty, shape, elements }: MemoryLocation<'a>) -> Self {
        match shape.split_first() {
            Some((first, rest)) if elements.is_none() => Extent { space, address, ty, elements: Some(*first), shape: rest },
            _ => Extent { space, address, ty, elements, shape },
        }
    }
}

impl Extent<'_> {
    pub fn is_array(&self) -> bool {
        self.elements.is_some()
    }

    /// Bytes of one element of the outermost dimension.
    pub fn stride(&self) -> u64 {
        self.shape.iter().fold(u64::from(self.ty.bytes()), |bytes, extent| bytes.saturating_mul(*extent))
    }

    /// Bytes of all of it.
    pub fn bytes(&self) -> u64 {
        self.stride().saturating_mul(self.elements.unwrap_or(1))
    }
}

/// A reference of the source that an expression follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedReference {
    /// Its name in the expression: `r`, `h.r`.
    pub name: String,
    /// Where the reference itself is, if it is in memory.
    pub memory: Option<(Space, u64)>,
    /// Its size in bytes.
    pub bytes: usize,
}

/// An expression being evaluated.
pub(super) struct Evaluator<'a> {
    pub context: EvalContext<'a>,
    /// The selected frame of the focused lane, if there is one.
    pub frame: Result<Frame<'a>, ThreadError>,
    /// The frame of the lane in which the operand of `@` is evaluated.
    pub(super) at_lane: Option<Frame<'a>>,
    /// True if an unknown name is compared with all others, for what was probably meant.
    pub has_hints: bool,
    /// True for the name of a place that is assigned to: it need not have a value yet.
    pub is_assigned: bool,
    /// The references of the source that were followed.
    pub followed: RefCell<Vec<FollowedReference>>,
}

impl<'a> Evaluator<'a> {
    pub fn new(context: &EvalContext<'a>) -> Self {
        Self { context: *context, frame: context.frame(), at_lane: None, has_hints: true, is_assigned: false, followed: RefCell::default() }
    }

    /// The value of the whole expression.
    pub fn root(&mut self, node: &Node) -> Evaluated<Value> {
        if let Some(value) = self.tensor_value(node)? {
            return Ok(value);
        }
        if let Some(value) = self.kept_value(node)? {
            return Ok(value);
        }
        if let Some(row) = self.counted(node) {
            return self.objects(node, &row);
        }
        if let Some(requested) = node.lanes() {
            self.refuse_lane_of_memory(node)?;
            return Ok(Value::Lanes(Box::new(self.over_lanes(node, requested, false)?)));
        }
        match self.referent(node)? {
            Referent::Memory(extent) if extent.is_array() => self.array(node, &extent).map(Value::Array),
            Referent::Vector3(components) => Ok(Value::Array(Array {
                ty: ScalarType::U32,
                space: Space::Param,
                address: 0,
                shape: vec![3],
                elements: components.map(u128::from).to_vec(),
                unwritten: Vec::new(),
            })),
            Referent::Source(object) => self.source_value(node, &object),
            Referent::Kept(elements) => Ok(Value::Array(elements.array())),
            Referent::Slice(row) => self.objects(node, &row),
            referent => self.load(node, referent).map(Value::Scalar),
        }
    }

    /// Refuses one lane of memory that all lanes share: gdb's `@` is a count of elements there.
    fn refuse_lane_of_memory(&mut self, node: &Node) -> Evaluated<()> {
        let NodeKind::Lanes(inner, AtLanes { mask, .. }) = &node.kind else { return Ok(()) };
        let (NodeKind::Name(name), 1) = (&inner.kind, mask.count()) else { return Ok(()) };
        let of_lane = [Space::Local, Space::ParamFunc];
        match self.referent(inner)? {
            Referent::Memory(extent) if !of_lane.contains(&extent.space) => {
                let count = mask.first();
                let meant = if extent.is_array() { format!("{name}[0]@{count}") } else { format!("*&{name}@{count}") };
                Err(refused(node, format!("'{name}' is memory, the same for all lanes: {meant} shows {count} elements")))
            }
            Referent::Memory(_)
            | Referent::Value(_)
            | Referent::Register(_)
            | Referent::Vector3(_)
            | Referent::Source(_)
            | Referent::Kept(_)
            | Referent::Slice(..) => Ok(()),
        }
    }

    /// The lanes of `requested` that are in the same function: `node` has no value in others.
    pub fn lanes_for(&self, node: &Node, requested: LaneMask) -> Evaluated<LaneMask> {
        let frame = self.frame_at(node)?;
        let lanes = self.context.lanes_in(&frame) & requested;
        let no_lane = || refused(node, "none of these lanes is in this function: they have exited or are elsewhere".to_string());
        if lanes.is_empty() { Err(no_lane()) } else { Ok(lanes) }
    }

    /// Evaluates `node` for each lane of `requested`: only the operand of its `@`, or, if `whole`, all of it.
    pub fn over_lanes(&mut self, node: &Node, requested: LaneMask, whole: bool) -> Evaluated<Lanes> {
        let mask = self.lanes_for(node, requested)?;
        let mut lanes = Lanes { ty: Type::Scalar(ScalarType::B32), mask, bits: [0; 32], undefined: LaneMask::NONE };
        let mut first = None;
        for lane in mask.iter() {
            let value = self.in_lane(node, lane, |evaluator| match whole {
                true => evaluator.with_at_lane_focused(node, |inner| inner.value(node)),
                false => evaluator.value(node),
            });
            match value {
                Ok(scalar) => {
                    lanes.ty = scalar.ty;
                    lanes.bits[lane] = scalar.bits;
                }
                Err(error) if is_without_value(&error.reason) => {
                    lanes.undefined |= LaneMask::of(lane);
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        lanes.mask = mask & !lanes.undefined;
        first.filter(|_| lanes.mask.is_empty()).map_or(Ok(lanes), Err)
    }

    /// Does `work` with operands of `@` evaluated in `lane`.
    pub fn in_lane<T>(&mut self, node: &Node, lane: usize, work: impl FnOnce(&mut Self) -> Evaluated<T>) -> Evaluated<T> {
        let frame = self.frame_at(node)?;
        let before = self.at_lane;
        self.at_lane = self.context.same_frame(&frame, lane as u32);
        let result = work(self);
        self.at_lane = before;
        result
    }

    pub fn frame_at(&self, node: &Node) -> Evaluated<Frame<'a>> {
        self.frame.clone().map_err(|error| EvaluationError { column: node.at, reason: error.into() })
    }

    /// Does `work` with the lane of `@` as the focused lane.
    pub fn with_at_lane_focused<T>(&mut self, node: &Node, work: impl FnOnce(&mut Self) -> Evaluated<T>) -> Evaluated<T> {
        let Some(at_lane) = self.at_lane else { return work(self) };
        let mut inner =
            Evaluator { frame: Ok(at_lane), has_hints: self.has_hints, is_assigned: self.is_assigned, ..Evaluator::new(&self.context) };
        inner.context.focus.lane = at_lane.lane;
        // Frames are numbered from the innermost, and this lane may have more frames than the focused one.
        inner.context.focus.frame = match &self.frame {
            Ok(focused) if focused.group.mask.contains(at_lane.lane as usize) => self.context.focus.frame,
            _ => inner.context.number_of(&at_lane).map_err(|error| EvaluationError { column: node.at, reason: error.into() })?,
        };
        work(&mut inner)
    }

    /// The value of `node` in one lane. An array is the address of its first element.
    pub fn value(&mut self, node: &Node) -> Evaluated<Scalar> {
        match &node.kind {
            NodeKind::Number(value) => Ok(*value),
            NodeKind::Unary(op, a) => {
                let a = self.value(a)?;
                operators::unary(*op, &a).map_err(|message| refused(node, message))
            }
            NodeKind::Step(step, _) => Err(refused(node, step.refusal())),
            NodeKind::Binary(op, operands) => {
                let (a, b) = (self.value(&operands[0])?, self.value(&operands[1])?);
                operators::binary(*op, &a, &b).map_err(|message| refused(node, message))
            }
            NodeKind::Logical(is_or, operands) => {
                let decided = self.value(&operands[0])?.is_true() == *is_or;
                Ok(Scalar::truth(if decided { *is_or } else { self.value(&operands[1])?.is_true() }))
            }
            NodeKind::Conditional(operands) => {
                let [condition, first, second] = &**operands;
                let (chosen, other) = if self.value(condition)?.is_true() { (first, second) } else { (second, first) };
                let chosen = self.value(chosen)?;
                Ok(self.value(other).map_or(chosen, |other| operators::conditional(chosen, &other)))
            }
            NodeKind::Cast(ty, a) => self.cast(node, *ty, a),
            NodeKind::SizeOf(ty, a) => self.size_of(node, ty, a.as_deref()),
            NodeKind::Convenience(word) => self.convenience(node, *word),
            NodeKind::Special(register) => self.special(node, *register),
            NodeKind::Aggregate(aggregate, inner) => self.aggregate(*aggregate, inner),
            NodeKind::Function(function, arguments) => self.function(node, *function, arguments),
            NodeKind::AddressOf(a) => self.address_of(a),
            NodeKind::Lanes(inner, _) => self.with_at_lane_focused(node, |at_lane| at_lane.value(inner)),
            NodeKind::File(_) => Err(refused(node, "an array of a file goes together with tensors only".to_string())),
            NodeKind::Range(_) => {
                Err(refused(node, "only the elements of tensors are taken by i:j; x[0..7] takes those of an array".to_string()))
            }
            NodeKind::Name(_)
            | NodeKind::Dereference(_)
            | NodeKind::Index(_)
            | NodeKind::Subscripts(_)
            | NodeKind::Slice(_)
            | NodeKind::SourceCast(..)
            | NodeKind::Member(..) => {
                let referent = self.referent(node)?;
                self.load(node, referent)
            }
        }
    }

    /// `(ty)a`. A pointer keeps its space, unless another one is named.
    pub fn cast(&mut self, node: &Node, ty: TypeName, a: &Node) -> Evaluated<Scalar> {
        let a = self.value(a)?;
        if !ty.pointer {
            return operators::cast(&a, ty.ty).map_err(|message| refused(node, message));
        }
        let pointer_space = if let Type::Pointer(space, _) | Type::SourcePointer(space, ..) = a.ty { space } else { Space::Generic };
        let address = operators::convert(&a, ScalarType::U64);
        Ok(Scalar::new(Type::Pointer(ty.space.unwrap_or(pointer_space), ty.ty), address.bits))
    }

    /// The referent of `node`, without reading its value.
    pub fn referent(&mut self, node: &Node) -> Evaluated<Referent<'a>> {
        match &node.kind {
            NodeKind::Name(name) => self.named(node, name),
            NodeKind::Dereference(a) => match self.pointer(node, a)? {
                // As in C, a function is what a pointer to it points to.
                function @ Scalar { ty: Type::Function, .. } => Ok(Referent::Value(function)),
                pointer => self.target_of(node, &pointer),
            },
            NodeKind::Member(a, name) => self.member(node, a, name),
            NodeKind::SourceCast(ty, a) => self.source_cast(node, ty, a),
            NodeKind::Index(operands) => self.index(node, &operands[0], &operands[1]),
            NodeKind::Slice(operands) => self.slice(node, operands),
            NodeKind::Subscripts(parts) => self.referent(&one_by_one(node, parts)),
            NodeKind::Lanes(inner, _) => self.with_at_lane_focused(node, |at_lane| at_lane.referent(inner)),
            _ => self.value(node).map(Referent::Value),
        }
    }

    /// `a[low..high]`: elements of the outermost dimension, or from a pointer on.
    fn slice(&mut self, node: &Node, operands: &[Node; 3]) -> Evaluated<Referent<'a>> {
        let base = match self.referent(&operands[0])? {
            Referent::Source(object) => match self.source_array(&operands[0], &object)? {
                Sliced::Numbers(extent) => extent,
                Sliced::Objects(first) => return self.slice_of_objects(node, operands, &first),
            },
            Referent::Memory(extent) if extent.is_array() => refuse_rows_of_rows(node, &operands[0], extent)?,
            referent => match self.load(&operands[0], referent)? {
                pointer @ Scalar { ty: Type::SourcePointer(..), .. } => match self.target_of(node, &pointer)? {
                    Referent::Source(first) => match self.elements_from(&first) {
                        Sliced::Numbers(extent) => extent,
                        Sliced::Objects(first) => return self.slice_of_objects(node, operands, &first),
                    },
                    _ => self.dereference(node, &pointer)?,
                },
                pointer => self.dereference(node, &pointer)?,
            },
        };
        let (low, count) = self.ends(operands)?;
        Ok(Referent::Memory(Extent { address: moved(base.address, low, base.stride()), elements: Some(count), ..base }))
    }

    /// The first index of a slice, and the number of its elements.
    pub fn ends(&mut self, [_, low, high]: &[Node; 3]) -> Evaluated<(i128, u64)> {
        let (first, last) = (self.index_value(low)?, self.index_value(high)?);
        let count = last.checked_sub(first).and_then(|count| u64::try_from(count).ok()?.checked_add(1));
        let count = count.ok_or_else(|| refused(high, format!("the range ends at {last}, before it begins at {first}")))?;
        Ok((first, count))
    }

    fn named(&self, node: &Node, name: &str) -> Evaluated<Referent<'a>> {
        let frame = self.frame.as_ref();
        if let Some(referent) = self.source_name(node, name)? {
            return Ok(referent);
        }
        self.refuse_parameter(node, name)?;
        match scope::look_up(&self.context, frame.ok(), name) {
            Some(Named::Register(register)) => Ok(Referent::Register(register)),
            Some(Named::Memory(location)) => Ok(Referent::Memory(location.into())),
            Some(Named::Untyped { address, bytes }) => {
                Ok(Referent::Memory(Extent { space: Space::Global, address, ty: ScalarType::B8, elements: Some(bytes), shape: &[] }))
            }
            Some(Named::Label(pc)) => Ok(Referent::Value(Scalar { ty: Type::Code, bits: u128::from(pc.0) })),
            Some(Named::Function(function)) => {
                let address = map::function_address(&self.context.program().map, function.0);
                Ok(Referent::Value(Scalar { ty: Type::Function, bits: u128::from(address) }))
            }
            None => {
                if let Some(referent) = self.cuda_name(node, name)? {
                    return Ok(referent);
                }
                if let Some(referent) = self.kept_name(node, name)? {
                    return Ok(referent);
                }
                if let Some(part) = self.part_of_register(node, name)? {
                    return Ok(Referent::Value(part));
                }
                let reason = match frame {
                    // The name is in the scope of a function that the thread is not in.
                    Err(error) if scope::is_in_a_function(self.context.program(), name) => error.clone().into(),
                    Err(_) => self.unknown(name),
                    Ok(frame) => source_names::out_of_scope(&self.context, frame, name).map_or_else(|| self.unknown(name), Reason::Object),
                };
                Err(EvaluationError { column: node.at, reason })
            }
        }
    }

    /// `%r7.x`: the first of the numbers that a register of a packed type holds, `.y` the second; none if it is no register.
    fn part_of_register(&self, node: &Node, name: &str) -> Evaluated<Option<Scalar>> {
        let Some((register, letter)) = name.rsplit_once('.') else { return Ok(None) };
        let Some(part) = ["x", "y", "z", "w"].iter().position(|part| *part == letter) else { return Ok(None) };
        let found = scope::look_up(&self.context, self.frame.as_ref().ok(), register);
        let Some(Named::Register(location)) = found else { return Ok(None) };
        let (one, count) = number::elements(location.ty);
        if count < 2 || part as u32 >= count {
            let ty = location.ty.word();
            let message =
                format!("'{register}' is of type {ty}, without a part '.{letter}': ((f16x2){register})[0] casts it for its parts");
            return Err(refused(node, message));
        }
        let whole = self.register(node, &location)?;
        Ok(Some(Scalar::new(Type::Scalar(one), number::element(location.ty, whole.bits, part as u32))))
    }

    /// The target of a pointer. A number is a generic address, with the type of the buffer or variable there, or `.b32`.
    pub fn dereference(&self, node: &Node, pointer: &Scalar) -> Evaluated<Extent<'a>> {
        let (space, ty) = match pointer.ty {
            Type::Pointer(space, ty) => (space, ty),
            Type::Scalar(ty) if number::to_integer(ty, 0).is_some() => (Space::Generic, self.type_at(pointer.bits as u64)),
            _ => return Err(refused(node, format!("a value of type {} is not an address", pointer.ty.name()))),
        };
        Ok(Extent { space, address: pointer.bits as u64, ty, elements: None, shape: &[] })
    }

    /// Type of the elements of the buffer or variable at a generic address; `.b32` if there is none.
    fn type_at(&self, address: u64) -> ScalarType {
        let allocation = self.context.machine.device().global().find(address);
        let name = allocation.map(|allocation| &*allocation.name);
        let buffer = self.context.buffers.iter().find(|buffer| Some(buffer.name.as_str()) == name).map(|buffer| buffer.ty);
        let variables = || self.context.program().variables.iter().filter(|variable| variable.location.space == Space::Global);
        let of_variable = |variable| scope::variable_type(&self.context, variable).0;
        let variable = || variables().find(|variable| Some(&*variable.name) == name).map(of_variable);
        buffer.or_else(variable).unwrap_or(ScalarType::B32)
    }

    fn index(&mut self, node: &Node, base: &Node, index: &Node) -> Evaluated<Referent<'a>> {
        let base_referent = self.referent(base)?;
        let steps = self.index_value(index)?;
        match base_referent {
            Referent::Source(object) => self.source_element(node, base, &object, steps),
            Referent::Slice(row) => self.element_of_each(node, base, &row, steps),
            Referent::Kept(elements) => elements.element(steps).ok_or_else(|| refused(index, elements.range())),
            Referent::Memory(extent) if extent.is_array() => {
                let extent = refuse_rows_of_rows(node, base, extent)?;
                let address = moved(extent.address, steps, extent.stride());
                let (elements, shape) = extent.shape.split_first().map_or((None, extent.shape), |(first, rest)| (Some(*first), rest));
                Ok(Referent::Memory(Extent { address, elements, shape, ..extent }))
            }
            referent => {
                let value = self.load(base, referent)?;
                if let Type::Scalar(ty) = value.ty
                    && number::elements(ty).1 > 1
                {
                    let (one, count) = number::elements(ty);
                    let part = u32::try_from(steps).ok().filter(|part| *part < count);
                    let part = part.ok_or_else(|| refused(index, format!("'.{}' has parts 0 to {}", ty.word(), count - 1)))?;
                    return Ok(Referent::Value(Scalar { ty: Type::Scalar(one), bits: number::element(ty, value.bits, part) }));
                }
                if let Type::SourcePointer(_, _, bytes) = value.ty {
                    let element = Scalar::new(value.ty, u128::from(moved(value.bits as u64, steps, u64::from(bytes))));
                    return self.target_of(node, &element);
                }
                let target = self.dereference(node, &value)?;
                Ok(Referent::Memory(Extent { address: moved(target.address, steps, u64::from(target.ty.bytes())), ..target }))
            }
        }
    }

    /// The value of an index, an integer.
    pub fn index_value(&mut self, node: &Node) -> Evaluated<i128> {
        let value = self.value(node)?;
        let whole = match value.ty {
            Type::Scalar(ty) => number::to_integer(ty, value.bits),
            Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function => None,
        };
        whole.ok_or_else(|| refused(node, format!("an index is an integer, not {}", value.ty.name())))
    }

    fn address_of(&mut self, node: &Node) -> Evaluated<Scalar> {
        match self.referent(node)? {
            Referent::Memory(extent) => Ok(Scalar { ty: Type::Pointer(extent.space, extent.ty), bits: u128::from(extent.address) }),
            Referent::Value(value) if matches!(value.ty, Type::Code | Type::Function) => Ok(value),
            Referent::Source(object) => self.source_address(node, &object),
            Referent::Register(_) => Err(refused(node, "a register has no address".to_string())),
            Referent::Value(_) | Referent::Vector3(_) | Referent::Kept(_) | Referent::Slice(..) => {
                Err(refused(node, "only what lies in memory has an address".to_string()))
            }
        }
    }

    /// Reads the value of a referent; an array is the address of its first element.
    fn load(&self, node: &Node, referent: Referent<'a>) -> Evaluated<Scalar> {
        match referent {
            Referent::Value(value) => Ok(value),
            Referent::Register(register) => self.register(node, &register),
            Referent::Vector3(_) => Err(refused(node, "a vector is used by its parts: .x, .y or .z".to_string())),
            Referent::Source(object) => self.source_number(node, &object),
            Referent::Kept(elements) => Ok(elements.address()),
            Referent::Slice(..) => Err(refused(node, "several objects are no number".to_string())),
            Referent::Memory(extent) if extent.is_array() => {
                Ok(Scalar { ty: Type::Pointer(extent.space, extent.ty), bits: u128::from(extent.address) })
            }
            Referent::Memory(extent) => {
                let mut bytes = [0; 16];
                let bytes = &mut bytes[..(extent.ty.bytes() as usize).min(16)];
                let read = memory::read(&self.context, extent.space, extent.address, bytes);
                read.map_err(|error| EvaluationError { column: node.at, reason: error.into() })?;
                Ok(Scalar::new(Type::Scalar(extent.ty), little_endian(bytes)))
            }
        }
    }

    fn register(&self, node: &Node, register: &RegisterLocation) -> Evaluated<Scalar> {
        let frame = self.frame.as_ref().map_err(|error| EvaluationError { column: node.at, reason: error.clone().into() })?;
        let bits = scope::register_bits(frame, register).ok_or_else(|| {
            let name = if let NodeKind::Name(name) = &node.kind { name.clone() } else { String::new() };
            EvaluationError { column: node.at, reason: Reason::NoValue(name) }
        })?;
        Ok(Scalar::new(Type::Scalar(register.ty), bits))
    }

    /// The first elements of an array.
    fn array(&self, node: &Node, extent: &Extent<'a>) -> Evaluated<Array> {
        let size = u64::from(extent.ty.bytes().max(1));
        let count = (extent.bytes() / size).min(ELEMENTS);
        if matches!(node.kind, NodeKind::Slice(_)) {
            let whole = memory::locate(&self.context, extent.space, extent.address, extent.bytes());
            whole.map_err(|error| EvaluationError { column: node.at, reason: error.into() })?;
        }
        let mut bytes = vec![0; (count * size) as usize];
        let read = memory::read(&self.context, extent.space, extent.address, &mut bytes);
        read.map_err(|error| EvaluationError { column: node.at, reason: error.into() })?;
        let elements = bytes.chunks_exact(size as usize).map(little_endian).collect();
        let shape = extent.elements.into_iter().chain(extent.shape.iter().copied()).collect();
        Ok(Array { ty: extent.ty, space: extent.space, address: extent.address, shape, elements, unwritten: Vec::new() })
    }
}

/// True if a variable has no value at the instruction of a lane: other lanes may have one.
pub fn is_without_value(reason: &Reason) -> bool {
    matches!(reason, Reason::Object(error) if error.is_without_value())
}

/// An address some elements further on.
pub(super) fn moved(address: u64, steps: i128, stride: u64) -> u64 {
    i128::from(address).wrapping_add(steps.wrapping_mul(i128::from(stride))) as u64
}

pub(super) fn refused(node: &Node, message: String) -> EvaluationError {
    EvaluationError { column: node.at, reason: Reason::Refused(message) }
}

/// The error of an object without a value.
pub(super) fn failed(node: &Node, error: ObjectError) -> EvaluationError {
    EvaluationError { column: node.at, reason: Reason::Object(error) }
}

/// `a[i, j]` as `a[i][j]`.
pub(super) fn one_by_one(node: &Node, parts: &[Node]) -> Node {
    let indexed = |base: Node, subscript: &Node| Node { at: node.at, kind: NodeKind::Index(Box::new([base, subscript.clone()])) };
    let (base, subscripts) = parts.split_first().map_or((node, parts), |(base, rest)| (base, rest));
    subscripts.iter().fold(base.clone(), indexed)
}

/// The array `extent`; an error for a range of rows, which cannot be indexed further.
fn refuse_rows_of_rows<'a>(node: &Node, base: &Node, extent: Extent<'a>) -> Evaluated<Extent<'a>> {
    let is_range_of_rows = matches!(base.kind, NodeKind::Slice(_)) && !extent.shape.is_empty();
    let help = "only the last index can be a range: name the row, as in x[3][0..7]";
    if is_range_of_rows { Err(refused(node, help.to_string())) } else { Ok(extent) }
}
