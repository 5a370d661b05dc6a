//! Queries over the run (`find`), compared with a trace of everything that is filtered event by event.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use std::collections::BTreeMap;

use crate::common::{random_numbers, session};
use ptxdbg::debug::find::{Found, GroupKey, Grouping, Happening, Query, Wanted};
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::isa::Space;
use ptxdbg::machine::{AccessKind, Event, EventMask, IssuePoint, LaneMask, Machine, Observer, SyncKind, Tick};
use ptxdbg::program::{ControlOp, Op, Pc};

/// Launches with divergence, atomics, barriers and shared memory, and without asynchronous copies.
const FILES: [&str; 3] = ["debug/walk.ron", "programs/reduce_ticket.ron", "programs/lu_pivot.ron"];

/// Random queries of each file, of all kinds.
const QUERIES: u64 = 40;

/// What one lane did.
struct Done {
    happening: Kind,
    point: IssuePoint,
    lane: usize,
    /// The space, the address and the bytes of an access.
    memory: Option<(Space, u64, u64)>,
}

#[derive(PartialEq)]
enum Kind {
    Access(AccessKind),
    Branch,
    Barrier,
}

/// Keeps all that happens.
struct Everything {
    branches: Vec<bool>,
    done: Vec<Done>,
}

impl Observer for Everything {
    fn mask(&self) -> EventMask {
        EventMask::ALL
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let mut all = |happening: fn() -> Kind, point: IssuePoint, lanes: LaneMask| {
            self.done.extend(lanes.iter().map(|lane| Done { happening: happening(), point, lane, memory: None }));
        };
        match event {
            Event::Access(access) => {
                for lane in access.lanes.iter() {
                    let memory = Some((access.space, access.addresses[lane], u64::from(access.bytes)));
                    self.done.push(Done { happening: Kind::Access(access.kind), point: access.point, lane, memory });
                }
            }
            Event::Before(issue, _) if self.branches[issue.point.pc.index()] => all(|| Kind::Branch, issue.point, issue.lanes),
            Event::Sync(sync) if matches!(sync.kind, SyncKind::Arrived { .. } | SyncKind::ClusterArrived { .. }) => {
                all(|| Kind::Barrier, sync.point, sync.lanes);
            }
            _ => {}
        }
        false
    }
}

/// All that happens in the first launch of a session that stands at its beginning.
fn trace(session: &Session) -> Vec<Done> {
    let mut machine: Machine = session.machine().clone();
    let is_branch = |op: &Op| matches!(op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }));
    let branches = session.program().code.iter().map(|inst| is_branch(&inst.op)).collect();
    let mut everything = Everything { branches, done: Vec::new() };
    machine.run(u64::MAX >> 1, &mut everything);
    everything.done
}

/// The answer to a query that filters the trace.
fn expected(done: &[Done], query: &Query, first_lane: Option<usize>) -> Found {
    let is_kind = |kind: &Kind| match (query.happening, kind) {
        (Happening::Writes, Kind::Access(kind)) => *kind != AccessKind::Read,
        (Happening::Reads, Kind::Access(kind)) => *kind != AccessKind::Write,
        (Happening::Atomics, Kind::Access(kind)) => *kind == AccessKind::Atomic,
        (Happening::Branches, kind) => *kind == Kind::Branch,
        (Happening::Barriers, kind) => *kind == Kind::Barrier,
        _ => false,
    };
    let is_there = |memory: &Option<(Space, u64, u64)>| match (&query.place, memory) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(place), Some((space, address, bytes))) => {
            *space == place.space && *address < place.address + place.bytes && place.address < address + bytes
        }
    };
    let passes = |done: &&Done| {
        let lanes = query.threads.lanes_of(done.point.block, done.point.warp.number());
        is_kind(&done.happening)
            && is_there(&done.memory)
            && lanes.contains(done.lane)
            && (query.from..query.until).contains(&done.point.tick)
            && first_lane.is_none_or(|first| done.lane >= first)
    };
    let mut found = Found::default();
    let mut events: BTreeMap<(Tick, Pc), LaneMask> = BTreeMap::new();
    for done in done.iter().filter(passes) {
        found.times += 1;
        *events.entry((done.point.tick, done.point.pc)).or_insert(LaneMask::NONE) |= LaneMask::of(done.lane);
        let key = match query.wanted {
            Wanted::By(Grouping::Line) => GroupKey::Line(done.point.pc),
            Wanted::By(Grouping::Lane) => GroupKey::Lane(done.lane as u32),
            _ => continue,
        };
        *found.groups.entry(key).or_default() += 1;
    }
    found.instructions = events.len() as u64;
    found
}

/// A random query and the lowest lane that its condition passes.
fn random_query(session: &Session, random: &mut impl Iterator<Item = u64>, end: Tick) -> (String, Option<usize>) {
    let mut number = |below: u64| random.next().unwrap() % below.max(1);
    let kinds = ["writes", "reads", "atomics", "branches", "barriers"];
    let kind = kinds[number(5) as usize];
    let mut text = kind.to_string();
    let context = session.eval_context();
    if !matches!(kind, "branches" | "barriers") && number(2) == 0 {
        let buffer = &context.buffers[number(context.buffers.len() as u64) as usize];
        let count: u64 = buffer.shape.iter().product();
        let (first, one) = (number(count), buffer.shape.len() == 1);
        text += &if one && count > 1 { format!(" of {}[{first}]", buffer.name) } else { format!(" of {}", buffer.name) };
    }
    let warps = u64::from(context.extents().warps());
    match number(3) {
        0 => text += &format!(" by warp {}", number(warps)),
        1 => text += &format!(" by lane {}-31", number(32)),
        _ => {}
    }
    if number(3) == 0 {
        let first = number(end.0 + 1);
        text += &format!(" between {first} {}", first + number(end.0 + 1));
    }
    let lane = (number(3) == 0).then(|| number(32) as usize);
    if let Some(lane) = lane {
        text += &format!(" where %laneid >= {lane}");
    }
    text += ["", " count", " by line", " by lane", " first", " last"][number(6) as usize];
    (text, lane)
}

#[test]
fn queries_find_what_a_trace_of_everything_has() {
    let queries = std::env::var("PTXDBG_QUERIES").ok().and_then(|count| count.parse().ok()).unwrap_or(QUERIES);
    let mut random = random_numbers();
    let mut nonempty = 0;
    for file in FILES {
        let mut session = session(file, 0);
        let done = trace(&session);
        session.seek_end(&mut NeverInterrupt);
        let end = session.recorded();
        for _ in 0..queries {
            let (text, lane) = random_query(&session, &mut random, end);
            let query = Query::parse(&text, &session.eval_context(), &session.marks, session.time()).unwrap();
            let found = session.find(&query, &mut NeverInterrupt);
            let wanted = expected(&done, &query, lane);
            nonempty += u64::from(wanted.times > 0);
            match query.wanted {
                Wanted::First | Wanted::Last => assert_eq!(found.events.len(), usize::from(wanted.times > 0), "{file}: {text}"),
                Wanted::All | Wanted::Count | Wanted::By(_) => {
                    assert_eq!((found.times, found.instructions), (wanted.times, wanted.instructions), "{file}: {text}");
                    assert_eq!(found.groups, wanted.groups, "{file}: {text}");
                }
            }
            assert_eq!(session.time(), end, "{text}");
        }
    }
    assert!(nonempty > queries, "hardly any query finds something: {nonempty}");
}
