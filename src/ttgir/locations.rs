//! Places of the source: `loc("qk"(#loc29))`, `loc(callsite(#loc30 at #loc89))`.

use std::collections::BTreeMap;

use super::text;

/// Most places in each other.
const NESTING_MAX: u32 = 32;

/// A place, with the variable that a statement there assigns to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The variables; none for a statement that assigns nothing.
    pub names: Vec<String>,
    /// The file, without its folders.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1 as in PTX.
    pub column: u32,
    /// True if the file is one of Triton's own library.
    pub is_of_library: bool,
}

impl Place {
    /// True if it is the same text of the source.
    pub fn is_at(&self, other: &Place) -> bool {
        (self.line, self.column) == (other.line, other.column) && self.file == other.file
    }
}

/// The places of a module by their names, `#loc12`.
#[derive(Debug, Default)]
pub struct Locations(pub BTreeMap<String, String>);

impl Locations {
    /// The place and those of the calls around it, innermost first; empty if it is not known.
    pub fn chain(&self, written: &str) -> Vec<Place> {
        self.resolve(written.trim(), NESTING_MAX)
    }

    /// The innermost places of other statements that have the same value: `loc(fused[#loc1, #loc2])`.
    pub fn others(&self, written: &str) -> Vec<Place> {
        let mut written = written.trim();
        for _ in 0..NESTING_MAX {
            let Some(text) = self.0.get(written) else { break };
            written = text.trim();
        }
        let Some(rest) = written.strip_prefix("fused") else { return Vec::new() };
        let list = rest.split_once('[').and_then(|(_, list)| text::inside(list)).map(|found| text::split(found.0, ','));
        let chains = list.into_iter().flatten().map(|part| self.resolve(part, NESTING_MAX)).filter(|chain| !chain.is_empty());
        chains.skip(1).filter_map(|chain| chain.into_iter().next()).collect()
    }

    fn resolve(&self, written: &str, depth: u32) -> Vec<Place> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let written = written.trim();
        if written.starts_with('#') {
            return self.0.get(written).map_or_else(Vec::new, |text| self.resolve(text, depth));
        }
        if let Some(inside) = written.strip_prefix("callsite(").and_then(text::inside) {
            let Some((callee, caller)) = inside.0.split_once(" at ") else { return Vec::new() };
            let mut chain = self.resolve(callee, depth);
            chain.extend(self.resolve(caller, depth));
            return chain;
        }
        if let Some(rest) = written.strip_prefix("fused") {
            let list = rest.split_once('[').and_then(|(_, list)| text::inside(list)).map(|found| text::split(found.0, ','));
            return list.into_iter().flatten().map(|part| self.resolve(part, depth)).find(|chain| !chain.is_empty()).unwrap_or_default();
        }
        let Some((name, rest)) = written.strip_prefix('"').and_then(|rest| rest.split_once('"')) else { return Vec::new() };
        if let Some(inner) = rest.strip_prefix('(').and_then(text::inside) {
            let mut chain = self.resolve(inner.0, depth);
            chain.iter_mut().take(1).for_each(|place| place.names.push(name.to_string()));
            return chain;
        }
        let mut numbers = rest.split(':').skip(1).map_while(|number| number.split(' ').next()?.parse().ok());
        let (Some(line), Some(column)) = (numbers.next(), numbers.next()) else { return Vec::new() };
        let file = name.rsplit('/').next().unwrap_or(name).to_string();
        let is_of_library = name.contains("/triton/language/") || name.contains("/triton/experimental/");
        vec![Place { names: Vec::new(), file, line, column, is_of_library }]
    }
}
