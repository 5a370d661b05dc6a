//! The interned constants and special registers of a program.

use std::collections::HashMap;

use crate::program::{Program, SpecialRef, Src, SrcKind};

/// Indices of the constants that the program has already.
#[derive(Debug, Default)]
pub(super) struct Constants {
    narrow: HashMap<u32, u32>,
    wide: HashMap<u64, u32>,
    /// Addresses of shared memory, which are distinct from numbers of the same value.
    shared_narrow: HashMap<u32, u32>,
    shared_wide: HashMap<u64, u32>,
    specials: HashMap<u16, u32>,
}

impl Constants {
    /// A 32-bit constant.
    pub(super) fn narrow(&mut self, program: &mut Program, value: u32) -> Src {
        Src::new(SrcKind::Const(intern(&mut self.narrow, &mut program.consts32, value)))
    }

    /// A 64-bit constant.
    pub(super) fn wide(&mut self, program: &mut Program, value: u64) -> Src {
        Src::new(SrcKind::Const(intern(&mut self.wide, &mut program.consts64, value)))
    }

    /// An address in shared memory.
    pub(super) fn shared_address(&mut self, program: &mut Program, address: u64, wide: bool) -> Src {
        let (index, addresses) = if wide {
            (intern(&mut self.shared_wide, &mut program.consts64, address), &mut program.shared_addresses.wide)
        } else {
            (intern(&mut self.shared_narrow, &mut program.consts32, address as u32), &mut program.shared_addresses.narrow)
        };
        if !addresses.contains(&index) {
            addresses.push(index);
        }
        Src::new(SrcKind::Const(index))
    }

    /// An unchanging special register.
    pub(super) fn special(&mut self, program: &mut Program, register: SpecialRef) -> Src {
        let next = program.specials.len() as u32;
        let index = *self.specials.entry(register.0).or_insert(next);
        if index == next {
            program.specials.push(register);
        }
        Src::new(SrcKind::Special(index))
    }
}

/// The index of `value` in `table`, which is added if necessary; `indices` is the inverse of `table`.
fn intern<T: Copy + Eq + std::hash::Hash>(indices: &mut HashMap<T, u32>, table: &mut Vec<T>, value: T) -> u32 {
    *indices.entry(value).or_insert_with(|| {
        table.push(value);
        (table.len() - 1) as u32
    })
}
