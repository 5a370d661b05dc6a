//! The text of certificates: whether the findings of a run hold in every order.

use super::report::grouped;
use crate::base::Dim3;
use crate::debug::certificate::{Certificate, Dependence, ForwardWait, RanBlocks};
use crate::debug::never_ran::NeverRan;

/// A certificate in one line.
pub fn certificate(certificate: &Certificate) -> String {
    match certificate {
        Certificate::EveryOrder { may_round_differently, blocks, never_ran, resident, has_reserved } => {
            let rounding = if *may_round_differently { "; results may differ in rounding" } else { "" };
            let left = never_ran.map_or_else(String::new, |NeverRan { instructions, of }| {
                format!("; {instructions} of {of} memory instructions never ran with these made-up values")
            });
            let condition = resident.as_ref().map_or_else(String::new, |ForwardWait { blocks, block, place, waits_for }| {
                let (block, waits_for) = (Dim3(*block), Dim3(*waits_for));
                format!(" while all {blocks} blocks are resident at once: block {block} waits at {place} for block {waits_for}")
            });
            let reserved = if *has_reserved { "; the words of cooperative groups in reserved shared memory were not compared" } else { "" };
            let what = blocks.map_or_else(
                || "this launch".to_string(),
                |RanBlocks { ran, of }| format!("the {} of {} blocks that ran, and says nothing of the others", grouped(ran), grouped(of)),
            );
            format!("every order  what was found holds for every order of {what}{condition}{rounding}{left}{reserved}\n")
        }
        Certificate::Depends(dependence) => format!("one order    {}\n", depends(dependence)),
        Certificate::Undecided { accesses } => {
            format!("one order    {} accesses were not compared: too many had touched the same bytes\n", grouped(*accesses))
        }
    }
}

fn depends(Dependence { on, place, decides }: &Dependence) -> String {
    let at = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let decides = decides.as_ref().map_or_else(String::new, |(what, place)| format!(" may decide {what} ({place}), and"));
    format!("{on}{at}{decides} depends on the order: other orders may show other findings")
}

/// The number of cases that hold for every order, in one line.
pub fn certified(certified: usize, cases: usize) -> String {
    format!("every order  {certified} of {cases} hold for every order\n")
}
