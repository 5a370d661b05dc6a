//! Which files use each other in a circle, by the paths that they write: `use` statements, and paths in the code that start with
//! `crate`, `super` or the name of a child module.
//!
//! A name that a file only hands on (`pub use`) counts as a use of the file that defines it, so a module file that lists what its
//! folder offers ties nothing together. Test modules do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{File, is_name, occurrences};

/// Names separated by `::`.
type Names = Vec<String>;

/// A file as a module.
struct Module<'f> {
    file: &'f File,
    /// The paths it uses, as they are written.
    uses: Vec<Names>,
    /// The names that it hands on, with the paths they stand for.
    exports: BTreeMap<String, Names>,
}

/// The modules of the crate, by their names from the root.
type Modules<'f> = BTreeMap<Names, Module<'f>>;

/// The circles among `files`: the paths of files each of which leads to all others of its circle, in order.
pub fn circles(files: &[File]) -> Vec<Vec<&str>> {
    let modules: Modules = files.iter().map(|file| (module_name(&file.path), module(file))).collect();
    let names: Vec<&Names> = modules.keys().collect();
    let arrows: Vec<Vec<usize>> = modules.iter().map(|(name, module)| arrows(name, module, &modules, &names)).collect();
    let reaches: Vec<BTreeSet<usize>> = (0..names.len()).map(|from| reachable(from, &arrows)).collect();
    let mut found = Vec::new();
    for from in 0..names.len() {
        let circle: Vec<usize> = reaches[from].iter().copied().filter(|to| reaches[*to].contains(&from)).collect();
        if circle.len() > 1 && circle[0] == from {
            found.push(circle.iter().map(|index| modules[names[*index]].file.path.as_str()).collect());
        }
    }
    found
}

fn module_name(path: &str) -> Names {
    let stem = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    stem.split('/').map(str::to_string).collect()
}

fn module(file: &File) -> Module<'_> {
    let code = file.code.split("#[cfg(test)]").next().unwrap_or_default();
    let (mut uses, mut exports, mut rest) = (Vec::new(), BTreeMap::new(), String::new());
    let mut from = 0;
    for at in occurrences(code, "use") {
        let line = code[..at].rfind('\n').map_or(0, |at| at + 1);
        let before = code[line..at].trim();
        let is_statement = before.is_empty() || before == "pub" || before.starts_with("pub(") && before.ends_with(')');
        let Some(length) = code[at..].find(';').filter(|_| is_statement) else { continue };
        rest.push_str(&code[from..line.max(from)]);
        from = at + length;
        for (path, alias) in expand(&code[at + "use".len()..at + length]) {
            match path.last().filter(|_| !before.is_empty()) {
                Some(name) => drop(exports.insert(alias.unwrap_or_else(|| name.clone()), path)),
                None => uses.push(path),
            }
        }
    }
    rest.push_str(&code[from..]);
    let children = occurrences(code, "mod").map(|at| next_name(code[at + "mod".len()..].trim_start()));
    let starts = ["crate".to_string(), "super".to_string()].into_iter().chain(children).filter(|name| !name.is_empty());
    for start in starts {
        let starts = occurrences(&rest, &start).filter(|at| !rest[..*at].ends_with("::") && !rest[..*at].ends_with("(in "));
        let paths = starts.map(|at| chain(&rest[at..]));
        uses.extend(paths.filter(|path| path.len() > 1));
    }
    Module { file, uses, exports }
}

fn next_name(text: &str) -> String {
    text.chars().take_while(|c| is_name(*c)).collect()
}

/// The names of the path at the start of `text`.
fn chain(mut text: &str) -> Names {
    let mut names = Vec::new();
    loop {
        let name = next_name(text);
        text = &text[name.len()..];
        if name.is_empty() {
            return names;
        }
        names.push(name);
        let Some(rest) = text.strip_prefix("::") else { return names };
        text = rest;
    }
}

/// The single paths of the tree of a `use` statement, each with the name it is given there, if it is given one.
fn expand(tree: &str) -> Vec<(Names, Option<String>)> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim().to_string())));
        let mut names: Names = path.split("::").map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect();
        if names.last().is_some_and(|name| name == "self") {
            names.pop();
        }
        return vec![(names, alias)];
    };
    let prefix: Names = prefix.split("::").map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect();
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    let paths = parts.into_iter().filter(|part| !part.trim().is_empty()).flat_map(expand);
    paths.map(|(names, alias)| (prefix.iter().cloned().chain(names).collect(), alias)).collect()
}

/// The files of its layer that a module uses, by their places in `names`.
fn arrows(name: &Names, module: &Module<'_>, modules: &Modules<'_>, names: &[&Names]) -> Vec<usize> {
    let targets = module.uses.iter().filter_map(|path| defining(from_root(name, path), modules, 0));
    let inside = targets.filter(|target| target != name && target.first() == name.first());
    inside.filter_map(|target| names.iter().position(|name| **name == target)).collect()
}

/// A path as it runs from the root of the crate; one that starts with anything but `crate`, `super` and `self` starts at the module.
fn from_root(module: &Names, path: &[String]) -> Names {
    let mut base = module.clone();
    let mut rest = path;
    while let Some((first, others)) = rest.split_first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            "self" => {}
            _ => break,
        }
        rest = others;
    }
    base.into_iter().chain(rest.iter().cloned()).collect()
}

/// The module in whose file the item at `path` is defined; none if the path leads out of the crate.
fn defining(path: Names, modules: &Modules<'_>, depth: usize) -> Option<Names> {
    let (length, module) = (1..=path.len()).rev().find_map(|length| modules.get(&path[..length]).map(|module| (length, module)))?;
    let handed_on = path.get(length).and_then(|name| module.exports.get(name)).filter(|_| depth < 8);
    match handed_on {
        Some(export) => {
            let mut target = from_root(&path[..length].to_vec(), export);
            target.extend_from_slice(&path[length + 1..]);
            defining(target, modules, depth + 1).or_else(|| Some(path[..length].to_vec()))
        }
        None => Some(path[..length].to_vec()),
    }
}

fn reachable(from: usize, arrows: &[Vec<usize>]) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = open.pop() {
        open.extend(arrows[at].iter().copied().filter(|to| seen.insert(*to)));
    }
    seen
}

#[test]
fn circles_are_found_through_what_is_handed_on() {
    let file = |path: &str, text: &str| File::new(path, text);
    let files = [
        file("src/a/mod.rs", "mod b;\nmod c;\npub use b::B;\nmod tests_of_nothing;"),
        file("src/a/b.rs", "use super::{c::{self, C as D}, d};\npub struct B;"),
        file("src/a/c.rs", "// use super::d;\nfn f() -> super::B { super::super::e::g() }"),
        file("src/a/d.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use crate::a::B; }"),
        file("src/e.rs", "use crate::a::c;"),
        file("src/a/h/mod.rs", "mod i;\nfn f() { i::f() }"),
        file("src/a/h/i.rs", "use super::f as g;"),
    ];
    assert_eq!(circles(&files), [vec!["src/a/b.rs", "src/a/c.rs"], vec!["src/a/h/mod.rs", "src/a/h/i.rs"]]);
}
