//! Expressions that are evaluated at each of many instructions: names are looked up once.
//!
//! What an expression means at one instruction is [`Compiled`]: registers by their slots, what depends on nothing but the thread as parts
//! that are evaluated once for each warp ([`PartValues`]), everything else that does not change as constants. What is left, such as
//! memory and values of several lanes, is open: the lanes whose answer depends on it are given back, for [`Expression::evaluate`].

use super::Expression;
use super::evaluate::{Evaluator, Referent};
use super::operators;
use super::special::is_of_thread;
use super::tree::{BinaryOp, Convenience, Node, NodeKind, UnaryOp};
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::Focus;
use crate::debug::names::scope::{RegisterLocation, bits_of_lane};
use crate::debug::value::{Scalar, Type, number};
use crate::isa::{SPECIAL_REGISTERS, ScalarType, Space, SpecialKind, TypeKind};
use crate::machine::{FrameBase, LANES, LaneMask, Registers};
use crate::program::Bank;

/// What an expression means at one instruction.
#[derive(Clone, Debug)]
pub(in crate::debug) struct Compiled(Code);

/// The values of a part of an expression in the lanes of a warp; none where it has no value.
#[derive(Clone, Debug)]
pub(in crate::debug) struct PartValues {
    values: Vec<Option<Scalar>>,
    /// The lanes in which it is true, and in which it has no value.
    truth: Truth,
}

/// The registers of a warp at an instruction, and the values of the parts.
#[derive(Clone, Copy)]
pub(in crate::debug) struct Operands<'w> {
    /// The registers.
    pub registers: &'w Registers,
    /// The frame that the instruction is in.
    pub frame: FrameBase,
    /// The parts that depend on the thread alone.
    pub parts: &'w [PartValues],
}

#[derive(Clone, Debug)]
enum Code {
    Constant(Scalar),
    /// A part by its number.
    Part(usize),
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
        Compiled(if is_of_lanes { Code::Open } else { compile(&mut evaluator, &self.root, parts) })
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
        NodeKind::Unary(..) | NodeKind::Binary(..) | NodeKind::Logical(..) | NodeKind::Conditional(_) | NodeKind::Cast(..) => {
            node.children().iter().all(depends_on_thread_alone)
        }
        NodeKind::SourceCast(..)
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
        return Code::Part(part);
    }
    let mut of = |node: &Node| compile(evaluator, node, parts);
    match &node.kind {
        NodeKind::Number(value) => Code::Constant(*value),
        NodeKind::Unary(op, a) => Code::Unary(*op, Box::new(of(a))),
        NodeKind::Binary(op, operands) => binary(*op, operands.each_ref().map(of)),
        NodeKind::Logical(is_or, operands) => Code::Logical(*is_or, Box::new(operands.each_ref().map(of))),
        NodeKind::Conditional(operands) => Code::Conditional(Box::new(operands.each_ref().map(of))),
        NodeKind::Cast(ty, a) if !ty.pointer => Code::Cast(ty.ty, Box::new(of(a))),
        NodeKind::SizeOf(..) | NodeKind::Convenience(Convenience::Pc) => evaluator.value(node).map_or(Code::Open, Code::Constant),
        NodeKind::Name(_) => named(evaluator, node),
        NodeKind::Special(_)
        | NodeKind::Convenience(_)
        | NodeKind::Cast(..)
        | NodeKind::SourceCast(..)
        | NodeKind::Dereference(_)
        | NodeKind::AddressOf(_)
        | NodeKind::Index(_)
        | NodeKind::Slice(_)
        | NodeKind::Subscripts(_)
        | NodeKind::Range(_)
        | NodeKind::File(_)
        | NodeKind::Member(..)
        | NodeKind::Lanes(..)
        | NodeKind::Aggregate(..) => Code::Open,
    }
}

/// A register, a value that is the same as long as the launch runs, or open.
fn named(evaluator: &mut Evaluator<'_>, node: &Node) -> Code {
    let is_kept = matches!(&node.kind, NodeKind::Name(name) if name.starts_with('$') && !name.contains('.'));
    match evaluator.referent(node) {
        Ok(Referent::Register(location)) if location.slot.is_some() => Code::Register(location),
        Ok(Referent::Value(value)) if is_kept || matches!(value.ty, Type::Code | Type::Function) => Code::Constant(value),
        Ok(Referent::Memory(extent)) if extent.space == Space::Param || extent.elements.is_some() && extent.space == Space::Global => {
            evaluator.value(node).map_or(Code::Open, Code::Constant)
        }
        Ok(
            Referent::Value(_)
            | Referent::Register(_)
            | Referent::Memory(_)
            | Referent::Vector3(_)
            | Referent::Kept(_)
            | Referent::Source(_)
            | Referent::Slice(..),
        )
        | Err(_) => Code::Open,
    }
}

fn binary(op: BinaryOp, operands: [Code; 2]) -> Code {
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
        Self { values, truth }
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
            Code::Part(part) => self.parts.get(*part).map_or(Truth { open: lanes, ..Truth::default() }, |part| part.truth.among(lanes)),
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
            Code::Constant(_) | Code::Register(_) | Code::Unary(..) | Code::Binary(..) | Code::Conditional(_) | Code::Cast(..) => {
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
            Code::Part(part) => match self.parts.get(*part).map(|part| part.values[lane]) {
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
                Known::Value(condition) => self.value(&operands[if condition.is_true() { 1 } else { 2 }], lane),
                other => other,
            },
            Code::Compare(..) | Code::Logical(..) => {
                let Truth { holds, fails, open } = self.truth(code, LaneMask::of(lane));
                match (fails.is_empty(), open.is_empty()) {
                    (true, true) => Known::Value(Scalar::truth(!holds.is_empty())),
                    (false, _) => Known::Failed,
                    (true, false) => Known::Open,
                }
            }
            Code::Open => Known::Open,
        }
    }
}

impl Truth {
    /// The same of these lanes alone.
    fn among(self, lanes: LaneMask) -> Self {
        Self { holds: self.holds & lanes, fails: self.fails & lanes, open: self.open & lanes }
    }
}
