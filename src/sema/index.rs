//! An index of the declarations of a module, built before its analysis: functions, bodies, aliases.

use std::collections::HashMap;

use crate::base::Span;
use crate::program::FuncId;
use crate::syntax::tree::{Block, Function, Item, Module, Name};

/// The functions of a module and the spans of its names.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    /// Functions in order of first appearance, as `Program::functions` numbers them. Aliases have no entry.
    pub(super) functions: Vec<Entry<'a>>,
    /// Numbers by name; an alias has the number of its target.
    pub(super) numbers: HashMap<&'a str, FuncId>,
    /// The span of the first declaration of each name of the module.
    pub(super) declared: HashMap<&'a str, Span>,
}

/// A function or kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// Its name, with the span of its first appearance.
    pub(super) name: Name<'a>,
    /// True if it is a kernel.
    pub(super) is_kernel: bool,
    /// True if it has a body anywhere in the module.
    pub(super) has_body: bool,
}

impl<'a> Index<'a> {
    /// Reads the declarations of `module`.
    pub(super) fn new(module: &Module<'a>) -> Self {
        let mut index = Index::default();
        let aliases: HashMap<&str, &str> = module.items.iter().filter_map(alias).collect();
        for item in &module.items {
            match item {
                Item::Variable(variable) => {
                    index.declared.entry(variable.name.text).or_insert(variable.name.span);
                }
                Item::Function(function) => {
                    index.declared.entry(function.name.text).or_insert(function.name.span);
                    if !aliases.contains_key(function.name.text) {
                        index.add(function);
                    }
                }
                Item::Version { .. }
                | Item::Target { .. }
                | Item::AddressSize { .. }
                | Item::Alias { .. }
                | Item::File { .. }
                | Item::Loc(_)
                | Item::Pragma { .. }
                | Item::Section { .. } => {}
            }
        }
        for (alias, target) in module.items.iter().filter_map(alias) {
            if let Some(id) = index.numbers.get(target).copied() {
                index.numbers.entry(alias).or_insert(id);
            }
        }
        index
    }

    fn add(&mut self, function: &Function<'a>) {
        let has_body = function.body.is_some();
        let next = FuncId::new(self.functions.len());
        let id = *self.numbers.entry(function.name.text).or_insert(next);
        if id == next {
            self.functions.push(Entry { name: function.name, is_kernel: function.is_kernel, has_body });
        } else {
            self.functions[id.index()].has_body |= has_body;
        }
    }

    /// The function called `name`, or whose alias it is.
    pub(super) fn number(&self, name: &str) -> Option<FuncId> {
        self.numbers.get(name).copied()
    }
}

fn alias<'a>(item: &Item<'a>) -> Option<(&'a str, &'a str)> {
    if let Item::Alias { name, target, .. } = item { Some((name.text, target.text)) } else { None }
}

/// The bodies of a module with the numbers of their functions, in order.
pub(super) fn bodies<'m, 'a>(module: &'m Module<'a>, index: &'m Index<'a>) -> impl Iterator<Item = (FuncId, &'m Block<'a>)> {
    module.items.iter().filter_map(|item| match item {
        Item::Function(function) => Some((index.number(function.name.text)?, function.body.as_ref()?)),
        Item::Version { .. }
        | Item::Target { .. }
        | Item::AddressSize { .. }
        | Item::Variable(_)
        | Item::Alias { .. }
        | Item::File { .. }
        | Item::Loc(_)
        | Item::Pragma { .. }
        | Item::Section { .. } => None,
    })
}
