//! Layouts as linear maps over bits: which element of a tensor a register of a lane of a warp holds.
//!
//! Coordinates are the exclusive or of basis vectors, one for each bit of the number of the register, of the lane and of the warp. The
//! rules are those of Triton's dialect (`LinearLayoutConversions`).

use super::encoding::Encoding;

/// Lanes of a warp.
const LANES: u32 = 32;

/// Most registers of one tensor for a thread, and most elements of a dimension: what a text says may be anything.
const SIZE_MAX: u64 = 1 << 20;

/// A layout of a tensor of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearLayout {
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u32>,
    /// For each bit of the number of a register, what it adds to the coordinates.
    pub register: Vec<Vec<u32>>,
    /// The same for the lane.
    pub lane: Vec<Vec<u32>>,
    /// The same for the warp.
    pub warp: Vec<Vec<u32>>,
}

/// The inputs of a layout.
#[derive(Clone, Copy)]
enum Input {
    Register,
    Lane,
    Warp,
}

impl LinearLayout {
    /// The layout `encoding` for a tensor of `shape`.
    ///
    /// # Errors
    /// In words, which layout is not known.
    pub fn new(encoding: &Encoding, shape: &[u64]) -> Result<Self, String> {
        let is_size = |extent: &u64| extent.is_power_of_two() && *extent <= SIZE_MAX;
        if !shape.iter().all(is_size) || shape.iter().product::<u64>() > SIZE_MAX {
            return Err(format!("a tensor of shape {shape:?} is not one of Triton's"));
        }
        let shape: Vec<u32> = shape.iter().map(|extent| *extent as u32).collect();
        let malformed = || format!("the layout #ttg.{} of a tensor of {} dimensions is not known", encoding.kind, shape.len());
        let layout = match encoding.kind.as_str() {
            _ if spans_blocks(encoding) => return Err("a tensor that several blocks hold together is not put together".to_string()),
            "blocked" => blocked(encoding, &shape),
            "nvidia_mma" => mma(encoding, &shape),
            "dot_op" => dot_operand(encoding, &shape),
            "linear" => linear(encoding, &shape),
            "slice" => return slice(encoding, &shape).ok_or_else(malformed)?,
            _ => None,
        };
        layout.ok_or_else(malformed)
    }

    /// Registers of a thread.
    pub fn registers(&self) -> u32 {
        1 << self.register.len()
    }

    /// The bits of a register's number that change the element: registers that differ in other bits hold the same element.
    pub fn distinct_bits(&self) -> Vec<usize> {
        (0..self.register.len()).filter(|bit| self.register[*bit].iter().any(|step| *step != 0)).collect()
    }

    /// The element that a register of a lane of a warp holds.
    pub fn coordinates(&self, register: u32, lane: u32, warp: u32) -> Vec<u32> {
        let mut at = vec![0; self.shape.len()];
        for (number, bases) in [(register, &self.register), (lane, &self.lane), (warp, &self.warp)] {
            for (_, basis) in bases.iter().enumerate().filter(|(bit, _)| number >> bit & 1 != 0) {
                at.iter_mut().zip(basis).for_each(|(at, step)| *at ^= step);
            }
        }
        at
    }
}

/// True for a layout of more blocks than one.
fn spans_blocks(encoding: &Encoding) -> bool {
    let several = |list: Vec<u32>| list.iter().any(|count| *count != 1);
    encoding.numbers("CTAsPerCGA").is_some_and(several)
        || encoding.lists("CGALayout").is_some_and(|list| !list.is_empty())
        || encoding.lists("block").is_some_and(|list| !list.is_empty())
}

/// A layout that grows: each part lies beside what is there.
struct Growing {
    layout: LinearLayout,
    /// Extents so far.
    sizes: Vec<u32>,
    /// The dimensions, the innermost of repetitions first.
    order: Vec<usize>,
}

impl Growing {
    fn new(rank: usize, order: Vec<usize>) -> Self {
        let layout = LinearLayout { shape: vec![1; rank], register: Vec::new(), lane: Vec::new(), warp: Vec::new() };
        Self { layout, sizes: vec![1; rank], order }
    }

    fn bases(&mut self, input: Input) -> &mut Vec<Vec<u32>> {
        match input {
            Input::Register => &mut self.layout.register,
            Input::Lane => &mut self.layout.lane,
            Input::Warp => &mut self.layout.warp,
        }
    }

    /// `count` of an input, one after the other along a dimension.
    fn along(&mut self, input: Input, dimension: usize, count: u32) -> Option<()> {
        let count = Some(count).filter(|count| count.is_power_of_two() && u64::from(*count) <= SIZE_MAX)?;
        for bit in 0..count.trailing_zeros() {
            let mut basis = vec![0; self.sizes.len()];
            *basis.get_mut(dimension)? = self.sizes[dimension] << bit;
            self.bases(input).push(basis);
        }
        self.sizes[dimension] = self.sizes[dimension].checked_mul(count).filter(|size| u64::from(*size) <= SIZE_MAX)?;
        Some(())
    }

    /// `count` of an input that all hold the same.
    fn same(&mut self, input: Input, count: u32) -> Option<()> {
        let count = Some(count).filter(|count| count.is_power_of_two())?;
        let basis = vec![0; self.sizes.len()];
        self.bases(input).extend(std::iter::repeat_n(basis, count.trailing_zeros() as usize));
        Some(())
    }

    /// Counts of an input along each dimension, in this order; along `same` they all hold the same.
    fn grid(&mut self, input: Input, counts: &[u32], order: &[usize], same: Option<usize>) -> Option<()> {
        for dimension in order {
            let count = *counts.get(*dimension)?;
            if same == Some(*dimension) { self.same(input, count)? } else { self.along(input, *dimension, count)? }
        }
        Some(())
    }

    /// The layout for a tensor of `shape`: repeated in registers, or the same elements in several places.
    fn fitted(mut self, shape: &[u32]) -> Option<LinearLayout> {
        for dimension in self.order.clone() {
            let times = (*shape.get(dimension)? / self.sizes[dimension]).max(1);
            self.along(Input::Register, dimension, times)?;
        }
        let LinearLayout { register, lane, warp, .. } = &mut self.layout;
        for basis in register.iter_mut().chain(lane).chain(warp) {
            basis.iter_mut().zip(shape).filter(|(step, extent)| **step >= **extent).for_each(|(step, _)| *step = 0);
        }
        (self.layout.register.len() <= SIZE_MAX.trailing_zeros() as usize).then(|| LinearLayout { shape: shape.to_vec(), ..self.layout })
    }
}

fn order_of(numbers: Vec<u32>, rank: usize) -> Option<Vec<usize>> {
    let order: Vec<usize> = numbers.into_iter().map(|dimension| dimension as usize).collect();
    let is_permutation = order.len() == rank && (0..rank).all(|dimension| order.contains(&dimension));
    is_permutation.then_some(order)
}

fn blocked(encoding: &Encoding, shape: &[u32]) -> Option<LinearLayout> {
    let order = order_of(encoding.numbers("order")?, shape.len())?;
    let mut growing = Growing::new(shape.len(), order.clone());
    growing.grid(Input::Register, &encoding.numbers("sizePerThread")?, &order, None)?;
    growing.grid(Input::Lane, &encoding.numbers("threadsPerWarp")?, &order, None)?;
    growing.grid(Input::Warp, &encoding.numbers("warpsPerCTA")?, &order, None)?;
    growing.fitted(shape).filter(|layout| 1 << layout.lane.len() == LANES)
}

/// The dimensions from the last to the first; `by_columns` exchanges the last two.
fn matrix_order(rank: usize, by_columns: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).rev().collect();
    if by_columns && rank > 1 {
        order.swap(0, 1);
    }
    order
}

/// One tile of a matrix instruction: in the inner dimension `width` registers and 4 lanes, in the outer one 8 lanes, then the rest in
/// registers.
fn matrix_tile(growing: &mut Growing, (inner, inner_size): (usize, u32), (outer, outer_size): (usize, u32), width: u32) -> Option<()> {
    growing.along(Input::Register, inner, width)?;
    growing.along(Input::Lane, inner, 4)?;
    growing.along(Input::Lane, outer, 8)?;
    growing.along(Input::Register, outer, outer_size / 8)?;
    growing.along(Input::Register, inner, inner_size / width.checked_mul(4)?)
}

fn mma(encoding: &Encoding, shape: &[u32]) -> Option<LinearLayout> {
    let (rank, version) = (shape.len(), encoding.number("versionMajor")?);
    let instruction = encoding.numbers("instrShape")?;
    // Of Hopper's instructions the last number is the extent that is summed over.
    let (rows, columns) = match (version, instruction.as_slice()) {
        (2, [.., rows, columns]) => (*rows, *columns),
        (3, [rows, columns, ..]) => (*rows, *columns),
        _ => return None,
    };
    if rank < 2 {
        return None;
    }
    let order = matrix_order(rank, false);
    let mut growing = Growing::new(rank, order.clone());
    matrix_tile(&mut growing, (order[0], columns), (order[1], rows), 2)?;
    growing.grid(Input::Warp, &encoding.numbers("warpsPerCTA")?, &matrix_order(rank, version == 3), None)?;
    growing.fitted(shape)
}

/// An operand of a matrix instruction, whose warps along the extent that is summed over hold the same.
fn dot_operand(encoding: &Encoding, shape: &[u32]) -> Option<LinearLayout> {
    let (rank, parent) = (shape.len(), encoding.encoding("parent")?);
    if parent.kind != "nvidia_mma" || rank < 2 {
        return None;
    }
    let (width, is_first) = (encoding.number("kWidth")?, encoding.number("opIdx")? == 0);
    let summed = if is_first { rank - 1 } else { rank - 2 };
    let order = matrix_order(rank, !is_first);
    let mut growing = Growing::new(rank, order.clone());
    matrix_tile(&mut growing, (order[0], width.checked_mul(8)?), (order[1], if is_first { 16 } else { 8 }), width)?;
    let by_columns = parent.number("versionMajor")? == 3;
    growing.grid(Input::Warp, &parent.numbers("warpsPerCTA")?, &matrix_order(rank, by_columns), Some(summed))?;
    growing.fitted(shape)
}

fn linear(encoding: &Encoding, shape: &[u32]) -> Option<LinearLayout> {
    let bases = |name: &str| encoding.lists(name).filter(|list| list.iter().all(|basis| basis.len() == shape.len()));
    let layout = LinearLayout { shape: shape.to_vec(), register: bases("register")?, lane: bases("lane")?, warp: bases("warp")? };
    let sizes = (0..shape.len()).map(|dimension| {
        let all = layout.register.iter().chain(&layout.lane).chain(&layout.warp);
        all.map(|basis| basis[dimension]).max().map_or(1, |most| (most + 1).next_power_of_two())
    });
    let sizes = sizes.collect();
    Growing { layout, sizes, order: matrix_order(shape.len(), false) }.fitted(shape)
}

/// A layout without one dimension. Registers that held different elements only along it hold the same now, and only one of them counts.
fn slice(encoding: &Encoding, shape: &[u32]) -> Option<Result<LinearLayout, String>> {
    let (dimension, parent) = (encoding.number("dim")? as usize, encoding.encoding("parent")?);
    if dimension > shape.len() {
        return None;
    }
    let mut whole: Vec<u64> = shape.iter().map(|extent| u64::from(*extent)).collect();
    whole.insert(dimension, 1);
    let mut layout = match LinearLayout::new(parent, &whole) {
        Ok(layout) => layout,
        Err(reason) => return Some(Err(reason)),
    };
    layout.shape.remove(dimension);
    let LinearLayout { register, lane, warp, .. } = &mut layout;
    register.iter_mut().chain(lane).chain(warp).for_each(|basis| _ = basis.remove(dimension));
    layout.register.retain(|basis| basis.iter().any(|step| *step != 0));
    Some(Ok(layout))
}
