//! The text of warps, lanes, threads, blocks, roles and barriers.

use super::report::code_place;
use super::table::Table;
use crate::base::{Dim3, counted};
use crate::debug::view::{
    BarrierRow, BlockSpan, Condition, GuessedRole, LaneGroupRow, LaneRow, RoleRow, RolesGuessed, State, ThreadRow, Threads, WarpRow, Warps,
    ranges,
};

/// `info warps`
pub fn warps(warps: &Warps) -> Table {
    let mut table = Table::new(&["warp", "state", "lanes", "at", ""]);
    for WarpRow { warps, groups, focused } in &warps.rows {
        if groups.is_empty() {
            table.push(*focused, [warps.ranges(), State::Exited.to_string(), String::new(), String::new(), String::new()]);
        }
        for (nth, group) in groups.iter().enumerate() {
            let name = if nth == 0 { warps.ranges() } else { String::new() };
            table.push(group.focused, [name, state(group), group.lanes.list(), code_place(&group.at), group.at.statement.clone()]);
        }
    }
    table.note = warps.absent.as_ref().map(ToString::to_string);
    table
}

/// The state of a group of lanes; an mbarrier is shown by name: `waits for full[1]`.
fn state(group: &LaneGroupRow) -> String {
    group.mbarrier.as_ref().map_or_else(|| group.state.to_string(), |name| format!("waits for {name}"))
}

/// `info lanes`
pub fn lanes(rows: &[LaneRow]) -> Table {
    let mut table = Table::new(&["lanes", "threads", "state", "at", ""]);
    for row in rows {
        let [state, at, statement] = match &row.group {
            None => [State::Exited.to_string(), String::new(), String::new()],
            Some(group) => {
                let state = if row.is_off { "turned off by its predicate".to_string() } else { state(group) };
                [state, code_place(&group.at), group.at.statement.clone()]
            }
        };
        table.push(row.focused, [row.lanes.list(), thread_names(&row.threads), state, at, statement]);
    }
    table
}

/// `(4,0,0)`, `(0,0,0) … (31,0,0)`
fn thread_names(threads: &[[u32; 3]]) -> String {
    match threads {
        [] => String::new(),
        [only] => Dim3(*only).to_string(),
        [first, last] => format!("{} {}", Dim3(*first), Dim3(*last)),
        [first, .., last] => format!("{} … {}", Dim3(*first), Dim3(*last)),
    }
}

/// `info threads`
pub fn threads(threads: &Threads) -> Table {
    let mut table = Table::new(&["block", "warps", "lanes", ">threads", "state", "at", ""]);
    for ThreadRow { block, warps, threads, group } in &threads.rows {
        let (block, lanes) = (Dim3(*block).to_string(), group.lanes.list());
        let (state, at, statement) = (state(group), code_place(&group.at), group.at.statement.clone());
        table.push(group.focused, [block, warps.ranges(), lanes, threads.to_string(), state, at, statement]);
    }
    if threads.left_out > 0 {
        table.note = Some(format!("and {} more: name a block, as in 'info threads block 1,0,0'", threads.left_out));
    }
    table.or_note("no such thread is on the machine")
}

/// `info blocks`
pub fn blocks(spans: &[BlockSpan]) -> Table {
    let mut table = Table::new(&["from", "to", ">blocks", "state"]);
    for span in spans {
        let [first, last] = [span.first, span.last].map(|index| Dim3(index).to_string());
        table.push(span.focused, [first, last, span.count.to_string(), condition(&span.condition)]);
    }
    table
}

/// The state of the threads of a block: `ready`, `at barrier 0`, or the number of threads in each state.
fn condition(condition: &Condition) -> String {
    match condition {
        Condition::NotStarted => "not started".to_string(),
        Condition::Finished => "finished".to_string(),
        Condition::All(state) => state.to_string(),
        Condition::Mixed(counts) => {
            let part = |(state, threads): &(State, u64)| format!("{} {state}", counted(*threads, "thread"));
            counts.iter().map(part).collect::<Vec<_>>().join(", ")
        }
    }
}

/// `role`
pub fn roles(rows: &[RoleRow]) -> Table {
    let mut table = Table::new(&["role", "warps"]);
    for RoleRow { role, warps, focused } in rows {
        table.push(*focused, [role.clone(), ranges(warps)]);
    }
    table.or_note("no warp has a role: 'role producer warp 0' gives one, 'role auto' guesses")
}

/// `role auto`
pub fn role_guess(guess: &RolesGuessed) -> Table {
    let mut table = Table::new(&["role", "warps", "went to", "because"]);
    for role in &guess.roles {
        let RoleRow { role: name, warps, focused } = &role.row;
        table.push(*focused, [name.clone(), ranges(warps), code_place(&role.to), because(role)]);
    }
    table.note = Some(format!("they diverge at {}: {}", code_place(&guess.branch), guess.branch.statement));
    table
}

/// The actions of the warps from which a role was guessed.
fn because(role: &GuessedRole) -> String {
    let counted = |count: u64, one: &str, many: &str| match count {
        0 => String::new(),
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let parts = [
        if role.together { String::new() } else { "some lanes only".to_string() },
        counted(role.copies, "copy issued", "copies issued"),
        counted(role.waits, "mbarrier wait", "mbarrier waits"),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "no copies, no mbarrier waits".to_string() } else { parts.join(", ") }
}

/// `info barriers`
pub fn barriers(rows: &[BarrierRow]) -> Table {
    let mut table = Table::new(&[">barrier", ">phase", ">arrived", "waiting", "missing", "at"]);
    for row in rows {
        let BarrierRow { id, phase, arrived, wanted, waiting, missing, at, focused } = row;
        let at = at.iter().map(code_place).collect::<Vec<_>>().join(", ");
        let arrived = format!("{arrived} of {wanted}");
        table.push(*focused, [id.to_string(), phase.to_string(), arrived, waiting.describe(), missing.describe(), at]);
    }
    table.or_note("no thread waits at a barrier of this block")
}
