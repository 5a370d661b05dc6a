//! Instructions of a test.

use std::collections::BTreeMap;

use super::super::condition::Comparison;
use super::super::error::ParseError;
use super::super::lexer::Token;
use super::super::test::{Access, AccessKind, Arithmetic, Instruction, Op, Operand, Proxy};
use super::{Parser, proxy_of};
use crate::isa::{Ordering, Scope};

/// A branch whose label may follow: the thread, the instruction, the label, and where it stands.
type Pending<'a> = (usize, usize, &'a str, usize);

impl<'a> Parser<'a> {
    /// One cell of a row: labels, and at most one instruction.
    pub(super) fn cell(
        &mut self,
        thread: usize,
        labels: &mut BTreeMap<&'a str, usize>,
        branches: &mut Vec<Pending<'a>>,
    ) -> Result<(), ParseError> {
        while let (Some(Token::Word(label)), Some(Token::Sign(":"))) = (self.peek(), self.peek_after(1)) {
            if labels.insert(label, self.threads[thread].code.len()).is_some() {
                return Err(self.error(format!("P{} has two labels {label}", self.threads[thread].number)));
            }
            self.next += 2;
        }
        if matches!(self.peek(), Some(Token::Sign("|" | ";"))) {
            return Ok(());
        }
        let first = self.byte();
        let (op, label) = self.instruction(thread)?;
        let end = self.tokens[self.next - 1].end;
        let text = self.text[first..end].split_whitespace().collect::<Vec<_>>().join(" ");
        let line = self.text[..first].matches('\n').count() as u32 + 1;
        let index = self.threads[thread].code.len();
        branches.extend(label.map(|label| (thread, index, label, first)));
        self.threads[thread].code.push(Instruction { text, line, op });
        Ok(())
    }

    /// An instruction, and the label of a branch.
    fn instruction(&mut self, thread: usize) -> Result<(Op, Option<&'a str>), ParseError> {
        let word = self.word("an instruction")?;
        let parts: Vec<&str> = word.split('.').collect();
        let unknown = |parser: &mut Self| {
            parser.next -= 1;
            Err(parser.error(format!("{word} is no instruction of the litmus format")))
        };
        let op = match parts[0] {
            "goto" => {
                let label = self.word("a label")?;
                return Ok((Op::Branch { condition: None, target: 0 }, Some(label)));
            }
            "fence" => match fence(&parts[1..]) {
                Some(op) => op,
                None => return unknown(self),
            },
            "bar" => match parts[1..] {
                ["cta", "sync"] => self.barrier(thread, false)?,
                ["cta", "arrive"] => self.barrier(thread, true)?,
                _ => return unknown(self),
            },
            "ld" if parts.len() == 1 => {
                let result = self.register(thread)?;
                Op::Compute { result, function: Arithmetic::Second, operands: [Operand::Constant(0), self.comma_operand(thread)?] }
            }
            name if parts.len() == 1 && arithmetic(name).is_some() => {
                let function = arithmetic(name).unwrap_or(Arithmetic::Add);
                let result = self.register(thread)?;
                Op::Compute { result, function, operands: [self.comma_operand(thread)?, self.comma_operand(thread)?] }
            }
            name if parts.len() == 1 && branch(name).is_some() => {
                let comparison = branch(name).unwrap_or(Comparison::Eq);
                let condition = Some((comparison, self.operand(thread)?, self.comma_operand(thread)?));
                self.expect(",")?;
                let label = self.word("a label")?;
                return Ok((Op::Branch { condition, target: 0 }, Some(label)));
            }
            _ => match access_head(&parts) {
                Some(head) => self.access(thread, head)?,
                None => return unknown(self),
            },
        };
        Ok((op, None))
    }

    fn access(&mut self, thread: usize, Head { shape, proxy, ordering, scope }: Head) -> Result<Op, ParseError> {
        let (location, kind) = match shape {
            Shape::Load => {
                let result = self.register(thread)?;
                (self.comma_location()?, AccessKind::Load(result))
            }
            Shape::Store => {
                let location = self.accessed()?;
                (location, AccessKind::Store(self.comma_operand(thread)?))
            }
            Shape::Reduction(function) => {
                let location = self.accessed()?;
                (location, AccessKind::Atomic(None, function, self.comma_operand(thread)?))
            }
            Shape::Atomic(function) => {
                let result = self.register(thread)?;
                let location = self.comma_location()?;
                (location, AccessKind::Atomic(Some(result), function, self.comma_operand(thread)?))
            }
            Shape::CompareAndSwap => {
                let result = self.register(thread)?;
                let location = self.comma_location()?;
                (location, AccessKind::CompareAndSwap(result, self.comma_operand(thread)?, self.comma_operand(thread)?))
            }
        };
        Ok(Op::Access(Access { location, proxy, ordering, scope, kind }))
    }

    fn barrier(&mut self, thread: usize, only_arrives: bool) -> Result<Op, ParseError> {
        let instance = self.number("the number of the barrier instruction")?;
        let id = if self.accept(",") { Some(self.operand(thread)?) } else { None };
        let count = if id.is_some() && self.accept(",") { Some(self.operand(thread)?) } else { None };
        Ok(Op::Barrier { only_arrives, instance, id, count })
    }

    fn register(&mut self, thread: usize) -> Result<usize, ParseError> {
        let name = self.word("a register such as r0")?;
        if !is_register(name) {
            self.next -= 1;
            return Err(self.expected("a register such as r0"));
        }
        Ok(self.threads[thread].register(name))
    }

    fn operand(&mut self, thread: usize) -> Result<Operand, ParseError> {
        match self.peek() {
            Some(Token::Number(value)) => {
                self.next += 1;
                Ok(Operand::Constant(value))
            }
            Some(Token::Word(word)) if is_register(word) => Ok(Operand::Register(self.register(thread)?)),
            _ => Err(self.expected("a number or a register")),
        }
    }

    fn comma_operand(&mut self, thread: usize) -> Result<Operand, ParseError> {
        self.expect(",")?;
        self.operand(thread)
    }

    fn comma_location(&mut self) -> Result<usize, ParseError> {
        self.expect(",")?;
        self.accessed()
    }

    fn accessed(&mut self) -> Result<usize, ParseError> {
        let name = self.word("a location")?;
        Ok(self.location(name))
    }
}

fn is_register(word: &str) -> bool {
    word.strip_prefix('r').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

fn fence(parts: &[&str]) -> Option<Op> {
    match parts {
        ["proxy", "alias"] => Some(Op::AliasFence),
        ["proxy", proxy] => proxy_of(proxy).map(Op::ProxyFence),
        [semantics, scope] => Some(Op::Fence { ordering: ordering_of(semantics, &[Ordering::SeqCst])?, scope: scope_of(scope)? }),
        _ => None,
    }
}

/// The semantics that fences and accesses have.
const SEMANTICS: [Ordering; 3] = [Ordering::Acquire, Ordering::Release, Ordering::AcqRel];

/// The semantics of this name, of [`SEMANTICS`] and `others`.
fn ordering_of(word: &str, others: &[Ordering]) -> Option<Ordering> {
    SEMANTICS.iter().chain(others).find(|ordering| ordering.word() == word).copied()
}

/// The operands that an access has.
#[derive(Clone, Copy)]
enum Shape {
    Load,
    Store,
    Atomic(Arithmetic),
    CompareAndSwap,
    Reduction(Arithmetic),
}

/// The opcode of an access.
struct Head {
    shape: Shape,
    proxy: Proxy,
    ordering: Ordering,
    scope: Scope,
}

/// The opcode of an access; none if its parts do not go together.
fn access_head(parts: &[&str]) -> Option<Head> {
    let (ordering, rest) = parts[1..].split_first()?;
    let ordering = ordering_of(ordering, &[Ordering::Weak, Ordering::Relaxed])?;
    let (scope, rest) = match (ordering, rest) {
        (Ordering::Weak, rest) => (Scope::None, rest),
        (_, [scope, rest @ ..]) => (scope_of(scope)?, rest),
        (_, []) => return None,
    };
    let (shape, proxy) = match (parts[0], rest) {
        ("ld", []) => (Shape::Load, Proxy::Generic),
        ("tld", []) => (Shape::Load, Proxy::Texture),
        ("suld", []) => (Shape::Load, Proxy::Surface),
        ("cold", []) => (Shape::Load, Proxy::Constant),
        ("st", []) => (Shape::Store, Proxy::Generic),
        ("sust", []) => (Shape::Store, Proxy::Surface),
        ("atom" | "suatom", ["cas"]) => (Shape::CompareAndSwap, atomic_proxy(parts[0])),
        ("atom" | "suatom", ["exch"]) => (Shape::Atomic(Arithmetic::Second), atomic_proxy(parts[0])),
        ("atom" | "suatom", [function]) => (Shape::Atomic(arithmetic(function)?), atomic_proxy(parts[0])),
        ("red" | "sured", [function]) => (Shape::Reduction(arithmetic(function)?), atomic_proxy(parts[0])),
        _ => return None,
    };
    let fits = match shape {
        Shape::Load => matches!(ordering, Ordering::Weak | Ordering::Relaxed | Ordering::Acquire),
        Shape::Store => matches!(ordering, Ordering::Weak | Ordering::Relaxed | Ordering::Release),
        Shape::Atomic(_) | Shape::CompareAndSwap | Shape::Reduction(_) => ordering != Ordering::Weak,
    };
    fits.then_some(Head { shape, proxy, ordering, scope })
}

fn atomic_proxy(name: &str) -> Proxy {
    if name.starts_with("su") { Proxy::Surface } else { Proxy::Generic }
}

fn scope_of(word: &str) -> Option<Scope> {
    match word {
        "cta" => Some(Scope::Cta),
        "gpu" => Some(Scope::Gpu),
        "sys" => Some(Scope::Sys),
        _ => None,
    }
}

fn arithmetic(word: &str) -> Option<Arithmetic> {
    match word {
        "add" => Some(Arithmetic::Add),
        "sub" => Some(Arithmetic::Sub),
        "mul" => Some(Arithmetic::Mul),
        "div" => Some(Arithmetic::Div),
        "and" => Some(Arithmetic::And),
        "or" => Some(Arithmetic::Or),
        "xor" => Some(Arithmetic::Xor),
        _ => None,
    }
}

fn branch(word: &str) -> Option<Comparison> {
    match word {
        "beq" => Some(Comparison::Eq),
        "bne" => Some(Comparison::Ne),
        "blt" => Some(Comparison::Lt),
        "ble" => Some(Comparison::Le),
        "bgt" => Some(Comparison::Gt),
        "bge" => Some(Comparison::Ge),
        _ => None,
    }
}
