//! The labels of a body, with their addresses.
//!
//! A label can be used anywhere in its block and in nested blocks, also before its definition. So the addresses of all labels of a body are
//! computed first, and those of a block are declared when it is entered.

use crate::base::Diagnostic;
use crate::program::Pc;
use crate::syntax::tree::{Block, Name, Statement};

/// The labels of one body.
#[derive(Debug, Default)]
pub(super) struct Labels<'a> {
    /// In order of address.
    pub(super) all: Vec<(Name<'a>, Pc)>,
    /// Indices into `all` by block; blocks are numbered in the order in which they are entered.
    blocks: Vec<Vec<usize>>,
}

impl<'a> Labels<'a> {
    /// The labels of `body`, whose first instruction is at `start`; every statement has one instruction.
    pub(super) fn new(body: &Block<'a>, start: Pc) -> Self {
        let mut labels = Labels { all: Vec::new(), blocks: vec![Vec::new()] };
        let mut pc = start.0;
        let mut open = vec![(body.statements.iter(), 0)];
        while let Some((statements, block)) = open.last_mut() {
            match statements.next() {
                Some(Statement::Label(_)) if statements.as_slice().first().is_some_and(is_table) => {}
                Some(Statement::Label(name)) => {
                    labels.blocks[*block].push(labels.all.len());
                    labels.all.push((*name, Pc(pc)));
                }
                Some(Statement::Instruction(_)) => pc += 1,
                Some(Statement::Block(inner)) => {
                    open.push((inner.statements.iter(), labels.blocks.len()));
                    labels.blocks.push(Vec::new());
                }
                Some(_) => {}
                None => {
                    open.pop();
                }
            }
        }
        labels
    }

    /// The labels of block number `block`.
    pub(super) fn of_block(&self, block: usize) -> impl Iterator<Item = (Name<'a>, Pc)> + '_ {
        self.blocks.get(block).into_iter().flatten().map(|index| self.all[*index])
    }
}

/// The error for a table without a label before it.
pub(super) fn check_no_table(statement: &Statement<'_>) -> Result<(), Diagnostic> {
    let (word, span) = match statement {
        Statement::BranchTargets { span, .. } => ("branchtargets", *span),
        Statement::CallTargets { span, .. } => ("calltargets", *span),
        Statement::CallPrototype { span, .. } => ("callprototype", *span),
        Statement::Label(_)
        | Statement::Instruction(_)
        | Statement::Variable(_)
        | Statement::Block(_)
        | Statement::Loc(_)
        | Statement::Pragma { .. }
        | Statement::Section { .. } => return Ok(()),
    };
    let error = Diagnostic::error("directive", span, format!("'.{word}' needs a label before it"));
    Err(error.with_help(format!("instructions name it by that: 'label: .{word} ..;'")))
}

/// True if a label before `statement` names a table and not an instruction.
pub(super) fn is_table(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::BranchTargets { .. } | Statement::CallTargets { .. } | Statement::CallPrototype { .. })
}
