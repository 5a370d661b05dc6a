//! Parallel execution of jobs on several threads, with the results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Bytes of the stack of a thread: those of the main thread on most systems.
const STACK_BYTES: usize = 8 << 20;

/// A message of a worker thread to the main thread.
enum Message<R> {
    /// A request to poll `should_continue`.
    Poll,
    /// The result of a job.
    Done(u64, R),
}

/// The number of hardware threads.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs jobs 0 to `count` on `threads` threads, and passes each result to `consume` in the order of the jobs. A job gets a function that
/// returns true if the job should end early, which it should call many times a second; each call polls `should_continue`. Returns true
/// if all jobs are done and consumed.
pub fn run_jobs<R: Send>(
    threads: usize,
    count: u64,
    job: impl Fn(u64, &dyn Fn() -> bool) -> R + Sync,
    mut should_continue: impl FnMut() -> bool,
    mut consume: impl FnMut(u64, R),
) -> bool {
    assert!(threads > 0, "jobs need a thread");
    let (next, ends, job) = (AtomicU64::new(0), AtomicBool::new(false), &job);
    let (next, ends) = (&next, &ends);
    let (sender, receiver) = channel();
    let worker = move |sender: Sender<Message<R>>| {
        let should_end = || {
            // The main thread may have dropped the receiver, which ends this one.
            ends.load(Ordering::Relaxed) || sender.send(Message::Poll).is_err()
        };
        while !ends.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let result = job(index, &should_end);
            if sender.send(Message::Done(index, result)).is_err() {
                break;
            }
        }
    };
    thread::scope(|scope| {
        let wanted = threads.min(usize::try_from(count).unwrap_or(usize::MAX));
        let mut started = 0;
        while started < wanted {
            let sender = sender.clone();
            // Fewer threads are only slower.
            if thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || worker(sender)).is_err() {
                break;
            }
            started += 1;
        }
        if started == 0 {
            worker(sender.clone());
        }
        drop(sender);
        let (mut waiting, mut consumed) = (BTreeMap::new(), 0);
        for message in receiver {
            if !should_continue() {
                ends.store(true, Ordering::Relaxed);
                return false;
            }
            if let Message::Done(index, result) = message {
                waiting.insert(index, result);
            }
            while let Some(result) = waiting.remove(&consumed) {
                consume(consumed, result);
                consumed += 1;
            }
        }
        consumed == count
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
                // Later jobs are shorter.
                (0..(20 - piece) * 1000).fold(piece, |sum, n| std::hint::black_box(sum ^ n ^ n))
            };
            assert!(run_jobs(jobs, 20, work, || true, |piece, done| taken.push((piece, done))));
            assert_eq!(taken, (0..20).map(|piece| (piece, piece)).collect::<Vec<_>>(), "{jobs}");
        }
    }

    #[test]
    fn jobs_that_poll_end_early() {
        let mut taken = 0;
        let endless = |_: u64, ends: &dyn Fn() -> bool| while !ends() {};
        let mut asked = 0;
        let mut goes_on = || {
            asked += 1;
            asked < 100
        };
        assert!(!run_jobs(3, 5, endless, &mut goes_on, |_, ()| taken += 1));
        assert_eq!(taken, 0);
        assert!(run_jobs(3, 0, endless, || true, |_, ()| taken += 1), "nothing is done at once");
    }
}
