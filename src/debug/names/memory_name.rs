//! Names of memory locations, by variable or buffer: `full[1]`, `smem+0x40`, `A+0x8000`.

use std::ops::Range;

use super::scope::variable_location;
use super::symbols::{Symbol, symbol};
use crate::debug::eval_context::EvalContext;
use crate::isa::{ScalarType, Space};
use crate::machine::Block;
use crate::program::shown_name;

/// `A+0x8000`, `tile`; the address if no variable or buffer contains it.
pub fn address_name(context: &EvalContext<'_>, space: Space, address: u64) -> String {
    match symbol(context, space, address) {
        Some(symbol) => row(context, &symbol).unwrap_or_else(|| name_plus(&shown_name(&symbol.name), symbol.offset)),
        None => format!("{address:#x}"),
    }
}

/// The element of a variable or buffer at an address.
pub struct Element {
    /// `out[17]`, `m[1][7]`, `tile+0x40`; the address if no variable or buffer contains it.
    pub name: String,
    /// The variable or buffer alone.
    pub symbol: Option<String>,
    /// The type of its elements.
    pub ty: Option<ScalarType>,
}

/// The element at `address`.
pub fn element(context: &EvalContext<'_>, space: Space, address: u64) -> Element {
    let Some(symbol) = symbol(context, space, address) else {
        return Element { name: format!("{address:#x}"), symbol: None, ty: None };
    };
    let name_of_symbol = shown_name(&symbol.name);
    let typed = typed(context, &symbol);
    let bytes = typed.as_ref().map_or(0, |(ty, _)| u64::from(ty.bits() / 8));
    let name = match &typed {
        // A compiler may declare arrays of any type as arrays of bytes.
        Some((_, shape)) if bytes > 1 && symbol.offset.is_multiple_of(bytes) => match shape.as_slice() {
            [] | [1] => name_of_symbol.clone().into_owned(),
            shape => format!("{name_of_symbol}{}", subscript(shape, symbol.offset / bytes)),
        },
        _ => name_plus(&name_of_symbol, symbol.offset),
    };
    Element { name, symbol: Some(name_of_symbol.into_owned()), ty: typed.map(|(ty, _)| ty) }
}

/// The region of an array of several dimensions that ranges of addresses cover, if it is a box of more than one element:
/// `C[0:32, 0:32]`, as in Python without the ends.
pub fn region(context: &EvalContext<'_>, space: Space, ranges: &[Range<u64>]) -> Option<String> {
    let (first, last) = (ranges.first()?, ranges.last()?);
    let symbol = symbol(context, space, first.start)?;
    let (ty, shape) = typed(context, &symbol)?;
    let size = u64::from(ty.bits() / 8);
    let elements = shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))?;
    let base = first.start.checked_sub(symbol.offset)?;
    if size == 0 || shape.len() < 2 || last.end > base.checked_add(elements.checked_mul(size)?)? {
        return None;
    }
    let elements: Vec<Range<u64>> = ranges.iter().map(|range| (range.start - base) / size..(range.end - base).div_ceil(size)).collect();
    Some(format!("{}[{}]", shown_name(&symbol.name), covered_box(&shape, &elements)?))
}

/// The box that ranges of elements cover in an array of this shape.
fn covered_box(shape: &[u64], ranges: &[Range<u64>]) -> Option<String> {
    let columns = shape.last().copied().filter(|columns| *columns > 0)?;
    let mut bounds: Vec<Range<u64>> = Vec::new();
    let (mut count, mut rows) = (0, 0);
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at / columns + 1) * columns);
            include(&mut bounds, shape, at / columns, at % columns..at % columns + (end - at));
            count += end - at;
            rows += 1;
            if rows > ROWS_MAX {
                return None;
            }
            at = end;
        }
    }
    let volume: u64 = bounds.iter().map(|bound| bound.end - bound.start).product();
    let part =
        |bound: &Range<u64>| if bound.end - bound.start == 1 { bound.start.to_string() } else { format!("{}:{}", bound.start, bound.end) };
    (volume == count && count > 1).then(|| bounds.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// Extends `bounds` by columns of row number `row`.
fn include(bounds: &mut Vec<Range<u64>>, shape: &[u64], row: u64, columns: Range<u64>) {
    let mut rest = row;
    let mut part = vec![columns];
    for extent in shape.iter().rev().skip(1) {
        let index = rest % extent.max(&1);
        part.push(index..index + 1);
        rest /= extent.max(&1);
    }
    part.reverse();
    if bounds.is_empty() {
        *bounds = part;
        return;
    }
    bounds.iter_mut().zip(part).for_each(|(bound, part)| *bound = bound.start.min(part.start)..bound.end.max(part.end));
}

/// Maximum number of rows of a region.
const ROWS_MAX: u64 = 1 << 16;

/// The type of the elements of a variable or a buffer, and its extents.
fn typed(context: &EvalContext<'_>, symbol: &Symbol) -> Option<(ScalarType, Vec<u64>)> {
    let variable = context.program().variables.iter().find(|variable| *variable.name == *symbol.name);
    let buffer = || context.buffers.iter().find(|buffer| buffer.name == symbol.name).map(|buffer| (buffer.ty, buffer.shape.clone()));
    let of_variable = |variable| {
        let location = variable_location(context, variable, None);
        (location.ty, location.extents())
    };
    variable.map(of_variable).or_else(buffer)
}

/// `[17]`, or `[1][7]` of an array of two dimensions.
pub fn subscript(shape: &[u64], index: u64) -> String {
    let mut rest = index;
    let mut parts = Vec::new();
    for extent in shape.iter().skip(1).rev() {
        parts.push(format!("[{}]", rest % extent.max(&1)));
        rest /= extent.max(&1);
    }
    parts.push(format!("[{rest}]"));
    parts.into_iter().rev().collect()
}

/// `tile[1]`: an address at the start of an outermost row of an array.
fn row(context: &EvalContext<'_>, symbol: &Symbol) -> Option<String> {
    let mut variables = context.program().variables.iter();
    let variable = variables.find(|variable| *variable.name == *symbol.name && variable.location.space == Space::Shared)?;
    let location = variable_location(context, variable, None);
    let bytes = location.extents().get(1..).filter(|inner| !inner.is_empty())?.iter().product::<u64>() * u64::from(location.ty.bytes());
    (bytes > 0 && symbol.offset.is_multiple_of(bytes)).then(|| format!("{}[{}]", shown_name(&symbol.name), symbol.offset / bytes))
}

/// The mbarrier at `address` of a block: `full[1]` if it is in an array of such objects, `smem+0x40` otherwise; the address if no
/// variable contains it.
pub fn mbarrier(context: &EvalContext<'_>, block: &Block, address: u32) -> String {
    let name = context.machine.mbarrier_name(block, address);
    name.strip_prefix("the mbarrier at ").map_or(name.clone(), str::to_string)
}

fn name_plus(name: &str, offset: u64) -> String {
    if offset == 0 { name.to_string() } else { format!("{name}+{offset:#x}") }
}

#[cfg(test)]
mod tests {
    use super::{covered_box, subscript};

    #[test]
    fn rows_of_a_tile_are_one_box() {
        let rows = |first: u64, count: u64, from: u64, to: u64| (first..first + count).map(move |row| row * 128 + from..row * 128 + to);
        let boxed = |ranges: Vec<std::ops::Range<u64>>| covered_box(&[64, 128], &ranges);
        assert_eq!(boxed(rows(0, 32, 0, 32).collect()), Some("0:32, 0:32".to_string()));
        assert_eq!(boxed(rows(3, 1, 7, 9).collect()), Some("3, 7:9".to_string()));
        assert_eq!(boxed(Vec::from_iter([2 * 128..3 * 128, 3 * 128..5 * 128])), Some("2:5, 0:128".to_string()));
        assert_eq!(boxed(rows(0, 2, 0, 32).chain(rows(4, 1, 0, 32)).collect()), None, "a row between is left out");
        assert_eq!(boxed(std::iter::once(5..6).collect()), None, "one element is none");
        assert_eq!(covered_box(&[2, 3, 4], &[0..4, 12..16]), Some("0:2, 0, 0:4".to_string()));
    }

    #[test]
    fn a_subscript_has_as_many_parts_as_the_shape() {
        assert_eq!(subscript(&[100], 17), "[17]");
        assert_eq!(subscript(&[10, 10], 17), "[1][7]");
        assert_eq!(subscript(&[2, 3, 4], 23), "[1][2][3]");
        assert_eq!(subscript(&[], 0), "[0]");
    }
}
