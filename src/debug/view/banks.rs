//! The banks of shared memory that an access touches, and what would spare its conflicts.
//!
//! Shared memory has 32 banks of words of four bytes (CUDA C++ Programming Guide, "Shared Memory"). A warp's request is served in one pass
//! if no two of its lanes need different words of one bank. Lanes with 8 bytes each are served by halves of the warp, those with 16 bytes
//! by quarters.

use std::collections::BTreeMap;

use super::contents::{MemorySpace, memory_objects};
use super::lane_access::{LaneAccess, lane_access};
use crate::debug::eval_context::EvalContext;
use crate::isa::Space;
use crate::machine::LaneMask;

/// The number of banks.
pub const BANKS: usize = 32;
/// Bytes of a word.
const WORD: u64 = 4;
/// The most bytes of padding that are tried for a row.
const PADDING_MAX: u64 = 128;
/// Bytes that a swizzle moves together.
const CHUNK: u64 = 16;

/// The banks that an access touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankView {
    /// The instruction.
    pub statement: String,
    /// The number of lanes that execute it.
    pub lanes: u32,
    /// For each bank, the words that are accessed in it with their lanes, in the order of the lanes.
    pub banks: Vec<Vec<(u64, LaneMask)>>,
    /// The number of passes.
    pub passes: usize,
    /// The number of passes without conflicts.
    pub ideal: usize,
    /// What would spare passes.
    pub remedies: Vec<Remedy>,
}

/// A change of the layout in memory that spares passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// `pad the rows of tile to 33 elements`
    pub what: String,
    /// The number of passes with it.
    pub passes: usize,
}

/// The banks of the shared access that the focused warp executes next; none if it is another instruction.
pub fn banks(context: &EvalContext<'_>) -> Option<BankView> {
    let access = lane_access(context).filter(|access| access.space == Space::Shared)?;
    let active: Vec<(u32, u64)> = access.addresses.iter().copied().filter(|(lane, _)| !access.off.contains(*lane as usize)).collect();
    let mut banks: Vec<Vec<(u64, LaneMask)>> = vec![Vec::new(); BANKS];
    for (lane, address) in &active {
        for word in words(*address, access.bytes) {
            let bank = &mut banks[(word % BANKS as u64) as usize];
            match bank.iter_mut().find(|(other, _)| *other == word) {
                Some((_, lanes)) => *lanes |= LaneMask::of(*lane as usize),
                None => bank.push((word, LaneMask::of(*lane as usize))),
            }
        }
    }
    let (passes, ideal) = (passes(&active, access.bytes), groups(&active, access.bytes).len());
    let remedies = if passes > ideal { remedies(context, &access, &active, passes) } else { Vec::new() };
    Some(BankView { statement: super::statement(context.program(), access.pc), lanes: active.len() as u32, banks, passes, ideal, remedies })
}

/// The words of `bytes` bytes at an address.
fn words(address: u64, bytes: u64) -> std::ops::RangeInclusive<u64> {
    address / WORD..=(address + bytes.max(1) - 1) / WORD
}

/// The lanes that are served together, of those that are active.
fn groups(active: &[(u32, u64)], bytes: u64) -> Vec<Vec<u64>> {
    let lanes = match bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    let mut groups: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    active.iter().for_each(|(lane, address)| groups.entry(lane / lanes).or_default().push(*address));
    groups.into_values().collect()
}

/// The number of passes of an access.
fn passes(active: &[(u32, u64)], bytes: u64) -> usize {
    let of_group = |addresses: &Vec<u64>| {
        let mut all: Vec<u64> = addresses.iter().flat_map(|address| words(*address, bytes)).collect();
        all.sort_unstable();
        all.dedup();
        (0..BANKS as u64).map(|bank| all.iter().filter(|word| **word % BANKS as u64 == bank).count()).max().unwrap_or(0)
    };
    groups(active, bytes).iter().map(of_group).sum()
}

/// Rows of memory: where they begin, and their length in bytes.
struct Rows {
    name: String,
    base: u64,
    length: u64,
    /// Bytes of an element.
    element: u64,
}

/// The rows of the array that is accessed, or those that the distance of the lanes shows.
fn rows(context: &EvalContext<'_>, access: &LaneAccess) -> Option<Rows> {
    let (_, first) = access.addresses.first()?;
    let objects = memory_objects(context, MemorySpace::Shared);
    let object = objects.into_iter().find(|object| (object.address..object.end()).contains(first))?;
    let element = u64::from(object.ty.bytes().max(1));
    let name = crate::program::listed_name(&object.name).into_owned();
    if let [.., _, columns] = object.shape[..] {
        return Some(Rows { name, base: object.address, length: columns * element, element });
    }
    let mut distances = access.addresses.windows(2).map(|pair| pair[1].1.wrapping_sub(pair[0].1));
    let length = distances.next().filter(|distance| *distance > access.bytes && *distance <= object.elements * element)?;
    distances.all(|distance| distance == length).then_some(Rows { name, base: object.address, length, element: access.bytes.min(CHUNK) })
}

fn remedies(context: &EvalContext<'_>, access: &LaneAccess, active: &[(u32, u64)], now: usize) -> Vec<Remedy> {
    let Some(rows) = rows(context, access) else { return Vec::new() };
    let moved = |to: &dyn Fn(u64, u64) -> u64| {
        let place = |address: u64| to((address - rows.base) / rows.length, (address - rows.base) % rows.length);
        let all: Option<Vec<(u32, u64)>> =
            active.iter().map(|(lane, address)| (*address >= rows.base).then(|| (*lane, place(*address)))).collect();
        all.map_or(now, |all| passes(&all, access.bytes))
    };
    let mut remedies = Vec::new();
    // Vectors must stay aligned.
    let step = rows.element.max(access.bytes.next_power_of_two().min(CHUNK)).max(1);
    let paddings = (1..=PADDING_MAX / step).map(|count| count * step);
    let padded = paddings.map(|padding| (moved(&|row, column| row * (rows.length + padding) + column), padding));
    if let Some((passes, padding)) = padded.min().filter(|(passes, _)| *passes < now) {
        let (wanted, had) = ((rows.length + padding) / rows.element, rows.length / rows.element);
        remedies.push(Remedy { what: format!("pad the rows of {} from {had} to {wanted} elements", rows.name), passes });
    }
    let unit = rows.element.max(access.bytes.next_power_of_two().min(CHUNK));
    let units = rows.length / unit.max(1);
    if units.is_power_of_two() && units > 1 {
        let passes = moved(&|row, column| row * rows.length + ((column / unit) ^ (row % units)) * unit + column % unit);
        if passes < now {
            let of = if unit == rows.element { "element".to_string() } else { format!("{unit} bytes") };
            remedies.push(Remedy { what: format!("swizzle {}: {of} i of row r at i ^ (r % {units})", rows.name), passes });
        }
    }
    remedies
}

#[cfg(test)]
mod tests {
    use super::{groups, passes};

    /// The addresses of 32 lanes at a distance.
    fn strided(bytes: u64) -> Vec<(u32, u64)> {
        (0..32).map(|lane| (lane, u64::from(lane) * bytes)).collect()
    }

    /// The figures of the CUDA C++ Programming Guide, "Shared Memory": strides of one, two and three words, and broadcasts.
    #[test]
    fn conflicts_are_those_of_the_guide() {
        assert_eq!([4, 8, 12, 128, 132, 0].map(|stride| passes(&strided(stride), 4)), [1, 2, 1, 32, 1, 1]);
        // Bytes and halves of one word are no conflict.
        assert_eq!((passes(&strided(1), 1), passes(&strided(2), 2)), (1, 1));
        // Vectors: the passes that the bytes need.
        assert_eq!(
            [(8, 8), (16, 16)].map(|(stride, bytes)| (passes(&strided(stride), bytes), groups(&strided(stride), bytes).len())),
            [(2, 2), (4, 4)]
        );
        assert_eq!(passes(&strided(128), 16), 32);
    }
}
