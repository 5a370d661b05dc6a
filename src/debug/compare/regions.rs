//! Where stores go, in words that mean the same in both runs: a buffer or a variable, and an offset.

use std::collections::BTreeMap;
use std::ops::Range;

use super::side::Side;
use crate::debug::names::memory_name::subscript;
use crate::isa::ScalarType;
use crate::launch::{Case, Element, PlannedBuffer};
use crate::machine::{Device, Digest};
use crate::program::shown_name;

/// A address in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelativeAddress {
    pub region: Region,
    /// The offset in the region; the address outside of the known ones.
    pub offset: u64,
}

impl RelativeAddress {
    /// Adds the address to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        let (kind, index) = match self.region {
            Region::Buffer(index) => (0, index),
            Region::Variable(index) => (1, index),
            Region::Global => (2, 0),
            Region::Shared(rank) => (3, rank),
        };
        digest.word(kind << 32 | u64::from(index));
        digest.word(self.offset);
    }
}

/// A region of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Region {
    /// Index of a buffer of the case.
    Buffer(u32),
    /// Index of a variable of global memory, in the list of names of both sides.
    Variable(u32),
    /// Global memory of no known name.
    Global,
    /// Shared memory of the block of this rank in the cluster.
    Shared(u32),
}

/// The names of the regions of both sides.
pub struct RegionNames {
    /// For each side, the region of each allocation, by name.
    names: [BTreeMap<String, Region>; 2],
    /// Buffers of A: names, elements, shapes.
    buffers: Vec<PlannedBuffer>,
    variables: Vec<String>,
}

/// The regions of a side in one launch, in order of address.
pub struct Regions(Vec<(Range<u64>, Region)>);

impl Regions {
    /// The address of a global address.
    pub fn global(&self, address: u64) -> RelativeAddress {
        let at = self.0.partition_point(|(range, _)| range.end <= address);
        match self.0.get(at).filter(|(range, _)| range.contains(&address)) {
            Some((range, region)) => RelativeAddress { region: *region, offset: address - range.start },
            None => RelativeAddress { region: Region::Global, offset: address },
        }
    }
}

impl RegionNames {
    /// The regions of two sides: buffers are paired in order if they have the same sizes, else by their names.
    pub fn of([a, b]: [Side<'_>; 2]) -> Self {
        let sizes = |case: &Case| case.buffers.iter().map(|buffer| buffer.bytes).collect::<Vec<_>>();
        let is_paired = sizes(a.case) == sizes(b.case);
        let buffers = |case: &Case| -> BTreeMap<String, Region> {
            let numbered = case.buffers.iter().enumerate();
            let index = |(index, buffer): (usize, &PlannedBuffer)| match is_paired {
                true => Some(index),
                false => a.case.buffers.iter().position(|other| other.name == buffer.name),
            };
            numbered.filter_map(|each| Some((each.1.name.clone(), Region::Buffer(u32::try_from(index(each)?).ok()?)))).collect()
        };
        let mut names = [buffers(a.case), buffers(b.case)];
        let mut variables: Vec<String> =
            [a, b].iter().flat_map(|side| side.program.variables.iter().map(|each| each.name.to_string())).collect();
        variables.sort_unstable();
        variables.dedup();
        for names in &mut names {
            for (index, name) in (0..).zip(&variables) {
                names.entry(name.clone()).or_insert(Region::Variable(index));
            }
        }
        Self { names, buffers: a.case.buffers.clone(), variables }
    }

    /// The regions of a side's memory.
    pub fn regions(&self, side: usize, device: &Device) -> Regions {
        let named = device.global().allocations().filter_map(|allocation| {
            let region = self.names[side].get(&*allocation.name)?;
            Some((allocation.base..allocation.base + allocation.bytes, *region))
        });
        let mut regions: Vec<_> = named.collect();
        regions.sort_unstable_by_key(|(range, _)| range.start);
        Regions(regions)
    }

    /// The buffer that a address is in.
    pub fn buffer(&self, at: RelativeAddress) -> Option<&PlannedBuffer> {
        match at.region {
            Region::Buffer(index) => self.buffers.get(index as usize),
            Region::Variable(_) | Region::Global | Region::Shared(_) => None,
        }
    }

    /// `y[17]`, `table+0x40`, `shared+0x80`.
    pub fn name(&self, at: RelativeAddress) -> String {
        let plus = |name: &str| if at.offset == 0 { name.to_string() } else { format!("{name}+{:#x}", at.offset) };
        match at.region {
            Region::Buffer(_) => match self.buffer(at) {
                Some(buffer) if at.offset.is_multiple_of(buffer.element.bytes().into()) && buffer.element != Element::B8 => {
                    format!("{}{}", buffer.name, subscript(&buffer.shape, at.offset / u64::from(buffer.element.bytes())))
                }
                Some(buffer) => plus(&buffer.name),
                None => format!("{:#x}", at.offset),
            },
            Region::Variable(index) => self.variables.get(index as usize).map_or_else(String::new, |name| plus(&shown_name(name))),
            Region::Global => format!("{:#x}", at.offset),
            Region::Shared(0) => format!("shared memory+{:#x}", at.offset),
            Region::Shared(rank) => format!("shared memory+{:#x} of block {rank} of the cluster", at.offset),
        }
    }

    /// The type of an element of `bytes` bytes at a address: that of its buffer, else that of the instruction that stores it.
    pub fn element(&self, at: RelativeAddress, bytes: u32, stored: Option<ScalarType>) -> Element {
        let of_buffer = self.buffer(at).map(|buffer| buffer.element);
        let of_store = stored.and_then(|ty| Element::from_name(ty.word()));
        let fits = |element: &Element| element.bytes() == bytes;
        of_buffer.filter(fits).or(of_store.filter(fits)).unwrap_or(match bytes {
            1 => Element::B8,
            2 => Element::B16,
            4 => Element::B32,
            _ => Element::B64,
        })
    }
}
