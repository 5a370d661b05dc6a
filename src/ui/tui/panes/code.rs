//! Lines of code in colours: words of PTX, and comments of every language, also of those that go over several lines.

use crate::base::SourceFile;
use crate::debug::{WordKind, words};
use crate::ui::tui::canvas::{Canvas, Span};
use crate::ui::tui::theme::Role;

/// Blanks that a tab stands for.
const TAB: &str = "    ";
/// Blanks that a tab at the beginning of a line of PTX stands for. Compilers write one after every opcode too: one blank will do there.
const PTX_INDENT: &str = "  ";
/// Bytes before the first visible line that are searched for the beginning of a comment.
const COMMENT_MAX: usize = 1 << 16;

/// Colours lines of a text one after the other.
pub struct Colouring {
    /// What a comment to the end of the line begins with.
    line_comment: &'static str,
    is_ptx: bool,
    /// Whether the next line begins inside a comment.
    open: bool,
}

impl Colouring {
    /// Begins with line `first`, from 1.
    pub fn new(source: &SourceFile, first: u32, is_ptx: bool) -> Self {
        let line_comment = if source.name().ends_with(".py") { "#" } else { "//" };
        let end = source.offset(first, 1) as usize;
        let mut start = end.saturating_sub(COMMENT_MAX);
        while !source.text().is_char_boundary(start) {
            start += 1;
        }
        let before = source.text().get(start..end).filter(|text| text.contains("/*")).unwrap_or_default();
        let open = before.lines().fold(false, |open, line| comments(line, open, line_comment).1);
        Self { line_comment, is_ptx, open }
    }

    /// The next line in pieces; together they are the line, with blanks for tabs.
    pub fn line(&mut self, text: &str) -> Vec<Span> {
        let text = if self.is_ptx { ptx_blanks(text) } else { text.replace('\t', TAB) };
        let (pieces, open) = comments(&text, self.open, self.line_comment);
        self.open = open;
        let coloured = pieces.into_iter().flat_map(|(piece, is_comment)| match (is_comment, self.is_ptx) {
            (true, _) => vec![(Role::Comment, piece.to_string())],
            (false, true) => ptx(piece),
            (false, false) => vec![(Role::Text, piece.to_string())],
        });
        coloured.collect()
    }
}

/// Draws a line in the first row, without its first `skipped` characters.
pub fn draw(canvas: &mut Canvas<'_>, line: &[Span], mut skipped: usize) {
    let mut x = 0;
    for (role, text) in line {
        let shown: String = text.chars().skip(skipped).collect();
        skipped = skipped.saturating_sub(text.chars().count());
        x = canvas.text(x, 0, &shown, *role);
    }
}

/// A line cut where comments begin and end, each piece with whether it is one; `open` says whether a comment goes on at its beginning,
/// and the answer whether one does at its end.
fn comments<'a>(line: &'a str, mut open: bool, line_comment: &str) -> (Vec<(&'a str, bool)>, bool) {
    let mut pieces = Vec::new();
    // Bytes of the sign that a comment begins with, if it does so in this line.
    let (mut rest, mut sign) = (line, 0);
    while !rest.is_empty() {
        let length = match open {
            true => rest.get(sign..).and_then(|inside| inside.find("*/")).map(|at| sign + at + 2),
            false => code_length(rest, line_comment),
        };
        let (piece, after) = rest.split_at_checked(length.unwrap_or(rest.len())).unwrap_or((rest, ""));
        pieces.push((piece, open));
        if open && length.is_none() {
            return (pieces, true);
        }
        rest = after;
        if !open && rest.starts_with(line_comment) {
            pieces.push((rest, true));
            return (pieces, false);
        }
        open = !open && rest.starts_with("/*");
        sign = 2;
    }
    (pieces, open)
}

/// Bytes before the first comment, if there is one; what looks like one in a string is none.
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

/// A line of PTX with blanks for tabs.
fn ptx_blanks(line: &str) -> String {
    let code = line.trim_start_matches('\t');
    let indent = PTX_INDENT.repeat(line.len() - code.len());
    let mut text = indent;
    for c in code.chars() {
        match c {
            '\t' if text.ends_with(' ') => {}
            '\t' => text.push(' '),
            c => text.push(c),
        }
    }
    text
}

/// PTX without comments in words, with the blanks between them.
fn ptx(text: &str) -> Vec<Span> {
    let role = |kind| match kind {
        WordKind::Opcode => Role::Opcode,
        WordKind::Register => Role::Register,
        WordKind::Name => Role::Name,
        WordKind::Number => Role::Number,
        WordKind::Directive => Role::Directive,
        WordKind::Comment => Role::Comment,
        WordKind::Sign => Role::Text,
    };
    let piece = |range: std::ops::Range<usize>, role| (role, text.get(range).unwrap_or_default().to_string());
    let (mut spans, mut end) = (Vec::new(), 0);
    for (range, kind) in words(text) {
        spans.push(piece(end..range.start, Role::Text));
        end = range.end;
        spans.push(piece(range, role(kind)));
    }
    spans.push(piece(end..text.len(), Role::Text));
    spans
}

#[cfg(test)]
mod tests {
    use super::Colouring;
    use crate::base::SourceFile;
    use crate::ui::tui::theme::Role;

    /// The comments of the lines from `first` on, a line each.
    fn described(name: &str, text: &str, first: u32) -> Vec<String> {
        let source = SourceFile::new(name, text);
        let mut colouring = Colouring::new(&source, first, name.ends_with(".ptx"));
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
        let shown = |text| Colouring::new(&source, 1, true).line(text).into_iter().map(|(_, text)| text).collect::<String>();
        assert_eq!(shown("\tmov.u32 \t%r1, %tid.x;\t// x"), "  mov.u32 %r1, %tid.x; // x");
        assert_eq!(shown("    ret;"), "    ret;");
    }

    #[test]
    fn what_is_in_a_string_is_no_comment() {
        assert_eq!(described("a.ptx", ".file 1 \"/* // */\"\nret;", 1), ["", ""]);
        assert_eq!(described("a.cu", "f(\"\\\"/*\"); // 漢字", 1), ["// 漢字"]);
        assert_eq!(described("a.py", "x = 1 // 2  # half", 1), ["# half"]);
    }
}
