//! Places in memory as the author of a kernel calls them: `full[1]`, `smem+0x40`, `A+0x8000`.

use super::symbols::{Symbol, symbol};
use crate::debug::scene::Scene;
use crate::isa::Space;
use crate::machine::Block;
use crate::program::short_name;

/// `A+0x8000`, `tile`; the address where nothing has a name.
pub fn place(scene: &Scene<'_>, space: Space, address: u64) -> String {
    match symbol(scene, space, address) {
        Some(symbol) => row(scene, &symbol).unwrap_or_else(|| behind(short_name(&symbol.name), symbol.offset)),
        None => format!("{address:#x}"),
    }
}

/// `tile[1]`: the start of one of the outermost parts of an array of arrays.
fn row(scene: &Scene<'_>, symbol: &Symbol) -> Option<String> {
    let mut variables = scene.program().variables.iter();
    let variable = variables.find(|variable| *variable.name == *symbol.name && variable.location.space == Space::Shared)?;
    let bytes = variable.shape.get(1..).filter(|inner| !inner.is_empty())?.iter().product::<u64>() * u64::from(variable.ty.bytes());
    (bytes > 0 && symbol.offset.is_multiple_of(bytes)).then(|| format!("{}[{}]", short_name(&symbol.name), symbol.offset / bytes))
}

/// The barrier object at `address` of a block: `full[1]` if it is in an array of such objects, `smem+0x40` otherwise; the address where
/// no variable is.
pub fn mbarrier(scene: &Scene<'_>, block: &Block, address: u32) -> String {
    let name = scene.machine.mbarrier_name(block, address);
    name.strip_prefix("the mbarrier at ").map_or(name.clone(), str::to_string)
}

fn behind(name: &str, offset: u64) -> String {
    if offset == 0 { name.to_string() } else { format!("{name}+{offset:#x}") }
}
