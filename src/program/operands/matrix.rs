//! Registers of matrix instructions.

use super::{Use, Walk, wide};
use crate::isa::ScalarType;
use crate::program::{Dst, ListId, MatrixId, MatrixOp, Src};

impl<V: FnMut(Use, super::RegisterOperand)> Walk<'_, V> {
    /// The registers of fragments are 64 bits wide for elements of `.f64`, and 32 otherwise.
    pub(super) fn matrix(&mut self, matrix: MatrixId) {
        let Some(op) = self.program.matrices.get(matrix.index()) else { return };
        match op {
            MatrixOp::Multiply(multiply) => {
                let [d, a, b, c] = multiply.kind.types;
                self.read_fragment(multiply.a, a);
                self.read_fragment(multiply.b, b);
                self.read_fragment(multiply.c, c);
                multiply.metadata.iter().for_each(|(metadata, _)| self.read(wide(false), *metadata));
                self.write_fragment(multiply.d, d);
            }
            MatrixOp::Load(access) => {
                self.address(access.address);
                access.stride.iter().for_each(|stride| self.read(wide(false), *stride));
                self.write_fragment(access.registers, access.fragment.ty);
            }
            MatrixOp::Store(access) => {
                self.address(access.address);
                access.stride.iter().for_each(|stride| self.read(wide(false), *stride));
                self.read_fragment(access.registers, access.fragment.ty);
            }
            MatrixOp::LoadRows(access) => {
                self.address(access.address);
                self.write_fragment(access.registers, ScalarType::B32);
            }
            MatrixOp::StoreRows(access) => {
                self.address(access.address);
                self.read_fragment(access.registers, ScalarType::B32);
            }
            MatrixOp::Transpose { d, a } => {
                self.read(wide(false), *a);
                self.write(wide(false), *d);
            }
        }
    }

    fn read_fragment(&mut self, list: ListId, ty: ScalarType) {
        let sources: &[Src] = self.sources(list);
        sources.iter().for_each(|source| self.read(wide(ty == ScalarType::F64), *source));
    }

    fn write_fragment(&mut self, list: ListId, ty: ScalarType) {
        let dests: &[Dst] = self.dests(list);
        dests.iter().for_each(|d| self.write(wide(ty == ScalarType::F64), *d));
    }
}
