//! Splitting of the token stream into statements, before they are parsed.
//!
//! The parser parses one statement at a time, so an error in one does not affect the next: recovery is skipping the rest of the statement.
//! Braces of scopes are separate statements, so the grammar has no nested scopes. A statement ends
//!
//! - after `;`, and after the `:` of a label;
//! - before the `{` or `}` of a scope (a brace of a vector, an initializer or a section belongs to its statement);
//! - before a token that can only begin one (`@`, `.visible`, `.loc`, ..), so that a missing `;` affects one statement only;
//! - after a string that is not closed on its line, because the `;` is in it;
//! - before a token that cannot continue a directive without `;` (`.version 9.0`).

use super::lexer::{LexError, Lexer, Spanned, Token};

/// Maximum nesting of brackets in a statement, and of scopes in a function. It bounds recursion over the tree.
pub(super) const MAX_DEPTH: u32 = 256;

/// Maximum number of operators in an expression, for the same reason: `- - - 1` nests without brackets.
const MAX_OPERATORS: u32 = 256;

/// The kind of a statement, which determines where it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Ends with `;`.
    Plain,
    /// The header of a function, up to its body or `;`.
    FunctionHeader,
    /// A directive without `;`.
    NoSemicolon,
    /// `.section NAME { .. }`
    Section,
}

/// The position of a token relative to the current statement.
enum TokenPosition {
    Inside,
    Last,
    Outside,
}

/// The statements of a text, one at a time: an iterator over the tokens of the current statement.
pub(super) struct Statements<'a> {
    lexer: Lexer<'a>,
    lookahead: Option<Spanned<'a>>,
    /// The last token returned.
    previous: Token<'a>,
    /// The ends of the last two tokens returned, the last one second.
    ends: [u32; 2],
    /// Number of tokens of the current statement returned so far.
    count: u32,
    ended: bool,
    kind: Kind,
    /// Open braces that are not scopes.
    lists: u32,
    /// Open brackets of every kind.
    depth: u32,
    /// Operators since the expression began.
    operators: u32,
}

impl<'a> Statements<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            lexer: Lexer::new(text),
            lookahead: None,
            previous: Token::Semi,
            ends: [0; 2],
            count: 0,
            ended: true,
            kind: Kind::Plain,
            lists: 0,
            depth: 0,
            operators: 0,
        }
    }

    /// Starts the next statement and returns its first token without consuming it; `None` at the end of the text.
    pub(super) fn start(&mut self) -> Option<Spanned<'a>> {
        let first = self.peek()?;
        (self.count, self.ended) = (0, false);
        (self.lists, self.depth, self.operators) = (0, 0, 0);
        self.kind = match first.1 {
            Token::Version | Token::Target | Token::AddressSize | Token::File | Token::Loc => Kind::NoSemicolon,
            Token::Section => Kind::Section,
            Token::Entry | Token::Func => Kind::FunctionHeader,
            _ => Kind::Plain,
        };
        Some(first)
    }

    /// Consumes the token that [`start`](Self::start) returned, the brace of a scope, as a complete statement.
    pub(super) fn take_brace(&mut self) {
        if let Some(brace) = self.lookahead.take() {
            self.advance(brace);
        }
        self.ended = true;
    }

    /// Skips the rest of the current statement. Returns the position of an unclosed comment in it, which hides the rest of the file.
    pub(super) fn skip_rest(&mut self) -> Option<(u32, u32)> {
        let mut unclosed_comment = None;
        for (start, token, end) in self {
            if token == Token::Bad(LexError::UnclosedComment) {
                unclosed_comment = Some((start, end));
            }
        }
        unclosed_comment
    }

    /// Ends the current statement before `token`, the last one returned, which becomes the first of the next.
    pub(super) fn unread(&mut self, token: Spanned<'a>) {
        self.lookahead = Some(token);
        self.ended = true;
    }

    /// The token that begins the next statement, once the current one has ended before it.
    pub(super) fn next_statement(&self) -> Option<Spanned<'a>> {
        self.lookahead.filter(|_| self.ended)
    }

    /// True if the current statement is the header of a function.
    pub(super) fn is_function_header(&self) -> bool {
        self.kind == Kind::FunctionHeader
    }

    /// The ends of the last two tokens returned, the last one second.
    pub(super) fn ends(&self) -> [u32; 2] {
        self.ends
    }

    fn peek(&mut self) -> Option<Spanned<'a>> {
        if self.lookahead.is_none() {
            self.lookahead = self.lexer.next();
        }
        self.lookahead
    }

    fn advance(&mut self, (_, token, end): Spanned<'a>) {
        self.previous = token;
        self.ends = [self.ends[1], end];
        self.count += 1;
    }

    fn classify(&mut self, token: Token<'a>) -> TokenPosition {
        if self.count == 0 {
            let is_complete = matches!(token, Token::Semi | Token::Dwarf(_) | Token::Bad(LexError::Preprocessor));
            return if is_complete { TokenPosition::Last } else { TokenPosition::Inside };
        }
        match token {
            Token::Bad(LexError::UnclosedString) => TokenPosition::Last,
            Token::LBrace => self.classify_open_brace(),
            Token::RBrace => self.classify_close_brace(),
            Token::Semi if self.kind == Kind::FunctionHeader && matches!(self.previous, Token::Str(_)) => TokenPosition::Inside,
            Token::Semi => TokenPosition::Last,
            _ if self.kind == Kind::NoSemicolon && !self.continues_directive(token) => TokenPosition::Outside,
            Token::Pragma if self.kind == Kind::FunctionHeader => TokenPosition::Inside,
            // The `;` of a function declaration may be missing; then a declaration of a variable begins the next statement.
            _ if self.kind == Kind::FunctionHeader && self.depth == 0 && begins_declaration(token) => TokenPosition::Outside,
            // After the `;` of a `.pragma` in a header, only another directive continues the function.
            _ if self.previous == Token::Semi && !matches!(token, Token::Dot(_)) => TokenPosition::Outside,
            Token::Colon if self.count == 1 && matches!(self.previous, Token::Ident(_) | Token::Dotted(_)) => TokenPosition::Last,
            Token::Entry | Token::Func if self.count == 1 && is_linkage(self.previous) => {
                self.kind = Kind::FunctionHeader;
                TokenPosition::Inside
            }
            _ if only_begins(token) => TokenPosition::Outside,
            _ => TokenPosition::Inside,
        }
    }

    fn classify_open_brace(&mut self) -> TokenPosition {
        let is_list = match self.previous {
            Token::Comma | Token::LParen | Token::LBracket | Token::LBrace | Token::Pipe | Token::Equal => true,
            Token::Ident(_) | Token::Dotted(_) | Token::Dot(_) => self.kind != Kind::FunctionHeader,
            _ => false,
        };
        if is_list {
            self.lists = self.lists.saturating_add(1);
            TokenPosition::Inside
        } else {
            TokenPosition::Outside
        }
    }

    fn classify_close_brace(&mut self) -> TokenPosition {
        match self.lists.checked_sub(1) {
            None => TokenPosition::Outside,
            Some(open) => {
                self.lists = open;
                if open == 0 && self.kind == Kind::Section { TokenPosition::Last } else { TokenPosition::Inside }
            }
        }
    }

    /// True if `token` continues a directive without `;`: a word does unless it follows a number or a string, so `.loc 1 2 3` ends before
    /// `add.u32`.
    fn continues_directive(&self, token: Token<'a>) -> bool {
        match token {
            Token::Int(_) | Token::Decimal(_) | Token::Str(_) | Token::Comma | Token::Plus | Token::Bad(_) => true,
            Token::Ident(_) => !matches!(self.previous, Token::Int(_) | Token::Decimal(_) | Token::Str(_)),
            _ => false,
        }
    }

    /// Replaces a token that would make the tree too deep by an error. A comma or a word with a dot, except in `(.s64)`, ends an
    /// expression.
    fn limit_nesting(&mut self, token: Token<'a>) -> Token<'a> {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => self.depth = self.depth.saturating_add(1),
            Token::RParen | Token::RBracket | Token::RBrace => self.depth = self.depth.saturating_sub(1),
            Token::Dot(_) if self.previous == Token::LParen => self.operators = self.operators.saturating_add(1),
            Token::Comma | Token::Dot(_) => self.operators = 0,
            token if is_operator(token) => self.operators = self.operators.saturating_add(1),
            _ => return token,
        }
        if self.depth > MAX_DEPTH {
            Token::Bad(LexError::TooDeep)
        } else if self.operators > MAX_OPERATORS {
            Token::Bad(LexError::TooLong)
        } else {
            token
        }
    }
}

impl<'a> Iterator for Statements<'a> {
    type Item = Spanned<'a>;

    fn next(&mut self) -> Option<Spanned<'a>> {
        if self.ended {
            return None;
        }
        let begins_data = matches!(self.previous, Token::LBrace | Token::Colon | Token::Int(_) | Token::Ident(_) | Token::Dotted(_));
        if self.kind == Kind::Section && self.lists == 1 && self.lookahead.is_none() && begins_data {
            self.lexer.skip_plain_data();
        }
        let next = self.peek()?;
        match self.classify(next.1) {
            TokenPosition::Outside => {
                self.ended = true;
                return None;
            }
            TokenPosition::Last => self.ended = true,
            TokenPosition::Inside => {}
        }
        self.lookahead = None;
        let token = self.limit_nesting(next.1);
        self.advance(next);
        Some((next.0, token, next.2))
    }
}

fn is_linkage(token: Token<'_>) -> bool {
    matches!(token, Token::Extern | Token::Visible | Token::Weak | Token::Common)
}

/// True if `token` can only be the first of a statement.
fn only_begins(token: Token<'_>) -> bool {
    // `.weak` is a modifier of `ld` and `st` as well.
    is_linkage(token) && token != Token::Weak
        || matches!(
            token,
            Token::At
                | Token::Dwarf(_)
                | Token::Bad(LexError::Preprocessor)
                | Token::Version
                | Token::Target
                | Token::AddressSize
                | Token::File
                | Token::Loc
                | Token::Section
                | Token::Pragma
                | Token::Alias
                | Token::Entry
                | Token::Func
        )
}

/// True if `token` is the space that begins the declaration of a variable, or `.weak` before it: in the header of a function spaces are
/// only inside parentheses.
fn begins_declaration(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Reg
            | Token::Sreg
            | Token::Const
            | Token::Global
            | Token::Local
            | Token::Param
            | Token::Shared
            | Token::Tex
            | Token::Surf
            | Token::Weak
    )
}

fn is_operator(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Bang
            | Token::Tilde
            | Token::Plus
            | Token::Minus
            | Token::Star
            | Token::Slash
            | Token::Percent
            | Token::Shl
            | Token::Shr
            | Token::Less
            | Token::Greater
            | Token::LessEqual
            | Token::GreaterEqual
            | Token::EqualEqual
            | Token::BangEqual
            | Token::Amp
            | Token::Caret
            | Token::Pipe
            | Token::AmpAmp
            | Token::PipePipe
            | Token::Question
    )
}
