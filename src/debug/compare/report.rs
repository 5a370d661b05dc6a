//! What a comparison of two runs says.

use serde::Serialize;

use crate::debug::findings::FindingText;
use crate::debug::site::Site;
use crate::debug::verify::Writer;

/// How two runs compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    /// What ran, A and B.
    pub sides: [SideReport; 2],
    /// The first difference; none if there is none.
    pub difference: Option<Difference>,
    /// Threads with other stores; none where that is not known, as stores may differ in what is allowed.
    pub threads: Option<u64>,
    /// Bytes of memory that were compared at the end; none if a run stopped before, or the stores differ.
    pub bytes: Option<u64>,
    /// True if the user interrupted it: nothing is known.
    pub interrupted: bool,
}

/// What one of the runs did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideReport {
    /// The kernels, in order.
    pub kernels: Vec<String>,
    /// Warp-instructions.
    pub ticks: u64,
    /// Stores, an element each.
    pub stores: u64,
    /// Threads that stored something.
    pub threads: u64,
    /// What stopped it before its end.
    pub fault: Option<Box<FindingText>>,
}

/// The first difference of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Difference {
    /// A store.
    Store {
        /// The block.
        block: [u32; 3],
        /// The thread in its block.
        thread: [u32; 3],
        /// In A; none if it has no such store.
        a: Option<Box<StoreText>>,
        /// In B.
        b: Option<Box<StoreText>>,
    },
    /// An element of the memory at the end, where all stores are equal.
    Memory {
        /// The element.
        element: String,
        /// Its values in A and B.
        values: [String; 2],
        /// What wrote it last in A and B.
        writers: Box<[Option<Writer>; 2]>,
        /// How many elements differ.
        elements: u64,
    },
    /// One of the runs stopped before its end, or they did at different places.
    Stop,
}

/// A store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoreText {
    /// The instruction and its time.
    pub site: Site,
    /// Where it goes: `y[17]`.
    pub memory: String,
    /// The value that it stores; none where that is not known: of an atomic, and of what another block's shared memory takes.
    pub value: Option<String>,
}

impl RunComparison {
    /// True if there is no difference.
    pub fn is_equal(&self) -> bool {
        self.difference.is_none() && !self.interrupted
    }
}
