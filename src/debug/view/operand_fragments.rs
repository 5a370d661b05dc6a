//! The fragments of a matrix instruction: the matrices that its register operands hold.

use super::fragment::{FragmentCell, FragmentView, NamedFragment};
use super::list::current_pc;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::register_bits;
use crate::debug::names::scope;
use crate::debug::value::{Scalar, Type, Value, ValueText, number};
use crate::isa::{Fragment, Matrix, ScalarType};
use crate::program::{MatrixOp, Op, Pc, Program, WarpgroupOp, WgmmaA};

/// Rows and columns of a matrix of `ldmatrix` and `stmatrix`.
const ROWS: u32 = 8;

/// A register operand of a matrix instruction as a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandFragment {
    /// The letter of the manual: `A`, `B`, `C`, `D`.
    pub letter: char,
    /// The matrix.
    pub view: FragmentView,
}

/// The fragments of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandFragments {
    /// The instruction.
    pub pc: Pc,
    /// True if the focused lane executes it next; otherwise it was the instruction before in the text.
    pub is_next: bool,
    /// The operands, in the order of the statement.
    pub operands: Vec<OperandFragment>,
}

/// The fragments of the matrix instruction that the focused lane executes next, or else of the one before it in the text; none if neither
/// is one.
pub fn operand_fragments(context: &EvalContext<'_>) -> Option<OperandFragments> {
    context.frame().ok()?;
    let pc = current_pc(context);
    let of = |pc: Pc, is_next| {
        let operands = fragments_of(context, pc);
        (!operands.is_empty()).then_some(OperandFragments { pc, is_next, operands })
    };
    of(pc, true).or_else(|| of(Pc(pc.0.checked_sub(1)?), false))
}

/// The number of an operand in the statement, its letter, and its fragment; none for rows of `ldmatrix` and `stmatrix`.
type Operand = (usize, char, Option<Fragment>);

fn fragments_of(context: &EvalContext<'_>, pc: Pc) -> Vec<OperandFragment> {
    let program = context.program();
    let texts = program.operand_texts(pc);
    let view = |(index, letter, fragment): Operand| {
        let names = register_names(texts.get(index)?);
        let view = match fragment {
            Some(fragment) => {
                let named = NamedFragment::of(fragment)?;
                named.view(context, &named.name(), &names, None).ok()?
            }
            None => rows(context, &names)?,
        };
        Some(OperandFragment { letter, view })
    };
    operands_of(program, pc).into_iter().filter_map(view).collect()
}

fn operands_of(program: &Program, pc: Pc) -> Vec<Operand> {
    let Some(inst) = program.code.get(pc.index()) else { return Vec::new() };
    #[expect(clippy::wildcard_enum_match_arm, reason = "other instructions have no fragments")]
    match inst.op {
        Op::Matrix { matrix } => match &program.matrices[matrix] {
            MatrixOp::Multiply(multiply) => {
                let of = |(index, letter, matrix)| (index, letter, Some(multiply.kind.fragment(matrix)));
                [(0, 'D', Matrix::D), (1, 'A', Matrix::A), (2, 'B', Matrix::B), (3, 'C', Matrix::C)].map(of).to_vec()
            }
            MatrixOp::Load(access) => vec![(0, letter_of(access.fragment.matrix), Some(access.fragment))],
            MatrixOp::Store(access) => vec![(1, letter_of(access.fragment.matrix), Some(access.fragment))],
            MatrixOp::LoadRows(_) => vec![(0, 'D', None)],
            MatrixOp::StoreRows(_) => vec![(1, 'A', None)],
            MatrixOp::Transpose { .. } => vec![(0, 'D', None), (1, 'A', None)],
        },
        Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => {
            let op = &program.wgmmas[wgmma];
            let a = matches!(op.a, WgmmaA::Registers(_)).then(|| (1, 'A', Some(op.fragment(Matrix::A))));
            [(0, 'D', Some(op.fragment(Matrix::D)))].into_iter().chain(a).collect()
        }
        _ => Vec::new(),
    }
}

fn letter_of(matrix: Matrix) -> char {
    match matrix {
        Matrix::A => 'A',
        Matrix::B => 'B',
        Matrix::C => 'C',
        Matrix::D => 'D',
    }
}

/// The names in `{%r1, %r2}`, or the one of `%r1`.
fn register_names(operand: &str) -> Vec<String> {
    operand.split(['{', '}', ',', ' ']).filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// Matrices of 8 by 8 halves, one in each register: lane `l` holds the elements `2 * (l % 4)` and the next of row `l / 4` (PTX ISA,
/// "ldmatrix").
fn rows(context: &EvalContext<'_>, names: &[String]) -> Option<FragmentView> {
    let frame = context.frame().ok()?;
    let function = context.function(&frame);
    let tile = |(number, name): (u32, &String)| {
        let place = scope::register(function, frame.pc, name).filter(|place| place.slot.is_some())?;
        let place = scope::with_type_in_effect(context, frame.function, place);
        let ty = if place.ty == ScalarType::BF16x2 { ScalarType::BF16 } else { ScalarType::F16 };
        let cell = |row: u32, column: u32| {
            let (lane, half) = (row * 4 + column / 2, column % 2);
            let element = number * 2 + half;
            let Some(register) = context.same_frame(&frame, lane).and_then(|own| register_bits(&own, &place)) else {
                return FragmentCell { lane, element, ..FragmentCell::default() };
            };
            let bits = register >> (16 * half) & 0xffff;
            let text = match Value::Scalar(Scalar::new(Type::Scalar(ty), bits)).text(context, None) {
                ValueText::Scalar(text) => text,
                ValueText::Array(_) | ValueText::Lanes(_) | ValueText::Tensor(_) => format!("{bits:#x}"),
            };
            FragmentCell { text, number: number::to_f64(ty, bits), lane, element }
        };
        Some((0..ROWS).map(|row| (0..ROWS).map(|column| cell(row, column)).collect()).collect())
    };
    let tiles: Vec<Vec<Vec<FragmentCell>>> = (0..).zip(names).map(tile).collect::<Option<_>>()?;
    let name = format!("8x8.x{}", tiles.len());
    Some(FragmentView { name, registers: names.to_vec(), per_register: 2, tiles, first_row: 0 })
}
