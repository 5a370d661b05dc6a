//! "Did you mean": the declared name nearest to an unknown one.

use crate::base::Diagnostic;
use crate::isa::nearest;

/// Adds `did you mean '..'?` to `error` if one of `known` is near enough to `word`.
///
/// Letter case, a leading `$` or `%` and underscores are ignored, so `LBB0_3` is near `$L__BB0_3`.
pub(super) fn with_nearest<'n>(error: Diagnostic, word: &str, known: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    let known: Vec<(String, &str)> = known.into_iter().map(|name| (plain(name), name)).collect();
    let near = nearest(&plain(word), known.iter().map(|(plain, _)| plain.as_str()));
    match near.and_then(|near| known.iter().find(|(plain, _)| plain == near)) {
        Some((_, name)) => error.with_help(format!("did you mean '{name}'?")),
        None => error,
    }
}

fn plain(name: &str) -> String {
    name.trim_start_matches(['$', '%']).chars().filter(|character| *character != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::with_nearest;
    use crate::base::{Diagnostic, SourceId, Span};

    #[test]
    fn marks_of_compilers_do_not_count() {
        let error = Diagnostic::error("name", Span::new(SourceId(0), 0, 0), "unknown label 'LBB0_3'");
        let error = with_nearest(error, "LBB0_3", ["$L__BB0_12", "$L__BB0_3"]);
        assert_eq!(error.help.as_deref(), Some("did you mean '$L__BB0_3'?"));
    }
}
