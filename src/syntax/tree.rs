//! The syntax tree, which borrows from the text of the file. It is independent of the instruction set: an opcode is a word with dotted
//! words after it, which `sema` checks.

use crate::base::Span;

/// A word of the file, with its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// Its text, with `%`, `$` or `_` as written; without a leading dot for directives and modifiers.
    pub text: &'a str,
    /// Its span in the text.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module<'a> {
    /// Its directives, declarations and functions in order, without those that could not be parsed.
    pub items: Vec<Item<'a>>,
}

/// A directive, declaration or function at module scope.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a module has few items, and most of the large ones are what most of them are: variables")]
pub enum Item<'a> {
    /// `.version 9.0`
    Version {
        /// `9` of `9.0`.
        major: u32,
        /// `0` of `9.0`.
        minor: u32,
        /// The whole directive.
        span: Span,
    },
    /// `.target sm_90a, debug`
    Target {
        /// The architecture and options, in the order written.
        names: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
    /// `.address_size 64`
    AddressSize {
        /// As written; only 32 and 64 are valid.
        bits: u32,
        /// The whole directive.
        span: Span,
    },
    /// A variable.
    Variable(Variable<'a>),
    /// A kernel or function, declared or defined.
    Function(Box<Function<'a>>),
    /// `.alias fAlias, fAliasee;`
    Alias {
        /// The alias.
        name: Name<'a>,
        /// The function that it names.
        target: Name<'a>,
        /// The whole directive.
        span: Span,
    },
    /// `.file 1 "name"`
    File {
        /// The number by which `.loc` refers to it.
        index: u32,
        /// Its path.
        name: &'a str,
        /// The whole directive.
        span: Span,
    },
    /// `.loc` at module scope (accepted, of no effect).
    Loc(Loc<'a>),
    /// `.pragma "text", ..;`
    Pragma {
        /// The strings, without their quotes.
        texts: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
    /// `.section NAME { .. }` or `@@DWARF ..`: debug data, stored as text only.
    Section {
        /// `debug_str`, or `@@DWARF`.
        name: &'a str,
        /// All of it, as written.
        text: &'a str,
        /// The labels in it.
        labels: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
}

/// Linking directives before a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// `.extern`
    Extern,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A kernel or function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<'a> {
    /// `.extern`, `.visible`, `.weak` or `.common`.
    pub linkage: Option<Linkage>,
    /// True for `.entry`, false for `.func`.
    pub is_kernel: bool,
    /// Its name.
    pub name: Name<'a>,
    /// The attributes in `.attribute(..)`.
    pub attributes: Vec<Attribute<'a>>,
    /// Return parameters.
    pub results: Vec<Variable<'a>>,
    /// Input parameters.
    pub params: Vec<Variable<'a>>,
    /// `.maxntid 256, 1, 1`, `.noreturn` and other directives before the body.
    pub directives: Vec<FunctionDirective<'a>>,
    /// The statements between the braces; `None` for a declaration.
    pub body: Option<Block<'a>>,
    /// From the first directive to the end.
    pub span: Span,
}

/// A directive between a function's parameters and its body.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDirective<'a> {
    /// `maxntid`, `reqntid`, `minnctapersm`, `noreturn`, `pragma`, …
    pub name: Name<'a>,
    /// Its numbers.
    pub values: Vec<Expr<'a>>,
    /// `.pragma` strings.
    pub texts: Vec<Name<'a>>,
}

/// An attribute in `.attribute(..)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute<'a> {
    /// `managed`, `unified`.
    pub name: Name<'a>,
    /// Its numbers.
    pub values: Vec<Expr<'a>>,
}

/// A declaration of one variable: `.global .align 4 .b8 x[16] = {..}`; a declaration of several variables becomes one for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable<'a> {
    /// `.extern`, `.visible`, `.weak` or `.common`.
    pub linkage: Option<Linkage>,
    /// `reg`, `sreg`, `const`, `global`, `local`, `param`, `shared`, `tex`, `surf`, without the dot.
    pub space: Name<'a>,
    /// `.const[3]` of PTX 1.x.
    pub bank: Option<Expr<'a>>,
    /// `.align`.
    pub align: Option<Expr<'a>>,
    /// The attributes in `.attribute(..)`.
    pub attributes: Vec<Attribute<'a>>,
    /// `.v2` or `.v4`.
    pub vector: Option<Name<'a>>,
    /// The type's name: `b32`, `f16x2`, `texref`, `pred`, ...
    pub ty: Name<'a>,
    /// `.ptr .space .align N` of a kernel parameter.
    pub pointer: Option<Pointer<'a>>,
    /// `.align N` after the type of a parameter, without the `.ptr` that belongs before it.
    pub bare_align: Option<Expr<'a>>,
    /// Its name; `_` in a prototype.
    pub name: Name<'a>,
    /// `%r<100>`: the number of registers.
    pub count: Option<Expr<'a>>,
    /// Dimensions, outermost first; `None` for `[]`.
    pub shape: Vec<Option<Expr<'a>>>,
    /// The initializer after `=`.
    pub init: Option<Init<'a>>,
    /// The whole declaration.
    pub span: Span,
}

/// `.ptr .global .align 16` of a kernel parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer<'a> {
    /// The space it points into.
    pub space: Option<Name<'a>>,
    /// Alignment of what it points to.
    pub align: Option<Expr<'a>>,
}

/// An initializer.
#[derive(Clone, Debug, PartialEq)]
pub enum Init<'a> {
    /// One value.
    Value(Expr<'a>),
    /// `{..}`, perhaps nested.
    List(Vec<Init<'a>>, Span),
    /// `addr_mode_0 = wrap` in the list of a `.samplerref`.
    Field {
        /// The field.
        name: Name<'a>,
        /// Its value.
        value: Box<Expr<'a>>,
    },
}

/// Statements between braces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block<'a> {
    /// In order.
    pub statements: Vec<Statement<'a>>,
    /// The closing brace.
    pub end: Option<Span>,
}

impl<'a> Block<'a> {
    /// All statements but blocks, those of nested blocks included, in order.
    pub fn flattened(&self) -> impl Iterator<Item = &Statement<'a>> {
        let mut open = vec![self.statements.iter()];
        std::iter::from_fn(move || {
            loop {
                match open.last_mut()?.next() {
                    Some(Statement::Block(inner)) => open.push(inner.statements.iter()),
                    Some(statement) => return Some(statement),
                    None => drop(open.pop()),
                }
            }
        })
    }
}

/// A statement in a function's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<'a> {
    /// `name:`
    Label(Name<'a>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// A register or variable.
    Variable(Box<Variable<'a>>),
    /// `{ .. }`, a nested scope.
    Block(Block<'a>),
    /// `.loc`
    Loc(Loc<'a>),
    /// `.pragma "text";`
    Pragma {
        /// The strings, without their quotes.
        texts: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
    /// `label: .branchtargets A, B;` (the label is a separate statement before it)
    BranchTargets {
        /// Labels, in the order of the index.
        targets: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
    /// `label: .calltargets f, g;`
    CallTargets {
        /// Functions that the call may reach.
        targets: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
    /// `label: .callprototype (..) _ (..) ..;`
    CallPrototype {
        /// Return parameters.
        results: Vec<Variable<'a>>,
        /// Input parameters.
        params: Vec<Variable<'a>>,
        /// `.noreturn` and other directives.
        directives: Vec<FunctionDirective<'a>>,
        /// The whole directive.
        span: Span,
    },
    /// `.section`, `.file`, `@@DWARF` inside a body: stored as text only.
    Section {
        /// All of it, as written.
        text: &'a str,
        /// The labels in it.
        labels: Vec<Name<'a>>,
        /// The whole directive.
        span: Span,
    },
}

/// `.loc file line column`, perhaps with `function_name` and `inlined_at`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loc<'a> {
    /// Number of the `.file` directive.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// `function_name` label and offset.
    pub function: Option<(Name<'a>, u32)>,
    /// `inlined_at file line column`.
    pub inlined_at: Option<(u32, u32, u32)>,
    /// The whole directive.
    pub span: Span,
}

/// `@!p opcode.modifier.type a, b, c;`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction<'a> {
    /// `@p` or `@!p`.
    pub guard: Option<Guard<'a>>,
    /// The complete opcode as written, `ld.global.v2.f32`; it may contain white space and comments, which PTX allows between the words. A
    /// constant bank of PTX 1.x is part of it: `ld.const[3].f32`.
    pub opcode: Name<'a>,
    /// Operands in order.
    pub operands: Vec<Operand<'a>>,
    /// From guard to semicolon.
    pub span: Span,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// The predicate.
    pub name: Name<'a>,
    /// True if it is negated.
    pub negate: bool,
}

/// An operand and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand<'a> {
    /// Its kind.
    pub kind: OperandKind<'a>,
    /// Its span in the text.
    pub span: Span,
}

/// The kinds of operands.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandKind<'a> {
    /// A register, variable, label, function, number, constant expression, `var+4`, `%tid.x`, `_`.
    Expr(Expr<'a>),
    /// `!p`
    Not(Name<'a>),
    /// `p|q`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `{a, b, _, 3}`
    Vector(Vec<Operand<'a>>),
    /// `[a+4]`, `[a]`
    Address(Expr<'a>),
    /// `var[i]`: the address of an array element in old code
    Index(Name<'a>, Box<Expr<'a>>),
    /// `[tensorMap, {x, y}]`, `[tex, {x}]` and `[tex, sampler, {x}]`: lists in square brackets, of tensor and texture instructions
    AddressList(Vec<Operand<'a>>),
    /// `(a, b)` around arguments and results of a call; with one element it may also be a constant in parentheses, `(1+2)`
    List(Vec<Operand<'a>>),
}

/// A constant expression, or a name, or a name with an offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr<'a> {
    /// Its kind.
    pub kind: ExprKind<'a>,
    /// Its span in the text.
    pub span: Span,
}

/// The kinds of expressions (PTX ISA, "Constants" and "Constant Expressions").
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind<'a> {
    /// A name: register with component (`%tid.x`, `%v.y`), variable, label, `_`, `WARP_SZ`.
    Name(&'a str),
    /// An integer; `unsigned` if it has the suffix `U` or does not fit `.s64`.
    Int {
        /// Its bits.
        value: u64,
        /// True for `.u64`, false for `.s64`.
        unsigned: bool,
    },
    /// `1.5`: a 64-bit float.
    Float(f64),
    /// `0f3F800000`
    Float32Bits(u32),
    /// `0d3FF0000000000000`
    Float64Bits(u64),
    /// `-a`, `~a`, `!a`, `+a`
    Unary(UnaryOp, Box<Expr<'a>>),
    /// `a + b` and other binary operations
    Binary(BinaryOp, Box<Expr<'a>>, Box<Expr<'a>>),
    /// `c ? a : b`
    Conditional(Box<Expr<'a>>, Box<Expr<'a>>, Box<Expr<'a>>),
    /// `(.s64) a` or `(.u64) a`
    Cast {
        /// True for `.u64`, false for `.s64`.
        unsigned: bool,
        /// The operand.
        inner: Box<Expr<'a>>,
    },
    /// `generic(a)`
    Generic(Box<Expr<'a>>),
    /// `0xFF00(a)`: the masked and shifted bytes of an address
    Mask {
        /// The mask, with all ones in the selected bytes.
        mask: u64,
        /// The address.
        inner: Box<Expr<'a>>,
    },
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the variants are the operators of PTX ISA, \"Constant Expressions\"")]
pub enum UnaryOp { Plus, Minus, LogicalNot, BitNot }

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the variants are the operators of PTX ISA, \"Constant Expressions\"")]
pub enum BinaryOp {
    Mul, Div, Rem, Add, Sub, Shl, Shr, Lt, Gt, Le, Ge, Eq, Ne, BitAnd, BitXor, BitOr, And, Or,
}
