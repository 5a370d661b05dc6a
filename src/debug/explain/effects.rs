//! What an instruction does, as equations and sentences: `%p1 = 0 >= 256 = false`, which lanes take a branch, where a shuffled value comes
//! from, which elements are read and written, in which order atomics are done, what a matrix descriptor says.

use std::ops::Range;

use super::{LaneView, StepOutcome, operand_address};
use crate::base::counted;
use crate::debug::breakpoints::opcode;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::expression::{Expression, little_endian, register_bits};
use crate::debug::memory;
use crate::debug::names::memory_name::{element, region};
use crate::debug::names::scope;
use crate::debug::names::symbols::{objects, resolve};
use crate::debug::value::{Scalar, Type, Value};
use crate::debug::view::{self, DescriptorView, Major};
use crate::isa::{ScalarType, ShuffleMode, Space};
use crate::machine::{LaneMask, Machine, NullObserver, shuffle_source};
use crate::program::{AtomicOp, ControlOp, MemoryOp, Op, Pc, WarpOp};

/// Operators of instructions with two sources, as C writes them.
const INFIX: [(&str, &str); 10] = [
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("div", "/"),
    ("rem", "%"),
    ("and", "&"),
    ("or", "|"),
    ("xor", "^"),
    ("shl", "<<"),
    ("shr", ">>"),
];

/// Comparisons, as C writes them.
const COMPARISONS: [(&str, &str); 16] = [
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("lo", "<"),
    ("ls", "<="),
    ("hi", ">"),
    ("hs", ">="),
    ("equ", "== or unordered"),
    ("neu", "!= or unordered"),
    ("ltu", "< or unordered"),
    ("leu", "<= or unordered"),
    ("gtu", "> or unordered"),
    ("geu", ">= or unordered"),
];

/// Lanes of an atomic that are named one by one.
const LANES_NAMED: usize = 4;

/// The lines about the instruction at `pc`, which the focused lane executes next.
pub(super) fn lines(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc, view: &LaneView) -> Vec<String> {
    let program = context.program();
    let active = view.active.map_or(LaneMask::NONE, |(active, _)| active);
    match &program.code[pc.index()].op {
        Op::Control(ControlOp::Branch { target, .. }) => branch(context, pc, *target, view).into_iter().collect(),
        Op::Warp(WarpOp::Shuffle { f, .. }) => shuffle(context, pc, *f, view).into_iter().collect(),
        Op::Memory(op) => {
            let is_store = matches!(op, MemoryOp::Store { .. } | MemoryOp::StoreVector { .. });
            accesses(context, pc, active, if is_store { Access::Writes } else { Access::Reads }, view)
        }
        Op::Atomic(op) => {
            let mut lines = accesses(context, pc, active, Access::Updates, view);
            lines.extend(order(context, frame, pc, active, matches!(op, AtomicOp::Single { .. })));
            lines
        }
        op if op.effects(program).only_computes() => equation(context, pc, view).into_iter().collect(),
        _ => {
            let decoded = descriptors(context, pc);
            decoded.iter().map(|(text, view)| descriptor(text, view)).chain(copy(context, pc)).chain(tensor_copy(context, pc)).collect()
        }
    }
}

/// `copies 16 bytes from A[3][4] to As[0][4]`: what an asynchronous copy of the focused lane does. Of a tensor copy, only its shared
/// side is named: the other side is a box.
fn copy(context: &EvalContext<'_>, pc: Pc) -> Option<String> {
    let program = context.program();
    let opcode = opcode(program, pc);
    let words = opcode.strip_prefix("cp.async")?;
    let texts = program.operand_texts(pc);
    let space_of = |word: &str| match word {
        "global" => Some(Space::Global),
        word if word.starts_with("shared") => Some(Space::Shared),
        _ => None,
    };
    let spaces: Vec<Space> = words.split('.').filter_map(space_of).collect();
    let places: Vec<&String> = texts.iter().filter(|text| text.starts_with('[')).collect();
    let name = |index: usize| {
        let (space, text) = (*spaces.get(index)?, places.get(index)?);
        Some(element(context, space, operand_address(context, text)?).name)
    };
    if words.contains("tensor") {
        let index = spaces.iter().position(|space| *space == Space::Shared)?;
        let word = if index == 0 { "to" } else { "from" };
        return Some(format!("copies a box of a tensor {word} {}", name(index)?));
    }
    let bytes = texts.iter().filter(|text| !text.starts_with('[')).find_map(|text| number(context, text))?;
    Some(format!("copies {} from {} to {}", counted(bytes, "byte"), name(1)?, name(0)?))
}

/// The tensor map and the box of a tensor copy.
fn tensor_copy(context: &EvalContext<'_>, pc: Pc) -> Vec<String> {
    let program = context.program();
    let opcode = opcode(program, pc);
    if !opcode.contains("async.bulk.tensor") {
        return Vec::new();
    }
    super::tensor::lines(context, &program.operand_texts(pc), opcode.contains(".mbarrier"))
}

/// `%p1 = 0 >= 256 = false`
fn equation(context: &EvalContext<'_>, pc: Pc, view: &LaneView) -> Option<String> {
    let Some(StepOutcome::Writes(writes)) = &view.outcome else { return None };
    let (name, _, after) = writes.first()?;
    let opcode = opcode(context.program(), pc);
    let mut words = opcode.split('.');
    let stem = words.next()?;
    let words: Vec<&str> = words.collect();
    let values: Vec<&str> = view.operands.iter().map(|operand| operand.value.as_deref().unwrap_or(&operand.text)).collect();
    let is_high = words.contains(&"hi") || words.contains(&"cc");
    let infix = INFIX.iter().find(|(word, _)| *word == stem).map(|(_, sign)| *sign);
    let comparison = || COMPARISONS.iter().find(|(word, _)| words.contains(word)).map(|(_, sign)| *sign);
    let right = match (stem, values.as_slice()) {
        ("mov" | "cvta", _) | (_, []) => return None,
        ("setp" | "set", [a, b]) => format!("{a} {} {b}", comparison()?),
        ("setp" | "set", [a, b, c]) => {
            let joined = ["and", "or", "xor"].into_iter().find(|word| words.contains(word))?;
            format!("({a} {} {b}) {joined} {c}", comparison()?)
        }
        ("selp", [a, b, c]) => format!("{c} ? {a} : {b}"),
        ("mad" | "fma", [a, b, c]) if !is_high => format!("{a} * {b} + {c}"),
        ("neg", [a]) => format!("-{a}"),
        ("not", [a]) => format!("~{a}"),
        (_, [a, b]) if !is_high && infix.is_some() => format!("{a} {} {b}", infix?),
        (_, values) => format!("{stem}({})", values.join(", ")),
    };
    Some(format!("{name} = {right} = {after}"))
}

/// Which lanes take a branch, and where the others go.
fn branch(context: &EvalContext<'_>, pc: Pc, target: Pc, view: &LaneView) -> Option<String> {
    let (taken, all) = view.active?;
    let program = context.program();
    let (there, next) = (view::place(program, target), view::place(program, Pc(pc.0 + 1)));
    let others = all & !taken;
    Some(match (taken.is_empty(), others.is_empty()) {
        (true, _) => format!("no lane takes the branch to {there}: {} {} on at {next}", all.describe(), goes(all)),
        (false, true) => format!("{} {} to {there}", taken.describe(), goes(taken)),
        (false, false) => {
            format!("{} {} to {there}, {} {} on at {next}", taken.describe(), goes(taken), others.describe(), goes(others))
        }
    })
}

fn goes(lanes: LaneMask) -> &'static str {
    if lanes.count() == 1 { "goes" } else { "go" }
}

/// `%r5 = %r1 of lane 16 = 7`
fn shuffle(context: &EvalContext<'_>, pc: Pc, mode: ShuffleMode, view: &LaneView) -> Option<String> {
    let texts = context.program().operand_texts(pc);
    let [d, a, b, c, ..] = texts.as_slice() else { return None };
    let (offset, control) = (number(context, b)?, number(context, c)?);
    let lane = view.lane % 32;
    let (source, is_inside) = shuffle_source(mode, lane, offset as u32 & 31, control as u32);
    let name = d.split('|').next().unwrap_or(d).trim();
    let Some(StepOutcome::Writes(writes)) = &view.outcome else { return None };
    let (_, _, after) = writes.iter().find(|(written, ..)| written == name)?;
    let value = format!(" = {after}");
    let (active, _) = view.active?;
    Some(match (is_inside, active.contains(source as usize)) {
        (false, _) => format!("{name} = {a} of this lane itself{value}: lane {source} is not in its part of the warp"),
        (true, true) => format!("{name} = {a} of lane {source}{value}"),
        (true, false) => format!("{name} = {a} of lane {source}{value}, which does not take part: its value is undefined"),
    })
}

/// What an instruction does with memory.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    Reads,
    Writes,
    Updates,
}

impl Access {
    fn word(self) -> &'static str {
        match self {
            Self::Reads => "read",
            Self::Writes => "write",
            Self::Updates => "update",
        }
    }
}

/// The elements that the focused lane and all active lanes access, and where they lie in their variable or buffer.
fn accesses(context: &EvalContext<'_>, pc: Pc, active: LaneMask, access: Access, view: &LaneView) -> Vec<String> {
    let program = context.program();
    // A parameter is one place for all lanes, which the operand names already.
    let operand = super::accessed_operand(program, pc).filter(|(space, ..)| !matches!(space, Space::Param | Space::ParamFunc));
    let Some((space, ty, text)) = operand else { return Vec::new() };
    let count = text.1;
    let address_of = |lane: u32| operand_address(&context.refocused(crate::debug::focus::Focus { lane, ..context.focus }), &text.0);
    let Some(address) = address_of(view.lane) else { return Vec::new() };
    let bytes = u64::from(ty.bytes()) * count;
    let named = element(context, space, address);
    let mut lines = Vec::new();
    let mut old = vec![0; ty.bytes() as usize];
    let was = memory::read(context, space, address, &mut old).ok().map(|()| Scalar::new(Type::Scalar(ty), little_endian(&old)));
    let was = was.map(|scalar| scalar.text(context, None));
    let value = view.operands.last().filter(|_| count == 1).map(|operand| operand.value.as_deref().unwrap_or(&operand.text));
    match (access, value, &was) {
        (Access::Writes, Some(value), Some(was)) => lines.push(format!("{} = {value} (was {was})", named.name)),
        (Access::Reads, _, Some(was)) if count == 1 => lines.push(format!("{} holds {was}", named.name)),
        _ => lines.push(format!("{} of {}", counted(bytes, "byte"), named.name)),
    }
    lines.extend(extent(context, space, address, bytes));
    let mut ranges: Vec<Range<u64>> =
        active.iter().filter_map(|lane| address_of(lane as u32)).map(|start| start..start.saturating_add(bytes)).collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup();
    if active.count() > 1 && !ranges.is_empty() {
        let what = region(context, space, &joined(&ranges)).unwrap_or_else(|| {
            let last = ranges.last().map_or(address, |range| range.start);
            match ranges.len() {
                1 => named.name.clone(),
                count => {
                    let (first, last) = (element(context, space, ranges[0].start).name, element(context, space, last).name);
                    format!("{first} to {last} ({count} places)")
                }
            }
        });
        lines.push(format!("{} {} {what}", active.describe(), access.word()));
    }
    lines
}

/// Ranges that touch or overlap as one; they are in order.
fn joined(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => all.push(range.clone()),
        }
    }
    all
}

/// `16 bytes from the start of A, 1,904 before its end`
fn extent(context: &EvalContext<'_>, space: Space, address: u64, bytes: u64) -> Option<String> {
    let (space, address) = resolve(context.program(), space, address);
    let holds = |start: u64, length: u64| start <= address && address < start.saturating_add(length);
    let object = objects(context, space).into_iter().find(|object| holds(object.start, object.bytes))?;
    let (before, end) = (address - object.start, object.start + object.bytes);
    let after = match end.checked_sub(address + bytes) {
        Some(0) => "at its end".to_string(),
        Some(left) => format!("{} before its end", view::grouped(left)),
        None => format!("{} past its end", view::grouped(address + bytes - end)),
    };
    let name = crate::program::shown_name(&object.name);
    Some(format!("{} bytes from the start of {name}, {after}", view::grouped(before)))
}

/// The order in which lanes do an atomic, with what each finds.
fn order(context: &EvalContext<'_>, frame: &Frame<'_>, pc: Pc, active: LaneMask, is_single: bool) -> Option<String> {
    if active.count() < 2 || !is_single {
        return None;
    }
    let program = context.program();
    let texts = program.operand_texts(pc);
    let target = texts.first().and_then(|name| scope::register(context.function(frame), pc, name)).filter(|_| !texts[0].starts_with('['));
    let Some(target) = target else {
        return Some(format!("{}: one after the other, the lowest lane first", active.describe()));
    };
    let mut after: Machine = context.machine.clone();
    after.schedule_warp(context.focus.block, context.focus.warp);
    after.run(1, &mut NullObserver);
    let later = EvalContext { machine: &after, ..*context };
    let warp = later.warp().ok()?;
    let ty = program.opcode(pc)?.matched.types.last().copied().filter(|ty| ty.bits() == target.ty.bits()).unwrap_or(target.ty);
    let found = |lane: usize| {
        let bits = register_bits(&Frame { warp, lane: lane as u32, ..*frame }, &target).unwrap_or(0);
        format!("lane {lane} finds {}", Scalar::new(Type::Scalar(ty), bits).text(&later, None))
    };
    let named: Vec<String> = active.iter().take(LANES_NAMED).map(found).collect();
    let rest = active.count() as usize - named.len();
    let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    Some(format!("one after the other, the lowest lane first: {}{rest}", named.join(", ")))
}

/// The matrix descriptors that an instruction takes from registers: the operands as written, and what they say.
pub fn descriptors(context: &EvalContext<'_>, pc: Pc) -> Vec<(String, DescriptorView)> {
    let program = context.program();
    if !opcode(program, pc).starts_with("wgmma.mma_async") {
        return Vec::new();
    }
    let texts = program.operand_texts(pc);
    let majors = texts.iter().rev().take(2).rev().map(|text| if text == "1" { Major::MN } else { Major::K });
    // Operands after d: a and b, of which a may be in registers; imm-trans-a and imm-trans-b stand last.
    let sources: Vec<&String> = texts.iter().skip(1).take(2).collect();
    let is_descriptor = |text: &str| !text.starts_with('{');
    let with_major = sources.into_iter().zip(majors.collect::<Vec<_>>());
    with_major
        .filter(|(text, _)| is_descriptor(text))
        .filter_map(|(text, major)| Some((text.clone(), view::descriptor(context, number(context, text)?, major))))
        .collect()
}

/// `%rd5: 0x400 <As>, leading offset 16, stride offset 1024, swizzle of 128 bytes`
fn descriptor(text: &str, view: &DescriptorView) -> String {
    let swizzle = view.swizzle.map_or("no swizzle".to_string(), |bytes| format!("swizzle of {bytes} bytes"));
    format!("{text}: {}, leading offset {}, stride offset {}, {swizzle}", view.start, view.leading, view.stride)
}

/// The bits of an operand: a literal or a register.
pub(super) fn number(context: &EvalContext<'_>, text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.cast_unsigned());
    }
    match Expression::parse(text).ok()?.evaluate(context).ok()? {
        Value::Scalar(Scalar { bits, .. }) => Some(bits as u64),
        Value::Lanes(_) | Value::Array(_) | Value::Source(_) | Value::Tensor(_) => None,
    }
}

/// The type of an element that an instruction accesses.
pub(super) fn element_type(types: &[ScalarType]) -> ScalarType {
    types.last().copied().unwrap_or(ScalarType::B32)
}
