//! The text of the results of `explore`: the number of orders with each outcome. An *order* is one interleaving of the warps of a case (a
//! schedule in the literature).

use super::finding::list;
use super::report::grouped;
use crate::debug::explore::{
    End, ExplorationReport, MEMORY_STALE, MEMORY_STALE_UNDECIDED, MergedFinding, OrderOutcome, Systematic, Verdict,
};

/// The maximum number of outcomes that are listed.
const OUTCOMES_SHOWN: usize = 16;

/// The number of orders by outcome, a line for each outcome that is not right, and the findings of all orders.
pub fn explored(explored: &ExplorationReport) -> String {
    let outcomes = match &explored.verdict {
        Some(verdict) => judged(explored, verdict),
        None => compared(explored),
    };
    let shard = explored.shard.as_ref().map_or(String::new(), |shard| format!("shard {}/{}, of the orders:\n", shard.shard, shard.shards));
    let interrupted = if explored.interrupted { "interrupted before all orders were tried\n" } else { "" };
    shard + &probability_line(explored) + &outcomes + &found(explored) + interrupted + &untried(explored)
}

/// A line on the orders that a systematic exploration has not tried, with the command that continues it.
fn untried(explored: &ExplorationReport) -> String {
    let drawn = "each order draws one choice of what its loads return: 'explore 200 --memory weak' draws others\n";
    let drawn = if explored.is_weak && explored.systematic.is_some() { drawn } else { "" };
    drawn.to_string() + &further_orders(explored)
}

fn further_orders(explored: &ExplorationReport) -> String {
    match explored.systematic {
        None => String::new(),
        Some(Systematic { is_complete: false, .. }) => "there are more orders: 'explore systematic continue' goes on\n".to_string(),
        Some(Systematic { hits_bound: false, .. }) => "no order takes more preemptions\n".to_string(),
        Some(Systematic { preemptions, .. }) => {
            format!("some orders take more preemptions: 'explore systematic {}' has more of them\n", preemptions.saturating_add(1))
        }
    }
}

/// `all 12 orders with at most 2 preemptions`
fn tried(explored: &ExplorationReport) -> String {
    let orders = orders(explored.tried);
    match explored.systematic {
        None => orders,
        Some(Systematic { preemptions, is_complete, .. }) => {
            let bound = format!("with at most {preemptions} preemption{}", if preemptions == 1 { "" } else { "s" });
            match (is_complete, explored.tried) {
                (true, 1) => format!("the only order {bound}"),
                (true, _) => format!("all {orders} {bound}"),
                (false, _) => format!("{orders} {bound}"),
            }
        }
    }
}

/// The line with the probability that a schedule with random priorities shows a bug.
fn probability_line(explored: &ExplorationReport) -> String {
    explored.bound.map_or(String::new(), |bound| {
        let power = match bound.depth {
            1 => String::new(),
            2 => format!(" * {}", grouped(bound.steps)),
            depth => format!(" * {}^{}", grouped(bound.steps), depth - 1),
        };
        let probability = bound.probability();
        format!(
            "depth {}: each order shows a bug of that depth with a probability of at least 1/({}{power}) = {probability:.1e}\n",
            bound.depth,
            grouped(bound.warps)
        )
    })
}

/// `20 orders: 12 right, 8 wrong, worst C[35][0] = 22.6, expected 26.2, replay: --schedule random --seed 3`
fn judged(explored: &ExplorationReport, verdict: &Verdict) -> String {
    let Verdict { right, wrong, stopped } = *verdict;
    let counts = [(right, "right"), (wrong, "wrong"), (stopped, "stopped")];
    let counts: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{} {word}", grouped(count))).collect();
    let worst = explored.outcomes.iter().find_map(|outcome| match &outcome.end {
        End::Wrong(worst) => Some(format!(", worst {}{}", worst.what, replay(", ", outcome))),
        End::Finished | End::Right | End::Stopped(_) => None,
    });
    let counts = if counts.is_empty() { "none was tried".to_string() } else { counts.join(", ") };
    let mut text = format!("{}: {counts}{}\n", tried(explored), worst.unwrap_or_default());
    let session = explored.outcomes.iter().find(|outcome| outcome.in_session_order);
    text += &session.map_or(String::new(), |outcome| format!("  {}: {}\n", session_order(explored), end(&outcome.end)));
    for outcome in explored.outcomes.iter().filter(|outcome| outcome.orders > 0 && matches!(outcome.end, End::Stopped(_))) {
        text += &format!("  {}: {}\n{}", orders(outcome.orders), end(&outcome.end), replay_line(outcome));
    }
    text
}

fn compared(explored: &ExplorationReport) -> String {
    let (count, kinds) = (explored.tried, explored.outcomes.iter().filter(|outcome| outcome.orders > 0).count());
    let is_all_session = explored.outcomes.first().is_some_and(|outcome| outcome.orders == count);
    let session = session_order(explored);
    let mut text = match (is_all_session, kinds) {
        (true, _) => format!("{}: all lead to the outcome of {session}\n", tried(explored)),
        (false, 1) => format!("{}: all lead to one outcome, which is not that of {session}\n", tried(explored)),
        (false, kinds) => format!("{} lead to {kinds} different outcomes\n", tried(explored)),
    };
    for outcome in explored.outcomes.iter().take(OUTCOMES_SHOWN) {
        let session = match (outcome.in_session_order, outcome.orders) {
            (true, 0) => session.to_string(),
            (true, count) => format!("{session} and {}", orders(count)),
            (false, count) => orders(count),
        };
        let difference = outcome.difference.as_ref().map_or(String::new(), |difference| format!("; {difference}"));
        let replay = if outcome.in_session_order { String::new() } else { replay_line(outcome) };
        text += &format!("  {session}: {}{difference}\n{replay}", end(&outcome.end));
    }
    let more = explored.outcomes.len().saturating_sub(OUTCOMES_SHOWN);
    if more > 0 {
        text += &format!("  and {more} more outcomes\n");
    }
    text
}

/// The findings, each with the number of orders that show it.
fn found(explored: &ExplorationReport) -> String {
    let entry = |found: &MergedFinding| {
        let session = session_order(explored);
        let shown = match (found.in_session_order, found.orders) {
            (true, 0) => format!("in {session} only"),
            (true, count) => format!("in {session} and {}", orders(count)),
            (false, count) => {
                let replay = found.replay.as_ref().map_or(String::new(), |replay| format!("; replay: {replay}"));
                format!("in {} of {}{replay}", grouped(count), orders(explored.tried))
            }
        };
        let width = found.finding.number.to_string().len() + 2;
        // No list of a session has it, so that all of it is said here.
        let is_here_only = [MEMORY_STALE, MEMORY_STALE_UNDECIDED].contains(&found.finding.id);
        let (why, fix) = (&found.finding.why, &found.finding.fix);
        let more = if is_here_only { format!("{:width$}why  {why}\n{:width$}fix  {fix}\n", "", "") } else { String::new() };
        format!("{}{more}{:width$}{shown}\n", list(std::slice::from_ref(&found.finding), 0), "")
    };
    match explored.found.as_slice() {
        [] if explored.checked => "nothing was found in any of them\n".to_string(),
        [] => String::new(),
        found => format!("found in all of them together:\n{}", found.iter().map(entry).collect::<String>()),
    }
}

/// The name of the session's order.
fn session_order(explored: &ExplorationReport) -> &'static str {
    if explored.is_default_order { "the default order" } else { "this run's order" }
}

fn orders(count: u64) -> String {
    format!("{} order{}", grouped(count), if count == 1 { "" } else { "s" })
}

fn end(end: &End) -> String {
    match end {
        End::Finished => "finished".to_string(),
        End::Right => "right".to_string(),
        End::Wrong(deviation) => format!("wrong, {}", deviation.what),
        End::Stopped(what) => what.clone(),
    }
}

fn replay(before: &str, outcome: &OrderOutcome) -> String {
    outcome.replay.as_ref().map_or(String::new(), |replay| format!("{before}replay: {replay}"))
}

fn replay_line(outcome: &OrderOutcome) -> String {
    let replay = replay("    ", outcome);
    if replay.is_empty() { replay } else { replay + "\n" }
}
