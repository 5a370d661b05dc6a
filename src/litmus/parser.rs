//! From text to a test: the PTX format of herd, as Dat3M uses it.
//!
//! A name, comments, the first values and aliases between braces, the threads with their blocks and GPUs, their instructions in columns,
//! and the question. A location that has no first value holds 0, as does a register.

mod instruction;
mod question;

use std::collections::BTreeMap;

use super::condition::{Condition, Formula, Variable};
use super::error::ParseError;
use super::lexer::{Placed, Token, tokens};
use super::test::{Location, Op, Proxy, Test, Thread};

/// A test being read.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Placed<'a>>,
    next: usize,
    threads: Vec<Thread>,
    locations: Vec<Location>,
    /// Registers that are named before their threads: the thread's number, the register, and its first value.
    registers: Vec<(u32, &'a str, i64)>,
}

/// Reads a test.
///
/// # Errors
/// Where and why it is none.
pub fn parse(text: &str) -> Result<Test, ParseError> {
    let Some(head) = text.lines().next().filter(|line| line.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("ptx")))
    else {
        return Err(ParseError::at(text, 0, "a litmus test begins with PTX and its name".to_string()));
    };
    let name = head.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    let Some(brace) = text.find('{') else {
        return Err(ParseError::at(text, text.len(), "first values are missing: {x=0;}".to_string()));
    };
    let tokens = tokens(text, brace)?;
    let mut parser = Parser { text, tokens, next: 0, threads: Vec::new(), locations: Vec::new(), registers: Vec::new() };
    parser.declarations()?;
    parser.threads()?;
    parser.instructions()?;
    let shown = parser.shown()?;
    let filter = if parser.accept_word("filter") { Some(parser.formula()?) } else { None };
    parser.accept(";");
    let condition = parser.condition()?;
    let Parser { threads, locations, .. } = parser;
    Ok(Test { name, threads, locations, condition, filter, shown })
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|placed| placed.token)
    }

    fn peek_after(&self, count: usize) -> Option<Token<'a>> {
        self.tokens.get(self.next + count).map(|placed| placed.token)
    }

    /// Where the next token stands.
    fn byte(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.len(), |placed| placed.start)
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::at(self.text, self.byte(), message.into())
    }

    /// The next token is not what is expected.
    fn expected(&self, what: &str) -> ParseError {
        let found = match self.tokens.get(self.next) {
            Some(placed) => format!("{what} is expected, not {}", &self.text[placed.start..placed.end]),
            None => format!("{what} is expected, and the file ends"),
        };
        self.error(found)
    }

    fn accept(&mut self, sign: &'static str) -> bool {
        let is_next = self.peek() == Some(Token::Sign(sign));
        self.next += usize::from(is_next);
        is_next
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(Token::Word(word));
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), ParseError> {
        if self.accept(sign) { Ok(()) } else { Err(self.expected(sign)) }
    }

    fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        let Some(Token::Word(word)) = self.peek() else { return Err(self.expected(what)) };
        self.next += 1;
        Ok(word)
    }

    fn number(&mut self, what: &str) -> Result<i64, ParseError> {
        let Some(Token::Number(number)) = self.peek() else { return Err(self.expected(what)) };
        self.next += 1;
        Ok(number)
    }

    fn small_number(&mut self, what: &str) -> Result<u32, ParseError> {
        let number = self.number(what)?;
        u32::try_from(number).map_err(|_| self.error(format!("{number} is no {what}")))
    }

    /// The location of a name; a new one holds 0.
    fn location(&mut self, name: &str) -> usize {
        if let Some(known) = self.find_location(name) {
            return known;
        }
        let own = self.locations.len();
        self.locations.push(Location { name: name.to_string(), generic: own, physical: own, initial: 0 });
        own
    }

    fn find_location(&self, name: &str) -> Option<usize> {
        self.locations.iter().position(|location| location.name == name)
    }

    fn declarations(&mut self) -> Result<(), ParseError> {
        self.expect("{")?;
        while !self.accept("}") {
            if !self.accept(";") {
                self.declaration()?;
            }
        }
        self.accept(";");
        Ok(())
    }

    /// `x=0`, `P0:r0=0`, `y=x` (the value of `x`), or `y @ generic aliases x`.
    fn declaration(&mut self) -> Result<(), ParseError> {
        if matches!(self.peek_after(1), Some(Token::Sign(":"))) {
            let thread = self.thread_number()?;
            self.expect(":")?;
            let register = self.word("a register")?;
            self.expect("=")?;
            let value = self.number("a number (registers hold no addresses here)")?;
            self.registers.push((thread, register, value));
            return Ok(());
        }
        let name = self.word("a location or a register of a thread")?;
        if self.find_location(name).is_some() {
            self.next -= 1;
            return Err(self.error(format!("{name} has a value already")));
        }
        if self.accept("@") {
            let proxy = self.proxy()?;
            if !self.accept_word("aliases") {
                return Err(self.expected("aliases"));
            }
            let of = self.known_location()?;
            let own = self.location(name);
            let Location { generic, physical, initial, .. } = self.locations[of];
            let generic = if proxy == Proxy::Generic { own } else { generic };
            self.locations[own] = Location { name: name.to_string(), generic, physical, initial };
            return Ok(());
        }
        self.expect("=")?;
        let initial = match self.peek() {
            Some(Token::Number(value)) => {
                self.next += 1;
                value
            }
            _ => {
                self.accept("&");
                let of = self.known_location()?;
                self.locations[of].initial
            }
        };
        let own = self.location(name);
        self.locations[own].initial = initial;
        Ok(())
    }

    fn known_location(&mut self) -> Result<usize, ParseError> {
        let name = self.word("a location")?;
        self.find_location(name).ok_or_else(|| {
            self.next -= 1;
            self.error(format!("there is no location {name} before this"))
        })
    }

    fn proxy(&mut self) -> Result<Proxy, ParseError> {
        let word = self.word("generic, texture, surface or constant")?;
        proxy_of(word).ok_or_else(|| {
            self.next -= 1;
            self.expected("generic, texture, surface or constant")
        })
    }

    /// `P0`, or `0` alone.
    fn thread_number(&mut self) -> Result<u32, ParseError> {
        if let Some(Token::Number(_)) = self.peek() {
            return self.small_number("the number of a thread");
        }
        let word = self.word("a thread such as P0")?;
        word.strip_prefix('P').and_then(|digits| digits.parse().ok()).ok_or_else(|| {
            self.next -= 1;
            self.expected("a thread such as P0")
        })
    }

    /// `P0@cta 0,gpu 0 | P1@cta 0,gpu 0;`
    fn threads(&mut self) -> Result<(), ParseError> {
        loop {
            let number = self.thread_number()?;
            if self.threads.iter().any(|thread| thread.number == number) {
                return Err(self.error(format!("there are two threads P{number}")));
            }
            self.expect("@")?;
            let mut thread = Thread { number, ..Thread::default() };
            for (word, into) in [("cta", &mut thread.block), ("gpu", &mut thread.gpu)] {
                if !self.accept_word(word) {
                    return Err(self.expected(word));
                }
                *into = self.small_number("number")?;
                self.accept(",");
            }
            self.threads.push(thread);
            if !self.accept("|") {
                break;
            }
        }
        self.expect(";")?;
        for (number, register, value) in std::mem::take(&mut self.registers) {
            let Some(thread) = self.threads.iter_mut().find(|thread| thread.number == number) else {
                return Err(self.error(format!("{register} is a register of P{number}, and there is no such thread")));
            };
            let register = thread.register(register);
            thread.initial[register] = value;
        }
        Ok(())
    }

    /// The rows up to the question.
    fn instructions(&mut self) -> Result<(), ParseError> {
        let mut labels: Vec<BTreeMap<&'a str, usize>> = vec![BTreeMap::new(); self.threads.len()];
        // Branches whose label may follow: the thread, the instruction, the label, and where it stands.
        let mut branches = Vec::new();
        while !self.is_question() {
            let mut thread = 0;
            loop {
                if thread >= self.threads.len() {
                    return Err(self.error(format!("this row has more columns than the {} threads", self.threads.len())));
                }
                self.cell(thread, &mut labels[thread], &mut branches)?;
                if !self.accept("|") {
                    break;
                }
                thread += 1;
            }
            self.expect(";")?;
        }
        for (thread, index, label, byte) in branches {
            let Some(to) = labels[thread].get(label) else {
                let message = format!("P{} has no label {label}", self.threads[thread].number);
                return Err(ParseError::at(self.text, byte, message));
            };
            if let Op::Branch { target, .. } = &mut self.threads[thread].code[index].op {
                *target = *to;
            }
        }
        Ok(())
    }

    fn is_question(&self) -> bool {
        let begins = |word: &str| matches!(word, "exists" | "forall" | "filter" | "locations" | "not" | "final");
        match self.peek() {
            None | Some(Token::Sign("~")) => true,
            Some(Token::Word(word)) => begins(word),
            Some(_) => false,
        }
    }

    /// `locations [x; P0:r0;]`
    fn shown(&mut self) -> Result<Vec<Variable>, ParseError> {
        let mut shown = Vec::new();
        if self.accept_word("locations") {
            self.expect("[")?;
            while !self.accept("]") {
                shown.push(self.variable()?);
                self.accept(";");
            }
            self.accept(";");
        }
        Ok(shown)
    }

    fn condition(&mut self) -> Result<Condition, ParseError> {
        let first = self.byte();
        let quantifier = self.quantifier()?;
        let formula: Formula = self.formula()?;
        let end = self.tokens[self.next - 1].end;
        let text = self.text[first..end].split_whitespace().collect::<Vec<_>>().join(" ");
        self.accept(";");
        if self.peek().is_some() {
            return Err(self.expected("the end of the file"));
        }
        Ok(Condition { quantifier, formula, text })
    }
}

/// The proxy of a word.
fn proxy_of(word: &str) -> Option<Proxy> {
    match word {
        "generic" => Some(Proxy::Generic),
        "texture" => Some(Proxy::Texture),
        "surface" => Some(Proxy::Surface),
        "constant" => Some(Proxy::Constant),
        _ => None,
    }
}
