//! Parses tokens to a syntax tree, by precedence climbing. The grammar is C's, with PTX names and lanes:
//!
//! ```text
//! whole       = expression { ',' expression }                    the value is that of the last, as in C
//! expression  = binary [ '?' expression ':' expression ]
//! binary      = unary { operator unary }                       operators bind as in C
//! unary       = ( '+' | '-' | '!' | '~' | '*' | '&' | '++' | '--' | '(' type ')' ) unary | postfix
//! postfix     = primary { '[' subscript { ',' subscript } ']' | '.' name | '->' name | '@' lanes | '++' | '--' }
//! subscript   = expression [ '..' expression ] | [ expression ] ':' [ expression ]
//! lanes       = '*' | range { ',' range }
//! range       = number [ ( '..' | '-' ) number ]
//! primary     = number | name | '@' path | function '(' expression { ',' expression } ')' | '(' expression ')'
//! type        = [ '@' ] [ space ] words { '*' }
//! ```
//!
//! `-` and `,` belong to a range only without blanks around them: `%r1@5 - 1` is a difference. A single number after the `@` of an operand
//! without registers is a count of elements, as in gdb: `*x@8` and `x[3]@8` are the slices `x[0..7]` and `x[3..10]`; so is a name, as in
//! `*x@n`, or an expression in parentheses.

mod casts;

use super::error::ExpressionError;
use super::lexer::{self, Token, TokenKind};
use super::names::SourceTypeName;
use super::tree::{AGGREGATES, Aggregate, AtLanes, BINARY, BinaryOp, FunctionId, Node, NodeKind, Step, UnaryOp};
use crate::debug::value::{Scalar, Type};
use crate::isa::ScalarType;
use crate::machine::{LANES, LaneMask};

/// Maximum nesting of parentheses and operators: the parser is recursive.
const DEPTH_MAX: u32 = 64;

/// Maximum number of tokens: a sequence of operators is a tree as deep as it is long.
const TOKENS_MAX: usize = 1000;

/// Parses a complete expression, which may have steps, `++x`, if `has_steps`.
pub fn parse(text: &str, has_steps: bool) -> Result<Node, ExpressionError> {
    let tokens = lexer::tokens(text)?;
    if let Some(Token { at, .. }) = tokens.get(TOKENS_MAX) {
        let message = format!("an expression has at most {TOKENS_MAX} words");
        return Err(ExpressionError { column: *at, message, expected: "the end".to_string() });
    }
    let mut parser = Parser { text, tokens: lexer::without_qualifiers(tokens), next: 0, depth: 0, below_star: false, has_steps };
    let mut node = parser.expression()?;
    while parser.consume(",") {
        node = parser.expression()?;
    }
    match parser.peek() {
        TokenKind::End => Ok(node),
        TokenKind::Sign("(") => {
            let message = "functions of the program cannot be called here".to_string();
            Err(ExpressionError { column: parser.at(), message, expected: "an operator or the end".to_string() })
        }
        _ => Err(parser.error("an operator or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    depth: u32,
    /// True after a `*`: a count after `@` belongs to it, not to its operand.
    below_star: bool,
    /// True if the expression may change variables.
    has_steps: bool,
}

type Parsed = Result<Node, ExpressionError>;

impl Parser<'_> {
    fn expression(&mut self) -> Parsed {
        self.descend()?;
        let below_star = std::mem::take(&mut self.below_star);
        let condition = self.binary(1)?;
        let at = condition.at;
        let node = if self.consume("?") {
            let yes = self.expression()?;
            self.expect(":", "':' and the value if it is false")?;
            let no = self.expression()?;
            Node { at, kind: NodeKind::Conditional(Box::new([condition, yes, no])) }
        } else {
            condition
        };
        self.depth -= 1;
        self.below_star = below_star;
        Ok(node)
    }

    fn binary(&mut self, weakest: u32) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let TokenKind::Sign(sign) = *self.peek() else { return Ok(left) };
            let logical = [("||", 1), ("&&", 2)].into_iter().find(|row| row.0 == sign);
            let operator = BINARY.iter().find(|row| row.0 == sign);
            let Some(binding) = logical.map(|row| row.1).or(operator.map(|row| row.2)).filter(|binding| *binding >= weakest) else {
                return Ok(left);
            };
            let at = left.at;
            self.next += 1;
            let right = self.binary(binding + 1)?;
            let operands = Box::new([left, right]);
            let kind =
                operator.map_or_else(|| NodeKind::Logical(sign == "||", operands.clone()), |row| NodeKind::Binary(row.1, operands.clone()));
            left = Node { at, kind };
        }
    }

    fn unary(&mut self) -> Parsed {
        self.descend()?;
        let at = self.at();
        let operators = [("+", UnaryOp::Plus), ("-", UnaryOp::Minus), ("!", UnaryOp::Not), ("~", UnaryOp::Complement)];
        let operator = operators.into_iter().find(|row| *self.peek() == TokenKind::Sign(row.0));
        let kind = if let Some(operator) = self.step(true)? {
            NodeKind::Step(Step { operator, is_after: false }, Box::new(self.unary()?))
        } else if let Some((sign, operator)) = operator {
            self.expect(sign, "")?;
            NodeKind::Unary(operator, Box::new(self.unary()?))
        } else if self.consume("*") {
            self.dereference()?
        } else if self.consume("&") {
            NodeKind::AddressOf(Box::new(self.unary()?))
        } else if let Some(word) = self.word_or_type() {
            self.next += 3;
            NodeKind::SourceCast(SourceTypeName { name: word, pointers: 0 }, Box::new(self.unary()?))
        } else if self.opens_type() {
            self.next += 1;
            let ty = self.type_name()?;
            NodeKind::Cast(ty, Box::new(self.unary()?))
        } else if let Some((ty, length)) = self.source_type() {
            self.next += length;
            NodeKind::SourceCast(ty, Box::new(self.unary()?))
        } else if *self.peek() == TokenKind::Name("sizeof".to_string()) {
            self.size_of()?
        } else {
            self.postfix()?.kind
        };
        self.depth -= 1;
        Ok(Node { at, kind })
    }

    /// Consumes the two signs of `++x` or, unless `is_before`, of `x++`, if they come next: of a difference such as `x--1` the second
    /// sign belongs to the number.
    fn step(&mut self, is_before: bool) -> Result<Option<BinaryOp>, ExpressionError> {
        let token = |ahead: usize| self.tokens.get(self.next + ahead);
        let (Some(first), Some(second)) = (token(0), token(1)) else { return Ok(None) };
        let operator = match first.kind {
            TokenKind::Sign("+") => BinaryOp::Add,
            TokenKind::Sign("-") => BinaryOp::Sub,
            _ => return Ok(None),
        };
        let is_operand = |token: &Token| match token.kind {
            TokenKind::Sign(sign) => matches!(sign, "(" | "~" | "!"),
            TokenKind::Name(_) | TokenKind::Number(_) | TokenKind::File(_) => true,
            TokenKind::End => false,
        };
        let is_step = first.kind == second.kind && second.at == first.at + 1 && (is_before || !token(2).is_some_and(is_operand));
        if is_step && !self.has_steps {
            let step = Step { operator, is_after: !is_before };
            let expected = format!("'{0} {0}' for the two signs", operator.symbol());
            return Err(ExpressionError { column: first.at, message: step.refusal(), expected });
        }
        self.next += if is_step { 2 } else { 0 };
        Ok(is_step.then_some(operator))
    }

    /// `sizeof(V)`, `sizeof(x)`, `sizeof x`.
    fn size_of(&mut self) -> Result<NodeKind, ExpressionError> {
        self.next += 1;
        let start = self.next;
        if *self.peek() != TokenKind::Sign("(") {
            let operand = self.unary()?;
            return Ok(NodeKind::SizeOf(super::print::text(&operand), Some(Box::new(operand))));
        }
        let end = self.closing(start).ok_or_else(|| self.error("')' after the operand of sizeof"))?;
        let byte = |token: usize| self.tokens.get(token).map_or(self.text.len(), |token| token.at);
        let text = self.text.get(byte(start) + 1..byte(end)).unwrap_or("").trim().to_string();
        if text.is_empty() {
            return Err(self.error("a type or an expression in the parentheses of sizeof"));
        }
        // The name of a type is no expression: `unsigned long`, `app::Ring<4>`.
        let before = (self.depth, self.below_star);
        self.next = start + 1;
        let operand = self.expression().ok().filter(|_| self.next == end);
        (self.depth, self.below_star) = before;
        self.next = end + 1;
        Ok(NodeKind::SizeOf(text, operand.map(Box::new)))
    }

    /// The token of the parenthesis that closes the one at token `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_i32;
        let closes = |token: &Token| {
            match token.kind {
                TokenKind::Sign("(") => depth += 1,
                TokenKind::Sign(")") => depth -= 1,
                _ => {}
            }
            depth == 0
        };
        self.tokens.iter().skip(open).position(closes).map(|ahead| open + ahead)
    }

    /// The operand of a `*`, with an optional count of elements.
    fn dereference(&mut self) -> Result<NodeKind, ExpressionError> {
        let below_star = std::mem::replace(&mut self.below_star, true);
        let pointer = self.unary()?;
        self.below_star = below_star;
        if below_star || !self.is_count_next() {
            return Ok(NodeKind::Dereference(Box::new(pointer)));
        }
        let count = self.tokens.get(self.next + 1).map(|token| &token.kind);
        if let Some(TokenKind::Number(Scalar { bits: count @ 0..32, .. })) = count
            && pointer.depends_on_lane()
        {
            let (message, pointer) = (format!("'@{count}' can be a count of elements or a lane"), super::print::operand(&pointer));
            let last = count.saturating_sub(1);
            let expected = format!("{pointer}[0..{last}] for the elements, *({pointer}@{count}) for lane {count}");
            return Err(ExpressionError { column: self.at(), message, expected });
        }
        let zero = Node { at: pointer.at, kind: NodeKind::Number(integer(0)) };
        self.elements(pointer, zero)
    }

    /// The slice of `base` from `first` on, with the count after the next `@`.
    fn elements(&mut self, base: Node, first: Node) -> Result<NodeKind, ExpressionError> {
        self.expect("@", "'@'")?;
        let at = self.at();
        let one = || Node { at, kind: NodeKind::Number(integer(1)) };
        if let TokenKind::Name(_) | TokenKind::Sign("(") = self.peek() {
            let count = self.primary()?;
            let end = Node { at, kind: NodeKind::Binary(BinaryOp::Add, Box::new([first.clone(), count])) };
            let last = Node { at, kind: NodeKind::Binary(BinaryOp::Sub, Box::new([end, one()])) };
            return Ok(NodeKind::Slice(Box::new([base, first, last])));
        }
        let count = match self.peek() {
            TokenKind::Number(Scalar { ty: Type::Scalar(_), bits }) => i32::try_from(*bits).ok().filter(|count| *count > 0),
            _ => None,
        };
        let Some(count) = count else { return Err(self.error("a number of elements, from 1 on")) };
        self.next += 1;
        let more = Node { at, kind: NodeKind::Number(integer(count as u32 - 1)) };
        let last = Node { at, kind: NodeKind::Binary(BinaryOp::Add, Box::new([first.clone(), more])) };
        Ok(NodeKind::Slice(Box::new([base, first, last])))
    }

    /// True if `@` and a single number come next, or a name or an expression in parentheses: these are no lanes.
    fn is_count_next(&self) -> bool {
        let kind = |ahead: usize| self.tokens.get(self.next + ahead).map(|token| &token.kind);
        if kind(0) == Some(&TokenKind::Sign("@")) && matches!(kind(1), Some(TokenKind::Name(_) | TokenKind::Sign("("))) {
            return true;
        }
        kind(0) == Some(&TokenKind::Sign("@"))
            && matches!(kind(1), Some(TokenKind::Number(_)))
            && kind(2) != Some(&TokenKind::Sign(".."))
            && self.range_sign(2).is_none()
    }

    fn postfix(&mut self) -> Parsed {
        let mut node = self.primary()?;
        loop {
            let at = node.at;
            if self.is_count_next() {
                if self.below_star {
                    return Ok(node);
                }
                if let NodeKind::Index(operands) = &node.kind
                    && !node.depends_on_lane()
                {
                    let [base, first] = (**operands).clone();
                    node = Node { at, kind: self.elements(base, first)? };
                    continue;
                }
            }
            let kind = if self.consume("[") {
                self.subscripts(node)?
            } else if let TokenKind::Name(name) = self.peek()
                && let Some(member) = name.strip_prefix('.')
            {
                let member = member.to_string();
                self.next += 1;
                NodeKind::Member(Box::new(node), member)
            } else if self.consume("->") {
                self.member_of(node)?
            } else if self.consume("@") {
                let start = self.next;
                let mask = self.lanes()?;
                // A list has signs between its numbers.
                NodeKind::Lanes(Box::new(node), AtLanes { mask, is_number: mask.count() == 1 && self.next == start + 1 })
            } else if let Some(operator) = self.step(false)? {
                NodeKind::Step(Step { operator, is_after: true }, Box::new(node))
            } else {
                return Ok(node);
            };
            node = Node { at, kind };
        }
    }

    /// The subscripts of `base`, after the opening bracket.
    fn subscripts(&mut self, base: Node) -> Result<NodeKind, ExpressionError> {
        let mut parts = vec![base];
        // The ends of the only subscript `i..j`.
        let mut ends = None;
        loop {
            let at = self.at();
            let is_end = |parser: &Self| matches!(parser.peek(), TokenKind::Sign("]" | ","));
            let first = if *self.peek() == TokenKind::Sign(":") { None } else { Some(self.expression()?) };
            let number = |bits: u128| Node { at, kind: NodeKind::Number(Scalar { ty: Type::Scalar(ScalarType::S64), bits }) };
            if self.consume(":") {
                let end = if is_end(self) { number(i64::MAX as u128) } else { self.expression()? };
                parts.push(Node { at, kind: NodeKind::Range(Box::new([first.unwrap_or_else(|| number(0)), end])) });
            } else if let (Some(first), true) = (&first, self.consume("..")) {
                let last = self.expression()?;
                ends = Some((first.clone(), last.clone()));
                let one = Node { at: last.at, kind: NodeKind::Number(integer(1)) };
                let end = Node { at: last.at, kind: NodeKind::Binary(BinaryOp::Add, Box::new([last, one])) };
                parts.push(Node { at, kind: NodeKind::Range(Box::new([first.clone(), end])) });
            } else {
                parts.extend(first);
            }
            if !self.consume(",") {
                break;
            }
        }
        self.expect("]", "']'")?;
        Ok(match (<[Node; 2]>::try_from(parts), ends) {
            (Ok([base, _]), Some((first, last))) => NodeKind::Slice(Box::new([base, first, last])),
            (Ok([base, Node { at, kind: range @ NodeKind::Range(_) }]), None) => {
                NodeKind::Subscripts(Box::new([base, Node { at, kind: range }]))
            }
            (Ok(parts), None) => NodeKind::Index(Box::new(parts)),
            (Err(parts), _) => NodeKind::Subscripts(parts.into_boxed_slice()),
        })
    }

    /// The member after `->`, perhaps with one of its own: the component of a vector is a part of the name's token.
    fn member_of(&mut self, pointer: Node) -> Result<NodeKind, ExpressionError> {
        let TokenKind::Name(name) = self.peek().clone() else { return Err(self.error("the name of a member")) };
        let at = pointer.at;
        self.next += 1;
        let target = Node { at, kind: NodeKind::Dereference(Box::new(pointer)) };
        let parts = name.split('.').filter(|part| !part.is_empty());
        let member = |target: Node, part: &str| Node { at, kind: NodeKind::Member(Box::new(target), part.to_string()) };
        Ok(parts.fold(target, member).kind)
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        let kind = match self.peek().clone() {
            TokenKind::Number(value) => {
                self.next += 1;
                NodeKind::Number(value)
            }
            TokenKind::Name(_) if self.opens_cast_of_cpp() => self.cast_of_cpp()?,
            TokenKind::Name(name) => {
                self.next += 1;
                let aggregate = AGGREGATES.iter().find(|row| row.0 == name).filter(|_| *self.peek() == TokenKind::Sign("("));
                let function = FunctionId::called(&name).filter(|_| *self.peek() == TokenKind::Sign("("));
                match (aggregate, function) {
                    (None, None) => NodeKind::named(name),
                    (aggregate, function) => self.call(aggregate.map(|row| row.1), function)?,
                }
            }
            TokenKind::File(path) => {
                self.next += 1;
                NodeKind::File(path)
            }
            TokenKind::Sign("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(")", "')' or an operator")?;
                inner.kind
            }
            _ => return Err(self.error("a value: a number, a register, a symbol or '('")),
        };
        Ok(Node { at, kind })
    }

    /// The arguments of a function, from the parenthesis on: with two, `min` and `max` are those of C.
    fn call(&mut self, aggregate: Option<Aggregate>, function: Option<FunctionId>) -> Result<NodeKind, ExpressionError> {
        self.expect("(", "'('")?;
        let mut arguments = vec![self.expression()?];
        let most = function.map_or(1, FunctionId::arguments);
        while arguments.len() < most && self.consume(",") {
            arguments.push(self.expression()?);
        }
        if arguments.len() < most && aggregate.is_none() {
            return Err(self.error("',' and another argument"));
        }
        self.expect(")", "')'")?;
        Ok(match (aggregate, function) {
            (Some(aggregate), _) if arguments.len() == 1 => NodeKind::Aggregate(aggregate, Box::new(arguments.remove(0))),
            (_, Some(function)) => NodeKind::Function(function, arguments.into()),
            (_, None) => return Err(self.error("one argument")),
        })
    }

    fn lanes(&mut self) -> Result<LaneMask, ExpressionError> {
        if self.consume("*") {
            return Ok(LaneMask::ALL);
        }
        let mut mask = LaneMask::NONE;
        loop {
            let first = self.lane()?;
            let is_range = self.consume("..") || self.consume_range_sign("-")?;
            let last = if is_range { self.lane()? } else { first };
            if last < first {
                self.next -= 1;
                return Err(self.error(&format!("a lane from {first} on; a difference is written with blanks, @{first} - {last}")));
            }
            mask |= (first..=last).map(|lane| lane as usize).collect();
            if !self.consume_range_sign(",")? {
                return Ok(mask);
            }
        }
    }

    /// Consumes a `-` or a `,` of a list of lanes, between two numbers.
    fn consume_range_sign(&mut self, sign: &str) -> Result<bool, ExpressionError> {
        let found = self.range_sign(0) == Some(sign);
        self.next += usize::from(found);
        let token_kind = |ahead: usize| self.tokens.get(self.next + ahead).map(|token| &token.kind);
        if !found && sign == "-" && token_kind(0) == Some(&TokenKind::Sign("-")) && matches!(token_kind(1), Some(TokenKind::Number(_))) {
            let blank = |at: usize| self.text[..at].ends_with(char::is_whitespace);
            let [minus, number] = [0, 1].map(|ahead| self.tokens.get(self.next + ahead).is_some_and(|token| blank(token.at)));
            if minus != number {
                return Err(self.error("lanes as in @0-7, or a difference with blanks on both sides, as in @0 - 7"));
            }
        }
        Ok(found)
    }

    /// The `-` or `,` at token `ahead` from here, if it is between two numbers without blanks.
    fn range_sign(&self, ahead: usize) -> Option<&'static str> {
        let token = |ahead: usize| self.tokens.get(self.next + ahead);
        let (sign, number) = (token(ahead)?, token(ahead + 1)?);
        let TokenKind::Sign(word @ ("-" | ",")) = sign.kind else { return None };
        let is_beside = !self.text[..sign.at].ends_with(char::is_whitespace) && number.at == sign.at + 1;
        (is_beside && matches!(number.kind, TokenKind::Number(_))).then_some(word)
    }

    fn lane(&mut self) -> Result<u32, ExpressionError> {
        let lane = match self.peek() {
            TokenKind::Number(Scalar { ty: Type::Scalar(ScalarType::S32), bits }) => u32::try_from(*bits).ok(),
            _ => None,
        };
        let Some(lane) = lane.filter(|lane| *lane < LANES as u32) else { return Err(self.error("'*' or a lane from 0 to 31")) };
        self.next += 1;
        Ok(lane)
    }

    fn descend(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth <= DEPTH_MAX * 2 { Ok(()) } else { Err(self.error("something simpler: this is nested too deeply")) }
    }

    fn peek(&self) -> &TokenKind {
        self.tokens.get(self.next).map_or(&TokenKind::End, |token| &token.kind)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |token| token.at)
    }

    fn consume(&mut self, sign: &str) -> bool {
        let is_consumed = matches!(self.peek(), TokenKind::Sign(found) if *found == sign);
        self.next += usize::from(is_consumed);
        is_consumed
    }

    fn expect(&mut self, sign: &str, expected: &str) -> Result<(), ExpressionError> {
        if self.consume(sign) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn error(&self, expected: &str) -> ExpressionError {
        let found = match self.peek() {
            TokenKind::End => "the expression ends here".to_string(),
            TokenKind::Sign(sign) => format!("'{sign}' cannot stand here"),
            TokenKind::Name(name) => format!("'{name}' cannot stand here"),
            TokenKind::Number(_) => "a number cannot stand here".to_string(),
            TokenKind::File(path) => format!("'@{path}' cannot stand here"),
        };
        ExpressionError { column: self.at(), message: found, expected: expected.to_string() }
    }
}

fn integer(value: u32) -> Scalar {
    Scalar { ty: Type::Scalar(ScalarType::S32), bits: u128::from(value) }
}
