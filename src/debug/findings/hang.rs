//! Explains hangs (deadlocks and livelocks): the memory that spinning threads poll and its writers, the threads that have exited, and the
//! live threads that can still reach the barrier at which others wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FindingText;
use crate::base::{Dim3, WarpId};
use crate::cfg::ControlFlow;
use crate::debug::awaited::{awaited, is_hang};
use crate::debug::fault::{WaitKind, Waiting};
use crate::debug::focus::Focus;
use crate::debug::names::access::access_type;
use crate::debug::names::memory_name;
use crate::debug::polled::{PolledRead, polled_by};
use crate::debug::run::Job;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::site::Site;
use crate::debug::timeline::Ran;
use crate::debug::value::{Scalar, Type};
use crate::debug::view::grouped;
use crate::debug::{expression, memory};
use crate::flow::graph::Graph as _;
use crate::flow::reach::closure;
use crate::isa::{ScalarType, Space};
use crate::launch::Origins;
use crate::machine::{
    AccessEvent, AccessKind, Event, EventKind, EventMask, Instrumentation, IssuePoint, LaneMask, NullObserver, Observer, SyncKind, Tick,
};
use crate::program::{MemoryOp, Named, Op, Pc, Program, VarId};

/// Maximum number of writers, exits or warps that are named.
const NAMED_MAX: usize = 4;

/// The events of a launch that explain a hang.
#[derive(Default)]
struct HangHistory {
    polled: Vec<PolledRead>,
    /// The last write to each polled location, and its lanes.
    last_writes: BTreeMap<usize, (IssuePoint, LaneMask)>,
    /// The lanes of the hanging blocks that have exited, by warp and instruction, and the last exit of each.
    exits: BTreeMap<([u32; 3], u32, Pc), (LaneMask, IssuePoint)>,
    blocks: Vec<[u32; 3]>,
}

impl Session {
    /// Adds explanations to the waits of a hang: for spinning threads the polled value with its last and its possible writers, for threads
    /// at a barrier the lanes that have exited and those that can still reach it. The launch is executed again for this.
    pub fn explain_hang(&mut self, finding: &mut FindingText) {
        if finding.waiting.is_empty() {
            return;
        }
        let now = self.time();
        self.return_to(self.recorded());
        let polled = finding.waiting.iter().map(|waiting| polled_by(self.machine(), waiting)).collect::<Vec<_>>();
        let history = self.history_of_hang(finding, polled.iter().flatten().cloned().collect());
        self.return_to(self.recorded());
        let mut poll_index = 0;
        for (waiting, polled) in finding.waiting.iter_mut().zip(&polled) {
            let mut lines = Vec::new();
            if let Some(polled) = polled {
                lines = self.explain_poll(polled, history.last_writes.get(&poll_index));
                poll_index += 1;
            } else if waiting.kind == WaitKind::AtBarrier {
                lines = self.explain_barrier(waiting, &history);
            }
            lines.iter().for_each(|line| waiting.reason += &format!("\n{line}"));
        }
        self.return_to(now);
    }

    /// Adds to `finding`, if it is a hang of a partial launch, what its blocks wait for and which block would write that.
    pub fn explain_awaited(&mut self, finding: &mut FindingText, interrupt: &mut dyn InterruptCheck) {
        // The changes of the user are no part of the run that is compared with.
        if !is_hang(finding.id) || !self.inputs().is_empty() {
            return;
        }
        let (program, case, options) = (Arc::clone(self.program()), Arc::clone(self.timeline.case()), self.timeline.options().clone());
        let job = Job { program: &program, case: &case, options: &options, instrumentation: Instrumentation::Nothing };
        let interrupt = std::cell::RefCell::new(interrupt);
        let is_interrupted = || !interrupt.borrow_mut().should_continue(self);
        // What cannot be run is reported where it is run.
        if let Ok(Some(why)) = awaited(job, finding.launch, &is_interrupted) {
            finding.why = why;
        }
    }

    /// Executes the launch of a hang again, up to its end.
    fn history_of_hang(&mut self, finding: &FindingText, polled: Vec<PolledRead>) -> HangHistory {
        let blocks = finding.waiting.iter().map(|waiting| waiting.site.block).collect();
        let mut history = HangHistory { polled, blocks, ..HangHistory::default() };
        self.timeline.restore(Tick::START);
        while self.launch() < finding.launch {
            if self.timeline.run(Tick::MAX, &mut NullObserver) == Ran::Ended {
                return history;
            }
        }
        let end = self.recorded();
        while self.time() < end && self.timeline.run(end, &mut history) == Ran::Paused {}
        history
    }

    fn explain_poll(&self, polled: &PolledRead, last_write: Option<&(IssuePoint, LaneMask)>) -> Vec<String> {
        let program = Arc::clone(self.program());
        let context = self.eval_context().refocused(Focus { block: polled.block, warp: 0, lane: 0, frame: 0 });
        let element = memory_name::element(&context, polled.space, polled.address);
        let mut bytes = vec![0; polled.bytes.min(16) as usize];
        let ty = element.ty.or_else(|| access_type(&program, polled.pc)).filter(|ty| ty.bytes() == polled.bytes);
        let ty = ty.unwrap_or(ScalarType::B32);
        let value = memory::read(&context, polled.space, polled.address, &mut bytes).ok().map(|()| {
            let scalar = Scalar::new(Type::Scalar(ty), expression::little_endian(&bytes));
            format!(", which holds {}", scalar.text(&context, None))
        });
        let mut lines = vec![format!("reads {} at {}{}", element.name, site_text(&polled.site), value.unwrap_or_default())];
        lines.push(match last_write {
            Some((point, lanes)) => format!(
                "last written at {} by block {} warp {} {}, t={}",
                self.site_text(point.pc),
                Dim3(point.block),
                point.warp,
                lanes.describe(),
                grouped(point.tick)
            ),
            None => "no other instruction has written it since the launch began".to_string(),
        });
        lines.push(self.possible_writers(&program, polled, &element.name));
        lines
    }

    /// The stores and atomics whose address comes from the same parameter or variable, and whether a thread can still reach them.
    fn possible_writers(&self, program: &Program, polled: &PolledRead, name: &str) -> String {
        let kernel = self.case().launches[self.launch()].kernel;
        let origins = Origins::new(program, kernel);
        let pointers = origins.pointers(polled.pc);
        let variables = variables(program, polled.pc);
        let is_writer = |pc: &Pc| {
            let op = &program.code[pc.index()].op;
            let writes =
                op.access().is_some_and(|access| access.space == polled.space || access.space == Space::Generic) && !only_reads(op);
            let same = origins.pointers(*pc).iter().any(|word| pointers.contains(word))
                || self::variables(program, *pc).iter().any(|variable| variables.contains(variable));
            writes && *pc != polled.pc && same
        };
        let code = program.functions[kernel.index()].code.clone();
        let writers: Vec<Pc> = code.map(Pc).filter(is_writer).collect();
        if writers.is_empty() {
            return format!("no other instruction of the kernel is known to write {name}");
        }
        let flow = ControlFlow::new(program, kernel);
        let texts = writers.iter().take(NAMED_MAX).map(|writer| {
            let reaching = self.warps_that_reach(&flow, *writer);
            let reached =
                if reaching.is_empty() { "which no thread that is left can reach".to_string() } else { format!("reachable by {reaching}") };
            format!("{} ({reached})", self.site_text(*writer))
        });
        let more = writers.len().saturating_sub(NAMED_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("may be written at {}{more}", texts.collect::<Vec<_>>().join(", "))
    }

    /// The lanes that have exited, and those that can still reach the barrier at which lanes wait.
    fn explain_barrier(&self, waiting: &Waiting, history: &HangHistory) -> Vec<String> {
        let mut lines = Vec::new();
        let exits = history.exits.iter().filter(|((block, ..), _)| *block == waiting.site.block);
        let texts: Vec<String> = exits
            .map(|((_, warp, pc), (lanes, point))| {
                format!("warp {warp} {} at {}, t={}", lanes.describe(), self.site_text(*pc), grouped(point.tick))
            })
            .collect();
        if !texts.is_empty() {
            let more = texts.len().saturating_sub(NAMED_MAX);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            lines.push(format!("exited: {}{more}", texts[..texts.len().min(NAMED_MAX)].join("; ")));
        }
        let Some(block) = self.machine().block(waiting.site.block) else { return lines };
        let kernel = self.case().launches[self.launch()].kernel;
        let flow = ControlFlow::new(self.program(), kernel);
        let barrier = waiting.pc;
        let mut others: Vec<String> = Vec::new();
        for (number, warp) in block.warps.iter().enumerate() {
            for group in warp.groups.iter().filter(|group| group.current_pc() != barrier) {
                let reach_text =
                    if reaches(&flow, group.current_pc(), barrier) { "can still reach it" } else { "cannot reach it any more" };
                let point = IssuePoint { pc: group.current_pc(), tick: self.time(), block: block.index, warp: WarpId::new(number as u32) };
                let at = site_text(&Site::with_calls(&self.eval_context(), point, group.mask));
                others.push(format!("warp {number} {} at {at} {reach_text}", group.mask.describe()));
            }
        }
        let more = others.len().saturating_sub(NAMED_MAX);
        others.truncate(NAMED_MAX);
        lines.extend(others);
        lines.extend((more > 0).then(|| format!("and {more} more groups of lanes elsewhere")));
        lines
    }

    /// The warps of resident blocks with lanes from which control can flow to `pc`.
    fn warps_that_reach(&self, flow: &ControlFlow, pc: Pc) -> String {
        let mut found = Vec::new();
        for block in self.machine().resident_blocks() {
            for (number, warp) in block.warps.iter().enumerate() {
                if warp.groups.iter().any(|group| reaches(flow, group.current_pc(), pc)) {
                    found.push(format!("block {} warp {number}", Dim3(block.index)));
                }
            }
        }
        let more = found.len().saturating_sub(NAMED_MAX);
        found.truncate(NAMED_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        if found.is_empty() { String::new() } else { found.join(", ") + &more }
    }

    /// `k.ptx:12 (k.cu:4)`
    fn site_text(&self, pc: Pc) -> String {
        let point = IssuePoint { pc, tick: Tick::START, block: [0; 3], warp: WarpId::new(0) };
        site_text(&Site::new(self.program(), [1; 3], point, LaneMask::NONE))
    }
}

/// `k.ptx:12 (k.cu:4)`
fn site_text(site: &Site) -> String {
    let source = site.source.as_ref().map_or_else(String::new, |source| format!(" ({source})"));
    format!("{}{source}", site.place)
}

impl HangHistory {
    fn write(&mut self, access: &AccessEvent<'_>) {
        for (index, polled) in self.polled.iter().enumerate() {
            let is_same_memory = (access.space == Space::Global) == (polled.space == Space::Global)
                && (polled.space == Space::Global || access.owner.0 == polled.owner);
            let covers =
                |address: u64| address < polled.address + u64::from(polled.bytes) && polled.address < address + u64::from(access.bytes);
            let lanes = LaneMask::from_fn(|lane| access.lanes.contains(lane) && covers(access.addresses[lane]));
            if is_same_memory && !lanes.is_empty() && access.point.pc != polled.pc {
                self.last_writes.insert(index, (access.point, lanes));
            }
        }
    }
}

impl Observer for HangHistory {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Sync])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let Event::Access(access) = event
            && access.kind != AccessKind::Read
        {
            self.write(access);
        }
        if let Event::Sync(order) = event
            && order.kind == SyncKind::Exited
            && self.blocks.contains(&order.point.block)
        {
            let key = (order.point.block, order.point.warp.number(), order.point.pc);
            let exit = self.exits.entry(key).or_insert((LaneMask::NONE, order.point));
            *exit = (exit.0 | order.lanes, order.point);
        }
        false
    }
}

/// True if control can flow from `from` to `to`, in the same function.
fn reaches(flow: &ControlFlow, from: Pc, to: Pc) -> bool {
    let (Some(start), Some(end)) = (flow.block_of(from), flow.block_of(to)) else { return false };
    if start == end && from <= to {
        return true;
    }
    let next = |block: usize| flow.successor_nodes(block).collect::<Vec<_>>();
    closure(flow.nodes(), next(start.index()), next).contains(end.index())
}

/// The variables that an instruction names.
fn variables(program: &Program, pc: Pc) -> Vec<VarId> {
    let named = program.mentions(pc).iter().map(|mention| mention.named);
    named.filter_map(|named| if let Named::Variable(variable) = named { Some(variable) } else { None }).collect()
}

fn only_reads(op: &Op) -> bool {
    matches!(op, Op::Memory(MemoryOp::Load { .. } | MemoryOp::LoadVector { .. }))
}
