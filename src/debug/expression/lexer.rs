//! The tokens of an expression.
//!
//! `%` is the remainder after an operand and starts a register elsewhere. Numbers are written as in C or in PTX: `0x1F`, `017`, `0b101`,
//! `1.5f`, `0f3F800000`, `'a'`. A name of C++ is one token: `app::counter`, `::counter`, `(anonymous namespace)::counter`, `tv<int>`, and
//! anything in quotes that is no character, `'scale(int)'`.

use super::error::ExpressionError;
use crate::debug::value::{Scalar, Type};
use crate::isa::ScalarType;
use crate::program::ANONYMOUS;

/// A token and the byte where it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Byte of the text, from 0.
    pub at: usize,
    /// Its kind.
    pub kind: TokenKind,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A literal.
    Number(Scalar),
    /// A name: register, symbol, type.
    Name(String),
    /// The path of an array: `@ref.npy`.
    File(String),
    /// An operator or bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Operators and brackets, longer ones first.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "..", "->",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "?", ":", "(", ")", "[", "]", "@", ",",
];

/// Splits `text` into tokens; the last is `End`.
pub fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new() };
    loop {
        lexer.at += lexer.rest().len() - lexer.rest().trim_start().len();
        let at = lexer.at;
        let Some(first) = lexer.rest().chars().next() else {
            lexer.tokens.push(Token { at, kind: TokenKind::End });
            return Ok(lexer.tokens);
        };
        let kind = lexer.token(first)?;
        lexer.tokens.push(Token { at, kind });
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn token(&mut self, first: char) -> Result<TokenKind, ExpressionError> {
        let second = self.rest().chars().nth(1);
        let starts_register = first == '%' && second.is_some_and(is_name) && !self.is_after_operand();
        if first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit()) {
            return self.number();
        }
        if first == '\'' {
            return self.quoted_name().map_or_else(|| self.character(), Ok);
        }
        let is_outer = self.rest().strip_prefix("::").is_some_and(|rest| rest.starts_with(is_name)) && !self.is_after_operand();
        if is_outer || self.rest().starts_with(ANONYMOUS) {
            return Ok(TokenKind::Name(self.name()));
        }
        if starts_register || first.is_alphabetic() || first == '_' || first == '$' {
            return Ok(TokenKind::Name(self.name()));
        }
        if first == '.' && second.is_some_and(|c| c.is_alphabetic() || c == '_') {
            self.at += 1;
            // `.Base::member`.
            let mut name = format!(".{}", self.take(is_name));
            while let Some(rest) = self.rest().strip_prefix("::")
                && rest.starts_with(is_name)
            {
                self.at += 2;
                name.push_str("::");
                name.push_str(self.take(is_name));
            }
            return Ok(TokenKind::Name(name));
        }
        if first == '@'
            && !self.is_after_operand()
            && let Some(path) = self.path()
        {
            return Ok(TokenKind::File(path));
        }
        let sign = SIGNS.iter().find(|sign| self.rest().starts_with(**sign));
        let Some(sign) = sign else {
            let message = match first {
                '"' => "a text is no value: 'echo' and 'printf' print it".to_string(),
                first => format!("'{first}' is not expected here"),
            };
            return Err(self.error(self.at, message, "an operand or an operator"));
        };
        self.at += sign.len();
        Ok(TokenKind::Sign(sign))
    }

    /// The path of a `.npy` file after an `@`, if one follows.
    fn path(&mut self) -> Option<String> {
        let rest = &self.rest()[1..];
        let end = rest.find(|c: char| c.is_whitespace() || "()[],".contains(c)).unwrap_or(rest.len());
        let path = rest[..end].to_string();
        path.ends_with(".npy").then(|| self.at += 1 + end)?;
        Some(path)
    }

    /// True if the previous token ends an operand.
    fn is_after_operand(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            Some(TokenKind::Number(_) | TokenKind::Name(_) | TokenKind::File(_)) => true,
            // After a cast a register may follow: `(u32)%r1`.
            Some(TokenKind::Sign(")")) => !self.closes_type(),
            Some(TokenKind::Sign(sign)) => *sign == "]",
            Some(TokenKind::End) | None => false,
        }
    }

    /// True if the last `)` closes the name of a type.
    fn closes_type(&self) -> bool {
        // No other expression ends with a star.
        if matches!(self.tokens.as_slice(), [.., Token { kind: TokenKind::Sign("*"), .. }, _]) {
            return true;
        }
        let open = self.tokens.iter().rposition(|token| token.kind == TokenKind::Sign("("));
        let first = open.and_then(|open| self.tokens[open + 1..].iter().find(|token| token.kind != TokenKind::Sign("@")));
        let called = open.and_then(|open| self.tokens[..open].last()).is_some_and(|token| matches!(token.kind, TokenKind::Name(_)));
        let is_type = |name: &str| super::names::is_type_word(name) || super::names::space(name).is_some();
        !called && matches!(first.map(|token| &token.kind), Some(TokenKind::Name(name)) if is_type(name))
    }

    /// A name, with a component such as `.x`; or `shared::cluster`, `app::counter`.
    fn name(&mut self) -> String {
        let start = self.at;
        self.at += match self.rest() {
            rest if rest.starts_with(ANONYMOUS) => ANONYMOUS.len(),
            rest if rest.starts_with("::") => 2,
            rest => rest.chars().next().map_or(0, char::len_utf8),
        };
        self.take(is_name);
        self.at += self.arguments();
        if self.text[start..].starts_with('%') || self.rest().chars().nth(2).is_none_or(|c| !is_name(c)) {
            let mut component = self.rest().chars();
            if component.next() == Some('.')
                && component.next().is_some_and(|c| "xyzwrgba".contains(c))
                && component.next().is_none_or(|c| !is_name(c))
            {
                self.at += 2;
            }
        }
        while let Some(rest) = self.rest().strip_prefix("::")
            && rest.starts_with(is_name)
        {
            self.at += 2;
            self.take(is_name);
            self.at += self.arguments();
        }
        self.text[start..self.at].to_string()
    }

    /// The bytes of the template arguments that come next, `<int, 4>`: types and numbers, of which no comparison consists.
    fn arguments(&self) -> usize {
        let rest = self.rest();
        let (mut depth, mut end) = (0_usize, None);
        for (at, c) in rest.char_indices() {
            match c {
                '<' => depth += 1,
                '>' if depth > 0 => depth -= 1,
                c if depth > 0 && (is_name(c) || " ,:*".contains(c)) => {}
                _ => break,
            }
            if depth == 0 {
                end = Some(at + 1);
                break;
            }
        }
        let Some(end) = end.filter(|end| *end > 2) else { return 0 };
        let words = rest[..end].split(|c: char| !is_name(c)).filter(|word| !word.is_empty());
        let has_type =
            words.clone().any(super::names::is_type_word) || words.clone().all(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let is_compared = rest[end..].trim_start().starts_with(|c: char| is_name(c) || "%('.=".contains(c) && c != '(');
        if has_type && !is_compared { end } else { 0 }
    }

    /// A name in quotes, as gdb has it: `'app::counter'`; none of a character.
    fn quoted_name(&mut self) -> Option<TokenKind> {
        let (name, _) = self.rest()[1..].split_once('\'')?;
        let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_') || name.starts_with("::") || name.starts_with(ANONYMOUS);
        (begins && name.chars().count() > 1).then(|| {
            self.at += name.len() + 2;
            TokenKind::Name(name.to_string())
        })
    }

    fn number(&mut self) -> Result<TokenKind, ExpressionError> {
        let start = self.at;
        let rest = self.rest().to_ascii_lowercase();
        let bits = |ty: ScalarType, digits: usize, rest: &str| {
            let text = rest.get(2..2 + digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            u128::from_str_radix(text, 16).ok().map(|bits| Scalar { ty: Type::Scalar(ty), bits })
        };
        let float = match rest.get(..2) {
            Some("0f") => bits(ScalarType::F32, 8, &rest).map(|value| (value, 10)),
            Some("0d") => bits(ScalarType::F64, 16, &rest).map(|value| (value, 18)),
            _ => None,
        };
        if let Some((value, length)) = float {
            self.at += length;
            return self.finish(start, value);
        }
        match rest.get(..2) {
            Some("0f" | "0d") => {
                Err(self.error(start, "a PTX float has 8 hexadecimal digits after '0f', 16 after '0d'".to_string(), "0f3F800000"))
            }
            Some("0x") => self.integer(start, 2, 16),
            Some("0b") => self.integer(start, 2, 2),
            _ => self.decimal(start),
        }
    }

    fn decimal(&mut self, start: usize) -> Result<TokenKind, ExpressionError> {
        let digits = self.take(|c| c.is_ascii_digit()).len();
        let mut is_float = false;
        if self.rest().starts_with('.') && !self.rest().starts_with("..") {
            is_float = true;
            self.at += 1;
            self.take(|c| c.is_ascii_digit());
        }
        let exponent = self.rest().trim_start_matches(['e', 'E']);
        if exponent.len() + 1 == self.rest().len() && exponent.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit()) {
            is_float = true;
            self.at += 1;
            self.take(|c| c == '+' || c == '-');
            self.take(|c| c.is_ascii_digit());
        }
        let text = &self.text[start..self.at];
        if !is_float {
            let octal = digits > 1 && text.starts_with('0');
            self.at = start;
            return self.integer(start, usize::from(octal), if octal { 8 } else { 10 });
        }
        let value: f64 = text.parse().map_err(|_| self.error(start, format!("'{text}' is not a number"), "a number"))?;
        let narrow = self.take(|c| c == 'f' || c == 'F').len() == 1;
        let value = if narrow {
            Scalar { ty: Type::Scalar(ScalarType::F32), bits: u128::from((text.parse().unwrap_or(value as f32)).to_bits()) }
        } else {
            Scalar { ty: Type::Scalar(ScalarType::F64), bits: u128::from(value.to_bits()) }
        };
        self.finish(start, value)
    }

    /// An integer after `skip` bytes of prefix, of the first C type that holds it.
    fn integer(&mut self, start: usize, skip: usize, radix: u32) -> Result<TokenKind, ExpressionError> {
        self.at = start + skip;
        let digits = self.take(|c| c.is_digit(radix));
        let value = u64::from_str_radix(digits, radix);
        let value =
            value.map_err(|_| self.error(start, format!("'{}' is not an integer of 64 bits", &self.text[start..self.at]), "a number"))?;
        let suffix = self.take(|c| matches!(c, 'u' | 'U' | 'l' | 'L')).to_ascii_lowercase();
        let (unsigned, long) = (suffix.contains('u'), suffix.contains('l'));
        let candidates = [
            (ScalarType::S32, !unsigned && !long && value <= i32::MAX as u64),
            (ScalarType::U32, (unsigned || radix != 10) && !long && u32::try_from(value).is_ok()),
            (ScalarType::S64, !unsigned && value <= i64::MAX as u64),
        ];
        let ty = candidates.iter().find(|row| row.1).map_or(ScalarType::U64, |row| row.0);
        self.finish(start, Scalar { ty: Type::Scalar(ty), bits: u128::from(value) })
    }

    /// The literal, if no letter or digit follows it.
    fn finish(&mut self, start: usize, value: Scalar) -> Result<TokenKind, ExpressionError> {
        let trailing = self.take(is_name);
        if trailing.is_empty() {
            return Ok(TokenKind::Number(value));
        }
        Err(self.error(start, format!("'{}' is not a number", &self.text[start..self.at]), "a number"))
    }

    /// `'a'`, `'\n'`, `'\0'`, `'\033'`.
    fn character(&mut self) -> Result<TokenKind, ExpressionError> {
        let start = self.at;
        self.at += 1;
        let value = if self.rest().starts_with('\\') { self.escape() } else { self.rest().chars().next().filter(|c| *c != '\'') };
        let plain = self.text[self.at..].chars().next().filter(|_| self.at == start + 1);
        self.at += plain.map_or(0, char::len_utf8);
        let (Some(value), true) = (value.filter(char::is_ascii), self.rest().starts_with('\'')) else {
            return Err(self.error(start, "a character stands between two quotes".to_string(), "'a'"));
        };
        self.at += 1;
        Ok(TokenKind::Number(Scalar { ty: Type::Scalar(ScalarType::S8), bits: u128::from(u32::from(value)) }))
    }

    /// The character of an escape sequence.
    fn escape(&mut self) -> Option<char> {
        self.at += 1;
        let octal = self.take(|c| c.is_digit(8));
        if !octal.is_empty() {
            return u8::from_str_radix(octal, 8).ok().map(char::from);
        }
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        Some(match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' | '\'' => letter,
            _ => return None,
        })
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn error(&self, column: usize, message: String, expected: &str) -> ExpressionError {
        ExpressionError { column, message, expected: expected.to_string() }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The tokens without `const` and `volatile` of C: after an `@`, `const` is a state space.
pub(super) fn without_qualifiers(tokens: Vec<Token>) -> Vec<Token> {
    let is_space = |at: usize| at > 0 && tokens[at - 1].kind == TokenKind::Sign("@");
    let is_qualifier = |token: &Token| matches!(&token.kind, TokenKind::Name(name) if super::names::QUALIFIERS.contains(&name.as_str()));
    let kept = tokens.iter().enumerate().filter(|(at, token)| !is_qualifier(token) || is_space(*at));
    kept.map(|(_, token)| token.clone()).collect()
}
