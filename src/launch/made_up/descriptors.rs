//! Tensor descriptors that Triton passes as separate parameters on targets without tensor copies: a pointer, extents, strides, a flag
//! for NaN outside of the tensor, and the extents and strides once more.

use super::{Guess, Study};
use crate::launch::element::Number;
use crate::launch::file::Param;
use crate::program;

/// Maximum of a descriptor's dimensions.
const RANK_MAX: usize = 5;

/// One parameter of a descriptor.
struct Part {
    /// The parameter that is its pointer.
    pointer: usize,
    /// Dimensions.
    rank: usize,
    /// The dimension whose stride it is, outermost first; `None` for an extent.
    stride: Option<usize>,
}

/// The role of parameter `index` in a descriptor, if it is a part of one.
fn part(params: &[program::Param], index: usize) -> Option<Part> {
    let pointer = (0..index).rev().find(|before| params[*before].pointer.is_some())?;
    let rank = (1..=RANK_MAX).find(|rank| is_descriptor(&params[pointer..], *rank))?;
    let at = index - pointer - 1;
    let first_again = 2 * rank + 1;
    let stride = match at {
        at if at < rank => None,
        at if at < 2 * rank => Some(at - rank),
        at if (first_again..first_again + rank).contains(&at) => None,
        at if (first_again + rank..first_again + 2 * rank).contains(&at) => Some(at - first_again - rank),
        _ => return None,
    };
    Some(Part { pointer, rank, stride })
}

/// True if parameters begin with a descriptor of `rank` dimensions.
fn is_descriptor(params: &[program::Param], rank: usize) -> bool {
    let bytes = |count: usize, bytes: u32| std::iter::repeat_n(bytes, count);
    let numbers = bytes(2 * rank, 8).chain([1]).chain(bytes(rank, 4)).chain(bytes(rank, 8));
    let is_number = |param: &program::Param, bytes: u32| param.pointer.is_none() && !param.is_array && param.bytes == bytes;
    params.len() > 4 * rank + 1 && params.iter().skip(1).zip(numbers).all(|(param, bytes)| is_number(param, bytes))
}

impl Study<'_> {
    /// Numbers of the user that contradict the extents or strides of the user's arrays for tensor maps: the index of the parameter,
    /// the mistake, and a fix.
    pub fn contradictions(&self) -> Vec<(usize, String, String)> {
        let guess = self.first();
        let parts = self.known.map_parts.iter().filter(|(map, _)| self.known.params.get(map).is_some_and(|param| param.buffer().is_some()));
        let contradicts = |map: usize, index: usize| {
            let (_, Number::Integer(given)) = self.known.params.get(&index)?.scalar()? else { return None };
            let (made, _) = self.map_part(index, &guess)?;
            let [map, part] = [map, index].map(|index| self.name(index, &self.kernel.params[index]));
            let message = format!("'{part}' is {given}, and the array of '{map}' makes it {made}");
            (given != i128::from(made))
                .then(|| (index, message, format!("leave {part} out: it follows from the array, or give another array")))
        };
        parts.flat_map(|(map, parts)| parts.iter().filter_map(|index| contradicts(*map, *index))).collect()
    }

    /// The stride, in elements, that parameter `index` is in a descriptor of a contiguous array, and the reason; `None` if it is none.
    pub(super) fn descriptor_stride(&self, index: usize, guess: &Guess) -> Option<(u64, String)> {
        let params = &self.kernel.params;
        let Part { pointer, rank, stride } = part(params, index)?;
        let inner = stride? + 1..rank;
        let extent = |dimension: usize| {
            let given = self.known.params.get(&(pointer + 1 + dimension)).and_then(Param::scalar);
            match given {
                Some((_, Number::Integer(extent))) => u64::try_from(extent).unwrap_or(guess.size),
                Some((_, Number::Float(_))) | None => guess.size,
            }
        };
        let stride = inner.fold(1_u64, |product, dimension| product.saturating_mul(extent(dimension)));
        let name = self.known.names.get(&pointer).map_or(&*params[pointer].name, String::as_str);
        Some((stride, format!("a stride of the tensor descriptor that begins with {name}")))
    }
}
