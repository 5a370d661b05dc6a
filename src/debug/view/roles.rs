//! `role`: what warps are called, and why.

use serde::Serialize;

use super::CodePlace;
use crate::debug::roles::{RoleGuess, RoleWay};
use crate::debug::scene::Scene;

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleRow {
    /// Its name.
    pub role: String,
    /// The warps that have it, ascending.
    pub warps: Vec<u32>,
    /// Whether the focused warp is one of them.
    pub focused: bool,
}

/// The roles and their warps.
pub fn roles(scene: &Scene<'_>) -> Vec<RoleRow> {
    let row = |(role, warps): (&str, Vec<u32>)| RoleRow { role: role.to_string(), focused: warps.contains(&scene.focus.warp), warps };
    scene.roles.all().into_iter().map(row).collect()
}

/// Roles that were guessed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RolesGuessed {
    /// The branch at which the warps diverged.
    pub branch: CodePlace,
    /// A role for each way.
    pub roles: Vec<GuessedRole>,
}

/// A role that was guessed, and what it was guessed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuessedRole {
    /// The role and its warps.
    pub row: RoleRow,
    /// Where they went.
    pub to: CodePlace,
    /// Whether all lanes of each warp did.
    pub together: bool,
    /// Copies that they have issued.
    pub copies: u64,
    /// Their waits for barrier objects.
    pub waits: u64,
}

/// Roles that were guessed, with what they were guessed from.
pub fn role_guess(scene: &Scene<'_>, guess: &RoleGuess) -> RolesGuessed {
    let program = scene.program();
    let role = |way: &RoleWay| GuessedRole {
        row: RoleRow { role: way.name.clone(), warps: way.warps.clone(), focused: way.warps.contains(&scene.focus.warp) },
        to: CodePlace::new(program, way.to),
        together: way.together,
        copies: way.copies,
        waits: way.waits,
    };
    RolesGuessed { branch: CodePlace::new(program, guess.branch), roles: guess.ways.iter().map(role).collect() }
}
