//! Digests of the inputs of a session's launches: with other input data, the run is another one.

use serde::{Deserialize, Serialize};

use crate::launch::{Case, Contents, DataError, ParamValue, PlannedBuffer, PlannedLaunch, values_of};
use crate::machine::Digest;
use crate::program::Program;

/// An input of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Given")]
pub struct SavedInput {
    /// Its description: `buffer x (x.npy)`, `the parameters of saxpy`.
    pub what: String,
    /// Its digest, in hexadecimal.
    pub digest: String,
}

/// The inputs of the launches of `case`, without data files that cannot be read any more.
pub(super) fn inputs_of(program: &Program, case: &Case) -> Vec<SavedInput> {
    let many = case.launches.len() > 1;
    let launches = case.launches.iter().enumerate().map(|(index, launch)| {
        let kernel = &program.functions[launch.kernel.index()].name;
        let number = if many { format!(" in launch {}", index + 1) } else { String::new() };
        saved_input(format!("the parameters of {kernel}{number}"), launch_digest(launch))
    });
    let made = case.buffers.iter().filter(|buffer| buffer.variable.is_none());
    let buffers = made.filter_map(|buffer| Some(saved_input(buffer_name(buffer), buffer_digest(buffer).ok()?)));
    launches.chain(buffers).collect()
}

/// A warning for each difference between the inputs that a session was saved with and the present ones; empty for a file without inputs,
/// which an earlier version wrote.
pub(super) fn differences(saved: &[SavedInput], now: &[SavedInput]) -> Vec<String> {
    if saved.is_empty() {
        return Vec::new();
    }
    let line = |what: &str, how: &str| format!("warning: {what} {how}: times and values may differ");
    let changed = saved.iter().filter_map(|before| match now.iter().find(|input| input.what == before.what) {
        Some(input) if input.digest == before.digest => None,
        Some(_) => Some(line(&before.what, "changed since the session was saved")),
        None => Some(line(&before.what, "is missing, and the session was saved with it")),
    });
    let is_new = |input: &&SavedInput| saved.iter().all(|before| before.what != input.what);
    let new = now.iter().filter(is_new).map(|input| line(&input.what, "is new since the session was saved"));
    changed.chain(new).collect()
}

fn saved_input(what: String, digest: Digest) -> SavedInput {
    SavedInput { what, digest: format!("{:016x}", digest.value()) }
}

/// `buffer x (x.npy)`
fn buffer_name(buffer: &PlannedBuffer) -> String {
    let file = match &buffer.contents {
        Contents::File(range) => range.file.path.file_name().map_or(String::new(), |name| format!(" ({})", name.to_string_lossy())),
        Contents::Pages(pages) => pages.file.path.file_name().map_or(String::new(), |name| format!(" ({})", name.to_string_lossy())),
        Contents::Uninit | Contents::Byte(_) | Contents::Generated(..) | Contents::Bytes(_) => String::new(),
    };
    format!("buffer {}{file}", buffer.name)
}

/// The digest of a launch without its buffers: cluster, cooperative launch, parameters and images.
fn launch_digest(launch: &PlannedLaunch) -> Digest {
    let mut digest = Digest::default();
    launch.cluster.iter().for_each(|extent| digest.word(u64::from(*extent)));
    digest.word(u64::from(launch.cooperative));
    digest.bytes(&launch.param_bytes(&[]));
    for param in &launch.params {
        digest_value(&mut digest, &param.value);
    }
    launch.images.iter().for_each(|image| digest.bytes(format!("{image:?}").as_bytes()));
    digest
}

/// Adds the buffers that a value points to.
fn digest_value(digest: &mut Digest, value: &ParamValue) {
    for value in values_of(value) {
        digest.word(match value {
            ParamValue::Bytes(_) | ParamValue::Struct { .. } => 0,
            ParamValue::Address { buffer, .. } | ParamValue::TensorMap { buffer, .. } => *buffer as u64 + 1,
        });
    }
}

/// The digest of a buffer's type, size and initial contents.
fn buffer_digest(buffer: &PlannedBuffer) -> Result<Digest, DataError> {
    let mut digest = Digest::default();
    digest.bytes(buffer.element.name().as_bytes());
    buffer.shape.iter().for_each(|extent| digest.word(*extent));
    digest.word(buffer.bytes);
    match buffer.contents {
        Contents::Uninit => digest.word(0),
        Contents::Byte(byte) => digest.word(1 + u64::from(byte)),
        Contents::Pages(ref pages) => pages.offsets.iter().for_each(|offset| digest.word(*offset)),
        Contents::Generated(..) | Contents::Bytes(_) | Contents::File(_) => {}
    }
    buffer.at.iter().for_each(|at| digest.word(*at));
    for part in &buffer.parts {
        digest.word(part.offset);
        digest.bytes(&part.encode(&[]));
        digest_value(&mut digest, &part.value);
    }
    buffer.contents.fill(buffer.bytes, &mut |_, chunk: &[u8]| -> Result<(), DataError> {
        digest.bytes(chunk);
        Ok(())
    })?;
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let input = |what: &str, digest: &str| SavedInput { what: what.to_string(), digest: digest.to_string() };
        let before = [input("buffer x", "1"), input("buffer y", "2")];
        assert_eq!(differences(&before, &before), [""; 0]);
        assert_eq!(differences(&[], &before), [""; 0]);
        let now = [input("buffer x", "3"), input("buffer z", "2")];
        let described = differences(&before, &now);
        let starts = ["warning: buffer x changed since", "warning: buffer y is missing", "warning: buffer z is new"];
        assert!(described.len() == 3 && described.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{described:?}");
    }
}
