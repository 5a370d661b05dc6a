//! The text of stops: the reasons and the location.

use super::finding::{fault, finding};
use super::outcome::watched_access;
use super::report::{grouped, short_site, source_text};
use crate::base::Dim3;
use crate::debug::breakpoints::Event;
use crate::debug::stop::{Need, Others, Reason, Stop, StoppedLaunch};
use crate::debug::{Site, shown_name};

/// The output of logpoints, the reasons of the stop, and the location of the focused thread.
pub fn stop(stop: &Stop) -> String {
    let mut lines: Vec<String> = stop.log.iter().map(|line| line.trim_end().to_string()).collect();
    lines.extend(distinct(stop.reasons.iter().filter_map(|reason| self::reason(stop, reason))));
    lines.extend(stop.stale.iter().cloned());
    lines.extend(stop.others.iter().map(others));
    let StoppedLaunch { number, count, kernel, is_new, made_up } = &stop.launch;
    lines.extend(is_new.then(|| format!("this is launch {} of {count}: {}", number + 1, shown_name(kernel))));
    lines.extend(made_up.iter().map(|guesses| format!("the launch is made up: {guesses}")));
    if !stop.is_over() {
        if stop.has_other_thread() {
            let left = stop.left.as_ref().map_or(String::new(), |left| format!(": {left}"));
            lines.push(format!("focus is now {}{left}", stop.thread));
        }
        lines.push(match &stop.here {
            Ok(here) => short_site(here),
            Err(error) => format!("t={}  {}: {error}", grouped(stop.time), stop.thread),
        });
        lines.extend(stop.here.as_ref().ok().and_then(|here| here.text.as_ref()).map(source_text));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The distinct texts, each with the number of its occurrences.
fn distinct(texts: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match counted.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counted.push((text, 1)),
        }
    }
    counted.into_iter().map(|(text, count)| if count == 1 { text } else { format!("{text} ({count} times)") })
}

/// The text of a reason; `None` if the command has completed normally.
fn reason(stop: &Stop, reason: &Reason) -> Option<String> {
    let text = match reason {
        Reason::Done => return None,
        Reason::Breakpoint { number, temporary, once_a_visit } => {
            let kind = if *temporary { "temporary breakpoint" } else { "breakpoint" };
            let others = if *once_a_visit { ", once a visit of a block: its other warps that come to the line do not stop" } else { "" };
            format!("{kind} {number}{others}")
        }
        Reason::Watchpoint { text: touched, .. } => {
            let number = touched.number.map_or(String::new(), |number| format!(" {number}"));
            format!("watchpoint{number}: {}\n  {}", touched.name, watched_access(touched))
        }
        Reason::VariableLeft { number } => {
            format!("watchpoint {number} deleted because the program has left the block in which its expression is valid")
        }
        Reason::Caught { number, described: Some(described), .. } => {
            let number = number.map_or(String::new(), |number| format!("catchpoint {number}: "));
            format!("{number}{described}")
        }
        Reason::Caught { number, event, block, warp: _, warp_name, lanes, described: None } => {
            let number = number.map_or(String::new(), |number| format!("catchpoint {number}: "));
            format!("{number}{} in block {} {warp_name}, {}", event_name(*event), Dim3(*block), lanes.describe())
        }
        Reason::Interrupted => "interrupted".to_string(),
        Reason::Ended if stop.launch.count > 1 => {
            format!("t={}  all {} launches have finished{}", grouped(stop.time), stop.launch.count, found(stop))
        }
        Reason::Ended => format!("t={}  the kernel has finished{}", grouped(stop.time), found(stop)),
        Reason::Finding(found) => format!("finding {}: {}", found.number, finding(found)),
        Reason::Fault(found) => fault(found),
        Reason::Broken(message) => format!("the run cannot continue: {message}"),
        Reason::Beginning => "this is the beginning: nothing was executed before".to_string(),
        Reason::ThreadExited => "the focused thread has exited".to_string(),
        Reason::BadCondition { number, message } => format!("breakpoint {number} stops because its condition has no value: {message}"),
    };
    Some(text)
}

/// `; 2 findings; 12 elements are not as expected ('mismatches')`
fn found(stop: &Stop) -> String {
    let findings = match stop.findings {
        0 => String::new(),
        1 => "; 1 finding".to_string(),
        count => format!("; {count} findings"),
    };
    match stop.wrong_elements {
        0 => findings,
        1 => findings + "; 1 element is not as expected ('mismatches')",
        count => format!("{findings}; {} elements are not as expected ('mismatches')", grouped(count)),
    }
}

/// What other threads did in the meantime.
fn others(others: &Others) -> String {
    let count = grouped(others.instructions);
    let instructions = if others.instructions == 1 { "instruction" } else { "instructions" };
    let executed = format!("executed {count} {instructions}");
    match others.need {
        Need::Barrier(id) => format!("other warps {executed} until barrier {id} was complete"),
        Need::Turn => format!("others {executed} first: lanes of this warp, or warps whose turn it was"),
        Need::Flag => format!("other warps {executed}: this one waits for what they write"),
        Need::Recorded => format!("other warps {executed}, as in the recording"),
    }
}

fn event_name(event: Event) -> String {
    match event {
        Event::Barrier(Some(id)) => format!("barrier {id}"),
        event => event.word().to_string(),
    }
}

/// The focused thread and its location.
pub fn focus(focus: &str, site: &Result<Box<Site>, String>) -> String {
    match site {
        Ok(here) => {
            let text = here.text.as_ref().map_or(String::new(), |text| source_text(text) + "\n");
            format!("{focus}, thread {}\n{}\n{text}", Dim3(here.thread), short_site(here))
        }
        Err(error) => format!("{focus}: {error}\n"),
    }
}
