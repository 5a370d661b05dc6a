//! The text of views that are not tables: source listing, divergence, control flow, memory, explanations.

use super::report::grouped;
use super::value::some_lanes;
use crate::base::counted;
use crate::debug::explain::{Explanation, LaneView, OperandView, StepOutcome};
use crate::debug::view::{
    BlockView, CfgView, ContractionKind, ContractionNote, Divergence, ExamineRow, Examined, FirstOp, GroupView, InlineAsm, Line, Listing,
    MayRead, MayReadRow, SourceFileState, SourcePlace, State,
};
use crate::debug::{LaneMask, shown_name};

/// Source lines with marks: `●` a breakpoint, `▶` the focused lane, `asm` inline assembly, and the lanes of the warp at the line,
/// including those whose guard predicate is false.
pub fn listing(listing: &Listing) -> String {
    let digits = listing.lines.last().map_or(1, |line| line.number.to_string().len());
    let off = |line: &Line| match line.off {
        LaneMask::NONE => String::new(),
        off if off == line.lanes => ", all off".to_string(),
        off => format!(", off {}", some_lanes(off)),
    };
    let occupancy = |line: &Line| if line.lanes.is_empty() { String::new() } else { format!("[{}{}]", some_lanes(line.lanes), off(line)) };
    let width = listing.lines.iter().map(|line| occupancy(line).chars().count()).max().unwrap_or(0);
    let has_asm = listing.lines.iter().any(|line| line.inline_asm);
    let asm = |line: &Line| match (has_asm, line.inline_asm) {
        (false, _) => "",
        (true, false) => "     ",
        (true, true) => "asm  ",
    };
    let row = |line: &Line| {
        let marks = [if line.marked { '●' } else { ' ' }, if line.focused { '▶' } else { ' ' }];
        let text = line.text.replace('\t', "    ") + &contracted(&line.contracted);
        let occupancy = if width == 0 { String::new() } else { format!("{:width$}  ", occupancy(line)) };
        let source = line.source.as_ref().map_or(String::new(), |source| format!("{:digits$}   {source}\n", ""));
        let row = format!("{}{} {:>digits$}  {}{occupancy}{text}", marks[0], marks[1], line.number, asm(line));
        let masked = line.masked.as_ref().map_or(String::new(), |masked| format!("{:digits$}     {masked}\n", ""));
        format!("{source}{}\n{masked}", row.trim_end())
    };
    listing.lines.iter().map(row).collect()
}

/// `   ↔ fma with 10`: the mark of a line whose instruction is contracted with others.
pub fn contracted(lines: &[(ContractionKind, u32)]) -> String {
    let Some((how, _)) = lines.first() else { return String::new() };
    let lines: Vec<String> = lines.iter().map(|(_, line)| line.to_string()).collect();
    format!("   ↔ {} with {}", one_operation(*how), lines.join(", "))
}

/// The operation into which ptxas contracts two instructions.
fn one_operation(how: ContractionKind) -> &'static str {
    match how {
        ContractionKind::Sum => "fma",
        ContractionKind::Scale => "mul",
        ContractionKind::Inverse => "inverse",
    }
}

/// A sentence on the instructions with which an instruction is contracted.
pub fn contraction_note(found: &ContractionNote) -> String {
    match found {
        ContractionNote::WithFirst { kind: ContractionKind::Inverse, first, place } => {
            format!("computed from the operand of the {} at {place}, as the assembler joins the two", first_op_word(*first))
        }
        ContractionNote::WithFirst { kind, first, place } => {
            let (first, one) = (first_op_word(*first), one_operation(*kind));
            format!("rounded once with the {first} at {place}, which it takes before rounding, as the assembler joins the two ({one})")
        }
        ContractionNote::WithSeconds { kind: ContractionKind::Inverse, first, places } => {
            let (first, places) = (first_op_word(*first), places.join(", "));
            format!("the reciprocal at {places} is computed from the operand of this {first}, as the assembler joins them")
        }
        ContractionNote::WithSeconds { kind, places, .. } => {
            let what = if *kind == ContractionKind::Sum { "sum" } else { "scaling" };
            let (many, takes) = if places.len() == 1 { ("", "takes") } else { ("s", "take") };
            let (places, one) = (places.join(", "), one_operation(*kind));
            format!("rounded once with the {what}{many} at {places}, which {takes} it before rounding, as the assembler joins them ({one})")
        }
    }
}

/// The name of a first operation's result.
fn first_op_word(first: FirstOp) -> &'static str {
    match first {
        FirstOp::Product => "product",
        FirstOp::Quotient => "quotient",
        FirstOp::Reciprocal => "reciprocal",
        FirstOp::Power => "power",
    }
}

/// The diverged groups of lanes of a warp, one per line, and their reconvergence point.
pub fn divergence(divergence: &Divergence) -> String {
    let Divergence { warp, groups, exited, reconvergence_at, .. } = divergence;
    let head = match (groups.len(), reconvergence_at) {
        (0, _) => format!("{warp}: all lanes have exited\n"),
        (1, _) => format!("{warp}: its lanes stand together\n"),
        (count, Some(at)) => format!("{warp}: {count} groups, will meet at {at}\n"),
        (count, None) => format!("{warp}: {count} groups, and no place that all of them reach\n"),
    };
    let width = groups.iter().map(|group| some_lanes(group.lanes).chars().count()).max().unwrap_or(0);
    let row = |group: &GroupView| {
        let mark = if group.next { '▶' } else { ' ' };
        let state = if group.state == State::Ready { String::new() } else { format!(", {}", group.state) };
        let focus = if group.focused { "  ◄ focus" } else { "" };
        let (count, lanes) = (group.lanes.count(), some_lanes(group.lanes));
        let plural = if count == 1 { "lane " } else { "lanes" };
        format!("  {mark} {count:>2} {plural} {lanes:width$}  at {}{state}{focus}\n", group.at)
    };
    let exited_line = if exited.is_empty() || groups.is_empty() { String::new() } else { format!("    {} exited\n", exited.describe()) };
    head + &groups.iter().map(row).collect::<String>() + &exited_line
}

/// The basic blocks of a function in the order of the text, indented by loop depth, with the lanes that are in them.
pub fn control_flow(view: &CfgView) -> String {
    let name = |index: &usize| view.blocks.get(*index).map_or("?", |block| block.name.as_str());
    let label = |block: &BlockView| {
        let lines = if block.lines.0 == block.lines.1 { block.lines.0.to_string() } else { format!("{}-{}", block.lines.0, block.lines.1) };
        let head = if block.loop_header { "↻ " } else { "" };
        format!("{}{head}{} {lines}", "  ".repeat(block.loop_depth as usize), block.name)
    };
    let width = view.blocks.iter().map(|block| label(block).chars().count()).max().unwrap_or(0);
    let edges = |index: usize, block: &BlockView| {
        let count = |edge: usize| block.counts.as_ref().and_then(|counts| counts.taken.get(edge));
        let count = |edge| count(edge).map_or(String::new(), |lanes| format!(" ({})", grouped(*lanes)));
        let arrow = |target: usize| if target <= index { "↑" } else { "" };
        let targets =
            block.successors.iter().enumerate().map(|(edge, target)| format!("{}{}{}", arrow(*target), name(target), count(edge)));
        let targets = targets.collect::<Vec<_>>().join(", ");
        let reconvergence = block.reconvergence.map_or(String::new(), |reconvergence| format!("  meet at {}", name(&reconvergence)));
        if targets.is_empty() { "→ end".to_string() } else { format!("→ {targets}{reconvergence}") }
    };
    let middle = view.blocks.iter().enumerate().map(|(index, block)| edges(index, block).chars().count()).max().unwrap_or(0);
    let row = |(index, block): (usize, &BlockView)| {
        let mark = if block.focused { '▶' } else { ' ' };
        let lanes = if block.lanes.is_empty() { String::new() } else { block.lanes.describe() };
        let others = block.threads - block.lanes.count();
        let others = if others == 0 { String::new() } else { format!("{} of other warps", counted(u64::from(others), "thread")) };
        let here = [lanes, others].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let edges = edges(index, block);
        format!("{mark} {:width$}  {edges:middle$}  {here}", label(block)).trim_end().to_string() + "\n"
    };
    let counted = view.blocks.iter().any(|block| block.counts.is_some());
    let head = if counted { "  (in brackets the lanes that have gone each way)" } else { "" };
    format!("{}{head}\n", shown_name(&view.function)) + &view.blocks.iter().enumerate().map(row).collect::<String>()
}

/// Rows of memory: `0x7f2000000000 <x>:  1  1.5  2  2.5`.
pub fn examined(examined: &Examined, code: bool) -> String {
    let head = |row: &ExamineRow| {
        let address = if code { row.address.to_string() } else { format!("{:#x}", row.address) };
        row.symbol.as_ref().map_or(address.clone(), |symbol| format!("{address} <{symbol}>"))
    };
    let width = examined.rows.iter().map(|row| head(row).chars().count()).max().unwrap_or(0) + 1;
    let cell = examined.rows.iter().filter(|row| row.values.len() > 1).flat_map(|row| &row.values).map(|value| value.chars().count()).max();
    let marks = examined.rows.iter().any(|row| row.current);
    let row = |row: &ExamineRow| {
        let mark = if !marks {
            ""
        } else if row.current {
            "=> "
        } else {
            "   "
        };
        let values: String = row.values.iter().map(|value| format!("  {value:>width$}", width = cell.unwrap_or(0))).collect();
        let source = row.source.as_ref().map_or(String::new(), |source| format!("{source}\n"));
        format!("{source}{mark}{:width$}{values}\n", format!("{}:", head(row)))
    };
    let stopped = examined.stopped.as_ref().map_or(String::new(), |error| format!("{error}\n"));
    let in_flight = examined.in_flight.as_ref().map_or(String::new(), |note| format!("{note}\n"));
    let space =
        if examined.is_shared { "taken as an address of the block's shared memory: as a generic one it names nothing\n" } else { "" };
    space.to_string() + &examined.rows.iter().map(row).collect::<String>() + &stopped + &in_flight
}

/// The explanation of an instruction: its meaning, the values of its operands and its effect.
pub fn explanation(explanation: &Explanation) -> String {
    let help = explanation.help.map_or(String::new(), |help| format!("     {help}"));
    let head = format!("{}  {}{help}\n", explanation.place, explanation.statement);
    let rounded = explanation.contraction.as_ref().map_or(String::new(), |found| format!("  {}\n", contraction_note(found)));
    head + &rounded + &explanation.lane.as_ref().map_or(String::new(), lane_view)
}

fn lane_view(view: &LaneView) -> String {
    let operand = |operand: &OperandView| match &operand.value {
        Some(value) => format!("{} = {} = {value}", operand.letter, operand.text),
        None => format!("{} = {}", operand.letter, operand.text),
    };
    let operands = view.operands.iter().map(operand).collect::<Vec<_>>().join(", ");
    let guard = view.guard.as_ref().map(|(guard, holds)| format!("{guard} is {}", if *holds { "true" } else { "false" }));
    let outcome = view.outcome.as_ref().map(self::outcome);
    let parts: Vec<String> = guard.into_iter().chain(Some(operands).filter(|text| !text.is_empty())).chain(outcome).collect();
    let mut text = if parts.is_empty() { String::new() } else { format!("  lane {}: {}\n", view.lane, parts.join("; ")) };
    text += &view.lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    match view.active {
        Some((active, all)) if active == all => {
            let lanes = if all.count() == 1 {
                "the one lane that stands here".to_string()
            } else {
                format!("all {} lanes that stand here", all.count())
            };
            text += &format!("  active: {lanes} ({})\n", some_lanes(all));
        }
        Some((LaneMask::NONE, all)) if all.count() == 1 => text += "  active: none; one lane stands here\n",
        Some((LaneMask::NONE, all)) => text += &format!("  active: none of the {} lanes that stand here\n", all.count()),
        Some((active, all)) => {
            text += &format!("  active: {} of {} ({})\n", active.count(), counted(u64::from(all.count()), "lane"), some_lanes(active));
        }
        None if view.outcome.is_some() => {}
        None => text += "  not executed next by this lane: what it would do is not known\n",
    }
    text
}

fn outcome(outcome: &StepOutcome) -> String {
    match outcome {
        StepOutcome::Nothing => "does nothing".to_string(),
        StepOutcome::Writes(writes) => {
            let write = |(name, before, after): &(String, String, String)| match before == after {
                true => format!("{name} stays {after}"),
                false => format!("{name} becomes {after} (was {before})"),
            };
            writes.iter().map(write).collect::<Vec<_>>().join(", ")
        }
        StepOutcome::Branches(at, statement) => format!("goes to {at}  {statement}"),
        StepOutcome::AlreadyWaits(state) => format!("waits here: {state}"),
        StepOutcome::Waits(state) => format!("the lane then waits: {state}"),
        StepOutcome::Exits => "the lane exits".to_string(),
        StepOutcome::Faults(message) => format!("faults: {message}"),
        StepOutcome::Continues => "no register changes".to_string(),
        StepOutcome::OthersFirst(lanes) => format!("{} of the warp run first", lanes.describe()),
    }
}

/// The origin of an instruction: its PTX line, its source line, its inline assembly.
pub fn source(place: &SourcePlace) -> String {
    let SourcePlace { pc, function, ptx, ptx_file, source, inline_asm, contraction, instructions, file, note } = place;
    let note = note.as_ref().map_or(String::new(), |note| format!("{note}\n"));
    let head = file.as_ref().map_or(String::new(), source_file);
    let origin = match source {
        Some((file, line, column)) => {
            let column = if *column == 0 { String::new() } else { format!(":{column}") };
            format!("from {file}:{line}{column}, a line of {} in this function\n", counted(*instructions as u64, "instruction"))
        }
        None => "there is no .loc before it: no line of a source language is known\n".to_string(),
    };
    let asm = inline_asm.as_ref().map_or(String::new(), |asm| {
        let InlineAsm { lines: (first, last), number, count } = asm;
        let lines = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        format!("inline asm, {lines} of the PTX: instruction {number} of {count}\n")
    });
    let contraction = contraction.as_ref().map_or(String::new(), |found| contraction_note(found) + "\n");
    let function = shown_name(function);
    format!("{note}{head}instruction {} of '{function}' at {ptx} ({ptx_file})\n{origin}{asm}{contraction}", pc.0)
}

/// The line about a file of the source.
fn source_file(file: &SourceFileState) -> String {
    match file {
        SourceFileState::Found(name, lines) => format!("current source file: {name}, {}\n", counted(u64::from(*lines), "line")),
        SourceFileState::Missing(name) => {
            format!("current source file: {name}, which is neither there nor beside the PTX: -I DIR names its folder\n")
        }
        SourceFileState::Unnamed => "the module names no source file: nvcc -lineinfo does\n".to_string(),
    }
}

/// What a load may return: the writes, newest last, those that it may return marked.
pub fn may_read(view: &MayRead) -> String {
    let mut text = format!("{} reads {}:\n", view.thread, view.location);
    let width = view.rows.iter().map(|row| row.value.chars().count()).max().unwrap_or(0);
    for MayReadRow { value, may, write, why } in &view.rows {
        let mark = if *may { "may" } else { "not" };
        text += &format!("  {mark} {value:>width$}  {write}\n      {:width$}  {why}\n", "");
    }
    text
}
