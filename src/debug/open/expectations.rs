//! What a launch file expects, where the command line changes the launch or says how close the results must be.

use crate::base::{Diagnostic, SourceFile, Span};
use crate::launch::file::{Content, Launch};
use crate::launch::{self, Kind, LaunchFile, Overrides};

/// Removes what the launches of a bundle, which were `own`, are to leave in memory if the command line makes other launches of them: it is
/// what those of the bundle left. A line for the user if anything was expected.
pub(super) fn forget_of_others(file: &mut LaunchFile, mut own: Content, overrides: &Overrides) -> Option<String> {
    let mut now = file.content.clone();
    overrides.apply(&mut now);
    for content in [&mut own, &mut now] {
        content.launches_mut().iter_mut().for_each(|launch| launch.blocks = None);
    }
    let is_of_kernel = own.launches_mut().iter().any(|launch| launch.is_of(overrides.kernel.as_deref()));
    if own == now && is_of_kernel {
        return None;
    }
    let forgotten = file.content.launches_mut().iter_mut().map(launch::forget_expected).fold(false, |any, is_any| any | is_any);
    let why = "this launch is not the one of the bundle: what that left in memory is not expected of it (--expect says what is)";
    forgotten.then(|| why.to_string())
}

/// Applies `--rtol` and `--atol` without `--expect`: to all numbers that the launch file expects.
///
/// # Errors
/// It expects none.
pub(super) fn loosen(file: &mut LaunchFile, overrides: &Overrides) -> Result<(), Vec<Diagnostic>> {
    let Some(tolerance) = overrides.tolerance.tolerance().filter(|_| overrides.expect.is_empty()) else { return Ok(()) };
    let mut count = 0;
    for launch in file.content.launches_mut() {
        let Launch { variable_types, expect_variables, variable_tolerances, .. } = launch;
        let numbers = variable_types.iter().filter(|(name, element)| element.kind() != Kind::Bits && expect_variables.contains_key(*name));
        let numbers: Vec<String> = numbers.map(|(name, _)| name.clone()).collect();
        count += numbers.len();
        variable_tolerances.extend(numbers.into_iter().map(|name| (name, tolerance)));
        count += launch::loosen(launch, tolerance);
    }
    if count > 0 {
        return Ok(());
    }
    let (option, bound) = match (overrides.tolerance.rtol, overrides.tolerance.atol) {
        (Some(bound), _) => ("--rtol", bound),
        (None, bound) => ("--atol", bound.unwrap_or_default()),
    };
    let text = bound.to_string();
    let span_end = text.len() as u32;
    let source = file.sources.add(SourceFile::new(option, text));
    let message = "a tolerance is for numbers that are expected, and the launch expects none";
    let help = "--expect out=@y.npy, or 'expect' of a buffer in the launch file";
    Err(vec![Diagnostic::error("expect", Span::new(source, 0, span_end), message).with_help(help)])
}
