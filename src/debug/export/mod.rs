//! The run and its state as files for other programs: control flow for Graphviz, a trace for Perfetto, registers and memory as tables.

mod cfg_svg;
mod trace;

pub use cfg_svg::{cfg_svg, escaped as xml_escaped};

use super::eval_context::{EvalContext, ThreadError};
use super::expression::{Expression, little_endian};
use super::memory;
use super::session::{InterruptCheck, Session};
use super::shown_name;
use super::transfer::element_of;
use super::value::{Array, Scalar, Type, Value, ValueText};
use super::view::{self, BlockView, CfgView};
use crate::launch::npy;
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

/// Most elements of a table.
const TABLE_MAX: u64 = 1 << 22;

/// The elements of an array as lines of values, all of them: a line for each innermost row.
///
/// # Errors
/// There are more than a table takes, or the memory cannot be read, in one line.
pub fn array_csv(context: &EvalContext<'_>, array: &Array) -> Result<String, String> {
    let count = array.shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent)).filter(|count| *count <= TABLE_MAX);
    let count = count.ok_or_else(|| format!("this has more elements than a table takes, {TABLE_MAX}"))? as usize;
    let size = (array.ty.bytes() as usize).max(1);
    let mut bytes = vec![0; count * size];
    memory::read(context, array.space, array.address, &mut bytes).map_err(|error| error.to_string())?;
    let value = |bytes: &[u8]| quoted(&Scalar::new(Type::Scalar(array.ty), little_endian(bytes)).text(context, None));
    let columns = array.shape.last().copied().unwrap_or(1).max(1) as usize;
    let row = |row: &[u8]| row.chunks(size).map(value).collect::<Vec<_>>().join(",") + "\n";
    Ok(bytes.chunks(columns * size).map(row).collect())
}

/// The registers of the selected frame in the lanes of the focused warp as a structured array of NumPy: a field for each register, a record
/// for each of the 32 lanes. Where a lane has never written a register, its bits are 0.
///
/// # Errors
/// The thread is not resident.
pub fn registers_npy(context: &EvalContext<'_>) -> Result<Vec<u8>, ThreadError> {
    let rows = view::registers(context, |_| true, true, None)?;
    let mut fields = Vec::new();
    let mut columns: Vec<Vec<u8>> = Vec::new();
    for row in rows {
        let Ok(expression) = Expression::parse(&format!("{}@*", row.name)) else { continue };
        let Ok(Value::Lanes(lanes)) = expression.evaluate(context) else { continue };
        let Type::Scalar(ty) = lanes.ty else { continue };
        let element = element_of(ty);
        let size = (ty.bytes() as usize).max(1);
        // Of a type that no file has, the bits are in words of 64 bits.
        let words = size.div_ceil(element.bytes() as usize);
        for word in 0..words {
            let name = if words == 1 { row.name.clone() } else { format!("{}.{word}", row.name) };
            let width = element.bytes() as usize;
            let mut column = vec![0; width * 32];
            for (lane, scalar) in lanes.iter().filter(|(lane, _)| !row.undefined.contains(*lane)) {
                let bytes = (scalar.bits >> (8 * width * word)).to_le_bytes();
                column[lane * width..(lane + 1) * width].copy_from_slice(&bytes[..width]);
            }
            fields.push((name, element));
            columns.push(column);
        }
    }
    let mut bytes = npy::record_header_bytes(&fields, &[32]);
    for lane in 0..32 {
        for column in &columns {
            let width = column.len() / 32;
            bytes.extend_from_slice(&column[lane * width..(lane + 1) * width]);
        }
    }
    Ok(bytes)
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
