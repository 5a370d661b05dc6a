//! `export`: the run and its state as files for other programs.

use std::path::Path;

use crate::base::{counted, save};
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{LayoutRequest, Outcome};
use crate::debug::export;
use crate::debug::value::Value;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn control_flow(context: &mut Context<'_>, call: &Call) -> Answer {
    let file = call.required("FILE")?;
    let eval_context = context.session.eval_context();
    let function = eval_context.current_function();
    let text = match extension(&file.text) {
        "dot" => export::cfg_dot(&eval_context, function),
        "svg" => export::cfg_svg(&eval_context, function),
        _ => return Err(file.error("control flow is written as a picture, to FILE.svg, or for Graphviz, to FILE.dot")),
    };
    write(call, text.as_bytes())
}

pub fn screen(_: &mut Context<'_>, call: &Call) -> Answer {
    let file = call.required("FILE")?;
    match extension(&file.text) {
        "svg" | "txt" => Ok(Outcome::Layout(LayoutRequest::Export(file.text.clone()))),
        _ => Err(file.error("the screen is written as a picture, to FILE.svg, or as text, to FILE.txt")),
    }
}

pub fn trace(context: &mut Context<'_>, call: &Call) -> Answer {
    let file = call.required("FILE")?;
    if extension(&file.text) != "json" {
        return Err(file.error("a trace is written to FILE.json").with_help("ui.perfetto.dev and chrome://tracing open it"));
    }
    let text = context.session.trace(context.interrupt).map_err(CommandError::new)?;
    write(call, text.as_bytes())
}

pub fn registers(context: &mut Context<'_>, call: &Call) -> Answer {
    let file = call.required("FILE")?;
    let eval_context = context.session.eval_context();
    let bytes = match extension(&file.text) {
        "csv" => export::registers_csv(&eval_context).map(String::into_bytes),
        "npy" => export::registers_npy(&eval_context),
        _ => return Err(file.error("registers are written as a table, to FILE.csv, or as an array of NumPy, to FILE.npy")),
    };
    write(call, &bytes.map_err(|error| CommandError::new(error.to_string()))?)
}

pub fn memory(context: &mut Context<'_>, call: &Call) -> Answer {
    let (file, memory) = (call.required("FILE")?, call.required("MEMORY")?);
    if extension(&file.text) != "csv" {
        return super::changing::dump(context, call);
    }
    match context.value(memory)? {
        Value::Array(array) => {
            let text = export::array_csv(&context.session.eval_context(), &array);
            let text = text.map_err(|message| memory.error(message).with_help("name a range, out[0..99], or FILE.npy"))?;
            write(call, text.as_bytes())
        }
        Value::Scalar(_) | Value::Lanes(_) | Value::Source(_) | Value::Tensor(_) => {
            Err(memory.error("an array is wanted: a variable, a buffer or a range of it"))
        }
    }
}

/// The part of a file's name after its last dot.
fn extension(file: &str) -> &str {
    Path::new(file).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// Writes the file that `call` names.
fn write(call: &Call, bytes: &[u8]) -> Answer {
    let file = call.required("FILE")?;
    save::save(Path::new(&file.text), &[bytes]).map_err(|error| file.error(save::cause(&error)))?;
    Ok(Outcome::Text(format!("{} written to {}\n", counted(bytes.len() as u64, "byte"), file.text)))
}
