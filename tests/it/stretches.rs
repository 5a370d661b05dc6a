//! Straight stretches have the effects of the same instructions one by one.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::fmt::Write;
use std::sync::Arc;

use crate::common::random_numbers;
use crate::look::one_warp::one_warp;
use ptxdbg::machine::{
    Device, DivergencePolicy, Event, EventKind, EventMask, FastPath, FastPaths, Instrumentation, Issues, LaneMask, LaunchConfig, Machine,
    NullObserver, Observer, Places, Step, Tick, WarpId,
};
use ptxdbg::program::{Pc, Program};

/// Bytes of the buffer: three pages.
const BYTES: u64 = 3 * 4096;

/// Random choices.
struct Choices<R>(R);

impl<R: Iterator<Item = u64>> Choices<R> {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next().unwrap() % end
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Operations on `D`, `A`, `B`, `C` of 32 bits, `W`, `X`, `Y` of 64 bits, and predicates `P`, `Q`.
const COMPUTING: &[&str] = &[
    "add.s32 D, A, B;",
    "sub.u32 D, A, B;",
    "mul.lo.u32 D, A, B;",
    "mad.lo.s32 D, A, B, C;",
    "and.b32 D, A, B;",
    "or.b32 D, A, B;",
    "xor.b32 D, A, B;",
    "shl.b32 D, A, B;",
    "shr.u32 D, A, 7;",
    "shr.s32 D, A, B;",
    "add.u64 W, X, Y;",
    "sub.s64 W, X, Y;",
    "and.b64 W, X, Y;",
    "or.b64 W, X, Y;",
    "shl.b64 W, X, 3;",
    "shr.u64 W, X, A;",
    "shr.s64 W, X, 9;",
    "mul.wide.u32 W, A, B;",
    "mul.wide.s32 W, A, 12;",
    "mad.wide.u32 W, A, B, X;",
    "mad.wide.s32 W, A, B, X;",
    "add.f32 D, A, B;",
    "sub.f32 D, A, B;",
    "mul.f32 D, A, B;",
    "fma.rn.f32 D, A, B, C;",
    "add.f64 W, X, Y;",
    "mul.f64 W, X, Y;",
    "fma.rn.f64 W, X, Y, X;",
    "cvt.u64.u32 W, A;",
    "cvt.s64.s32 W, A;",
    "cvt.u32.u64 D, X;",
    "mov.b32 D, A;",
    "mov.b64 W, X;",
    "mov.u32 D, %laneid;",
    "mov.b64 W, {A, B};",
    "mov.b64 {D, u}, X;",
    "cvta.shared.u64 W, X;",
    "cvta.to.shared.u64 W, X;",
    "setp.lt.u32 P, A, B;",
    "setp.ge.s32 P, A, B;",
    "setp.neu.f32 P, A, B;",
    "setp.le.u64 P, X, Y;",
    "setp.ne.s64 P, X, Y;",
    "setp.lt.s64 P, X, Y;",
    "setp.eq.b64 P, X, Y;",
    "mul.lo.s64 W, X, Y;",
    "setp.gt.and.s32 P|Q, A, B, Q;",
    "selp.b32 D, A, B, P;",
    "selp.b64 W, X, Y, Q;",
    "xor.pred P, P, Q;",
    "not.pred P, Q;",
    "min.s32 D, A, B;",
    "popc.b32 D, A;",
    "div.full.f32 D, A, B;",
    "add.ftz.f32 D, A, B;",
    "cvt.rn.f32.s32 D, A;",
    "add.cc.u32 D, A, B; addc.u32 D, B, C;",
    "mov.u32 D, %clock;",
    "vote.sync.ballot.b32 D, P, -1;",
];

/// Offsets in `t` of the lanes: the same, in rows, at equal distances, or without order.
const OFFSETS: &[&str] = &[
    "mov.u32 t, 64;",
    "shl.b32 t, l, 2;",
    "shl.b32 t, l, 3;",
    "shl.b32 t, l, 4;",
    "and.b32 t, l, 15; shl.b32 t, t, 2;",
    "shr.u32 t, l, 4; shl.b32 t, t, 6;",
    "shr.u32 t, l, 3; mul.lo.u32 t, t, 320;",
    "sub.u32 t, 31, l; shl.b32 t, t, 2;",
    "mul.lo.u32 t, l, 132;",
    "mul.lo.u32 t, l, 264;",
    "and.b32 t, A, 1020;",
    "and.b32 t, B, 2032;",
    "mad.lo.u32 t, l, 4, 4032;",
    "mad.lo.u32 t, l, 16, 3600;",
];

/// Accesses at `a` of global memory or at `s` of shared memory.
const ACCESSES: &[&str] = &[
    "ld.global.b32 D, [a];",
    "ld.global.b64 W, [a];",
    "ld.global.v4.b32 {D, u, v, w}, [a];",
    "ld.global.v2.b32 {D, u}, [a+16];",
    "ld.global.v2.b64 {W, x2}, [a];",
    "ld.global.nc.b32 D, [a];",
    "ld.global.u8 D, [a+3];",
    "ld.global.s8 D, [a+1];",
    "ld.global.s16 D, [a+2];",
    "ld.global.u16 D, [a];",
    "st.global.b32 [a], A;",
    "st.global.b64 [a], X;",
    "st.global.v4.b32 [a], {A, B, C, u};",
    "st.global.v2.b64 [a], {X, Y};",
    "ld.b32 D, [a+8];",
    "st.b32 [a+4], B;",
    "ld.volatile.global.b32 D, [a];",
    "ld.shared.b32 D, [s];",
    "ld.shared.b64 W, [s];",
    "st.shared.b32 [s], A;",
    "st.shared.b64 [s], X;",
    "ld.shared.v2.b32 {u, D}, [s];",
    "atom.shared.add.u32 D, [s], A;",
    "red.global.add.u32 [a], 1;",
    "ld.param.b32 D, [n];",
    "ld.param.b64 W, [out];",
    "ld.const.b32 D, [c];",
    "ld.b32 D, [q];",
    "st.b32 [q], C;",
    "ld.local.b32 D, [f];",
    "st.local.b32 [f], A;",
];

/// Replaces the operands of a form by registers.
fn instruction<R: Iterator<Item = u64>>(form: &str, choices: &mut Choices<R>) -> String {
    let mut text = String::new();
    for part in form.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '%' && c != '.' && c != '_') {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let register = match word {
            "D" | "A" | "B" | "C" => format!("r{}", choices.below(6)),
            "W" | "X" | "Y" => format!("x{}", choices.below(3)),
            "P" | "Q" => format!("p{}", choices.below(3)),
            word => word.to_string(),
        };
        text += &register;
        text += &part[word.len()..];
    }
    text
}

/// A block of instructions, with branches and loops in it up to a depth.
fn block<R: Iterator<Item = u64>>(text: &mut String, labels: &mut u32, depth: u32, choices: &mut Choices<R>) {
    for _ in 0..2 + choices.below(7) {
        let guard = choices.of(&["", "", "", "", "@p0 ", "@!p1 ", "@p2 "]);
        match choices.below(12) {
            0..6 => *text += &format!("{guard}{}\n", instruction(choices.of(COMPUTING), choices)),
            6 | 7 => {
                *text += &instruction(choices.of(OFFSETS), choices);
                *text += " cvt.u64.u32 x3, t; add.u64 a, o, x3; mov.u32 s, m; add.u32 s, s, t; cvta.shared.u64 q, s64; add.u64 q, q, x3;\n";
            }
            8..10 => *text += &format!("{guard}{}\n", instruction(choices.of(ACCESSES), choices)),
            10 if depth > 0 => {
                let (label, counter) = (*labels, depth);
                *labels += 1;
                let count = choices.of(&["l, 3", "5, 7", "l, 7"]);
                write!(text, "and.b32 k{counter}, {count};\nLOOP{label}:\n").unwrap();
                block(text, labels, depth - 1, choices);
                write!(text, "setp.ne.u32 p3, k{counter}, 0; sub.u32 k{counter}, k{counter}, 1;\n@p3 bra LOOP{label};\n").unwrap();
            }
            _ if depth > 0 => {
                let label = *labels;
                *labels += 1;
                writeln!(text, "{} bra SKIP{label};", choices.of(&["@p0", "@!p1", "@p2"])).unwrap();
                block(text, labels, depth - 1, choices);
                writeln!(text, "SKIP{label}:").unwrap();
            }
            _ => {}
        }
    }
}

fn kernel<R: Iterator<Item = u64>>(choices: &mut Choices<R>) -> String {
    let mut body = String::new();
    block(&mut body, &mut 0, 3, choices);
    format!(
        ".version 8.0 .target sm_90 .address_size 64
         .const .b32 c[4] = {{1, 2, 3, 4}};
         .visible .entry k(.param .u64 out, .param .b32 n) {{
             .reg .b32 r<6>, u, v, w, t, s, l, k<4>; .reg .b64 x<4>, o, a, q, s64; .reg .pred p<4>;
             .shared .align 16 .b8 m[6144]; .local .b32 f;
             ld.param.u64 o, [out]; cvta.to.global.u64 o, o; mov.b64 a, o; mov.u32 s, m; mov.u64 s64, m; cvta.shared.u64 q, s64;
             mov.u32 l, %tid.x; and.b32 l, l, 31; setp.lt.u32 p0, l, 11; setp.ne.u32 p1, l, 30;
             mov.u32 r0, %tid.x; ld.global.b32 r1, [o]; ld.global.b32 r2, [o+64]; mad.lo.u32 r3, l, 97, r1; ld.global.b64 x0, [o+8];
             {body}
             st.global.b32 [a], r0; ret; }}"
    )
}

/// The instructions of a program that were executed by lanes, each as often.
fn tally(machine: &Machine, program: &Program) -> Vec<u64> {
    let coverage = machine.coverage();
    coverage.map_or(Vec::new(), |coverage| {
        let tally = coverage.tally();
        (0..program.code.len() as u32).map(|pc| tally.lanes(Pc(pc))).collect()
    })
}

/// A machine before the launch of a kernel of [`kernel`].
fn start(program: &Arc<Program>, config: &LaunchConfig, fast_paths: FastPaths) -> Machine {
    let mut device = Device::new(Arc::clone(program));
    let out = device.allocate("out", BYTES, None).unwrap();
    let bytes: Vec<u8> = random_numbers().take(BYTES as usize / 8).flat_map(u64::to_le_bytes).collect();
    device.write(out, &bytes).unwrap();
    let mut params = out.to_le_bytes().to_vec();
    params.extend(77_u32.to_le_bytes());
    Machine::new(device, LaunchConfig { fast_paths, params, ..config.clone() }).unwrap()
}

/// Runs in pieces of `ticks`, and collects the state after each.
fn states(program: &Arc<Program>, config: &LaunchConfig, fast_paths: FastPaths, ticks: u64) -> Vec<(Step, Tick, u64, u64, Vec<u64>)> {
    let mut machine = start(program, config, fast_paths);
    let mut states = Vec::new();
    for _ in 0..2000 {
        let step = machine.run(ticks, &mut NullObserver);
        let is_last = step != Step::Budget;
        states.push((step, machine.tick(), machine.thread_instructions(), machine.digest(), tally(&machine, program)));
        if is_last {
            break;
        }
    }
    states
}

#[test]
fn stretches_have_the_effects_of_single_instructions() {
    let mut choices = Choices(random_numbers());
    let (mut ended, mut ticks) = (0, 0);
    for round in 0..360 {
        let text = kernel(&mut choices);
        let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "random.ptx", text.clone());
        assert!(diagnostics.iter().all(|found| !found.is_error()), "{text}\n{diagnostics:#?}");
        let program = program.unwrap();
        let divergence = if round % 4 == 0 { DivergencePolicy::Stack } else { DivergencePolicy::Independent };
        let instrumentation = [Instrumentation::Nothing, Instrumentation::Runs, Instrumentation::RunsAndWrites][round / 4 % 3];
        let block = [[32, 1, 1], [64, 1, 1], [45, 1, 1]][round / 12 % 3];
        let config = LaunchConfig { block, divergence, instrumentation, ..one_warp(program.function("k").unwrap(), 0) };
        let piece = [1 << 20, 7, 61][round / 36 % 3];
        let off = [FastPath::Stretches, FastPath::Runs, FastPath::Switches, FastPath::Recognition][round / 2 % 4];
        let fast_paths = if round % 2 == 0 { FastPaths::ALL } else { FastPaths::ALL.without(off) };
        let stretches = states(&program, &config, fast_paths, piece);
        let single = states(&program, &config, FastPaths::NONE, piece);
        assert!(stretches == single, "in pieces of {piece}, {divergence:?}, {fast_paths:?}: {stretches:#?}\n{single:#?}\n{text}");
        let last = stretches.last().unwrap();
        ended += u32::from(last.0 == Step::Done);
        ticks += last.1.0;
    }
    assert!(ended > 100 && ticks > 30_000, "{ended} kernels ended, {ticks} ticks");
}

/// Collects the instructions at some places, and pauses before each of them.
struct Reported {
    flags: Vec<bool>,
    /// The same places, if no others are reported.
    places: Option<Arc<Places>>,
    /// The tick of the last instruction before which it has paused.
    paused: Option<Tick>,
    seen: Vec<(EventKind, Tick, Pc, LaneMask)>,
}

impl Observer for Reported {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before, EventKind::After])
    }

    fn issues(&mut self, _block: [u32; 3], warp: WarpId) -> Issues {
        match &self.places {
            // Of the second warp none.
            Some(places) if warp.number() == 0 => Issues::At(Arc::clone(places)),
            Some(_) => Issues::None,
            None => Issues::All,
        }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let (Event::Before(issue, ..) | Event::After(issue, ..)) = event else { return false };
        if !self.flags[issue.point.pc.index()] || issue.point.warp.number() != 0 {
            return false;
        }
        let pauses = matches!(event, Event::Before(..)) && self.paused.replace(issue.point.tick) != Some(issue.point.tick);
        if !pauses {
            self.seen.push((event.kind(), issue.point.tick, issue.point.pc, issue.active));
        }
        pauses
    }
}

#[test]
fn places_are_reported_as_among_all_instructions() {
    let mut choices = Choices(random_numbers());
    let (mut reported, mut all) = (0, 0);
    for round in 0..200 {
        let text = kernel(&mut choices);
        let (program, _) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "random.ptx", text.clone());
        let program = program.unwrap();
        let config = LaunchConfig { block: [64, 1, 1], ..one_warp(program.function("k").unwrap(), 0) };
        let one_in = [2, 5, 30][round % 3];
        let flags: Vec<bool> = program.code.iter().map(|_| choices.below(one_in) == 0).collect();
        let run = |places: Option<Arc<Places>>| {
            let mut machine = start(&program, &config, FastPaths::ALL);
            let mut observer = Reported { flags: flags.clone(), places, paused: None, seen: Vec::new() };
            let mut stops = Vec::new();
            for _ in 0..2000 {
                let step = machine.run(5000, &mut observer);
                let is_last = !matches!(step, Step::Budget | Step::Paused);
                stops.push((step, machine.tick(), machine.digest()));
                if is_last {
                    break;
                }
            }
            (stops, observer.seen, machine.tick())
        };
        let (found, wanted) = (run(Some(Arc::new(Places::new(flags.clone())))), run(None));
        assert!(found == wanted, "{found:?}\n{wanted:?}\n{text}");
        (reported, all) = (reported + found.1.len(), all + found.2.0);
    }
    assert!(reported > 5_000 && all > 20_000, "{reported} events, {all} ticks");
}
