//! Arithmetic of numbers on all lanes of a warp at once, with types that are known before.
//!
//! A value is 64 bits in each lane: an integer extended by its type's sign or by zeros, or an `f64`, rounded to the type. That covers
//! integers of up to 64 bits, predicates, `.f32` and `.f64`; [`super::operators`] has the rules, and computes everything else.

use std::ops::Range;

use super::lane_loops::{bits, each, zip};
use super::operators;
use super::tree::{BinaryOp, UnaryOp};
use crate::debug::names::scope::RegisterLocation;
use crate::debug::value::{Scalar, Type, number};
use crate::isa::{ScalarType, Space, TypeKind};
use crate::machine::{FrameBase, LANES, LaneMask, Memories, PerLane, Registers};
use crate::program::Bank;

/// What values are computed from.
#[derive(Clone, Copy)]
pub(super) struct Sources<'w> {
    pub registers: &'w Registers,
    pub frame: FrameBase,
    pub memories: Memories<'w>,
    /// The values of a part by its number, if they are numbers of one type.
    pub part: &'w dyn Fn(usize) -> Option<&'w LaneNumbers>,
}

/// Numbers of one type.
#[derive(Clone, Debug)]
pub(super) struct LaneNumbers {
    ty: ScalarType,
    values: PerLane<u64>,
    /// The lanes without a value.
    fails: LaneMask,
}

/// The computation of a number.
#[derive(Clone, Debug)]
pub(super) struct LaneCode {
    ty: ScalarType,
    operation: Operation,
}

/// The operands have the type of the result, except where it says otherwise.
#[derive(Clone, Debug)]
enum Operation {
    Constant(u64),
    Part(usize),
    Register(RegisterLocation),
    /// A number of any type.
    Convert(Box<LaneCode>),
    /// Untyped bits.
    Reinterpret(Box<LaneCode>),
    Minus(Box<LaneCode>),
    Complement(Box<LaneCode>),
    /// The count of a shift has a type of its own.
    Binary(BinaryOp, Box<[LaneCode; 2]>),
    /// Two numbers of one type.
    Compare(BinaryOp, Box<[LaneCode; 2]>),
    /// The indices, integers, each with the bytes of an element.
    Load(Place, Vec<(LaneCode, u64)>),
}

/// A number in memory, or the first of an array.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Global, constant or shared.
    pub space: Space,
    pub address: u64,
    pub ty: ScalarType,
    /// The shared memory that a kernel may access.
    pub shared: Range<u64>,
}

impl LaneNumbers {
    /// The values, if they are numbers of one type.
    pub fn of(values: &[Option<Scalar>]) -> Option<Self> {
        let ty = number_type(values.iter().flatten().next()?)?;
        let mut numbers = Self { ty, values: [0; LANES], fails: LaneMask::NONE };
        for (lane, value) in values.iter().enumerate() {
            match value {
                Some(value) if value.ty == Type::Scalar(ty) => numbers.values[lane] = word(ty, value.bits as u64),
                Some(_) => return None,
                None => numbers.fails |= LaneMask::of(lane),
            }
        }
        Some(numbers)
    }
}

impl LaneCode {
    pub fn constant(value: &Scalar) -> Option<Self> {
        let ty = number_type(value)?;
        Some(Self { ty, operation: Operation::Constant(word(ty, value.bits as u64)) })
    }

    /// Part `number`, whose values have the type of `value`.
    pub fn part(number: usize, value: &Scalar) -> Option<Self> {
        Some(Self { ty: number_type(value)?, operation: Operation::Part(number) })
    }

    pub fn register(location: &RegisterLocation) -> Option<Self> {
        let ty = number_type(&Scalar::new(Type::Scalar(location.ty), 0)).filter(|_| location.width == 1)?;
        Some(Self { ty, operation: Operation::Register(*location) })
    }

    pub fn load(place: &Place, indices: Vec<(Self, u64)>) -> Option<Self> {
        let ty = number_type(&Scalar::new(Type::Scalar(place.ty), 0)).filter(|ty| ty.bits() >= 8)?;
        let are_whole = indices.iter().all(|(index, _)| !index.is_float());
        are_whole.then(|| Self { ty, operation: Operation::Load(place.clone(), indices) })
    }

    pub fn unary(op: UnaryOp, a: Self) -> Option<Self> {
        if op == UnaryOp::Not {
            return Some(a.compared_with_zero(BinaryOp::Eq));
        }
        let ty = a.common_type(&a)?;
        let a = Box::new(a.converted(ty));
        let operation = match op {
            UnaryOp::Plus | UnaryOp::Not => return Some(*a),
            UnaryOp::Minus => Operation::Minus(a),
            UnaryOp::Complement if a.is_float() => return None,
            UnaryOp::Complement => Operation::Complement(a),
        };
        Some(Self { ty, operation })
    }

    pub fn binary(op: BinaryOp, [a, b]: [Self; 2]) -> Option<Self> {
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let ty = if is_shift { a.common_type(&a)? } else { a.common_type(&b)? };
        let of_b = if is_shift { b.common_type(&b)? } else { ty };
        let operands = Box::new([a.converted(ty), b.converted(of_b)]);
        if op.is_comparison() {
            return Some(Self { ty: ScalarType::Pred, operation: Operation::Compare(op, operands) });
        }
        let is_of_floats = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
        let is_float = operands.iter().any(Self::is_float);
        (is_of_floats || !is_float).then_some(Self { ty, operation: Operation::Binary(op, operands) })
    }

    pub fn cast(ty: ScalarType, a: Self) -> Option<Self> {
        number_type(&Scalar::new(Type::Scalar(ty), 0))?;
        let is_untyped = |ty: ScalarType| ty.kind() == TypeKind::Untyped;
        match (is_untyped(a.ty), is_untyped(ty)) {
            _ if ty == ScalarType::Pred => Some(a.compared_with_zero(BinaryOp::Ne)),
            (false, true) if a.is_float() => None,
            (true, true) => Some(Self { ty, operation: Operation::Reinterpret(Box::new(a)) }),
            (true, false) if is_float(ty) => Some(Self { ty, operation: Operation::Reinterpret(Box::new(a)) }),
            _ => Some(a.converted(ty)),
        }
    }

    fn is_float(&self) -> bool {
        is_float(self.ty)
    }

    fn common_type(&self, other: &Self) -> Option<ScalarType> {
        let [a, b] = [self, other].map(|code| Scalar::new(Type::Scalar(code.ty), 0));
        operators::common_type(&a, &b).ok()
    }

    fn converted(self, ty: ScalarType) -> Self {
        if self.ty == ty { self } else { Self { ty, operation: Operation::Convert(Box::new(self)) } }
    }

    fn compared_with_zero(self, op: BinaryOp) -> Self {
        let zero = Self { ty: self.ty, operation: Operation::Constant(0) };
        Self { ty: ScalarType::Pred, operation: Operation::Compare(op, Box::new([self, zero])) }
    }

    /// The lanes of `lanes` in which it is true, and those in which it has no value; none if a part has values of another type.
    pub fn truth(&self, sources: &Sources<'_>, lanes: LaneMask) -> Option<(LaneMask, LaneMask)> {
        let (mut a, mut b) = ([0; LANES], [0; LANES]);
        let (holds, fails) = match &self.operation {
            Operation::Compare(op, operands) => {
                let fails = operands[0].values(sources, lanes, &mut a)? | operands[1].values(sources, lanes, &mut b)?;
                (compared(*op, operands[0].ty, &a, &b), fails)
            }
            _ => {
                let fails = self.values(sources, lanes, &mut a)?;
                (compared(BinaryOp::Ne, self.ty, &a, &b), fails)
            }
        };
        Some((LaneMask::from_bits(holds) & lanes & !fails, fails & lanes))
    }

    /// Writes the values to `out`; the lanes of `lanes` without one.
    fn values(&self, sources: &Sources<'_>, lanes: LaneMask, out: &mut PerLane<u64>) -> Option<LaneMask> {
        let mut fails = LaneMask::NONE;
        match &self.operation {
            Operation::Constant(value) => *out = [*value; LANES],
            Operation::Part(number) => {
                let part = (sources.part)(*number).filter(|part| part.ty == self.ty)?;
                *out = part.values;
                fails = part.fails;
            }
            Operation::Register(location) => register(sources, location, out)?,
            Operation::Convert(a) => {
                fails = a.values(sources, lanes, out)?;
                convert(a.ty, self.ty, out);
            }
            Operation::Reinterpret(a) => {
                fails = a.values(sources, lanes, out)?;
                let mask = u64::MAX >> (64 - a.ty.bits());
                each(out, |bits| word(self.ty, bits & mask));
            }
            Operation::Minus(a) => {
                fails = a.values(sources, lanes, out)?;
                if self.is_float() {
                    each(out, |bits| bits ^ 1 << 63);
                } else {
                    each(out, u64::wrapping_neg);
                    wrap(self.ty, out);
                }
            }
            Operation::Complement(a) => {
                fails = a.values(sources, lanes, out)?;
                each(out, |bits| !bits);
                wrap(self.ty, out);
            }
            Operation::Binary(op, operands) => {
                let mut right = [0; LANES];
                fails = operands[0].values(sources, lanes, out)? | operands[1].values(sources, lanes, &mut right)?;
                if self.is_float() {
                    floats(*op, self.ty, out, &right);
                } else {
                    fails |= integers(*op, [self.ty, operands[1].ty], out, &right);
                }
            }
            Operation::Compare(..) => {
                let (holds, without) = self.truth(sources, lanes)?;
                fails = without;
                for (lane, value) in out.iter_mut().enumerate() {
                    *value = u64::from(holds.contains(lane));
                }
            }
            Operation::Load(place, indices) => {
                let mut addresses = [place.address; LANES];
                for (index, bytes) in indices {
                    fails |= index.values(sources, lanes, out)?;
                    zip(&mut addresses, out, |address, steps| address.wrapping_add(steps.wrapping_mul(*bytes)));
                }
                let is_same = indices.iter().all(|(index, _)| matches!(index.operation, Operation::Constant(_)));
                fails |= load(&sources.memories, place, (&addresses, is_same), lanes & !fails, out);
            }
        }
        Some(fails & lanes)
    }
}

/// The type of a number that 64 bits hold.
fn number_type(value: &Scalar) -> Option<ScalarType> {
    let Type::Scalar(ty) = value.ty else { return None };
    let is_float = matches!(ty, ScalarType::F32 | ScalarType::F64);
    let is_whole = ty.kind() != TypeKind::Float && number::elements(ty).1 == 1 && ty.bits() <= 64;
    (is_float || is_whole).then_some(ty)
}

fn is_float(ty: ScalarType) -> bool {
    ty.kind() == TypeKind::Float
}

fn is_signed(ty: ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Signed | TypeKind::Untyped)
}

/// The number that bits of a type are.
fn word(ty: ScalarType, bits: u64) -> u64 {
    match ty {
        ScalarType::F64 => bits,
        ScalarType::F32 => f64::from(f32::from_bits(bits as u32)).to_bits(),
        _ => extended(bits, ty.bits(), is_signed(ty)),
    }
}

#[inline(always)]
fn extended(bits: u64, width: u32, is_signed: bool) -> u64 {
    let unused = 64 - width.clamp(1, 64);
    let top = bits << unused;
    if is_signed { (top.cast_signed() >> unused).cast_unsigned() } else { top >> unused }
}

/// Drops the bits above the type's width.
fn wrap(ty: ScalarType, values: &mut PerLane<u64>) {
    match (ty.bits(), is_signed(ty)) {
        (64, _) => {}
        (32, true) => each(values, |bits| i64::from(bits as i32).cast_unsigned()),
        (32, false) => each(values, |bits| u64::from(bits as u32)),
        (width, is_signed) => each(values, |bits| extended(bits, width, is_signed)),
    }
}

fn register(sources: &Sources<'_>, location: &RegisterLocation, out: &mut PerLane<u64>) -> Option<()> {
    let slot = location.slot?.in_frame(sources.frame.slot(location.bank)).index();
    let registers = sources.registers;
    match location.bank {
        Bank::B32 => {
            for (out, bits) in out.iter_mut().zip(registers.b32.get(slot)?) {
                *out = u64::from(*bits);
            }
        }
        Bank::B64 => *out = *registers.b64.get(slot)?,
        Bank::Pred => {
            let bits = registers.pred.get(slot)?;
            for (lane, out) in out.iter_mut().enumerate() {
                *out = u64::from(bits.contains(lane));
            }
        }
    }
    words(location.ty, out);
    Some(())
}

/// Like [`operators::convert`].
fn convert(from: ScalarType, to: ScalarType, values: &mut PerLane<u64>) {
    match (is_float(from), is_float(to)) {
        (true, true) => rounded(to, values),
        (false, true) => {
            // An integer is rounded to `.f32` once, not first to `.f64`.
            match (to, is_signed(from)) {
                (ScalarType::F32, true) => each(values, |bits| f64::from(bits.cast_signed() as f32).to_bits()),
                (ScalarType::F32, false) => each(values, |bits| f64::from(bits as f32).to_bits()),
                (_, true) => each(values, |bits| (bits.cast_signed() as f64).to_bits()),
                (_, false) => each(values, |bits| (bits as f64).to_bits()),
            }
        }
        (true, false) => {
            let high = u64::MAX >> (64 - to.bits());
            if is_signed(to) {
                let high = (high >> 1).cast_signed();
                each(values, |bits| (f64::from_bits(bits) as i64).clamp(-high - 1, high).cast_unsigned());
            } else {
                each(values, |bits| (f64::from_bits(bits) as u64).min(high));
            }
        }
        (false, false) => wrap(to, values),
    }
}

fn rounded(ty: ScalarType, values: &mut PerLane<u64>) {
    if ty == ScalarType::F32 {
        each(values, |bits| f64::from(f64::from_bits(bits) as f32).to_bits());
    }
}

fn floats(op: BinaryOp, ty: ScalarType, left: &mut PerLane<u64>, right: &PerLane<u64>) {
    match op {
        BinaryOp::Add => floats_by(left, right, |a, b| a + b),
        BinaryOp::Sub => floats_by(left, right, |a, b| a - b),
        BinaryOp::Mul => floats_by(left, right, |a, b| a * b),
        _ => floats_by(left, right, |a, b| a / b),
    }
    rounded(ty, left);
}

#[inline(always)]
fn floats_by(left: &mut PerLane<u64>, right: &PerLane<u64>, of: impl Fn(f64, f64) -> f64) {
    zip(left, right, |a, b| of(f64::from_bits(a), f64::from_bits(b)).to_bits());
}

/// The lanes in which there is no result: those that divide by zero.
fn integers(op: BinaryOp, [ty, of_right]: [ScalarType; 2], left: &mut PerLane<u64>, right: &PerLane<u64>) -> LaneMask {
    let mut fails = LaneMask::NONE;
    match op {
        BinaryOp::Add => zip(left, right, u64::wrapping_add),
        BinaryOp::Sub => zip(left, right, u64::wrapping_sub),
        BinaryOp::Mul => zip(left, right, u64::wrapping_mul),
        BinaryOp::And => zip(left, right, |a, b| a & b),
        BinaryOp::Or => zip(left, right, |a, b| a | b),
        BinaryOp::Xor => zip(left, right, |a, b| a ^ b),
        BinaryOp::Shl | BinaryOp::Shr => {
            let (width, is_left, is_signed) = (ty.bits(), op == BinaryOp::Shl, is_signed(ty));
            let most = if self::is_signed(of_right) { i64::MAX.cast_unsigned() } else { u64::MAX };
            zip(left, right, |a, count| {
                let count = if count > most { width } else { count.min(u64::from(width)) as u32 };
                match (is_left, is_signed) {
                    (true, _) => a.checked_shl(count).unwrap_or(0),
                    (false, true) => (a.cast_signed() >> count.min(63)).cast_unsigned(),
                    (false, false) => a.checked_shr(count).unwrap_or(0),
                }
            });
        }
        _ => {
            fails = (0..LANES).filter(|lane| right[*lane] == 0).collect();
            divide(op == BinaryOp::Div, is_signed(ty), left, right);
        }
    }
    wrap(ty, left);
    fails
}

/// The quotient or the rest; anything where the divisor is zero.
fn divide(is_quotient: bool, is_signed: bool, left: &mut PerLane<u64>, right: &PerLane<u64>) {
    match (is_quotient, is_signed) {
        (true, false) => zip(left, right, |a, b| a / b.max(1)),
        (false, false) => zip(left, right, |a, b| a % b.max(1)),
        (true, true) => zip(left, right, |a, b| match b.cast_signed() {
            0 => a,
            b => a.cast_signed().wrapping_div(b).cast_unsigned(),
        }),
        (false, true) => zip(left, right, |a, b| match b.cast_signed() {
            0 => a,
            b => a.cast_signed().wrapping_rem(b).cast_unsigned(),
        }),
    }
}

/// One bit for each lane in which the comparison holds.
fn compared(op: BinaryOp, ty: ScalarType, left: &PerLane<u64>, right: &PerLane<u64>) -> u32 {
    if is_float(ty) {
        return all(op, left, right, f64::from_bits);
    }
    if is_signed(ty) { all(op, left, right, u64::cast_signed) } else { all(op, left, right, |bits| bits) }
}

#[inline(always)]
fn all<T: PartialOrd>(op: BinaryOp, left: &PerLane<u64>, right: &PerLane<u64>, of: impl Fn(u64) -> T) -> u32 {
    match op {
        BinaryOp::Eq => bits(left, right, |a, b| of(a) == of(b)),
        BinaryOp::Ne => bits(left, right, |a, b| of(a) != of(b)),
        BinaryOp::Lt => bits(left, right, |a, b| of(a) < of(b)),
        BinaryOp::Le => bits(left, right, |a, b| of(a) <= of(b)),
        BinaryOp::Gt => bits(left, right, |a, b| of(a) > of(b)),
        _ => bits(left, right, |a, b| of(a) >= of(b)),
    }
}

/// Reads numbers of `lanes`, at the same address for all if so it says; the lanes whose memory does not exist or is unknown.
fn load(
    memories: &Memories<'_>,
    place: &Place,
    (addresses, is_same): (&PerLane<u64>, bool),
    lanes: LaneMask,
    out: &mut PerLane<u64>,
) -> LaneMask {
    let bytes = place.ty.bytes() as usize;
    let mut reader = Reader { memories, place, allocation: None };
    if is_same {
        let mut buffer = [0; 8];
        let is_read = buffer.get_mut(..bytes).and_then(|buffer| reader.read(addresses[0], buffer)).is_some();
        *out = [word(place.ty, u64::from_le_bytes(buffer)); LANES];
        return if is_read { LaneMask::NONE } else { lanes };
    }
    // One bit for each lane that follows the one below it in memory.
    let mut is_next = 0;
    for lane in 1..LANES {
        is_next |= u32::from(addresses[lane] == addresses[lane - 1].wrapping_add(bytes as u64)) << lane;
    }
    let is_next = u64::from(is_next & lanes.bits());
    let (mut fails, mut rest) = (LaneMask::NONE, lanes);
    while !rest.is_empty() {
        // Adjacent numbers of adjacent lanes are read at once.
        let lane = rest.first();
        let row = lane..lane + 1 + (is_next >> (lane + 1)).trailing_ones() as usize;
        rest = rest.without(LaneMask::lowest(row.end as u32));
        let mut numbers = [0; LANES * 8];
        if reader.read(addresses[lane], &mut numbers[..row.len() * bytes]).is_some() {
            spread(&numbers, bytes, &mut out[row]);
        } else {
            fails |= one_by_one(&mut reader, (addresses, row), out);
        }
    }
    words(place.ty, out);
    fails
}

/// The first numbers of `bytes` bytes each, as words.
fn spread(numbers: &[u8; LANES * 8], bytes: usize, out: &mut [u64]) {
    match bytes {
        4 => {
            for (out, number) in out.iter_mut().zip(numbers.as_chunks::<4>().0) {
                *out = u64::from(u32::from_le_bytes(*number));
            }
        }
        8 => {
            for (out, number) in out.iter_mut().zip(numbers.as_chunks::<8>().0) {
                *out = u64::from_le_bytes(*number);
            }
        }
        _ => {
            for (out, number) in out.iter_mut().zip(numbers.chunks_exact(bytes)) {
                *out = number.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            }
        }
    }
}

/// Reads numbers of adjacent lanes, some of which may not exist; the lanes of those.
fn one_by_one(reader: &mut Reader<'_>, (addresses, lanes): (&PerLane<u64>, Range<usize>), out: &mut PerLane<u64>) -> LaneMask {
    let bytes = reader.place.ty.bytes() as usize;
    let mut fails = LaneMask::NONE;
    for lane in lanes {
        let mut buffer = [0; 8];
        match buffer.get_mut(..bytes).and_then(|buffer| reader.read(addresses[lane], buffer)) {
            Some(()) => out[lane] = u64::from_le_bytes(buffer),
            None => fails |= LaneMask::of(lane),
        }
    }
    fails
}

/// Reads memory of a place's space.
struct Reader<'a> {
    memories: &'a Memories<'a>,
    place: &'a Place,
    /// The allocation that was read last.
    allocation: Option<&'a crate::machine::Allocation>,
}

impl Reader<'_> {
    /// Reads bytes; none if a part of them does not exist or is unknown.
    fn read(&mut self, address: u64, value: &mut [u8]) -> Option<()> {
        let Self { memories, place, .. } = *self;
        let bytes = value.len() as u64;
        let end = address.checked_add(bytes)?;
        if place.space == Space::Shared {
            let is_inside = address >= place.shared.start && end <= place.shared.end.min(memories.shared.len());
            return is_inside.then(|| memories.shared.read(address, value));
        }
        let region = if place.space == Space::Const { memories.constant } else { memories.global };
        let is_in = |found: &crate::machine::Allocation| address >= found.base && end <= found.end();
        if !self.allocation.is_some_and(is_in) {
            self.allocation = region.find(address).filter(|found| is_in(found));
        }
        let found = self.allocation?;
        if found.first_unknown(address, address, bytes).is_some() {
            return None;
        }
        found.pages.read(found.offset(address), value);
        Some(())
    }
}

/// The numbers that bits of a type are.
fn words(ty: ScalarType, values: &mut PerLane<u64>) {
    match ty {
        ScalarType::F64 => {}
        ScalarType::F32 => each(values, |bits| f64::from(f32::from_bits(bits as u32)).to_bits()),
        ty => wrap(ty, values),
    }
}
