//! The memory model, as kernels see it.

/// The text of `help memory-model`.
pub const ABOUT: &str = "\
Warps run in a sequentially consistent order: a load returns the newest write. Hardware does less. What orders accesses of two \
threads is a synchronization: a release (st.release, or a fence and then a strong store) that an acquire (ld.acquire, or a strong \
load and then a fence) observes, each with a scope that includes the other thread; a barrier of the block; a fence.sc on both sides. \
Without one, a thread may see the writes of another late or in another order, though every access is volatile, relaxed or atomic: \
such accesses race with none, and order none. So a kernel whose flags are volatile and whose fences are missing runs well so, and \
not on hardware.\n\n\
With --memory weak[:SEED] a load returns any write that the model allows it, drawn from the seed: of each location the last 16 \
writes are kept, with their order and what each thread must have seen of them. info may-read says which of them a load may return, \
and why; stops, explain and last say when a load returned an older one. explore draws another seed for each order, and reports as \
memory.stale a result that no sequentially consistent order has, with the link that is missing; where these are too many to try all, \
the finding is a note, memory.stale_undecided. A load that waits returns the newest write at the latest after three older ones. \
Synchronization holds as in the model; mbarriers, barriers of clusters and threads that only arrive order more than they must, and \
other proxies and asynchronous copies read and write what memory holds. A load never returns what a later store of its own thread \
has led to (load buffering), though the model allows that. The checkers take each load to have returned the newest write, and what a \
run says of every order is of sequentially consistent orders.\n\n\
ptxdbg litmus FILE.litmus says of a few instructions of some threads which outcomes the model allows, which of them a sequentially \
consistent run shows, and an execution that leads to one; with --open it debugs one, and with --from KERNEL.ptx it makes such a test \
of a piece of a kernel. docs/memory-model.md goes through the rules of the manual one by one, with \
a litmus test for each.";
