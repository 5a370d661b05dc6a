//! The text of symbols, shared memory and allocations.

use super::table::Table;
use crate::debug::view::{AllocationKind, AllocationRow, SharedKind, SharedRow, SymbolKind, SymbolRow};
use crate::debug::{listed_name, shown_name};

/// `info symbols`: those whose names contain `part`.
pub fn symbols(rows: &[SymbolRow], part: &str) -> Table {
    let mut table = Table::new(&["name", "kind", "type", ">address", ">bytes", "in"]);
    for SymbolRow { name, kind, address, owner } in rows {
        let owner = owner.as_deref().map_or(String::new(), |owner| shown_name(owner).into_owned());
        let [kind, ty, address, bytes] = match kind {
            SymbolKind::Kernel => ["kernel".to_string(), String::new(), format!("{address:#x}"), String::new()],
            SymbolKind::Function => ["function".to_string(), String::new(), format!("{address:#x}"), String::new()],
            SymbolKind::Label => ["label".to_string(), String::new(), address.to_string(), String::new()],
            SymbolKind::Variable { space, in_frame, ty, bytes } => {
                let address = if *in_frame { format!("frame+{address}") } else { format!("{address:#x}") };
                [space.to_string(), ty.describe(), address, bytes.to_string()]
            }
        };
        table.push(false, [listed_name(name).into_owned(), kind, ty, address, bytes, owner]);
    }
    table.or_note(&if part.is_empty() { "the module names nothing".to_string() } else { format!("no name contains '{part}'") })
}

/// `info shared`
pub fn shared(rows: &[SharedRow]) -> Table {
    let mut table = Table::new(&["name", "type", ">address", ">bytes"]);
    for SharedRow { kind, address, bytes } in rows {
        let (name, ty) = match kind {
            SharedKind::System => ("(kept by the system)".to_string(), String::new()),
            SharedKind::Variable { name, ty } => (listed_name(name).into_owned(), ty.describe()),
            SharedKind::Dynamic(names) if names.is_empty() => ("(dynamic)".to_string(), String::new()),
            SharedKind::Dynamic(names) => {
                let names: Vec<_> = names.iter().map(|name| listed_name(name)).collect();
                (format!("{} (dynamic)", names.join(", ")), String::new())
            }
        };
        table.push(false, [name, ty, format!("{address:#x}"), bytes.to_string()]);
    }
    table
}

/// `info allocations`
pub fn allocations(rows: &[AllocationRow]) -> Table {
    let mut table = Table::new(&["name", "kind", "type", ">address", ">bytes"]);
    for AllocationRow { name, kind, address, bytes } in rows {
        let (kind, ty) = match kind {
            AllocationKind::Variable { space, ty } => (format!("{space} variable"), ty.describe()),
            AllocationKind::Buffer(ty) => ("buffer".to_string(), ty.clone().unwrap_or_default()),
        };
        table.push(false, [listed_name(name).into_owned(), kind, ty, format!("{address:#x}"), bytes.to_string()]);
    }
    table.or_note("there is no global memory")
}
