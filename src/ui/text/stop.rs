//! Stops in words: why, and where.

use super::finding::{fault, finding};
use super::outcome::touch;
use super::report::{grouped, short_site};
use crate::base::Dim3;
use crate::debug::breakpoints::Event;
use crate::debug::focus::Focus;
use crate::debug::session::Session;
use crate::debug::stop::{Need, Others, Reason, Stop};
use crate::debug::{Site, TouchText};

/// What logpoints wrote, why it stopped, and where the focused thread stands. `before` is the thread that was looked at when it began.
pub fn stop(session: &Session, stop: &Stop, before: Focus) -> String {
    let mut lines: Vec<String> = stop.log.iter().map(|line| line.trim_end().to_string()).collect();
    lines.extend(each_once(stop.reasons.iter().filter_map(|reason| self::reason(session, reason))));
    lines.extend(stop.others.iter().map(others));
    lines.extend(
        stop.new_launch.iter().map(|launch| format!("this is launch {} of {}: {}", launch + 1, session.launches(), session.kernel_name())),
    );
    let is_over = stop.reasons.iter().any(|reason| matches!(reason, Reason::Ended | Reason::Fault(_) | Reason::Broken(_)));
    let thread = |focus: &Focus| (focus.block, focus.warp, focus.lane);
    if !is_over && thread(&stop.focus) != thread(&before) {
        let left = stop.left.as_ref().map_or(String::new(), |left| format!(": {left}"));
        lines.push(format!("focus is now {}{left}", stop.focus.in_words(&session.roles)));
    }
    match Site::of(&session.scene()) {
        Ok(here) if !is_over => lines.push(short_site(&here)),
        Err(error) if !is_over => {
            lines.push(format!("t={}  {}: {error}", grouped(stop.time), stop.focus.in_words(&session.roles)));
        }
        _ => {}
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The texts without repetitions, which are counted.
fn each_once(texts: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match counted.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => counted.push((text, 1)),
        }
    }
    counted.into_iter().map(|(text, count)| if count == 1 { text } else { format!("{text} ({count} times)") })
}

/// Why it stopped; nothing if what was asked for is done.
fn reason(session: &Session, reason: &Reason) -> Option<String> {
    let text = match reason {
        Reason::Done => return None,
        Reason::Breakpoint { number, temporary: false } => format!("breakpoint {number}"),
        Reason::Breakpoint { number, temporary: true } => format!("temporary breakpoint {number}"),
        Reason::Watchpoint(touched) => {
            let touched = TouchText::new(&session.scene(), touched);
            let number = touched.number.map_or(String::new(), |number| format!(" {number}"));
            format!("watchpoint{number}: {}\n  {}", touched.name, touch(&touched))
        }
        Reason::Caught { number, told: Some(told), .. } => {
            let number = number.map_or(String::new(), |number| format!("catchpoint {number}: "));
            format!("{number}{told}")
        }
        Reason::Caught { number, event, block, warp, lanes, told: None } => {
            let number = number.map_or(String::new(), |number| format!("catchpoint {number}: "));
            format!("{number}{} in block {} {}, {}", event_name(*event), Dim3(*block), session.roles.warp(*warp), lanes.in_words())
        }
        Reason::Interrupted => "interrupted".to_string(),
        Reason::Ended if session.launches() > 1 => {
            format!("t={}  all {} launches have finished{}", grouped(session.time()), session.launches(), findings(session))
        }
        Reason::Ended => format!("t={}  the kernel has finished{}", grouped(session.time()), findings(session)),
        Reason::Finding(found) => format!("finding {}: {}", found.number, finding(found)),
        Reason::Fault(found) => fault(found),
        Reason::Broken(message) => format!("the run cannot continue: {message}"),
        Reason::Beginning => "this is the beginning: nothing was executed before".to_string(),
        Reason::ThreadExited => "the focused thread has exited".to_string(),
        Reason::BadCondition { number, message } => format!("breakpoint {number} stops because its condition has no value: {message}"),
    };
    Some(text)
}

/// `; 2 findings`
fn findings(session: &Session) -> String {
    match session.findings().len() {
        0 => String::new(),
        1 => "; 1 finding".to_string(),
        count => format!("; {count} findings"),
    }
}

/// What others did meanwhile.
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

/// Which thread one looks at.
pub fn focus(focus: &str, site: &Result<Box<Site>, String>) -> String {
    match site {
        Ok(here) => format!("{focus}, thread {}\n{}\n", Dim3(here.thread), short_site(here)),
        Err(error) => format!("{focus}: {error}\n"),
    }
}
