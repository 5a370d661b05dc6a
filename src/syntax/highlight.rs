//! Syntax highlighting of a line of PTX.

use std::ops::Range;

use super::lexer::{Lexer, Token};

/// The class of a token, for highlighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClass {
    /// An opcode with its modifiers.
    Opcode,
    /// A register.
    Register,
    /// A label, a function, a variable.
    Name,
    /// A number or a string.
    Number,
    /// A directive, type or other word after a dot: `.reg`, `.b32`.
    Directive,
    /// A comment.
    Comment,
    /// Brackets, commas and operators.
    Punctuation,
}

/// The tokens of a line with their byte ranges, without white space. A comment that began on an earlier line is not recognized.
pub fn classify_tokens(line: &str) -> Vec<(Range<usize>, TokenClass)> {
    let mut tokens = Vec::new();
    let (mut end, mut begins_statement, mut is_guard) = (0, true, false);
    for (start, token, stop) in Lexer::new(line) {
        let (start, stop) = (start as usize, stop as usize);
        push_comment(line, end..start, &mut tokens);
        end = stop;
        let is_label = line.get(stop..).is_some_and(|rest| rest.trim_start().starts_with(':'));
        let kind = match token {
            Token::Ident(name) | Token::Dotted(name) if name.starts_with('%') => TokenClass::Register,
            Token::Ident(_) | Token::Dotted(_) if is_guard => TokenClass::Register,
            Token::Ident(_) | Token::Dotted(_) if begins_statement && !is_label => TokenClass::Opcode,
            Token::Ident(_) | Token::Dotted(_) => TokenClass::Name,
            Token::Int(_) | Token::Float32(_) | Token::Float64(_) | Token::Decimal(_) | Token::Str(_) => TokenClass::Number,
            _ if line.get(start..stop).is_some_and(|text| text.len() > 1 && text.starts_with('.')) => TokenClass::Directive,
            Token::Bad(_) if line.get(start..).is_some_and(|text| text.starts_with("/*")) => TokenClass::Comment,
            _ => TokenClass::Punctuation,
        };
        let in_guard = matches!(token, Token::At) || is_guard && matches!(token, Token::Bang);
        begins_statement = matches!(token, Token::Semi | Token::Colon | Token::LBrace | Token::RBrace) || in_guard || is_guard;
        is_guard = in_guard;
        tokens.push((start..stop, kind));
    }
    push_comment(line, end..line.len(), &mut tokens);
    tokens
}

/// Adds the comment between two tokens, if there is one.
fn push_comment(line: &str, between: Range<usize>, tokens: &mut Vec<(Range<usize>, TokenClass)>) {
    let text = line.get(between.clone()).unwrap_or_default();
    let start = between.start + (text.len() - text.trim_start().len());
    if !text.trim().is_empty() {
        tokens.push((start..between.start + text.trim_end().len(), TokenClass::Comment));
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenClass, classify_tokens};

    fn described(line: &str) -> Vec<(&str, TokenClass)> {
        classify_tokens(line)
            .into_iter()
            .map(|(range, kind)| (&line[range], kind))
            .filter(|(_, kind)| *kind != TokenClass::Punctuation)
            .collect()
    }

    #[test]
    fn tokens_of_an_instruction() {
        use TokenClass::{Comment, Name, Number, Opcode, Register};
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
    fn tokens_of_a_declaration() {
        use TokenClass::{Directive, Name, Number};
        assert_eq!(described(".reg .b32 x<4>;"), [(".reg", Directive), (".b32", Directive), ("x", Name), ("4", Number)]);
    }
}
