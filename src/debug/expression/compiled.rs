//! Expressions that are evaluated at each of many instructions: names are looked up once.
//!
//! What an expression means at one instruction is [`Compiled`]: registers by their slots, what depends on nothing but the thread as parts
//! that are evaluated once for each warp ([`PartValues`]), global, constant and shared memory by its address, everything else that does not
//! change as constants. Numbers are computed for all lanes together ([`LaneCode`]), what else there is for each lane. What is left, such as
//! pointers that are followed and values of several lanes, is open: the lanes whose answer depends on it are given back, for
//! [`Expression::holds`].

use super::Expression;
use super::evaluate::{Evaluator, Extent, Reason, Referent, one_by_one};
use super::lane_code::{LaneCode, LaneNumbers, Place, Sources};
use super::operators;
use super::special::is_of_thread;
use super::tree::{BinaryOp, Convenience, Node, NodeKind, UnaryOp};
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::Focus;
use crate::debug::names::scope::{RegisterLocation, bits_of_lane};
use crate::debug::source_names;
use crate::debug::value::{Scalar, Type, number};
use crate::isa::{SPECIAL_REGISTERS, ScalarType, Space, SpecialKind, TypeKind};
use crate::machine::{FrameBase, LANES, LaneMask, Memories, Registers};
use crate::program::Bank;

/// What an expression means at one instruction.
#[derive(Clone, Debug)]
pub(in crate::debug) struct Compiled(Code);

/// The values of a part of an expression in the lanes of a warp; none where it has no value.
#[derive(Clone, Debug)]
pub(in crate::debug) struct PartValues {
    values: Vec<Option<Scalar>>,
    /// The same, if they are numbers of one type.
    numbers: Option<LaneNumbers>,
    /// The lanes in which it is true, and in which it has no value.
    truth: Truth,
}

/// The registers and the memory of a warp at an instruction, and the values of the parts.
#[derive(Clone, Copy)]
pub(in crate::debug) struct Operands<'w> {
    /// The registers.
    pub registers: &'w Registers,
    /// The frame that the instruction is in.
    pub frame: FrameBase,
    /// The memory.
    pub memories: Memories<'w>,
    /// The parts that depend on the thread alone.
    pub parts: &'w [PartValues],
}

#[derive(Clone, Debug)]
enum Code {
    Constant(Scalar),
    /// A part by its number, and its value in the lane that it is compiled for.
    Part(usize, Option<Scalar>),
    /// A number that is computed for all lanes together, and the same for each lane.
    Lanes(Box<(LaneCode, Code)>),
    /// Memory with its indices, each with the bytes of an element.
    Load(Place, Vec<(Code, u64)>),
    /// It has no value in any lane.
    Fails,
    Register(RegisterLocation),
    /// A register of 32 bits beside a number, both as integers of 64 bits.
    Compare(BinaryOp, Narrow, i64),
    Unary(UnaryOp, Box<Code>),
    Binary(BinaryOp, Box<[Code; 2]>),
    Logical(bool, Box<[Code; 2]>),
    Conditional(Box<[Code; 3]>),
    Cast(ScalarType, Box<Code>),
    /// Its value is not known from registers.
    Open,
}

/// A register of 32 bits that is compared as an integer.
#[derive(Clone, Copy, Debug)]
struct Narrow {
    location: RegisterLocation,
    /// Its sign bit is that of the comparison.
    is_signed: bool,
}

/// What is known of the value in one lane.
enum Known {
    Value(Scalar),
    Failed,
    Open,
}

/// The lanes in which something is true, has no value, or is open; it is false in the others.
#[derive(Clone, Copy, Debug, Default)]
struct Truth {
    holds: LaneMask,
    fails: LaneMask,
    open: LaneMask,
}

impl Expression {
    /// The parts that depend on the thread alone, for [`PartValues::of_warp`].
    pub(in crate::debug) fn parts_of_threads(&self) -> Vec<Node> {
        let mut parts = Vec::new();
        collect_parts(&self.root, &mut parts);
        parts
    }

    /// What it means at the instruction of the focused thread; `parts` are those of [`Self::parts_of_threads`].
    pub(in crate::debug) fn compile(&self, context: &EvalContext<'_>, parts: &[Node]) -> Compiled {
        let mut evaluator = Evaluator::new(context);
        let is_of_lanes = self.root.lanes().is_some() || evaluator.names_tensor(&self.root);
        Compiled(if is_of_lanes { Code::Open } else { of_lanes(compile(&mut evaluator, &self.root, parts)) })
    }
}

fn collect_parts(node: &Node, parts: &mut Vec<Node>) {
    match &node.kind {
        NodeKind::Number(_) => {}
        _ if depends_on_thread_alone(node) => parts.push(node.clone()),
        _ => node.children().iter().for_each(|child| collect_parts(child, parts)),
    }
}

/// True for numbers, coordinates of threads, and what is computed from them.
fn depends_on_thread_alone(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Number(_) => true,
        NodeKind::Special(register) => SPECIAL_REGISTERS.get(*register).is_some_and(|row| row.kind == SpecialKind::Fixed),
        NodeKind::Name(name) => is_of_thread(name),
        NodeKind::Convenience(word) => matches!(word, Convenience::Lane | Convenience::Warp),
        NodeKind::Unary(..)
        | NodeKind::Binary(..)
        | NodeKind::Logical(..)
        | NodeKind::Conditional(_)
        | NodeKind::Cast(..)
        | NodeKind::Function(..) => node.children().iter().all(depends_on_thread_alone),
        NodeKind::Step(..)
        | NodeKind::SourceCast(..)
        | NodeKind::SizeOf(..)
        | NodeKind::Dereference(_)
        | NodeKind::AddressOf(_)
        | NodeKind::Index(_)
        | NodeKind::Slice(_)
        | NodeKind::Subscripts(_)
        | NodeKind::Range(_)
        | NodeKind::File(_)
        | NodeKind::Member(..)
        | NodeKind::Lanes(..)
        | NodeKind::Aggregate(..) => false,
    }
}

fn compile(evaluator: &mut Evaluator<'_>, node: &Node, parts: &[Node]) -> Code {
    if let Some(part) = parts.iter().position(|part| part == node) {
        return Code::Part(part, evaluator.value(node).ok());
    }
    let mut of = |node: &Node| compile(evaluator, node, parts);
    match &node.kind {
        NodeKind::Number(value) => Code::Constant(*value),
        NodeKind::Unary(op, a) => match of(a) {
            Code::Fails => Code::Fails,
            a => Code::Unary(*op, Box::new(a)),
        },
        NodeKind::Binary(op, operands) => binary(*op, operands.each_ref().map(of)),
        NodeKind::Logical(is_or, operands) => Code::Logical(*is_or, Box::new(operands.each_ref().map(of))),
        NodeKind::Conditional(operands) => Code::Conditional(Box::new(operands.each_ref().map(of))),
        NodeKind::Cast(ty, a) if !ty.pointer => match of(a) {
            Code::Fails => Code::Fails,
            a => Code::Cast(ty.ty, Box::new(a)),
        },
        NodeKind::SizeOf(..) | NodeKind::Convenience(Convenience::Pc) => evaluator.value(node).map_or(Code::Open, Code::Constant),
        NodeKind::Name(_) => named(evaluator, node),
        NodeKind::Index(_) | NodeKind::Subscripts(_) => load(place(evaluator, node, parts), evaluator),
        NodeKind::Special(_)
        | NodeKind::Step(..)
        | NodeKind::Convenience(_)
        | NodeKind::Cast(..)
        | NodeKind::SourceCast(..)
        | NodeKind::Dereference(_)
        | NodeKind::AddressOf(_)
        | NodeKind::Slice(_)
        | NodeKind::Range(_)
        | NodeKind::File(_)
        | NodeKind::Member(..)
        | NodeKind::Lanes(..)
        | NodeKind::Aggregate(..)
        | NodeKind::Function(..) => Code::Open,
    }
}

/// A register, a value that is the same as long as the launch runs, or open.
fn named(evaluator: &mut Evaluator<'_>, node: &Node) -> Code {
    if is_buffer_for_a_while(evaluator, node) {
        return Code::Open;
    }
    let is_kept = matches!(&node.kind, NodeKind::Name(name) if name.starts_with('$') && !name.contains('.'));
    match evaluator.referent(node) {
        Ok(Referent::Register(location)) if location.slot.is_some() => Code::Register(location),
        Ok(Referent::Value(value)) if is_kept || matches!(value.ty, Type::Code | Type::Function) => Code::Constant(value),
        Ok(Referent::Memory(extent)) if extent.space == Space::Param || extent.elements.is_some() && extent.space == Space::Global => {
            evaluator.value(node).map_or(Code::Open, Code::Constant)
        }
        Ok(Referent::Memory(extent)) => load(Some((extent, Vec::new())), evaluator),
        // Names are the same for all lanes at an instruction.
        Ok(Referent::Register(_)) => Code::Fails,
        Err(error) if matches!(error.reason, Reason::Unknown { .. } | Reason::NoValue(_)) => Code::Fails,
        Ok(Referent::Value(_) | Referent::Vector3(_) | Referent::Kept(_) | Referent::Source(_) | Referent::Slice(..)) | Err(_) => {
            Code::Open
        }
    }
}

/// True for a pointer of the source that is its buffer as long as it has not been moved, which threads do at different times.
fn is_buffer_for_a_while(evaluator: &Evaluator<'_>, node: &Node) -> bool {
    let NodeKind::Name(name) = &node.kind else { return false };
    let frame = evaluator.own_frame();
    let variable = source_names::find(&evaluator.context, frame, name);
    variable.is_some_and(|variable| source_names::may_point_elsewhere(&evaluator.context, frame, &variable))
}

/// An element of an array of memory that all threads of a block share.
fn place<'a>(evaluator: &mut Evaluator<'a>, node: &Node, parts: &[Node]) -> Option<(Extent<'a>, Vec<(Code, u64)>)> {
    match &node.kind {
        NodeKind::Name(_) => match evaluator.referent(node) {
            Ok(Referent::Memory(extent)) if !is_buffer_for_a_while(evaluator, node) => Some((extent, Vec::new())),
            _ => None,
        },
        NodeKind::Subscripts(subscripts) => place(evaluator, &one_by_one(node, subscripts), parts),
        NodeKind::Index(operands) => {
            let (extent, mut indices) = place(evaluator, &operands[0], parts)?;
            extent.elements?;
            indices.push((compile(evaluator, &operands[1], parts), extent.stride()));
            let (elements, shape) = extent.shape.split_first().map_or((None, extent.shape), |(first, rest)| (Some(*first), rest));
            Some((Extent { elements, shape, ..extent }, indices))
        }
        _ => None,
    }
}

fn load(place: Option<(Extent<'_>, Vec<(Code, u64)>)>, evaluator: &Evaluator<'_>) -> Code {
    let machine = evaluator.context.machine;
    match place {
        Some((extent, indices)) if !extent.is_array() && matches!(extent.space, Space::Global | Space::Const | Space::Shared) => {
            let Extent { space, address, ty, .. } = extent;
            Code::Load(Place { space, address, ty, shared: machine.shared_start()..machine.shared_bytes() }, indices)
        }
        _ => Code::Open,
    }
}

/// The same with numbers computed for all lanes together.
fn of_lanes(code: Code) -> Code {
    let is_small = matches!(code, Code::Constant(_) | Code::Part(..) | Code::Compare(..));
    if !is_small && let Some(lanes) = lane_code(&code) {
        return Code::Lanes(Box::new((lanes, code)));
    }
    match code {
        Code::Unary(op, a) => Code::Unary(op, Box::new(of_lanes(*a))),
        Code::Logical(is_or, operands) => Code::Logical(is_or, Box::new(operands.map(of_lanes))),
        Code::Conditional(operands) => Code::Conditional(Box::new(operands.map(of_lanes))),
        code => code,
    }
}

fn lane_code(code: &Code) -> Option<LaneCode> {
    match code {
        Code::Constant(value) => LaneCode::constant(value),
        Code::Part(part, value) => LaneCode::part(*part, value.as_ref()?),
        Code::Register(location) => LaneCode::register(location),
        Code::Unary(op, a) => LaneCode::unary(*op, lane_code(a)?),
        Code::Cast(ty, a) => LaneCode::cast(*ty, lane_code(a)?),
        Code::Binary(op, operands) => LaneCode::binary(*op, [lane_code(&operands[0])?, lane_code(&operands[1])?]),
        Code::Load(place, indices) => {
            let indices = indices.iter().map(|(index, bytes)| Some((lane_code(index)?, *bytes))).collect::<Option<_>>()?;
            LaneCode::load(place, indices)
        }
        Code::Lanes(_) | Code::Compare(..) | Code::Logical(..) | Code::Conditional(_) | Code::Fails | Code::Open => None,
    }
}

fn binary(op: BinaryOp, operands: [Code; 2]) -> Code {
    // What has no value takes it from the whole, unless the other side is not known yet.
    if matches!(operands, [Code::Fails, _] | [_, Code::Fails]) && !operands.iter().any(|code| matches!(code, Code::Open)) {
        return Code::Fails;
    }
    if op.is_comparison() {
        let narrow = match &operands {
            [Code::Register(register), Code::Constant(number)] => narrow(register, number).map(|found| (op, found)),
            [Code::Constant(number), Code::Register(register)] => narrow(register, number).map(|found| (mirrored(op), found)),
            _ => None,
        };
        if let Some((op, (register, number))) = narrow {
            return Code::Compare(op, register, number);
        }
    }
    Code::Binary(op, Box::new(operands))
}

/// The register and the number as integers that 64 bits hold, if that is what they are compared as.
fn narrow(location: &RegisterLocation, number: &Scalar) -> Option<(Narrow, i64)> {
    let is_whole = |ty: ScalarType| ty.kind() != TypeKind::Float && ty.kind() != TypeKind::Predicate && number::elements(ty).1 == 1;
    let Type::Scalar(of_number) = number.ty else { return None };
    if location.bank != Bank::B32 || location.ty.bits() != 32 || !is_whole(location.ty) || !is_whole(of_number) {
        return None;
    }
    let register = Scalar::new(Type::Scalar(location.ty), 0);
    let ty = operators::common_type(&register, number).ok().filter(|ty| ty.bits() == 32 || *ty == ScalarType::S64)?;
    let is_signed = if ty == ScalarType::S64 { location.ty.kind() != TypeKind::Unsigned } else { ty == ScalarType::S32 };
    let number = number::to_integer(ty, operators::convert(number, ty).bits)?;
    Some((Narrow { location: *location, is_signed }, i64::try_from(number).ok()?))
}

/// The comparison with its operands exchanged.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        same => same,
    }
}

impl PartValues {
    /// The values of `parts` in the lanes of the focused warp.
    pub(in crate::debug) fn of_warp(context: &EvalContext<'_>, parts: &[Node]) -> Vec<Self> {
        let value = |part: &Node, lane: usize| {
            let focus = Focus { lane: lane as u32, frame: 0, ..context.focus };
            Evaluator::new(&context.refocused(focus)).value(part).ok()
        };
        let values = |part| (0..LANES).map(|lane| value(part, lane)).collect();
        parts.iter().map(values).map(Self::new).collect()
    }

    fn new(values: Vec<Option<Scalar>>) -> Self {
        let lanes = |is_one: fn(&Option<Scalar>) -> bool| (0..LANES).filter(|lane| is_one(&values[*lane])).collect();
        let holds = lanes(|value| value.is_some_and(|value| value.is_true()));
        let truth = Truth { holds, fails: lanes(Option::is_none), open: LaneMask::NONE };
        let numbers = LaneNumbers::of(&values);
        Self { values, numbers, truth }
    }
}

impl Compiled {
    /// The lanes of `lanes` in which it is true, and those in which registers do not decide whether it is.
    pub(in crate::debug) fn decide(&self, operands: &Operands<'_>, lanes: LaneMask) -> (LaneMask, LaneMask) {
        operands.both(&self.0, lanes)
    }
}

impl Operands<'_> {
    /// Like [`Self::truth`] where false and no value are the same: `a && b` does not hold where either does not.
    fn both(&self, code: &Code, lanes: LaneMask) -> (LaneMask, LaneMask) {
        let Code::Logical(false, operands) = code else {
            let truth = self.truth(code, lanes);
            return (truth.holds, truth.open);
        };
        let (holds, open) = self.both(&operands[0], lanes);
        let (right_holds, right_open) = self.both(&operands[1], holds | open);
        (holds & right_holds, (holds | open) & (right_holds | right_open) & (open | right_open))
    }

    /// In which of `lanes` it is true.
    fn truth(&self, code: &Code, lanes: LaneMask) -> Truth {
        match code {
            Code::Open => Truth { open: lanes, ..Truth::default() },
            Code::Fails => Truth { fails: lanes, ..Truth::default() },
            Code::Lanes(both) => self.truth_of_lanes(&both.0, lanes).unwrap_or_else(|| self.truth(&both.1, lanes)),
            Code::Part(part, _) => self.parts.get(*part).map_or(Truth { open: lanes, ..Truth::default() }, |part| part.truth.among(lanes)),
            Code::Compare(op, register, number) => self.compare(*op, register, *number, lanes),
            Code::Unary(UnaryOp::Not, a) => {
                let Truth { holds, fails, open } = self.truth(a, lanes);
                Truth { holds: lanes & !(holds | fails | open), fails, open }
            }
            Code::Logical(is_or, operands) => {
                let left = self.truth(&operands[0], lanes);
                let undecided = if *is_or { lanes & !(left.holds | left.fails | left.open) } else { left.holds };
                let right = self.truth(&operands[1], undecided);
                let holds = if *is_or { left.holds | right.holds } else { right.holds };
                Truth { holds, fails: left.fails | right.fails, open: left.open | right.open }
            }
            Code::Conditional(operands) => {
                let condition = self.truth(&operands[0], lanes);
                let first = self.truth(&operands[1], condition.holds);
                let second = self.truth(&operands[2], lanes & !(condition.holds | condition.fails | condition.open));
                Truth {
                    holds: first.holds | second.holds,
                    fails: condition.fails | first.fails | second.fails,
                    open: condition.open | first.open | second.open,
                }
            }
            Code::Constant(_) | Code::Register(_) | Code::Unary(..) | Code::Binary(..) | Code::Cast(..) | Code::Load(..) => {
                let mut truth = Truth::default();
                for lane in lanes.iter() {
                    match self.value(code, lane) {
                        Known::Value(value) if value.is_true() => truth.holds |= LaneMask::of(lane),
                        Known::Value(_) => {}
                        Known::Failed => truth.fails |= LaneMask::of(lane),
                        Known::Open => truth.open |= LaneMask::of(lane),
                    }
                }
                truth
            }
        }
    }

    /// None if a part has values of several types.
    fn truth_of_lanes(&self, code: &LaneCode, lanes: LaneMask) -> Option<Truth> {
        let part = |part: usize| self.parts.get(part).and_then(|part| part.numbers.as_ref());
        let sources = Sources { registers: self.registers, frame: self.frame, memories: self.memories, part: &part };
        let (holds, fails) = code.truth(&sources, lanes)?;
        Some(Truth { holds, fails, open: LaneMask::NONE })
    }

    fn compare(&self, op: BinaryOp, Narrow { location, is_signed }: &Narrow, number: i64, lanes: LaneMask) -> Truth {
        let slot = location.slot.map(|slot| slot.in_frame(self.frame.b32).index());
        let Some(register) = slot.and_then(|slot| self.registers.b32.get(slot)) else {
            return Truth { fails: lanes, ..Truth::default() };
        };
        let value = |bits: u32| if *is_signed { i64::from(bits.cast_signed()) } else { i64::from(bits) };
        let all = |holds: fn(&i64, &i64) -> bool| {
            register.iter().enumerate().fold(0, |mask, (lane, bits)| mask | u32::from(holds(&value(*bits), &number)) << lane)
        };
        let holds = match op {
            BinaryOp::Eq => all(i64::eq),
            BinaryOp::Ne => all(i64::ne),
            BinaryOp::Lt => all(i64::lt),
            BinaryOp::Le => all(i64::le),
            BinaryOp::Gt => all(i64::gt),
            _ => all(i64::ge),
        };
        Truth { holds: LaneMask::from_bits(holds) & lanes, ..Truth::default() }
    }

    /// The value in one lane.
    fn value(&self, code: &Code, lane: usize) -> Known {
        let result = |value: Result<Scalar, operators::OperatorError>| value.map_or(Known::Failed, Known::Value);
        match code {
            Code::Constant(value) => Known::Value(*value),
            Code::Part(part, _) => match self.parts.get(*part).map(|part| part.values[lane]) {
                Some(value) => value.map_or(Known::Failed, Known::Value),
                None => Known::Open,
            },
            Code::Register(location) => match bits_of_lane(self.registers, self.frame, location, lane) {
                Some(bits) => Known::Value(Scalar::new(Type::Scalar(location.ty), bits)),
                None => Known::Failed,
            },
            Code::Unary(op, a) => match self.value(a, lane) {
                Known::Value(a) => result(operators::unary(*op, &a)),
                other => other,
            },
            Code::Cast(ty, a) => match self.value(a, lane) {
                Known::Value(a) => result(operators::cast(&a, *ty)),
                other => other,
            },
            Code::Binary(op, operands) => match (self.value(&operands[0], lane), self.value(&operands[1], lane)) {
                (Known::Value(a), Known::Value(b)) => result(operators::binary(*op, &a, &b)),
                (Known::Value(_), other) | (other, _) => other,
            },
            Code::Conditional(operands) => match self.value(&operands[0], lane) {
                Known::Value(condition) => {
                    let [first, second] = [1, 2].map(|number: usize| self.value(&operands[number], lane));
                    match if condition.is_true() { (first, second) } else { (second, first) } {
                        (Known::Value(chosen), Known::Value(other)) => Known::Value(operators::conditional(chosen, &other)),
                        (Known::Value(_), Known::Open) => Known::Open,
                        (chosen, _) => chosen,
                    }
                }
                other => other,
            },
            Code::Fails => Known::Failed,
            Code::Compare(..) | Code::Logical(..) => {
                let Truth { holds, fails, open } = self.truth(code, LaneMask::of(lane));
                match (fails.is_empty(), open.is_empty()) {
                    (true, true) => Known::Value(Scalar::truth(!holds.is_empty())),
                    (false, _) => Known::Failed,
                    (true, false) => Known::Open,
                }
            }
            Code::Lanes(both) => self.value(&both.1, lane),
            Code::Load(..) | Code::Open => Known::Open,
        }
    }
}

impl Truth {
    /// The same of these lanes alone.
    fn among(self, lanes: LaneMask) -> Self {
        Self { holds: self.holds & lanes, fails: self.fails & lanes, open: self.open & lanes }
    }
}
