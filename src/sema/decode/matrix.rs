//! Matrix instructions of a warp. Shapes and types come from the modifiers; the instruction table has their valid combinations.

use super::family::{Decoded, Decoding};
use super::operand::Arg;
use crate::base::Diagnostic;
use crate::isa::{Decode, Fragment, Layout, Matrix, MatrixDecode, MatrixFamily, ScalarType, Shape};
use crate::program::{FragmentAccess, ListId, MatrixMultiply, MatrixOp, MultiplyKind, MultiplyMode, Op, RowsAccess};

impl Decoding<'_, '_> {
    /// A matrix instruction.
    pub(super) fn matrix(&mut self, decode: MatrixDecode) -> Decoded {
        let op = match decode {
            MatrixDecode::Product(family) => self.multiply(family)?,
            MatrixDecode::FragmentLoad => MatrixOp::Load(self.fragment_access(0, 1)?),
            MatrixDecode::FragmentStore => MatrixOp::Store(self.fragment_access(1, 0)?),
            MatrixDecode::MatrixLoad => MatrixOp::LoadRows(self.rows_access(0, 1)?),
            MatrixDecode::MatrixStore => MatrixOp::StoreRows(self.rows_access(1, 0)?),
            MatrixDecode::MatrixTranspose => MatrixOp::Transpose { d: self.dst(0)?, a: self.src(1)? },
        };
        Ok(Op::Matrix { matrix: self.cx.matrix(op) })
    }

    /// The words of all modifiers, in the order of the form: `.f32.f16` is one modifier in some rows and two in others.
    fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.matched.modifiers.iter().flatten().flat_map(|word| word.text.split('.'))
    }

    fn shape(&self) -> Result<Shape, Diagnostic> {
        self.parts().find_map(Shape::from_word).ok_or_else(|| self.type_mismatch())
    }

    /// The types of the opcode; `.b1` as 32-bit words.
    fn element_types(&self) -> Vec<ScalarType> {
        let ty = |part| if part == "b1" { Some(ScalarType::B32) } else { ScalarType::from_word(part) };
        self.parts().filter_map(ty).collect()
    }

    /// The layout modifiers in order: false for `.row`, true for `.col`.
    fn layouts(&self) -> impl Iterator<Item = bool> {
        self.parts().filter_map(|part| match part {
            "row" => Some(false),
            "col" => Some(true),
            _ => None,
        })
    }

    fn multiply(&mut self, family: MatrixFamily) -> Result<MatrixOp, Diagnostic> {
        let types = match self.element_types()[..] {
            [d, a, b, c] => [d, a, b, c],
            // `wmma` of halves has the types of D and C only.
            [d, c] => [d, ScalarType::F16, ScalarType::F16, c],
            _ => return Err(self.type_mismatch()),
        };
        let mut layouts = self.layouts();
        let (a_by_columns, b_by_rows) = (layouts.next() == Some(true), layouts.next() == Some(false));
        let shape = self.shape()?;
        let is_bits = types[1] == ScalarType::B32;
        let shape = if is_bits { Shape { k: shape.k / 32, ..shape } } else { shape };
        let kind = MultiplyKind { family, shape, types, a_by_columns, b_by_rows, mode: self.multiply_mode() };
        let metadata =
            if family == MatrixFamily::MmaSparse { Some((self.src(4)?, self.constant_value(5).unwrap_or(0) as u32)) } else { None };
        let [d, a, b, c] = [Matrix::D, Matrix::A, Matrix::B, Matrix::C].map(|matrix| kind.fragment(matrix));
        let multiply = MatrixMultiply {
            kind,
            d: self.fragment_registers(0, &d)?,
            a: self.fragment_registers(1, &a)?,
            b: self.fragment_registers(2, &b)?,
            c: self.fragment_registers(3, &c)?,
            metadata,
        };
        Ok(MatrixOp::Multiply(multiply))
    }

    fn multiply_mode(&self) -> MultiplyMode {
        let modes = [("satfinite", MultiplyMode::Saturate), ("xor.popc", MultiplyMode::Xor), ("and.popc", MultiplyMode::And)];
        self.matched.choose(&modes).unwrap_or_else(|| MultiplyMode::Round(self.rounding()))
    }

    /// The registers of operand `index`, which hold `fragment`.
    fn fragment_registers(&self, index: usize, fragment: &Fragment) -> Result<ListId, Diagnostic> {
        let list = self.register_list(index)?;
        let layout = Layout::of(fragment).ok_or_else(|| self.operand_mismatch(index))?;
        let expected = layout.elements() / fragment.per_register();
        let is_written = index == 0 && self.matched.form.row.decode != Decode::Matrix(MatrixDecode::FragmentStore);
        let count = if is_written { self.cx.dests(list).len() } else { self.cx.sources(list).len() };
        if count == expected as usize { Ok(list) } else { Err(self.operand_mismatch(index)) }
    }

    fn register_list(&self, index: usize) -> Result<ListId, Diagnostic> {
        match self.args.get(index) {
            Some(Arg::Vector { list, .. }) => Ok(*list),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// `wmma.load` and `wmma.store`: a modifier names the matrix.
    fn fragment_access(&mut self, registers: usize, address: usize) -> Result<FragmentAccess, Diagnostic> {
        let matrix = self.matched.choose(Matrix::WORDS).ok_or_else(|| self.type_mismatch())?;
        let ty = self.element_types().last().copied().ok_or_else(|| self.type_mismatch())?;
        let shape = self.shape()?;
        let is_bits = ty == ScalarType::B32;
        let shape = if is_bits { Shape { k: shape.k / 32, ..shape } } else { shape };
        let fragment = Fragment { family: MatrixFamily::Wmma, shape, matrix, ty, swapped: false };
        let (access, address) = self.access(address)?;
        Ok(FragmentAccess {
            fragment,
            registers: self.fragment_registers(registers, &fragment)?,
            access,
            address,
            bits: if is_bits { 1 } else { ty.bits() },
            by_columns: self.layouts().next() == Some(true),
            stride: self.optional_src(2)?,
        })
    }

    /// `ldmatrix` and `stmatrix`.
    fn rows_access(&mut self, registers: usize, address: usize) -> Result<RowsAccess, Diagnostic> {
        let (access, address) = self.access(address)?;
        Ok(RowsAccess { registers: self.register_list(registers)?, access, address, transposed: self.matched.has("trans") })
    }
}
