//! Syntax highlighting: tokens of PTX, and comments of all languages, including those of several lines.

use crate::base::SourceFile;
use crate::debug::{TokenClass, classify_tokens};
use crate::ui::tui::canvas::{Canvas, Span, without_start};
use crate::ui::tui::theme::Role;

/// The blanks for a tab.
const TAB: &str = "    ";
/// The number of bytes before the first visible line that are searched for the start of a comment.
const COMMENT_MAX: usize = 1 << 16;

/// Highlights consecutive lines of a text.
pub struct Highlighter {
    /// The start of a comment that ends with the line.
    line_comment: &'static str,
    is_ptx: bool,
    /// True if the next line begins inside a comment.
    in_comment: bool,
}

impl Highlighter {
    /// A highlighter for the lines from `first`, which starts at 1.
    pub fn new(source: &SourceFile, first: u32, is_ptx: bool) -> Self {
        let line_comment = if source.name().ends_with(".py") { "#" } else { "//" };
        let end = source.offset(first, 1) as usize;
        let mut start = end.saturating_sub(COMMENT_MAX);
        while !source.text().is_char_boundary(start) {
            start += 1;
        }
        let before = source.text().get(start..end).filter(|text| text.contains("/*")).unwrap_or_default();
        let in_comment = before.lines().fold(false, |in_comment, line| comments(line, in_comment, line_comment).1);
        Self { line_comment, is_ptx, in_comment }
    }

    /// The next line as styled segments, with blanks for tabs.
    pub fn line(&mut self, text: &str) -> Vec<Span> {
        let text = if self.is_ptx { ptx_blanks(text) } else { text.replace('\t', TAB) };
        let (segments, in_comment) = comments(&text, self.in_comment, self.line_comment);
        self.in_comment = in_comment;
        let coloured = segments.into_iter().flat_map(|(segment, is_comment)| match (is_comment, self.is_ptx) {
            (true, _) => vec![(Role::Comment, segment.to_string())],
            (false, true) => ptx(segment),
            (false, false) => vec![(Role::Text, segment.to_string())],
        });
        coloured.collect()
    }
}

/// Draws a line in the first row, without its first `skipped` characters.
pub fn draw(canvas: &mut Canvas<'_>, line: &[Span], mut skipped: usize) {
    let whole: String = line.iter().map(|(_, text)| text.as_str()).collect();
    let kept = without_start(&whole, skipped);
    let mut kept = kept.chars();
    let mut shown: Vec<Span> = Vec::new();
    for (role, text) in line {
        let count = text.chars().count();
        shown.push((*role, kept.by_ref().take(count.saturating_sub(skipped)).collect()));
        skipped = skipped.saturating_sub(count);
    }
    canvas.spans(0, 0, &shown);
}

/// Splits a line at the start and the end of comments: the segments, each true if it is a comment, and whether the line ends inside a
/// comment. `in_comment` is true if it begins inside one.
fn comments<'a>(line: &'a str, mut in_comment: bool, line_comment: &str) -> (Vec<(&'a str, bool)>, bool) {
    let mut segments = Vec::new();
    // The length of the opening delimiter of the comment, if it is in this line.
    let (mut rest, mut delimiter) = (line, 0);
    while !rest.is_empty() {
        let length = match in_comment {
            true => rest.get(delimiter..).and_then(|inside| inside.find("*/")).map(|at| delimiter + at + 2),
            false => code_length(rest, line_comment),
        };
        let (segment, after) = rest.split_at_checked(length.unwrap_or(rest.len())).unwrap_or((rest, ""));
        segments.push((segment, in_comment));
        if in_comment && length.is_none() {
            return (segments, true);
        }
        rest = after;
        if !in_comment && rest.starts_with(line_comment) {
            segments.push((rest, true));
            return (segments, false);
        }
        in_comment = !in_comment && rest.starts_with("/*");
        delimiter = 2;
    }
    (segments, in_comment)
}

/// The number of bytes before the first comment, if there is one. Comment delimiters inside strings are ignored.
fn code_length(text: &str, line_comment: &str) -> Option<usize> {
    let mut in_string = false;
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let rest = text.get(at..).unwrap_or_default();
        if !in_string && (rest.starts_with("/*") || rest.starts_with(line_comment)) {
            return Some(at);
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
        None
    })
}

/// A line of PTX with one blank for its indentation, and one for each run of blanks and tabs before a comment or a string.
fn ptx_blanks(line: &str) -> String {
    let code = line.trim_start();
    let verbatim = code.find("//").into_iter().chain(code.find("/*")).chain(code.find('"')).min().unwrap_or(code.len());
    let (code, rest) = code.split_at(verbatim);
    let mut text = if line.starts_with([' ', '\t']) { " ".to_string() } else { String::new() };
    for c in code.chars() {
        match c {
            ' ' | '\t' if text.ends_with(' ') => {}
            '\t' => text.push(' '),
            c => text.push(c),
        }
    }
    text + &rest.replace('\t', " ")
}

/// The tokens of PTX without comments, and the blanks between them.
fn ptx(text: &str) -> Vec<Span> {
    let role = |kind| match kind {
        TokenClass::Opcode => Role::Opcode,
        TokenClass::Register => Role::Register,
        TokenClass::Name => Role::Name,
        TokenClass::Number => Role::Number,
        TokenClass::Directive => Role::Directive,
        TokenClass::Comment => Role::Comment,
        TokenClass::Punctuation => Role::Text,
    };
    let segment = |range: std::ops::Range<usize>, role| (role, text.get(range).unwrap_or_default().to_string());
    let (mut spans, mut end) = (Vec::new(), 0);
    for (range, kind) in classify_tokens(text) {
        spans.push(segment(end..range.start, Role::Text));
        end = range.end;
        spans.push(segment(range, role(kind)));
    }
    spans.push(segment(end..text.len(), Role::Text));
    spans
}

#[cfg(test)]
mod tests {
    use super::Highlighter;
    use crate::base::SourceFile;
    use crate::ui::tui::theme::Role;

    /// The comments of the lines from `first` on, a line each.
    fn described(name: &str, text: &str, first: u32) -> Vec<String> {
        let source = SourceFile::new(name, text);
        let mut colouring = Highlighter::new(&source, first, name.ends_with(".ptx"));
        let comment = |number| {
            let spans = colouring.line(source.line(number));
            assert_eq!(spans.iter().map(|(_, text)| text.as_str()).collect::<String>(), source.line(number));
            spans.into_iter().filter(|(role, _)| *role == Role::Comment).map(|(_, text)| text).collect::<String>()
        };
        (first..source.line_count() + 1).map(comment).collect()
    }

    #[test]
    fn comments_over_several_lines() {
        let text = "ret; /* one\n two // \"\n three */ ret; // four\nret;";
        assert_eq!(described("a.ptx", text, 1), ["/* one", " two // \"", " three */// four", ""]);
        assert_eq!(described("a.ptx", text, 2), [" two // \"", " three */// four", ""]);
        assert_eq!(described("a.ptx", text, 4), [""]);
        assert_eq!(described("a.ptx", "ret; // a /* b\nret; /**/ ret; /*/ c\n*/", 1), ["// a /* b", "/**//*/ c", "*/"]);
    }

    #[test]
    fn tabs_take_little_room() {
        let source = SourceFile::new("a.ptx", "");
        let shown = |text| Highlighter::new(&source, 1, true).line(text).into_iter().map(|(_, text)| text).collect::<String>();
        assert_eq!(shown("\tmov.u32 \t%r1, %tid.x;\t// x"), " mov.u32 %r1, %tid.x; // x");
        assert_eq!(shown("    and.b32  \t%r1, %r2;"), " and.b32 %r1, %r2;");
        assert_eq!(shown("$L__BB0_1:"), "$L__BB0_1:");
        assert_eq!(shown("\t.file 1 \"a  b\""), " .file 1 \"a  b\"");
    }

    #[test]
    fn what_is_in_a_string_is_no_comment() {
        assert_eq!(described("a.ptx", ".file 1 \"/* // */\"\nret;", 1), ["", ""]);
        assert_eq!(described("a.cu", "f(\"\\\"/*\"); // 漢字", 1), ["// 漢字"]);
        assert_eq!(described("a.py", "x = 1 // 2  # half", 1), ["# half"]);
    }
}
