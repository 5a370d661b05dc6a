//! Straight stretches: the loop over instructions of common forms, which are decoded once per launch.
//!
//! A stretch runs until an instruction that it has no step for, an access that is not simple or faults, or the end of the ticks. Where
//! the lanes part at a branch, and where a group reaches another one, the group that is least advanced runs on, if all of them can run and
//! none is in a call; otherwise the stretch ends there as well. The instruction after a stretch is executed by [`WarpRun::step`], which is
//! the reference: a stretch has the effects that it would have, instruction by instruction. The whole loop is compiled for the host's
//! vector instructions.

mod access;
mod load_store;
pub mod pattern;
mod report;

use super::bits::combine;
use super::compute;
use super::coverage_counter::CoverageCounter;
use super::moves::move_values;
use super::operands::{Lane, Lanes};
use super::select::by_width;
use crate::isa::{Compare, Space};
use crate::machine::event_kind::{EventKind, EventMask};
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::coverage::{Coverage, WriteTable};
use crate::machine::state::groups::Groups;
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::{LANES, LaneMask};
use crate::machine::state::launch::FastPath;
use crate::machine::state::plain_groups::PlainGroups;
use crate::machine::state::tables::straight::{Micro, PLAIN, Step};
use crate::machine::state::warp::Warp;
use crate::num::compare::holds;
use crate::num::float;
use crate::num::int::Int;
use crate::program::{Op, Pc, PredSrc, Program, SelectOp};
use access::Memory;
use pattern::Patterns;
use report::Report;

/// The other groups of a warp, as far as they matter for how long one of them runs.
#[derive(Clone, Copy)]
pub(super) struct Others {
    /// True if there are none.
    pub none: bool,
    /// The rank at which the group reaches another one.
    pub limit: u32,
    /// True if the group may go back without a choice of the group that runs: all others are ready, and none has calls in progress.
    pub may_go_back: bool,
}

/// The loop over a stretch.
struct Straight<'a> {
    program: &'a Program,
    micros: &'a [Micro],
    rank: &'a [u32],
    simd: pulp::Arch,
    lanes: Lanes<'a>,
    patterns: &'a mut Patterns,
    memory: Memory<'a>,
    /// The observer, if it receives accesses.
    report: Option<Report<'a>>,
    loads: bool,
    stores: bool,
    /// The first instruction, at its tick.
    start: IssuePoint,
    /// The ticks that are left of the time slice.
    ticks: u32,
    /// The ticks after which the group that runs must yield.
    stall: u32,
    /// The ticks after which the stretch ends, the earlier of these.
    end: u32,
    /// The groups of the warp, until lanes part or meet.
    groups: &'a mut Groups,
    /// The groups since.
    plain: &'a mut PlainGroups,
    /// Consecutive ticks that other groups have waited for.
    streak: &'a mut u32,
    /// True if groups part and meet within the stretch.
    switches: bool,
    /// The index of the group that runs, and its lanes.
    running: usize,
    mask: LaneMask,
    others: Others,
    counts: Counts<'a>,
    done: Done,
}

/// The coverage of a stretch ([`CoverageCounter`]).
struct Counts<'a> {
    is_enabled: bool,
    /// The first instruction that is not counted yet.
    start: Pc,
    coverage: Option<&'a mut Coverage>,
    writes: Option<&'a WriteTable>,
}

/// What a stretch did.
#[derive(Clone, Copy)]
struct Done {
    /// The next instruction.
    pc: Pc,
    /// The last instruction that was executed.
    last: Pc,
    /// The first instruction that is not counted yet.
    counted: Pc,
    /// Ticks that have passed.
    ticks: u32,
    thread_instructions: u64,
    /// Counted stores.
    progress: u64,
    /// True if the group that runs must be chosen anew.
    reselects: bool,
    /// True if the observer asks for a pause, or for other events.
    wants: EventMask,
    paused: bool,
}

impl Done {
    /// Nothing is done yet: the stretch begins at `pc`.
    #[inline(always)]
    fn before(pc: Pc, last: &IssuePoint, counted: Pc, wants: EventMask) -> Self {
        let (ticks, thread_instructions, progress) = (0, 0, 0);
        Self { pc, last: last.pc, counted, ticks, thread_instructions, progress, reselects: false, wants, paused: false }
    }
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Runs the group from its `pc` on, as far as a straight stretch goes; afterwards another group may run. True if the group that runs
    /// must be chosen anew.
    #[inline(always)]
    pub(super) fn run_straight(&mut self, group: &mut Group, others: &mut Others, counter: &mut CoverageCounter) -> bool {
        let (accesses, fast_paths) = (self.weak.is_none(), self.prepared.config.fast_paths);
        let (start, block_id, rank, depth) = (self.point, self.block_id(), self.rank, self.running_depth());
        let (lockstep, stall) = (self.warp.lockstep(group.mask), self.stall());
        let (program, prepared, reports) = (self.program, self.prepared, self.wants(EventKind::Access));
        let switches = fast_paths.has(FastPath::Switches) && self.warp.may_go_back() && !self.wants(EventKind::Reconverged);
        self.patterns.begin(fast_paths.has(FastPath::Recognition));
        let Warp { registers, specials, groups, streak, .. } = &mut *self.warp;
        let mut straight = Straight {
            program,
            micros: &self.straight.micros,
            rank: &prepared.rank,
            simd: prepared.simd,
            lanes: Lanes::of(registers, specials, self.immediates, group.frame, group.mask),
            patterns: &mut *self.patterns,
            memory: Memory {
                map: &program.map,
                global: self.global,
                constant: self.constant_memory,
                shared: &mut self.shared.pages,
                shared_base: self.shared_base,
                shared_range: (prepared.shared_start, prepared.shared_bytes),
                params: &prepared.config.params,
            },
            report: reports.then_some(Report {
                simd: prepared.simd,
                takes_notes: fast_paths.has(FastPath::PlainReads),
                shared: self.observer.observes(Space::Shared),
                params: self.observer.observes(Space::Param),
                observer: &mut *self.observer,
                mask: self.wants,
                issues: &mut self.issues,
                widened: false,
                paused: false,
                block_id,
                rank,
                lockstep,
                depth,
            }),
            loads: accesses,
            stores: accesses && !self.compares_stores,
            start,
            ticks: self.ticks_left,
            stall,
            end: 0,
            groups,
            plain: &mut *self.plain_groups,
            streak,
            switches,
            running: group.index,
            mask: group.mask,
            others: *others,
            counts: Counts::from(counter, self.coverage.as_deref_mut(), prepared.writes.as_deref()),
            done: Done::before(group.pc, &self.point, counter.start, self.wants),
        };
        straight.set_end(0);
        let done = prepared.simd.dispatch(&mut straight);
        if !straight.plain.are_none() {
            straight.plain.give_back(straight.groups);
        }
        (group.index, group.mask, *others) = (straight.running, straight.mask, straight.others);
        (group.pc, counter.start) = (done.pc, done.counted);
        self.running = group.index;
        self.add(&done);
        done.reselects
    }

    /// Adds what a stretch did to the time slice.
    #[inline(always)]
    fn add(&mut self, done: &Done) {
        self.ticks_left -= done.ticks;
        self.point.tick += u64::from(done.ticks);
        self.point.pc = done.last;
        self.thread_instructions += done.thread_instructions;
        self.progress += done.progress;
        self.paused |= done.paused;
        self.wants = done.wants;
    }
}

impl pulp::WithSimd for &mut Straight<'_> {
    type Output = Done;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> Done {
        // What every instruction changes stays in the host's registers.
        let (mut pc, mut last, mut ticks, mut thread_instructions) = (self.done.pc, self.done.last, 0, 0);
        let micros = self.micros;
        let mut micro = &micros[pc.index()];
        while ticks < self.end {
            let active = match micro.guard {
                None => self.mask,
                Some(guard) => self.mask & self.lanes.pred(PredSrc::Reg { slot: guard.slot, negate: guard.negate }),
            };
            self.lanes.mask = active;
            let (mut executed, mut is_whole, mut jumps, mut parts) = (1, true, false, false);
            if active.is_empty() {
                if micro.step == Step::Ends {
                    break;
                }
            } else if micro.step == Step::Branch {
                jumps = active == self.mask;
                parts = !jumps;
                if parts && !self.switches {
                    break;
                }
            } else {
                let run = self.run_of(micro, ticks);
                executed = self.execute_run(&micros[pc.index()..][..run], pc, ticks);
                if executed == 0 {
                    break;
                }
                is_whole = executed as usize == run;
            }
            let (target, after) = (micro.target, Pc(pc.0 + executed));
            let next = if jumps { target } else { after };
            if self.counts.is_enabled && (micro.guard.is_some() || next != after) {
                self.count(micro, pc, next, active);
            }
            thread_instructions += u64::from(active.count() * executed);
            ticks += executed;
            last = Pc(after.0 - 1);
            let goes_back = next <= pc;
            pc = next;
            micro = &micros[pc.index()];
            if parts {
                pc = self.part((active, target), pc, ticks);
                micro = &micros[pc.index()];
            } else if !self.others.none {
                *self.streak += executed - 1;
                if goes_back && !self.others.may_go_back || micro.rank >= self.others.limit {
                    if !self.switches {
                        self.done.reselects = true;
                        break;
                    }
                    pc = self.choose(pc, ticks);
                    micro = &micros[pc.index()];
                } else {
                    *self.streak += u32::from(!goes_back);
                }
            }
            if !is_whole || self.wants_to_stop() {
                break;
            }
        }
        (self.done.pc, self.done.last, self.done.ticks, self.done.thread_instructions) = (pc, last, ticks, thread_instructions);
        self.done.counted = self.counts.start;
        if let Some(report) = &self.report {
            (self.done.wants, self.done.paused) = (report.mask, report.paused);
        }
        self.done
    }
}

impl Straight<'_> {
    /// True if the observer asks for a pause, or for other events.
    #[inline(always)]
    fn wants_to_stop(&self) -> bool {
        self.report.as_ref().is_some_and(|report| report.paused || report.widened || report.mask != self.done.wants)
    }

    /// The number of instructions from this one on that the group executes before it reaches another one.
    #[inline(always)]
    fn run_of(&self, micro: &Micro, ticks: u32) -> usize {
        let run = u32::from(micro.run).min(self.end - ticks);
        if self.others.none { run as usize } else { run.min(self.others.limit.saturating_sub(micro.rank)).max(1) as usize }
    }

    /// Executes instructions in a row for at least one lane, until the stretch ends before one, or the observer asks for that. Returns
    /// their number.
    #[inline(always)]
    fn execute_run(&mut self, run: &[Micro], pc: Pc, ticks: u32) -> u32 {
        let mut executed = 0;
        for micro in run {
            if !self.execute(micro, Pc(pc.0 + executed), ticks + executed) {
                break;
            }
            self.patterns.forget(micro.bases);
            executed += 1;
            if self.wants_to_stop() {
                break;
            }
        }
        executed
    }

    /// Sets the end, after `ticks`: a group that keeps others waiting yields before its last tick, which [`WarpRun::step`] executes.
    #[inline(always)]
    fn set_end(&mut self, ticks: u32) {
        let to_yield = ticks.saturating_add(self.stall.saturating_sub(*self.streak + 1));
        self.end = if self.others.none { self.ticks } else { self.ticks.min(to_yield) };
    }

    /// The lanes `taken` of the group that runs go to `target`, the others to `pc`. Returns the pc of the group that runs next.
    #[inline(never)]
    fn part(&mut self, (taken, target): (LaneMask, Pc), pc: Pc, ticks: u32) -> Pc {
        self.reach(pc);
        self.plain.split(self.running, taken, target, self.rank);
        // The one that was split off is the last: the index of the other one stays.
        self.plain.meet(self.plain.len() - 1, self.streak);
        self.plain.meet(self.running, self.streak);
        self.run_next(ticks)
    }

    /// Chooses the group that runs, after one that is not alone has reached another one at `pc`. Returns its pc.
    #[inline(never)]
    fn choose(&mut self, pc: Pc, ticks: u32) -> Pc {
        self.reach(pc);
        self.plain.meet(self.running, self.streak);
        self.run_next(ticks)
    }

    /// The group that runs has reached `pc`: counts what it has executed before.
    #[inline(always)]
    fn reach(&mut self, pc: Pc) {
        if self.counts.is_enabled {
            self.counts.add(&mut self.lanes, self.mask, pc, pc);
        }
        if self.plain.are_none() {
            self.plain.take(self.groups, self.rank);
        }
        self.plain.advance(self.running, pc, self.rank);
    }

    /// Runs the least advanced group, from the pc that it returns on.
    #[inline(always)]
    fn run_next(&mut self, ticks: u32) -> Pc {
        let (running, limit) = self.plain.choose();
        let (mask, pc) = self.plain.get(running);
        (self.running, self.mask, self.counts.start) = (running, mask, pc);
        self.others = Others { none: self.plain.len() == 1, limit, may_go_back: self.plain.len() > 1 };
        self.set_end(ticks);
        pc
    }

    /// Counts a jump, or an instruction with a guard.
    #[inline(always)]
    fn count(&mut self, micro: &Micro, pc: Pc, next: Pc, active: LaneMask) {
        let Self { counts, lanes, mask, .. } = self;
        let after = Pc(pc.0 + 1);
        let off = *mask & !active;
        if !off.is_empty()
            && let Some(coverage) = &mut counts.coverage
        {
            coverage.add_predicated_off(pc, off);
        }
        if micro.step == Step::Branch {
            if next != after {
                counts.add(lanes, *mask, after, next);
            }
            return;
        }
        counts.add(lanes, *mask, pc, pc);
        if let Some(coverage) = &mut counts.coverage {
            coverage.add(pc, after, *mask);
        }
        if let Some(writes) = counts.writes {
            lanes.mark_written(writes.of(pc), active);
        }
        counts.start = after;
    }

    /// Executes an instruction for at least one lane; false, without effect, if the stretch ends before it.
    #[inline(always)]
    fn execute(&mut self, micro: &Micro, pc: Pc, ticks: u32) -> bool {
        let lanes = &mut self.lanes;
        match micro.step {
            Step::Ends | Step::Branch => return false,
            Step::Load32 | Step::LoadVector32 | Step::Load64 | Step::LoadVector64 | Step::LoadNarrow => return self.load(micro, pc, ticks),
            Step::Store32 | Step::StoreVector32 | Step::Store64 | Step::StoreVector64 => return self.store(micro, pc, ticks),
            Step::AtomicAdd32 => return self.atomic_add(micro, pc, ticks),
            Step::Computes => compute(self.simd, lanes.copy(), &self.program.code[pc.index()].op),
            Step::Select => select(self.simd, lanes, &self.program.code[pc.index()].op),
            Step::Moves => moves(self.program, &mut lanes.copy(), &self.program.code[pc.index()].op),
            Step::CompareU32 => self.compare::<u32>(micro),
            Step::CompareS32 => self.compare::<i32>(micro),
            Step::CompareU64 => self.compare::<u64>(micro),
            Step::CompareS64 => self.compare::<i64>(micro),
            Step::CompareF32 => self.compare::<f32>(micro),
            Step::Move32 => map1(lanes, micro, |a: u32| a),
            Step::Move64 => map1(lanes, micro, |a: u64| a),
            Step::WidenU32 => map1(lanes, micro, |a: u32| u64::from(a)),
            Step::WidenS32 => map1(lanes, micro, |a: i32| i64::from(a)),
            Step::Narrow => map1(lanes, micro, |a: u64| a as u32),
            Step::Add32 => map2(lanes, micro, |a: u32, b: u32| Int::add(a, b)),
            Step::Sub32 => map2(lanes, micro, |a: u32, b: u32| Int::sub(a, b)),
            Step::Mul32 => map2(lanes, micro, |a: u32, b: u32| a.mul_lo(b)),
            Step::And32 => map2(lanes, micro, |a: u32, b: u32| a & b),
            Step::Or32 => map2(lanes, micro, |a: u32, b: u32| a | b),
            Step::Xor32 => map2(lanes, micro, |a: u32, b: u32| a ^ b),
            Step::Shl32 => map2(lanes, micro, |a: u32, count: u32| Int::shl(a, count)),
            Step::ShrU32 => map2(lanes, micro, |a: u32, count: u32| Int::shr(a, count)),
            Step::ShrS32 => map2(lanes, micro, |a: i32, count: u32| Int::shr(a, count)),
            Step::Add64 => map2(lanes, micro, |a: u64, b: u64| Int::add(a, b)),
            Step::Sub64 => map2(lanes, micro, |a: u64, b: u64| Int::sub(a, b)),
            Step::Mul64 => map2(lanes, micro, |a: u64, b: u64| a.mul_lo(b)),
            Step::And64 => map2(lanes, micro, |a: u64, b: u64| a & b),
            Step::Or64 => map2(lanes, micro, |a: u64, b: u64| a | b),
            Step::Shl64 => map2(lanes, micro, |a: u64, count: u32| Int::shl(a, count)),
            Step::ShrU64 => map2(lanes, micro, |a: u64, count: u32| Int::shr(a, count)),
            Step::ShrS64 => map2(lanes, micro, |a: i64, count: u32| Int::shr(a, count)),
            Step::MulWideU32 => map2(lanes, micro, |a: u32, b: u32| a.mul_wide(b)),
            Step::MulWideS32 => map2(lanes, micro, |a: i32, b: i32| a.mul_wide(b)),
            Step::AddF32 => map2(lanes, micro, |a: f32, b: f32| float::add(a, b, PLAIN)),
            Step::SubF32 => map2(lanes, micro, |a: f32, b: f32| float::sub(a, b, PLAIN)),
            Step::MulF32 => map2(lanes, micro, |a: f32, b: f32| float::mul(a, b, PLAIN)),
            Step::AddF64 => map2(lanes, micro, |a: f64, b: f64| float::add(a, b, PLAIN)),
            Step::MulF64 => map2(lanes, micro, |a: f64, b: f64| float::mul(a, b, PLAIN)),
            Step::Mad32 => map3(lanes, micro, |a: u32, b: u32, c: u32| Int::add(a.mul_lo(b), c)),
            Step::MadWideU32 => map3(lanes, micro, |a: u32, b: u32, c: u64| a.mad_wide(b, c)),
            Step::MadWideS32 => map3(lanes, micro, |a: i32, b: i32, c: i64| a.mad_wide(b, c)),
            Step::FmaF32 => map3(lanes, micro, |a: f32, b: f32, c: f32| float::fma(a, b, c, PLAIN)),
            Step::FmaF64 => map3(lanes, micro, |a: f64, b: f64, c: f64| float::fma(a, b, c, PLAIN)),
        }
        true
    }

    /// A comparison by one of the relations that have a loop of their own here.
    #[inline(always)]
    fn compare<T: Lane + PartialOrd>(&mut self, micro: &Micro) {
        let Micro { d, a, b, .. } = *micro;
        let lanes = &mut self.lanes;
        let truth = match micro.compare {
            Compare::Eq => lanes.test2(a, b, |a: T, b: T| holds(Compare::Eq, a, b)),
            Compare::Lt => lanes.test2(a, b, |a: T, b: T| holds(Compare::Lt, a, b)),
            Compare::Le => lanes.test2(a, b, |a: T, b: T| holds(Compare::Le, a, b)),
            Compare::Gt => lanes.test2(a, b, |a: T, b: T| holds(Compare::Gt, a, b)),
            Compare::Ge => lanes.test2(a, b, |a: T, b: T| holds(Compare::Ge, a, b)),
            Compare::Neu => lanes.test2(a, b, |a: T, b: T| holds(Compare::Neu, a, b)),
            Compare::Ne | Compare::Equ | Compare::Ltu | Compare::Leu | Compare::Gtu | Compare::Geu | Compare::Num | Compare::Nan => {
                unreachable!("{:?} has no loop", micro.compare)
            }
        };
        lanes.put_pred(d, truth);
    }

    /// The instruction at `pc`, which runs next, after this many ticks.
    #[inline(always)]
    fn point(&self, pc: Pc, ticks: u32) -> IssuePoint {
        IssuePoint { pc, tick: self.start.tick + u64::from(ticks), ..self.start }
    }
}

impl<'a> Counts<'a> {
    /// The counts of a stretch that begins where `counter` has come to.
    #[inline(always)]
    fn from(counter: &CoverageCounter, coverage: Option<&'a mut Coverage>, writes: Option<&'a WriteTable>) -> Self {
        Self { is_enabled: counter.is_enabled, start: counter.start, coverage, writes }
    }

    /// Counts the instructions up to before `end`, none of which has a guard that may write; the next one to count is `next`.
    #[inline(always)]
    fn add(&mut self, lanes: &mut Lanes<'_>, mask: LaneMask, end: Pc, next: Pc) {
        if self.start != end {
            if let Some(coverage) = &mut self.coverage {
                coverage.add(self.start, end, mask);
            }
            if self.writes.is_some() {
                lanes.mark_range(mask, self.start, end);
            }
        }
        self.start = next;
    }
}

/// Applies `f` to every lane of one operand.
#[inline(always)]
fn map1<A: Lane, R: Lane>(lanes: &mut Lanes<'_>, micro: &Micro, f: impl Fn(A) -> R) {
    let a = A::get(lanes, micro.a);
    let mut out = [R::Word::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(A::from_word(a[lane])).to_word();
    }
    R::write(lanes, micro.d, &out);
}

/// Applies `f` to every lane of two operands.
#[inline(always)]
fn map2<A: Lane, B: Lane, R: Lane>(lanes: &mut Lanes<'_>, micro: &Micro, f: impl Fn(A, B) -> R) {
    let (a, b) = (A::get(lanes, micro.a), B::get(lanes, micro.b));
    let mut out = [R::Word::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(A::from_word(a[lane]), B::from_word(b[lane])).to_word();
    }
    R::write(lanes, micro.d, &out);
}

/// Applies `f` to every lane of three operands.
#[inline(always)]
fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(lanes: &mut Lanes<'_>, micro: &Micro, f: impl Fn(A, B, C) -> R) {
    let (a, b, c) = (A::get(lanes, micro.a), B::get(lanes, micro.b), C::get(lanes, micro.c));
    let mut out = [R::Word::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(A::from_word(a[lane]), B::from_word(b[lane]), C::from_word(c[lane])).to_word();
    }
    R::write(lanes, micro.d, &out);
}

/// Executes a move of several registers, or between windows of addresses.
#[inline(never)]
fn moves(program: &Program, lanes: &mut Lanes<'_>, op: &Op) {
    let Op::Move(op) = op else { unreachable!("{op:?} is no move") };
    move_values(program, lanes, op);
}

/// Executes a selection, or logic of predicates.
#[inline(always)]
fn select(simd: pulp::Arch, lanes: &mut Lanes<'_>, op: &Op) {
    if let Op::Select(SelectOp::Select { width, d, a, b, p }) = *op {
        let choice = lanes.pred(p);
        by_width(lanes, width, d, (a, b), choice);
    } else if let Op::Select(SelectOp::PredBinary { f, d, a, b }) = *op {
        let bits = combine(f, lanes.pred(a), lanes.pred(b));
        lanes.put_pred(d, bits);
    } else if let Op::Select(SelectOp::PredMove { d, a }) = *op {
        let bits = lanes.pred(a);
        lanes.put_pred(d, bits);
    } else {
        compute(simd, lanes.copy(), op);
    }
}
