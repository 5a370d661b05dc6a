//! Tokens to statements: where one statement ends and the next begins, known before it is parsed.
//!
//! The parser reads one statement at a time, so a mistake in one cannot harm the next: the rest of a bad statement is skipped and
//! that is all there is to recovery. Braces of scopes are statements of their own, which keeps nesting out of the grammar.
//! A statement ends
//!
//! - after `;`, and after the `:` of a label;
//! - before the `{` or `}` of a scope (a brace of a vector, an initializer or a section belongs to its statement);
//! - before a word that only ever begins one (`@`, `.visible`, `.loc`, ..), so that a missing `;` costs one statement;
//! - after a string that is not closed on its line, because the `;` will be in it;
//! - where the few directives that have no `;` (`.version 9.0`) can go no further.

use super::lexer::{LexError, Lexer, Spanned, Token};

/// How deep brackets of one statement, and scopes of one function, may nest. Trees are walked by recursion.
pub(super) const MAX_DEPTH: u32 = 256;

/// How many operators one expression may have, for the same reason: `- - - 1` nests without brackets.
const MAX_OPERATORS: u32 = 256;

/// What decides where a statement ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Ends with `;`.
    Plain,
    /// A function up to its body or `;`.
    Head,
    /// A directive without `;`.
    Open,
    /// `.section NAME { .. }`
    Section,
}

/// Whether a token is part of the statement being read.
enum TokenPosition {
    Inside,
    Last,
    Outside,
}

/// The statements of a text, one at a time: as an iterator it gives the tokens of the current one.
pub(super) struct Statements<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Spanned<'a>>,
    /// The last token handed out.
    previous: Token<'a>,
    /// Where the last two tokens handed out ended, the last one second.
    ends: [u32; 2],
    /// Tokens of the current statement handed out so far.
    count: u32,
    ended: bool,
    kind: Kind,
    /// Open braces that are no scopes.
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
            ahead: None,
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

    /// Starts the next statement and gives its first token, which stays unread; `None` at the end of the text.
    pub(super) fn start(&mut self) -> Option<Spanned<'a>> {
        let first = self.peek()?;
        (self.count, self.ended) = (0, false);
        (self.lists, self.depth, self.operators) = (0, 0, 0);
        self.kind = match first.1 {
            Token::Version | Token::Target | Token::AddressSize | Token::File | Token::Loc => Kind::Open,
            Token::Section => Kind::Section,
            Token::Entry | Token::Func => Kind::Head,
            _ => Kind::Plain,
        };
        Some(first)
    }

    /// Reads the one token that [`start`](Self::start) gave: the brace of a scope.
    pub(super) fn take_brace(&mut self) {
        if let Some(brace) = self.ahead.take() {
            self.advance(brace);
        }
        self.ended = true;
    }

    /// Drops what is left of the current statement. Gives the place of a comment without end in it, which hides the rest of the file.
    pub(super) fn skip_rest(&mut self) -> Option<(u32, u32)> {
        let mut open_comment = None;
        for (start, token, end) in self {
            if token == Token::Bad(LexError::OpenComment) {
                open_comment = Some((start, end));
            }
        }
        open_comment
    }

    /// Ends the current statement before `token`, the last one read, which becomes the first of the next.
    pub(super) fn unread(&mut self, token: Spanned<'a>) {
        self.ahead = Some(token);
        self.ended = true;
    }

    /// The token that begins the next statement, once the current one has ended before it.
    pub(super) fn next_statement(&self) -> Option<Spanned<'a>> {
        self.ahead.filter(|_| self.ended)
    }

    /// Whether the current statement is the head of a function.
    pub(super) fn is_head(&self) -> bool {
        self.kind == Kind::Head
    }

    /// Where the last two tokens read ended, the last one second.
    pub(super) fn ends(&self) -> [u32; 2] {
        self.ends
    }

    fn peek(&mut self) -> Option<Spanned<'a>> {
        if self.ahead.is_none() {
            self.ahead = self.lexer.next();
        }
        self.ahead
    }

    fn advance(&mut self, (_, token, end): Spanned<'a>) {
        self.previous = token;
        self.ends = [self.ends[1], end];
        self.count += 1;
    }

    fn place(&mut self, token: Token<'a>) -> TokenPosition {
        if self.count == 0 {
            let is_whole = matches!(token, Token::Semi | Token::Dwarf(_) | Token::Bad(LexError::Preprocessor));
            return if is_whole { TokenPosition::Last } else { TokenPosition::Inside };
        }
        match token {
            Token::Bad(LexError::OpenString) => TokenPosition::Last,
            Token::LBrace => self.place_open_brace(),
            Token::RBrace => self.place_close_brace(),
            Token::Semi if self.kind == Kind::Head && matches!(self.previous, Token::Str(_)) => TokenPosition::Inside,
            Token::Semi => TokenPosition::Last,
            _ if self.kind == Kind::Open && !self.continues_open_directive(token) => TokenPosition::Outside,
            Token::Pragma if self.kind == Kind::Head => TokenPosition::Inside,
            // A declaration of a function may lack its `;`, and then what comes next is no part of it.
            _ if self.kind == Kind::Head && self.depth == 0 && begins_declaration(token) => TokenPosition::Outside,
            // The `;` of a `.pragma` in a head: only another directive continues the function.
            _ if self.previous == Token::Semi && !matches!(token, Token::Dot(_)) => TokenPosition::Outside,
            Token::Colon if self.count == 1 && matches!(self.previous, Token::Ident(_) | Token::Dotted(_)) => TokenPosition::Last,
            Token::Entry | Token::Func if self.count == 1 && is_linkage(self.previous) => {
                self.kind = Kind::Head;
                TokenPosition::Inside
            }
            _ if only_begins(token) => TokenPosition::Outside,
            _ => TokenPosition::Inside,
        }
    }

    fn place_open_brace(&mut self) -> TokenPosition {
        let is_list = match self.previous {
            Token::Comma | Token::LParen | Token::LBracket | Token::LBrace | Token::Pipe | Token::Equal => true,
            Token::Ident(_) | Token::Dotted(_) | Token::Dot(_) => self.kind != Kind::Head,
            _ => false,
        };
        if is_list {
            self.lists = self.lists.saturating_add(1);
            TokenPosition::Inside
        } else {
            TokenPosition::Outside
        }
    }

    fn place_close_brace(&mut self) -> TokenPosition {
        match self.lists.checked_sub(1) {
            None => TokenPosition::Outside,
            Some(left) => {
                self.lists = left;
                if left == 0 && self.kind == Kind::Section { TokenPosition::Last } else { TokenPosition::Inside }
            }
        }
    }

    /// `.loc 1 2 3` ends where `add.u32` begins: a word belongs to it unless it follows a number or a string.
    fn continues_open_directive(&self, token: Token<'a>) -> bool {
        match token {
            Token::Int(_) | Token::Decimal(_) | Token::Str(_) | Token::Comma | Token::Plus | Token::Bad(_) => true,
            Token::Ident(_) => !matches!(self.previous, Token::Int(_) | Token::Decimal(_) | Token::Str(_)),
            _ => false,
        }
    }

    /// Replaces a token that would make the tree too deep. No expression continues after a comma or a word with a dot, but for `(.s64)`.
    fn limit(&mut self, token: Token<'a>) -> Token<'a> {
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
        let next = self.peek()?;
        match self.place(next.1) {
            TokenPosition::Outside => {
                self.ended = true;
                return None;
            }
            TokenPosition::Last => self.ended = true,
            TokenPosition::Inside => {}
        }
        self.ahead = None;
        let token = self.limit(next.1);
        self.advance(next);
        Some((next.0, token, next.2))
    }
}

fn is_linkage(token: Token<'_>) -> bool {
    matches!(token, Token::Extern | Token::Visible | Token::Weak | Token::Common)
}

/// Whether `token` can be nothing but the first of a statement.
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

/// Whether `token` is the space that begins the declaration of a variable, or `.weak` before it: in the head of a function a space is in
/// parentheses only.
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
