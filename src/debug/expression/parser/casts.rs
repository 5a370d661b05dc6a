//! Casts, and the types in their parentheses.
//!
//! Words of PTX for types are no keywords of C, so that variables may be called `u8` or `local`: `(u8 - 1)` and `(local)` are no casts.

use super::super::error::ExpressionError;
use super::super::lexer::TokenKind;
use super::super::names::{self, SourceTypeName, TypeName};
use super::super::tree::NodeKind;
use super::{Parser, parse};

/// The casts of C++ that have a name.
const CASTS: &[&str] = &["static_cast", "reinterpret_cast", "const_cast"];

impl Parser<'_> {
    /// The type of the source in parentheses that come next, as a cast has it, and the number of its tokens.
    ///
    /// Only the debug data knows names of types: `(V*)` is a type because of its star, and `(V)` where an operand follows that no operator
    /// binds.
    pub(super) fn source_type(&self) -> Option<(SourceTypeName, usize)> {
        let kind = |ahead: usize| self.tokens.get(self.next + ahead).map(|token| &token.kind);
        let is_word = |kind: Option<&TokenKind>| matches!(kind, Some(TokenKind::Name(name)) if !name.starts_with(['%', '$', '.']));
        if kind(0) != Some(&TokenKind::Sign("(")) || !is_word(kind(1)) {
            return None;
        }
        let (mut at, mut depth) = (1, 0_i32);
        while match kind(at) {
            Some(TokenKind::Sign("<")) => {
                depth += 1;
                true
            }
            Some(TokenKind::Sign(sign @ (">" | ">>"))) => {
                depth -= sign.len() as i32;
                depth >= 0
            }
            Some(TokenKind::Sign(",") | TokenKind::Number(_)) => depth > 0,
            other => is_word(other),
        } {
            at += 1;
        }
        let words = at;
        while kind(at) == Some(&TokenKind::Sign("*")) {
            at += 1;
        }
        if depth != 0 || kind(at) != Some(&TokenKind::Sign(")")) {
            return None;
        }
        if at == words && !self.opens_operand(at + 1) {
            return None;
        }
        let byte = |ahead: usize| self.tokens.get(self.next + ahead).map(|token| token.at);
        let text = self.text.get(byte(1)?..byte(at)?)?;
        Some((SourceTypeName::of(text), at + 1))
    }

    /// True if `static_cast<V*>(` or a cast like it comes next.
    pub(super) fn opens_cast_of_cpp(&self) -> bool {
        let TokenKind::Name(name) = self.peek() else { return false };
        let rest = CASTS.iter().find_map(|cast| name.strip_prefix(cast));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('<'))
    }

    /// `static_cast<V*>(p)` as `(V*)(p)`.
    pub(super) fn cast_of_cpp(&mut self) -> Result<NodeKind, ExpressionError> {
        let at = self.at();
        let rest = &self.text[at..];
        let (open, close) = (rest.find('<'), rest.find(">(").or_else(|| rest.find("> (")));
        let (Some(open), Some(close)) = (open, close) else { return Err(self.error("a type in '<>' and the operand in parentheses")) };
        let cast = format!("({}) 0", &rest[open + 1..close]);
        let mut cast = parse(&cast, false).map_err(|error| ExpressionError { column: at + open + error.column, ..error })?.kind;
        let end = at + close + 1;
        while self.at() < end && *self.peek() != TokenKind::End {
            self.next += 1;
        }
        self.expect("(", "'(' and the operand")?;
        let inner = self.expression()?;
        self.expect(")", "')'")?;
        match &mut cast {
            NodeKind::Cast(_, operand) | NodeKind::SourceCast(_, operand) => **operand = inner,
            _ => return Err(self.error("a type in '<>'")),
        }
        Ok(cast)
    }

    /// True if a cast starts here.
    pub(super) fn opens_type(&self) -> bool {
        let kind = |ahead: usize| self.tokens.get(self.next + ahead).map(|token| &token.kind);
        let is_type = |name: &str| names::is_type_word(name) || names::space(name).is_some();
        kind(0) == Some(&TokenKind::Sign("("))
            && match kind(1) {
                Some(TokenKind::Sign("@")) => true,
                Some(TokenKind::Name(name)) if is_type(name) => match kind(2) {
                    Some(TokenKind::Sign("[")) => self.is_pointer_to_array(2),
                    Some(TokenKind::Sign("(")) => false,
                    Some(TokenKind::Sign("*")) => !names::is_name_in_c(name) || matches!(kind(3), Some(TokenKind::Sign(")" | "*"))),
                    Some(TokenKind::Sign(")")) if names::is_name_in_c(name) => names::is_type_word(name) && self.opens_operand(3),
                    Some(TokenKind::Sign(_)) => !names::is_name_in_c(name),
                    Some(TokenKind::Name(_) | TokenKind::Number(_) | TokenKind::File(_) | TokenKind::End) | None => true,
                },
                _ => false,
            }
    }

    /// True if an operand may begin at token `ahead` from here that no operator before it binds.
    fn opens_operand(&self, ahead: usize) -> bool {
        let kind = self.tokens.get(self.next + ahead).map(|token| &token.kind);
        matches!(kind, Some(TokenKind::Number(_) | TokenKind::Sign("(" | "~" | "!"))) || is_operand_name(kind)
    }

    /// `u8` if `(u8) +` comes next, or another sign with an operand on one side or on both: only the program says whether the word is a
    /// type or a variable.
    pub(super) fn word_or_type(&self) -> Option<String> {
        let kind = |ahead: usize| self.tokens.get(self.next + ahead).map(|token| &token.kind);
        let (Some(TokenKind::Sign("(")), Some(TokenKind::Name(word)), Some(TokenKind::Sign(")"))) = (kind(0), kind(1), kind(2)) else {
            return None;
        };
        let is_either = matches!(kind(3), Some(TokenKind::Sign("+" | "-" | "*" | "&")));
        (is_either && names::is_name_in_c(word) && names::is_type_word(word)).then(|| word.clone())
    }

    /// True if `[16][16]*)` stands `ahead`.
    fn is_pointer_to_array(&self, ahead: usize) -> bool {
        let sign = |at: usize, sign| self.tokens.get(self.next + at).is_some_and(|token| token.kind == TokenKind::Sign(sign));
        let end = (ahead..).step_by(3).find(|at| !(sign(*at, "[") && sign(*at + 2, "]"))).unwrap_or(ahead);
        sign(end, "*") && sign(end + 1, ")")
    }

    /// `@shared int*)`, after the opening parenthesis.
    pub(super) fn type_name(&mut self) -> Result<TypeName, ExpressionError> {
        const SPACES: &str = "a space: generic, global, const, shared, local or param";
        let marked = self.consume("@");
        let mut space = None;
        let mut words: Vec<String> = Vec::new();
        while let TokenKind::Name(name) = self.peek() {
            match names::space(name).filter(|_| space.is_none() && words.is_empty()) {
                Some(found) => space = Some(found),
                None if marked && space.is_none() => return Err(self.error(SPACES)),
                None if names::is_type_word(name) => words.push(name.clone()),
                None => return Err(self.error("a type, such as u32, f16x2, int or float*")),
            }
            self.next += 1;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(ty) = names::type_of(&words) else { return Err(self.error("a type, such as u32, f16x2, int or float*")) };
        if *self.peek() == TokenKind::Sign("[") {
            let ty = ty.word();
            return Err(self.error(&format!("'*': 'type NAME {ty}[16][16]' gives an array its shape, *({ty}*)X@16 shows 16 elements")));
        }
        let pointer = self.consume("*");
        if *self.peek() == TokenKind::Sign("*") {
            return Err(self.error("')': a pointer to a pointer is a pointer to u64"));
        }
        if space.is_some() && !pointer {
            return Err(self.error("'*': a space belongs to a pointer"));
        }
        self.expect(")", "')'")?;
        Ok(TypeName { ty, pointer, space })
    }
}

/// True for the name of a value, which an operand begins with.
fn is_operand_name(kind: Option<&TokenKind>) -> bool {
    matches!(kind, Some(TokenKind::Name(name)) if !name.starts_with('.'))
}
