//! Checks that the module's `.version` and `.target` have an instruction.

use super::super::decode_context::DecodeContext;
use super::super::header::{require, target_name};
use crate::base::{Diagnostic, Span};
use crate::isa::{Matched, ScalarType};
use crate::syntax::tree::Instruction;

/// The first target with f64.
const DOUBLE: u32 = 13;

/// Reports an instruction or modifier that is newer than the module's version or not supported by its target.
pub(super) fn check<'a>(matched: &Matched, instruction: &Instruction<'a>, cx: &dyn DecodeContext<'a>) -> Result<(), Diagnostic> {
    let what = format!("'{}'", instruction.opcode.text);
    let span = instruction.opcode.span;
    let row = matched.form.row;
    require_at_least(row.ptx, row.sm, &what, span, cx)?;
    for word in matched.modifiers.iter().flatten() {
        require_at_least(word.ptx, word.sm, &format!("'.{}' of {what}", word.text), word_span(word.text, instruction), cx)?;
    }
    check_mapped(matched, instruction, cx)?;
    if !row.only.is_empty() && !row.only.iter().any(|target| has_target(cx.target(), target)) {
        let needed = row.only.iter().map(|target| format!("sm_{target}")).collect::<Vec<_>>().join(", ");
        return Err(Diagnostic::error("target", span, format!("{what} is not on {}", target_name(cx.target())))
            .with_help(format!("it needs .target {needed}")));
    }
    match row.removed {
        Some((ptx, sm)) if cx.version() >= ptx && cx.target().0 >= sm => {
            let help = match sm {
                _ if matched.form.opcode == "wmma" => "write '.sync.aligned'",
                70.. => "write the form with '.sync' and a mask of lanes",
                _ if matched.has("satfinite") => "leave out '.satfinite'",
                _ => "write a rounding modifier or '.approx'",
            };
            let since = if ptx == (0, 0) { String::new() } else { format!(" from PTX {}.{} on", ptx.0, ptx.1) };
            Err(Diagnostic::error("version", span, format!("{what} is gone from {}{since}", target_name(cx.target()))).with_help(help))
        }
        _ => Ok(()),
    }
}

/// Checks the rounding of f64 arithmetic that `map_f64_to_f32` maps to f32: on targets before sm_20 to nearest or towards zero only.
fn check_mapped<'a>(matched: &Matched, instruction: &Instruction<'a>, cx: &dyn DecodeContext<'a>) -> Result<(), Diagnostic> {
    let is_mapped = cx.target().0 < DOUBLE && cx.has_target(DOUBLE) && matched.types.as_slice() == [ScalarType::F64];
    match ["rm", "rp"].into_iter().find(|word| is_mapped && matched.has(word)) {
        Some(word) => {
            let message = format!("'.{word}' is not on {} for f64 that is mapped to f32", target_name(cx.target()));
            Err(Diagnostic::error("target", word_span(word, instruction), message).with_help("'.rn' and '.rz' are"))
        }
        None => Ok(()),
    }
}

/// The error for `what`, which needs version `ptx` and target `sm`, if the module's are lower.
pub(super) fn require_at_least<'a>(ptx: (u8, u8), sm: u32, what: &str, span: Span, cx: &dyn DecodeContext<'a>) -> Result<(), Diagnostic> {
    let (number, suffix) = cx.target();
    let reached = if cx.has_target(sm) { number.max(sm) } else { number };
    require((cx.version(), (reached, suffix)), (ptx, sm), what, span)
}

/// True if `target` supports features of `needed`: `90a` is that target only, `100f` its family from that target on.
fn has_target(target: (u32, Option<char>), needed: &str) -> bool {
    let digits = needed.trim_end_matches(char::is_alphabetic);
    let Ok(number) = digits.parse::<u32>() else { return false };
    if needed.ends_with('f') {
        target.0 / 10 == number / 10 && target.0 >= number && target.1.is_some()
    } else {
        target.0 == number && target.1 == Some('a')
    }
}

/// The position of the dotted `word` in the opcode.
fn word_span(word: &str, instruction: &Instruction<'_>) -> Span {
    let opcode = instruction.opcode;
    let found = opcode.text.match_indices(word).find(|(at, _)| opcode.text[..*at].trim_end().ends_with('.'));
    let Some((at, _)) = found else { return opcode.span };
    let at = u32::try_from(at).unwrap_or(0);
    let end = at + u32::try_from(word.len()).unwrap_or(0);
    Span::new(opcode.span.source, opcode.span.start + at.saturating_sub(1), (opcode.span.start + end).min(opcode.span.end))
}
