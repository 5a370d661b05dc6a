//! CUDA C++ as a sequence of tokens, without comments and literals.

use std::collections::BTreeMap;

/// A token of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'t> {
    /// An identifier or keyword.
    Word(&'t str),
    /// A number, or a string or character literal.
    Literal,
    /// A line of the preprocessor.
    Directive,
    /// Any other character.
    Mark(char),
}

/// A token and the byte at which it starts.
pub type At<'t> = (usize, Token<'t>);

/// The tokens of a text, and the macros without arguments that it defines, each with the tokens it stands for.
#[derive(Debug, Default)]
pub struct Tokens<'t> {
    /// The tokens in order.
    pub list: Vec<At<'t>>,
    /// `#define NAME tokens`.
    pub macros: BTreeMap<&'t str, Vec<At<'t>>>,
}

/// Splits `text`. Text that is not C++ becomes tokens that no declaration has.
pub fn tokens(text: &str) -> Tokens<'_> {
    let mut found = Tokens::default();
    let mut at = 0;
    let mut is_line_start = true;
    while let Some(letter) = text[at..].chars().next() {
        let (start, rest) = (at, &text[at..]);
        at += match letter {
            '\n' => {
                is_line_start = true;
                1
            }
            _ if letter.is_whitespace() => letter.len_utf8(),
            '/' if rest.starts_with("//") => logical_line(rest),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '#' if is_line_start => {
                let line = &rest[..logical_line(rest)];
                found.list.push((start, Token::Directive));
                found.macros.extend(definition(line));
                line.len()
            }
            _ => {
                let (token, bytes) = token(rest);
                found.list.push((start, token));
                is_line_start = false;
                bytes
            }
        };
    }
    found
}

/// Bytes up to the end of the logical line: a backslash at its end continues it.
fn logical_line(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(end, _)| end);
    let mut unjoined = ends.filter(|end| !text[..*end].trim_end_matches('\r').ends_with('\\'));
    unjoined.next().unwrap_or(text.len())
}

/// The macro that `#define NAME tokens` defines; `None` for one with arguments.
fn definition(line: &str) -> Option<(&str, Vec<At<'_>>)> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
    let (name, body) = rest.split_at(end);
    let is_plain = !name.is_empty() && !body.starts_with('(');
    is_plain.then(|| (name, tokens(body).list.into_iter().filter(|(_, token)| *token != Token::Mark('\\')).collect()))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The token at the start of `text`, which is not empty, and its bytes.
fn token(text: &str) -> (Token<'_>, usize) {
    let first = text.chars().next().unwrap_or(' ');
    if first == '"' || first == '\'' {
        return (Token::Literal, literal(text, first));
    }
    if !is_word(first) {
        return (Token::Mark(first), first.len_utf8());
    }
    let end = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    let word = &text[..end];
    if first.is_ascii_digit() {
        return (Token::Literal, end);
    }
    match (word, text[end..].chars().next()) {
        ("R" | "LR" | "uR" | "UR" | "u8R", Some('"')) => (Token::Literal, end + raw_literal(&text[end..])),
        _ => (Token::Word(word), end),
    }
}

/// Bytes of a literal that starts and ends with `quote`; an unterminated one ends with its line.
fn literal(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\n' => return at,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of `"x(…)x"`.
fn raw_literal(text: &str) -> usize {
    let Some(open) = text.find('(') else { return text.len() };
    let end = format!("){}\"", &text[1..open]);
    text[open..].find(&end).map_or(text.len(), |at| open + at + end.len())
}
