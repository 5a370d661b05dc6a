//! Which kernel parameters are pointers to global memory, read off what the code does with them.
//!
//! A parameter's value is followed from its load through moves, additions and address conversions; one that reaches the base of a
//! global or generic access is a pointer, and the access says what it points to. The following is without order and forgets
//! nothing, so it errs towards pointers. It does not look inside called functions: a value that is handed to one counts as a
//! pointer if it is as wide as an address.

use std::collections::BTreeMap;

use super::element::Element;
use crate::isa::{IntBinary, IntTernary, IntType, ScalarType, Space, Width};
use crate::program::{Address, Base, Dst, Function, Inst, Op, ParamPlace, Pc, Program, Src, SrcKind};

/// What the code reads or writes through the parameter, for each parameter that is a pointer.
pub fn find(program: &Program, kernel: &Function) -> BTreeMap<usize, Option<Element>> {
    let code = kernel.code.start as usize..kernel.code.end as usize;
    let mut flow = Flow { program, kernel, origins: BTreeMap::new() };
    // Every pass adds at least one pair of register and parameter, of which there are few, or is the last.
    while program.code[code.clone()].iter().fold(false, |grown, inst| flow.follow(inst) | grown) {}
    let mut pointers: BTreeMap<usize, Option<Element>> = BTreeMap::new();
    for (index, inst) in (code.start..).zip(&program.code[code]) {
        let element = pointed_element(program, Pc::new(index), inst);
        for param in flow.used_as_address(inst) {
            let known = pointers.entry(param).or_default();
            *known = known.or(element);
        }
    }
    for (index, param) in kernel.params.iter().enumerate() {
        if param.pointer == Some(Space::Global) || param.pointer == Some(Space::Generic) {
            pointers.entry(index).or_default();
        }
    }
    pointers
}

/// Parameters of a set, one bit each; those past the 64th are not followed.
type Params = u64;

struct Flow<'a> {
    program: &'a Program,
    kernel: &'a Function,
    /// Which parameters a register's value may come from; registers are named by bank (wide or not) and slot.
    origins: BTreeMap<(bool, u32), Params>,
}

impl Flow<'_> {
    /// Adds what `inst` carries on; true if that is anything new.
    fn follow(&mut self, inst: &Inst) -> bool {
        match inst.op {
            Op::Load { access, reg_bits, d, address, .. } if access.space == Space::Param => {
                self.add(reg_bits == 64, d, self.loaded(address))
            }
            Op::LoadVector { access, reg_bits, parts, address, .. } if access.space == Space::Param => {
                self.follow_vector(reg_bits == 64, &self.program.dests[parts.index()], address)
            }
            Op::Move { width, d, a } => self.carry(width == Width::B64, d, &[a]),
            Op::ConvertAddress { wide, d, a, .. } => self.carry(wide, d, &[a]),
            Op::Select { width, d, a, b, .. } => self.carry(width == Width::B64, d, &[a, b]),
            Op::IntBinary { f: IntBinary::Add | IntBinary::Sub, ty, d, a, b } => self.carry(is_wide(ty), d, &[a, b]),
            Op::IntTernary { f: IntTernary::MadLo, ty, d, c, .. } => self.carry(is_wide(ty), d, &[c]),
            Op::MadWide { d, c, .. } => self.carry(true, d, &[c]),
            _ => false,
        }
    }

    fn carry(&mut self, wide: bool, d: Dst, from: &[Src]) -> bool {
        let params = from.iter().fold(0, |params, source| params | self.origin(wide, *source));
        self.add(wide, d, params)
    }

    fn follow_vector(&mut self, wide: bool, dests: &[Dst], address: Address) -> bool {
        let stride = if wide { 8 } else { 4 };
        let parts = (0_i32..).zip(dests);
        parts.fold(false, |grown, (index, d)| {
            let part = Address { offset: address.offset.saturating_add(index * stride), ..address };
            let params = self.loaded(part);
            self.add(wide, *d, params) | grown
        })
    }

    fn add(&mut self, wide: bool, d: Dst, params: Params) -> bool {
        if params == 0 || d.is_sink() {
            return false;
        }
        let known = self.origins.entry((wide, d.0)).or_default();
        let grown = params & !*known != 0;
        *known |= params;
        grown
    }

    fn origin(&self, wide: bool, source: Src) -> Params {
        match source.kind() {
            SrcKind::Reg(slot) => self.origins.get(&(wide, slot)).copied().unwrap_or(0),
            SrcKind::Const(_) | SrcKind::Special(_) => 0,
        }
    }

    /// The parameter that lies at a constant address of the parameter space.
    fn loaded(&self, address: Address) -> Params {
        let base = match address.base {
            Base::Wide(source) => constant(source).and_then(|index| self.program.consts64.get(index).copied()),
            Base::Narrow(source) => constant(source).and_then(|index| self.program.consts32.get(index).copied().map(u64::from)),
            Base::Frame => None,
        };
        let Some(at) = base.map(|base| base.wrapping_add_signed(i64::from(address.offset))) else { return 0 };
        let holds = |place: ParamPlace| matches!(place, ParamPlace::Kernel(offset) if u64::from(offset) == at);
        let index = self.kernel.params.iter().position(|param| holds(param.place) && param.bytes * 8 == self.program.address_bits);
        index.filter(|index| *index < 64).map_or(0, |index| 1 << index)
    }

    /// The parameters that `inst` shows to be pointers.
    fn used_as_address(&self, inst: &Inst) -> Vec<usize> {
        let is_address = |reg_bits: u8| u32::from(reg_bits) == self.program.address_bits;
        let is_wide = self.program.address_bits == 64;
        let params = match inst.op {
            // What goes into a frame is an argument of a call, or a variable of code that was not optimised.
            Op::Store { access, a, reg_bits, .. } if !reaches_global(access.space) && is_address(reg_bits) => self.origin(is_wide, a),
            Op::Load { access, address, .. }
            | Op::LoadVector { access, address, .. }
            | Op::Store { access, address, .. }
            | Op::StoreVector { access, address, .. }
            | Op::Atomic { access, address, .. }
            | Op::AtomicVector { access, address, .. }
                if reaches_global(access.space) =>
            {
                match address.base {
                    Base::Wide(source) => self.origin(true, source),
                    Base::Narrow(source) => self.origin(false, source),
                    Base::Frame => 0,
                }
            }
            _ => 0,
        };
        (0..64).filter(|index| params >> index & 1 == 1).collect()
    }
}

fn is_wide(ty: IntType) -> bool {
    matches!(ty, IntType::U64 | IntType::S64)
}

fn constant(source: Src) -> Option<usize> {
    match source.kind() {
        SrcKind::Const(index) => Some(index as usize),
        SrcKind::Reg(_) | SrcKind::Special(_) => None,
    }
}

fn reaches_global(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic)
}

/// The element type that a memory instruction names: the last type among its words, `f32` of `ld.global.v4.f32`.
fn pointed_element(program: &Program, pc: Pc, inst: &Inst) -> Option<Element> {
    let memory = matches!(
        inst.op,
        Op::Load { .. } | Op::LoadVector { .. } | Op::Store { .. } | Op::StoreVector { .. } | Op::Atomic { .. } | Op::AtomicVector { .. }
    );
    let text = program.text(pc);
    let opcode = text.split_whitespace().find(|word| !word.starts_with('@')).filter(|_| memory)?;
    let word = opcode.rsplit('.').find(|word| ScalarType::from_word(word).is_some())?;
    Element::from_name(word)
}
