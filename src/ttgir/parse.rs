//! Reads the text of a kernel: one operation a line, regions between braces.

use std::collections::BTreeMap;

use super::locations::Locations;
use super::text::{inside, rfind, split};
use super::types::{ElementType, ValueType};
use super::{Definition, Module, Op, OpId, TextError, Value, ValueId};
use crate::isa::ScalarType;

/// Most operations of a kernel that are read.
const OPS_MAX: usize = 1 << 18;

struct Reader {
    module: Module,
    locations: Locations,
    /// The values by their names.
    names: BTreeMap<String, ValueId>,
    /// The operations whose regions are open, each with the number of the region.
    open: Vec<(OpId, u32)>,
}

/// Reads the kernel called `kernel`.
pub(super) fn module(text: &str, kernel: &str) -> Result<Module, TextError> {
    let (aliases, locations) = definitions(text);
    let module = Module { aliases, ..Module::default() };
    let mut reader = Reader { module, locations: Locations(locations), names: BTreeMap::new(), open: Vec::new() };
    let is_header = |line: &&str| line.trim_start().starts_with("tt.func") && line.contains(&format!("@{kernel}("));
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| !is_header(line));
    let end = TextError { line: text.lines().count().max(1), message: format!("it ends without a kernel '{kernel}'") };
    let (header, number) = lines.next().ok_or(end)?;
    let unreadable = || TextError { line: number, message: "the parameters of the kernel cannot be read".to_string() };
    reader.arguments(header, kernel).ok_or_else(unreadable)?;
    let mut last = number;
    for (line, number) in lines {
        let line = line.trim();
        if line.starts_with('}') && reader.open.is_empty() {
            return Ok(reader.module);
        }
        if reader.module.ops.len() >= OPS_MAX {
            return Err(TextError { line: number, message: format!("the kernel has more than {OPS_MAX} operations") });
        }
        reader.line(line);
        last = number;
    }
    Err(TextError { line: last, message: format!("it ends within the kernel '{kernel}'") })
}

/// `#name = …` at the start of a line: layouts, and places.
fn definitions(text: &str) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let (mut aliases, mut locations) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let Some((name, value)) = line.split_once(" = ") else { continue };
        match value.strip_prefix("loc(").and_then(inside) {
            Some((place, _)) => locations.insert(name.to_string(), place.to_string()),
            None => aliases.insert(name[1..].to_string(), value.trim().to_string()),
        };
    }
    (aliases, locations)
}

impl Reader {
    fn define(&mut self, name: &str, ty: ValueType, definition: Definition) -> ValueId {
        let id = ValueId::new(self.module.values.len());
        self.module.values.push(Value { name: name.to_string(), ty, definition });
        self.names.insert(name.to_string(), id);
        id
    }

    fn arguments(&mut self, header: &str, kernel: &str) -> Option<()> {
        let (_, rest) = header.split_once(&format!("@{kernel}("))?;
        for (index, argument) in split(inside(rest)?.0, ',').into_iter().enumerate() {
            let (name, ty) = argument.split_once(':')?;
            let ty = ty.trim().split([' ', '{']).next().unwrap_or_default();
            self.define(name.trim(), ValueType::parse(ty), Definition::Argument(index));
        }
        Some(())
    }

    fn line(&mut self, line: &str) {
        if line.starts_with('}') {
            // `} else {` and `} do {` open another region of the same operation.
            if line.ends_with('{') {
                self.open.last_mut().into_iter().for_each(|open| open.1 += 1);
            } else if let Some((op, _)) = self.open.pop() {
                self.close(op, line);
            }
        } else if line.starts_with('^') {
            self.block_arguments(line);
        } else if !line.is_empty() && !line.starts_with("//") {
            self.op(line);
        }
    }

    /// `^bb0(%a: f32 loc(…), %b: f32 loc(…)):` takes what the region is given.
    fn block_arguments(&mut self, line: &str) {
        let Some((op, _)) = self.open.last().copied() else { return };
        let list = line.split_once('(').and_then(|(_, rest)| inside(rest)).map_or_else(Vec::new, |found| split(found.0, ','));
        for argument in list {
            let Some((name, ty)) = argument.split_once(':') else { continue };
            self.region_argument(op, name.trim(), ValueType::parse(ty.split(" loc(").next().unwrap_or_default()));
        }
    }

    fn region_argument(&mut self, op: OpId, name: &str, ty: ValueType) {
        let id = self.define(name, ty, Definition::Region(op));
        self.module.ops[op.index()].arguments.push(id);
    }

    /// The end of an operation with regions: its place, and its types if they come last.
    fn close(&mut self, op: OpId, line: &str) {
        let line = line.trim_start_matches(['}', ')']);
        let (rest, places) = self.places(line);
        self.module.ops[op.index()].places = places;
        self.module.ops[op.index()].others = self.others(line);
        if let Some(at) = rfind(rest, "-> ") {
            let types = types(&rest[at + 3..]);
            for (result, ty) in self.module.ops[op.index()].results.clone().into_iter().zip(types) {
                self.module.values[result.index()].ty = ty;
            }
        }
    }

    /// What stands before the place at the end of a line, and the place.
    fn places<'t>(&self, line: &'t str) -> (&'t str, Vec<super::Place>) {
        let Some(at) = rfind(line, " loc(") else { return (line, Vec::new()) };
        let chain = inside(&line[at + 5..]).map(|found| self.locations.chain(found.0));
        (&line[..at], chain.unwrap_or_default())
    }

    /// The places of other statements at the end of a line.
    fn others(&self, line: &str) -> Vec<super::Place> {
        let found = rfind(line, " loc(").and_then(|at| inside(&line[at + 5..]));
        found.map_or_else(Vec::new, |found| self.locations.others(found.0))
    }

    fn op(&mut self, line: &str) {
        let opens = line.ends_with('{');
        let (results, rest) = match line.split_once(" = ").filter(|_| line.starts_with('%')) {
            Some((results, rest)) => (results, rest),
            None => ("", line),
        };
        let others = if opens { Vec::new() } else { self.others(rest) };
        let (rest, places) = if opens { (rest, Vec::new()) } else { self.places(rest) };
        let end = rest.find(|letter: char| letter.is_whitespace() || "(<".contains(letter)).unwrap_or(rest.len());
        let (name, rest) = (rest[..end].trim_matches('"'), &rest[end..]);
        let (text, types) = body(name, rest);
        let id = OpId::new(self.module.ops.len());
        let op = Op {
            name: name.to_string(),
            operands: Vec::new(),
            results: Vec::new(),
            text: text.trim().to_string(),
            places,
            others,
            parent: self.open.last().map(|open| open.0),
            region: self.open.last().map_or(0, |open| open.1),
            arguments: Vec::new(),
        };
        self.module.ops.push(op);
        let text = if matches!(name, "scf.for" | "scf.while") { self.loop_header(id, name, text) } else { text.to_string() };
        let operands = used(&text).filter_map(|name| self.names.get(name).copied()).collect();
        self.module.ops[id.index()].operands = operands;
        self.results(id, results, &types);
        if opens {
            self.open.push((id, 0));
        }
    }

    /// Defines what a loop hands on from round to round; returns the text with what it reads.
    fn loop_header(&mut self, op: OpId, name: &str, text: &str) -> String {
        let mut read = String::new();
        let handed = if name == "scf.for" {
            let (counter, rest) = text.split_once('=').unwrap_or(("", text));
            self.region_argument(
                op,
                counter.split_whitespace().next_back().unwrap_or_default(),
                ValueType::Scalar(ElementType::Scalar(ScalarType::S32)),
            );
            let (bounds, handed) = rest.split_once("iter_args(").unwrap_or((rest, ""));
            read.push_str(bounds);
            handed
        } else {
            text.split_once('(').map_or("", |found| found.1)
        };
        for part in inside(handed).map_or_else(Vec::new, |found| split(found.0, ',')) {
            let Some((name, initial)) = part.split_once('=') else { continue };
            let ty = self.names.get(initial.trim()).map_or(ValueType::Other, |id| self.module.value(*id).ty.clone());
            self.region_argument(op, name.trim(), ty);
            read.push(' ');
            read.push_str(initial);
        }
        read
    }

    fn results(&mut self, op: OpId, names: &str, types: &[ValueType]) {
        let mut all = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let (name, count) = name.split_once(':').unwrap_or((name, "1"));
            let count: usize = count.parse().unwrap_or(1).min(OPS_MAX);
            all.extend((0..count).map(|index| if count == 1 { name.to_string() } else { format!("{name}#{index}") }));
        }
        for (index, name) in all.iter().enumerate() {
            let ty = types.get(index).cloned().unwrap_or(ValueType::Other);
            let id = self.define(name, ty, Definition::Result(op, index));
            self.module.ops[op.index()].results.push(id);
        }
    }
}

/// The names of values in a text.
fn used(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').map(|(at, _)| {
        let rest = &text[at + 1..];
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_.$-#".contains(letter);
        &text[at..at + 1 + rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())]
    })
}

/// The text of an operation after its name, without its types; and the types of its results.
fn body<'t>(name: &str, rest: &'t str) -> (&'t str, Vec<ValueType>) {
    let rest = rest.trim_end().trim_end_matches("({").trim_end_matches('{').trim_end();
    if let Some(at) = rfind(rest, "-> ") {
        let before = &rest[..at];
        let colon = rfind(before, ": ").map_or(before, |colon| &before[..colon]);
        return (colon, types(rest[at + 3..].split(" : ").next().unwrap_or_default()));
    }
    let Some(at) = rfind(rest, ": ") else {
        let truth = ValueType::Scalar(ElementType::Scalar(ScalarType::Pred));
        return (rest, if name == "arith.constant" { vec![truth] } else { Vec::new() });
    };
    let (text, written) = (&rest[..at], &rest[at + 2..]);
    if let Some(to) = rfind(written, " to ") {
        return (text, types(&written[to + 4..]));
    }
    let mut all = types(written);
    match name {
        // Both operands of a choice have the type of the result, which comes last.
        "arith.select" => all = all.pop().into_iter().collect(),
        "arith.cmpi" | "arith.cmpf" => {
            let truth = ElementType::Scalar(ScalarType::Pred);
            all = all.into_iter().take(1).map(|ty| ty.with_element(truth)).collect();
        }
        "tt.load" => all = all.into_iter().take(1).map(pointee).collect(),
        _ => {}
    }
    (text, all)
}

/// The type of what pointers of a type point to.
fn pointee(ty: ValueType) -> ValueType {
    match ty.element() {
        Some(ElementType::Pointer(Some(to))) => ty.with_element(ElementType::Scalar(to)),
        Some(ElementType::Pointer(None) | ElementType::Scalar(_)) | None => ValueType::Other,
    }
}

fn types(written: &str) -> Vec<ValueType> {
    let written = written.trim();
    let list = written.strip_prefix('(').and_then(inside).map_or(written, |found| found.0);
    split(list, ',').into_iter().map(ValueType::parse).collect()
}
