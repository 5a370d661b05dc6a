//! Uses of a kernel's parameters: as pointers and to what, as loop bounds, in comparisons and in addresses.

use super::flow::{Fact, Flow, ParamPart, ParamParts};
use super::hints;
use crate::isa::{AtomicFn, IntBinary, IntTernary, MbarrierFn, ScalarType, Space, TypeKind};
use crate::launch::element::Element;
use crate::program::operands;
use crate::program::{
    Address, AsyncOp, AtomicOp, Bank, CompareOp, ControlOp, CopyOp, FuncId, Function, HandleSource, Inst, IntegerOp, MatrixOp, MbarrierOp,
    MemoryOp, Op, Pc, Program, SpaceAddress, Src, SrcKind, TensorMapOp, WarpgroupOp,
};

/// Uses of the memory that a pointer points to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerUse {
    /// The first instruction that accesses it; `None` if the parameter is only declared a pointer.
    pub at: Option<Pc>,
    /// The kinds of accesses.
    pub reads: bool,
    pub writes: bool,
    pub atomics: bool,
    /// The type of an element, if the accesses show it.
    pub element: Option<ScalarType>,
    /// The sizes in bytes of the elements that its instructions name, a bit each, all powers of two; [`UNKNOWN_BYTES`] for an instruction
    /// that names none.
    pub sizes: u32,
    /// True if an instruction transfers several elements.
    pub has_vectors: bool,
    /// The bytes that its instructions transfer at a time, as the bits of all these numbers; [`UNKNOWN_BYTES`] as in `sizes`.
    pub transfers: u32,
    /// An instruction whose address is computed from the contents of the memory.
    pub indexes: Option<Pc>,
    /// The base pointers of such addresses, and true if it is one of them.
    pub into: ParamParts,
    pub indexes_itself: bool,
    /// True if a plain store is among such instructions.
    pub scatters: bool,
    /// True if the memory is accessed at addresses that are computed from the contents of another pointer.
    pub is_indexed: bool,
    /// True if elements of the memory are compared with each other.
    pub delimits: bool,
}

/// The size of a bulk copy is a multiple of this (PTX ISA, "cp.async.bulk").
const BULK_BYTES: u32 = 16;

/// An element size in [`PointerUse::sizes`] that no element has.
pub(super) const UNKNOWN_BYTES: u32 = 1 << 31;

/// Uses of a parameter part as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberUse {
    /// The texture or surface instruction whose opaque handle it is.
    pub handle: Option<Pc>,
    /// The backward branch of the loop of which it is a bound.
    pub ends_loop: Option<Pc>,
    /// The comparison of which it is an operand.
    pub compared: Option<Pc>,
    /// The access whose address is computed from it.
    pub addressed: Option<Pc>,
    /// The sum of it and another number, outside of loops that add it again and again.
    pub added: Option<Pc>,
    /// True if it is multiplied by another variable.
    pub is_factor: bool,
}

impl NumberUse {
    /// True if it is used as the number of elements or rows of something.
    pub fn is_extent(&self) -> bool {
        self.ends_loop.is_some() || self.compared.is_some() || self.addressed.is_some()
    }

    /// The sum, if all that the code does with the number is to add it to an index.
    pub fn offset(&self) -> Option<Pc> {
        let is_other = self.handle.is_some() || self.ends_loop.is_some() || self.compared.is_some() || self.is_factor;
        self.added.filter(|_| self.addressed.is_some() && !is_other)
    }
}

/// Uses of a parameter part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartUse {
    /// The part.
    pub part: ParamPart,
    /// Its uses as a pointer, if it is one.
    pub pointer: Option<PointerUse>,
    /// Its other uses.
    pub number: NumberUse,
    /// The format of the number in it.
    pub hint: Option<ScalarType>,
}

/// Uses of a kernel's parameters.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// By part, in order of parameter and offset.
    pub parts: Vec<PartUse>,
    /// The element type of tiles that asynchronous copies transfer, and matrix instructions multiply.
    pub tile: Option<ScalarType>,
    /// Maximum of coordinates of the tensor copies.
    pub tensor_rank: usize,
    /// Largest constant byte count of an expect-tx.
    pub expected_bytes: u32,
    /// The parts in the order of their bits.
    by_bit: Vec<ParamPart>,
}

impl Uses {
    /// The uses in the kernel that `flow` has followed.
    pub fn of(flow: &Flow<'_>) -> Self {
        let parts = flow.parts.iter().take(64).map(|part| PartUse { part: *part, pointer: None, number: NumberUse::default(), hint: None });
        let uses = Uses { parts: parts.collect(), by_bit: flow.parts.clone(), ..Uses::default() };
        let mut reader = Reader { flow, uses };
        reader.uses.tile = reader.tile();
        for (function, pc, inst) in flow.code() {
            reader.memory(function, Pc::new(pc as usize), inst);
            reader.numbers(function, Pc::new(pc as usize), inst);
        }
        reader.declared();
        let mut uses = reader.uses;
        uses.parts.sort_by_key(|used| used.part);
        uses
    }

    /// Uses of a parameter that is loaded as a whole.
    pub fn whole(&self, index: usize, bytes: u32) -> Option<&PartUse> {
        self.parts.iter().find(|used| used.part == ParamPart { param: index, offset: 0, bytes })
    }

    /// The parts of these bits.
    pub fn parts_of(&self, bits: ParamParts) -> impl Iterator<Item = ParamPart> + '_ {
        self.by_bit.iter().take(64).enumerate().filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, part)| *part)
    }

    /// The uses of the parts of a parameter.
    pub fn of_param(&self, index: usize) -> impl Iterator<Item = &PartUse> {
        self.parts.iter().filter(move |used| used.part.param == index)
    }
}

/// The elements that the stores at `pcs`, in the code that `kernel` reaches, store, as far as the code shows them.
pub fn stored_elements(program: &Program, kernel: FuncId, pcs: &[Pc]) -> Vec<Option<Element>> {
    let flow = Flow::new(program, kernel);
    let element = |pc: &Pc| {
        let (function, inst) = (program.function_at(*pc)?, program.code.get(pc.index())?);
        super::values::memory_element(element(&flow, function, *pc, inst)?)
    };
    pcs.iter().map(element).collect()
}

/// The element type of a load, store or atomic: the format of the registers, or else the type of the instruction.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are known by what they name")]
fn element(flow: &Flow<'_>, function: FuncId, pc: Pc, inst: &Inst) -> Option<ScalarType> {
    let program = flow.program;
    let registers = match inst.op {
        Op::Memory(MemoryOp::Load { .. } | MemoryOp::LoadVector { .. }) => operands::writes(inst, program),
        Op::Memory(MemoryOp::Store { a, bits, reg_bits, .. }) => {
            let bank = if bits.max(reg_bits) >= 64 { Bank::B64 } else { Bank::B32 };
            return flow.fact_of(function, bank, a).hint.or_else(|| named(program, pc));
        }
        Op::Memory(MemoryOp::StoreVector { parts, bits, reg_bits, .. }) => {
            let bank = if bits.max(reg_bits) >= 64 { Bank::B64 } else { Bank::B32 };
            let mut parts = program.sources[parts].iter();
            return parts.find_map(|part| flow.fact_of(function, bank, *part).hint).or_else(|| named(program, pc));
        }
        _ => return named(program, pc),
    };
    registers.iter().find_map(|register| flow.fact(function, register.bank, register.slot).hint).or_else(|| named(program, pc))
}

struct Reader<'f, 'p> {
    flow: &'f Flow<'p>,
    uses: Uses,
}

/// The kind of access of an instruction to memory.
#[derive(Clone, Copy)]
struct MemoryUse {
    reads: bool,
    writes: bool,
    atomics: bool,
    element: Option<ScalarType>,
}

const READ: MemoryUse = MemoryUse { reads: true, writes: false, atomics: false, element: None };
const WRITE: MemoryUse = MemoryUse { reads: false, writes: true, atomics: false, element: None };

impl Reader<'_, '_> {
    /// The element type that is multiplied or, without matrix instructions, loaded from shared memory.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations multiply no tiles")]
    fn tile(&self) -> Option<ScalarType> {
        let program = self.flow.program;
        let mut loaded = None;
        for (function, pc, inst) in self.flow.code() {
            let multiplied = match inst.op {
                Op::Matrix { matrix } => match &program.matrices[matrix] {
                    MatrixOp::Multiply(multiply) => hints::single(multiply.kind.types[1]),
                    _ => None,
                },
                Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => hints::single(program.wgmmas[wgmma].types[1]),
                Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if access.space == Space::Shared => {
                    loaded = loaded.or_else(|| element(self.flow, function, Pc::new(pc as usize), inst));
                    None
                }
                _ => None,
            };
            if multiplied.is_some() {
                return multiplied;
            }
        }
        loaded
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations access no parameter")]
    fn memory(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let flow = self.flow;
        match inst.op {
            Op::Memory(MemoryOp::Load { access, address, .. } | MemoryOp::LoadVector { access, address, .. })
                if reaches_global(access.space) =>
            {
                let element = element(self.flow, function, pc, inst);
                self.access(function, pc, address, MemoryUse { element, ..READ });
            }
            Op::Memory(MemoryOp::Store { access, address, .. } | MemoryOp::StoreVector { access, address, .. })
                if reaches_global(access.space) =>
            {
                let element = element(self.flow, function, pc, inst);
                self.access(function, pc, address, MemoryUse { element, ..WRITE });
            }
            Op::Atomic(AtomicOp::Single { f, ty, access, address, .. }) if reaches_global(access.space) => {
                let element = if f == AtomicFn::Cas { named(flow.program, pc) } else { Some(ty) };
                self.access(function, pc, address, MemoryUse { atomics: true, element, ..READ });
            }
            Op::Atomic(AtomicOp::Vector { ty, access, address, .. }) if reaches_global(access.space) => {
                self.access(function, pc, address, MemoryUse { atomics: true, element: hints::single(ty), ..READ });
            }
            Op::Matrix { matrix } => match &flow.program.matrices[matrix] {
                MatrixOp::Load(load) if reaches_global(load.access.space) => {
                    self.access(function, pc, load.address, MemoryUse { element: hints::single(load.fragment.ty), ..READ });
                }
                MatrixOp::Store(store) if reaches_global(store.access.space) => {
                    self.access(function, pc, store.address, MemoryUse { element: hints::single(store.fragment.ty), ..WRITE });
                }
                _ => {}
            },
            Op::Image { access } => {
                let access = &flow.program.images[access];
                for handle in [Some(access.image), access.sampler].into_iter().flatten() {
                    let HandleSource::Value(source) = handle else { continue };
                    let fact = flow.fact_of(function, Bank::B64, source);
                    self.uses.parts.iter_mut().enumerate().filter(|(bit, _)| fact.direct >> bit & 1 == 1).for_each(|(_, used)| {
                        used.number.handle.get_or_insert(pc);
                    });
                }
            }
            Op::Async(AsyncOp::Copy { copy }) => self.copy(function, pc, &flow.program.copies[copy]),
            Op::TensorMap(TensorMapOp::Copy { to, .. }) => {
                self.access(function, pc, to, MemoryUse { element: Some(ScalarType::B8), ..WRITE });
            }
            Op::TensorMap(TensorMapOp::ReplaceField { field, access, a, address, .. }) => {
                if reaches_global(access.space) {
                    self.access(function, pc, address, MemoryUse { element: Some(ScalarType::B8), ..WRITE });
                }
                let bank = if field.is_wide() { Bank::B64 } else { Bank::B32 };
                let access = MemoryUse { writes: true, element: self.uses.tile, ..READ };
                self.access_base(pc, flow.fact_of(function, bank, a), access);
            }
            Op::Mbarrier(MbarrierOp::Update {
                f: MbarrierFn::ExpectTx | MbarrierFn::ArriveExpectTx | MbarrierFn::DropExpectTx,
                a: Some(a),
                ..
            }) => {
                if let SrcKind::Const(index) = a.kind() {
                    let bytes = flow.program.consts32[index as usize];
                    self.uses.expected_bytes = self.uses.expected_bytes.max(bytes);
                }
            }
            _ => {}
        }
    }

    fn copy(&mut self, function: FuncId, pc: Pc, copy: &CopyOp) {
        let element = self.uses.tile;
        let global = |side: &SpaceAddress| reaches_global(side.space).then_some(side.address);
        match copy {
            CopyOp::Lanes { from, .. } => self.access(function, pc, from.address, MemoryUse { element, ..READ }),
            CopyOp::Bulk { to, from, reduction, .. } => {
                let atomics = reduction.is_some();
                let element = reduction.and_then(|(_, ty)| hints::single(ty)).or(element);
                global(from).into_iter().for_each(|from| self.access(function, pc, from, MemoryUse { element, ..READ }));
                global(to).into_iter().for_each(|to| self.access(function, pc, to, MemoryUse { element, atomics, ..WRITE }));
            }
            CopyOp::Tensor(tensor) => {
                self.uses.tensor_rank = self.uses.tensor_rank.max(tensor.coordinates.len());
                // A map in global memory: the code writes its bytes.
                self.access(function, pc, tensor.map, MemoryUse { element: Some(ScalarType::B8), ..READ });
            }
            CopyOp::Store { .. } | CopyOp::Arrive { .. } => {}
        }
    }

    fn access(&mut self, function: FuncId, pc: Pc, address: Address, access: MemoryUse) {
        self.access_base(pc, self.flow.base(function, address), access);
    }

    fn access_base(&mut self, pc: Pc, fact: Fact, access: MemoryUse) {
        let wide = self.flow.program.address_bits / 8;
        for (bit, used) in self.uses.parts.iter_mut().enumerate() {
            if fact.contents >> bit & 1 == 1 {
                let pointer = used.pointer.get_or_insert_default();
                pointer.indexes.get_or_insert(pc);
                pointer.into |= fact.pointer;
                pointer.indexes_itself |= fact.pointer >> bit & 1 == 1;
                pointer.scatters |= access.writes && !access.atomics;
            }
            if fact.pointer >> bit & 1 == 1 && used.part.bytes == wide {
                let pointer = used.pointer.get_or_insert_default();
                pointer.at.get_or_insert(pc);
                pointer.reads |= access.reads;
                pointer.writes |= access.writes;
                pointer.atomics |= access.atomics;
                pointer.sizes |= named(self.flow.program, pc).map_or(UNKNOWN_BYTES, |ty| ty.bits() / 8);
                pointer.has_vectors |= is_vector(&self.flow.program.code[pc.index()]);
                pointer.transfers |= transferred(self.flow.program, pc).unwrap_or(UNKNOWN_BYTES);
                pointer.is_indexed |= fact.contents & !(1 << bit) != 0;
                let is_better = pointer.element.is_none_or(|known| known.kind() != TypeKind::Float && is_float(access.element));
                pointer.element = if is_better { access.element.or(pointer.element) } else { pointer.element };
            } else if fact.value >> bit & 1 == 1 {
                used.number.addressed.get_or_insert(pc);
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations end no loop")]
    fn numbers(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let (direct, value, is_end) = match inst.op {
            Op::Control(ControlOp::Branch { target, .. }) if target <= pc => {
                let Some(guard) = inst.guard else { return };
                let fact = self.flow.fact(function, Bank::Pred, guard.slot);
                (fact.direct, fact.value, true)
            }
            Op::Compare(CompareOp::SetpInt { ty, a, b, .. }) => {
                let bank = ty.bank();
                let facts = [a, b].map(|source| self.flow.fact_of(function, bank, source));
                let both = facts[0].contents & facts[1].contents;
                for (_, used) in self.uses.parts.iter_mut().enumerate().filter(|(bit, _)| both >> bit & 1 == 1) {
                    used.pointer.get_or_insert_default().delimits = true;
                }
                (facts[0].direct | facts[1].direct, 0, false)
            }
            _ => return self.terms(function, pc, inst),
        };
        let bits = if direct == 0 { value } else { direct };
        for (_, used) in self.uses.parts.iter_mut().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1) {
            let first = if is_end { &mut used.number.ends_loop } else { &mut used.number.compared };
            first.get_or_insert(pc);
        }
    }

    /// Adds numbers that are added to an index, or multiplied by another variable.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations compute no index")]
    fn terms(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let is_variable = |source: Src| !matches!(source.kind(), SrcKind::Const(_));
        let (a, b, bank, is_product) = match inst.op {
            Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty, a, b, .. }) if ty.bank() == Bank::B32 => (a, b, Bank::B32, false),
            Op::Integer(
                IntegerOp::Binary { f: IntBinary::MulLo, ty, a, b, .. }
                | IntegerOp::Ternary { f: IntTernary::MadLo, ty, a, b, .. }
                | IntegerOp::MulWide { ty, a, b, .. }
                | IntegerOp::MadWide { ty, a, b, .. },
            ) => (a, b, ty.bank(), true),
            _ => return,
        };
        if !is_variable(a) || !is_variable(b) {
            return;
        }
        let direct = [a, b].iter().fold(0, |bits, source| bits | self.flow.fact_of(function, bank, *source).direct);
        let results = operands::writes(inst, self.flow.program);
        let is_repeated = results.iter().any(|d| self.flow.depends_on_itself(self.flow.cell(function, d.bank, d.slot)));
        for (_, used) in self.uses.parts.iter_mut().enumerate().filter(|(bit, _)| direct >> bit & 1 == 1) {
            if is_product || is_repeated {
                used.number.is_factor = true;
            } else {
                used.number.added.get_or_insert(pc);
            }
        }
    }

    /// Adds the formats of the parts, pointers by their declaration, and the format of the tiles for data that is only copied to them.
    fn declared(&mut self) {
        let tile = self.uses.tile;
        for pointer in self.uses.parts.iter_mut().filter_map(|used| used.pointer.as_mut()) {
            let bits = pointer.element.filter(|element| element.kind() == TypeKind::Untyped).map(ScalarType::bits);
            pointer.element = tile.filter(|tile| bits == Some(tile.bits())).or(pointer.element);
        }
        let kernel: &Function = self.flow.kernel;
        for (function, _, inst) in self.flow.code() {
            for register in operands::reads(inst, self.flow.program) {
                let fact = self.flow.fact(function, register.bank, register.slot);
                for (_, used) in self.uses.parts.iter_mut().enumerate().filter(|(bit, _)| fact.pointer == 1 << bit) {
                    used.hint = used.hint.or(fact.hint);
                }
            }
        }
        for (index, param) in kernel.params.iter().enumerate() {
            if matches!(param.pointer, Some(Space::Global | Space::Generic)) {
                let part = ParamPart { param: index, offset: 0, bytes: param.bytes };
                if !self.uses.parts.iter().any(|used| used.part == part) {
                    self.uses.parts.push(PartUse { part, pointer: None, number: NumberUse::default(), hint: None });
                }
                self.uses.parts.iter_mut().filter(|used| used.part == part).for_each(|used| {
                    used.pointer.get_or_insert_default();
                });
            }
        }
    }
}

fn is_float(ty: Option<ScalarType>) -> bool {
    ty.is_some_and(|ty| ty.kind() == TypeKind::Float)
}

/// True if a load or store transfers several elements.
fn is_vector(inst: &Inst) -> bool {
    matches!(inst.op, Op::Memory(MemoryOp::LoadVector { .. } | MemoryOp::StoreVector { .. }))
}

/// The bytes that a memory instruction transfers at a time; none if that is not known.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations transfer an element at a time")]
fn transferred(program: &Program, pc: Pc) -> Option<u32> {
    match program.code[pc.index()].op {
        Op::Async(AsyncOp::Copy { copy }) => match program.copies[copy] {
            CopyOp::Lanes { bytes, .. } => Some(bytes),
            CopyOp::Bulk { .. } => Some(BULK_BYTES),
            CopyOp::Tensor(_) | CopyOp::Store { .. } | CopyOp::Arrive { .. } => None,
        },
        Op::Memory(MemoryOp::LoadVector { bits, parts, .. }) => Some(u32::from(bits) / 8 * program.dests[parts].len() as u32),
        Op::Memory(MemoryOp::StoreVector { bits, parts, .. }) => Some(u32::from(bits) / 8 * program.sources[parts].len() as u32),
        _ => named(program, pc).map(|ty| ty.bits() / 8),
    }
}

fn reaches_global(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic)
}

/// The element type that a memory instruction names: its last type, `f32` of `ld.global.v4.f32`.
fn named(program: &Program, pc: Pc) -> Option<ScalarType> {
    program.opcode(pc)?.matched.types.last().copied()
}
