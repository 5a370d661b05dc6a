//! The text of `branches` and `diff`.

use super::compared::{side, store};
use super::report::grouped;
use super::table::{Table, table};
use crate::base::{Dim3, counted};
use crate::debug::branches::Origin;
use crate::debug::branching::{BranchDiff, BranchRow};
use crate::debug::compare::{Difference, OutputDiff};

/// `branches`
pub fn branches(rows: &[BranchRow]) -> Table {
    let mut table = Table::new(&["branch", "from", "executed"]);
    for row in rows {
        let from =
            row.origin.as_ref().map_or(String::new(), |Origin { from, time, change }| format!("{from} at t={}: {change}", grouped(*time)));
        let executed = format!("to t={}{}", grouped(row.recorded), if row.ended { ", its end" } else { "" });
        table.push(row.is_present, [row.name.clone(), from, executed]);
    }
    table
}

/// `diff`
pub fn diff(diff: &BranchDiff) -> String {
    let runs = &diff.runs;
    let sides = ["A", "B"].iter().zip(&diff.names).zip(&runs.sides);
    let mut text: String = sides.map(|((letter, name), report)| side(letter, name, report)).collect();
    text += &format!("they part at t={}\n", grouped(diff.diverged));
    match &runs.difference {
        Some(Difference::Store { block, thread, a, b }) => {
            text += &format!("first store that differs: block {} thread {}\n", Dim3(*block), Dim3(*thread));
            text += &store("A", a.as_deref());
            text += &store("B", b.as_deref());
            if runs.threads > 1 {
                text += &format!("{} threads store something else\n", grouped(runs.threads));
            }
        }
        Some(Difference::Memory { .. } | Difference::Stop) | None => text += "all stores are equal\n",
    }
    if !diff.registers.is_empty() {
        let mut rows = Table::new(&["registers there", "A", "B"]);
        diff.registers.iter().for_each(|(name, [a, b])| rows.push(false, [name.clone(), a.clone(), b.clone()]));
        text += &table(&rows);
    }
    text + &outputs(&runs.outputs)
}

fn outputs(outputs: &[OutputDiff]) -> String {
    let (equal, different): (Vec<&OutputDiff>, Vec<&OutputDiff>) = outputs.iter().partition(|output| output.different == 0);
    let line = |output: &&OutputDiff| {
        let OutputDiff { buffer, elements, different, first } = output;
        let first = first.as_ref().map_or(String::new(), |(name, [a, b])| format!("; {name} is {a} in A and {b} in B"));
        format!("{buffer} differs in {} of {}{first}\n", grouped(*different), counted(*elements, "element"))
    };
    let different: String = different.iter().map(line).collect();
    let names = equal.iter().map(|output| output.buffer.as_str()).collect::<Vec<_>>().join(", ");
    let equal = if equal.is_empty() { String::new() } else { format!("equal at the end: {names}\n") };
    different + &equal
}
