//! The text of information on a module: its target, array types, checkers, matrix descriptors and fragments.

use super::report::grouped;
use super::table::Table;
use crate::command::CheckRow;
use crate::debug::DivergencePolicy;
use crate::debug::view::{ArrayTypeRow, DescriptorView, FragmentElement, Major, TargetView};

/// `info target`
pub fn target(view: &TargetView) -> Table {
    let TargetView { target, version: (major, minor), address_bits, divergence, is_recorded, has_matrices, .. } = view;
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.push(false, [name.to_string(), value]);
    row("target", format!("{target}, PTX {major}.{minor}, {address_bits}-bit addresses"));
    row("machine", "an H200 (sm_90a), whatever the target: one instruction of one warp at a time".to_string());
    row("warps", warps(*divergence).to_string());
    row("not modelled", not_modelled(view));
    let elsewhere = |here: &str| if *is_recorded { here.to_string() } else { format!("{here}; those of {target} may differ there") };
    row(
        "special functions",
        elsewhere("rcp, rsqrt, sqrt, sin, cos, lg2, ex2, tanh and div with .approx or .full: those of sm_90, to the last bit"),
    );
    if *has_matrices {
        row("matrix products", elsewhere("matrix results follow sm_90 arithmetic, to the last bit"));
    }
    table
}

/// The order in which the diverged lanes of a warp run.
fn warps(policy: DivergencePolicy) -> &'static str {
    match policy {
        DivergencePolicy::Independent => "schedule their threads independently, as on sm_70 and later (--divergence independent)",
        DivergencePolicy::Stack => {
            "have a stack: the sides of a branch run one after the other, as on sm_60 and earlier (--divergence stack)"
        }
    }
}

fn not_modelled(view: &TargetView) -> String {
    match (&view.first_not_modelled, view.not_modelled) {
        (None, _) => "nothing: every instruction of the module can be executed".to_string(),
        (Some((statement, place)), 1) => format!("{statement} ({place}): a run stops there"),
        (Some((statement, place)), count) => format!("{count} instructions, the first {statement} ({place}): a run stops there"),
    }
}

/// `info descriptor`
pub fn descriptor(view: &DescriptorView) -> Table {
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.push(false, [name.to_string(), value]);
    row("descriptor", format!("{:#018x}", view.bits));
    row("start", view.start.clone());
    row("leading offset", format!("{} bytes", grouped(u64::from(view.leading))));
    row("stride offset", format!("{} bytes", grouped(u64::from(view.stride))));
    row("base offset", base_offset(view));
    row("swizzle", view.swizzle.map_or("none".to_string(), |span| format!("{span} bytes")));
    if view.reserved != 0 {
        row("reserved bits", format!("{:#x} are set: wgmma stops at such a descriptor", view.reserved));
    }
    let name = match view.major {
        Major::K => {
            row("K-major", format!("bytes 0 and {} of K of each row of A, or column of B", view.chunk));
            "  "
        }
        Major::MN => {
            row("M- or N-major", "rows of A, or columns of B, 0 to 7 and 8 to 15 of each k".to_string());
            "  k = "
        }
    };
    for (index, chunks) in view.rows.iter().enumerate() {
        row(&format!("{name}{index}"), chunks.map(|address| format!("{address:#x}")).join("  "));
    }
    table
}

fn base_offset(view: &DescriptorView) -> String {
    match (view.base_offset, view.swizzle) {
        (0, _) => "0".to_string(),
        (offset, None) => format!("{offset}, without effect where nothing is swizzled"),
        (offset, Some(_)) => format!("{offset}: the swizzle's pattern starts {offset} rows of 128 bytes into the memory's"),
    }
}

/// `type`
pub fn array_types(rows: &[ArrayTypeRow]) -> Table {
    let mut table = Table::new(&["name", "type", "why"]);
    for ArrayTypeRow { name, ty, why } in rows {
        table.push(false, [name.clone(), ty.clone(), why.clone()]);
    }
    table.or_note("no variable of the module is declared by the byte")
}

/// `info fragment` for an element or a lane.
pub fn fragment_elements(rows: &[FragmentElement]) -> Table {
    let mut table = Table::new(&["element", ">lane", "of the lane", "register", ">value"]);
    for FragmentElement { matrix, row, column, lane, element, register, value } in rows {
        let matrix = matrix.map_or(String::new(), |matrix| format!(" of matrix {matrix}"));
        let place = format!("({row},{column}){matrix}");
        table.push(false, [place, lane.to_string(), format!("#{element}"), register.clone(), value.clone()]);
    }
    table.or_note("the warp has no such lane")
}

/// `info checks`
pub fn checks(rows: &[CheckRow]) -> Table {
    let mut table = Table::new(&["checker", "", "findings", "looks for"]);
    for CheckRow { checker, on, findings, about } in rows {
        let state = if *on { "on" } else { "off" };
        table.push(false, [checker.to_string(), state.to_string(), findings.to_string(), about.to_string()]);
    }
    table
}
