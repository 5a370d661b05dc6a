//! The local memory of a warp: every lane has its own bytes at the same addresses.
//!
//! Lanes mostly access the same address at once, so memory is stored in stripes: the bytes of all lanes for an address range of 128 bytes.
//! No aligned access crosses a stripe.

use std::hash::{Hash, Hasher};

use triomphe::Arc;

use crate::machine::state::lanes::LANES;

const STRIPE_BYTES: usize = 128;

type Stripe = [[u8; STRIPE_BYTES]; LANES];

/// Local memory of 32 lanes. Stripes are allocated on the first write; bytes read as zero before.
#[derive(Clone, Default)]
pub struct LocalMemory {
    stripes: Vec<Option<Arc<Stripe>>>,
    /// The number of allocated stripes.
    allocated_stripes: u32,
}

impl LocalMemory {
    /// The `N` bytes of `lane` at the aligned `address`.
    #[inline]
    pub fn read<const N: usize>(&self, lane: usize, address: u64) -> [u8; N] {
        let (index, at) = stripe_of(address);
        match self.stripes.get(index) {
            Some(Some(stripe)) => bytes_at(&stripe[lane], at),
            _ => [0; N],
        }
    }

    /// Writes the bytes of `lane` at the aligned `address`.
    #[inline]
    pub fn write(&mut self, lane: usize, address: u64, bytes: &[u8]) {
        let (index, at) = stripe_of(address);
        if index >= self.stripes.len() {
            self.stripes.resize(index + 1, None);
        }
        let allocated_stripes = &mut self.allocated_stripes;
        let stripe = self.stripes[index].get_or_insert_with(|| {
            *allocated_stripes += 1;
            Arc::new([[0; STRIPE_BYTES]; LANES])
        });
        Arc::make_mut(stripe)[lane][at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Copies `bytes` bytes of one lane from `from` to `to`; neither need be aligned.
    pub fn copy(&mut self, lane: usize, from: u64, to: u64, bytes: u64) {
        for offset in 0..bytes {
            let byte: [u8; 1] = self.read(lane, from + offset);
            self.write(lane, to + offset, &byte);
        }
    }

    /// Bytes of the stripes that were ever written.
    pub fn written_bytes(&self) -> u64 {
        u64::from(self.allocated_stripes) * (STRIPE_BYTES * LANES) as u64
    }

    /// Bytes of the stripes that are not shared with `other`, an earlier clone.
    pub fn unshared_bytes(&self, other: &LocalMemory) -> u64 {
        let others = other.stripes.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let unshared = |(own, other): &(&Option<Arc<Stripe>>, Option<&Arc<Stripe>>)| match (own, other) {
            (Some(own), Some(other)) => !Arc::ptr_eq(own, other),
            (own, _) => own.is_some(),
        };
        (self.stripes.iter().zip(others).filter(unshared).count() * STRIPE_BYTES * LANES) as u64
    }
}

impl Hash for LocalMemory {
    /// A stripe of zeros hashes like an absent one.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (index, stripe) in self.stripes.iter().enumerate() {
            let Some(stripe) = stripe else { continue };
            if stripe.iter().flatten().any(|byte| *byte != 0) {
                (index, &**stripe).hash(state);
            }
        }
    }
}

fn stripe_of(address: u64) -> (usize, usize) {
    let address = address as usize;
    (address / STRIPE_BYTES, address % STRIPE_BYTES)
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
