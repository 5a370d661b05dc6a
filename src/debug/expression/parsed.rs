//! An expression that was read: its text and its tree.

use std::fmt;

use super::error::ExpressionError;
use super::tree::{Node, NodeKind};
use super::{parser, print};

/// An expression, read.
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
    /// Reads an expression.
    ///
    /// # Errors
    /// Where and why the text is none.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self { text: text.trim().to_string(), root: parser::parse(text)? })
    }

    /// What the user wrote.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tree.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Every name in it: registers and symbols.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut open = vec![&self.root];
        while let Some(node) = open.pop() {
            if let NodeKind::Name(name) = &node.kind {
                names.push(name.as_str());
            }
            open.extend(node.parts());
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
