//! What a kernel does with its parameters: which are pointers and to what, which end a loop, guard an access or make an address.

use super::flow::{Fact, Flow, ParamPart, ParamParts};
use super::hints;
use crate::isa::{AtomicFn, MbarrierFn, ScalarType, Space, TypeKind};
use crate::program::operands;
use crate::program::{
    Address, AsyncOp, AtomicOp, Bank, CompareOp, ControlOp, CopyOp, FuncId, Function, Handle, Inst, MatrixOp, MbarrierOp, MemoryOp, Op, Pc,
    Program, SpaceAddress, SrcKind, TensorMapOp, WarpgroupOp,
};

/// What the code does with the memory that a pointer points to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerUse {
    /// The first instruction that uses it, unless it is only declared a pointer.
    pub at: Option<Pc>,
    /// What is read there, written, or both at once.
    pub reads: bool,
    pub writes: bool,
    pub atomics: bool,
    /// The type of an element, as far as the accesses show it.
    pub element: Option<ScalarType>,
    /// An instruction whose address is made from what the memory holds.
    pub indexes: Option<Pc>,
    /// The pointers to which such addresses lead, and whether it is one of them.
    pub into: ParamParts,
    pub indexes_itself: bool,
    /// Whether a plain store is among such instructions.
    pub scatters: bool,
    /// Whether what another pointer points to is part of the addresses at which the memory is accessed.
    pub is_indexed: bool,
    /// Whether what the memory holds at one place is compared with what it holds at another.
    pub delimits: bool,
}

/// What the code does with a word of the parameters that is no pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberUse {
    /// The texture or surface instruction whose handle it is.
    pub handle: Option<Pc>,
    /// The branch back that it ends.
    pub ends_loop: Option<Pc>,
    /// The comparison it stands in.
    pub compared: Option<Pc>,
    /// The access whose address is made from it.
    pub addressed: Option<Pc>,
}

impl NumberUse {
    /// Whether it is used as the number of elements or rows of something.
    pub fn is_extent(&self) -> bool {
        self.ends_loop.is_some() || self.compared.is_some() || self.addressed.is_some()
    }
}

/// What is known of a word of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordUse {
    /// Which.
    pub word: ParamPart,
    /// What it points to, if it is a pointer.
    pub pointer: Option<PointerUse>,
    /// What else is done with it.
    pub number: NumberUse,
    /// The format of the number in it.
    pub hint: Option<ScalarType>,
}

/// What is known of a kernel's parameters.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// By word, in order of parameter and offset.
    pub words: Vec<WordUse>,
    /// The type of what asynchronous copies bring, and matrix instructions multiply.
    pub tile: Option<ScalarType>,
    /// Coordinates of the tensor copies, at most.
    pub tensor_rank: usize,
    /// Largest number of bytes that an expect-tx names.
    pub expected_bytes: u32,
    /// The words in the order of their bits.
    bits: Vec<ParamPart>,
}

impl Uses {
    /// Those of the kernel that `flow` has followed.
    pub fn of(flow: &Flow<'_>) -> Self {
        let words = flow.words.iter().take(64).map(|word| WordUse { word: *word, pointer: None, number: NumberUse::default(), hint: None });
        let uses = Uses { words: words.collect(), bits: flow.words.clone(), ..Uses::default() };
        let mut reader = Reader { flow, uses };
        reader.uses.tile = reader.tile();
        for (function, pc, inst) in flow.code() {
            reader.memory(function, Pc::new(pc as usize), inst);
            reader.numbers(function, Pc::new(pc as usize), inst);
        }
        reader.declared();
        let mut uses = reader.uses;
        uses.words.sort_by_key(|used| used.word);
        uses
    }

    /// What is known of a parameter that is loaded as a whole.
    pub fn whole(&self, index: usize, bytes: u32) -> Option<&WordUse> {
        self.words.iter().find(|used| used.word == ParamPart { param: index, offset: 0, bytes })
    }

    /// The words of these bits.
    pub fn parts_of(&self, bits: ParamParts) -> impl Iterator<Item = ParamPart> + '_ {
        self.bits.iter().take(64).enumerate().filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, part)| *part)
    }

    /// The words of a parameter.
    pub fn of_param(&self, index: usize) -> impl Iterator<Item = &WordUse> {
        self.words.iter().filter(move |used| used.word.param == index)
    }
}

struct Reader<'f, 'p> {
    flow: &'f Flow<'p>,
    uses: Uses,
}

/// How an instruction uses memory.
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
    /// What is multiplied or, without matrix instructions, loaded from shared memory.
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
                    loaded = loaded.or_else(|| self.element(function, Pc::new(pc as usize), inst));
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

    /// The type of an element of a load, store or atomic: the format of the registers, or else what the instruction names.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are known by what they name")]
    fn element(&self, function: FuncId, pc: Pc, inst: &Inst) -> Option<ScalarType> {
        let program = self.flow.program;
        let registers = match inst.op {
            Op::Memory(MemoryOp::Load { .. } | MemoryOp::LoadVector { .. }) => operands::writes(inst, program),
            Op::Memory(MemoryOp::Store { a, bits, reg_bits, .. }) => {
                let bank = if bits.max(reg_bits) >= 64 { Bank::B64 } else { Bank::B32 };
                return self.flow.fact_of(function, bank, a).hint.or_else(|| named(program, pc));
            }
            Op::Memory(MemoryOp::StoreVector { parts, bits, reg_bits, .. }) => {
                let bank = if bits.max(reg_bits) >= 64 { Bank::B64 } else { Bank::B32 };
                let mut parts = program.sources[parts].iter();
                return parts.find_map(|part| self.flow.fact_of(function, bank, *part).hint).or_else(|| named(program, pc));
            }
            _ => return named(program, pc),
        };
        registers.iter().find_map(|register| self.flow.fact(function, register.bank, register.slot).hint).or_else(|| named(program, pc))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations access no parameter")]
    fn memory(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let flow = self.flow;
        match inst.op {
            Op::Memory(MemoryOp::Load { access, address, .. } | MemoryOp::LoadVector { access, address, .. })
                if reaches_global(access.space) =>
            {
                let element = self.element(function, pc, inst);
                self.touch(function, pc, address, MemoryUse { element, ..READ });
            }
            Op::Memory(MemoryOp::Store { access, address, .. } | MemoryOp::StoreVector { access, address, .. })
                if reaches_global(access.space) =>
            {
                let element = self.element(function, pc, inst);
                self.touch(function, pc, address, MemoryUse { element, ..WRITE });
            }
            Op::Atomic(AtomicOp::Single { f, ty, access, address, .. }) if reaches_global(access.space) => {
                let element = if f == AtomicFn::Cas { named(flow.program, pc) } else { Some(ty) };
                self.touch(function, pc, address, MemoryUse { atomics: true, element, ..READ });
            }
            Op::Atomic(AtomicOp::Vector { ty, access, address, .. }) if reaches_global(access.space) => {
                self.touch(function, pc, address, MemoryUse { atomics: true, element: hints::single(ty), ..READ });
            }
            Op::Matrix { matrix } => match &flow.program.matrices[matrix] {
                MatrixOp::Load(load) if reaches_global(load.access.space) => {
                    self.touch(function, pc, load.address, MemoryUse { element: hints::single(load.fragment.ty), ..READ });
                }
                MatrixOp::Store(store) if reaches_global(store.access.space) => {
                    self.touch(function, pc, store.address, MemoryUse { element: hints::single(store.fragment.ty), ..WRITE });
                }
                _ => {}
            },
            Op::Image { access } => {
                let access = &flow.program.images[access];
                for handle in [Some(access.image), access.sampler].into_iter().flatten() {
                    let Handle::Value(source) = handle else { continue };
                    let fact = flow.fact_of(function, Bank::B64, source);
                    self.uses.words.iter_mut().enumerate().filter(|(bit, _)| fact.direct >> bit & 1 == 1).for_each(|(_, used)| {
                        used.number.handle.get_or_insert(pc);
                    });
                }
            }
            Op::Async(AsyncOp::Copy { copy }) => self.copy(function, pc, &flow.program.copies[copy]),
            Op::TensorMap(TensorMapOp::Copy { to, .. }) => {
                self.touch(function, pc, to, MemoryUse { element: Some(ScalarType::B8), ..WRITE });
            }
            Op::TensorMap(TensorMapOp::ReplaceField { field, access, a, address, .. }) => {
                if reaches_global(access.space) {
                    self.touch(function, pc, address, MemoryUse { element: Some(ScalarType::B8), ..WRITE });
                }
                let bank = if field.is_wide() { Bank::B64 } else { Bank::B32 };
                let touch = MemoryUse { writes: true, element: self.uses.tile, ..READ };
                self.touch_base(pc, flow.fact_of(function, bank, a), touch);
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
        let place = |place: &SpaceAddress| reaches_global(place.space).then_some(place.address);
        match copy {
            CopyOp::Lanes { from, .. } => self.touch(function, pc, from.address, MemoryUse { element, ..READ }),
            CopyOp::Bulk { to, from, reduction, .. } => {
                let atomics = reduction.is_some();
                let element = reduction.and_then(|(_, ty)| hints::single(ty)).or(element);
                place(from).into_iter().for_each(|from| self.touch(function, pc, from, MemoryUse { element, ..READ }));
                place(to).into_iter().for_each(|to| self.touch(function, pc, to, MemoryUse { element, atomics, ..WRITE }));
            }
            CopyOp::Tensor(tensor) => {
                self.uses.tensor_rank = self.uses.tensor_rank.max(tensor.coordinates.len());
                // A map in global memory: its bytes are those that the code puts there.
                self.touch(function, pc, tensor.map, MemoryUse { element: Some(ScalarType::B8), ..READ });
            }
            CopyOp::Store { .. } | CopyOp::Arrive { .. } => {}
        }
    }

    fn touch(&mut self, function: FuncId, pc: Pc, address: Address, touch: MemoryUse) {
        self.touch_base(pc, self.flow.base(function, address), touch);
    }

    fn touch_base(&mut self, pc: Pc, fact: Fact, touch: MemoryUse) {
        let wide = self.flow.program.address_bits / 8;
        for (bit, used) in self.uses.words.iter_mut().enumerate() {
            if fact.contents >> bit & 1 == 1 {
                let pointer = used.pointer.get_or_insert_default();
                pointer.indexes.get_or_insert(pc);
                pointer.into |= fact.pointer;
                pointer.indexes_itself |= fact.pointer >> bit & 1 == 1;
                pointer.scatters |= touch.writes && !touch.atomics;
            }
            if fact.pointer >> bit & 1 == 1 && used.word.bytes == wide {
                let pointer = used.pointer.get_or_insert_default();
                pointer.at.get_or_insert(pc);
                pointer.reads |= touch.reads;
                pointer.writes |= touch.writes;
                pointer.atomics |= touch.atomics;
                pointer.is_indexed |= fact.contents & !(1 << bit) != 0;
                let better = pointer.element.is_none_or(|known| known.kind() != TypeKind::Float && is_float(touch.element));
                pointer.element = if better { touch.element.or(pointer.element) } else { pointer.element };
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
                for (_, used) in self.uses.words.iter_mut().enumerate().filter(|(bit, _)| both >> bit & 1 == 1) {
                    used.pointer.get_or_insert_default().delimits = true;
                }
                (facts[0].direct | facts[1].direct, 0, false)
            }
            _ => return,
        };
        let bits = if direct == 0 { value } else { direct };
        for (_, used) in self.uses.words.iter_mut().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1) {
            let place = if is_end { &mut used.number.ends_loop } else { &mut used.number.compared };
            place.get_or_insert(pc);
        }
    }

    /// Formats of the words, pointers by their declaration, and of what is only copied to tiles the format of the tiles.
    fn declared(&mut self) {
        let tile = self.uses.tile;
        for pointer in self.uses.words.iter_mut().filter_map(|used| used.pointer.as_mut()) {
            let bits = pointer.element.filter(|element| element.kind() == TypeKind::Untyped).map(ScalarType::bits);
            pointer.element = tile.filter(|tile| bits == Some(tile.bits())).or(pointer.element);
        }
        let kernel: &Function = self.flow.kernel;
        for (function, _, inst) in self.flow.code() {
            for register in operands::reads(inst, self.flow.program) {
                let fact = self.flow.fact(function, register.bank, register.slot);
                for (_, used) in self.uses.words.iter_mut().enumerate().filter(|(bit, _)| fact.pointer == 1 << bit) {
                    used.hint = used.hint.or(fact.hint);
                }
            }
        }
        for (index, param) in kernel.params.iter().enumerate() {
            if matches!(param.pointer, Some(Space::Global | Space::Generic)) {
                let word = ParamPart { param: index, offset: 0, bytes: param.bytes };
                if !self.uses.words.iter().any(|used| used.word == word) {
                    self.uses.words.push(WordUse { word, pointer: None, number: NumberUse::default(), hint: None });
                }
                self.uses.words.iter_mut().filter(|used| used.word == word).for_each(|used| {
                    used.pointer.get_or_insert_default();
                });
            }
        }
    }
}

fn is_float(ty: Option<ScalarType>) -> bool {
    ty.is_some_and(|ty| ty.kind() == TypeKind::Float)
}

fn reaches_global(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic)
}

/// The element type that a memory instruction names: the last type among its words, `f32` of `ld.global.v4.f32`.
fn named(program: &Program, pc: Pc) -> Option<ScalarType> {
    program.opcode(pc)?.matched.types.last().copied()
}
