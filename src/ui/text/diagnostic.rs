//! The text of diagnostics: `file:line:column: severity[code]: message`, then the line with the span underlined, then help.
//!
//! Every span is drawn in a window of one line, so that no more than the width of a screen is shown of a very long line or of a span of
//! many lines.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::base::{Diagnostic, Severity, Sources, Span};
use crate::ui::visible::visible;

/// The maximum number of characters that are shown of a line.
const WINDOW_CHARS: usize = 120;
/// The number of characters shown before the span in a longer line.
const BEFORE_CHARS: usize = 40;
/// The maximum number of diagnostics that are drawn; the others are counted.
const DRAWN_MAX: usize = 200;

/// All diagnostics, and a last line that counts them.
pub fn render_all(sources: &Sources, diagnostics: &[Diagnostic], color: bool) -> String {
    let mut text: String = diagnostics.iter().take(DRAWN_MAX).map(|diagnostic| render(sources, diagnostic, color)).collect();
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let counts = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")];
    let counts: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| plural(*count, word)).collect();
    if diagnostics.len() > DRAWN_MAX {
        text += &format!("the first {DRAWN_MAX} are shown\n");
    }
    if !counts.is_empty() {
        text += &format!("{}\n", counts.join(", "));
    }
    text
}

/// One diagnostic.
fn render(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> String {
    let file = sources.file(diagnostic.span.source);
    let position = sources.position(diagnostic.span);
    let (word, name) = (diagnostic.severity.word(), file.name());
    let (bold, end) = if color { (color_of(diagnostic.severity), "\x1b[0m") } else { ("", "") };
    let (code, message, name) = (diagnostic.code, visible(&diagnostic.message), visible(name));
    let mut text = format!("{name}:{}:{}: {bold}{word}[{code}]{end}: {message}\n", position.line, position.column);
    let level = level_of(diagnostic.severity);
    let primary = Window::new(sources, diagnostic.span);
    let mut group = Group::with_level(level).element(primary.snippet(AnnotationKind::Primary, None));
    let windows: Vec<(Window, String, &str)> = (diagnostic.labels.iter())
        .map(|label| (Window::new(sources, label.span), visible(sources.file(label.span.source).name()).to_string(), &*label.text))
        .collect();
    for (window, name, label) in &windows {
        group = group.element(window.snippet(AnnotationKind::Context, Some(label)).path(name.as_str()));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    text += renderer.decor_style(DecorStyle::Ascii).render(&[group]).trim_end();
    text + "\n\n"
}

fn level_of(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// The escape sequence for the colour of a severity.
fn color_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "\x1b[1;31m",
        Severity::Warning => "\x1b[1;33m",
        Severity::Note => "\x1b[1;32m",
    }
}

/// A line, or the part of it around a span.
struct Window {
    line: usize,
    text: String,
    /// The span, in bytes of `text`.
    span: Range<usize>,
}

impl Window {
    fn new(sources: &Sources, span: Span) -> Self {
        let file = sources.file(span.source);
        let line = file.line_of(span.start);
        let text = file.line(line);
        let line_start = file.offset(line, 1);
        let start = floor_char_boundary(text, span.start.saturating_sub(line_start) as usize);
        let end = floor_char_boundary(text, span.end.saturating_sub(line_start) as usize).max(start);
        let (text, span) = truncate(text, start, end);
        Self { line: line as usize, text, span }
    }

    fn snippet<'a>(&'a self, kind: AnnotationKind, label: Option<&'a str>) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        Snippet::source(self.text.as_str()).line_start(self.line).annotation(kind.span(self.span.clone()).label(label))
    }
}

/// The last character boundary of `text` that is not after `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// `text`, or the part of it around `start..end` with `…` in place of the rest; and the range of the span in it.
fn truncate(text: &str, start: usize, end: usize) -> (String, Range<usize>) {
    let fits = text.len() <= WINDOW_CHARS || text.chars().nth(WINDOW_CHARS).is_none();
    if fits {
        return (text.to_string(), start..end);
    }
    let before = text[..start].char_indices().rev().nth(BEFORE_CHARS - 1).map_or(0, |(at, _)| at);
    let after = text[before..].char_indices().nth(WINDOW_CHARS).map_or(text.len(), |(at, _)| before + at);
    let end = end.min(after);
    let (left, right) = (if before > 0 { "…" } else { "" }, if after < text.len() { "…" } else { "" });
    let moved = |at: usize| at - before + left.len();
    (format!("{left}{}{right}", &text[before..after]), moved(start)..moved(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceFile;

    fn draw(text: &str, start: u32, end: u32) -> String {
        let mut sources = Sources::default();
        let id = sources.add(SourceFile::new("dir/integer.ptx", text));
        let error = Diagnostic::error("modifier", Span::new(id, start, end), "'.sat' does not apply to '.u32'");
        render_all(&sources, &[error.with_help("'.sat' applies to '.s32'")], false)
    }

    #[test]
    fn the_place_is_underlined() {
        let expected = "\
dir/integer.ptx:2:6: error[modifier]: '.sat' does not apply to '.u32'
  |
2 |   add.sat.u32 %r1, %r2, %r3;
  |      ^^^^
  |
  = help: '.sat' applies to '.s32'

1 error
";
        assert_eq!(draw("{\n  add.sat.u32 %r1, %r2, %r3;\n}", 7, 11), expected);
    }

    #[test]
    fn a_very_long_line_is_cut_to_a_window() {
        let text = format!("{}HERE{}", "ä".repeat(100_000), "z".repeat(1_000_000));
        let drawn = draw(&text, 200_000, 200_004);
        assert!(drawn.lines().all(|line| line.chars().count() < 140), "{drawn}");
        assert!(drawn.contains("…ääää"), "{drawn}");
        assert!(drawn.contains("HEREzzz"), "{drawn}");
    }

    #[test]
    fn places_outside_the_text_are_drawn_somewhere() {
        for (text, start, end) in [("", 0, 0), ("a", 1, 1), ("a\n", 2, 9), ("ä", 1, 1), ("a\nb\nc", 0, 5)] {
            assert!(draw(text, start, end).contains("error[modifier]"));
        }
    }
}
