//! A line of PTX cut into words of different kinds, for display in colours.

use std::ops::Range;

use super::lexer::{Lexer, Token};

/// What a word of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// An opcode with its modifiers.
    Opcode,
    /// A register.
    Register,
    /// A label, a function, a variable.
    Name,
    /// A number or a string.
    Number,
    /// A word after a dot at the start of a statement or inside one: `.reg`, `.b32`.
    Directive,
    /// A comment.
    Comment,
    /// Brackets, commas and operators.
    Sign,
}

/// The words of a line with the bytes they take; blanks are left out. What a comment that began on an earlier line covers is not known.
pub fn words(line: &str) -> Vec<(Range<usize>, WordKind)> {
    let mut words = Vec::new();
    let (mut end, mut begins_statement, mut is_guard) = (0, true, false);
    for (start, token, stop) in Lexer::new(line) {
        let (start, stop) = (start as usize, stop as usize);
        gap(line, end..start, &mut words);
        end = stop;
        let is_label = line.get(stop..).is_some_and(|rest| rest.trim_start().starts_with(':'));
        let kind = match token {
            Token::Ident(name) | Token::Dotted(name) if name.starts_with('%') => WordKind::Register,
            Token::Ident(_) | Token::Dotted(_) if is_guard => WordKind::Register,
            Token::Ident(_) | Token::Dotted(_) if begins_statement && !is_label => WordKind::Opcode,
            Token::Ident(_) | Token::Dotted(_) => WordKind::Name,
            Token::Int(_) | Token::Float32(_) | Token::Float64(_) | Token::Decimal(_) | Token::Str(_) => WordKind::Number,
            _ if line.get(start..stop).is_some_and(|text| text.len() > 1 && text.starts_with('.')) => WordKind::Directive,
            Token::Bad(_) if line.get(start..).is_some_and(|text| text.starts_with("/*")) => WordKind::Comment,
            _ => WordKind::Sign,
        };
        let in_guard = matches!(token, Token::At) || is_guard && matches!(token, Token::Bang);
        begins_statement = matches!(token, Token::Semi | Token::Colon | Token::LBrace | Token::RBrace) || in_guard || is_guard;
        is_guard = in_guard;
        words.push((start..stop, kind));
    }
    gap(line, end..line.len(), &mut words);
    words
}

/// The comment between two tokens, if there is one.
fn gap(line: &str, between: Range<usize>, words: &mut Vec<(Range<usize>, WordKind)>) {
    let text = line.get(between.clone()).unwrap_or_default();
    let start = between.start + (text.len() - text.trim_start().len());
    if !text.trim().is_empty() {
        words.push((start..between.start + text.trim_end().len(), WordKind::Comment));
    }
}

#[cfg(test)]
mod tests {
    use super::{WordKind, words};

    fn described(line: &str) -> Vec<(&str, WordKind)> {
        words(line).into_iter().map(|(range, kind)| (&line[range], kind)).filter(|(_, kind)| *kind != WordKind::Sign).collect()
    }

    #[test]
    fn words_of_an_instruction() {
        use WordKind::{Comment, Name, Number, Opcode, Register};
        assert_eq!(
            described("L: @!%p1 bra.uni $L2; // away"),
            [("L", Name), ("%p1", Register), ("bra.uni", Opcode), ("$L2", Name), ("// away", Comment)]
        );
        assert_eq!(
            described("\tmad.lo.s32 %r1, %tid.x, 0x10, value;"),
            [("mad.lo.s32", Opcode), ("%r1", Register), ("%tid.x", Register), ("0x10", Number), ("value", Name)]
        );
    }

    #[test]
    fn words_of_a_declaration() {
        use WordKind::{Directive, Name, Number};
        assert_eq!(described(".reg .b32 x<4>;"), [(".reg", Directive), (".b32", Directive), ("x", Name), ("4", Number)]);
    }
}
