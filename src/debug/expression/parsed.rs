//! A parsed expression: its text and its syntax tree.

use std::fmt;

use super::error::ExpressionError;
use super::tree::{Node, NodeKind};
use super::{parser, print, targets};
use crate::debug::value::{Scalar, Type};
use crate::isa::ScalarType;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) text: String,
    pub(super) root: Node,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// A syntax error, with its position.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self { text: text.trim().to_string(), root: parser::parse(text, false)? })
    }

    /// Parses an expression that may change variables, as `x++` does: [`Expression::stepped`] makes these changes.
    ///
    /// # Errors
    /// A syntax error, with its position.
    pub fn parse_with_steps(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self { text: text.trim().to_string(), root: parser::parse(text, true)? })
    }

    /// The text as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tree.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The name that a place is, without its lanes; none if it is more than a name.
    pub fn place_name(&self) -> Option<&str> {
        if let NodeKind::Name(name) = &targets::innermost(&self.root).kind { Some(name) } else { None }
    }

    /// True for a name alone.
    pub fn is_name(&self) -> bool {
        matches!(self.root.kind, NodeKind::Name(_))
    }

    /// True for a character: `'A'`, `(char)65`.
    pub fn is_character(&self) -> bool {
        match &self.root.kind {
            NodeKind::Number(Scalar { ty: Type::Scalar(ScalarType::S8), .. }) => true,
            NodeKind::Cast(_, operand) => self.text.get(..operand.at).is_some_and(|cast| cast.contains("char") && !cast.contains('*')),
            _ => false,
        }
    }

    /// Every name in it: registers and symbols.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut pending = vec![&self.root];
        while let Some(node) = pending.pop() {
            if let NodeKind::Name(name) = &node.kind {
                names.push(name.as_str());
            }
            pending.extend(node.children());
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print::text(&self.root))
    }
}
