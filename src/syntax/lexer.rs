//! The lexer.
//!
//! A dotted opcode such as `ld.global.v2.f32` is one token if it contains no white space, and so is a register with its component,
//! `%tid.x`: the meaning of a word depends on its position, never on its spelling, so a register may be called `add`. Each directive is a
//! separate token; every other word after a dot (`.b32`, `.v4`, `.maxntid`) is a [`Token::Dot`].
//!
//! Invalid text becomes [`Token::Bad`], so that the parser reads it in order like other tokens.

use logos::Logos;

/// A token with its start and end offset in bytes.
pub(super) type Spanned<'a> = (u32, Token<'a>, u32);

/// An integer literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub value: u64,
    /// Written with `U`, or too large for `.s64`.
    pub unsigned: bool,
}

/// The error of a token that the lexer rejects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LexError {
    /// A character that cannot start a token.
    #[default]
    Character,
    /// A word that starts with a digit and is not a number.
    Number,
    /// An octal or binary integer of more than 64 bits, or another of more than 65.
    IntTooLarge,
    /// A decimal beyond the range of `.f64`.
    FloatTooLarge,
    /// `"` without a closing one on the line.
    UnclosedString,
    /// `/*` without `*/`.
    UnclosedComment,
    /// `#include` and other preprocessor directives.
    Preprocessor,
    /// Brackets nested too deeply.
    TooDeep,
    /// An expression with too many operators.
    TooLong,
}

/// A token of PTX (PTX ISA, "Syntax").
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[expect(clippy::duplicated_attributes, reason = "each `skip` has options of its own")]
#[logos(error = LexError)]
#[logos(skip r"[ \t\r\n\x0c]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
#[logos(skip(r#"#[ \t]*(line[ \t]+)?[0-9]+[ \t]+"[^"\n]*"[^\n]*"#, priority = 100, allow_greedy = true))]
#[rustfmt::skip]
pub(super) enum Token<'a> {
    /// `name`, `%name`, `$name`, `_name`, `_`
    #[regex(r"([a-zA-Z]|[_$%][a-zA-Z0-9_$])[a-zA-Z0-9_$]*|_", priority = 4)]
    Ident(&'a str),
    /// `ld.shared::cta.f32`, `ld.const[3].f32`, `%tid.x`
    #[regex(r"([a-zA-Z]|[_$%][a-zA-Z0-9_$])[a-zA-Z0-9_$]*((\.|::)[a-zA-Z0-9_$]+(\[[0-9]+\]\.[a-zA-Z0-9_$]+)?)+", priority = 5)]
    Dotted(&'a str),
    /// `.b32`, `.shared::cta`: without the dot
    #[regex(r"\.[a-zA-Z0-9_$]+(::[a-zA-Z0-9_$]+)*", |lex| &lex.slice()[1..], priority = 2)]
    Dot(&'a str),

    #[regex(r"0U?|[1-9][0-9]*U?|0[0-7]+U?|0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?", integer, priority = 10)]
    Int(Number),
    #[regex(r"0[fF][0-9A-Fa-f]{8}", float32_bits, priority = 10)]
    Float32(u32),
    #[regex(r"0[dD][0-9A-Fa-f]{16}", float64_bits, priority = 10)]
    Float64(u64),
    /// `1.5`, `.5`, `1e-3`; also the number of `.version 9.0`
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+([eE][+-]?[0-9]+)?", decimal, priority = 9)]
    Decimal(&'a str),
    /// `"text"`: without the quotes. A backslash is an ordinary character.
    #[regex(r#""[^"\n]*""#, |lex| lex.slice().trim_matches('"'))]
    Str(&'a str),
    /// A whole line of the debug data of PTX 1.x: `@@DWARF .4byte 0`
    #[regex(r"@@[dD][wW][aA][rR][fF][^\n]*", allow_greedy = true)]
    Dwarf(&'a str),

    #[regex(r"[0-9][0-9a-zA-Z_$]*", |_| LexError::Number, priority = 3)]
    #[regex(r#""[^"\n]*"#, |_| LexError::UnclosedString, priority = 1)]
    #[regex(r"/\*([^*]|\*+[^*/])*\**", |_| LexError::UnclosedComment)]
    #[regex(r"#[^\n]*", |_| LexError::Preprocessor, priority = 1, allow_greedy = true)]
    Bad(LexError),

    #[token("(")] LParen,
    #[token(")")] RParen,
    #[token("[")] LBracket,
    #[token("]")] RBracket,
    #[token("{")] LBrace,
    #[token("}")] RBrace,
    #[token(",")] Comma,
    #[token(";")] Semi,
    #[token(":")] Colon,
    #[token("?")] Question,
    #[token("=")] Equal,
    #[token("@")] At,
    #[token("!")] Bang,
    #[token("~")] Tilde,
    #[token("+")] Plus,
    #[token("-")] Minus,
    #[token("*")] Star,
    #[token("/")] Slash,
    #[token("%")] Percent,
    #[token("<<")] Shl,
    #[token(">>")] Shr,
    #[token("<")] Less,
    #[token(">")] Greater,
    #[token("<=")] LessEqual,
    #[token(">=")] GreaterEqual,
    #[token("==")] EqualEqual,
    #[token("!=")] BangEqual,
    #[token("&")] Amp,
    #[token("^")] Caret,
    #[token("|")] Pipe,
    #[token("&&")] AmpAmp,
    #[token("||")] PipePipe,

    #[token(".version")] Version,
    #[token(".target")] Target,
    #[token(".address_size")] AddressSize,
    #[token(".file")] File,
    #[token(".loc")] Loc,
    #[token(".section")] Section,
    #[token(".pragma")] Pragma,
    #[token(".alias")] Alias,
    #[token(".entry")] Entry,
    #[token(".func")] Func,
    #[token(".extern")] Extern,
    #[token(".visible")] Visible,
    #[token(".weak")] Weak,
    #[token(".common")] Common,
    #[token(".reg")] Reg,
    #[token(".sreg")] Sreg,
    #[token(".const")] Const,
    #[token(".global")] Global,
    #[token(".local")] Local,
    #[token(".param")] Param,
    #[token(".shared")] Shared,
    #[token(".tex")] Tex,
    #[token(".surf")] Surf,
    #[token(".align")] Align,
    #[token(".attribute")] Attribute,
    #[token(".ptr")] Ptr,
    #[token(".branchtargets")] BranchTargets,
    #[token(".calltargets")] CallTargets,
    #[token(".callprototype")] CallPrototype,
}

/// An iterator over the tokens of a text.
pub(super) struct Lexer<'a> {
    tokens: logos::Lexer<'a, Token<'a>>,
    /// The token after a run of bad characters, found while looking for the end of the run.
    lookahead: Option<Spanned<'a>>,
}

impl<'a> Lexer<'a> {
    /// A byte order mark before the first token is skipped. `text` must be shorter than 4 GiB.
    pub(super) fn new(text: &'a str) -> Self {
        let mut tokens = Token::lexer(text);
        if text.starts_with('\u{feff}') {
            tokens.bump('\u{feff}'.len_utf8());
        }
        Self { tokens, lookahead: None }
    }

    /// Skips plain data of a section, `.b8 1, 2` and `.b64 $L__tmp3` time and again: debug data is longer than code, and of a section only
    /// its text and its labels are kept. Anything else is left to be read as tokens.
    pub(super) fn skip_plain_data(&mut self) {
        if self.lookahead.is_none() {
            let length = plain_data(self.tokens.remainder());
            self.tokens.bump(length);
        }
    }

    fn read(&mut self) -> Option<Spanned<'a>> {
        let token = self.tokens.next()?.unwrap_or_else(Token::Bad);
        let span = self.tokens.span();
        Some((span.start as u32, token, span.end as u32))
    }

    /// Merges consecutive invalid characters into one token, so that binary data is one error rather than thousands.
    #[cold]
    fn join_bad_characters(&mut self, start: u32, mut end: u32) -> Spanned<'a> {
        loop {
            self.lookahead = self.read();
            match self.lookahead {
                Some((next, Token::Bad(LexError::Character), next_end)) if next == end => end = next_end,
                _ => return (start, Token::Bad(LexError::Character), end),
            }
        }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Spanned<'a>;

    #[inline]
    fn next(&mut self) -> Option<Spanned<'a>> {
        let token = self.lookahead.take().or_else(|| self.read())?;
        match token {
            (start, Token::Bad(LexError::Character), end) => Some(self.join_bad_characters(start, end)),
            other => Some(other),
        }
    }
}

/// Most digits of a number of plain data: it fits into 64 bits.
const PLAIN_DIGITS: usize = 18;

/// The length of the directives of plain data at the start of `text`.
fn plain_data(text: &str) -> usize {
    let mut end = 0;
    while let Some(next) = plain_directive(text, end) {
        end = next;
    }
    end
}

/// The end of the directive `.b8 1, 2` that begins at `start` after blanks, with the blanks after it: values, and then another directive, a
/// label or the end of the section. None if something else stands there.
fn plain_directive(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = after_blanks(text, start);
    let rest = bytes.get(start..)?;
    let word = [&b".b8"[..], b".b64", b".b32", b".b16"].into_iter().find(|word| rest.starts_with(word))?;
    let mut at = start + word.len();
    if !matches!(bytes.get(at), Some(b' ' | b'\t')) {
        return None;
    }
    loop {
        at = plain_value(bytes, after_blanks(text, at))?;
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b'/');
        if !bytes.get(at).is_some_and(ends) {
            return None;
        }
        at = after_blanks(text, at);
        match bytes.get(at)? {
            b',' => at += 1,
            b'}' | b'_' | b'$' => return Some(at),
            b'.' => return bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic).then_some(at),
            byte => return byte.is_ascii_alphabetic().then_some(at),
        }
    }
}

/// The end of a value of plain data: a decimal number, a label, a difference of labels, or a place in a label's or another section.
fn plain_value(text: &[u8], start: usize) -> Option<usize> {
    if text.get(start)?.is_ascii_digit() {
        return plain_number(text, start);
    }
    let is_section = text[start..].starts_with(b".debug_");
    let end = name_end(text, start + usize::from(is_section))?;
    match text.get(end)? {
        b'+' => plain_number(text, end + 1),
        b'-' if !is_section => name_end(text, end + 1),
        _ => Some(end),
    }
}

/// The end of a decimal number.
fn plain_number(text: &[u8], start: usize) -> Option<usize> {
    let digits = text.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_plain = (1..=PLAIN_DIGITS).contains(&digits) && (digits == 1 || text[start] != b'0');
    is_plain.then_some(start + digits)
}

/// The end of a name.
fn name_end(text: &[u8], start: usize) -> Option<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let length = text.get(start..)?.iter().take_while(is_part).count();
    // `$` alone is no name.
    let is_name = text.get(start).is_some_and(u8::is_ascii_alphabetic) || length > 1 && !text[start].is_ascii_digit();
    is_name.then_some(start + length)
}

/// The first byte from `at` on that is neither blank nor in a comment to the end of its line.
fn after_blanks(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at..) {
            // Comments stand in a column of their own.
            Some([b' ', b' ', b' ', b' ', b' ', b' ', b' ', b' ', ..]) => at += 8,
            Some([b' ' | b'\t' | b'\r' | b'\n', ..]) => at += 1,
            Some([b'/', b'/', ..]) => at += text[at..].find('\n').unwrap_or(text.len() - at),
            Some(_) | None => return at,
        }
    }
}

fn integer<'a>(lex: &mut logos::Lexer<'a, Token<'a>>) -> Result<Number, LexError> {
    let text = lex.slice();
    let (digits, suffix) = match text.strip_suffix('U') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let value = match u64::from_str_radix(digits, radix) {
        Ok(value) => value,
        // A number of 65 bits is truncated to 64, as in ptxas.
        Err(_) if matches!(radix, 10 | 16) => match u128::from_str_radix(digits, radix) {
            Ok(value) if value >> 65 == 0 => value as u64,
            _ => return Err(LexError::IntTooLarge),
        },
        Err(_) => return Err(LexError::IntTooLarge),
    };
    Ok(Number { value, unsigned: suffix || i64::try_from(value).is_err() })
}

fn float32_bits<'a>(lex: &mut logos::Lexer<'a, Token<'a>>) -> Result<u32, LexError> {
    u32::from_str_radix(&lex.slice()[2..], 16).map_err(|_| LexError::Number)
}

fn float64_bits<'a>(lex: &mut logos::Lexer<'a, Token<'a>>) -> Result<u64, LexError> {
    u64::from_str_radix(&lex.slice()[2..], 16).map_err(|_| LexError::Number)
}

fn decimal<'a>(lex: &mut logos::Lexer<'a, Token<'a>>) -> Result<&'a str, LexError> {
    match lex.slice().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(lex.slice()),
        _ => Err(LexError::FloatTooLarge),
    }
}

#[cfg(test)]
mod tests {
    use super::{Lexer, Token, plain_data};

    #[test]
    fn plain_data_ends_where_something_else_begins() {
        let whole = ".b8 1 // DW_AT_name\n\t.b16 2,3,\n4\n.b64 18446744073\n.b64 $L__a, b-_c\n.b32 .debug_loc+133 //\n.b32 .debug_abbrev\n";
        assert_eq!(plain_data(&format!("{whole}}}")), whole.len());
        assert_eq!(plain_data(&format!("{whole}$L__a:")), whole.len());
        for other in [
            ".b84,255\n}",
            ".b8 08\n}",
            ".b8 1+2\n}",
            ".b8 1U\n}",
            ".b32 $L__a.b\n}",
            ".b32 $\n}",
            ".b32 .file\n}",
            ".b32 .debug_loc-1\n}",
            ".b32 a-b-c\n}",
            ".b32 a - b\n}",
            ".b8 1 .5\n}",
            ".b8\n}",
            ".b8 1",
            ".b8 1 /* */ }",
        ] {
            assert_eq!(plain_data(other), 0, "{other}");
        }
        let mut lexer = Lexer::new("{ .b8 1, 2 .b8 0 }");
        assert_eq!(lexer.next().map(|(_, token, _)| token), Some(Token::LBrace));
        lexer.skip_plain_data();
        assert_eq!(lexer.next(), Some((17, Token::RBrace, 18)));
    }
}
