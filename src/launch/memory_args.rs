//! Contents of a launch file's memory by arguments of the command line: `heap=@heap.bin`, `heap=f32[16]=iota`, `heap=1,2,3`.

use std::path::Path;

use super::arg_syntax::ArgReader;
use super::file::{Buffer, Launch, Memory, Param};
use super::param_args::{self, Formal, ParamType};
use super::value_path::ValuePath;
use crate::base::{Diagnostic, SourceId};

/// An argument for memory.
#[derive(Debug)]
pub struct MemoryArg {
    /// Index of the memory in the launch.
    pub index: usize,
    /// Its contents, and its type and length if the argument has them.
    pub buffer: Buffer,
    /// The text of the argument.
    pub source: SourceId,
}

impl MemoryArg {
    /// Stores it in `launch`, which is at `place`; returns the path of the memory.
    pub fn put(self, launch: &mut Launch, place: &ValuePath) -> ValuePath {
        if let Some(memory) = launch.memory.get_mut(self.index) {
            if !self.buffer.lacks_length() {
                (memory.len, memory.shape) = (self.buffer.len, self.buffer.shape);
            }
            (memory.elem, memory.init) = (self.buffer.elem, self.buffer.init);
        }
        place.field("memory").item(self.index)
    }
}

/// The memory that an argument names before its `=` or `[`, and the rest; a parameter of that name takes precedence.
fn named<'w>(arg: &'w str, params: &[Formal], memory: &[Memory]) -> Option<(usize, &'w str)> {
    let (name, rest) = arg.split_at(arg.find(['=', '['])?);
    let index = memory.iter().position(|memory| memory.name().is_some_and(|known| known == name))?;
    param_args::called(params, name).is_none().then(|| (index, rest.strip_prefix('=').unwrap_or(rest)))
}

/// Removes the arguments for `memory` from `args` and parses them; data files are relative to `folder`.
///
/// # Errors
/// Every mistake in these arguments.
pub fn take(
    args: &mut Vec<(SourceId, &str)>,
    params: &[Formal],
    memory: &[Memory],
    folder: &Path,
) -> Result<Vec<MemoryArg>, Vec<Diagnostic>> {
    let (mut all, mut errors): (Vec<MemoryArg>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    args.retain(|(source, arg)| {
        let Some((index, spec)) = named(arg, params, memory) else { return true };
        let reader = ArgReader { arg, source: *source };
        let formal = Formal { names: memory[index].name().into_iter().collect(), ty: ParamType::Pointer(Some(memory[index].elem)) };
        let name = formal.short();
        if all.iter().any(|given| given.index == index) {
            errors.push(reader.error(arg, format!("memory '{name}' is given twice"), "one word a name"));
            return false;
        }
        match param_args::one(arg, *source, spec, &formal, folder) {
            Ok(Param::Buffer(buffer)) => all.push(MemoryArg { index, buffer, source: *source }),
            Ok(_) => errors.push(reader.error(spec, format!("no contents of memory '{name}'"), &format!("{name}=@x.bin, {name}=1,2,3"))),
            Err(error) => errors.push(error),
        }
        false
    });
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}
