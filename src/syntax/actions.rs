//! The actions of the grammar, which build the nodes of the tree.

use lalrpop_util::ParseError;

use super::lexer::{Number, Token};
use super::tree::{
    Attribute, BinaryOp, Expr, ExprKind, Function, FunctionDirective, Guard, Init, Instruction, Item, Linkage, Loc, Name, Operand,
    OperandKind, Pointer, Statement, UnaryOp, Variable,
};
use crate::base::{Diagnostic, SourceId, Span};

/// One statement, before it is added to the tree.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(super) enum ParsedStatement<'a> {
    /// A directive.
    Item(Box<Item<'a>>),
    /// The variables of one declaration.
    Variables(Vec<Variable<'a>>),
    /// A function without its body.
    Header(Box<FunctionParts<'a>>),
    /// A statement that is valid in a body only.
    Statement(Box<Statement<'a>>),
}

/// A function up to its body.
pub(super) struct FunctionParts<'a> {
    pub function: Function<'a>,
    /// It ended with `;`: there is no body.
    pub is_closed: bool,
}

/// A directive between the space of a variable and its type.
pub(super) enum Layout<'a> {
    Align(Expr<'a>),
    Attributes(Vec<Attribute<'a>>),
}

/// The part of a variable's declaration before its name.
#[derive(Clone)]
pub(super) struct VariableType<'a> {
    space: Name<'a>,
    bank: Option<Expr<'a>>,
    align: Option<Expr<'a>>,
    attributes: Vec<Attribute<'a>>,
    vector: Option<Name<'a>>,
    ty: Name<'a>,
    pointer: Option<Pointer<'a>>,
}

/// A name in a declaration, with its count, shape and initializer.
pub(super) struct Declarator<'a> {
    pub name: Name<'a>,
    pub count: Option<Expr<'a>>,
    pub shape: Vec<Option<Expr<'a>>>,
    pub init: Option<Init<'a>>,
}

/// A label in `.branchtargets`.
pub(super) struct Target<'a> {
    pub name: Name<'a>,
    pub count: Option<Expr<'a>>,
}

/// A prefix operator.
pub(super) enum Prefix {
    Operator(UnaryOp),
    Cast { unsigned: bool },
}

/// The directives between a function's parameters and its body (PTX ISA, "Performance-Tuning Directives" and others). `sema` checks their
/// numbers and versions.
const FUNCTION_DIRECTIVES: [&str; 12] = [
    "maxnreg",
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "noreturn",
    "abi_preserve",
    "abi_preserve_control",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
];

/// The error for a statement that the grammar or an action rejects.
pub(super) type SyntaxError<'a> = ParseError<u32, Token<'a>, Box<Diagnostic>>;

/// The file that is parsed, from which the actions make names and spans.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    pub source: SourceId,
    pub text: &'a str,
}

impl<'a> File<'a> {
    pub fn span(self, start: u32, end: u32) -> Span {
        Span::new(self.source, start, end)
    }

    /// The text from `start` to `end`, as written.
    pub fn slice(self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    pub fn name(self, start: u32, text: &'a str, end: u32) -> Name<'a> {
        Name { text, span: self.span(start, end) }
    }

    pub fn expr(self, start: u32, kind: ExprKind<'a>, end: u32) -> Expr<'a> {
        Expr { kind, span: self.span(start, end) }
    }

    fn reject(self, span: Span, message: impl Into<String>, help: &str) -> SyntaxError<'a> {
        ParseError::User { error: Box::new(Diagnostic::error("syntax", span, message).with_help(help)) }
    }
}

/// Directives.
impl<'a> File<'a> {
    pub fn version(self, start: u32, number: &str, end: u32) -> Result<Box<Item<'a>>, SyntaxError<'a>> {
        let span = self.span(start, end);
        let parts = number.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parts.ok_or_else(|| self.reject(span, format!("'{number}' is not a version of PTX"), VERSION_HELP))?;
        Ok(Box::new(Item::Version { major, minor, span }))
    }

    /// A number that must fit in 32 bits.
    pub fn small(self, start: u32, number: Number, end: u32) -> Result<u32, SyntaxError<'a>> {
        u32::try_from(number.value)
            .map_err(|_| self.reject(self.span(start, end), format!("{} is too large here", number.value), "the largest is 4294967295"))
    }

    pub fn loc(self, start: u32, (file, line, column): (u32, u32, u32), end: u32) -> Loc<'a> {
        Loc { file, line, column, function: None, inlined_at: None, span: self.span(start, end) }
    }

    pub fn section(self, start: u32, name: &'a str, labels: Vec<Option<Name<'a>>>, end: u32) -> Box<Item<'a>> {
        let labels = labels.into_iter().flatten().collect();
        Box::new(Item::Section { name, text: self.slice(start, end), labels, span: self.span(start, end) })
    }

    pub fn function_directive(self, name: Name<'a>, values: Vec<Expr<'a>>) -> Result<FunctionDirective<'a>, SyntaxError<'a>> {
        if FUNCTION_DIRECTIVES.contains(&name.text) {
            return Ok(FunctionDirective { name, values, texts: Vec::new() });
        }
        let known = FUNCTION_DIRECTIVES.map(|word| format!("'.{word}'")).join(", ");
        Err(self.reject(
            name.span,
            format!("'.{}' is not a directive of a function", name.text),
            &format!("there are {known} and '.pragma'"),
        ))
    }
}

const VERSION_HELP: &str = "write it like '.version 8.0'";
const LOC_HELP: &str = "an inlined place is written '.loc 1 2 3, function_name LABEL, inlined_at 1 2 3'";

impl<'a> Loc<'a> {
    /// Adds `function_name label+4` and `inlined_at 1 2 3`; rejects other words in their positions.
    pub(super) fn inlined(
        self,
        file: File<'a>,
        (function_word, function): (Name<'a>, (Name<'a>, u32)),
        (inlined_word, place): (Name<'a>, (u32, u32, u32)),
    ) -> Result<Self, SyntaxError<'a>> {
        for (word, wanted) in [(function_word, "function_name"), (inlined_word, "inlined_at")] {
            if word.text != wanted {
                return Err(file.reject(word.span, format!("expected '{wanted}', found '{}'", word.text), LOC_HELP));
            }
        }
        Ok(Self { function: Some(function), inlined_at: Some(place), ..self })
    }
}

/// Variables.
impl<'a> File<'a> {
    /// One variable for each declarator.
    #[expect(clippy::vec_box, reason = "the grammar keeps large values off its stack")]
    pub fn variables(
        self,
        start: u32,
        linkage: Option<Linkage>,
        attributes: Vec<Attribute<'a>>,
        mut ty: VariableType<'a>,
        declarators: Vec<Box<Declarator<'a>>>,
        end: u32,
    ) -> Vec<Variable<'a>> {
        ty.attributes.splice(0..0, attributes);
        let span = self.span(start, end);
        declarators.into_iter().map(|declarator| ty.clone().declare(linkage, *declarator, span)).collect()
    }

    /// `layout` holds `.align` and `.attribute` in the order they were written.
    pub fn variable_type(
        self,
        space: Name<'a>,
        bank: Option<Expr<'a>>,
        layout: Vec<Layout<'a>>,
        vector: Option<Name<'a>>,
        ty: Name<'a>,
        pointer: Option<Pointer<'a>>,
    ) -> Result<Box<VariableType<'a>>, SyntaxError<'a>> {
        let mut result = VariableType { space, bank, align: None, attributes: Vec::new(), vector, ty, pointer };
        for part in layout {
            match part {
                Layout::Align(align) if result.align.is_some() => {
                    return Err(self.reject(align.span, "a second '.align'", "a variable has one alignment: remove the other"));
                }
                Layout::Align(align) => result.align = Some(align),
                Layout::Attributes(attributes) => result.attributes.extend(attributes),
            }
        }
        Ok(Box::new(result))
    }

    pub fn parameter(
        self,
        start: u32,
        (ty, bare_align): (VariableType<'a>, Option<Expr<'a>>),
        name: Name<'a>,
        shape: Vec<Option<Expr<'a>>>,
        end: u32,
    ) -> Variable<'a> {
        let variable = ty.declare(None, Declarator { name, count: None, shape, init: None }, self.span(start, end));
        Variable { bare_align, ..variable }
    }
}

impl<'a> VariableType<'a> {
    fn declare(self, linkage: Option<Linkage>, declarator: Declarator<'a>, span: Span) -> Variable<'a> {
        let Self { space, bank, align, attributes, vector, ty, pointer } = self;
        let Declarator { name, count, shape, init } = declarator;
        Variable { linkage, space, bank, align, attributes, vector, ty, pointer, bare_align: None, name, count, shape, init, span }
    }
}

/// Statements and operands of a body.
impl<'a> File<'a> {
    pub fn branch_targets(self, start: u32, targets: Vec<Target<'a>>, end: u32) -> Result<Box<Statement<'a>>, SyntaxError<'a>> {
        if let Some(count) = targets.iter().find_map(|target| target.count.as_ref()) {
            return Err(self.reject(count.span, "a range of labels is not supported", "write the labels one by one: 'L0, L1, L2'"));
        }
        let targets = targets.into_iter().map(|target| target.name).collect();
        Ok(Box::new(Statement::BranchTargets { targets, span: self.span(start, end) }))
    }

    /// An instruction. Parentheses around an operand are removed, except in `call`, where they enclose lists.
    pub fn instruction(
        self,
        start: u32,
        guard: Option<Guard<'a>>,
        opcode: Name<'a>,
        mut operands: Vec<Operand<'a>>,
        end: u32,
    ) -> Box<Statement<'a>> {
        if !opcode.text.starts_with("call") {
            operands.iter_mut().for_each(remove_parentheses);
        }
        Box::new(Statement::Instruction(Instruction { guard, opcode, operands, span: self.span(start, end) }))
    }

    /// `{a, b}`
    pub fn vector(self, start: u32, mut operands: Vec<Operand<'a>>, end: u32) -> Operand<'a> {
        operands.iter_mut().for_each(remove_parentheses);
        Operand { kind: OperandKind::Vector(operands), span: self.span(start, end) }
    }

    /// A register and its component with white space or a comment between them: `%tid .x`.
    pub fn apart(self, start: u32, end: u32) -> Operand<'a> {
        plain_operand(self.expr(start, ExprKind::Name(self.slice(start, end)), end))
    }

    /// An expression as an operand: `!p` and `p|q` of names are not arithmetic.
    pub fn operand(self, expr: Expr<'a>) -> Operand<'a> {
        let span = expr.span;
        let kind = match expr.kind {
            ExprKind::Unary(UnaryOp::LogicalNot, inner) => match *inner {
                Expr { kind: ExprKind::Name(text), span } => OperandKind::Not(Name { text, span }),
                _ => OperandKind::Expr(Expr { kind: ExprKind::Unary(UnaryOp::LogicalNot, inner), span }),
            },
            ExprKind::Binary(BinaryOp::BitOr, left, right) if is_name(&left) && is_name(&right) => {
                OperandKind::Pair(Box::new(plain_operand(*left)), Box::new(plain_operand(*right)))
            }
            kind => OperandKind::Expr(Expr { kind, span }),
        };
        Operand { kind, span }
    }

    /// `{a, b}|p`
    pub fn pair(self, start: u32, first: Operand<'a>, second: Name<'a>, end: u32) -> Operand<'a> {
        let second = plain_operand(Expr { kind: ExprKind::Name(second.text), span: second.span });
        Operand { kind: OperandKind::Pair(Box::new(first), Box::new(second)), span: self.span(start, end) }
    }

    /// `[a+4]`, or a list in brackets.
    pub fn address(self, start: u32, operands: Vec<Operand<'a>>, end: u32) -> Operand<'a> {
        let kind = match <[Operand<'a>; 1]>::try_from(operands) {
            Ok([Operand { kind: OperandKind::Expr(address), .. }]) => OperandKind::Address(address),
            Ok([other]) => OperandKind::AddressList(vec![other]),
            Err(operands) => OperandKind::AddressList(operands),
        };
        Operand { kind, span: self.span(start, end) }
    }

    /// A parenthesized expression; a list is rejected. Its span includes the parentheses.
    pub fn parenthesized(self, start: u32, operands: Vec<Operand<'a>>, end: u32) -> Result<Expr<'a>, SyntaxError<'a>> {
        let span = self.span(start, end);
        match expression_of(OperandKind::List(operands)) {
            Some(ExprKind::Name(name)) if name.contains('.') => {
                Err(self.reject(span, "a component cannot be part of an expression", "compute with it in an instruction of its own"))
            }
            Some(kind) => Ok(Expr { kind, span }),
            None => Err(self.reject(span, "a list cannot be part of an expression", "put one expression between the parentheses")),
        }
    }

    pub fn generic(self, start: u32, function: Name<'a>, inner: Expr<'a>, end: u32) -> Result<Expr<'a>, SyntaxError<'a>> {
        if function.text == "generic" {
            return Ok(self.expr(start, ExprKind::Generic(Box::new(inner)), end));
        }
        let message = format!("'{}' cannot be applied to an expression", function.text);
        Err(self.reject(function.span, message, "only 'generic(..)' and a mask such as '0xFF(..)' can; separate operands with ','"))
    }

    pub fn cast(self, ty: Name<'a>) -> Result<Prefix, SyntaxError<'a>> {
        match ty.text {
            "s64" => Ok(Prefix::Cast { unsigned: false }),
            "u64" => Ok(Prefix::Cast { unsigned: true }),
            other => Err(self.reject(ty.span, format!("there is no cast to '.{other}'"), "a cast is '(.s64)' or '(.u64)'")),
        }
    }
}

impl Prefix {
    pub fn apply(self, inner: Expr<'_>) -> ExprKind<'_> {
        let inner = Box::new(inner);
        match self {
            Prefix::Operator(operator) => ExprKind::Unary(operator, inner),
            Prefix::Cast { unsigned } => ExprKind::Cast { unsigned, inner },
        }
    }
}

impl From<Number> for ExprKind<'_> {
    fn from(number: Number) -> Self {
        ExprKind::Int { value: number.value, unsigned: number.unsigned }
    }
}

/// A list of one element, with capacity for the operands of most instructions.
pub(super) fn list_of<T>(first: T) -> Vec<T> {
    let mut list = Vec::with_capacity(4);
    list.push(first);
    list
}

fn is_name(expr: &Expr<'_>) -> bool {
    matches!(expr.kind, ExprKind::Name(_))
}

fn plain_operand(expr: Expr<'_>) -> Operand<'_> {
    let span = expr.span;
    Operand { kind: OperandKind::Expr(expr), span }
}

/// Replaces `(3+2)` by `3+2`. A list that contains names is not changed.
fn remove_parentheses(operand: &mut Operand<'_>) {
    if !matches!(operand.kind, OperandKind::List(_)) {
        return;
    }
    let kind = std::mem::replace(&mut operand.kind, OperandKind::List(Vec::new()));
    operand.kind = match expression_of(kind.clone()) {
        Some(inner) if !has_names(&inner) => OperandKind::Expr(Expr { kind: inner, span: operand.span }),
        _ => kind,
    };
}

/// True if an expression contains names other than `WARP_SZ`.
fn has_names(kind: &ExprKind<'_>) -> bool {
    match kind {
        ExprKind::Name(name) => *name != "WARP_SZ",
        ExprKind::Int { .. } | ExprKind::Float(_) | ExprKind::Float32Bits(_) | ExprKind::Float64Bits(_) => false,
        ExprKind::Unary(_, inner) | ExprKind::Cast { inner, .. } | ExprKind::Generic(inner) | ExprKind::Mask { inner, .. } => {
            has_names(&inner.kind)
        }
        ExprKind::Binary(_, left, right) => has_names(&left.kind) || has_names(&right.kind),
        ExprKind::Conditional(condition, yes, no) => [condition, yes, no].into_iter().any(|part| has_names(&part.kind)),
    }
}

/// The expression that an operand or list of one element was parsed from: the inverse of [`File::operand`].
fn expression_of(kind: OperandKind<'_>) -> Option<ExprKind<'_>> {
    match kind {
        OperandKind::Expr(expr) => Some(expr.kind),
        OperandKind::Not(Name { text, span }) => {
            Some(ExprKind::Unary(UnaryOp::LogicalNot, Box::new(Expr { kind: ExprKind::Name(text), span })))
        }
        OperandKind::List(operands) => match <[Operand<'_>; 1]>::try_from(operands) {
            Ok([inner]) => expression_of(inner.kind),
            Err(_) => None,
        },
        _ => None,
    }
}
