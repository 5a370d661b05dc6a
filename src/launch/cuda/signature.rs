//! The parameter list of a kernel in CUDA C++.

use super::tokens::{At, Token, Tokens};

/// A parameter as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared<'t> {
    /// Its name, if it has one.
    pub name: Option<&'t str>,
    /// Its size in bytes, if its type is a pointer or a type of the language.
    pub bytes: Option<u32>,
}

/// A kernel as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature<'t> {
    /// Byte offset of its name in the text.
    pub at: usize,
    /// True if a body follows.
    pub has_body: bool,
    /// Its parameters, or why they cannot be read.
    pub params: Result<Vec<Declared<'t>>, &'static str>,
}

const BY_PREPROCESSOR: &str = "lines of the preprocessor stand among them";
const BY_MACRO: &str = "a macro stands among them";
const BY_PACK: &str = "they are a pack";

/// Keywords of a declaration that are neither type nor name (CUDA C++ Programming Guide, "Function Execution Space Specifiers",
/// "__grid_constant__", "__restrict__").
const QUALIFIERS: &[&str] = &[
    "const",
    "volatile",
    "constexpr",
    "register",
    "struct",
    "class",
    "union",
    "enum",
    "typename",
    "__restrict__",
    "__restrict",
    "restrict",
    "__grid_constant__",
    "__global",
    "__const__",
];

/// Keywords that are followed by a list in parentheses and are not part of the type.
const ATTRIBUTES: &[&str] = &["__attribute__", "__align__", "alignas", "__declspec", "__launch_bounds__", "decltype"];

/// Types of the language that are one keyword, with their bytes; 0 if the size depends on the system or on other keywords.
const TYPES: &[(&str, u32)] = &[
    ("void", 0),
    ("bool", 1),
    ("char", 1),
    ("short", 2),
    ("int", 4),
    ("float", 4),
    ("double", 8),
    ("long", 0),
    ("signed", 0),
    ("unsigned", 0),
    ("auto", 0),
];

/// Types of headers that are one identifier, with their bytes.
const NAMED_TYPES: &[(&str, u32)] = &[
    ("int8_t", 1),
    ("uint8_t", 1),
    ("int16_t", 2),
    ("uint16_t", 2),
    ("int32_t", 4),
    ("uint32_t", 4),
    ("int64_t", 8),
    ("uint64_t", 8),
    ("size_t", 8),
    ("half", 2),
    ("__half", 2),
    ("__nv_bfloat16", 2),
    ("half2", 4),
    ("float2", 8),
    ("float4", 16),
    ("int2", 8),
    ("int4", 16),
    ("dim3", 12),
];

/// Every declaration and definition of a kernel called `name`, in order.
pub fn signatures<'t>(tokens: &Tokens<'t>, name: &str) -> Vec<Signature<'t>> {
    let is_kernel = |at: &usize| tokens.list[*at].1 == Token::Word("__global__");
    (0..tokens.list.len()).filter(is_kernel).filter_map(|at| signature(tokens, at + 1, name)).collect()
}

/// The kernel whose tokens after `__global__` start at `start`, if it is called `name`.
fn signature<'t>(tokens: &Tokens<'t>, start: usize, name: &str) -> Option<Signature<'t>> {
    let mut at = start;
    loop {
        match tokens.list.get(at)?.1 {
            Token::Word(word) => {
                let open = after_angles(&tokens.list, at + 1);
                let is_called = word == name && mark(&tokens.list, open) == Some('(');
                if is_called {
                    return Some(called(tokens, (at, open)));
                }
                at += 1;
            }
            Token::Mark('(') => at = closing(tokens, at)? + 1,
            Token::Mark('{' | ';' | '}') => return None,
            Token::Mark(_) | Token::Literal | Token::Directive => at += 1,
        }
    }
}

pub(super) fn mark(list: &[At<'_>], at: usize) -> Option<char> {
    match list.get(at) {
        Some((_, Token::Mark(mark))) => Some(*mark),
        _ => None,
    }
}

/// The index after the template arguments at `at`; `at` if there are none.
pub(super) fn after_angles(list: &[At<'_>], at: usize) -> usize {
    if mark(list, at) != Some('<') {
        return at;
    }
    let mut depth = 0_u32;
    for next in at..list.len() {
        match mark(list, next) {
            Some('<') => depth += 1,
            Some('>') if depth == 1 => return next + 1,
            Some('>') => depth -= 1,
            Some(';' | '{') => return at,
            _ => {}
        }
    }
    at
}

/// The index of the parenthesis that closes the one at `open`.
pub(super) fn closing(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    closing_mark(tokens.list.iter().map(|(_, token)| token), open, ('(', ')'))
}

/// The index of the bracket of this kind that closes the one at `open`.
pub(super) fn closing_mark<'a, 't: 'a>(
    list: impl Iterator<Item = &'a Token<'t>>,
    open: usize,
    (opening, closing): (char, char),
) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, token) in list.enumerate().skip(open) {
        match token {
            Token::Mark(mark) if *mark == opening => depth += 1,
            Token::Mark(mark) if *mark == closing && depth == 1 => return Some(at),
            Token::Mark(mark) if *mark == closing => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The kernel whose name is token `name` and whose parameter list opens at token `open`.
fn called<'t>(tokens: &Tokens<'t>, (name, open): (usize, usize)) -> Signature<'t> {
    let at = tokens.list[name].0;
    let Some(close) = closing(tokens, open) else { return Signature { at, has_body: false, params: Err(BY_PREPROCESSOR) } };
    let after = tokens.list[close + 1..].iter().find_map(|(_, token)| match token {
        Token::Mark(mark @ ('{' | ';')) => Some(*mark),
        _ => None,
    });
    Signature { at, has_body: after == Some('{'), params: params(tokens, &tokens.list[open + 1..close]) }
}

fn params<'t>(tokens: &Tokens<'t>, list: &[At<'t>]) -> Result<Vec<Declared<'t>>, &'static str> {
    let list = expanded(tokens, list)?;
    if matches!(list.as_slice(), [] | [Token::Word("void")]) {
        return Ok(Vec::new());
    }
    split(&list).into_iter().map(declared).collect()
}

/// The tokens with macros of the text replaced.
fn expanded<'t>(tokens: &Tokens<'t>, list: &[At<'t>]) -> Result<Vec<Token<'t>>, &'static str> {
    const ROUNDS_MAX: usize = 4;
    let mut list: Vec<Token<'t>> = list.iter().map(|(_, token)| *token).collect();
    for _ in 0..ROUNDS_MAX {
        if list.contains(&Token::Directive) {
            return Err(BY_PREPROCESSOR);
        }
        let of = |token: &Token<'t>| match token {
            Token::Word(word) => tokens.macros.get(word),
            Token::Literal | Token::Directive | Token::Mark(_) => None,
        };
        if list.iter().all(|token| of(token).is_none()) {
            return Ok(list);
        }
        let replace = |token: Token<'t>| of(&token).map_or(vec![token], |body| body.iter().map(|(_, token)| *token).collect());
        list = list.into_iter().flat_map(replace).collect();
    }
    Err(BY_MACRO)
}

/// Splits at the commas outside of brackets. A default value may contain a comparison, so `<` nests only before it.
fn split<'a, 't>(list: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let (mut parts, mut start, mut depth, mut angles, mut in_default) = (Vec::new(), 0, 0_u32, 0_u32, false);
    for (at, token) in list.iter().enumerate() {
        let Token::Mark(mark) = token else { continue };
        match mark {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '<' if !in_default => angles += 1,
            '>' if !in_default => angles = angles.saturating_sub(1),
            '=' if depth == 0 && angles == 0 => in_default = true,
            ',' if depth == 0 && angles == 0 => {
                parts.push(&list[start..at]);
                (start, in_default) = (at + 1, false);
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// The declaration without its default value, attributes, template arguments and array extents; and true if it had extents.
fn simplified<'t>(part: &[Token<'t>]) -> Result<(Vec<Token<'t>>, bool), &'static str> {
    let (mut kept, mut at, mut has_extents) = (Vec::new(), 0, false);
    while let Some(token) = part.get(at) {
        match *token {
            Token::Mark('=') => break,
            Token::Mark('.') => return Err(BY_PACK),
            Token::Mark('<') => at = past(part, at, ('<', '>')),
            Token::Mark('[') => {
                has_extents |= part.get(at + 1) != Some(&Token::Mark('['));
                at = past(part, at, ('[', ']'));
            }
            Token::Word(word) if part.get(at + 1) == Some(&Token::Mark('(')) => match ATTRIBUTES.contains(&word) {
                true => at = past(part, at + 1, ('(', ')')),
                // The type of a pointer to a function is one word before `(*name)(..)`.
                false if part.get(at + 2) == Some(&Token::Mark('*')) => {
                    kept.extend([Token::Word("void"), Token::Mark('*')]);
                    kept.extend(part.get(at + 3));
                    break;
                }
                false => return Err(BY_MACRO),
            },
            token => {
                kept.push(token);
                at += 1;
            }
        }
    }
    Ok((kept, has_extents))
}

/// The index after the bracket that closes the one at `open`.
fn past(part: &[Token<'_>], open: usize, kind: (char, char)) -> usize {
    closing_mark(part.iter(), open, kind).map_or(part.len(), |at| at + 1)
}

/// Name and size of a declared parameter.
fn declared<'t>(part: &[Token<'t>]) -> Result<Declared<'t>, &'static str> {
    let (kept, has_extents) = simplified(part)?;
    let is_pointer = has_extents || kept.iter().any(|token| matches!(token, Token::Mark('*' | '&')));
    let (mut types, mut words, mut is_member) = (Vec::new(), Vec::new(), false);
    for token in &kept {
        match *token {
            Token::Mark(':') => is_member = true,
            Token::Word(word) if QUALIFIERS.contains(&word) => {}
            Token::Word(word) if TYPES.iter().any(|(ty, _)| *ty == word) => types.push(word),
            // `std::size_t` is one type.
            Token::Word(word) => match (is_member, words.last_mut()) {
                (true, Some(last)) => *last = word,
                _ => words.push(word),
            },
            Token::Literal | Token::Directive | Token::Mark(_) => {}
        }
        is_member &= !matches!(token, Token::Word(_));
    }
    let name = match (types.is_empty(), words.as_slice()) {
        (_, []) | (true, [_]) => None,
        (false, [name]) | (true, [_, name]) => Some(*name),
        _ => return Err(BY_MACRO),
    };
    let bytes = if is_pointer { Some(8) } else { size(&types, words.first().copied()) };
    Ok(Declared { name, bytes })
}

fn size(types: &[&str], word: Option<&str>) -> Option<u32> {
    let of = |table: &[(&str, u32)], word: &str| table.iter().find(|(ty, _)| *ty == word).map(|row| row.1).filter(|bytes| *bytes > 0);
    if types.is_empty() {
        return word.and_then(|word| of(NAMED_TYPES, word));
    }
    let longs = types.iter().filter(|ty| **ty == "long").count();
    match longs {
        0 if types.iter().all(|ty| matches!(*ty, "unsigned" | "signed")) => Some(4),
        // `short int` is a short.
        0 => types.iter().filter_map(|ty| of(TYPES, ty)).min(),
        2 => Some(8),
        _ => None,
    }
}
