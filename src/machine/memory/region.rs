//! Allocations in an address space, separated by unmapped bytes.

use std::sync::Arc as Shared;

use triomphe::Arc;

use super::Pages;
use crate::machine::digest::Digest;

/// A named piece of memory.
#[derive(Clone)]
pub struct Allocation {
    /// Variable or buffer it belongs to.
    pub name: Shared<str>,
    /// Address of its first byte.
    pub base: u64,
    /// Its bytes.
    pub pages: Pages,
}

impl Allocation {
    /// One past the address of its last byte.
    pub fn end(&self) -> u64 {
        self.base + self.pages.len()
    }
}

/// A request that the address space cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address space has no room for {bytes} more bytes")]
pub struct OutOfMemory {
    /// What was asked for.
    pub bytes: u64,
}

/// Allocations in order of address.
#[derive(Clone, Default)]
pub struct Region {
    allocations: Vec<Arc<Allocation>>,
}

impl Region {
    /// Adds an allocation at a given address; the place must be free.
    pub fn insert(&mut self, name: &str, base: u64, bytes: u64, fill: u8) {
        let index = self.allocations.partition_point(|allocation| allocation.base < base);
        self.allocations.insert(index, Arc::new(Allocation { name: name.into(), base, pages: Pages::new(bytes, fill) }));
    }

    /// All allocations in order of address.
    pub fn allocations(&self) -> impl DoubleEndedIterator<Item = &Allocation> {
        self.allocations.iter().map(|allocation| &**allocation)
    }

    /// The allocation whose bytes cover `address`.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        self.index_of(address).map(|index| &*self.allocations[index])
    }

    /// The allocation whose bytes cover `address`, to write; unshared first if need be.
    #[inline]
    pub fn find_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        self.index_of(address).map(|index| Arc::make_mut(&mut self.allocations[index]))
    }

    /// The allocation nearest to `address`, which is in none.
    pub fn nearest(&self, address: u64) -> Option<&Allocation> {
        let distance = |allocation: &&Allocation| match address < allocation.base {
            true => allocation.base - address,
            false => address.saturating_sub(allocation.end()),
        };
        self.allocations().min_by_key(distance)
    }

    /// Adds everything to `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        for allocation in self.allocations() {
            digest.word(allocation.base);
            allocation.pages.digest(digest);
        }
    }

    #[inline]
    fn index_of(&self, address: u64) -> Option<usize> {
        let index = self.allocations.partition_point(|allocation| allocation.base <= address).checked_sub(1)?;
        (address < self.allocations[index].end()).then_some(index)
    }
}
