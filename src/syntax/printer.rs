//! Printing of trees: every node of the tree displays as PTX, in a uniform layout.
//!
//! Parsing the output gives the same tree, except for spans. Parentheses are written where precedence requires them.

use std::fmt::{Display, Formatter, Result};

use super::tree::{
    Attribute, Block, Expr, ExprKind, Function, FunctionDirective, Guard, Init, Instruction, Item, Linkage, Loc, Module, Name, Operand,
    OperandKind, Pointer, Statement, UnaryOp, Variable,
};

impl Display for Module<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

impl Display for Item<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Item::Version { major, minor, .. } => write!(f, ".version {major}.{minor}"),
            Item::Target { names, .. } => write!(f, ".target {}", Comma(names)),
            Item::AddressSize { bits, .. } => write!(f, ".address_size {bits}"),
            Item::Variable(variable) => write!(f, "{variable};"),
            Item::Function(function) => write!(f, "{function}"),
            Item::Alias { name, target, .. } => write!(f, ".alias {name}, {target};"),
            Item::File { index, name, .. } => write!(f, ".file {index} \"{name}\""),
            Item::Loc(loc) => write!(f, "{loc}"),
            Item::Pragma { texts, .. } => pragma(f, texts),
            Item::Section { text, .. } => f.write_str(text),
        }
    }
}

impl Display for Function<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        optional(f, self.linkage.as_ref())?;
        f.write_str(if self.is_kernel { ".entry " } else { ".func " })?;
        attributes(f, &self.attributes)?;
        if !self.results.is_empty() {
            write!(f, "({}) ", Comma(&self.results))?;
        }
        write!(f, "{}({})", self.name, Comma(&self.params))?;
        self.directives.iter().try_for_each(|directive| write!(f, " {directive}"))?;
        let ends_with_pragma = self.directives.last().is_some_and(|directive| !directive.texts.is_empty());
        match &self.body {
            Some(body) => {
                f.write_str("\n")?;
                block(f, body, 0)
            }
            None if ends_with_pragma => Ok(()),
            None => f.write_str(";"),
        }
    }
}

impl Display for FunctionDirective<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if !self.texts.is_empty() {
            return pragma(f, &self.texts);
        }
        write!(f, ".{}", self.name)?;
        if self.values.is_empty() { Ok(()) } else { write!(f, " {}", Comma(&self.values)) }
    }
}

impl Display for Linkage {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Linkage::Extern => ".extern",
            Linkage::Visible => ".visible",
            Linkage::Weak => ".weak",
            Linkage::Common => ".common",
        })
    }
}

impl Display for Attribute<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".{}", self.name)?;
        if self.values.is_empty() { Ok(()) } else { write!(f, "({})", Comma(&self.values)) }
    }
}

/// Without a semicolon, so that it serves for parameters too.
impl Display for Variable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        optional(f, self.linkage.as_ref())?;
        write!(f, ".{}", self.space)?;
        if let Some(bank) = &self.bank {
            write!(f, "[{bank}]")?;
        }
        f.write_str(" ")?;
        attributes(f, &self.attributes)?;
        if let Some(align) = &self.align {
            write!(f, ".align {align} ")?;
        }
        if let Some(vector) = &self.vector {
            write!(f, ".{vector} ")?;
        }
        write!(f, ".{} ", self.ty)?;
        optional(f, self.pointer.as_ref())?;
        if let Some(align) = &self.bare_align {
            write!(f, ".align {align} ")?;
        }
        write!(f, "{}", self.name)?;
        if let Some(count) = &self.count {
            write!(f, "<{count}>")?;
        }
        for size in &self.shape {
            match size {
                Some(size) => write!(f, "[{size}]")?,
                None => f.write_str("[]")?,
            }
        }
        match &self.init {
            Some(init) => write!(f, " = {init}"),
            None => Ok(()),
        }
    }
}

impl Display for Pointer<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(".ptr")?;
        if let Some(space) = &self.space {
            write!(f, " .{space}")?;
        }
        match &self.align {
            Some(align) => write!(f, " .align {align}"),
            None => Ok(()),
        }
    }
}

impl Display for Init<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Init::Value(value) => write!(f, "{value}"),
            Init::List(values, _) => write!(f, "{{{}}}", Comma(values)),
            Init::Field { name, value } => write!(f, "{name} = {value}"),
        }
    }
}

/// A nested scope starts at the left margin.
impl Display for Statement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        statement(f, self, 0)
    }
}

fn statement(f: &mut Formatter<'_>, statement: &Statement<'_>, depth: usize) -> Result {
    match statement {
        Statement::Label(name) => write!(f, "{name}:"),
        Statement::Instruction(instruction) => write!(f, "{instruction}"),
        Statement::Variable(variable) => write!(f, "{variable};"),
        Statement::Block(inner) => block(f, inner, depth),
        Statement::Loc(loc) => write!(f, "{loc}"),
        Statement::Pragma { texts, .. } => pragma(f, texts),
        Statement::BranchTargets { targets, .. } => write!(f, ".branchtargets {};", Comma(targets)),
        Statement::CallTargets { targets, .. } => write!(f, ".calltargets {};", Comma(targets)),
        Statement::CallPrototype { results, params, directives, .. } => {
            f.write_str(".callprototype ")?;
            if !results.is_empty() {
                write!(f, "({}) ", Comma(results))?;
            }
            write!(f, "_ ({})", Comma(params))?;
            directives.iter().try_for_each(|directive| write!(f, " {directive}"))?;
            f.write_str(";")
        }
        Statement::Section { text, .. } => f.write_str(text),
    }
}

/// Writes `block`; its braces are indented by `depth` steps, its statements by one more.
fn block(f: &mut Formatter<'_>, block: &Block<'_>, depth: usize) -> Result {
    const STEP: usize = 4;
    f.write_str("{\n")?;
    for inner in &block.statements {
        let indent = if matches!(inner, Statement::Label(_)) { depth * STEP } else { (depth + 1) * STEP };
        write!(f, "{:indent$}", "")?;
        statement(f, inner, depth + 1)?;
        f.write_str("\n")?;
    }
    write!(f, "{:indent$}}}", "", indent = depth * STEP)
}

impl Display for Loc<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".loc {} {} {}", self.file, self.line, self.column)?;
        if let (Some((label, offset)), Some((file, line, column))) = (&self.function, self.inlined_at) {
            write!(f, ", function_name {label}+{offset}, inlined_at {file} {line} {column}")?;
        }
        Ok(())
    }
}

impl Display for Instruction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        optional(f, self.guard.as_ref())?;
        write!(f, "{}", self.opcode)?;
        if !self.operands.is_empty() {
            write!(f, " {}", Comma(&self.operands))?;
        }
        f.write_str(";")
    }
}

impl Display for Guard<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "@{}{}", if self.negate { "!" } else { "" }, self.name)
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            OperandKind::Expr(expr) => write!(f, "{expr}"),
            OperandKind::Not(name) => write!(f, "!{name}"),
            OperandKind::Pair(first, second) => write!(f, "{first}|{second}"),
            OperandKind::Vector(operands) => write!(f, "{{{}}}", Comma(operands)),
            OperandKind::Address(address) => write!(f, "[{address}]"),
            OperandKind::Index(array, index) => write!(f, "{array}[{index}]"),
            OperandKind::AddressList(operands) => write!(f, "[{}]", Comma(operands)),
            OperandKind::List(operands) => write!(f, "({})", Comma(operands)),
        }
    }
}

impl Display for Expr<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        expression(f, self, 0)
    }
}

/// A precedence higher than that of every binary operator.
const TIGHTEST: u8 = u8::MAX;

/// Writes `expr`, in parentheses if it binds less tightly than `precedence`.
fn expression(f: &mut Formatter<'_>, expr: &Expr<'_>, precedence: u8) -> Result {
    match &expr.kind {
        ExprKind::Name(name) => f.write_str(name),
        ExprKind::Int { value, unsigned } => write!(f, "{value}{}", if *unsigned { "U" } else { "" }),
        ExprKind::Float(value) => write!(f, "{value:?}"),
        ExprKind::Float32Bits(bits) => enclosed(f, precedence > 0, |f| write!(f, "0f{bits:08X}")),
        ExprKind::Float64Bits(bits) => write!(f, "0d{bits:016X}"),
        ExprKind::Unary(operator, inner) => {
            f.write_str(operator.text())?;
            expression(f, inner, TIGHTEST)
        }
        ExprKind::Cast { unsigned, inner } => {
            f.write_str(if *unsigned { "(.u64)" } else { "(.s64)" })?;
            expression(f, inner, TIGHTEST)
        }
        ExprKind::Generic(inner) => write!(f, "generic({inner})"),
        ExprKind::Mask { mask, inner } => write!(f, "{mask:#X}({inner})"),
        ExprKind::Binary(operator, left, right) => enclosed(f, operator.precedence() < precedence, |f| {
            expression(f, left, operator.precedence())?;
            write!(f, " {} ", operator.text())?;
            expression(f, right, operator.precedence() + 1)
        }),
        ExprKind::Conditional(condition, yes, no) => enclosed(f, precedence > 0, |f| {
            expression(f, condition, 1)?;
            write!(f, " ? {yes} : {no}")
        }),
    }
}

/// Calls `content`, between parentheses if `is_needed`.
fn enclosed(f: &mut Formatter<'_>, is_needed: bool, content: impl Fn(&mut Formatter<'_>) -> Result) -> Result {
    if !is_needed {
        return content(f);
    }
    f.write_str("(")?;
    content(f)?;
    f.write_str(")")
}

impl UnaryOp {
    /// Its spelling.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::LogicalNot => "!",
            UnaryOp::BitNot => "~",
        }
    }
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.text)
    }
}

/// Its elements with commas between them.
struct Comma<'t, T>(&'t [T]);

impl<T: Display> Display for Comma<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut separator = "";
        for element in self.0 {
            write!(f, "{separator}{element}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// Writes `part` with a space after it, if it is present.
fn optional(f: &mut Formatter<'_>, part: Option<&impl Display>) -> Result {
    part.map_or(Ok(()), |part| write!(f, "{part} "))
}

fn attributes(f: &mut Formatter<'_>, attributes: &[Attribute<'_>]) -> Result {
    if attributes.is_empty() { Ok(()) } else { write!(f, ".attribute({}) ", Comma(attributes)) }
}

fn pragma(f: &mut Formatter<'_>, texts: &[Name<'_>]) -> Result {
    f.write_str(".pragma ")?;
    let mut separator = "";
    for text in texts {
        write!(f, "{separator}\"{text}\"")?;
        separator = ", ";
    }
    f.write_str(";")
}
