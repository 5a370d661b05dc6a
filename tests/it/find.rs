//! Queries over the run (`find`), compared with a trace of everything that is filtered event by event.
//!
//! A condition of a query is evaluated here for each thread alone, with the session standing before the instruction.

#![allow(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use std::collections::BTreeMap;

use crate::common::{random_numbers, session};
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::find::{Found, FoundEvent, GroupKey, Grouping, Happening, Query, Wanted};
use ptxdbg::debug::focus::Focus;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::isa::Space;
use ptxdbg::machine::{AccessEvent, AccessKind, Event, EventMask, IssuePoint, LaneMask, Machine, Observer, SyncKind, Tick};
use ptxdbg::program::{ControlOp, Op, Pc};

/// Launches with divergence, atomics, barriers and shared memory, and without asynchronous copies.
const FILES: [&str; 3] = ["debug/walk.ron", "programs/reduce_ticket.ron", "programs/lu_pivot.ron"];

/// Random queries of each file, of all kinds; `PTXDBG_QUERIES=334` asks for 1,002 together.
const QUERIES: u64 = 40;

/// Evaluations of conditions in each file, for each query: a longer trace has fewer conditions, from 6 to 48.
const EVALUATIONS: u64 = 6_000;

/// What one lane did.
struct Done {
    happening: Kind,
    point: IssuePoint,
    lane: usize,
    /// The space, the address and the bytes of an access.
    memory: Option<(Space, u64, u64)>,
    /// The value and its bytes: what is written, or whether a branch is taken.
    value: Option<(u64, u32)>,
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
        match event {
            Event::Access(access) => {
                for lane in access.lanes.iter() {
                    let memory = Some((access.space, access.addresses[lane], u64::from(access.bytes)));
                    let value = stored(access, lane);
                    self.done.push(Done { happening: Kind::Access(access.kind), point: access.point, lane, memory, value });
                }
            }
            Event::Before(issue, ..) if self.branches[issue.point.pc.index()] => {
                self.done.extend(issue.lanes.iter().map(|lane| {
                    let value = Some((u64::from(issue.active.contains(lane)), 0));
                    Done { happening: Kind::Branch, point: issue.point, lane, memory: None, value }
                }));
            }
            Event::Sync(sync) if matches!(sync.kind, SyncKind::Arrived { .. } | SyncKind::ClusterArrived { .. }) => {
                let at = |lane| Done { happening: Kind::Barrier, point: sync.point, lane, memory: None, value: None };
                self.done.extend(sync.lanes.iter().map(at));
            }
            _ => {}
        }
        false
    }
}

/// The value that a lane stores, if it is one.
fn stored(access: &AccessEvent<'_>, lane: usize) -> Option<(u64, u32)> {
    let store = access.store.as_ref()?;
    let [element] = store.elements else { return None };
    let mask = u64::MAX >> (64 - 8 * store.element_bytes);
    Some((element[lane] & mask, store.element_bytes))
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

/// The conditions, and for each of them whether it holds for the thread of each entry of the trace before it does that.
fn conditions(file: &str, done: &[Done], random: &mut impl Iterator<Item = u64>, evaluations: u64) -> Vec<(String, Vec<bool>)> {
    let mut session = session(file, 0);
    let texts: Vec<String> = (0..(evaluations / done.len() as u64).clamp(6, 48)).map(|_| condition(&session, random, 2)).collect();
    let parsed: Vec<Expression> = texts.iter().map(|text| Expression::parse(text).unwrap()).collect();
    let mut columns = vec![Vec::new(); texts.len()];
    for done in done {
        if session.time() != done.point.tick {
            session.seek(done.point.tick, &mut NeverInterrupt);
        }
        let focus = Focus { block: done.point.block, warp: done.point.warp.number(), lane: done.lane as u32, frame: 0 };
        let context = session.eval_context().refocused(focus);
        for (column, expression) in columns.iter_mut().zip(&parsed) {
            column.push(expression.holds(&context));
        }
    }
    texts.into_iter().zip(columns).collect()
}

/// A random condition of threads, registers and memory; divisions fail for some threads.
fn condition(session: &Session, random: &mut impl Iterator<Item = u64>, depth: u32) -> String {
    let context = session.eval_context();
    let mut number = |below: u64| random.next().unwrap() % below.max(1);
    let registers = &context.program().functions[context.current_function().index()].registers;
    let register = |number: &mut dyn FnMut(u64) -> u64| loop {
        let declared = &registers[number(registers.len() as u64) as usize];
        if declared.components == 1 {
            let name = &declared.name;
            return declared.count.map_or(name.to_string(), |count| format!("{name}{}", number(u64::from(count))));
        }
    };
    let comparison = ["==", "!=", "<", "<=", ">", ">="][number(6) as usize];
    let (one, other) = (register(&mut number), register(&mut number));
    let small = number(40) as i64 - 8;
    match number(if depth > 0 { 17 } else { 13 }) {
        0 => format!("%laneid {comparison} {small}"),
        1 => format!("threadIdx.x % {} == {}", number(5) + 1, number(3)),
        2 => format!("$warp == {} && $lane {comparison} {small}", number(4)),
        3 => format!("blockIdx.x == {} ? {one} > {small} : threadIdx.x < 7", number(3)),
        4 | 5 => format!("{one} {comparison} {small}"),
        6 => format!("{one} {comparison} {other}"),
        7 => format!("{one} % {other} {comparison} 1"),
        8 => format!("$time % 3 {comparison} 1"),
        9 => {
            let buffer = &context.buffers[number(context.buffers.len() as u64) as usize];
            let indices: String = buffer.shape.iter().map(|extent| format!("[{}]", number(*extent))).collect();
            format!("{}{indices} {comparison} {small}", buffer.name)
        }
        10 => arithmetic([&one, &other], small, number(12)).replace('?', comparison),
        11 => format!("{} {comparison} {small}", element(session, [number(64), number(64)], &one)),
        12 => format!("{one} {comparison} {}", element(session, [number(64), number(64)], &other)),
        13 => format!("!({})", condition(session, random, depth - 1)),
        word => {
            let (left, right) = (condition(session, random, depth - 1), condition(session, random, depth - 1));
            format!("({left}) {} ({right})", if word == 14 { "||" } else { "&&" })
        }
    }
}

/// Arithmetic of registers and threads, compared with a number by `?`.
fn arithmetic([one, other]: [&str; 2], small: i64, kind: u64) -> String {
    match kind {
        0 => format!("{one} + {other} ? {small}"),
        1 => format!("{one} * 3 - threadIdx.x ? {other}"),
        2 => format!("({one} << (threadIdx.x % 9)) >> {other} ? {small}"),
        3 => format!("-{one} ? ~{other}"),
        4 => format!("(s64){one} * {other} ? {small}"),
        5 => format!("(f32){one} ? 0.5"),
        6 => format!("(u8){one} ^ (s16){other} ? {small}"),
        7 => format!("(f64)(u32){one} / 3 ? (f32)threadIdx.x"),
        8 => format!("!{one} + !{other} ? $lane % 2"),
        9 => format!("{one} / {other} ? {one} % 7"),
        10 => format!("(s8)((f32){one} * 1.5) ? {small}"),
        _ => format!("({one} | {small}) & {other} ? 0"),
    }
}

/// An element of a buffer or of shared memory, some of them past the end.
fn element(session: &Session, [which, index]: [u64; 2], register: &str) -> String {
    let context = session.eval_context();
    let of_shared = |variable: &&ptxdbg::program::Variable| variable.location.space == Space::Shared && variable.shape.len() == 1;
    let shared = context.program().variables.iter().filter(of_shared).map(|variable| (variable.name.to_string(), 1));
    let places: Vec<(String, usize)> =
        context.buffers.iter().map(|buffer| (buffer.name.clone(), buffer.shape.len())).chain(shared).collect();
    let (name, dimensions) = &places[which as usize % places.len()];
    let indices = [format!("{index}"), format!("threadIdx.x % {}", index + 1), format!("{register} & {index}"), register.to_string()];
    let subscripts: String = (0..*dimensions).map(|at| format!("[{}]", indices[(index as usize + at) % 4])).collect();
    format!("{name}{subscripts}")
}

/// The answer to a query that filters the trace; `holds` says for which entries its condition does.
fn expected(done: &[Done], query: &Query, holds: Option<&[bool]>) -> Found {
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
    let passes = |(index, done): &(usize, &Done)| {
        let lanes = query.threads.lanes_of(done.point.block, done.point.warp.number());
        is_kind(&done.happening)
            && is_there(&done.memory)
            && lanes.contains(done.lane)
            && (query.from..query.until).contains(&done.point.tick)
            && holds.is_none_or(|holds| holds[*index])
    };
    let mut events: BTreeMap<(Tick, Pc), Vec<&Done>> = BTreeMap::new();
    for (_, done) in done.iter().enumerate().filter(passes) {
        events.entry((done.point.tick, done.point.pc)).or_default().push(done);
    }
    let mut events: Vec<Vec<&Done>> = events.into_values().collect();
    if query.wanted == Wanted::First {
        events.truncate(1);
    }
    let mut found = Found { instructions: events.len() as u64, ..Found::default() };
    for done in events.iter().flatten() {
        found.times += 1;
        let key = match query.wanted {
            Wanted::By(Grouping::Line) => GroupKey::Line(done.point.pc),
            Wanted::By(Grouping::Lane) => GroupKey::Lane(done.lane as u32),
            Wanted::By(Grouping::Value) => GroupKey::Value(done.value),
            _ => continue,
        };
        if let GroupKey::Value(Some(value)) = key {
            found.writers.entry(value).or_default().insert(done.point.pc);
        }
        *found.groups.entry(key).or_default() += 1;
    }
    found.events = match query.wanted {
        Wanted::All => events.iter().take(1000).map(|lanes| event(lanes)).collect(),
        Wanted::First | Wanted::Last => events.last().map(|lanes| event(lanes)).into_iter().collect(),
        Wanted::Count | Wanted::By(_) => Vec::new(),
    };
    found
}

/// What lanes of a warp did by one instruction.
fn event(lanes: &[&Done]) -> FoundEvent {
    let IssuePoint { tick, pc, block, warp } = lanes[0].point;
    FoundEvent {
        time: tick,
        pc,
        block,
        warp: warp.number(),
        lanes: lanes.iter().map(|done| done.lane).collect::<LaneMask>(),
        values: lanes.iter().filter_map(|done| Some(done.value?.0)).collect(),
        value_bytes: lanes[0].value.map_or(0, |value| value.1),
    }
}

/// A random query, and the number of its condition, if it has one.
fn random_query(
    session: &Session,
    conditions: &[(String, Vec<bool>)],
    random: &mut impl Iterator<Item = u64>,
    end: Tick,
) -> (String, Option<usize>) {
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
    let condition = (number(3) > 0).then(|| number(conditions.len() as u64) as usize);
    if let Some(condition) = condition {
        text += &format!(" where {}", conditions[condition].0);
    }
    let last = if matches!(kind, "writes" | "branches") { 7 } else { 6 };
    text += ["", " count", " by line", " by lane", " first", " last", " by value"][number(last) as usize];
    (text, condition)
}

#[test]
fn queries_find_what_a_trace_of_everything_has() {
    let queries = std::env::var("PTXDBG_QUERIES").ok().and_then(|count| count.parse().ok()).unwrap_or(QUERIES);
    let mut random = random_numbers();
    let mut nonempty = 0;
    for file in FILES {
        let mut session = session(file, 0);
        let done = trace(&session);
        let conditions = conditions(file, &done, &mut random, queries * EVALUATIONS);
        session.seek_end(&mut NeverInterrupt);
        let end = session.recorded();
        for _ in 0..queries {
            let (text, condition) = random_query(&session, &conditions, &mut random, end);
            let query = Query::parse(&text, &session.eval_context(), &session.marks, session.time()).unwrap();
            let found = session.find(&query, &mut NeverInterrupt);
            let wanted = expected(&done, &query, condition.map(|number| &conditions[number].1[..]));
            nonempty += u64::from(wanted.times > 0);
            assert!(found.no_value.is_none() || wanted.times == 0, "{file}: {text}");
            assert_eq!(Found { no_value: None, ..found }, wanted, "{file}: {text}");
            assert_eq!(session.time(), end, "{text}");
        }
    }
    assert!(nonempty > queries, "hardly any query finds something: {nonempty}");
}

#[test]
fn shared_memory_is_that_of_the_block_whose_threads_are_asked_for() {
    let find = ["-e", "run", "-e", "find writes of As by block 1 count", "-e", "block 1", "-e", "find writes of As by block 1 count"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ptxdbg"))
        .args(["--batch", "-l", "fixtures/programs/sgemm_reg.ron"])
        .args(find)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<&str> = text.lines().filter(|line| line.contains(" times by threads")).collect();
    assert!(
        matches!(counts[..], [from_block_0, from_block_1] if from_block_0 == from_block_1 && !from_block_0.starts_with("0 ")),
        "{text}"
    );
}
