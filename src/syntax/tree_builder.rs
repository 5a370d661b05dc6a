//! Building of the tree from statements: it tracks open scopes, and reports statements and braces at invalid positions.

use super::actions::{FunctionParts, ParsedStatement};
use super::problems::Problems;
use super::statements::MAX_DEPTH;
use super::tree::{Block, Function, Item, Module, Statement};
use crate::base::{Diagnostic, Span};

/// An open brace.
enum Scope<'a> {
    /// The body of a function; `None` if its header could not be parsed, so that the body is still checked.
    Body(Option<Box<Function<'a>>>),
    /// A scope inside a body.
    Inner,
}

/// The tree under construction, with its open scopes.
#[derive(Default)]
pub(super) struct TreeBuilder<'a> {
    module: Module<'a>,
    /// The open scopes, from the body of the current function inwards, each with its opening brace.
    scopes: Vec<(Scope<'a>, Span, Block<'a>)>,
    /// A function header whose body may follow; its function is `None` if it could not be parsed.
    header: Option<(Option<Box<Function<'a>>>, Span)>,
    /// Number of open scopes beyond the limit.
    too_deep: u32,
    /// True after a statement outside of functions was reported, so that those after it are not.
    has_reported_outside: bool,
}

impl<'a> TreeBuilder<'a> {
    /// Adds a statement to the tree.
    pub fn add(&mut self, statement: ParsedStatement<'a>, problems: &mut Problems) {
        self.end_header(problems);
        match statement {
            ParsedStatement::Header(parts) => self.add_header(*parts, problems),
            ParsedStatement::Item(item) if self.scopes.is_empty() => self.add_item(*item),
            ParsedStatement::Item(item) => match item_as_statement(*item) {
                Ok(statement) => self.add_statement(statement),
                Err((word, span)) => problems.add(
                    Diagnostic::error("syntax", span, format!("'{word}' inside a function"))
                        .with_help("move it to the top of the file, or close the function with '}' before it"),
                ),
            },
            ParsedStatement::Variables(variables) => {
                for variable in variables {
                    match self.scopes.is_empty() {
                        true => self.add_item(Item::Variable(variable)),
                        false => self.add_statement(Statement::Variable(Box::new(variable))),
                    }
                }
            }
            ParsedStatement::Statement(statement) if self.scopes.is_empty() => self.report_statement_outside(&statement, problems),
            ParsedStatement::Statement(statement) => self.add_statement(*statement),
        }
    }

    /// Handles the header of a function at `span` that could not be parsed, which is reported already.
    pub fn recover_header(&mut self, span: Span, problems: &mut Problems) {
        self.end_header(problems);
        self.end_function_before(span, problems);
        self.header = Some((None, span));
    }

    /// Opens a scope at `{`.
    pub fn open(&mut self, brace: Span, problems: &mut Problems) {
        let scope = match self.header.take() {
            Some((function, _)) => Scope::Body(function),
            None if self.scopes.is_empty() => {
                self.report_outside("'{'", brace, problems);
                Scope::Body(None)
            }
            None => Scope::Inner,
        };
        if self.scopes.len() < MAX_DEPTH as usize {
            return self.scopes.push((scope, brace, Block::default()));
        }
        if self.too_deep == 0 {
            problems.add(
                Diagnostic::error("syntax", brace, format!("more than {MAX_DEPTH} scopes inside one another"))
                    .with_help("what is inside of this one is ignored"),
            );
        }
        self.too_deep = self.too_deep.saturating_add(1);
    }

    /// Closes the innermost scope at `}`.
    pub fn close(&mut self, brace: Span, problems: &mut Problems) {
        self.end_header(problems);
        if let Some(remaining) = self.too_deep.checked_sub(1) {
            self.too_deep = remaining;
            return;
        }
        if self.scopes.is_empty() {
            if !self.has_reported_outside {
                let error = Diagnostic::error("syntax", brace, "'}' without a '{' before it");
                problems.add(error.with_help("remove it, or look for a '}' too many above"));
            }
            self.has_reported_outside = false;
            return;
        }
        self.close_innermost(Some(brace));
    }

    /// Closes all scopes at the end of the file, `end`, and returns the tree.
    pub fn finish(mut self, end: Span, problems: &mut Problems) -> Module<'a> {
        self.end_header(problems);
        if let Some((_, brace, _)) = self.scopes.last() {
            let error = Diagnostic::error("syntax", end, "the file ends inside a function: '}' is missing");
            problems.add(error.with_label(*brace, "this '{' is not closed").with_help("close it with '}'"));
        }
        self.into_partial_tree()
    }

    /// The tree of the statements so far, when the rest of the file is not parsed.
    pub fn into_partial_tree(mut self) -> Module<'a> {
        self.close_all();
        self.module
    }

    fn add_item(&mut self, item: Item<'a>) {
        self.has_reported_outside = false;
        self.module.items.push(item);
    }

    /// Adds a statement to the innermost scope.
    fn add_statement(&mut self, statement: Statement<'a>) {
        if self.too_deep > 0 {
            return;
        }
        if let Some((_, _, block)) = self.scopes.last_mut() {
            block.statements.push(statement);
        }
    }

    fn add_header(&mut self, parts: FunctionParts<'a>, problems: &mut Problems) {
        let FunctionParts { function, is_closed } = parts;
        self.has_reported_outside = false;
        self.end_function_before(function.name.span, problems);
        match is_closed {
            true => self.add_item(Item::Function(Box::new(function))),
            false => {
                let span = function.span;
                self.header = Some((Some(Box::new(function)), span));
            }
        }
    }

    /// Functions do not nest: one that starts inside another means that a `}` is missing before it.
    fn end_function_before(&mut self, name: Span, problems: &mut Problems) {
        if let Some((_, brace, _)) = self.scopes.last() {
            let error = Diagnostic::error("syntax", name, "a function starts inside another: '}' is missing before it");
            problems.add(error.with_label(*brace, "this '{' is not closed").with_help("close it with '}'"));
            self.close_all();
        }
    }

    /// Ends a header that has no body. For a `.func` it is a declaration, whose `;` ptxas does not require; a kernel whose last directive
    /// is a `.pragma` ends with the `;` of that.
    fn end_header(&mut self, problems: &mut Problems) {
        let Some((Some(function), span)) = self.header.take() else { return };
        if function.is_kernel && function.directives.last().is_none_or(|directive| directive.texts.is_empty()) {
            let at = Span { start: span.end, ..span };
            let error = Diagnostic::error("syntax", at, format!("expected '{{' or ';' after the head of '{}'", function.name.text));
            problems.add(error.with_help("a kernel has a body in braces; a mere declaration of one ends with ';'"));
        }
        self.add_item(Item::Function(function));
    }

    fn close_all(&mut self) {
        self.too_deep = 0;
        while !self.scopes.is_empty() {
            self.close_innermost(None);
        }
    }

    fn close_innermost(&mut self, brace: Option<Span>) {
        let Some((scope, opening, mut block)) = self.scopes.pop() else { return };
        block.end = brace;
        match scope {
            Scope::Inner => self.add_statement(Statement::Block(block)),
            Scope::Body(None) => {}
            Scope::Body(Some(mut function)) => {
                function.span = function.span.to(brace.unwrap_or(opening));
                function.body = Some(block);
                self.add_item(Item::Function(function));
            }
        }
    }

    fn report_statement_outside(&mut self, statement: &Statement<'a>, problems: &mut Problems) {
        let (what, span) = match statement {
            Statement::Label(name) => ("a label", name.span),
            Statement::Instruction(instruction) => ("an instruction", instruction.span),
            Statement::BranchTargets { span, .. } => ("'.branchtargets'", *span),
            Statement::CallTargets { span, .. } => ("'.calltargets'", *span),
            Statement::CallPrototype { span, .. } => ("'.callprototype'", *span),
            // The parser returns these as items outside of a body.
            Statement::Variable(_) | Statement::Block(_) | Statement::Loc(_) | Statement::Pragma { .. } | Statement::Section { .. } => {
                return;
            }
        };
        self.report_outside(what, span, problems);
    }

    fn report_outside(&mut self, what: &str, span: Span, problems: &mut Problems) {
        if !self.has_reported_outside {
            let error = Diagnostic::error("syntax", span, format!("{what} outside of a function"));
            problems.add(error.with_help("look for a '}' too many above, or for a missing '.entry' or '.func'"));
        }
        self.has_reported_outside = true;
    }
}

/// A directive inside a body as a statement, or its name and span if it is valid at module scope only.
fn item_as_statement(item: Item<'_>) -> Result<Statement<'_>, (&'static str, Span)> {
    match item {
        Item::Loc(loc) => Ok(Statement::Loc(loc)),
        Item::Pragma { texts, span } => Ok(Statement::Pragma { texts, span }),
        Item::Section { text, span, labels, .. } => Ok(Statement::Section { text, labels, span }),
        Item::Variable(variable) => Ok(Statement::Variable(Box::new(variable))),
        Item::File { span, .. } => Err((".file", span)),
        Item::Version { span, .. } => Err((".version", span)),
        Item::Target { span, .. } => Err((".target", span)),
        Item::AddressSize { span, .. } => Err((".address_size", span)),
        Item::Alias { span, .. } => Err((".alias", span)),
        Item::Function(function) => Err((".func", function.span)),
    }
}
