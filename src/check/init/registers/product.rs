//! Products of matrices: an undefined element of A makes its row of D undefined, one of B its column, and one of C only itself.

use std::collections::BTreeMap;

use super::bitwise::ALL;
use super::frames::Frame;
use super::origin::{Origin, OriginTable, Origins};
use super::tracked::TrackedRegisters;
use crate::check::init::registers::LoadedValue;
use crate::isa::ScalarType;
use crate::machine::{ElementTable, IssuePoint, LANES, LaneMask, PreparedLaunch};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Dst, ListId, MatrixId, MatrixOp, Op, PredSrc, Program, Src, SrcKind, Undefined, WarpgroupOp, WgmmaA, WgmmaId};

/// Rows of A that a warp multiplies by `wgmma`.
const WGMMA_ROWS: usize = 16;

/// The rows of A and the columns of B with undefined elements, each with the origin of one.
#[derive(Default)]
pub(in crate::check::init) struct UndefinedFactors {
    /// Rows of A.
    pub rows: BTreeMap<usize, Origin>,
    /// Columns of B.
    pub columns: BTreeMap<usize, Origin>,
}

/// The operands of a multiplication in registers.
pub(super) struct Product<'p> {
    a: Fragments<'p>,
    b: Fragments<'p>,
    /// C; none if it is not added.
    c: Option<Fragments<'p>>,
    d: Vec<Option<RegisterOperand>>,
    /// The positions of the elements of D.
    table: &'p ElementTable,
    /// The registers that affect all elements: descriptors and metadata.
    others: Vec<RegisterOperand>,
    /// Columns of A and of B.
    columns: [usize; 2],
}

/// The registers of one matrix.
struct Fragments<'p> {
    /// In order; none for a constant.
    registers: Vec<Option<RegisterOperand>>,
    /// The positions of their elements; none if the matrix is in memory.
    table: Option<&'p ElementTable>,
}

impl<'p> Product<'p> {
    /// The multiplication that `op` is, if it is one by a whole warp.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations multiply no matrices")]
    pub fn of(op: &Op, operands: &dyn Undefined, prepared: &'p PreparedLaunch) -> Option<Self> {
        match *op {
            Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => Some(Self::of_warpgroup(wgmma, operands, prepared)),
            Op::Matrix { matrix } => Self::of_warp(matrix, operands.program(), prepared),
            _ => None,
        }
    }

    fn of_warpgroup(id: WgmmaId, operands: &dyn Undefined, prepared: &'p PreparedLaunch) -> Self {
        let op = &operands.program().wgmmas[id];
        let tables = prepared.wgmmas.get(id);
        let (fragments, descriptor): (&[Src], _) = match &op.a {
            WgmmaA::Shared(descriptor, _) => (&[], Some(*descriptor)),
            WgmmaA::Registers(fragments) => (fragments, None),
        };
        let accumulates = (operands.true_lanes(op.accumulate) | operands.predicate(op.accumulate)).intersects(operands.active());
        let d: Vec<_> = op.d.iter().map(|d| written(Bank::B32, *d)).collect();
        let wide = descriptor.into_iter().chain([op.b]).filter_map(|source| read(Bank::B64, source));
        let narrow = op.metadata.into_iter().filter_map(|(metadata, _)| read(Bank::B32, metadata));
        let scale = if let PredSrc::Reg { slot, .. } = op.accumulate { written(Bank::Pred, Dst(slot)) } else { None };
        Self {
            a: Fragments { registers: fragments.iter().map(|source| read(Bank::B32, *source)).collect(), table: Some(&tables.a) },
            b: Fragments { registers: Vec::new(), table: None },
            c: accumulates.then(|| Fragments { registers: d.clone(), table: Some(&tables.d) }),
            d,
            table: &tables.d,
            others: wide.chain(narrow).chain(scale).collect(),
            columns: [tables.a.size / WGMMA_ROWS, op.shape.n as usize],
        }
    }

    fn of_warp(id: MatrixId, program: &Program, prepared: &'p PreparedLaunch) -> Option<Self> {
        let MatrixOp::Multiply(multiply) = &program.matrices[id] else { return None };
        let tables = prepared.matrices.get(id);
        let [d, a, b, c] = multiply.kind.types;
        let sources = |list: ListId, ty, table| {
            let registers = program.sources[list].iter().map(|source| read(bank(ty), *source)).collect();
            Fragments { registers, table: Some(table) }
        };
        (tables.tiles == 1).then(|| Self {
            a: sources(multiply.a, a, &tables.a),
            b: sources(multiply.b, b, &tables.b),
            c: Some(sources(multiply.c, c, &tables.c)),
            d: program.dests[multiply.d].iter().map(|dest| written(bank(d), *dest)).collect(),
            table: &tables.d,
            others: multiply.metadata.into_iter().filter_map(|(metadata, _)| read(Bank::B32, metadata)).collect(),
            columns: [tables.a.size / (multiply.kind.shape.m as usize).max(1), multiply.kind.shape.n as usize],
        })
    }

    /// The registers of D become undefined in the lanes that hold undefined elements, and defined in the others.
    pub fn execute(
        &self,
        (frame, tracked, table): (&mut Frame, &TrackedRegisters, &mut OriginTable),
        (active, point): (LaneMask, IssuePoint),
    ) {
        let mut others = Origins::default();
        for register in &self.others {
            others.add(&frame.read(tracked, *register, (active, point), table));
        }
        let [a, b] = [&self.a, &self.b].map(|fragments| fragments.undefined((frame, tracked, table), (active, point)));
        let c = self.c.as_ref().map(|c| c.undefined((frame, tracked, table), (active, point))).unwrap_or_default();
        let factors = UndefinedFactors {
            rows: a.into_iter().map(|(position, origin)| (position / self.columns[0].max(1), origin)).collect(),
            columns: b.into_iter().map(|(position, origin)| (position % self.columns[1].max(1), origin)).collect(),
        };
        let undefined = |position| c.get(&position).copied().or_else(|| factors.get(position, self.columns[1]));
        let lanes = if c.is_empty() && factors.is_empty() { LaneMask::NONE } else { active };
        for (index, register) in self.d.iter().enumerate() {
            let Some(register) = register else { continue };
            let mut origins = others;
            for lane in lanes.iter() {
                if let Some(origin) = undefined_in(self.table, (index, lane), undefined) {
                    origins.set(lane, table.add(origin));
                }
            }
            frame.write(tracked, *register, (active, origins.lanes & active), &origins);
        }
    }
}

/// The registers of D that undefined elements of operands in shared memory make undefined, when a `wgmma` is issued.
pub(super) fn results(
    id: WgmmaId,
    (factors, issued): (&UndefinedFactors, IssuePoint),
    (program, prepared): (&Program, &PreparedLaunch),
) -> Vec<LoadedValue> {
    let (op, table) = (&program.wgmmas[id], &prepared.wgmmas.get(id).d);
    let columns = op.shape.n as usize;
    let registers = op.d.iter().enumerate().filter_map(|(index, d)| Some((index, written(Bank::B32, *d)?)));
    let value = |(index, register), lane| {
        let origin = undefined_in(table, (index, lane), |position| factors.get(position, columns))?;
        let origin = if origin.point == issued { Origin { lane, register, ..origin } } else { origin };
        Some(LoadedValue { register, lane, origin, bits: ALL })
    };
    registers.flat_map(|d| (0..LANES).filter_map(move |lane| value(d, lane))).collect()
}

impl UndefinedFactors {
    /// True if all elements are defined.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.columns.is_empty()
    }

    /// The origin of the undefined element at a position of a product with `columns` columns.
    fn get(&self, position: usize, columns: usize) -> Option<Origin> {
        let columns = columns.max(1);
        self.rows.get(&(position / columns)).or_else(|| self.columns.get(&(position % columns))).copied()
    }
}

impl Fragments<'_> {
    /// The undefined elements, by position.
    fn undefined(
        &self,
        (frame, tracked, origins): (&mut Frame, &TrackedRegisters, &mut OriginTable),
        executing: (LaneMask, IssuePoint),
    ) -> BTreeMap<usize, Origin> {
        let mut found = BTreeMap::new();
        let Some(table) = self.table else { return found };
        for (index, register) in self.registers.iter().enumerate() {
            let Some(register) = *register else { continue };
            for (lane, origin) in frame.read(tracked, register, executing, origins).with_lanes(origins) {
                found.extend(table.held(index, lane).map(|position| (position, origin)));
            }
        }
        found
    }
}

/// The origin of the value of a register of a lane, if all of its elements are undefined.
fn undefined_in(table: &ElementTable, (register, lane): (usize, usize), undefined: impl Fn(usize) -> Option<Origin>) -> Option<Origin> {
    let mut origins = table.held(register, lane).map(undefined);
    let first = origins.next()??;
    origins.all(|origin| origin.is_some()).then_some(first)
}

fn read(bank: Bank, source: Src) -> Option<RegisterOperand> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(RegisterOperand { bank, slot, width: 1 }),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}

fn written(bank: Bank, d: Dst) -> Option<RegisterOperand> {
    (!d.is_sink()).then_some(RegisterOperand { bank, slot: d.0, width: 1 })
}

/// The registers of fragments are 64 bits wide for elements of `.f64`, and 32 otherwise.
fn bank(ty: ScalarType) -> Bank {
    Bank::of_wide(ty == ScalarType::F64)
}
