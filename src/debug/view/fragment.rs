//! `info fragment`: the matrix in registers of a warp, and the lane of each element.

use crate::base::counted;
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::expression::register_bits;
use crate::debug::names::scope::{self, RegisterLocation};
use crate::debug::value::{Format, Scalar, Type, Value, ValueText, number};
use crate::isa::{Fragment, Layout, Matrix, MatrixFamily, Position, ScalarType, Shape};

/// A fragment by name, `mma.m16n8k16.a.f16`, with the layout that its instructions use.
#[derive(Clone, Debug)]
pub struct NamedFragment {
    fragment: Fragment,
    layout: Layout,
}

/// A fragment in registers.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentView {
    /// Its name.
    pub name: String,
    /// Its registers, in order.
    pub registers: Vec<String>,
    /// Elements in a register.
    pub per_register: u32,
    /// For each matrix, its rows; there is one matrix, except for `mma.m8n8k4`.
    pub tiles: Vec<Vec<Vec<FragmentCell>>>,
    /// Number of the first row: the rows above are in other warps of the warpgroup.
    pub first_row: u32,
}

/// An element of a fragment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FragmentCell {
    /// Its value; empty if the lane is not in the function.
    pub text: String,
    /// Its value as a number, for plots.
    pub number: Option<f64>,
    /// The lane that holds it; the first if there are copies.
    pub lane: u32,
    /// Its number among the elements of the lane, register by register, from the low bits of each.
    pub element: u32,
}

/// The error if registers cannot be shown as a fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FragmentError {
    /// No fragment has this name.
    #[error("'{0}' is not a fragment: write INSTRUCTION.SHAPE.MATRIX.TYPE, such as mma.m16n8k16.a.f16 or wmma.m16n16k16.d.f32")]
    Name(String),
    /// The fragment has another number of registers.
    #[error("{name} takes {}, not {given}", counted(*.wanted as u64, "register"))]
    Count {
        /// The fragment.
        name: String,
        /// Registers it takes.
        wanted: usize,
        /// Registers given.
        given: usize,
    },
    /// There is no such register.
    #[error("there is no register '{0}' here")]
    Register(String),
    /// The thread is not resident.
    #[error(transparent)]
    Thread(#[from] ThreadError),
}

impl NamedFragment {
    /// Parses `mma.m16n8k16.a.f16`, optionally followed by `.row` or `.col`.
    ///
    /// # Errors
    /// There is no such fragment.
    pub fn read(name: &str) -> Result<Self, FragmentError> {
        Self::find(name).ok_or_else(|| FragmentError::Name(name.to_string()))
    }

    fn find(name: &str) -> Option<Self> {
        let (family, words) =
            MatrixFamily::WORDS.iter().find_map(|(word, family)| Some((*family, name.strip_prefix(word)?.strip_prefix('.')?)))?;
        let words: Vec<&str> = words.split('.').collect();
        let (shape, matrix, ty, order) = match words[..] {
            [shape, matrix, ty] => (shape, matrix, ty, None),
            [shape, matrix, ty, order @ ("row" | "col")] => (shape, matrix, ty, Some(order)),
            _ => return None,
        };
        let shape = Shape::from_word(shape).filter(|_| family.has_shape(shape))?;
        let matrix = Matrix::WORDS.iter().find(|row| row.0 == matrix)?.1;
        let swapped = order.is_some_and(|order| matches!((matrix, order), (Matrix::A, "col") | (Matrix::B, "row")));
        let (shape, ty) =
            if ty == "b1" { (Shape { k: shape.k / 32, ..shape }, ScalarType::B32) } else { (shape, ScalarType::from_word(ty)?) };
        let is_type = match matrix {
            Matrix::A | Matrix::B => !matches!(ty, ScalarType::F32 | ScalarType::S32),
            Matrix::C | Matrix::D => matches!(ty, ScalarType::F16 | ScalarType::F32 | ScalarType::F64 | ScalarType::S32),
        };
        let fragment = Fragment { family, shape, matrix, ty, swapped };
        let layout = Layout::of(&fragment)?;
        let [tiles, rows, columns] = layout.extent();
        let is_whole = tiles > 0 && rows == fragment.rows() && columns == fragment.columns();
        (is_type && is_whole).then_some(Self { fragment, layout })
    }

    /// This fragment; none if its instruction has no layout.
    pub(super) fn of(fragment: Fragment) -> Option<Self> {
        Some(Self { fragment, layout: Layout::of(&fragment)? })
    }

    /// `mma.m16n8k16.a.f16`
    pub(super) fn name(&self) -> String {
        let Fragment { family, shape: Shape { m, n, k }, matrix, ty, swapped: _ } = self.fragment;
        let word = |words: &mut dyn Iterator<Item = &'static str>| words.next().unwrap_or_default();
        let family = word(&mut MatrixFamily::WORDS.iter().filter(|(_, other)| *other == family).map(|(word, _)| *word));
        let matrix = word(&mut Matrix::WORDS.iter().filter(|(_, other)| *other == matrix).map(|(word, _)| *word));
        format!("{family}.m{m}n{n}k{k}.{matrix}.{}", ty.word())
    }

    /// The registers called `names` of the focused warp as this fragment, which is called `name`.
    ///
    /// # Errors
    /// It has another number of registers, or one of them does not exist.
    pub(super) fn view(
        &self,
        context: &EvalContext<'_>,
        name: &str,
        names: &[String],
        format: Option<Format>,
    ) -> Result<FragmentView, FragmentError> {
        in_registers(context, self, (name, names), format)
    }

    /// Number of registers of a lane.
    pub fn registers(&self) -> usize {
        (self.layout.elements() / self.fragment.per_register()) as usize
    }
}

/// The registers called `names` of the focused warp as a fragment.
///
/// # Errors
/// The fragment has another number of registers, or one of them does not exist.
pub fn fragment(context: &EvalContext<'_>, name: &str, names: &[String], format: Option<Format>) -> Result<FragmentView, FragmentError> {
    NamedFragment::read(name)?.view(context, name, names, format)
}

/// The registers called `names` as this fragment, which is called `name`.
fn in_registers(
    context: &EvalContext<'_>,
    named: &NamedFragment,
    (name, names): (&str, &[String]),
    format: Option<Format>,
) -> Result<FragmentView, FragmentError> {
    let (wanted, given) = (named.registers(), names.len());
    if wanted != given {
        return Err(FragmentError::Count { name: name.to_string(), wanted, given });
    }
    let frame = context.frame()?;
    let function = context.function(&frame);
    let place = |name: &String| {
        let place = scope::register(function, frame.pc, name).filter(|place| place.slot.is_some());
        place.ok_or_else(|| FragmentError::Register(name.clone()))
    };
    let places = names.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let first_lane = if named.layout.lanes() > 32 { frame.warp_number % 4 * 32 } else { 0 };
    let mut view = empty(named, name, names, first_lane);
    for element in (0..named.layout.elements()).rev() {
        for lane in (0..32).rev() {
            let Position { tile, row, column } = named.layout.position(first_lane + lane, element);
            let (text, number) = value(context, &frame, named, &places, (lane, element), format);
            let cell = FragmentCell { text, number, lane, element };
            view.tiles[tile as usize][(row - view.first_row) as usize][column as usize] = cell;
        }
    }
    Ok(view)
}

/// The warp of the focused warpgroup whose registers contain an element of the fragment called `name`; none if that is the focused warp or
/// the fragment has no such element.
pub fn other_holder(context: &EvalContext<'_>, name: &str, (row, column): (u32, u32)) -> Option<u32> {
    let layout = NamedFragment::read(name).ok()?.layout;
    let focused = context.frame().ok()?.warp_number;
    let (lane, _) = layout.holder(Position { row, column, ..Position::default() }).filter(|_| layout.lanes() > 32)?;
    let holder = focused - focused % 4 + lane / 32;
    (holder != focused).then_some(holder)
}

/// The fragment without values.
fn empty(named: &NamedFragment, name: &str, registers: &[String], first_lane: u32) -> FragmentView {
    let [tiles, rows, columns] = named.layout.extent();
    let first_row = named.layout.position(first_lane, 0).row;
    let rows = if named.layout.lanes() > 32 { rows / 4 } else { rows };
    let tile = vec![vec![FragmentCell::default(); columns as usize]; rows as usize];
    FragmentView {
        name: name.to_string(),
        registers: registers.to_vec(),
        per_register: named.fragment.per_register(),
        tiles: vec![tile; tiles as usize],
        first_row,
    }
}

/// An element of a lane, as text and as a number.
fn value(
    context: &EvalContext<'_>,
    frame: &Frame<'_>,
    named: &NamedFragment,
    places: &[RegisterLocation],
    (lane, element): (u32, u32),
    format: Option<Format>,
) -> (String, Option<f64>) {
    let (ty, per_register) = (named.fragment.ty, named.fragment.per_register());
    let place = &places[(element / per_register) as usize];
    let Some(register) = context.same_frame(frame, lane).and_then(|own| register_bits(&own, place)) else { return (String::new(), None) };
    let bits = register >> (element % per_register * ty.bits()) & (u128::MAX >> (128 - ty.bits()));
    let text = match (Value::Scalar(Scalar::new(Type::Scalar(ty), bits))).text(context, format) {
        ValueText::Scalar(text) => text,
        _ => format!("{bits:#x}"),
    };
    let integer = || number::to_integer(ty, bits).map(|integer| integer as f64);
    (text, number::to_f64(ty, bits).or_else(integer))
}

/// An element of a fragment: its position in the matrix, its lane and its register.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FragmentElement {
    /// Index of the matrix, if the fragment has several.
    pub matrix: Option<usize>,
    /// Row of the matrix.
    pub row: u32,
    /// Column of the matrix.
    pub column: u32,
    /// The lane.
    pub lane: u32,
    /// Its number among the elements of the lane.
    pub element: u32,
    /// The register, with the bit range.
    pub register: String,
    /// Its value.
    pub value: String,
}

impl FragmentView {
    /// The register and bit range of an element of a lane: `%r4`, `%r4 bits 16-31`.
    pub fn register(&self, element: u32) -> String {
        let register = self.registers.get((element / self.per_register) as usize).map_or("", String::as_str);
        if self.per_register == 1 {
            return register.to_string();
        }
        let bits = 32 / self.per_register;
        let low = element % self.per_register * bits;
        format!("{register} bits {low}-{}", low + bits - 1)
    }

    /// The elements that satisfy `filter`, in order of their number in a lane.
    pub fn elements(&self, filter: impl Fn(u32, u32, &FragmentCell) -> bool) -> Vec<FragmentElement> {
        let mut elements = Vec::new();
        for (tile, rows) in self.tiles.iter().enumerate() {
            let matrix = (self.tiles.len() > 1).then_some(tile);
            for (row, columns) in (self.first_row..).zip(rows) {
                let chosen = (0..).zip(columns).filter(|(column, cell)| filter(row, *column, cell));
                elements.extend(chosen.map(|(column, cell)| FragmentElement {
                    matrix,
                    row,
                    column,
                    lane: cell.lane,
                    element: cell.element,
                    register: self.register(cell.element),
                    value: cell.text.clone(),
                }));
            }
        }
        elements.sort_by_key(|of| (of.element, of.lane, of.matrix, of.row, of.column));
        elements
    }
}
