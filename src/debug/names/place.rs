//! Places in memory as the author of a kernel calls them: `full[1]`, `smem+0x40`, `A+0x8000`.

use super::scope::variable_place;
use super::symbols::{Symbol, symbol};
use crate::debug::scene::Scene;
use crate::isa::{ScalarType, Space};
use crate::machine::Block;
use crate::program::short_name;

/// `A+0x8000`, `tile`; the address where nothing has a name.
pub fn place(scene: &Scene<'_>, space: Space, address: u64) -> String {
    match symbol(scene, space, address) {
        Some(symbol) => row(scene, &symbol).unwrap_or_else(|| name_plus(short_name(&symbol.name), symbol.offset)),
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
    let short = short_name(&symbol.name);
    let variable = scene.program().variables.iter().find(|variable| *variable.name == *symbol.name);
    let buffer = || scene.buffers.iter().find(|buffer| buffer.name == symbol.name).map(|buffer| (buffer.ty, buffer.shape.clone()));
    let of_variable = |variable| {
        let place = variable_place(scene, variable, None);
        (place.ty, place.extents())
    };
    let typed = variable.map(of_variable).or_else(buffer);
    let bytes = typed.as_ref().map_or(0, |(ty, _)| u64::from(ty.bits() / 8));
    let name = match &typed {
        // Of an array of bytes it may be that compilers declare arrays of any type so.
        Some((_, shape)) if bytes > 1 && symbol.offset.is_multiple_of(bytes) => match shape.as_slice() {
            [] | [1] => short.to_string(),
            shape => format!("{short}{}", subscript(shape, symbol.offset / bytes)),
        },
        _ => name_plus(short, symbol.offset),
    };
    Element { name, symbol: Some(short.to_string()), ty: typed.map(|(ty, _)| ty) }
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
    (bytes > 0 && symbol.offset.is_multiple_of(bytes)).then(|| format!("{}[{}]", short_name(&symbol.name), symbol.offset / bytes))
}

/// The barrier object at `address` of a block: `full[1]` if it is in an array of such objects, `smem+0x40` otherwise; the address where
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
    use super::subscript;

    #[test]
    fn a_subscript_has_as_many_parts_as_the_shape() {
        assert_eq!(subscript(&[100], 17), "[17]");
        assert_eq!(subscript(&[10, 10], 17), "[1][7]");
        assert_eq!(subscript(&[2, 3, 4], 23), "[1][2][3]");
        assert_eq!(subscript(&[], 0), "[0]");
    }
}
