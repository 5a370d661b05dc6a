//! The test as text, in the PTX format of herd.

use std::fmt::Write;

use super::code::Translation;
use super::column::Name;
use super::locations::Locations;
use super::recording::Register;
use super::selection::Chosen;
use crate::debug::names::scope::register_of_slot;
use crate::program::{FuncId, Function, Pc, Program, shown_name};

pub(super) fn test(
    program: &Program,
    kernel: FuncId,
    threads: &[Chosen],
    columns: &[Translation],
    locations: &Locations<'_>,
    notes: &[String],
) -> String {
    let function = &program.functions[kernel.index()];
    let name = shown_name(&function.name);
    let word = |name: &str| name.split(['<', '(']).next().unwrap_or(name).replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let mut text = format!("PTX {}\n", word(&name));
    let comment = comment(program, function, threads, columns, locations, notes);
    // The values at first begin with the first brace, and a comment ends with its end.
    let comment: String = comment.replace("*)", "* )").replace('{', "(").replace('}', ")");
    let _ = write!(text, "(* {} *)\n{{\n", comment.trim_end().replace('\n', "\n   "));
    let first = locations.rows().iter().map(|row| format!("{}={};", row.name, row.first)).collect::<Vec<_>>();
    let _ = writeln!(text, "{}", first.join(" "));
    for (number, column) in columns.iter().enumerate() {
        let first = column.first.iter().map(|(register, value)| format!("P{number}:{}={value};", name_in(column, *register)));
        let first = first.collect::<Vec<_>>().join(" ");
        if !first.is_empty() {
            let _ = writeln!(text, "{first}");
        }
    }
    text.push_str("}\n");
    text.push_str(&table(threads, columns));
    let registers = columns.iter().enumerate().flat_map(|(number, column)| {
        column.loaded.iter().map(move |(register, value)| (format!("P{number}:{}", name_in(column, *register)), *value))
    });
    let left: Vec<(String, i64)> = registers.chain(locations.rows().iter().map(|row| (row.name.clone(), row.last))).collect();
    let shown: Vec<String> = left.iter().map(|(name, _)| format!("{name};")).collect();
    let outcome: Vec<String> = left.iter().map(|(name, value)| format!("{name} == {value}")).collect();
    let _ = writeln!(text, "\nlocations [{}]\nexists ({})", shown.join(" "), outcome.join(" /\\ "));
    text
}

/// The name of a register in the test.
fn name_in(column: &Translation, register: Register) -> String {
    let number = column.column.numbers.all().iter().position(|name| *name == Name::Of(register));
    format!("r{}", number.unwrap_or(0))
}

fn comment(
    program: &Program,
    function: &Function,
    threads: &[Chosen],
    columns: &[Translation],
    locations: &Locations<'_>,
    notes: &[String],
) -> String {
    let file = program.spans.get(function.code.start as usize).map_or("", |span| program.sources_text.file(span.source).short_name());
    let mut text = format!("{} of {file}; exists has the outcome of the run\n", shown_name(&function.name));
    for (number, (thread, column)) in threads.iter().zip(columns).enumerate() {
        let Chosen { block_number, number: of_block, lines, code, .. } = thread;
        let _ = write!(text, "P{number}: block {block_number}, thread {of_block}, lines {lines}");
        for (number, name) in column.column.numbers.all().iter().enumerate() {
            let Name::Of((bank, slot)) = name else { continue };
            if let Some(name) = register_of_slot(function, Pc(code.start), *bank, *slot) {
                let _ = write!(text, ", r{number} = {name}");
            }
        }
        text.push('\n');
    }
    for row in locations.rows().iter().filter(|row| row.name != row.shown) {
        let _ = writeln!(text, "{} = {}", row.name, row.shown);
    }
    notes.iter().for_each(|note| _ = writeln!(text, "{note}"));
    text
}

/// The instructions in columns.
fn table(threads: &[Chosen], columns: &[Translation]) -> String {
    let heads = threads.iter().enumerate().map(|(number, thread)| format!("P{number}@cta {},gpu 0", thread.block_number));
    let cells: Vec<Vec<String>> = heads.zip(columns).map(|(head, column)| [vec![head], column.column.cells()].concat()).collect();
    let rows = cells.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = cells.iter().map(|column| column.iter().map(String::len).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in 0..rows {
        let line = cells.iter().zip(&widths).map(|(column, width)| {
            let cell = column.get(row).map_or("", String::as_str);
            format!(" {cell:width$} ")
        });
        let _ = writeln!(text, "{};", line.collect::<Vec<_>>().join("|"));
    }
    text
}
