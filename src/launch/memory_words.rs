//! Memory of a launch file given as words of the command line: `heap=@heap.bin`, `heap=f32[16]=iota`, `heap=1,2,3`.

use std::path::Path;

use super::file::{Buffer, Launch, Memory, Param};
use super::given::{self, Formal, Own};
use super::value_path::ValuePath;
use super::words::Reader;
use crate::base::{Diagnostic, SourceId};

/// What a word gives to memory.
#[derive(Debug)]
pub struct Given {
    /// Which memory of the launch it is.
    pub index: usize,
    /// What it holds, and what it is if the word says so.
    pub buffer: Buffer,
    /// The word.
    pub source: SourceId,
}

impl Given {
    /// Puts it into `launch`, at `place`, and says where it is there.
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

/// The memory that a word names before its equals sign or bracket; a parameter of that name goes before.
fn named<'w>(word: &'w str, params: &[Formal], memory: &[Memory]) -> Option<(usize, &'w str)> {
    let (name, rest) = word.split_at(word.find(['=', '['])?);
    let index = memory.iter().position(|memory| memory.name().is_some_and(|known| known == name))?;
    given::called(params, name).is_none().then(|| (index, rest.strip_prefix('=').unwrap_or(rest)))
}

/// Reads those of `words` that are for `memory`, each the text of its source, and takes them out; data files are relative to `folder`.
///
/// # Errors
/// Everything in them that cannot be read.
pub fn take(words: &mut Vec<(SourceId, &str)>, params: &[Formal], memory: &[Memory], folder: &Path) -> Result<Vec<Given>, Vec<Diagnostic>> {
    let (mut all, mut errors): (Vec<Given>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    words.retain(|(source, word)| {
        let Some((index, spec)) = named(word, params, memory) else { return true };
        let reader = Reader { word, source: *source };
        let formal = Formal { names: memory[index].name().into_iter().collect(), own: Own::Pointer(Some(memory[index].elem)) };
        let name = formal.short();
        if all.iter().any(|given| given.index == index) {
            errors.push(reader.error(word, format!("memory '{name}' is given twice"), "one word a name"));
            return false;
        }
        match given::one(word, *source, spec, &formal, folder) {
            Ok(Param::Buffer(buffer)) => all.push(Given { index, buffer, source: *source }),
            Ok(_) => errors.push(reader.error(spec, format!("no contents of memory '{name}'"), &format!("{name}=@x.bin, {name}=1,2,3"))),
            Err(error) => errors.push(error),
        }
        false
    });
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}
