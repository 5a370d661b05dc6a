//! The text of the fidelity of a run: how far its results are those of the hardware.

use std::collections::BTreeSet;

use crate::debug::Trust;
use crate::debug::fidelity::{Fidelity, OpcodeFidelity};

/// The maximum number of opcodes that are listed; the others are counted.
const NAMED: usize = 6;

/// A line for each level of trust, and the influences of approximate results.
pub fn fidelity(fidelity: &Fidelity) -> String {
    let rows = |test: fn(&Trust) -> bool| -> Vec<&OpcodeFidelity> { fidelity.opcodes.iter().filter(|row| test(&row.trust)).collect() };
    let recorded = rows(|trust| matches!(trust, Trust::Recorded(_)));
    let manual = rows(|trust| *trust == Trust::Manual);
    let approximate = rows(|trust| *trust == Trust::Approximate);
    let mut text = String::new();
    if !recorded.is_empty() {
        text += &format!("bit-exact    {}, as recorded on hardware: {}\n", opcodes(&recorded), operations(&recorded));
    }
    if !manual.is_empty() {
        text += &format!("by manual    {}, not recorded on hardware: {}\n", opcodes(&manual), named(&manual));
    }
    if !approximate.is_empty() {
        text += &format!("approximate  {}: {}\n", opcodes(&approximate), named(&approximate));
        text += &format!("             {}\n", influences(fidelity));
    }
    text
}

fn opcodes(rows: &[&OpcodeFidelity]) -> String {
    if rows.len() == 1 { "1 opcode".to_string() } else { format!("{} opcodes", rows.len()) }
}

fn influences(fidelity: &Fidelity) -> String {
    if fidelity.influences.is_empty() {
        return "what they computed decided no address, no branch and no synchronization".to_string();
    }
    let part = |(influence, place): &(crate::debug::fidelity::Influence, String)| format!("{} ({place})", influence.words());
    let parts: Vec<String> = fidelity.influences.iter().map(part).collect();
    format!("what they computed may have decided {}", parts.join(", "))
}

/// The opcodes without modifiers.
fn operations(rows: &[&OpcodeFidelity]) -> String {
    let operations = rows.iter().filter_map(|row| row.opcode.split('.').next());
    operations.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

fn named(rows: &[&OpcodeFidelity]) -> String {
    let names = rows.iter().take(NAMED).map(|row| format!("{} ({})", row.opcode, row.place));
    let more = rows.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    names.collect::<Vec<_>>().join(", ") + &more
}
