//! `role`: what warps are called, and why.

use super::{Table, place, ranges, statement};
use crate::debug::roles::{RoleGuess, RoleWay};
use crate::debug::scene::Scene;

/// The roles and their warps.
pub fn roles(scene: &Scene<'_>) -> Table {
    let mut table = Table::new(&["role", "warps"]);
    for (role, warps) in scene.roles.all() {
        table.push(warps.contains(&scene.focus.warp), [role.to_string(), ranges(&warps)]);
    }
    table.or_note("no warp has a role: 'role producer warp 0' gives one, 'role auto' guesses")
}

/// Roles that were guessed, with what they were guessed from.
pub fn role_guess(scene: &Scene<'_>, guess: &RoleGuess) -> Table {
    let program = scene.program();
    let mut table = Table::new(&["role", "warps", "went to", "because"]);
    for way in &guess.ways {
        let focused = way.warps.contains(&scene.focus.warp);
        table.push(focused, [way.name.clone(), ranges(&way.warps), place(program, way.to), because(way)]);
    }
    table.note = Some(format!("they part at {}: {}", place(program, guess.branch), statement(program, guess.branch)));
    table
}

/// What the warps of a way did.
fn because(way: &RoleWay) -> String {
    let counted = |count: u64, one: &str, many: &str| match count {
        0 => String::new(),
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let parts = [
        if way.together { String::new() } else { "some lanes only".to_string() },
        counted(way.copies, "copy issued", "copies issued"),
        counted(way.waits, "mbarrier wait", "mbarrier waits"),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "no copies, no mbarrier waits".to_string() } else { parts.join(", ") }
}
