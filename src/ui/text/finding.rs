//! The text of findings: the problem, both sides, the cause, and the fix.

use super::fix;
use super::report::{grouped, site, site_of, source_text};
use super::table::table;
use super::threads;
use crate::base::{Dim3, Severity};
use crate::debug::findings::{FindingText, LinkText, MemoryText, SideAction, SideText};
use crate::debug::view::Warps;
use crate::debug::{Fault, Waiting};

/// A finding in full, without a line feed at the end.
pub fn finding(finding: &FindingText) -> String {
    let mut lines = vec![headline(finding)];
    match (&finding.first, &finding.second) {
        (None, Some(only)) if only.action.is_none() => {
            lines.push(format!("  {}", site(&only.site)));
            lines.extend(text_below(only, "  "));
        }
        (first, second) => {
            let label = if first.is_some() { "second" } else { "at    " };
            for (label, side) in [("first ", first), (label, second)] {
                lines.extend(side.iter().map(|side| format!("  {label}  {}", self::side(side))));
                lines.extend(side.iter().filter_map(|side| text_below(side, "          ")));
            }
        }
    }
    lines.extend(waiting(finding));
    lines.extend(Some(&finding.why).filter(|why| !why.is_empty()).map(|why| format!("  why     {why}")));
    lines.extend(fix::advice(finding).into_iter().map(|line| format!("  {line}")));
    lines.extend(Some(&finding.made_up).filter(|origin| !origin.is_empty()).map(|origin| format!("  launch  {origin}")));
    if finding.count > 1 {
        lines.push(format!("  {} times in all", grouped(finding.count)));
    }
    lines.join("\n")
}

/// The line of the source of a side.
fn text_below(side: &SideText, margin: &str) -> Option<String> {
    side.site.text.as_ref().map(|text| format!("{margin}{}", source_text(text)))
}

/// The waiting warps, and the wait reason of each.
fn waiting(finding: &FindingText) -> Vec<String> {
    let mut lines = Vec::new();
    for waiting in &finding.waiting {
        lines.push(format!("  {}", site_of(&waiting.site, &waiting.warp_names, &waiting.site.lanes.describe())));
        lines.extend(waiting.reason.lines().map(|line| format!("    {line}")));
    }
    if finding.waiting_more > 0 {
        lines.push(format!("  and {} more groups of lanes", finding.waiting_more));
    }
    lines
}

/// The fault that stopped a launch.
pub fn fault(fault: &Fault) -> String {
    finding(&FindingText::of_fault(0, fault))
}

/// All findings, a few lines each, by number.
pub fn list(findings: &[FindingText], suppressed: usize) -> String {
    let entry = |finding: &FindingText| {
        let number = format!("{}: ", finding.number);
        let sites = finding.sides().map(|side| format!("{:width$}{}\n", "", side_line(side), width = number.len()));
        let waiting = finding.waiting.iter().filter(|_| finding.second.is_none());
        let waits = |waiting: &Waiting| {
            let source = waiting.site.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
            format!(
                "{:width$}waits  {}{source}  {}  block {} {}\n",
                "",
                waiting.site.place,
                waiting.site.statement,
                Dim3(waiting.site.block),
                waiting.warp_names,
                width = number.len()
            )
        };
        let waiting = waiting.map(waits);
        let times = if finding.count > 1 { format!(", {} times", grouped(finding.count)) } else { String::new() };
        format!("{number}{}{times}\n", headline(finding)) + &sites.chain(waiting).collect::<String>()
    };
    let rest = if suppressed == 0 { String::new() } else { format!("{suppressed} suppressed\n") };
    findings.iter().map(entry).collect::<String>() + &rest
}

/// The happens-before path of a finding, with the missing step; for a hang, the wait reasons and the state of all warps of the `blocks`.
pub fn chain(finding: &FindingText, blocks: &[Warps]) -> String {
    let link = |link: &LinkText| match &link.site {
        None => format!("  {}\n", link.text),
        Some(at) => {
            let (time, block, source) =
                (grouped(at.time), Dim3(at.block), at.source.as_ref().map_or(String::new(), |source| format!(" ({source})")));
            format!("  t={time}  block {block} {}  {}{source}  {}\n    {}\n", at.warp_name, at.place, at.statement, link.text)
        }
    };
    // The two sides are shown before and after the path.
    let is_side = |link: &&LinkText| link.site.as_ref().is_some_and(|at| finding.sides().any(|side| side.site.time == at.time));
    let links: String = finding.chain.iter().filter(|link| !is_side(link)).map(link).collect();
    let sides = |label: &str, side: &Option<SideText>| side.iter().map(|side| format!("{label}{}\n", self::side(side))).collect::<String>();
    let end = |label: &str, text: &str| if text.is_empty() { String::new() } else { format!("{label}{text}\n") };
    let head = headline(finding) + "\n";
    let label = if finding.first.is_some() { "second  " } else { "at      " };
    head + &sides("first   ", &finding.first)
        + &links
        + &sides(label, &finding.second)
        + &end("why     ", &finding.why)
        + &fix::advice(finding).into_iter().map(|line| line + "\n").collect::<String>()
        + &end("launch  ", &finding.made_up)
        + &waiting(finding).iter().map(|line| format!("{line}\n")).collect::<String>()
        + &blocks
            .iter()
            .map(|warps| format!("the warps of block {}:\n{}", Dim3(warps.block), table(&threads::warps(warps))))
            .collect::<String>()
}

/// `race.shared.raw: s[5]: a thread reads shared memory that …`, after `warning: ` or `note: ` for other severities
fn headline(finding: &FindingText) -> String {
    let memory = finding.memory.as_ref().map_or(String::new(), |memory| format!("{}: ", self::memory(memory)));
    let severity = match finding.severity {
        Severity::Error => String::new(),
        Severity::Warning | Severity::Note => format!("{}: ", finding.severity.word()),
    };
    format!("{severity}{}: {memory}{}", finding.id.word(), finding.message)
}

/// `s+0x14 in shared memory of block (0,0,0), 4 bytes`
fn memory(memory: &MemoryText) -> String {
    let (MemoryText { space, block, bytes, .. }, name) = (memory, memory.named());
    let owner = block.map_or(String::new(), |block| format!(" of block {}", Dim3(block)));
    let plural = if *bytes == 1 { "byte" } else { "bytes" };
    format!("{name} in {space} memory{owner}, {bytes} {plural}")
}

/// `t=84  block (0,0,0) warp 1 lane 4  file.ptx:37 (file.cu:7)  st.shared.u32 [%r1], %r2   writes 5`
fn side(side: &SideText) -> String {
    let action = side.action.map_or("", action_word);
    let value = side.value.as_ref().map_or(String::new(), |value| format!(" {value}"));
    let copy = side.copy.map_or(String::new(), |copy| format!(" ({} #{copy})", side.flight));
    let done = if action.is_empty() { String::new() } else { format!("   {action}{value}{copy}") };
    site(&side.site) + &done
}

/// `writes file.ptx:37 (file.cu:7) at t=84, warp 1`
fn side_line(side: &SideText) -> String {
    let source = side.site.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
    let action = side.action.map_or("at", action_word);
    format!(
        "{action:<6} {}{source}  {}  t={}, block {} {}",
        side.site.place,
        side.site.statement,
        grouped(side.site.time),
        Dim3(side.site.block),
        side.site.warp_name
    )
}

fn action_word(action: SideAction) -> &'static str {
    match action {
        SideAction::Read => "reads",
        SideAction::Write => "writes",
        SideAction::Atomic => "atomic",
        SideAction::Synchronize => "syncs",
        SideAction::Use => "uses",
        SideAction::Exit => "exits",
    }
}
