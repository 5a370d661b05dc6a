//! Layouts as they are written: `#ttg.blocked<{sizePerThread = [1, 4], …}>`, or an alias such as `#mma`.

use std::collections::BTreeMap;

use super::text;

/// Most layouts in each other.
const NESTING_MAX: u32 = 16;

/// A layout: its kind and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// `blocked`, `nvidia_mma`, `slice` …
    pub kind: String,
    fields: BTreeMap<String, Field>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Number(u32),
    List(Vec<Field>),
    Encoding(Encoding),
    Word(String),
}

impl Encoding {
    /// Reads a layout; aliases are looked up in `aliases`. None if it is not written as Triton writes them.
    pub fn parse(written: &str, aliases: &BTreeMap<String, String>) -> Option<Self> {
        parse(written, aliases, NESTING_MAX)
    }

    /// The numbers of a field that is a list of them.
    pub fn numbers(&self, name: &str) -> Option<Vec<u32>> {
        match self.fields.get(name)? {
            Field::List(list) => numbers(list),
            Field::Number(_) | Field::Encoding(_) | Field::Word(_) => None,
        }
    }

    /// The lists of numbers of a field that is a list of them.
    pub fn lists(&self, name: &str) -> Option<Vec<Vec<u32>>> {
        let Field::List(list) = self.fields.get(name)? else { return None };
        let inner = |field: &Field| if let Field::List(list) = field { numbers(list) } else { None };
        list.iter().map(inner).collect()
    }

    /// The number of a field.
    pub fn number(&self, name: &str) -> Option<u32> {
        if let Field::Number(number) = self.fields.get(name)? { Some(*number) } else { None }
    }

    /// The layout of a field.
    pub fn encoding(&self, name: &str) -> Option<&Encoding> {
        if let Field::Encoding(encoding) = self.fields.get(name)? { Some(encoding) } else { None }
    }

    /// True if it has the field.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }
}

fn numbers(list: &[Field]) -> Option<Vec<u32>> {
    list.iter().map(|field| if let Field::Number(number) = field { Some(*number) } else { None }).collect()
}

fn parse(written: &str, aliases: &BTreeMap<String, String>, depth: u32) -> Option<Encoding> {
    let depth = depth.checked_sub(1)?;
    let name = written.trim().strip_prefix('#')?;
    let Some((head, rest)) = name.split_once('<') else { return parse(aliases.get(name)?, aliases, depth) };
    let kind = head.rsplit('.').next()?.to_string();
    let (body, _) = text::inside(rest)?;
    let body = body.trim();
    let body = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or(body);
    let fields = text::split(body, ',').into_iter().map(|part| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_string(), field(value.trim(), aliases, depth)?))
    });
    Some(Encoding { kind, fields: fields.collect::<Option<_>>()? })
}

fn field(written: &str, aliases: &BTreeMap<String, String>, depth: u32) -> Option<Field> {
    let depth = depth.checked_sub(1)?;
    if let Some(list) = written.strip_prefix('[') {
        let (inside, _) = text::inside(list)?;
        return text::split(inside, ',').into_iter().map(|part| field(part, aliases, depth)).collect::<Option<_>>().map(Field::List);
    }
    if written.starts_with('#') {
        return parse(written, aliases, depth).map(Field::Encoding);
    }
    let number = written.split(':').next().unwrap_or(written).trim();
    Some(number.parse().map_or_else(|_| Field::Word(written.to_string()), Field::Number))
}
