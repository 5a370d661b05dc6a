//! The uses of the bits in registers by instructions: as integers, signed or unsigned, or as floating-point numbers.
//!
//! Registers that moves connect hold the same value and share their uses, in a union-find. Moves, loads and stores show no use, and bitwise
//! operations little.

use super::flow::Flow;
use crate::isa::{Compare, FloatType, IntBinary, IntType, IntUnary, ScalarType, Shift, TypeKind};
use crate::program::operands::{Use, registers_of};
use crate::program::{
    Bank, BitsOp, CompareOp, ConvertMode, ConvertOp, Dst, FloatOp, FuncId, Inst, IntegerOp, ListId, MatrixId, MatrixOp, MoveOp, Op, Pc,
    Program, SelectOp, Src, SrcKind, WarpOp, WarpgroupOp, WgmmaA,
};

/// The uses of bits by all instructions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElementUse {
    /// Floating-point formats, a bit for each of [`FLOATS`].
    pub(super) floats: u8,
    /// Integers, the sum of their sizes in bytes: each size is a power of two.
    pub ints: u32,
    /// Integers with a sign.
    pub signed: bool,
    /// Integers without a sign.
    pub unsigned: bool,
    /// Bit fields: parts are masked, shifted or inverted.
    pub bitwise: bool,
}

/// The floating-point formats, in order of their bits in [`ElementUse::floats`].
const FLOATS: [ScalarType; 6] = [ScalarType::F16, ScalarType::BF16, ScalarType::F32, ScalarType::F64, ScalarType::E4M3, ScalarType::E5M2];

impl ElementUse {
    /// The use as numbers of a type, one or several.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other type is its own element")]
    pub fn for_type(ty: ScalarType) -> Self {
        use ScalarType::{BF16, BF16x2, E4M3, E4M3x2, E4M3x4, E5M2, E5M2x2, E5M2x4, F16, F16x2, F32, F32x2, TF32};
        let single = match ty {
            F16x2 => F16,
            BF16x2 => BF16,
            F32x2 | TF32 => F32,
            E4M3x2 | E4M3x4 => E4M3,
            E5M2x2 | E5M2x4 => E5M2,
            other => other,
        };
        if let Some(bit) = FLOATS.iter().position(|float| *float == single) {
            return Self { floats: 1 << bit, ..Self::default() };
        }
        match ty.kind() {
            TypeKind::Signed => Self { ints: ty.bytes(), signed: true, ..Self::default() },
            TypeKind::Unsigned => Self { ints: ty.bytes(), unsigned: true, ..Self::default() },
            TypeKind::Untyped | TypeKind::Float | TypeKind::Predicate => Self::default(),
        }
    }

    /// Integers of this many bytes, signed or unsigned.
    fn int(bytes: u32) -> Self {
        Self { ints: bytes, ..Self::default() }
    }

    /// The floating-point formats that they are used as.
    pub fn floats(self) -> impl Iterator<Item = ScalarType> {
        FLOATS.into_iter().enumerate().filter(move |(bit, _)| self.floats >> bit & 1 == 1).map(|(_, float)| float)
    }

    /// Bytes of the integers in `bytes` bytes: all of them, or the greatest part used as one. A register may be wider than the value
    /// loaded into it. 0 if they are not used as integers.
    pub fn int_bytes(self, bytes: u32) -> u32 {
        match self.ints {
            0 => 0,
            sizes if bytes == 0 => 1 << sizes.trailing_zeros(),
            sizes => match sizes & (2 * bytes - 1) {
                0 => bytes,
                fitting => 1 << fitting.ilog2(),
            },
        }
    }

    /// True if no instruction uses them.
    pub fn is_unused(self) -> bool {
        self == Self::default()
    }

    /// The uses of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            floats: self.floats | other.floats,
            ints: self.ints | other.ints,
            signed: self.signed | other.signed,
            unsigned: self.unsigned | other.unsigned,
            bitwise: self.bitwise | other.bitwise,
        }
    }
}

/// The uses of every register of a program.
pub struct Evidence {
    /// The parent of each register in the union-find.
    parents: Vec<u32>,
    usage: Vec<ElementUse>,
    /// Pairs of a 16-bit register and the register whose upper half it is.
    upper_halves: Vec<(u32, u32)>,
}

impl Evidence {
    /// Reads all instructions of `flow`'s program.
    pub fn new(flow: &Flow<'_>) -> Self {
        let count = flow.cells() as u32;
        let mut evidence =
            Self { parents: (0..count).collect(), usage: vec![ElementUse::default(); count as usize], upper_halves: Vec::new() };
        for (index, function) in flow.program.functions.iter().enumerate() {
            for register in &function.registers {
                evidence.declared(flow, FuncId::new(index), register);
            }
            for pc in function.code.clone() {
                Reader { flow, function: FuncId::new(index), pc: Pc(pc), evidence: &mut evidence }.read();
            }
        }
        // An .f32 whose upper half is a register and whose lower half is zero is a converted .bf16.
        for (half, whole) in std::mem::take(&mut evidence.upper_halves) {
            if evidence.of(whole).floats().eq([ScalarType::F32]) {
                evidence.add(half, ElementUse::for_type(ScalarType::BF16));
            }
        }
        evidence
    }

    /// The uses of a register.
    pub fn of(&self, cell: u32) -> ElementUse {
        self.usage[self.root(cell) as usize]
    }

    fn root(&self, cell: u32) -> u32 {
        let mut at = cell;
        while self.parents[at as usize] != at {
            at = self.parents[at as usize];
        }
        at
    }

    fn add(&mut self, cell: u32, usage: ElementUse) {
        let root = self.root(cell) as usize;
        self.usage[root] = self.usage[root].union(usage);
    }

    fn union(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            let (from, to) = (a.max(b), a.min(b));
            self.parents[from as usize] = to;
            self.usage[to as usize] = self.usage[to as usize].union(self.usage[from as usize]);
        }
    }

    /// Adds the use of registers that are declared as floating-point numbers.
    fn declared(&mut self, flow: &Flow<'_>, function: FuncId, register: &crate::program::Register) {
        if register.ty.kind() != TypeKind::Float {
            return;
        }
        let placement = &flow.program.functions[function.index()].placement;
        let numbers = register.number..register.number + register.count.unwrap_or(1) * register.components * register.width();
        for slot in numbers.filter_map(|number| placement.slot(register.bank, number)) {
            self.add(flow.cell(function, register.bank, slot), ElementUse::for_type(register.ty));
        }
    }
}

/// Reads one instruction.
struct Reader<'f, 'p> {
    flow: &'f Flow<'p>,
    function: FuncId,
    pc: Pc,
    evidence: &'f mut Evidence,
}

impl<'p> Reader<'_, 'p> {
    fn program(&self) -> &'p Program {
        self.flow.program
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`integer` reads the other operations")]
    fn read(&mut self) {
        let Some(inst) = self.program().code.get(self.pc.index()) else { return };
        self.addresses(inst);
        match inst.op {
            Op::Move(MoveOp::Move { width, d, a }) => self.unify(width.bank(), d, a),
            Op::Select(SelectOp::Select { width, d, a, b, .. } | SelectOp::SelectSign { width, d, a, b, .. }) => {
                self.unify(width.bank(), d, a);
                self.unify(width.bank(), d, b);
            }
            Op::Warp(WarpOp::Shuffle { d, a, .. }) => self.unify(Bank::B32, d, a),
            Op::Move(MoveOp::Vector { width, d, a }) => {
                let (dests, sources) = (&self.program().dests[d], &self.program().sources[a]);
                dests.iter().zip(sources).for_each(|(d, a)| self.unify(width.bank(), *d, *a));
            }
            Op::Move(MoveOp::Pack { part, parts, d }) => self.pack(part, &self.program().sources[parts], d),
            Op::Move(MoveOp::Unpack { part, parts, a }) => self.unpack(part, &self.program().dests[parts], a),
            Op::Matrix { matrix } => self.matrix(matrix),
            Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => {
                let wgmma = &self.program().wgmmas[wgmma];
                if let WgmmaA::Registers(registers) = &wgmma.a {
                    registers.iter().for_each(|register| self.source(Bank::B32, *register, ElementUse::for_type(wgmma.types[1])));
                }
                wgmma.d.iter().for_each(|register| self.dest(Bank::B32, *register, ElementUse::for_type(wgmma.types[0])));
            }
            Op::Convert(op) => self.conversion(&op),
            Op::Float(op) => self.float(&op),
            Op::Compare(CompareOp::SetpFloat { ty, a, b, .. } | CompareOp::SetFloat { from: ty, a, b, .. }) => {
                self.floats(ty, &[], &[a, b]);
            }
            _ => self.integer(inst),
        }
    }

    /// A register that holds an address is an integer.
    fn addresses(&mut self, inst: &Inst) {
        let (program, flow, function) = (self.program(), self.flow, self.function);
        registers_of(inst, program, |used, register| {
            if used == Use::Address && register.bank != Bank::Pred && inst.op.access().is_some() {
                let bytes = if register.bank == Bank::B64 { 8 } else { 4 };
                let usage = ElementUse { unsigned: true, ..ElementUse::int(bytes) };
                self.evidence.add(flow.cell(function, register.bank, register.slot), usage);
            }
        });
    }

    fn cell(&self, bank: Bank, source: Src) -> Option<u32> {
        match source.kind() {
            SrcKind::Reg(slot) => Some(self.flow.cell(self.function, bank, slot)),
            SrcKind::Const(_) | SrcKind::Special(_) => None,
        }
    }

    fn source(&mut self, bank: Bank, source: Src, usage: ElementUse) {
        if let Some(cell) = self.cell(bank, source) {
            self.evidence.add(cell, usage);
        }
    }

    fn dest(&mut self, bank: Bank, d: Dst, usage: ElementUse) {
        if !d.is_sink() {
            self.evidence.add(self.flow.cell(self.function, bank, d.0), usage);
        }
    }

    /// True if a source is a constant: the same bits may be of many types.
    fn is_constant(&self, bank: Bank, source: Src) -> bool {
        let fact = self.flow.value(self.function, self.pc, bank, source);
        fact.is_some_and(|fact| !fact.is_address() && fact.form.as_constant().is_some())
    }

    fn unify(&mut self, bank: Bank, d: Dst, a: Src) {
        // Special registers are integers.
        if matches!(a.kind(), SrcKind::Special(_)) {
            self.dest(bank, d, ElementUse::int(4));
        }
        if let (Some(a_cell), false, false) = (self.cell(bank, a), d.is_sink(), self.is_constant(bank, a)) {
            self.evidence.union(self.flow.cell(self.function, bank, d.0), a_cell);
        }
    }

    fn pack(&mut self, part: u8, sources: &[Src], d: Dst) {
        let bank = Bank::of_wide(sources.len() * usize::from(part) >= 64);
        let from = Bank::of_wide(part == 64);
        let whole = self.flow.cell(self.function, bank, d.0);
        if let ([low, high], 16) = (sources, part)
            && self.is_constant(from, *low)
        {
            let half = self.cell(from, *high);
            self.evidence.upper_halves.extend(half.map(|half| (half, whole)));
            return;
        }
        for source in sources {
            if let Some(source) = self.cell(from, *source) {
                self.evidence.union(whole, source);
            }
        }
    }

    fn unpack(&mut self, part: u8, dests: &[Dst], a: Src) {
        let bank = Bank::of_wide(dests.len() * usize::from(part) >= 64);
        let Some(whole) = self.cell(bank, a) else { return };
        for d in dests.iter().filter(|d| !d.is_sink()) {
            self.evidence.union(whole, self.flow.cell(self.function, Bank::of_wide(part == 64), d.0));
        }
    }

    fn matrix(&mut self, matrix: MatrixId) {
        let fragment = |ty: ScalarType| (if ty == ScalarType::F64 { Bank::B64 } else { Bank::B32 }, ElementUse::for_type(ty));
        match &self.program().matrices[matrix] {
            MatrixOp::Multiply(multiply) => {
                let [d, a, b, c] = multiply.kind.types;
                for (ty, list) in [(a, multiply.a), (b, multiply.b), (c, multiply.c)] {
                    let (bank, usage) = fragment(ty);
                    self.sources(list).iter().for_each(|source| self.source(bank, *source, usage));
                }
                let (bank, usage) = fragment(d);
                self.dests(multiply.d).iter().for_each(|d| self.dest(bank, *d, usage));
            }
            MatrixOp::Transpose { d, a } => self.unify(Bank::B32, *d, *a),
            MatrixOp::Load(_) | MatrixOp::Store(_) | MatrixOp::LoadRows(_) | MatrixOp::StoreRows(_) => {}
        }
    }

    fn sources(&self, list: ListId) -> &'p [Src] {
        &self.program().sources[list]
    }

    fn dests(&self, list: ListId) -> &'p [Dst] {
        &self.program().dests[list]
    }

    fn conversion(&mut self, op: &ConvertOp) {
        let (mode, d, sources): (ConvertMode, Dst, &[Src]) = match op {
            ConvertOp::Single { mode, d, a } => (*mode, *d, std::slice::from_ref(a)),
            ConvertOp::Pair { mode, d, a, b } => (*mode, *d, &[*a, *b]),
            ConvertOp::Pack { to, from, d, a, b, .. } => {
                self.dest(Bank::B32, *d, ElementUse::for_type(*to));
                [*a, *b].iter().for_each(|source| self.source(Bank::B32, *source, ElementUse::for_type(*from)));
                return;
            }
        };
        let bank = |bits: u8| Bank::of_wide(bits == 64);
        // A zero-extended integer may be half of a pair of any type.
        if mode.from.kind() == TypeKind::Float || mode.from.kind() == TypeKind::Signed || mode.to.kind() == TypeKind::Float {
            sources.iter().for_each(|source| self.source(bank(mode.a_bits), *source, ElementUse::for_type(mode.from)));
        }
        if mode.to.kind() == TypeKind::Float || mode.from.kind() == TypeKind::Float {
            self.dest(bank(mode.d_bits), d, ElementUse::for_type(mode.to));
        } else if let ([a], true) = (sources, mode.from.bits() == 16 && mode.to.bits() == 32) {
            let half = self.cell(bank(mode.a_bits), *a).zip((!d.is_sink()).then(|| self.flow.cell(self.function, Bank::B32, d.0)));
            self.evidence.upper_halves.extend(half);
        }
    }

    fn float(&mut self, op: &FloatOp) {
        match *op {
            FloatOp::Unary { ty, d, a, .. } => self.floats(ty, &[d], &[a]),
            FloatOp::Binary { ty, d, a, b, .. } | FloatOp::ProductWithFactors { ty, d, a, b, .. } => self.floats(ty, &[d], &[a, b]),
            FloatOp::Ternary { ty, d, a, b, c, .. } => self.floats(ty, &[d], &[a, b, c]),
            FloatOp::TestProperty { ty, a, .. } => self.floats(ty, &[], &[a]),
        }
    }

    fn floats(&mut self, ty: FloatType, dests: &[Dst], sources: &[Src]) {
        let usage = ElementUse::for_type(ty.element());
        dests.iter().for_each(|d| self.dest(ty.bank(), *d, usage));
        sources.iter().for_each(|source| self.source(ty.bank(), *source, usage));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations take their registers for nothing in particular")]
    fn integer(&mut self, inst: &Inst) {
        match inst.op {
            Op::Integer(IntegerOp::Binary { f: IntBinary::And | IntBinary::Or | IntBinary::Xor, ty, d, a, b }) => {
                self.bitwise(ty.bank(), d, &[a, b]);
            }
            Op::Bits(BitsOp::Lop3 { d, a, b, c, .. }) => self.bitwise(Bank::B32, d, &[a, b, c]),
            Op::Integer(IntegerOp::Unary { f: IntUnary::Not, ty, d, a }) => self.bitwise(ty.bank(), d, &[a]),
            Op::Integer(IntegerOp::Binary { f, ty, d, a, b }) => {
                let depends_on_sign = matches!(f, IntBinary::MulHi | IntBinary::Div | IntBinary::Rem | IntBinary::Min | IntBinary::Max);
                let usage = if depends_on_sign { integer_use(ty) } else { ElementUse::int(bytes_of(ty)) };
                [a, b].into_iter().for_each(|source| self.source(ty.bank(), source, usage));
                self.dest(ty.bank(), d, usage);
            }
            Op::Integer(IntegerOp::Ternary { f: _, ty, d, a, b, c }) => {
                let usage = ElementUse::int(bytes_of(ty));
                [a, b, c].into_iter().for_each(|source| self.source(ty.bank(), source, usage));
                self.dest(ty.bank(), d, usage);
            }
            Op::Integer(IntegerOp::MulWide { ty, a, b, .. } | IntegerOp::MadWide { ty, a, b, .. }) => {
                [a, b].into_iter().for_each(|source| self.source(ty.bank(), source, integer_use(ty)));
            }
            Op::Integer(IntegerOp::Carry { ty, a, b, .. }) => {
                [a, b].into_iter().for_each(|source| self.source(ty.bank(), source, ElementUse::int(bytes_of(ty))));
            }
            Op::Bits(BitsOp::Shift { f: Shift::Left, ty, d, a, b }) if self.is_sixteen(b) && bytes_of(ty) == 4 && !d.is_sink() => {
                let half = self.cell(Bank::B32, a).map(|half| (half, self.flow.cell(self.function, Bank::B32, d.0)));
                self.evidence.upper_halves.extend(half);
            }
            Op::Bits(BitsOp::Shift { f: Shift::Right, ty: ty @ (IntType::S16 | IntType::S32 | IntType::S64), a, .. }) => {
                self.source(ty.bank(), a, integer_use(ty));
            }
            Op::Compare(CompareOp::SetpInt { cmp, ty, a, b, .. } | CompareOp::SetInt { cmp, from: ty, a, b, .. }) => {
                let equality = matches!(cmp, Compare::Eq | Compare::Ne);
                let usage = if equality { ElementUse::int(bytes_of(ty)) } else { integer_use(ty) };
                [a, b].into_iter().for_each(|source| self.source(ty.bank(), source, usage));
            }
            Op::Integer(IntegerOp::BitCount { d, .. }) | Op::Move(MoveOp::ActiveMask { d }) => self.dest(Bank::B32, d, ElementUse::int(4)),
            Op::Warp(WarpOp::Redux { ty, a, .. }) => self.source(ty.bank(), a, ElementUse::int(bytes_of(ty))),
            Op::Integer(IntegerOp::Dot { f: crate::isa::DotFn::Dp4a, a_signed, b_signed, a, b, .. }) => {
                for (source, signed) in [(a, a_signed), (b, b_signed)] {
                    self.source(Bank::B32, source, ElementUse { signed, unsigned: !signed, ..ElementUse::int(1) });
                }
            }
            _ => {}
        }
    }

    fn bitwise(&mut self, bank: Bank, d: Dst, sources: &[Src]) {
        let usage = ElementUse { bitwise: true, ..ElementUse::default() };
        self.dest(bank, d, usage);
        sources.iter().for_each(|source| self.source(bank, *source, usage));
    }

    fn is_sixteen(&self, source: Src) -> bool {
        let fact = self.flow.value(self.function, self.pc, Bank::B32, source);
        fact.is_some_and(|fact| fact.form.as_constant() == Some(16))
    }
}

fn bytes_of(ty: IntType) -> u32 {
    match ty {
        IntType::U16 | IntType::S16 | IntType::U16x2 | IntType::S16x2 => 2,
        IntType::U32 | IntType::S32 => 4,
        IntType::U64 | IntType::S64 => 8,
    }
}

fn integer_use(ty: IntType) -> ElementUse {
    let signed = matches!(ty, IntType::S16 | IntType::S32 | IntType::S64 | IntType::S16x2);
    ElementUse { signed, unsigned: !signed, ..ElementUse::int(bytes_of(ty)) }
}
