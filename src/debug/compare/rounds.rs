//! The first difference in the stores of threads that are known to differ, or may only differ in what is allowed.
//!
//! As many threads as fit a bound are looked at in one round: B is run and their stores are kept, then A is run and each store is compared
//! with its counterpart. Once a difference is known, A need not run beyond it.

use std::collections::BTreeMap;

use super::comparer::Comparer;
use super::regions::RelativeAddress;
use super::report::{Difference, StoreText};
use super::side::Pairing;
use super::stores::{Store, Thread};
use crate::base::Tick;
use crate::debug::names::access::access_type;
use crate::debug::run::RunError;
use crate::debug::site::Site;
use crate::debug::value::element_text;
use crate::isa::{ScalarType, TypeKind};
use crate::launch::{Element, Kind, Tolerance};
use crate::machine::{Digest, LaneMask, thread_index};

/// How many stores are kept at once.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Stores of both runs.
    pub stores: u64,
}

impl Default for Bound {
    fn default() -> Self {
        Self { stores: 1 << 22 }
    }
}

/// A pair of stores that differ; one of them may be missing.
type Pair = (Option<Store>, Option<Store>);

/// The stores of the threads of a round that are still to be compared.
struct Counterparts {
    pairing: Pairing,
    /// In program order, the latest first.
    by_thread: BTreeMap<Thread, Vec<Store>>,
    /// By thread and address, the latest first.
    by_address: BTreeMap<(Thread, RelativeAddress), Vec<Store>>,
}

/// The stores of a round that are compared at once: of a thread that alone has more than fit, a part.
#[derive(Clone, Copy)]
struct Part {
    /// Its number, from 0.
    number: u64,
    /// The number of parts.
    of: u64,
    /// Most stores of a part.
    stores: u64,
}

impl Part {
    /// The parts of a round.
    fn of_round(round: &[(Thread, u64)], bound: Bound) -> impl Iterator<Item = Self> {
        let of = match round {
            [(_, count)] => count.div_ceil(bound.stores.max(1)).max(1),
            _ => 1,
        };
        (0..of).map(move |number| Self { number, of, stores: bound.stores.max(1) })
    }

    /// True if a store is in it, the one of this index of its thread: in program order some that follow each other, by address those to
    /// some of the addresses.
    fn has(&self, pairing: Pairing, index: u64, store: &Store) -> bool {
        match pairing {
            _ if self.of == 1 => true,
            Pairing::InProgramOrder => index / self.stores == self.number,
            Pairing::ByAddress => {
                let mut digest = Digest::default();
                store.at.digest(&mut digest);
                digest.value() % self.of == self.number
            }
        }
    }
}

/// Finds the first difference in the stores of `threads`, each with the number of its stores. `stopped` says which runs stopped before
/// their end: their missing stores are no differences. True beside it if the user interrupted.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn first_difference(
    comparer: &Comparer<'_>,
    threads: &[(Thread, u64)],
    bound: Bound,
    stopped: [bool; 2],
) -> Result<(Option<Difference>, bool), RunError> {
    let mut first: Option<Pair> = None;
    let mut rest = threads;
    while !rest.is_empty() && !(comparer.interrupt)() {
        let mut stores = 0_u64;
        let fits = |(_, count): &&(Thread, u64)| {
            stores = stores.saturating_add(*count);
            stores <= bound.stores
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (round, others) = rest.split_at(count);
        rest = others;
        for part in Part::of_round(round, bound) {
            let until = first.as_ref().and_then(|(a, _)| a.map(|a| a.point.tick));
            first = earlier(first, compare_round(comparer, (round, part), stopped, until)?);
        }
    }
    let interrupted = (comparer.interrupt)();
    Ok((first.filter(|_| !interrupted).map(|pair| described(comparer, pair)), interrupted))
}

/// The pair that comes first: in the time of A, or where both are missing there, in that of B.
fn earlier(one: Option<Pair>, other: Option<Pair>) -> Option<Pair> {
    let key = |(a, b): &Pair| (a.is_none(), a.or(*b).map(|store| store.point.tick));
    match (one, other) {
        (Some(one), Some(other)) => Some(if key(&other) < key(&one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// The first difference among the threads of a round, before `until` in the time of A.
fn compare_round(
    comparer: &Comparer<'_>,
    (round, part): (&[(Thread, u64)], Part),
    stopped: [bool; 2],
    until: Option<Tick>,
) -> Result<Option<Pair>, RunError> {
    // The index counts the stores of the only thread of a round with parts.
    let is_selected = |store: &Store, index: &mut u64| {
        let is_of_round = round.binary_search_by_key(&store.thread, |(each, _)| *each).is_ok();
        *index += u64::from(is_of_round);
        is_of_round && part.has(comparer.pairing, *index - 1, store)
    };
    let mut counterparts = Counterparts { pairing: comparer.pairing, by_thread: BTreeMap::new(), by_address: BTreeMap::new() };
    let mut index = 0;
    comparer.run(1, &mut |store| {
        if is_selected(store, &mut index) {
            counterparts.keep(*store);
        }
        false
    })?;
    counterparts.reverse();
    let mut first: Option<Pair> = None;
    index = 0;
    comparer.run(0, &mut |store| {
        if until.is_some_and(|until| store.point.tick >= until) {
            return true;
        }
        if !is_selected(store, &mut index) {
            return false;
        }
        let other = counterparts.take(store);
        let is_equal = match &other {
            Some(other) => comparer.is_equal(store, other),
            None => stopped[1],
        };
        if !is_equal {
            first = Some((Some(*store), other));
        }
        !is_equal
    })?;
    if first.is_some() || until.is_some() || stopped[0] {
        return Ok(first);
    }
    Ok(counterparts.first_left().map(|store| (None, Some(store))))
}

impl Counterparts {
    fn keep(&mut self, store: Store) {
        match self.pairing {
            Pairing::InProgramOrder => self.by_thread.entry(store.thread).or_default().push(store),
            Pairing::ByAddress => self.by_address.entry((store.thread, store.at)).or_default().push(store),
        }
    }

    /// Puts the latest first.
    fn reverse(&mut self) {
        self.by_thread.values_mut().chain(self.by_address.values_mut()).for_each(|stores| stores.reverse());
    }

    /// The counterpart of a store of A; none if B has no more.
    fn take(&mut self, store: &Store) -> Option<Store> {
        match self.pairing {
            Pairing::InProgramOrder => self.by_thread.get_mut(&store.thread)?.pop(),
            Pairing::ByAddress => self.by_address.get_mut(&(store.thread, store.at))?.pop(),
        }
    }

    /// The first store of B, in its time, that A has not.
    fn first_left(&self) -> Option<Store> {
        let left = self.by_thread.values().chain(self.by_address.values()).filter_map(|stores| stores.last().copied());
        left.min_by_key(|store| store.point.tick)
    }
}

impl Comparer<'_> {
    /// True if two stores go to the same address with the same value, within the tolerance.
    fn is_equal(&self, a: &Store, b: &Store) -> bool {
        if a.is_same(b) {
            return true;
        }
        let (Some(value), Some(expected)) = (b.value, a.value) else { return false };
        if a.at != b.at || a.bytes != b.bytes || a.is_copy || b.is_copy {
            return false;
        }
        let element = self.element(0, a);
        let tolerance = self.tolerance_at(a.at).filter(|_| element.kind() == Kind::Float);
        tolerance.is_some_and(|tolerance| tolerance.accepts(element, value, expected))
    }

    /// The tolerance of the comparison, else that of the buffer in the launch file.
    pub(super) fn tolerance_at(&self, at: RelativeAddress) -> Option<Tolerance> {
        let of_buffer = || self.region_names.buffer(at)?.expect.as_ref().map(|expect| expect.tolerance);
        self.tolerance.or_else(of_buffer)
    }

    fn element(&self, side: usize, store: &Store) -> Element {
        self.region_names.element(store.at, store.bytes, stored_type(self, side, store))
    }
}

/// The type that an instruction stores, if it is one of numbers.
fn stored_type(comparer: &Comparer<'_>, side: usize, store: &Store) -> Option<ScalarType> {
    access_type(comparer.sides[side].program, store.point.pc).filter(|ty| ty.kind() != TypeKind::Untyped)
}

fn described(comparer: &Comparer<'_>, (a, b): Pair) -> Difference {
    let thread = a.or(b).map(|store| store.thread);
    let extent =
        thread.and_then(|thread| comparer.sides[0].case.launches.get(thread.launch as usize)).map_or([1; 3], |launch| launch.block);
    let text = |side: usize, store: &Store| {
        let program = comparer.sides[side].program;
        let site = Site::new(program, extent, store.point, LaneMask::of(usize::from(store.thread.lane)));
        let is_number = !store.is_copy;
        let value = store.value.filter(|_| is_number).map(|bits| {
            let element = comparer.element(side, store);
            match element.kind() {
                Kind::Float => format!("{} ({})", element_text(element, bits), element.show_bits(bits)),
                Kind::Bits | Kind::Unsigned | Kind::Signed => element_text(element, bits),
            }
        });
        Box::new(StoreText { site, memory: comparer.region_names.name(store.at), value })
    };
    Difference::Store {
        block: thread.map_or([0; 3], |thread| thread.block),
        thread: thread.map_or([0; 3], |thread| thread_index(extent, thread.warp, u32::from(thread.lane))),
        a: a.map(|store| text(0, &store)),
        b: b.map(|store| text(1, &store)),
    }
}
