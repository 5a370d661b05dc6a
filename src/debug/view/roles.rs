//! `role`: the roles of warps, and the evidence for those that are guessed.

use serde::Serialize;

use super::CodePlace;
use crate::debug::eval_context::EvalContext;
use crate::debug::roles::{self, RoleGuess};

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleRow {
    /// Its name.
    pub role: String,
    /// The warps that have it, ascending.
    pub warps: Vec<u32>,
    /// True if the focused warp is one of them.
    pub focused: bool,
}

/// The roles and their warps.
pub fn roles(context: &EvalContext<'_>) -> Vec<RoleRow> {
    let row = |(role, warps): (&str, Vec<u32>)| RoleRow { role: role.to_string(), focused: warps.contains(&context.focus.warp), warps };
    context.roles.all().into_iter().map(row).collect()
}

/// Roles that were guessed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RolesGuessed {
    /// The branch at which the warps diverged.
    pub branch: CodePlace,
    /// The guessed roles.
    pub roles: Vec<GuessedRole>,
}

/// A role that was guessed, with the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuessedRole {
    /// The role and its warps.
    pub row: RoleRow,
    /// The first instruction of their path.
    pub to: CodePlace,
    /// True if all lanes of each warp took it.
    pub together: bool,
    /// Number of copies that they issued.
    pub copies: u64,
    /// Number of their tests of mbarriers.
    pub waits: u64,
}

/// The guessed roles with the evidence.
pub fn role_guess(context: &EvalContext<'_>, guess: &RoleGuess) -> RolesGuessed {
    let program = context.program();
    let role = |guessed: &roles::GuessedRole| GuessedRole {
        row: RoleRow { role: guessed.name.clone(), warps: guessed.warps.clone(), focused: guessed.warps.contains(&context.focus.warp) },
        to: CodePlace::new(program, guessed.to),
        together: guessed.together,
        copies: guessed.copies,
        waits: guessed.waits,
    };
    RolesGuessed { branch: CodePlace::new(program, guess.branch), roles: guess.roles.iter().map(role).collect() }
}
