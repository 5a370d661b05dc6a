//! Places in memory as the author of a kernel calls them: `full[1]`, `smem+0x40`, `A+0x8000`.

use super::symbols::{Object, Symbol, objects, symbol};
use crate::debug::scene::Scene;
use crate::isa::Space;
use crate::machine::Block;

/// Bytes of a barrier object.
const MBARRIER: u64 = 8;

/// Bytes of an untyped array that can be one of barrier objects alone.
const MBARRIERS_MAX: u64 = 512;

/// `A+0x8000`, `tile`; the address where nothing has a name.
pub fn place(scene: &Scene<'_>, space: Space, address: u64) -> String {
    match symbol(scene, space, address) {
        Some(symbol) => row(scene, &symbol).unwrap_or_else(|| behind(short(&symbol.name), symbol.offset)),
        None => format!("{address:#x}"),
    }
}

/// `tile[1]`: the start of one of the outermost parts of an array of arrays.
fn row(scene: &Scene<'_>, symbol: &Symbol) -> Option<String> {
    let mut variables = scene.program().variables.iter();
    let variable = variables.find(|variable| *variable.name == *symbol.name && variable.location.space == Space::Shared)?;
    let bytes = variable.shape.get(1..).filter(|inner| !inner.is_empty())?.iter().product::<u64>() * u64::from(variable.ty.bytes());
    (bytes > 0 && symbol.offset % bytes == 0).then(|| format!("{}[{}]", short(&symbol.name), symbol.offset / bytes))
}

/// The barrier object at `address` of a block: `full[1]` if it is in an array of such objects, `smem+0x40` otherwise.
///
/// A compiler declares an array of them as bytes. Such an array counts as one of barrier objects if it is small and the objects in it
/// lie without gaps from its start on.
pub fn mbarrier(scene: &Scene<'_>, block: &Block, address: u32) -> String {
    let Some(object) = object(scene, u64::from(address)) else { return format!("{address:#x}") };
    let (name, offset) = (short(&object.name), u64::from(address) - object.start);
    let inside = || block.shared.mbarriers().filter_map(|(at, _)| u64::from(at).checked_sub(object.start).filter(|at| *at < object.bytes));
    let is_array = object.bytes <= MBARRIERS_MAX && inside().zip(0..).all(|(at, index)| at == index * MBARRIER);
    match (object.bytes == MBARRIER, is_array) {
        (true, _) => name.to_string(),
        (false, true) => format!("{name}[{}]", offset / MBARRIER),
        (false, false) => behind(name, offset),
    }
}

/// The variable of shared memory that holds `address`.
pub fn object(scene: &Scene<'_>, address: u64) -> Option<Object> {
    let holds = |object: &Object| (object.start..object.start.saturating_add(object.bytes)).contains(&address);
    objects(scene, Space::Shared).into_iter().find(holds)
}

/// `full` of `_ZZ13ring_mbarrierE4full`: a variable of a function by the name that it has there. Other names stay as they are.
pub fn short(name: &str) -> &str {
    let last = || {
        let inner = name.strip_prefix("_ZZ")?;
        inner.match_indices('E').find_map(|(at, _)| {
            let rest = &inner[at + 1..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (length, own) = rest.split_at(digits);
            // Behind the name there may be a number that tells variables of one name apart.
            let length = length.parse().ok()?;
            let (own, tail) = own.split_at_checked(length)?;
            (length > 0 && (tail.is_empty() || tail.starts_with('_'))).then_some(own)
        })
    };
    last().unwrap_or(name)
}

fn behind(name: &str, offset: u64) -> String {
    if offset == 0 { name.to_string() } else { format!("{name}+{offset:#x}") }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn variables_of_functions_have_short_names() {
        assert_eq!(short("_ZZ13ring_mbarrierE4full"), "full");
        assert_eq!(short("_ZZ12smooth_asyncPKfPfiiE3buf"), "buf");
        assert_eq!(short("_ZZ1kE1E_0"), "E");
        assert_eq!(short("tile"), "tile");
        assert_eq!(short("_ZZ1"), "_ZZ1");
    }
}
