//! What determines the result of a case, as a number: two machines that have the same run the same.

use super::data::inputs_of;
use super::{SavedModule, SavedRun};
use crate::debug::run::RunOptions;
use crate::launch::{Case, Contents, DataError, Expect};
use crate::machine::Digest;
use crate::program::Program;

/// The digest of the text of `program`, of `case` with its data and with what it expects, of the options, and of the version of ptxdbg. The
/// paths of files are not in it.
///
/// # Errors
/// A data file cannot be read.
pub fn identity(program: &Program, case: &Case, options: &RunOptions) -> Result<Digest, DataError> {
    let mut digest = Digest::default();
    let RunOptions { step_limit, memory_limit, checks, orders, .. } = options;
    let mut add = |what: String| digest.bytes(what.as_bytes());
    add(format!("{} {} {} {step_limit:?} {memory_limit:?} {checks:?} {orders}", env!("CARGO_PKG_VERSION"), case.name, case.begin));
    let SavedModule { name, digest: text } = SavedModule::of(program);
    add(format!("{name} {text} {:?}", SavedRun::of(program, case, options)));
    inputs_of(program, case).into_iter().for_each(|input| add(format!("{} {}", input.what, input.digest)));
    add(format!("{:?} {:?}", case.tolerance_of_bytes, case.printed));
    case.launches.iter().for_each(|launch| add(format!("{:?}", launch.findings)));
    for buffer in &case.buffers {
        digest.bytes(format!("{} {:?}", buffer.name, buffer.ignored).as_bytes());
        if let Some(Expect { contents, tolerance, compare }) = &buffer.expect {
            digest.bytes(format!("{tolerance:?} {compare:?}").as_bytes());
            if let Contents::Pages(pages) = contents {
                pages.offsets.iter().for_each(|offset| digest.word(*offset));
            }
            contents.fill(buffer.bytes, &mut |_, chunk: &[u8]| -> Result<(), DataError> {
                digest.bytes(chunk);
                Ok(())
            })?;
        }
    }
    Ok(digest)
}
