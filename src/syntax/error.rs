//! Messages of syntax errors: the expected and the found token, and a correction. Exceptions are errors that the grammar's actions report
//! (`actions`), and statements at a wrong position (`tree_builder`).

use lalrpop_util::ParseError;

use super::actions::{File, SyntaxError};
use super::lexer::{LexError, Spanned, Token};
use crate::base::{Diagnostic, Span};

/// A name for a set of terminals of the grammar. Terminals are separated by spaces.
struct NamedSet {
    /// The name is used if all of these are expected.
    signs: &'static str,
    /// Its name in messages; empty to omit the set.
    name: &'static str,
    /// The terminals that the name replaces.
    members: &'static str,
}

/// Tried in this order.
#[rustfmt::skip]
const NAMED_SETS: [NamedSet; 11] = [
    NamedSet {
        signs: ".version",
        name: "an instruction, a declaration or a directive",
        members: "Ident Dotted Dwarf @ .version .target .address_size .alias .file .loc .pragma .section .extern .visible .weak .common \
            .entry .func .reg .sreg .const .global .local .param .shared .tex .surf .attribute .branchtargets .calltargets .callprototype",
    },
    NamedSet {
        signs: "Int [",
        name: "an operand",
        members: "Ident Dotted Dot Int Float32 Float64 Decimal ( [ { + - ! ~ .const .global .local .param .shared .weak",
    },
    NamedSet { signs: "Int ~", name: "a constant expression", members: "Ident Dotted Int Float32 Float64 Decimal ( + - ! ~" },
    NamedSet { signs: "*", name: "", members: "* / % + - << >> < > <= >= == != & ^ | && || ? [ (" },
    NamedSet { signs: "Dot .align", name: "a type such as '.b32'", members: "Dot .align .attribute [" },
    NamedSet { signs: "Dot .pragma", name: "a directive such as '.maxntid'", members: "Dot .pragma" },
    NamedSet {
        signs: ".reg",
        name: "a state space such as '.reg'",
        members: ".reg .sreg .const .global .local .param .shared .tex .surf",
    },
    NamedSet { signs: ", [", name: "", members: "[ < =" },
    NamedSet { signs: "Ident", name: "a name", members: "Ident Dotted" },
    NamedSet { signs: "Dot .ptr", name: "", members: "Dot .ptr" },
    // The component of a register, separated from it.
    NamedSet { signs: "Dot ,", name: "", members: "Dot" },
];

/// The names of single terminals that are not written in quotes in the grammar.
const TERMINALS: [(&str, &str); 6] = [
    ("Int", "a whole number"),
    ("Decimal", "a number such as '8.0'"),
    ("Str", "a string in quotes"),
    ("Dot", "a word with a dot such as '.b32'"),
    ("Dotted", "a dotted word"),
    ("Dwarf", "'@@DWARF'"),
];

/// The diagnostic for a statement that the parser rejected; the last token before the error ends at `previous_end`, and `next` is the token
/// that begins the next statement, if there is one.
pub(super) fn describe(file: File<'_>, previous_end: u32, next: Option<Spanned<'_>>, error: &SyntaxError<'_>) -> Diagnostic {
    match error {
        ParseError::User { error } => (**error).clone(),
        ParseError::UnrecognizedToken { token: (start, Token::Bad(mistake), end), .. } => {
            describe_mistake(file, *mistake, file.span(*start, *end))
        }
        ParseError::UnrecognizedToken { expected, .. } if token_of_next_statement(file, previous_end, error).is_some() => {
            unfinished(file, previous_end, next, expected)
        }
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            let found = quote(file.slice(*start, *end));
            let message = format!("expected {}, found {found}", list(&descriptions(expected)));
            let error = Diagnostic::error("syntax", file.span(*start, *end), message);
            let lacks_comma = matches!(token, Token::Ident(_) | Token::Dotted(_) | Token::Int(_)) && is_expected(expected, ",");
            if lacks_comma { error.with_help("put ',' between the two") } else { error }
        }
        ParseError::UnrecognizedEof { location, expected } => unfinished(file, *location, next, expected),
        ParseError::ExtraToken { token: (start, _, end) } => {
            Diagnostic::error("syntax", file.span(*start, *end), format!("{} is too much here", quote(file.slice(*start, *end))))
        }
        ParseError::InvalidToken { location } => Diagnostic::error("syntax", file.span(*location, *location), "this cannot be read"),
    }
}

/// The diagnostic for text that is not a token.
pub(super) fn describe_mistake(file: File<'_>, mistake: LexError, span: Span) -> Diagnostic {
    let found = quote(file.slice(span.start, span.end));
    let (message, help) = match mistake {
        LexError::Character => (format!("{found} is not allowed here"), "outside of comments and strings PTX is written in ASCII"),
        LexError::Number => (
            format!("{found} is not a number"),
            "an integer is written 10, 0x1F, 017 or 0b101, a bit pattern 0f3F800000 with 8 or 0d3FF0000000000000 with 16 digits",
        ),
        LexError::IntTooLarge => (format!("{found} does not fit 64 bits"), "the largest integer is 0xFFFFFFFFFFFFFFFF"),
        LexError::FloatTooLarge => (format!("{found} is beyond the range of '.f64'"), "infinity is written 0d7FF0000000000000"),
        LexError::UnclosedString => ("the string is not closed on its line".to_owned(), "close it with '\"'"),
        LexError::UnclosedComment => ("the comment is not closed".to_owned(), "close it with '*/'"),
        LexError::Preprocessor => ("preprocessor directives are not supported".to_owned(), "run a C preprocessor over the file first"),
        LexError::TooDeep => ("brackets are nested more than 256 deep".to_owned(), "split the statement"),
        LexError::TooLong => ("the expression has more than 256 operators".to_owned(), "split the expression, or work out parts of it"),
    };
    // Unclosed strings and comments extend to the end of the line or file; only their beginning is shown.
    let end = if matches!(mistake, LexError::UnclosedString | LexError::UnclosedComment) { span.start + 1 } else { span.end };
    Diagnostic::error("syntax", Span { end, ..span }, message).with_help(help)
}

/// The unexpected token, if probably only the `;` before it is missing: it is on a new line and can begin a statement.
pub(super) fn token_of_next_statement<'a>(file: File<'a>, previous_end: u32, error: &SyntaxError<'a>) -> Option<Spanned<'a>> {
    let ParseError::UnrecognizedToken { token, expected } = error else { return None };
    let can_end = is_expected(expected, ";");
    let on_new_line = file.slice(previous_end, token.0).contains('\n');
    let can_begin = matches!(
        token.1,
        Token::Ident(_) | Token::Dotted(_) | Token::Reg | Token::Local | Token::Param | Token::Shared | Token::Global | Token::Const
    );
    (can_end && on_new_line && can_begin).then_some(*token)
}

/// The diagnostic for a statement that is incomplete at `at`. Its span is the token `next`, like that of other syntax errors; a label shows
/// the incomplete statement.
fn unfinished(file: File<'_>, at: u32, next: Option<Spanned<'_>>, expected: &[String]) -> Diagnostic {
    let wanted = list(&descriptions(expected));
    let error = match next {
        Some((start, _, end)) => {
            let message = format!("expected {wanted} before {}", quote(file.slice(start, end)));
            Diagnostic::error("syntax", file.span(start, end), message).with_label(file.span(at, at), "the statement before ends here")
        }
        None => Diagnostic::error("syntax", file.span(at, at), format!("expected {wanted}, but the file ends here")),
    };
    if is_expected(expected, ";") { error.with_help("end the statement with ';'") } else { error }
}

fn is_expected(expected: &[String], terminal: &str) -> bool {
    expected.iter().any(|other| other.trim_matches('"') == terminal)
}

/// Descriptions of the expected terminals, the most specific first. The parser gives their names in the grammar: `Int`, `";"`.
fn descriptions(expected: &[String]) -> Vec<String> {
    let mut remaining: Vec<&str> = expected.iter().map(|terminal| terminal.trim_matches('"')).collect();
    let mut descriptions = Vec::new();
    for set in &NAMED_SETS {
        if set.signs.split(' ').all(|sign| remaining.contains(&sign)) {
            remaining.retain(|terminal| set.members.split(' ').all(|member| member != *terminal));
            descriptions.extend(Some(set.name.to_owned()).filter(|name| !name.is_empty()));
        }
    }
    let describe = |terminal: &str| match TERMINALS.iter().find(|(name, _)| *name == terminal) {
        Some((_, description)) => (*description).to_owned(),
        None => format!("'{terminal}'"),
    };
    descriptions.extend(remaining.into_iter().map(describe));
    descriptions
}

/// Joins them as `a, b or c`.
fn list(words: &[String]) -> String {
    match words {
        [] => "nothing more".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Text of the file for a message: on one line and truncated.
fn quote(text: &str) -> String {
    const MAX_CHARS: usize = 32;
    let shown: String = text.chars().take(MAX_CHARS).flat_map(char::escape_debug).collect();
    let dots = if text.chars().nth(MAX_CHARS).is_some() { ".." } else { "" };
    format!("'{shown}{dots}'")
}
