//! The text of the judgement of a litmus test, and its executions as text and as graphs.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::debug::export::dot_escaped;
use crate::litmus::{Event, EventKind, Judgement, Outcome, Relation, Test, Variable, Witness, bits};

/// The answer in one line.
pub fn answer(file: &str, test: &Test, judged: &Judgement) -> String {
    let yes = |holds: bool| if holds { "yes" } else { "no" };
    let sequential = match judged.answer_of_sequential == judged.answer {
        true => String::new(),
        false => format!("; {} if runs are sequentially consistent", yes(judged.answer_of_sequential)),
    };
    let buffering = match judged.answer_without_load_buffering == judged.answer {
        true => String::new(),
        false => format!("; {} without load buffering", yes(judged.answer_without_load_buffering)),
    };
    let cut = if judged.is_cut { "; loops are followed so far only (--rounds)" } else { "" };
    format!("{file}  {}: {}{sequential}{buffering}{cut}\n", test.condition.text, yes(judged.answer))
}

/// The outcomes, a row each, with the number of runs that left them; those of which the formula holds are marked.
pub fn outcomes(test: &Test, judged: &Judgement, runs: Option<&[u64]>) -> String {
    if judged.outcomes.is_empty() {
        return "no execution ends\n".to_string();
    }
    let titles = judged.variables.iter().map(|variable| name(test, *variable)).chain(runs.map(|_| "runs".to_string()));
    let titles: Vec<String> = titles.collect();
    let cells = |(number, outcome): (usize, &Outcome)| {
        let count = runs.map(|runs| runs[number].to_string());
        outcome.values.iter().map(i64::to_string).chain(count).collect()
    };
    let rows: Vec<Vec<String>> = judged.outcomes.iter().enumerate().map(cells).collect();
    let width =
        |column: usize| rows.iter().map(|cells| cells[column].chars().count()).chain([titles[column].chars().count()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let row = |cells: &[String]| cells.iter().zip(&widths).fold(String::new(), |row, (cell, width)| row + &format!("  {cell:>width$}"));
    let mut text = format!("      {}\n", row(&titles));
    for (number, (outcome, cells)) in judged.outcomes.iter().zip(&rows).enumerate() {
        let mark = if outcome.matches { '*' } else { ' ' };
        let _ = writeln!(text, "{:>4} {mark}{}  {}", number + 1, row(cells), kind(outcome));
    }
    text
}

/// The values of an outcome: `P1:r0 = 1, P1:r1 = 0`.
pub fn values(test: &Test, judged: &Judgement, outcome: &Outcome) -> String {
    let value = |(variable, value): (&Variable, &i64)| format!("{} = {value}", name(test, *variable));
    judged.variables.iter().zip(&outcome.values).map(value).collect::<Vec<_>>().join(", ")
}

/// The judgement as one line of JSON: every outcome with an execution that has it.
pub fn json(file: &str, test: &Test, judged: &Judgement, runs: Option<&[u64]>) -> String {
    let outcome = |(number, outcome): (usize, &Outcome)| {
        let values: Vec<Value> = judged
            .variables
            .iter()
            .zip(&outcome.values)
            .map(|(variable, value)| json!({ "name": name(test, *variable), "value": value }))
            .collect();
        json!({
            "values": values,
            "matches": outcome.matches,
            "kind": kind(outcome),
            "runs": runs.map(|runs| runs[number]),
            "execution": execution(test, &outcome.witness),
        })
    };
    let all = json!({
        "file": file,
        "test": test.name,
        "question": test.condition.text,
        "answer": judged.answer,
        "sequentially_consistent_answer": judged.answer_of_sequential,
        "answer_without_load_buffering": judged.answer_without_load_buffering,
        "is_cut": judged.is_cut,
        "outcomes": judged.outcomes.iter().enumerate().map(outcome).collect::<Vec<_>>(),
    });
    format!("{all}\n")
}

fn execution(test: &Test, witness: &Witness) -> Value {
    let labels = labels(&witness.events);
    let event = |(own, event): (usize, &Event)| {
        let of = event.thread.map(|thread| &test.threads[thread]);
        json!({
            "event": event_name(test, witness, &labels, own),
            "thread": of.map(|of| format!("P{}", of.number)),
            "instruction": of.map(|of| &of.code[event.instruction].text),
            "reads": witness.values[own].filter(|_| event.is_read()),
            "writes": witness.values[own].filter(|_| event.is_write()),
        })
    };
    let pairs = |pairs: Vec<(usize, usize)>| {
        let at = |own: usize| event_name(test, witness, &labels, own);
        pairs.into_iter().map(|(one, other)| json!([at(one), at(other)])).collect::<Vec<_>>()
    };
    let relations: serde_json::Map<String, Value> =
        edges(witness).into_iter().map(|(relation, edges)| (relation.to_string(), json!(pairs(edges)))).collect();
    json!({ "events": witness.events.iter().enumerate().map(event).collect::<Vec<_>>(), "relations": relations })
}

/// Which executions have an outcome.
fn kind(outcome: &Outcome) -> &'static str {
    match (outcome.is_sequential, outcome.needs_load_buffering) {
        (true, _) => "sequentially consistent",
        (false, false) => "weak",
        (false, true) => "weak, by load buffering",
    }
}

fn name(test: &Test, variable: Variable) -> String {
    match variable {
        Variable::Register(thread, register) => {
            let of = &test.threads[thread];
            format!("P{}:{}", of.number, of.registers[register])
        }
        Variable::Memory(location) => test.locations[location].name.clone(),
        Variable::Constant(value) => value.to_string(),
    }
}

/// An execution: its instructions in columns, then its relations.
pub fn witness(test: &Test, number: usize, outcome: &Outcome) -> String {
    let witness = &outcome.witness;
    let labels = labels(&witness.events);
    let columns: Vec<Vec<String>> = (0..test.threads.len()).map(|thread| column(test, witness, &labels, thread)).collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|column| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)).collect();
    let mut text = format!("an execution with outcome {number}, {}\n", kind(outcome));
    for row in 0..rows {
        let cells = columns.iter().zip(&widths).map(|(column, width)| format!("{:width$}", column.get(row).map_or("", String::as_str)));
        let line = cells.collect::<Vec<_>>().join("   ");
        let _ = writeln!(text, "  {}", line.trim_end());
    }
    for (relation, pairs) in edges(witness) {
        if !pairs.is_empty() {
            let at = |own: usize| event_name(test, witness, &labels, own);
            let pairs: Vec<String> = pairs.iter().map(|(one, other)| format!("{} -> {}", at(*one), at(*other))).collect();
            let _ = writeln!(text, "  {relation}  {}", pairs.join(", "));
        }
    }
    text
}

/// The cells of a thread, from its name on.
fn column(test: &Test, witness: &Witness, labels: &[String], thread: usize) -> Vec<String> {
    let of = &test.threads[thread];
    let mut cells = vec![format!("P{}: block {}, gpu {}", of.number, of.block, of.gpu)];
    let mut last = "";
    for (own, event) in witness.events.iter().enumerate().filter(|(_, event)| event.thread == Some(thread)) {
        if labels[own] == last {
            continue;
        }
        last = &labels[own];
        let read = match (event.is_read(), witness.values[own]) {
            (true, Some(value)) => format!("  = {value}"),
            _ => String::new(),
        };
        cells.push(format!("{last}  {}{read}", of.code[event.instruction].text));
    }
    cells
}

/// The letters of events: an atomic operation has one. First values have none.
fn labels(events: &[Event]) -> Vec<String> {
    let mut count = 0_usize;
    let mut labels: Vec<String> = Vec::new();
    let mut is_second = false;
    for event in events {
        if event.thread.is_none() {
            labels.push(String::new());
            continue;
        }
        if is_second {
            labels.push(labels.last().cloned().unwrap_or_default());
        } else {
            let letter = char::from(b'a' + (count % 26) as u8);
            labels.push(if count < 26 { letter.to_string() } else { format!("{letter}{}", count / 26) });
            count += 1;
        }
        is_second = matches!(event.kind, EventKind::Read { is_atomic: true, .. });
    }
    labels
}

fn event_name(test: &Test, witness: &Witness, labels: &[String], own: usize) -> String {
    let event = &witness.events[own];
    match (event.thread, event.location) {
        (None, Some(location)) => format!("first {}", test.locations[location].name),
        _ => labels[own].clone(),
    }
}

/// The relations that are drawn, without what follows from the rest.
fn edges(witness: &Witness) -> [(&'static str, Vec<(usize, usize)>); 4] {
    let relations = &witness.relations;
    let co = reduced(&relations.co);
    let nearest = |one: usize, other: usize| bits(relations.fr.row(one)).all(|middle| !relations.co.has(middle, other));
    let is_first = |own: usize| witness.events[own].thread.is_none();
    // That first values come first needs no saying.
    let co = co.pairs().filter(|(one, _)| !is_first(*one)).collect();
    [
        ("rf", relations.rf.pairs().collect()),
        ("co", co),
        ("fr", relations.fr.pairs().filter(|(one, other)| one != other && nearest(*one, *other)).collect()),
        ("sw", relations.sw.pairs().collect()),
    ]
}

fn reduced(order: &Relation) -> Relation {
    order.without(&order.then(order))
}

/// An execution as a graph for Graphviz.
pub fn dot(test: &Test, outcome: &Outcome) -> String {
    let witness = &outcome.witness;
    let labels = labels(&witness.events);
    let mut text = format!("digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n", dot_escaped(&test.name));
    for (own, event) in witness.events.iter().enumerate().filter(|(_, event)| event.thread.is_none()) {
        let location = event.location.map_or("", |location| &test.locations[location].name);
        let _ = writeln!(text, "  e{own} [label=\"{} = {}\"];", dot_escaped(location), witness.values[own].unwrap_or(0));
    }
    for (thread, of) in test.threads.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{thread} {{\n    label=\"P{} block {} gpu {}\";", of.number, of.block, of.gpu);
        for (own, event) in witness.events.iter().enumerate().filter(|(_, event)| event.thread == Some(thread)) {
            let instruction = dot_escaped(&of.code[event.instruction].text);
            let value = witness.values[own]
                .map_or_else(String::new, |value| format!("\\n{} {value}", if event.is_read() { "reads" } else { "writes" }));
            let _ = writeln!(text, "    e{own} [label=\"{}: {instruction}{value}\"];", labels[own]);
        }
        text.push_str("  }\n");
    }
    let colours = [("po", "black"), ("rf", "red"), ("co", "blue"), ("fr", "orange"), ("sw", "darkgreen")];
    let all = [("po", reduced(&witness.po).pairs().collect())].into_iter().chain(edges(witness));
    for ((relation, pairs), (_, colour)) in all.zip(colours) {
        for (one, other) in pairs {
            let _ = writeln!(text, "  e{one} -> e{other} [label=\"{relation}\", color={colour}, fontcolor={colour}];");
        }
    }
    text + "}\n"
}
