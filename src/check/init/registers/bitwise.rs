//! The bits of a result that are undefined, of the operations that move and combine bits one by one: logic, shifts, bit fields, moves.
//!
//! A bit is undefined if a value of the undefined bits of the operands can change it. What other operations make of an operand with an
//! undefined bit is undefined as a whole.

use smallvec::SmallVec;

use crate::base::lanes::{LaneMask, PerLane};
use crate::check::undefined_operands::Operands;
use crate::isa::{BitField32, IntBinary, IntType, IntUnary, ScalarType, Shift, TypeKind, Width};
use crate::machine::LANES;
use crate::program::{Bank, BitsOp, ConvertMode, ConvertOp, Dst, IntegerOp, MoveOp, Op, SelectOp, Slot, Src, SrcKind, Undefined};

/// The undefined bits of a register in each lane: those that are set.
pub(super) type UndefinedBits = PerLane<u64>;

/// All bits of a register.
pub(in crate::check::init) const ALL: u64 = u64::MAX;

/// The undefined bits of the registers that an operation writes.
pub(super) type Results = SmallVec<[(Slot, UndefinedBits); 1]>;

/// The undefined bits of the results of `op`; none if it does not combine bits one by one. `bits` are those of a register that is undefined
/// in part.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations do not combine bits one by one")]
pub(super) fn results<'b, U: Fn(Bank, Slot) -> LaneMask>(
    op: &Op,
    operands: &Operands<'_, U>,
    bits: impl Fn(Bank, Slot) -> Option<&'b UndefinedBits>,
) -> Option<Results> {
    let of = Sources { operands, bits };
    let one = |d: Dst, width: u32, result: UndefinedBits| Some(Results::from_iter([(d.0, result.map(|bits| whole(bits, width)))]));
    match *op {
        Op::Move(MoveOp::Move { width, d, a }) => one(d, width_bits(width), of.bits(width.bank(), a, width_bits(width))),
        Op::Move(MoveOp::Unpack { part, parts, a }) => {
            let dests = &operands.program.dests[parts];
            let (bank, 1) = Bank::of_bits(usize::from(part) * dests.len()) else { return None };
            let width = u32::from(part);
            let all = of.bits(bank, a, width * dests.len() as u32);
            let of_part = |(d, index): (&Dst, u32)| (d.0, all.map(|bits| whole(bits >> (width * index) & ones(width), width)));
            Some(dests.iter().zip(0..).map(of_part).collect())
        }
        Op::Integer(IntegerOp::Binary { f, ty, d, a, b }) => {
            let table = match f {
                IntBinary::And => 0xc0,
                IntBinary::Or => 0xfc,
                IntBinary::Xor => 0x3c,
                IntBinary::Add | IntBinary::AddSat | IntBinary::Sub | IntBinary::SubSat | IntBinary::MulLo | IntBinary::MulHi => {
                    return None;
                }
                IntBinary::Mul24Lo | IntBinary::Mul24Hi | IntBinary::Div | IntBinary::Rem => return None,
                IntBinary::Min | IntBinary::Max | IntBinary::MinRelu | IntBinary::MaxRelu => return None,
            };
            one(d, int_bits(ty), of.table((ty.bank(), int_bits(ty)), table, &[a, b]))
        }
        Op::Integer(IntegerOp::Unary { f: IntUnary::Not, ty, d, a }) => one(d, int_bits(ty), of.bits(ty.bank(), a, int_bits(ty))),
        Op::Bits(ref op) => of.of_bits_op(op).and_then(|(d, width, result)| one(d, width, result)),
        Op::Select(SelectOp::Select { width, d, a, b, p }) => {
            let (undefined, chosen) = (operands.predicate(p), operands.true_lanes(p));
            let (a, b) = (of.bits(width.bank(), a, width_bits(width)), of.bits(width.bank(), b, width_bits(width)));
            let result = |lane: usize| match (undefined.contains(lane), chosen.contains(lane)) {
                (true, _) => ALL,
                (false, true) => a[lane],
                (false, false) => b[lane],
            };
            one(d, width_bits(width), std::array::from_fn(result))
        }
        Op::Convert(ConvertOp::Single { mode, d, a }) if is_of_integers(&mode) => {
            let bits = of.bits(Bank::of_wide(mode.a_bits == 64), a, mode.from.bits());
            one(d, u32::from(mode.d_bits), bits.map(|bits| converted(&mode, bits)))
        }
        _ => None,
    }
}

/// The sources of an operation.
struct Sources<'o, 'p, U, B> {
    operands: &'o Operands<'p, U>,
    bits: B,
}

impl<'b, U: Fn(Bank, Slot) -> LaneMask, B: Fn(Bank, Slot) -> Option<&'b UndefinedBits>> Sources<'_, '_, U, B> {
    /// The undefined bits of a source of `width` bits.
    fn bits(&self, bank: Bank, source: Src, width: u32) -> UndefinedBits {
        let undefined = self.operands.of(bank, source);
        let SrcKind::Reg(slot) = source.kind() else { return [0; LANES] };
        let known = if undefined.is_empty() { None } else { (self.bits)(bank, slot) };
        let of_lane = |lane: usize| if undefined.contains(lane) { known.map_or(ALL, |known| known[lane]) } else { 0 };
        std::array::from_fn(|lane| of_lane(lane) & ones(width))
    }

    /// The values of a 32-bit source that is defined in a lane; none where it is not, or not known.
    fn count(&self, source: Src) -> PerLane<Option<u32>> {
        let (values, undefined) = (self.operands.values(Bank::B32, source), self.operands.of(Bank::B32, source));
        std::array::from_fn(|lane| values.filter(|_| !undefined.contains(lane)).map(|values| values[lane] as u32))
    }

    /// The undefined bits of a function of single bits of sources, given as its truth table: bit 4x + 2y + z is its value.
    fn table(&self, (bank, width): (Bank, u32), table: u8, sources: &[Src]) -> UndefinedBits {
        let undefined: SmallVec<[UndefinedBits; 3]> = sources.iter().map(|source| self.bits(bank, *source, width)).collect();
        let values: SmallVec<[Option<PerLane<u64>>; 3]> = sources.iter().map(|source| self.operands.values(bank, *source)).collect();
        // A register that is used twice is one variable.
        let same = |index: usize| sources.iter().position(|source| *source == sources[index]).unwrap_or(index);
        let value_at = |bits: usize| {
            table >> (0..3).fold(0, |at, place| at << 1 | if place < sources.len() { bits >> same(place) & 1 } else { 0 }) & 1
        };
        let of_lane = |lane: usize| {
            let can_be = |index: usize, bit: usize| match &values[index] {
                Some(values) if bit == 1 => values[lane] | undefined[index][lane],
                Some(values) => !values[lane] | undefined[index][lane],
                None => ALL,
            };
            (0..sources.len()).filter(|index| same(*index) == *index && undefined[*index][lane] != 0).fold(0, |all, index| {
                let others = (0..1_usize << sources.len()).filter(|bits| bits >> index & 1 == 0);
                let decides = others.filter(|bits| value_at(*bits) != value_at(bits | 1 << index)).fold(0, |decides, bits| {
                    let other = (0..sources.len()).filter(|other| *other != index && same(*other) == *other);
                    decides | other.fold(ALL, |possible, other| possible & can_be(other, bits >> other & 1))
                });
                all | undefined[index][lane] & decides
            })
        };
        std::array::from_fn(of_lane)
    }

    fn of_bits_op(&self, op: &BitsOp) -> Option<(Dst, u32, UndefinedBits)> {
        match *op {
            BitsOp::Lop3 { lut, d, a, b, c } => Some((d, 32, self.table((Bank::B32, 32), lut, &[a, b, c]))),
            BitsOp::Shift { f, ty, d, a, b } => {
                let (bits, counts, width) = (self.bits(ty.bank(), a, int_bits(ty)), self.count(b), int_bits(ty));
                let by = |lane: usize, count: u32| match f {
                    Shift::Left => left(bits[lane], count) & ones(width),
                    Shift::Right => right(bits[lane], count, (width, is_signed(ty))),
                };
                Some((d, width, self.with_counts(b, &bits, |lane| Some(by(lane, counts[lane]?)))))
            }
            BitsOp::Extract { ty, d, a, b, c } => {
                let (bits, starts, counts, width) = (self.bits(ty.bank(), a, int_bits(ty)), self.count(b), self.count(c), int_bits(ty));
                let field = |lane: usize| {
                    let (start, count) = (field_number(starts[lane]?, width), field_number(counts[lane]?, width));
                    let unused = width.saturating_sub(count);
                    let moved = left(right(bits[lane], start, (width, is_signed(ty))), unused) & ones(width);
                    Some(if count == 0 { 0 } else { right(moved, unused, (width, is_signed(ty))) })
                };
                let operands = self.with_counts(c, &bits, |lane| Some(bits[lane]));
                Some((d, width, self.with_counts(b, &operands, field)))
            }
            BitsOp::Insert { width, d, a, b, c, e } => {
                let (bank, width) = (width.bank(), width_bits(width));
                let (field, into) = (self.bits(bank, a, width), self.bits(bank, b, width));
                let (starts, counts) = (self.count(c), self.count(e));
                let both: UndefinedBits = std::array::from_fn(|lane| field[lane] | into[lane]);
                let inserted = |lane: usize| {
                    let (start, count) = (field_number(starts[lane]?, width), field_number(counts[lane]?, width));
                    let mask = left(ones(count.min(64)), start) & ones(width);
                    Some(left(field[lane], start) & mask | into[lane] & !mask)
                };
                let operands = self.with_counts(e, &both, |lane| Some(both[lane]));
                Some((d, width, self.with_counts(c, &operands, inserted)))
            }
            BitsOp::Field32 { f: BitField32::Prmt, d, a, b, c } => {
                let (low, high, selectors) = (self.bits(Bank::B32, a, 32), self.bits(Bank::B32, b, 32), self.count(c));
                let both: UndefinedBits = std::array::from_fn(|lane| low[lane] | high[lane]);
                let picked = |lane: usize| {
                    let selector = selectors[lane]?;
                    let byte = |index: u32| {
                        let nibble = selector >> (4 * index);
                        let byte = (high[lane] << 32 | low[lane]) >> (8 * (nibble & 7)) & 0xff;
                        let byte = if nibble & 8 == 0 { byte } else { 0xff * (byte >> 7) };
                        byte << (8 * index)
                    };
                    Some(byte(0) | byte(1) | byte(2) | byte(3))
                };
                Some((d, 32, self.with_counts(c, &both, picked)))
            }
            BitsOp::Field32 { .. } | BitsOp::Lop3Pred { .. } => None,
        }
    }

    /// The result of an operation that moves `bits` by the number `count`: all of it where that is undefined, or where it is not known and
    /// some bit is undefined.
    fn with_counts(&self, count: Src, bits: &UndefinedBits, moved: impl Fn(usize) -> Option<u64>) -> UndefinedBits {
        let undefined = self.operands.of(Bank::B32, count);
        let of_lane = |lane: usize| match (undefined.contains(lane), bits[lane], moved(lane)) {
            (true, _, _) => ALL,
            (false, _, Some(moved)) => moved,
            (false, 0, None) => 0,
            (false, _, None) => ALL,
        };
        std::array::from_fn(of_lane)
    }
}

/// Bits that are all of a register of `width` bits are those of the whole.
pub(super) fn whole(bits: u64, width: u32) -> u64 {
    if bits & ones(width) == ones(width) { ALL } else { bits }
}

/// `count` ones.
fn ones(count: u32) -> u64 {
    if count >= 64 { ALL } else { (1 << count) - 1 }
}

fn left(bits: u64, count: u32) -> u64 {
    bits.checked_shl(count).unwrap_or(0)
}

/// A shift to the right of a number of `width` bits: the bits that come in are the sign's.
fn right(bits: u64, count: u32, (width, is_signed): (u32, bool)) -> u64 {
    let count = count.min(width);
    let sign = is_signed && bits >> (width - 1) & 1 == 1;
    let fill = if sign { ones(width) & !ones(width - count) } else { 0 };
    bits.checked_shr(count).unwrap_or(0) | fill
}

/// A position or a length: of 32-bit operations the low 8 bits count.
fn field_number(number: u32, width: u32) -> u32 {
    if width == 32 { number & 0xff } else { number }
}

fn int_bits(ty: IntType) -> u32 {
    match ty {
        IntType::U16 | IntType::S16 => 16,
        IntType::U32 | IntType::S32 | IntType::U16x2 | IntType::S16x2 => 32,
        IntType::U64 | IntType::S64 => 64,
    }
}

fn is_signed(ty: IntType) -> bool {
    match ty {
        IntType::S16 | IntType::S32 | IntType::S64 | IntType::S16x2 => true,
        IntType::U16 | IntType::U32 | IntType::U64 | IntType::U16x2 => false,
    }
}

fn width_bits(width: Width) -> u32 {
    match width {
        Width::B16 => 16,
        Width::B32 => 32,
        Width::B64 => 64,
    }
}

/// True for a conversion that takes the low bits of an integer or extends it.
fn is_of_integers(mode: &ConvertMode) -> bool {
    let is_integer = |ty: ScalarType| matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Untyped) && ty.bits() <= 64;
    is_integer(mode.from) && is_integer(mode.to) && !mode.sat && !mode.relu && !mode.satfinite
}

/// The undefined bits after a conversion of an integer with these.
fn converted(mode: &ConvertMode, bits: u64) -> u64 {
    let extended = |bits: u64, ty: ScalarType| {
        let is_sign = ty.kind() == TypeKind::Signed && bits >> (ty.bits() - 1) & 1 == 1;
        if is_sign { bits | !ones(ty.bits()) } else { bits }
    };
    let taken = extended(bits & ones(mode.from.bits()), mode.from) & ones(mode.to.bits());
    extended(taken, mode.to) & ones(u32::from(mode.d_bits))
}
