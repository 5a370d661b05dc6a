//! Places in memory as the author of a kernel calls them: `full[1]`, `smem+0x40`, `A+0x8000`.

use std::ops::Range;

use super::scope::variable_place;
use super::symbols::{Symbol, symbol};
use crate::debug::scene::Scene;
use crate::isa::{ScalarType, Space};
use crate::machine::Block;
use crate::program::shown_name;

/// `A+0x8000`, `tile`; the address where nothing has a name.
pub fn place(scene: &Scene<'_>, space: Space, address: u64) -> String {
    match symbol(scene, space, address) {
        Some(symbol) => row(scene, &symbol).unwrap_or_else(|| name_plus(&shown_name(&symbol.name), symbol.offset)),
        None => format!("{address:#x}"),
    }
}

/// Bytes of memory by the variable or buffer that they are in.
pub struct Element {
    /// `out[17]`, `m[1][7]`, `tile+0x40`; the address where nothing has a name.
    pub name: String,
    /// The variable or buffer alone.
    pub symbol: Option<String>,
    /// The type of its elements.
    pub ty: Option<ScalarType>,
}

/// The element at `address`.
pub fn element(scene: &Scene<'_>, space: Space, address: u64) -> Element {
    let Some(symbol) = symbol(scene, space, address) else {
        return Element { name: format!("{address:#x}"), symbol: None, ty: None };
    };
    let short = shown_name(&symbol.name);
    let typed = typed(scene, &symbol);
    let bytes = typed.as_ref().map_or(0, |(ty, _)| u64::from(ty.bits() / 8));
    let name = match &typed {
        // Of an array of bytes it may be that compilers declare arrays of any type so.
        Some((_, shape)) if bytes > 1 && symbol.offset.is_multiple_of(bytes) => match shape.as_slice() {
            [] | [1] => short.clone().into_owned(),
            shape => format!("{short}{}", subscript(shape, symbol.offset / bytes)),
        },
        _ => name_plus(&short, symbol.offset),
    };
    Element { name, symbol: Some(short.into_owned()), ty: typed.map(|(ty, _)| ty) }
}

/// The elements of an array of several dimensions that ranges of addresses cover, if they are a box of more than one: `C[0:32, 0:32]`,
/// as Python writes it, the ends not included.
pub fn region(scene: &Scene<'_>, space: Space, ranges: &[Range<u64>]) -> Option<String> {
    let (first, last) = (ranges.first()?, ranges.last()?);
    let symbol = symbol(scene, space, first.start)?;
    let (ty, shape) = typed(scene, &symbol)?;
    let size = u64::from(ty.bits() / 8);
    let elements = shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))?;
    let base = first.start.checked_sub(symbol.offset)?;
    if size == 0 || shape.len() < 2 || last.end > base.checked_add(elements.checked_mul(size)?)? {
        return None;
    }
    let elements: Vec<Range<u64>> = ranges.iter().map(|range| (range.start - base) / size..(range.end - base).div_ceil(size)).collect();
    Some(format!("{}[{}]", shown_name(&symbol.name), covered(&shape, &elements)?))
}

/// The box that ranges of elements are, in rows of an array of this shape.
fn covered(shape: &[u64], ranges: &[Range<u64>]) -> Option<String> {
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
            if rows > ROWS {
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

/// Widens `bounds` by a piece of row number `row`.
fn include(bounds: &mut Vec<Range<u64>>, shape: &[u64], row: u64, columns: Range<u64>) {
    let mut rest = row;
    let mut piece = vec![columns];
    for extent in shape.iter().rev().skip(1) {
        let index = rest % extent.max(&1);
        piece.push(index..index + 1);
        rest /= extent.max(&1);
    }
    piece.reverse();
    if bounds.is_empty() {
        *bounds = piece;
        return;
    }
    bounds.iter_mut().zip(piece).for_each(|(bound, piece)| *bound = bound.start.min(piece.start)..bound.end.max(piece.end));
}

/// Rows of a region that are looked at, at most.
const ROWS: u64 = 1 << 16;

/// The type of the elements of a variable or a buffer, and its extents.
fn typed(scene: &Scene<'_>, symbol: &Symbol) -> Option<(ScalarType, Vec<u64>)> {
    let variable = scene.program().variables.iter().find(|variable| *variable.name == *symbol.name);
    let buffer = || scene.buffers.iter().find(|buffer| buffer.name == symbol.name).map(|buffer| (buffer.ty, buffer.shape.clone()));
    let of_variable = |variable| {
        let place = variable_place(scene, variable, None);
        (place.ty, place.extents())
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

/// `tile[1]`: the start of one of the outermost parts of an array of arrays.
fn row(scene: &Scene<'_>, symbol: &Symbol) -> Option<String> {
    let mut variables = scene.program().variables.iter();
    let variable = variables.find(|variable| *variable.name == *symbol.name && variable.location.space == Space::Shared)?;
    let place = variable_place(scene, variable, None);
    let bytes = place.extents().get(1..).filter(|inner| !inner.is_empty())?.iter().product::<u64>() * u64::from(place.ty.bytes());
    (bytes > 0 && symbol.offset.is_multiple_of(bytes)).then(|| format!("{}[{}]", shown_name(&symbol.name), symbol.offset / bytes))
}

/// The mbarrier at `address` of a block: `full[1]` if it is in an array of such objects, `smem+0x40` otherwise; the address where
/// no variable is.
pub fn mbarrier(scene: &Scene<'_>, block: &Block, address: u32) -> String {
    let name = scene.machine.mbarrier_name(block, address);
    name.strip_prefix("the mbarrier at ").map_or(name.clone(), str::to_string)
}

fn name_plus(name: &str, offset: u64) -> String {
    if offset == 0 { name.to_string() } else { format!("{name}+{offset:#x}") }
}

#[cfg(test)]
mod tests {
    use super::{covered, subscript};

    #[test]
    fn rows_of_a_tile_are_one_box() {
        let rows = |first: u64, count: u64, from: u64, to: u64| (first..first + count).map(move |row| row * 128 + from..row * 128 + to);
        let boxed = |ranges: Vec<std::ops::Range<u64>>| covered(&[64, 128], &ranges);
        assert_eq!(boxed(rows(0, 32, 0, 32).collect()), Some("0:32, 0:32".to_string()));
        assert_eq!(boxed(rows(3, 1, 7, 9).collect()), Some("3, 7:9".to_string()));
        assert_eq!(boxed(Vec::from_iter([2 * 128..3 * 128, 3 * 128..5 * 128])), Some("2:5, 0:128".to_string()));
        assert_eq!(boxed(rows(0, 2, 0, 32).chain(rows(4, 1, 0, 32)).collect()), None, "a row between is left out");
        assert_eq!(boxed(std::iter::once(5..6).collect()), None, "one element is none");
        assert_eq!(covered(&[2, 3, 4], &[0..4, 12..16]), Some("0:2, 0, 0:4".to_string()));
    }

    #[test]
    fn a_subscript_has_as_many_parts_as_the_shape() {
        assert_eq!(subscript(&[100], 17), "[17]");
        assert_eq!(subscript(&[10, 10], 17), "[1][7]");
        assert_eq!(subscript(&[2, 3, 4], 23), "[1][2][3]");
        assert_eq!(subscript(&[], 0), "[0]");
    }
}
