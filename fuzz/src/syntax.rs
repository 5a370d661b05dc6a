//! Reading any text: nothing makes the reader fail, places lie inside the text, and a tree without errors survives being printed.

use ptxdbg::base::{Diagnostic, SourceId};
use ptxdbg::syntax::parse;
use ptxdbg::syntax::tree::Module;

/// Diagnostics of a file at most, and the note that says how many more there are.
const DIAGNOSTICS_MAX: usize = 101;

/// Reads `text`, prints the tree and reads that again. Returns the printed text if nothing was wrong with the first.
pub fn check(text: &str) -> Option<String> {
    let (module, diagnostics) = parse(SourceId::new(0), text);
    let (tree, places) = without_places(&module);
    for (start, end) in places {
        assert!(text.get(start..end).is_some(), "{start}..{end} is no place in: {text}");
    }
    assert!(diagnostics.len() <= DIAGNOSTICS_MAX);
    check_places(text, &diagnostics);
    let printed = module.to_string();
    let (again, errors) = parse(SourceId::new(0), &printed);
    assert_eq!(errors, [], "what is printed can be read: {printed}\nfrom: {text}");
    // Where a statement is missing, those around it may be read together: a `.pragma` after a head without a body becomes part of it.
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    assert!(without_places(&again).0 == tree, "printed as: {printed}\nfrom: {text}");
    Some(printed)
}

/// Every diagnostic says something, and all its places lie in `text`.
pub fn check_places(text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty() && !diagnostic.code.is_empty(), "{diagnostic:?}");
        for span in std::iter::once(diagnostic.span).chain(diagnostic.labels.iter().map(|label| label.span)) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?} is no place in: {text}");
        }
    }
}

/// A tree with its places cut out, for comparison, and the places.
pub fn without_places(module: &Module<'_>) -> (String, Vec<(usize, usize)>) {
    const BEFORE: &str = "Span { source: src0, start: ";
    let debug = format!("{module:?}");
    let mut parts = debug.split(BEFORE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut places = Vec::new();
    for part in parts {
        let (place, rest) = part.split_once(" }").expect("a span is closed");
        let (start, end) = place.split_once(", end: ").expect("a span has an end");
        places.push((start.parse().expect("a number"), end.parse().expect("a number")));
        text.push_str(rest);
    }
    // The closing brace of a block is a place as well.
    (text.replace("end: None", "end: Some()"), places)
}
