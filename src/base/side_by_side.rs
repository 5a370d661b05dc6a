//! Many pieces of work on several threads, with the results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Bytes of the stack of a thread: those of the main thread on most systems.
const STACK_BYTES: usize = 8 << 20;

/// What a thread that works says to the one that waits.
enum Message<R> {
    /// It asks whether to go on.
    Asks,
    /// A piece of work is done.
    Done(u64, R),
}

/// As many threads as the machine runs at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does the pieces 0 to `count` of some work on `jobs` threads at once, and hands each result to `take` in the order of the pieces,
/// whatever order they end in. A piece is given a function that says whether it is to end early, which it should call many times a
/// second; this is how often `goes_on` is asked. Returns whether all was done and taken.
pub fn side_by_side<R: Send>(
    jobs: usize,
    count: u64,
    work: impl Fn(u64, &dyn Fn() -> bool) -> R + Sync,
    mut goes_on: impl FnMut() -> bool,
    mut take: impl FnMut(u64, R),
) -> bool {
    assert!(jobs > 0, "work needs a thread");
    let (next, ends, work) = (AtomicU64::new(0), AtomicBool::new(false), &work);
    let (next, ends) = (&next, &ends);
    let (sender, receiver) = channel();
    let worker = move |sender: Sender<Message<R>>| {
        let asks = || {
            // The one that waits may be gone, which ends this one.
            ends.load(Ordering::Relaxed) || sender.send(Message::Asks).is_err()
        };
        while !ends.load(Ordering::Relaxed) {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                break;
            }
            let done = work(piece, &asks);
            if sender.send(Message::Done(piece, done)).is_err() {
                break;
            }
        }
    };
    thread::scope(|scope| {
        let wanted = jobs.min(usize::try_from(count).unwrap_or(usize::MAX));
        let mut started = 0;
        while started < wanted {
            let sender = sender.clone();
            // With fewer threads than wanted it takes longer.
            if thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || worker(sender)).is_err() {
                break;
            }
            started += 1;
        }
        if started == 0 {
            worker(sender.clone());
        }
        drop(sender);
        let (mut waiting, mut taken) = (BTreeMap::new(), 0);
        for message in receiver {
            if !goes_on() {
                ends.store(true, Ordering::Relaxed);
                return false;
            }
            if let Message::Done(piece, done) = message {
                waiting.insert(piece, done);
            }
            while let Some(done) = waiting.remove(&taken) {
                take(taken, done);
                taken += 1;
            }
        }
        taken == count
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_for_every_number_of_threads() {
        for jobs in [1, 2, 7, 64] {
            let mut taken = Vec::new();
            let work = |piece: u64, _: &dyn Fn() -> bool| {
                // Later pieces are shorter.
                (0..(20 - piece) * 1000).fold(piece, |sum, n| std::hint::black_box(sum ^ n ^ n))
            };
            assert!(side_by_side(jobs, 20, work, || true, |piece, done| taken.push((piece, done))));
            assert_eq!(taken, (0..20).map(|piece| (piece, piece)).collect::<Vec<_>>(), "{jobs}");
        }
    }

    #[test]
    fn work_that_asks_ends_early() {
        let mut taken = 0;
        let endless = |_: u64, ends: &dyn Fn() -> bool| while !ends() {};
        let mut asked = 0;
        let mut goes_on = || {
            asked += 1;
            asked < 100
        };
        assert!(!side_by_side(3, 5, endless, &mut goes_on, |_, ()| taken += 1));
        assert_eq!(taken, 0);
        assert!(side_by_side(3, 0, endless, || true, |_, ()| taken += 1), "nothing is done at once");
    }
}
