//! The question of a test.

use super::super::condition::{Comparison, Formula, Quantifier, Variable};
use super::super::error::ParseError;
use super::super::lexer::Token;
use super::Parser;

impl Parser<'_> {
    pub(super) fn quantifier(&mut self) -> Result<Quantifier, ParseError> {
        let is_negated = self.accept("~") || self.accept_word("not");
        if self.accept_word("exists") {
            return Ok(if is_negated { Quantifier::NotExists } else { Quantifier::Exists });
        }
        if !is_negated && self.accept_word("forall") {
            return Ok(Quantifier::Forall);
        }
        Err(self.expected("exists, ~exists or forall"))
    }

    /// `\/` binds less than `/\`.
    pub(super) fn formula(&mut self) -> Result<Formula, ParseError> {
        let mut any = vec![self.conjunction()?];
        while self.accept("\\/") {
            any.push(self.conjunction()?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Formula::Or(any) })
    }

    fn conjunction(&mut self) -> Result<Formula, ParseError> {
        let mut all = vec![self.term()?];
        while self.accept("/\\") {
            all.push(self.term()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Formula::And(all) })
    }

    fn term(&mut self) -> Result<Formula, ParseError> {
        if self.accept("~") || self.accept_word("not") {
            return Ok(Formula::Not(Box::new(self.term()?)));
        }
        if self.accept("(") {
            let formula = self.formula()?;
            self.expect(")")?;
            return Ok(formula);
        }
        let first = self.variable()?;
        let Some(Token::Sign(sign)) = self.peek() else { return Err(self.expected("a comparison such as ==")) };
        let Some(comparison) = comparison(sign) else { return Err(self.expected("a comparison such as ==")) };
        self.next += 1;
        Ok(Formula::Compare(first, comparison, self.variable()?))
    }

    /// `P0:r0`, `0:r0`, `x`, `[x]` or a number.
    pub(super) fn variable(&mut self) -> Result<Variable, ParseError> {
        if matches!(self.peek_after(1), Some(Token::Sign(":"))) {
            let number = self.thread_number()?;
            self.expect(":")?;
            let name = self.word("a register")?;
            let thread = self.threads.iter().position(|thread| thread.number == number);
            let register = thread.and_then(|at| Some((at, self.threads[at].registers.iter().position(|other| other == name)?)));
            return register.map(|(thread, register)| Variable::Register(thread, register)).ok_or_else(|| {
                self.next -= 1;
                self.error(format!("P{number} has no register {name}"))
            });
        }
        if let Some(Token::Number(number)) = self.peek() {
            self.next += 1;
            return Ok(Variable::Constant(number));
        }
        let is_bracketed = self.accept("[");
        let location = self.known_location()?;
        if is_bracketed {
            self.expect("]")?;
        }
        Ok(Variable::Memory(location))
    }
}

fn comparison(sign: &str) -> Option<Comparison> {
    match sign {
        "=" | "==" => Some(Comparison::Eq),
        "!=" => Some(Comparison::Ne),
        "<" => Some(Comparison::Lt),
        "<=" => Some(Comparison::Le),
        ">" => Some(Comparison::Gt),
        ">=" => Some(Comparison::Ge),
        _ => None,
    }
}
