//! Positions in functions that no user wrote, such as the atomics of the toolkit: a change belongs at the calls that lead there.

use crate::check::{Position, common_places};
use crate::debug::site::is_users;
use crate::debug::users_calls::users_calls;
use crate::program::{FuncId, Pc, Program};

/// The position, or where its function is not the user's, those of the calls of it in functions of the user, and it last. Functions that
/// have some of `pcs`, the instructions of the finding, come first.
pub(super) fn at_calls(program: &Program, at: Position, pcs: &[Pc]) -> Vec<Position> {
    let mut positions: Vec<Position> = users_calls(program, at.pc()).into_iter().map(|call| at.with_pc(call)).collect();
    let has_some = |position: &Position| pcs.iter().any(|pc| program.function_at(*pc) == program.function_at(position.pc()));
    positions.sort_by_key(|position| !has_some(position));
    positions.push(at);
    positions
}

/// The places of two instructions in the functions that execute both; none if one function has both.
pub(super) fn pairs(program: &Program, one: Pc, other: Pc) -> Vec<(Pc, Pc)> {
    if program.function_at(one) == program.function_at(other) {
        return Vec::new();
    }
    let of_user = common_places(program, [one, other]).into_iter().filter(|common| is_of_user(program, common.function));
    let all = of_user.flat_map(|common| {
        let [ones, others] = common.places;
        ones.into_iter().flat_map(move |one| others.clone().into_iter().map(move |other| (one, other)))
    });
    all.collect()
}

/// True if the user wrote some line of a function.
fn is_of_user(program: &Program, function: FuncId) -> bool {
    program.functions[function.index()].code.clone().map(Pc).any(|pc| is_users(program, pc))
}
