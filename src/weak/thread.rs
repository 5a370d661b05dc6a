//! What a thread knows, and what it releases.

use std::collections::BTreeMap;

use super::history::{Location, Source};
use super::view::View;
use crate::base::lanes::LANES;
use crate::isa::Scope;

/// A thread: its block and its number in it, and the cluster of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The GPU.
    pub gpu: u32,
    /// The cluster.
    pub cluster: u32,
    /// The block.
    pub block: u32,
    /// The thread.
    pub thread: u32,
}

impl Place {
    /// True if a scope of this thread includes another one.
    pub fn includes(self, scope: Scope, other: Self) -> bool {
        match scope {
            Scope::None => false,
            Scope::Cta => (self.gpu, self.block) == (other.gpu, other.block),
            Scope::Cluster => (self.gpu, self.cluster) == (other.gpu, other.cluster),
            Scope::Gpu => self.gpu == other.gpu,
            Scope::Sys => true,
        }
    }
}

/// Threads that meet: a block, a warp of it, or one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    gpu: u32,
    block: u32,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Block,
    Warp(u32),
    Thread(u32),
}

impl Group {
    /// The block of a thread.
    pub fn block(of: Place) -> Self {
        Self { gpu: of.gpu, block: of.block, part: Part::Block }
    }

    /// The warp of a thread.
    pub fn warp(of: Place) -> Self {
        Self { gpu: of.gpu, block: of.block, part: Part::Warp(of.thread / LANES as u32) }
    }

    /// A thread alone.
    pub fn thread(of: Place) -> Self {
        Self { gpu: of.gpu, block: of.block, part: Part::Thread(of.thread) }
    }

    /// All groups that a thread is in.
    pub fn all_of(of: Place) -> [Self; 3] {
        [Self::block(of), Self::warp(of), Self::thread(of)]
    }

    /// True if all threads of `other` are in it.
    pub fn contains(self, other: &Self) -> bool {
        let is_part = match (self.part, other.part) {
            (Part::Block, _) => true,
            (Part::Warp(own), Part::Warp(other)) => own == other,
            (Part::Warp(own), Part::Thread(other)) => own == other / LANES as u32,
            (Part::Thread(own), Part::Thread(other)) => own == other,
            (Part::Warp(_), Part::Block) | (Part::Thread(_), Part::Block | Part::Warp(_)) => false,
        };
        (self.gpu, self.block) == (other.gpu, other.block) && is_part
    }
}

/// A release pattern, as its write carries it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The thread of its first operation.
    pub by: Place,
    /// The scope of that.
    pub scope: Scope,
    /// The view of that.
    pub view: View,
}

/// What a thread has read last of another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LastRead {
    /// The write.
    pub write: Source,
    /// When it was read.
    pub time: u64,
    /// The instruction that read it, by its number.
    pub code: u32,
    /// True if that was morally strong to it.
    pub is_strong: bool,
}

/// The state of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadState {
    /// The writes of others that precede its next operation in causality order, beside those of its last meetings.
    pub view: View,
    /// The view at the last fence of each scope.
    pub fences: BTreeMap<Scope, View>,
    /// The view at the last release of each scope at a location.
    pub releases: BTreeMap<(Location, Scope), View>,
    /// Patterns that strong reads have observed, which a fence or an acquire of the location completes.
    pub observed: Vec<(Location, Pattern)>,
    /// What it has read last of each other thread that it need not know all of.
    pub last_reads: BTreeMap<Place, LastRead>,
}

/// Patterns that wait for a fence.
const OBSERVED_MAX: usize = 32;

impl ThreadState {
    /// A strong read of a location observes patterns; `acquires` has the scope of one that acquires.
    pub fn observe(&mut self, own: Place, at: Location, patterns: &[Pattern], acquires: Option<Scope>) {
        for pattern in patterns {
            if !self.observed.iter().any(|(of, other)| *of == at && other == pattern) {
                self.observed.push((at, pattern.clone()));
            }
        }
        if self.observed.len() > OBSERVED_MAX {
            self.observed.drain(..self.observed.len() - OBSERVED_MAX);
        }
        if let Some(scope) = acquires {
            self.acquire(own, scope, Some(at));
        }
    }

    /// Joins the views of the patterns in scope, all or those that were observed at a location.
    pub fn acquire(&mut self, own: Place, scope: Scope, only: Option<Location>) {
        let Self { view, observed, .. } = self;
        observed.retain(|(at, pattern)| {
            let is_complete = only.is_none_or(|only| only == *at)
                && (pattern.by == own || own.includes(scope, pattern.by) && pattern.by.includes(pattern.scope, own));
            if is_complete {
                view.join(&pattern.view);
            }
            !is_complete
        });
    }

    /// The release patterns that a strong write of a location completes; `releases` has the scope of one that releases.
    pub fn patterns(&self, own: Place, at: Location) -> Vec<Pattern> {
        let releases = self.releases.iter().filter(|((of, _), _)| *of == at).map(|((_, scope), view)| (*scope, view));
        let fences = self.fences.iter().map(|(scope, view)| (*scope, view));
        releases.chain(fences).map(|(scope, view)| Pattern { by: own, scope, view: view.clone() }).collect()
    }
}
