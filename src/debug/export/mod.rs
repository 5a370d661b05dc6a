//! The run and its state as files for other programs: control flow for Graphviz, a trace for Perfetto, registers and memory as tables.

mod trace;

use super::eval_context::{EvalContext, ThreadError};
use super::session::{InterruptCheck, Session};
use super::shown_name;
use super::value::{Array, Value, ValueText};
use super::view::{self, BlockView, CfgView};
use crate::program::FuncId;

/// The control-flow graph of a function in the language of Graphviz: a node for each basic block with its lines, its instructions and the
/// lanes of the focused warp that are in it; back edges are dashed.
pub fn cfg_dot(context: &EvalContext<'_>, function: FuncId) -> String {
    let view: CfgView = view::control_flow(context, function);
    let program = context.program();
    let node = |(index, block): (usize, &BlockView)| {
        let code: String = block.code.clone().map(|pc| dot_escaped(&view::statement(program, crate::program::Pc(pc))) + "\\l").collect();
        let lanes = if block.lanes.is_empty() { String::new() } else { format!("\\n{}", block.lanes.describe()) };
        let (first, last) = block.lines;
        let colour = if block.focused { ", style=filled, fillcolor=lightyellow" } else { "" };
        format!("  b{index} [label=\"{} {first}-{last}{lanes}\\n{code}\"{colour}];\n", dot_escaped(&block.name))
    };
    let edges = |(index, block): (usize, &BlockView)| {
        let edge = |to: &usize| {
            let is_back = *to <= index;
            format!("  b{index} -> b{to}{};\n", if is_back { " [style=dashed]" } else { "" })
        };
        block.successors.iter().map(edge).collect::<String>()
    };
    let nodes: String = view.blocks.iter().enumerate().map(node).collect();
    let edges: String = view.blocks.iter().enumerate().map(edges).collect();
    let name = dot_escaped(&shown_name(&view.function));
    format!("digraph \"{name}\" {{\n  label=\"{name}\";\n  node [shape=box, fontname=\"monospace\"];\n{nodes}{edges}}}\n")
}

/// A text inside quotes of Graphviz.
pub fn dot_escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The registers of the selected frame in all lanes of the focused warp: a line for each with a column for each lane, which is empty
/// where the lane has never written it.
///
/// # Errors
/// The thread is not resident.
pub fn registers_csv(context: &EvalContext<'_>) -> Result<String, ThreadError> {
    let rows = view::registers(context, |_| true, true, None)?;
    let heading: String = (0..32).map(|lane| format!(",lane {lane}")).collect();
    let mut text = format!("register,type{heading}\n");
    for row in rows {
        let mut cells = vec![String::new(); 32];
        match &row.value {
            ValueText::Lanes(lanes) => {
                for (lane, value) in lanes.mask.iter().zip(&lanes.values) {
                    cells[lane] = value.clone();
                }
            }
            ValueText::Scalar(value) => cells[context.focus.lane as usize % 32] = value.clone(),
            ValueText::Array(_) | ValueText::Tensor(_) => {}
        }
        row.undefined.iter().for_each(|lane: usize| cells[lane].clear());
        text +=
            &format!("{},{},{}\n", quoted(&row.name), quoted(&row.ty), cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(","));
    }
    Ok(text)
}

/// An array as lines of values: a line for each innermost row. None if it has more elements than an expression holds.
pub fn array_csv(context: &EvalContext<'_>, array: &Array) -> Option<String> {
    let ValueText::Array(text) = Value::Array(array.clone()).text(context, None) else { return None };
    if text.more {
        return None;
    }
    let columns = array.shape.last().copied().unwrap_or(1).max(1) as usize;
    let row = |row: &[String]| row.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(",") + "\n";
    Some(text.elements.chunks(columns).map(row).collect())
}

/// A cell, in quotes where it needs them.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_string() }
}

impl Session {
    /// The recorded run as a trace for Perfetto and Chrome: a process for each block with a track for each warp, on which slices are lines
    /// and waits; copies are slices of their own, with flows from the warp that issued them; phases of mbarriers are counters. A tick is
    /// a microsecond. The session stays where it is.
    ///
    /// # Errors
    /// The user interrupted it, or the run is too long, in one line.
    pub fn trace(&mut self, interrupt: &mut dyn InterruptCheck) -> Result<String, String> {
        trace::trace(self, interrupt)
    }
}
