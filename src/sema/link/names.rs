//! Renaming of symbols and renumbering of files in a module.

use std::collections::BTreeMap;

use crate::syntax::tree::{
    Attribute, Block, Expr, ExprKind, Function, FunctionDirective, Init, Instruction, Item, Loc, Module, Name, Operand, OperandKind,
    Statement, Variable,
};

/// Replaces the names of `module` that are in `renames`, in all positions.
pub(super) fn rename<'a>(module: &mut Module<'a>, renames: &'a BTreeMap<String, String>) {
    if renames.is_empty() {
        return;
    }
    let renamer = Renamer(renames);
    for item in &mut module.items {
        match item {
            Item::Variable(variable) => renamer.variable(variable),
            Item::Function(function) => renamer.function(function),
            Item::Alias { name, target, .. } => [name, target].into_iter().for_each(|name| renamer.name(name)),
            Item::Loc(loc) => renamer.loc(loc),
            Item::Section { labels, .. } => renamer.names(labels),
            Item::Version { .. } | Item::Target { .. } | Item::AddressSize { .. } | Item::File { .. } | Item::Pragma { .. } => {}
        }
    }
}

/// Adds `first` to the file numbers of `module`; returns the number after the last.
pub(super) fn files_from(module: &mut Module<'_>, first: u32) -> u32 {
    let mut next = first;
    let mut number = |file: &mut u32| {
        *file = file.saturating_add(first);
        next = next.max(file.saturating_add(1));
    };
    for item in &mut module.items {
        match item {
            Item::File { index, .. } => number(index),
            Item::Loc(loc) => renumber(loc, &mut number),
            Item::Function(function) => function.body.iter_mut().for_each(|body| files_of_block(body, &mut number)),
            Item::Version { .. }
            | Item::Target { .. }
            | Item::AddressSize { .. }
            | Item::Variable(_)
            | Item::Alias { .. }
            | Item::Pragma { .. }
            | Item::Section { .. } => {}
        }
    }
    next
}

fn files_of_block(block: &mut Block<'_>, number: &mut impl FnMut(&mut u32)) {
    for statement in &mut block.statements {
        match statement {
            Statement::Block(block) => files_of_block(block, number),
            Statement::Loc(loc) => renumber(loc, number),
            Statement::Label(_)
            | Statement::Instruction(_)
            | Statement::Variable(_)
            | Statement::Pragma { .. }
            | Statement::BranchTargets { .. }
            | Statement::CallTargets { .. }
            | Statement::CallPrototype { .. }
            | Statement::Section { .. } => {}
        }
    }
}

fn renumber(loc: &mut Loc<'_>, number: &mut impl FnMut(&mut u32)) {
    number(&mut loc.file);
    loc.inlined_at.iter_mut().for_each(|(file, _, _)| number(file));
}

struct Renamer<'a>(&'a BTreeMap<String, String>);

impl<'a> Renamer<'a> {
    /// Replaces the name `text`.
    fn text(&self, text: &mut &'a str) {
        if let Some(renamed) = self.0.get(*text) {
            *text = renamed;
        }
    }

    fn name(&self, name: &mut Name<'a>) {
        self.text(&mut name.text);
    }

    fn names(&self, names: &mut [Name<'a>]) {
        names.iter_mut().for_each(|name| self.name(name));
    }

    fn function(&self, function: &mut Function<'a>) {
        self.name(&mut function.name);
        self.attributes(&mut function.attributes);
        function.results.iter_mut().chain(&mut function.params).for_each(|variable| self.variable(variable));
        self.directives(&mut function.directives);
        function.body.iter_mut().for_each(|body| self.block(body));
    }

    fn attributes(&self, attributes: &mut [Attribute<'a>]) {
        attributes.iter_mut().flat_map(|attribute| &mut attribute.values).for_each(|value| self.expr(value));
    }

    fn directives(&self, directives: &mut [FunctionDirective<'a>]) {
        directives.iter_mut().flat_map(|directive| &mut directive.values).for_each(|value| self.expr(value));
    }

    fn variable(&self, variable: &mut Variable<'a>) {
        self.name(&mut variable.name);
        self.attributes(&mut variable.attributes);
        let plain = [&mut variable.bank, &mut variable.align, &mut variable.bare_align, &mut variable.count];
        plain.into_iter().flatten().chain(variable.shape.iter_mut().flatten()).for_each(|expr| self.expr(expr));
        variable.init.iter_mut().for_each(|init| self.init(init));
    }

    fn init(&self, init: &mut Init<'a>) {
        match init {
            Init::Value(value) => self.expr(value),
            Init::List(list, _) => list.iter_mut().for_each(|init| self.init(init)),
            Init::Field { value, .. } => self.expr(value),
        }
    }

    fn block(&self, block: &mut Block<'a>) {
        for statement in &mut block.statements {
            match statement {
                Statement::Label(name) => self.name(name),
                Statement::Instruction(instruction) => self.instruction(instruction),
                Statement::Variable(variable) => self.variable(variable),
                Statement::Block(block) => self.block(block),
                Statement::Loc(loc) => self.loc(loc),
                Statement::BranchTargets { targets, .. } | Statement::CallTargets { targets, .. } => self.names(targets),
                Statement::CallPrototype { results, params, directives, .. } => {
                    results.iter_mut().chain(params).for_each(|variable| self.variable(variable));
                    self.directives(directives);
                }
                Statement::Section { labels, .. } => self.names(labels),
                Statement::Pragma { .. } => {}
            }
        }
    }

    fn loc(&self, loc: &mut Loc<'a>) {
        loc.function.iter_mut().for_each(|(name, _)| self.name(name));
    }

    fn instruction(&self, instruction: &mut Instruction<'a>) {
        instruction.guard.iter_mut().for_each(|guard| self.name(&mut guard.name));
        instruction.operands.iter_mut().for_each(|operand| self.operand(operand));
    }

    fn operand(&self, operand: &mut Operand<'a>) {
        match &mut operand.kind {
            OperandKind::Expr(expr) | OperandKind::Address(expr) => self.expr(expr),
            OperandKind::Not(name) => self.name(name),
            OperandKind::Pair(first, second) => [first, second].into_iter().for_each(|operand| self.operand(operand)),
            OperandKind::Vector(list) | OperandKind::AddressList(list) | OperandKind::List(list) => {
                list.iter_mut().for_each(|operand| self.operand(operand));
            }
            OperandKind::Index(name, index) => {
                self.name(name);
                self.expr(index);
            }
        }
    }

    fn expr(&self, expr: &mut Expr<'a>) {
        match &mut expr.kind {
            ExprKind::Name(text) => self.text(text),
            ExprKind::Int { .. } | ExprKind::Float(_) | ExprKind::Float32Bits(_) | ExprKind::Float64Bits(_) => {}
            ExprKind::Unary(_, inner) | ExprKind::Cast { inner, .. } | ExprKind::Generic(inner) | ExprKind::Mask { inner, .. } => {
                self.expr(inner);
            }
            ExprKind::Binary(_, one, other) => [one, other].into_iter().for_each(|expr| self.expr(expr)),
            ExprKind::Conditional(condition, one, other) => [condition, one, other].into_iter().for_each(|expr| self.expr(expr)),
        }
    }
}
