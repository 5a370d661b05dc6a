//! From a tree and a scene to a value.
//!
//! Everything is computed for one lane at a time, without allocating. A tree with `@` is computed once for each of its lanes: what
//! stands under the `@` is that lane's, the rest the focused lane's.

use super::names::TypeName;
use super::operators::{self, OperatorError};
use super::tree::{Aggregate, BinaryOp, Convenience, Node, NodeKind};
use crate::debug::focus::Focus;
use crate::debug::memory::{self, MemoryError};
use crate::debug::names::scope::{self, MemoryPlace, Named, RegisterPlace};
use crate::debug::scene::{Frame, Scene, SceneError};
use crate::debug::value::{Array, Lanes, Scalar, Type, Value, number};
use crate::isa::{SPECIAL_REGISTERS, ScalarType, Space, SpecialKind, special_register};
use crate::machine::LaneMask;
use crate::program::{Bank, map};

/// Elements of an array that are read at most, if nothing else is asked for.
pub const ELEMENTS: u64 = 200;

/// Why an expression has no value here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EvaluationError {
    /// Byte of the text that it is about, from 0.
    pub column: usize,
    /// The reason.
    pub reason: Reason,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The thread is not there.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The memory is not there.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Nothing here has that name.
    #[error("nothing here is called '{name}'{}", .hint.as_ref().map_or(String::new(), |hint| format!(": {hint}")))]
    Unknown {
        /// The name.
        name: String,
        /// What was perhaps meant.
        hint: Option<String>,
    },
    /// The register is declared, and no code names it.
    #[error("'{0}' is declared, but no instruction names it: it has no value")]
    NoValue(String),
    /// The operation does not work on its operands.
    #[error("{0}")]
    Refused(OperatorError),
}

type Evaluated<T> = Result<T, EvaluationError>;

/// What a part of an expression is, before its value is read.
#[derive(Clone, Copy)]
pub(super) enum Referent<'a> {
    /// A value that lies nowhere.
    Value(Scalar),
    /// A register.
    Register(RegisterPlace),
    /// Memory.
    Memory(Extent<'a>),
    /// A vector of CUDA, such as `gridDim`.
    Triple([u32; 3]),
}

/// The vectors of CUDA, and the special registers that they are.
const CUDA_NAMES: &[(&str, &str)] = &[("threadIdx", "%tid"), ("blockIdx", "%ctaid"), ("blockDim", "%ntid"), ("gridDim", "%nctaid")];

/// Memory with a type and extents.
#[derive(Clone, Copy)]
pub(super) struct Extent<'a> {
    pub space: Space,
    pub address: u64,
    pub ty: ScalarType,
    /// Elements of the outermost dimension where that is not the first of `shape`.
    pub elements: Option<u64>,
    /// The other dimensions.
    pub shape: &'a [u64],
}

impl<'a> From<MemoryPlace<'a>> for Extent<'a> {
    fn from(MemoryPlace { space, address, ty, shape, elements }: MemoryPlace<'a>) -> Self {
        match shape.split_first() {
            Some((first, rest)) if elements.is_none() => Extent { space, address, ty, elements: Some(*first), shape: rest },
            _ => Extent { space, address, ty, elements, shape },
        }
    }
}

impl Extent<'_> {
    fn is_array(&self) -> bool {
        self.elements.is_some()
    }

    /// Bytes of one element of the outermost dimension.
    fn stride(&self) -> u64 {
        self.shape.iter().fold(u64::from(self.ty.bytes()), |bytes, extent| bytes.saturating_mul(*extent))
    }

    /// Bytes of all of it.
    pub fn bytes(&self) -> u64 {
        self.stride().saturating_mul(self.elements.unwrap_or(1))
    }
}

/// An expression being evaluated.
pub(super) struct Evaluator<'a> {
    pub scene: Scene<'a>,
    /// The selected frame of the focused lane, if there is one.
    pub frame: Result<Frame<'a>, SceneError>,
    /// The lane for which what stands under `@` is computed, as a frame.
    under: Option<Frame<'a>>,
}

impl<'a> Evaluator<'a> {
    pub fn new(scene: &Scene<'a>) -> Self {
        Self { scene: *scene, frame: scene.frame(), under: None }
    }

    /// The value of the whole expression.
    pub fn root(&mut self, node: &Node) -> Evaluated<Value> {
        if let Some(wanted) = node.lanes() {
            self.refuse_lane_of_memory(node)?;
            return Ok(Value::Lanes(Box::new(self.over_lanes(node, wanted, false)?)));
        }
        match self.thing(node)? {
            Referent::Memory(extent) if extent.is_array() => self.array(node, &extent).map(Value::Array),
            Referent::Triple(parts) => Ok(Value::Array(Array {
                ty: ScalarType::U32,
                space: Space::Param,
                address: 0,
                shape: vec![3],
                elements: parts.map(u128::from).to_vec(),
            })),
            thing => self.load(node, thing).map(Value::Scalar),
        }
    }

    /// Refuses one lane of memory that all lanes see alike, where gdb's `@` has a count of elements.
    fn refuse_lane_of_memory(&mut self, node: &Node) -> Evaluated<()> {
        let NodeKind::Lanes(inner, mask) = &node.kind else { return Ok(()) };
        let (NodeKind::Name(name), 1) = (&inner.kind, mask.count()) else { return Ok(()) };
        let of_lane = [Space::Local, Space::ParamFunc];
        match self.thing(inner)? {
            Referent::Memory(extent) if !of_lane.contains(&extent.space) => {
                let count = mask.first();
                let meant = if extent.is_array() { format!("{name}[0]@{count}") } else { format!("*&{name}@{count}") };
                Err(refused(node, format!("'{name}' is memory, the same for all lanes: {meant} shows {count} elements")))
            }
            Referent::Memory(_) | Referent::Value(_) | Referent::Register(_) | Referent::Triple(_) => Ok(()),
        }
    }

    /// The lanes of `wanted` that stand in the same function, for `node` has no value in others.
    pub fn lanes_for(&self, node: &Node, wanted: LaneMask) -> Evaluated<LaneMask> {
        let frame = self.frame_at(node)?;
        let lanes = self.scene.lanes_in(&frame) & wanted;
        let gone = || refused(node, "none of these lanes is in this function: they have exited or are elsewhere".to_string());
        if lanes.is_empty() { Err(gone()) } else { Ok(lanes) }
    }

    /// Computes `node` for each lane of `wanted`: what stands under its `@`, or, if `whole`, all of it.
    fn over_lanes(&mut self, node: &Node, wanted: LaneMask, whole: bool) -> Evaluated<Lanes> {
        let mask = self.lanes_for(node, wanted)?;
        let mut lanes = Lanes { ty: Type::Scalar(ScalarType::B32), mask, bits: [0; 32] };
        for lane in mask.iter() {
            let scalar = self.in_lane(node, lane, |evaluator| match whole {
                true => evaluator.under_lanes(node, |inner| inner.value(node)),
                false => evaluator.value(node),
            })?;
            lanes.ty = scalar.ty;
            lanes.bits[lane] = scalar.bits;
        }
        Ok(lanes)
    }

    /// Does something while what stands under `@` is that of `lane`.
    pub fn in_lane<T>(&mut self, node: &Node, lane: usize, work: impl FnOnce(&mut Self) -> Evaluated<T>) -> Evaluated<T> {
        let frame = self.frame_at(node)?;
        let before = self.under;
        self.under = self.scene.same_frame(&frame, lane as u32);
        let result = work(self);
        self.under = before;
        result
    }

    fn frame_at(&self, node: &Node) -> Evaluated<Frame<'a>> {
        self.frame.clone().map_err(|error| EvaluationError { column: node.at, reason: error.into() })
    }

    /// Makes the lane under `@` the one that is looked from.
    pub fn under_lanes<T>(&mut self, node: &Node, work: impl FnOnce(&mut Self) -> Evaluated<T>) -> Evaluated<T> {
        let Some(under) = self.under else { return work(self) };
        let mut inner = Evaluator { scene: self.scene, frame: Ok(under), under: None };
        inner.scene.focus.lane = under.lane;
        // Frames are counted from inside, and this lane may be deeper in calls than the focused one.
        inner.scene.focus.frame = match &self.frame {
            Ok(focused) if focused.group.mask.contains(under.lane as usize) => self.scene.focus.frame,
            _ => {
                inner.scene.frames().map_err(|error| EvaluationError { column: node.at, reason: error.into() })?.len() as u32
                    - 1
                    - under.depth
            }
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
            NodeKind::Binary(op, parts) => {
                let (a, b) = (self.value(&parts[0])?, self.value(&parts[1])?);
                operators::binary(*op, &a, &b).map_err(|message| refused(node, message))
            }
            NodeKind::Logical(is_or, parts) => {
                let decided = self.value(&parts[0])?.is_true() == *is_or;
                Ok(Scalar::truth(if decided { *is_or } else { self.value(&parts[1])?.is_true() }))
            }
            NodeKind::Conditional(parts) => {
                let chosen = if self.value(&parts[0])?.is_true() { &parts[1] } else { &parts[2] };
                self.value(chosen)
            }
            NodeKind::Cast(ty, a) => self.cast(node, *ty, a),
            NodeKind::Convenience(word) => self.convenience(node, *word),
            NodeKind::Special(register) => self.special(node, *register),
            NodeKind::Aggregate(aggregate, inner) => self.aggregate(*aggregate, inner),
            NodeKind::AddressOf(a) => self.address_of(a),
            NodeKind::Lanes(inner, _) => self.under_lanes(node, |under| under.value(inner)),
            NodeKind::Name(_) | NodeKind::Dereference(_) | NodeKind::Index(_) | NodeKind::Slice(_) => {
                let thing = self.thing(node)?;
                self.load(node, thing)
            }
        }
    }

    /// `(ty)a`. A pointer keeps its space, unless another one is named.
    fn cast(&mut self, node: &Node, ty: TypeName, a: &Node) -> Evaluated<Scalar> {
        let a = self.value(a)?;
        if !ty.pointer {
            return operators::cast(&a, ty.ty).map_err(|message| refused(node, message));
        }
        let own = if let Type::Pointer(space, _) = a.ty { space } else { Space::Generic };
        let address = operators::convert(&a, ScalarType::U64);
        Ok(Scalar::new(Type::Pointer(ty.space.unwrap_or(own), ty.ty), address.bits))
    }

    /// What `node` is, without reading it.
    pub fn thing(&mut self, node: &Node) -> Evaluated<Referent<'a>> {
        match &node.kind {
            NodeKind::Name(name) => self.named(node, name),
            NodeKind::Dereference(a) => {
                let pointer = self.value(a)?;
                self.dereference(node, &pointer).map(Referent::Memory)
            }
            NodeKind::Index(parts) => self.index(node, &parts[0], &parts[1]),
            NodeKind::Slice(parts) => self.slice(node, parts),
            NodeKind::Lanes(inner, _) => self.under_lanes(node, |under| under.thing(inner)),
            _ => self.value(node).map(Referent::Value),
        }
    }

    /// `a[low..high]`: elements of the outermost dimension, or of what a pointer points to.
    fn slice(&mut self, node: &Node, parts: &[Node; 3]) -> Evaluated<Referent<'a>> {
        let base = match self.thing(&parts[0])? {
            Referent::Memory(extent) if extent.is_array() => refuse_rows_of_rows(node, &parts[0], extent)?,
            thing => {
                let pointer = self.load(&parts[0], thing)?;
                self.dereference(node, &pointer)?
            }
        };
        let (low, high) = (self.whole(&parts[1])?, self.whole(&parts[2])?);
        let count = high.checked_sub(low).and_then(|count| u64::try_from(count).ok()?.checked_add(1));
        let count = count.ok_or_else(|| refused(&parts[2], format!("the range ends at {high}, before it begins at {low}")))?;
        Ok(Referent::Memory(Extent { address: moved(base.address, low, base.stride()), elements: Some(count), ..base }))
    }

    fn named(&self, node: &Node, name: &str) -> Evaluated<Referent<'a>> {
        let frame = self.frame.as_ref();
        match scope::look_up(&self.scene, frame.ok(), name) {
            Some(Named::Register(register)) => Ok(Referent::Register(register)),
            Some(Named::Memory(place)) => Ok(Referent::Memory(place.into())),
            Some(Named::Untyped { address, bytes }) => {
                Ok(Referent::Memory(Extent { space: Space::Global, address, ty: ScalarType::B8, elements: Some(bytes), shape: &[] }))
            }
            Some(Named::Label(pc)) => Ok(Referent::Value(Scalar { ty: Type::Code, bits: u128::from(pc.0) })),
            Some(Named::Function(function)) => {
                let address = map::function_address(&self.scene.program().map, function.0);
                Ok(Referent::Value(Scalar { ty: Type::Function, bits: u128::from(address) }))
            }
            None => {
                if let Some(thing) = self.cuda_name(node, name)? {
                    return Ok(thing);
                }
                let reason = match frame {
                    // It is a name of a function that the thread is not in.
                    Err(error) if scope::is_in_a_function(self.scene.program(), name) => error.clone().into(),
                    _ => Reason::Unknown { name: name.to_string(), hint: scope::hint(&self.scene, name) },
                };
                Err(EvaluationError { column: node.at, reason })
            }
        }
    }

    /// `threadIdx.x` and its kin, as CUDA writes special registers, where nothing else has the name.
    fn cuda_name(&self, node: &Node, name: &str) -> Evaluated<Option<Referent<'a>>> {
        let (vector, part) = name.split_once('.').map_or((name, None), |(vector, part)| (vector, Some(part)));
        let Some((_, ptx)) = CUDA_NAMES.iter().find(|row| row.0 == vector) else { return Ok(None) };
        let component = |part: &str| match special_register(&format!("{ptx}.{part}")) {
            Some(register) if part != "w" => self.special(node, register),
            _ => Err(refused(node, format!("'{vector}' has x, y and z"))),
        };
        match part {
            Some(part) => component(part).map(|value| Some(Referent::Value(value))),
            None => {
                let values = [component("x")?, component("y")?, component("z")?];
                Ok(Some(Referent::Triple(values.map(|value| value.bits as u32))))
            }
        }
    }

    /// What a pointer points to. A number is taken for a generic address of what is known to lie there, or of 32 bits.
    fn dereference(&self, node: &Node, pointer: &Scalar) -> Evaluated<Extent<'a>> {
        let (space, ty) = match pointer.ty {
            Type::Pointer(space, ty) => (space, ty),
            Type::Scalar(ty) if number::to_integer(ty, 0).is_some() => (Space::Generic, self.type_at(pointer.bits as u64)),
            _ => return Err(refused(node, format!("a value of type {} is not an address", pointer.ty.name()))),
        };
        Ok(Extent { space, address: pointer.bits as u64, ty, elements: None, shape: &[] })
    }

    /// Type of the elements of the buffer or variable at a generic address; `.b32` where none is.
    fn type_at(&self, address: u64) -> ScalarType {
        let allocation = self.scene.machine.device().global().find(address);
        let name = allocation.map(|allocation| &*allocation.name);
        let buffer = self.scene.buffers.iter().find(|buffer| Some(buffer.name.as_str()) == name).map(|buffer| buffer.ty);
        let variables = || self.scene.program().variables.iter().filter(|variable| variable.location.space == Space::Global);
        let of_variable = |variable| scope::variable_type(&self.scene, variable).0;
        let variable = || variables().find(|variable| Some(&*variable.name) == name).map(of_variable);
        buffer.or_else(variable).unwrap_or(ScalarType::B32)
    }

    fn index(&mut self, node: &Node, base: &Node, index: &Node) -> Evaluated<Referent<'a>> {
        let base_thing = self.thing(base)?;
        let steps = self.whole(index)?;
        match base_thing {
            Referent::Memory(extent) if extent.is_array() => {
                let extent = refuse_rows_of_rows(node, base, extent)?;
                let address = moved(extent.address, steps, extent.stride());
                let (elements, shape) = extent.shape.split_first().map_or((None, extent.shape), |(first, rest)| (Some(*first), rest));
                Ok(Referent::Memory(Extent { address, elements, shape, ..extent }))
            }
            thing => {
                let value = self.load(base, thing)?;
                if let Type::Scalar(ty) = value.ty
                    && number::parts(ty).1 > 1
                {
                    let (one, count) = number::parts(ty);
                    let part = u32::try_from(steps).ok().filter(|part| *part < count);
                    let part = part.ok_or_else(|| refused(index, format!("'.{}' has parts 0 to {}", ty.word(), count - 1)))?;
                    return Ok(Referent::Value(Scalar { ty: Type::Scalar(one), bits: number::part(ty, value.bits, part) }));
                }
                let target = self.dereference(node, &value)?;
                Ok(Referent::Memory(Extent { address: moved(target.address, steps, u64::from(target.ty.bytes())), ..target }))
            }
        }
    }

    /// An integer, for an index.
    fn whole(&mut self, node: &Node) -> Evaluated<i128> {
        let value = self.value(node)?;
        let whole = match value.ty {
            Type::Scalar(ty) => number::to_integer(ty, value.bits),
            Type::Pointer(..) | Type::Code | Type::Function => None,
        };
        whole.ok_or_else(|| refused(node, format!("an index is an integer, not {}", value.ty.name())))
    }

    fn address_of(&mut self, node: &Node) -> Evaluated<Scalar> {
        match self.thing(node)? {
            Referent::Memory(extent) => Ok(Scalar { ty: Type::Pointer(extent.space, extent.ty), bits: u128::from(extent.address) }),
            Referent::Value(value) if matches!(value.ty, Type::Code | Type::Function) => Ok(value),
            Referent::Register(_) => Err(refused(node, "a register has no address".to_string())),
            Referent::Value(_) | Referent::Triple(_) => Err(refused(node, "only what lies in memory has an address".to_string())),
        }
    }

    /// Reads what a thing holds; an array is the address of its first element.
    fn load(&self, node: &Node, thing: Referent<'a>) -> Evaluated<Scalar> {
        match thing {
            Referent::Value(value) => Ok(value),
            Referent::Register(place) => self.register(node, &place),
            Referent::Triple(_) => Err(refused(node, "a vector is used by its parts: .x, .y or .z".to_string())),
            Referent::Memory(extent) if extent.is_array() => {
                Ok(Scalar { ty: Type::Pointer(extent.space, extent.ty), bits: u128::from(extent.address) })
            }
            Referent::Memory(extent) => {
                let mut bytes = [0; 16];
                let bytes = &mut bytes[..(extent.ty.bytes() as usize).min(16)];
                let read = memory::read(&self.scene, extent.space, extent.address, bytes);
                read.map_err(|error| EvaluationError { column: node.at, reason: error.into() })?;
                Ok(Scalar::new(Type::Scalar(extent.ty), little_endian(bytes)))
            }
        }
    }

    fn register(&self, node: &Node, place: &RegisterPlace) -> Evaluated<Scalar> {
        let frame = self.frame.as_ref().map_err(|error| EvaluationError { column: node.at, reason: error.clone().into() })?;
        let bits = register_bits(frame, place).ok_or_else(|| {
            let name = if let NodeKind::Name(name) = &node.kind { name.clone() } else { String::new() };
            EvaluationError { column: node.at, reason: Reason::NoValue(name) }
        })?;
        Ok(Scalar::new(Type::Scalar(place.ty), bits))
    }

    fn special(&self, node: &Node, register: usize) -> Evaluated<Scalar> {
        // What a register says of the launch and of the thread's place in it holds for threads that are not there as well.
        let row = SPECIAL_REGISTERS.get(register).filter(|row| row.kind == SpecialKind::Fixed);
        let lane = match (&self.frame, row) {
            (Ok(frame), _) => frame.lane,
            (Err(_), Some(_)) if self.scene.machine.block_number(self.scene.focus.block).is_some() => self.scene.focus.lane,
            (Err(_), _) => self.frame_at(node)?.lane,
        };
        let Focus { block, warp, .. } = self.scene.focus;
        let values = self.scene.machine.special_register(block, warp, register);
        let ty = SPECIAL_REGISTERS.get(register).map_or(ScalarType::U32, |row| row.ty);
        Ok(Scalar::new(Type::Scalar(ty), u128::from(values[lane as usize % 32])))
    }

    fn convenience(&self, node: &Node, word: Convenience) -> Evaluated<Scalar> {
        let number = |ty, bits| Ok(Scalar { ty: Type::Scalar(ty), bits });
        match word {
            Convenience::Pc => {
                let frame = self.frame_at(node)?;
                let innermost = self.scene.focus.frame == 0;
                let pc = if innermost { frame.group.current_pc() } else { frame.pc };
                Ok(Scalar { ty: Type::Code, bits: u128::from(pc.0) })
            }
            Convenience::Lane => number(ScalarType::U32, u128::from(self.scene.focus.lane)),
            Convenience::Warp => number(ScalarType::U32, u128::from(self.scene.focus.warp)),
            Convenience::Frame => number(ScalarType::U32, u128::from(self.scene.focus.frame)),
            Convenience::Time => number(ScalarType::U64, u128::from(self.scene.machine.tick().0)),
            Convenience::Active => number(ScalarType::U32, u128::from(self.frame_at(node)?.group.mask.bits())),
        }
    }

    /// A function of the values in several lanes: those of the `@` inside, or else the active ones.
    fn aggregate(&mut self, aggregate: Aggregate, inner: &Node) -> Evaluated<Scalar> {
        let lanes = match inner.lanes() {
            Some(wanted) => self.over_lanes(inner, wanted, false)?,
            None => {
                let active = self.frame_at(inner)?.group.mask;
                self.over_lanes(inner, active, true)?
            }
        };
        let mut values = lanes.iter().map(|(_, scalar)| scalar);
        let refuse = |message| refused(inner, message);
        let better = |keep: BinaryOp| {
            move |best: Evaluated<Scalar>, value: Scalar| {
                let best = best?;
                let wins = operators::binary(keep, &value, &best).map_err(refuse)?.is_true();
                Ok(if wins { value } else { best })
            }
        };
        let first = Scalar { ty: lanes.ty, bits: lanes.bits[lanes.mask.first()] };
        match aggregate {
            Aggregate::Any => Ok(Scalar::truth(values.any(|value| value.is_true()))),
            Aggregate::All => Ok(Scalar::truth(values.all(|value| value.is_true()))),
            Aggregate::Uniform => Ok(Scalar::truth(values.all(|value| value.bits == first.bits))),
            Aggregate::Min => values.fold(Ok(first), better(BinaryOp::Lt)),
            Aggregate::Max => values.fold(Ok(first), better(BinaryOp::Gt)),
            Aggregate::Sum => {
                let zero = operators::common_type(&first, &first).map_err(refuse)?;
                let wide = match zero.kind() {
                    crate::isa::TypeKind::Float => ScalarType::F64,
                    crate::isa::TypeKind::Unsigned => ScalarType::U64,
                    _ => ScalarType::S64,
                };
                let start = Scalar { ty: Type::Scalar(wide), bits: 0 };
                values
                    .try_fold(start, |sum, value| operators::binary(BinaryOp::Add, &sum, &operators::convert(&value, wide)).map_err(refuse))
            }
        }
    }

    /// The first elements of an array.
    fn array(&self, node: &Node, extent: &Extent<'a>) -> Evaluated<Array> {
        let size = u64::from(extent.ty.bytes().max(1));
        let count = (extent.bytes() / size).min(ELEMENTS);
        let mut bytes = vec![0; (count * size) as usize];
        let read = memory::read(&self.scene, extent.space, extent.address, &mut bytes);
        read.map_err(|error| EvaluationError { column: node.at, reason: error.into() })?;
        let elements = bytes.chunks_exact(size as usize).map(little_endian).collect();
        let shape = extent.elements.into_iter().chain(extent.shape.iter().copied()).collect();
        Ok(Array { ty: extent.ty, space: extent.space, address: extent.address, shape, elements })
    }
}

/// The bits of a register in a frame; none if no code names it.
pub fn register_bits(frame: &Frame<'_>, place: &RegisterPlace) -> Option<u128> {
    let slot = place.slot?;
    let (registers, lane) = (&frame.warp.registers, frame.lane as usize % 32);
    match place.bank {
        Bank::B32 => registers.b32.get(slot.in_frame(frame.base.b32).index()).map(|register| u128::from(register[lane])),
        Bank::Pred => registers.pred.get(slot.in_frame(frame.base.pred).index()).map(|bits| u128::from(bits.contains(lane))),
        Bank::B64 => {
            let half =
                |index: usize| registers.b64.get(slot.in_frame(frame.base.b64).index() + index).map(|register| u128::from(register[lane]));
            let high = if place.width > 1 { half(1)? } else { 0 };
            Some(half(0)? | high << 64)
        }
    }
}

/// An address some elements further on.
fn moved(address: u64, steps: i128, stride: u64) -> u64 {
    i128::from(address).wrapping_add(steps.wrapping_mul(i128::from(stride))) as u64
}

pub(super) fn refused(node: &Node, message: String) -> EvaluationError {
    EvaluationError { column: node.at, reason: Reason::Refused(message) }
}

/// The number whose little-endian bytes these are; at most 16.
pub fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

/// The array `extent`, unless it is a range of rows, of which nothing further can be named.
fn refuse_rows_of_rows<'a>(node: &Node, base: &Node, extent: Extent<'a>) -> Evaluated<Extent<'a>> {
    let is_range_of_rows = matches!(base.kind, NodeKind::Slice(_)) && !extent.shape.is_empty();
    let way_out = "only the last index can be a range: name the row, as in x[3][0..7]";
    if is_range_of_rows { Err(refused(node, way_out.to_string())) } else { Ok(extent) }
}
