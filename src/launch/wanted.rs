//! What buffers must hold at the end, given as words of the command line: `out=@y.npy`, `out=1,2,3`.

use std::path::Path;

use super::data::DataFiles;
use super::element::Element;
use super::file::{Buffer, Content, Init, Launch, Tolerance};
use super::given::{Formal, Own, element_of};
use super::locate::Place;
use super::read::LaunchFile;
use super::words::Reader;
use crate::base::{Diagnostic, SourceId};

/// What one word says: the buffer's name and its elements.
struct Wanted<'a> {
    reader: Reader<'a>,
    name: &'a str,
    value: &'a str,
}

/// Bounds as NumPy's `allclose` has them; none where elements must be the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closeness {
    /// Of the expected magnitude.
    pub rtol: Option<f64>,
    /// On its own.
    pub atol: Option<f64>,
}

impl Closeness {
    /// The same as a launch file says it.
    pub fn tolerance(self) -> Option<Tolerance> {
        match (self.atol, self.rtol) {
            (None, None) => None,
            (Some(absolute), None) => Some(Tolerance::Abs(absolute)),
            (None, Some(relative)) => Some(Tolerance::Rel(relative)),
            (Some(absolute), Some(relative)) => Some(Tolerance::AbsPlusRel(absolute, relative)),
        }
    }
}

fn read<'a>(source: SourceId, word: &'a str) -> Result<Wanted<'a>, Diagnostic> {
    let reader = Reader { word, source };
    match word.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Wanted { reader, name, value }),
        _ => Err(reader.error(word, "a buffer and what it must hold are missing".to_string(), "--expect out=@y.npy")),
    }
}

/// Puts into `file` what `words` say that its buffers must hold, each word the text of its source. `formals` are other names of the
/// parameters.
///
/// # Errors
/// Every word that cannot be read, or that names no buffer.
pub fn expect(file: &mut LaunchFile, words: &[(SourceId, &str)], closeness: Closeness, formals: &[Formal]) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for (source, word) in words {
        match put(file, *source, word, closeness, formals) {
            Ok(place) => file.expected.push((place, *source)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Puts what one word says into its buffer; returns the place of the parameter that has it.
fn put(file: &mut LaunchFile, source: SourceId, word: &str, closeness: Closeness, formals: &[Formal]) -> Result<Place, Diagnostic> {
    let Wanted { reader, name, value } = read(source, word)?;
    let alias = formals.iter().find(|formal| formal.names.iter().any(|known| known == name));
    let called = alias.map_or(name, |formal| &formal.names[0]);
    let places: Vec<Place> = file.launches().into_iter().map(|(place, _)| place).collect();
    let known: Vec<String> = buffers(&mut file.content).map(|(_, buffer)| buffer.name.clone()).collect();
    let found = buffers(&mut file.content).find(|(_, buffer)| buffer.name == called || buffer.name == name);
    let Some(((launch, param), buffer)) = found else {
        return Err(reader.error(name, format!("there is no buffer '{name}'"), &format!("buffers: {}", known.join(", "))));
    };
    let init = reader.init(buffer.elem, value, true)?;
    if !matches!(init, Init::Values(_) | Init::File(_)) {
        return Err(reader.error(
            value,
            "a buffer is compared with a file or with values".to_string(),
            "--expect out=@y.npy, --expect out=1,2,3",
        ));
    }
    buffer.expect = Some(init);
    buffer.tolerance = closeness.tolerance().or(buffer.tolerance);
    Ok(places[launch].param(param))
}

/// The buffers, each with the index of its launch and of its parameter.
fn buffers(content: &mut Content) -> impl Iterator<Item = ((usize, usize), &mut Buffer)> {
    let launches: &mut [Launch] = match content {
        Content::Launch(launch) => std::slice::from_mut(launch),
        Content::Suite(list) | Content::Sequence(list) => &mut list.launches,
    };
    let params = launches.iter_mut().enumerate().flat_map(|(number, launch)| {
        let params = launch.params.iter_mut().enumerate();
        params.map(move |(index, param)| ((number, index), param))
    });
    params.filter_map(|(at, param)| Some((at, param.buffer_mut()?)))
}

/// Zeros in the shape of what a word wants of a buffer that nothing else describes, with the index of its parameter; `None` where the word
/// does not say a file that can be read, or names no pointer.
pub fn output(word: &str, formals: &[Formal], folder: &Path) -> Option<(usize, Buffer)> {
    let (name, file) = word.split_once("=@")?;
    let index = formals.iter().position(|formal| formal.names.iter().any(|known| known == name))?;
    let Own::Pointer(own) = formals[index].own else { return None };
    let data = DataFiles::default().get(&folder.join(file)).ok()?;
    let elem = element_of(&data, own).ok()?;
    let shape = data.npy.as_ref().map_or_else(|| vec![data.bytes / u64::from(elem.bytes())], |header| header.shape.clone());
    Some((index, zeros(&formals[index].names[0], elem, shape)))
}

fn zeros(name: &str, elem: Element, shape: Vec<u64>) -> Buffer {
    Buffer { name: name.to_string(), elem, len: None, shape: Some(shape), init: Init::Zero, expect: None, tolerance: None }
}
