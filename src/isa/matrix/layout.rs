//! Layouts of fragments: the map from lanes and their elements to positions in the matrix.
//!
//! Every layout is linear: each bit of the lane number, and each bit of the number of an element in its lane, adds a fixed number of rows
//! and columns. The elements of a lane are numbered register by register, from the low bits of each to the high ones.

use smallvec::SmallVec;

use super::{Fragment, Matrix, MatrixFamily};
use crate::isa::ScalarType;

/// The position of an element in a matrix, or the difference of two positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The matrix, if a fragment holds several (`mma.m8n8k4` of `.f16`, `ldmatrix`).
    pub tile: u32,
    /// Its row.
    pub row: u32,
    /// Its column.
    pub column: u32,
}

/// The layout of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The step of each bit of the lane number.
    lane: SmallVec<[Position; 8]>,
    /// The step of each bit of the element number.
    element: SmallVec<[Position; 8]>,
    /// Elements of a lane.
    count: u32,
}

const fn at(row: u32, column: u32) -> Position {
    Position { tile: 0, row, column }
}

const fn tile(tile: u32) -> Position {
    Position { tile, row: 0, column: 0 }
}

/// A row of [`WMMA`].
type WmmaRow = (Matrix, (u32, u32), u32, &'static [(u32, u32)]);

/// Layouts of `wmma` fragments by matrix, number of rows and columns, and bits of an element (0: any): the step of each bit of the register
/// number. `(0, 0)` is a register that holds a copy.
#[rustfmt::skip]
const WMMA: &[WmmaRow] = &[
    (Matrix::A, (16, 16), 16, &[(8, 0), (0, 8), (0, 0)]),
    (Matrix::A, (32, 16), 16, &[(8, 0), (0, 8), (16, 0)]),
    (Matrix::A, (8, 16), 16, &[(0, 8), (0, 0), (0, 0)]),
    (Matrix::B, (16, 16), 16, &[(8, 0), (0, 8), (0, 0)]),
    (Matrix::B, (16, 8), 16, &[(8, 0), (0, 0), (0, 0)]),
    (Matrix::B, (16, 32), 16, &[(0, 8), (8, 0), (0, 16)]),
    (Matrix::A, (16, 16), 8, &[(8, 0)]),
    (Matrix::A, (32, 16), 8, &[(8, 0), (16, 0)]),
    (Matrix::A, (8, 16), 8, &[]),
    (Matrix::B, (16, 16), 8, &[(0, 8)]),
    (Matrix::B, (16, 8), 8, &[]),
    (Matrix::B, (16, 32), 8, &[(0, 8), (0, 16)]),
    (Matrix::A, (16, 8), 32, &[(8, 0), (0, 4)]),
    (Matrix::B, (8, 16), 32, &[(4, 0), (0, 8)]),
    (Matrix::C, (16, 16), 0, &[(8, 0), (0, 8)]),
    (Matrix::C, (32, 8), 0, &[(8, 0), (16, 0)]),
    (Matrix::C, (8, 32), 0, &[(0, 8), (0, 16)]),
];

impl Layout {
    /// The layout of a fragment; `None` if there is no such fragment.
    pub fn of(fragment: &Fragment) -> Option<Layout> {
        let shape = fragment.shape;
        let is_volta = (shape.m, shape.n, shape.k) == (8, 8, 4) && matches!(fragment.ty, ScalarType::F16 | ScalarType::F32);
        match fragment.family {
            MatrixFamily::Mma if is_volta => Some(Self::of_quads(fragment)),
            MatrixFamily::Mma | MatrixFamily::MmaSparse => Self::of_mma(fragment),
            MatrixFamily::Wmma => Self::of_wmma(fragment),
            MatrixFamily::Wgmma => Self::of_wgmma(fragment),
        }
    }

    /// `count` matrices of 8 by 8 halves, one per register, as `ldmatrix` loads them; `transposed` for `.trans`.
    pub fn of_rows(count: u32, transposed: bool) -> Layout {
        let mut layout = Self::grid(2, transposed, &[]);
        layout.element.extend((0..count.max(1).ilog2()).map(|bit| tile(1 << bit)));
        layout.count = 2 * count;
        layout
    }

    /// Elements of a lane.
    pub fn elements(&self) -> u32 {
        self.count
    }

    /// Lanes that hold it: 32 or 128.
    pub fn lanes(&self) -> u32 {
        1 << self.lane.len()
    }

    /// The position of element `element` of lane `lane` in the matrix.
    pub fn position(&self, lane: u32, element: u32) -> Position {
        let sum_of = |bits: u32, steps: &[Position]| {
            let steps = steps.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 != 0);
            steps.fold(Position::default(), |sum, (_, step)| sum.plus(*step))
        };
        sum_of(lane, &self.lane).plus(sum_of(element, &self.element))
    }

    /// The lane that holds the element at `position`, and the number of the element in it; the first if there are copies.
    pub fn holder(&self, position: Position) -> Option<(u32, u32)> {
        let holds = |lane: &u32, element: &u32| self.position(*lane, *element) == position;
        (0..self.count).find_map(|element| (0..self.lanes()).find(|lane| holds(lane, &element)).map(|lane| (lane, element)))
    }

    /// Number of tiles, rows and columns.
    pub fn extent(&self) -> [u32; 3] {
        let all = (0..self.count).flat_map(|element| (0..self.lanes()).map(move |lane| self.position(lane, element)));
        let last = all.fold(Position::default(), |last, at| Position {
            tile: last.tile.max(at.tile),
            row: last.row.max(at.row),
            column: last.column.max(at.column),
        });
        [last.tile + 1, last.row + 1, last.column + 1]
    }

    /// The pattern of nearly all layouts: the eight groups of four lanes along one axis, and along the other the lanes of a group with
    /// `parts` adjacent elements each; then `steps` for the remaining bits of an element's number. `transposed` exchanges the axes of the
    /// pattern, not of the steps.
    fn grid(parts: u32, transposed: bool, steps: &[(u32, u32)]) -> Layout {
        let along = |distance: u32| if transposed { at(distance, 0) } else { at(0, distance) };
        let across = |distance: u32| if transposed { at(0, distance) } else { at(distance, 0) };
        let lane = [along(parts), along(2 * parts), across(1), across(2), across(4)];
        let within = (0..parts.ilog2()).map(|bit| along(1 << bit));
        let element = within.chain(steps.iter().map(|step| at(step.0, step.1))).collect();
        Layout { lane: lane.into_iter().collect(), element, count: parts << steps.len() }
    }

    /// `mma` and `mma.sp` (PTX ISA, "Matrix Fragments for mma").
    fn of_mma(fragment: &Fragment) -> Option<Layout> {
        let parts = fragment.per_register();
        let rows: &[(u32, u32)] = if fragment.shape.m == 16 { &[(8, 0)] } else { &[] };
        let (per_lane, parts) = (fragment.rows() * fragment.columns() / 32, if is_result(fragment) { 2 } else { parts });
        let registers = per_lane.checked_div(parts).filter(|registers| registers.is_power_of_two())?.ilog2();
        let further = |fixed: usize| (0..registers.saturating_sub(fixed as u32)).map(|bit| (4 * parts) << bit);
        let steps: SmallVec<[(u32, u32); 8]> = match fragment.matrix {
            Matrix::A => rows.iter().copied().chain(further(rows.len()).map(|column| (0, column))).collect(),
            Matrix::B => further(0).map(|row| (row, 0)).collect(),
            Matrix::C | Matrix::D => rows.into(),
        };
        let layout = Self::grid(parts, fragment.matrix == Matrix::B, &steps);
        (layout.count == per_lane && matches!(fragment.shape.m, 8 | 16)).then_some(layout)
    }

    /// Four products of 8 by 8 by 4 halves, each computed by eight lanes (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16").
    fn of_quads(fragment: &Fragment) -> Layout {
        let lanes = |low: [Position; 2], high: Position| [low[0], low[1], tile(1), tile(2), high].into_iter().collect();
        let (lane, element): (_, SmallVec<[Position; 8]>) = match (fragment.matrix, fragment.swapped) {
            (Matrix::A, false) => (lanes([at(1, 0), at(2, 0)], at(4, 0)), [at(0, 1), at(0, 2)].into_iter().collect()),
            (Matrix::A, true) => (lanes([at(0, 1), at(0, 2)], at(4, 0)), [at(1, 0), at(2, 0)].into_iter().collect()),
            (Matrix::B, false) => (lanes([at(0, 1), at(0, 2)], at(0, 4)), [at(1, 0), at(2, 0)].into_iter().collect()),
            (Matrix::B, true) => (lanes([at(1, 0), at(2, 0)], at(0, 4)), [at(0, 1), at(0, 2)].into_iter().collect()),
            _ if fragment.ty == ScalarType::F16 => {
                (lanes([at(1, 0), at(2, 0)], at(4, 0)), [at(0, 1), at(0, 2), at(0, 4)].into_iter().collect())
            }
            _ => (lanes([at(1, 0), at(0, 2)], at(4, 0)), [at(0, 1), at(2, 0), at(0, 4)].into_iter().collect()),
        };
        Layout { lane, count: 1 << element.len(), element }
    }

    /// `wmma`: the layouts of [`WMMA`], and for shapes of 8 by 8 the plain grid.
    fn of_wmma(fragment: &Fragment) -> Option<Layout> {
        let matrix = if fragment.matrix == Matrix::D { Matrix::C } else { fragment.matrix };
        let extent = (fragment.rows(), fragment.columns());
        let row = WMMA.iter().find(|row| row.0 == matrix && row.1 == extent && (row.2 == 0 || row.2 == fragment.ty.bits()));
        let is_small = (fragment.shape.m, fragment.shape.n) == (8, 8);
        let mut steps = if is_small { &[][..] } else { row?.3 };
        // Only `.f16` has the copies at the end.
        while fragment.ty != ScalarType::F16 && steps.last() == Some(&(0, 0)) {
            steps = &steps[..steps.len() - 1];
        }
        let parts = if is_result(fragment) { 2 } else { fragment.per_register() };
        // The product of m8n32 is computed transposed.
        let transposed = matrix == Matrix::B || matrix == Matrix::C && fragment.shape.n == 32;
        Some(Self::grid(parts, transposed, steps))
    }

    /// `wgmma`: A in registers and D, sixteen rows per warp (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts").
    fn of_wgmma(fragment: &Fragment) -> Option<Layout> {
        let columns = match fragment.matrix {
            Matrix::A => fragment.columns(),
            Matrix::C | Matrix::D => fragment.shape.n,
            Matrix::B => return None,
        };
        let parts = if is_result(fragment) { 2 } else { fragment.per_register() };
        let pairs = columns.checked_div(4 * parts).filter(|pairs| *pairs > 0 && fragment.shape.m == 64)?;
        let steps: SmallVec<[(u32, u32); 8]> =
            [(8, 0)].into_iter().chain((0..pairs.next_power_of_two().ilog2()).map(|bit| (0, (4 * parts) << bit))).collect();
        let mut layout = Self::grid(parts, false, &steps);
        layout.lane.extend([at(16, 0), at(32, 0)]);
        layout.count = columns / 2;
        Some(layout)
    }
}

impl Position {
    fn plus(self, step: Position) -> Position {
        Position { tile: self.tile + step.tile, row: self.row + step.row, column: self.column + step.column }
    }
}

fn is_result(fragment: &Fragment) -> bool {
    matches!(fragment.matrix, Matrix::C | Matrix::D)
}
